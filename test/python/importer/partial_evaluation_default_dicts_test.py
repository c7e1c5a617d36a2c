# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""`collections.defaultdict`: reading an element that is not there puts a default there."""

import collections
from collections import defaultdict

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.arange(8.0).reshape(2, 4)
CALLS = [(X, 3), (X * 0, 4), (X, 0), (X, 1), (X, 2)]
LOWEST = -1.5


def counted(x, n: int):
    counts, chosen = defaultdict(int), []
    for i in range(n):
        k = int(x[0, i])
        if counts[k] >= 2:
            continue
        counts[k] += 1
        chosen.append(k)
    return chosen, dict(counts), len(counts), 3 in counts


def lambdas(x, n: int):
    best, both = collections.defaultdict(lambda: LOWEST), defaultdict(lambda: (LOWEST, 0))
    for i in range(n):
        k = int(x[0, i]) % 2
        best[k] = max(best[k], float(x[0, i]))
        a, b = both[k]
        both[k] = (a + 1, b + 2)
    return dict(best), dict(both), best.get(7, 5.0), 7 in best


def order_of_reads(x, n: int):
    """`d[i] += d[i - 1]` reads `d[i]` first."""
    sums = defaultdict(float)
    for i in range(n):
        sums[i] += 1.5 * sums[i - 1]
    return dict(sums)


def by_names(x, n: int):
    found = defaultdict(int)
    found["a"] += n
    found["b"] += 2
    return found["a"], found["none"], dict(found)


class Graph:
    def __init__(self):
        self.neighbours = defaultdict(list)

    def add(self, a, b):
        self.neighbours[a].append(b)


def in_an_object(x, n: int):
    graph = Graph()
    for i in range(n):
        graph.add(int(x[0, i]), int(x[1, i]) % 3)
    return list(graph.neighbours[int(x[0, 0])])


@pytest.mark.parametrize("program", [counted, lambdas, order_of_reads, by_names, in_an_object])
def test_defaults(program):
    check(program, *CALLS)


def effects_of_keys(x, n: int):
    queue, counts = [2, 1, 1, 0], defaultdict(int)
    for _ in range(4):
        counts[queue.pop()] += n
    return dict(counts), queue


def test_a_key_is_computed_once():
    check(effects_of_keys, *CALLS)


def returned(x):
    found = defaultdict(int)
    found[1] += 1
    return found


def test_a_result_is_no_plain_dict():
    with pytest.raises(
        errors.UnsupportedProgramError, match=r"a result that is a defaultdict; return dict\(...\) of it"
    ):
        ssa_compiler.compile(returned, (X,), fullgraph=True)
    assert type(ssa_compiler.compile(returned, (X,), fullgraph=False)(X)) is defaultdict
