"""Python's functions of tensors: those that go through the rows, as `sum(x)` and `any(x)`, and `min(x, y)`."""

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check

X = torch.arange(6.0) - 2
ROWS = [X, X > 0, torch.tensor([100, 100], dtype=torch.int8), torch.tensor([float("nan")]), X.reshape(6, 1), X[:0]]


def reduced(x: Tensor):
    return sum(x), any(x), all(x)


def decided(x: Tensor):
    a = 1 if any(x > 1) and not all(x > 1) else 2
    while any(x > a):
        a += 1
    return x * a, bool(any(x)), x.any(), torch.sum(x), len(x), abs(x), list(x)


def rows(x: Tensor):
    return sum(x)


def truth(x: Tensor):
    return any(x)


@pytest.mark.parametrize("x", ROWS, ids=lambda x: f"{x.dtype}-{tuple(x.shape)}")
def test_reductions(x: Tensor) -> None:
    check(reduced, (x,), compiled=False, exact=True)


def test_conditions() -> None:
    check(decided, (X,), (X - 9,), (X + 9,), compiled=False)


def test_rows_that_are_no_numbers() -> None:
    check(rows, (X.reshape(2, 3),), compiled=False)
    check(rows, (X[:0].reshape(0, 2),), compiled=False)
    for program, x in ((rows, X[0]), (truth, X[0])):
        with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
            check(program, (x,), compiled=False)
    for x, found in ((X.reshape(2, 3), "more than one value"), (X[:0].reshape(2, 0), "no values")):
        with pytest.raises(RuntimeError, match=f"Boolean value of Tensor with {found} is ambiguous"):
            check(truth, (x,), compiled=False)


def extremes(x: Tensor, y: Tensor):
    return min(x, y), max(x, y), min(x, y, x + 1), max([y, x, y - 1])


def test_the_first_tensor_that_none_is_preferred_to() -> None:
    nan, one, zero = (torch.tensor(value) for value in (float("nan"), 1.0, 0.0))
    pairs = [(one, zero), (zero, one), (nan, one), (one, nan), (zero, -zero), (-zero, zero)]
    check(extremes, *pairs, compiled=False, exact=True)
    check(extremes, (torch.tensor([1]), torch.tensor([3])), compiled=False)
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with"):
        check(extremes, (X, X), compiled=False)


def edit_distance(a: Tensor, b: Tensor):
    d = torch.zeros(len(a) + 1, len(b) + 1)
    d[:, 0], d[0, :] = torch.arange(len(a) + 1), torch.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


def test_a_table_of_least_costs() -> None:
    words = [torch.tensor(list(map(ord, word))) for word in ("kitten", "mitten", "sitter")]
    check(edit_distance, (words[0], words[1]), (words[0], words[2]), (words[1], words[1]))


def raised(x: Tensor, n: int):
    least = min(x[0], x[1])
    least += 1
    parts = []
    for i in range(n):
        parts.append(x[i] * 2)
    return x, max(parts) * 1


def test_an_update_is_of_the_tensor_that_was_chosen() -> None:
    checked = check(raised, *((X.clone(), n) for n in (2, 3, 6, 1, 0)), compiled=False)
    assert [type(error) for error in checked.errors] == [type(None)] * 4 + [ValueError]
