"""Programs that are rejected for objects in lists of dynamic length, and for tuples of indices."""

import torch
from torch import Tensor

from .registry import X, rejected


class Item:
    def __init__(self, row: Tensor, number: int):
        self.row = row
        self.number = number


@rejected(
    X, 2, says="a list of dynamic length with objects of several classes, or that may be None; keep a flag in the"
)
def items_or_none(x: Tensor, n: int):
    items: list[Item | None] = [Item(x[0], 1)]
    for i in range(int(x[n, 0])):
        items.append(Item(x[i % 4], i))
        items.append(None)  # rejected
    return len(items)


@rejected(X, 2, says="an object that may be in two places of the result, of which one is in a list of dynamic length;")
def items_and_the_first(x: Tensor, n: int):
    items = [Item(x[0], -1)]
    for i in range(int(x[n, 0])):  # rejected
        items.append(Item(x[i % 4], i))
    return items, items[0]


@rejected(X, Item(X[0], 3), says="an object of the caller's or of the module's in a list of dynamic length; put its")
def the_callers(x: Tensor, given: Item):
    items: list[Item] = []
    for i in range(int(x[2, 0])):
        items.append(Item(x[i % 4], i))
    items.append(given)  # rejected
    return len(items)


@rejected(X, says="a tuple of tensors as one of several indices; write its elements there")
def places_and_columns(x: Tensor):
    places = torch.where(x[:, 0] > 3)
    return x[places, :2]  # rejected
