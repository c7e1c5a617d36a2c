"""Indices of which it is dynamic how many there are: compiled, and right where there are none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor

from _nightly import NIGHTLY, with_nightly
from ssa_compiler.backend.driver import module_at_work
from ssa_compiler.testing import check


def pairs(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    i, j = torch.where(m)
    return x[i, j], x[:, j], x[i, -1 - j]


def number_at_pairs(x: Tensor, m: Tensor) -> Tensor:
    i, j = torch.where(m)
    y = x.clone()
    y[i, j] = 5.0
    y[i, j] += 1
    return y


def rows_and_columns(x: Tensor, m: Tensor) -> Tensor:
    i = m[:, 0].nonzero().squeeze(1)
    y = x.clone()
    y[i] = torch.arange(4.0)
    y[:, i[:1]] = y[:, i[:1]] * 2
    return y


def number_added(x: Tensor, m: Tensor) -> Tensor:
    return torch.index_put(x, [m], torch.tensor(1.0), True)


def masks_of_unknown_size(x: Tensor, m: Tensor) -> Tensor:
    y = x[m[:, 0]]
    y[y > 0] = 1.0
    y[y[:, 0] < 0] = torch.arange(4.0)
    return y


def column_of_found(x: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    found = m.nonzero()
    rows, labels = found[:, 0], found[:, 1]
    best = x[rows, labels].argsort(stable=True)
    return labels[best], rows[best] * 2


X = torch.arange(24.0).reshape(6, 4) - 10


@pytest.mark.parametrize(
    "program", [pairs, number_at_pairs, rows_and_columns, number_added, masks_of_unknown_size, column_of_found]
)
def test_indices_of_unknown_size(program: Callable[..., Any]) -> None:
    checked = check(program, (X, X > 0), (X, X > 100), (X, X > -100), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def rows_and_computed_columns(x: Tensor, index: Tensor, n: int) -> Tensor:
    out = torch.zeros_like(x)
    for i in range(n):
        out[index[i]] += x[i]
        out[:, int(index[i]) % 3] = float(i)
    return out


def test_ops_that_run_before_their_check_stay_inside() -> None:
    """IREE runs the kernels behind a check before the host has read what it found."""
    checked = check(rows_and_computed_columns, (X, torch.tensor([0, 3, 1, 5]), 4), compiled=True)
    for wrong in ([-7, -6, 1, 1], [0, 6, 1, 1], [-(2**40), 0, 0, 0], [2**62, 0, 0, 0]):
        with pytest.raises(IndexError):
            checked.compiled(X, torch.tensor(wrong), 2)


def known_number_of_values(x: Tensor, m: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    y[m] = v
    return y


def test_known_number_of_values() -> None:
    checked = check(known_number_of_values, (X, X > 0, torch.arange(13.0)), compiled=True)
    assert checked.compiled.explain().callbacks == ()
    with pytest.raises(RuntimeError):
        checked.compiled(X, X > 1, torch.arange(13.0))


@pytest.mark.parametrize("program", [pairs, number_at_pairs])
def test_iree_rejects_several_of_them(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, IREE has learnt it."""
    monkeypatch.setattr(module_at_work, "rewrite_indices", lambda module: 0)
    assert check(program, (X, X > 0), compiled=True).compiled.explain().callbacks != ()


def stores_rows(x: Tensor, out: Tensor, n: int) -> int:
    for i in range(n):
        out[i] = x * 2
    return n


def stores_at(x: Tensor, out: Tensor, n: int) -> int:
    y = (x * 2).exp() + x.flip(0)
    for i in range(2):
        out[n] = y + i
    return n


def stores_slice(x: Tensor, out: Tensor, n: int) -> int:
    y = torch.stack([x.flip(0), (x * 2).exp()])
    out[n : n + 2] = y
    out[n::2] = y[0] + 1
    return n


@pytest.mark.parametrize("function", with_nightly([stores_at, stores_slice], [stores_rows]))
@pytest.mark.parametrize(
    "rows", with_nightly([torch.export.Dim("rows")], [None]), ids=["dynamic", "static"][: 1 + NIGHTLY]
)
def test_a_rejected_index_writes_nothing_outside(function: Callable[..., Any], rows: Any) -> None:
    """Behind the argument there is memory of others. What the argument itself holds after the error is not asked."""
    x = torch.ones(3)
    calls = [(x, torch.zeros(4, 3), n) for n in (2, 0, 5, -1)]
    options = {"dynamic_shapes": {"x": None, "out": {0: rows}, "n": None}} if rows is not None else {}
    compiled = check(function, *calls, options=options).compiled
    assert not compiled.explain().kernels
    for n in (5, 4, 7, -5, 2**62, -(2**62)):
        memory = torch.zeros(12, 3)
        raised = n > 4 or function is not stores_rows
        error = RuntimeError if function is stores_slice else IndexError
        with pytest.raises(error) if raised else nullcontext():
            compiled(x, memory[4:8], n)
        assert not memory[:4].any()
        assert not memory[8:].any()
