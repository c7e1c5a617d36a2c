"""Importing only describes a program: what has effects runs when the program does, as often and in the order of
eager.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ProgramError, UnsupportedOpError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import StageMismatch, check
from ssa_compiler.testing._untouched import untouched

X = torch.arange(3.0)
LOG: list[Any] = []

LIBRARY = torch.library.Library("purity", "DEF")


def operator(schema: str, function: Callable[..., Any], *kinds: str) -> None:
    name = LIBRARY.define(schema)
    for kind in kinds or ("CompositeExplicitAutograd",):
        LIBRARY.impl(name, function, kind)


operator("log(int n, *, str what='?') -> ()", lambda n, what="?": LOG.append((n, what)))
operator("count(int n) -> int", lambda n: LOG.append(n) or len(LOG))
operator("pair(float a, bool b) -> (float, bool)", lambda a, b: LOG.append((a, b)) or (a / 2, not b))
operator("gcd(int a, int b) -> int", lambda a, b: 100 * a + b)
operator("neg(int a) -> int", lambda a: a + 7)
operator("many(int[] n, float? x=None) -> float", lambda n, x=None: LOG.append((list(n), x)) or float(sum(n)))
operator("look(Tensor x) -> ()", lambda x: LOG.append(x.tolist()))
operator("total(Tensor x) -> float", lambda x: LOG.append("total") or float(x.sum()))
operator("add_one(Tensor x) -> Tensor", lambda x: LOG.append("add_one") or x + 1, "CPU")
torch.library.register_fake("purity::add_one", torch.empty_like, lib=LIBRARY)
operator("make(int n) -> Tensor", lambda n: LOG.append(n) or torch.ones(n) * len(LOG), "CPU", "BackendSelect")
torch.library.register_fake("purity::make", lambda n: torch.empty(n), lib=LIBRARY)
operator("composite(Tensor x) -> Tensor", lambda x: LOG.append("composite") or x + 1, "CompositeImplicitAutograd")
operator("unknown(Tensor x) -> Tensor", lambda x: LOG.append("unknown") or x + 1)
operator("text(str x) -> str", lambda x: x + "!")
operator("lies(Tensor x) -> Tensor", lambda x: x.add_(1).clone(), "CPU")
torch.library.register_fake("purity::lies", torch.empty_like, lib=LIBRARY)


def constants(x: Tensor, n: int) -> tuple[Tensor, int, float]:
    c, f = 0, 0.0
    torch.ops.purity.log(5, what="before")
    for i in range(n):
        torch.ops.purity.log(5)
        c += torch.ops.purity.count(5)
        if i == 1:
            torch.ops.purity.log(i, what="one")
            f += torch.ops.purity.many([1, 2], 0.5) + torch.ops.purity.many([i, 2])
        else:
            torch.ops.purity.count(7)
    a, b = torch.ops.purity.pair(3.0, True)
    if not b:
        f += a
    return x + c, torch.ops.purity.gcd(4, 6) + torch.ops.purity.neg(1), f


def with_tensors(x: Tensor, n: int) -> tuple[Tensor, float]:
    f = 0.0
    y = x
    for i in range(n):
        torch.ops.purity.look(y)
        y = y + torch.ops.purity.add_one(x) + torch.ops.purity.add_one(x)
        torch.ops.purity.add_one(x)
        f += torch.ops.purity.total(y)
        torch.ops.purity.total(y)
        if i > 0:
            y = y + torch.ops.purity.make(3) - torch.ops.purity.make(3)
        torch.ops.purity.look(y)
    return y, f


def same_log(program: Callable[..., Any], *calls: tuple[Any, ...]) -> None:
    """Compare what is logged on all sides, as well as results."""
    LOG.clear()
    compiled = ssa_compiler.compile(program, calls[0], max_specialisations=1)
    assert not LOG
    for call in calls:
        outcomes = []
        for side in (program, compiled):
            LOG.clear()
            result = side(*call)
            outcomes.append((str(result), list(LOG)))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("program", [constants, with_tensors])
def test_ops_with_effects_run_as_often_as_in_eager_and_in_order(program: Callable[..., Any]) -> None:
    same_log(program, (X, 2), (X, 0), (X, 1), (X, 5))


def seeded(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    before = torch.rand(2)
    if n > 2:
        torch.manual_seed(7)
    drawn = torch.rand(3) + x
    for i in range(n):
        torch.manual_seed(i)
        drawn = drawn + torch.randn(3)
        if i == 1:
            torch.manual_seed(3)
        drawn = torch.nn.functional.dropout(drawn, 0.5)
    return before, drawn, torch.rand(2)


def seeds_at_once(x: Tensor) -> Tensor:
    torch.manual_seed(7)
    return torch.rand(3) + x


def test_a_seed_is_set_when_the_program_runs() -> None:
    """`check` compares the state of the generator after each call, and that compiling leaves it alone."""
    check(seeded, (X, 2), (X, 0), (X, 1), (X, 3), (X, 6))
    compiled = check(seeds_at_once, (X,)).compiled
    with torch.random.fork_rng():
        assert torch.equal(compiled(X), compiled(X))
        expected = torch.rand(4)
        torch.manual_seed(7)
        torch.rand(3)
        assert torch.equal(expected, torch.rand(4))


def outer(x: Tensor, n: int) -> Tensor:
    warnings.warn("at once")  # noqa: B028
    for i in range(n):
        if i != 1:
            warnings.warn(f"number {i}", stacklevel=1)
        x = inner(x)
    return x


def inner(x: Tensor) -> Tensor:
    warnings.warn(
        "from inside (really)",
        stacklevel=2,
    )
    warnings.warn("from far", stacklevel=3)
    return x + 1


def given(program: Callable[..., Any], filters: str, *calls: tuple[Any, ...]) -> list[Any]:
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(filters)  # type: ignore[arg-type]
        for call in calls:
            program(*call)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


def test_warnings_are_those_of_eager() -> None:
    with untouched(outer, X):
        compiled = ssa_compiler.compile(outer, (X, 2))
    for filters in ("always", "default", "ignore"):
        for calls in ([(X, 3)], [(X, 0)], [(X, 2), (X, 3), (X, 3)]):
            expected = given(outer, filters, *calls)
            assert given(compiled, filters, *calls) == expected
            assert expected or filters == "ignore"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="at once"):
            compiled(X, 0)


class Restless(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3), requires_grad=False)
        self.register_buffer("seen", torch.zeros(3))
        self.calls = 0

    def forward(self, x: Tensor, n: int) -> Tensor:
        self.calls += 1
        self.seen += x
        x[0] = float(torch.rand(1))
        if n > 3:
            torch.manual_seed(4)
            warnings.warn("many", stacklevel=1)
        return noisy(x) * self.weight + torch.ops.purity.add_one(x)


@torch.jit.ignore
def noisy(x):  # type: ignore[no-untyped-def]
    torch.rand(3)
    random.random()
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.rand()
    warnings.warn("noisy", stacklevel=1)
    return x * 2


def test_compiling_leaves_everything_as_it_is() -> None:
    model, x = Restless(), X.clone()
    with untouched(model, x, 2):
        ssa_compiler.compile(model, (x, 2))
    assert torch.equal(x, X)


class Adds(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1


def test_only_the_users_own_use_of_torchscript_is_deprecated(tmp_path: Path) -> None:
    path = str(tmp_path / "adds.pt")
    torch.jit.save(torch.jit.script(Adds()), path)
    for model, arguments in ((outer, (X, 2)), (Adds(), (X,)), (Adds().forward, (X,)), (path, (X,))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ssa_compiler.compile(model, arguments)
        assert not caught
    with pytest.warns((DeprecationWarning, FutureWarning), match="torch.jit.load"):
        torch.jit.load(path)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: torch.rand(1), "PyTorch's random"),
        (random.random, "Python's random"),
        (lambda: warnings.warn("careless", stacklevel=1), "gave the warning 'careless'"),
        (lambda: X.add_(0), "argument 0"),
        (lambda: torch.set_grad_enabled(not torch.is_grad_enabled()), "grad mode"),
        (lambda: warnings.simplefilter("ignore"), "filters of warnings"),
    ],
)
def test_what_changes_is_found(act: Callable[[], Any], says: str) -> None:
    """The check fails where it should."""
    with torch.random.fork_rng(), torch.enable_grad(), pytest.raises(StageMismatch, match=says), untouched(outer, X):
        act()


def without_looks(x: Tensor) -> Tensor:
    return torch.ops.purity.unknown(x)


def of_others(x: Tensor) -> Tensor:
    return torch.ops.purity.composite(x)


def a_text(x: Tensor) -> Tensor:
    return x + len(torch.ops.purity.text("a"))


def sets_grad_mode(x: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    return x + 1


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (without_looks, "purity::unknown, of which nothing says what its results look like; .*register_fake"),
        (of_others, "purity::composite, of which nothing says"),
        (a_text, "purity::text, whose result is neither a number nor a tensor"),
        (sets_grad_mode, "aten::set_grad_enabled, which does more than compute a result"),
    ],
)
def test_what_can_neither_be_run_at_import_nor_later_is_rejected(program: Callable[..., Any], says: str) -> None:
    LOG.clear()
    with pytest.raises(UnsupportedOpError, match=says) as rejected:
        import_program(program, (X,))
    assert rejected.value.location is not None
    assert rejected.value.location.file == __file__
    assert not LOG
    assert torch.is_grad_enabled()


def lying(x: Tensor) -> Tensor:
    return torch.ops.purity.lies(x)


def test_a_write_that_no_schema_announces_raises() -> None:
    compiled = ssa_compiler.compile(lying, (X.clone(),))
    with pytest.raises(ProgramError, match="purity::lies writes an argument, which its schema does not say"):
        compiled(X.clone())
