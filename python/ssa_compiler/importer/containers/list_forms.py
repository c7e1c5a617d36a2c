"""Lists that have to be made in another form, as their length turns out to be dynamic: of tuples, or of tensors of
different lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from ..values.diagnostics import OtherForm
from ..values.dict_items import Items
from ..values.dynamic_list_value import SCALAR_DTYPES, DynamicListValue
from ..values.plan import Form
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import DictRef, ListRef, ObjectRef, ScalarValue, Site, TensorValue, TupleValue, Value

__all__ = ["DIFFERENT_LENGTHS", "FormsNeeded", "ListContainers", "in_columns", "in_parts", "is_own"]

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
            self._found[0].forms = tuple(rejection.form for rejection in self._found)
            raise self._found[0]


def in_columns(state: State, cell: Site, elements: Sequence[Value], heap: Heap) -> None:
    """Reject a list of dynamic length that has tuples or objects in it so that it is made in columns, if it can be.

    Args:
        state: the interpretation.
        cell: the list.
        elements: what it may hold.
        heap: the contents of lists and objects.
    Raises:
        OtherForm: it can.
    """
    first = next((element for element in elements if isinstance(element, (TupleValue, ObjectRef))), None)
    if first is None or not is_own(state, cell):
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
    raise OtherForm(text, state.locations.user(), form)


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
        raise OtherForm(text, state.locations.user(), Form(cell, parts=True, numbers=kind))
    found = [_element(state, element) for element in elements]
    tensors = [each for each in found if each is not None and each[2]]
    if not found or len(tensors) != len(found) or not is_own(state, cell):
        return
    kinds = {(dtype, device, sizes[1:]) for dtype, device, sizes in tensors}
    lengths = {sizes[0] for _, _, sizes in tensors}
    if len(kinds) > 1 or any(None in sizes for _, _, sizes in kinds) or (len(lengths) == 1 and None not in lengths):
        return
    raise OtherForm(f"unsupported: {DIFFERENT_LENGTHS}", state.locations.user(), Form(cell, parts=True))


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
