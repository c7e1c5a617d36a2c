"""State in objects that are attributes of modules and are no modules: `self.cache.append(k)`, `self.clock.step += 1`.

An attribute of such an object that the program assigns, or changes the contents of, is one of the module that holds the
object, by the way to it: `clock.step`. That is where it is read before a call, and stored after it.
"""

from __future__ import annotations

import ast
import enum
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from ..ir.tuple_keys import has_tuple_keys
from .classes import is_plain_class
from .declared_classes import declared_class
from .enum_classes import is_enum
from .interfaces import Evaluated, Result
from .reading import MISSING, read
from .rejections import NotCompiledError
from .values import (
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Value,
    annotation,
    is_none,
    joined,
)

__all__ = ["States"]

_TYPES = {"Tensor": torch.Tensor, **{name: getattr(typing, name) for name in ("List", "Dict", "Tuple", "Optional")}}
_TYPES["torch"] = torch


class _Types(dict[str, Any]):
    """What the names in the types of attributes mean."""

    def __missing__(self, name: str) -> Any:
        if (kind := declared_class(name)) is None:
            raise KeyError(name)
        return kind


class States:
    """The state of a program in objects that are no modules.

    Args:
        program: the program.
    """

    def __init__(self, program: Evaluated) -> None:
        self._program = program
        self._paths: dict[int, str] = {}
        self._types: dict[int, dict[str, Any]] = {}
        self._seen: dict[str, Any] = {}

    def attribute(self, scope: Any, owner: Known, name: str, where: Any) -> Result:
        """Evaluate an attribute that the program assigns, or changes the contents of.

        Args:
            scope: where it is read or assigned.
            owner: the object.
            name: the attribute.
            where: the place.
        Raises:
            NotCompiledError: the object is none of a module's, or has several names; or the attribute is not there yet,
                or has no type.
        """
        program, thing = self._program, owner.object
        path = program.path_of(owner)
        if path is None or program.is_elsewhere(path) or not is_plain_class(type(thing)):
            raise NotCompiledError(f"{name}, an attribute of a {type(thing).__name__} that is assigned")
        if self._paths.setdefault(id(thing), path) != path:
            raise NotCompiledError(f"a {type(thing).__name__} with state that has several names")
        if (added := self.add(scope, owner, name, where)) is not None:
            return Result(added)
        held = read(thing, name)  # it may be its class's
        if isinstance(held, property):
            raise NotCompiledError("a property that is assigned")
        own = program.part_of(path, name)
        value = self._value(held, own)
        try:
            kind = eval(annotation(value) or "", _Types(_TYPES))
        except (NameError, SyntaxError):
            raise NotCompiledError(f"{name}, an attribute that TorchScript has no type for") from None
        node = program.held_expression(scope, own, held, where)
        if is_none(value):
            return Result(node, Known(None, None, frozenset([own])))
        self._types.setdefault(id(scope.owner), {})[node.attr] = kind
        return Result(node, value)

    def add(self, scope: Any, owner: Known, name: str, where: Any) -> Any:
        """Return the expression for an attribute that is assigned, if the object may not have it; None if it has it.

        To TorchScript it is None before, and reading it then is an error.

        Args:
            scope: where it is assigned.
            owner: a module, or an object of one.
            name: the attribute.
            where: the place.
        Raises:
            NotCompiledError: its type is not known, or one that it cannot have.
        """
        thing = owner.object
        if (held := read(thing, name)) is not MISSING:
            if isinstance(thing, torch.nn.Module) and (held is None or isinstance(held, enum.Enum)):
                before = Known(held) if held is None else self._program.samples.value(held)
                self.declare(
                    thing,
                    name,
                    joined(before, self._program.elements.get(("attribute", name)), self._program.samples.of),
                )
            return None
        self._program.elements["added", id(thing), name] = UNKNOWN
        if (kind := self._added_type(name)) is None:
            holder = "module" if isinstance(thing, torch.nn.Module) else type(thing).__name__
            text = f"{name}, an attribute that a {holder} does not have yet, and that is no tensor or number, or list of these"
            raise NotCompiledError(text)
        return self._unset(scope, owner, name, where, kind)

    def _added_value(self, name: str) -> Value | None:
        """What is known of an attribute that is added."""
        value = self._program.elements.get(("attribute", name))
        return None if value is None else self._with_elements(value)

    def _added_type(self, name: str) -> Any:
        """The type of an attribute that is added, None if it cannot have it: None stands for what is not there."""
        value = self._added_value(name)
        if value is None or not _can_be_added(value):
            return None
        try:
            return eval(annotation(value) or "", _Types(_TYPES))
        except (NameError, SyntaxError):
            return None

    def declare(self, module: torch.nn.Module, name: str, value: Value) -> None:
        """Let TorchScript take an attribute that is a tensor, or may be None, for what the program takes it for.

        Args:
            module: the module; that others of its class assign None says nothing of it.
            name: the attribute.
            value: what is known of it.
        """
        inner = value.element if isinstance(value, OptionalValue) else value
        held = vars(module).get(name, MISSING)
        if isinstance(inner, TensorValue) and (held is None or type(held) is torch.Tensor):
            kind = _TYPES["Optional"][torch.Tensor] if inner is not value else torch.Tensor
            self._types.setdefault(id(module), {})[name] = kind
        elif isinstance(inner, Scalar) and is_enum(inner.kind) and (held is None or type(held) is inner.kind):
            kind = inner.kind if inner is value else _TYPES["Optional"][inner.kind]
            self._types.setdefault(id(module), {})[name] = kind
        elif inner is not value and isinstance(inner, Scalar) and _can_be_added(inner):
            if held is None or type(held) is inner.kind:
                self._types.setdefault(id(module), {})[name] = _TYPES["Optional"][inner.kind]

    def _unset(self, scope: Any, owner: Known, name: str, where: Any, kind: Any) -> Any:
        """An expression for an attribute that an object does not have before the program runs."""
        program, path = self._program, self._program.path_of(owner)
        if path is None or program.is_elsewhere(path):
            raise NotCompiledError(f"{name}, an attribute that is added to an object")
        own = program.part_of(path, name)
        program.depend_on_presence(own)
        if isinstance(owner.object, torch.nn.Module):
            program.hold(owner.object, name, None)
            holder, node = owner.object, program.module_expression(scope, owner.object, where)
            node = ast.copy_location(ast.Attribute(node, name, ast.Load()), where)
        else:
            if self._paths.setdefault(id(owner.object), path) != path:
                raise NotCompiledError(f"a {type(owner.object).__name__} with state that has several names")
            holder, node = scope.owner, program.held_expression(scope, own, None, where)
        self._types.setdefault(id(holder), {})[node.attr] = _TYPES["Optional"][kind]
        return node

    def may_be_added(self, owner: Known, name: str) -> bool:
        """Whether the program may add an attribute that an object does not have before it runs."""
        return ("added", id(owner.object), name) in self._program.elements

    def added(self, scope: Any, owner: Known, name: str, where: Any) -> Result | None:
        """Evaluate an attribute that the program may add, which is None before; None if it adds none, or of no known
        type.

        Args:
            scope: where it is read.
            owner: the object.
            name: the attribute.
            where: the place.
        """
        kind, value = self._added_type(name), self._added_value(name)
        if not self.may_be_added(owner, name) or kind is None or value is None:
            return None
        return Result(self._unset(scope, owner, name, where, kind), OptionalValue(value))

    def see(self, owner: Known) -> None:
        """Note that an attribute of an object is read."""
        path = self._program.path_of(owner)
        if path and not self._program.is_elsewhere(path) and is_plain_class(type(owner.object)):
            self._seen[path] = owner.object

    def depend_on_identities(self) -> None:
        """Let the program depend on that the objects which it has as several stay several, if some have state."""
        paths = tuple(sorted({*self._seen, *self._paths.values()}))
        if self._paths and len(paths) > 1:
            self._program.depend_on_several(paths)

    def _value(self, held: Any, path: str) -> Value:
        """What an attribute is: what it was, or what the program assigns."""
        program = self._program
        if isinstance(held, torch.Tensor):
            value = program.tensor_value(held, path)
        else:
            value = Known(None) if held is None else program.widened(Known(held, path))
        value = self._with_elements(value)
        assigned = program.elements.get(("attribute", path.rpartition(".")[2]))
        return value if assigned is None else joined(value, assigned, program.samples.of)

    def _with_elements(self, value: Value) -> Value:
        """What is known of a value by now: of a list or dict, what was put into it."""
        program = self._program
        if isinstance(value, (ListValue, DictValue)):
            for place in value.places:
                if (element := program.elements.get(place)) is not None:
                    value = _with_element(value, joined(value.element, element, program.samples.of))
                if isinstance(value, DictValue) and (key := program.elements.get((place, "key"))) is not None:
                    value = DictValue(joined(value.key, key, program.samples.of), value.element, value.places)
        return value

    def container(self, module: torch.nn.Module, name: str, value: Known) -> Value:
        """Return what is known of a list or dict of a module that the program changes or assigns, and let TorchScript
        have it with that type.

        Args:
            module: the module.
            name: the attribute.
            value: what it is before.
        """
        path = self._program.path_of(value)
        assert path is not None
        found = self._value(value.object, path)
        text = annotation(found)
        if text is not None and (isinstance(found, DictValue) or not value.object):
            with suppress(NameError, SyntaxError):
                self._types.setdefault(id(module), {})[name] = eval(text, _Types(_TYPES))
        if has_tuple_keys(value.object):
            self._program.hold(module, name, value.object)
        return found

    def elements(self, value: Known) -> list[Result] | None:
        """Return the objects in a list that is an attribute of a module, on whose length the program depends then; None
        if it is none of objects.
        """
        path, things = self._program.path_of(value), value.object
        if path is None or self._program.is_elsewhere(path) or not isinstance(things, (list, tuple)) or not things:
            return None
        if not all(is_plain_class(type(thing)) for thing in things):
            return None
        self._program.depend_on_length(path)
        return [Result(None, Known(thing, f"{path}.{k}", value.guards)) for k, thing in enumerate(things)]

    def annotations(self, of_class: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
        """Return what gives TorchScript the types of a module's attributes.

        Args:
            of_class: gives those that the classes of modules annotate.
        """
        return lambda part: {**of_class(part), **self.types_of(part)}

    def types_of(self, part: Any) -> dict[str, Any]:
        """Return the types of a module's attributes that the program decides on."""
        return self._types.get(id(part), {})


def _can_be_added(value: Value | None) -> bool:
    """Whether an attribute that is not there yet may be a value: TorchScript has its type, and Python the same one."""
    if isinstance(value, TensorValue):
        return True
    if isinstance(value, Scalar):
        return value.kind in (bool, int, float, str, torch.Generator) or is_enum(value.kind)
    if isinstance(value, TupleValue):
        return bool(value.elements) and not value.names and all(map(_can_be_added, value.elements))
    if isinstance(value, ListValue):
        return not value.is_tuple and (value.element is None or _can_be_added(value.element))
    return False


def _with_element(value: ListValue | DictValue, element: Value) -> ListValue | DictValue:
    if isinstance(value, DictValue):
        return DictValue(value.key, element, value.places)
    return ListValue(element, value.places, value.is_tuple, None)
