"""Parts that are native kernels of a program that is none as a whole: here because an op of it runs in PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from ssa_compiler import compile
from ssa_compiler.testing import check


def kernels_of(function: Callable[..., Any], *inputs: tuple[Any, ...]) -> int:
    """Compare a program with eager on each input set, twice; return how many of its parts are kernels."""
    compiled = check(function, *inputs, compiled=True).compiled
    for arguments in inputs:
        outcomes = []
        for _ in range(2):
            try:
                outcomes.append(compiled(*copy.deepcopy(arguments)))
            except Exception as error:  # noqa: BLE001 - the program's own: `check` has compared it
                outcomes.append(str(error))
        assert str(outcomes[0]) == str(outcomes[1])
    explained = compiled.explain()
    assert not explained.kernel
    assert explained.kernel_reason
    return explained.kernels


def loop_between_callbacks(x: Tensor, n: int, scale: float, flag: bool) -> tuple[Tensor, int, float, bool]:
    y = torch.igamma(x.abs(), x.abs())
    count, total, odd = n * 2, scale, flag
    for i in range(n):
        y[i % 4] = y[i % 4] * scale + x[0]
        count += i
        total = total * 0.5 + float(i)
        odd = not odd
    return torch.igamma(y.abs(), y.abs()), count, total, odd


def two_loops(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x.clone()
    for i in range(n):
        y[i] += x[0]
    z = torch.igamma(y.abs(), y.abs())
    for i in range(n):
        z[i] += x[0]
    return y, z


def loops_that_differ_inside(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Kernels with the same arguments and results: IREE must not take one for the other."""
    y = x.clone()
    for i in range(n):
        y[i] += x[0]
    z = torch.igamma(y.abs(), y.abs())
    for i in range(n):
        z[i] *= x[0] * 2
    return y, z


def inside_a_loop_that_calls_back(x: Tensor, n: int, m: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y = torch.igamma(y.abs(), y.abs())
        k = 0
        while k < m and bool(y[0, 0] < 2.0):
            y[:, k % 4] += y[:, (k + 1) % 4] + i
            k += 1
    return y


def in_a_branch(x: Tensor, n: int, m: int) -> Tensor:
    y = torch.igamma(x.abs(), x.abs())
    if m > 2:
        for i in range(n):
            y[i] = y[i] + torch.tensor([1.0, 2.0, 3.0, 4.0])
    else:
        y = y * 2
    return y


def with_checks(x: Tensor, at: Tensor, n: int, divisor: int) -> Tensor:
    y = torch.igamma(x.abs(), x.abs())
    for i in range(n):
        y[at[i]] += i // divisor
    return y


def of_the_callers_tensor(x: Tensor, n: int) -> Tensor:
    y = torch.igamma(x.abs(), x.abs())
    for i in range(n):
        x[i] += y[i]
    return y + x


def old_version_is_needed(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    y = torch.igamma(x.abs(), x.abs())
    before = y
    z = y
    for _ in range(n):
        z = z + before
        y = z * 2
    return before, z, y


def lists_from_around(x: Tensor, sizes: list[int], n: int) -> Tensor:
    y = torch.igamma(x.abs(), x.abs())
    m = n + 1
    for i in range(n):
        y = y.flip([0, 1]) + y.new_full([4, 4], float(m)) * sizes[0] + i
    return y


X = torch.arange(16.0).reshape(4, 4) / 8 - 1


@pytest.mark.parametrize(
    ("function", "inputs", "kernels"),
    [
        (loop_between_callbacks, [(X, n, 0.5, flag) for n in (0, 1, 2, 9) for flag in (True, False)], 1),
        (two_loops, [(X, n) for n in (0, 1, 2, 4)], 2),
        (loops_that_differ_inside, [(X, n) for n in (0, 1, 2, 4)], 2),
        (inside_a_loop_that_calls_back, [(X, n, m) for n in (0, 1, 3) for m in (0, 1, 2, 5)], 1),
        (in_a_branch, [(X, n, m) for n in (0, 1, 4) for m in (1, 3)], 1),
        (of_the_callers_tensor, [(X, n) for n in (0, 1, 2, 4)], 1),
        (old_version_is_needed, [(X, n) for n in (0, 1, 2, 5)], 1),
        (lists_from_around, [(X, [3, 4], n) for n in (0, 1, 2, 5)], 1),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_loops(function: Callable[..., Any], inputs: list[tuple[Any, ...]], kernels: int) -> None:
    assert kernels_of(function, *inputs) == kernels


def test_checks_raise_behind_the_kernel() -> None:
    at = torch.tensor([3, 0, -1, 2])
    inputs = [(X, at, 4, 2), (X, at, 2, 1), (X, at, 0, 0), (X, at, 4, 0), (X, at + 1, 1, 1), (X, at - 4, 2, 1)]
    assert kernels_of(with_checks, *inputs) == 1


def test_what_explain_says() -> None:
    compiled = compile(two_loops, (X, 2), cache=False)
    assert "2 parts are kernels; not the whole program: aten::igamma runs in PyTorch" in str(compiled.explain())


def straight_lines(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Two loops and what is between them are one part, and so is what follows the call."""
    y = x.clone()
    for i in range(n):
        y[i] += x[0]
    y = (y - y.mean(0)) / (y.std(0) + 1.0)
    for i in range(n):
        y[:, i] = y[:, i] + y[0]
    z = torch.igamma(y.abs(), y.abs())
    low, place = z.min(1)
    z[place[0]] = low * 2
    return y, z.cumsum(0) - z.sort(1)[0]


def products(x: Tensor, n: int) -> Tensor:
    """A large product is PyTorch's: 360 times 360 numbers, each used 360 times."""
    y = x.repeat(90, 90)
    y = y.softmax(1) - y.amax(0, keepdim=True)
    y[n] = y[n] * 2
    y = (y + y.sum(1, keepdim=True)).clamp(-4.0, 4.0)
    z = y @ y.t()
    z[:, n] = z[n] + 1
    for i in range(n):
        z[i] = z[i] / (1 + z[i + 1].abs()) + z.mean()
    return z


def lists_across(x: Tensor, n: int) -> tuple[Tensor, Tensor, int]:
    """Lists and numbers stand between the ops of a part: of its results, of numbers around it, and of both."""
    y = torch.igamma(x.abs(), x.abs())
    a = y.softmax(1)
    b = y.cumsum(0)
    parts = [a, b, a + b]
    k = n * 2 + int(a.argmax())
    c = parts[0].sort(1)[0] - b.mean()
    rows = [1, 2, 4, 8][n % 4]
    sizes = [rows, 16 // rows]
    d = c.clamp(-1.0, 1.0).flip(0).reshape(sizes)
    e = d[[n % rows, k % rows]]
    return torch.cat(parts), torch.igamma(e.abs() + 1, e.abs() + 1), max([k, n])


@pytest.mark.parametrize(
    ("function", "inputs", "kernels"),
    [
        (lists_across, [(X, n) for n in (0, 1, 2, 3, 9)], 1),
        (straight_lines, [(X, n) for n in (0, 1, 2, 4)], 2),
        (products, [(X, n) for n in (0, 1, 2, 50)], 2),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_parts(function: Callable[..., Any], inputs: list[tuple[Any, ...]], kernels: int) -> None:
    assert kernels_of(function, *inputs) == kernels


def walks(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Draws from PyTorch's generator in each trip."""
    total = x.clone()
    for i in range(n):
        step = torch.randn_like(x)
        best, at = (x + step).max(1)
        x = (x - x.mean(0, keepdim=True)) * 0.9 + 0.1 * step
        x[at[0]] = best * 0.5
        total[i % 4] += x.sum(0) + best
    return x, total


def test_what_lies_between_random_draws() -> None:
    compiled = compile(walks, (X, 3), cache=False)
    assert compiled.explain().kernels == 1
    for n in (0, 1, 2, 7):
        torch.manual_seed(n)
        expected = walks(X, n)
        torch.manual_seed(n)
        torch.testing.assert_close(compiled(X, n), expected)


def prints(x: Tensor, at: Tensor, n: int) -> Tensor:
    y = x.clone()
    print("first")
    for i in range(n):
        y[at[i]] = y[at[i] - 1] * 2
    print("second")
    for i in range(n):
        y[:, at[i] + 1] = y[:, at[i] + 1] + y[i]
    print("third")
    return y


def shown(function: Callable[..., Any], arguments: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> Any:
    """What a call prints, and what it returns or raises."""
    result: Any
    try:
        result = function(*copy.deepcopy(arguments)).tolist()
    except IndexError:
        result = IndexError
    return capsys.readouterr().out, result


def test_checks_come_in_the_order_of_effects(capsys: pytest.CaptureFixture[str]) -> None:
    """A loop whose index does not fit ends the program in front of the next print, and behind the last one."""
    at = torch.tensor([0, 2, 1, -2])
    compiled = compile(prints, (X, at, 2), cache=False)
    assert compiled.explain().kernels == 2
    printed = set()
    for places in (at, at + 1, at + 2, at - 3, at + 9):
        for n in (0, 1, 2, 4):
            expected = shown(prints, (X, places, n), capsys)
            assert shown(compiled, (X, places, n), capsys) == expected
            printed.add(expected[0])
    assert len(printed) == 3


class BesideIgamma(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.Linear(64, 64)

    def forward(self, x: Tensor, n: int) -> Tensor:
        h = x
        for _ in range(n):
            h = torch.tanh(self.cell(h) + x)
        return torch.igamma(h.abs(), x.abs())


def test_a_loop_knows_the_sizes_of_arguments() -> None:
    """Of a size that it does not know, 256 times 4,096 products are too many."""
    rows = torch.export.Dim("rows", max=16)
    inputs = [(torch.rand(count, 64), n) for count, n in ((4, 3), (1, 0), (16, 1))]
    checked = check(BesideIgamma(), *inputs, options={"dynamic_shapes": {"x": {0: rows}, "n": None}})
    assert checked.compiled.explain().kernels == 1


def many_results(x: Tensor, n: int) -> list[Tensor]:
    y = torch.igamma(x.abs(), x.abs())
    found = [y]
    for k in range(40):  # written out: a list in a loop of known trips
        row = y[k % 4].clone()
        for i in range(n):
            row[i % 3] += float(k)
        found.append(row)
    return found


@pytest.mark.slow
def test_a_part_with_too_many_results_is_cut_in_two() -> None:
    x = torch.randn(4, 3)
    assert kernels_of(many_results, (x, 2), (x, 0), (x, 1), (x, 7)) == 2


def chosen_between_callbacks(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = torch.igamma(x.abs(), x.abs())
    for i in range(n):
        y[i % 4] = y[i % 4] * 0.5 + x[0]
    places = (y > x).nonzero().squeeze(1)
    z = x[places] * 2
    for _ in range(n):
        z = z * 0.5 + y[places]
    return torch.igamma(z.abs(), z.abs()), places


@pytest.mark.parametrize("sign", [-1.0, 0.0, 1.0])
def test_nonzero_is_part_of_a_kernel(sign: float, tmp_path: Path) -> None:
    """All, some or none are chosen; the host takes as many places as there are of those that the kernel made."""
    x = torch.full((6,), sign) if sign else torch.tensor([3.0, -1.0, 0.0, float("nan"), -2.0, 5.0])
    assert kernels_of(chosen_between_callbacks, (x, 2), (x, 0), (x, 1), (-x, 9)) == 2
    compile(chosen_between_callbacks, (x, 2), cache=False, dump_dir=tmp_path)
    left = (tmp_path / "4-backend.mlir").read_text()
    assert "aten.slice.Tensor" in left
    assert "aten.nonzero" not in left


def places_of_a_matrix(x: Tensor, t: float, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """`nonzero` twice, of masks that are alike."""
    y = torch.igamma(x.abs(), x.abs())
    for i in range(n):
        y = y * 0.5 + i
    rows, columns = torch.where(x > t)
    z = (x < t).nonzero()
    for _ in range(n):
        y = y + x[rows, columns].sum()
    return torch.igamma(y.abs(), y.abs()), torch.stack([rows, columns]), z


@pytest.mark.parametrize("dynamic", [False, True])
def test_nonzero_of_more_dimensions(dynamic: bool, tmp_path: Path) -> None:
    shapes = {"x": {0: Dim("rows", min=0), 1: Dim("columns", min=0)}, "t": None, "n": None} if dynamic else None
    x = torch.tensor([[3.0, -1.0, 0.0], [float("nan"), -2.0, 5.0]])
    compiled = compile(places_of_a_matrix, (x, 0.5, 2), cache=False, dump_dir=tmp_path, dynamic_shapes=shapes)
    assert "aten.nonzero" not in (tmp_path / "4-backend.mlir").read_text()
    assert compiled.explain().kernels == 3
    others = (torch.rand(4, 5), torch.rand(1, 1), torch.rand(0, 2), torch.rand(3, 0)) if dynamic else ()
    for values in (x, -x, x * 0, *others):
        for t, n in ((0.5, 0), (-10.0, 1), (10.0, 2), (0.0, 3)):
            torch.testing.assert_close(
                compiled(values, t, n), places_of_a_matrix(values, t, n), equal_nan=True, rtol=1e-4, atol=1e-5
            )
