"""The code that is written for the ends of a call does what the walk along the specs does."""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from ssa_compiler import ArgumentError, compile
from ssa_compiler.abi.convention import flatten_arguments
from ssa_compiler.runtime.call_code import argument_reader

X, Y = torch.rand(3), torch.rand(3)


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


@dataclass
class Config:
    scale: float
    bias: Tensor


class Key(str, enum.Enum):
    X = "x"


def nested(
    xs: list[Tensor], state: dict[str, Tensor], pair: tuple[Tensor, int], flag: bool, mode: str = "sum", n: int = 2
) -> tuple[Tensor, list[Tensor], dict[str, Tensor], int, None]:
    total = xs[0] * n + pair[1]
    if flag:
        total = total + state["x"]
    return total, [pair[0] + 1, total], {"y": total - 1, mode: xs[1]}, n + pair[1], None


ARGUMENTS = ([X, Y], {"x": Y, "z": X}, (X, 3), True)

CALLS: dict[str, tuple[Any, ...]] = {
    "as compiled": ARGUMENTS,
    "other numbers": ([Y, X], {"x": X, "z": X}, (Y, -(2**63)), False, "sum", 5),
    "a default given": (*ARGUMENTS, "sum"),
    "another constant": (*ARGUMENTS, "mean"),
    "one more element": ([X, Y, X], *ARGUMENTS[1:]),
    "a tuple for a list": ((X, Y), *ARGUMENTS[1:]),
    "a named tuple": (*ARGUMENTS[:2], Pair(X, 3), True),  # type: ignore[arg-type]
    "an ordered dict": (ARGUMENTS[0], OrderedDict(ARGUMENTS[1]), *ARGUMENTS[2:]),
    "keys in another order": (ARGUMENTS[0], {"z": X, "x": Y}, *ARGUMENTS[2:]),
    "an enumerator for a key": (ARGUMENTS[0], {Key.X: Y, "z": X}, *ARGUMENTS[2:]),
    "a bool for an int": (*ARGUMENTS[:2], (X, True), True),
    "an int for a bool": (*ARGUMENTS[:3], 1),
    "too large": (*ARGUMENTS[:2], (X, 2**63), True),
    "no tensor": ([X, 2.0], *ARGUMENTS[1:]),
    "too few": ARGUMENTS[:3],
    "too many": (*ARGUMENTS, "sum", 2, 3),
}


def _outcome(call: Callable[..., Any], *args: Any) -> Any:
    try:
        return call(*args)
    except ArgumentError as error:
        return type(error), str(error)


@pytest.fixture(scope="module")
def compiled() -> Any:
    return compile(nested, ARGUMENTS, max_specialisations=1)


@pytest.mark.parametrize("case", sorted(CALLS))
def test_leaves_are_those_of_the_walk(compiled: Any, case: str) -> None:
    (first,) = compiled.specialisations
    read = argument_reader(first.imported)
    assert read is not None
    found, walked = read(CALLS[case]), _outcome(flatten_arguments, first.imported, CALLS[case])
    if found is not None:
        assert isinstance(walked, list)
        assert len(found[0]) == len(walked)
        assert all(one is other for one, other in zip(found[0], walked))
        assert [*found[1]] == first.imported.bind(CALLS[case])
    else:  # the walk says what is wrong, or knows what the code does not
        assert isinstance(walked, tuple) or case in {"an ordered dict"}


@pytest.mark.parametrize("case", ["as compiled", "other numbers", "a default given", "an ordered dict"])
def test_results_are_eagers(compiled: Any, case: str) -> None:
    result, expected = compiled(*CALLS[case]), nested(*CALLS[case])
    torch.testing.assert_close(result, expected)
    assert [*map(type, result)] == [*map(type, expected)]
    assert list(result[2]) == list(expected[2])


def test_by_keyword(compiled: Any) -> None:
    xs, state, pair, flag = ARGUMENTS
    for n in (0, 4):
        torch.testing.assert_close(
            compiled(xs, n=n, flag=flag, pair=pair, state=state), nested(xs, n=n, flag=flag, pair=pair, state=state)
        )


def configured(config: Config, x: Tensor) -> Config:
    return Config(config.scale * 2, x * config.scale + config.bias)


def test_objects() -> None:
    compiled = compile(configured, (Config(0.5, X), Y))
    for scale, bias in ((0.5, X), (-1.0, Y)):
        result, expected = compiled(Config(scale, bias), Y), configured(Config(scale, bias), Y)
        assert type(result) is Config
        assert result.scale == expected.scale
        assert torch.allclose(result.bias, expected.bias)


def shared(x: Tensor) -> tuple[list[Tensor], tuple[list[Tensor], Tensor], dict[str, list[Tensor]]]:
    xs = [x + 1]
    return xs, (xs, xs[0]), {"xs": xs, "other": [xs[0]]}


def test_a_list_in_several_places_is_one() -> None:
    first, (second, tensor), named = compile(shared, (X,))(X)
    assert first is second is named["xs"]
    assert first[0] is tensor is named["other"][0]
    assert named["other"] is not first


def several(xs: list[Tensor]) -> tuple[list[Tensor], list[Tensor], Pair]:
    return xs, [xs[1]], Pair(xs[0], xs[0] + 1)


def test_arguments_are_returned_as_they_are() -> None:
    compiled = compile(several, ([X, Y],))
    for xs in ([X, Y], [Y, X]):
        same, other, pair = compiled(xs)
        assert same is xs
        assert other[0] is xs[1]
        assert pair.first is xs[0]
        assert torch.equal(pair.second, xs[0] + 1)
