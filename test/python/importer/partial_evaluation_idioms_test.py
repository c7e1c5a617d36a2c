# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Generators that methods read, dicts that are asked whether they are empty, enumerators of values, `math` of tensors,
and parts of modules by the number in a loop over a list of dynamic length.
"""

import math
from enum import Enum

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check, compare_values

X = torch.arange(1.0, 9.0).reshape(2, 4)


def extended(x, n: int):
    weights = [1.0]
    for i in range(n):
        powers = [0.5**j for j in range(i + 1)]
        total = sum(powers)
        weights.extend(a / total for a in powers)
    return torch.tensor(weights), len(weights)


def test_methods_read_generators():
    check(extended, *((X, n) for n in (3, 0, 1, 2)))


def lazily_filled(x, n: int):
    state = {}
    for _ in range(n):
        if not state:
            state["steps"] = 0
            state["mean"] = torch.zeros_like(x)
        state["steps"] += 1
        state["mean"] = state["mean"] * 0.5 + x
    return state["mean"] if state else x


def test_a_dict_that_gets_its_keys_later_is_empty_first():
    check(lazily_filled, *((X, n) for n in (3, 0, 1, 2)))


class Mode(str, Enum):
    PLAIN = "plain"
    DOUBLE = "double"
    SUM = "sum"


class OfModes(nn.Module):
    def forward(self, x, mode=Mode.PLAIN):
        mode = Mode(mode)
        if mode is Mode.DOUBLE:
            return x * 2
        if mode == "sum" and mode in (Mode.PLAIN, Mode.SUM):
            return x.sum()
        return x + 1


def test_enumerators_of_values():
    compiled = ssa_compiler.compile(OfModes(), (X,), fullgraph=True)
    for mode in (Mode.PLAIN, Mode.DOUBLE, "double", "sum", Mode.SUM, "plain"):
        assert compare_values(OfModes()(X, mode), compiled(X, mode)) is None


def numbers(x):
    total = x.sum()
    log = math.log(total) if total > 0 else 0.0
    return log, math.sqrt(x[0, 3]), math.floor(x[0, 2] * 1.5), math.log(x.size(0)) + x.mean(), math.pow(x[0, 1], 2)


def test_functions_of_numbers_take_tensors():
    check(numbers, (X,), (-X.abs() + 9,))


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        features, found = [], []
        for each in (x, x + 1):
            features.append(each * 2)
        for level, feature in enumerate(features):
            found.append(torch.exp(self.heads[level](feature)))
        return found


def test_parts_of_modules_in_a_loop_over_a_list():
    check(Heads().eval(), (X,), (X * -0.1,))


def scaled(x, k: int = 2, m=None):
    return x * k if m is None else m(x) * k


def shifted(x, k: int = 3, m=None):
    return x - k


def either(x, n: int):
    first = (scaled if n > 2 else shifted)(x, k=n)
    second = (shifted if bool(x.sum() > 20) else scaled)(x, m=lambda each: each / 2)
    return first, second


def test_one_of_two_functions_is_called():
    check(either, *((x, n) for x in (X, -X) for n in (3, 0, 1, 5)))


def there_and_back(x, n: int):
    values, seen = x.clone(), []
    for row in range(2):
        back = row % 2 == 1
        places = range(n - 1, -1, -1) if back else range(n)
        for k in places:
            values[row, k] += values[row, (k + 1) % 4]
            seen.append(k)
        for k in range(1, n) if bool(x[row, 0] > 0) else range(0, n, 2):
            seen.append(k)
    return values, seen


def test_one_of_two_ranges():
    mixed = torch.cat([X[:1] - 9, X[1:]])
    check(there_and_back, *((x, n) for x in (X, mixed) for n in (4, 0, 1, 3)))


class Counter:
    def __init__(self):
        self.calls = 0

    def double(self, x):
        self.calls += 1
        return x * 2


def backwards(x, n: int):
    counter, seen = Counter(), []
    for k in reversed(range(1, n)):
        x = x + counter.double(x) * k
        seen.append(k)
    return x, seen, counter.calls


def test_a_range_backwards_stays_what_it_is():
    check(backwards, *((X, n) for n in (3, 0, 1, 2)))


def bayer(n):
    if n == 1:
        return torch.zeros(1, 1)
    m = bayer(n // 2)
    return torch.cat([torch.cat([4 * m, 4 * m + 2], 1), torch.cat([4 * m + 3, 4 * m + 1], 1)], 0)


def sums(n, x):
    return x * n if n < 2 else sums(n - 1, x) + sums(n - 2, x + 1)


def recursive(x, n: int):
    return bayer(4) + x.sum() * n, sums(5, x)


def test_a_recursion_over_known_numbers():
    check(recursive, (X, 3), (X, 0))


def endless(x, n):
    return endless(x, n + 1) + 1


def starts_endless(x):
    return endless(x, 0)


def test_an_endless_recursion_is_rejected():
    with pytest.raises(errors.ScriptError, match="a function that calls itself"):
        ssa_compiler.compile(starts_endless, (X,), fullgraph=True)
