"""Lists, dicts and objects of the caller's whose contents a program changes."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple  # noqa: UP035 - TorchScript

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def grid() -> Tensor:
    return torch.arange(12.0).reshape(3, 4)


def appended(x: Tensor, out: List[Tensor]) -> Tensor:
    y = x * 2
    out.append(y)
    out.append(x)
    return y + 1


def replaced(x: Tensor, caches: List[Tensor]) -> Tensor:
    for i in range(len(caches)):
        caches[i] = torch.cat([caches[i], x])
    return caches[-1].sum()


def keys(x: Tensor, d: Dict[str, Tensor]) -> Tensor:
    d["new"] = x + 1
    d["a"] = d["a"] * 2
    d.pop("b")
    d.update({"c": x, "d": d.setdefault("a", x)})
    del d["d"]
    return d["a"]


def nested(x: Tensor, states: List[Tuple[Tensor, List[Tensor]]]) -> Tensor:
    total = x
    for h, parts in states:
        parts[0] = h + x
        parts.append(x)
        total = total + parts[0]
    return total


def emptied(x: Tensor, out: List[Tensor]) -> Tensor:
    for _ in range(len(out)):
        x = x + out.pop()
    return x


def counted(x: Tensor, n: List[int]) -> Tensor:
    n[0] += 1
    n.insert(0, 7)
    return x + n[1]


def turned(x: Tensor, out: List[Tensor]) -> Tensor:
    out.reverse()
    return x


def written_in_place(x: Tensor, out: List[Tensor]) -> Tensor:
    out[0] += x
    out[1] = out[0]
    out[0] = x
    return x


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (appended, lambda: (grid(), [])),
        (appended, lambda: (grid(), [torch.ones(2)])),
        (replaced, lambda: (grid(), [torch.ones(2, 4), torch.ones(1, 4)])),
        (keys, lambda: (grid(), {"b": torch.ones(1), "a": torch.ones(2), "c": torch.ones(3)})),
        (nested, lambda: (grid(), [(torch.ones(3, 4), [torch.ones(1)]), (torch.zeros(3, 4), [torch.ones(2)])])),
        (emptied, lambda: (grid(), [grid(), grid() + 1])),
        (counted, lambda: (grid(), [3, 4])),
        (turned, lambda: (grid(), [torch.ones(1), torch.ones(2), torch.ones(3)])),
        (written_in_place, lambda: (grid(), [grid(), grid() + 1])),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_caller_sees_the_contents(program, arguments) -> None:  # type: ignore[no-untyped-def]
    check(program, arguments())


def test_the_same_list_and_the_same_tensors() -> None:
    compiled = ssa_compiler.compile(replaced, (grid(), [grid()]))
    caches = [grid()]
    held = caches
    compiled(grid(), caches)
    assert held is caches
    assert caches[0].shape == (6, 4)
    states = {"b": torch.ones(1), "e": torch.ones(3), "c": torch.ones(3), "a": torch.ones(2)}
    kept = states["e"]
    ssa_compiler.compile(keys, (grid(), dict(states)))(grid(), states)
    assert states["e"] is kept
    assert list(states) == ["e", "c", "a", "new"]


def under_a_branch(x: Tensor, out: List[Tensor], n: int) -> Tensor:
    if x.sum() > 0:
        out[0] = out[0] + 1
    for i in range(n):
        out[1] = out[1] * 2 + i
    return x


def test_under_branches_and_in_loops() -> None:
    calls = [(grid() * sign, [grid(), grid() + 1], n) for sign in (1, -1) for n in (2, 0, 1)]
    check(under_a_branch, *calls)


def some_or_none(x: Tensor, state: List[Optional[Tensor]]) -> Tensor:
    before = state[0]
    if before is None:
        state[0] = x
        return x
    state[0] = before + x
    return x * 2


def test_none_becomes_a_tensor() -> None:
    compiled = ssa_compiler.compile(some_or_none, (grid(), [None]))
    state: list[Tensor | None] = [None]
    for n in (1, 2, 3):
        compiled(grid(), state)
        torch.testing.assert_close(state[0], grid() * n)
    assert len(compiled.specialisations) == 2


def two_lists(x: Tensor, one: List[Tensor], other: List[Tensor]) -> Tensor:
    one[0] = x + 1
    return other[0] + x


def test_one_list_for_two_arguments() -> None:
    compiled = ssa_compiler.compile(two_lists, (grid(), [grid()], [grid()]))
    for program in (compiled, two_lists):
        both = [grid()]
        assert torch.equal(program(grid(), both, both), grid() * 2 + 1)
        assert torch.equal(both[0], grid() + 1)
    assert len(compiled.specialisations) == 2
    # Compiled for one list, called with two.
    compiled = ssa_compiler.compile(two_lists, (grid(), both, both), max_specialisations=1)
    with pytest.raises(ssa_compiler.ArgumentValueError, match="arguments 'one' and 'other': expected one list"):
        compiled(grid(), [grid()], [grid()])
    compiled = ssa_compiler.compile(two_lists, (grid(), [grid()], [grid()]), max_specialisations=1)
    with pytest.raises(ssa_compiler.ArgumentValueError, match=r"'one'.*passed in two places: pass a copy"):
        compiled(grid(), both, both)


def test_two_lists_for_two_arguments() -> None:
    check(two_lists, (grid(), [grid()], [grid() + 1]))


def in_each_other(x: Tensor, d: Dict[str, List[Tensor]], t: Tuple[List[Tensor], List[Tensor]]) -> Tensor:
    t[0].append(x)
    d["new"] = t[1]
    t[1].append(x * 2)
    return d["a"][-1] + len(t[0])


def test_one_list_in_several_containers() -> None:
    def arguments() -> Tuple[Tensor, Dict[str, List[Tensor]], Tuple[List[Tensor], List[Tensor]]]:
        one = [grid()]
        return grid(), {"a": one, "b": []}, (one, one)

    check(in_each_other, arguments(), arguments())
    compiled = ssa_compiler.compile(in_each_other, arguments())
    x, d, t = arguments()
    compiled(x, d, t)
    assert d["a"] is d["new"] is t[0]


def length_from_data(x: Tensor, out: List[Tensor]) -> Tensor:
    for i in range(int(x.sum())):
        out.append(x * i)
    return x


def numbers_from_data(x: Tensor, out: List[int], sums: List[float]) -> int:
    for i in range(int(x.sum())):
        out.append(i)
        if bool(x[0] > i):
            sums.append(float(x[1]) + i)
    out.append(-1)
    return len(out)


def test_lists_get_a_length_known_only_at_run_time() -> None:
    starts = [torch.tensor([float(n), 1.0]) for n in (2, 0, -1, 5)]
    check(length_from_data, *[(x, []) for x in starts], compiled=False)
    check(numbers_from_data, *[(x, [7], []) for x in starts])


def test_a_list_of_tensors_of_the_callers_keeps_them() -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="'out', that gets a dynamic length"):
        import_program(length_from_data, (torch.ones(2), [torch.ones(2)]))


def ring(x: Tensor, rows: List[Tensor], position: int) -> Tensor:
    rows[position] = x
    return torch.stack(rows).sum(0)


def added(x: Tensor, rows: List[Tensor], position: int, n: int) -> Tensor:
    rows[position] += x
    for i in range(n):
        rows[i % 2] *= 2
    return torch.stack(rows).sum(0)


def keyed(x: Tensor, rows: Dict[int, Tensor], key: int) -> None:
    rows[key] += x


def rows_of_two() -> List[Tensor]:
    return [torch.zeros(2), torch.full((2,), 3.0)]


def test_a_dynamic_index_that_replaces_a_tensor_is_a_constant() -> None:
    compiled = ssa_compiler.compile(ring, (torch.ones(2), rows_of_two(), 0), cache=False)
    for position in (0, 1, -1, -2):
        mine, theirs, x = rows_of_two(), rows_of_two(), torch.ones(2)
        kept = list(mine)
        assert torch.equal(compiled(x, mine, position), ring(x, theirs, position))
        assert mine[position] is x
        assert mine[1 - position % 2] is kept[1 - position % 2]


def test_a_dynamic_index_of_an_augmented_assignment_keeps_the_tensors() -> None:
    inputs = [(0, 0), (1, 1), (-1, 2), (-2, 5), (2, 0), (-3, 0)]
    check(added, *[(torch.ones(2), rows_of_two(), k, n) for k, n in inputs])
    compiled = ssa_compiler.compile(added, (torch.ones(2), rows_of_two(), 0, 0), cache=False)
    rows = rows_of_two()
    kept = list(rows)
    for _ in range(2):
        compiled(torch.ones(2), rows, 1, 3)
    assert all(one is other for one, other in zip(kept, rows))
    assert torch.equal(kept[1], torch.full((2,), 18.0))
    check(keyed, *[(torch.ones(2), dict(zip((5, 7), rows_of_two())), k) for k in (5, 7)])


def element_in_a_branch(xs: List[Tensor], d: Dict[str, Tensor], x: Tensor, n: int) -> None:
    for i in range(n):
        if i == 1:
            xs[0] = x
            d["a"] = xs[1]
        if i == 2:
            d["a"] = x * 2
    xs[0][0] += 50
    d["a"] += 1


@pytest.mark.parametrize("trips", [0, 1, 2, 3])
def test_an_element_that_a_branch_may_assign_is_the_object_itself(trips: int) -> None:
    compiled = ssa_compiler.compile(
        element_in_a_branch, ([torch.zeros(2), torch.ones(2)], {"a": torch.zeros(2)}, torch.full((2,), 7.0), 3)
    )
    found = []
    for function in (element_in_a_branch, compiled):
        xs, d, x = [torch.zeros(2), torch.ones(2)], {"a": torch.zeros(2)}, torch.full((2,), 7.0)
        before = [*xs, d["a"], x]
        for n in (0, trips):
            function(xs, d, x, n)
        same = [[now is old for old in before] for now in (*xs, d["a"])]
        found.append((same, [tensor.tolist() for tensor in (*xs, d["a"], *before)]))
    assert found[0] == found[1]


def shorter(xs: List[Tensor], n: int) -> None:
    if n > 0:
        xs[0] = xs[0] * 2
    xs.pop()


def longer(xs: List[Tensor], n: int) -> None:
    if n > 1:
        xs[0] = xs[1]
    xs.insert(0, xs[1])
    xs.append(torch.zeros(1))


def emptied(xs: List[Tensor], n: int) -> List[Tensor]:
    if n > 0:
        xs[0] = xs[n]
    taken = [xs[1], xs[0]]
    xs.clear()
    xs.append(taken[1])
    return taken


def moved(xs: List[Tensor], d: Dict[str, Tensor], n: int) -> None:
    if n > 1:
        d["a"] = xs[0]
    xs[1] = d["a"]
    d["c"] = xs[1]
    del d["b"]


@pytest.mark.parametrize("program", [shorter, longer, emptied, moved])
def test_it_is_the_object_itself_in_containers_of_another_length_and_in_others(program: Any) -> None:
    def arguments(n: int) -> List[Any]:
        keyed = [{"a": torch.zeros(2), "b": torch.ones(2)}] if program is moved else []
        return [[torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)], *keyed, n]

    compiled = ssa_compiler.compile(program, arguments(1))
    for n in (0, 1, 2):
        found = []
        for function in (program, compiled):
            given = arguments(n)
            before = [*given[0], *(given[1].values() if program is moved else ())]
            function(*given)
            now = [*given[0], *(given[1].values() if program is moved else ())]
            found.append(([[each is old for old in before] for each in now], [each.tolist() for each in now]))
        assert found[0] == found[1]


def appended_in_a_branch(x: Tensor, xs: List[Tensor], n: int) -> None:
    if n > 0:
        xs.append(x)


def test_what_others_hold_is_no_copy_in_a_list_that_gets_longer() -> None:
    """How long the list gets is no dynamic number then: `n` is a constant."""
    compiled = ssa_compiler.compile(appended_in_a_branch, (torch.ones(2), [], 1))
    for n in (1, 0):
        x, xs = torch.ones(2), []
        compiled(x, xs, n)
        assert [each is x for each in xs] == [True] * n
