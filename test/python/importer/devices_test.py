"""Devices that a program names: it raises what eager raises for one that is not there, and never uses another
silently.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.arange(3.0)
NO_GPU = pytest.mark.skipif(torch.accelerator.is_available(), reason="it asks what eager raises without a GPU")


def zeros(x: Tensor) -> Tensor:
    return torch.zeros(3, device="cuda") + 1


def arange(x: Tensor) -> Tensor:
    return torch.arange(3, device=torch.device("cuda:0"))


def literal(x: Tensor) -> Tensor:
    return torch.tensor([1.0, 2.0], device="cuda")


def number(x: Tensor) -> Tensor:
    return torch.tensor(5, device="cuda")


def drawn(x: Tensor) -> Tensor:
    return torch.rand_like(x, device="cuda")


def moved(x: Tensor) -> Tensor:
    return x.to("cuda")


def moved_with_dtype(x: Tensor) -> Tensor:
    return x.to(torch.device("cuda"), torch.float64)


def method(x: Tensor) -> Tensor:
    return x.cuda()


def other_kind(x: Tensor) -> Tensor:
    return torch.empty(3, device="xpu:1").fill_(1)


def pinned(x: Tensor) -> Tensor:
    return torch.zeros(3, pin_memory=True) + x


def pinned_method(x: Tensor) -> Tensor:
    return x.pin_memory()


@NO_GPU
@pytest.mark.parametrize(
    "program",
    [zeros, arange, literal, number, drawn, moved, moved_with_dtype, method, other_kind, pinned, pinned_method],
)
def test_devices_that_are_not_there_raise_as_in_eager(program: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever eager raises
        program(X)
    with pytest.raises(expected.type, match=r"devices_test\.py:\d+"):
        import_program(program, (X,))


def in_a_branch(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        if i == 2:
            x = x.cuda()
        x = x + 1
    return x


@NO_GPU
def test_branches_raise_where_they_are_taken() -> None:
    checked = check(in_a_branch, (X, 1), (X, 0), (X, 3), (X, 2))
    with pytest.raises((AssertionError, RuntimeError)) as eager:  # builds with and without CUDA say different things
        in_a_branch(X, 3)
    assert [type(error) for error in checked.errors] == [type(None), type(None), eager.type, type(None)]


def on_meta(x: Tensor) -> Tensor:
    return torch.zeros(3, device="meta")


def to_meta(x: Tensor) -> Tensor:
    return x.to("meta")


def like_on_meta(x: Tensor) -> Tensor:
    return x.new_ones([3], device=torch.device("meta"))


class Where(nn.Module):
    """Names a device by an attribute."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = torch.device(device)
        self.scale = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.ones(3, device=self.device) * self.scale.to(x.device) + x.to(self.device)


@pytest.mark.parametrize("program", [on_meta, to_meta, like_on_meta, Where("meta")])
def test_other_devices_are_rejected(program: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(
        UnsupportedOpError, match=r"aten::\w+ on meta; the arguments of the program are on cpu"
    ) as rejected:
        import_program(program, (X,))
    assert rejected.value.location is not None
    assert rejected.value.location.file == __file__


def of_arguments(x: Tensor, y: Tensor) -> tuple[Tensor, int, bool, str]:
    one = torch.zeros(3, device=x.device) + torch.ones(3, device="cpu") + torch.zeros(3, device=torch.device("cpu", 0))
    two = x.to(y.device).cpu() + torch.tensor([1.0, 2.0, 3.0], device=x.device) + x.to(y)
    same = x.device == torch.device("cuda") or y.device.type == "meta"
    return one + two, x.get_device(), same, x.device.type


def test_devices_of_the_arguments_are_used() -> None:
    check(of_arguments, (X, X + 1))
    check(Where("cpu"), (X,), compiled=False)


def made(x: Tensor) -> Tensor:
    return torch.zeros(3)


def test_a_default_device_is_not_overlooked() -> None:
    compiled = ssa_compiler.compile(made, (X,), max_specialisations=1)
    with torch.device("meta"):
        with pytest.raises(UnsupportedProgramError, match="the default device meta; make it cpu"):
            import_program(made, (X,))
        with pytest.raises(ssa_compiler.ArgumentValueError, match="default device: expected cpu, got meta"):
            compiled(X)
    with torch.device("cpu"):
        assert torch.equal(compiled(X), made(X))
