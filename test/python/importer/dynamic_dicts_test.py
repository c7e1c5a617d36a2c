"""Dicts whose keys are dynamic ints, and ints that are looked for in lists of dynamic length."""

from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.tensor([5.0, 1, 2, 3, 7, 1])
COUNTS = (3, 0, 1, 2, 6, 7)


def counted(x: Tensor, n: int) -> tuple[dict[int, int], int]:
    d: dict[int, int] = {}
    for i in range(n):
        v = int(x[i]) % 3
        d[v] = d.get(v, 0) + 1
    return d, len(d)


def in_order(x: Tensor, n: int) -> tuple[Tensor, int, list[int], list[float]]:
    d: dict[int, float] = {}
    for i in range(n):
        d[i * 2 % 5] = float(x[i])
    total = 0.0
    order = 0
    for k in d:
        order = order * 10 + k
        total += d[k] * k
    for k, v in d.items():
        total += k * v
    for v in d.values():
        total -= v
    return x * total, order, list(d.keys()), list(d.values())


def tensors(x: Tensor, n: int) -> tuple[Tensor, int]:
    d: dict[int, Tensor] = {1: x + 1}
    for i in range(n):
        t = d.setdefault(i, x * i)
        d[i] = t + 1
    if n - 1 in d:
        return d[n - 1] * 2, len(d)
    return d[1] * 3, -len(d)


def returned_early(x: Tensor, n: int) -> dict[int, int]:
    d: dict[int, int] = {}
    for i in range(n):
        k = int(x[i]) % 4
        if k in d:
            return d
        d[k] = i
    d[100] = n
    return d


def collatz(x: Tensor, n: int) -> tuple[int, int]:
    memo: dict[int, int] = {1: 0}
    most = 0
    for i in range(1, n):
        path: list[int] = []
        m = i
        while m not in memo:
            path.append(m)
            m = m // 2 if m % 2 == 0 else 3 * m + 1
        steps = memo[m]
        while len(path) > 0:
            steps += 1
            memo[path.pop()] = steps
        if memo[i] > most:
            most = memo[i]
    return most, len(memo)


def in_branches(x: Tensor, n: int) -> tuple[dict[int, int], int]:
    d: dict[int, int] = {}
    if n > 2:
        d[n] = 1
    else:
        d[0] = n
        d[n] = 7
    return d, len(d)


def copied(x: Tensor, k: int) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    d = {0: 1}
    d[k] = 5
    e = d.copy()
    e[k + 1] = 6
    f = dict(e)
    f[0] = 9
    if k == 6:
        f.clear()
    return d, e, f


def comprehended(x: Tensor, n: int) -> Tensor:
    d = {i: x[i] * 2 for i in range(n)}
    total = x[0] * 1
    for i in range(n):
        total = total + d[i]
    return total + d[n - 1]


def with_known_keys(x: Tensor, k: int) -> tuple[Tensor, int | None]:
    shapes = {0: x * 2, 1: x[:2] + 1}
    numbers = {0: 3, 1: 4, 6: 5}
    return shapes[0] * numbers[k], numbers.get(k + 1)


def seen_in_a_list(x: Tensor, n: int) -> tuple[list[int], int]:
    seen: list[int] = []
    repeated = 0
    for i in range(n):
        v = int(x[i]) % 3
        if v not in seen:
            seen.append(v)
        else:
            repeated += 1
    return seen, repeated


@pytest.mark.parametrize(
    "program",
    [
        counted,
        in_order,
        tensors,
        returned_early,
        collatz,
        in_branches,
        copied,
        comprehended,
        with_known_keys,
        seen_in_a_list,
    ],
)
def test_dynamic_keys(program: Any) -> None:
    check(program, *[(X, n) for n in COUNTS])


def of_known_rank(x: Tensor, k: int) -> Tensor:
    return {0: x, 1: x[:2]}[k] * 2


def unrolled(x: Tensor) -> dict[int, Tensor]:
    d: dict[int, Tensor] = {}
    for i in range(3):
        d[i] = x[:i] + 1
    return d


def test_elements_that_differ() -> None:
    check(of_known_rank, (X, 1), (X, 0), (X, 2))
    check(unrolled, (X,))


def given(x: Tensor, d: dict[int, int], k: int) -> Tensor:
    d[k] += 1
    return x * d[k] + d.get(k + 1, -3)


class Counts(nn.Module):
    seen: dict[int, int]

    def __init__(self) -> None:
        super().__init__()
        self.seen = {0: 0, 1: 0, 2: 5}

    def forward(self, x: Tensor, k: int) -> Tensor:
        if k in self.seen:
            self.seen[k] += 1
        return x * self.seen[k]


def test_dicts_of_the_callers_and_of_modules_keep_their_keys() -> None:
    check(given, *[(X, {0: 1, 3: 2}, k) for k in (3, 0, 1, -1)])
    check(Counts(), *[(X, k) for k in (1, 1, 2, 0, 7)])


def adds_a_key(x: Tensor, d: dict[int, int], k: int) -> Tensor:
    d[k] = 1
    return x * len(d)


def test_a_new_key_of_a_dict_of_the_callers_is_rejected() -> None:
    compiled = ssa_compiler.compile(adds_a_key, (X, {4: 2}, 4), cache=False)
    d = {4: 2}
    assert torch.equal(compiled(X, d, 4), X)
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="a new key, which is dynamic"):
        compiled(X, d, 5)
    assert d == {4: 1}


def has_floats(x: Tensor) -> dict[float, int]:
    d = {0.5: 1}
    d[float(x[0])] = 2
    return d


def test_floats_are_no_dynamic_keys() -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="with a dynamic index or key"):
        import_program(has_floats, (X,))


def pops(x: Tensor, k: int) -> tuple[int, int, list[int], list[int]]:
    d = {int(v) % 4: int(v) for v in x}
    a = d.pop(k, -1)
    b = d.pop(1)
    d[1] = 9
    return a, b, list(d.keys()), list(d.values())


def deletes(x: Tensor, k: int) -> tuple[list[tuple[int, int]], int]:
    """The oldest of more than two keys goes."""
    d = {}
    for v in x:
        d[int(v) + k] = int(v) * 2
        if len(d) > 2:
            del d[next(iter(d))]
    return list(d.items()), len(d)


def takes_the_last(x: Tensor, k: int) -> tuple[list[int], int, int]:
    d = {int(v): i for i, v in enumerate(x) if int(v) > k}
    key, place = d.popitem()
    return list(d), key, place


def tensors_by_key(x: Tensor, k: int) -> list[Tensor]:
    d = {}
    for i in range(x.shape[0]):
        d[int(x[i])] = x[i] * 2
        if len(d) > k:
            d.pop(min(d))
    return [d[key] for key in sorted(d)]


def pairs_of_ints(x: Tensor, k: int) -> tuple[int, int, bool]:
    d = {(int(v), int(v) % 2): i for i, v in enumerate(x)}
    if (k, k % 2) in d:
        d.pop((k, k % 2))
    total = 0
    for count in d.values():
        total = total * 10 + count
    return total, len(d), (1, 1) in d


def of_keys(x: Tensor, k: int) -> tuple[list[int], list[int], int, int, int, bool, bool]:
    d = {int(v) % 4: int(v) for v in x}
    d[k] = k
    return sorted(d), sorted(d.values(), reverse=True), max(d), min(d.values()), sum(d), any(d), all(d.keys())


def free_places(x: Tensor, k: int) -> tuple[list[int], int]:
    """Sets are such dicts."""
    free = set(range(k))
    out = []
    for v in x:
        if int(v) in free:
            free.discard(int(v))
        else:
            free.add(int(v) + 1)
    for place in sorted(free):
        out.append(place)
    return out, len(free)


@pytest.mark.parametrize(
    "program", [pops, deletes, takes_the_last, tensors_by_key, pairs_of_ints, of_keys, free_places]
)
def test_keys_that_go(program: Any) -> None:
    check(program, *[(x, k) for k in (2, 0, 1, 5, -3) for x in (X, X.flip(0), X * 0)])


def keys_of_caller(x: Tensor, d: dict[int, int], k: int) -> Tensor:
    d.pop(k)
    return x * len(d)


def test_a_key_that_goes_from_a_dict_of_the_caller() -> None:
    compiled = ssa_compiler.compile(keys_of_caller, (X, {4: 2, 5: 3, 6: 1}, 5), cache=False)
    d = {4: 2, 5: 3, 6: 1}
    assert torch.equal(compiled(X, d, 5), X * 2)
    assert d == {4: 2, 6: 1}
    with pytest.raises(KeyError):
        compiled(X, {4: 2, 5: 3, 6: 1}, 7)


def called(x: Tensor, k: int) -> tuple[list[int], list[int], int]:
    """`dict()` and `OrderedDict()` make dicts, too."""
    counts, ordered = dict(), OrderedDict()  # noqa: C408
    for v in x:
        counts[int(v)] = counts.get(int(v), 0) + k
    for i in range(3):
        ordered[i] = i
    if k in ordered:
        ordered[k] += 10
    return sorted(counts), list(ordered.values()), dict(counts)[int(x[0])]


def test_dicts_that_calls_make() -> None:
    check(called, *[(x, k) for k in (2, 0, 1, 5, -3) for x in (X, X.flip(0), X * 0)], compiled=False)
