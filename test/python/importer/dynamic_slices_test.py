"""Lists of which a dynamic part is taken or compared: `history[:n]`, `window.tolist() == prefix`."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler import UnsupportedOpError
from ssa_compiler.testing import check

NUMBERS = torch.tensor([1, 2, 3, 1, 2, 3, 4])
ROWS = torch.arange(12.0).reshape(4, 3)


def parts_of_numbers(x: Tensor, n: int):
    numbers = [1, 2, 3, 4]
    part = numbers[n:]
    part.append(7)
    return part, numbers, sum(numbers[:n]), len(numbers[n : n + 2])


def parts_of_tensors(x: Tensor, n: int):
    rows = [x[0], x[1] * 2, x[2]]
    total = torch.zeros(3)
    for row in reversed(rows[:n]):
        total = total * 2 + row
    return total, len(rows[n:]), len(rows[-n:])


def test_slices() -> None:
    for program in (parts_of_numbers, parts_of_tensors):
        check(program, *((ROWS, n) for n in (2, 0, 1, 3, 4, 9, -1, -2, -9)), compiled=False)


def same_windows(x: Tensor, i: int, j: int):
    one, other = x[i : i + 2].tolist(), x[j : j + 2].tolist()
    return one == other, one != other, one == [1, 2], other == [3], one == []


def same_floats(n: int):
    values = [0.5, 1.5]
    part = values[:n]
    return part == values, part != values[:1]


def test_equal_lists() -> None:
    check(same_windows, *((NUMBERS, i, j) for i, j in ((0, 3), (0, 1), (6, 6), (5, 6), (2, 2), (7, 7))))
    check(same_floats, (2,), (1,), (0,), compiled=False)


def best_tags(score: Tensor, history: Tensor, lengths: Tensor):
    """Viterbi's second half, of which each row is as long as it is: a list of lists."""
    steps = [row for row in history]  # noqa: C416 - TorchScript has no list of the rows
    found = []
    for i in range(score.shape[0]):
        best = score[i].argmax()
        tags = [best.item()]
        for step in reversed(steps[: lengths[i]]):
            best = step[i][tags[-1]]
            tags.append(best.item())
        tags.reverse()
        found.append(tags)
    return found


@pytest.mark.slow
def test_lists_of_lists_of_their_own_lengths() -> None:
    history = torch.tensor([[[1, 2, 0], [2, 2, 1]], [[0, 0, 1], [1, 2, 0]], [[2, 1, 1], [0, 1, 2]]])
    scores = torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
    check(best_tags, *((scores, history, torch.tensor(lengths)) for lengths in ([3, 1], [0, 0], [1, 3], [2, 2])))


def one_column_each(x: Tensor, n: int) -> Tensor:
    found = []
    for i in range(n):
        column = x[:, i : i + 1]
        if column.sum() > 1:
            found.append(column * 2)
    return torch.cat(found, 1) if found else x


def test_slices_of_one_element_in_a_list_of_dynamic_length() -> None:
    """They have to be of one size, so that an empty one is rejected."""
    x = torch.arange(8.0).reshape(2, 4)
    check(one_column_each, *[(x, n) for n in (3, 0, 1, 2, 4)])
    compiled = ssa_compiler.compile(one_column_each, (x, 3), fullgraph=True)
    with pytest.raises(UnsupportedOpError, match=r"a slice of one element, `x\[k : k \+ 1\]`, that is empty"):
        compiled(x, 5)
