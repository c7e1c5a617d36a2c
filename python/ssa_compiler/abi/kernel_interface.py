"""What the runtime has to know of a program that is one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .numbered_messages import filled

__all__ = ["FIRST_SCALAR", "INTERRUPT", "INTERRUPTED", "NO_SPACE", "KernelInterface", "PlacedResult"]

INTERRUPT, FIRST_SCALAR = 1, 2
"""Words of the status buffer: what is not 0 while the kernel is to stop, and the first scalar result; the very first
says what has failed."""
INTERRUPTED, NO_SPACE = "interrupted", "workspace"
"""Messages that are not of the program: the kernel was told to stop; its workspace is too small."""


@dataclass(frozen=True)
class PlacedResult:
    """A new tensor whose size depends on data: the kernel leaves it in the workspace.

    Attributes:
        number: its position among the new tensors.
        shape: its sizes, None where they are dynamic.
        word: of the status buffer, that says at which byte of the workspace it begins; its dynamic sizes follow.
    """

    number: int
    shape: tuple[int | None, ...]
    word: int


@dataclass(frozen=True)
class KernelInterface:
    """How a program that is one kernel is called: with its arguments, then the status buffer, then the workspace.

    It returns new tensors only, but for those in the workspace: arguments are updated in place, scalar results are in
    the status buffer.

    Attributes:
        messages: of its assertions, in their order; some say numbers of the run (`numbered_messages`).
        words: 64-bit words of the status buffer, 0 if it takes none.
        notes: how many of these, behind the results, are for the numbers of messages.
        functions: the functions of the C library that it calls: the last words are to be their addresses.
        workspace: bytes of scratch memory, 0 if it takes none; to begin with, if `grows`.
        grows: whether that depends on the arguments, so that a call may fail with `NO_SPACE`.
        polls: whether it stops when the status buffer tells it to.
        placed: the new tensors that it leaves in the workspace.
        far: the arguments, beside those that a kernel for a GPU can be passed, for which it is told how many bytes
            behind argument `near` they begin.
        near: the first tensor argument that it only reads and that surely has elements; -1 if there are no `far` ones.
        workgroups: how many workgroups of a GPU run it, all at once.
    """

    messages: tuple[str, ...]
    words: int
    workspace: int
    grows: bool
    polls: bool
    placed: tuple[PlacedResult, ...] = ()
    far: tuple[int, ...] = ()
    near: int = -1
    workgroups: int = 1
    notes: int = 0
    functions: tuple[str, ...] = ()

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
            tuple(PlacedResult(found["number"], tuple(found["shape"]), found["word"]) for found in facts["placed"]),
            tuple(map(int, facts["far"])),
            int(facts["near"]),
            int(facts["workgroups"]),
            int(facts["notes"]),
            tuple(map(str, facts["functions"])),
        )

    def failure(self, number: int, word: Callable[[int, str], bool | int | float]) -> str:
        """Return what a kernel has failed with.

        Args:
            number: the first word of the status buffer.
            word: returns a word of it as a number of a kind, "int", "float" or "bool".
        """
        first = self.words - self.notes - len(self.functions)
        return filled(self.messages[number - 1], lambda position, kind: word(first + position, kind))
