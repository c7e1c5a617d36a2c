"""Dimension numbers out of range raise IndexError when the program is imported, whichever op gets them."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

from ssa_compiler import ProgramError
from ssa_compiler.importer import import_program


def softmax(x: Tensor, dim: int) -> Tensor:
    return torch.softmax(x, dim)  # FakeTensors take any dimension here


def trapezoid(x: Tensor, dim: int) -> Tensor:
    return torch.trapz(x, dim=dim)


def total(x: Tensor, dim: int) -> Tensor:
    return x.sum([0, dim])


def unsqueezed(x: Tensor, dim: int) -> Tensor:
    return x.unsqueeze(dim)  # has one dimension more


def stacked(x: Tensor, dim: int) -> Tensor:
    return torch.stack([x, x], dim)


@pytest.mark.parametrize("function", [softmax, trapezoid, total, unsqueezed, stacked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dim", [1, 2, 3, -1, -3, -4])
def test_out_of_range(function, dim: int) -> None:  # type: ignore[no-untyped-def]
    x, message = torch.ones(2, 3), ""
    try:
        function(x, dim)
    except IndexError as eager:
        message = str(eager)
    if not message:
        import_program(function, (x, dim))
        return
    with pytest.raises(IndexError, match=re.escape(message)) as ours:
        import_program(function, (x, dim))
    assert isinstance(ours.value, ProgramError)
