# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""What partial evaluation knows from declarations: fields of named tuples and dataclasses, arguments that may be None;
and objects of modules whose methods have the names of a container's, or return the object.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.testing import check

X = torch.arange(6.0).reshape(3, 2)


class Pair(NamedTuple):
    first: Tensor
    number: int = 2


@dataclass
class Config:
    scale: float = 0.5
    bias: Tensor | None = None
    depth: int = 1


def difference(a, b):
    return a - b


def scaled(pair, config):
    if config.bias is not None:
        return pair.first * config.scale + config.bias
    return pair.first * config.scale


def fields(x, n: int):
    pair, config = Pair(x * 2, n), Config(1.5, x[0])
    first, number = pair
    depths = [difference(config.depth, k) for k in reversed(range(n % 4))]  # TorchScript has no reversed(range())
    return scaled(pair, config), scaled(Pair(first), Config()), difference(pair.number, number * 2), pair[1] - 3, depths


def test_fields_have_their_declared_types() -> None:
    check(fields, *((X, n) for n in (0, 1, 2, 5, -3)))


def optional(x, n: int = 3, bias: "Tensor | None" = None, factor: int | None = None):
    if bias is not None:
        x = x + bias
    if factor is not None:
        x = x * factor
    for i in range(n):
        if i * 2 > n:
            break
    else:  # which TorchScript has not
        x = x - 1
    return x


def test_an_argument_that_may_be_none_is_what_the_example_is() -> None:
    compiled = ssa_compiler.compile(optional, (X, 4, X[0]))
    for args in [(X, 4, X[0]), (X, 0, X[1]), (X, 1, None), (X,), (X, 2, X[0], 2), (X, 2, None, -1)]:
        torch.testing.assert_close(compiled(*args), optional(*args))


class Running:
    """Its methods are called as those of dicts and tensors are."""

    def __init__(self, value):
        self.value, self.count = value, 0

    def update(self, value, step=1):
        if step > 1:
            self.value = self.value * 0.5 + value
        self.count += step
        return self

    def add_(self, value):
        self.value += value
        return self


class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.running = Running(torch.ones(3, 2))

    def forward(self, x, n: int):
        self.running.add_(1.0).update(x, n)
        if n > 2:
            self.running.update(x * 2)
        return self.running.value, self.running.count


def test_methods_of_objects_may_be_called_like_those_of_containers_and_return_the_object() -> None:
    check(Average(), *((X, n) for n in (3, 0, 1, 2, 5)))


def chosen(x, n: int, u: float):
    number = 0
    for i in range(n):
        number = u * i
    return max(number, 1.0), tuple(each - n for each in (n, len(x))), x


def test_max_of_an_int_and_a_float_and_tuples_of_generators() -> None:
    check(chosen, *((X, n, u) for n, u in ((2, 2.5), (0, 2.5), (1, 0.0), (3, -1.0), (2, 1.0))))


@dataclass
class Hypothesis:
    tokens: list[int] = field(default_factory=list)
    score: float = 0.0
    extra: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Output:
    sample: Tensor
    more: list | None
    number: Any = 3

    def total(self):
        return self.sample.sum() + self.number


@dataclass
class Doubled:
    first: Tensor
    second: Any = None

    def __post_init__(self):
        if self.second is None:
            self.second = self.first * 2


def dataclasses_of_python(x, n: int):
    first, second = Hypothesis(), Hypothesis([1, n], score=2.0)
    for i in range(n):
        first.tokens.append(i * 2)
        first.score += float(x[i % 3, 0])
    first.extra["rows"] = x * 2
    out = Output(x * 3, [x, x + 1], n)
    return first, second.tokens, out, out.total(), Doubled(x), Doubled(x, x - 1).second, Output(x, None).number


def test_dataclasses_that_torchscript_does_not_compile() -> None:
    """Default factories, bare list and dict, Any, __post_init__: the constructor is written out."""
    check(dataclasses_of_python, *((X, n) for n in (3, 0, 1, 2, 5)))


def dropped(x, n: int):
    keep, labels = torch.zeros(3, dtype=torch.bool), torch.tensor([1, 2, 3])
    for i in range(n):
        keep[i + 1 :] |= (x[i + 1 :, 0] > 2) & (labels[i + 1 :] >= labels[i])
        keep[i] ^= True
        labels[labels > 1] &= 3
        labels[torch.tensor([0, 0])] |= 4
        labels[0] **= 2
    scaled = torch.nn.functional.interpolate(x[None], scale_factor=2, mode="nearest")
    return keep, labels, torch.nonzero(x > 2, as_tuple=False), scaled


def test_writes_that_torchscript_drops_and_arguments_that_it_does_not_take() -> None:
    check(dropped, *((X, n) for n in (2, 0, 1, 3)))


def searched(x, prefix=None):
    found = x
    for step in range(3):
        if prefix is not None and step < prefix.size(0):  # `size` may have effects, if it is not decided what has it
            found = found[prefix[step]]
    return found


def test_what_is_not_evaluated_of_a_condition_has_no_effects() -> None:
    check(searched, (X, None), (X + 1, None))
    check(searched, (X, torch.tensor([1, 0])), (X, torch.tensor([2, 1])))


class Biases(nn.Module):
    """What convolutions say may be None, and is not, or is."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.plain = nn.Conv1d(2, 2, 1), nn.Conv1d(2, 2, 1, bias=False)

    def shifted(self, conv, x):
        return x + conv.bias if conv.bias is not None else x - 1

    def forward(self, x, n: int):
        y = x @ self.first.weight.squeeze(-1) + self.first.bias
        for _ in range(n):
            y = self.shifted(self.first, self.shifted(self.plain, y))
            y = nn.functional.conv1d(y.unsqueeze(-1), self.first.weight, self.first.bias).squeeze(-1)
        return y


def test_attributes_that_classes_of_pytorch_say_may_be_none() -> None:
    torch.manual_seed(0)
    assert not check(Biases().eval(), *((X, n) for n in (2, 0, 1))).compiled.explain().callbacks


@dataclass
class Track:
    number: int
    mean: Tensor
    hits: int = 1

    @property
    def box(self):
        return torch.cat([self.mean - 1, self.mean + 1])

    def seen(self, least: int):
        return self.hits >= least and bool(self.mean[0] > 0)


def boxes_by_number(x, n: int):
    tracks = []
    for k in range(n):
        tracks.append(Track(k, x[k], hits=k % 3))
    found = {track.number: track.box for track in tracks if track.seen(1)}
    return found, [track.mean[1] for track in tracks if track.seen(2)]


def moved(track: Track, x):
    return Track(track.number + 1, track.mean + x, track.hits) if track.seen(1) else Track(0, track.mean * x)


def test_methods_and_properties_of_dataclasses():
    for x in (X, -X, X - 2):
        check(boxes_by_number, *((x, n) for n in (2, 0, 1, 3)))


def test_objects_of_such_a_class_are_passed():
    check(moved, (Track(3, X[1]), X[2]), (Track(4, X[0], 0), X[1]))


def places_by_remainder(x: Tensor, places: list[int], names: dict[str, int]) -> tuple[list[int], int, int]:
    by_remainder = {}
    for place in places:
        by_remainder[place % 3] = place
    total = 0
    for value in names.values():
        total += value
    return sorted(by_remainder), len(places), total


@pytest.mark.parametrize("names", [{}, {"a": 3}])
@pytest.mark.parametrize("places", [[], [4, 7, 5]])
def test_containers_without_elements_have_those_that_are_declared(places: list[int], names: dict[str, int]) -> None:
    check(places_by_remainder, (torch.ones(2), places, names))
