"""What costs time for each op of a program is done once."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
import torch
from torch import Tensor

import ssa_compiler


def summed(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = x + x[i]
    return x


class Lookups:
    """Counts the modules that Python looks for, and finds none."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        self.names[name] += 1


def test_dialects_without_python_classes_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = Lookups()
    monkeypatch.setattr(sys, "meta_path", [lookups, *sys.meta_path])
    ssa_compiler.compile(summed, (torch.ones(3, 3), 2), cache=False)
    repeated = {name: count for name, count in lookups.names.items() if ".dialects." in name and count > 1}
    assert not repeated
