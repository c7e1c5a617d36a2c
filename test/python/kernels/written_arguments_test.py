"""Arguments that kernels update in place, what an error leaves in them, and programs that are no kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from _kernels import kernel_of, nested
from _nightly import with_nightly
from ssa_compiler import compile
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import VERIFY_VARIABLE

A, B = torch.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(3, 4).flip(0) - 3


def written(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x[i % 3] += 1
    return x


def written_through_rows(x: Tensor, n: int) -> None:
    for _ in range(n):
        x[:-1].diagonal(1).add_(2.0)


def test_what_bufferization_copies_is_in_the_argument_afterwards() -> None:
    """The rows of an argument have dynamic strides in a loop, and are copied where they are one dimension."""
    kernel_of(written_through_rows, *[(A, n) for n in (1, 0, 2, 5)])


@pytest.mark.parametrize("x", with_nightly([torch.zeros(200, 200)], [A]))
def test_arguments_are_updated_in_place(x: Tensor) -> None:
    compiled = kernel_of(written, *[(x, n) for n in (2, 0, 1, 5)])
    assert compiled.report().copies_made == 0
    given = x.clone()
    version = given._version
    assert compiled(given, 4) is given
    assert torch.equal(given, written(x.clone(), 4))
    assert given._version > version
    # What is no dense tensor is copied, and copied back.
    wide = x.new_zeros(x.shape[0], x.shape[1] + 1)[:, 1:]
    wide.copy_(x)
    assert compiled(wide, 4) is wide
    assert torch.equal(wide, written(x.clone(), 4))


def keeps_old(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    before = x.clone()
    x[0] = y[0]
    return before, x


def exchanges(x: Tensor, y: Tensor) -> None:
    before = x.clone()
    x.copy_(y)
    y.copy_(before)


def writes_under_branch(x: Tensor, y: Tensor) -> Tensor:
    if float(x[0, 0]) > 0:
        x.add_(y)
    else:
        y.mul_(x)
    return x


def fills(x: Tensor, y: Tensor) -> Tensor:
    x.fill_(2.0)
    y.copy_(x + y)
    return x.t()


def reads_old_rows(x: Tensor, y: Tensor) -> None:
    x[1:] = x[:-1] * y[1:]


def rotates(x: Tensor, y: Tensor) -> Tensor:
    for _ in range(3):
        before = x.clone()
        x.copy_(y)
        y.copy_(before + 1)
    return y


@pytest.mark.parametrize(
    "function", with_nightly([keeps_old, exchanges, writes_under_branch], [fills, reads_old_rows, rotates])
)
def test_written_arguments_and_what_else_there_is(function: Callable[..., Any]) -> None:
    kernel_of(function, (A, B), (B, A), (-A, B), (A.t().clone().t(), B))


def stores_row(x: Tensor, out: Tensor, n: int) -> int:
    for i in range(n):
        out[i] = x * 2
    return n


def stores_at(x: Tensor, out: Tensor, n: int) -> int:
    y = (x * 2).exp() + x.flip(0)
    for i in range(2):
        out[n] = y + i
    return n


@pytest.mark.parametrize("function", [stores_row, stores_at])
def test_what_is_rejected_is_not_written(function: Callable[..., Any]) -> None:
    """Behind the argument there is memory of others."""
    x = torch.ones(3)
    compiled = kernel_of(function, (x, torch.zeros(4, 3), 2), (x, torch.zeros(4, 3), 0))
    for n in (5, 4, 7, -1, -5, 2**62):
        given, expected = torch.zeros(12, 3), torch.zeros(12, 3)
        for call, memory in ((compiled, given), (function, expected)):
            try:
                call(x, memory[4:8], n)
            except IndexError:
                memory[0] = 1
        assert torch.equal(given, expected)


def fills_rows(x: Tensor, rows: int, n: int) -> Tensor:
    out = torch.zeros(rows, 3)
    for i in range(n):
        out[i] = x * 2
    return out


def test_a_rejected_row_is_not_behind_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends if it is: each access is checked."""
    monkeypatch.setenv(VERIFY_VARIABLE, "1")
    calls = [(torch.ones(3), rows, n) for rows, n in ((4, 2), (4, 5), (0, 1), (1, 1), (3, 4))]
    assert check(fills_rows, *calls).compiled.explain().kernel


def adds_until(x: Tensor, limit: int) -> int:
    for i in range(x.shape[0]):
        x[i] += 1
        assert i < limit, "too far"
    return x.shape[0]


def test_an_error_leaves_what_earlier_trips_have_written() -> None:
    """In the trip that fails the check may come first."""
    compiled = kernel_of(adds_until, (A, 100), (A, 2))
    given, expected = A.clone(), A.clone()
    with pytest.raises(AssertionError):
        adds_until(expected, 2)
    with pytest.raises(AssertionError):
        compiled(given, 2)
    assert torch.equal(given[:2], expected[:2])


def multiplied(x: Tensor, y: Tensor) -> Tensor:
    return x @ y


def in_pytorch(x: Tensor) -> Tensor:
    return torch.linalg.eigvals(x[:, :3])


@pytest.mark.parametrize(
    ("function", "inputs", "reason"),
    [
        (multiplied, (torch.ones(16, 600).int(), torch.ones(600, 600).int()), "5760000 products in one op"),
        (in_pytorch, (A.to(torch.complex64),), "runs in PyTorch"),
        (multiplied, (A.half(), B.half().T), "f16"),
    ],
)
def test_what_cannot_be_a_kernel_says_why(function: Callable[..., Any], inputs: tuple[Any, ...], reason: str) -> None:
    compiled = check(function, inputs).compiled
    assert not compiled.explain().kernel
    assert reason in compiled.explain().kernel_reason
    assert reason in str(compiled.explain())


def test_kernels_can_be_left_out(tmp_path: Path) -> None:
    with_kernel = compile(nested, (A, 3, 5), dump_dir=tmp_path / "kernel")
    without = compile(nested, (A, 3, 5), kernels=False, dump_dir=tmp_path / "dispatches")
    assert torch.equal(with_kernel(A, 3, 5), without(A, 3, 5))
    assert with_kernel.explain().kernel
    assert not without.explain().kernel
    assert without.explain().kernel_reason == ""
    assert [path.name for path in (tmp_path / "kernel").glob("*-kernel.mlir")] == ["4-kernel.mlir"]
    assert not list((tmp_path / "dispatches").glob("*-kernel.mlir"))


def test_a_loop_is_one_launch() -> None:
    """However many trips it has; without kernels each small op is a launch of its own."""
    compiled = kernel_of(nested, (A, 3, 5))
    count, other = compiled.copy_count(), compile(nested, (A, 3, 5), kernels=False).copy_count()
    assert (count.dispatches, count.loop_dispatches) == (1, 0)
    assert other.loop_dispatches > 1


def nothing_to_compute(x: Tensor, n: int, d: dict[str, int], maybe: Tensor | None):
    d["a"] = n
    for _ in range(n):
        pass
    return x, n, d, maybe is None, x.size(0), None


def nothing_at_all() -> int:
    return 5


def text_only(x: float) -> str:
    return f"{x}"


def unused_loop(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for _ in range(n):
        y[0] = y[0] * 2 + y[1]
    return x


def test_programs_that_compute_nothing() -> None:
    """IREE drops a kernel of whose results none is used."""
    x = torch.ones(2)
    check(nothing_to_compute, (x, 2, {"a": 1}, None), (x, 0, {"a": 1}, None))
    check(nothing_at_all, ())
    check(text_only, (1.5,))
    check(unused_loop, (x, 2), (x, 0))
