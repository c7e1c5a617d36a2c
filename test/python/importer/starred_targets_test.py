# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Starred targets of loops that stay loops."""

import torch

from ssa_compiler.testing import check

X = torch.arange(8.0)


def starred(x, n: int):
    spans = []
    for i in range(n):
        spans.append((i, float(x[i]), x[i] * 2, i + 1))
    counts, total = {}, 0
    for k, *_ in spans:
        counts[k % 2] = counts.get(k % 2, 0) + 1
    for a, b, *_, c in spans:
        total = total + b * c + a
    rows = [[i] * (i + 2) for i in range(n)]
    for first, *rest in rows:
        total = total + first + len(rest)
    for i, (first, *rest) in enumerate(rows):
        total = total + first * i + sum(rest)
    for head, *others in x.view(2, 2, 2):
        total = total + head.sum() * len(others)
    return counts, total


def test_starred_targets_of_loops():
    check(starred, *((X, n) for n in (3, 0, 1, 2, 8)))


def lasting(x, n: int):
    """Two variables that are None first, of two types."""
    start, low = None, None
    found = []
    for i in range(n):
        if start is not None and bool(x[i] < 2):
            found.append(i - start)
            start, low = None, None
        if bool(x[i] > 4):
            start, low = i, float(x[i])
    return found, start, low


def test_variables_that_become_none_together():
    values = torch.tensor([1.0, 5.0, 6.0, 0.0, 5.0, 1.0, 7.0])
    check(lasting, *((values, n) for n in (7, 0, 1, 2, 4, 6)))
