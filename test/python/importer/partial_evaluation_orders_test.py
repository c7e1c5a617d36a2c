# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Tuples and lists that are compared and sorted, which TorchScript does not have."""

import collections

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

Point = collections.namedtuple("Point", "x y")
X = torch.tensor([1.0, 3.0, 2.0])
OTHERS = ((X, 1), (torch.tensor([1.0, 3.0, 3.0]), 2), (torch.zeros(3), 0), (torch.tensor([2.0, 3.0, -1.0]), 3))


def tuples(x, n: int):
    one, other = (float(x[0]), n), (1.0, 2)
    return (
        [one < other, one <= other, one > other, one >= other, one == other, one != other],
        [(n, one) < (1, other), (n, one) == (2, other), (n, 1) > (1, 1), (n,) < (n, 1), (n, 1) < (n,)],
        Point(float(x[2]), n) == other,
    )


def lists(x, n: int):
    one, other = [1, n], [1, 2, 3]
    return [one < other, one <= other, one > other, one >= other, one[:n] < other, other[n:] > one, other < other[:n]]


def with_tensors(x, n: int):
    return (n, x[0]) == (1, x[1]), (x[0], n) != (x[1] * 0 + 2, 3)


def smallest(x, n: int):
    items = [(float(x[i]), n - i) for i in range(x.shape[0])]
    items.append((2.0, n))
    first, last = min(items), max(items)
    copied = sorted(items)
    items.sort(reverse=True)
    words = [("b", n), ("a", n), ("b", 1)]
    words.sort(key=lambda word: word[1])
    return first, last, copied, items, words, max(first, last)


@pytest.mark.parametrize("program", [tuples, lists, with_tensors, smallest])
def test_orders(program):
    check(program, *OTHERS, compiled=program is smallest)


def changed(x, n: int):
    """The list stays the same object, and its elements are read once."""
    items = [(float(v), k) for k, v in enumerate(x.tolist())]
    other = items
    items.sort(key=lambda item: -item[0])
    other.append((0.0, n))
    return items, [item[1] for item in other], items < other


def test_sorting_in_place():
    check(changed, *OTHERS, compiled=False)


def below(x, n: int):
    return (float(x[0]), n) < (float(x[1]), 2)


def test_numbers_that_are_none():
    program = ssa_compiler.compile(below, (X, 1))
    nan = float("nan")
    assert program(torch.tensor([nan, 1.0]), 1) is program(torch.tensor([1.0, nan]), 1) is False
    with pytest.raises(errors.UnsupportedProgramError, match="two elements that are NaN"):
        program(torch.tensor([nan, nan]), 1)


def most_frequent(x):
    counts = {}
    for v in x:
        counts[int(v)] = counts.get(int(v), 0) + 1
    return max(counts, key=counts.get)


def by_key(x):
    counts = collections.defaultdict(int)
    for v in x:
        counts[int(v) % 3] += 1
    return sorted(counts.items()), max(counts.items()), sorted(counts), min(counts)


def by_count(x):
    counts = {}
    for v in x:
        counts[int(v)] = counts.get(int(v), 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


@pytest.mark.parametrize("program", [most_frequent, by_key, by_count])
def test_orders_of_dicts(program):
    y = torch.tensor([3, 1, 2, 2, 5, 3, 2])
    check(program, *[(x,) for x in (y, y * 0, y.flip(0), y - 3, y[:1].expand(7).clone())])


def or_default(x, n: int):
    """A default is of any type, computed once, and used for nothing but an empty list."""
    kept = [v for v in x.tolist() if v > n]
    pairs = [(v, k) for k, v in enumerate(kept)]
    seen = []

    def noted(v):
        seen.append(v)
        return v

    return (
        min(kept, default=noted(7.5)),
        max(kept, key=lambda v: -v, default=noted(-1.0)),
        max(kept, default=None),
        max(pairs, key=lambda pair: pair[0], default=(0.0, -1)),
        min(pairs, default=(5.0, 5)),
        max((len(pair) + k for k, pair in enumerate(pairs)), default=0),
        max([x.sum()] if n > 1 else [], default=x.mean()),
        seen,
    )


def test_defaults_of_min_and_max():
    check(or_default, *OTHERS)
