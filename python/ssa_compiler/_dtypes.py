"""The data types that cross the boundary: torch dtype and MLIR element type side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["ElementType", "by_mlir", "by_torch", "element_types"]


@dataclass(frozen=True)
class ElementType:
    """One data type.

    Attributes:
        dtype: the torch dtype.
        mlir: its builtin element type as text; signless, so uint8 and int8 share `i8`.
    """

    dtype: torch.dtype
    mlir: str


@cache
def element_types() -> tuple[ElementType, ...]:
    """Return every supported data type; the first of two that share an MLIR type is the signed one."""
    import torch

    return (
        ElementType(torch.float32, "f32"),
        ElementType(torch.float64, "f64"),
        ElementType(torch.float16, "f16"),
        ElementType(torch.bfloat16, "bf16"),
        ElementType(torch.int64, "i64"),
        ElementType(torch.int32, "i32"),
        ElementType(torch.int16, "i16"),
        ElementType(torch.int8, "i8"),
        ElementType(torch.uint8, "i8"),
        ElementType(torch.bool, "i1"),
        ElementType(torch.complex64, "complex<f32>"),
        ElementType(torch.complex128, "complex<f64>"),
    )


@cache
def by_torch() -> dict[torch.dtype, ElementType]:
    """Return the data types keyed by torch dtype."""
    return {entry.dtype: entry for entry in element_types()}


@cache
def by_mlir() -> dict[str, ElementType]:
    """Return the data types keyed by MLIR element type; `i8` gives the signed one."""
    table: dict[str, ElementType] = {}
    for entry in element_types():
        table.setdefault(entry.mlir, entry)
    return table
