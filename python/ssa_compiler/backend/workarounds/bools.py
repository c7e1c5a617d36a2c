"""Bools: IREE computes sums of them in one bit, where True and True add up to False, and fills with the last bit of a
number.
"""

from __future__ import annotations

from functools import cache

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused, overload_of, torch_operator
from ..ir.bindings import build, constant_number, converted, torch_integer
from ..ir.types import DTYPES, element_of, with_element

__all__ = ["ACCUMULATIONS", "SUMS", "fill_with_bool", "reduce_bools"]

ACCUMULATIONS = frozenset(
    f"torch.aten.{name}" for name in ("index_put", "index_put.hacked_twin", "scatter_add", "scatter_reduce.two")
)
"""Ops that combine values with elements of their first operand."""
SUMS = frozenset({"torch.aten.sum", "torch.aten.sum.dim_IntList"})
"""Ops whose last operand is the dtype to compute in."""


def reduce_bools(op: ir.Operation) -> int:
    """Carry a sum, product, maximum or minimum of bools out in int64; what is not 0 in the end is True.

    Args:
        op: one of `ACCUMULATIONS` or `SUMS`.
    Returns:
        1 if it was rewritten, otherwise 0.
    """
    type_ = op.results[0].type
    if not _is_bool(type_):
        return 0
    where = ir.InsertionPoint(op)
    operands = list(op.operands)
    if op.name in SUMS:
        if not _is_bool(operands[0].type):
            operands[0] = _is_set(operands[0], with_element(operands[0].type, "i1"), where)
        operands[-1] = torch_integer(DTYPES["si64"], where)
    else:
        operands = [converted(operand, "si64", where) if _is_bool(operand.type) else operand for operand in operands]
    wide = build(op.name, [with_element(type_, "si64")], operands, where).results[0]
    op.results[0].replace_all_uses_with(_is_set(wide, type_, where))
    erase_unused(op)
    return 1


@cache
def _filling(operator: str) -> int | None:
    """Which operand of an operator is a number that elements of the result are set to; None of an operator that has
    none.
    """
    chosen = overload_of(operator)
    arguments = chosen._schema.arguments if chosen is not None else ()
    return next((n for n, argument in enumerate(arguments) if argument.name in ("value", "fill_value")), None)


def fill_with_bool(op: ir.Operation) -> int:
    """Fill a tensor of bools with True for a number that is known and not 0.

    Returns:
        1 if it was rewritten, otherwise 0.
    """
    operator = torch_operator(op)
    if operator is None or len(op.results) != 1 or not _is_bool(op.results[0].type):
        return 0
    place = _filling(operator)
    number = None if place is None else constant_number(op.operands[place])
    if place is None or number is None or number in (0, 1):
        return 0
    op.operands[place] = torch_integer(1, ir.InsertionPoint(op))
    return 1


def _is_bool(type_: ir.Type) -> bool:
    return element_of(type_) == "i1"


def _is_set(value: ir.Value, type_: ir.Type, where: ir.InsertionPoint) -> ir.Value:
    return build("torch.aten.ne.Scalar", [type_], [value, torch_integer(0, where)], where).results[0]
