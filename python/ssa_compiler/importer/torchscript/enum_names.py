"""Enums of one name, which are one class to TorchScript from the second time on that it meets them, and dicts with
members of enums as keys, which it has no type for.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.jit._state as jit_state
import torch.jit.annotations as types_of

from ..isolation.patching import replaced

__all__ = ["enum_names"]


@contextmanager
def enum_names() -> Iterator[None]:
    """Let TorchScript find an enum by the name that it gave it when it met it first.

    A module with such a dict is taken as well: only what reads the attribute is rejected.
    """
    qualified: Any = getattr(types_of, "_qualified_name")  # noqa: B009 - the module imports it

    def name_of(kind: type) -> str:
        made = jit_state._get_script_class(kind)  # type: ignore[no-untyped-call]
        return str(qualified(kind) if made is None else made.qualified_name())

    infer: Any = getattr(torch._C, "_jit_try_infer_type")  # noqa: B009 - it has no types

    def inferred(thing: Any) -> Any:
        has_members = isinstance(thing, dict) and any(isinstance(key, enum.Enum) for key in thing)
        return torch._C.InferredType("a dict with members of an enum as keys") if has_members else infer(thing)

    with replaced(types_of, "_qualified_name", name_of), replaced(torch._C, "_jit_try_infer_type", inferred):
        yield
