"""`out=` variants: the result is written into the tensor given, whatever view of what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def whole(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.empty(4, 3)
    result = torch.add(x, 1, out=y)
    result[0] = 5
    return y, torch.mul(x, y, out=torch.zeros(4, 3))


def views(x: Tensor) -> Tensor:
    y = x.clone()
    torch.mul(x[:2], 2, out=y[1:3])
    torch.neg(x[:, 0], out=y[:, 2])
    return y


def reductions(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    total, mean, summed = torch.zeros(3), torch.zeros(4, 1), torch.zeros(4, 3)
    torch.sum(x, [0], out=total)
    torch.mean(x, [1], True, out=mean)
    torch.cumsum(x, 0, out=summed)
    return total, mean, summed


def joined(x: Tensor) -> tuple[Tensor, Tensor]:
    y, s = torch.zeros(4, 3), torch.zeros(2, 4, 3)
    torch.cat([x[2:], x[:2]], 0, out=y)
    torch.stack([x, y], 0, out=s)
    return y, s


def products(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a, b, c = torch.zeros(4, 4), torch.zeros(4, 4), torch.zeros(4, 4)
    torch.matmul(x, x.t(), out=a)
    torch.mm(x, x.t(), out=b)
    torch.addmm(b, x, x.t(), out=c)
    return a, b, c


def choices(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    a, b, c, d = torch.zeros(4, 3), torch.zeros(4, 3), torch.zeros(4), torch.zeros(3, 4)
    torch.clamp(x, 1, 3, out=a)
    torch.where(x > 3, x, a, out=b)
    torch.index_select(x[:, 0], 0, torch.tensor([3, 2, 1, 0]), out=c)
    torch.gather(x.t(), 1, torch.zeros(3, 4, dtype=torch.long), out=d)
    return a, b, c, d


def made(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y, z, w = torch.empty(4, 3), torch.empty(4), torch.empty(3)
    torch.zeros([4, 3], out=y)
    torch.arange(4, out=z)
    torch.full([3], 2.0, out=w)
    return y, z, w


def converted(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    numbers = torch.arange(4)
    y, mask, ones = torch.zeros(4), torch.zeros(4, 3, dtype=torch.bool), torch.zeros(4, 3)
    torch.add(numbers, n, out=y)
    torch.gt(x, n, out=mask)
    torch.gt(x, n, out=ones)
    return y, mask, ones


@pytest.mark.parametrize("function", [whole, views, reductions, joined, products, choices, made])
def test_out(function: Callable[..., Any]) -> None:
    check(function, (grid(),))


def test_out_converts() -> None:
    check(converted, (grid(), 3), (grid(), -1))


def of_numbers(x: Tensor, n: int, s: float) -> list[Tensor]:
    """To TorchScript these take other overloads than tensors."""
    outs = [torch.zeros(4, 3, dtype=torch.float64) for _ in range(6)]
    torch.add(x, n, alpha=3, out=outs[0])
    torch.sub(x, s, out=outs[1])
    torch.mul(x, s, out=outs[2])
    torch.div(x, n, rounding_mode="floor", out=outs[3])
    torch.div(x, 3, out=outs[4])
    torch.floor_divide(x, n, out=outs[5])
    return outs


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_out_of_numbers_converts(dtype: torch.dtype) -> None:
    x = grid().to(dtype)
    check(of_numbers, (x, 3, 1.5), (x, 300, -2.5), compiled=False)


def softmax(x: Tensor, y: Tensor) -> Tensor:
    return torch.softmax(x, 0, out=y)


def triangle(x: Tensor, y: Tensor) -> Tensor:
    return torch.tril(x, 0, out=y)


def clamped(x: Tensor, y: Tensor) -> Tensor:
    return torch.clamp(x, 1, 2, out=y)


def largest(x: Tensor, y: Tensor) -> Tensor:
    return torch.amax(x, 0, out=y)


def holds(x: Tensor, y: Tensor) -> Tensor:
    return torch.any(x, 0, out=y)


@pytest.mark.parametrize("sizes", [None, Dim.AUTO])
@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (softmax, torch.complex64),
        (triangle, torch.complex64),
        (clamped, torch.complex64),
        (largest, torch.complex64),
        (holds, torch.float32),
    ],
)
def test_dtypes_that_eager_rejects(function: Callable[..., Any], dtype: torch.dtype, sizes: Any) -> None:
    """Numbers of one dtype can be converted to the other, but these ops do not."""
    y = torch.zeros(3 if function in (largest, holds) else (4, 3), dtype=dtype)
    with pytest.raises(RuntimeError) as expected:
        function(grid(), y)
    with pytest.raises(errors.ProgramError) as raised:
        import_program(function, (grid(), y), dynamic_shapes=sizes)
    assert str(expected.value).splitlines()[0] in str(raised.value)


def in_loops(x: Tensor, y: Tensor, n: int, flag: bool) -> Tensor:
    total = torch.zeros(3)
    for i in range(n):
        torch.add(total, x[i], out=total)
        if flag:
            torch.mul(total, 2, out=x[i])
    return torch.sub(x, y, out=y)


def test_out_of_arguments_in_loops() -> None:
    sets = [
        (grid(), grid() + 1, 3, True),
        (grid(), grid(), 0, True),
        (grid(), grid(), 1, True),
        (grid(), grid(), 2, False),
    ]
    check(in_loops, *sets)


@torch.jit.script
def several(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    values, numbers = torch.empty(4), torch.empty(4, dtype=torch.long)
    result = torch.max(x, 1, max=values, max_values=numbers)
    best, order = torch.empty(4, 3), torch.empty(4, 3, dtype=torch.long)
    torch.sort(x, 1, True, values=best, indices=order)
    return values + result[0], numbers, best, order


def test_several_outs_as_torchscript_spells_them() -> None:
    check(several, (grid(),), (torch.tensor([[3.0, 1, 2], [0, 2, 1], [5, 4, 6], [9, 7, 8]]),))


def several_as_eager_spells_them(x: Tensor) -> Tensor:
    values, numbers = torch.empty(4), torch.empty(4, dtype=torch.long)
    torch.max(x, 1, out=(values, numbers))
    return values


def of_another_size(x: Tensor) -> Tensor:
    return torch.add(x, 1, out=torch.zeros(5))


def of_no_elements(x: Tensor) -> Tensor:
    return torch.add(x, 1, out=torch.zeros(0))


def into_ints(x: Tensor) -> Tensor:
    return torch.add(x, 1, out=torch.zeros(4, 3, dtype=torch.long))


def into_its_source(x: Tensor) -> Tensor:
    y = x.clone()
    return torch.add(y[:2], 1, out=y[1:3])


def into_one_element(x: Tensor) -> Tensor:
    return torch.add(x, 1, out=torch.zeros(3).expand(4, 3))


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (several_as_eager_spells_them, errors.ScriptError, "Keyword argument out unknown"),
        (of_another_size, errors.UnsupportedOpError, "add.out, which changes the shape of a tensor in place"),
        (of_no_elements, errors.UnsupportedOpError, "add.out, which changes the shape of a tensor in place"),
        (into_ints, errors.ProgramError, "out"),
        (into_its_source, errors.ProgramError, "single memory location"),
        (into_one_element, errors.ProgramError, "more than one element of the written-to tensor"),
    ],
)
def test_what_is_rejected_or_raises(function: Callable[..., Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        import_program(function, (grid(),))
    assert "out_test.py:" in str(raised.value)


def resized_in_a_loop(x: Tensor, n: int) -> Tensor:
    y = torch.empty(0)
    for i in range(n):
        torch.mul(x, i, out=y)
    return y


def test_resized_in_a_loop() -> None:
    """The loop, rejected, is written out: the tensor has its old shape then."""
    with pytest.raises(errors.UnsupportedOpError, match="which changes the shape of a tensor in place"):
        import_program(resized_in_a_loop, (torch.ones(3), 2))
