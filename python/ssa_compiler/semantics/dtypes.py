"""The data types of tensors: torch dtype, MLIR element types and PyTorch's number side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["ElementType", "by_mlir", "by_torch", "carriers", "element_types"]


@dataclass(frozen=True)
class ElementType:
    """One data type.

    Attributes:
        dtype: the torch dtype.
        number: PyTorch's ScalarType number, which TorchScript passes for dtypes.
        torch: its element type in the Torch dialect as text.
        mlir: its builtin element type as text; signless, so uint8 and int8 share `i8`.
        carrier: builtin element type of the same width as which compiled programs hand its tensors on, between ops that
            all run in PyTorch; "" for a type that IREE computes with.
    """

    dtype: torch.dtype
    number: int
    torch: str
    mlir: str
    carrier: str = ""


@cache
def element_types() -> tuple[ElementType, ...]:
    """Return every supported data type; the first of two that share an MLIR type is the signed one."""
    import torch

    return (
        ElementType(torch.float32, 6, "f32", "f32"),
        ElementType(torch.float64, 7, "f64", "f64"),
        ElementType(torch.float16, 5, "f16", "f16"),
        ElementType(torch.bfloat16, 15, "bf16", "bf16"),
        ElementType(torch.int64, 4, "si64", "i64"),
        ElementType(torch.int32, 3, "si32", "i32"),
        ElementType(torch.int16, 2, "si16", "i16"),
        ElementType(torch.int8, 1, "si8", "i8"),
        ElementType(torch.uint8, 0, "ui8", "i8"),
        ElementType(torch.bool, 11, "i1", "i1"),
        ElementType(torch.complex64, 9, "complex<f32>", "complex<f32>"),
        ElementType(torch.complex128, 10, "complex<f64>", "complex<f64>"),
        ElementType(torch.complex32, 8, "complex<f16>", "complex<f16>", "i32"),
        ElementType(torch.uint16, 27, "ui16", "i16", "i16"),
        ElementType(torch.uint32, 28, "ui32", "i32", "i32"),
        ElementType(torch.uint64, 29, "ui64", "i64", "i64"),
        ElementType(torch.float8_e5m2, 23, "f8E5M2", "f8E5M2", "i8"),
        ElementType(torch.float8_e4m3fn, 24, "f8E4M3FN", "f8E4M3FN", "i8"),
        ElementType(torch.float8_e5m2fnuz, 25, "f8E5M2FNUZ", "f8E5M2FNUZ", "i8"),
        ElementType(torch.float8_e4m3fnuz, 26, "f8E4M3FNUZ", "f8E4M3FNUZ", "i8"),
        ElementType(torch.float8_e8m0fnu, 44, "f8E8M0FNU", "f8E8M0FNU", "i8"),
    )


@cache
def by_torch() -> dict[torch.dtype, ElementType]:
    """Return the data types keyed by torch dtype."""
    return {entry.dtype: entry for entry in element_types()}


@cache
def by_mlir() -> dict[str, ElementType]:
    """Return the data types keyed by their element type in either dialect; signless integers give the signed one."""
    table: dict[str, ElementType] = {}
    for entry in element_types():
        table.setdefault(entry.mlir, entry)
        table.setdefault(entry.torch, entry)
    return table


@cache
def carriers() -> dict[str, str]:
    """Return the carriers of the types that have one, keyed by element type in the Torch dialect."""
    return {entry.torch: entry.carrier for entry in element_types() if entry.carrier}
