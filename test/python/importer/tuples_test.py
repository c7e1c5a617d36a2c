"""Tuples that are lists to TorchScript: what ops return, shapes, strides, and those that are computed with."""
# ruff: noqa: RUF005, SIM300

from contextlib import suppress

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.arange(6.0)


@torch.jit.ignore
def name_of(parts: list[Tensor]) -> str:
    return type(parts).__name__


def parts(x: Tensor):
    """Slices, sums and multiples of what ops return are tuples, their copies lists."""
    a, b = x.split(2), x.chunk(3)
    c = a
    a += b
    listed = list(b)
    listed.append(x)
    listed += b
    return a, c, a[:1], b + x.unbind(0)[:1], x.unbind(0) * 2, b[::-1], listed, [b] * 2, {"b": b}, torch.cat(a + b)


def shapes(x: Tensor):
    strides, shape = x.stride(), x.shape
    same = shape == (6,), shape == [6], (6,) == shape, strides == (1,), strides == [1], [1] == strides
    return strides, strides + (1,), strides[:1], strides + shape, shape + (1,), (1,) + shape, shape * 2, same, x


def displays(x: Tensor, n: int):
    """Of a tuple that it computes with TorchScript makes a list, like any other."""
    a, b, size = [1, n], (1, n), x.dim()
    twice = (1, n) * 2, b * 2, 2 * b, a * 2, [n, 1] * 2, ([n] if size == 1 else [1]) * 2, (x, x) * 2
    equal = a == b, b == a, a != b, [1, n] == (1, n), (1, n) == b, [1, n] == a, ((1, n) if n > 2 else (n, 1)) == b
    b *= 2
    return twice, equal, b, b + (n,), x


def shadowed(x: Tensor, n: int):
    list = [1, n]
    return list * 2, [1, n] * 2, (1, n) * 2, list == [1, n], list == (1, n), x


def asked(x: Tensor, given: list[Tensor]):
    """`isinstance` of lists and tuples that are such to both."""
    pair, listed, some = (x, x), [x, x], x
    if isinstance(pair, tuple):
        some = pair[0] + 1
    if isinstance(listed, list):
        some = some + torch.stack(listed).sum()
    return some, isinstance(given, list), isinstance(x, tuple), isinstance(x.split(2), (list, tuple))


def called(x: Tensor):
    return x * len(name_of(x.split(2))), x * len(name_of([x]))


def ops_by_name(x: Tensor):
    """`torch.ops` returns lists."""
    return torch.ops.aten.split(x, 2), torch.ops.aten.unbind(x)[:2]


def chosen(x: Tensor, n: int):
    parts = x.split(2)
    for i in range(n):
        if bool(x[i] > 1):
            parts = (x + i).split(2)
    return parts, parts[:2]


@pytest.mark.parametrize("program", [parts, shapes, called, ops_by_name])
def test_of_ops(program) -> None:
    check(program, (X,), compiled=False)


def test_of_programs() -> None:
    check(displays, (X, 2), (X, 3), (X, 0), compiled=False)
    check(shadowed, (X, 2), compiled=False)
    check(asked, (X, [X, X]), compiled=False)
    check(chosen, (X, 0), (X, 1), (X, 3), compiled=False)


def test_changes_raise() -> None:
    def appended(x: Tensor):
        parts = x.split(2)
        parts.append(x)
        return parts

    def replaced(x: Tensor):
        parts = x.split(2)
        parts[0] = x
        return parts

    def joined(x: Tensor):
        return x.split(2) + [x]

    for program, error in ((appended, AttributeError), (replaced, TypeError), (joined, TypeError)):
        with pytest.raises(error):
            program(X.clone())
        with pytest.raises(error):
            check(program, (X,), compiled=False)


class Optional(nn.Module):
    def forward(self, x: Tensor, pair: tuple[Tensor, Tensor] | None):
        if isinstance(pair, tuple):
            a, b = pair  # TorchScript learns the type from the question
            return x + a * b
        return x


def test_types_that_questions_tell() -> None:
    check(Optional(), (X, (X, X)), compiled=False)
    check(Optional(), (X, None), compiled=False)


def test_the_class_of_parts_is_not_told() -> None:
    def named(x: Tensor):
        parts = x.split(2)
        if isinstance(parts, list):
            return parts[0]
        return x

    with suppress(errors.UnsupportedProgramError):  # partial evaluation knows what the example shows
        check(named, (X,), compiled=False)
