"""Counts what one call of a compiled program launches.

iree-compile's scheduled IR says which kernels and copies each block launches; how often a block runs is known from the
interpreter, which runs the `iree` stage on the same arguments. IREE keeps loops and branches in their order, but may
test a loop's condition at its end, and may make a selection of a branch. `matching_flows` tries these forms; the counts
are given only if, in the control-flow graph, the flow into each block is then the flow out of it, in one way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssa_compiler.abi import flatten_arguments
from ssa_compiler.backend import stream_ir
from ssa_compiler.testing import Interpreter

__all__ = ["Branch", "Condition", "Launches", "Loop", "Node", "UnlikeFlow", "count_launches", "flow_of_blocks"]

_MOST_MATCHES = 3000


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


@dataclass(frozen=True)
class Branch:
    """A conditional branch of the scheduled IR.

    Attributes:
        taken: how often it goes to its first successor.
        passed: how often to its second.
        back: whether one of them lies before it: the end of a loop.
    """

    taken: int
    passed: int
    back: bool = False


@dataclass(frozen=True)
class Condition:
    """An `scf.if`: how often either side ran, and what is inside."""

    taken: int
    passed: int
    inside: tuple[Node, ...] = ()

    def forms(self) -> Iterator[tuple[Node, ...]]:
        """A branch, or a selection if there is nothing inside."""
        yield (Branch(self.taken, self.passed), *self.inside)
        if not self.inside:
            yield ()


@dataclass(frozen=True)
class Loop:
    """An `scf.for` or `scf.while`.

    Attributes:
        turns: how often the body ran.
        runs: how often the loop was reached.
        entered: how often it was reached and ran at least once.
        before: what is inside the part that computes an `scf.while`'s condition.
        inside: what is inside the body.
    """

    turns: int
    runs: int
    entered: int
    before: tuple[Node, ...] = ()
    inside: tuple[Node, ...] = ()

    def forms(self) -> Iterator[tuple[Node, ...]]:
        """Tested at the start; or at the end, after a test in front of it, which is left out if it always holds."""
        yield (*self.before, Branch(self.turns, self.runs), *self.inside)
        if not self.before:
            end = Branch(self.turns - self.entered, self.entered, back=True)
            yield (Branch(self.entered, self.runs - self.entered), *self.inside, end)
            if self.entered == self.runs:
                yield (*self.inside, end)


Node = Branch | Condition | Loop


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
    if first.artifact.is_kernel:
        return Launches(1, None, "the program is one kernel")
    interpreter = Interpreter(first.stages["iree"], check_types=False)
    blocks = interpreter.functions["main"].blocks
    entered = _count_entries(interpreter, blocks)
    interpreter.run(*flatten_arguments(first.imported, args, {}))
    program = tuple(_nodes(blocks, interpreter.block_counts, entered))
    scheduled = _scheduled_blocks(stream_ir(first.artifact.module, first.artifact.target))
    try:
        runs = flow_of_blocks([block.successors for block in scheduled], program)
    except UnlikeFlow:
        return None
    return Launches(
        sum(count * block.kernels for count, block in zip(runs, scheduled, strict=True)),
        sum(count * block.copies for count, block in zip(runs, scheduled, strict=True)),
        "dispatches and copies of the scheduled IR times runs of their blocks",
    )


def _body(loop: Any) -> Any:
    """The first block of a loop's body."""
    return loop.regions[-1][0]


def _count_entries(interpreter: Interpreter, blocks: Sequence[Any]) -> Counter[str]:
    """Let the interpreter count, by label of its body, how often each loop runs at least once."""
    entered: Counter[str] = Counter()

    def watched(execute: Callable[..., Any], label: str) -> Callable[..., Any]:
        def run(values: Any, frame: Any) -> Any:
            before = interpreter.block_counts[label]
            results = execute(values, frame)
            entered[label] += interpreter.block_counts[label] > before
            return results

        return run

    waiting = list(blocks)
    while waiting:
        for op in waiting.pop().operations:
            waiting += [block for region in op.regions for block in region]
            if op.name in ("scf.for", "scf.while"):
                op.execute = watched(op.execute, _body(op).label)
    return entered


def _nodes(blocks: Sequence[Any], counts: Mapping[str, int], entered: Mapping[str, int]) -> Iterator[Node]:
    """What the interpreter has seen of the loops and branches of a region, in their order."""

    def inside(region: Sequence[Any]) -> tuple[Node, ...]:
        return tuple(_nodes(region, counts, entered))

    for block in blocks:
        times = counts.get(block.label, 0)
        for op in block.operations:
            if op.name in ("scf.for", "scf.while"):
                label = _body(op).label
                before = inside(op.regions[0]) if op.name == "scf.while" else ()
                yield Loop(counts.get(label, 0), times, entered.get(label, 0), before, inside(op.regions[-1]))
            elif op.name == "scf.if":
                taken = counts.get(op.regions[0][0].label, 0)
                yield Condition(taken, times - taken, tuple(node for region in op.regions for node in inside(region)))


def flow_of_blocks(successors: Sequence[Sequence[int]], program: Sequence[Node]) -> list[int]:
    """Find out how often each block of a control-flow graph runs.

    Args:
        successors: for each block where it goes; the first block runs once. Of two the first is taken if the condition
            holds.
        program: the loops and branches that the graph was made from, in order.
    Returns:
        The number of runs of each block.
    Raises:
        UnlikeFlow: no form of the program gives each block as many runs as branches into it, or several do.
    """
    backward = [min(targets) <= number for number, targets in enumerate(successors) if len(targets) == 2]
    flows = {
        tuple(runs)
        for branches in _arrangements(program, backward)
        if (runs := _consistent_flow(successors, branches)) is not None
    }
    if len(flows) != 1:
        raise UnlikeFlow(f"{len(backward)} conditional branches in the graph, {len(flows)} ways to match the program")
    return list(flows.pop())


def _arrangements(program: Sequence[Node], backward: Sequence[bool]) -> Iterator[tuple[Branch, ...]]:
    """The conditional branches of a program in every form that has them where the graph does, up to a limit."""
    waiting: list[tuple[tuple[Node, ...], tuple[Branch, ...]]] = [(tuple(program), ())]
    found = 0
    while waiting and found < _MOST_MATCHES:
        rest, chosen = waiting.pop()
        if not rest:
            if len(chosen) == len(backward):
                found += 1
                yield chosen
            continue
        node, tail = rest[0], rest[1:]
        if not isinstance(node, Branch):
            waiting += [(form + tail, chosen) for form in node.forms()]
        elif len(chosen) < len(backward) and backward[len(chosen)] == node.back:
            waiting.append((tail, (*chosen, node)))


def _consistent_flow(successors: Sequence[Sequence[int]], branches: Sequence[Branch]) -> list[int] | None:
    """The runs of each block if the flow into each block is the flow out of it, else None."""
    remaining = iter(branches)
    known = {number: next(remaining) for number, targets in enumerate(successors) if len(targets) == 2}
    runs = [1] + [0] * (len(successors) - 1)
    for _ in successors:  # what a block without a condition forwards settles within as many rounds
        arriving = Counter({0: 1})
        for number, targets in enumerate(successors):
            branch = known.get(number)
            flows = (branch.taken, branch.passed) if branch is not None else (runs[number],)
            for target, times in zip(targets, flows):
                arriving[target] += times
        settled = [arriving[number] for number in range(len(successors))]
        if settled == runs:
            break
        runs = settled
    fits = all(branch.taken + branch.passed == runs[number] for number, branch in known.items())
    return runs if fits else None


_BLOCK = re.compile(r"^  (?:  )?\^bb(\d+)")
_BRANCH = re.compile(r"^ +cf\.(?:cond_)?br .*")
_TARGET = re.compile(r"\^bb(\d+)")
_MAIN = re.compile(r"  util\.func public @main(?:\$async)?\(")


def _scheduled_blocks(scheduled: str) -> list[_Block]:
    """Read the blocks of the program's function from scheduled IR."""
    lines = scheduled.splitlines()
    start = next(number for number, line in enumerate(lines) if _MAIN.match(line))
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
