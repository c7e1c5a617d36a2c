"""Runs workloads, each in a process of its own, and collects what the processes write.

A process that does not come back from a compilation is killed, what it compiled is written down as too slow, and the
workload starts again without that peer. The result file is written after every workload, so that an interruption keeps
what there is.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from .measure import Effort
from .peers import PEERS
from .progress import progress_bar
from .results import ABLATIONS, differing_conditions
from .settings import ALLOCATOR, child_environment, describe_machine, describe_versions
from .workload import Workload
from .workloads import WORKLOADS

__all__ = ["CannotResume", "Plan", "Run", "make_plan", "run_all"]

# A compilation in native code does not see its limit; the process is killed after this much more.
_GRACE_S = 20.0
_INTERRUPTED = "interrupted"
_ROOT = Path(__file__).resolve().parents[1]


class CannotResume(ValueError):
    """What is measured now must not stand in the same table as what the file has."""


@dataclass(frozen=True)
class Run:
    """One workload at certain sizes.

    Attributes:
        workload: its name.
        changes: sizes that differ from the workload's.
        kind: "main", "variant", or "scaling of " and the size that is varied.
    """

    workload: str
    changes: dict[str, int] = field(default_factory=dict)
    kind: str = "main"

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {value}" for name, value in self.changes.items())
        return self.workload + (f" ({sizes})" if sizes else "")


@dataclass(frozen=True)
class Plan:
    """What to measure and how.

    Attributes:
        runs: in order.
        peers: names.
        device: "cpu" or "cuda".
        limit: seconds for a compilation, 0 for no limit.
        threads: threads of each peer, 0 for each one's default.
        effort: how long to measure.
        warm: measure warm starts too.
    """

    runs: tuple[Run, ...]
    peers: tuple[str, ...]
    device: str = "cpu"
    limit: float = 60.0
    threads: int = 1
    effort: Effort = field(default_factory=Effort)
    warm: bool = True


def make_plan(
    which: str, *, only: Sequence[str] = (), peers: Sequence[str] = (), device: str = "cpu", **settings: Any
) -> Plan:
    """Choose what to measure.

    Args:
        which: "quick"; "full", every workload and variant; "scaling", the sweeps; or "small", the sizes of the tests.
        only: workloads; those of the set if empty.
        peers: names; all if empty, without ablations in the quick set. Eager is always among them.
        device: "cpu" or "cuda".
        **settings: further fields of `Plan`.
    Raises:
        KeyError: there is no such workload or peer.
    """
    for name in only:
        if name not in WORKLOADS:
            raise KeyError(f"no workload {name!r}: there are {', '.join(WORKLOADS)}")
    for name in peers:
        if name not in PEERS:
            raise KeyError(f"no peer {name!r}: there are {', '.join(PEERS)}")
    chosen = [w for w in WORKLOADS.values() if (w.name in only if only else which != "quick" or w.quick)]
    runs: list[Run] = []
    if which == "small":
        runs = [Run(workload.name, dict(workload.small)) for workload in chosen]
    if which in ("quick", "full"):
        runs = [Run(workload.name) for workload in chosen]
    if which == "full":
        runs += [Run(w.name, dict(changes), "variant") for w in chosen for changes in w.variants]
    if which == "scaling":
        runs = [run for workload in chosen for run in _sweeps(workload)]
    usual = [name for name in PEERS if which != "quick" or name not in ABLATIONS]
    names = ("eager", *peers) if peers else tuple(usual)
    ordered = tuple(name for name in PEERS if name in names)
    return Plan(tuple(runs), ordered, device, **settings)


def _sweeps(workload: Workload) -> Iterator[Run]:
    for size, values in workload.sweeps.items():
        for value in values:
            yield Run(workload.name, {size: value}, f"scaling of {size}")


def run_all(plan: Plan, output: Path, *, resume: bool = False) -> dict[str, Any]:
    """Measure everything in a plan.

    Args:
        plan: what.
        output: the JSON file; written after each workload.
        resume: keep what the file has, and measure only what it lacks.
    Returns:
        What the file holds.
    Raises:
        CannotResume: the file to go on with was measured on another machine, or with other versions or settings.
    """
    report = _empty_report(plan)
    if resume and output.exists():
        report = _resumed(_read(output), report, output)
    done = {
        (result["workload"], json.dumps(result["changes"], sort_keys=True))
        for result in report["results"]
        if result.get("failure") != _INTERRUPTED
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    todo = [run for run in plan.runs if (run.workload, json.dumps(run.changes, sort_keys=True)) not in done]
    with progress_bar(len(todo)) as bar:
        for run in todo:
            bar.set_description(str(run))
            for result in _results_as_known(run, plan, bar.set_postfix_str):
                result["kind"] = run.kind
                kept = [other for other in report["results"] if not _same(other, result)]
                report["results"] = [*kept, result]
                _write(output, report)
            bar.update()
    return report


def _resumed(before: dict[str, Any], now: dict[str, Any], output: Path) -> dict[str, Any]:
    """The report of before, if what is measured now can stand in the same table."""
    if differences := differing_conditions(before, now, "device", "machine", "versions", "settings"):
        raise CannotResume(f"cannot resume {output}: {'; '.join(differences)}")
    return before


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return bool(a["workload"] == b["workload"] and a["changes"] == b["changes"])


def _empty_report(plan: Plan) -> dict[str, Any]:
    return {
        "benchmark": "ssa-compiler",
        "date": date.today().isoformat(),
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "device": plan.device,
        "machine": describe_machine(plan.device),
        "versions": describe_versions(),
        "settings": {
            "threads": plan.threads or "each peer's default; IREE local-sync: 1",
            "allocator": ALLOCATOR,
            "compile_limit_s": plan.limit,
            "effort": asdict(plan.effort),
            "peers": {name: PEERS[name].settings for name in plan.peers},
        },
        "results": [],
    }


def _results_as_known(run: Run, plan: Plan, tell: Any) -> Iterator[dict[str, Any]]:
    """Measure one workload; the last result is complete, one before it only if the measurement is interrupted."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        lines = Path(folder) / "lines.jsonl"
        skip: dict[str, str] = {}
        start = time.perf_counter()
        try:
            while True:
                lines.write_text("", encoding="utf-8")
                stuck, failure = _run_child(run, plan, lines, Path(folder), skip, tell)
                if stuck is None:
                    break
                skip[stuck] = failure
        except KeyboardInterrupt:
            yield _collect(run, plan, lines, skip, _INTERRUPTED, start)
            raise
        yield _collect(run, plan, lines, skip, failure, start)


def _run_child(
    run: Run, plan: Plan, lines: Path, folder: Path, skip: dict[str, str], tell: Any
) -> tuple[str | None, str]:
    """Run the process once.

    Returns:
        The peer whose compilation it did not come back from, or that crashed it, None if there is none; and what
        happened.
    """
    command = [sys.executable, "-m", "benchmarks.child", "--workload", run.workload]
    command += ["--sizes", json.dumps(run.changes), "--peers", ",".join(plan.peers), "--skip", ",".join(skip)]
    command += ["--device", plan.device, "--limit", str(plan.limit), "--threads", str(plan.threads)]
    command += ["--effort", json.dumps(asdict(plan.effort)), "--out", str(lines)] + ["--warm"] * plan.warm
    cache = tempfile.mkdtemp(dir=folder)
    environment = child_environment(plan.threads, cache)
    environment["PYTHONPATH"] = os.pathsep.join([str(_ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    with open(folder / "log.txt", "a", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, cwd=_ROOT, stdout=log, stderr=log)
        try:
            killed = _watch(process, plan, lines, tell)
        finally:
            process.kill()
            process.wait()
    last = _last_compiling(lines)
    if killed:
        return last, f"> {plan.limit:g} s"
    if process.returncode != 0:
        text = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if text and text[-1].startswith("TimeLimit: "):  # native code that lets no exception through
            return last, text[-1].removeprefix("TimeLimit: ")
        message = f"the process ended with status {process.returncode}: {text[-1] if text else ''}"[:300]
        return (last, message) if last not in (None, *skip) else (None, message)
    return None, ""


def _watch(process: subprocess.Popen[bytes], plan: Plan, lines: Path, tell: Any) -> bool:
    """Wait for the process; kill it if it says nothing for longer than a compilation may take. Returns whether it
    did.
    """
    size, since = -1, time.perf_counter()
    while process.poll() is None:
        time.sleep(0.05)
        now = lines.stat().st_size
        if now != size:
            size, since = now, time.perf_counter()
            tell(_last_event(lines))
        elif plan.limit and time.perf_counter() - since > 2 * plan.limit + _GRACE_S:
            process.kill()
            return True
    return False


def _events(lines: Path) -> list[dict[str, Any]]:
    events = []
    for line in lines.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except json.JSONDecodeError:  # the last line of a process that was killed
            continue
    return events


def _last_event(lines: Path) -> str:
    with open(lines, "rb") as file:
        file.seek(max(lines.stat().st_size - 4000, 0))
        tail = file.read().decode("utf-8", errors="replace").splitlines()
    try:
        event = json.loads(tail[-1]) if tail else {}
    except json.JSONDecodeError:
        return ""
    return f"{event.get('event', '')} {event.get('peer', '')}"


def _last_compiling(lines: Path) -> str | None:
    """The peer that was being compiled when the process ended, None if it was doing something else."""
    current = None
    for event in _events(lines):
        if event["event"] == "compiling":
            current = event["peer"]
        elif event["event"] in ("peer", "warm", "note", "latency"):
            current = None
    return current


def _collect(run: Run, plan: Plan, lines: Path, skip: dict[str, str], failure: str, start: float) -> dict[str, Any]:
    """Put together what the process wrote."""
    workload = WORKLOADS[run.workload]
    result: dict[str, Any] = {
        "workload": run.workload,
        "group": workload.group,
        "description": workload.description,
        "source": workload.source,
        "sizes": {**workload.sizes, **run.changes},
        "changes": run.changes,
        "inputs": {},
        "peers": {
            name: {"status": "too slow" if why.startswith("> ") else "crashed", "reason": why}
            for name, why in skip.items()
        },
    }
    peers = result["peers"]
    for event in _events(lines):
        kind = event.pop("event")
        peer = event.pop("peer", "")
        if kind == "inputs":
            result["inputs"] = event["facts"]
        elif kind == "peer":
            peers.setdefault(peer, {"latency": {}}).update(event)
        elif kind == "latency":
            peers[peer].setdefault("latency", {})[event.pop("inputs")] = event
        elif kind in ("counts", "profiled", "warm"):
            peers[peer].update(event)
        elif kind == "note":
            peers.setdefault(peer, {}).setdefault("notes", []).append(event["text"])
    result["seconds"] = round(time.perf_counter() - start, 1)
    if failure:
        result["failure"] = failure
    return result


def _read(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def _write(path: Path, report: dict[str, Any]) -> None:
    """Write a file so that it is never half there."""
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    os.replace(beside, path)
