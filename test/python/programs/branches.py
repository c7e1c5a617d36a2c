"""Writes under branches, through views taken before them, and the remedies of loops and functions."""

from __future__ import annotations

from torch import Tensor

from . import program
from .data import ramp


@program(lambda: [(ramp(4, 3), ramp(4, 3, start=50), idx) for idx in (2, 0, -1, -3)])
def branch_on_index(a: Tensor, b: Tensor, idx: int) -> Tensor:
    """The branch example: row `idx` under one condition, row `-idx` under the other."""
    c = b.clone()
    if idx >= 0:
        c[idx] = a[idx]
    else:
        c[-idx] = a[-idx]
    return c


@program(lambda: [(ramp(4, 3), ramp(4, 3, start=50), idx) for idx in (2, 0, -1, -3)])
def branch_on_index_in_the_callers_tensor(a: Tensor, b: Tensor, idx: int) -> Tensor:
    """The same with `b` written in place: the caller sees it."""
    if idx >= 0:
        b[idx] = a[idx]
    else:
        b[-idx] = a[-idx]
    return b


@program(lambda: [(ramp(4, 3), n) for n in (1, 0, -2)])
def view_written_under_a_branch(x: Tensor, n: int) -> Tensor:
    """A view taken before the branch, written on one side only, its base read afterwards."""
    y = x.clone()
    v = y[1]
    if n > 0:
        v.mul_(10.0)
    else:
        y[2] += 1.0
    return y + v.sum()


@program(lambda: [(ramp(4, 3) * sign, n) for sign in (1.0, -1.0) for n in (2, 0, 1, 7)], loops=1)
def view_before_a_data_dependent_branch_with_a_loop(x: Tensor, n: int) -> Tensor:
    """The view `row` is taken before a branch on data that holds a loop which writes it."""
    y = x.clone()
    row = y[1]
    if bool((x.sum() > 0).item()):
        for i in range(n):
            row[i % 3] = row[i % 3] + float(i + 1)
    else:
        row.zero_()
    return y * 2.0 + row


@program(lambda: [(ramp(3, 3), a, b) for a in (1, -1) for b in (1, -1)])
def nested_branches_with_views_of_views(x: Tensor, a: int, b: int) -> Tensor:
    """A view of a view, written at the inner level, its bases read at the outer one."""
    y = x.clone()
    block = y[1:]
    if a > 0:
        row = block[0]
        if b > 0:
            row.fill_(5.0)
        else:
            block[1] = row * 2.0
        block.add_(1.0)
    elif b > 0:
        y.t()[0] = 9.0
    return y


@program(lambda: [(ramp(2, 3), ramp(2, 3, start=10), flag) for flag in (1, 0)])
def name_of_one_tensor_or_another(x: Tensor, y: Tensor, flag: int) -> tuple[Tensor, Tensor]:
    """`t` is one tensor or the other, depending on a branch, and is written afterwards."""
    a = x.clone()
    b = y.clone()
    if flag > 0:  # noqa: SIM108 - a statement, not an expression, is what is tested
        t = a[0]
    else:
        t = b[1]
    t += 100.0
    return a, b


@program(lambda: [(ramp(5), limit) for limit in (3.5, 0.0, 100.0, 1.5)], loops=1)
def break_on_data(x: Tensor, limit: float) -> Tensor:
    """A loop left early when an element reaches a limit that is an argument."""
    y = x.clone()
    for i in range(5):
        if float(y[i]) > limit:
            break
        y[i] = -y[i]
    return y


@program(lambda: [(ramp(6, 2), n) for n in (6, 0, 1, 2, 5)], loops=1)
def continue_in_a_loop(x: Tensor, n: int) -> Tensor:
    """Every second row is left alone."""
    y = x.clone()
    for i in range(n):
        if i % 2 == 1:
            continue
        y[i].mul_(-1.0)
    return y


@program(lambda: [(ramp(4), n) for n in (2, 0, 1, 9)], loops=1)
def early_return(x: Tensor, n: int) -> Tensor:
    """A return from inside a loop, after a write."""
    y = x.clone()
    for i in range(4):
        y[i] += 10.0
        if i == n:
            return y * 2.0
    y[0] = 0.0
    return y


@program(lambda: [(ramp(3, 2), n) for n in (4, 0, 1, -1)])
def early_return_before_a_write(x: Tensor, n: int) -> Tensor:
    """One way returns the argument untouched, the other a changed copy."""
    if n <= 0:
        return x + 0.0
    y = x.clone()
    y[n % 3] = y[(n + 1) % 3]
    return y


@program(lambda: [(ramp(4), n) for n in (3, 0, 1, 2, 20)], loops=1)
def break_and_continue_in_a_while(x: Tensor, n: int) -> Tensor:
    """A data-dependent loop with both ways to cut an iteration short."""
    y = x.clone()
    i = 0
    while float(y.sum()) < 40.0:
        i += 1
        if i > n:
            break
        if i % 2 == 0:
            continue
        y[i % 4] = y[i % 4] * 2.0
    return y
