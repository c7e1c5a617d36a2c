"""Writes the Markdown tables of a run, and asks `plots` for the pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .peers import PEERS
from .results import ABLATIONS, OURS, UNEXPLAINED, Loss, best_peer, find_losses, label, median, read_toml

__all__ = ["markdown", "write"]


def write(source: Path, folder: Path) -> Path:
    """Write `<name>.md` and the plots of a run.

    Args:
        source: the JSON file.
        folder: where to.
    Returns:
        The Markdown file.
    """
    report = json.loads(source.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        from .plots import draw_all
    except ImportError as error:
        pictures, missing = [], f"\nNo plots: {error}.\n"
    else:
        pictures, missing = draw_all(report, folder, source.stem), ""
    target = folder / f"{source.stem}.md"
    target.write_text(markdown(report, pictures) + missing, encoding="utf-8")
    return target


def markdown(report: dict[str, Any], pictures: Sequence[Path] = ()) -> str:
    """Return a run as Markdown.

    Args:
        report: what the JSON file holds.
        pictures: plots to show, in the folder that the text is written to.
    """
    peers = [
        name
        for name in PEERS
        if any(
            result["peers"].get(name, {}).get("status", "unavailable") != "unavailable" for result in report["results"]
        )
    ]
    measured = [name for name in peers if any(median(result, name) is not None for result in report["results"])]
    parts = [
        _head(report),
        "".join(f"![{path.stem}]({path.name})\n\n" for path in pictures),
        "## Time of a call\n\nMedian in milliseconds on the first input set; **the quickest** of each row, ablations aside. "
        f"~ marks a median that two runs did not agree on within 5%.\n\n{_latency(report, peers)}",
        _losses(report),
        "## Other input sets\n\nMedian in milliseconds; what is known of the input stands beside its name.\n\n"
        + _inputs(report, measured),
        f"## Compilation\n\nSeconds of compilation and first call | of a warm start.\n\n{_compilation(report, measured)}",
        "## Launches, copies, memory, size\n\nFor each peer: kernels / copies of a call; peak memory of a call in MiB; "
        f"compiled code in KiB.\n\n{_resources(report, measured)}",
        f"## Compiled again, callbacks, graph breaks\n\n{_counts(report)}",
        _rejections(report),
        _published(),
        _settings(report),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _head(report: dict[str, Any]) -> str:
    machine = report["machine"]
    gpu = f", {machine['gpu']}" if "gpu" in machine else ""
    return (
        f"# Benchmarks, {report['date']}, {report['device'].upper()}\n\n`{report['command']}`\n\n"
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB{gpu}; load before the run "
        f"{machine['load_before']}. Results were compared with eager on every input set before anything was timed."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _number(value: float | None, digits: int = 3) -> str:
    """A number with a few significant digits, never in exponential form."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def _latency(report: dict[str, Any], peers: Sequence[str]) -> str:
    rows = []
    for result in report["results"]:
        best = best_peer(result)
        ours = median(result, OURS)
        theirs = median(result, best) if best else None
        quickest = OURS if ours is not None and (theirs is None or ours <= theirs) else best
        row = [label(result)]
        for name in peers:
            row.append(_latency_cell(result["peers"].get(name), name == quickest))
        row.append(f"{_number(theirs / ours)}x {PEERS[best].title}" if best and ours and theirs else "")
        rows.append(row)
    titles = [PEERS[name].title for name in peers]
    return _table(["workload", *titles, "ssa-compiler over the best peer"], rows)


def _latency_cell(entry: dict[str, Any] | None, quickest: bool) -> str:
    if entry is None:
        return ""
    if not entry.get("latency"):
        status = str(entry.get("status", ""))
        return entry["reason"] if status == "too slow" else {"unavailable": "-"}.get(status, status)
    first = next(iter(entry["latency"].values()))
    text = _number(first["median_ms"])
    return ("**" + text + "**" if quickest else text) + ("" if first["steady"] else " ~")


def _losses(report: dict[str, Any]) -> str:
    losses = find_losses(report)
    if not losses:
        return ""
    reasons: dict[tuple[str, str], list[Loss]] = {}
    for loss in losses:
        reasons.setdefault((loss.workload.partition(" ")[0], loss.explanation), []).append(loss)
    lines = []
    for (workload, explanation), found in reasons.items():
        ratios: dict[str, list[str]] = {}
        for loss in found:
            sizes = loss.workload.partition(" ")[2]
            ratios.setdefault(PEERS[loss.peer].title, []).append(f"{_number(loss.ratio)}x" + f" {sizes}" * bool(sizes))
        quicker = "; ".join(f"{title} {', '.join(each)}" for title, each in ratios.items())
        lines.append(f"- {workload}: quicker by {quicker}. {explanation or f'**{UNEXPLAINED}.**'}")
    return (
        "## Where a peer is quicker\n\nTime of ssa-compiler over the peer's, first input set; less than 1.05x is left out.\n\n"
        + "\n".join(lines)
    )


def _inputs(report: dict[str, Any], peers: Sequence[str]) -> str:
    rows = []
    for result in report["results"]:
        if result["kind"].startswith("scaling"):
            continue
        for name, facts in result["inputs"].items():
            known = ", ".join(f"{what}: {value}" for what, value in facts.items())
            times = [_number(median(result, peer, name)) for peer in peers]
            rows.append([label(result), name + (f" ({known})" if known else ""), *times])
    return _table(["workload", "input set", *(PEERS[name].title for name in peers)], rows)


def _per_peer(
    report: dict[str, Any], peers: Sequence[str], cell: Callable[[dict[str, Any]], str], chosen: Sequence[str] = ()
) -> str:
    rows = [
        [label(result), *(cell(result["peers"].get(name, {})) for name in peers if name not in chosen)]
        for result in report["results"]
    ]
    return _table(["workload", *(PEERS[name].title for name in peers if name not in chosen)], rows)


def _compilation(report: dict[str, Any], peers: Sequence[str]) -> str:
    def cell(entry: dict[str, Any]) -> str:
        if entry.get("status") == "too slow":
            return str(entry["reason"])
        first, warm = entry.get("first_call_s"), entry.get("warm_start_s")
        return "" if first is None else f"{_number(first)} / {_number(warm)}" if warm is not None else _number(first)

    return _per_peer(report, peers, cell, ("eager",))


def _resources(report: dict[str, Any], peers: Sequence[str]) -> str:
    def cell(entry: dict[str, Any]) -> str:
        if not entry.get("latency"):
            return ""
        launches = entry.get("profiled") or entry.get("launches")
        counts = f"{launches['kernels']} / {launches['copies']}" if launches else "?"
        peak, size = entry.get("peak_bytes"), entry.get("artefact_bytes")
        memory = f"; {_number(peak / 2**20, 2)} MiB" if peak is not None else ""
        return counts + memory + (f"; {_number(size / 2**10)} KiB" if size else "")

    return _per_peer(report, peers, cell)


def _counts(report: dict[str, Any]) -> str:
    rows = []
    for result in report["results"]:
        entries = result["peers"]
        ours = entries.get(OURS, {})
        compiled = entries.get("torch_compile", {})
        again = ", ".join(
            f"{PEERS[name].title} {entry['recompiles']}" for name, entry in entries.items() if entry.get("recompiles")
        )
        callbacks = ours.get("details", {}).get("callbacks")
        breaks = compiled.get("details", {}).get("graph_breaks")
        graphs = compiled.get("details", {}).get("graphs")
        rows.append(
            [
                label(result),
                again or "none",
                "" if callbacks is None else f"{len(callbacks)}" + (f": {'; '.join(callbacks)}" if callbacks else ""),
                "" if breaks is None else f"{breaks} in {graphs} graphs",
            ]
        )
    head = [
        "workload",
        "compiled again for further input sets",
        "callbacks of ssa-compiler",
        "torch.compile: graph breaks",
    ]
    return _table(head, rows)


def _rejections(report: dict[str, Any]) -> str:
    rows = []
    for result in report["results"]:
        for name, entry in result["peers"].items():
            if entry.get("status") not in (None, "ok", "unavailable", "too slow"):
                rows.append([label(result), PEERS[name].title, entry["status"], str(entry.get("reason", ""))])
            for note in entry.get("notes", []):
                rows.append([label(result), PEERS[name].title, "note", note])
        if "failure" in result:
            rows.append([label(result), "", "failure", result["failure"]])
    unavailable = {
        (PEERS[name].title, entry["reason"])
        for result in report["results"]
        for name, entry in result["peers"].items()
        if entry.get("status") == "unavailable"
    }
    notes = "\n".join(f"- {title}: {reason}" for title, reason in sorted(unavailable))
    table = _table(["workload", "peer", "what", "why"], rows) if rows else "Nothing was rejected."
    return f"## What does not run\n\n{table}\n\n{notes}"


def _published() -> str:
    published = read_toml("published.toml")
    latency = published["latency"]
    rows = [[name, *(_number(value) for value in row)] for name, row in latency["rows"].items()]
    return (
        f"## FuncTs, as published\n\n{published['paper']['source']}: {published['paper']['text']}.\n\n"
        f"Milliseconds; {latency['source']}. Not measured here, and on other hardware and inputs than the tables above.\n\n"
        + _table(["workload", *latency["columns"]], rows)
    )


def _settings(report: dict[str, Any]) -> str:
    settings = report["settings"]
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    allocator = " ".join(f"{name}={value}" for name, value in settings["allocator"].items())
    lines = [
        f"- versions: {versions}",
        f"- threads of each peer: {settings['threads']}; on the CPU the process is pinned to as many processors while it "
        "measures (compilation may use all)",
        f"- allocator, the same for all: {allocator}",
        f"- limit of a compilation: {settings['compile_limit_s'] or 'none'} s; effort: {settings['effort']}",
        *(f"- {PEERS[name].title}: {text}" for name, text in settings["peers"].items()),
    ]
    if any(name in settings["peers"] for name in ABLATIONS):
        lines.append("- ablations are not counted among the peers")
    return "## Settings\n\n" + "\n".join(lines)
