"""Dicts of which run-time values decide what keys they have: in branches, loops, results, arguments and modules."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import check_other

X = torch.tensor([5.0, 1, -2, 3])


def under_branches(x: Tensor, n: int) -> dict[str, Tensor]:
    d = {"x": x * 2}
    if bool(x.sum() > 0):
        d["pos"] = x + 1
        if n > 3:
            d["big"] = x + 3
    d["end"] = x - 1
    return d


def of_an_early_return(x: Tensor, n: int) -> dict[str, Tensor]:
    if n > 2:
        return {"reward": x}
    return {"index": x.long(), "weight": x[:2], "reward": x + 1}


def in_a_loop(x: Tensor, n: int) -> tuple[dict[str, Tensor], dict[str, int]]:
    state: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    t = x.clone()
    for i in range(n):
        if "m" not in state:
            state["m"] = torch.zeros_like(x)
        m = state["m"]
        m.mul_(0.5).add_(t)
        t = t + m
        if i == 2:
            state["two"] = t * 1
        if "two" in state:
            t = t + state["two"]
        if i % 3 == 1:
            counts["one"] = counts.get("one", 0) + 1
        elif i % 3 == 2:
            counts["two"] = counts.setdefault("two", 10) + 1
    counts["len"] = len(counts) + len(state)
    if n > 4:
        counts["popped"] = counts.pop("one") + counts.pop("none", 3)
    return state, counts


def cached_by_layer(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """A KV cache: constant ints as keys, values that grow, None at first."""
    cache: dict[int, tuple[Tensor, Tensor]] = {}
    y = x[None] * 1.0
    for _ in range(n):
        for layer in (0, 1):
            past = cache.get(layer)
            k, v = y + layer, y * 2
            if past is not None:
                k, v = torch.cat([past[0], k]), torch.cat([past[1], v])
            cache[layer] = (k, v)
            y = torch.softmax(y @ k.t(), -1) @ v
    return y, cache[1][0] if n > 0 else y


def of_dicts(x: Tensor, n: int) -> Tensor:
    outer: dict[str, dict[str, Tensor]] = {}
    for i in range(n):
        for name in ("w", "b"):
            if name not in outer:
                outer[name] = {"m": torch.zeros_like(x)}
                if i == 0:
                    outer[name]["v"] = x + 1
            outer[name]["m"].add_(outer[name]["v"] * i)
    return outer["w"]["m"] + outer["b"]["m"] if "w" in outer else x


def gone_through(x: Tensor, n: int) -> tuple[Tensor, dict[str, Tensor], list[str]]:
    d: dict[str, Tensor] = {}
    if n > 1:
        d["p"] = x + 1
    d["q"] = x * 2
    if n > 3:
        d["r"] = x * 3
    copied: dict[str, Tensor] = {}
    t = torch.zeros_like(x)
    for k, v in d.items():
        t = t * 2 + v
        copied[k] = t
        if k == "q":
            t = t + 5
    for i, v in enumerate(d.values()):
        t = t + i * v
        if i == 1:
            break
    for k in d:
        if k == "r":
            continue
        t = t - d[k]
        d[k] = t * 2
    for k in d.keys():  # noqa: SIM118 - as it is written
        t = t + d[k]
    return t + len(d), copied, ["p"]


def all_values(x: Tensor, n: int) -> tuple[Tensor, float, bool]:
    losses: dict[str, Tensor] = {}
    weights: dict[str, float] = {"first": 0.5}
    if n > 1:
        losses["one"] = x.sum()
    losses["two"] = x.max()
    if n > 3:
        losses["three"] = x.min()
        weights["third"] = 2.5
    stacked = torch.stack(list(losses.values()))
    return stacked.sum() + len(losses.values()), sum(weights.values()), "third" in weights.keys()  # noqa: SIM118 - as it is written


def missing(x: Tensor, n: int) -> Tensor:
    d = {"x": x}
    if n > 1:
        d["y"] = x + 1
    return d["y"]


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (under_branches, (2, 5)),
        (of_an_early_return, (2, 3)),
        (in_a_loop, (0, 1, 2, 3, 4, 5, 9)),
        (cached_by_layer, (0, 1, 2, 5)),
        (of_dicts, (0, 1, 3)),
        (gone_through, (0, 2, 5)),
        (all_values, (0, 2, 5)),
        (missing, (0, 2)),
    ],
)
def test_keys_depend_on_values(function: Any, numbers: tuple[int, ...]) -> None:
    checked = check(function, *((x, n) for n in numbers for x in (X, -X)))
    assert not checked.compiled.explain().specialised, "numbers stay dynamic"


def test_keys_of_one_program_are_in_one_order() -> None:
    def set_again(x: Tensor, n: int) -> dict[str, Tensor]:
        d: dict[str, Tensor] = {}
        for i in range(n):
            if i == 1:
                d["first"] = x
            d["second"] = x
        return d

    compiled = ssa_compiler.compile(set_again, (X, 1))
    assert list(compiled(X, 1)) == ["second"]
    with pytest.raises(
        ssa_compiler.errors.UnsupportedProgramError, match="in another order than that of the program's"
    ):
        compiled(X, 2)


def changed(d: dict[str, Tensor], c: dict[str, int], x: Tensor, n: int) -> Tensor:
    if n > 2:
        d["new"] = x + 1
    if n > 4:
        d["a"] = x
    if n % 2 == 1:
        d.pop("b")
    d["z"] = x * 2
    for i in range(n):
        if i == 1:
            c["one"] = i
        if i > 2:
            c["more"] = c.get("more", 0) + 1
    return d["a"] + len(c)


def test_callers_dicts_get_and_lose_keys() -> None:
    check(changed, *(({"a": X + 5, "b": X * 3}, {"q": 1}, X, n) for n in (1, 0, 2, 3, 5, 6)))


class Best(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.best: dict[str, Tensor] = {}
        self.counts: dict[str, int] = {"n": 0}

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 1):
            self.best["x"] = x * 2
            self.counts["hits"] = self.counts.get("hits", 0) + 1
        self.counts["n"] += 1
        return self.best["x"] + x if "x" in self.best else x * 1


def test_dicts_of_a_module() -> None:
    calls = [(-X,), (X,), (-X,), (X + 1,)]
    check_other(Best(), lambda model: ssa_compiler.compile(model, calls[0], cache=False), calls, "compiled")


def test_a_loop_that_changes_its_dict_is_rejected() -> None:
    def grows(x: Tensor) -> Tensor:
        d, n = {"x": x}, int(x[0])
        if n > 1:
            d["y"] = x
        for k in d:
            if k == "x" and n > 2:
                d["y"] = x * 2
        return d["x"]

    with pytest.raises(NotImplementedError, match="changes its length while a for loop goes through it"):
        import_program(grows, (X,))
