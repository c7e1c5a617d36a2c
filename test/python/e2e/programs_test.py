"""Compiles every program of `programs` once and compares all stages with eager on all its inputs.

A quarter of them runs as kernels as well, all if SSA_COMPILER_NIGHTLY is set. Dispatches make as many copies of whole
tensors as the conversion has marked (docs/Report.md).
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import pytest

import ssa_compiler
from _nightly import NIGHTLY
from programs import PROGRAMS
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import check_other

# Program -> why it does not work yet. Strict: a program that starts to work must leave the table.
KNOWN_FAILURES: dict[str, str] = {
    "constant_row_and_its_transpose": "the report counts a copy that IREE does not make, of a tensor with a constant row"
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason=KNOWN_FAILURES[name], strict=True))
        if name in KNOWN_FAILURES
        else name
        for name in PROGRAMS
    ],
)
def test_every_stage_equals_eager(name: str) -> None:
    program = PROGRAMS[name]
    tolerance = program.tolerance
    options = {"kernels": False}
    checked = check(program.make(), *program.calls(), rtol=tolerance, atol=tolerance, options=options)
    assert checked.errors == [None] * len(checked.errors), "eager rejects the inputs"
    assert checked.loops("imported") >= program.loops
    assert checked.loops("iree") >= program.loops, "a loop is no loop any more"
    report = checked.compiled.report()
    assert report.copies_made == len(report.copies), str(report)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if NIGHTLY or crc32(name.encode()) % 4 == 0])
def test_kernels_equal_eager(name: str) -> None:
    program = PROGRAMS[name]
    calls = list(program.calls())
    made: list[ssa_compiler.CompiledProgram] = []

    def build(model: Any) -> ssa_compiler.CompiledProgram:
        made.append(ssa_compiler.compile(model, calls[0]))
        return made[0]

    check_other(program.make(), build, calls, "a kernel")


def test_no_copy_in_a_loop_that_updates_under_a_branch() -> None:
    program = PROGRAMS["continue_in_a_loop"]
    compiled = ssa_compiler.compile(program.make(), next(iter(program.calls())), kernels=False)
    assert compiled.report().loop_copies_made == 0
    assert compiled.copy_count().loop_copies == 0


def test_known_failures_are_programs() -> None:
    assert set(KNOWN_FAILURES) <= set(PROGRAMS)
