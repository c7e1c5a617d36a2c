"""Lists that have to be made in another form, as their length turns out to be dynamic: of tuples, or of tensors of
different lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

import torch

from ..values.chosen_members import kind_of
from ..values.diagnostics import OtherForm
from ..values.dict_items import Items
from ..values.dynamic_list_value import SCALAR_DTYPES, DynamicListValue, is_growing
from ..values.lattice import Abstract, Elements, Same, abstract
from ..values.plan import Form, forms_inside, inner_place
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    ObjectRef,
    OptionalValue,
    ScalarValue,
    Site,
    TensorValue,
    TupleValue,
    Value,
)

__all__ = [
    "DIFFERENT_LENGTHS",
    "MEMBERS",
    "OF_OPTIONALS",
    "OPTIONAL",
    "FormsNeeded",
    "ListContainers",
    "as_formed",
    "in_columns",
    "in_one_form",
    "in_parts",
    "is_nothing",
    "is_own",
    "number_kind",
    "only_has_form",
    "optional_kind",
]

OPTIONAL = ("is there", "value")
"""The fields of lists of numbers that may be None: whether there is one, and which it is."""

MEMBERS = ("which it is",)
"""The fields of lists of members of an enum: their numbers."""

OF_OPTIONALS = "a list whose length depends on run-time values, of numbers and None; keep a flag for each"

DIFFERENT_LENGTHS = (
    "a list whose length depends on run-time values, of tensors of different lengths; concatenate them in the loop, and "
    "keep their lengths"
)


Heap = Mapping[Site, tuple[Value, ...]]


class ListContainers(Protocol):
    """What lists in another form need of `containers.Containers`."""

    def is_growing(self, value: Value) -> bool: ...
    def elements(self, value: Value) -> tuple[Value, ...]: ...
    def new_list(self, elements: Sequence[Value]) -> ListRef: ...
    def new_dict(self, keys: Sequence[Any], elements: Sequence[Value]) -> DictRef: ...
    def store(self, value: Any, elements: Sequence[Value], op: str) -> None: ...
    def call(self, name: str, args: Sequence[Value]) -> list[Value]: ...


class FormsNeeded:
    """Several lists that have to be made in another form, so that all are told at once."""

    def __init__(self) -> None:
        self._found: list[OtherForm] = []

    @contextmanager
    def next(self) -> Iterator[None]:
        """Keep what one list is rejected for."""
        try:
            yield
        except OtherForm as rejection:
            self._found.append(rejection)

    def check(self) -> None:
        """Reject all of them, with the message of the first one.

        Raises:
            OtherForm: there are any.
        """
        if self._found:
            self._found[0].forms = tuple(form for rejection in self._found for form in rejection.forms)
            raise self._found[0]


def in_columns(state: State, cell: Site, elements: Sequence[Value], heap: Heap) -> None:
    """Reject a list of dynamic length that has tuples, objects or members of an enum in it, so that it is made in
    columns, if it can be.

    Args:
        state: the interpretation.
        cell: the list.
        elements: what it may hold.
        heap: the contents of lists and objects.
    Raises:
        OtherForm: it can.
    """
    if not is_own(state, cell):
        return
    if (kind := optional_kind(elements)) is not None:
        raise other_form(state, f"unsupported: {OF_OPTIONALS}", cell, Form(cell, 2, OPTIONAL, numbers=kind))
    kinds = {kind_of(element) for element in elements}
    if len(kinds) == 1 and (kind := kinds.pop()) is not None:
        text = f"unsupported: a list of members of {kind.__name__} whose length depends on run-time values; keep their values"
        raise other_form(state, text, cell, Form(cell, 1, MEMBERS, numbers=kind))
    first = next((element for element in elements if isinstance(element, (TupleValue, ObjectRef))), None)
    if first is None:
        return
    if isinstance(first, ObjectRef):
        contents = heap.get(first.cell)
        if not isinstance(contents, Items) or contents.later or not contents.keys:
            return
        form = Form(cell, len(contents.keys), tuple(map(str, contents.keys)), first.type_name, objects=True)
    elif first.elements:
        form = Form(cell, len(first.elements), first.fields, first.type_name)
    else:
        return
    text = (
        f"unsupported: a list of {'objects' if form.objects else 'tuples'} whose length depends on run-time values; "
        "write the parts into lists of their own"
    )
    rejection = other_form(state, text, cell, form)
    inside = tuple(_forms_of_columns(state, form, cell, elements, heap))
    for made in rejection.forms:
        rejection.forms += forms_inside(inside, cell, made.cell)
    raise rejection


def _forms_of_columns(state: State, form: Form, cell: Site, elements: Sequence[Value], heap: Heap) -> Iterator[Form]:
    """The forms of the lists that a list in columns is made of, down to the last: each would take another import."""
    rows = [
        each.elements if isinstance(each, TupleValue) else heap.get(each.cell, ())
        for each in elements
        if isinstance(each, (TupleValue, ObjectRef))
    ]
    for place in range(form.columns):
        column, made = [row[place] for row in rows if len(row) == form.columns], (*inner_place(cell), place + 1)
        try:
            in_columns(state, made, column, heap)
            in_parts(state, made, column, heap)
        except OtherForm as needed:
            yield from needed.forms


def other_form(state: State, text: str, cell: Site, form: Form) -> OtherForm:
    """Return the rejection of a list or dict that has to be made in another form, as those that a join has made it of.

    Args:
        state: the interpretation.
        text: what is unsupported, if it cannot be.
        cell: the list or dict.
        form: the form.
    """
    rejection = OtherForm(text, state.locations.user(), form)
    rejection.forms = tuple(replace(form, cell=made) for made in state.heap.made_as(cell)) or (form,)
    return rejection


def optional_kind(elements: Sequence[Value]) -> type | None:
    """What the numbers are among elements of which some are, or may be, None: NoneType if all are; None if none is, or
    if there are others.

    Args:
        elements: the elements, and contents of lists whose length is dynamic.
    """
    plain = [each.value if isinstance(each, OptionalValue) else each for each in elements]
    present = [each for each in plain if not is_nothing(each)]
    if len(present) == len(elements) and not any(isinstance(each, OptionalValue) for each in elements):
        return None
    kinds = {number_kind(each) for each in present}
    if elements and not present:
        return type(None)
    return next(iter(kinds)) if len(kinds) == 1 else None


def number_kind(value: Value) -> type | None:
    """What a number is, or those in a list whose length is dynamic, bool, int or float; None for anything else."""
    kind = value.kind if isinstance(value, (ScalarValue, DynamicListValue)) else type(getattr(value, "value", None))
    return kind if kind in (bool, int, float) else None


def is_nothing(value: Value) -> bool:
    """Whether a value is None."""
    return isinstance(value, ConstValue) and value.value is None


def in_one_form(state: State, a: Abstract, b: Abstract, heap_a: Heap, heap_b: Heap) -> None:
    """Reject what is one list or another, of which one is in another form, so that both are made in that form.

    Args:
        state: the interpretation.
        a: what is known of the value on one path.
        b: the same on another one.
        heap_a: the contents of lists and objects at the end of the first path.
        heap_b: the same of the second path.
    Raises:
        OtherForm: one of them can be made in the other's form, or both in another one.
    """
    parts_a, parts_b = _tuple_parts(a), _tuple_parts(b)
    if parts_a is not None and parts_b is not None:
        each_needed = FormsNeeded()
        for one, other in zip(parts_a, parts_b):
            with each_needed.next():
                in_one_form(state, one, other, heap_a, heap_b)
        each_needed.check()
        return
    sides = [_seen_list(state, a, heap_a), _seen_list(state, b, heap_b)]
    if sides[0] is None or sides[1] is None:
        return
    own = [side for side in sides if side is not None and side.cell is not None and is_own(state, side.cell)]
    form = next((side.form for side in sides if side is not None and side.form is not None), None)
    if form is not None and sides[0].form is not None and sides[1].form is not None:
        for one, other in zip(sides[0].elements, sides[1].elements):  # the lists that they are made of
            in_one_form(state, one, other, heap_a, heap_b)
    elif form is not None:
        for side in own:
            text = "unsupported: a list whose length depends on run-time values in some runs only; make it in one loop"
            assert side.cell is not None
            raise _formed_like(state, text, form, side.cell)
    elif len(own) == 2 and (len(own[0].values) != len(own[1].values) or any(is_growing(side.values) for side in own)):
        needed, values, heap = FormsNeeded(), [*own[0].values, *own[1].values], {**heap_a, **heap_b}
        for side in own:
            with needed.next():
                assert side.cell is not None
                in_columns(state, side.cell, values, heap)
                in_parts(state, side.cell, values, heap)
        needed.check()


def _tuple_parts(a: Abstract) -> tuple[Abstract, ...] | None:
    """What is known of the elements of a tuple; None for anything else."""
    if isinstance(a, Elements) and a.kind is tuple:
        return a.elements
    is_tuple = isinstance(a, Same) and isinstance(a.value, TupleValue)
    return tuple(map(abstract, a.value.elements)) if is_tuple else None  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _SeenList:
    """A list on one path.

    Attributes:
        cell: its cell; None for one that a join has opened.
        form: its form.
        elements: what is known of what it holds.
        values: what it holds; nothing for one that a join has opened.
    """

    cell: Site | None
    form: Form | None
    elements: tuple[Abstract, ...]
    values: tuple[Value, ...] = ()


def _seen_list(state: State, a: Abstract, heap: Heap) -> _SeenList | None:
    """What is known of a list; None for anything else."""
    if isinstance(a, Elements) and a.kind is list:
        return _SeenList(None, a.keys[0] if a.keys else None, a.elements)
    if isinstance(a, Same) and isinstance(a.value, ListRef) and a.value.cell in heap:
        values = heap[a.value.cell]
        return _SeenList(a.value.cell, state.heap.forms.get(a.value.cell), tuple(map(abstract, values)), tuple(values))
    return None


def in_parts(state: State, cell: Site, elements: Sequence[Value], heap: Heap | None = None) -> None:
    """Reject a list of dynamic length whose elements are tensors of different lengths, or lists of numbers, so that it
    is made in parts, if it can be.

    Args:
        state: the interpretation.
        cell: the list.
        elements: what it may hold.
        heap: the contents of lists, if they are others than the interpretation's now.
    Raises:
        OtherForm: it can.
    """
    kind = _numbers(state, cell, elements, state.heap.contents if heap is None else heap)
    if kind is not None and is_own(state, cell):
        text = "unsupported: a list whose length depends on run-time values, of lists; keep their elements in one list"
        raise other_form(state, text, cell, Form(cell, parts=True, numbers=kind))
    found = [_element(state, element) for element in elements]
    tensors = [each for each in found if each is not None and each[2]]
    if not found or len(tensors) != len(found) or not is_own(state, cell):
        return
    kinds = {(dtype, device, sizes[1:]) for dtype, device, sizes in tensors}
    lengths = {sizes[0] for _, _, sizes in tensors}
    if len(kinds) > 1 or any(None in sizes for _, _, sizes in kinds) or (len(lengths) == 1 and None not in lengths):
        return
    raise other_form(state, f"unsupported: {DIFFERENT_LENGTHS}", cell, Form(cell, parts=True))


def only_has_form(state: State, value: Value, other: Value) -> bool:
    """Whether a list is made in another form, and another value is not."""
    has_form = [getattr(each, "cell", ()) in state.heap.forms for each in (value, other)]
    return has_form == [True, False]


def as_formed(state: State, target: Site, other: Site, message: str) -> NoReturn:
    """Reject a list that gets the elements of one that is made in another form, so that it is made in that form too.

    Args:
        state: the interpretation.
        target: the list.
        other: the one in another form.
        message: what is unsupported, if it cannot be.
    Raises:
        OtherForm: it can.
        UnsupportedProgramError: it cannot.
    """
    if is_own(state, target):
        raise _formed_like(state, f"unsupported: {message}", state.heap.forms[other], target)
    raise state.unsupported(message)


def _formed_like(state: State, text: str, form: Form, cell: Site) -> OtherForm:
    """Return the rejection of a list that has to be made like another one, down to the lists that it is made of.

    Args:
        state: the interpretation.
        text: what is unsupported, if it cannot be.
        form: that of the other one.
        cell: the list.
    """
    rejection = other_form(state, text, cell, replace(form, cell=cell))
    for made in rejection.forms:
        rejection.forms += forms_inside(state.plan.forms, form.cell, made.cell)
    return rejection


def _numbers(state: State, cell: Site, elements: Sequence[Value], heap: Heap) -> type | None:
    """What the numbers are in the lists of numbers in a list; None if its elements are something else."""
    others = {*state.heap.tuples, *state.heap.views, *state.heap.forms}
    if not all(isinstance(each, ListRef) and each.cell in heap and each.cell not in others for each in elements):
        return None
    kinds: set[Any] = set()
    for part in (part for element in elements for part in heap[element.cell]):  # type: ignore[attr-defined]
        kind = part.kind if isinstance(part, (DynamicListValue, ScalarValue)) else type(getattr(part, "value", None))
        kinds.add(kind)
    if elements and not kinds:
        return state.heap.nested.get(cell)
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= SCALAR_DTYPES.keys() else None


def is_own(state: State, cell: Site) -> bool:
    """Whether a list is the program's own, in no other form yet."""
    heap = state.heap
    if cell in heap.caller_owned or cell in heap.module_owned or cell in heap.forms:
        return False
    return not (cell in heap.frozen or cell in heap.keys or cell in heap.tuples or cell in heap.views)


def _element(state: State, value: Value) -> tuple[torch.dtype, torch.device, tuple[Any, ...]] | None:
    """The dtype, device and sizes of an element, None for a size that cannot be computed in the current scope; None if
    the element is no tensor.
    """
    if isinstance(value, DynamicListValue) and value.kind is torch.Tensor:
        fake, shape = value.buffer.fake, value.buffer.fake.shape[1:]
    elif isinstance(value, TensorValue):
        fake, shape = value.fake, value.fake.shape
    else:
        return None
    sizes = [expr_of(size) for size in shape]
    return fake.dtype, fake.device, tuple(expr if state.emitter.visible(expr) else None for expr in sizes)
