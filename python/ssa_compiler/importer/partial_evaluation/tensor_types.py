"""`torch.LongTensor([1, 2])`, a tensor of a class that is named after its dtype."""

from __future__ import annotations

import ast

import torch

from .interfaces import CallEvaluator, Result
from .rejections import NotCompiledError
from .scope import placed
from .values import Known, ListValue, TupleValue

__all__ = ["made"]

_DTYPES = {
    "Tensor": torch.float32, "FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16,
    "LongTensor": torch.int64, "IntTensor": torch.int32, "ByteTensor": torch.uint8, "BoolTensor": torch.bool,
}  # fmt: skip


def made(calls: CallEvaluator, node: ast.Call, kind: type) -> Result | None:
    """Evaluate `torch.LongTensor([1, 2])` as `torch.tensor([1, 2], dtype=torch.long)`; None if it calls another class.

    Args:
        calls: evaluates calls.
        node: the call.
        kind: what is called.
    Raises:
        NotCompiledError: it is passed anything but a list.
    """
    dtype = _DTYPES.get(kind.__name__) if kind.__module__ == "torch" else None
    if dtype is None or len(node.args) != 1:
        return None
    (result,) = calls.arguments(node).positional
    if not isinstance(result.value, (ListValue, TupleValue)) and not (
        isinstance(result.value, Known) and isinstance(result.value.object, (list, tuple))
    ):
        raise NotCompiledError("a tensor of a legacy type")
    name = ast.copy_location(ast.Name(calls.scope.program.constant_name(torch.tensor), ast.Load()), node)
    option = ast.copy_location(ast.keyword("dtype", placed(ast.parse(str(dtype), mode="eval").body, node)), node)
    value = calls.expressions.samples.result(torch.tensor, [result.value], {"dtype": Known(dtype)}, "tensor")
    call = ast.Call(name, [calls.expressions.expression(result, node, copied=True)], [option])
    return Result(ast.copy_location(call, node), value)
