"""What the runtime has to know of a program that is one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["FIRST_SCALAR", "INTERRUPT", "INTERRUPTED", "NO_SPACE", "KernelInterface"]

INTERRUPT, FIRST_SCALAR = 1, 2
"""Words of the status buffer: what is not 0 while the kernel is to stop, and the first scalar result; the very first says what
has failed."""
INTERRUPTED, NO_SPACE = "interrupted", "workspace"
"""Messages that are not of the program: the kernel was told to stop; its workspace is too small."""


@dataclass(frozen=True)
class KernelInterface:
    """How a program that is one kernel is called: with its arguments, then the status buffer, then the workspace.

    It returns new tensors only: arguments are updated in place, scalar results are in the status buffer.

    Attributes:
        messages: of its assertions, in their order.
        words: 64-bit words of the status buffer, 0 if it takes none.
        workspace: bytes of scratch memory, 0 if it takes none; to begin with, if `grows`.
        grows: whether that depends on the arguments, so that a call may fail with `NO_SPACE`.
        polls: whether it stops when the status buffer tells it to.
    """

    messages: tuple[str, ...]
    words: int
    workspace: int
    grows: bool
    polls: bool

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> KernelInterface:
        """Return the interface that `dataclasses.asdict` was given.

        Args:
            facts: what it returned, through JSON.
        """
        return cls(
            tuple(map(str, facts["messages"])),
            int(facts["words"]),
            int(facts["workspace"]),
            bool(facts["grows"]),
            bool(facts["polls"]),
        )
