"""Methods of plain objects, callable objects and partial functions as modules, which is what the importer takes."""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

import torch

__all__ = ["is_object_program", "of_object"]

_OBJECT, _FUNCTION = "object", "_ssa_compiler_function"
_NUMBERS = itertools.count()


@dataclass
class _Called:
    """What a program calls.

    Attributes:
        function: the function that runs.
        held: attributes of the module, by name.
        expression: what is called, in the text of forward.
        positional, named: the arguments that are bound, as text.
    """

    function: Callable[..., Any]
    held: dict[str, Any]
    expression: str
    positional: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)


def of_object(model: Any) -> Any:
    """Return a module whose forward calls a method of an object, a callable object or a functools.partial.

    The object is an attribute of the module, so that what the program reads of it is guarded, and what it writes is
    written.

    Args:
        model: a model of any kind.
    Returns:
        The module; `model` itself if it is of another kind.
    """
    if isinstance(model, _Program):
        model.add_parts()
        return model
    if (called := _called(model)) is None:
        return model
    try:
        signature = inspect.signature(model)
    except (TypeError, ValueError):
        return model
    if isinstance(model, functools.partial):  # what it binds stays bound, unless a call may name another number
        rest = [each for each in _of(signature) if each.name not in model.keywords or _is_plain(each.default)]
        signature = signature.replace(parameters=rest)
    module = _module(signature, called)()
    for name, value in called.held.items():
        setattr(module, name, value)
    module.add_parts()
    return module


def is_object_program(model: Any) -> bool:
    """Whether a module stands for an object, as of `of_object`."""
    return isinstance(model, _Program)


def _called(model: Any) -> _Called | None:
    """What a model calls; None of another kind of model."""
    if isinstance(model, functools.partial):
        return _bound(model)
    if inspect.ismethod(model):
        owner, function = model.__self__, model.__func__
        is_plain = not isinstance(owner, torch.nn.Module) and _is_of_user(function)
        return _Called(function, {_OBJECT: owner}, f"self.{_OBJECT}.{model.__name__}") if is_plain else None
    if isinstance(model, (torch.nn.Module, type)) or hasattr(model, "__code__") or hasattr(model, "__wrapped__"):
        return None
    function = inspect.getattr_static(type(model), "__call__", None)
    return _Called(function, {_OBJECT: model}, f"self.{_OBJECT}") if _is_of_user(function) else None


def _bound(partial: functools.partial[Any]) -> _Called | None:
    """What a functools.partial calls: what it binds are attributes of the module."""
    function = partial.func
    if inspect.ismethod(function) and isinstance(function.__self__, torch.nn.Module):
        made = _Called(function.__func__, {_OBJECT: function.__self__}, f"self.{_OBJECT}.{function.__name__}")
    elif isinstance(function, torch.nn.Module):
        made = _Called(type(function).forward, {_OBJECT: function}, f"self.{_OBJECT}")
    elif _is_of_user(function):
        made = _Called(function, {}, _FUNCTION)
    elif (found := _called(function)) is not None:
        made = found
    else:
        return None
    # A number that is bound to a parameter is its default; what `**kwargs` takes is no parameter.
    parameters = inspect.signature(partial).parameters
    if "self" in parameters:  # of a method without its object, whose name forward takes itself
        return None
    named = {k: value for k, value in partial.keywords.items() if k not in parameters or not _is_plain(value)}
    bound: dict[Any, Any] = {**dict(enumerate(partial.args)), **named}
    made.held |= {f"bound_{key}": value for key, value in bound.items()}
    made.positional = [f"self.bound_{number}" for number in range(len(partial.args))]
    made.named = [f"{name}=self.bound_{name}" for name in named]
    return made


class _Program(torch.nn.Module):
    """A module that stands for an object, which is its attribute."""

    def add_parts(self) -> None:
        """Let the modules that its attributes hold now be parts.

        Those that they held before stay what they are: programs that were made before name their parameters by them.
        """
        own = {name: value for name, value in vars(self).items() if name == _OBJECT or name.startswith("bound_")}
        known = {id(part) for part in self._modules.values()}
        for part in _modules(own, {}):
            if id(part) not in known:
                self.add_module(f"part_{len(self._modules)}", part)


def _modules(thing: Any, seen: dict[int, Any]) -> Iterator[torch.nn.Module]:
    """Iterate over the modules that an object holds, or objects and containers in it."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, torch.nn.Module):
        yield thing
    elif isinstance(thing, (list, tuple, dict)):
        for part in thing.values() if isinstance(thing, dict) else thing:
            yield from _modules(part, seen)
    elif isinstance(thing, functools.partial):
        yield from _modules((thing.func, thing.args, thing.keywords), seen)
    elif inspect.ismethod(thing):
        yield from _modules(thing.__self__, seen)
    elif not isinstance(thing, (type, types.ModuleType, torch.Tensor)) and hasattr(thing, "__dict__"):
        yield from _modules(dict(vars(thing)), seen)


def _is_of_user(function: Any) -> bool:
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    return isinstance(function, types.FunctionType) and module not in ("torch", __name__.partition(".")[0])


def _module(signature: inspect.Signature, called: _Called) -> type[_Program]:
    """A class with a forward of a signature, which passes its arguments on."""
    passed: dict[Any, str] = {
        Parameter.VAR_POSITIONAL: "*{0}",
        Parameter.KEYWORD_ONLY: "{0}={0}",
        Parameter.VAR_KEYWORD: "**{0}",
    }
    plain = [each.replace(annotation=Parameter.empty, default=_shown(each.default)) for each in _of(signature)]
    text = str(inspect.Signature([Parameter("self", Parameter.POSITIONAL_ONLY), *plain]))
    text = text.replace("(self, /, ", "(self, ").replace("(self, /)", "(self)")
    given = [passed.get(each.kind, "{0}").format(each.name) for each in plain]
    arguments = ", ".join([*called.positional, *given, *called.named])
    lines = [f"def forward{text}:\n", f"    return {called.expression}({arguments})\n"]
    original: Any = inspect.unwrap(called.function)
    file = f"<a program of {original.__code__.co_filename}, {next(_NUMBERS)}>"
    linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    names = original.__globals__ | {"__name__": __name__, _FUNCTION: called.function}
    exec(compile("".join(lines), file, "exec"), names)
    forward = names["forward"]
    defaults = [each for each in _of(signature) if each.default is not Parameter.empty]
    by_name = {each.name: each.default for each in defaults if each.kind is Parameter.KEYWORD_ONLY}
    forward.__defaults__ = tuple(each.default for each in defaults if each.name not in by_name)
    forward.__kwdefaults__ = by_name
    forward.__annotations__ = {
        each.name: each.annotation for each in _of(signature) if each.annotation is not Parameter.empty
    }
    held = called.held.get(_OBJECT, original)
    owner = held if isinstance(held, (type, types.FunctionType)) else type(held)
    return type(owner.__name__, (_Program,), {"forward": forward, "__module__": __name__})


def _of(signature: inspect.Signature) -> list[Parameter]:
    return list(signature.parameters.values())


def _shown(default: Any) -> Any:
    """A default in the text of the function, which gets its own afterwards."""
    return default if default is Parameter.empty or _is_plain(default) else None


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (int, float, bool, str)
