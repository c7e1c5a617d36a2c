# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists, dicts and objects that run-time values choose of several, and that the program changes then."""

from dataclasses import dataclass, field

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

PLACES = torch.tensor([0, 1, 1, 2, 1, 0, 2, 2, 2])


@dataclass
class Hypothesis:
    tokens: list[int] = field(default_factory=list)
    score: float = 0.0


def best_of_several(x, n: int):
    """The objects change through what is chosen of them, and by their own names."""
    found = [Hypothesis() for _ in range(3)]
    for t in range(n):
        k = int(x[t])
        found[k].score += float(t)
        if t % 2 == 0:
            found[k].tokens.append(t)
    best = found[0]
    for each in found:
        if each.score > best.score:
            best = each
    best.tokens.append(100)
    found[1].tokens.append(n)
    return found, best, found[1].tokens, best is found[1], best.tokens is found[0].tokens


def flags_of_images(x, n: int):
    """Lists in dicts in a dict, whose lengths differ."""
    found = {}
    for k, count in enumerate((2, 0, 3)):
        found[k] = {"boxes": x[:count] * 2, "seen": [False] * count}
    hits = 0
    for t in range(n):
        g = found[int(x[t])]
        if len(g["boxes"]) > 0:
            j = t % len(g["seen"])
            if not g["seen"][j]:
                g["seen"][j] = True
                hits += 1
                continue
        hits -= 1
    return hits, [found[k]["seen"] for k in range(3)]


def one_of_two(a: list[int], b: list[int], c: dict[str, int], d: dict[str, int], n: int):
    """Lists and dicts of the caller's, which are returned."""
    chosen = a if n > 1 else b
    chosen.append(n)
    other = b if n > 1 else a
    for _ in range(n):
        other.append(len(chosen))
    table = c if n > 2 else d
    table["x"] += n
    chosen[0] = 7
    return chosen, table, len(a), len(b), c["x"]


def copies(x, n: int):
    """What is made of a list that is chosen is a list of its own."""
    a, b = [1, 2], [n]
    chosen = a if n > 1 else b
    made = chosen.copy()
    made.append(5)
    both = chosen + [6]  # noqa: RUF005 - the program has an operator
    both.append(7)
    part = chosen[:1]
    part[0] = 8
    chosen += both
    chosen *= 2
    return a, b, made, both, part, x * len(chosen), sum(chosen)


def none_or_one(x, n: int):
    a, b = Hypothesis([1], 1.0), Hypothesis([2], 2.0)
    best = None
    for t in range(n):
        each = a if int(x[t]) == 1 else b
        if best is None or each.score > best.score:
            best = each
    if best is not None:
        best.score += 1.0
        best.tokens.append(n)
    return a, b, best


def in_a_list(x, n: int):
    """What is chosen is an element, an attribute and an argument."""
    a, b = Hypothesis([1], 1.0), Hypothesis([2], 2.0)
    pair = [a, b]
    if n > 1:
        pair[0] = b
        pair[1] = a
    pair[0].score = 5.0
    add(pair[1], n)
    first, second = pair
    second.tokens.extend(first.tokens)
    return pair, a, b


def add(target, n: int):
    target.tokens.append(n)
    target.tokens.insert(0, 3)


def passed_in_loops(x, n: int):
    """Two names that a loop exchanges."""
    front, back = [1], [2]
    for t in range(n):
        front.append(int(x[t]))
        front, back = back, front
    total = 0
    for each in front:
        total += each
    return front, back, total


def predecessors(x, e, n: int):
    """Elements that are numbers or None, and ones that are lists, at places that are dynamic."""
    before = [None] * 4
    lists = [[k] for k in range(3)]
    for t in range(n):
        u, v = e[t].tolist()
        if x[u] > x[v]:
            before[v] = u
        lists[u % 3] = lists[v % 3]
    lists[0].append(7)
    path = []
    at = int(e[0][0])
    while at is not None:
        path.append(at)
        at = before[at]
    return before, path, lists, lists[0] is lists[1]


def test_elements_at_dynamic_places():
    edges = torch.tensor([[0, 1], [0, 2], [2, 3], [1, 3], [-2, 3]])
    for x in (torch.tensor([3.0, 1.0, 2.0, 0.0]), torch.zeros(4)):
        check(predecessors, *((x, edges, n) for n in (3, 0, 1, 2, 5)), compiled=False)


class Banks(nn.Module):
    def __init__(self):
        super().__init__()
        self.left: list[int] = [1]
        self.right: list[int] = [2]

    def forward(self, x, n: int):
        bank = self.left if n > 1 else self.right
        bank.append(n)
        return x * len(bank) + sum(self.left), bank


@pytest.mark.parametrize("program", [best_of_several, flags_of_images, none_or_one, passed_in_loops])
def test_what_is_chosen_is_changed(program):
    check(program, *((PLACES, n) for n in (5, 0, 1, 2, 9)), compiled=program is best_of_several)


@pytest.mark.parametrize("program", [copies, in_a_list])
def test_what_is_made_of_it(program):
    check(program, *((PLACES, n) for n in (1, 0, 2, 3)), compiled=False)


def test_callers_containers():
    check(one_of_two, *(([1], [2, 3], {"x": 1}, {"x": 2}, n) for n in (1, 2, 0, 3)), compiled=True)


def test_state_of_modules():
    compiled, module = ssa_compiler.compile(Banks(), (PLACES, 1)), Banks()
    for n in (1, 2, 3, 0, 1):
        found, bank = compiled(PLACES, n)
        expected, own = module(PLACES, n)
        assert torch.equal(found, expected)
        assert bank == own


def made_in_a_branch(x, n: int):
    found = 0
    if x[n] > 0:
        a, b = [1], [2]
        chosen = a if x[n] > 1 else b
        chosen.append(n)
        found = sum(chosen) + len(a)
    return found


def none_or_one_of_two(x, n: int):
    a, b = [1], [2]
    chosen = None
    if x[n] > 0:
        chosen = a if x[n] > 1 else b
    if chosen is not None:
        chosen.append(3)
    return a, b, chosen


def exchanged(x, n: int):
    a, b = {"n": 1}, {"n": 2}
    chosen = a
    for t in range(n):
        chosen = a if x[t] > 0 else b
        chosen["n"] += 1
        a, b = b, a
    return a, b, chosen


@pytest.mark.parametrize("program", [made_in_a_branch, none_or_one_of_two, exchanged])
def test_what_branches_and_loops_choose(program):
    check(program, *((PLACES, n) for n in (3, 0, 1, 2)), compiled=False)


def made_in_a_loop(x):
    best = None
    for t in range(int(x.sum())):
        a, b = [t], [t + 10]
        chosen = a if x[t % 6] > 0 else b
        chosen.append(1)
        if best is None or x[t % 6] > 1:
            best = chosen
    return best


def replaced_in_a_loop(x):
    best = [0]
    for t in range(int(x.sum())):
        a, b = [t], [t + 10]
        chosen = a if x[t % 6] > 0 else b
        chosen.append(1)
        if x[t % 6] > 1:
            best = chosen
    return best


@pytest.mark.parametrize("program", [made_in_a_loop, replaced_in_a_loop])
def test_what_a_loop_makes_anew(program):
    """It has no other name behind the loop."""
    check(program, *((x,) for x in (PLACES, PLACES * 2, -PLACES, PLACES - 1)), compiled=False)


def grows_while_it_is_read(x):
    a, b = [1, 2], [3]
    chosen = a if x[1] > 1 else b
    for each in a:
        if each < 9:
            chosen.append(9)
    return a, b


def test_a_list_that_changes_while_a_loop_goes_through_it():
    with pytest.raises(errors.UnsupportedProgramError, match="changes its length while a for loop goes through it"):
        ssa_compiler.compile(grows_while_it_is_read, (PLACES,))


def repeated(x, n: int):
    """`list * int` with a number that is dynamic."""
    a = [False] * int(x[0])
    if n < len(a):
        a[n] = True
    b = [1, n] * int(x[1])
    c = [n] * int(x[2])
    c += [7]
    for k in range(int(x[1])):
        c[k % len(c)] += k
    d = [0.5] * 3
    d *= int(x[1])
    return a, b, 2 * b, c, d, b * n, [1] * n * n


def test_lists_that_are_repeated():
    given = [([3, 2, 1], 1), ([0, 0, 0], 0), ([-1, 1, -2], 3), ([5, 7, 4], 2)]
    check(repeated, *((torch.tensor(x), n) for x, n in given), compiled=True)


def mean(x):
    found = []
    for k in range(len(x)):
        if x[k] > 0:
            found.append(x[k].item())
    return sum(found) / len(found) if found else 0.0


def total(x, n: int):
    return sum([float(k) for k in x[:n].tolist()])


def test_sums_of_floats_are_in_pythons_order():
    generator = torch.Generator().manual_seed(0)
    given = [torch.rand(20, generator=generator, dtype=torch.float64) - k / 4 for k in range(5)]
    compiled = ssa_compiler.compile(mean, (given[0],))
    for x in given:
        assert compiled(x) == mean(x)
    compiled = ssa_compiler.compile(total, (given[0], 2))
    assert [compiled(given[0], n) for n in (1, 5)] == [total(given[0], n) for n in (1, 5)]
    with pytest.raises(errors.UnsupportedProgramError, match="which is the int 0"):
        compiled(given[0], 0)


def pairs(x, steps=(1,)):
    return [x * step for step in steps]


def test_defaults_that_are_tuples_of_another_length():
    for args in ((PLACES, (1, 2)), (PLACES,), (PLACES, (3,))):
        check(pairs, args, compiled=False)


def any_of_many(x, k: int):
    """Elements of a list of many numbers, counted from either end."""
    numbers = [int(x[0]) * i for i in range(30)]
    return numbers[k], numbers[-k - 1]


def test_choosing_one_of_many_nests_by_the_logarithm():
    text = import_program(any_of_many, (torch.tensor([7]), 3)).module
    indents = [len(line) - len(line.lstrip()) for line in text.splitlines() if "prim.If.yield" in line]
    assert 4 <= (max(indents) - min(indents)) // 2 <= 6
    check(any_of_many, *((torch.tensor([7]), k) for k in (3, 0, 1, 14, 15, 16, 28, 29)), options={"kernels": False})
    compiled = ssa_compiler.compile(any_of_many, (torch.tensor([7]), 3))
    for k in (30, -31):
        with pytest.raises(IndexError, match="list index out of range"):
            compiled(torch.tensor([7]), k)


def returned_beside_others(x, n: int):
    """Nothing changes what is chosen, but the caller may."""
    numbers, others = [1, 2], [n]
    rows = [[float(k)] * n for k in range(2)]
    row, pair = numbers, {"row": rows[0]}
    for v in x[:3]:
        if v > n:
            row = others
            pair = {"row": rows[1]}
    return numbers, others, row, rows, pair


def test_what_is_returned_beside_others_is_one_of_these():
    x = torch.tensor([0.5, 2.5, -1.0])
    check(returned_beside_others, *((y, n) for y in (x, -x, x * 0) for n in (2, 0, 1)), compiled=False)
