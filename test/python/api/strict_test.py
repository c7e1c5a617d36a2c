"""`strict=True`, and what `explain()` says of the part that is native."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.errors import UnsupportedOpError


def with_svd(x: Tensor) -> Tensor:
    y = x * 2 + 1
    return torch.linalg.svd(y)[0]


def with_noise(x: Tensor) -> Tensor:
    return x + torch.rand_like(x)


def doubled(x: Tensor) -> Tensor:
    return x * 2 + 1


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (with_svd, r"strict: 1 op would run in PyTorch.*\n.*strict_test\.py:15: aten::\w*svd\w*: torch-mlir"),
        (with_noise, r"strict: 1 op would run in PyTorch.*\n.*strict_test\.py:19: aten::rand_like: it draws from"),
    ],
)
def test_a_callback_is_an_error(program: object, message: str) -> None:
    with pytest.raises(UnsupportedOpError, match=message):
        ssa_compiler.compile(program, (torch.ones(2, 2),), strict=True)


def test_a_native_program_is_none() -> None:
    compiled = ssa_compiler.compile(doubled, (torch.ones(2, 2),), strict=True)
    assert torch.equal(compiled(torch.ones(2, 2)), torch.full((2, 2), 3.0))
    explained = compiled.explain()
    assert explained.native_share == 1
    assert explained.native_time == 1


def test_the_native_part_is_measured() -> None:
    compiled = ssa_compiler.compile(with_svd, (torch.ones(2, 2),))
    assert compiled.explain().native_time == 1
    compiled(torch.ones(2, 2))
    explained = compiled.explain()
    assert explained.native_ops == 2
    assert explained.native_share == pytest.approx(2 / 3)
    assert 0 < explained.native_time < 1
    assert "native: 2 of 3 ops" in str(explained)
