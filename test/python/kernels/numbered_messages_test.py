"""Exceptions that the program raises, with numbers of the run in their messages, in kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler import compile
from ssa_compiler.testing import check
from ssa_compiler.testing.verified_kernels import verify_kernels

X = torch.linspace(-1, 2, 12).reshape(3, 4)


def limited(x: Tensor, n: int, limit: float, strict: bool) -> tuple[Tensor, float, int]:
    y = x.clone()
    total = 0.0
    for i in range(n):
        if i > 5:
            raise ValueError(f"too many steps: {i} of {n}, sum {y.sum().item():.3f}, {strict}")
        y[i % 3] += 0.5
        total += y[0, 0].item()
        if strict and total > limit:
            raise OverflowError("%d: %5.2f > %s (100%%)" % (i, total, limit))  # noqa: UP031
    return y, total, n


def selected(x: Tensor, k: int) -> tuple[Tensor, int, Tensor]:
    """The sizes of the results are in the status, too."""
    rows = torch.nonzero(x > 0)
    if rows.size(0) < k:
        raise RuntimeError(f"{k} rows are asked for, there are {rows.size(0)}")
    total = 0
    for i in range(k):
        total += int(rows[i, 1])
        if total > 7:
            raise KeyError(f"{total}")
    return rows, total, x[x < 0]


def shaped(x: Tensor, n: int, f: float) -> Tensor:
    for i in range(n):
        x = x * 0.5 + i
        if i > 1:
            raise ValueError(f"bad {(n, f)} {[i, n]} {x.shape} {(i,)} {tuple(x.shape)} {[(i, f), (1, 2.5)]} {()}")
    return x


_LIMITED = [(X, n, limit, strict) for n in (0, 1, 6, 7, 50) for limit in (-0.25, 3.0) for strict in (False, True)]
_SHAPED = [(X, n, f) for n in (0, 1, 2, 3) for f in (0.5, 1e30, float("nan"))]
_SELECTED = [(x, k) for x in (X, -X, torch.zeros(3, 4)) for k in (0, 1, 3, 7, 100, -(2**63))]


@pytest.mark.parametrize(("function", "calls"), [(limited, _LIMITED), (selected, _SELECTED), (shaped, _SHAPED)])
@pytest.mark.parametrize("kernels", [True, False])
def test_as_eager(function: Callable[..., Any], calls: list[Any], kernels: bool) -> None:
    compiled = compile(function, calls[0], kernels=kernels)
    explained = compiled.explain()
    assert explained.kernel == kernels, explained.kernel_reason
    for args in calls:
        _compare(compiled, function, args)


def _compare(compiled: Callable[..., Any], function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    expected, found = _outcome(function, args), _outcome(compiled, args)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected))
        assert str(found).partition(": ")[2] == str(expected.args[0])  # behind the user's line
    else:
        assert found == expected


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        results = function(*args)
        results = results if isinstance(results, tuple) else (results,)
        return [result.tolist() if isinstance(result, Tensor) else result for result in results]
    except (ValueError, OverflowError, RuntimeError, KeyError) as error:
        return error


def test_accesses_are_within_the_status() -> None:
    compiled = compile(selected, (X, 1))
    verify_kernels(compiled)
    with pytest.raises(RuntimeError, match="100 rows are asked for, there are 8"):
        compiled(X, 100)
    _compare(compiled, selected, (X, 3))


def beside_a_print(x: Tensor, n: int) -> Tensor:
    print("begins")
    if n < 0:
        raise ValueError(f"n is {n}")
    return x * n


def test_in_a_program_that_is_no_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = check(beside_a_print, (X, 2)).compiled
    with pytest.raises(ValueError, match="n is -3"):
        compiled(X, -3)
    assert capsys.readouterr().out.endswith("begins\n")


def of_a_tensor(x: Tensor) -> Tensor:
    if bool(x.sum() < 0):
        raise ValueError(f"negative: {x}")
    return x.sqrt()


def test_a_message_with_a_tensor_is_made_in_python() -> None:
    compiled = compile(of_a_tensor, (X,))
    assert not compiled.explain().kernel
    with pytest.raises(ValueError, match="negative: tensor"):
        compiled(-X)
