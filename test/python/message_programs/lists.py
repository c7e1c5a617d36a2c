"""Programs that are rejected for lists of dynamic length."""

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
