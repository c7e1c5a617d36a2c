"""Times each workload that has kernels against the same program without kernels and eager PyTorch, interleaved in one
process.

`python -m benchmarks.kernels [workload ...]` prints a table in Markdown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import ssa_compiler

from .workloads import WORKLOADS

__all__ = ["main"]

_ROUNDS = 15
_ROUND_S = 0.05


def _times(ways: Sequence[Callable[..., Any]], inputs: tuple[Any, ...]) -> list[float]:
    """Seconds per call of each way, the median of rounds in which all take turns."""
    found: list[list[float]] = [[] for _ in ways]
    for _ in range(_ROUNDS):
        for way, times in zip(ways, found):
            calls, start = 0, time.perf_counter()
            while calls == 0 or time.perf_counter() - start < _ROUND_S:
                way(*inputs)
                calls += 1
            times.append((time.perf_counter() - start) / calls)
    return [sorted(times)[len(times) // 2] for times in found]


def main(names: Sequence[str]) -> None:
    """Print the table.

    Args:
        names: workloads; all if empty.
    """
    torch.set_num_threads(1)
    print(
        "| program | kernels | with kernels, ms | dispatches only, ms | eager, ms | dispatches / kernels | compile, s |"
    )
    print("|---|---|---|---|---|---|---|")
    reasons = []
    for name in names or WORKLOADS:
        built = WORKLOADS[name].at()
        inputs = next(iter(built.inputs.values()))
        start = time.perf_counter()
        kernel = ssa_compiler.compile(built.model, inputs, cache=False)
        seconds = time.perf_counter() - start
        explained = kernel.explain()
        if not explained.kernels:
            reasons.append(f"{name}: {explained.kernel_reason}")
            continue
        dispatches = ssa_compiler.compile(built.model, inputs, cache=False, kernels=False)
        for given in built.inputs.values():
            torch.testing.assert_close(kernel(*given), built.model(*given), rtol=1e-3, atol=1e-4)
        times = _times((kernel, dispatches, built.model), inputs)
        shown = " | ".join(f"{1e3 * t:.3f}" for t in times)
        kind = "whole" if explained.kernel else str(explained.kernels)
        print(f"| {name} | {kind} | {shown} | {times[1] / times[0]:.1f}x | {seconds:.1f} |", flush=True)
    print("\nNo kernel:\n" + "\n".join(f"- {reason}" for reason in reasons))


if __name__ == "__main__":
    main(sys.argv[1:])
