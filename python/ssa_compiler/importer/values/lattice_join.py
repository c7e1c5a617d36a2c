"""The join of two abstract values: what is known of a value that is one or the other."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Any

import torch

from ...errors import UnsupportedProgramError
from ..ir.emitter import DTYPE_NAMES
from . import chosen_members
from .chosen_strings import joinable
from .dict_items import Later, aligned, is_items, marked, merged, settled
from .dynamic_list_value import SCALAR_DTYPES, DynamicListValue, Element, LengthChanges, common_element
from .heap import DYNAMIC, EITHER
from .lattice import (
    KINDS,
    Abstract,
    AnyRef,
    AnyScalar,
    AnyTensor,
    Elements,
    Missing,
    NoneOr,
    Same,
    abstract,
    any_tensor,
    is_growing_abstract,
)
from .plan import REFERENCES
from .state import State
from .values import (
    EARLIER,
    NONE,
    SOME_STR,
    ChosenRef,
    ConstValue,
    DictRef,
    ListRef,
    MaybeAlias,
    ObjectRef,
    RuntimeStr,
    ScalarValue,
    Site,
    TensorValue,
    Uninitialized,
    Value,
    in_words,
)

__all__ = ["from_earlier_iterations", "join"]


def _earliest(questions: tuple[MaybeAlias, ...]) -> tuple[MaybeAlias, ...]:
    """One question for each op that asked it, as of its first time: another pass over a loop asks it again, later."""
    found: dict[Any, MaybeAlias] = {}
    for question in questions:
        key = (question.storages, question.op, question.location, question.retry)
        if key not in found or question.stamp < found[key].stamp:
            found[key] = question
    return tuple(found.values())


def _common_capacity(a: Elements, b: Elements, tensors: list[AnyTensor], rank: int, what: str) -> int | None:
    """The number of rows of a buffer that is made at a join; None if it is dynamic: a list of known length has as many
    rows there as elements.
    """
    if what != "if":
        return None
    sides = [side for side in (a, b) if not is_growing_abstract(side)]
    least = max(len(side.elements) for side in sides)
    if len(sides) == 2:
        return least
    growing = next(tensor for tensor in tensors if len(tensor.sizes) > rank)
    known = growing.sizes[0]
    return known if isinstance(known, int) and known >= least else None


def _join_lengths(state: State, a: Elements, b: Elements, what: str) -> Elements:
    """Join lists, or contents of lists, of different or unknown length: a buffer and a length.

    Raises:
        LengthChanges: their elements differ.
    """
    values: list[Value | Element] = []
    tensors: list[AnyTensor] = []
    lengths: list[Abstract] = []
    for side in (a, b):
        if is_growing_abstract(side):
            buffer, length = side.elements[0].elements  # type: ignore[attr-defined]
            tensor = buffer if isinstance(buffer, AnyTensor) else any_tensor(state, buffer.value)
            element = Element(KINDS[side.elements[0].type_name], tensor.dtype, tensor.device, tensor.sizes[1:])  # type: ignore[attr-defined]
            tensors.append(tensor)
            values.append(element)
            lengths.append(length)
            continue
        lengths.append(Same(ConstValue(len(side.elements))))
        for part in side.elements:
            if isinstance(part, AnyTensor):
                tensors.append(part)
                values.append(Element(torch.Tensor, part.dtype, part.device, part.sizes))
            elif isinstance(part, AnyScalar):
                values.append(Element(part.kind, SCALAR_DTYPES[part.kind], torch.device("cpu"), ()))
            else:
                value = part.value if isinstance(part, Same) else Uninitialized("element")
                values.append(value)
                if isinstance(value, TensorValue):
                    tensors.append(any_tensor(state, value))
    element = common_element(state, values)
    storages = frozenset().union(*(tensor.storages for tensor in tensors))
    maybe = _earliest(tuple(question for tensor in tensors for question in tensor.maybe))
    sizes = (_common_capacity(a, b, tensors, len(element.sizes), what), *element.sizes)
    buffer = AnyTensor(
        element.dtype, element.device, sizes, element.strides(), storages, maybe, None, 0, absolute=False
    )
    length = join(state, lengths[0], lengths[1], what)
    contents = Elements(DynamicListValue, (buffer, length), type_name=element.kind.__name__)
    return replace(a, elements=(contents,), keys=(), type_name=_class(a, b))


def _class(a: Elements, b: Elements) -> str:
    """The class of a list that is `a` or `b`, as `Heap.tuples` has it; what else they are has one name."""
    return a.type_name if a.kind is not list or a.type_name == b.type_name else EITHER


def _same(a: Value, b: Value) -> bool:
    if a is b:
        return True
    if isinstance(a, (TensorValue, ScalarValue)) and type(a) is type(b):
        return bool(a.ssa == b.ssa)
    if isinstance(a, ConstValue) and isinstance(b, ConstValue):
        if type(a.value) is not type(b.value):
            return False
        if isinstance(a.value, (float, complex)):
            return repr(a.value) == repr(b.value)  # 0.0 equals -0.0, and NaN nothing
        if isinstance(a.value, enum.Enum):  # which may say anything of what it equals
            return a.value is b.value
        return bool(a.value == b.value) or repr(a.value) == repr(b.value)
    if isinstance(a, (ListRef, DictRef)):
        return a == b
    if isinstance(a, ChosenRef) and isinstance(b, ChosenRef):
        return bool(a.number.ssa == b.number.ssa) and a.choices == b.choices
    return False


def _is_none(a: Abstract) -> bool:
    return isinstance(a, Same) and isinstance(a.value, ConstValue) and a.value.value is None


def _kind(a: Abstract) -> type | None:
    """The kind of a scalar leaf."""
    if isinstance(a, AnyScalar):
        return a.kind
    if isinstance(a, Same):
        if isinstance(a.value, ScalarValue):
            return a.value.kind
        if isinstance(a.value, ConstValue) and type(a.value.value) in (int, float, bool):
            return type(a.value.value)
    return None


def from_earlier_iterations(a: Abstract, loop: Site) -> Abstract:
    """Mark the storages that the loop at the path `loop` makes in each iteration: at its head they are older ones.

    What an iteration makes itself is never one of them, so that the two do not overlap.
    """

    def mark(storage: Site) -> Site:
        marked = storage[0] == EARLIER
        inside = storage[1] if marked else storage
        if len(inside) <= len(loop) or inside[: len(loop)] != loop:
            return storage
        return (EARLIER, loop, storage[2] if marked else storage)

    if isinstance(a, AnyTensor):
        return replace(a, storages=frozenset(map(mark, a.storages)))
    if isinstance(a, NoneOr):
        return NoneOr(from_earlier_iterations(a.value, loop))
    if isinstance(a, Elements):
        return replace(a, elements=tuple(from_earlier_iterations(element, loop) for element in a.elements))
    return a


def _describe(state: State, a: Abstract) -> str:
    if isinstance(a, AnyTensor) or (isinstance(a, Same) and isinstance(a.value, TensorValue)):
        tensor = a if isinstance(a, AnyTensor) else any_tensor(state, a.value)  # type: ignore[arg-type]
        sizes = ", ".join("?" if size is None else str(size) for size in tensor.sizes)
        return f"a {DTYPE_NAMES.get(tensor.dtype, tensor.dtype)} tensor of shape [{sizes}]"
    if isinstance(a, Same) and isinstance(a.value, ScalarValue):
        return f"a run-time {a.value.kind.__name__}"
    if isinstance(a, Same):
        return repr(a.value.value) if isinstance(a.value, ConstValue) else type(a.value).__name__
    if isinstance(a, AnyScalar):
        return f"a run-time {a.kind.__name__}"
    if isinstance(a, Elements) and chosen_members.is_members(a.kind):
        return f"a member of {a.kind.__name__}"
    if isinstance(a, Elements):
        return f"a {a.kind.__name__} of {len(a.elements)} elements"
    return "an unset variable"


def _choices(a: Abstract) -> tuple[ListRef | DictRef, ...]:
    """The lists, dicts or objects that a value may be; none if it is something else."""
    if isinstance(a, AnyRef):
        return a.choices
    if isinstance(a, Same) and isinstance(a.value, ChosenRef):
        return a.value.choices
    return (a.value,) if isinstance(a, Same) and isinstance(a.value, (ListRef, DictRef)) else ()


def _references(state: State, a: Abstract, b: Abstract) -> AnyRef | None:
    """The containers that two values may be, if all are from outside of both paths, and such ones may be changed."""
    sides = _choices(a), _choices(b)
    found = tuple(dict.fromkeys(sides[0] + sides[1]))
    if not all(sides) or REFERENCES not in state.plan.forms:
        return None
    return AnyRef(found) if all(each.cell in state.heap.contents for each in found) else None


def _opened(state: State, a: Abstract, heaps: dict[Site, tuple[Value, ...]]) -> Abstract:
    """Turn a reference to a list or dict into its elements."""
    if isinstance(a, Same) and isinstance(a.value, (ListRef, DictRef)):
        cell = a.value.cell
        state.heap.frozen.add(cell)
        if cell in state.heap.origins:  # there will be a copy of it
            state.heap.lost.add(state.heap.origins[cell].owner.cell)
            if state.heap.is_stale(cell, heaps):
                raise state.unsupported(
                    "a list in a list of dynamic length, which has changed since it was read, or another list, as control flow "
                    "decides; read it there"
                )
        elements = tuple(abstract(value) for value in heaps[cell])
        kind = list if isinstance(a.value, ListRef) else dict
        type_name = a.value.type_name if isinstance(a.value, ObjectRef) else ""
        type_name = state.heap.tuples.get(cell, type_name)
        found = state.heap.dict_classes.get(cell)
        fields = () if found is None else (found,)
        form = state.heap.forms.get(cell)
        if cell in state.heap.shared or (form is not None and form.objects):
            state.heap.note_join(cell, form.type_name if form is not None else type_name if kind is dict else "")
        own = (cell,) if cell in state.heap.unshared else ()
        if kind is dict:
            items = settled(heaps[cell])  # type: ignore[arg-type]
            return Elements(kind, tuple(map(abstract, items)), fields, type_name, marked(items), own, (cell,))
        keys = () if form is None else (replace(form, cell=None),)
        return Elements(kind, elements, fields, type_name, keys, own, (cell,))
    return a


def join(
    state: State,
    a: Abstract,
    b: Abstract,
    what: str,
    heap_a: dict[Site, tuple[Value, ...]] | None = None,
    heap_b: dict[Site, tuple[Value, ...]] | None = None,
) -> Abstract:
    """Combine what is known on two paths.

    Args:
        state: the interpretation; its scope and its heap are those outside of the paths.
        a: what is known on the first path.
        b: what is known on the second path.
        what: the construct, for messages: "if" or "loop".
        heap_a: contents of lists and dicts at the end of the first path.
        heap_b: the same of the second path.
    Raises:
        UnsupportedProgramError: the values cannot be one SSA value.
    """
    heap_a = state.heap.contents if heap_a is None else heap_a
    heap_b = state.heap.contents if heap_b is None else heap_b
    if isinstance(a, Same) and isinstance(b, Same) and _same(a.value, b.value):
        # What may be the very object that was detached is taken for it.
        renewed = [isinstance(side.value, TensorValue) and side.value.renewed for side in (a, b)]
        return b if renewed == [True, False] else a
    if isinstance(a, Missing) or isinstance(b, Missing):
        return _join_missing(state, *((b, heap_b) if isinstance(a, Missing) else (a, heap_a)))
    if any(isinstance(x, NoneOr) or _is_none(x) for x in (a, b)):
        inner = [x.value if isinstance(x, NoneOr) else Missing("None") if _is_none(x) else x for x in (a, b)]
        return NoneOr(join(state, inner[0], inner[1], what, heap_a, heap_b))
    if (references := _references(state, a, b)) is not None:
        return references
    if not state.plan.splits and (texts := joinable(state, a, b)) is not None:
        return _join_elements(state, *texts, what, heap_a, heap_b)
    if (members := chosen_members.joinable(a, b)) is not None:
        return _join_elements(state, *members, what, heap_a, heap_b)
    a, b = _opened(state, a, heap_a), _opened(state, b, heap_b)
    if isinstance(a, Elements) and isinstance(b, Elements):
        return _join_elements(state, a, b, what, heap_a, heap_b)
    kind_a, kind_b = _kind(a), _kind(b)
    if kind_a is not None and kind_a is kind_b:
        return AnyScalar(kind_a)
    if isinstance(a, Same) and isinstance(a.value, TensorValue):
        a = any_tensor(state, a.value)
    if isinstance(b, Same) and isinstance(b.value, TensorValue):
        b = any_tensor(state, b.value)
    if isinstance(a, AnyTensor) and isinstance(b, AnyTensor) and (joined := _join_tensors(a, b)) is not None:
        return joined
    if isinstance(a, Same) and isinstance(b, Same):
        if isinstance(a.value, (RuntimeStr, ConstValue)) and isinstance(b.value, (RuntimeStr, ConstValue)):
            if all(isinstance(getattr(v, "value", ""), str) for v in (a.value, b.value)) and not state.plan.splits:
                return Same(SOME_STR)
    chosen = next((each.value for each in (a, b) if isinstance(each, Same) and isinstance(each.value, ChosenRef)), None)
    if chosen is not None:
        raise _chosen_inside(state, chosen)
    numbers = {kind_a, kind_b} == {int, float}
    raise state.unsupported(
        f"a variable that is {_describe(state, a)} or {_describe(state, b)}, depending on {_a(what)} with run-time values; "
        + ("pass or assign a float from the start" if numbers else "make them alike with to() or reshape()")
    )


def _chosen_inside(state: State, value: Value) -> UnsupportedProgramError:
    return state.unsupported(
        f"{in_words(value)} of several that an if or loop with run-time values makes, used behind it; make them in front "
        "of it"
    )


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeio" else f"a {word}"


def _join_elements(
    state: State,
    a: Elements,
    b: Elements,
    what: str,
    heap_a: dict[Site, tuple[Value, ...]],
    heap_b: dict[Site, tuple[Value, ...]],
) -> Abstract:
    """Combine two containers element by element; see `join`."""
    cells = tuple(dict.fromkeys(a.cells + b.cells)) if a.cells and b.cells else ()
    sources = tuple(dict.fromkeys(a.sources + b.sources))
    a, b = (replace(side, cells=cells, sources=sources) for side in _with_all_keys(state, a, b, what))
    alike = is_growing_abstract(a) is is_growing_abstract(b)
    if alike and a.kind is b.kind and len(a.elements) == len(b.elements) and a.keys == b.keys:
        if a.kind is tuple and (a.fields, a.type_name) != (b.fields, b.type_name):
            raise state.unsupported(
                f"a tuple of one class or of another, depending on {_a(what)} with run-time values; unpack it first"
            )
        joined = tuple(join(state, x, y, what, heap_a, heap_b) for x, y in zip(a.elements, b.elements))
        fields = a.fields if a.fields == b.fields else (EITHER,)
        return replace(a, elements=joined, fields=fields, type_name=_class(a, b))
    if a.kind is b.kind and a.kind in (list, tuple):
        return _join_lengths(state, a, b, what)
    name = "a dict that changes its keys" if a.kind is dict else "a list that changes its length"
    raise LengthChanges(
        f"unsupported: {name} in {_a(what)} that depends on run-time values", location=state.locations.user()
    )


def _with_all_keys(state: State, a: Elements, b: Elements, what: str) -> tuple[Elements, Elements]:
    """Two dicts, or their contents, with the keys of both, of which some are missing in one.

    Raises:
        LengthChanges: these have no order.
        UnsupportedProgramError: None would mean two things.
    """
    is_dict = a.kind is b.kind is dict and not a.type_name and not b.type_name
    if not is_dict and not (a.kind is b.kind is tuple and is_items(a.type_name) and is_items(b.type_name)):
        return a, b
    sides = [side.keys if is_dict else side.fields for side in (a, b)]
    if sides[0] == sides[1]:
        return a, b
    keys = None if state.plan.splits or any(side is DYNAMIC for side in sides) else merged(*sides)
    if keys is None:
        text = f"a dict that changes its keys in {_a(what)} that depends on run-time values; set them in one order"
        raise LengthChanges(f"unsupported: {text}", location=state.locations.user())
    for element, key in (pair for side, own in zip((a, b), sides) for pair in zip(side.elements, own)):
        if Later(key) in keys and (isinstance(element, NoneOr) or _is_none(element)):
            raise state.unsupported(
                f"a dict that gets the key {key!r} in {_a(what)} that depends on run-time values, with an element that may be "
                "None; set it to None before"
            )
    first, second = (
        replace(
            side,
            elements=tuple(aligned(side.elements, own, keys, Same(NONE))),
            keys=keys if is_dict else side.keys,
            fields=side.fields if is_dict else keys,
        )
        for side, own in zip((a, b), sides)
    )
    return first, second


def _join_tensors(a: AnyTensor, b: AnyTensor) -> AnyTensor | None:
    """Combine two tensors; None if they differ in dtype, rank or device."""
    if a.dtype != b.dtype or len(a.sizes) != len(b.sizes) or a.device != b.device:
        return None
    sizes = tuple(x if x == y else None for x, y in zip(a.sizes, b.sizes))
    strides = a.strides if a.strides == b.strides else None
    maybe = _earliest(a.maybe + b.maybe)
    root = a.root if a.root is b.root else None
    offset = a.offset if a.offset == b.offset else None
    absolute = a.absolute and b.absolute and (root is not None or offset is not None)
    storages = a.storages | b.storages
    counts = a.narrow & b.narrow, a.nonempty & b.nonempty
    return AnyTensor(a.dtype, a.device, sizes, strides, storages, maybe, root, offset, absolute, *counts)


def _join_missing(state: State, other: Abstract, heap: dict[Site, tuple[Value, ...]]) -> Abstract:
    """What only one path has, as something that is passed: the other path passes a placeholder.

    Args:
        state: the interpretation; its heap is the one outside of the paths.
        other: what the path has.
        heap: contents of lists and dicts at the end of that path, which may have made them.
    """
    if isinstance(other, (Missing, AnyRef, AnyScalar, AnyTensor)):
        return other
    if (
        isinstance(other, Same)
        and isinstance(other.value, (ListRef, DictRef))
        and other.value.cell in state.heap.contents
    ):
        return other  # a list from outside of both paths
    other = _opened(state, other, heap)
    if isinstance(other, NoneOr):
        return NoneOr(_join_missing(state, other.value, heap))
    if isinstance(other, Elements):
        return replace(other, elements=tuple(_join_missing(state, e, heap) for e in other.elements))
    if isinstance(other, Same):
        if isinstance(other.value, TensorValue):
            return other if state.emitter.reaches(other.value.ssa) else any_tensor(state, other.value)
        if isinstance(other.value, ScalarValue):
            return AnyScalar(other.value.kind)
        if isinstance(other.value, ChosenRef):
            if all(each.cell in state.heap.contents for each in other.value.choices):
                return AnyRef(other.value.choices)
            raise _chosen_inside(state, other.value)
    # A constant, list or module that only one path has, as a tensor from outside of both: the other path never reads
    # it.
    return other
