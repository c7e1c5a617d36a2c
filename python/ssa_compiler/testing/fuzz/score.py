"""Counts what came of many programs: a score for each system, reasons, and how often each ingredient occurred."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from .generate import all_features
from .record import STATUSES, Record, generator_version

__all__ = ["feature_table", "format_score", "read_records"]

# What the generator promises: each ingredient in at least so many programs, in percent.
LEAST = 3.0
OUTER = ("write.outer_view", 100 / 3)


def read_records(path: Path) -> list[Record]:
    """Read a file of records.

    Args:
        path: JSON lines, one record each; a last line that was cut short is left out.
    Returns:
        The records that this version of the generator wrote.
    """
    records = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = Record(**json.loads(line))
            except (json.JSONDecodeError, TypeError):
                continue
            if record.version == generator_version():
                records.append(record)
    return records


def format_score(records: Sequence[Record]) -> str:
    """The score as text: a table of systems, then the reasons, then the ingredients.

    Args:
        records: of any systems.
    Returns:
        Lines to print.
    """
    by_system: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_system[record.system].append(record)
    lines = _systems(by_system)
    for system, found in by_system.items():
        lines += _reasons(system, found)
    own = max(by_system.values(), key=len, default=[])
    if own:
        lines += ["", *feature_table(own)]
    return "\n".join(lines)


def _systems(by_system: dict[str, list[Record]]) -> list[str]:
    head = f"{'system':<16}{'programs':>9}{'ok':>16}{'rejected':>16}{'wrong':>8}{'error':>8}{'s/program':>11}"
    lines = [head, "-" * len(head)]
    for system, found in by_system.items():
        counts = Counter(record.status for record in found)
        share = {status: 100 * counts[status] / len(found) for status in STATUSES}
        seconds = sum(record.seconds for record in found) / len(found)
        lines.append(
            f"{system:<16}{len(found):>9}{counts['ok']:>8} {share['ok']:>5.1f} %{counts['rejected']:>8}"
            f" {share['rejected']:>5.1f} %{counts['wrong']:>8}{counts['error']:>8}{seconds:>11.2f}"
        )
        if not all(record.executed for record in found if record.status == "ok"):
            number = sum(not record.executed for record in found if record.status == "ok")
            lines.append(f"{'':<16}{number} of the ok are converted only: their results were not computed")
    calls = sum(record.calls for found in by_system.values() for record in found)
    raised = sum(record.raised for found in by_system.values() for record in found)
    turned = sum(record.turned_away for found in by_system.values() for record in found)
    if calls:
        lines.append(
            f"of {calls} input sets eager raises for {raised}; "
            f"{turned} do not fit what the program was compiled for and are rejected by the call"
        )
    return lines


def _reasons(system: str, records: Iterable[Record], most: int = 25) -> list[str]:
    lines = []
    counts: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], int | None] = {}
    for record in records:
        if record.status != "ok":
            key = (record.status, record.reason)
            counts[key] += 1
            example.setdefault(key, record.seed)
    if counts:
        lines += ["", f"{system}: what was not ok (number, kind, first seed, message without names and numbers)"]
    for (status, reason), number in sorted(counts.items(), key=lambda item: (-STATUSES.index(item[0][0]), -item[1]))[
        :most
    ]:
        lines.append(f"{number:>7} {status:<8}{example[status, reason]!s:>7}  {reason}")
    if len(counts) > most:
        lines.append(f"        and {len(counts) - most} more kinds")
    return lines


def feature_table(records: Sequence[Record]) -> list[str]:
    """How often each ingredient occurs, and how often the programs that have it are not ok.

    Args:
        records: of one system, one for each program.
    Returns:
        Lines, the rarest ingredient first.
    """
    counts: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for record in records:
        counts.update(record.features)
        if record.status != "ok":
            bad.update(record.features)
    total = len(records)
    known = all_features()
    lines = [f"ingredients of {total} programs: percent of programs with it; percent of those not ok; what it is"]
    rare = [name for name in known if 100 * counts[name] < LEAST * total]
    for name in sorted(known, key=lambda name: counts[name]):
        mark = "  below 3 %" if name in rare else ""
        share = 100 * bad[name] / counts[name] if counts[name] else 0.0
        lines.append(f"{100 * counts[name] / total:>6.1f} {share:>6.1f}  {name:<27}{known[name]}{mark}")
    lines.append(
        f"{len(known) - len(rare)} of {len(known)} ingredients occur in at least {LEAST:g} % of the programs; "
        f"{100 * counts[OUTER[0]] / total:.1f} % write inside a region through a view made outside of it"
    )
    return lines
