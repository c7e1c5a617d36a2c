# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Dicts and sets whose keys are tuples of ints that are dynamic."""

from collections import deque

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1, 0, 2, 1, 3, 0])
OTHERS = (torch.zeros(6, dtype=torch.long), torch.tensor([3, 2, 1, 0, 1, -2]))


def pairs(x, n: int):
    """They get keys in a loop."""
    seen = {}
    for k in range(n):
        key = (int(x[k]), int(x[k + 1]))
        if key not in seen:
            seen[key] = k
    return len(seen), seen, (0, 0) in seen, seen.get((1, 0), -1)


def members(x, n: int):
    seen = set()
    again = 0
    for k in range(n):
        key = (int(x[k]), int(x[k + 1]), 1)
        if key in seen:
            again += 1
        seen.add(key)
    return again, len(seen), (0, 0, 1) in seen


def counted(x, n: int):
    """One of the keys is there from the start."""
    counts = {(0, 0): 5}
    for a in x[:n].tolist():
        for b in x.tolist():
            counts[(a, b)] = counts.get((a, b), 0) + 1
    return counts[(0, 0)], len(counts), counts


def of_tensors(x, n: int):
    """A loop that is written out, keys of which a part is known, and elements that are tensors."""
    rows = {}
    for k in range(3):
        if n > k:
            rows[(k, int(x[k]))] = x[: k + 1] * 2
    rows[(7, 7)] = x[:1]
    return rows[(7, 7)], rows.get((0, 1), x)


def over_a_grid(x, n: int):
    """A breadth-first search."""
    grid = x.view(2, 3)
    queue, distances = deque([(0, 0)]), {(0, 0): 0}
    while queue:
        i, j = queue.popleft()
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < 2 and 0 <= b < 3 and grid[a, b] < n and (a, b) not in distances:
                distances[(a, b)] = distances[(i, j)] + 1
                queue.append((a, b))
    return distances, distances.get((1, 2), -1)


@pytest.mark.parametrize("program", [pairs, members, counted, over_a_grid])
@pytest.mark.slow
def test_tuples_as_keys(program):
    check(program, *((x, n) for x in (X, *OTHERS) for n in (5, 0, 1, 2)), compiled=program is over_a_grid)


@pytest.mark.slow
def test_elements_that_are_tensors():
    check(of_tensors, *((x, n) for x in (X, *OTHERS) for n in (3, 0, 1, 2)), compiled=False)


def missing(x):
    costs = {}
    for k in range(3):
        costs[(k, int(x[k]))] = float(k)
    return costs[(int(x[0]), 0)]


def test_a_key_that_is_not_there():
    check(missing, *((x,) for x in (OTHERS[0], X, OTHERS[1], torch.tensor([1, 0, 0, 0, 0, 0]))), compiled=False)


def of_another_length(x):
    """Such a key is not there."""
    seen = {}
    seen[(int(x[0]), 1)] = 3
    return (1, 1, 1) in seen, seen.get((1, 1, 1), 7), (1, 1) in seen


def test_a_key_of_another_length():
    check(of_another_length, *((x,) for x in (X, *OTHERS)), compiled=False)


def of_two_lengths(x):
    seen = {(1, 2): 0}
    seen[(int(x[0]), 1, 2)] = 3
    return seen


def with_other_parts(x):
    return {("a", 1): 2}[("a", int(x[0]))]


@pytest.mark.parametrize("program", [of_two_lengths, with_other_parts])
def test_keys_that_are_rejected(program):
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(program, (X,))
