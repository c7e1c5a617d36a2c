"""Fields of dataclasses that are annotated `tuple` or `list`: their defaults say what is in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

import ssa_compiler
from ssa_compiler.testing import check


@dataclass
class Settings:
    n: int = 3
    area: tuple = (0.0, 10.0)  # type: ignore[type-arg]
    names: tuple = ("a", 1)  # type: ignore[type-arg]


@dataclass
class Levels:
    sizes: list = field(default_factory=lambda: [1, 2])  # type: ignore[type-arg]
    scale: float = 2.0


class Filter:
    def __init__(self, x: torch.Tensor, settings: Settings) -> None:
        low, high = settings.area
        self.x = x.clamp(low, high)
        self.settings = settings

    def step(self, k: int) -> torch.Tensor:
        return self.x * k + self.settings.area[1]


def _filtered(x: torch.Tensor, settings: Settings) -> Any:
    made = Filter(x, settings)
    total = torch.zeros(3)
    for k in range(settings.n):
        total += made.step(k)
    return total, settings.names[1]


def _levels(x: torch.Tensor, levels: Levels) -> Any:
    total = x.clone()
    for size in levels.sizes:
        total += size * levels.scale
    return total


def test_tuples() -> None:
    x = torch.randn(3)
    for settings in (Settings(), Settings(0), Settings(1, (-1.0, 1.0)), Settings(2, (0.5, 0.5), ("b", 7))):
        check(_filtered, (x, settings))
    annotations = dict(Settings.__init__.__annotations__)
    assert annotations["area"] in (tuple, "tuple")


def test_lists() -> None:
    for levels in (Levels(), Levels([3, 4, 5], 0.5), Levels([], 1.0)):
        check(_levels, (torch.randn(3), levels))


def test_what_has_other_types_than_its_default_is_an_error() -> None:
    x = torch.randn(3)
    compiled = ssa_compiler.compile(_filtered, (x, Settings()))
    with pytest.raises(ssa_compiler.ArgumentTypeError):
        compiled(x, Settings(1, (1.0, 2.0, 3.0)))
