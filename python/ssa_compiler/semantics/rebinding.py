"""`ssa_compiler::rebound`, the marker by which a fragment says that a variable is bound to a new tensor.

Whether a variable still has the tensor that it came with, or has another, may depend on the run. The fragment counts
that in a number beside it; the importer checks, at each marker, that the other tensor shares no memory with the
caller's. It returns its operand.
"""

from __future__ import annotations

import torch

__all__ = ["REBOUND", "REBOUND_CALL"]

REBOUND = "ssa_compiler::rebound"
REBOUND_CALL = "torch.ops.ssa_compiler.rebound"
"""How source text calls it."""

LIBRARY = torch.library.Library("ssa_compiler", "FRAGMENT")  # type: ignore[no-untyped-call]
"""Keeps the definition alive."""
LIBRARY.define("rebound(Tensor(a) x) -> Tensor(a)")  # type: ignore[no-untyped-call]
LIBRARY.impl("rebound", lambda x: x, "CompositeImplicitAutograd")  # type: ignore[no-untyped-call]
