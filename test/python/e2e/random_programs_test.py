"""Random programs: every stage under the interpreter for 90 of them, the compiled program for 20 of these.

The fuzzer's own command line runs them. Longer searches: `python -m ssa_compiler.testing.fuzz` (docs/Fuzzing.md).
"""

from __future__ import annotations

import os

import pytest

from ssa_compiler.testing.fuzz.pool import Task, run_tasks
from ssa_compiler.testing.fuzz.record import Record
from ssa_compiler.testing.fuzz.score import format_score

COMPILED = range(20)  # they run under the interpreter, too
INTERPRETED = range(20, 90)
# The goal is 1 % of many programs; of these few, each rejection counts for nearly half of that.
MOST_REJECTED = 0.02


def run(system: str, seeds: range) -> list[Record]:
    tasks = [Task(system, seed) for seed in seeds]
    return [record for _, record in run_tasks(tasks, jobs=min(2, os.cpu_count() or 1), timeout_s=300.0)]


@pytest.mark.parametrize(("system", "seeds"), [("interpreted", INTERPRETED), ("compiled", COMPILED)])
def test_random_programs_do_what_eager_does(system: str, seeds: range) -> None:
    records = run(system, seeds)
    assert len(records) == len(seeds)
    failed = [f"{record.seed}: {record.message}" for record in records if record.status in ("wrong", "error")]
    assert not failed, "\n".join([*failed, format_score(records)])
    rejected = [record for record in records if record.status == "rejected"]
    assert len(rejected) <= MOST_REJECTED * len(records), format_score(records)
