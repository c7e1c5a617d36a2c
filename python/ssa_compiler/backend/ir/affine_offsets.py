"""Offsets as linear forms: whether two computations of an address are of the same one."""

from __future__ import annotations

from collections.abc import Mapping

from iree.compiler import ir

__all__ = ["LinearForm", "linear_form", "plus", "times"]

LinearForm = dict[ir.Value | None, int]
"""The factor of each value, and under None what is added; no factor is 0."""

_CASTS = frozenset({"arith.index_cast", "arith.index_castui", "iree_tensor_ext.dispatch.workload.ordinal"})


def linear_form(value: ir.Value | int, passed: Mapping[ir.Value, ir.Value] | None = None) -> LinearForm:
    """Take an index apart into sums and products by constants.

    Args:
        value: an index or integer in which nothing overflows, such as an offset into a tensor.
        passed: for the arguments of a kernel, what the dispatch passes.
    """
    if isinstance(value, int):
        return {None: value} if value else {}
    if passed is not None and value in passed:
        return linear_form(passed[value])
    owner = value.owner
    if isinstance(owner, ir.Block):
        return {value: 1}
    op = owner.operation
    if op.name in _CASTS:
        return linear_form(op.operands[ir.OpResult(value).result_number], passed)
    if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
        return linear_form(ir.IntegerAttr(op.attributes["value"]).value)
    if op.name == "arith.addi":
        return plus(linear_form(op.operands[0], passed), linear_form(op.operands[1], passed))
    if op.name == "arith.muli":
        one, other = (linear_form(operand, passed) for operand in op.operands)
        if not set(other) - {None}:
            return times(one, other.get(None, 0))
        if not set(one) - {None}:
            return times(other, one.get(None, 0))
    return {value: 1}


def plus(one: LinearForm, other: LinearForm) -> LinearForm:
    """The sum of two forms."""
    made = dict(one)
    for value, factor in other.items():
        made[value] = made.get(value, 0) + factor
    return {value: factor for value, factor in made.items() if factor}


def times(form: LinearForm, number: int) -> LinearForm:
    """A form with a number as factor."""
    return {value: factor * number for value, factor in form.items()} if number else {}
