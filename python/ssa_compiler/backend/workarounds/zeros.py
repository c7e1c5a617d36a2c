"""Ops that lose the sign of a zero, or give a zero another one than eager."""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir

from ..ir.bindings import build, constant_number, torch_integer
from ..ir.types import element_of, sizes, with_element
from .scalar_rounding import float_constant, number_tensor

__all__ = ["SIGNED", "keep_sign"]

_FLOATS = ("f16", "bf16", "f32", "f64")


def keep_sign(op: ir.Operation) -> int:
    """Rewrite one of the ops in `SIGNED`; returns how many ops were rewritten."""
    type_ = op.results[0].type
    if element_of(type_) not in _FLOATS:
        return 0
    if op.operands[0].type != type_ and SIGNED[op.name] is not _added:
        return 0  # what is given is returned, in parts
    if op.name == "torch.aten.cumsum" and not sizes(op.results[0]):
        return 0  # a number alone is added to nothing
    if op.name == "torch.aten.hardtanh" and not all(map(_is_number, op.operands[1:3])):
        return 0  # a bound that is NaN makes all NaN
    kept = SIGNED[op.name](op, ir.InsertionPoint(op))
    op.results[0].replace_all_uses_with(kept)
    op.erase()
    return 1


def _is_number(bound: ir.Value) -> bool:
    """Whether a bound is a constant that is not NaN."""
    number = constant_number(bound)
    return number is not None and number == number


def _again(op: ir.Operation, where: ir.InsertionPoint) -> ir.Value:
    return build(op.name, [op.results[0].type], list(op.operands), where).results[0]


def _compared(name: str, value: ir.Value, number: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    return build(f"torch.aten.{name}.Scalar", [with_element(value.type, "i1")], [value, number], where).results[0]


def _chosen(flags: ir.Value, one: ir.Value, other: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    return build("torch.aten.where.self", [other.type], [flags, one, other], where).results[0]


def _of_zero(op: ir.Operation, where: ir.InsertionPoint) -> ir.Value:
    """What is odd gives a zero as it is: torch-mlir multiplies by a sign, which is 0 for -0."""
    value = op.operands[0]
    computed = _again(op, where)
    flags = _compared("eq", value, torch_integer(0, where), where)
    return build("torch.aten.where.self", [computed.type], [flags, value, computed], where).results[0]


def _added(op: ir.Operation, where: ir.InsertionPoint) -> ir.Value:
    """What adds to 0, and a difference of equal numbers, is never -0."""
    computed, zero = _again(op, where), float_constant(0.0, where)
    flags = _compared("eq", computed, zero, where)
    return _chosen(flags, number_tensor(zero, element_of(computed.type), where), computed, where)


def _bounded(op: ir.Operation, where: ir.InsertionPoint) -> ir.Value:
    """What is not beyond a bound stays as it is, -0 and NaN included; torch-mlir gives the bound."""
    value = op.operands[0]
    if op.name == "torch.aten.hardtanh":
        bounds = [("gt", op.operands[2]), ("lt", op.operands[1])]
    else:
        highest = [("gt", float_constant(6.0, where))] if op.name == "torch.aten.relu6" else []
        bounds = [*highest, ("lt", float_constant(0.0, where))]
    kept = value
    for name, bound in bounds:
        flags = _compared(name, value, bound, where)
        kept = _chosen(flags, number_tensor(bound, element_of(value.type), where), kept, where)
    return kept


SIGNED: dict[str, Callable[[ir.Operation, ir.InsertionPoint], ir.Value]] = {
    **dict.fromkeys(("torch.aten.erf", "torch.aten.trunc"), _of_zero),
    **dict.fromkeys(("torch.aten.cumsum", "torch.aten.frac"), _added),
    **dict.fromkeys(("torch.aten.hardtanh", "torch.aten.relu", "torch.aten.relu6"), _bounded),
}
"""The ops, and what gives their value."""
