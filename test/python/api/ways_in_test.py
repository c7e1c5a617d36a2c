"""What may be passed to `compile`: modules, methods, scripted and traced ones, files; and what is rejected with a
remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from _models import Counts, rows
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import Call

X = torch.arange(12.0).reshape(3, 4)


def two(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x.clone()
    z[0] = y[1]
    z[:, 1] += 2
    return z, x + y


def same(model: Any, *args: Any) -> None:
    check(model, args, args, compiled=True)


@pytest.mark.parametrize(
    "make",
    [
        Counts,
        lambda: torch.jit.script(Counts()),
        lambda: torch.jit.trace(Counts(), (X,)),
        lambda: torch.jit.freeze(torch.jit.script(Counts().eval())),
    ],
    ids=["module", "scripted", "traced", "frozen"],
)
def test_modules(make: Callable[[], Any]) -> None:
    same(make(), X)


@pytest.mark.parametrize("make", [lambda: rows, lambda: torch.jit.script(rows)], ids=["function", "scripted"])
def test_functions(make: Callable[[], Any]) -> None:
    check(make(), (X, 2), (X, 0), (X, 3), compiled=True)


def test_a_traced_function() -> None:
    same(torch.jit.trace(two, (X, X + 1)), X, X + 1)


@pytest.mark.parametrize("as_text", [False, True])
@torch.no_grad()
def test_files(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "counts.pt"
    torch.jit.save(torch.jit.script(Counts()), str(path))
    loaded = torch.jit.load(str(path))
    compiled = ssa_compiler.compile(str(path) if as_text else path, (X,))
    torch.testing.assert_close(compiled(X), loaded(X))
    same(torch.jit.load(str(path)), X)


def test_a_file_of_a_function(tmp_path: Path) -> None:
    path = tmp_path / "rows.pt"
    torch.jit.save(torch.jit.script(rows), str(path))
    check(torch.jit.load(str(path)), (X, 2), (X, 1), compiled=True)


@torch.jit.script
class Accumulator:
    def __init__(self, x: Tensor):
        self.total = x

    def add(self, y: Tensor) -> None:
        self.total = self.total + y


class CallsOthers(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        sum = Accumulator(x)
        for i in range(n):
            x = rows(x, i)
            sum.add(x)
        return sum.total


def test_a_file_with_functions_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "calls.pt"
    torch.jit.save(torch.jit.script(CallsOthers()), str(path))
    check(torch.jit.load(str(path)), (X, 2), (X, 3), compiled=True)


@torch.no_grad()
def test_exported_and_other_methods_write_the_users_module() -> None:
    model, twin = Counts(), Counts()
    twin.load_state_dict(model.state_dict())
    encode, plain = ssa_compiler.compile(model.encode, (X,)), ssa_compiler.compile(model.plain, (X,))
    torch.testing.assert_close(encode(X, 5), twin.encode(X, 5))
    torch.testing.assert_close(encode(X), twin.encode(X))
    assert model.calls == 2
    torch.testing.assert_close(model.total, twin.total)
    torch.testing.assert_close(plain(X), twin.plain(X))
    torch.testing.assert_close(ssa_compiler.compile(model.forward, (X,))(X), twin(X))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.jit.script(Counts()),
        lambda: torch.jit.trace_module(Counts(), {"forward": (X,), "plain": (X,)}),
    ],
    ids=["scripted", "trace_module"],
)
@torch.no_grad()
def test_methods_of_a_script_module(make: Callable[[], Any]) -> None:
    model = make()
    for name in ("encode", "plain"):
        if hasattr(model, name):
            method = getattr(model, name)
            torch.testing.assert_close(ssa_compiler.compile(method, (X,))(X), method(X))


class Parts(nn.Module):
    """Containers of modules and parameters, shared ones too."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.layers[1].weight = self.layers[0].weight
        self.named = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.ReLU()})
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))])
        self.by_name = nn.ParameterDict({"a": nn.Parameter(torch.ones(4))})
        self.again = self.layers[0]
        self.last = nn.Sequential(self.again, nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = layer(x) + number
        for layer in self.named.values():
            x = layer(x)
        for weight in self.weights:
            x = x * weight
        return self.last(x + self.by_name["a"] + self.named["a"](x))


def test_containers_of_modules_and_parameters() -> None:
    same(Parts(), X)


def by_keyword(x: Tensor, *, a: int = 2, b: Tensor | None = None, c: float = 1.5) -> Tensor:
    y = x * a + c
    return y if b is None else y + b


def calls_by_keyword(x: Tensor, scale: float) -> Tensor:
    return by_keyword(x, c=scale)


def test_keyword_only_parameters_with_defaults() -> None:
    check(by_keyword, Call(X, a=3), Call(X, a=4, c=2.0), Call(X), compiled=True)
    check(by_keyword, Call(X, b=X), Call(X, b=X * 2, a=1), compiled=True)
    check(calls_by_keyword, (X, 2.0), compiled=True)
    with pytest.raises(TypeError, match=r"takes 1 positional argument"):
        import_program(by_keyword, (X, 3))


# What is rejected. ----------------------------------------------------------------------------------------------------
