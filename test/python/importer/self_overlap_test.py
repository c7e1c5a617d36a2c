"""Writes through views that show an element of their base several times: expanded tensors, windows that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler import UnsupportedOpError
from ssa_compiler.testing import check


def _x() -> Tensor:
    return torch.arange(5.0)


def _one_number(x: Tensor, n: int):
    e = x.expand(2, 5)
    if n > 0:
        e.fill_(1.0)
    else:
        e.zero_()
    x += 1
    i = x.long()
    i.expand(2, 5).fill_(n)
    i[0].expand(4).fill_(n + 1)
    return x, e + 0, i


def _parts(x: Tensor, n: int):
    e = x.expand(3, 5)
    e[1].add_(1)
    e[n].mul_(2)
    e[1:, 2].fill_(4)
    e[-1][3:] += 1
    e.t()[1].zero_()
    e.unsqueeze(1)[:, :, 0].fill_(9.0)
    e.transpose(0, 1)[2:].permute(1, 0)[2].neg_()
    for row in e.unbind(0):
        row.add_(1)
    e.split(1)[2].mul_(2)
    return x, e + 0


def _mask(x: Tensor, m: Tensor, n: int):
    e = x.view(1, 5).expand(2, 5)
    e.masked_fill_(m, 3.0)
    if n > 0:
        e.masked_fill_(e > 1, torch.tensor(2.0))
    return x


def _different_numbers(x: Tensor, n: int):
    e = x.expand(2, 5)
    if n > 0:
        e.add_(1)
    return x


def _diagonal(x: Tensor, n: int):
    e = x.expand(5, 5)
    if n > 0:
        e.diagonal().add_(1)
    return x, e + 0


def _windows(x: Tensor, n: int):
    w = x.unfold(0, 3, 1)
    w[:, -1] += 10
    w[n].mul_(2)
    w[1:3, 0] = 5
    w.diagonal()[0] = 7
    x.unfold(0, 4, 3)[0] = -1.0  # a single window
    return x, w + 0


def _bools(x: Tensor):
    b = x > 0
    b.expand(2, 5).fill_(True)
    return b


def _columns(x: Tensor):
    x.expand(2, 5).tril_()
    return x


def test_one_number_for_all_repetitions() -> None:
    check(_one_number, (_x(), 1), (_x(), 0), compiled=True)


def test_views_of_repetitions_are_writable_where_eager_writes_them() -> None:
    check(_parts, (_x(), 1), (_x(), -3), (_x(), 3))  # the last raises


def test_masks_of_repetitions_are_united() -> None:
    mask = torch.tensor([[1, 0, 0, 1, 0], [0, 0, 1, 1, 0]]).bool()
    check(_mask, (_x(), mask, 1), (_x(), mask, 0))


def test_different_numbers_raise_where_they_are_reached() -> None:
    check(_different_numbers, (_x(), 0), (_x(), 1))


def test_a_view_that_shows_each_element_once_is_one_of_the_storage() -> None:
    check(_diagonal, (_x(), 0), (_x(), 1))
    check(_windows, (torch.arange(6.0), 0), (torch.arange(6.0), -2), (torch.arange(6.0), 4))  # the last raises


@pytest.mark.parametrize("program", [_bools, _columns])
def test_what_depends_on_the_order_or_the_overload_is_rejected(program: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedOpError, match="expand"):
        check(program, (_x(),))
