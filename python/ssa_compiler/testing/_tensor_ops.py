"""Operations that are no PyTorch operators: literals, Python containers, `tensor`, `torch_c` and `tssa`.

Tensors at run time are torch tensors in every stage. In the stages with value semantics a result may share storage with
an operand (a view of it); that is harmless as long as nothing is written, which the interpreter checks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..errors import program_error
from ._ir import InterpreterError, Operation, ValueType, parse_type
from ._schema_ops import find_overload, own_storage, schema_call

__all__ = ["build"]

Handler = Callable[..., Sequence[Any]]


def literal(attribute: Any, resources: dict[str, bytes]) -> torch.Tensor:
    """The tensor of a `dense<...>` or `dense_resource<...>` attribute.

    Args:
        attribute: an elements attribute.
        resources: the module's blobs by name.
    Returns:
        A fresh tensor, contiguous, on the CPU.
    Raises:
        InterpreterError: the element type or the encoding is not known.
    """
    kind = parse_type(str(attribute.type))
    if kind.dtype is None or kind.sizes is None:
        raise InterpreterError(f"unsupported: literal of type {kind.text}")
    shape = [size or 0 for size in kind.sizes]
    if 0 in shape:  # of no elements NumPy's strides are not those of a contiguous tensor
        return torch.empty(shape, dtype=kind.dtype)
    text = str(attribute)
    if match := re.match(r'dense_resource<"?([^">]+)"?>', text):
        return _from_bytes(resources[match[1]], kind.dtype, shape)
    if kind.dtype != torch.bfloat16:
        return torch.from_numpy(np.array(attribute)).to(kind.dtype).reshape(shape).clone()
    body = text[len("dense<") : text.rindex("> :")]
    if body.startswith('"0x'):
        return _from_bytes(bytes.fromhex(body[3:-1]), kind.dtype, shape)
    body = re.sub(r"0x([0-9A-Fa-f]+)", lambda bits: repr(_bfloat16(int(bits[1], 16))), body)
    body = body.replace("nan", "1e999-1e999").replace("inf", "1e999")
    values = _evaluate(ast.parse(body or "[]", mode="eval").body)
    return torch.tensor(values, dtype=kind.dtype).expand(shape).clone().reshape(shape)


def _bfloat16(bits: int) -> float:
    return float(torch.tensor([bits - (1 << 16) if bits >> 15 else bits], dtype=torch.int16).view(torch.bfloat16))


def _evaluate(node: ast.expr) -> Any:
    """Evaluate the numbers of a literal's text: lists, signs, differences."""
    if isinstance(node, ast.List):
        return [_evaluate(item) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp):
        return _evaluate(node.left) - _evaluate(node.right)
    if isinstance(node, ast.Constant):
        return node.value
    raise InterpreterError(f"unsupported: literal element {ast.unparse(node)}")


def _from_bytes(blob: bytes, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
    count = int(np.prod(shape))
    if dtype == torch.bool and len(blob) != count:  # one bit for each element
        bits = np.unpackbits(np.frombuffer(blob, np.uint8), bitorder="little")[:count]
        return torch.from_numpy(bits.astype(bool)).reshape(shape)
    tensor = torch.frombuffer(bytearray(blob), dtype=dtype) if blob else torch.empty(0, dtype=dtype)
    return tensor.expand(count).clone().reshape(shape) if tensor.numel() == 1 else tensor.clone().reshape(shape)


def _raise(message: str, op: Operation) -> None:
    if op.location and not message.rstrip().endswith("]"):
        message = f"{message} [{op.location.file}:{op.location.line}]"
    raise program_error(message)


def _assertion(op: Operation) -> Handler:
    message = op.attributes["message" if op.name.startswith("torch") else "msg"].value

    def check(condition: bool) -> tuple[()]:
        if not condition:
            _raise(message, op)
        return ()

    return check


# --- tssa -------------------------------------------------------------------------------------------------------------


def _view(op: Operation, parameters: int) -> Callable[..., torch.Tensor]:
    """The view operator named by an access or assign, with the base first and `parameters` operands after it."""
    name = getattr(op.attributes.get("view"), "value", None)
    if not isinstance(name, str):
        raise InterpreterError(f"expected a string attribute 'view' on '{op.name}'", location=op.location)
    return schema_call(find_overload(name), parameters + 1)


def _access(op: Operation) -> Handler:
    view = _view(op, len(op.operands) - 1)
    return lambda base, *parameters: (view(own_storage(base), *parameters).clone(),)


def _assign(op: Operation) -> Handler:
    view = _view(op, len(op.operands) - 2)

    def assign(base: torch.Tensor, source: torch.Tensor, *parameters: Any) -> Sequence[Any]:
        result = base.clone(memory_format=torch.contiguous_format)
        view(result, *parameters).copy_(source)
        return (result,)

    return assign


# --- tensor -----------------------------------------------------------------------------------------------------------


def _sizes(kind: ValueType, dynamic: Sequence[int]) -> list[int]:
    rest = iter(dynamic)
    return [next(rest) if size is None else size for size in kind.sizes or ()]


def _slices(op: Operation, values: Sequence[int]) -> tuple[slice, ...]:
    """Offsets, sizes and strides of a slice operation: static ones are in attributes, the rest are operands."""
    rest = iter(values)
    parts = []
    for kind in ("static_offsets", "static_sizes", "static_strides"):
        static = [int(number) for number in op.attributes[kind]]
        parts.append([next(rest) if number == -(2**63) else number for number in static])
    return tuple(
        slice(start, start + (size - 1) * step + 1 if size else start, step)
        for start, size, step in zip(*parts, strict=True)
    )


def _extract_slice(op: Operation) -> Handler:
    sizes = op.result_types[0].sizes or ()

    def run(base: torch.Tensor, *values: int) -> Sequence[Any]:
        part = base[_slices(op, values)]
        if part.dim() != len(sizes):  # rank reducing: drop dimensions of size 1
            part = part.reshape(_sizes(op.result_types[0], [n for n in part.shape if n != 1]))
        return (part,)

    return run


def _insert_slice(op: Operation) -> Handler:
    def run(source: torch.Tensor, base: torch.Tensor, *values: int) -> Sequence[Any]:
        result = base.clone()
        target = result[_slices(op, values)]
        target.copy_(source.reshape(target.shape))
        return (result,)

    return run


def _from_elements(op: Operation) -> Handler:
    kind = op.result_types[0]
    return lambda *values: (torch.tensor(values, dtype=kind.dtype).reshape(_sizes(kind, ())),)


def _filled(op: Operation) -> Handler:
    """`tensor.empty` holds zeros here: nothing may depend on them."""
    kind = op.result_types[0]
    skip = int(op.name == "tensor.splat")
    return lambda *values: (torch.full(_sizes(kind, values[skip:]), values[0] if skip else 0, dtype=kind.dtype),)


def _insert(value: Any, base: torch.Tensor, *indices: int) -> Sequence[Any]:
    result = base.clone()
    result[indices] = value
    return (result,)


def _unpack(values: Sequence[Any]) -> Sequence[Any]:
    return values


def _append(values: list[Any], item: Any) -> Sequence[Any]:
    values.append(item)
    return (values,)


def _set_item(values: list[Any], index: int, item: Any) -> Sequence[Any]:
    values[index] = item
    return (values,)


def _overwrite(value: torch.Tensor, target: torch.Tensor) -> Sequence[Any]:
    target.copy_(value)
    return ()


def _same(value: Any) -> Sequence[Any]:
    return (value,)


def _barrier(*values: Any) -> Sequence[Any]:
    return values


_SIMPLE: dict[str, Handler] = {
    "torch.prim.ListConstruct": lambda *values: (list(values),),
    "torch.prim.TupleConstruct": lambda *values: (values,),
    "torch.prim.ListUnpack": _unpack,
    "torch.prim.TupleUnpack": _unpack,
    "torch.prim.TupleIndex": lambda values, index: (values[index],),
    "torch.aten.__getitem__.t": lambda values, index: (values[index],),
    "torch.aten._set_item.t": _set_item,
    "torch.aten.append.t": _append,
    "torch.aten.len.t": lambda values: (len(values),),
    "torch.aten.add.t": lambda a, b: (a + b,),
    "torch.aten.__is__": lambda a, b: (a is b,),
    "torch.aten.__isnot__": lambda a, b: (a is not b,),
    "torch.aten.__not__": lambda a: (not a,),
    "torch.aten.__contains__.int_list": lambda values, item: (item in values,),
    "torch.prim.device": lambda tensor: (str(tensor.device),),
    "torch.prim.Uninitialized": lambda: (None,),
    "torch.constant.none": lambda: (None,),
    "torch.copy.to_tensor": lambda tensor: (tensor.clone(),),
    "torch.copy.to_vtensor": lambda tensor: (tensor.clone(),),
    "torch.overwrite.tensor.contents": _overwrite,
    "tensor.extract": lambda tensor, *indices: (tensor[indices].item(),),
    "tensor.insert": _insert,
    "tensor.dim": lambda tensor, dimension: (tensor.shape[dimension],),
    "tensor.rank": lambda tensor: (tensor.dim(),),
    "util.optimization_barrier": _barrier,
    **dict.fromkeys(
        (
            "torch.derefine",
            "torch.prim.unchecked_cast",
            "torch.tensor_static_info_cast",
            "tensor.cast",
            "tensor.bitcast",
            "builtin.unrealized_conversion_cast",
        ),
        _same,
    ),
}
_FACTORIES: dict[str, Callable[[Operation], Handler]] = {
    "torch.runtime.assert": _assertion,
    "cf.assert": _assertion,
    "tssa.access": _access,
    "tssa.assign": _assign,
    "tensor.empty": _filled,
    "tensor.splat": _filled,
    "tensor.from_elements": _from_elements,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
}


def _literal(op: Operation) -> Handler:
    tensor = literal(op.attributes["value"], op.resources)
    return lambda: (tensor.clone(),)


def _reshape(op: Operation) -> Handler:
    kind = op.result_types[0]

    def run(tensor: torch.Tensor, *shape: Any) -> Sequence[Any]:
        if shape and isinstance(shape[0], torch.Tensor):  # tensor.reshape
            return (tensor.reshape(shape[0].tolist()),)
        sizes = kind.sizes or ()
        if sizes.count(None) > 1:
            return (tensor.reshape(_sizes(kind, shape)),)  # tensor.expand_shape names its dynamic sizes
        return (tensor.reshape([-1 if size is None else size for size in sizes]),)

    return run


def _raise_exception(op: Operation) -> Handler:
    def run(message: str, kind: str | None = None, *_: Any) -> Sequence[Any]:
        _raise(f"{kind}: {message}" if kind else message, op)
        return ()

    return run


def build(op: Operation) -> Handler | None:
    """Prepare an operation that is not a PyTorch operator.

    Args:
        op: the operation.
    Returns:
        A function from operand values to the sequence of result values; None if the operation is not known here.
    Raises:
        InterpreterError: an attribute is missing or not understood.
    """
    if op.name in _SIMPLE:
        return _SIMPLE[op.name]
    if op.name in _FACTORIES:
        return _FACTORIES[op.name](op)
    if op.name in ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"):
        return _reshape(op)
    if op.name == "torch.prim.RaiseException":
        return _raise_exception(op)
    if op.name.startswith("torch_c.") or (op.name == "llvm.inline_asm" and not op.attributes["asm_string"].value):
        return _same  # assembly without instructions hides where a number comes from
    if op.name in ("torch.vtensor.literal", "torch.tensor.literal") or (
        op.name == "arith.constant" and op.result_types[0].tensor
    ):
        return _literal(op)
    if op.name.startswith("torch.constant."):
        value = op.attributes["value"].value
        return lambda: (value,)
    return None
