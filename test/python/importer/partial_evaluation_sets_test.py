# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Sets of numbers, of which nothing depends on the order of the elements."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check


def unique(x):
    seen = set()
    out = []
    for v in x.tolist():
        if v in seen:
            continue
        seen.add(v)
        out.append(v)
    return out, len(seen), bool(seen), isinstance(seen, set)


def two_sets(x):
    a, b = set(), {3, 4}
    n = 0
    for v in x.tolist():
        if v in a or v + 1 not in b:
            n += 1
        a.add(v)
        b.update([v, v + 2])
    if not a:
        n -= 100
    return n, len(a), len(b)


def of_a_list(x):
    return len(set(x.tolist())), len({v % 3 for v in x.tolist()})


def mark(seen, v):
    seen.add(v)
    return len(seen)


def passed_on(x):
    seen, n = set(), 0
    for v in x.tolist():
        n += mark(seen, v)
    return n, [k for k in range(4) if k in seen]


def cleared(x):
    seen, n = set(), 0
    for v in x.tolist():
        if v in seen:
            seen.clear()
            n += 1
        seen.add(v)
    return n, len(seen)


def algebra(x):
    a, b = set(x.tolist()), {1, 2} | set(range(4, 6))
    rest = sorted(set(range(7)) - a)
    both = a & b
    either = a.union(b)
    a.add(6)
    copied = set(a)
    return (
        rest,
        (len(both), sum(both), len(either), max(either), min(b - a | {9})),
        (sorted(a ^ b), sorted(either.difference(both)), sorted(a.copy().symmetric_difference(b) | both)),
        (both <= a, both < a, a >= b, a > both, a == either | {6}, a != b, a == set()),
        (both.issubset(b), b.issuperset(a), a.isdisjoint({7, 8}), len(copied), 6 in a),
    )


def numbers(*values):
    return torch.tensor(values, dtype=torch.long)


@pytest.mark.parametrize("program", [unique, two_sets, of_a_list, passed_on, cleared, algebra])
@pytest.mark.slow
def test_sets(program):
    check(program, (numbers(1, 2, 1),), (numbers(3, 3, 3),), (numbers(1, 2, 3),))
    for values in (numbers(), numbers(5), numbers(3, 3), torch.arange(70) % 7):
        check(program, (values,), compiled=False)


def known_elements(x):
    names = {"a", "b"}
    grid = {(0, 1)}
    grid.add((1, 1))
    grid.remove((0, 1))
    names.discard("a")
    return "a" in names, "b" in names, (0, 1) in grid, (1, 1) in grid, len(grid), x


def missing(x):
    seen = {1, 2}
    seen.remove(3)
    return x


def test_known_elements():
    check(known_elements, (numbers(1),), compiled=False)
    with pytest.raises(KeyError):
        ssa_compiler.compile(missing, (numbers(1),))(numbers(1))


def result(x):
    return {v for v in x.tolist()}  # noqa: C416


def result_in_a_list(x):
    return [set(x.tolist())]


def iterated(x):
    total = 0
    for v in set(x.tolist()):
        total = total * 2 + v
    return total


def of_floats(x):
    return len(set((x / 2).tolist()))


def of_tensors(x):
    return len(set(x))


def turned_into_a_list(x):
    return list(set(range(3)) - set(x.tolist()))


def shown(x):
    return f"{set(x.tolist())}", x


def texts(x):
    return str(set(x.tolist())), x


@pytest.mark.parametrize(
    "program", [result, result_in_a_list, iterated, of_floats, of_tensors, shown, texts, turned_into_a_list]
)
def test_others_are_rejected(program):
    with pytest.raises(errors.SsaCompilerError, match=program.__code__.co_filename):
        ssa_compiler.compile(program, (numbers(1, 2),))
