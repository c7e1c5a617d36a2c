"""Hooks, which eager runs and no graph has: of modules, of scripted ones and of all."""

from __future__ import annotations

import functools
import importlib.util
import operator
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from _models import Counts, rows
from ssa_compiler import ScriptError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.arange(12.0).reshape(3, 4)


def same(model: Any, *args: Any) -> None:
    check(model, args, args, compiled=True)


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


def varying(*x: Tensor) -> Tensor:
    try:
        return x[0]
    except IndexError:
        return torch.zeros(1)


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
        (functools.partial(torch.add, other=1), "got a functools.partial of what is not written in Python: pass a"),
        (lambda x: x + 1, "got a lambda, which TorchScript cannot script: write it as a function with def"),
        (operator.itemgetter(0), "got a callable object of the class itemgetter, which is not written in Python"),
        (torch.optim.SGD([X.clone()]).step, "of PyTorch's class SGD: pass a function that calls it"),
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


@pytest.mark.slow
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
