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
