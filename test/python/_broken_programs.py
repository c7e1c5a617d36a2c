"""Compiling programs that are no tests of graph breaks any more once they compile as a whole."""

from __future__ import annotations

from typing import Any

import pytest

import ssa_compiler
from ssa_compiler import errors

__all__ = ["compiled_with_breaks"]


def compiled_with_breaks(program: Any, *example: Any) -> Any:
    """Return the compiled program, which has to have graph breaks.

    Args:
        program: the program.
        example: its arguments.
    """
    compiled = ssa_compiler.compile(program, example)
    with pytest.raises(errors.UnsupportedProgramError, match="a program with graph breaks"):
        compiled.mlir()
    return compiled
