"""Tensors made numbers: what has not one element raises as in eager, whether its size is known or not."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from ssa_compiler import ProgramError, ProgramValueError, UnsupportedOpError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def to_int(x: Tensor) -> int:
    return int(x[x > 0])


def to_float(x: Tensor) -> float:
    return float(x[x > 0])


def to_bool(x: Tensor) -> bool:
    return bool(x[x > 0])


def item(x: Tensor) -> float:
    return x[x > 0].item()


def deciding(x: Tensor) -> Tensor:
    return x + 1 if x[x > 0] else x


@pytest.mark.parametrize("program", [to_int, to_float, to_bool, item, deciding])
def test_sizes_known_at_run_time(program: object) -> None:
    calls = [(torch.tensor(x),) for x in ([1.0, -1.0], [1.0, 1.0], [-1.0, -1.0])]
    check(program, *calls, compiled=program is to_int)  # type: ignore[arg-type]


def known_int(x: Tensor) -> int:
    return int(x)


def known_item(x: Tensor) -> float:
    return x.item()


@pytest.mark.parametrize("count", [0, 2])
def test_known_sizes(count: int) -> None:
    with pytest.raises(ProgramValueError, match="only one element tensors can be converted"):
        import_program(known_int, (torch.ones(count),))
    with pytest.raises(ProgramError, match=f"a Tensor with {count} elements cannot be converted to Scalar"):
        import_program(known_item, (torch.ones(count),))


def root(x: Tensor):  # type: ignore[no-untyped-def]
    return math.sqrt(x.sum())


def root_of_transposed(x: Tensor):  # type: ignore[no-untyped-def]
    y = x.clone().t_()  # which partial evaluation does not take
    return math.sqrt(y.sum())


def scaled_by_root(x: Tensor) -> Tensor:
    return x / math.sqrt(x.sum())


def root_of_float(x: Tensor) -> float:
    return math.sqrt(float(x.sum()))


def test_math_of_tensors() -> None:
    """The result is a float in Python and a tensor to TorchScript, which other ops take alike."""
    with pytest.raises(UnsupportedOpError, match=r"math\.sqrt of a tensor, which is a number; write float\(x\)"):
        import_program(root_of_transposed, (torch.ones(3),))
    for program in (root, scaled_by_root, root_of_float):
        check(program, (torch.ones(3),), (torch.ones(3) / 3,), compiled=False)
