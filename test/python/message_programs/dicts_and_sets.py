"""Programs that are rejected for dicts of two classes, and for sets."""

import collections
from typing import Any

import torch
from torch import Tensor

from .registry import X, rejected


@torch.jit.ignore
def set_of_rows(x: Tensor) -> Any:
    return set(x)


@rejected(X, says="a set of tensors that Python returns; return a list or tuple")
def counts_rows(x: Tensor):
    return x + len(set_of_rows(x))  # rejected


@rejected(X, says=r"a result that is a dict in some runs and an OrderedDict in others; return dict\(...\) of it")
def ordered_or_not(x: Tensor):
    found: dict[str, Tensor] = collections.OrderedDict()
    found["x"] = x  # rejected
    if bool(x.sum() > 0):
        found = {"x": x + 1}
    return found


@rejected(X, says="a dict of which some keys are tuples of ints and others are not; keep one of each")
def keys_of_two_lengths(x: Tensor):
    found = {(1, 2): 0}
    found[(int(x[0, 1]), 1)] = 3
    found[(1, 2, 3)] = 4  # rejected
    return found


@rejected(X, says="aten::list on a dict of which run-time values decide what keys it has; set all keys")
def list_of_later_keys(x: Tensor):
    d = {"a": x}
    for _ in range(int(x[0, 0])):
        d["b"] = x
    return list(d.keys())  # rejected


@rejected(X, says="a dict that changes its keys in a loop that depends on run-time values")
def keys_in_two_orders(x: Tensor):
    d = {"a": x, "b": x}
    for _ in range(int(x[0, 0])):  # rejected
        d["a"] = d.pop("a")
    return d


@rejected(
    X, 2, says="a dict that gets the key 'b' in a.* that depends on run-time values, with an element that may be None"
)
def key_with_none(x: Tensor, n: int):
    d: dict[str, Tensor | None] = {"a": x}
    for _ in range(n):  # rejected
        d["b"] = None
    return d
