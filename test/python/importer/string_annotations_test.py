# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""A file whose annotations are not evaluated, with functions that stay Python."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])


@torch.jit.ignore
def scaled(x: Tensor, factor: float) -> Tensor:
    return x * factor


@torch.jit.ignore
def counted(x: Tensor, above: int | None) -> tuple[int, str]:
    return int((x > (above or 0)).sum()), "counted"


def program(x: Tensor, n: int):
    count, name = counted(x, n)
    return scaled(x, 0.5) + count, name


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = 2.0

    @torch.jit.ignore
    def shifted(self, x: Tensor, by: list[float]) -> Tensor:
        return x + self.shift + sum(by)

    def forward(self, x: Tensor, n: int):
        return self.shifted(x, [1.0, 0.5]) * counted(x, None)[0]


@pytest.mark.parametrize("model", [program, Calls()])
def test_ignored_functions(model):
    check(model, (X, 1), (-X, 0), (X, 2), compiled=False)


@torch.jit.ignore
def unknown(x: Missing) -> Tensor:  # type: ignore[name-defined]  # noqa: F821
    return x


def calls_it(x: Tensor):
    return unknown(x) + 1


def test_what_python_does_not_evaluate():
    with pytest.raises(errors.ScriptError, match="Unknown type annotation"):
        ssa_compiler.compile(calls_it, (X,))
