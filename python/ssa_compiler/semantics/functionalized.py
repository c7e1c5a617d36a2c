"""Operators that have no form on values get one: `functionalized::aten.fill_diagonal_`.

The functional form of an in-place operator that PyTorch has none of: copy what it writes, run it on the copies, and
return them, followed by what it returns besides. A list that it writes or returns becomes its elements. The operator
travels through the IR as `torch.operator "torch.functionalized.<namespace>.<name>"`, with a schema that writes nothing.

Values have no strides. An operator whose outcome depends on those of its arguments, as random ones do that draw in the
order of memory, gets them as a last operand, a list of the strides of all its tensors. Complex numbers, which the IR
has no type for, are passed as tensors without dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

__all__ = ["NAMESPACE", "functionalized_name", "functionalized_schema", "on_copies", "original_operator"]

NAMESPACE = "functionalized"


def functionalized_name(schema: Any) -> str:
    """Return the name, without the leading `torch.`, of an in-place op on copies: `functionalized.aten.add_.Tensor`."""
    overload = f".{schema.overload_name}" if schema.overload_name else ""
    return f"{NAMESPACE}.{schema.name.replace('::', '.')}{overload}"


def functionalized_schema(schema: Any, results: int, *, laid_out: bool = False, tensors: Sequence[str] = ()) -> str:
    """Return the schema text of an in-place op on copies.

    Args:
        schema: a torch._C.FunctionSchema.
        results: how many tensors it returns.
        laid_out: whether it gets the strides of its tensors.
        tensors: names of arguments that are numbers and are passed as tensors.
    """
    arguments = str(schema).partition("(")[2].rpartition(" -> ")[0]
    arguments = re.sub(r"\([\w|*]+!?(?: -> [\w|*]+)?\)", "", arguments)
    for name in tensors:
        arguments = re.sub(rf"Scalar\??(?= {name}\b)", "Tensor", arguments)
        arguments = re.sub(rf"(?<= {name})=[^,)]*", "", arguments)
    namespace, _, rest = functionalized_name(schema).partition(".")
    if laid_out:
        arguments = f"{arguments.removesuffix(')')}, int[] strides)"
    return f"{namespace}::{rest}({arguments} -> ({', '.join(['Tensor'] * results)})"


def original_operator(name: str) -> str | None:
    """Return the operator that runs on copies, `aten::add_.Tensor`; None if `name` is no such operator.

    Args:
        name: `functionalized::aten.add_.Tensor` or `torch.functionalized.aten.add_.Tensor`.
    """
    plain = name.removeprefix("torch.").replace("::", ".")
    if not plain.startswith(f"{NAMESPACE}."):
        return None
    namespace, _, rest = plain.removeprefix(f"{NAMESPACE}.").partition(".")
    return f"{namespace}::{rest}"


def on_copies(overload: Any, call: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """Return a function that runs an in-place operator on copies of what it writes.

    Args:
        overload: the OpOverload.
        call: runs it, given one value per schema argument, in that order.
    Returns:
        A function of the same values, and of the strides of the tensors among them if they matter: it returns the
        written copies in order, and then the results that are not among them, lists opened.
    """
    schema = overload._schema

    def opened(value: Any) -> list[Any]:
        return list(value) if isinstance(value, (list, tuple)) else [value]

    written = {i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write}

    def copy(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [copy(element) for element in value]
        return value.clone() if isinstance(value, torch.Tensor) else value

    numbers = {i for i, a in enumerate(schema.arguments) if "number" in str(a.type)}

    def run(*values: Any) -> tuple[Any, ...]:
        values = tuple(
            value.item() if index in numbers and isinstance(value, torch.Tensor) else value
            for index, value in enumerate(values)
        )
        arguments = [copy(value) if index in written else value for index, value in enumerate(values)]
        if len(arguments) > len(schema.arguments):
            strides = iter(arguments.pop())
            arguments = [_laid_out(value, strides) if isinstance(value, torch.Tensor) else value for value in arguments]
        outcome = call(*arguments)
        outcomes: Sequence[Any] = outcome if len(schema.returns) != 1 else (outcome,)
        results: list[Any] = []
        for index in sorted(written):
            value = arguments[index] if index < len(arguments) else None
            results += [v for v in opened(value) if v is not None]
        fresh = [v for v, spec in zip(outcomes or (), schema.returns, strict=True) if spec.alias_info is None]
        return tuple(element for value in (*results, *fresh) for element in opened(value))

    return run


def _laid_out(value: torch.Tensor, strides: Iterator[int]) -> torch.Tensor:
    """Return a copy of a tensor with the next strides."""
    laid_out = torch.empty_strided(
        value.shape, [next(strides) for _ in value.shape], dtype=value.dtype, device=value.device
    )
    target = laid_out
    for dim, stride in enumerate(laid_out.stride()):
        if stride == 0 and value.shape[dim] > 1:  # one element, shown several times
            target, value = target.narrow(dim, 0, 1), value.narrow(dim, 0, 1)
    target.copy_(value)
    return laid_out
