# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Functions of itertools, functools and operator."""

import functools
import itertools
import operator
from itertools import chain, combinations

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])
OTHERS = [(X, 2), *((X * -1, n) for n in (0, 1, 3))]


def products(x, n: int):
    total = torch.zeros(())
    for a, b, g in itertools.product((0.2, 0.7), (0.0, 0.2), (0.1, 0.5)):
        total = total + a * x.sum() + b * g
    for i, j in itertools.product(range(n), repeat=2):
        if i == j:
            continue
        if i + j > 3:
            break
        total = total + i - j
    return total, [i * j for i, j in itertools.product(range(n), [1, 2])]


def choices(x, n: int):
    items = [n, 2, n + 1, 5]
    pairs = [(a, b) for a, b in combinations(items, 2)]
    return pairs, list(itertools.permutations(items, 2)), list(itertools.combinations_with_replacement(range(n), 2))


def chains(x, n: int):
    items, total = [n, 2, n + 1, 5], 0
    for v in chain(items, range(n), (7, 8)):
        total += v * (total + 1)
    flat = [v for v in chain.from_iterable([[1, n], [n]])]  # noqa: C416
    parts = list(itertools.islice(items, 1, 4, 2)), list(itertools.islice(items, 2))
    return total, flat, parts, sum(itertools.repeat(n, 3)), [b - a for a, b in itertools.pairwise(items)]


def folds(x, n: int):
    items = [n, 2, n + 1, 5]
    return (
        list(itertools.accumulate(items)),
        list(itertools.accumulate(items, operator.mul)),
        list(itertools.accumulate(items, lambda a, b: max(a, b), initial=3)),
        functools.reduce(lambda a, b: a * 2 + b, items),
        functools.reduce(torch.add, [x, x * 2, x * n], x),
        functools.reduce(operator.add, items, n),
        functools.reduce(operator.mul, x.shape),
        max([(1, n), (n, 1)], key=operator.itemgetter(1)),
        sorted(items, key=operator.neg),
    )


@pytest.mark.parametrize("program", [products, choices, chains, folds])
def test_iterators(program):
    check(program, *OTHERS, compiled=program is products)


def empty(x, n: int):
    return functools.reduce(operator.add, [k for k in range(n)])  # noqa: C416


def test_errors():
    check(empty, *OTHERS, compiled=False)


def kept(x):
    pairs = itertools.product([1, 2], [3, 4])
    return len(list(pairs)), len(list(pairs))


def with_effects(x):
    seen = []

    def step(a, b):
        seen.append(b)
        return a + b

    total = 0
    for v in itertools.accumulate([1, 2, len(x)], step):
        total += v * len(seen)
    return total


@pytest.mark.parametrize("program", [kept, with_effects])
def test_what_is_rejected(program):
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(program, (X,))
