# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Variables that hold a value at first, and may be None later."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])


def in_a_branch(x, n):
    y = x * 2
    if n > 1:
        y = None
    return y


def way_to_the_root(parents: list[int | None], node: int):
    path = []
    while node is not None:
        path.insert(0, node)
        node = parents[node]
    return path


def counted_down(x, n):
    left, steps = n, 0
    while left is not None:
        left = left - 1 if left > 0 else None
        steps += 1
    return steps, x


def none_again_inside(x, n):
    found, start, gap = [], None, 0
    for i, value in enumerate(x.tolist()):
        if value > 1:
            if start is None:
                start = i
            gap = 0
        elif start is not None:
            gap += 1
            if gap > n:
                found.append((start, i - gap + 1))
                start = None
    if start is not None:
        found.append((start, len(x)))
    return found


def left_by_break(x, n):
    left, steps = n, 0
    while True:
        if left is None:
            break
        left -= 1
        if left < 0:
            left = None
            continue
        steps += left
    return steps, x


def kept_for_a_while(x, n):
    best = x[0]
    for i in range(n):
        if i == 2:
            best = None
        elif best is not None:
            best = best + i
        else:
            best = x[1]
    return best


def in_place(x, n):
    y = x.clone()
    z = y
    for i in range(n):
        if y is not None:
            y += i
        if i == 2:
            y = None
    return y, z


def of_a_list(x, n):
    kept = [x[0]]
    other = kept
    for i in range(n):
        if kept is not None:
            kept.append(x[i] * 2)
        if i == 1:
            kept = None
    return len(other), kept is None


def target_of_a_loop(x, n):
    k = 5
    for k in range(n):
        x = x + k
        if k == 2:
            k = None
            break
    return x, k


def parameter(x, n):
    def step(value):
        return None if value > 2 else value + 1

    while n is not None:
        x = x + n
        n = step(n)
    return x


def number_or_none(n):
    return None if n > 2 else n * 2


def called(x, n):
    last, total = n, 0
    for i in range(n):
        last = number_or_none(i)
        if last is None:
            return total, x
        total += last
    return total + last, x


def twice(x, n):
    a, b = n, x
    for i in range(n):
        a, b = (None, b * 2) if i == 1 else (i, None)
        if b is None:
            b = x + i
    return a, b


@pytest.mark.parametrize(
    "program",
    [
        in_a_branch,
        counted_down,
        left_by_break,
        none_again_inside,
        kept_for_a_while,
        in_place,
        of_a_list,
        target_of_a_loop,
        parameter,
        called,
        twice,
    ],
)
def test_variables(program):
    for first in (2, 0):
        check(program, *[(X, n) for n in (first, 0, 1, 2, 3, 5)][:6] if program is not of_a_list else [(X, 2), (X, 1)])


def test_list_of_parents():
    check(way_to_the_root, *[([None, 0, 1, 0], node) for node in (2, 0, 1, 3)], compiled=False)


def none_is_an_operand(x, n):
    y = x[0]
    for i in range(n):
        if i == 1:
            y = None
    return y + 1


def none_is_compared(x, n):
    k = n
    for i in range(n):
        if i == 1:
            k = None
    return x * 2 if k > 0 else x


@pytest.mark.parametrize("program", [none_is_an_operand, none_is_compared])
def test_none_where_eager_raises(program):
    compiled = ssa_compiler.compile(program, (X, 1))
    for n in (1, 0):
        assert torch.equal(compiled(X, n), program(X, n))
    for n in (2, 4):
        with pytest.raises(TypeError):
            program(X, n)
        with pytest.raises(errors.ProgramTypeError):
            compiled(X, n)


def _measured(x, k: int):
    return x[k], x.sum() * k, k + 1


def _best_of(x, n: int):
    best = None
    for t in range(n):
        found = _measured(x, t)
        if best is None or found[1] < best[1]:
            best = found
    row, total, place = best
    out = {"x": x, "n": n}
    if n > 2:
        return out
    out["total"] = total
    out["place"] = place
    out["row"] = row
    return out


def test_what_may_be_none_is_unpacked() -> None:
    """Of no candidates it is None, and Python raises."""
    for n in (2, 0, 1, 3):
        check(_best_of, (torch.randn(5, 3), n))


def loop_variable_of_a_branch(x, n: int):
    """It is not set in the first iteration, and is not read where it may not be."""
    kept, total = [], 0
    for k in range(n):
        for each in kept:
            total += each
        kept.append(k)
        if len(kept) > 1:
            each = kept[0]
    return total + len(kept)


def read_behind(x, n: int):
    kept = []
    for k in range(n):
        kept.append(k)
        if len(kept) > 1:
            each = kept[-1]
    return each


def test_variables_that_a_branch_sets_and_a_loop_assigns():
    check(loop_variable_of_a_branch, *((torch.ones(2), n) for n in (4, 0, 1, 2)), compiled=False)


def test_what_is_not_set_raises_where_it_is_read():
    compiled = ssa_compiler.compile(read_behind, (torch.ones(2), 3), fullgraph=True)
    assert compiled(torch.ones(2), 4) == 3
    with pytest.raises(UnboundLocalError):
        compiled(torch.ones(2), 1)


class Layer:
    def __init__(self, p: int):
        self.name = "add" if p > 1 else None
        self.size = p - 1 if p > 2 else None
        self.shift = torch.ones(1) * (p - 3) if p > 1 else None
        self.sizes = [p] if p > 2 else None

    def apply(self, x):
        y = x * 2 if self.name else x
        if self.size:
            y = y + self.size
        if not self.shift:
            y = y + 10
        scales = (1.0, 2.0) if self.name else (3.0, 4.0)
        if self.sizes and self.size:
            y = y * 3
        return y * scales[0], bool(self.size), not self.name


def truths_of_attributes(x, n: int):
    return Layer(n).apply(x)


def truths_of_variables(x, n: int):
    name = "a" if n > 1 else ""
    k = n - 2 if n > 1 else None
    total = 0
    for i in range(n):
        if k:
            total += k
        if not name:
            total += 1
        if i > 1:
            k = None
        elif i == 0:
            k = 3
    return total, 1 if k else 0


@pytest.mark.parametrize("program", [truths_of_attributes, truths_of_variables])
def test_what_may_be_none_is_true_if_it_is_something(program):
    check(program, *((X, n) for n in (2, 0, 1, 3, 4)))
