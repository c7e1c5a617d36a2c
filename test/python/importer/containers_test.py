"""Lists, tuples and dicts behave as in Python, whatever is in them and wherever they are."""

from __future__ import annotations

import copy
import math
from typing import Any, Dict, List, Optional, Tuple  # noqa: UP035 - TorchScript

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

# ruff: noqa: UP006, UP045, RUF005 - TorchScript reads these annotations and knows no unpacking

NAN = math.nan


def test_one_program_with_many_lists() -> None:
    check(many_lists, ([3, 1, 2, 1], [0.5, -1.0]), ([2, 0, 7, 7], [-0.0, 0.0]), ([-5, 9, 0, 0], [math.inf, -math.inf]))


def many_lists(n: List[int], w: List[float]):
    again = n
    n *= 2
    shared = [w, w]
    shared[0].append(1.5)
    inside = {"n": n}
    inside["n"].sort(reverse=True)
    shared[1].extend(w[:1])
    names = ["b", "a", "c"]
    names.sort()
    names.remove("b")
    flags = [n[0] > 1, True]
    flags.reverse()
    pairs = [(2, "y"), (1, "z"), (1, "x")]
    pairs.sort()
    nested: List[List[int]] = [[n[0]], [n[1]]]
    nested[0], nested[1] = nested[1], nested[0]
    nested[0].append(7)
    maybe: List[Optional[int]] = [None, n[1]]
    maybe.append(None)
    maybe.reverse()
    text = str(names) + f"{pairs}"
    return again, shared, inside, names, flags, pairs, nested, maybe, text, n is again, names is again, max(w), min(w)


def in_branches(n: List[int], x: Tensor):
    if n[0] > 2:
        n[0] = 5
        n.sort()
    else:
        n.remove(n[1])
        n.append(7)
    for i in range(n[1]):
        n[0] = n[0] + 3 * i
        n.sort()
    return n, x + n[0]


def test_branches_and_loops() -> None:
    check(in_branches, *([n, torch.ones(2)] for n in ([3, 1, 2], [0, 0, 0], [1, 2, 9], [7, 1, 1])))


def replaced_while_iterating(n: List[int], d: Dict[str, int]):
    for i, element in enumerate(n):
        n[i] = element * 2
    total = 0
    for element in n:
        n[-1] = element
        total = total * 10 + element
    for key in d:
        d[key] = d[key] + 1
    for _key, value in d.items():
        d["b"] = value * 7
        total = total * 10 + value
    values = d.values()
    d["c"] = 1
    known = [2, 4, 6]
    for element in known:
        if element == 4:
            known.remove(element)
            break
    for i in range(len(n)):
        n.append(i)
    return n, known, d, total, list(values), sum(values)


def test_loops_see_what_they_replace() -> None:
    check(replaced_while_iterating, ([1, 2, 3], {"a": 1, "b": 5}), ([2, 2, 2], {"a": -1, "b": 0}), compiled=False)


def appends_while_iterating(n: List[int]):
    m = [3]
    for element in m:
        if len(m) < 4:
            m.append(element - 1)
    return m


def appends_behind_a_break(n: List[int]):
    m = [3]
    for element in m:
        if len(m) > 2:
            break
        m.append(element)
    return m


def removes_while_iterating(n: List[int]):
    m = [1, 2, 3, 4]
    for element in m:
        m.remove(element)
    return m


def new_key_while_iterating(n: List[int]):
    d = {"a": 1}
    for key in d:
        d[key + "x"] = 1
    return d


def grows_while_iterating(n: List[int]):
    m: List[int] = []
    for i in range(n[0]):
        m.append(i)
    for element in m:
        m.append(element)
    return m


@pytest.mark.parametrize(
    "program",
    [
        appends_while_iterating,
        appends_behind_a_break,
        removes_while_iterating,
        new_key_while_iterating,
        grows_while_iterating,
    ],
)
def test_a_length_that_changes_while_iterating_is_rejected(program) -> None:  # type: ignore[no-untyped-def]
    message = r"containers_test.py:\d+: unsupported: a list or dict that changes its length while a for loop"
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match=message):
        import_program(program, ([3],))


# Errors.
# ---------------------------------------------------------------------------------------------------------------


def unused_remove(n: List[int]):
    a = [1]
    a.remove(2)
    return n


def unused_del(n: List[int]):
    a = [1]
    del a[1]
    return n


def unused_key(n: List[int]):
    d = {"a": [1]}
    del d["b"]
    return n


def unused_part(n: List[int]):
    d = {"a": [1]}
    d["a"].remove(3)
    return n


def no_maximum(n: List[int]):
    return max(n[4:])


def no_step(n: List[int]):
    return n[::0]


def no_key(n: List[int]):
    return {1: 2}[n[0] - n[0]]


def no_item(n: List[int]):
    d: Dict[int, int] = {}
    return d.popitem()


def changed_shape(n: List[int]):
    torch.ones(2).shape.append(1)


def shape_and_list(n: List[int]):
    return torch.ones(2).shape + [1]


@pytest.mark.parametrize(
    "program",
    [
        unused_remove,
        unused_del,
        unused_key,
        unused_part,
        no_maximum,
        no_step,
        no_item,
        changed_shape,
        shape_and_list,
        no_key,
    ],
)
def test_errors_are_eagers(program) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Exception) as eager:  # noqa: PT011 - compared below
        program([3, 1, 2, 1])
    with pytest.raises(eager.type, match=r"containers_test.py:\d+: "):
        import_program(program, ([3, 1, 2, 1],))


def compared(w: List[float], x: float):
    return w.count(x), x in w, w == w, w.count(w[0])


def ordered(w: List[float], x: float):
    return sorted(w)


def test_nans_that_may_be_one_object() -> None:
    check(compared, ([1.0, 2.0], 3.0), ([1.0, 2.0], NAN), ([NAN, 2.0], 1.0), ([-0.0, 2.0], 0.0))
    compiled = ssa_compiler.compile(compared, ([1.0, 2.0], 3.0))
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match=r"unsupported: a comparison of two NaNs in a list"):
        compiled([NAN, 2.0], NAN)
    compiled = ssa_compiler.compile(ordered, ([1.0, 2.0], 3.0))
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match=r"unsupported: aten::sorted on a list with NaN"):
        compiled([1.0, NAN], 1.0)
    assert compiled([2.0, -math.inf], 1.0) == [-math.inf, 2.0]


# Which objects are one.
# ------------------------------------------------------------------------------------------------


def returns_its_own(a: List[int], d: Dict[str, List[int]], t: Tuple[List[int], int]):
    a.append(1)
    d["new"] = a
    local = [2]
    d["local"] = local
    return a, [a, t[0]], d["a"], local, d


def test_results_are_the_callers_objects() -> None:
    compiled = ssa_compiler.compile(returns_its_own, ([1], {"a": [2]}, ([3], 4)))
    for program in (compiled, returns_its_own):
        a, d, t = [5], {"a": [6]}, ([7], 8)
        inner = d["a"]
        one, (same, part), element, local, whole = program(a, d, t)
        assert one is a
        assert same is a
        assert part is t[0]
        assert element is inner
        assert whole is d
        assert d["new"] is a
        assert d["local"] is local
        assert (a, local, list(d)) == ([5, 1], [2], ["a", "new", "local"])


def keys_in_order(d: Dict[str, int]):
    last = d.pop("a")
    d["a"] = last * 2
    total = 0
    for value in d.values():
        total = total * 10 + value
    return list(d), total


def test_a_dict_in_another_order() -> None:
    compiled = ssa_compiler.compile(keys_in_order, ({"a": 1, "b": 2, "c": 3},))
    for keys in ("abc", "cba", "bac", "abc"):
        given = {key: number for number, key in enumerate(keys)}
        expected = copy.deepcopy(given)
        assert compiled(given) == keys_in_order(expected)
        assert list(given.items()) == list(expected.items())
    assert len(compiled.specialisations) == 3


def asks_for_identity(a: List[int], b: List[int]):
    return a is b


def test_identity_of_arguments_is_rejected() -> None:
    with pytest.raises(
        ssa_compiler.UnsupportedOpError, match="'is' on two lists, dicts or objects among the arguments"
    ):
        import_program(asks_for_identity, ([1], [1]))


# Tensors as lists.
# -----------------------------------------------------------------------------------------------------


def as_lists(x: Tensor, y: Tensor):
    rows: List[List[float]] = x.tolist()
    rows[0].sort()
    number: int = y[0].tolist()
    flags: List[bool] = (y > 1).tolist()
    long: List[int] = torch.arange(100).tolist()
    long.append(number)
    return rows, number, flags, len(long), long[-1], torch.Size([2, 3]), sorted(x.shape)


def test_tolist() -> None:
    y = torch.tensor([3, 0, 1])
    check(as_lists, (torch.tensor([[2.5, -1.0], [0.1, 7.0]]), y), (torch.zeros(2, 2), y - 5))


def as_other_list(x: Tensor):
    numbers: List[int] = x.tolist()
    return numbers


def test_tolist_of_another_type_is_what_eager_gives() -> None:
    check(as_other_list, (torch.tensor([1.5, -0.0]),), (torch.zeros(2),), compiled=False)


# Modules.
# --------------------------------------------------------------------------------------------------------------


class Holder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = [3, 1, 2]
        self.names = {"a": 1}


class Sorts(Holder):
    def forward(self, x: Tensor):
        self.numbers.sort()
        return x


class Repeats(Holder):
    def forward(self, x: Tensor):
        numbers = self.numbers
        numbers *= 2
        return x


class Sets(Holder):
    def forward(self, x: Tensor):
        self.names["b"] = 2
        return x


class Copies(Holder):
    def forward(self, x: Tensor):
        numbers = list(self.numbers)
        numbers.sort()
        numbers *= 2
        return (
            x * numbers[0],
            numbers,
            sorted(self.numbers),
            3 in self.numbers,
            self.numbers.index(2),
            max(self.names.values()),
        )


@pytest.mark.parametrize("module", [Sorts, Repeats, Sets])
def test_lists_of_a_scripted_module_are_not_changed(module: Any) -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="of a module that is scripted"):
        import_program(torch.jit.script(module()), (torch.ones(2),))


def test_copies_of_lists_of_a_module() -> None:
    check(Copies(), (torch.ones(2),), compiled=False)


# At dynamic positions. ----------------------------------------------------------------------------------


def set_anywhere(n: List[int], w: List[float], i: int):
    n[i] = n[i] + 5
    w[i] += 0.5
    return n[i]


def test_a_list_of_the_callers_is_set_anywhere() -> None:
    check(set_anywhere, *(([3, 1, 2], [0.5, 1.5, 2.5], i) for i in (1, 0, -1, -3, 2, 3, -4)))


# Made in loops and branches.
# -------------------------------------------------------------------------------------------


def returned_from_a_loop(x: Tensor, n: int):
    for v in [5, 2, 7]:
        if v == n:
            return {"a": v * n}, [[v], [v + n]], x * v
    return {"a": n}, [[n], [n]], x


def found_in_a_loop(n: int):
    found: Optional[List[int]] = None
    seen: List[int] = []
    for v in [5, 2, 7, 2]:
        if v == n:
            found = [v, n]
        if v not in seen:
            seen.append(v)
    total = 0
    if found is not None:
        total = sum(found)
    return total, seen


def test_made_in_a_loop() -> None:
    check(returned_from_a_loop, *((torch.ones(2), n) for n in (2, 0, 5, 7)), compiled=False)
    check(found_in_a_loop, *((n,) for n in (2, 0, 5)), compiled=False)
