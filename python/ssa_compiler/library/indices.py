"""What a tensor is as an index: partial evaluation calls this function, for its types."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

__all__ = ["as_index"]


def as_index(value):
    if value.is_floating_point() or value.is_complex() or value.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(value)
