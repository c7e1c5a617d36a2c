"""Load compiled programs and call them with torch tensors (docs/Backend.md)."""

from __future__ import annotations

from .kernel_program import KernelProgram
from .program import Program

__all__ = ["KernelProgram", "Program"]
