"""Random programs: every stage under the interpreter for many of them, the compiled program for some."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from programs.generate import arguments, load, write_program
from ssa_compiler.errors import UnsupportedProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.pipeline import run_pipeline
from ssa_compiler.testing import check

# The environment variable makes longer searches possible: SSA_COMPILER_RANDOM_PROGRAMS=2000 pytest ...
INTERPRETED = int(os.environ.get("SSA_COMPILER_RANDOM_PROGRAMS", "60"))
COMPILED = 6


@pytest.mark.parametrize("seed", range(INTERPRETED))
def test_random_program(seed: int, tmp_path: Path) -> None:
    text = write_program(seed)
    function = load(text, tmp_path, f"random_{seed}")
    try:
        check(function, *arguments(seed), compiled=seed < COMPILED)
    except UnsupportedProgramError as error:
        pytest.xfail(f"refused: {error}")  # a refusal is honest, but each is a program that should work
    except Exception as error:
        raise AssertionError(f"{error}\n{text}") from error


def test_few_random_programs_are_refused(tmp_path: Path) -> None:
    """A refusal passes above, so that it is here that a rise of their number is noticed."""
    refused = []
    for seed in range(INTERPRETED, INTERPRETED + 60):
        function = load(write_program(seed), tmp_path, f"refused_{seed}")
        try:
            run_pipeline(import_program(function, arguments(seed)[0]).module)
        except UnsupportedProgramError as error:
            refused.append(f"{seed}: {error}")
    assert len(refused) <= 3, "\n".join(refused)
