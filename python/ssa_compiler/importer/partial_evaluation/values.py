"""What is known of a value before the program runs: the object itself, or its type.

These are the abstract values of partial evaluation. A `Known` is a Python object that exists already: a module, a
function, a number of the configuration. Everything else is a type of TorchScript, with a sample where there is one.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Union, get_args, get_origin

import torch

from .declared_classes import declared_name, declared_types
from .enum_classes import is_enum

__all__ = [
    "ATTRIBUTE",
    "NEVER",
    "UNKNOWN",
    "Closure",
    "DictValue",
    "Known",
    "ListValue",
    "Never",
    "ObjectValue",
    "OptionalValue",
    "Scalar",
    "TensorValue",
    "TupleKey",
    "TupleValue",
    "UnionValue",
    "Unknown",
    "Value",
    "annotation",
    "elements_of",
    "field_of",
    "guards_of",
    "is_none",
    "is_something",
    "joined",
    "key_type",
    "type_value",
    "value_of",
    "widened",
]

ATTRIBUTE = "an attribute"
"""Stands, with its name, for the place of a list or dict that is an attribute of the model."""
_SCALARS = (bool, int, float, complex, str)
_WRITTEN = {torch.device: "torch.device", torch.dtype: "int", torch.Generator: "torch.Generator"}


class Value:
    """What is known of a value."""


@dataclass(frozen=True)
class Unknown(Value):
    """Nothing is known."""


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Never(Value):
    """A value that there is none of: of a variable that is not set, of an operation that raises."""


NEVER = Never()


@dataclass(frozen=True, eq=False)
class Known(Value):
    """An object that exists before the program runs.

    Attributes:
        object: the object.
        path: the attribute of the root module that it is, None if it is none.
        guards: the attributes of the root module that it was computed from: other values need another program.
        place: where None is an element of a tuple that is made, which may be something else in another tuple.
    """

    object: Any
    path: str | None = None
    guards: frozenset[str] = frozenset()
    place: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known) or type(self.object) is not type(other.object):
            return False
        plain = isinstance(self.object, (*_SCALARS, type(None)))
        return repr(self.object) == repr(other.object) if plain else self.object is other.object

    def __hash__(self) -> int:
        return hash(type(self.object))


@dataclass(frozen=True)
class TensorValue(Value):
    """A tensor.

    Attributes:
        dtype: None if it is not known.
        rank: None if it is not known.
        sample: a FakeTensor that it may look like, None if there is none.
    """

    dtype: torch.dtype | None = None
    rank: int | None = None
    sample: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Scalar(Value):
    """A bool, int, float, complex, str, torch.device, torch.dtype or torch.Generator, or a member of an enum.

    Attributes:
        kind: its class.
        hint: a value that it may have, None if there is none.
        key_of: where the dicts are made of which it is a key, read as they are gone through.
    """

    kind: type
    hint: Any = field(default=None, compare=False)
    key_of: frozenset[Any] = field(default=frozenset(), compare=False)


@dataclass(frozen=True)
class ListValue(Value):
    """A list.

    Attributes:
        element: what its elements are; None if nothing has been put into it.
        places: where the lists are made that it may be.
        is_tuple: whether Python has a tuple there.
        length: how many elements there are, None if that is dynamic.
        sample: a list of numbers that it may be, None if there is none.
    """

    element: Value | None
    places: frozenset[Any] = field(default=frozenset(), compare=False)
    is_tuple: bool = field(default=False, compare=False)
    length: int | None = None
    sample: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class TupleValue(Value):
    """A tuple, with what its elements are, their names if they have any, and its class if that is `named_tuples`'."""

    elements: tuple[Value, ...]
    names: tuple[str, ...] = field(default=(), compare=False)
    kind: type | None = None


@dataclass(frozen=True)
class TupleKey(TupleValue):
    """Tuples that are keys of a dict, see `tuple_keys`; no elements if they are not of one type that can be read."""


@dataclass(frozen=True)
class DictValue(Value):
    """A dict, as `ListValue`.

    Attributes:
        parts: what there is by keys that are known, of a dict that the program is passed and does not change.
    """

    key: Value | None
    element: Value | None
    places: frozenset[Any] = field(default=frozenset(), compare=False)
    parts: tuple[tuple[str, Value], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class OptionalValue(Value):
    """None, or an `element`."""

    element: Value


_NOTHING = OptionalValue(TensorValue())
"""What is known of None, where that is an example."""


@dataclass(frozen=True)
class UnionValue(Value):
    """A value of one of several types: what it is in each of TorchScript's variables that hold it, see `unions`."""

    parts: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class ObjectValue(Value):
    """An object that the program makes or is passed.

    Attributes:
        kind: its class.
        name: what its class is called in the program, see `Classes`; None for named tuples and other classes that
            TorchScript compiles as they are.
    """

    kind: type
    name: str | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Closure(Value):
    """A function that the program defines.

    Attributes:
        node: the `ast.FunctionDef` or `ast.Lambda`.
        scope: the function that defines it, or that called one which returned it.
        function: the Python function that has its source; None if that is the scope's.
    """

    node: Any
    scope: Any
    function: Any = None


def guards_of(value: Any) -> frozenset[str]:
    """Return the attributes of the root module that a value depends on."""
    if not isinstance(value, Known):
        return frozenset()
    path = None if isinstance(value.object, torch.nn.Module) else value.path
    return value.guards | ({path} if path is not None else frozenset())


def is_none(value: Value) -> bool:
    """Whether a value is None."""
    return isinstance(value, Known) and value.object is None


def is_something(value: Value) -> bool:
    """Whether a value is not None for sure."""
    return isinstance(value, (TensorValue, Scalar, ListValue, TupleValue, DictValue, ObjectValue, Closure)) or (
        isinstance(value, Known) and value.object is not None
    )


def value_of(thing: Any, sample: Callable[[torch.Tensor], Any]) -> Value:
    """Return the type of an example: what is known of it where another may be passed.

    Args:
        thing: an argument of a call, or an attribute.
        sample: makes a sample of a tensor.
    """
    if isinstance(thing, torch.Tensor):
        return TensorValue(thing.dtype, thing.dim(), sample(thing))
    if thing is None:
        return _NOTHING
    if isinstance(thing, torch.Generator):
        return Scalar(torch.Generator)
    if isinstance(thing, (*_SCALARS, torch.device, torch.dtype)) or is_enum(type(thing)):
        return Scalar(type(thing), thing)
    if isinstance(thing, torch.Size):
        return ListValue(Scalar(int), is_tuple=True, length=len(thing), sample=thing)
    if isinstance(thing, list):
        return ListValue(_common(value_of(part, sample) for part in thing))
    if isinstance(thing, tuple) and not hasattr(thing, "_fields"):
        return TupleValue(tuple(value_of(part, sample) for part in thing))
    if isinstance(thing, dict):
        keys, parts = _common(key_type(value_of(key, sample)) for key in thing), thing.values()
        return DictValue(keys, _common(value_of(part, sample) for part in parts))
    if isinstance(thing, tuple) or hasattr(type(thing), "__dataclass_fields__"):
        return ObjectValue(type(thing))
    return UNKNOWN


def field_of(kind: type, name: str) -> Value:
    """Return what is known of a field of a named tuple or dataclass: the type that it declares.

    Args:
        kind: the class.
        name: the field.
    """
    try:
        found = declared_types(kind) or {}
    except NameError:
        return UNKNOWN
    return type_value(found[name]) if name in found else UNKNOWN


def elements_of(value: Value) -> tuple[Value, ...] | None:
    """Return what is known of the elements of a tuple, None if it is none.

    Args:
        value: a tuple or a named tuple.
    """
    if isinstance(value, ObjectValue) and issubclass(value.kind, tuple):
        return tuple(field_of(value.kind, name) for name in getattr(value.kind, "_fields", ()))
    return value.elements if isinstance(value, TupleValue) else None


def type_value(kind: Any) -> Value:
    """Return what is known of a value of a type."""
    if kind is None or kind is torch.Tensor:  # what declares no type is a tensor to TorchScript
        return TensorValue()
    origin, parts = get_origin(kind), [type_value(each) for each in get_args(kind) if each is not type(None)]
    if origin in (Union, types.UnionType):
        return OptionalValue(parts[0]) if len(parts) == 1 else UNKNOWN
    if any(isinstance(each, Unknown) for each in parts):
        return UNKNOWN
    if origin is list:
        return ListValue(parts[0])
    if origin is dict:
        return DictValue(key_type(parts[0]), parts[1])
    if origin is tuple:
        return TupleValue(tuple(parts))
    if isinstance(kind, type) and (kind in (*_SCALARS, torch.Generator) or is_enum(kind)):
        return Scalar(kind)
    return ObjectValue(kind) if isinstance(kind, type) and declared_name(kind) is not None else UNKNOWN


def key_type(key: Value) -> Value:
    """Return what is known of the keys of a dict, given one."""
    if not isinstance(key, TupleValue) or isinstance(key, TupleKey):
        return key
    kinds = [type(part.object) if isinstance(part, Known) else getattr(part, "kind", None) for part in key.elements]
    can_be_read = key.kind is None and not key.names and all(kind in (bool, int, str) for kind in kinds)
    return TupleKey(tuple(map(Scalar, kinds)) if can_be_read else ())  # type: ignore[arg-type]


def widened(value: Value, sample: Callable[[torch.Tensor], Any]) -> Value:
    """Return what is known of a value where another of its type may stand: in a loop, or in an argument.

    Modules, functions and None stay what they are.
    """
    if not isinstance(value, Known) or value.object is None:
        return value
    general = value_of(value.object, sample)
    if value.path is not None and isinstance(general, (ListValue, DictValue)) and not isinstance(value.object, tuple):
        general = replace(general, places=frozenset([(ATTRIBUTE, value.path.rpartition(".")[2])]))
    return value if isinstance(general, Unknown) else general


def joined(a: Value | None, b: Value | None, sample: Callable[[torch.Tensor], Any]) -> Value:
    """Return what is known of a value that is one of two."""
    if a is None or b is None or isinstance(a, Never) or isinstance(b, Never):
        return (b if a is None or isinstance(a, Never) else a) or UNKNOWN
    if a == b and not isinstance(a, (ListValue, DictValue)):
        return a
    if is_none(a) or is_none(b):
        other = widened(b if is_none(a) else a, sample)
        return other if isinstance(other, (OptionalValue, Unknown)) or is_none(other) else OptionalValue(other)
    a, b = widened(a, sample), widened(b, sample)
    if isinstance(a, OptionalValue) or isinstance(b, OptionalValue):
        inner = [value.element if isinstance(value, OptionalValue) else value for value in (a, b)]
        both = joined(inner[0], inner[1], sample)
        return both if isinstance(both, (OptionalValue, Unknown)) else OptionalValue(both)
    if type(a) is not type(b):
        return UNKNOWN
    return _joined_alike(a, b, sample)


def _joined_alike(a: Value, b: Value, sample: Callable[[torch.Tensor], Any]) -> Value:
    """`joined`, of two values of one class."""
    if isinstance(a, TensorValue) and isinstance(b, TensorValue):
        dtype, rank = a.dtype if a.dtype == b.dtype else None, a.rank if a.rank == b.rank else None
        sample = b.sample if a.sample is None else a.sample
        return TensorValue(dtype, rank, sample if dtype is not None and rank is not None else None)
    if isinstance(a, ListValue) and isinstance(b, ListValue):
        length = a.length if a.length == b.length else None
        return ListValue(_either(a.element, b.element, sample), a.places | b.places, a.is_tuple or b.is_tuple, length)
    if isinstance(a, DictValue) and isinstance(b, DictValue):
        key, element = _either(a.key, b.key, sample), _either(a.element, b.element, sample)
        return DictValue(key, element, a.places | b.places)
    if isinstance(a, TupleKey) and isinstance(b, TupleKey):
        return a if a == b else TupleKey(())
    if isinstance(a, TupleValue) and isinstance(b, TupleValue) and len(a.elements) == len(b.elements):
        elements = tuple(joined(x, y, sample) for x, y in zip(a.elements, b.elements))
        if a.kind is not b.kind:
            return UNKNOWN
        return TupleValue(elements, a.names if a.names == b.names else (), a.kind)
    return a if a == b else UNKNOWN


def _either(a: Value | None, b: Value | None, sample: Callable[[torch.Tensor], Any]) -> Value | None:
    return None if a is None and b is None else joined(a, b, sample)


def _common(values: Iterable[Value]) -> Value | None:
    given = list(values)
    found: Value | None = None
    for value in given:
        found = found if value == _NOTHING else joined(found, value, lambda tensor: None)
    if _NOTHING in given:
        return _NOTHING if found is None else joined(found, Known(None), lambda tensor: None)
    return found


def annotation(value: Value | None) -> str | None:
    """Return the type of a value as TorchScript writes it, None if that is not known.

    Args:
        value: None stands for the elements of an empty list.
    """
    if value is None or isinstance(value, TensorValue):
        return "Tensor"
    if isinstance(value, Known):
        if value.object is None:
            return "Optional[Tensor]"
        general = value_of(value.object, lambda tensor: None)
        return annotation(general)
    if isinstance(value, Scalar) and is_enum(value.kind):
        return declared_name(value.kind)
    if isinstance(value, Scalar):
        return _WRITTEN.get(value.kind, value.kind.__name__)
    if isinstance(value, (ListValue, OptionalValue)):
        element = annotation(value.element)
        kind = "List" if isinstance(value, ListValue) else "Optional"
        return None if element is None else f"{kind}[{element}]"
    if isinstance(value, TupleValue) and value.kind is not None:
        return declared_name(value.kind)
    if isinstance(value, TupleValue):
        elements = [annotation(element) for element in value.elements]
        return None if None in elements else f"Tuple[{', '.join(filter(None, elements)) or '()'}]"
    if isinstance(value, DictValue):
        is_text = value.key is None or isinstance(value.key, TupleValue)  # see `tuple_keys`
        key, element = ("str" if is_text else annotation(value.key)), annotation(value.element)
        return None if key is None or element is None else f"Dict[{key}, {element}]"
    if isinstance(value, ObjectValue):
        return value.name or declared_name(value.kind)
    return None
