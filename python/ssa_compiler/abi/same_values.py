"""Whether a program that was compiled for one value may run for another: nothing in Python tells the two apart.

`==` does not say that. It takes 1, 1.0 and True for one value, and 0.0 and -0.0, alone and in containers, and dicts
whose items come in another order; and it takes NaN for none.
"""

from __future__ import annotations

import enum
from typing import Any

import torch

__all__ = ["registered_name", "same_tensor", "same_value"]


def same_value(one: Any, other: Any) -> bool:
    """Whether two constants, or containers of constants, are of the same types and values, in the same order.

    What is no constant is compared with `==`; enumerators only by what they are.
    """
    if one is other:
        return True
    if type(one) is not type(other) or isinstance(one, enum.Enum):
        return False
    if isinstance(one, float):
        return one.hex() == other.hex()
    if isinstance(one, complex):
        return same_value(one.real, other.real) and same_value(one.imag, other.imag)
    if isinstance(one, dict):
        return len(one) == len(other) and all(map(same_value, one.items(), other.items()))
    if isinstance(one, (set, frozenset)):  # the order depends on what was in the set before
        return len(one) == len(other) and all(map(same_value, sorted(one, key=repr), sorted(other, key=repr)))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same_value, one, other))
    return bool(one == other)


def same_tensor(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensor objects are one tensor (modules hand out new objects for the same one)."""
    return one is other or (
        one.numel() > 0
        and one.dtype == other.dtype
        and one.shape == other.shape
        and one.stride() == other.stride()
        and one.device == other.device
        and one.data_ptr() == other.data_ptr()
        and one.is_conj() == other.is_conj()
        and one.is_neg() == other.is_neg()
    )


def registered_name(module: torch.nn.Module, tensor: torch.Tensor) -> str | None:
    """Return the first name under which a module has a tensor as a parameter or buffer, None if it has not."""
    named = (*module.named_parameters(), *module.named_buffers())
    return next((name for name, candidate in named if same_tensor(candidate, tensor)), None)
