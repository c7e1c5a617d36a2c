# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists that a branch or an iteration replaces, and that are changed afterwards: that is so if they have no other name;
otherwise eager would show the change there.
"""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([0.5, -1.0, 2.0, 3.0, -0.5, 1.0, 0.0])
COUNTS = (3, 0, 1, 2, 7)


def filtered(x, n: int):
    kept: list[int] = []
    for k in range(n):
        kept.append(k)
        kept = [each for each in kept if (each + k) % 3 != 0]
        kept.append(k * 2)
    return kept


def a_window(x, n: int):
    last = [x[0]]
    for k in range(n):
        last.append(x[k] * 2)
        if len(last) > 2:
            last = last[1:]
    last.append(x[0])
    return torch.stack(last)


def levels(x, n: int):
    level, seen = [0], 0
    while len(level) > 0 and seen < n:
        following: list[int] = []
        for each in level:
            seen += 1
            following += [child for child in (2 * each + 1, 2 * each + 2) if child < n]
        level = following
        if seen == 2:
            level.append(99)
    return seen, level


def swapped(x, n: int):
    a, b = [0], [1, 2]
    for k in range(n):
        a.append(k)
        a, b = b, a
    return a, b


def named_before(x, n: int):
    kept: list[int] = []
    last = [5]
    for k in range(n):
        kept.append(k)
        last = kept
        kept = [each for each in kept if each % 2]
        kept.append(3)
    last.append(9)
    return kept, last


def of_branches(x, n: int):
    kept = [1]
    if n > 1:
        kept = [each + n for each in kept]
    kept.append(n)
    if n > 2:
        kept = kept[1:]
        kept.append(7)
    else:
        kept.append(8)
    return kept


@pytest.mark.parametrize("program", [filtered, a_window, levels, swapped, named_before, of_branches])
def test_lists_of_one_name(program):
    check(program, *((x, n) for x in (X, -X) for n in COUNTS), compiled=False)


@pytest.mark.slow
def test_compiled():
    check(a_window, *((X, n) for n in COUNTS))


def first_one_is_kept(x, n):
    kept = [7]
    first = kept
    for k in range(n):
        kept.append(k)
        kept = [each for each in kept if each % 2]
    return kept, first


def each_iteration_starts_with_one(x, n):
    kept, count = [1], 0
    for _ in range(n):
        part = kept
        for k in range(n):
            part.append(k)
            part = part[1:]
        count += len(part) + len(kept)
    return kept, count


def of_a_function(x, n):
    def grown(part: list[int], n: int) -> list[int]:
        for k in range(n):
            part.append(k)
            part = [each for each in part if each != 1]
        return part

    kept = [1]
    made = grown(kept, n)
    made.append(4)
    return kept, made


def in_another_list(x, n):
    kept = [1]
    box = [kept]
    if n > 1:
        kept = [5]
    kept.append(n)
    return kept, box[0]


def put_into_another_list(x, n):
    kept, box = [1], [[9]]
    if n > 1:
        box.append(kept)
        kept = [5]
    else:
        box[0] = kept
    kept.append(n)
    return kept, box


def of_an_earlier_iteration(x, n):
    count, kept = 0, [1]
    for k in range(n):
        part = kept
        if k % 2:
            part = [4]
        part.append(k)
        count += len(kept)
    return count, kept


OTHERS = [
    first_one_is_kept,
    each_iteration_starts_with_one,
    of_a_function,
    in_another_list,
    put_into_another_list,
    of_an_earlier_iteration,
]


@pytest.mark.parametrize("program", OTHERS)
def test_what_has_another_name_is_rejected(program):
    def dynamic(x):
        return program(x, int(x[2]))

    with pytest.raises(errors.UnsupportedProgramError):
        ssa_compiler.compile(dynamic, (X,), fullgraph=True)
