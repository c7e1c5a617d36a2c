# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Iterators that are values, the first element that a generator gives, and tests for None in functions of their own."""

import itertools
import math

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 2.0, 3.0])


def items(count: int):
    return [X + k for k in range(count)]


def one_after_the_other(x, tensors, n: int):
    it = iter(tensors)
    first = next(it)
    out = [first]
    for _ in range(n):
        out.append(next(it, x))
    total = torch.zeros(3)
    for y in it:
        total = total + y
        if total.sum() > 40:
            break
    last = next(it, None)
    return torch.stack(out), total, x if last is None else last * 2


def grown(x, numbers: list[int]):
    it = iter(numbers)
    a = next(it, -1)
    numbers.append(7)
    b = next(it, -1)
    c = next(it, -1)
    numbers.append(8)
    return x * len(numbers), a, b, c, next(it, -1)


def rows(x):
    it = iter(x)
    a = next(it)
    for y in it:
        a = a * y
    return a, next(iter(x)), next(iter([x + 1]))


def exhausted(x, tensors):
    it = iter(tensors)
    return next(it) + x, next(it)


def first_of(x, n: int):
    tokens = x.tolist()
    none = next((k for k, t in enumerate(tokens) if t > n), None)
    return next((k for k, t in enumerate(tokens) if t > n), -1), -2 if none is None else none + 1


def first_or_raise(x, n: int):
    tokens = x.tolist()
    *_, b = tokens
    return next(t * 2 for t in tokens if t > n), b


@pytest.mark.parametrize("n", [0, 2, 6])
def test_iterators_of_lists_go_on(n):
    check(one_after_the_other, (X, items(4), 1), (X, items(4), n), (X, items(4), 3))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_iterator_stays_at_its_end(count):
    check(grown, (X, [5] * count))


def test_iterators_of_tensors():
    for count in (1, 3, 5):
        check(rows, (torch.rand(count, 2),))


def test_the_end_of_an_iterator_is_an_error():
    check(exhausted, (X, items(2)))
    with pytest.raises(StopIteration):
        ssa_compiler.compile(exhausted, (X, items(1)))(X, items(1))


def test_the_first_element_of_a_generator():
    check(first_of, (X, 1), (X, 0), (X, 5))
    check(first_or_raise, (X, 1), (X, 0))


def exists(value):
    return value is not None


def default(value, other):
    return value if exists(value) else other


class Cached(nn.Module):
    """A cache that is None at first, in a loop, asked for by a function; parts of a model that are unpacked."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)]) for _ in range(2)])

    def step(self, x, cache=None):
        offset = 0
        if exists(cache):
            offset = cache[0].shape[-2]
            x = x[:, offset:]
        kept = []
        old = iter(cache if exists(cache) else [])
        for first, second in self.layers:
            before = next(old, None)
            x = x + second(first(x).relu())
            kept.append(x if before is None else torch.cat((before, x), dim=-2))
        return x, torch.stack(kept)

    def forward(self, x, n: int, scale=None):
        cache = None
        for _ in range(n):
            y, cache = self.step(x, cache)
            x = torch.cat((x, y[:, -1:]), 1)
        assert exists(x)
        return x * default(scale, 2.0), cache.sum() if exists(cache) and n > 1 else x.sum()


@pytest.mark.slow
def test_a_function_that_tests_for_none():
    torch.manual_seed(0)
    x = torch.rand(2, 2, 3)
    check(Cached(), (x, 2), (x, 0), (x, 1), (x, 3))
    check(Cached(), (x, 2, 3.0), (x, 1, 4.0))


def limits(x, mask, double: bool):
    info = torch.finfo(x.dtype)
    parts = [y.masked_fill(mask, -torch.finfo(y.dtype).max) for y in (x, x + 1)]
    least = x.double() if double else x
    *rest, last = info.min, info.eps, torch.iinfo(torch.int32).max
    return parts[0], parts[1] + torch.finfo(torch.float32).tiny, torch.finfo(least.dtype).bits, rest, last


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_limits_of_dtypes(dtype):
    x = X.to(dtype)
    for double in (False, True):
        check(limits, (x, x > 1, double))


def limits_of_another_kind(x):
    *_, a = x, torch.finfo(x.dtype).max
    return x * a


def test_limits_of_a_dtype_of_another_kind_are_an_error():
    compiled = ssa_compiler.compile(limits_of_another_kind, (X,))
    with pytest.raises(errors.SsaCompilerError, match="requires a floating point input type"):
        compiled(torch.arange(3))


def any_or_all(xs, n: int):
    rising = all(b >= a for a, b in itertools.pairwise(xs))
    larger, finite = [x > n for x in xs], [x.isfinite() for x in xs]
    return rising, any(larger), all(finite), any(larger[:0]), all(finite[:0])


def test_any_and_all_of_tensors():
    numbers = [torch.tensor(value) for value in (1.0, 2.0, 0.5, math.inf)]
    check(any_or_all, *[([*numbers[:2], last], n) for last in numbers for n in (0, 5)])


def larger(a, b):
    return torch.where(a > b, a, b)


def rows_as_arguments(x):
    return larger(*x.view(2, -1)), torch.maximum(*x[:2])


def test_rows_of_a_tensor_are_arguments():
    x = torch.tensor([[1.0, -2.0, 3.0], [4.0, 0.0, -6.0]])
    check(rows_as_arguments, (x,), (-x,))


class Ring(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.register_buffer("kept", torch.zeros(3))

    def __len__(self):
        return min(self.n, 3)

    def forward(self, x, k: int):
        self.kept[self.n % 3] = x[k]
        self.n += 1
        return self.kept[: len(self)].sum()


class RingAndMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.ring = Ring()

    def forward(self, x, k: int):
        return self.ring(x, k) / len(self.ring)


def test_len_of_a_module():
    check(RingAndMean(), *[(torch.arange(4.0), k) for k in (1, 2, 3, 1, 2)])
