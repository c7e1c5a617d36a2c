"""Python's functions of tensors, which go through the rows: `sum(x)`, `any(x)`."""

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
