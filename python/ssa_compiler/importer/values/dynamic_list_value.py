"""Lists whose length is dynamic: one tensor that holds the elements as its rows, and how many there are.

A list holds tensors, not copies of them. So each op that puts an element into the buffer says in its schema that the
result may alias the buffer and the element: TensorSSA conversion then accepts the copy only where nobody can tell, as
for `reshape` (docs/Rationale/TensorSSA.md). An element that is read is a view of the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch_mlir import ir

from ...errors import UnsupportedProgramError
from ..ir.emitter import DTYPE_NAMES, DTYPE_NUMBERS
from .state import State
from .symbols import expr_of
from .values import ConstValue, ScalarValue, TensorValue, Value

__all__ = [
    "SCALAR_DTYPES",
    "DynamicListValue",
    "Element",
    "LengthChanges",
    "capacity_of",
    "common_element",
    "enlarged",
    "flipped",
    "is_growing",
    "is_scalar",
    "promote",
    "put",
    "put_rows",
    "rolled",
]

SCALAR_DTYPES = {int: torch.int64, float: torch.float64, bool: torch.bool}
"""What holds the elements of a list of numbers."""

_HOLDS = "a list whose length depends on run-time values"
_PUT = "aliasing::aten.select_scatter(Tensor(a) self, Tensor(a) src, int dim, SymInt index) -> Tensor(a)"
_PUT_ROWS = (
    "aliasing::aten.slice_scatter(Tensor(a) self, Tensor(a) src, int dim=0, SymInt? start=None, SymInt? end=None, "
    "SymInt step=1) -> Tensor(a)"
)
_FLIP = "aliasing::aten.flip(Tensor(a) self, int[] dims) -> Tensor(a)"
_ROLL = "aliasing::aten.roll(Tensor(a) self, SymInt[1] shifts, int[1] dims=[]) -> Tensor(a)"


class LengthChanges(UnsupportedProgramError):
    """A list or dict has one length on one path and another on the other, and cannot be a buffer.

    Attributes:
        slices: slices of one element, `x[k : k + 1]`, of which it would help to know that they are not empty.
    """

    slices: frozenset[Any] = frozenset()


@dataclass(frozen=True)
class Element:
    """What the elements of a list have in common.

    Attributes:
        kind: torch.Tensor, int, float or bool.
        dtype: dtype of the buffer.
        device: device of the tensors.
        sizes: sizes of each tensor, ints or expressions; () for numbers.
    """

    kind: type
    dtype: torch.dtype
    device: torch.device
    sizes: tuple[Any, ...]

    def strides(self) -> tuple[Any, ...]:
        """Return the strides of a buffer of such elements, in elements."""
        strides: list[Any] = [sympy.Integer(1)]
        for size in reversed(self.sizes):
            strides.insert(0, strides[0] * sympy.sympify(size))
        return tuple(int(stride) if stride.is_Integer else stride for stride in strides)


@dataclass(eq=False)
class DynamicListValue(Value):
    """The only entry of the heap cell of a list whose length is dynamic.

    Attributes:
        buffer: a tensor [capacity, *sizes of an element].
        length: how many rows are elements, an int.
        kind: what an element is: torch.Tensor, int, float or bool.
    """

    buffer: TensorValue
    length: Value
    kind: type


def is_growing(contents: Sequence[Value]) -> bool:
    """Whether the contents of a heap cell are those of a list whose length is dynamic."""
    return len(contents) == 1 and isinstance(contents[0], DynamicListValue)


def capacity_of(value: DynamicListValue) -> Any:
    """Return the number of rows of the buffer, an expression."""
    return expr_of(value.buffer.fake.shape[0])


def _sizes(state: State, fake: torch.Tensor, skip: int = 0) -> tuple[Any, ...] | None:
    """The sizes as ints and expressions; None if one cannot be computed in the current scope."""
    found = []
    for size in fake.shape[skip:]:
        expr = expr_of(size)
        if not state.emitter.visible(expr):
            return None
        found.append(int(expr) if expr.is_Integer else expr)
    return tuple(found)


def _element(state: State, value: Value | Element) -> Element:
    if isinstance(value, Element):
        if None not in value.sizes:
            return value
    elif isinstance(value, DynamicListValue):
        sizes = _sizes(state, value.buffer.fake, skip=1)
        fake = value.buffer.fake
        if sizes is not None:
            return Element(value.kind, fake.dtype, fake.device, sizes)
    elif isinstance(value, TensorValue):
        sizes = _sizes(state, value.fake)
        if sizes is not None:
            return Element(torch.Tensor, value.fake.dtype, value.fake.device, sizes)
    else:
        kind = value.kind if isinstance(value, ScalarValue) else type(getattr(value, "value", None))
        if kind in SCALAR_DTYPES:
            return Element(kind, SCALAR_DTYPES[kind], torch.device("cpu"), ())
        raise _rejected(state, "it may hold tensors and numbers only")
    rejection = _rejected(state, "the shape of its elements depends on values made in there")
    if isinstance(value, (DynamicListValue, TensorValue)):
        tensor = value if isinstance(value, TensorValue) else value.buffer
        rejection.slices = frozenset().union(
            *(state.symbols.slices.get(expr_of(size), ()) for size in tensor.fake.shape)
        )
    raise rejection


def _rejected(state: State, reason: str) -> LengthChanges:
    return LengthChanges(
        f"unsupported: {_HOLDS}: {reason}; write the elements into a tensor that is made before",
        location=state.locations.user(),
    )


def common_element(state: State, values: Sequence[Value | Element]) -> Element:
    """Return what values that share a list have in common.

    Args:
        state: the interpretation; sizes have to be known in its current scope.
        values: elements, contents of lists whose length is dynamic, and what is known of either.
    Raises:
        LengthChanges: they cannot be rows of one buffer.
    """
    found = [_element(state, value) for value in values]
    if not found:
        raise _rejected(state, "nothing is known about its elements")
    for other in found[1:]:
        if other != found[0]:
            raise _rejected(state, f"its elements differ: {_describe(found[0])} and {_describe(other)}")
    return found[0]


def _describe(element: Element) -> str:
    if element.kind is not torch.Tensor:
        return element.kind.__name__
    return f"{DTYPE_NAMES.get(element.dtype, element.dtype)} of shape [{', '.join(map(str, element.sizes))}]"


def promote(
    state: State, contents: Sequence[Value], element: Element, capacity: Any = None, kept: Any = None
) -> DynamicListValue:
    """Emit a buffer with the elements of a list.

    Args:
        state: the interpretation.
        contents: the elements.
        element: what they, and those that will be added, have in common.
        capacity: number of rows, an int or expression, at least the number of elements; None for just enough.
        kept: unused rows to leave if `capacity` is None.
    """
    rows = max(len(contents), kept or 0) if capacity is None else capacity
    buffer = _zeros(state, element, rows)
    for position, value in enumerate(contents):
        buffer = put(state, DynamicListValue(buffer, ConstValue(0), element.kind), value, ConstValue(position))
    return DynamicListValue(buffer, ConstValue(len(contents)), element.kind)


def _fake(state: State, element: Element, rows: Any) -> torch.Tensor:
    sizes = [state.symbols.to_symint(size) for size in (sympy.sympify(rows), *map(sympy.sympify, element.sizes))]
    strides = [state.symbols.to_symint(sympy.sympify(stride)) for stride in element.strides()]
    with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
        return torch.empty_strided(sizes, strides, dtype=element.dtype, device=element.device)


def _zeros(state: State, element: Element, rows: Any) -> TensorValue:
    emitter = state.emitter
    none = emitter.constant(None)
    fake = _fake(state, element, rows)
    shape = emitter.list_of("int", [emitter.expression(expr_of(size)) for size in fake.shape])
    operands = [shape, emitter.constant(DTYPE_NUMBERS[element.dtype]), none, none, none]
    ssa = emitter.torch_op(torch.ops.aten.zeros.default._schema, [state.type_of(fake)], operands).results[0]
    return _holding(state, ssa, fake, [])


def _holding(state: State, ssa: Any, fake: torch.Tensor, held: Sequence[TensorValue]) -> TensorValue:
    """A tensor that may be any of `held`: at no offset that is known."""
    own = state.site()
    if any(_has_other_strides(value.fake) for value in held):
        state.layouts.held.add(own)
    storages = frozenset([own]).union(*(value.storages for value in held))
    maybe = tuple(dict.fromkeys(question for value in held for question in value.maybe))
    return TensorValue(ssa, fake, storages, object(), sympy.Integer(0), maybe, absolute=False, chosen=True)


def _has_other_strides(fake: torch.Tensor) -> bool:
    """Whether a tensor has other strides than a contiguous one."""
    expected = sympy.Integer(1)
    for size, stride in zip(map(expr_of, reversed(fake.shape)), map(expr_of, reversed(fake.stride()))):
        if size != 1 and stride != expected:
            return True
        expected *= size
    return False


def _emit(state: State, schema: str, fake: torch.Tensor, operands: Sequence[Any]) -> Any:
    """Emit an op `aliasing::` PyTorch's op of that name: it may return an alias of an operand. Conversion removes
    it.
    """
    name = schema.partition("(")[0].replace("::", ".")
    attributes = {
        "name": ir.StringAttr.get(f"torch.{name}"),
        "tssa.schema": ir.StringAttr.get(schema),
        "tssa.held_by": ir.StringAttr.get(_HOLDS),
    }
    return state.emitter.op("torch.operator", [state.type_of(fake)], operands, attributes).result


def _row(state: State, value: Value, element: Element) -> TensorValue:
    """An element as a tensor."""
    if isinstance(value, TensorValue):
        state.storages.use(value, "append")
        return value
    emitter = state.emitter
    if isinstance(value, ScalarValue):
        ssa = emitter.scalar_op("aten.Int.bool", int, [value.ssa]) if value.kind is bool else value.ssa
    else:
        number = value.value  # type: ignore[attr-defined]
        ssa = emitter.constant(int(number) if element.kind is bool else number)
    none = emitter.constant(None)
    operands = [emitter.list_of("int", []), ssa, emitter.constant(DTYPE_NUMBERS[element.dtype]), none, none, none]
    schema = torch.ops.aten.full.default._schema
    made = emitter.torch_op(schema, [emitter.tensor_type(element.dtype, ())], operands).results[0]
    with state.symbols.mode, torch.no_grad():
        return state.fresh(made, torch.empty((), dtype=element.dtype))


def put(state: State, target: DynamicListValue, value: Value, position: Value) -> TensorValue:
    """Emit the buffer with an element in the row `position`, which has to exist.

    Raises:
        LengthChanges: the element differs from the others.
    """
    element = common_element(state, [target, value])
    row = _row(state, value, element)
    if isinstance(value, TensorValue):
        value.merged = True
    emitter, buffer = state.emitter, target.buffer
    index = position.ssa if isinstance(position, ScalarValue) else emitter.constant(position.value)  # type: ignore[attr-defined]
    fake = _fake(state, element, capacity_of(target))
    ssa = _emit(state, _PUT, fake, [buffer.ssa, row.ssa, emitter.constant(0), index])
    return _holding(state, ssa, fake, [buffer, row])


def enlarged(state: State, target: DynamicListValue, rows: Any) -> TensorValue:
    """Emit the buffer with more rows; `rows` is an expression, at least the number that it has."""
    element = common_element(state, [target])
    wider = DynamicListValue(_zeros(state, element, rows), ConstValue(0), target.kind)
    return put_rows(state, wider, target.buffer, sympy.Integer(0), capacity_of(target))


def put_rows(state: State, target: DynamicListValue, rows: TensorValue, start: Any, end: Any) -> TensorValue:
    """Emit the buffer with other rows from `start` up to `end`, expressions; they have to exist."""
    emitter, buffer = state.emitter, target.buffer
    bounds = [emitter.expression(start), emitter.expression(end)]
    operands = [buffer.ssa, rows.ssa, emitter.constant(0), *bounds, emitter.constant(1)]
    fake = _fake(state, common_element(state, [target]), capacity_of(target))
    return _holding(state, _emit(state, _PUT_ROWS, fake, operands), fake, [buffer, rows])


def flipped(state: State, rows: TensorValue) -> TensorValue:
    """Emit rows in reverse order."""
    dims = state.emitter.list_of("int", [state.emitter.constant(0)])
    return _holding(state, _emit(state, _FLIP, rows.fake, [rows.ssa, dims]), rows.fake, [rows])


def rolled(state: State, target: DynamicListValue, shift: int) -> TensorValue:
    """Emit the buffer with each row `shift` places further, those at the end coming first."""
    emitter, buffer = state.emitter, target.buffer
    operands = [
        buffer.ssa,
        *(emitter.list_of("int", [emitter.constant(number)]) for number in (shift, 0)),
    ]
    ssa = _emit(state, _ROLL, buffer.fake, operands)
    return _holding(state, ssa, _fake(state, common_element(state, [target]), capacity_of(target)), [buffer])


def is_scalar(value: Value) -> bool:
    """Whether a value is a number or a bool that a list of dynamic length may hold."""
    kind = value.kind if isinstance(value, ScalarValue) else type(getattr(value, "value", None))
    return kind in SCALAR_DTYPES
