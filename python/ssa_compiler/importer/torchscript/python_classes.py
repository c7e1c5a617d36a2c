"""The Python classes that TorchScript has scripted."""

from __future__ import annotations

import torch

__all__ = ["python_class"]


def python_class(type_name: str) -> type | None:
    """Return the Python class that was scripted under a qualified name (without `__torch__.`), None if it is not
    known.
    """
    found = torch.jit._state._get_python_class(f"__torch__.{type_name}")  # type: ignore[no-untyped-call]
    return found if isinstance(found, type) else None
