"""Tensors that the host waits for, and that branches and loops forward: IREE takes one for another without barriers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler import compile
from ssa_compiler.backend import stream_ir
from ssa_compiler.backend.legalize import await_barriers
from ssa_compiler.backend.verify import in_place
from ssa_compiler.testing import check


def view_of_a_choice(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    v1 = x[None] if n <= 2 else y[None]
    x.detach().copy_(torch.special.bessel_j0(x))  # runs in PyTorch
    v1.add_(torch.full([1, 3, 3], 1.5, dtype=torch.float32)).mul_(0.5)
    v1.narrow(2, k % 2, 2).add_(3.5).mul_(0.5)
    return v1, y


def callback_before_a_branch(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    z = x * 2.0
    rows = z[y[:, 0] > 0.0].sum()
    if n > 2:
        z = z + rows
    w = z * 3.0
    for _ in range(k):
        w = w + z
    return w, rows


def swapped_in_whiles(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    i = 0
    while i < n:
        i += 1
        t = torch.clamp(x, -4.0, 4.5)
        j = 0
        while j < k:
            j += 1
            x, t = t, x
            t.div_(2.0)
    return x, y


def replaced_and_updated(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor]:
    """The branch that goes on reuses both tensors; `y` is the caller's."""
    x = x.clone()
    z = y
    i = 0
    while True:
        if i >= n:
            break
        i += 1
        z = z * x
        x[1:] *= -0.5
    y.copy_(z)
    return (y,)


CALLS = [(torch.randn(3, 3), torch.randn(3, 3), n, k) for n, k in ((2, 1), (0, 0), (1, -3), (5, 4), (3, 2))]


@pytest.mark.parametrize(
    "program", [view_of_a_choice, callback_before_a_branch, swapped_in_whiles, replaced_and_updated]
)
@pytest.mark.slow
def test_compiled_equals_eager(program: Callable[..., tuple[Tensor, ...]]) -> None:
    check(program, *CALLS, compiled=True)


@pytest.mark.slow
@pytest.mark.parametrize("program", [swapped_in_whiles, replaced_and_updated])
def test_iree_does_not_wait_for_arguments_of_loops(
    program: Callable[..., tuple[Tensor, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the barriers it removes kernels that were in the program that was checked; the check says so."""

    def removed() -> int:
        artifact = compile(program, CALLS[0]).artifact
        checked = artifact.stream.count('"stream.async.dispatch"')
        return checked - stream_ir(artifact.module, artifact.target).count("stream.cmd.dispatch ")

    def attempts() -> int:
        return compile(program, CALLS[0]).artifact.attempts

    assert attempts() == 1
    assert removed() == 0
    monkeypatch.setattr(await_barriers, "_is_hidden", lambda argument: False)
    assert attempts() > 1
    assert removed() == 0
    monkeypatch.setattr(in_place, "find_lost_waits", lambda function: [])
    assert removed() > 0
