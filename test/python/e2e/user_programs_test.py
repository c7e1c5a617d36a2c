"""Programs as users write them, that did something else than eager once: one artefact, several inputs, against eager.

PYTEST_DONT_REWRITE: pytest would add to the messages of the programs' assertions.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.utils._pytree import tree_leaves

import ssa_compiler

ROWS = torch.arange(12.0).reshape(4, 3)
TRANSPOSED = ROWS.T.contiguous().T


def _outcome(program: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        with torch.no_grad():
            return program(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever eager raises
        return error


def agree(program: Callable[..., Any], *calls: tuple[Any, ...], **options: Any) -> ssa_compiler.CompiledProgram:
    """Compile a program for the first call, and compare all calls with eager: results, arguments, errors.

    Args:
        program: a function or module.
        calls: arguments.
        options: those of `compile`.
    """
    compiled = ssa_compiler.compile(program, copy.deepcopy(calls[0]), **options)
    for arguments in calls:
        mine, eagers = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected, found = _outcome(program, eagers), _outcome(compiled, mine)
        if isinstance(expected, Exception):
            assert isinstance(found, type(expected)), f"{arguments}: {expected!r} in eager, {found!r} compiled"
            assert str(expected) in str(found)
            continue
        assert not isinstance(found, Exception), f"{arguments}: {found!r}"
        pairs = zip(tree_leaves((expected, eagers)), tree_leaves((found, mine)), strict=True)
        for wanted, got in pairs:
            assert type(wanted) is type(got)
            torch.testing.assert_close(got, wanted, equal_nan=True)
    return compiled


# --- what raises for some strides -------------------------------------------------------------------------------------


def flattened(x: Tensor) -> Tensor:
    return x.view(-1) * 2


def flattened_sum(x: Tensor) -> Tensor:
    return (x + 1).view(2, 6) * 2


def complex_pairs(x: Tensor) -> Tensor:
    return torch.view_as_complex(x) * 2


def test_view_of_an_argument_of_other_strides_raises() -> None:
    agree(flattened, (ROWS,), (TRANSPOSED,), (ROWS + 1,))
    agree(flattened_sum, (ROWS,), (TRANSPOSED,), (ROWS.repeat(1, 2)[:, :3],))
    agree(complex_pairs, (ROWS[:, :2].contiguous(),), (ROWS.T[:2].T,))


def test_view_of_an_argument_of_any_size_raises_for_other_strides() -> None:
    calls = [(ROWS,), (TRANSPOSED,), (ROWS[:2],), (ROWS[:2].T.contiguous().T,), (ROWS.repeat(2, 1)[::2],)]
    compiled = agree(flattened, *calls, dynamic_shapes={"x": {0: Dim("b")}})
    assert len(compiled.specialisations) == 1


class Flattening(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.convolution(x).relu().view(x.size(0), -1)


def test_view_of_a_convolution_raises_for_channels_last() -> None:
    images = torch.randn(2, 3, 5, 5)
    agree(Flattening().eval(), (images,), (images.to(memory_format=torch.channels_last),))


# --- numbers ----------------------------------------------------------------------------------------------------------


def shifted(n: int) -> tuple[int, int, int]:
    return n << 1, n >> 2, n >> 70


def test_shifts_of_numbers_are_native() -> None:
    compiled = agree(shifted, (3,), (-5,), (0,), (2**62 - 1,), (-(2**62),))
    assert not compiled.explain().callbacks


def truncated(x: Tensor) -> int:
    return int(x.item())


def rounded(number: float):  # TorchScript takes round() for a float
    return math.floor(number), math.ceil(number), round(number)


def test_what_is_no_int_raises_as_in_python() -> None:
    numbers = [2.5, -2.5, math.inf, -math.inf, math.nan]
    agree(truncated, *((torch.tensor(number),) for number in numbers))
    agree(rounded, *((number,) for number in numbers))
    with pytest.raises(OverflowError, match="does not fit an int of 64 bits"):
        ssa_compiler.compile(truncated, (torch.tensor(1.0),))(torch.tensor(1e30))


def compared(x: float, y: float) -> tuple[bool, bool, bool, bool, bool, bool]:
    return x == y, x != y, x < y, x <= y, x > y, x >= y


def compared_with_itself(x: float) -> tuple[bool, bool, bool, bool, bool]:
    return x == x, x != x, x <= x, x >= x, math.isnan(x)


def doubled_until_large(x: Tensor) -> float:
    total = float(x.sum())
    while total == total and total < 100:
        total = total * 2
    return total


def test_nan_compares_as_in_python() -> None:
    agree(compared, (1.5, 2.0), (2.0, 2.0), (3.0, 2.0), (math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan))
    agree(compared_with_itself, (1.5,), (math.nan,), (math.inf,))
    agree(doubled_until_large, (torch.ones(2),), (torch.tensor([math.nan, 1.0]),), (torch.full([2], 60.0),))


# --- messages with the numbers of the run -----------------------------------------------------------------------------


def counted(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        assert i < 5, f"row {i} of {x.shape}, {{braces}} sum {x.sum().item():.3f}"
        y[i % 4] += 1
    if n < 0:
        raise ValueError("n is %d, not %5.2f%%" % (n, 1.5) + " end")  # noqa: UP031
    assert n != 4, "four: " + str(n)
    return y


def converged(x: Tensor, n: int) -> Tensor:
    i = 0
    while True:
        if i > 3:
            raise RuntimeError(f"no convergence after {i} steps: {x[0, :2]}")
        if i == n:
            break
        x = x * 2
        i += 1
    return x


def test_exceptions_say_the_numbers_of_the_run() -> None:
    compiled = agree(counted, *((ROWS, n) for n in (0, 1, -1, 4, 9)), strict=True)
    assert not compiled.explain().callbacks
    agree(converged, *((ROWS, n) for n in (0, 1, 3, 5)))


# --- what TorchScript rejects
# ------------------------------------------------------------------------------------------


def floor_divided(x: Tensor, n: int):
    y = x[1]
    y //= n
    x[2] //= 2
    x[3, 1:] //= y[1:] // 2 + 100
    n //= 2
    numbers = [n, n]
    numbers[0] //= 2
    return y, n, numbers


def distinct(x: Tensor):
    values, positions = x.unique(return_inverse=True)
    return x.unique_consecutive(), values, positions


def positions(x: Tensor) -> Tensor:
    rows, columns = x.nonzero(as_tuple=True)
    return rows + columns + torch.nonzero(x, as_tuple=True)[1]


def positions_of_each(x, n):  # where partial evaluation finds the types
    found = []
    for k in range(n):
        places = torch.nonzero(x == k, as_tuple=True)
        rows, columns = (x == k + 1).nonzero(as_tuple=True)
        if len(rows) == 0:
            continue
        found.append((rows.min().item(), columns.tolist()[0], x[places].sum()))
    return found


@pytest.mark.slow
def test_python_that_torchscript_rejects() -> None:
    whole = torch.arange(12).reshape(4, 3)
    agree(floor_divided, (whole, 3), (-whole, -2))
    agree(distinct, (torch.tensor([1, 1, 2, 5, 5]),), (torch.tensor([3, 1, 3, 3, 5]),))
    agree(positions, (ROWS > 3,), (ROWS > 30,))
    agree(positions_of_each, (whole % 3, 3), (whole, 2), (whole, 0), (whole, 12))


# --- attention where no gradients are recorded ------------------------------------------------------------------------


class Attending(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor, hidden: Tensor):
        masked = self.attention(x, x, x, key_padding_mask=hidden, need_weights=False)[0]
        return self.attention(x, x, x, need_weights=False), masked, self.attention(x, x, x)


@pytest.mark.slow
def test_attention_in_eval_mode_is_native() -> None:
    x, hidden = torch.randn(2, 5, 8), torch.zeros(2, 5, dtype=torch.bool)
    hidden[0, 3:] = True
    with torch.no_grad():
        compiled = agree(Attending().eval(), (x, hidden), (x * 2, ~hidden))
        assert not compiled.explain().callbacks
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu").eval()
        compiled = agree(layer, (x, None, hidden))
        assert not compiled.explain().callbacks


class Weighing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor):
        return self.attention(x, x, x)


@pytest.mark.slow
def test_attention_to_nothing_has_no_weights() -> None:
    x = torch.randn(2, 3, 8)
    with torch.no_grad():
        for empty in (x[:0], x[:, :0]):
            assert agree(Weighing().eval(), (empty,))(empty)[1] is None
        agree(Weighing().eval(), (x,), (x[:0],), (x[:, :0],), dynamic_shapes={"x": {0: Dim("b"), 1: Dim("n")}})


class Asking(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        asked = 0
        if torch.is_grad_enabled():
            asked += 1
        with torch.no_grad():
            if torch.is_grad_enabled():
                asked += 2
        if self.weight.requires_grad:
            asked += 4
        return x * self.weight, asked


def test_whether_gradients_are_recorded_is_the_callers() -> None:
    model = Asking()
    compiled = ssa_compiler.compile(model, (ROWS,), gradients="detach")
    assert compiled(ROWS)[1] == model(ROWS)[1] == 5
    with torch.no_grad():
        assert compiled(ROWS)[1] == model(ROWS)[1] == 4
    model.weight.requires_grad_(False)
    assert compiled(ROWS)[1] == model(ROWS)[1] == 1


# --- dynamic sizes ---------------------------------------------------------------------------------------


def summed_up_to(x: Tensor, lengths: Tensor, steps: int) -> Tensor:
    h = torch.zeros_like(x)
    for t in range(steps):
        h = torch.where((lengths > t)[:, None], x + h, h)
    return h


def test_masked_loop_over_a_batch_of_any_size() -> None:
    b = Dim("b")
    lengths = torch.tensor([1, 2, 3, 0])
    calls = [(ROWS, lengths, 3), (ROWS[:2], lengths[:2], 3), (ROWS[:2], lengths[:2], 0), (ROWS[:1], lengths[2:3], 5)]
    compiled = agree(summed_up_to, *calls, dynamic_shapes={"x": {0: b}, "lengths": {0: b}, "steps": None})
    assert not compiled.explain().callbacks
