"""Tensors given for numbers: to TorchScript a number that is read there, to Python the tensor."""

from __future__ import annotations

import math
import types
from typing import Any

import pytest
import torch
from torch import Tensor

from _rejections import rejection
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

T = torch.tensor


def operated(n: int, t: Tensor):
    return n << t, n >> t, n & t, n | t, n ^ t, n // t, n % t, n**t, n / t, n - t, n + t, n * t


def operated_float(f: float, b: bool, t: Tensor):
    return f // t, -0.0 // t, f % t, f**t, b & t, b | t, b ^ t, 3 // t


def test_number_in_front() -> None:
    for dtype in (torch.int64, torch.uint8):
        check(operated, (3, T([1, 2, 5], dtype=dtype)), (300, T([7, 1, 3], dtype=dtype)), compiled=False)
        check(operated, (3, T(2, dtype=dtype)), compiled=False)
    integers = T([1, 2, 5], dtype=torch.int16)
    check(operated_float, (3.5, True, integers), (-3.5, False, integers), compiled=False)
    check(operated, (7, T(2)), (-7, T(1)))


def all_operators(a: int, b: int):
    return (
        a + b,
        a - b,
        a * b,
        a / b,
        a // b,
        a % b,
        a**b,
        a & b,
        a | b,
        a ^ b,
        a << b,
        a >> b,
        a == b,
        a < b,
        a >= b,
        -a,
    )


def passed(t: Tensor, n: int):
    return all_operators(t, n), all_operators(n, t), all_operators(t, t + 1)


def test_operators_of_parameters() -> None:
    for dtype in (torch.int64, torch.uint8):
        check(passed, (T(3, dtype=dtype), 2), (T(1, dtype=dtype), 5), compiled=False)


def update(x: Tensor, n: int) -> Tensor:
    x[0] = 9
    return x + n


def step(n: int) -> int:
    n += 1
    return n


def written(x: Tensor) -> tuple[Tensor, int]:
    return update(x, x[0]), step(x[1])


def test_the_tensor_is_not_read_before() -> None:
    check(written, (T([1, 2]),), (T([5, 6]),), compiled=False)


def decide(n: int):
    if n == 3 and n < 5:
        return n * 2
    count = n
    while count > 0 and not (n == 7):  # noqa: SIM201 - it is the `not` that is tested
        count = count - 2
    return count * 1


def deciding(t: Tensor):
    return decide(t)


def test_conditions() -> None:
    check(deciding, (T(3),), (T(5),), (T(0),), (T(7),), (T(1),), compiled=False)


def convert(n: int, f: float):
    numbers = int(n), float(n), int(f), float(f), bool(n), bool(n == 3), math.sqrt(f), math.floor(f)
    return numbers, n * 1.0, n * 1, f + int(n), [int(n), 2]


def converting(t: Tensor):
    return convert(t, t)


def test_conversions() -> None:
    check(converting, (T(3),), (T(0),), compiled=False)
    check(converting, (T(3.5),), compiled=False)


def count(x: Tensor, n: int):
    total = 0
    for i in range(n):
        total += i
    parts = (
        x.view(n, -1),
        x[n:],
        x[: min(n, 3)],
        torch.zeros(n, 2),
        torch.full([2], n),
        torch.tensor([n, 1], dtype=torch.int32),
    )
    return total, parts, x * n, x.masked_fill(x > n, n), torch.add(x, x, alpha=n), x.eq(n)


def counting(x: Tensor, t: Tensor):
    return count(x, t)


def test_ops_that_take_numbers() -> None:
    check(counting, (torch.arange(6.0), T(2)), (torch.arange(6.0) - 3, T(2)), compiled=False)
    check(counting, (torch.arange(6), T(3, dtype=torch.int32)), compiled=False)
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        import_program(counting, (torch.arange(6.0), T(2.0)))


def listed(n: float) -> Tensor:
    return torch.tensor([n, 3.0])


def listing(t: Tensor) -> Tensor:
    return listed(t)


def test_elements_of_a_tensor() -> None:
    check(listing, (T(2.5),), compiled=False)
    assert "a list with a tensor of torch.int16; give the dtype" in rejection(listing, (T(2, dtype=torch.int16),))


def items_stored(x: Tensor, n: int):
    y = x.clone()
    y[1] = x[0].item()
    y[2] = x[0].item() + 1
    for i in range(n):
        y[i] = x.max().item() * i
    return y, torch.tensor(x[0].item()), torch.as_tensor(x[1].item()), torch.tensor([x[0].item(), x[1].item()])


def half(v: float) -> float:
    return v / 2


def items_declared(x: Tensor, d: dict[str, float]) -> tuple[float, float, dict[str, float], list[float]]:
    d["m"] = x.max().item()
    numbers: list[float] = []
    numbers.append(x[0].item())
    return half(x[0].item()), x[1].item(), d, numbers


def items_as_operands(x: Tensor, flags: Tensor):
    v = flags[0].item()
    y = x.clone()
    y[0] = v
    made = torch.full((2,), v), torch.full_like(x, v), torch.zeros_like(x).fill_(v), flags.clone().fill_(v)
    return y, x + v, x * v, torch.where(x > 2, v, x), x.clone().add_(v), flags + v, made


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float32], ids=str)
def test_items_keep_their_type(dtype: torch.dtype) -> None:
    """TorchScript makes floats of what `item()` returns wherever one is declared or could be: 2**53 + 1 is 2**53
    then.
    """
    x = torch.tensor([2**53 + 1, 3, 5]).to(dtype)
    check(items_stored, (x, 2), (x, 0), compiled=dtype is torch.int64)
    check(items_declared, (x, {"m": 0.0}), compiled=False)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32], ids=str)
def test_items_are_bools_as_operands(dtype: torch.dtype) -> None:
    x = torch.tensor([1, 2, 3]).to(dtype)
    check(items_as_operands, (x, torch.tensor([True])), (x, torch.tensor([False])), compiled=False)


def bools_stored(x: Tensor, n: int, flag: bool):
    z = x.clone()
    z[0] = n > 2
    z[1] = flag
    z[x > 5] = not n
    return z, torch.tensor(n > 2, dtype=torch.int64), torch.tensor(flag, dtype=torch.uint8)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.float32], ids=str)
def test_bools_are_stored_in_every_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([1, 2, 7]).to(dtype)
    check(bools_stored, (x, 3, True), (x, 0, False), compiled=False)


def number_or_tensor(self: Any, x: Tensor):
    total = 0.0
    if x.sum() > 0:
        total = x.sum()
    return total


class Replaced(torch.nn.Module):
    """A module whose forward is set on itself."""

    def __init__(self) -> None:
        super().__init__()
        self.forward = types.MethodType(number_or_tensor, self)


def test_methods_that_no_class_has() -> None:
    """They are Python's like others: of a tensor that is assigned to a variable of type float nothing is read."""
    positive, negative = (torch.ones(3),), (-torch.ones(3),)
    for calls in ((positive, negative), (negative, positive)):
        check(types.MethodType(number_or_tensor, torch.nn.ReLU()), *calls)
        check(Replaced(), *calls, compiled=False)
