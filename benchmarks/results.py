"""Reads the JSON of a run: medians, the best peer, and the lines that say why a peer is quicker."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # the same, for Python 3.10

__all__ = [
    "ABLATIONS",
    "OURS",
    "UNEXPLAINED",
    "Loss",
    "best_peer",
    "differing_conditions",
    "find_losses",
    "label",
    "median",
    "read_toml",
]

OURS = "ours"
UNEXPLAINED = "No explanation yet"
ABLATIONS = ("ours_without_passes", "ours_unchecked")
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Loss:
    """A peer that is quicker than ssa-compiler.

    Attributes:
        workload: the label of the result.
        peer: its name.
        ratio: time of ssa-compiler over that of the peer.
        explanation: why, and what would change it; "" if nobody has written it down.
    """

    workload: str
    peer: str
    ratio: float
    explanation: str


def label(result: dict[str, Any]) -> str:
    """Return the name of a result with the sizes that differ from the workload's."""
    changes = ", ".join(f"{name} {value}" for name, value in result["changes"].items())
    return result["workload"] + (f" ({changes})" if changes else "")


def median(result: dict[str, Any], peer: str, inputs: str | None = None) -> float | None:
    """Return the median time of a call in milliseconds.

    Args:
        result: of one workload.
        peer: name.
        inputs: input set; the first if None.
    Returns:
        None if the peer was not measured.
    """
    latency = result["peers"].get(peer, {}).get("latency") or {}
    name = inputs if inputs is not None else next(iter(latency), None)
    return float(latency[name]["median_ms"]) if name in latency else None


def best_peer(result: dict[str, Any]) -> str | None:
    """Return the name of the quickest one that is not ssa-compiler, None if none was measured."""
    times = {
        name: time
        for name in result["peers"]
        if name != OURS and name not in ABLATIONS and (time := median(result, name)) is not None
    }
    return min(times, key=times.__getitem__) if times else None


def find_losses(report: dict[str, Any], margin: float = 0.05) -> list[Loss]:
    """Return every peer that is quicker than ssa-compiler, with why.

    Args:
        report: a run.
        margin: a peer is quicker if it takes less by more than this part.
    """
    known = read_toml("losses.toml").get("loss", [])
    losses = []
    for result in report["results"]:
        ours = median(result, OURS)
        for peer in result["peers"]:
            theirs = median(result, peer)
            if peer == OURS or peer in ABLATIONS or ours is None or theirs is None or theirs >= ours * (1 - margin):
                continue
            text = ""
            for entry in known:
                fits = entry["workload"] == result["workload"] and entry.get("peer", "*") in ("*", peer)
                if fits and entry.get("device", report["device"]) == report["device"]:
                    text = f"{entry['why']} What would change it: {entry['remedy']}"
            losses.append(Loss(label(result), peer, ours / theirs, text))
    return losses


def differing_conditions(before: dict[str, Any], after: dict[str, Any], *parts: str) -> list[str]:
    """Return what is not the same about two runs, such as "versions: torch was 2.13.0, is 2.14.0".

    Args:
        before: a run.
        after: another.
        *parts: of "device", "machine" (whose load is that of the moment, and left out), "versions" and "settings".
    """
    found = []
    for part in parts:
        old, new = (json.loads(json.dumps(report[part])) for report in (before, after))
        if not isinstance(old, dict):
            old, new = {part: old}, {part: new}
        for key in sorted({*old, *new} - {"load_before"}):
            if old.get(key) != new.get(key):
                found.append(f"{part}: {key} was {old.get(key)}, is {new.get(key)}")
    return found


def read_toml(name: str) -> dict[str, Any]:
    """Read a TOML file of this folder."""
    with open(_HERE / name, "rb") as file:
        return tomllib.load(file)
