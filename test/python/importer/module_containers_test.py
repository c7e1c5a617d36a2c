"""Lists, dicts, tuples and strings of a module that its forward changes or assigns: the user's module has them after a
call.
"""

from __future__ import annotations

import collections
import copy
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import check_other


def row() -> Tensor:
    return torch.arange(3.0)


def check_calls(model: nn.Module, calls: Sequence[tuple[Any, ...]], specialisations: int) -> None:
    """Compare a compiled program with eager, where calls need several specialisations.

    Args:
        model: it is copied.
        calls: the calls, one after the other.
        specialisations: how many there are at the end.
    """
    made = []

    def build(own: nn.Module) -> Any:
        made.append(ssa_compiler.compile(own, calls[0], cache=False))
        return made[0]

    check_other(model, build, calls, "compiled")
    assert len(made[0].specialisations) == specialisations


class Numbers(nn.Module):
    """Counts in lists and dicts, at constant and dynamic places, under a branch and in a loop."""

    limits: dict[str, float]

    def __init__(self) -> None:
        super().__init__()
        self.hits = [0, 0, 0]
        self.limits = {"low": 0.5, "sum": 0.0}
        self.flags = [False, True]

    def forward(self, x: Tensor, k: int, n: int) -> Tensor:
        self.hits[k] += 1
        self.limits["sum"] += float(x.sum())
        if bool(x[0] > self.limits["low"]):
            self.flags[0] = not self.flags[0]
            self.limits["low"] = float(x[0])
        for i in range(n):
            self.hits[0] += i
        return x * self.hits[k] + self.hits[0]


def test_numbers_in_containers() -> None:
    x = row()
    check(Numbers(), (x, 1, 2), (x + 1, 2, 0), (x, -1, 1), (x, 3, 1), (x + 2, 0, 4))


class Cache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cache: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.cache.append(x)
        return torch.stack(self.cache).sum(0)


class Unannotated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cache = []
        self.last = {}

    def forward(self, x: Tensor) -> Tensor:
        self.cache.append(x * 2)
        self.last["x"] = x
        if len(self.cache) > 2:
            self.cache.pop(0)
        return torch.cat(self.cache)


class Smoothed(nn.Module):
    averages: dict[str, Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.averages = {}

    def forward(self, x: Tensor) -> Tensor:
        if "mean" in self.averages:
            self.averages["mean"] = self.averages["mean"] * 0.5 + x
        else:
            self.averages["mean"] = x.clone()
        return self.averages["mean"] + 1


class Nested(nn.Module):
    parts: dict[str, list[float]]

    def __init__(self) -> None:
        super().__init__()
        self.parts = {"a": [], "b": [1.0]}

    def forward(self, x: Tensor) -> Tensor:
        self.parts["a"].append(float(x[1]))
        self.parts["b"][0] += 2
        return x * len(self.parts["a"])


class Optionals(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cache: list[Tensor] | None = None
        self.count: int | None = None

    def forward(self, x: Tensor) -> Tensor:
        cache, count = self.cache, self.count
        if cache is None:
            cache = [x]
            self.cache = cache
        else:
            cache.append(x)
        self.count = 1 if count is None else count + 1
        return torch.stack(cache).sum(0)


@pytest.mark.parametrize(
    ("model", "specialisations"), [(Cache, 3), (Unannotated, 3), (Smoothed, 2), (Nested, 3), (Optionals, 3)]
)
def test_containers_get_other_lengths_and_keys(model: Any, specialisations: int) -> None:
    check_calls(model(), [(row(),), (row() - 9,), (row() + 1,)], specialisations)


class Last(nn.Module):
    """Whether an attribute is a number or None is up to branches and loops."""

    def __init__(self, last: int | None) -> None:
        super().__init__()
        self.last: int | None = last
        self.least: float | None = None

    def forward(self, x: Tensor, n: int) -> Tensor:
        for i in range(n):
            self.least = float(x[i]) if i != 2 else None
        if n == 1:
            self.last = None
            return x * 2
        last = self.last
        self.last = n if last is None else last + 1
        return x + 1


@pytest.mark.parametrize("last", [None, 7])
def test_an_attribute_is_a_number_or_none(last: int | None) -> None:
    calls = [(row(), n) for n in (0, 1, 2, 3, 1, 1)]
    check_calls(Last(last), calls, 4 if last is None else 3)


class Logs(nn.Module):
    """Appends as many numbers as an argument says."""

    values: list[float]

    def __init__(self) -> None:
        super().__init__()
        self.values = [0.5]

    def forward(self, x: Tensor, n: int) -> Tensor:
        for i in range(n):
            if bool(x[i] != 1):
                self.values.append(float(x[i]) + i)
        return x * self.values[-1]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_a_list_gets_a_dynamic_length(n: int) -> None:
    module = Logs()
    compiled = ssa_compiler.compile(copy.deepcopy(module), (row(), 2), max_specialisations=1, cache=False)
    if n == 4:
        with pytest.raises(IndexError):
            compiled(row(), n)
        assert compiled.model.values == [0.5]
        return
    assert torch.equal(compiled(row(), n), module(row(), n))
    assert compiled.model.values == module.values


class Tuples(nn.Module):
    state: tuple[Tensor, Tensor]
    last: tuple[int, str]

    def __init__(self) -> None:
        super().__init__()
        self.size = (2, 3)
        self.state = (torch.zeros(3), torch.ones(3))
        self.last = (2, "a")

    def forward(self, x: Tensor, k: int) -> Tensor:
        height, width = self.size
        h, c = self.state
        if bool(x.sum() > 4):
            self.state = (h + x, c * x)
            self.last = (self.last[0] + k, self.last[1])
        for _ in range(k):
            self.state = (self.state[1], self.state[0] + 1)
        return self.state[0] * height + self.state[1] * width + self.last[0]


def test_tuples() -> None:
    check(Tuples(), (row(), 2), (row() + 3, 0), (row() + 1, 1), (row() - 4, 3))


class Modes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mode = "first"
        self.seen = [0]

    def forward(self, x: Tensor) -> Tensor:
        if self.mode == "first":
            self.mode = "later"
            self.seen = [1, 2]
            return x
        self.seen = self.seen + [len(self.mode)]  # noqa: RUF005 - TorchScript unpacks no lists
        return x * len(self.seen)


def test_strings_and_lists_are_assigned() -> None:
    check_calls(Modes(), [(row(),)] * 4, 4)


class Parts(nn.Module):
    """One part has two names; parts of one class have lists of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.one = Numbers()
        self.same = self.one
        self.others = nn.ModuleList([Numbers(), Numbers()])

    def forward(self, x: Tensor, k: int) -> Tensor:
        x = self.one(x, k, 1) + self.same(x, k, 2)
        for part in self.others:
            x = part(x, k, 1)
        return x


def test_containers_of_submodules() -> None:
    check(Parts(), (row(), 1), (row() - 3, 2), (row(), 0))


# Which objects these are. -----------------------------------------------------------------------------------------


def test_the_modules_own_list_holds_the_callers_own_tensors() -> None:
    module = Cache()
    compiled = ssa_compiler.compile(module, (row(),), cache=False)
    cache, first, second = module.cache, row(), row() + 1
    compiled(first)
    compiled(second)
    assert module.cache is cache
    assert cache[0] is first
    assert cache[1] is second


class Shared(nn.Module):
    """One list under two names, and in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.a = [1, 2]
        self.b = self.a
        self.c = {"x": self.a}

    def forward(self, x: Tensor) -> tuple[Tensor, list[int]]:
        self.a.append(4)
        return x * len(self.b) + self.c["x"][-1], self.b


@pytest.mark.slow
def test_one_list_under_several_names() -> None:
    check_calls(Shared(), [(row(),)] * 3, 3)
    module, eager = Shared(), Shared()
    compiled = ssa_compiler.compile(module, (row(),), cache=False)
    assert compiled(row())[1] is module.a is module.b is module.c["x"]
    eager(row())
    for each in (module, eager):
        each.b = list(each.a)
    assert torch.equal(compiled(row())[0], eager(row())[0])
    assert (module.a, module.b, module.c) == (eager.a, eager.b, eager.c)


class Reads(nn.Module):
    """What it reads as a constant may become what it changes."""

    def __init__(self) -> None:
        super().__init__()
        self.a = [1, 2]
        self.b = [1, 2]

    def forward(self, x: Tensor) -> Tensor:
        self.a[0] += 1
        return x * self.b[0]


def test_a_constant_list_becomes_the_one_that_is_changed() -> None:
    module, eager = Reads(), Reads()
    compiled = ssa_compiler.compile(module, (row(),), cache=False)
    for each in (module, eager):
        each.b = each.a
        each.a[0] = 1
    assert torch.equal(compiled(row()), eager(row()))
    assert module.b is module.a
    assert module.a == eager.a


class Passed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.own = [1, 2]

    def forward(self, x: Tensor, given: list[int]) -> Tensor:
        self.own[0] += 3
        given[1] += 1
        return x * self.own[1] + given[0]


def test_a_list_of_the_modules_is_passed_to_it() -> None:
    module, eager = Passed(), Passed()
    compiled = ssa_compiler.compile(module, (row(), [1, 2]), cache=False)
    for _ in range(2):
        assert torch.equal(compiled(row(), module.own), eager(row(), eager.own))
        assert module.own == eager.own


def test_a_returned_list_is_the_modules_own() -> None:
    class Returns(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.sizes = [1, 2]

        def forward(self, x: Tensor) -> tuple[Tensor, list[int]]:
            return x + self.sizes[0], self.sizes

    module = Returns()
    assert ssa_compiler.compile(module, (row(),), cache=False)(row())[1] is module.sizes


class Views(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Tensor] = []
        self.rows = [torch.zeros(3, 3)]

    def of_a_tensor_of_its_own(self, x: Tensor) -> Tensor:
        self.rows[0][1] += x
        self.kept.append(self.rows[0][1])
        return x

    def of_a_new_tensor(self, x: Tensor) -> Tensor:
        y = x * 2
        self.kept.append(y)
        self.kept.append(y[:2])
        return y

    def one_tensor_twice(self, x: Tensor) -> Tensor:
        y = x * 2
        self.kept.append(y)
        self.kept.append(y)
        self.rows.append(self.rows[0])
        return y


def test_views_of_what_is_written_are_rejected() -> None:
    module = Views()
    for method in (module.of_a_tensor_of_its_own, module.of_a_new_tensor):
        with pytest.raises(
            ssa_compiler.UnsupportedProgramError, match="kept, which gets a tensor that may share memory"
        ):
            import_program(method, (row(),))
    result = ssa_compiler.compile(module.one_tensor_twice, (row(),), cache=False)(row())
    assert module.kept[0] is module.kept[1] is result
    assert module.rows[0] is module.rows[1]


class Raises(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hits = [0]

    def forward(self, x: Tensor, k: int) -> Tensor:
        self.hits[0] += 1
        return x[k] * self.hits[0]


def test_a_call_that_raises_changes_nothing() -> None:
    module = Raises()
    compiled = ssa_compiler.compile(module, (row(), 1), cache=False)
    with pytest.raises(IndexError):
        compiled(row(), 7)
    assert module.hits == [0]
    assert compiled(row(), 1) == 1


def test_another_value_of_another_type_is_another_specialisation() -> None:
    module = Raises()
    compiled = ssa_compiler.compile(module, (row(), 2), cache=False)
    compiled(row(), 2)
    module.hits[0] = 1.5  # type: ignore[call-overload]
    assert float(compiled(row(), 2)) == 5.0
    assert module.hits == [2.5]


def test_it_is_kept_on_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSA_COMPILER_CACHE", str(tmp_path))
    for _ in range(2):
        module = Cache()
        compiled = ssa_compiler.compile(module, (row(),))
        compiled(row())
        assert len(module.cache) == 1
    assert compiled.explain().cached


def test_what_cannot_be_held_is_rejected() -> None:
    class Counts(nn.Module):
        table: dict[str, int]

        def __init__(self) -> None:
            super().__init__()
            self.table = collections.Counter()

        def forward(self, x: Tensor) -> Tensor:
            self.table["a"] = 1
            return x

    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="of another class than list and dict"):
        import_program(Counts(), (row(),))
