"""Check the register moves of a compiled program: IREE's virtual machine gets some of them wrong.

IREE 3.13 allocates registers when it writes the bytecode, and makes two mistakes where a branch passes values to a
block:

- moves of different widths are ordered by the whole of a 64-bit value: `i10 -> i8, i8+9 -> i2+3` reads `i8` after it
  has been overwritten, and the program goes on with a wrong number;
- a reference that is forwarded twice, once in the register that it lies in, is moved out of that register all the same
  (`R12 -> r14` while `r12` is read in the target): the program fails with "indirect buffer reference slot 0 is out
  range".

The bytecode is disassembled and executed symbolically: no move may read what an earlier move of the same branch has
overwritten, and no instruction may read a reference that has been moved away on some path to it. A third mistake, two
values in one register, cannot be seen in registers: `register_rewrite.find_shared_registers` looks for it before they
are allocated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import ToolError
from ...process.child_processes import run_tool

__all__ = ["find_bad_moves", "find_bad_moves_in_text"]

_FUNCTION = re.compile(r"^vm\.func @(?P<name>[^(\s]+)")
_BLOCK = re.compile(r"\^bb(\d+):$")
_TARGET = re.compile(r"\^bb(\d+)\(([^)]*)\)")
# A call that may be suspended goes on in a block, with its results in registers of that block.
_RESUMED = re.compile(r" -> \^bb(\d+)\(([^)]*)\)$")
_MOVE = re.compile(r"%([irR])(\d+)->%([irR])(\d+)")
_REGISTER = re.compile(r"%([irR])(\d+)(?::(\d+))?")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRANCHES = ("vm.br ", "vm.cond_br ", "vm.br_table ")
# Letting go of a register that is empty does nothing.
_DISCARD = "vm.discard.refs"
_NULL = " = vm.const.ref.zero"
# A join leaves out empty fences. One that is named twice, and moved the first time, is waited for all the same; one
# that was moved away before is not, which only matters where work is not done in program order.
_JOIN = "@hal.fence.join"


@dataclass
class _Block:
    """A block of a function: its instructions as text, in order."""

    lines: list[str] = field(default_factory=list)


def find_bad_moves(path: str, *, in_order: bool = False) -> list[str]:
    """Check a compiled program.

    Args:
        path: the `.vmfb` file.
        in_order: the driver does all work in program order, so that a fence that is not waited for makes no difference.
    Returns:
        One line for each wrong move, empty if all are right.
    Raises:
        ToolError: the file cannot be disassembled.
    """
    import iree._runtime_libs as libraries

    tool = str(Path(libraries.__path__[0]) / "iree-dump-module")
    completed = run_tool([tool, "--output=disassembly", path])
    if completed.returncode != 0 or "vm.func @" not in completed.stdout:
        raise ToolError(f"iree-dump-module cannot disassemble {path}", command=[tool, path], stderr=completed.stderr)
    return find_bad_moves_in_text(completed.stdout, in_order=in_order)


def find_bad_moves_in_text(disassembly: str, *, in_order: bool = False) -> list[str]:
    """Check the disassembly of a program, as `find_bad_moves` does."""
    found: list[str] = []
    for name, blocks in _functions(disassembly):
        found += [f"@{name}: {problem}" for problem in _check(blocks, in_order)]
    return found


def _functions(disassembly: str) -> list[tuple[str, dict[str, _Block]]]:
    """Split the text into functions of blocks; a function's first block is its entry."""
    functions: list[tuple[str, dict[str, _Block]]] = []
    block: _Block | None = None
    for line in disassembly.splitlines():
        match = _FUNCTION.match(line)
        if match:
            functions.append((match["name"], {}))
            block = None
        elif functions and (label := _BLOCK.search(line)):
            block = functions[-1][1].setdefault(label[1], _Block())
        elif block is not None and line.strip() not in ("", "}"):
            block.lines.append(_STRING.sub("", line).split("//")[0].strip())
    return functions


def _targets(line: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The targets of a branch and the moves to each, as (source, destination); `R` is a reference that is moved
    away.
    """
    return [
        (block, [(kind + number, to.lower() + place) for kind, number, to, place in _MOVE.findall(moves)])
        for block, moves in _TARGET.findall(line)
    ]


def _is_branch(line: str) -> bool:
    return line.startswith(_BRANCHES)


def _operands(line: str) -> list[str]:
    """The registers that an instruction reads, in order; for a branch those of its condition only."""
    line = _RESUMED.sub("", line)
    if _is_branch(line):
        line = _TARGET.sub("", line)
    left, equals, right = line.partition(" = ")
    return [kind + number for kind, number, _ in _REGISTER.findall(right if equals else left)]


def _results(line: str) -> list[str]:
    if resumed := _RESUMED.search(line):
        return [kind.lower() + number for kind, number, _ in _REGISTER.findall(resumed[2])]
    left, equals, _ = line.partition(" = ")
    return [kind.lower() + number for kind, number, _ in _REGISTER.findall(left)] if equals else []


@dataclass
class _References:
    """What is known of references at one place.

    Attributes:
        gone: the registers out of which a reference may have been moved.
        null: the registers that are surely empty from the start; moving out of one changes nothing.
    """

    gone: set[str] = field(default_factory=set)
    null: set[str] = field(default_factory=set)

    def copy(self) -> _References:
        return _References(set(self.gone), set(self.null))

    def take(self, register: str) -> None:
        """Move the reference out of a register."""
        if register not in self.null:
            self.gone.add(register)

    def put(self, register: str, *, null: bool = False) -> None:
        """Put a reference, or none, into a register."""
        self.gone.discard(register)
        (self.null.add if null else self.null.discard)(register)

    def join(self, other: _References) -> bool:
        """Adopt what holds on another path as well; returns whether anything is new."""
        before = len(self.gone), len(self.null)
        self.gone |= other.gone
        self.null &= other.null
        return before != (len(self.gone), len(self.null))


def _check(blocks: dict[str, _Block], in_order: bool) -> list[str]:
    found: list[str] = []
    temporary = _temporaries(blocks)
    pending = list(blocks)[:1]
    known = {name: _References() for name in pending}  # where a block starts
    reported: set[str] = set()
    while pending:
        name = pending.pop()
        state = known[name].copy()
        for line in blocks[name].lines:
            problem = _execute(line, state, in_order)
            resumed = _RESUMED.search(line)
            for target, moves in [(resumed[1], [])] if resumed else _targets(line) if _is_branch(line) else []:
                after = state.copy()
                problem = _move(moves, after, temporary) or problem
                if target not in known:
                    known[target] = after
                    pending.append(target)
                elif known[target].join(after):
                    pending.append(target)
            if problem and line not in reported:
                reported.add(line)
                found.append(f"{problem}: {line}")
    return found


def _execute(line: str, state: _References, in_order: bool) -> str | None:
    """Execute an instruction, except for the moves of a branch; returns what is wrong with it."""
    problem = None
    discards = line.startswith(_DISCARD)
    here: set[str] = set()  # moved away by this instruction
    for operand in _operands(line):
        register = operand.lower()
        harmless = _JOIN in line and (in_order or register in here)
        if register in state.gone and not discards and not harmless:
            problem = f"%{register} has been moved away"
        if operand[0] == "R":
            here.add(register)
        if operand[0] == "R" or (discards and operand[0] == "r"):
            state.take(register)
    for register in _results(line):
        state.put(register, null=line.endswith(_NULL))
    return problem


def _move(moves: Sequence[tuple[str, str]], state: _References, temporary: set[str]) -> str | None:
    """Execute the moves of a branch in order; returns what is wrong with them."""
    problem = None
    written: set[str] = set()
    for source, destination in moves:
        register = source.lower()
        if register in state.gone:
            problem = f"%{register} has been moved away"
        elif register in written and register not in temporary:
            problem = f"%{register} is overwritten before it is read"
        lost = register in state.gone
        state.put(destination, null=register in state.null)
        if lost:
            state.gone.add(destination)
        if source[0] == "R" and register != destination:
            state.take(register)
        written.add(destination)
    return problem


def _temporaries(blocks: dict[str, _Block]) -> set[str]:
    """Registers that only hold a value between two moves of one branch: how cycles of moves are broken."""
    written_first: set[str] = set()
    used: set[str] = set()
    for block in blocks.values():
        for line in block.lines:
            used.update(operand.lower() for operand in [*_operands(line), *_results(line)])
            if _is_branch(line):
                for _, moves in _targets(line):
                    here: set[str] = set()
                    for source, destination in moves:
                        if source.lower() not in here:
                            used.add(source.lower())
                        here.add(destination)
                    written_first |= here
    return written_first - used
