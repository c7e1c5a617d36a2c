"""`map`, `zip` and generators in variables, `functools.partial` made by the program, and modules among `*args`."""

from __future__ import annotations

import copy
from functools import partial

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler.testing import check

# mypy: disable-error-code="no-untyped-def"


def multi_apply(function, *args, **kwargs):
    """As mmdetection has it."""
    bound = partial(function, **kwargs) if kwargs else function
    results = map(bound, *args)
    return tuple(map(list, zip(*results)))


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.classes, self.boxes = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 1)
        self.scales = nn.ParameterList([nn.Parameter(torch.tensor(k + 1.0)) for k in range(2)])

    def single(self, x, scale):
        return self.classes(x), self.boxes(x) * scale

    def times(self, x, k=1.0, plus=0):
        return self.classes(x) * k, self.boxes(x) + plus


class Scaled(Head):
    def forward(self, levels):
        return multi_apply(self.single, levels, self.scales)


class OfNumbers(Head):
    def forward(self, levels):
        classes, boxes = multi_apply(self.single, levels, [1.0, 2.0])
        return boxes, classes


class WithKeywords(Head):
    def forward(self, levels, k):
        classes, boxes = multi_apply(self.times, levels, k=k, plus=3)
        return classes, boxes


class Transposed(Head):
    def forward(self, levels):
        classes, boxes = tuple(map(list, zip(*[(self.classes(x), self.boxes(x)) for x in levels])))
        return classes, boxes


class Bound(Head):
    def forward(self, levels):
        k = 2.0
        double = partial(self.times, k=k, plus=1)
        k = 5.0  # what is bound stays bound
        return [double(x) for x in levels], [double(x, plus=k) for x in levels]


LEVELS = [torch.rand(1, 3, 4, 4), torch.rand(1, 3, 2, 2)]


@pytest.mark.parametrize("model", [Scaled, OfNumbers, Transposed, Bound])
def test_functions_of_each_level(model: type[nn.Module]) -> None:
    with torch.no_grad():
        check(model(), (LEVELS,), ([-x for x in LEVELS],))


def test_keywords_that_are_bound() -> None:
    with torch.no_grad():
        check(WithKeywords(), (LEVELS, 2.0), (LEVELS, -1.5))


class ReadLater(nn.Module):
    """Python computes the elements of an iterator where they are read: random numbers show in which order."""

    def noisy(self, x):
        return x + torch.rand(1)

    def forward(self, levels):
        noisy = map(self.noisy, levels)
        rows = []
        for x in noisy:
            rows.append(x + 10 * torch.rand(1))
        drawn = (torch.rand(1) for _ in levels)
        return rows, sum(drawn)


def test_elements_are_computed_where_they_are_read() -> None:
    check(ReadLater(), (LEVELS,))


def read_twice(x):
    pairs = zip([x, x + 1], [1, 2])
    first = [a * k for a, k in pairs]
    return first, [a for a, _ in pairs]  # there is nothing left


def test_an_iterator_that_is_read_twice_is_no_list() -> None:
    compiled = ssa_compiler.compile(read_twice, (torch.ones(2),), fullgraph=False)
    assert compiled(torch.ones(2))[1] == []
    with pytest.raises(ssa_compiler.errors.SsaCompilerError):
        ssa_compiler.compile(read_twice, (torch.ones(2),), fullgraph=True)


def compared(x, n: int, before=None):
    best = None
    for i in range(n):
        value = int(x[i].item())
        if best is None or value > best:
            best = value
    chosen = x.sum() if best == n else x.mean()
    return chosen, best == 3, best != 2, x.shape == before, before != [1, 2], best == None  # noqa: E711


def test_comparisons_of_what_may_be_none() -> None:
    x = torch.tensor([1.0, 3.0, 2.0])
    check(compared, (x, 3), (x, 0), (x, 1), (x, 2))
    check(compared, (x, 3, [1, 2]), (x, 0, [3, 0]))


class Cache(nn.Module):
    """A property whose body asks a list of tensors that may be None."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = [torch.ones(2, 3), torch.ones(1, 4)]

    @property
    def sizes(self):
        return [key.size(0) for key in self.keys]

    def forward(self, x):
        return [x * size for size in self.sizes], x + self.sizes[0]


def test_a_property_that_asks_for_sizes() -> None:
    model = Cache()
    check(model, (torch.ones(2),), (torch.zeros(2),))
    assert copy.deepcopy(model).sizes == [2, 1]
