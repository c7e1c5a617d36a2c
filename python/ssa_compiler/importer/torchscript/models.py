"""What a user may pass as a model, and what is rejected before TorchScript sees it.

A function, a module, one of its methods, something scripted or traced, or the path of a TorchScript archive becomes an
`OpenedModel`: TorchScript's object, the method to import, and the Python object that holds parameters and numbers.
"""

from __future__ import annotations

import functools
import inspect
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.modules.module as module_globals

from ...abi.object_guards import Place
from ...errors import ScriptError, SourceLocation
from ..isolation.one_import import importing
from ..isolation.process_state import quiet
from .object_programs import of_object
from .script import script_method, script_model

__all__ = [
    "OpenedModel",
    "declared",
    "has_own_functions",
    "loaded",
    "open_model",
    "reject_module",
    "state_tensors",
]

_HOOKS = {"_forward_hooks": "forward hook", "_forward_pre_hooks": "forward pre-hook"}
_GLOBAL_HOOKS = {"_global_forward_hooks": "forward hook", "_global_forward_pre_hooks": "forward pre-hook"}


@dataclass(frozen=True)
class OpenedModel:
    """A model that TorchScript has taken.

    Attributes:
        owner: the user's module or function; parameters and numbers are read from it at each call.
        scripted: the ScriptModule or ScriptFunction.
        method: the method that is the program; "" for functions.
        name: the user's name for it.
        keyword_only: parameters that may be passed by keyword only, though TorchScript does not say so.
        defaults: the ints that are defaults of parameters annotated float: Python does not convert them.
        looks: what ignored Python functions return, as far as they were asked.
        read: the attributes of the module that the scripted program has as constants.
        untyped_defaults: the defaults that are of another type than the example, which TorchScript does not have.
        fixed: the bool and int arguments that it is made for.
        objects: the objects beside the module that the scripted program has as constants.
        names: what calls call parameters that are called something else in the scripted program.
        signature: that of the user's function, if the scripted program has parameters in the place of `*args` or
            `**kwargs`: it is made for as many arguments, and these keywords.
        sources: the Python functions of which the program has copies, by the names of the copies.
        python: the Python function of `method`, if a method is the program.
        reason: why it is not partially evaluated, where that was tried first.
        partially: opens the model partially evaluated, for what the importer does not take as it is, or with more of
            its arguments known if it is that already; None if that is no other program.
    """

    owner: Any
    scripted: Any
    method: str
    name: str
    keyword_only: frozenset[str] = frozenset()
    defaults: Mapping[str, int] = field(default_factory=dict)
    looks: dict[Any, Any] = field(default_factory=dict, compare=False)
    read: frozenset[str] = frozenset()
    untyped_defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    sources: Mapping[str, Any] = field(default_factory=dict, compare=False)
    python: Any = field(default=None, compare=False)
    objects: Mapping[str, Place] = field(default_factory=dict, compare=False)
    names: Mapping[str, str] = field(default_factory=dict)
    signature: inspect.Signature | None = field(default=None, compare=False)
    reason: str = ""
    partially: Callable[[], OpenedModel] | None = field(default=None, compare=False)


@importing()
def open_model(model: Any) -> OpenedModel:
    """Return what the importer needs of a model.

    Args:
        model: function, nn.Module, a method, callable object or functools.partial, ScriptModule, ScriptFunction, what
            `torch.jit.trace` gives, or the path of a file that `torch.jit.save` wrote. It is not changed.
    Raises:
        ScriptError: TorchScript cannot take it; the message says what to do.
    """
    if isinstance(model, OpenedModel):
        return model
    model = loaded(model)
    if isinstance(model, torch.ScriptMethod):
        owner = torch.jit._recursive.wrap_cpp_module(model.owner)  # type: ignore[no-untyped-call]
        _reject_hooks(owner)
        return OpenedModel(owner, owner, model.name, f"{_type_name(owner)}.{model.name}")
    if inspect.ismethod(model) and isinstance(model.__self__, torch.nn.Module):
        return _method(model)
    if isinstance(model, torch.nn.Module):
        reject_module(model)
        scripted = script_model(model)
        method = _forward_name(scripted, model)
        return OpenedModel(model, scripted, method, _type_name(model), *declared(getattr(model, "forward", None)))
    if not isinstance(model, torch.jit.ScriptFunction):
        _reject_callable(model)
    scripted = script_model(model)
    python = getattr(model, "_torchdynamo_inline", None) if isinstance(model, torch.jit.ScriptFunction) else model
    return OpenedModel(model, scripted, "", scripted.name, *declared(python))


def _method(method: Any) -> OpenedModel:
    """Open a bound method of an nn.Module."""
    owner, name = method.__self__, method.__name__
    if isinstance(owner, torch.jit.ScriptModule):
        if name not in owner._c._method_names():
            raise ScriptError(
                f"the method '{name}' of a {_type_name(owner)} is not scripted: mark it @torch.jit.export before the module "
                "is scripted, or pass the method of the Python module"
            )
        _reject_hooks(owner)
        return OpenedModel(owner, owner, name, f"{_type_name(owner)}.{name}")
    reject_module(owner)
    shown = f"{_type_name(owner)}.{name}"
    return OpenedModel(owner, script_method(method), name, shown, *declared(method), python=method.__func__)


def loaded(model: Any) -> Any:
    """Return a model itself: what a file holds, or what `torch.compile` wraps.

    Args:
        model: as of `open_model`.
    Raises:
        ScriptError: it is the path of no file that `torch.jit.save` wrote.
    """
    if not isinstance(model, (str, os.PathLike)):
        return of_object(getattr(model, "_orig_mod", model) if isinstance(model, torch.nn.Module) else model)
    path = model
    try:
        with quiet():
            return torch.jit.load(os.fspath(path))  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError, OSError, pickle.UnpicklingError) as error:
        reason = "there is no such file" if not os.path.exists(path) else str(error).strip().partition("\n")[0]
        raise ScriptError(
            "expected a function, a method, an nn.Module, a callable object or the path of a file that torch.jit.save wrote, got "
            f"'{os.fspath(path)}' ({reason}): of what torch.save wrote, pass the module that holds its state"
        ) from error


def has_own_functions(scripted: Any) -> bool:
    """Whether a part of a model came from a file: what its functions are called may be something else in this
    process.
    """
    if not isinstance(scripted, torch.jit.ScriptModule):
        return False
    unit = torch.jit._state._python_cu
    kinds = (module._c._type() for module in scripted.modules() if isinstance(module, torch.jit.ScriptModule))
    return any(unit.get_class(kind.str()) != kind for kind in kinds)


def state_tensors(model: Any) -> Iterator[torch.Tensor]:
    """Iterate over the parameters and buffers of a model, which is loaded."""
    owner = getattr(model, "__self__", model)
    if isinstance(model, torch.ScriptMethod):
        owner = torch.jit._recursive.wrap_cpp_module(model.owner)  # type: ignore[no-untyped-call]
    if isinstance(owner, torch.nn.Module):
        yield from owner.parameters()
        yield from owner.buffers()


def _type_name(module: Any) -> str:
    """The user's name of a module's class."""
    return str(getattr(module, "original_name", "") or type(module).__name__)


def declared(function: Any) -> tuple[frozenset[str], dict[str, int]]:
    """What TorchScript forgets of the parameters of a Python function.

    Returns:
        Those that may be passed by keyword only, and the defaults that are ints.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return frozenset(), {}
    only = frozenset(name for name, value in parameters.items() if value.kind is inspect.Parameter.KEYWORD_ONLY)
    return only, {name: value.default for name, value in parameters.items() if type(value.default) is int}


def _forward_name(scripted: Any, model: Any) -> str:
    """The name of a module's forward; of an overloaded one (nn.LSTM), the first overload, which takes tensors."""
    methods = scripted._c._method_names()
    names = [name for name in methods if name == "forward" or name.startswith("forward__")]
    if not names:
        others = ", ".join(f"model.{name}" for name in methods if not name.startswith("_"))
        raise ScriptError(
            f"{_type_name(model)} has no forward method: pass one of its methods{f' ({others})' if others else ''}"
        )
    return min(names)


# What is rejected. ----------------------------------------------------------------------------------------------------


def _definition(function: Any) -> SourceLocation | None:
    code = getattr(function, "__code__", None)
    return SourceLocation(code.co_filename, code.co_firstlineno) if code else None


def reject_module(model: torch.nn.Module) -> None:
    """Reject what changes a module's meaning beside its source.

    Raises:
        ScriptError: it has hooks, parametrizations, or a `__call__` of its own.
    """
    _reject_hooks(model)
    if isinstance(model, torch.jit.ScriptModule):
        return
    for path, module in model.named_modules():
        called: Any = type(module).__call__
        if called is not torch.nn.Module.__call__ and not str(called.__module__).startswith("torch."):
            raise ScriptError(
                f"{_place(path, model)} has a __call__ of its own, which TorchScript does not call: write it as forward",
                location=_definition(called),
            )
        for name in getattr(module, "parametrizations", {}) if _is_parametrized(module) else ():
            raise ScriptError(
                f"'{name}' of {_place(path, model)} is parametrized, which TorchScript cannot script: call "
                f"torch.nn.utils.parametrize.remove_parametrizations({_reached(path)}, '{name}') first",
                location=_definition(type(model).forward),
            )


def _is_parametrized(module: Any) -> bool:
    return bool(torch.nn.utils.parametrize.is_parametrized(module))


def _reached(path: str) -> str:
    return f"model.{path}" if path else "model"


def _place(path: str, model: Any) -> str:
    return f"the submodule '{path}'" if path else f"the module {_type_name(model)}"


def _reject_hooks(model: torch.nn.Module) -> None:
    """Reject hooks that eager runs and that are in no graph.

    Raises:
        ScriptError: there are some.
    """
    remedy = "remove it with the handle that registering it returned, and do its work in forward"
    for name, kind in _GLOBAL_HOOKS.items():
        if getattr(module_globals, name):
            raise ScriptError(f"a global {kind} is registered, which compiled programs do not run: {remedy}")
    if isinstance(model, torch.jit.ScriptModule):
        # Hooks of submodules are part of the graph that calls them, those of the module itself are not.
        found = (*model._c._get_forward_pre_hooks(), *model._c._get_forward_hooks())
        if found:
            raise ScriptError(f"{_place('', model)} has the hook '{found[0].name}', which is not compiled: {remedy}")
        return
    for path, module in model.named_modules():
        for name, kind in _HOOKS.items():
            for hook in getattr(module, name, {}).values():
                called = getattr(hook, "__qualname__", type(hook).__name__)
                ours = getattr(hook, "__module__", "").startswith("torch.nn.utils.")
                out = f"undo torch.nn.utils.{_utility(hook)}, which registered it" if ours else remedy
                raise ScriptError(
                    f"{_place(path, model)} has a {kind}, '{called}', which is not compiled: {out}",
                    location=_definition(hook),
                )


def _utility(hook: Any) -> str:
    """The function of torch.nn.utils whose hook this is: `weight_norm`."""
    return str(type(hook).__module__).rpartition(".")[2]


_CALLS_IT = "pass a function that calls it"


def _reject_callable(model: Any) -> None:
    """Reject callables that have no source of their own which TorchScript could read.

    Raises:
        ScriptError: with the remedy.
    """
    expected = "expected a function, a method, an nn.Module or a callable object"

    def reject(what: str, remedy: str) -> None:
        raise ScriptError(f"{expected}, got {what}: {remedy}", location=_definition(model))

    if isinstance(model, type):
        reject(f"the class {model.__name__}", "pass an instance")
    if isinstance(model, functools.partial):
        reject("a functools.partial of what is not written in Python", _CALLS_IT)
    if type(model).__name__ in ("CompiledProgram", "Specialisation") and type(model).__module__.startswith(
        "ssa_compiler."
    ):
        reject("a program that is compiled already", "pass the model that it was compiled from")
    if isinstance(model, torch.export.ExportedProgram):
        reject("a torch.export.ExportedProgram", "pass the model that it was exported from")
    if inspect.ismethod(model):
        reject(f"the method '{model.__name__}' of PyTorch's class {type(model.__self__).__name__}", _CALLS_IT)
    if not callable(model):
        reject(type(model).__name__, "pass the program itself")
    if inspect.isbuiltin(model) or isinstance(model, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        reject(f"the operator {getattr(model, '__name__', model)}", _CALLS_IT)
    if not hasattr(model, "__code__") and not hasattr(model, "__wrapped__"):
        reject(f"a callable object of the class {type(model).__name__}, which is not written in Python", _CALLS_IT)
    if getattr(model, "__name__", "") == "<lambda>":
        reject("a lambda, which TorchScript cannot script", "write it as a function with def, in a file")
