"""What `make demo` runs: two programs compiled, compared with eager PyTorch and timed beside it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from getting_started import add_one_to_rows
from lstm import ImperativeLSTM


def median_seconds(function: Callable[[], Any], repeats: int = 15) -> float:
    """Time a function.

    Args:
        function: what to call; two calls before the first measurement warm up caches.
        repeats: number of measurements.
    Returns:
        The median, in seconds.
    """
    function()
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def show_times(name: str, compile_seconds: float, compiled: Callable[[], Any], eager: Callable[[], Any]) -> None:
    """Print one line: compile time, run time, eager's run time."""
    ours, theirs = median_seconds(compiled), median_seconds(eager)
    print(
        f"{name}: compiled in {compile_seconds:.2f} s, runs in {ours * 1e3:.3f} ms, eager {theirs * 1e3:.3f} ms "
        f"({theirs / ours:.1f}x)"
    )


def getting_started() -> None:
    """Rows of a tensor, assigned in a loop with a trip count that is an argument."""
    import ssa_compiler

    torch.manual_seed(0)
    a = torch.rand(64, 256)
    start = time.perf_counter()
    compiled = ssa_compiler.compile(add_one_to_rows, (a, 64))
    seconds = time.perf_counter() - start
    print("--- before: tensors are mutable, `copy_` writes through the view `b[i]` ---")
    print(without_locations(compiled.mlir("imported")))
    print("--- after: tensors are values, the loop carries them ---")
    print(without_locations(compiled.mlir("tensorssa")))
    for n in (0, 1, 2, 64):
        torch.testing.assert_close(compiled(a, n), add_one_to_rows(a, n), rtol=0, atol=0)
    print("equal to eager for 0, 1, 2 and 64 rows")
    show_times("getting started, 64 rows of 256", seconds, lambda: compiled(a, 64), lambda: add_one_to_rows(a, 64))


def lstm() -> None:
    """Ten layers, fifty steps, hidden size 256, one sequence."""
    import ssa_compiler

    torch.manual_seed(0)
    layers, steps, batch, hidden = 10, 50, 1, 256
    model = ImperativeLSTM(layers, hidden).eval()
    x = torch.randn(steps, batch, hidden)
    h, c = torch.zeros(layers, 1, batch, hidden), torch.zeros(layers, 1, batch, hidden)
    start = time.perf_counter()
    compiled = ssa_compiler.compile(model, (x, h, c))
    seconds = time.perf_counter() - start
    with torch.no_grad():
        for got, expected in zip(compiled(x, h, c), model(x, h, c), strict=True):
            # Fifty steps of float32: sums in another order and other approximations of exp and tanh.
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
        print("equal to eager within 1e-4")
        show_times(f"LSTM, {layers} layers, {steps} steps", seconds, lambda: compiled(x, h, c), lambda: model(x, h, c))


def without_locations(text: str) -> str:
    """Drop the locations from MLIR text, for reading."""
    import re

    lines = [re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("#loc"))


if __name__ == "__main__":
    getting_started()
    lstm()
