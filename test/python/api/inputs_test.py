"""Arguments of every kind that PyTorch allows, each against eager: results, what was written, errors.

Each program runs on all inputs in two orders, so that a specialisation made for one layout is offered to the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler import ArgumentValueError
from ssa_compiler.testing import compare_values

INPUTS: dict[str, Callable[[], Tensor]] = {
    "scalar": lambda: torch.tensor(3.0),
    "empty": lambda: torch.zeros(0),
    "vector": lambda: torch.arange(6.0),
    "matrix": lambda: torch.arange(6.0).view(2, 3),
    "transposed": lambda: torch.arange(6.0).view(3, 2).t(),
    "apart": lambda: torch.arange(24.0).view(4, 6)[::2, 1::2],
    "offset": lambda: torch.arange(20.0)[3:9],
    "expanded": lambda: torch.arange(3.0).expand(2, 3),
    "channels_last": lambda: torch.arange(24.0).view(1, 2, 3, 4).to(memory_format=torch.channels_last),
    "windows": lambda: torch.arange(4.0).unfold(0, 3, 1),
    "conjugate": lambda: torch.randn(3, dtype=torch.complex64).conj(),
    "negative": lambda: torch.randn(3, dtype=torch.complex64).conj().imag,
}


def scaled(x: Tensor) -> Tensor:
    return x * 2 + 1


def read(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Read in several ways; all rows of an expanded tensor are one."""
    last = x[-1] * 2 if x.dim() > 0 and x.size(0) > 0 else x
    return x * 2 + 1, x.sum(-1), x.flatten(), x.contiguous(), last


def itself(x: Tensor) -> Tensor:
    return x


def add_one(x: Tensor) -> Tensor:
    x.add_(1)
    return x.sum()


def fill(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Write through a reshape of the argument, and of what has its strides."""
    made = torch.zeros_like(x * 2)
    y, z = x.reshape(-1), made.reshape(-1)
    y[:1] = 5.0
    z[:1] = 7.0
    return x + 0, y + 0, made


def layout(x: Tensor) -> tuple[list[int], bool, int, Tensor]:
    return list(x.stride()), x.is_contiguous(), x.storage_offset(), torch.rand_like(x.abs())


PROGRAMS = [read, itself, add_one, fill, layout]


def _run(function: Any, make: Callable[[], Tensor]) -> tuple[Any, Tensor, Exception | None]:
    torch.manual_seed(0)
    x = make()
    try:
        with torch.no_grad():
            return function(x), x, None
    except (RuntimeError, ValueError, IndexError) as error:
        return None, x, error


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_kind_of_input(program: Any) -> None:
    compiled = ssa_compiler.script(program, max_specialisations=99)
    for name in (*INPUTS, *reversed(INPUTS)):
        expected, eager_x, error = _run(program, INPUTS[name])
        actual, x, raised = _run(compiled, INPUTS[name])
        if isinstance(raised, ArgumentValueError):
            assert "several of its elements share one memory location" in str(raised), name
            assert name in ("expanded", "windows"), name
            continue
        assert (raised is None) == (error is None), (name, error, raised)
        if error is None:
            compare_values(expected, actual)
            compare_values(eager_x, x)


def features(x: Tensor) -> Tensor:
    return (x.reshape(x.size(0), -1).contiguous() * 2).sum(1)


def test_layouts_do_not_multiply_specialisations() -> None:
    """Where nobody can tell a copy from an alias, strides do not matter."""

    compiled = ssa_compiler.script(features)
    for x in (INPUTS["matrix"](), INPUTS["transposed"](), INPUTS["apart"](), INPUTS["expanded"]()):
        torch.testing.assert_close(compiled(x), features(x))
    assert len(compiled.specialisations) == 1


def asks(x: Tensor) -> tuple[bool, Tensor]:
    return x.is_conj(), x + 1


def resolves(x: Tensor) -> Tensor:
    y = x.resolve_neg()
    y.add_(1)
    return y


def needs_grad(x: Tensor) -> tuple[bool, Tensor]:
    return x.requires_grad, x + 1


def test_flags_that_the_program_asks_for_are_checked() -> None:
    x = torch.randn(3, dtype=torch.complex64)
    compiled = ssa_compiler.script(asks)
    assert compiled(x)[0] is False
    with pytest.raises(
        ArgumentValueError, match=r"'x': is_conj is true.*aten::is_conj at .*pass its .resolve_conj\(\)"
    ):
        compiled(x.conj())
    compiled = ssa_compiler.script(resolves)
    x = torch.zeros(3)
    assert compiled(x) is x
    with pytest.raises(ArgumentValueError, match="is_neg is true"):
        compiled(torch._neg_view(x))
    compiled = ssa_compiler.script(needs_grad)
    with torch.no_grad():
        assert compiled(torch.ones(3, requires_grad=True))[0] is True
    assert compiled(torch.ones(3))[0] is False
    compiled = ssa_compiler.compile(needs_grad, (torch.ones(3),), max_specialisations=1)
    with torch.no_grad(), pytest.raises(ArgumentValueError, match="'x': expected requires_grad False, got True: "):
        compiled(torch.ones(3, requires_grad=True))


def halve(x: Tensor) -> Tensor:
    x /= 2
    return x * 1


def test_gradients() -> None:
    x = torch.ones(3, requires_grad=True)
    for program in (scaled, halve):
        compiled = ssa_compiler.compile(program, (torch.ones(3),))
        with pytest.raises(ArgumentValueError, match=r"'x'.* requires grad.*torch\.no_grad"):
            compiled(x)
        with torch.no_grad():
            result = compiled(x)
        assert not result.requires_grad
    torch.testing.assert_close(x.detach(), torch.full((3,), 0.5))
    with torch.inference_mode():
        assert torch.equal(ssa_compiler.compile(scaled, (x,))(torch.ones(3)), torch.full((3,), 3.0))


def two(x: Tensor, y: Tensor) -> Tensor:
    x += y
    return x * 1


def test_written_arguments_that_share_memory_are_rejected() -> None:
    compiled = ssa_compiler.compile(two, (torch.ones(3), torch.ones(3)))
    whole = torch.arange(8.0)
    for x, y in ((whole[:3], whole[2:5]), (whole[:3], whole[:3])):
        with pytest.raises(ArgumentValueError, match="shares memory with argument 'y'"):
            compiled(x, y)
    assert torch.equal(compiled(whole[:3], whole[3:6]), torch.tensor([3.0, 5.0, 7.0]))
    assert torch.equal(whole[:6], torch.tensor([3.0, 5.0, 7.0, 3.0, 4.0, 5.0]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.uint8])
def test_dtypes_and_promotion(dtype: torch.dtype) -> None:
    compiled = ssa_compiler.script(scaled)
    for x in (torch.arange(6).to(dtype), torch.tensor(3).to(dtype)):
        compare_values(scaled(x), compiled(x))
