"""What ops cost that a kernel computes number by number, beside PyTorch's own kernels.

`python -m benchmarks.library_ops`. Each program is a loop that changes a number of a tensor and computes one op of it.
The time of a trip is the difference between many and few trips, so that the call is not in it, less that of a trip
that only changes the number.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

import ssa_compiler

from .settings import describe_machine

__all__ = ["PROGRAMS", "SIZES", "measure_trips"]

SIZES = (10, 1_000, 100_000)
_LEAST_S = 0.005
"""How long the trips take at least whose time is measured."""

Program = Callable[[Tensor, Tensor, int], Tensor]


def _change(x: Tensor, trip: int) -> None:
    x[trip % 8] *= 0.9


def change(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Nothing but the change."""
    for trip in range(n):
        _change(x, trip)
    return x


def sort(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Sort all elements."""
    result = x
    for trip in range(n):
        _change(x, trip)
        result = torch.sort(x)[0]
    return result


def topk_10(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Ten elements."""
    result = x[:10]
    for trip in range(n):
        _change(x, trip)
        result = torch.topk(x, 10)[0]
    return result


def topk_half(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Half of the elements."""
    half = x.size(0) // 2
    result = x[:half]
    for trip in range(n):
        _change(x, trip)
        result = torch.topk(x, half)[0]
    return result


def kthvalue(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The fifth element."""
    result = x[0]
    for trip in range(n):
        _change(x, trip)
        result = torch.kthvalue(x, 5)[0]
    return result


def median(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The element in the middle."""
    result = x[0]
    for trip in range(n):
        _change(x, trip)
        result = torch.median(x)
    return result


def nonzero(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Where half of the elements are, and the sum of that."""
    result = places[0]
    for trip in range(n):
        _change(x, trip)
        result = (x > 0.5).nonzero().sum()
    return result


def unique(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The distinct ones of as many values as there are elements, and their sum."""
    result = places[0]
    for trip in range(n):
        places[trip % 8] += 1
        result = torch.unique(places).sum()
    return result


def cumsum(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The running sum."""
    result = x
    for trip in range(n):
        _change(x, trip)
        result = torch.cumsum(x, 0)
    return result


def cummax(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The largest element so far."""
    result = x
    for trip in range(n):
        _change(x, trip)
        result = torch.cummax(x, 0)[0]
    return result


def searchsorted(x: Tensor, places: Tensor, n: int) -> Tensor:
    """As many places in a sorted row as it has elements."""
    row = torch.sort(x)[0]
    result = places
    for trip in range(n):
        _change(x, trip)
        result = torch.searchsorted(row, x)
    return result


def scatter(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Elements to random places."""
    result = x.clone()
    for trip in range(n):
        _change(x, trip)
        result.scatter_(0, places, x)
    return result


def scatter_add(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Elements added at random places, some of them several times."""
    result = x.clone()
    for trip in range(n):
        _change(x, trip)
        result.scatter_add_(0, places, x)
    return result


def gather(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Elements of random places."""
    result = x
    for trip in range(n):
        _change(x, trip)
        result = x[places]
    return result


def argmax(x: Tensor, places: Tensor, n: int) -> Tensor:
    """Where the largest element is."""
    result = places[0]
    for trip in range(n):
        _change(x, trip)
        result = torch.argmax(x)
    return result


def softmax(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The softmax of all elements."""
    result = x
    for trip in range(n):
        _change(x, trip)
        result = torch.softmax(x, 0)
    return result


def logsumexp(x: Tensor, places: Tensor, n: int) -> Tensor:
    """The logarithm of the sum of exponentials."""
    result = x[0]
    for trip in range(n):
        _change(x, trip)
        result = torch.logsumexp(x, 0)
    return result


_PROGRAMS = (
    *(sort, topk_10, topk_half, kthvalue, median, nonzero, unique, cumsum, cummax, searchsorted),
    *(scatter, scatter_add, gather, argmax, softmax, logsumexp),
)
PROGRAMS: dict[str, Program] = {program.__name__: program for program in _PROGRAMS}


def _seconds(program: Program, x: Tensor, places: Tensor, trips: int) -> float:
    given = x.clone(), places.clone()
    start = time.perf_counter()
    program(*given, trips)
    return time.perf_counter() - start


def _trip_s(program: Program, x: Tensor, places: Tensor, rounds: int) -> Iterator[float]:
    """Yield the least time of a trip so far, in each round."""
    trips = 1
    while min(_seconds(program, x, places, trips) for _ in range(3)) < _LEAST_S:
        trips *= 2
    few, many = math.inf, math.inf
    for _ in range(rounds):
        few = min(few, _seconds(program, x, places, trips))
        many = min(many, _seconds(program, x, places, 3 * trips))
        yield (many - few) / (2 * trips)


def measure_trips(name: str, size: int, *, rounds: int) -> tuple[float, float]:
    """Measure a trip of a program.

    Args:
        name: one of `PROGRAMS`.
        size: the number of elements, at least 10.
        rounds: how often eager and the compiled program have their turn.
    Returns:
        The time of a trip of eager and of the compiled program, in microseconds.
    Raises:
        AssertionError: they do not give the same.
    """
    torch.manual_seed(0)
    x, places = torch.rand(size), torch.randint(0, size, (size,))
    ways: list[Iterator[float]] = []
    for program in (PROGRAMS[name], change):
        compiled: Program = ssa_compiler.compile(program, (x.clone(), places.clone(), 3))
        torch.testing.assert_close(compiled(x.clone(), places.clone(), 3), program(x.clone(), places.clone(), 3))
        ways += [_trip_s(way, x, places, rounds) for way in (program, compiled)]
    *_, (eager, ours, eager_change, our_change) = zip(*ways)
    return (eager - eager_change) * 1e6, (ours - our_change) * 1e6


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library_ops", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="OP", help=f"of {', '.join(PROGRAMS)} (all)")
    parser.add_argument("--rounds", type=int, default=10, help="turns of eager and of the compiled program (10)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"microseconds, eager / ours = how many times quicker; {describe_machine('cpu')['processor']}")
    print(f"| op | {' | '.join(f'{size:,}' for size in SIZES)} |\n|{'---|' * (len(SIZES) + 1)}")
    with torch.no_grad():
        for name in options.names or PROGRAMS:
            row = []
            for size in SIZES:
                eager, ours = measure_trips(name, size, rounds=options.rounds)
                row.append(f"{eager:.3g} / {ours:.3g} = {eager / ours:.2f}x")
            print(f"| {name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
