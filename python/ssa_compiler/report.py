"""What became of each write of a program: which version it made, whether it is in place, and which copies are needed.

`CompiledProgram.report()` returns a `Report`. It is what `ssa-opt --tssa-report` says (docs/Report.md), with the number
of copies that the compiled program makes beside it.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._opt import run_ssa_opt
from .errors import SourceLocation
from .semantics.ignored_functions import with_shown_names

__all__ = ["Copy", "Mutation", "Region", "Report", "report_mutations"]

_FATES = {
    "in place": "in place",
    "copy": "in a copy",
    "whole": "computed anew, as every element is written",
    "carried": "carried by the loop as a value of its own",
    "overwritten": "left out, as it is overwritten before anything reads it",
    "dead": "left out, as nothing reads it",
}


@dataclass(frozen=True)
class Copy:
    """A copy of a whole tensor that the program needs.

    Attributes:
        place: where it is made: "update", "loop" (at its start), "end of the loop", "end of the branch" or "return".
        location: the line of the update, or of the loop or branch; None if it is not known.
        reason: who needs the old version, with the line.
        asked_for: the line of the `clone()` that asks for it, None if the program does not ask for it.
    """

    place: str
    location: SourceLocation | None
    reason: str
    asked_for: SourceLocation | None

    def __str__(self) -> str:
        asked = f"; clone() at {self.asked_for} asks for it" if self.asked_for else ""
        start = "start of the " if self.place == "loop" else ""
        return f"one copy at the {start}{self.place} ({self.location or '?'}), since {self.reason}{asked}"


@dataclass(frozen=True)
class Region:
    """A loop or branch around a write.

    Attributes:
        kind: "loop" or "branch".
        location: its line, None if it is not known.
    """

    kind: str
    location: SourceLocation | None


@dataclass(frozen=True)
class Mutation:
    """An op of the program that writes a tensor.

    Attributes:
        op: the op, `aten.add_.Tensor`.
        storage: the tensor that holds what is written, in words.
        path: the views from there to what is written, `.select(0, _)`; `_` is a dynamic scalar.
        version: counts the writes of the storage in program order, from 1.
        location: the user's line, None if it is not known.
        callees: lines of the functions in which the op is, called from `location`, the outermost first.
        regions: the loops and branches around it, the outermost first.
        alternatives: how many tensors the written name may be; 1 unless control flow chooses.
        fate: "in place", "copy", "whole" (every element is written, so that nothing is kept), "carried" (the loop
            carries what is written as a value of its own), "overwritten" or "dead" (no version is made).
        copies: copies that this update needs, or that what it updates starts from.
    """

    op: str
    storage: str
    path: str
    version: int
    location: SourceLocation | None
    callees: tuple[SourceLocation, ...]
    regions: tuple[Region, ...]
    alternatives: int
    fate: str
    copies: tuple[Copy, ...]

    @property
    def in_place(self) -> bool:
        """Whether the memory of the version before is updated."""
        return self.fate == "in place"

    def __str__(self) -> str:
        where = "".join(f", in the {region.kind} at {region.location or '?'}" for region in reversed(self.regions))
        which = f" (one of {self.alternatives} tensors)" if self.alternatives > 1 else ""
        lines = [
            f"{self.location or '?'}: {self.op} writes {self.storage}{self.path}{which}{where}: "
            f"version {self.version} is {_FATES.get(self.fate, self.fate)}"
        ]
        return "\n".join([*lines, *(f"    {copy}" for copy in self.copies)])


@dataclass(frozen=True)
class Report:
    """What became of each write of a program.

    Attributes:
        mutations: the ops that write a tensor, in program order.
        copies: all copies of versions that the program needs.
        copies_made: copies of whole tensors in the compiled program; None where there is none. Those of dispatches
            count as `copies` do, one for each version; docs/Report.md says when there are more.
        loop_copies_made: those of them that are made again in each iteration of a loop.
        kernel_copies_made: those of them in native kernels, one for each buffer: they include what a loop or branch
            copies to where its result is kept, and cannot be compared with `copies`.
    """

    mutations: tuple[Mutation, ...]
    copies: tuple[Copy, ...]
    copies_made: int | None = None
    loop_copies_made: int | None = None
    kernel_copies_made: int = 0

    def __str__(self) -> str:
        lines = [str(mutation) for mutation in self.mutations]
        lines.append(f"{_count(len(self.mutations), 'write')}, {_count(len(self.copies), 'copy')} needed")
        lines += [f"    {copy}" for copy in self.copies]
        if self.copies_made is not None:
            lines.append(
                f"{_count(self.copies_made, 'copy')} in the compiled program, {self.loop_copies_made} in loops"
            )
        if self.kernel_copies_made:
            what = "is of a buffer" if self.kernel_copies_made == 1 else "are of buffers"
            lines.append(
                f"    {self.kernel_copies_made} {what} in native kernels; compile with kernels=False to compare with the "
                "copies needed"
            )
        return "\n".join(lines)


def _count(number: int, word: str) -> str:
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number} {word if number == 1 else plural}"


def report_mutations(scf: str, *, ssa_opt: str | os.PathLike[str] | None = None, timeout_s: float = 120.0) -> Report:
    """Convert a module and report on its writes.

    Args:
        scf: a module of the `scf` stage.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit in seconds.
    Raises:
        UnsupportedOpError, UnsupportedProgramError, ToolError: see `run_ssa_opt`.
    """
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-") as folder:
        path = Path(folder) / "report.json"
        flags = ("--convert-to-tensorssa", f"--tssa-report={path}", "--tssa-report-format=json")
        run_ssa_opt(scf, flags, ssa_opt=ssa_opt, timeout_s=timeout_s)
        found = json.loads(with_shown_names(path.read_text(encoding="utf-8")))
    return Report(
        tuple(_mutation(entry) for entry in found["mutations"]), tuple(_copy(entry) for entry in found["copies"])
    )


def _location(text: str) -> SourceLocation | None:
    file, _, line = text.rpartition(":")
    return SourceLocation(file, int(line)) if file and line.isdigit() else None


def _copy(entry: dict[str, Any]) -> Copy:
    return Copy(entry["place"], _location(entry["line"]), entry["reason"], _location(entry["asked_for"]))


def _mutation(entry: dict[str, Any]) -> Mutation:
    locations = [location for line in entry["lines"] if (location := _location(line)) is not None]
    return Mutation(
        entry["op"],
        entry["storage"],
        entry["path"],
        entry["version"],
        locations[0] if locations else None,
        tuple(locations[1:]),
        tuple(Region(region["kind"], _location(region["line"])) for region in entry["regions"]),
        entry["alternatives"],
        entry["fate"],
        tuple(_copy(copy) for copy in entry["copies"]),
    )
