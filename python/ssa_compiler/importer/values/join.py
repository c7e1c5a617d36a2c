"""Joining abstract values where control flow meets: at the end of branches and at the head of loops.

An `Abstract` (`lattice`) says what is known about a value at such a point. `join` combines two; a leaf that differs
becomes something that has to be passed as an SSA value (`operand`), and `rebuild` makes the value from it. Joining only
ever loses knowledge, so that the fixed point at a loop head is reached after few passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sympy
import torch

from ..ir.emitter import DTYPE_NUMBERS
from .chosen_members import is_members, member, number_of
from .chosen_strings import rebuilt, text_parts
from .dict_items import aligned, is_items, marked, of_marked
from .dynamic_list_value import DynamicListValue, Element, is_growing, promote
from .fake_layout import made
from .lattice import KINDS, Abstract, AnyRef, AnyScalar, AnyTensor, Elements, Missing, NoneOr, Same, is_growing_abstract
from .state import State
from .symbols import expr_of
from .values import (
    ChosenRef,
    ConstValue,
    DictRef,
    ListRef,
    ObjectRef,
    OptionalValue,
    ScalarValue,
    Site,
    TensorValue,
    TupleValue,
    Uninitialized,
    Value,
)

__all__ = ["operands", "passed", "rebuild", "types"]


def passed(a: Abstract) -> Iterator[Abstract]:
    """Yield the leaves that are passed as SSA values, in order."""
    if isinstance(a, (AnyScalar, AnyTensor)):
        yield a
    elif isinstance(a, AnyRef):
        yield AnyScalar(int)
    elif isinstance(a, NoneOr):
        yield AnyScalar(bool)
        yield from passed(a.value)
    elif isinstance(a, Elements):
        for element in a.elements:
            yield from passed(element)


def types(state: State, a: Abstract) -> list[Any]:
    """Return the MLIR types of the passed leaves."""
    emitter, found = state.emitter, []
    for leaf in passed(a):
        if isinstance(leaf, AnyScalar):
            found.append(emitter.scalar_type(leaf.kind))
        elif isinstance(leaf, AnyTensor):
            found.append(emitter.tensor_type(leaf.dtype, leaf.sizes))
            found += [emitter.scalar_type(int)] * leaf.carried
    return found


def operands(state: State, value: Value, a: Abstract, heap: dict[Site, tuple[Value, ...]] | None = None) -> list[Any]:
    """Return the SSA values that pass `value` as `a`, with casts and placeholders made in the current scope."""
    heap = state.heap.contents if heap is None else heap
    emitter = state.emitter
    if isinstance(a, Elements):
        if isinstance(value, Uninitialized):
            parts: tuple[Value, ...] = (value,) * len(a.elements)
        else:
            parts = _parts_of(state, value, a, heap)
            parts = _with_later_keys(value, parts, a, heap)
            if is_growing_abstract(a) and not is_growing(parts):
                parts = (_promoted(state, parts, a),)
        return [ssa for part, element in zip(parts, a.elements) for ssa in operands(state, part, element, heap)]
    if isinstance(a, NoneOr):
        return _optional_operands(state, value, a, heap)
    if isinstance(a, AnyRef):
        if isinstance(value, ChosenRef):
            return [value.number.ssa]
        return [emitter.constant(state.heap.number(value.cell) if isinstance(value, (ListRef, DictRef)) else 0)]
    if isinstance(a, AnyScalar):
        if isinstance(value, ScalarValue):
            return [value.ssa]
        if isinstance(value, ConstValue):
            return [emitter.constant(value.value)]
        return [emitter.constant(0 if a.kind is torch.Generator else a.kind())]  # a placeholder
    if isinstance(a, AnyTensor):
        to = emitter.tensor_type(a.dtype, a.sizes)
        if isinstance(value, TensorValue):
            value.merged = True
            carried = [value.offset] if a.carries_offset else []
            carried += map(expr_of, value.fake.stride()) if a.carries_strides else []
            return [emitter.cast(value.ssa, to), *map(emitter.expression, carried)]
        return [_placeholder(state, a, to), *([emitter.constant(0)] * a.carried)]
    return []


def _parts_of(state: State, value: Value, a: Elements, heap: dict[Site, tuple[Value, ...]]) -> tuple[Value, ...]:
    """The parts of a value that is joined one by one."""
    if a.kind is str:
        return text_parts(state, value, a.keys)
    return (number_of(value),) if is_members(a.kind) else _parts(value, heap)


def _parts(value: Value, heap: dict[Site, tuple[Value, ...]]) -> tuple[Value, ...]:
    if isinstance(value, DynamicListValue):
        return (value.buffer, value.length)
    return value.elements if isinstance(value, TupleValue) else heap[value.cell]  # type: ignore[attr-defined]


def _with_later_keys(
    value: Value, parts: tuple[Value, ...], a: Elements, heap: dict[Site, tuple[Value, ...]]
) -> tuple[Value, ...]:
    """The elements of a dict, or of what stands for its contents, for all keys that it is passed with."""
    if a.kind is not dict and not is_items(a.type_name):
        return parts
    wanted = a.keys if a.kind is dict else a.fields
    found: Any = value
    own = found.fields if isinstance(value, TupleValue) else marked(heap[found.cell]) if a.kind is dict else ()  # type: ignore[arg-type]
    return parts if own == wanted else tuple(aligned(parts, own, wanted))


def _promoted(state: State, contents: tuple[Value, ...], a: Elements) -> DynamicListValue:
    """Emit a list of known length as one whose length is dynamic."""
    inner = a.elements[0]
    assert isinstance(inner, Elements)
    buffer = inner.elements[0]
    assert isinstance(buffer, AnyTensor)
    element = Element(KINDS[inner.type_name], buffer.dtype, buffer.device, buffer.sizes[1:])
    return promote(state, contents, element, buffer.sizes[0])


def _optional_operands(state: State, value: Value, a: NoneOr, heap: dict[Site, tuple[Value, ...]]) -> list[Any]:
    constant = state.emitter.constant
    if isinstance(value, OptionalValue):
        return [value.present.ssa, *operands(state, value.value, a.value, heap)]
    if isinstance(value, Uninitialized) or (isinstance(value, ConstValue) and value.value is None):
        return [constant(False), *operands(state, Uninitialized("None"), a.value, heap)]
    return [constant(True), *operands(state, value, a.value, heap)]


def _placeholder(state: State, a: AnyTensor, to: Any) -> Any:
    """A tensor that is never read."""
    emitter = state.emitter
    sizes = [size if isinstance(size, int) else 0 for size in a.sizes]
    none = emitter.constant(None)
    schema = torch.ops.aten.zeros.default._schema
    shape = emitter.list_of("int", [emitter.constant(size) for size in sizes])
    dtype = emitter.constant(DTYPE_NUMBERS[a.dtype])
    made = emitter.torch_op(schema, [emitter.tensor_type(a.dtype, sizes)], [shape, dtype, none, none, none]).results[0]
    return emitter.cast(made, to)


def rebuild(state: State, a: Abstract, next_ssa: Callable[[], Any]) -> Value:
    """Make the value after the join.

    Args:
        state: the interpretation; symbols of unknown sizes are defined in its current scope.
        a: the joined knowledge.
        next_ssa: returns the SSA values of the passed leaves, in order.
    """
    site = state.site()
    if isinstance(a, Same):
        return a.value
    if isinstance(a, Missing):
        return Uninitialized(a.kind)
    if isinstance(a, AnyScalar):
        return state.opaque_scalar(a.kind, next_ssa(), site)
    if isinstance(a, AnyRef):
        number = state.opaque_scalar(int, next_ssa(), site)
        assert isinstance(number, ScalarValue)
        return ChosenRef(number, a.choices)
    if isinstance(a, NoneOr):
        present = state.opaque_scalar(bool, next_ssa(), site)
        assert isinstance(present, ScalarValue)
        return OptionalValue(present, rebuild(state, a.value, next_ssa))
    if isinstance(a, Elements):
        return _rebuilt_elements(state, a, next_ssa, site)
    assert isinstance(a, AnyTensor)
    ssa = next_ssa()
    passed_offset = next_ssa() if a.carries_offset else None
    symbols = state.symbols

    def symbol(index: tuple[str, int], low: int = 0) -> Any:
        return symbols.integer((site, index), low=low)

    sizes = [
        symbol(("size", i), int(i in a.nonempty)) if size is None else symbols.to_symint(size)
        for i, size in enumerate(a.sizes)
    ]
    for dim in (dim for dim, size in enumerate(a.sizes) if size is None):
        # In an earlier pass over a loop this size may have been known to be 0 or 1.
        (symbols.at_most_one.add if dim in a.narrow else symbols.at_most_one.discard)(expr_of(sizes[dim]))
    if a.strides is None:
        strides = [symbol(("stride", i)) for i in range(len(sizes))]
        for stride in strides:
            state.emitter.define(expr_of(stride), partial(_found, next_ssa()))
    else:
        strides = [symbols.to_symint(stride) for stride in a.strides]
    fake = made(symbols, sizes, a.dtype, a.device, strides)
    state.define_sizes(ssa, fake)
    if a.root is None:
        start = sympy.sympify(a.offset) if a.absolute else sympy.Integer(0)
        return TensorValue(ssa, fake, a.storages, object(), start, a.maybe, absolute=a.absolute, chosen=True)
    offset = a.offset
    if a.carries_offset:
        offset = symbols.integer((site, "offset"), low=0).node.expr
        state.emitter.define(offset, lambda: passed_offset)
    start = sympy.sympify(offset)
    return TensorValue(ssa, fake, a.storages, a.root, start, a.maybe, absolute=a.absolute, chosen=True)


def _found(ssa: Any) -> Any:
    return ssa


def _rebuilt_elements(state: State, a: Elements, next_ssa: Callable[[], Any], site: Site) -> Value:
    if a.kind is DynamicListValue:
        return _rebuilt_growing(state, a, next_ssa)
    elements = tuple(rebuild(state, element, next_ssa) for element in a.elements)
    if a.kind is str:
        return rebuilt(state, elements, a.keys)
    if is_members(a.kind):
        return member(a.kind, elements[0])
    if a.kind is tuple:
        return TupleValue(elements, a.fields, a.type_name)
    return _rebuilt_container(state, a, site, elements)


def _rebuilt_container(state: State, a: Elements, site: Site, elements: tuple[Value, ...]) -> ListRef | DictRef:
    """The list, dict or object that control flow chose, or a copy of it."""
    state.heap.contents[site] = of_marked(elements, a.keys) if a.kind is dict else elements
    (state.heap.frozen.discard if a.cells else state.heap.frozen.add)(site)
    state.heap.joined[site] = a.cells
    state.heap.copies[site] = () if a.cells else a.sources
    if state.heap.shared and (a.kind is list or a.type_name):
        objects = [form.type_name for form in a.keys if form.objects] if a.kind is list else [a.type_name]
        state.heap.note_join(site, objects[0] if objects else "")
    if a.kind is dict:
        if a.fields:
            state.heap.dict_classes[site] = a.fields[0]
        return ObjectRef(site, a.type_name) if a.type_name else DictRef(site)
    if a.type_name:
        state.heap.tuples[site] = a.type_name
    if a.keys:
        (state.heap.forms[site],) = a.keys
    return ListRef(site)


def _rebuilt_growing(state: State, a: Elements, next_ssa: Callable[[], Any]) -> DynamicListValue:
    buffer = rebuild(state, a.elements[0], next_ssa)
    assert isinstance(buffer, TensorValue)
    site = state.site()
    if isinstance(a.elements[1], AnyScalar):
        length = state.scalar(int, next_ssa(), state.symbols.integer((site, "length"), low=0))
    else:
        length = rebuild(state, a.elements[1], next_ssa)
    return DynamicListValue(buffer, length, KINDS[a.type_name])
