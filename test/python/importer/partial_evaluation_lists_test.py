# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists that are made empty and meet others, lists of lists that grow, and tensors that Python takes for numbers."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

T = torch.tensor


def walked(following, k):
    path = [k]
    while following[path[-1]] >= 0:
        path.append(int(following[path[-1]]))
    path.reverse()
    return path


def path_or_nothing(following, k):
    if following[k] < -1:
        return following, []
    return following, walked(following, k)


def nothing_or_path(following, k):
    found = walked(following, k) if following[k] >= -1 else []
    return found, len(found)


def paths(following, k):
    found = []
    for n in range(3):
        found.append([] if following[n] < -1 else walked(following, n))
    found.append([])
    return found


def by_name(following, k):
    found = {"all": walked(following, k), "none": []}
    return found["all"], found["none"]


def several(following, k):
    one = ([k], [[1.5], []])
    return ([], [[], [0.5]]) if following[k] < -1 else one


def three_ways(following, k):
    if following[k] < -1:
        xs = []
    elif following[k] == -1:
        xs = [4, 5]
    else:
        xs = walked(following, k)
    ys = [*xs, 9]
    return xs, ys, sum(ys)


def of_tensors(following, k):
    if following[k] < -1:
        xs = [following * 2, following]
    else:
        xs = []
        for n in walked(following, k):
            xs.append(following + n)
    total = following * 0
    for x in xs:
        total = total + x
    return total, len(xs)


@pytest.mark.parametrize(
    "program",
    [path_or_nothing, nothing_or_path, paths, by_name, several, three_ways, of_tensors],
    ids=lambda each: each.__name__,
)
def test_empty_lists_that_meet_others(program):
    calls = [(T([1, 2, -1, -2]), k) for k in (0, 1, 2, 3)]
    check(program, *calls, (T([-2, 0, 1, 2]), 3), compiled=False)


def kept_empty(following, k):
    xs = []
    ys = xs if following[k] < -1 else [k]
    return list(xs), ys


def test_a_list_that_is_one_of_two():
    check(kept_empty, (T([1, -2]), 0), (T([1, -2]), 1), compiled=False)


def other_types(x, n):
    xs = []
    ys = xs if x.sum() > 0 else [n]
    xs.append(0.5)
    return xs, ys


def test_lists_of_several_types_are_rejected():
    with pytest.raises(errors.SsaCompilerError, match="partial_evaluation_lists_test"):
        ssa_compiler.compile(other_types, (T([1.0]), 1))


def rows(x):
    found = []
    for b in range(x.size(0)):
        row = []
        k = int(x[b])
        while k > 0:
            row.append(k)
            k -= 1
        found.append(row)
        if b > 0:
            found[0].append(10 * b)
    row.append(77)
    return found, len(found[1]), found[-1] is row


def test_a_list_of_lists_that_grow():
    check(rows, (T([2, 0, 1]),), (T([0, 0, 0]),), (T([5, 1, 9]),))


def counted(n, start):
    total = 0
    for k in range(start, n):
        total += k
    return total, [k * 2 for k in range(n)]


def test_ranges_of_tensors():
    check(counted, (T(3), 0), (T(0), 1), (T(5), 4), compiled=False)
    check(counted, (T([[3]], dtype=torch.uint8), T(1)), compiled=False)
    check(counted, (T(True), 0), compiled=False)


def element(x):
    names = [5, 6, 7]
    return names[x]


@pytest.mark.parametrize("x", [T(1.6), T([1, 2]), T([])], ids=str)
def test_tensors_that_are_no_index(x):
    for program, args in ((counted, (x, 0)), (element, (x,))):
        with pytest.raises(TypeError, match="only integer tensors of a single element"):
            program(*args)
        with pytest.raises(TypeError, match="only integer tensors of a single element"):
            ssa_compiler.compile(program, args)(*args)
    check(element, (T(1),), (T(-3),), compiled=False)
