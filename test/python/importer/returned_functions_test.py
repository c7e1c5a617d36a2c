# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Functions that functions of the program return, and what they read."""

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler import SsaCompilerError, compile
from ssa_compiler.testing import check

A = torch.eye(4) * 2 + 0.1
B = torch.arange(4.0) - 1
shift = 0.25


def as_operator(matrix):
    if callable(matrix):
        return matrix
    return lambda v: matrix @ v


def jacobi(matrix):
    diagonal = torch.diagonal(matrix)
    inverse = torch.where(diagonal.abs() > 1e-8, 1.0 / diagonal, torch.ones_like(diagonal))
    power = 2

    def apply(r):
        return inverse * r * power

    return apply


def compose(first, second):
    return lambda v: first(second(v))


def operators(a: Tensor, b: Tensor, n: int):
    product, scale = as_operator(a), jacobi(a)
    again, both = as_operator(product), compose(scale, product)
    x = torch.zeros_like(b)
    for i in range(n):
        r = b - product(x)
        x = x + 0.1 * scale(r)
        if i % 2 == 1:
            x = x + both(r) * 1e-3
    return x, again(x)


def times(factor):
    return lambda v: v * factor + shift


def several(a: Tensor, b: Tensor, n: int):
    """One function returns several, in loops and branches; names of theirs are other variables here."""
    twice, thrice = times(2.0), times(3.0)
    factor = b + 1
    y = twice(b) - thrice(b)
    for i in range(n):
        by_row = times(a[i % 4])
        factor = by_row(factor)
        y = y + twice(times(float(i))(factor))
    if n > 1:
        last = times(n)
        y = last(y)
    else:
        y = times(-n)(y)
    return y, factor


def late(a):
    def read(v):
        return v * a + k

    a = a + 1
    k = 3.0
    return read


def counted(start: int):
    seen = [start]

    def next_one(v):
        seen.append(len(seen))
        return v * seen[-1]

    return next_one


def changing(a: Tensor, b: Tensor, n: int):
    """What is read is what it is when the function is called: assigned later, appended to."""
    read, following = late(a[0]), counted(5)
    y = b
    for _ in range(n):
        y = following(read(y))
    return y


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def layer(self, bias):
        return lambda v: torch.tanh(self.linear(v)) + bias

    def forward(self, a, b, n: int):
        f = self.layer(b)
        for _ in range(n):
            a = f(a)
        return a, self.layer(b * 2)(a)


def named(matrix, *, power: int = 1):
    def apply(v, offset=0.5):
        for _ in range(power):
            v = matrix @ v
        return v + offset

    return apply


def with_keywords(a: Tensor, b: Tensor, n: int):
    return named(a, power=n)(b), named(a)(b, offset=1.0)


@pytest.mark.parametrize("program", [operators, several, changing, with_keywords])
def test_functions_that_are_results(program) -> None:
    compiled = check(program, *((A, B, n) for n in (3, 0, 1, 2, 6))).compiled
    assert not compiled.explain().callbacks


def test_functions_that_methods_return() -> None:
    torch.manual_seed(0)
    compiled = check(Layers().eval(), *((A, B, n) for n in (3, 0, 1, 2))).compiled
    assert not compiled.explain().callbacks


def shifted(a: Tensor, b: Tensor, n: int):
    shift = b + 1
    return times(2.0)(shift)


def one_of_two(n: int, a):
    if n > 0:
        return lambda v: v + a
    return lambda v: v - a


def chosen(a: Tensor, b: Tensor, n: int):
    return one_of_two(n, a)(b)


def recursive():
    def halved(v, n: int):
        return v if n <= 0 else halved(v / 2, n - 1)

    return halved


def recursion(a: Tensor, b: Tensor, n: int):
    return recursive()(b, n)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (shifted, "reads 'shift', a variable of the caller, too"),
        (chosen, "a function that is a result"),
        (recursion, "a function that is a result, and calls itself"),
    ],
)
def test_what_is_left_to_python(program, reason: str) -> None:
    with pytest.raises(SsaCompilerError, match=reason):
        compile(program, (A, B, 2))
    broken = compile(program, (A, B, 2), fullgraph=False)
    for n in (2, 0, 1):
        assert torch.equal(broken(A, B, n), program(A, B, n))
