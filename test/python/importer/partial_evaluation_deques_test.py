# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""`collections.deque`, which partial evaluation makes an object with a list."""

import collections
from collections import deque

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1, 0, 2, 1, 3, 0])
OTHERS = (torch.zeros(6, dtype=torch.long), torch.tensor([3, 2, 1, 0, 1, 2]))


def breadth_first(x):
    """A queue of numbers, as long as it is not empty."""
    edges = x[:, None] < x[None, :]
    distances = [-1] * len(x)
    distances[0] = 0
    queue = deque([0])
    while queue:
        u = queue.popleft()
        for v in edges[u].nonzero().flatten().tolist():
            if distances[v] < 0:
                distances[v] = distances[u] + 1
                queue.append(v)
    return distances


def window(x):
    """The last three elements."""
    last, means = deque(maxlen=3), []
    for v in x.tolist():
        last.append(v)
        means.append(sum(last) / len(last))
    return means, list(last), max(last), last.maxlen


def at_both_ends(x):
    queue = collections.deque()
    for k in range(len(x)):
        if x[k] > 0:
            queue.append(k)
        else:
            queue.appendleft(k)
    total = 0
    for k, v in enumerate(queue):
        total += k * v
    first, last, count = queue[0], queue[-1], len(queue)
    queue.extend([1, 2])
    queue.extendleft([3, 4])
    return (
        total,
        first,
        last,
        count,
        list(queue),
        queue.pop(),
        3 in queue,
        [v + 1 for v in queue if v > 1],
        queue.maxlen,
    )


def of_tensors(x):
    frames, means = deque(maxlen=2), []
    for k in range(4):
        frames.append(x.float() + k)
        means.append(torch.stack(list(frames)).mean(0))
    return torch.stack(means), frames[0]


def bounded(x):
    """One that is passed elements and a length, and that loses elements at either end."""
    queue = deque([1.5, 2.5, 3.5, 4.5], 3)
    for k in range(int(x[0])):
        queue.appendleft(float(k))
    found = list(queue)
    add(queue)
    copied = deque(queue)
    queue.clear()
    none = deque([1, 2], maxlen=0)
    none.append(3)
    return found, len(queue), bool(queue), isinstance(queue, list), isinstance(queue, deque), list(copied), len(none)


def add(queue):
    queue.append(9.0)


@pytest.mark.parametrize("program", [breadth_first, window, at_both_ends, of_tensors, bounded])
def test_deques(program):
    check(program, *((x,) for x in (X, *OTHERS)), compiled=program is breadth_first)


def emptied(x):
    queue = deque([1])
    for _ in range(int(x[0])):
        queue.popleft()
    return len(queue)


def beyond(x):
    return deque([1, 2])[int(x[0])]


def negative(x):
    return len(deque([1], maxlen=int(x[0])))


@pytest.mark.parametrize("program", [emptied, beyond, negative])
def test_what_raises(program):
    check(program, *((torch.tensor([k]),) for k in (1, 0, 2, 3, -1, -3)), compiled=False)


def returned(x):
    return deque([1])


def compared(x):
    return deque([1]) == deque([1])


def part_of_one(x):
    return deque([1, 2, 3])[:2]


def as_text(x):
    return f"{deque([1])}"


def changed_in_a_loop(x):
    queue = deque([1, 2], maxlen=2)
    for k in queue:
        queue.append(k)
    return len(queue)


@pytest.mark.parametrize("program", [returned, compared, part_of_one, as_text, changed_in_a_loop])
def test_deques_that_are_rejected(program):
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(program, (X,))
