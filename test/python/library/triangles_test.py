"""`triu_indices` and `tril_indices` of matrices whose sizes are dynamic."""

import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def triangles(x: Tensor, n: int, m: int, k: int) -> tuple[Tensor, Tensor, Tensor, int]:
    upper = torch.triu_indices(n, m, offset=k)
    lower = torch.tril_indices(n, m, k, dtype=torch.int32)
    return upper, lower, x[upper[0], upper[1]].sum(), upper.shape[1]


def test_triangles_are_those_of_eager() -> None:
    sizes = [(3, 3, 1), (5, 6, 0), (0, 3, 0), (3, 0, 1), (1, 1, 0), (4, 2, -2), (2, 5, 7), (5, 5, -9)]
    check(triangles, *[(torch.arange(30.0).reshape(5, 6), *each) for each in sizes])


def test_nothing_of_it_runs_in_pytorch() -> None:
    compiled = ssa_compiler.compile(triangles, (torch.rand(5, 6), 3, 3, 1), fullgraph=True)
    assert not compiled.explain().callbacks
