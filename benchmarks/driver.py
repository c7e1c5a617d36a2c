"""Run benchmarks and print their results as JSON: see README.md in this folder."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT.parent / "examples")]


def measure(call: Callable[[], object], *, warmup: int, repeats: int) -> list[float]:
    """Return the sorted wall-clock times of a call in seconds, after `warmup` calls that do not count."""
    for _ in range(warmup):
        call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)


def summary(times: list[float]) -> dict[str, float]:
    """Return median, smallest and largest of some times in milliseconds."""
    return {
        "median_ms": statistics.median(times) * 1e3,
        "min_ms": times[0] * 1e3,
        "max_ms": times[-1] * 1e3,
    }


def update_rows(x: torch.Tensor, n: int) -> torch.Tensor:
    """Add 1 to row i % rows of a copy of x, for n values of i; x is float32 [rows, columns]."""
    b = x.clone()
    for i in range(n):
        row = i % b.shape[0]
        b[row] = b[row] + 1
    return b


def row_update(config: dict[str, Any]) -> dict[str, Any]:
    """Time per iteration of the row-update loop, by number of rows.

    The compared slopes touch the same number of rows, the smallest of `rows`, so that only the size of the tensor around
    them differs.
    """
    import ssa_compiler

    result: dict[str, Any] = {"slopes_us": {}, "eager_us": {}, "loop_copies": {}}
    n = config["iterations"]
    touched = min(config["rows"])
    for rows in config["rows"]:
        x = torch.randn(rows, config["columns"])
        compiled = ssa_compiler.compile(_update_first(touched), (x, 3), target="cpu")
        torch.testing.assert_close(compiled(x, 5), _update_first(touched)(x, 5))
        # The shorter and the longer run alternate, so that a change of the machine's speed falls on both; the quickest of
        # each is taken, because what disturbs a run only ever makes it slower.
        short, long = [], []
        for _ in range(config["warmup"]):
            compiled(x, n)
        for _ in range(config["repeats"]):
            short += measure(lambda: compiled(x, n), warmup=0, repeats=1)  # noqa: B023 (called here)
            long += measure(lambda: compiled(x, 2 * n), warmup=0, repeats=1)  # noqa: B023 (called here)
        result["slopes_us"][str(rows)] = (min(long) - min(short)) / n * 1e6
        # Eager runs a part of the iterations, in the same process: each takes it hundreds of times as long.
        eager, few = _update_first(touched), max(1, n // 100)
        quick = measure(lambda: eager(x, few), warmup=1, repeats=3)  # noqa: B023 (called here)
        long_quick = measure(lambda: eager(x, 2 * few), warmup=0, repeats=3)  # noqa: B023 (called here)
        result["eager_us"][str(rows)] = (long_quick[0] - quick[0]) / few * 1e6
        result["loop_copies"][str(rows)] = compiled.copy_count().loop_copies
    values = [result["slopes_us"][str(rows)] for rows in config["rows"]]
    result["ratio"] = values[-1] / values[0]
    return result


def _update_first(touched: int) -> Callable[..., torch.Tensor]:
    """The row-update loop over the first `touched` rows, as a function that TorchScript can script."""

    class Update(torch.nn.Module):
        def __init__(self, touched: int) -> None:
            super().__init__()
            self.touched = touched

        def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
            b = x.clone()
            for i in range(n):
                row = i % self.touched
                b[row] = b[row] + 1
            return b

    return Update(touched).eval()


def lstm(config: dict[str, Any]) -> dict[str, Any]:
    """Compile time and run time of the LSTM of `examples/lstm.py`, beside eager and frozen TorchScript."""
    from lstm import ImperativeLSTM

    import ssa_compiler

    layers, hidden, batch = config["layers"], config["hidden"], config["batch"]
    torch.manual_seed(0)
    model = ImperativeLSTM(layers, hidden).eval()
    inputs = (
        torch.randn(config["steps"], batch, hidden),
        torch.zeros(layers, 1, batch, hidden),
        torch.zeros(layers, 1, batch, hidden),
    )
    ssa_compiler.compile(update_rows, (torch.randn(2, 4), 1), target="cpu")  # imports every module
    start = time.perf_counter()
    compiled = ssa_compiler.compile(model, inputs, target="cpu")
    result: dict[str, Any] = {"compile_s": time.perf_counter() - start, "compile_steps_s": compiled.seconds}
    with torch.no_grad():
        frozen = torch.jit.freeze(torch.jit.script(model))
        for actual, expected in zip(compiled(*inputs), model(*inputs), strict=True):
            torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
        runs = {"eager": model, "torchscript": frozen, "compiled": compiled}
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(config["repeats"]):  # interleaved, so that a change of the machine's speed falls on all
            for name, call in runs.items():
                times[name] += measure(lambda call=call: call(*inputs), warmup=1, repeats=1)  # type: ignore[misc]
    for name, values in times.items():
        result[name] = summary(sorted(values))
    for name in ("eager", "torchscript"):
        result[f"ratio_to_{name}"] = result["compiled"]["median_ms"] / result[name]["median_ms"]
    return result


def _processor() -> str:
    """Return the name of the processor, "" where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


BENCHMARKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"row_update": row_update, "lstm": lstm}


def run(name: str, *, small: bool = False) -> dict[str, Any]:
    """Run a benchmark.

    Args:
        name: a key of `BENCHMARKS`.
        small: use the sizes that run as a test.
    Returns:
        Sizes, machine, versions and what the benchmark measured.
    """
    config = json.loads((ROOT / "configs" / f"{name}.json").read_text(encoding="utf-8"))
    chosen = config.pop("small")
    if small:
        config = chosen
    return {
        "benchmark": name,
        "config": config,
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "torch-mlir", "iree-base-compiler", "iree-base-runtime")},
        },
        **BENCHMARKS[name](config),
    }


def main() -> None:
    """Parse the command line and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", nargs="*", help=f"which: {', '.join(sorted(BENCHMARKS))}; all if none is named")
    parser.add_argument("--small", action="store_true", help="use the sizes that run as a test")
    parser.add_argument("--output", type=Path, help="write the JSON to this file as well")
    arguments = parser.parse_args()
    names = arguments.benchmark or sorted(BENCHMARKS)
    if unknown := sorted(set(names) - set(BENCHMARKS)):
        parser.error(f"unknown benchmark: {', '.join(unknown)}")
    warnings.simplefilter("ignore", DeprecationWarning)
    text = json.dumps([run(name, small=arguments.small) for name in names], indent=2)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
