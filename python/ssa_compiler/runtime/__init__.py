"""Load compiled programs and call them with torch tensors (docs/Backend.md)."""

from __future__ import annotations

from ._kernel_program import KernelProgram
from ._program import Program
from ._signature import ArgumentInfo, ResultInfo, Signature, read_signature

__all__ = ["ArgumentInfo", "KernelProgram", "Program", "ResultInfo", "Signature", "read_signature"]
