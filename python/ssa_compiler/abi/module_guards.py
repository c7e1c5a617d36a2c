"""What a program takes for granted of the user's module: structure, hooks, and the attributes that were constants.

The program reads parameters, buffers and assigned numbers at each call. Everything else that it read from the module
was folded in: the training flag, `self.eps`, `__constants__`, which submodules there are. `ModuleFacts` remembers that
and says what has changed since.
"""

from __future__ import annotations

import copy
import enum
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from .asked_attributes import asked_spaces, present_attributes, typed_attributes
from .paths import holder_of
from .same_values import registered_name, same_value

__all__ = ["ModuleFacts", "is_compared"]

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)
_MUTABLE = (list, dict, set)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


class ModuleFacts:
    """A module as it was at import.

    Args:
        module: the user's module, scripted or not.
        read: qualified names of the attributes that the program read as constants.
        passed: those of the attributes that are arguments.
    Attributes:
        read: these names.
    """

    def __init__(self, module: torch.nn.Module, read: Iterable[str], passed: Iterable[str] = ()) -> None:
        self.read, self._passed = frozenset(read), frozenset(passed)
        self._module = module
        self._scripted = isinstance(module, torch.jit.ScriptModule)
        names = {*self.read} if self._scripted else {*self.read, *_declared_constants(module), *_absent(module)}
        found = {name: _value(module, name) for name in sorted(names)}
        kept = {
            name: value for name, value in found.items() if _is_known(value) and not isinstance(value, torch.Tensor)
        }
        self._values = {name: _copied(module, value) for name, value in kept.items()}
        self._types = _types(module)
        self._registered = _registered(module)
        self._kinds = _kinds(module)
        self._present = {} if self._scripted else present_attributes(module)
        self._hooked = _hooks(module)
        self._chosen = _chosen(module, self._passed)
        self._find()

    def containers(self) -> Iterator[Any]:
        """Iterate over the lists and dicts among what was read, and those in them."""
        pending = [_value(self._module, name) for name in self._others]
        while pending:
            value = pending.pop()
            if isinstance(value, (list, dict)):
                yield value
            if isinstance(value, (list, tuple, dict)):
                pending += value.values() if isinstance(value, dict) else value

    def _find(self) -> None:
        """Look up the dictionaries that hold what is compared, so that a comparison walks no attributes."""
        self._held: list[tuple[dict[str, Any], str, Any]] = []
        self._typed = [] if self._scripted else [found[1:] for found in typed_attributes(self._module)]
        self._others: list[str] = []
        for name in self._values:
            holder = None if self._scripted else _holder(self._module, name)
            if holder is None or _is_mutable(_value(self._module, name)):
                self._others.append(name)
            else:
                self._held.append((holder, name.rpartition(".")[2], holder.get(name.rpartition(".")[2])))
        for path, value in self._chosen.items():
            owner, last = holder_of(self._module, path)
            self._held.append((vars(owner), last, value))
        modules = () if self._scripted else tuple(self._module.modules())
        self._children = [(m._modules, list(m._modules.items())) for m in modules]
        self._classes = [(m, type(m)) for m in modules]
        spaces = [space for m in modules for space in (m._parameters, m._buffers)]
        self._names = [(space, list(space.keys())) for space in spaces]
        self._given = [(space, name) for space in spaces for name, tensor in space.items() if tensor is not None]
        self._asked = [] if self._scripted else asked_spaces(self._module)
        self._unhooked = [(vars(m)[_HOOKS[0]], vars(m)[_HOOKS[1]], vars(m), len(vars(m))) for m in modules]

    def difference(self) -> str | None:
        """Return what of the module the program was not made for, None if nothing."""
        for modules, items in self._children:
            if (modules or items) and list(modules.items()) != items:
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
                    if self._has_same_attributes():
                        return self._compare(self._others) if self._others else None
        return self._look()

    def _has_same_attributes(self) -> bool:
        """Whether parts of the module have the class, parameters, buffers and attributes they had, as far as that
        matters.
        """
        # Loops, as this is done in each call: a generator costs as much as ten of these comparisons.
        for module, kind in self._classes:
            if type(module) is not kind:
                return False
        for space, name, there in self._asked:
            if (name in space) is not there:
                return False
        for space, name, kind in self._typed:
            if type(space.get(name, _MISSING)) is not kind:
                return False
        for space, names in self._names:
            if list(space.keys()) != names:  # of a scripted module it is no dict
                return False
        missing = [name for space, name in self._given if space[name] is None]
        return not missing

    def _look(self) -> str | None:
        """Compare everything, by value; the submodules may be others of the same types."""
        kinds = _types(self._module)
        if list(kinds.items()) != list(self._types.items()):
            names = {**kinds, **self._types}
            changed = sorted(name or "(root)" for name in names if kinds.get(name) != self._types.get(name))
            return f"the submodules of the module changed: {', '.join(changed) or 'their order'}"
        if _hooks(self._module) != self._hooked:
            return "the hooks or the forward of the module or of a submodule changed"
        for name, there in self._present.items() if not self._scripted else ():
            if (_value(self._module, name) is not _MISSING) is not there:
                return f"attribute '{name}' of the module: {'is missing now' if there else 'was missing'}"
        chosen = _chosen(self._module, self._passed)
        names = {**chosen, **self._chosen}
        if changed := [name for name in names if not same_value(chosen.get(name), self._chosen.get(name))]:
            return f"attributes of the module changed: {', '.join(sorted(changed))}"
        found = self._compare(self._values) or self._compare_types() or self._compare_registered()
        if found is None:
            self._find()
        return found

    def _compare_types(self) -> str | None:
        kinds = _kinds(self._module)
        for name, kind in self._kinds.items():
            now = kinds.get(name)
            if now is not kind:
                got = "none" if now is None else f"one of type {now.__name__}"
                return f"attribute '{name}' of the module: expected one of type {kind.__name__}, got {got}"
        return None

    def _compare_registered(self) -> str | None:
        now = _registered(self._module)
        if now == self._registered:
            return None
        changed = sorted({name for name, _ in {*now} ^ {*self._registered}})
        return f"the parameters or buffers of the module changed: {', '.join(changed) or 'their order'}"

    def _compare(self, names: Iterable[str]) -> str | None:
        for name in names:
            value, now = self._values[name], _value(self._module, name)
            if known := _is_known(now):
                now = _copied(self._module, now) if _has_tensor(now) else now
            if not same_value(now, value):
                shown = "missing" if now is _MISSING else repr(now) if known else f"a {type(now).__name__}"
                return f"attribute '{name}' of the module: expected {value!r}, got {shown}"
        return None


def is_compared(module: torch.nn.Module, name: str) -> bool:
    """Whether a change of an attribute is seen if the program reads it as a constant.

    Args:
        module: the module.
        name: the attribute's qualified name.
    """
    value = _value(module, name)
    owner, _ = holder_of(module, name)
    return _is_known(value) or (isinstance(owner, torch.nn.Module) and callable(value))


@dataclass(frozen=True, repr=False)
class _Registered:
    """Stands for a parameter or buffer in a container; `name` is None for a tensor that is neither."""

    name: str | None

    def __repr__(self) -> str:
        return self.name or "a tensor"


def _is_known(value: Any) -> bool:
    """Whether a value is made of nothing but constants and tensors."""
    if isinstance(value, dict):
        return all(map(_is_known, (*value, *value.values())))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_known, value))
    return isinstance(value, (*_PLAIN, enum.Enum, torch.Tensor))


def _copied(module: Any, value: Any) -> Any:
    """Copy a value, with the names of tensors for them: the program reads the tensors that have these names then."""
    if not _has_tensor(value):
        return copy.deepcopy(value)
    if isinstance(value, torch.Tensor):
        return _Registered(registered_name(module, value))
    if isinstance(value, dict):
        return {key: _copied(module, part) for key, part in value.items()}
    parts = [_copied(module, part) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_tensor, value.values()))
    return isinstance(value, torch.Tensor) or (isinstance(value, (list, tuple)) and any(map(_has_tensor, value)))


def _is_mutable(value: Any) -> bool:
    """Whether a value may change while it stays the same object; tensors may lose their names."""
    return isinstance(value, (*_MUTABLE, torch.Tensor)) or (isinstance(value, tuple) and any(map(_is_mutable, value)))


def _value(module: Any, name: str) -> Any:
    owner, last = holder_of(module, name)
    if last.endswith("?"):  # whether it is there
        return hasattr(owner, last[:-1])
    return getattr(owner, last, _MISSING)


def _holder(module: Any, name: str) -> dict[str, Any] | None:
    """The dictionary that an attribute of a part lies in; None if it is computed, the class's, or that of an object
    which is no part: another one may take its place.
    """
    owner, last = holder_of(module, name)
    if not isinstance(owner, torch.nn.Module):
        return None
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


def _kinds(module: torch.nn.Module) -> dict[str, type]:
    """The types of the attributes that decide branches by their types."""
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    return {path: kind for path, _, _, kind in typed_attributes(module)}


def _types(module: torch.nn.Module) -> dict[str, tuple[type, str]]:
    """The type of each submodule, and the first name under which the module has it."""
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    first: dict[int, str] = {}
    named = module.named_modules(remove_duplicate=False)
    return {name: (type(each), first.setdefault(id(each), name)) for name, each in named}


def _registered(module: torch.nn.Module) -> list[tuple[str, bool]]:
    """The parameters and buffers that a module has, in order, and whether they are None."""
    if isinstance(module, torch.jit.ScriptModule):
        return []
    return [
        (f"{path}.{name}".removeprefix("."), absent)
        for path, each in module.named_modules()
        for space in (each._parameters, each._buffers)
        for name, absent in _absences(space)
    ]


def _absences(space: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(name, tensor is None) for name, tensor in space.items()]


def _chosen(module: torch.nn.Module, passed: frozenset[str]) -> dict[str, Any]:
    """The attributes that say what is computed: what can be called (`self.act = F.relu`), which may hide methods, and
    enums that are no arguments.
    """
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    own = vars(torch.nn.Module())
    found = {
        f"{path}.{name}".removeprefix("."): value
        for path, each in module.named_modules()
        for name, value in vars(each).items()
        if not isinstance(each, torch.jit.ScriptModule)  # which keeps methods that it was asked for
        if name not in own and (isinstance(value, enum.Enum) or callable(value))
    }
    return {path: value for path, value in found.items() if path not in passed or not isinstance(value, enum.Enum)}


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
