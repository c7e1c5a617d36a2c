"""What a program takes for granted of the user's module: structure, hooks, and the attributes that were constants.

The program reads parameters, buffers and assigned numbers at each call. Everything else that it read from the module was
folded in: the training flag, `self.eps`, `__constants__`, which submodules there are. `ModuleFacts` remembers that and says
what has changed since.
"""

from __future__ import annotations

import copy
import enum
import types
import typing
from collections.abc import Iterable
from typing import Any

import torch

from .asked_attributes import asked_spaces, present_attributes

__all__ = ["ModuleFacts"]

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)
_MUTABLE = (list, dict, set)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


class ModuleFacts:
    """A module as it was at import.

    Args:
        module: the user's module, scripted or not.
        read: qualified names of the attributes that the program read as constants.
    """

    def __init__(self, module: torch.nn.Module, read: Iterable[str]) -> None:
        self._module = module
        self._scripted = isinstance(module, torch.jit.ScriptModule)
        names = set(read) if self._scripted else {*read, *_declared_constants(module), *_absent(module)}
        found = {name: _value(module, name) for name in sorted(names)}
        self._values = {name: copy.deepcopy(value) for name, value in found.items() if _is_plain(value)}
        self._types = _types(module)
        self._present = {} if self._scripted else present_attributes(module)
        self._hooked = _hooks(module)
        self._chosen = _chosen(module)
        self._find()

    def _find(self) -> None:
        """Look up the dictionaries that hold what is compared, so that a comparison walks no attributes."""
        self._held: list[tuple[dict[str, Any], str, Any]] = []
        self._others: list[str] = []
        for name, value in self._values.items():
            holder = None if self._scripted else _holder(self._module, name)
            if holder is None or _is_mutable(value):
                self._others.append(name)
            else:
                self._held.append((holder, name.rpartition(".")[2], holder.get(name.rpartition(".")[2])))
        for path, value in self._chosen.items():
            owner, last = _owner(self._module, path)
            self._held.append((vars(owner), last, value))
        modules = () if self._scripted else tuple(self._module.modules())
        self._children = [(m._modules, list(m._modules.items())) for m in modules if m._modules]
        self._asked = [] if self._scripted else asked_spaces(self._module)
        self._unhooked = [(vars(m)[_HOOKS[0]], vars(m)[_HOOKS[1]], vars(m), len(vars(m))) for m in modules]

    def difference(self) -> str | None:
        """Return what of the module the program was not made for, None if nothing."""
        for modules, items in self._children:
            if list(modules.items()) != items:
                break
        else:
            for holder, name, value in self._held:
                if holder.get(name, _MISSING) is not value:
                    break
            else:
                for hooks, pre_hooks, space, count in self._unhooked:
                    if hooks or pre_hooks or "forward" in space or len(space) != count:
                        break
                else:
                    if all((name in space) is there for space, name, there in self._asked):
                        return self._compare(self._others) if self._others else None
        return self._look()

    def _look(self) -> str | None:
        """Compare everything, by value; the submodules may be others of the same types."""
        kinds = _types(self._module)
        if kinds != self._types:
            names = {**kinds, **self._types}
            changed = sorted(name or "(root)" for name in names if kinds.get(name) != self._types.get(name))
            return f"the submodules of the module changed: {', '.join(changed)}"
        if _hooks(self._module) != self._hooked:
            return "the hooks or the forward of the module or of a submodule changed"
        for name, there in self._present.items() if not self._scripted else ():
            if (_value(self._module, name) is not _MISSING) is not there:
                return f"attribute '{name}' of the module: {'is missing now' if there else 'was missing'}"
        chosen = _chosen(self._module)
        if chosen != self._chosen:
            changed = [name for name in {**chosen, **self._chosen} if chosen.get(name) != self._chosen.get(name)]
            return f"attributes of the module changed: {', '.join(sorted(changed))}"
        found = self._compare(self._values)
        if found is None:
            self._find()
        return found

    def _compare(self, names: Iterable[str]) -> str | None:
        for name in names:
            value, now = self._values[name], _value(self._module, name)
            if type(now) is not type(value) or (now != value and now is not value):
                shown = "missing" if now is _MISSING else repr(now) if _is_plain(now) else f"a {type(now).__name__}"
                return f"attribute '{name}' of the module: expected {value!r}, got {shown}"
        return None


def _is_plain(value: Any) -> bool:
    """Whether a value is made of nothing but constants."""
    if isinstance(value, dict):
        return all(_is_plain(part) for part in (*value, *value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _is_mutable(value: Any) -> bool:
    return isinstance(value, _MUTABLE) or (isinstance(value, tuple) and any(map(_is_mutable, value)))


def _owner(module: Any, name: str) -> tuple[Any, str]:
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part, None)
    return module, last


def _value(module: Any, name: str) -> Any:
    owner, last = _owner(module, name)
    return getattr(owner, last, _MISSING)


def _holder(module: Any, name: str) -> dict[str, Any] | None:
    """The dictionary that an attribute lies in; None if it is computed, or the class's."""
    owner, last = _owner(module, name)
    space: dict[str, Any] = getattr(owner, "__dict__", {})
    if isinstance(getattr(type(owner), last, None), property):
        return None
    for candidate in (space, space.get("_parameters"), space.get("_buffers")):
        if isinstance(candidate, dict) and last in candidate:
            return candidate
    return None


def _declared_constants(module: torch.nn.Module) -> list[str]:
    """The attributes that TorchScript takes for constants, by `__constants__` and by `Final`."""
    names = []
    for path, each in module.named_modules():
        declared = {*getattr(each, "__constants__", ())}
        for kind in type(each).__mro__:
            notes = vars(kind).get("__annotations__", {})
            declared |= {name for name, note in notes.items() if _is_final(note)}
        names += [f"{path}.{name}".removeprefix(".") for name in declared]
    return names


def _absent(module: torch.nn.Module) -> list[str]:
    """The attributes that are None: TorchScript removes what they would be read for."""
    own = vars(torch.nn.Module())
    names = []
    for path, each in module.named_modules():
        space = vars(each)
        found = [name for name, value in space.items() if value is None and name not in own]
        for held in (space["_parameters"], space["_buffers"]):
            found += [name for name, value in held.items() if value is None]
        names += [f"{path}.{name}".removeprefix(".") for name in found]
    return names


def _is_final(note: Any) -> bool:
    if isinstance(note, str):
        return "Final" in note
    return note is typing.Final or typing.get_origin(note) is typing.Final or torch._jit_internal.is_final(note)


def _types(module: torch.nn.Module) -> dict[str, tuple[type, str]]:
    """The type of each submodule, and the first name under which the module has it."""
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    first: dict[int, str] = {}
    named = module.named_modules(remove_duplicate=False)
    return {name: (type(each), first.setdefault(id(each), name)) for name, each in named}


def _chosen(module: torch.nn.Module) -> dict[str, Any]:
    """The attributes that say what is computed: functions (`self.act = F.relu`), which may hide methods, and enums."""
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    kinds = (enum.Enum, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    return {
        f"{path}.{name}".removeprefix("."): value
        for path, each in module.named_modules()
        for name, value in vars(each).items()
        if isinstance(value, kinds)
    }


def _hooks(module: torch.nn.Module) -> dict[str, tuple[Any, ...]]:
    """The hooks and the replaced forward of each submodule that has any."""
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    found = {}
    for name, each in module.named_modules():
        space = vars(each)
        facts = (*(list(space[kind].values()) for kind in _HOOKS), space.get("forward"))
        if any(facts):
            found[name] = facts
    return found
