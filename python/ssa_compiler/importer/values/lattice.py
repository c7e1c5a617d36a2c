"""What is known about values where control flow meets: the abstract domain of `join`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy
import torch

from .dict_items import Later
from .dynamic_list_value import SCALAR_DTYPES, DynamicListValue
from .state import State
from .symbols import expr_of
from .values import (
    DictRef,
    ListRef,
    MaybeAlias,
    MemberValue,
    OptionalValue,
    RuntimeStr,
    Site,
    TensorValue,
    TupleValue,
    Uninitialized,
    Value,
)

__all__ = [
    "KINDS",
    "Abstract",
    "AnyRef",
    "AnyScalar",
    "AnyTensor",
    "Elements",
    "Missing",
    "NoneOr",
    "Same",
    "abstract",
    "any_tensor",
    "has_later_keys",
    "is_growing_abstract",
]

KINDS = {kind.__name__: kind for kind in (torch.Tensor, *SCALAR_DTYPES)}
"""What the elements of a list of unknown length can be."""


class Abstract:
    """Base: what is known about a value at a join."""


@dataclass(frozen=True)
class Same(Abstract):
    """The very same value on every path; nothing is passed."""

    value: Value


@dataclass(frozen=True)
class AnyScalar(Abstract):
    """A scalar of this kind."""

    kind: type


@dataclass(frozen=True)
class AnyRef(Abstract):
    """One of several lists, dicts or objects; which is passed as an int (`Heap.number`)."""

    choices: tuple[ListRef | DictRef, ...]


@dataclass(frozen=True)
class AnyTensor(Abstract):
    """A tensor; sizes and strides are int or sympy expressions, None where unknown; `strides` None if all unknown.

    A view of one root on every path keeps its root; its storage offset is passed along (`carries_offset`) if it
    differs. So are strides that differ (`carries_strides`): offsets of further views are computed from them. `narrow`
    are the dimensions along which there is at most one element, `nonempty` those along which there is at least one.
    """

    dtype: torch.dtype
    device: torch.device
    sizes: tuple[Any, ...]
    strides: tuple[Any, ...] | None
    storages: frozenset[Site]
    maybe: tuple[MaybeAlias, ...]
    root: Any
    offset: Any
    absolute: bool
    narrow: frozenset[int] = frozenset()
    nonempty: frozenset[int] = frozenset()

    @property
    def carries_offset(self) -> bool:
        """Whether the storage offset is passed as an int of its own."""
        return self.root is not None and self.offset is None

    @property
    def carries_strides(self) -> bool:
        """Whether the strides are passed as ints of their own."""
        return self.strides is None

    @property
    def carried(self) -> int:
        """How many ints are passed along."""
        return self.carries_offset + (len(self.sizes) if self.carries_strides else 0)


@dataclass(frozen=True)
class Elements(Abstract):
    """A tuple, list or dict whose elements are joined one by one.

    The contents of a list whose length is dynamic are one element of kind `DynamicListValue`, whose own
    elements are the buffer and the length, and whose `type_name` is the kind of the list's elements. A dict of another
    class than dict has that as its field (`Heap.dict_classes`). `cells` are the containers that a join makes one of, if
    nothing else has them; if they are empty, it makes a copy of one of `sources`.
    """

    kind: type
    elements: tuple[Abstract, ...]
    fields: tuple[Any, ...] = ()
    type_name: str = ""
    keys: tuple[Any, ...] = ()
    cells: tuple[Site, ...] = ()
    sources: tuple[Site, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class NoneOr(Abstract):
    """None or a value; whether it is None is passed as a bool before it."""

    value: Abstract


@dataclass(frozen=True)
class Missing(Abstract):
    """A variable that is not read."""

    kind: str


def _known(state: State, expr: Any) -> Any:
    """Keep an expression that can be computed in the current scope."""
    expr = expr_of(expr)
    if isinstance(expr, (int, sympy.Integer)):
        return int(expr)
    return expr if state.emitter.visible(expr) else None


def any_tensor(state: State, value: TensorValue) -> AnyTensor:
    """Return what is known about a tensor, as far as it can be computed in the current scope."""
    strides = tuple(_known(state, stride) for stride in value.fake.stride())
    sizes = tuple(_known(state, size) for size in value.fake.shape)
    known_strides = None if None in strides else strides
    fake, offset = value.fake, _known(state, value.offset)
    shape = list(enumerate(map(expr_of, fake.shape)))
    narrow = frozenset(dim for dim, size in shape if state.symbols.is_narrow(size))
    nonempty = frozenset(dim for dim, size in shape if state.symbols.bounds(size)[0] >= 1)
    return AnyTensor(
        fake.dtype,
        fake.device,
        sizes,
        known_strides,
        value.storages,
        value.maybe,
        value.root,
        offset,
        value.absolute,
        narrow,
        nonempty,
    )


def abstract(value: Value) -> Abstract:
    """Return what is known about one value: everything."""
    if isinstance(value, TupleValue):
        return Elements(tuple, tuple(abstract(e) for e in value.elements), value.fields, value.type_name)
    if isinstance(value, RuntimeStr) and (parts := getattr(value, "parts", ())):  # one of several, see `chosen_strings`
        return Elements(str, tuple(map(abstract, parts)), keys=getattr(value, "templates", ()))
    if isinstance(value, MemberValue):
        return Elements(value.kind, (abstract(value.number),))
    if isinstance(value, Uninitialized):
        return Missing(value.kind)
    if isinstance(value, OptionalValue):
        return NoneOr(abstract(value.value))
    if isinstance(value, DynamicListValue):
        return Elements(
            DynamicListValue, (abstract(value.buffer), abstract(value.length)), type_name=value.kind.__name__
        )
    return Same(value)


def has_later_keys(a: Abstract) -> bool:
    """Whether this is a dict, or its contents, of which run-time values decide what keys it has."""
    return isinstance(a, Elements) and any(isinstance(key, Later) for key in (*a.fields, *a.keys))


def is_growing_abstract(a: Abstract) -> bool:
    """Whether this is a list, or its contents, whose length is dynamic."""
    return (
        isinstance(a, Elements)
        and len(a.elements) == 1
        and isinstance(a.elements[0], Elements)
        and a.elements[0].kind is DynamicListValue
    )
