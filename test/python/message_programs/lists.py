"""Programs that are rejected for lists of dynamic length."""

import enum

import torch
from torch import Tensor

from .registry import X, rejected


@rejected(X, 2, says="a step in a slice of a list of tensors of different lengths; take its elements in a loop")
def every_second(x: Tensor, n: int):
    found = [x[:1]]
    for i in range(n):
        found.append(x[:i])
    return found[::2]  # rejected


@rejected(X, 2, says="reverse of a list of tensors of different lengths; go through it backwards")
def reverses(x: Tensor, n: int):
    found = [x[:1]]
    for i in range(n):
        found.append(x[:i])
    found.reverse()  # rejected
    return found


@rejected(X, 2, says="a list of dynamic length with tensors of different lengths and others; keep these in a list of")
def rows_and_numbers(x: Tensor, n: int):
    found = [x[:1]]
    for i in range(n):
        found.append(x[:i])
    found.append(x.sum())  # rejected
    return found


@rejected(X, 2, says="torch.tensor of a list whose length depends on run-time values with other elements than numbers")
def tensor_of_rows(x: Tensor, n: int):
    found = []
    for i in range(n):
        found.append(x[i, :1])
    return torch.tensor(found)  # rejected


@rejected(
    X, says="a list of numbers that is in two places of the result, of which one is a list of dynamic length; return"
)
def shown_twice(x: Tensor):
    found: list[list[int]] = []
    for k in range(int(x[0, 2])):  # rejected
        found.append([k])
    return found, found[0]


@rejected(X, says="a list that an if or loop chose, beside what it may be in the result; return a copy of it")
def chosen_beside_it(x: Tensor):
    found = [1, 2]  # rejected
    chosen = found if x.sum() > 0 else [3]
    return found, chosen


@rejected(X, says="a list of dynamic length, of lists of numbers and others; keep these in a list of their own")
def numbers_and_shapes(x: Tensor):
    found: list[list[int]] = []
    for k in range(int(x[0, 2])):
        found.append([k])
    found.append(x.shape)  # rejected
    return found


@rejected(X, says=r"list \* int with tensors and a dynamic int; append them in a loop")
def repeats_a_tensor(x: Tensor):
    return [x] * int(x[0, 2])  # rejected


@rejected(
    X, says="a list of several that an if or loop with run-time values makes, used behind it; make them in front of it"
)
def chosen_of_new_ones(x: Tensor):
    best, count = [0], 0
    for k in range(int(x[0, 2])):  # rejected
        a, b = [k], [k + 1]
        chosen = a if bool(x[k, 0] > 1) else b
        chosen.append(1)
        count += len(a)
        if bool(x[k, 1] > 1):
            best = chosen
    return best, count


@rejected(
    X, says="set_item on a list in a list of dynamic length that may have another name, or another place by now; change"
)
def element_with_two_names(x: Tensor):
    n = int(x[1, 0])
    row = [0] * n
    rows = [[1] * n for _ in range(n)]
    rows.append(row)
    rows.append(row)
    rows[-1][0] = 2  # rejected
    return rows[0]


@rejected(
    X, says="a list in a list of dynamic length, which has changed since it was read, or another list, as control flow"
)
def changed_since_it_was_read(x: Tensor):
    n = int(x[1, 0])
    rows = [[1] * n for _ in range(n)]
    row = rows[0]
    rows[0][0] = 2
    for i in range(n):  # rejected
        row = rows[i]
    return row[0]


@rejected(X, 2, says="a list of dynamic length of which some elements are None, and others no numbers; keep a flag for")
def tensors_or_none(x: Tensor, n: int):
    found: list[Tensor | None] = []
    for _ in range(int(x[n, 0])):
        found.append(None)
    found.append(x)  # rejected
    return len(found)


class Phase(enum.Enum):
    WARM = 1
    COLD = 2


@rejected(X, says="a list of dynamic length of members of an enum and others; keep these in a list of their own")
def phases_and_none(x: Tensor):
    found: list[Phase | None] = []
    for _ in range(int(x[0, 2])):
        found.append(Phase.WARM)
    found.append(None)  # rejected
    return found
