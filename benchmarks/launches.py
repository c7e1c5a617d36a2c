"""Counts what one call of a compiled program launches.

iree-compile's scheduled IR says which kernels and copies each block launches; how often a block runs is known from the
interpreter, which runs the `iree` stage on the same arguments. Both have the same branches in the same order, so the
interpreter's counts give the flow along each conditional branch of the scheduled IR, and from there along all others. The
counts are given only if the flow into each block is the flow out of it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssa_compiler.backend import stream_ir
from ssa_compiler.importer import flatten_arguments
from ssa_compiler.testing import Interpreter

__all__ = ["Launches", "UnlikeFlow", "count_launches", "flow_of_blocks"]


@dataclass(frozen=True)
class Launches:
    """What one call asks of the device.

    Attributes:
        kernels: kernels launched.
        copies: copies and fills of memory, None where they are not counted.
        how: where the numbers are from.
    """

    kernels: int
    copies: int | None
    how: str


class UnlikeFlow(RuntimeError):
    """The scheduled IR has other control flow than the program that was interpreted."""


_MOST_CHOICES = 2000


@dataclass(frozen=True)
class _Block:
    """A block of the scheduled IR: where it goes, and what it launches."""

    successors: tuple[int, ...]
    kernels: int
    copies: int


def count_launches(compiled: Any, args: tuple[Any, ...]) -> Launches | None:
    """Count the kernels and copies of one call.

    Args:
        compiled: a program of ssa-compiler whose first specialisation takes the arguments.
        args: arguments of the call; they are not written.
    Returns:
        The counts; None if the control flow cannot be matched.
    """
    first = compiled.specialisations[0] if hasattr(compiled, "specialisations") else compiled
    interpreter = Interpreter(first.stages["iree"], check_types=False)
    interpreter.run(*flatten_arguments(first.imported, args, {}))
    main = interpreter.functions["main"]
    decisions = list(_decisions(main.blocks, interpreter.block_counts))
    blocks = _scheduled_blocks(stream_ir(first.artifact.module, first.artifact.target))
    try:
        runs = flow_of_blocks([block.successors for block in blocks], decisions)
    except UnlikeFlow:
        return None
    return Launches(
        sum(count * block.kernels for count, block in zip(runs, blocks, strict=True)),
        sum(count * block.copies for count, block in zip(runs, blocks, strict=True)),
        "dispatches and copies of the scheduled IR times runs of their blocks",
    )


def _decisions(blocks: Sequence[Any], counts: Mapping[str, int]) -> Iterator[tuple[int, int, bool]]:
    """How often each branch of a program is taken, in the order in which iree-compile writes them down.

    Args:
        blocks: blocks of one region, as the interpreter has read them.
        counts: how often each block ran, by label.
    Yields:
        How often the branch enters the region (the loop goes on, the condition holds), how often not, and whether it is
        an `scf.if`, which may become a selection.
    """
    for block in blocks:
        times = counts.get(block.label, 0)
        for op in block.operations:
            if op.name == "scf.for":
                yield counts.get(op.regions[0][0].label, 0), times, False
                yield from _decisions(op.regions[0], counts)
            elif op.name == "scf.while":
                yield from _decisions(op.regions[0], counts)
                yield counts.get(op.regions[1][0].label, 0), times, False
                yield from _decisions(op.regions[1], counts)
            elif op.name == "scf.if":
                taken = counts.get(op.regions[0][0].label, 0)
                yield taken, times - taken, True
                for region in op.regions:
                    yield from _decisions(region, counts)


def flow_of_blocks(successors: Sequence[Sequence[int]], decisions: Sequence[tuple[int, int, bool]]) -> list[int]:
    """Find out how often each block of a control-flow graph runs.

    Args:
        successors: for each block where it goes; the first block runs once. Of two the first is taken if the condition
            holds.
        decisions: how often each conditional branch goes to its first and to its second successor, in the order of the
            blocks; those marked True may be missing from the graph.
    Returns:
        The number of runs of each block.
    Raises:
        UnlikeFlow: no choice of decisions gives each block as many runs as branches into it, or choices differ.
    """
    branches = sum(len(targets) == 2 for targets in successors)
    flows = {
        tuple(runs)
        for chosen in _without(decisions, len(decisions) - branches)
        if (runs := _consistent_flow(successors, chosen)) is not None
    }
    if len(flows) != 1:
        raise UnlikeFlow(
            f"{branches} conditional branches, {len(decisions)} in the program, {len(flows)} ways to match"
        )
    return list(flows.pop())


def _without(decisions: Sequence[tuple[int, int, bool]], spare: int) -> Iterator[list[tuple[int, int]]]:
    """The decisions without some that may be missing, every choice of them up to a limit."""
    if spare < 0:
        return
    optional = [number for number, decision in enumerate(decisions) if decision[2]]
    for left_out in itertools.islice(itertools.combinations(optional, spare), _MOST_CHOICES):
        yield [decision[:2] for number, decision in enumerate(decisions) if number not in left_out]


def _consistent_flow(successors: Sequence[Sequence[int]], decisions: Sequence[tuple[int, int]]) -> list[int] | None:
    """The runs of each block if the flow into each block is the flow out of it, else None."""
    remaining = iter(decisions)
    known: dict[int, tuple[int, int]] = {
        number: next(remaining) for number, targets in enumerate(successors) if len(targets) == 2
    }
    runs = [1] + [0] * (len(successors) - 1)
    for _ in successors:  # what a block without a condition hands on settles within as many rounds
        arriving = Counter({0: 1})
        for number, targets in enumerate(successors):
            for target, times in zip(targets, known.get(number, (runs[number],))):
                arriving[target] += times
        settled = [arriving[number] for number in range(len(successors))]
        if settled == runs:
            break
        runs = settled
    return runs if all(sum(known[number]) == runs[number] for number in known) else None


_BLOCK = re.compile(r"^  (?:  )?\^bb(\d+)")
_BRANCH = re.compile(r"^ +cf\.(?:cond_)?br .*")
_TARGET = re.compile(r"\^bb(\d+)")


def _scheduled_blocks(scheduled: str) -> list[_Block]:
    """Read the blocks of the program's function from scheduled IR."""
    lines = scheduled.splitlines()
    start = next(
        number for number, line in enumerate(lines) if re.match(r"  util\.func public @main(?:\$async)?\(", line)
    )
    end = next(number for number in range(start + 1, len(lines)) if lines[number] == "  }")
    blocks: list[_Block] = []
    successors: tuple[int, ...] = ()
    kernels = copies = 0
    for line in lines[start + 1 : end]:
        if _BLOCK.match(line):
            blocks.append(_Block(successors, kernels, copies))
            successors, kernels, copies = (), 0, 0
        elif _BRANCH.match(line):
            successors = tuple(int(target) for target in _TARGET.findall(line))
        elif "stream.cmd.dispatch " in line:
            kernels += 1
        elif "stream.cmd.copy " in line or "stream.cmd.fill " in line:
            copies += 1
    blocks.append(_Block(successors, kernels, copies))
    return blocks
