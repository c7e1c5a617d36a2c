"""Writes whose source overlaps the target: what eager does in no promised order is rejected, all else is imported."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy
import torch
from torch import Tensor

import ssa_compiler
from _rejections import rejection
from ssa_compiler.importer import import_program
from ssa_compiler.importer.tensors import disjointness
from ssa_compiler.importer.values.symbols import Symbols
from ssa_compiler.importer.values.values import TensorValue
from ssa_compiler.testing import check, interpret

X = torch.arange(12.0).reshape(3, 4).sin()


def expanded_row(x: Tensor) -> Tensor:
    c = x.clone()
    c += c[0:1].expand(3, 4)  # rejected
    return c


def broadcast_column(x: Tensor) -> Tensor:
    c = x.clone()
    c.mul_(c[:, :1])  # rejected
    return c


def column_by_its_element(x: Tensor) -> Tensor:
    b = x.clone()
    row = b[1]
    b[:, 0] += row[0]  # rejected
    return b


def column_by_an_element(x: Tensor, i: int) -> Tensor:
    b = x.clone()
    b[:, i] += b[1, 2]  # rejected
    return b


def shifted_columns(x: Tensor) -> Tensor:
    y = x.clone()
    y[:, 1:] = y[:, :-1]  # rejected
    return y


def transposed(x: Tensor) -> Tensor:
    b = x.clone()
    b[:3, :3].copy_(b[:3, :3].t())  # rejected
    return b


def product_with_itself(x: Tensor) -> Tensor:
    b = x[:, :3].clone()
    b.addmm_(b, b)  # rejected
    return b


def other_layout_after_a_loop(x: Tensor, n: int) -> Tensor:
    b = x.clone()
    h = b[:, 1]
    for _ in range(n):
        h = torch.tanh(h)
    b[:, 0].copy_(h)  # rejected
    return b


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (expanded_row, ()),
        (broadcast_column, ()),
        (column_by_its_element, ()),
        (column_by_an_element, (1,)),
        (shifted_columns, ()),
        (transposed, ()),
        (product_with_itself, ()),
        (other_layout_after_a_loop, (1,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_result_that_depends_on_the_order_of_elements_is_rejected(
    function: Callable[..., Tensor], numbers: tuple[int, ...]
) -> None:
    function(X, *numbers)  # eager does not raise
    found = re.match(r".*:(\d+): .*aten::\w+.* reads a tensor .*clone\(\)", rejection(function, (X, *numbers)))
    assert found is not None
    lines, first = inspect.getsourcelines(function)
    assert lines[int(found[1]) - first].rstrip().endswith("# rejected")


def cloned(x: Tensor) -> Tensor:
    c = x.clone()
    c += c[0:1].clone().expand(3, 4)
    c.mul_(c[:, :1].clone())
    return c


def same_view(x: Tensor) -> Tensor:
    b = x.clone()
    b.mul_(b)
    b.t().copy_(b.t() + 1)
    b[:, 0] += b[:, 0]
    return b


def column_to_column(x: Tensor, i: int, j: int) -> Tensor:
    b = x.clone()
    b[:, i] += b[:, j]
    return b


def columns_of_a_loop(x: Tensor, n: int) -> Tensor:
    b = x.clone()
    for i in range(1, n):
        b[:, i] = b[:, i - 1]
        for j in range(i):
            b[:, i] -= b[:, j]
    return b


def first_rows(x: Tensor, n: int) -> Tensor:
    b = x.clone()
    b[:n, 0] += b[:n, 1]
    return b


def blocks(x: Tensor) -> Tensor:
    b = x.clone()
    b[:, 0:2] += b[:, 2:4]
    b[0:2, 0:2] += b[0:2, 2:4].t()
    return b


def numbers_read_first(x: Tensor) -> Tensor:
    b = x.clone()
    b.masked_fill_(b > 0.5, b[0, 1])
    b[1].fill_(b[1, 2])
    return b


def broadcast_onto_itself(x: Tensor, k: int) -> Tensor:
    y = x.clone()
    v = y.t()
    v[k] = v[0, 1]
    return y


@pytest.mark.parametrize(
    ("function", "sets"),
    [
        (cloned, [()]),
        (same_view, [()]),
        (column_to_column, [(0, 1), (1, 1), (3, 0), (-1, 3), (-2, -3)]),
        (columns_of_a_loop, [(0,), (1,), (4,)]),
        (first_rows, [(0,), (2,), (3,)]),
        (blocks, [()]),
        (numbers_read_first, [()]),
        (broadcast_onto_itself, [(0,), (1,), (3,)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_tensors_that_lie_apart_or_meet_in_the_same_elements(
    function: Callable[..., Tensor], sets: list[tuple[int, ...]]
) -> None:
    program = import_program(function, (X, *sets[0]))
    for numbers in sets:
        assert torch.equal(interpret(program.module, X, *numbers)[0], function(X, *numbers))


def stored_after_a_loop(state: dict[str, Tensor], n: int) -> Tensor:
    h = state["h"]
    i = 0
    while i < n:
        h = torch.tanh(h)
        i += 1
    state["h"].copy_(h)
    return h


def test_source_is_the_target_itself_or_another_tensor() -> None:
    program = import_program(stored_after_a_loop, ({"h": X}, 1))
    for n in (0, 1, 3):
        ours, eager = X.clone(), X.clone()
        (result,) = interpret(program.module, ours, n)
        assert torch.equal(result, stored_after_a_loop({"h": eager}, n))
        assert torch.equal(ours, eager)


def rows_after_a_branch(x: Tensor, n: int) -> Tensor:
    b = x.clone()
    h = b[1]
    if n > 0:
        h = x.cos()[0]
    b[0:2] += h
    return b


def test_joined_source_at_another_offset_is_not_taken_for_the_target() -> None:
    assert "clone" in rejection(rows_after_a_branch, (X, 1))


def complex_parts(x: Tensor) -> Tensor:
    z = torch.complex(x, x + 1)
    z.real.mul_(z.imag)
    return torch.view_as_real(z)


def test_parts_of_complex_numbers_lie_apart() -> None:
    program: Any = import_program(complex_parts, (X,))
    assert torch.equal(interpret(program.module, X)[0], complex_parts(X))


@pytest.mark.parametrize("copies", [False, True])
def test_solving_for_addresses_never_misses_what_comparing_elements_finds(copies: bool) -> None:
    symbols, chance, root = Symbols(), random.Random(7), object()
    outcomes = set()
    for _ in range(1500):
        shape = [chance.randint(1, 4) for _ in range(chance.randint(1, 3))]
        views = []
        for sizes in (shape, [chance.choice((size, size, 1)) for size in shape]):
            strides = [chance.choice((1, 2, 3, 4, 6, 8, 12)) for _ in shape]
            if views and chance.random() < 0.6:
                strides = [chance.choice((one, one, 0)) for one in views[0].fake.stride()]
            fake = torch.zeros(200).as_strided(sizes, strides)
            offset = sympy.Integer(chance.randint(0, 8))
            views.append(TensorValue(None, fake, frozenset(), root, offset))
        target, source = views
        ends = [v.offset + sum(s * (n - 1) for s, n in zip(v.fake.stride(), v.fake.shape)) + 1 for v in views]
        distance = int(source.offset - target.offset)
        strides = torch.tensor(target.fake.stride())
        addresses = {int((position * strides).sum()) for position in (target.fake == 0).nonzero()}
        if len(addresses) < target.fake.numel():
            continue  # eager rejects targets that overlap themselves
        exact = disjointness._interferes(target.fake, source.fake, distance, int(max(ends)) + 8, copies)
        solved = disjointness._equation_interferes(symbols, target, source, copies)
        outcomes.add((exact, solved))
        assert solved or not exact, (target, source)
    assert {(True, True), (False, False)} <= outcomes


def shifted(x: Tensor, n: int) -> Tensor:
    x[n:] += x[:-n]
    return x * 2


@pytest.mark.slow
def test_eager_does_not_look_where_an_argument_has_gaps() -> None:
    compiled = ssa_compiler.compile(shifted, (torch.arange(9.0), 5))
    for step in (1, 2):
        assert torch.equal(compiled(torch.arange(18.0)[::step], 9), shifted(torch.arange(18.0)[::step], 9))
    with pytest.raises(ssa_compiler.ProgramError, match="single memory location"):
        compiled(torch.arange(9.0), 3)
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="may partly overlap"):
        compiled(torch.arange(18.0)[::2], 3)


def out_in_a_loop(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        torch.add(y[i % 3], 1, out=y[(i + 1) % 3])
        torch.mul(y[i % 3], 2.0, out=y[i % 3])
        torch.div(y[0], 3, rounding_mode="floor", out=y[(i + 2) % 3])
        torch.floor_divide(y[0], y[i], out=y[(i + 2) % 3])
    return y


def rows_in_place(x: Tensor, i: int, j: int) -> Tensor:
    y = x.clone()
    y[i] //= y[j]
    y[i].gcd_(y[j])
    y[i : i + 2].lcm_(y[j : j + 2])
    y[j].multiply_(y[i])
    y[i].eq_(y[j])
    return y


def test_ops_that_pytorch_does_not_tag_as_pointwise() -> None:
    check(out_in_a_loop, *[(torch.arange(10.0).view(5, 2) + 1, n) for n in (2, 0, 1, 4, 5)])
    whole = torch.arange(12).view(6, 2) + 1
    check(rows_in_place, *[(whole, i, j) for i, j in ((3, 1), (0, 0), (1, 2), (4, 0), (2, 1), (6, 0))])


def out_of_known_place(x: Tensor) -> Tensor:
    torch.add(x[:2], 1, out=x[1:3])
    return x


def test_a_number_and_out_raise_as_in_eager() -> None:
    with pytest.raises(ssa_compiler.ProgramError, match="single memory location"):
        import_program(out_of_known_place, (torch.ones(4),))
