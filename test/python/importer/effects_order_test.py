"""What a program prints, and which functions of Python it calls, in the order of the program."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def prints(x: Tensor, n: int, limit: float) -> Tensor:
    for i in range(n):
        print(i, x[0].item(), x.sum())
        if float(x.sum()) > limit:
            print("more")
            print(x[1].item(), x * 2)
        else:
            x = x + 1
        print()
    while float(x.sum()) < 20.0:
        print(x[1].item(), x.sum())
        print("again")
        x = x * 2 + 1
    if n == 2:
        print(x[0].item(), x.mean())
        raise ValueError("two")
    print("a", x[1].item(), x.sum())
    if bool(x[1] > 100.0):
        raise KeyError("large")
    print("last")
    return x


def shown(function: Callable[..., Any], arguments: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> Any:
    """What a call prints, and what it returns or raises."""
    result: Any
    try:
        result = function(*arguments).tolist()
    except (KeyError, ValueError) as error:
        result = [kind for kind in (KeyError, ValueError) if isinstance(error, kind)]
    return capsys.readouterr().out, result


def test_what_waits_for_the_device_stays_in_front(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = ssa_compiler.compile(prints, (torch.ones(2), 3, 5.0))
    for tensor in (torch.ones(2), torch.tensor([1.0, 101.0])):
        for arguments in ((tensor, 0, 1.0), (tensor, 1, 2.0), (tensor, 2, 2.0), (tensor, 3, 4.0), (tensor, 5, 1e9)):
            expected = shown(prints, arguments, capsys)
            assert shown(compiled, arguments, capsys) == expected


LOG: list[Any] = []


@torch.jit.ignore
def note(number: int) -> None:
    LOG.append(number)


def notes_and_raises(x: Tensor, n: int) -> Tensor:
    note(1)
    if n > 3:
        note(2)
        if n > 5:
            note(3)
            raise KeyError("above 5")
        else:
            note(4)
            raise ValueError("above 3")
    note(5)
    return x + n


def test_what_is_done_before_raising_is_done() -> None:
    calls = [(torch.ones(2), n) for n in (1, 4, 6)]
    check(notes_and_raises, *calls, compiled=False)
    LOG.clear()
    for call in calls:
        with contextlib.suppress(KeyError, ValueError):
            notes_and_raises(*call)
    assert LOG == [1, 5, 1, 2, 4, 1, 2, 3]
    compiled = ssa_compiler.compile(notes_and_raises, calls[0])
    LOG.clear()
    for call in calls:
        with contextlib.suppress(KeyError, ValueError):
            compiled(*call)
    assert LOG == [1, 5, 1, 2, 4, 1, 2, 3]


def found_and_divided(n: int, u: float, values: list[float], v: float) -> tuple[float, float]:
    last, before = 0.0, 0.0
    for _ in range(n):
        before, last = last, u
    values.append(last)
    values.remove(0.5)
    return before, u % v


def test_the_first_of_two_errors_is_raised() -> None:
    """The loop is a kernel, for whose results the first check waits."""
    check(found_and_divided, *((2, 1.5, [a, -1.0], v) for a, v in ((0.5, 2.0), (1.5, 0.0), (0.5, 0.0), (1.5, 2.0))))
