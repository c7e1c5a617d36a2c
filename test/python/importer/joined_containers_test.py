# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists, dicts and objects that both branches of a condition make, and that the program changes behind them."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 2.0, -0.5])


class Counter:
    def __init__(self, start: int):
        self.start = start
        self.seen: list[int] = [start]


def lists(x, n: int):
    if x.sum() > n:
        found = [1, 2] if n > 1 else [3]
        found.append(7)
    else:
        found = list(range(n))
    found.append(4)
    if n > 3:
        found[0] = 1
    tensors = [x + 1, x * 2] if n > 2 else [x - 1]
    tensors.append(x)
    return found, torch.stack(tensors)


def objects(x, n: int):
    if x.sum() > n:
        counter = Counter(1)
    else:
        counter = Counter(n)
        counter.seen.append(5)
    counter.start += 1
    counter.seen.append(counter.start)
    return counter.start * 100 + counter.seen[-1] + len(counter.seen)


@pytest.mark.parametrize("program", [lists, objects])
def test_containers_of_both_branches(program):
    checked = check(program, *((X, n) for n in (3, 0, 1, 2, 5)))
    assert not checked.compiled.explain().specialised, "numbers stay dynamic"


def one_in_two_places(x, n: int):
    if n > 2:
        row = [1, 2]
        both = [row, row]
    else:
        row = [3, 4]
        both = [row, [5, 6]]
    both[1].append(7)
    return both


def in_an_outer_list(x, n: int):
    outer = [[0], [1]]
    if n > 2:
        row = [1, 2]
        outer[0] = row
    else:
        row = [3, 4]
    row[0] = 9
    return outer


@pytest.mark.parametrize("program", [one_in_two_places, in_an_outer_list])
def test_what_has_another_name_is_no_copy(program):
    """Where it cannot be told which list it is, numbers become constants."""
    compiled = ssa_compiler.compile(program, (X, 1))
    for n in (1, 3, 2):
        assert compiled(X, n) == program(X, n)

    def computed(x):
        return program(x, int(x[1]))

    with pytest.raises(
        errors.UnsupportedProgramError, match="that an if or loop with run-time values chose or replaced"
    ):
        ssa_compiler.compile(computed, (X,))


def path_or_nothing(x, limit):
    """A list that is returned from a loop, and one that another loop makes behind it."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i].item()
        if total > limit:
            return None, []
    steps = []
    while total > 0:
        steps.append((len(steps), total))
        total -= 1.0
    return total, steps


def several(x, n: int):
    found = []
    for i in range(n):
        total, steps = path_or_nothing(x, 10.0 if i == 0 else 0.5 * i)
        found.append(-1.0 if total is None else total)
        for k, left in steps:
            found.append(k * left)
    return found


def test_a_list_that_a_loop_returns():
    check(several, *((x, n) for x in (X, X * 3, -X) for n in (3, 0, 1, 2)), compiled=False)
