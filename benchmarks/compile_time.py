"""Time from a model to its first result, in fresh processes: ssa-compiler and torch.compile, each with and without its
cache.

`python -m benchmarks.compile_time [--rounds N] [workload ...]` prints a table in Markdown. Counted is what a user waits
for after `import torch` and the model are there: importing the compiler, compiling, and the first call; of several
rounds the least.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from .workloads import WORKLOADS

__all__ = ["main"]

_LIMIT_S = 180.0
_SIDES = ("ours", "ours_again", "torch_compile", "torch_compile_again")
"""Those `_again` find what the others have left in their caches."""


def _readme(x: torch.Tensor, n: int) -> torch.Tensor:
    y = x.clone()
    for i in range(n):
        y[i] = y[i] * 2 + y[0]
    return y


def _program(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    if name == "first_program":
        return _readme, (torch.ones(8, 4), 5)
    built = WORKLOADS[name].at()
    return built.model, next(iter(built.inputs.values()))


def _measure(name: str, side: str) -> float:
    """Seconds to the first result, in this process."""
    model, inputs = _program(name)
    start = time.perf_counter()
    if side.startswith("torch_compile"):
        torch.compile(model)(*inputs)
    else:
        import ssa_compiler

        ssa_compiler.compile(model, inputs)(*inputs)
    return time.perf_counter() - start


def _in_fresh_process(name: str, side: str, folder: Path) -> float | None:
    """Seconds to the first result in a process of its own, None if there is none within the limit."""
    environment = dict(os.environ)
    environment["SSA_COMPILER_CACHE_DIR"] = str(folder / "ssa-compiler")
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what pip installs is bytecode; here the first round writes it
    command = [sys.executable, "-m", "benchmarks.compile_time", "--one", side, name]
    try:
        found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return None
    return float(found.stdout.split()[-1]) if found.returncode == 0 else None


def _least(name: str, rounds: int) -> dict[str, float | None]:
    least: dict[str, float | None] = dict.fromkeys(_SIDES)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for side in _SIDES:
                seconds = _in_fresh_process(name, side, Path(folder))
                known = least[side]
                if seconds is not None:
                    least[side] = seconds if known is None else min(seconds, known)
                elif known is None:
                    least[side] = None
    return least


def main(arguments: Sequence[str]) -> None:
    """Print the table.

    Args:
        arguments: the command line; all workloads and the README's first program if it names none.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_time", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=_SIDES, help="measure one side in this process, for the others")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    if options.one:
        print(_measure(options.names[0], options.one))
        return
    print(
        "| program | compile, s | from the cache, s | torch.compile, s | from its cache, s | torch.compile / ours |\n"
        "|---|---|---|---|---|---|"
    )
    for name in options.names or ["first_program", *WORKLOADS]:
        least = _least(name, options.rounds)
        shown = ["-" if seconds is None else f"{seconds:.2f}" for seconds in least.values()]
        ours, theirs = least["ours"], least["torch_compile"]
        ratio = f"{theirs / ours:.1f}x" if ours is not None and theirs is not None else "-"
        print(f"| {name} | {' | '.join(shown)} | {ratio} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
