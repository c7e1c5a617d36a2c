"""Sizes known only at run time that meet other ones: a size of 1, which eager broadcasts, is refused as such."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ssa_compiler import UnsupportedOpError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import Call, run_stages

X = torch.arange(3.0)


def added(x: Tensor, k: int, n: int) -> Tensor:
    return x[k:n] + x


def added_in_place(x: Tensor, k: int, n: int) -> Tensor:
    y = x.clone()
    y += x[k:n]
    return y


def stored(x: Tensor, k: int, n: int) -> Tensor:
    y = x.clone()
    y[:] = x[k:n]
    return y


def both(x: Tensor, k: int, n: int) -> Tensor:
    return x[k:n] * x[n:]


def broadcast(x: Tensor, k: int, n: int) -> list[Tensor]:
    return torch.broadcast_tensors(x[k:n], x)


def summed_by_name(x: Tensor, k: int, n: int) -> Tensor:
    return torch.einsum("i,i->i", x[k:n], x)


def completed(x: Tensor, k: int, n: int) -> Tensor:
    return torch.complex(x[k:n], x)


def indexed(x: Tensor, k: int, n: int) -> Tensor:
    return torch.outer(x, x)[torch.arange(k, n), torch.tensor([0, 1, 2])]


def stored_at(x: Tensor, k: int, n: int) -> Tensor:
    y = x.clone()
    y[torch.tensor([0, 1, 2])] = x[k:n]
    return y


def expanded(x: Tensor, k: int, n: int) -> Tensor:
    return x[k:n].expand(2, 3) + x[k:n].expand_as(x)


@pytest.mark.parametrize(
    "program", [added, added_in_place, stored, broadcast, summed_by_name, completed, indexed, stored_at, expanded]
)
def test_a_size_of_one_is_refused(program: object) -> None:
    check(program, (X, 0, 3), (X, 0, 2), (X, 1, 1), compiled=False)  # type: ignore[arg-type]
    for _, _, outcome in run_stages(program, [Call(X, 0, 1)]):  # type: ignore[arg-type]
        assert isinstance(outcome.error, UnsupportedOpError)
        assert "broadcasts a size of 1 that is known only at run time" in str(outcome.error)


def test_two_such_sizes() -> None:
    x = torch.arange(4.0)
    check(both, (x, 0, 2), (x, 0, 4), compiled=False)
    for _, _, outcome in run_stages(both, [Call(x, 0, 1), Call(x, 0, 3)]):
        assert isinstance(outcome.error, UnsupportedOpError)


def viewed(x: Tensor, n: int) -> Tensor:
    return x[:n].view(3)


def test_other_ops_raise() -> None:
    assert "the sizes do not fit" in str(import_program(viewed, (X, 3)).module)
    check(viewed, (X, 3), (X, 1), compiled=False)
