"""The numbers that `torch.finfo` and `torch.iinfo` have for a dtype: partial evaluation calls this function."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

__all__ = ["limit"]


def limit(dtype, limits, message):
    """Return the number of a dtype.

    Args:
        dtype: the dtype.
        limits: pairs of a dtype and a number.
        message: what the error says of other dtypes.
    """
    for each, number in limits:
        if dtype == each:
            return number
    raise TypeError(message)
