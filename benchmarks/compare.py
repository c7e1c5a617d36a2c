"""Finds regressions between two JSON files of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .results import differing_conditions, label

__all__ = ["Change", "find_changes", "main"]

# Compile times vary more than those of calls, and are taken once.
_COMPILE_TOLERANCE = 0.3
_SIZE_TOLERANCE = 0.1


@dataclass(frozen=True)
class Change:
    """What differs between two runs.

    Attributes:
        workload: label of the result.
        what: the quantity.
        before: its value in the first run.
        after: its value in the second.
        worse: whether it got worse.
        steady: whether both runs measured it well enough to tell.
    """

    workload: str
    what: str
    before: Any
    after: Any
    worse: bool
    steady: bool = True

    def __str__(self) -> str:
        kind = "worse" if self.worse else "better"
        return (
            f"{kind}{'' if self.steady else ' (unsteady)'}: {self.workload}: {self.what}: {self.before} -> {self.after}"
        )


def find_changes(before: dict[str, Any], after: dict[str, Any], peer: str, tolerance: float) -> list[Change]:
    """Compare one peer's results.

    Times are relative to eager of the same run where both runs have it, so that another machine or load does not count.

    Args:
        before: the first run.
        after: the second.
        peer: whose.
        tolerance: part by which the median time of a call may change.
    """
    earlier = {label(result): result for result in before["results"]}
    changes: list[Change] = []
    for result in after["results"]:
        old = earlier.get(label(result))
        if old is not None and peer in old["peers"] and peer in result["peers"]:
            changes += _changes_of(label(result), old["peers"], result["peers"], peer, tolerance)
    return changes


def _changes_of(
    name: str, before: dict[str, Any], after: dict[str, Any], peer: str, tolerance: float
) -> Iterator[Change]:
    old, new = before[peer], after[peer]
    if old["status"] != new["status"]:
        yield Change(name, "status", old["status"], new["status"], new["status"] != "ok")
        return
    for inputs, latency in (new.get("latency") or {}).items():
        past = (old.get("latency") or {}).get(inputs)
        if past is None:
            continue
        scale = _eager(before, inputs), _eager(after, inputs)
        unit, (first, second) = ("of eager", scale) if peer != "eager" and all(scale) else ("ms", (1.0, 1.0))
        then, now = past["median_ms"] / first, latency["median_ms"] / second
        allowed = max(tolerance, past["disagreement"], latency["disagreement"])
        if abs(now / then - 1) > tolerance:
            steady = abs(now / then - 1) > allowed
            yield Change(f"{name}, {inputs}", f"time, {unit}", f"{then:.4g}", f"{now:.4g}", now > then, steady)
    yield from _numbers(name, old, new, "first_call_s", _COMPILE_TOLERANCE)
    yield from _numbers(name, old, new, "artefact_bytes", _SIZE_TOLERANCE)
    yield from _numbers(name, old, new, "recompiles", 0.0)
    yield from _numbers(name, old.get("launches") or {}, new.get("launches") or {}, "kernels", 0.0)
    yield from _numbers(name, old.get("launches") or {}, new.get("launches") or {}, "copies", 0.0)
    counts = [len(entry.get("details", {}).get("callbacks") or []) for entry in (old, new)]
    if counts[0] != counts[1]:
        yield Change(name, "callbacks", counts[0], counts[1], counts[1] > counts[0])


def _eager(peers: dict[str, Any], inputs: str) -> float:
    return float(((peers.get("eager", {}).get("latency") or {}).get(inputs) or {}).get("median_ms", 0.0))


def _numbers(name: str, old: dict[str, Any], new: dict[str, Any], field: str, tolerance: float) -> Iterator[Change]:
    then, now = old.get(field), new.get(field)
    if then is not None and now is not None and abs(now - then) > tolerance * abs(then):
        shown = [f"{value:.4g}" if isinstance(value, float) else value for value in (then, now)]
        yield Change(name, field, shown[0], shown[1], now > then)


def main(before: Path, after: Path, peer: str, tolerance: float) -> int:
    """Print the changes between two files, regressions first.

    Args:
        before: the first JSON file.
        after: the second.
        peer: whose results.
        tolerance: part by which the median time of a call may change.
    Returns:
        1 if something got worse, steadily; else 0.
    """
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (before, after)]
    for difference in differing_conditions(*reports, "device", "machine", "versions"):
        print(f"note: {difference}")
    changes = find_changes(reports[0], reports[1], peer, tolerance)
    for change in sorted(changes, key=lambda change: (not change.worse, not change.steady)):
        print(change)
    if not changes:
        print("no changes")
    return int(any(change.worse and change.steady for change in changes))
