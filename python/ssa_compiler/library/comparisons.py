"""Comparisons of tuples and lists, which TorchScript does not have: partial evaluation calls these functions, for their
types.

What is compared is the first pair of elements that are not equal. Two elements are equal to Python if they are one
object, which NaNs show: with two of these a comparison raises.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import operator

import torch

from ..errors import UnsupportedProgramError

__all__ = ["COMPARISONS"]


def _differ(one, other):
    if one != other:
        if isinstance(one, (float, torch.Tensor)) and one != one and other != other:
            raise UnsupportedProgramError("unsupported: a comparison of tuples or lists with two elements that are NaN")
        return True
    return False


def _equal(one, other):
    if len(one) != len(other):
        return False
    for a, b in zip(one, other):  # noqa: SIM110 - it is written out
        if _differ(a, b):
            return False
    return True


def _not_equal(one, other):
    return not _equal(one, other)


def _less(one, other):
    for a, b in zip(one, other):
        if _differ(a, b):
            return a < b
    return len(one) < len(other)


def _less_or_equal(one, other):
    for a, b in zip(one, other):
        if _differ(a, b):
            return a <= b
    return len(one) <= len(other)


def _greater(one, other):
    for a, b in zip(one, other):
        if _differ(a, b):
            return a > b
    return len(one) > len(other)


def _greater_or_equal(one, other):
    for a, b in zip(one, other):
        if _differ(a, b):
            return a >= b
    return len(one) >= len(other)


COMPARISONS = {
    operator.eq: _equal,
    operator.ne: _not_equal,
    operator.lt: _less,
    operator.le: _less_or_equal,
    operator.gt: _greater,
    operator.ge: _greater_or_equal,
}
"""Functions of two tuples, or of two lists, by the operator."""
