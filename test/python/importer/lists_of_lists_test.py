# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists of dynamic length whose elements are lists of numbers, and dicts with int keys of these."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([3.0, -1.0, 2.0, 0.5, 1.0])


def runs(x, n: int):
    """Each element is made in a loop, and read later."""
    found = []
    current: list[int] = []
    for k in range(n):
        if x[k % 5] > 0:
            current.append(k)
        else:
            found.append(current.copy())
            current.clear()
            current.append(k)
    found.append(current)
    total, longest = 0, 0
    for each in found:
        longest = max(longest, len(each))
        for k in each:
            total += k
    return found, len(found), total, longest


def at_places(x, n: int, at: int):
    found = [[0.5]]
    for k in range(n):
        found.append([float(k)] * k)
    found[at] = [x[at].item(), 2.0]
    last = found[-1]
    found.insert(1, [7.0])
    count = len(found[at])
    removed = found.pop(0)
    return found, count, sum(last) if last else 1.0, len(removed)


def paths(x, n: int):
    """Keys that are set under a condition."""
    before = [None, 0, 1, 1, 3]
    found = {}
    for v in range(5):
        if x[v] < n:
            continue
        path, at = [], v
        while at is not None:
            path.insert(0, at)
            at = before[at]
        found[v] = path
    if n > 2:
        found[1] = [9, 9]
    longest = 0
    for v, path in found.items():
        longest = max(longest, len(path) + v)
    return found, longest, 1 in found


@pytest.mark.parametrize("program", [runs, paths])
def test_lists_of_lists(program):
    check(program, *((X, n) for n in (5, 0, 1, 2, 3, 12)), compiled=True)


def test_elements_at_places():
    check(at_places, *((X, n, at) for n, at in ((3, 1), (0, 0), (1, 1), (2, -1), (4, 3))), compiled=False)


def changed(x, n: int):
    found = []
    for k in range(n):
        found.append([k])
    found[0].append(5)
    return found


def changed_behind(x, n: int):
    found = []
    for k in range(n):
        each = [k]
        found.append(each)
        each.append(5)
    return found


def in_two_places(x, n: int):
    found = []
    for k in range(n):
        found.append([k])
    return found, found[0]


def twice(x, n: int):
    found, each = [], [n]
    for _ in range(n):
        found.append(each)
    return found


def shared(x, n: int):
    found = []
    for k in range(n):
        found.append([k])
    return found, found[1:]


@pytest.mark.parametrize("program", [changed, changed_behind])
def test_elements_are_changed(program):
    def dynamic(x):
        return program(x, int(x[0]))

    check(dynamic, *((torch.tensor([n, 1, 2]),) for n in (2, 1, 5)))


@pytest.mark.parametrize("program", [in_two_places, twice, shared])
def test_what_copies_would_show_is_rejected(program):
    def dynamic(x):
        return program(x, int(x[0]))

    with pytest.raises(errors.UnsupportedProgramError):
        ssa_compiler.compile(dynamic, (X,))


def pairs(x, n: int):
    found = []
    for k in range(n):
        if x[k] > 0:
            found.append([k, 2 * k])
    return torch.tensor(found, dtype=torch.long).view(-1, 2), torch.tensor([each[0] for each in found])


def of_two_lengths(x, n: int):
    found = []
    for k in range(n):
        found.append([float(x[k]), 1.0] if k < 3 else [1.0])
    return torch.tensor(found)


def test_tensors_of_lists_of_dynamic_length():
    check(pairs, *((X, n) for n in (5, 1, 3)))
    check(of_two_lengths, *((X, n) for n in (2, 1, 3)))
    compiled = ssa_compiler.compile(of_two_lengths, (X, 2), fullgraph=True)
    with pytest.raises(ValueError, match="of different lengths"):
        compiled(X, 4)


def test_a_tensor_of_an_empty_list_has_another_rank():
    compiled = ssa_compiler.compile(of_two_lengths, (X, 2), fullgraph=True)
    with pytest.raises(errors.UnsupportedProgramError, match="empty list"):
        compiled(X, 0)


def reshaped(x, n: int):
    found, tuples = [], []
    for k in range(n):
        if x[k] > 0:
            found.append([k, 2 * k])
            tuples.append((k, n, 1))
    return torch.tensor(found, dtype=torch.long).view(-1, 2), torch.tensor(tuples, dtype=torch.float64).reshape(3, -1)


def test_a_shape_that_is_changed_does_not_matter():
    check(reshaped, *((X, n) for n in (2, 0, 1, 5)), (-X, 2))
