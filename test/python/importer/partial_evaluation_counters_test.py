# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""`collections.Counter` and `heapq`."""

import collections
import heapq
from collections import Counter

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

INPUTS = [(torch.tensor(ids),) for ids in ([1, 2, 1, 2, 3, 1], [4, 4, 5, 0, 0, 0], [3, 3, 0, 0, 0, 0], [0] * 6)]


def numbers(x):
    return [v for v in x.tolist() if v > 0]


def counted(x):
    ids = numbers(x)
    found, pairs = Counter(ids), collections.Counter(zip(ids, ids[1:]))  # noqa: RUF007
    even = Counter(v for v in ids if v % 2 == 0)
    missing = found[77] + pairs[7, 7]
    return dict(found), dict(pairs), dict(even), missing, len(found), 77 in found, sum(pairs.values())


def changed(x):
    ids, found = numbers(x), Counter()
    for v in ids:
        found[v % 2] += 1
        found[v] -= 2
    del found[99]
    copied = found.copy()
    found.update(ids[:2])
    found.update({5: 3})
    copied.subtract(ids[:1])
    copied.subtract(found)
    return dict(found), dict(copied), copied.total(), list(Counter(ids).elements())


def most_common(x):
    ids = numbers(x)
    pairs = Counter(zip(ids, ids[1:]))  # noqa: RUF007
    first = pairs.most_common(1)
    several = pairs.most_common(2 if len(ids) > 3 else -1)
    return first, several, Counter(ids).most_common(), [a for (a, _), n in pairs.items() if n > 1]


class Statistics:
    def __init__(self):
        self.found = Counter()

    def add(self, key, n=1):
        self.found[key] += n


def of_an_object(x):
    statistics = Statistics()
    for v in numbers(x):
        statistics.add(v)
        statistics.add(v + 1, 2)
    return dict(sorted(statistics.found.items()))


@pytest.mark.parametrize("program", [counted, of_an_object])
def test_counters(program) -> None:
    check(program, *INPUTS)


@pytest.mark.slow
@pytest.mark.parametrize("program", [changed, most_common])
def test_methods_of_counters(program) -> None:
    check(program, *INPUTS)


def returned(x):
    return Counter(x.tolist())


def copied(x):
    found = Counter(numbers(x))
    return found.copy()


def shown(x):
    return f"{Counter(x.tolist())}"


def of_names(x):
    return dict(Counter(a=1))


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (returned, r"a result that is a Counter; return dict\(...\) of it"),
        (copied, r"a result that is a Counter; return dict\(...\) of it"),
        (shown, "the text of a defaultdict or Counter"),
        (of_names, "Counter.. of other arguments than what is counted"),
    ],
)
def test_other_uses_are_rejected(program, says) -> None:
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(program, INPUTS[0])


def queue(x):
    heap, out = [], []
    for number, v in enumerate(numbers(x)):
        heapq.heappush(heap, (v % 3, number))
        if len(heap) > 3:
            out.append(heapq.heappop(heap))
    while heap:
        out.append(heapq.heappop(heap))
    return out


def replaced(x):
    heap = numbers(x)
    heapq.heapify(heap)
    made = list(heap)
    first = heapq.heappushpop(heap, 2)
    if heap:
        first = first * 10 + heapq.heapreplace(heap, 7)
    return made, heap, first


def test_heaps() -> None:
    check(queue, *INPUTS)
    check(replaced, *INPUTS)


def empty(x):
    heap = numbers(x)
    return heapq.heappop(heap)


def test_an_empty_heap() -> None:
    compiled = ssa_compiler.compile(empty, INPUTS[0])
    assert compiled(*INPUTS[1]) == 4
    with pytest.raises(IndexError, match="index out of range"):
        compiled(*INPUTS[3])
