"""OrderedDicts stay OrderedDicts, and copies of a dict of the caller's have its class: to TorchScript all are dicts."""

from __future__ import annotations

import collections
from collections import OrderedDict
from collections import OrderedDict as Ordered
from typing import Any, Dict  # noqa: UP035 - TorchScript

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler import ArgumentError, compile
from ssa_compiler.testing import check, compare_values

X = torch.arange(3.0)


def filled(x: Tensor, n: int) -> Dict[str, Tensor]:  # noqa: UP006
    d: Dict[str, Tensor] = OrderedDict()  # noqa: UP006
    d["b"] = x
    for _ in range(n):
        d["b"] = d["b"] * 2
    return d


def of_pairs(x: Tensor) -> tuple[Dict[str, Tensor], list[str]]:  # noqa: UP006
    d = collections.OrderedDict([("b", x + 1), ("a", x)])
    return d, list(d.keys())


def under_another_name(x: Tensor) -> Dict[str, Tensor]:  # noqa: UP006
    return Ordered([("a", x)])


def untyped(x: Tensor, n: int) -> Any:
    d = OrderedDict()
    d["x"] = x * n
    if n > 1:
        d["x"] = x
    return d


def of_several_types(x: Tensor, n: int) -> Any:
    d = OrderedDict()
    d["x"], d["n"] = x, n
    return {"inner": d}


def copies(x: Tensor) -> Any:
    d = OrderedDict()
    for i, name in enumerate(("u", "v")):
        d[name] = x * i
    plain = dict(d)
    return d.copy(), plain, plain.copy(), OrderedDict(plain)


class Features(nn.Module):
    def forward(self, x: Tensor) -> Any:
        found = OrderedDict()
        for name, layer in self.named_children():
            x = found[name] = layer(x)
        return found


@pytest.mark.parametrize(
    ("program", "sets"),
    [
        (filled, [(X, 2), (X, 0), (X, 1), (X, 5)]),
        (of_pairs, [(X,)]),
        (under_another_name, [(X,)]),
        (untyped, [(X, 2), (X, 0), (X, 1)]),
        (of_several_types, [(X, 2), (X, 0)]),
        (copies, [(X,)]),
    ],
)
def test_dicts_that_a_program_makes(program: Any, sets: list[tuple[Any, ...]]) -> None:
    check(program, *sets)


def test_features_by_layer() -> None:
    model = Features()
    model.first, model.second = nn.Linear(3, 4), nn.ReLU()
    check(model, (X[None],))


def copied(d: Dict[str, Tensor], n: int) -> tuple[Any, ...]:  # noqa: UP006
    e = d.copy()
    if n > 1:
        e["a"] = e["a"] + 1
    return e, dict(d), OrderedDict(d), d


class Own(dict):  # type: ignore[type-arg]
    """A class that Python makes no copies of: `copy` of a subclass is a dict."""


def test_dicts_of_the_callers() -> None:
    """One artefact takes dicts of each class; an argument that is returned is itself."""
    of_each = [OrderedDict(a=X), {"a": X}, Own(a=X)]
    check(copied, *((d, n) for d in of_each for n in (2, 0)))


def either(x: Tensor, n: int) -> Any:
    d = OrderedDict()
    if n > 1:
        d = {}
    d["a"] = x
    return d


def test_a_class_that_control_flow_chooses() -> None:
    """What decides it is a constant of the program, so that no call gets the other class."""
    for n in (2, 1):
        compiled = compile(either, (X, n), cache=False, max_specialisations=1)
        assert type(compiled(X, n)) is type(either(X, n))
        with pytest.raises(ArgumentError, match=f"'n': the program was compiled for {n} and cannot take {3 - n}"):
            compiled(X, 3 - n)


def test_the_comparison_tells_dicts_apart() -> None:
    assert compare_values(OrderedDict(a=X), {"a": X}) == "result: expected a OrderedDict, got a dict"
    assert compare_values({"a": X}, {"a": X}) is None
