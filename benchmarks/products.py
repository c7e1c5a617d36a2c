"""Products of matrices, convolutions, and whole networks: the libraries' products, compiled ones, and eager.

`python -m benchmarks.products`. "compiled" is `strict=True`, which leaves no product to PyTorch's libraries.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler

from .settings import describe_machine
from .workloads.networks import DiffusionSampler, ResNet, VisionTransformer

__all__ = ["PROGRAMS", "measure"]

_LEAST_S = 0.2
"""How long a program has its turn at least."""


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """[m, n] of x [m, k]."""
    return torch.relu(F.linear(x, weight, bias))


def batch(x: Tensor, y: Tensor) -> Tensor:
    """[b, m, n] of x [b, m, k] and y [b, k, n]."""
    return torch.relu(x @ y)


def convolution(x: Tensor, weight: Tensor) -> Tensor:
    """[1, o, h, w] of x [1, i, h, w], in windows of 3 x 3."""
    return torch.relu(F.conv2d(x, weight, padding=1))


def sequence(x: Tensor, weight: Tensor) -> Tensor:
    """[1, o, l - k + 1] of x [1, i, l], in windows of k."""
    return torch.relu(F.conv1d(x, weight))


def _linear(m: int, k: int, n: int) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    return linear, (torch.randn(m, k), torch.randn(n, k), torch.randn(n))


def _batch(b: int, m: int, k: int, n: int) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    return batch, (torch.randn(b, m, k), torch.randn(b, k, n))


def _convolution(i: int, o: int, size: int) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    return convolution, (torch.randn(1, i, size, size), torch.randn(o, i, 3, 3))


def _sequence(i: int, o: int, length: int, k: int) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    return sequence, (torch.randn(1, i, length), torch.randn(o, i, k))


PROGRAMS: dict[str, Callable[[], tuple[Callable[..., Tensor], tuple[Any, ...]]]] = {
    **{
        f"linear {m}x{k}x{n}": lambda m=m, k=k, n=n: _linear(m, k, n)  # type: ignore[misc]
        for m, k, n in [
            *((16, 128, 128), (64, 128, 128), (50, 100, 100), (97, 128, 128), (1, 1024, 4096), (16, 512, 512)),
            *((64, 256, 256), (64, 512, 512), (197, 384, 384), (256, 512, 2048)),
        ]
    },
    **{
        f"batch {b}x{m}x{k}x{n}": lambda b=b, m=m, k=k, n=n: _batch(b, m, k, n)  # type: ignore[misc]
        for b, m, k, n in [(8, 64, 64, 64), (8, 50, 64, 50), (6, 197, 64, 197)]
    },
    **{
        f"convolution {i}x{o}, {size}x{size}": lambda i=i, o=o, size=size: _convolution(i, o, size)  # type: ignore[misc]
        for i, o, size in [(1, 32, 28), (16, 32, 14), (16, 32, 32), (64, 64, 56), (256, 256, 14)]
    },
    **{
        f"sequence {i}x{o}x{k}, {length}": lambda i=i, o=o, length=length, k=k: _sequence(i, o, length, k)  # type: ignore[misc]
        for i, o, length, k in [(32, 32, 102, 3), (16, 32, 400, 5), (64, 64, 1000, 3)]
    },
    "ResNet-18, 224x224": lambda: (ResNet().eval(), (torch.randn(1, 3, 224, 224),)),
    "vision transformer, 6 layers": lambda: (VisionTransformer().eval(), (torch.randn(1, 3, 224, 224),)),
    "diffusion sampler, 10 steps": lambda: (DiffusionSampler().eval(), (torch.randn(1, 3, 32, 32), 10)),
}
"""Each makes a program and its arguments."""


def _least_s(programs: Sequence[Callable[..., Tensor]], arguments: tuple[Any, ...], rounds: int) -> list[float]:
    """Return the least seconds of each program, which have their turns."""
    least = [math.inf] * len(programs)
    for _ in range(rounds):
        for number, program in enumerate(programs):
            program(*arguments)
            until = time.perf_counter() + _LEAST_S / rounds
            while (start := time.perf_counter()) < until:
                program(*arguments)
                least[number] = min(least[number], time.perf_counter() - start)
    return least


@torch.no_grad()
def measure(name: str, *, rounds: int) -> Iterator[tuple[int, list[float]]]:
    """Measure a program on one thread and on all that PyTorch has.

    Args:
        name: one of `PROGRAMS`.
        rounds: how often each way to run it has its turn.
    Yields:
        The number of threads; the least microseconds of a call with extern kernels, compiled, and eager.
    """
    torch.manual_seed(0)
    program, arguments = PROGRAMS[name]()
    most = torch.get_num_threads()
    compiled = ssa_compiler.compile(program, arguments, strict=True)
    for threads in dict.fromkeys((1, most)):
        torch.set_num_threads(threads)
        ours = ssa_compiler.compile(program, arguments)
        for result in (ours(*arguments), compiled(*arguments)):
            torch.testing.assert_close(result, program(*arguments), rtol=1e-3, atol=1e-3)
        yield threads, [seconds * 1e6 for seconds in _least_s((ours, compiled, program), arguments, rounds)]
    torch.set_num_threads(most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="comma-separated beginnings of names")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each way to run a program")
    chosen = parser.parse_args()
    print(describe_machine("cpu")["processor"])
    print(
        "| program | threads | ours | compiled | eager | compiled / ours | eager / ours |\n|---|---|---|---|---|---|---|"
    )
    for name in PROGRAMS:
        if chosen.only and not name.startswith(tuple(chosen.only.split(","))):
            continue
        for threads, (ours, compiled, eager) in measure(name, rounds=chosen.rounds):
            ratios = f"{compiled / ours:.2f}x | {eager / ours:.2f}x"
            print(f"| {name} | {threads} | {ours:,.0f} | {compiled:,.0f} | {eager:,.0f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
