"""Draws a run: speed-up over eager for each workload, scalability, and compile times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

from .peers import PEERS
from .results import ABLATIONS, OURS, best_peer, label, median

__all__ = ["draw_all", "find_sweeps"]

_SWEEP = "scaling of "

_PALETTE = pyplot.get_cmap("Paired").colors  # type: ignore[attr-defined]
_COLOURS = {**dict(zip(PEERS, _PALETTE, strict=False)), OURS: "black"}


def _plain(axis: Any) -> None:
    """Write numbers of a logarithmic axis as people do: 0.5, 2, 40."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "25" else ""))


def draw_all(report: dict[str, Any], folder: Path, stem: str) -> list[Path]:
    """Draw what a run has data for.

    Args:
        report: what the JSON file holds.
        folder: where to.
        stem: how the files' names start.
    Returns:
        The files, in the order to show them in.
    """
    main = [result for result in report["results"] if not result["kind"].startswith(_SWEEP)]
    drawn = []
    if any(median(result, "eager") for result in main):
        drawn.append(_speed_up(main, folder / f"{stem}-speedup.svg"))
        drawn.append(_compile_time(main, folder / f"{stem}-compile.svg"))
    sweeps = find_sweeps(report)
    if sweeps:
        drawn.append(_scaling(sweeps, folder / f"{stem}-scaling.svg", "median_ms"))
        drawn.append(_scaling(sweeps, folder / f"{stem}-compile-scaling.svg", "first_call_s"))
    return drawn


def find_sweeps(report: dict[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the results in which one size of a workload has several values, by workload and size, smallest first.

    Args:
        report: what the JSON file holds. Runs of other kinds that differ in that size only, or in none, count.
    """
    kinds = [(result["workload"], result["kind"]) for result in report["results"]]
    keys = dict.fromkeys((name, kind[len(_SWEEP) :]) for name, kind in kinds if kind.startswith(_SWEEP))
    return {
        (name, size): sorted(
            (r for r in report["results"] if r["workload"] == name and set(r["changes"]) <= {size}),
            key=lambda result: int(result["sizes"][size]),
        )
        for name, size in keys
    }


def _measured(results: Sequence[dict[str, Any]]) -> list[str]:
    return [name for name in PEERS if any(median(result, name) is not None for result in results)]


def _bars(axes: Any, results: Sequence[dict[str, Any]], peers: Sequence[str], value: Any) -> None:
    """Bars side by side for each workload; the best peer's gets a star."""
    width = 0.8 / max(len(peers), 1)
    for number, name in enumerate(peers):
        places = [position + (number - (len(peers) - 1) / 2) * width for position in range(len(results))]
        heights = [value(result, name) or 0.0 for result in results]
        axes.bar(places, heights, width, label=PEERS[name].title, color=_COLOURS[name])
        for place, height, result in zip(places, heights, results):
            if height and name == best_peer(result):
                axes.annotate("*", (place, height), ha="center", va="bottom", fontsize=9)
    axes.set_xticks(range(len(results)), [label(result) for result in results], rotation=40, ha="right")
    axes.set_yscale("log")
    _plain(axes.yaxis)
    axes.grid(axis="y", alpha=0.3)


def _speed_up(results: Sequence[dict[str, Any]], path: Path) -> Path:
    def value(result: dict[str, Any], name: str) -> float | None:
        eager, own = median(result, "eager"), median(result, name)
        return eager / own if eager and own else None

    peers = [name for name in _measured(results) if name != "eager" and name not in ABLATIONS]
    figure, axes = pyplot.subplots(figsize=(max(8.0, 1.1 * len(results)), 4.5), layout="constrained")
    _bars(axes, results, peers, value)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_ylabel("speed-up over eager (log)")
    axes.set_title("Speed-up over eager; * the best peer of ssa-compiler")
    if peers:
        axes.legend(fontsize=8)
    return _save(figure, path)


def _compile_time(results: Sequence[dict[str, Any]], path: Path) -> Path:
    def value(result: dict[str, Any], name: str) -> float | None:
        first = result["peers"].get(name, {}).get("first_call_s")
        return float(first) if first is not None else None

    peers = [name for name in _measured(results) if name != "eager" and name not in ABLATIONS]
    figure, axes = pyplot.subplots(figsize=(max(8.0, 1.1 * len(results)), 4.5), layout="constrained")
    _bars(axes, results, peers, value)
    axes.set_ylabel("seconds (log)")
    axes.set_title("Compilation and first call; no bar: rejected, or over the limit")
    if peers:
        axes.legend(fontsize=8)
    return _save(figure, path)


def _scaling(sweeps: dict[tuple[str, str], list[dict[str, Any]]], path: Path, what: str) -> Path:
    """Lines of a quantity over a size, a picture for each sweep."""
    columns = min(3, len(sweeps))
    rows = -(-len(sweeps) // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(4.5 * columns, 3.5 * rows), layout="constrained", squeeze=False
    )
    for axes in grid.flat[len(sweeps) :]:
        axes.set_visible(False)
    for axes, ((workload, size), results) in zip(grid.flat, sweeps.items()):
        for name in _measured(results):
            points = []
            for result in results:
                entry = result["peers"].get(name, {})
                value = median(result, name) if what == "median_ms" else entry.get("first_call_s")
                if value is not None and not (what == "first_call_s" and name == "eager"):
                    points.append((result["sizes"][size], value))
            if points:
                style = {"linewidth": 2.5} if name == OURS else {"linewidth": 1.2}
                axes.plot(
                    *zip(*points), marker="o", markersize=3, label=PEERS[name].title, color=_COLOURS[name], **style
                )
        axes.set(title=f"{workload}, {size}", xlabel=size, ylabel="ms" if what == "median_ms" else "s", yscale="log")
        axes.set_xscale("log", base=2)
        axes.set_xticks([result["sizes"][size] for result in results])
        _plain(axes.xaxis)
        _plain(axes.yaxis)
        axes.grid(alpha=0.3)
    handles = {text: handle for axes in grid.flat for handle, text in zip(*axes.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return _save(figure, path)


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path
