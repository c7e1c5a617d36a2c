# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists of numbers in lists of dynamic length, which change where they are."""

import pytest
import torch

from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([3.0, -1.0, 2.0, 0.5, 1.0, 2.0])


def table(x, n: int):
    """Levenshtein's distance, with rows that have names."""
    d = [[0] * (n + 1) for _ in range(n + 2)]
    for i in range(n + 2):
        d[i][0] = i
    first = d[0]
    for j in range(n + 1):
        d[0][j] = j
    for i in range(1, n + 2):
        above, row = d[i - 1], d[i]
        for j in range(1, n + 1):
            same = 0 if x[i % 6] == x[j % 5] else 1
            d[i][j] = min(above[j - 1] + same, above[j] + 1, row[j - 1] + 1)
        row[-1] += sum(d[-1])
    return [sum(row) for row in d], d[-1][-1], sum(first)


def groups(x, n: int):
    """Lists that grow, are sorted, lose elements and are emptied, in any order."""
    found: list[list[int]] = [[] for _ in range(3)]
    for i in range(n):
        found[int(x[i % 6]) % 3].append(i)
        found[i % 3].append(-i)
        if i % 4 == 3:
            found[1].pop(0)
            found[-1].reverse()
        if i == 5:
            found[0].clear()
            found.append([i])
    total = 0
    for group in found:
        for k in group:
            total = total * 3 + k
    return total, found


def has_a_name(x, n: int):
    """A list is changed by the name under which it was put there."""
    rows: list[list[float]] = []
    for i in range(n):
        row = [float(i)]
        rows.append(row)
        row.append(2.0)
        if i % 2 == 1:
            rows[-1].append(7.0)
        if len(row) == 3:
            row[1] = 5.0
        rows[0][0] += len(row)
    return rows


def by_key(x, n: int):
    found: dict[int, list[int]] = {}
    for i in range(n):
        k = int(x[i % 6])
        if k not in found:
            found[k] = []
        found[k].append(i)
        found[k][0] += 1
    return found


@pytest.mark.parametrize("program", [table, groups, has_a_name, by_key])
def test_elements_change(program):
    check(program, *((X, n) for n in (3, 0, 1, 2, 6, 9)))


def not_named_any_more(x):
    """Lists are put in the place of others, and removed, behind the last read of those that were read before."""
    found: dict[int, list[int]] = {}
    for i, k in enumerate((x[0].item(), x[1].item(), x[2].item())):
        if int(k) not in found:
            found[int(k)] = []
        found[int(k)].append(i)
    stack = [[1] * n for n in range(int(x.abs().max()))]
    total = 0
    while len(stack) > 0:
        last = stack.pop()
        total += sum(last)
        if len(stack) > 0:
            stack[-1].append(total)
    return found, total


def test_lists_without_a_name_lose_their_places():
    check(not_named_any_more, *((x,) for x in (X, -X, X * 0, X.flip(0), X * 2)))


def replaced(x):
    n = int(x[0])
    rows = [[0.0] for _ in range(n)]
    first = rows[0]
    rows[0] = [1.0]
    rows[0][0] = 5.0
    return first[0]


def in_two_places(x):
    n = int(x[0])
    row = [0.0] * n
    rows = [[1.0] * n for _ in range(n)]
    rows.append(row)
    rows.append(row)
    rows[-1][0] = 2.0
    return rows[-2][0]


def in_two_lists(x):
    n = int(x[0])
    rows = [[1.0] * n for _ in range(n)]
    others = rows[1:]
    others[0][0] = 2.0
    return rows[1][0] + sum(others[0])


def chosen(x):
    n = int(x[0])
    rows = [[1.0] * n for _ in range(n)]
    row = rows[0] if x.sum() > 0 else rows[1]
    rows[0][0] = 2.0
    return row[0]


def kept(x):
    n = int(x[0])
    rows = [[1.0] * n for _ in range(n)]
    others = [[1.0] * n for _ in range(n)]
    others.append(rows[0])
    rows[0][0] = 2.0
    return others[-1][0]


@pytest.mark.parametrize("program", [replaced, in_two_places, in_two_lists, chosen, kept])
def test_what_copies_would_show_is_rejected(program):
    with pytest.raises(errors.UnsupportedProgramError):
        check(program, (X,), compiled=False)
