"""Compiles every program of `programs` once and compares all stages with eager on all its inputs."""

from __future__ import annotations

import pytest

from programs import PROGRAMS
from ssa_compiler.testing import check

# Program -> why it does not work yet. Strict: a program that starts to work must leave the table.
KNOWN_FAILURES: dict[str, str] = {}


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
    checked = check(program.make(), *program.calls(), rtol=program.tolerance, atol=program.tolerance)
    assert checked.errors == [None] * len(checked.errors), "eager refuses the inputs"
    assert checked.loops("imported") >= program.loops
    assert checked.loops("iree") >= program.loops, "a loop is no loop any more"


def test_known_failures_are_programs() -> None:
    assert set(KNOWN_FAILURES) <= set(PROGRAMS)
