"""Runs operators of the Torch dialect through `torch.ops`, guided by PyTorch's own schemas.

An operation's operands stand in the order of its schema's arguments. Enumerations travel through the IR as integers
(dtypes, layouts, memory formats) or strings (devices); the schema's argument types say where to turn them back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from ..abi.generators import with_generators
from ..semantics import autocast
from ..semantics.functionalized import on_copies, original_operator
from ._ir import InterpreterError, Operation

__all__ = ["DTYPE_NUMBERS", "find_overload", "is_view", "own_storage", "schema_call"]

# c10/core/ScalarType.h numbers dtypes in this order.
_SCALAR_TYPES = (
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 "
    "bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz "
    "float8_e4m3fnuz uint16 uint32 uint64"
).split()
DTYPE_NUMBERS: dict[int, torch.dtype] = {
    number: getattr(torch, name) for number, name in enumerate(_SCALAR_TYPES) if hasattr(torch, name)
}
DTYPE_NUMBERS[44] = torch.float8_e8m0fnu
_LAYOUTS = {0: torch.strided, 1: torch.sparse_coo}
_MEMORY_FORMATS = {
    0: torch.contiguous_format,
    1: torch.preserve_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
}
_ENUMERATIONS: dict[str, Callable[[Any], Any]] = {
    "ScalarType": lambda value: DTYPE_NUMBERS[value],
    "Layout": lambda value: _LAYOUTS[value],
    "MemoryFormat": lambda value: _MEMORY_FORMATS[value],
    "Device": torch.device,
}


def find_overload(name: str) -> torch._ops.OpOverload:
    """Find the PyTorch operator of an operation.

    Args:
        name: `torch.aten.add.Tensor`, `aten.add.Tensor` or `aten::add.Tensor`, with or without `aliasing.` in front.
    Returns:
        The overload.
    Raises:
        InterpreterError: PyTorch has no such operator.
    """
    parts = name.replace("::", ".").removeprefix("torch.").removeprefix("aliasing.").split(".")
    try:
        packet = getattr(getattr(torch.ops, parts[0]), parts[1])
        overload: torch._ops.OpOverload = getattr(packet, parts[2] if len(parts) > 2 else "default")
    except (AttributeError, IndexError, RuntimeError) as error:
        raise InterpreterError(f"unsupported: PyTorch has no operator for '{name}'") from error
    return overload


def is_view(overload: torch._ops.OpOverload) -> bool:
    """Whether the first argument may share storage with the first result, and nothing is written."""
    schema = overload._schema
    if not schema.arguments or not schema.returns or schema.is_mutable:
        return False
    return schema.returns[0].alias_info is not None


def _enumeration(argument: Any) -> Callable[[Any], Any] | None:
    """The conversion that an argument's type demands, if any."""
    match = re.search(r"\b(ScalarType|Layout|MemoryFormat|Device)\b", str(argument.real_type))
    return _ENUMERATIONS[match[1]] if match else None


def schema_call(overload: torch._ops.OpOverload, operand_count: int) -> Callable[..., Any]:
    """Build a function that calls an operator with the values of its operands.

    Args:
        overload: the operator.
        operand_count: how many operands the operation has; fewer than the schema's arguments leaves the last ones
            at their defaults.
    Returns:
        A function of `operand_count` values, in the order of the schema.
    Raises:
        InterpreterError: more operands than arguments.
    """
    arguments = overload._schema.arguments
    if operand_count > len(arguments):
        raise InterpreterError(f"expected {len(arguments)} operands of '{overload}', got {operand_count}")
    convert = [_enumeration(argument) for argument in arguments[:operand_count]]
    names = [argument.name if argument.kwarg_only else None for argument in arguments[:operand_count]]
    converted = autocast.has_autocast_kernel(str(overload.name()))  # type: ignore[no-untyped-call]  # the program says how
    if not any(convert) and not any(names) and not converted:
        return with_generators(overload._schema, overload)

    def call(*values: Any) -> Any:
        positional, keywords = [], {}
        for value, change, name in zip(values, convert, names, strict=True):
            if change is not None and isinstance(value, int | str):
                value = change(value)
            if name is None:
                positional.append(value)
            else:
                keywords[name] = value
        with autocast.off() if converted else nullcontext():
            return overload(*positional, **keywords)

    return with_generators(overload._schema, call)


def _own_layout(call: Callable[..., Any]) -> Callable[..., Any]:
    """A view of a value: values have no strides, so the base is taken as contiguous, and `view` never fails on them."""

    def view(base: Any, *values: Any) -> Any:
        return call(own_storage(base) if isinstance(base, torch.Tensor) else base, *values)

    return view


def _in_own_layout(op: Operation, overload: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """An op on values that depends on how they lie in memory, which is taken as contiguous.

    Random ops draw in the order of memory; `select_scatter` and its like keep the strides of what they copy, and write
    an element of a window that overlaps others into these, too.
    """
    mutable = any(operand.tensor == "mutable" for operand in op.operand_types)
    scatters = overload._schema.name.endswith("_scatter") and overload is not torch.ops.aten.as_strided_scatter.default
    if mutable or not (scatters or torch.Tag.nondeterministic_seeded in overload.tags):
        return call
    return lambda *values: call(*(own_storage(v) if isinstance(v, torch.Tensor) else v for v in values))


def _from_its_start(call: Callable[..., Any]) -> Callable[..., Any]:
    """`as_strided` in the IR counts from the first element of its tensor, PyTorch's from the start of the storage."""

    def as_strided(base: torch.Tensor, sizes: Any, strides: Any, offset: int | None = None) -> Any:
        return call(base, sizes, strides, base.storage_offset() + (offset or 0))

    return as_strided


def own_storage(value: torch.Tensor) -> torch.Tensor:
    """The tensor in a layout that its value alone decides: contiguous, at the start of its storage, not lazily
    conjugated.
    """
    contiguous = value.resolve_conj().resolve_neg().contiguous()
    return contiguous.clone() if contiguous.storage_offset() else contiguous


def build(op: Operation) -> Callable[..., Sequence[Any]]:
    """Prepare an operation of the Torch dialect, `torch.operator` included.

    Args:
        op: the operation.
    Returns:
        A function from operand values to the sequence of result values.
    Raises:
        InterpreterError: PyTorch has no such operator.
    """
    name = op.attributes["name"].value if op.name == "torch.operator" else op.name
    in_place = original_operator(name)
    if in_place is not None:
        overload = find_overload(in_place)
        count = min(len(op.operands), len(overload._schema.arguments))
        return _in_own_layout(op, overload, on_copies(overload, schema_call(overload, count)))
    overload = find_overload(name)
    call = schema_call(overload, len(op.operands))
    if overload is torch.ops.aten.as_strided.default:
        call = _from_its_start(call)
    if op.operand_types and op.operand_types[0].tensor == "value" and is_view(overload):
        call = _own_layout(call)
    call = _in_own_layout(op, overload, call)
    count = len(op.results)
    if count == 1:
        return lambda *values: (call(*values),)
    if count == 0:
        return lambda *values: (call(*values), ())[1]
    return call
