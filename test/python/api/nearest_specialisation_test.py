"""A further specialisation is explained by how the call differs from the one nearest to it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.abi.differences import count_differences
from ssa_compiler.errors import ArgumentError
from ssa_compiler.importer import import_program
from ssa_compiler.process.logs import LOGS


def pair(x: Tensor, y: Tensor) -> Tensor:
    return x.sum() + y.sum()


def many(named: dict[str, Tensor], both: tuple[Tensor, int], items: list[Tensor], mode: str, n: float) -> Tensor:
    return named["a"].sum() + both[0].sum() * both[1] + items[0].sum() * n


SMALL, WIDE = torch.zeros(4, 3), torch.zeros(8, 5)


def test_the_reason_is_of_the_nearest(caplog: pytest.LogCaptureFixture) -> None:
    static = torch.export.Dim.STATIC
    compiled = ssa_compiler.compile(pair, (SMALL, SMALL), max_specialisations=3, dynamic_shapes=static)
    compiled(WIDE, WIDE)
    with caplog.at_level(logging.INFO, LOGS["recompiles"]):
        compiled(SMALL, torch.zeros(4, 5))  # the latest is that of WIDE
    expected = "argument 'y': expected shape (4, 3), got (4, 5)"
    assert compiled.specialisations[2].reason == expected
    assert expected in caplog.text
    with pytest.raises(ArgumentError, match=r"^argument 'x': expected shape \(8, 5\), got \(8, 6\); the program was"):
        compiled(torch.zeros(8, 6), WIDE)
    compiled(SMALL, SMALL)
    with pytest.raises(
        ArgumentError, match=r"^argument 'x': expected dtype torch.float32, got torch.int32; the program"
    ):
        compiled(SMALL.int(), SMALL)


def test_of_several_it_is_the_one_used_last() -> None:
    compiled = ssa_compiler.compile(pair, (SMALL, torch.zeros(1)))
    compiled(SMALL, torch.zeros(2))
    compiled(SMALL, torch.zeros(1))
    compiled(SMALL, torch.zeros(3))
    assert compiled.specialisations[2].reason == "argument 'y': expected shape (1,), got (3,)"


def call(**other: Any) -> dict[str, Any]:
    arguments = {"named": {"a": SMALL}, "both": (SMALL, 2), "items": [SMALL], "mode": "sum", "n": 1.0}
    return {**arguments, **other}


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ({"named": {"a": WIDE}}, 2),
        ({"named": {"a": SMALL, "b": SMALL}}, 1),
        ({"named": {}}, 3),
        ({"named": [SMALL]}, 4),
        ({"both": (SMALL.int(), 3)}, 1),
        ({"both": (SMALL, "2")}, 1),
        ({"both": [SMALL, 2]}, 5),
        ({"items": [SMALL, SMALL]}, 1),
        ({"items": []}, 3),
        ({"items": [torch.zeros(4)]}, 2),
        ({"items": [None]}, 3),
        ({"mode": "max"}, 1),
        ({"mode": "max", "n": 1}, 2),
        ({"mode": "max", "n": True}, 2),
        ({}, 1),
    ],
)
def test_differences_are_counted(other: dict[str, Any], count: int) -> None:
    program = import_program(many, tuple(call().values()))
    assert count_differences(program, (), call(**other)) == count
