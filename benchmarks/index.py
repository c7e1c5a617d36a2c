"""Keeps the table of published runs in docs/benchmarks/README.md: date, machine and command of each, and a link to its
report.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["published_runs", "update_index", "with_index"]

_START, _END = "<!-- runs -->\n", "<!-- end of runs -->"


def published_runs(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the runs of the harness whose JSON files lie in a folder, by file name without extension, the latest
    first.

    Args:
        folder: docs/benchmarks; JSON files of other programs are left out.
    """
    found = {}
    for path in folder.glob("*.json"):
        report = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(report, dict) and report.get("benchmark") == "ssa-compiler" and "results" in report:
            found[path.stem] = report
    return dict(sorted(found.items(), key=lambda item: (item[1]["date"], item[0]), reverse=True))


def with_index(text: str, runs: dict[str, dict[str, Any]]) -> str:
    """Return a README with its table of runs made anew.

    Args:
        text: the README, with the two comments between which the table stands.
        runs: what `published_runs` returned.
    Raises:
        ValueError: the comments are not there.
    """
    before, start, rest = text.partition(_START)
    _, end, after = rest.partition(_END)
    if not start or not end:
        raise ValueError(f"no lines {_START.strip()!r} and {_END!r}")
    lines = ["| report | date | device | measured | command |", "|---|---|---|---|---|"]
    for stem, report in runs.items():
        machine = report["machine"]
        device = machine.get("gpu") or f"{machine['processor']}, {machine['cores']} cores"
        measured = f"{len(report['results'])} programs, {len(report['settings']['peers'])} ways to run them"
        lines.append(
            f"| [{stem}]({stem}.md) ([JSON]({stem}.json)) | {report['date']} | {device} | {measured} | `{report['command']}` |"
        )
    table = "\n".join(lines) if runs else "No run is published yet."
    return f"{before}{start}{table}\n{end}{after}"


def update_index(folder: Path) -> bool:
    """Write the table of runs of a folder's README; returns whether there is a README with a table.

    Args:
        folder: docs/benchmarks.
    """
    readme = folder / "README.md"
    if not readme.exists():
        return False
    text = readme.read_text(encoding="utf-8")
    if _START not in text:
        return False
    made = with_index(text, published_runs(folder))
    if made != text:
        readme.write_text(made, encoding="utf-8")
    return True
