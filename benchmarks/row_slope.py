"""Whether a loop updates its tensor in place: the time of an iteration must not depend on the size of the tensor.

`python -m benchmarks.row_slope`. The slope (T(2n) - T(n)) / n leaves out what a call costs once, such as the clone of
the argument; `ratio` is the slope at the largest number of rows over that at the smallest. A loop that copied its
tensor would show a ratio near that of the rows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import ssa_compiler

from .settings import describe_machine, describe_versions
from .workloads.small import RowUpdate

__all__ = ["FULL", "SMALL", "Size", "measure_slopes"]


@dataclass(frozen=True)
class Size:
    """How large.

    Attributes:
        columns: float32 in a row.
        rows: numbers of rows to compare; the smallest of them is how many rows are touched.
        iterations: n of the slope.
        repeats: runs of n and of 2n iterations, in turn.
        warmup: runs that do not count.
    """

    columns: int
    rows: tuple[int, ...]
    iterations: int
    repeats: int
    warmup: int


FULL = Size(columns=1024, rows=(256, 65536), iterations=200_000, repeats=7, warmup=2)
SMALL = Size(columns=64, rows=(4, 16), iterations=50, repeats=3, warmup=1)


def _seconds(call: Callable[..., object], *args: object) -> float:
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


def measure_slopes(size: Size) -> dict[str, Any]:
    """Measure the time of an iteration by number of rows.

    Args:
        size: how large.
    Returns:
        By number of rows: `slopes_us` of the compiled program, `eager_us`, and `loop_copies`, the copies of the tensor
        inside the loop; and `ratio`.
    Raises:
        AssertionError: the compiled program does not do what eager does.
    """
    result: dict[str, Any] = {"slopes_us": {}, "eager_us": {}, "loop_copies": {}}
    n, touched = size.iterations, min(size.rows)
    model = RowUpdate()
    for rows in size.rows:
        x = torch.randn(rows, size.columns)
        compiled = ssa_compiler.compile(model, (x, touched, 3), target="cpu")
        torch.testing.assert_close(compiled(x, touched, 5), model(x, touched, 5))
        for _ in range(size.warmup):
            compiled(x, touched, n)
        # The shorter and the longer run alternate, so that a change of the machine's speed falls on both; the quickest
        # of each is taken, because what disturbs a run only ever makes it slower.
        short, long = [], []
        for _ in range(size.repeats):
            short.append(_seconds(compiled, x, touched, n))
            long.append(_seconds(compiled, x, touched, 2 * n))
        result["slopes_us"][str(rows)] = (min(long) - min(short)) / n * 1e6
        few = max(1, n // 100)  # eager takes hundreds of times as long for each
        model(x, touched, few)
        quick = min(_seconds(model, x, touched, few) for _ in range(3))
        slow = min(_seconds(model, x, touched, 2 * few) for _ in range(3))
        result["eager_us"][str(rows)] = (slow - quick) / few * 1e6
        result["loop_copies"][str(rows)] = compiled.copy_count().loop_copies
    slopes = list(result["slopes_us"].values())
    result["ratio"] = slopes[-1] / slopes[0]
    return result


def main() -> None:
    """Parse the command line and print the result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.row_slope", description=__doc__)
    parser.add_argument("--small", action="store_true", help="the sizes that run as a test")
    parser.add_argument("--output", type=Path, help="write the JSON to this file as well")
    options = parser.parse_args()
    size = SMALL if options.small else FULL
    with torch.no_grad():
        measured = measure_slopes(size)
    head = {"benchmark": "row_slope", "machine": describe_machine("cpu"), "versions": describe_versions()}
    text = json.dumps({**head, "size": asdict(size), **measured}, indent=2)
    print(text)
    if options.output is not None:
        options.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
