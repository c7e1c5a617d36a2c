"""Lists of objects and of dicts whose length is dynamic."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.abi.argument_specs import ScalarSpec
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.tensor([[0.4, 1, 2], [0.9, 3, 4], [0.2, 5, 6], [0.7, 7, 8], [0.5, 9, 10]])
COUNTS = (3, 0, 1, 2, 5, 4)
INPUTS = [(X, n) for n in COUNTS]


@dataclass
class Detection:
    box: Tensor
    score: float
    label: int
    ok: bool = True

    def weight(self) -> Tensor:
        return self.box.sum() * self.score


class Beam:
    def __init__(self, tokens: list[int], score: float):
        self.tokens = tokens
        self.score = score
        self.length = len(tokens)


def detections(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    found = []
    for i in range(n):
        if x[i, 0] > 0.3:
            found.append(Detection(x[i, 1:], float(x[i, 0]), i))
    return found


def filtered(x: Tensor, n: int) -> list[Detection]:
    return [each for each in detections(x, n) if each.score > 0.6]


def methods(x: Tensor, n: int) -> tuple[Tensor, int, int]:
    total, last = torch.zeros(()), -1
    found = detections(x, n)
    for each in found:
        if each.ok:
            total, last = total + each.weight(), each.label
    return total, last, len(found)


def dicts(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    found = []
    for i in range(n):
        if x[i, 0] > 0.3:
            found.append({"id": i, "box": x[i, 1:], "range": [float(x[i, 0]), float(x[i, 1])]})
    return found


def ordered(x: Tensor, n: int) -> list[Detection]:
    return sorted(detections(x, n), key=lambda each: -each.score)


def beams(x: Tensor, n: int) -> tuple[list[int], list[float], int]:
    """A variable that is another list after each iteration."""
    live = [Beam([0], 0.0)]
    for i in range(n):
        found = []
        for beam in live:
            found.append(Beam([*beam.tokens, i], beam.score + float(x[i, 0])))
            if x[i, 0] > 0.3:
                found.append(Beam([*beam.tokens, -i], beam.score - float(x[i, 1])))
        found.sort(key=lambda beam: beam.score, reverse=True)
        live = found[:3]
    return live[0].tokens, [beam.score for beam in live], live[-1].length


def pairs(x: Tensor, n: int) -> tuple[int, list[float]]:
    """The same of tuples."""
    live = [(0, 0.0)]
    for i in range(n):
        found = []
        for number, score in live:
            found.append((number + i, score + float(x[i, 0])))
            if x[i, 0] > 0.3:
                found.append((number - i, score - float(x[i, 1])))
        live = found[:3]
    return live[0][0], [score for _, score in live]


def stack(x: Tensor, n: int) -> tuple[float, int]:
    left, total, steps = [Detection(x[0], 1.0, 0)], 0.0, 0
    while len(left) > 0 and steps < 20:
        top = left.pop()
        total, steps = total + top.score, steps + 1
        if top.label < n - 1:
            left.append(Detection(top.box * 2, top.score * 0.5, top.label + 1))
            if x[top.label, 0] > 0.5:
                left.append(Detection(top.box * 3, top.score * 0.25, top.label + 2))
    return total, steps


def replaced(x: Tensor, n: int) -> list[Detection]:
    found = [Detection(x[0, 1:], 0.5, -1)]
    for i in range(n):
        found.append(Detection(x[i, 1:], float(x[i, 0]), i))
    for k in range(len(found)):
        found[k] = Detection(found[k].box + 1, found[k].score * 2, found[k].label, ok=False)
    return found


def two_lists(x: Tensor, n: int) -> tuple[list[Detection], list[Detection]]:
    high, low = [], []
    for i in range(n):
        each = Detection(x[i, 1:], float(x[i, 0]), i)
        if each.score > 0.5:
            high.append(each)
        else:
            low.append(each)
    return high, low


@pytest.mark.parametrize(
    "program", [filtered, methods, dicts, ordered, beams, pairs, stack, replaced, two_lists], ids=lambda p: p.__name__
)
@pytest.mark.slow
def test_lists_of_objects(program: Any) -> None:
    check(program, *INPUTS)
    _, number = import_program(program, INPUTS[0]).arguments
    assert isinstance(number.spec, ScalarSpec)  # one artefact for any number


def in_two_lists(x: Tensor, n: int) -> tuple[list[Detection], list[Detection]]:
    found = detections(x, n)
    return found, [each for each in found if each.score > 0.6]


def in_both_halves(x: Tensor, n: int) -> tuple[list[Detection], list[Detection]]:
    found = detections(x, n)
    return [each for each in found if each.score > 0.4], [each for each in found if each.score < 0.8]


def twice(x: Tensor, n: int) -> list[Detection]:
    found = []
    for i in range(n):
        each = Detection(x[i, 1:], float(x[i, 0]), i)
        found.append(each)
        if x[i, 0] > 0.3:
            found.append(each)
    return found


def repeated(x: Tensor, n: int) -> list[Detection]:
    found, all_of_them = detections(x, n), []
    for _ in range(int(x[n, 1])):
        for each in found:
            all_of_them.append(each)
    return all_of_them


def joined_to_itself(x: Tensor, n: int) -> list[Detection]:
    found = detections(x, n)
    return found[:2] + found[1:]


def best(x: Tensor, n: int) -> tuple[list[Detection], Detection]:
    found = detections(x, n)
    first = found[0]
    for each in found:
        if each.score > first.score:
            first = each
    return found, first


def changed(x: Tensor, n: int) -> list[Detection]:
    found = []
    for i in range(int(x[n, 1])):
        each = Detection(x[i % 5, 1:], 0.5, i)
        found.append(each)
        each.label = -i
    return found


def changed_there(x: Tensor, n: int) -> list[int]:
    found = detections(x, int(x[n, 1]))
    for each in found:
        each.label += 1
    return [each.label for each in found]


def of_the_caller(x: Tensor, n: int, given: Detection) -> list[Detection]:
    found = detections(x, n)
    if x[0, 0] > 0.3:
        found.append(given)
    return found


def of_two_classes(x: Tensor, n: int) -> Any:
    """No object of one class is one of another, though joins have made both."""
    if n > 4:
        return {"label": n, "why": f"{n} are too many"}
    found = detections(x, n)
    return {"label": len(found), "best": max([each.score for each in found], default=0.0)}


def test_objects_of_two_classes() -> None:
    check(of_two_classes, *((x, n) for x in (X, X * 2) for n in (3, 0, 1, 5)), compiled=False)


IDENTITY = "an object that may be in two places of the result"


@pytest.mark.parametrize("program", [in_two_lists, in_both_halves, twice, repeated, joined_to_itself, best])
def test_what_is_one_object_in_eager_is_no_copy(program: Any) -> None:
    """Programs whose results would show that the list holds copies are rejected."""

    def dynamic(x: Tensor) -> Any:
        return program(x, int(x[0, 2]))

    with pytest.raises(ssa_compiler.SsaCompilerError, match=IDENTITY):
        import_program(dynamic, (X,))


@pytest.mark.parametrize("program", [changed, changed_there])
def test_objects_that_are_changed_there(program: Any) -> None:
    def dynamic(x: Tensor) -> Any:
        return program(x, int(x[0, 2]))

    check(dynamic, (X,), (X * 2,), compiled=False)


def test_objects_of_the_caller_are_rejected() -> None:
    with pytest.raises(ssa_compiler.SsaCompilerError, match="an object of the caller's"):
        import_program(of_the_caller, (X, 2, Detection(X[0, 1:], 0.5, 1)))
