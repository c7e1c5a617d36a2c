# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Numbers that may be None, in lists whose length is dynamic."""

from __future__ import annotations

import pytest
import torch

from ssa_compiler.testing import check

X = torch.tensor([1, 0, 3, 4, 0, 2, 0])
CALLS = [(x, n) for x in (X, X.flip(0), X * 0) for n in (3, 1, 2, 7)]


def in_tuples(x, n: int):
    """The spans of tags; what kind one is may not be known."""
    spans, start, kind = [], None, None
    for i, tag in enumerate([*x[:n].tolist(), 0]):
        if start is not None and tag == 0:
            spans.append((start, i, kind))
            start, kind = None, None
        if tag > 0:
            start = i
            if tag > 2:
                kind = tag
    return spans


def chosen(x, n: int):
    found: list[int | None] = []
    for k in range(n):
        value: int | None = None
        if x[k] > 1:
            value = int(x[k])
        found.append(value)
    total = 0
    for value in found:
        total += value if value is not None else -100
    found.append(None)
    found[0] = 5
    return found, total, found[0], found[-1], found[n // 2]


def none_at_first(x, n: int):
    last = None
    found = []
    for k in range(n):
        found.append(last)
        last = float(x[k]) * 0.5
        if last < 0.6:
            last = None
    return found, [value for value in found if value is not None], len(found)


@pytest.mark.parametrize("program", [in_tuples, chosen, none_at_first])
def test_lists_with_none(program):
    check(program, *CALLS, compiled=program is in_tuples)
