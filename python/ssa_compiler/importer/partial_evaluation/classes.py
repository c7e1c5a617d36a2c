"""The classes whose objects a program makes, as TorchScript has them.

A class of the user's becomes one with the attributes that the program assigns, anywhere, and without methods: these are
functions, copied for each set of types like all others.
"""

from __future__ import annotations

import abc
import ast
import dataclasses
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.jit._state as jit_state
import torch.jit.frontend as frontend
from torch import _jit_internal
from torch._sources import SourceContext

from ...abi.records import attribute_name, growing_class, record_keys
from ...semantics.generator_ops import MAKE, NAMESPACE
from ..ir.tuple_keys import has_tuple_keys
from .callees import is_of_torch
from .declared_classes import declared_class
from .default_values import DEFAULTS, default_of
from .library_classes import is_deque, is_set
from .rejections import NotCompiledError
from .values import (
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    Never,
    ObjectValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Value,
    annotation,
    field_of,
    guards_of,
    is_none,
    joined,
)

__all__ = ["Classes", "holds_made_objects", "ignored_attributes", "is_list_class", "is_plain_class"]

_OTHER_WAYS = frozenset(
    "__new__ __getattr__ __getattribute__ __setattr__ __delattr__ __del__ __set_name__ __init_subclass__".split()
)
_OF_LISTS = _OTHER_WAYS | frozenset(
    "__init__ __iter__ __getitem__ __setitem__ __len__ __contains__ __reversed__ __bool__ __eq__ __add__".split()
)
_IGNORED = "__jit_ignored_attributes__"
_MADE = "_ssa_compiler_object_"
_NUMBERS = itertools.count()
_NAMES: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()
_DEFAULTS = DEFAULTS | {torch.dtype: "0", torch.Generator: f"torch.ops.{NAMESPACE}.{MAKE}()"}


def holds_made_objects(text: str | None) -> bool:
    """Whether objects that the program makes, as records are, are part of a type, as TorchScript writes it."""
    return _MADE in (text or "")


def is_plain_class(kind: type) -> bool:
    """Whether all that is to know of a class is its methods and what they assign."""
    owners = kind.__mro__[:-1]
    return (
        bool(owners)
        and not dataclasses.is_dataclass(kind)
        and all(type(owner) in (type, abc.ABCMeta) and owner.__module__ != "builtins" for owner in owners)
        and not any(is_of_torch(owner) or vars(owner).get("__slots__") for owner in owners)
        and any("__dict__" in vars(owner) for owner in owners)
        and not any(_OTHER_WAYS & set(vars(owner)) for owner in owners if owner.__module__ != "abc")
    )


def is_list_class(kind: type) -> bool:
    """Whether a class is one of the user's that adds methods to lists, and is read as they are."""
    own = [owner for owner in kind.__mro__ if owner not in (list, object)]
    return (
        issubclass(kind, list)
        and bool(own)
        and not any(is_of_torch(owner) or type(owner) is not type for owner in own)
        and not any(_OF_LISTS & set(vars(owner)) for owner in own)
    )


def ignored_attributes(
    root: torch.nn.Module | None, held: Mapping[int, tuple[Any, Mapping[str, Any]]]
) -> Iterator[tuple[torch.nn.Module, dict[str, Any]]]:
    """Return what lets TorchScript not look at attributes that are objects of the user's classes, which it would
    compile, or dicts with keys that it does not have: what is known of these is put in.

    Args:
        root: the module whose parts have them.
        held: the attributes that it is shown, by module.
    """
    for part in root.modules() if root is not None else ():
        shown = held.get(id(part), (None, {}))[1]
        found = {name: value for name, value in vars(part).items() if name not in shown}
        names = [name for name, value in found.items() if _is_known(value)]
        if names and _IGNORED not in vars(part):
            yield part, {_IGNORED: [*getattr(part, _IGNORED, ()), *names]}


def _is_known(value: Any) -> bool:
    return is_plain_class(type(value)) or is_list_class(type(value)) or has_tuple_keys(value)


class Classes:
    """The classes of a program.

    Args:
        elements: what is known of a program, to which the attributes of objects are added.
        sample: makes a sample of a tensor.
        widened: the type of a value.
    """

    def __init__(
        self, elements: dict[Any, Value], sample: Callable[[torch.Tensor], Any], widened: Callable[[Value], Value]
    ) -> None:
        self._elements = elements
        self._sample = sample
        self._widened = widened
        self._kinds: dict[str, type] = {}
        self._compiled: dict[str, type] = {}

    def value(self, kind: type) -> ObjectValue:
        """Return what an object of a class is."""
        if kind not in _NAMES:
            _NAMES[kind] = f"{_MADE}{next(_NUMBERS)}_{kind.__name__}"
        name = _NAMES[kind]
        self._kinds[name] = kind
        return ObjectValue(kind, name)

    # Attributes. --------------------------------------------------------------------------------------------------

    def attribute(self, kind: type, name: str) -> Value | None:
        """Return what is known of an attribute, None if nothing assigns it."""
        found = self._elements.get(("field", kind, name))
        return None if found is None else self._current(found)

    def learn(self, kind: type, name: str, value: Value) -> None:
        """Note that an attribute is assigned."""
        if isinstance(value, Never):
            return
        place = "field", kind, name
        known = self._elements.get(place)
        if record_keys(kind) is not None and isinstance(value, Known) and not isinstance(value.object, torch.Tensor):
            if known is None or known == value:
                guards = guards_of(value) | guards_of(known)
                self._elements[place] = Known(value.object, None, guards)
                return
        general = value if is_none(value) else _of_any_length(self._widened(value))
        self._elements[place] = general if known is None else joined(known, general, self._sample)

    def await_(self, kind: type, name: str) -> None:
        """Note that an attribute is read that nothing was seen to assign.

        Raises:
            NotCompiledError: nothing assigns it.
        """
        if ("awaited", kind, name) in self._elements:
            raise NotCompiledError(f"{name}, an attribute of a {kind.__name__} that is not assigned")
        self._elements["awaited", kind, name] = UNKNOWN

    def is_stored(self, kind: type, name: str) -> bool:
        """Whether TorchScript's class has an attribute; objects that it has no values for are put in where they are
        read.
        """
        value = self.attribute(kind, name)
        if not isinstance(value, Known) or is_none(value):
            return True
        return record_keys(kind) is not None and annotation(value) is not None

    def finish(self, kind: type, complete: frozenset[str]) -> None:
        """Note which attributes the constructor of a class assigns in any case; others may not be there."""
        for name in self._names(kind):
            if name not in complete:
                self._elements["unset", kind, name] = UNKNOWN

    def may_be_unset(self, kind: type, name: str) -> bool:
        """Whether an object may not have an attribute."""
        return ("unset", kind, name) in self._elements

    def has_unset(self, value: Value | None) -> bool:
        """Whether an object that a value may hold may not have an attribute, or has one without a type."""
        return any(
            self.may_be_unset(kind, name) or not self.is_stored(kind, name)
            for kind in _kinds(value, self)
            for name in self._names(kind)
        )

    def has_set(self, value: Value | None) -> bool:
        """Whether a value is a set or deque, or an object or container that may hold one."""
        return any(is_set(each) or is_deque(each) for each in map(ObjectValue, _kinds(value, self)))

    def add_key(self, kind: type, key: str) -> None:
        """Note that a record may get a key after it was made."""
        self._elements["later", kind, key] = UNKNOWN

    def later_keys(self, kind: type) -> list[str]:
        """Return the keys that a record may get after it was made, in the order in which it gets them."""
        return [key[2] for key in self._elements if isinstance(key, tuple) and key[0] == "later" and key[1] is kind]

    def _names(self, kind: type) -> list[str]:
        if (keys := record_keys(kind)) is not None:
            return [attribute_name(key) for key in (*keys, *self.later_keys(kind))]
        return [key[2] for key in self._elements if isinstance(key, tuple) and key[0] == "field" and key[1] is kind]

    def _current(self, value: Value) -> Value:
        """What is known of a value by now, of which a part was found out later."""
        if isinstance(value, (ListValue, DictValue)):
            element = None if value.element is None else self._current(value.element)
            for place in value.places:
                element = _either(element, self._elements.get(place), self._sample)
            if isinstance(value, ListValue):
                return dataclasses.replace(value, element=element)
            key = value.key
            for place in value.places:
                key = _either(key, self._elements.get((place, "key")), self._sample)
            return DictValue(key, element, value.places)
        if isinstance(value, OptionalValue):
            return OptionalValue(self._current(value.element))
        return value

    # TorchScript's classes. -----------------------------------------------------------------------------------------

    def resolved(self, name: str) -> type | None:
        """Return the class of a name, which TorchScript knows; None if it is none."""
        kind = self._kinds.get(name)
        if kind is None:
            return declared_class(name)
        if name not in self._compiled:
            self._compiled[name] = self._made(kind, name)
        return self._compiled[name]

    def _made(self, kind: type, name: str) -> type:
        """Compile a class that has the attributes of another one.

        Raises:
            NotCompiledError: the type of an attribute is not known.
        """
        is_record, keys = record_keys(kind) is not None, self.later_keys(kind)
        later = [*map(attribute_name, keys)]
        lines, given = [], []
        for each in self._names(kind):
            value = self.attribute(kind, each)
            if not self.is_stored(kind, each):
                continue
            may_be_unset = self.may_be_unset(kind, each) or each in later
            value = OptionalValue(value) if may_be_unset and value is not None else value
            text = annotation(value)
            if text is None or value is None:
                raise NotCompiledError(f"{each}, an attribute of a {kind.__name__} of several types")
            text = text.replace("torch.Generator", "Generator")  # as TorchScript writes it in a class
            is_given = is_record and each not in later
            given += [f"{each}: {text}"] if is_given else []
            lines.append(f"    self.{each} = " + (each if is_given else f"annotate({text}, {self._default(value)})"))
        parameters = ", ".join(["self", *given])
        source = "\n".join([f"def __init__({parameters}):", *lines, "    pass"])
        # TorchScript finds a class that it has compiled by this name, and no other with it.
        copy = type(f"{name}_{next(_NUMBERS)}", (), {"__module__": kind.__module__})
        defaults: dict[str, dict[str, Any]] = {"__init__": {}}  # it does not end for methods that are not in it
        made = torch._C._jit_script_class_compile(
            _jit_internal._qualified_name(copy), _definition(source, name), defaults, self._meaning
        )
        jit_state._add_script_class(copy, made)
        jit_state._name_to_pyclass[made.qualified_name()] = growing_class(kind, tuple(keys)) if keys else kind
        return copy

    def _default(self, value: Value) -> str:
        """An expression for some value of a type: an object has all its attributes when it is made."""
        if isinstance(value, OptionalValue) or is_none(value):
            return "None"
        if isinstance(value, TensorValue):
            return "torch.zeros([])"
        if isinstance(value, Known):
            value = self._widened(value)
        if isinstance(value, Scalar):
            return _DEFAULTS.get(value.kind) or default_of(annotation(value)) or "torch.device('cpu')"
        if isinstance(value, (ListValue, DictValue)):
            return "[]" if isinstance(value, ListValue) else "{}"
        if isinstance(value, TupleValue):
            return f"({', '.join(map(self._default, value.elements))},)"
        if isinstance(value, ObjectValue) and value.name is not None:
            kind = value.kind
            keys = [each for each in map(attribute_name, record_keys(kind) or ()) if self.is_stored(kind, each)]
            return f"{value.name}({', '.join(self._default(self.attribute(kind, each) or UNKNOWN) for each in keys)})"
        if (
            isinstance(value, ObjectValue)
            and not hasattr(value.kind, "__post_init__")
            and annotation(value) is not None
        ):
            fields = [field_of(value.kind, each) for each in inspect.signature(value.kind).parameters]
            return f"{annotation(value)}({', '.join(map(self._default, fields))})"
        raise NotCompiledError("an attribute that TorchScript has no type for")

    def _meaning(self, name: str) -> Any:
        """What a name in a class means."""
        return {"annotate": torch.jit.annotate, "torch": torch}.get(name) or self.resolved(name)


def _kinds(value: Any, classes: Classes, seen: frozenset[type] = frozenset()) -> Iterator[type]:
    """The classes of the objects that a value may hold."""
    if isinstance(value, ObjectValue) and value.name is not None and value.kind not in seen:
        yield value.kind
        for name in classes._names(value.kind):
            yield from _kinds(classes.attribute(value.kind, name), classes, seen | {value.kind})
    for part in (getattr(value, "element", None), *getattr(value, "elements", ())):
        if part is not None:
            yield from _kinds(part, classes, seen)


def _either(a: Value | None, b: Value | None, sample: Callable[[torch.Tensor], Any]) -> Value | None:
    return None if a is None and b is None else joined(a, b, sample)


def _of_any_length(value: Value) -> Value:
    """A value without what may change in it unseen."""
    return dataclasses.replace(value, length=None, sample=None) if isinstance(value, ListValue) else value


def _definition(source: str, name: str) -> Any:
    """The definition of a class with one method, as TorchScript parses it."""
    context = SourceContext(source, "<ssa_compiler>", 0, 0, True, "__init__")  # type: ignore[no-untyped-call]
    method = frontend.build_def(context, ast.parse(source).body[0], None, "__init__", self_name=name)  # type: ignore[no-untyped-call]
    where = ast.parse(f"class {name}: pass").body[0]
    return frontend.build_class_def(context, where, [method], [], name, [])  # type: ignore[no-untyped-call]
