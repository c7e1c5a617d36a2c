"""Which lists are tuples in eager, and which cannot be changed.

TorchScript has no tuples of a length that types do not tell: the shape and strides of a tensor, and what `split` and
alike return, are lists to it, and it makes a list of a tuple that it computes with (`(1, n) * 2`).
"""

from __future__ import annotations

from typing import Any

from ...abi.results import TORCH_SIZE, OutputList, OutputSpec, OutputTuple
from ..values.diagnostics import OtherForm, ProgramRaises
from ..values.heap import EITHER, TUPLE, UNKNOWN
from ..values.plan import ARENA, REFERENCES, AnotherPlan, Form
from ..values.state import State
from ..values.values import ListRef, ObjectRef, TupleValue, Value, in_words

__all__ = ["LIST", "ListClasses"]

LIST = "list"
_NUMBERS = {"IntType": int, "FloatType": float, "BoolType": bool}


class ListClasses:
    """Notes and tells the classes of lists; what TorchScript calls a list is one in a scripted program."""

    def __init__(self, state: State) -> None:
        self._state = state

    def note(self, value: ListRef, name: str) -> ListRef:
        """Note that a list that was made is a `TUPLE` or a `TORCH_SIZE` in eager."""
        if not self._state.scripted:
            self._state.heap.tuples[value.cell] = name
        return value

    def of(self, value: Value) -> str:
        """Return the class of a list or tuple: `LIST`, `TUPLE` or `TORCH_SIZE`; "" for any other value.

        Raises:
            UnsupportedProgramError: run-time values decide it.
        """
        if isinstance(value, TupleValue):
            return TUPLE
        found = self._state.heap.tuples.get(value.cell, LIST) if isinstance(value, ListRef) else ""
        if found == EITHER:
            raise self._state.unsupported(
                "a list in some runs and a tuple in others, to TorchScript a list, where it matters which it is; "
                "make it list(...) in both"
            )
        return LIST if found == UNKNOWN else found

    def declare(self, made: ListRef, kind: Any) -> None:
        """Note what TorchScript says of a list of lists of numbers that is made."""
        inner = kind.getElementType()
        number = _NUMBERS.get(inner.getElementType().kind()) if inner.kind() == "ListType" else None
        if number is not None:
            self._state.heap.nested[made.cell] = number

    def is_tuple(self, value: Value) -> bool:
        """Whether a value is a tuple in eager."""
        return self.of(value) in (TUPLE, TORCH_SIZE)

    def differ(self, one: Value, other: Value) -> bool:
        """Whether one value is a list in eager and the other a tuple, where partial evaluation has not settled that."""
        if self._state.generated:
            return False
        return not (self._is_unknown(one) or self._is_unknown(other)) and self.is_tuple(one) is not self.is_tuple(other)

    def _is_unknown(self, value: Value) -> bool:
        return isinstance(value, ListRef) and self._state.heap.tuples.get(value.cell) == UNKNOWN

    def asked(self, value: Value) -> None:
        """Reject `isinstance(value, list)` or `isinstance(value, tuple)` where TorchScript answers it otherwise."""
        if isinstance(value, ListRef) and self.is_tuple(value):
            raise self._state.unsupported(
                "isinstance of what is a tuple to Python and a list to TorchScript; ask isinstance(x, (list, tuple))"
            )

    def made_of(self, made: ListRef, *sources: Value) -> ListRef:
        """Give a list the class that Python gives to a sum, multiple or slice: tuples and a shape make a shape.

        Raises:
            ProgramRaises: it is a sum of a tuple and a list.
        """
        names = [self.of(source) for source in sources if not self._is_unknown(source)]
        if names and LIST not in names:
            return self.note(made, TORCH_SIZE if TORCH_SIZE in names else TUPLE)
        if len(set(names)) > 1 and not self._state.generated:
            first, second = (LIST if name == LIST else TUPLE for name in names)
            raise ProgramRaises(f'TypeError: can only concatenate {first} (not "{second}") to {first}')
        return made

    def described(self, value: Value, elements: tuple[OutputSpec, ...]) -> OutputSpec:
        """Describe a list of known length, given what describes its elements."""
        name = self.of(value)
        if name == LIST:
            return OutputList(elements)
        return OutputTuple(elements, type_name=name if name == TORCH_SIZE else "")

    def changed(self, value: Any, op: str) -> ProgramRaises:
        """Return what Python raises where a tuple, or what shows a dict, is changed."""
        view = self._state.heap.views.get(value.cell)
        kind = f"dict_{view.kind}" if view is not None else self.of(value)
        if op in ("setitem", "del"):
            return ProgramRaises(f"TypeError: '{kind}' object does not support item assignment or deletion")
        return ProgramRaises(f"AttributeError: '{kind}' object has no attribute '{op}'")

    def check_changed(self, value: Any, op: str) -> None:
        """Reject the change of what has to stay as it is.

        Args:
            value: a list, dict or object.
            op: what changes it, for messages.
        Raises:
            ProgramRaises: it cannot be changed in Python.
            AnotherPlan: it has to be an argument, as it is a module's.
            UnsupportedProgramError: it is a scripted module's.
        """
        heap = self._state.heap
        if value.cell in heap.tuples or value.cell in heap.views:
            raise self.changed(value, op)
        if value.cell in heap.module_owned:
            if path := heap.module_owned[value.cell]:
                raise AnotherPlan.holding(path)
            raise self._state.unsupported(
                f"{op} on {in_words(value)} of a module that is scripted, or of another class than list and dict, or with "
                "other elements than tensors, numbers and strings; compile the unscripted module, or change a copy"
            )

    def check_known(self, value: Any, op: str) -> None:
        """Reject the change of what is a copy, as control flow decides what it is.

        Args:
            value, op: as of `check_changed`.
        Raises:
            OtherForm: it is one.
        """
        heap = self._state.heap
        if value.cell in heap.frozen:
            form = REFERENCES
            in_list = bool(heap.shared.get(value.cell))  # of dynamic length
            if isinstance(value, ObjectRef) and (in_list or REFERENCES in self._state.plan.forms):
                form = Form((ARENA, value.type_name), 0, tuple(map(str, heap.keys[value.cell])), value.type_name)
            raise OtherForm(
                f"unsupported: {op} on {in_words(value)} that an if or loop with run-time values chose or replaced; "
                "build a new one",
                self._state.locations.user(),
                form,
            )
