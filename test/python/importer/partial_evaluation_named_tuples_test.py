# mypy: disable-error-code="no-untyped-def"
"""Named tuples whose classes declare no types, and tensors made of lists whose length is dynamic."""

import dataclasses
from collections import namedtuple
from typing import NamedTuple

import pytest
import torch

from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.tensor([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0], [5.0, 4.0]])
Found = namedtuple("Found", ["rows", "score", "count"])
Pair = namedtuple("Pair", "first second", defaults=(0.5,))
Plain = namedtuple("Plain", "one other")


def made(x, n):
    found = Found(x * n, count=n, score=n / 2)
    pair = Pair([n, n + 1])
    rows, score, count = found
    total = rows.sum() * score + count + pair.second + len(pair.first)
    if isinstance(found, Found) and not isinstance(pair, Found):
        total = total + found.count
    return found, pair, Plain(x, total), Pair(pair, (n, x))


def hypotheses(x, n):
    """A beam search, whose hypotheses have different lengths."""
    finished = []
    scores = x[:, 0]
    for step in range(n):
        best, places = (scores * (step + 1)).topk(3)
        order = []
        for score, place in zip(best.tolist(), places.tolist()):
            if score > 8:
                finished.append(Found(x[: step + 1, 0] * 2, score / (step + 1) ** 0.5, step))
            else:
                order.append(place)
        if len(order) == 0:
            break
        scores = scores + torch.tensor(order).sum()
    return sorted(finished, key=lambda found: found.score, reverse=True)[:3], scores


def searched(x, n):
    """A list of lists: of each row, those in other forms are found one after the other."""
    results = []
    for row in range(x.size(0) - 2):
        found = []
        for k in range(n):
            if x[row, 0] > k:
                found.append(Found(x[: k + 1, row] * 1, k / 2, k))
        results.append(found[:2])
    return results


@pytest.mark.parametrize("program", [made, hypotheses, searched])
def test_named_tuples_without_types(program):
    check(program, *((X, n) for n in (3, 0, 1, 2, 5)))


def of_two_types(x, n):
    return Found(x, n, n), Found(x, n / 2, n)


def listed_of_two_types(x, n):
    found = []
    for k in range(n):
        found.append(Found(x, k, k) if k == 1 else Found(x, k / 2, k))
    return found


def test_fields_of_two_types():
    check(of_two_types, (X, 3), (X, 0))
    with pytest.raises(errors.SsaCompilerError):
        import_program(listed_of_two_types, (X, 3))


def nested(x, n):
    pairs = [(0, 0.5)]
    for k in range(n):
        pairs.append((k, k * 0.5))
    made = torch.tensor(pairs)
    doubles = torch.tensor(pairs, dtype=torch.float64)
    flags = torch.tensor([k % 2 == 0 for k in range(n + 1)])
    firsts = made[:, 0].tolist()
    return made, doubles, flags.tolist(), firsts, made.dim(), x[torch.tensor([k for k, _ in pairs]) % 4, 0].tolist()


def unlike_the_sample(x, n):
    """The list has as many elements as the tensor that its tensor is added to, and as another one."""
    numbers = [float(k) for k in range(n)]
    made = torch.tensor(numbers)
    if n == 4:
        x = x + made.unsqueeze(1)
    total = made + 1
    return [v * 2 for v in total.tolist()], x


@pytest.mark.parametrize("program", [nested, unlike_the_sample])
def test_tensors_of_lists(program):
    check(program, *((X, n) for n in (4, 1, 2, 5)))


class Step(NamedTuple):
    count: int
    x: torch.Tensor

    def next(self, by):
        return self._replace(count=self.count + 1, x=self.x + by)

    @property
    def total(self):
        return self.x.sum() * self.count


Both = namedtuple("Both", "first second")


@dataclasses.dataclass
class Options:
    scale: float
    shift: torch.Tensor
    steps: int = 1


def replaced(x, n: int):
    step = Step(n, x)
    for k in range(3):
        step = step.next(k) if k < 2 else step._replace(x=step.x * n)
    pair = Both(n, x)
    pair = pair._replace(second=pair.second * pair.first)
    options = Options(0.5, x)
    other = dataclasses.replace(options, steps=n, shift=x + 1)
    options.scale = 2.0
    return step, step.total, pair, other.scale * other.shift * other.steps, options.scale, options.steps


def test_other_values_in_some_fields():
    check(replaced, *((torch.arange(3.0), n) for n in (2, 0, 1)), compiled=False)


def constants(x, n: int):
    """Named tuples of constants, which TorchScript makes when it compiles."""
    best, first = Numbers(0.0, 1), Numbers(0.5, other=2)
    if n > 1:
        best = Numbers(float(n), n)
    return best, first, (Numbers(1.0, 2), 3), torch.tensor([best.one, first.one]) + x[0, 0]


class Numbers(NamedTuple):
    one: float
    other: int


def test_constants():
    check(constants, (X, 2), (X, 0), compiled=False)


@dataclasses.dataclass
class Settings:
    start: torch.Tensor
    rate: float = 0.5
    steps: int = 3
    name: str = "a"


def as_dict(x, n: int):
    settings = Settings(x * 2, 0.25)
    settings.steps += n
    found = dataclasses.asdict(settings)
    settings.start += 1  # the dict has a copy
    return found, settings.start


def test_dataclasses_as_dicts():
    x = torch.tensor([1.0, 2.0])
    check(as_dict, (x, 2), (x, 0))
