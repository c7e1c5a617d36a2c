"""Random programs: every stage under the interpreter for a few hundred of them, the compiled program for some.

The fuzzer's own command line runs them. Longer searches: `python -m ssa_compiler.testing.fuzz` (docs/Fuzzing.md).
"""

from __future__ import annotations

import os

import pytest

from ssa_compiler.testing.fuzz.pool import Task, run_tasks
from ssa_compiler.testing.fuzz.run import Record
from ssa_compiler.testing.fuzz.score import format_score

INTERPRETED = range(240)
COMPILED = range(8)
# Wrong today, by seed. Strict: what is mended leaves the table.
_TWO_COPIES = "a view of an argument that is returned twice becomes two tensors"
KNOWN: dict[str, dict[int, str]] = {
    "interpreted": {
        **dict.fromkeys((1, 7, 10, 49, 83, 228), _TWO_COPIES),
        92: "TorchScript removes a write that raises, as nothing reads its tensor afterwards",
        105: "out= a view taken with a tensor index is not written",
    },
    "compiled": dict.fromkeys((1, 7), _TWO_COPIES),
}
# At most this share is refused; the score of longer runs is lower.
MOST_REFUSED = 0.2


def run(system: str, seeds: range) -> list[Record]:
    tasks = [Task(system, seed) for seed in seeds]
    return [record for _, record in run_tasks(tasks, jobs=min(2, os.cpu_count() or 1), timeout_s=300.0)]


@pytest.mark.parametrize(("system", "seeds"), [("interpreted", INTERPRETED), ("compiled", COMPILED)])
def test_random_programs_do_what_eager_does(system: str, seeds: range) -> None:
    records = run(system, seeds)
    assert len(records) == len(seeds)
    failed = {record.seed: record.message for record in records if record.status in ("wrong", "error")}
    new = [f"{seed}: {message}" for seed, message in failed.items() if seed not in KNOWN[system]]
    assert not new, "\n".join([*new, format_score(records)])
    assert set(failed) == set(KNOWN[system]), "mended: remove them from KNOWN"
    refused = [record for record in records if record.status == "refused"]
    assert len(refused) <= MOST_REFUSED * len(records), format_score(records)
