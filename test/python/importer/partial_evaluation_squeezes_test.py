# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""squeeze() of dimensions whose sizes are known when the program runs."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([0.5, -1.0, 2.0, -3.0])


def labelled(x, labels):
    out = torch.zeros_like(x)
    places = torch.nonzero(x > 0, as_tuple=False).squeeze()
    if places.numel() > 0:
        out[places] = labels[places] + 1
    return {"out": out, "dims": places.dim(), "n": places.numel()}


def by_function(x, n):
    rows = x[:n].new_tensor([1.0, 2.0]) * x[x > 0][:, None]
    kept = torch.squeeze(rows, dim=0)
    return {"sum": kept.sum(0).sum(), "dims": kept.dim(), "is": kept is rows}


def written(x, y):
    y = x[x > 0][None, :, None] + y.new_tensor(1.0)
    part = y.squeeze((0, -1))
    part *= 2
    part = y.squeeze(1)
    part += 1
    return {"y": y, "n": part.dim()}


def returned(x):
    return {"rows": torch.nonzero(x > 0).squeeze(), "n": 1}


@pytest.mark.slow
def test_a_size_decides_how_many_dimensions_there_are():
    check(labelled, (X, X + 1), (X.abs(), X), (-X.abs(), X), (torch.tensor([-1.0, -1, 3, -1]), X))
    check(by_function, (X, 2), (X.abs(), 2), (-X.abs(), 2), (torch.tensor([-1.0, -1, 3, -1]), 3))
    check(written, (X, X), (X.abs(), X), (-X.abs(), X), (torch.tensor([-1.0, -1, 3, -1]), X))


def test_a_result_has_one_number_of_dimensions():
    with pytest.raises(errors.UnsupportedProgramError, match="squeeze of a dimension whose size is dynamic"):
        ssa_compiler.compile(returned, (X,))
