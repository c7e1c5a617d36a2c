"""What may be passed to `compile`: modules, methods, scripted and traced ones, files; and what is rejected with a remedy."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ScriptError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import Call

X = torch.arange(12.0).reshape(3, 4)


class Counts(nn.Module):
    """Writes a buffer, has a parameter, and methods beside forward."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.calls = 0
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("shift", torch.ones(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.total += x.sum(0)
        y = self.layer(x) + self.shift
        y[0] = 1
        return y

    @torch.jit.export
    def encode(self, x: Tensor, first: int = 2) -> Tensor:
        self.calls += 1
        self.total += 1
        y = self.layer(x)
        y[0] = first
        return y

    def plain(self, x: Tensor) -> Tensor:
        y = x - self.total
        y[1] = 7
        return y


def rows(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i] += 1
    return y


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


class Sub(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def hook(module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor:
    return output * 2


def pre_hook(module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
    return (inputs[0] * 2,)


class HasScriptedHook(nn.Module):
    def __init__(self) -> None:
        super().__init__()

        def double(self: Any, inputs: tuple[Tensor], output: Tensor) -> Tensor:
            return output * 2

        self.register_forward_hook(double)

    def forward(self, x: Tensor) -> Tensor:
        return x + 1


class HoldsHooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = HasScriptedHook()

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x)


@pytest.mark.parametrize("of_part", [False, True])
@pytest.mark.parametrize("pre", [False, True])
def test_hooks_are_rejected(of_part: bool, pre: bool) -> None:
    model = Sub()
    holder = model.layer if of_part else model
    _ = holder.register_forward_pre_hook(pre_hook) if pre else holder.register_forward_hook(hook)
    where = "the submodule 'layer'" if of_part else "the module Sub"
    kind = "forward pre-hook, 'pre_hook'" if pre else "forward hook, 'hook'"
    with pytest.raises(ScriptError, match=f"{where} has a {kind}.*remove it with the handle") as rejected:
        import_program(model, (X,))
    assert rejected.value.location is not None
    assert rejected.value.location.line == (pre_hook if pre else hook).__code__.co_firstlineno


def test_hooks_of_scripted_modules() -> None:
    with pytest.raises(ScriptError, match=r"the module HasScriptedHook has the hook 'double'.*remove it"):
        import_program(torch.jit.script(HasScriptedHook()), (X,))
    same(torch.jit.script(HoldsHooked()), X)  # TorchScript has put it into the graph


@pytest.fixture
def global_hook() -> Iterator[None]:
    handle = torch.nn.modules.module.register_module_forward_hook(hook)
    yield
    handle.remove()


@pytest.mark.usefixtures("global_hook")
def test_global_hooks_are_rejected() -> None:
    with pytest.raises(ScriptError, match=r"a global forward hook is registered.*remove it"):
        import_program(Sub(), (X,))


def test_weights_made_by_hooks_and_parametrizations() -> None:
    with pytest.raises(ScriptError, match=r"forward pre-hook.*undo torch.nn.utils.weight_norm"):
        import_program(torch.nn.utils.weight_norm(nn.Linear(4, 4)), (X,))
    model = Sub()
    torch.nn.utils.parametrizations.weight_norm(model.layer)
    with pytest.raises(
        ScriptError, match=r"'weight' of the submodule 'layer' is parametrized.*remove_parametrizations"
    ):
        import_program(model, (X,))
    traced = torch.jit.trace(model, (X,))
    with torch.no_grad():
        torch.testing.assert_close(ssa_compiler.compile(traced, (X,))(X), model(X))


class HasNoForward(nn.Module):
    @torch.jit.export
    def encode(self, x: Tensor) -> Tensor:
        return x + 1


class Calls:
    def __call__(self, x: Tensor) -> Tensor:
        return x

    def method(self, x: Tensor) -> Tensor:
        return x


def varying(*x: Tensor) -> Tensor:
    return x[0]


class ListsModules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(4, 4)]

    def forward(self, x: Tensor) -> Tensor:
        return self.layers[0](x)


def made_elsewhere() -> Any:
    scope: dict[str, Any] = {}
    exec("def made(x):\n    return x + 1\n", scope)
    return scope["made"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (HasNoForward(), r"HasNoForward has no forward method: pass one of its methods (model.encode)"),
        (torch.jit.script(Sub()).layer.extra_repr, "the method 'extra_repr' of a Linear is not scripted: mark it"),
        (
            functools.partial(rows, n=2),
            "got a functools.partial: pass the function, and what is bound as example_kwargs",
        ),
        (lambda x: x + 1, "got a lambda, which TorchScript cannot script: write it as a function with def"),
        (Calls(), "got a callable object of the class Calls: make it an nn.Module"),
        (Calls().method, "got the bound method 'method' of a Calls, which is no nn.Module: make Calls an nn.Module"),
        (torch.relu, "got the operator relu: pass a function that calls it"),
        (torch.ops.aten.relu.default, "got the operator relu.default: pass a function that calls it"),
        (nn.Linear, "got the class Linear: pass an instance"),
        (varying, "write out the parameters"),
        (ListsModules(), "use nn.ModuleList"),
        (made_elsewhere(), "define it in a file"),
        ("no/such/file.pt", "got 'no/such/file.pt' (there is no such file): of what torch.save wrote, pass the module"),
    ],
)
def test_what_cannot_be_taken_is_rejected_with_a_way_out(model: Any, message: str) -> None:
    with pytest.raises(ScriptError, match=re.escape(message)):
        import_program(model, (X,))


def test_a_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    torch.save(Counts().state_dict(), path)
    with pytest.raises(ScriptError, match=r"of what torch.save wrote, pass the module that holds its state"):
        import_program(path, (X,))


def test_a_compiled_program_and_an_exported_one() -> None:
    compiled = ssa_compiler.compile(rows, (X, 2))
    with pytest.raises(ScriptError, match=r"compiled already: pass the model"):
        import_program(compiled, (X, 2))
    with pytest.raises(ScriptError, match=r"ExportedProgram: pass the model"):
        import_program(torch.export.export(Sub(), (X,)), (X,))


def test_a_traced_function_is_what_the_trace_has_recorded() -> None:
    """Numbers in it are tensors, and what Python computed is what it was."""

    def scaled(x: Tensor) -> Tensor:
        return x * 2.5 + int(x.sum())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(scaled, (torch.zeros(3),), check_trace=False)
    compiled = ssa_compiler.compile(traced, (torch.zeros(3),))
    x = torch.ones(3)
    assert torch.equal(compiled(x), traced(x))
    assert not torch.equal(compiled(x), scaled(x))


def test_a_traced_module_with_numbers() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return (x + 1).relu() * 2.5 - x / 3

    x = torch.randn(3, 4)
    traced = torch.jit.trace(Scaled(), (x,))
    torch.testing.assert_close(ssa_compiler.compile(traced, (x,))(x), traced(x))


class Sizes(nn.Module):
    """Computes sizes with tensors when it is traced."""

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = x.size(0), x.size(1)
        return x.reshape(rows * columns, x.size(2)).sum(0).expand(columns // 2 + 1, -1) + columns


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (nn.LSTM(4, 6), (3, 2, 4)),
        (nn.LSTM(4, 16, num_layers=2, batch_first=True), (5, 2, 4)),
        (nn.GRU(4, 6, bidirectional=True), (3, 2, 4)),
        (nn.RNN(4, 6), (3, 2, 4)),
        (Sizes(), (3, 2, 4)),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("traced", [False, True], ids=["scripted", "traced"])
def test_recurrent_layers_that_start_from_zero(model: nn.Module, shape: tuple[int, ...], traced: bool) -> None:
    x = torch.randn(shape)
    with torch.no_grad():
        compiled = ssa_compiler.compile(torch.jit.trace(model, (x,)) if traced else model, (x,))
        torch.testing.assert_close(compiled(x), model(x))
    assert compiled.explain().callbacks == ()


_ARCHIVE = """
import sys, torch
sys.path.insert(0, {folder!r})
import functions_of_two
torch.jit.script(functions_of_two.Doubled()).save({path!r})
"""
_DOUBLED = """
import torch

def helper(x: torch.Tensor) -> torch.Tensor:
    return x + 1

class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return helper(x) * 2
"""


def test_functions_of_a_file_are_its_own(tmp_path: Path) -> None:
    """Not those of the same name that this process has scripted."""
    (tmp_path / "functions_of_two.py").write_text(_DOUBLED)
    path = str(tmp_path / "doubled.pt")
    subprocess.run([sys.executable, "-c", _ARCHIVE.format(folder=str(tmp_path), path=path)], check=True)
    other = tmp_path / "other" / "functions_of_two.py"
    other.parent.mkdir()
    other.write_text(_DOUBLED.replace("x + 1", "x * 100"))
    spec = importlib.util.spec_from_file_location("functions_of_two", other)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.jit.script(module.helper)
    x = torch.ones(3)
    torch.testing.assert_close(ssa_compiler.compile(path, (x,))(x), (x + 1) * 2)
    outer = torch.nn.Sequential(torch.jit.load(path))
    torch.testing.assert_close(ssa_compiler.compile(outer, (x,))(x), (x + 1) * 2)
