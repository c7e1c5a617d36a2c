"""Lists and dicts that are returned from inside of a loop or branch, and changed otherwise."""

from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check

ROW = torch.arange(5.0)
ROWS = torch.arange(10.0).view(5, 2) / 3


def from_a_loop(x: Tensor, n: int) -> list[Tensor]:
    out: list[Tensor] = []
    for i in range(n):
        out.append(x[i])
        if bool(x[i].sum() > 3):
            return out
    out.append(x[0])
    return out


def with_more(x: Tensor, n: int) -> tuple[list[int], Tensor]:
    out: list[int] = []
    for i in range(n):
        if i == 3:
            return out, x
        out.append(i)
    if len(out) > 1:
        out.pop()
    return out, x + 1


def from_inner_loops(x: Tensor, n: int) -> tuple[list[int], int]:
    seen: list[int] = []
    for i in range(n):
        for j in range(i):
            seen.append(j)
            if i * j == 6:
                return seen, j
        if len(seen) > 5:
            seen.pop()
    seen.append(-1)
    return seen, 0


def made_inside(x: Tensor, n: int) -> list[Tensor]:
    for i in range(n):
        out = [x[i] + 1, x[0] * 2]
        if bool(x[i].sum() > 1):
            out[0] = x[1] * 2
            return out
    other = [x[0] * 3, x[0] - 1]
    other[1] = x[1] + 4
    return other


def dict_of_tensors(x: Tensor, n: int) -> dict[str, Tensor]:
    d = {"a": x[:, 0]}
    for i in range(n):
        d["a"] = d["a"] + i
        if bool(d["a"][0] > 3):
            return d
    d["a"] = d["a"] * 2
    return d


def with_break(x: Tensor, n: int) -> tuple[list[int], int]:
    found = [0]
    for i in range(n):
        parts = [i]
        if bool(x[i, 0] > 2):
            found = parts
            break
        parts.append(1)
        found = [found[0] + parts[1]]
    return found, n


@pytest.mark.parametrize(
    "program", [from_a_loop, with_more, from_inner_loops, made_inside, dict_of_tensors, with_break]
)
def test_lists_made_here(program: Any) -> None:
    check(program, *[(ROWS, n) for n in (3, 0, 1, 2, 4, 5)])


def longer_in_one_branch(x: Tensor, n: int) -> tuple[Tensor, int]:
    rows = [x[0] * 1]
    alias = rows
    for i in range(n):
        if bool(x[i].sum() > 1):
            for j in range(i):
                rows.append(x[j] * 2)
        else:
            x[i] += torch.stack(rows).sum(0)
    return torch.stack(alias), len(rows)


def early(x: Tensor, n: int) -> tuple[Tensor, int]:
    rows = [x[0]]
    if bool(x[n - 1].sum() > 1):
        return torch.stack(rows) * 3, len(rows)
    k = 0
    while k < n and bool(x[k, 0] < 2):
        rows.append(x[k])
        k += 1
    return torch.stack(rows), k


@pytest.mark.parametrize("program", [longer_in_one_branch, early])
def test_lists_that_a_loop_in_one_branch_makes_longer(program: Any) -> None:
    check(program, *[(rows.clone(), n) for rows in (ROWS, -ROWS, ROWS - 1) for n in (3, 0, 1, 2, 5)])


def of_each_image(x: Tensor) -> list[Tensor]:
    found = [torch.zeros((0, 3))] * len(x)
    for i, rows in enumerate(x):
        rows = rows[rows[:, 0] > 0]
        if not rows.shape[0]:
            continue
        found[i] = rows * 2
    return found


def until_one_is_empty(x: Tensor) -> list[Tensor]:
    found = [torch.zeros((1, 3)), torch.zeros((2, 3)), torch.zeros((0, 3))]
    for i in range(3):
        rows = x[i][x[i][:, 0] > 0]
        if rows.numel() == 0:
            break
        found[i] = rows
    return found


def test_tensors_of_their_own_sizes_in_a_loop_with_continue_or_break() -> None:
    """TorchScript says of such a loop only when it goes on."""
    x = torch.tensor([[[1.0, 2, 3], [-1, 5, 6]], [[-1, 2, 3], [-4, 5, 6]], [[7, 8, 9], [1, 1, 1]]])
    for program in (of_each_image, until_one_is_empty):
        check(program, (x,), (-x,), (x.abs(),), (x.flip(0),))


def given(x: Tensor, out: list[int], n: int) -> list[int]:
    for i in range(n):
        out[0] += i
        out.append(i)
        if bool(x[i] > 1):
            return out
    out.append(-1)
    return out


def test_a_list_of_the_callers() -> None:
    check(given, *[(ROW, [n], n) for n in (3, 0, 1, 2, 5)])
