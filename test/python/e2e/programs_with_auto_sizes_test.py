"""The suite's own programs, and random ones, with `Dim.AUTO` for all sizes and other sizes in each call.

Every stage runs under the interpreter, some programs are compiled, too. All of them run if SSA_COMPILER_NIGHTLY is set
(`make nightly-sizes`), else always the same few.
"""

from __future__ import annotations

import pytest

from _nightly import NIGHTLY
from programs import PROGRAMS
from ssa_compiler.errors import UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.testing import check_auto_sizes
from ssa_compiler.testing.fuzz.arguments import resized
from ssa_compiler.testing.fuzz.run import run_program
from ssa_compiler.testing.fuzz.sizes import auto_program

_EVERY = 1 if NIGHTLY else 20
_SEEDS = range(200) if NIGHTLY else (1, 2, 3, 5, 7)
_COMPILED = range(1, 60 if NIGHTLY else 4, 2)


@pytest.mark.parametrize("name", sorted(PROGRAMS)[::_EVERY])
def test_programs_of_the_suite(name: str) -> None:
    program = PROGRAMS[name]
    calls = [tuple(call) for call in program.calls()]
    others = resized([*calls, *calls, *calls])[: len(calls) + 5]
    try:
        check_auto_sizes(program.make(), *others, rtol=program.tolerance, atol=program.tolerance)
    except (UnsupportedOpError, UnsupportedProgramError) as rejection:
        assert rejection.location is not None  # noqa: PT017 - which call it is rejected for does not matter


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_programs(seed: int) -> None:
    record = run_program(auto_program(seed), "auto-sizes")
    assert record.status in ("ok", "rejected"), record.message


@pytest.mark.parametrize("seed", _COMPILED)
def test_compiled_programs(seed: int) -> None:
    record = run_program(auto_program(seed), "auto-sizes compiled")
    assert record.status in ("ok", "rejected"), record.message
