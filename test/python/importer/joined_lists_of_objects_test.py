"""Lists of objects whose length is dynamic, added to others: which objects a result may have twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

X = torch.tensor([[0.4, 1], [0.9, 3], [0.2, 5]])
CALLS = [(X, 4.0, 2), (X, 30.0, 2), (X, 4.0, 0), (X, 0.0, 1)]


@dataclass
class Detection:
    label: int
    box: Tensor


def detections(x: Tensor, least: float):  # type: ignore[no-untyped-def]
    found = []
    for i in range(x.size(0)):
        if x[i].sum() > least:
            found.append(Detection(i, x[i] * 2))
    return found


def extended(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found = []
    for i in range(n):
        found.extend(detections(x + i, least))
    found += detections(x, 1.0)
    return found


def filtered(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found = []
    for _ in range(n):
        found.extend([each for each in detections(x, least) if each.label > 0])
    return found


def in_branches(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found = []
    for i in range(n):
        new = detections(x, least)
        if i % 2 == 0:
            found.extend(new)
        else:
            found.extend(new)
    return found


def added(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    one = [Detection(n, x[0])]
    return one + detections(x, least), detections(x, least) + detections(x + n, least)


def tuples(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found = []
    for _ in range(n):
        found = found + [(i, x[i]) for i in range(x.size(0)) if bool(x[i].sum() > least)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("program", [extended, filtered, in_branches, added, tuples])
def test_lists_that_are_added(program: Callable[..., Any]) -> None:
    check(program, *CALLS, compiled=program is extended)


def after_its_list(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    one, found = Detection(n, x[0]), []
    new = detections(x, least)
    new.append(one)
    found.extend(new)
    found.append(one)
    return found


def twice_in_an_iteration(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found = []
    for _ in range(n):
        new = detections(x, least)
        found.extend(new)
        found.extend(new)
    return found


def in_each_iteration(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found, new = [], detections(x, least)
    for _ in range(n):
        found.extend(new)
    return found


def of_a_copy(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found = detections(x, least)
    found.extend(list(found))
    return found


def of_copies(x: Tensor, least: float, n: int):  # type: ignore[no-untyped-def]
    found, all = [], detections(x, least)
    for _ in range(n):
        found.extend([each for each in all])  # noqa: C416
    return found


@pytest.mark.parametrize("program", [after_its_list, twice_in_an_iteration, in_each_iteration, of_a_copy, of_copies])
def test_what_has_an_object_twice_is_rejected(program: Callable[..., Any]) -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="an object that may be in two places of the result"):
        ssa_compiler.compile(program, CALLS[0], fullgraph=True)
