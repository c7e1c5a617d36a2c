"""The compiled program makes as many copies of whole tensors as the conversion has marked (docs/Report.md)."""

from __future__ import annotations

import pytest

import ssa_compiler
from programs import PROGRAMS


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_copies_are_the_marks(name: str) -> None:
    program = PROGRAMS[name]
    compiled = ssa_compiler.compile(program.make(), next(iter(program.calls())))
    report = compiled.report()
    assert report.copies_made == len(report.copies), str(report)


def test_no_copy_in_a_loop_that_updates_under_a_branch() -> None:
    program = PROGRAMS["continue_in_a_loop"]
    compiled = ssa_compiler.compile(program.make(), next(iter(program.calls())))
    assert compiled.report().loop_copies_made == 0
    assert compiled.copy_count().loop_copies == 0
