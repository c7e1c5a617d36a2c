# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""In what order, and how often, partial evaluation lets the parts of a statement be computed: as Python does.

Each program has a lambda or the like, which TorchScript rejects.
"""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 2.0, 3.0])


class Counter(nn.Module):
    """Counts in methods that are called as operators are, which have no effects."""

    def __init__(self):
        super().__init__()
        self.n = 0
        self.norm = nn.BatchNorm1d(3)

    def add(self, x):
        self.n += 1

    def log(self):
        self.n = self.n * 3 + 1
        return self.n

    def sub(self, v: int):
        self.n += 1
        return v


class NamedLikeOperators(Counter):
    def forward(self, x, xs: list[int]):
        same = lambda t: t  # noqa: E731
        y = same(x) if self.add(x) is None else x * 2
        if self.norm(x[None].repeat(2, 1)).dim() == 2:
            y = y + 1
        parts = [self.log(), self.n + min(xs, key=lambda v: -v * self.log())]
        return y, parts, self.norm.num_batches_tracked + 0


class StopsEarly(Counter):
    def forward(self, x, xs: list[int]):
        same = lambda t: t  # noqa: E731
        any_ = any(map(self.sub, xs))
        all_ = all(self.sub(v) > 1 for v in xs)
        seen = [0]
        for v in map(self.sub, xs):
            if v > 2:
                break
            seen.append(v * self.n)
        return same(x), any_, all_, seen, all(7 // v > 0 for v in [8, *xs])


@pytest.mark.parametrize("kind", [NamedLikeOperators, StopsEarly])
def test_methods_are_called_as_often_as_in_eager(kind) -> None:
    check(kind(), (X, [1, 2, 3]), (X, [0, 2, 2]), (X, [2, 0, 9]), compiled=False)


def assigned_on_the_way(x, n: int, xs: list[int]):
    same = lambda t: t  # noqa: E731
    k = n
    k += (k := 5)
    xs[(i := k - 4 - n)] += 5
    total = n * 1000 + [(n := n + v) for v in xs if v > 0][-1]
    kept = 0
    while (kept := kept + n) < 9 and kept > -1:
        total += kept
    return same(x) * k, i, total, n, kept, xs


def chained(x, xs: list[int]):
    return x + 1 if 0 < len(xs) < min(xs, key=lambda v: -v) else x


def counted_down(x, n: int):
    same = lambda t: t  # noqa: E731
    if x.sum() > 3 > (n := n - 1):
        x = x * 2
    return same(x) * n


def test_assignment_expressions_are_evaluated_in_their_order() -> None:
    check(assigned_on_the_way, (X, 1, [1, 2, 3]), (X, 1, [4, 4, 0]), compiled=False)
    check(chained, (X, [1, 5]), (X, [1, 1]), compiled=False)
    check(chained, (X, []), compiled=False)
    check(counted_down, (X, 3), (-X, 3), (X, 9), compiled=False)


def retyped(x, n: int):
    same = lambda t: t  # noqa: E731
    best, mode = 0, "a"
    for i in range(n):
        if x[i] > best:
            best, mode = float(x[i]), 1
    return same(x) * best, mode


def made_a_module(x, n: int):
    act = 1
    act = nn.functional.relu
    for _ in range(n):
        act = 2
    return x * act


def test_a_variable_of_two_types_is_that_of_its_path() -> None:
    for n in (3, 0, 1):
        check(retyped, (X, n), compiled=False)


def test_a_variable_that_is_a_function_elsewhere_is_not_read() -> None:
    with pytest.raises(errors.ScriptError):
        ssa_compiler.compile(made_a_module, (X, 3))


def of_one_type(x, n: int):
    same = lambda t: t  # noqa: E731
    best, mode = 0.0, 0
    for i in range(n):
        if x[i] > best:
            best, mode = float(x[i]), 1
    return same(x) * best, mode


def test_a_variable_of_one_type_is_read() -> None:
    check(of_one_type, (X, 3), (X, 0), (-X, 2), (X, 1), compiled=False)


def errors_kept(x, xs: list[int], d: dict[str, torch.Tensor], n: int, m: int):
    same = lambda t: t  # noqa: E731
    count = len((xs[n], 1))
    if isinstance(d["q"], torch.Tensor) and x.view(m, -1).dim() == 2:
        count += 1
    return same(x) * count if x[n] is not None else x


def test_errors_of_what_is_known_are_raised() -> None:
    held = {"q": X}
    check(errors_kept, (X, [1, 2], held, 1, 3), (X, [1, 2], held, 5, 3), (X, [1, 2], held, 1, 2), compiled=False)
    check(errors_kept, (X, [1] * 6, held, 1, 1), (X, [1] * 6, held, 5, 1), compiled=False)
    with pytest.raises(errors.ProgramKeyError):
        ssa_compiler.compile(errors_kept, (X, [1, 2], {"a": X}, 1, 3))(X, [1, 2], {"a": X}, 1, 3)
