# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""`bisect`: places in sorted lists, of numbers and of tuples, and elements that are inserted there."""

import bisect

import pytest
import torch

from ssa_compiler.testing import check

X = torch.tensor([1, 1, 5, 2, 2, 3, 4, 4])
CASES = [(x, n) for x in (X, X * 0, -X) for n in (3, 0, 1, -4)]


def places(x, n: int):
    numbers = sorted(x.tolist())
    backwards = numbers[::-1]
    return (
        bisect.bisect_left(numbers, n),
        bisect.bisect_right(numbers, n, 1),
        bisect.bisect(numbers, n, 2, 5),
        bisect.bisect_left(backwards, -n, key=lambda v: -v),
        bisect.bisect([], n),
    )


def inserted(x, n: int):
    """Best fit: the rest of the smallest bin that is large enough, or a new bin."""
    free: list[tuple[int, int]] = []
    chosen = []
    for i, v in enumerate(x.tolist()):
        place = bisect.bisect_left(free, (v, -1))
        if place == len(free):
            rest, number = 7, i + n
        else:
            rest, number = free.pop(place)
        chosen.append(number)
        bisect.insort(free, (rest - v, number))
    return chosen, free


def before_and_behind(x, n: int):
    one, other = [(1, 0), (4, 0)], [(1, 0), (4, 0)]
    for k, v in enumerate(x[:3].tolist()):
        bisect.insort_left(one, (int(v), k), key=lambda pair: pair[0])
        bisect.insort_right(other, (int(v), k), key=lambda pair: pair[0])
    return one, other


@pytest.mark.parametrize("program", [places, inserted, before_and_behind])
def test_places(program):
    check(program, *CASES, compiled=False)


def outside(x, n: int):
    return bisect.bisect(sorted(x.tolist()), 2, n)


def test_a_negative_place():
    check(outside, *((X, n) for n in (0, 2, 8, -1)), compiled=False)
