"""Lists whose length is dynamic: what they do, stage by stage, and what is rejected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.pipeline import run_pipeline
from ssa_compiler.testing import check

TRIPS = (3, 0, 1, 2, 9)


def rows_of(count: int = 12) -> Tensor:
    return torch.arange(3.0 * count).reshape(count, 3)


def all_trips() -> list[tuple[Any, ...]]:
    return [(rows_of(), n) for n in TRIPS]


def several_lists(x: Tensor, n: int) -> tuple[Tensor, int, list[Tensor]]:
    a: list[Tensor] = []
    b = [x[0]]
    for i in range(n):
        a.append(x[i])
        b.append(x[i] * 2)
        b.append(x[i] + 1)
    return torch.stack(b, 1), len(a), a


def constant_inner_loop(x: Tensor, n: int) -> Tensor:
    a: list[Tensor] = []
    for i in range(n):
        for j in range(3):
            a.append(x[i] + x[j])
    return torch.stack(a + [x[0]])  # noqa: RUF005 (TorchScript has no unpacking)


def made_in_an_outer_loop(x: Tensor, n: int) -> list[Tensor]:
    outs: list[Tensor] = []
    for j in range(n):
        inner = [x[j]]
        for i in range(j):
            inner.append(x[i] * j)
        outs.append(torch.stack(inner).sum(0))
    return outs


def scalars_without_dimensions(x: Tensor, n: int) -> Tensor:
    a = [x[0].sum()]
    for i in range(n):
        a.append(x[i].max())
    return torch.stack(a)


def popped_until_empty(x: Tensor, n: int) -> int:
    a = [x[0], x[1]]
    for _ in range(n):
        a.pop()
    return len(a)


def cleared(x: Tensor, n: int) -> tuple[Tensor, int]:
    a = [x[0]]
    for i in range(n):
        if i % 4 == 3:
            a.clear()
        a.append(x[i])
        a.extend([x[0], x[1]])
    return torch.stack(a), len(a)


def at_both_ends(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    a = [x[0]]
    s = torch.zeros(3)
    for i in range(n):
        a.append(x[i])
        a.insert(0, x[i] * 2)
        if i % 3 == 2:
            s = s + a.pop(0)
            del a[-1]
    return torch.stack(a), s


def slices(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor, Tensor, int, int, Tensor]:
    a = [x[0], x[1]]
    for i in range(n):
        a.append(x[i])
    return (
        torch.stack(a[1:]),
        torch.stack(a[:-1]),
        torch.stack(a[-2:]),
        torch.stack(a[n:]),
        len(a[2:1]),
        len(a[5:50]),
        torch.stack(a[-50:4]),
    )


def new_list_each_time(x: Tensor, n: int) -> list[Tensor]:
    a: list[Tensor] = []
    for i in range(n):
        a = a + [x[i]]  # noqa: RUF005 (TorchScript has no unpacking)
    return a


def augmented(x: Tensor, n: int) -> list[Tensor]:
    a: list[Tensor] = []
    for i in range(n):
        a += [x[i], x[0]]
    return a


def numbers(x: Tensor, n: int) -> tuple[int, list[int], list[float], list[bool], Tensor, Tensor, float]:
    a: list[int] = []
    f = [1.5]
    b = [True]
    for i in range(n):
        a.append(i * i)
        f.append(i / 2)
        b.append(i % 2 == 0)
    s = 0
    for v in a:
        s += v
    return s, a, f, b, torch.tensor(a, dtype=torch.int64), torch.tensor(f), f[-1]


def without_a_loop(x: Tensor, n: int) -> tuple[Tensor, list[Tensor]]:
    a = [x[0]]
    if n > 1:
        a.append(x[1])
    return torch.stack(a), a


def after_the_loop(x: Tensor, n: int) -> Tensor:
    a: list[Tensor] = []
    for i in range(n):
        a.append(x[i])
    a.append(x[0])
    a.append(x[1])
    for i in range(n):
        a.append(x[i] + 1)
    return torch.stack(a)


def first_is_special(x: Tensor, n: int) -> list[Tensor]:
    a: list[Tensor] = []
    for i in range(n):
        if len(a) > 0:
            a.append(a[-1] + x[i])
        else:
            a.append(x[i])
    return a


def index_out_of_range(x: Tensor, n: int) -> Tensor:
    a = [x[0]]
    for i in range(n):
        a.append(x[i])
    return a[3] + a[-2]


def bounded_while(x: Tensor, n: int) -> Tensor:
    a: list[Tensor] = []
    i = 0
    while i < n:
        a.append(x[i])
        i += 1
    return torch.cat(a)


def written_through_the_list(x: Tensor, n: int) -> list[Tensor]:
    a = [x[0].clone()]
    for i in range(n):
        a.append(x[i] * 2)
    a[0].add_(1)
    for t in a:
        t.mul_(2)
    return a


PROGRAMS = [
    several_lists,
    constant_inner_loop,
    made_in_an_outer_loop,
    scalars_without_dimensions,
    popped_until_empty,
    cleared,
    at_both_ends,
    slices,
    new_list_each_time,
    augmented,
    numbers,
    without_a_loop,
    after_the_loop,
    first_is_special,
    index_out_of_range,
    bounded_while,
    written_through_the_list,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_stage_equals_eager(program: Callable[..., Any]) -> None:
    check(program, *all_trips(), compiled=False)


def test_empty_lists_raise_what_eager_raises() -> None:
    checked = check(bounded_while, (rows_of(), 2), (rows_of(), 0), compiled=False)
    assert [type(error) for error in checked.errors] == [type(None), ValueError]


# Eager's list holds the tensor itself: these would show a stale copy.


def written_after_append(x: Tensor, n: int) -> list[Tensor]:
    h = x[0].clone()
    a: list[Tensor] = []
    for _ in range(n):
        a.append(h)
        h += 1
    return a


def written_before_append(x: Tensor, n: int) -> list[Tensor]:
    h = x[0].clone()
    a: list[Tensor] = []
    for _ in range(n):
        h += 1
        a.append(h)
    return a


def argument_written(x: Tensor, n: int) -> Tensor:
    a = [x[0]]
    for i in range(n):
        a.append(x[i])
    x[0] = 5.0
    return torch.stack(a)


def element_written(x: Tensor, n: int) -> tuple[list[Tensor], Tensor]:
    h = x[0].clone()
    a = [h]
    for i in range(n):
        a.append(x[i] * 2)
    a[0].add_(1)
    return a, h


def one_tensor_twice(x: Tensor, n: int) -> list[Tensor]:
    h = x[0].clone()
    a = [h]
    for _ in range(n):
        a.append(h)
    a[0].add_(1)
    return a


def view_of_what_is_written(x: Tensor, n: int) -> list[Tensor]:
    y = x.clone()
    a: list[Tensor] = []
    for i in range(n):
        a.append(y[i])
    y[0] += 1
    return a


def argument_written_through_the_list(x: Tensor, n: int) -> Tensor:
    a: list[Tensor] = []
    for i in range(n):
        a.append(x[i])
    for t in a:
        t += 1
    return x * 2


def written_in_the_next_iteration(x: Tensor, n: int) -> list[Tensor]:
    a: list[Tensor] = []
    h = x[0].clone()
    for i in range(n):
        h[0] = float(i)
        h = h * 2
        a.append(h)
    return a


ALIASED = [
    written_after_append,
    written_before_append,
    argument_written,
    element_written,
    one_tensor_twice,
    view_of_what_is_written,
    argument_written_through_the_list,
    written_in_the_next_iteration,
]


@pytest.mark.parametrize("program", ALIASED, ids=lambda program: program.__name__)
def test_a_write_that_the_list_would_show_is_rejected(program: Callable[..., Any]) -> None:
    imported = import_program(program, (rows_of(), 2))
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match=r"is in a list .* clone it") as caught:
        run_pipeline(imported.module)
    lines = range(program.__code__.co_firstlineno, program.__code__.co_firstlineno + 12)
    assert caught.value.location is not None
    assert caught.value.location.line in lines


def slices_of_growing_size(x: Tensor, n: int) -> Tensor:
    a: list[Tensor] = []
    for i in range(n):
        a.append(x[:, :i])
    return torch.cat(a, 1)


def two_shapes(x: Tensor, n: int) -> Tensor:
    a = [x]
    for i in range(n):
        a.append(x[i])
    return a[0]


def two_dtypes(x: Tensor, n: int) -> Tensor:
    a = [x[0]]
    for i in range(n):
        a.append(x[i].to(torch.int64))
    return a[0]


def nested_lists(x: Tensor, n: int) -> int:
    a: list[list[Tensor]] = []
    for i in range(n):
        a.append([x[i]])
    return len(a)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (slices_of_growing_size, "the shape of its elements depends on values made in there"),
        (two_shapes, r"elements differ: f32 of shape \[12, 3\] and f32 of shape \[3\]"),
        (two_dtypes, r"elements differ: f32 of shape \[3\] and si64 of shape \[3\]"),
        (nested_lists, "tensors and numbers only"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_rejected(program: Callable[..., Any], reason: str) -> None:
    def of_data(x: Tensor, n: Tensor):  # type: ignore[no-untyped-def]
        return program(x, int(n))

    with pytest.raises(ssa_compiler.UnsupportedProgramError, match=reason) as caught:
        import_program(of_data, (rows_of(), torch.tensor(2)))
    assert caught.value.location is not None
    (needed,) = import_program(program, (rows_of(), 2)).constant_specs()  # of an argument it is a constant
    assert needed.path == "n"
    assert re.search(reason, needed.reason)


def short_constant_loop(x: Tensor, n: int) -> list[Tensor]:
    a: list[Tensor] = []
    for i in range(4):
        a.append(x[: i + 1] + n)
    return a


def test_short_constant_loops_are_written_out() -> None:
    checked = check(short_constant_loop, *all_trips(), compiled=False)
    assert checked.loops("imported") == 0


def extremes_of_chosen(x: Tensor, low: float) -> tuple[int, int, int, float, float, bool, bool]:
    places: list[int] = []
    values: list[float] = []
    flags: list[bool] = []
    for i in range(x.size(0)):
        if bool(x[i] > low):
            places.append(i * (3 - i))
            values.append(float(x[i]))
            flags.append(bool(x[i] > 2))
    return max(places), min(places), sum(places), max(values), min(values), max(flags), min(flags)


def test_extremes_of_a_list_whose_length_data_decides() -> None:
    x = torch.tensor([-0.0, 0.0, 1.0, torch.inf, -5.0])
    calls = [
        (x, -1.0),
        (x.flip(0), -9.0),
        (x, 0.5),
        (torch.tensor([0.0, -0.0, -9.0, -9.0, -9.0]), -1.0),
        (x, torch.inf),
    ]
    check(extremes_of_chosen, *calls, exact=True)


def queue(x: Tensor, n: int) -> list[int]:
    q = [0]
    for i in range(40):
        q.append(i)
        if q[0] < n:
            q.pop(0)
    return q


def chosen_rows(x: Tensor, n: int) -> Tensor:
    rows: list[Tensor] = []
    for i in range(12):
        if x[i, 0] >= n:
            rows.append(x[i])
    return torch.stack(rows)


def in_order(x: Tensor, low: float) -> tuple[list[float], list[float], list[int], list[bool]]:
    kept: list[float] = []
    places: list[int] = []
    flags: list[bool] = []
    for k, v in enumerate(x.unbind()):
        if not float(v) < low:
            kept.append(float(v))
            places.append(k * 3 % 5)
            flags.append(k % 2 == 0)
    ascending = sorted(kept)
    kept.sort(reverse=True)
    places.sort()
    return ascending, kept, places, sorted(flags)


@pytest.mark.slow
def test_sorted_lists_whose_length_data_decides() -> None:
    x = torch.tensor([0.5, -0.0, 3.0, 0.0, 2.5, 0.5, -1.0])
    check(in_order, *((x, low) for low in (0.0, -2.0, 2.0, 9.0)))
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="sort of a list with NaN"):
        ssa_compiler.compile(in_order, (x, 0.0))(torch.full([7], float("nan")), 0.0)


@pytest.mark.parametrize("function", [queue, chosen_rows])
def test_a_list_of_unknown_length_after_one_iteration_keeps_a_short_loop(function: Callable[..., Any]) -> None:
    check(function, (rows_of(), 3), (rows_of(), 0))
    imported = str(import_program(function, (rows_of(), 3)).module)
    assert imported.count("torch.prim.Loop ") == 1
