"""Results of `@main`, and how the user's results are made of them."""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from ...abi.default_device import callers_default_device
from ...abi.enum_members import members_of
from ...abi.records import attribute_name, choice_numbers, is_ordered, later_keys, record_keys, sequence_kind
from ...abi.results import (
    OutputArgument,
    OutputChoice,
    OutputColumns,
    OutputConstant,
    OutputDict,
    OutputElements,
    OutputLeaf,
    OutputList,
    OutputObject,
    OutputOptional,
    OutputPairs,
    OutputParts,
    OutputRows,
    OutputSpec,
    OutputText,
    OutputTuple,
)
from ..containers.arenas import ROW, is_row
from ..containers.classes import Classes
from ..containers.containers import Containers
from ..containers.list_forms import MEMBERS, OPTIONAL
from ..ir.torchscript_enums import unnumbered
from ..tensors.tensor_ops import TensorOps
from ..torchscript.python_classes import python_class
from ..values.chosen_strings import ChosenStr, alternatives
from ..values.diagnostics import OtherForm
from ..values.plan import REFERENCES, AnotherPlan
from ..values.state import State
from ..values.values import (
    ChosenRef,
    ConstValue,
    DictRef,
    ListRef,
    MemberValue,
    ObjectRef,
    OptionalValue,
    RuntimeStr,
    ScalarValue,
    Site,
    TensorValue,
    TupleValue,
    Uninitialized,
    Value,
    in_words,
)

__all__ = ["Outputs"]


class Outputs:
    """Collects the results of `@main`.

    Attributes:
        values: the results so far.
        returned: the storages of tensors among them.
        tensors: the tensors of the program among them, as it has them.
        leaves: the tensors among them, and their place, by identity of the value.
    """

    def __init__(self, state: State, tensors: TensorOps, containers: Containers, classes: Classes) -> None:
        self._state, self._tensors, self._containers, self._classes = state, tensors, containers, classes
        self.values: list[Any] = []
        self.returned: set[Site] = set()
        self.tensors: list[TensorValue] = []
        self.leaves: dict[int, tuple[TensorValue, OutputLeaf]] = {}
        self._renewed: dict[int, OutputLeaf] = {}
        self._listed: set[Site] = set()
        self._alternatives: list[tuple[set[Site], bool]] = []
        self._specs: dict[Site, OutputSpec] = {}
        self._arenas: dict[str, OutputColumns] = {}

    def output(self, value: Value) -> OutputSpec:
        """Collect the results of `@main` from the user's result."""
        if isinstance(value, ConstValue):
            return OutputConstant(unnumbered(value.value))
        if isinstance(value, TensorValue):
            self._state.storages.use(value, "return")
            self.tensors.append(value)
            self.returned |= value.storages
            if id(value) in self._state.originals:  # the caller's object: it gets its new shape after the call
                return self.leaf(self._state.originals[id(value)][1].ssa, torch.Tensor)
            if not value.renewed:
                leaf = replace(self.leaf(value.ssa, torch.Tensor), device=self._elsewhere(value))
                self.leaves.setdefault(id(value), (value, leaf))
                return leaf
            if any(before.ssa == value.ssa for _, before in self._state.originals.values()):
                # It shows what the caller's object did, which has another shape now.
                return self.leaf(self._copy(value).ssa, torch.Tensor)
            if id(value) not in self._renewed:
                self._renewed[id(value)] = replace(self.leaf(value.ssa, torch.Tensor), renewed=True)
            return self._renewed[id(value)]
        if isinstance(value, ScalarValue):
            return self.leaf(value.ssa, value.kind)
        if isinstance(value, (DictRef, ListRef)):
            if value.cell not in self._specs:
                with self._containers.ragged_lists.nested.up_to_date([value]):
                    self._specs[value.cell] = self._container(value)
            return self._specs[value.cell]
        if isinstance(value, ChosenRef):
            number = self.leaf(value.number.ssa, int)
            items = [("number", number), *((str(n), self.output(each)) for n, each in enumerate(value.choices))]
            return OutputChoice(tuple(items), tuple(self._state.heap.number(each.cell) for each in value.choices))
        if isinstance(value, TupleValue):
            if is_row(value):
                return OutputElements(self._arena(value.type_name), self.output(value.elements[0]))
            return OutputTuple(tuple(self.output(e) for e in value.elements), value.fields, value.type_name)
        if isinstance(value, OptionalValue):
            return OutputOptional(self.leaf(value.present.ssa, bool), self.output(value.value))
        if isinstance(value, MemberValue):
            return _member(value.kind, self.output(value.number))
        if isinstance(value, RuntimeStr) and (text := self._text(value)) is not None:
            return text
        raise self._state.unsupported(
            f"a result that is {in_words(value)}; return tensors, numbers, strings known at import, or containers of them"
        )

    def _text(self, value: RuntimeStr) -> OutputText | None:
        """A string with values of the run in it; None if these are not known, or no numbers."""
        found = alternatives(self._state, value)
        pieces = [piece for _, text in found for piece in text.pieces if not isinstance(piece, str)]
        if not found or not all(isinstance(each, (ScalarValue, ConstValue, Uninitialized)) for _, each in pieces):
            return None
        which = self.output(value.parts[0]) if isinstance(value, ChosenStr) else OutputConstant(found[0][0])
        assert isinstance(which, (OutputLeaf, OutputConstant))
        texts = []
        for number, text in found:
            made = tuple(each if isinstance(each, str) else (each[0], self._put(each[1])) for each in text.pieces)
            texts.append((number, made))
        return OutputText(which, tuple(texts))

    def _put(self, value: Value) -> OutputSpec:
        """What is put into a string; nothing into one that no path has."""
        return OutputConstant(None) if isinstance(value, Uninitialized) else self.output(value)

    def _elsewhere(self, value: TensorValue) -> str:
        """Where eager has a tensor on the CPU, in a program that computes on a GPU: "cpu"; "" otherwise.

        Such a tensor meets none of the others in the program, for that raises. So it does not matter where it is.
        """
        if value.fake.device.type != "cpu":
            return ""
        owners = self._state.storages.owners.values()
        on_gpu = callers_default_device().type == "cuda" or any(owner.fake.device.type == "cuda" for owner in owners)
        return "cpu" if on_gpu else ""

    def _container(self, value: DictRef | ListRef) -> OutputSpec:
        """A list, dict or object, which has one spec however many places of the result it is in."""
        containers = self._containers
        self._check_shared(value)
        self._check_copy(value)
        if value.cell in self._state.heap.caller_owned:
            return OutputArgument(self._state.heap.caller_owned[value.cell].route)
        if path := self._state.heap.module_owned.get(value.cell):  # what is returned is the module's own object
            raise AnotherPlan.holding(path)
        if self._state.heap.has_dynamic_keys(value.cell):
            keys, found = map(self.output, self._state.heap.contents[value.cell])
            return OutputPairs(keys, found, **self._dict_class(value))
        if isinstance(value, DictRef):
            parts = self._parts(value)
            items = tuple(zip(map(unnumbered, self._state.heap.keys[value.cell]), parts))
            if isinstance(value, ObjectRef):
                return self._object(value, items)
            later = frozenset(map(unnumbered, self._state.heap.later_keys(value.cell)))
            return OutputDict(items, later=later, **self._dict_class(value))
        if value.cell in self._state.heap.views:
            kind = self._state.heap.views[value.cell].kind
            raise self._state.unsupported(f"{kind}() of a dict as a result; return list(d.{kind}())")
        if value.cell in self._state.heap.forms:
            form = self._state.heap.forms[value.cell]
            if form.parts:
                rows, *bounds = self._state.heap.contents[value.cell]
                held = containers.is_growing(rows)
                buffer = self._copy(self._state.heap.contents[rows.cell][0].buffer) if held else rows  # type: ignore[attr-defined]
                lists = tuple(map(self.output, (buffer, *bounds)))
                return OutputParts(lists, of_tensors=form.numbers is None)
            if form.fields == ROW:
                return OutputElements(
                    self._arena(form.type_name), self.output(self._state.heap.contents[value.cell][0])
                )
            columns = tuple(map(self.output, self._state.heap.contents[value.cell]))
            if form.objects:
                return self._objects(columns, form.fields, form.type_name)
            if form.fields == MEMBERS:
                assert form.numbers is not None
                return OutputColumns(columns, element=_member(form.numbers, OutputLeaf(0, int)))
            if form.fields == OPTIONAL:
                number = OutputOptional(OutputLeaf(0, bool), OutputLeaf(1, torch.Tensor))
                return OutputColumns(columns, element=number)
            return OutputColumns(columns, form.fields, form.type_name)
        if containers.is_growing(value):
            if containers.classes.is_tuple(value):
                raise self._state.unsupported("a tuple whose length is dynamic as a result; return list(...)")
            return self.rows(self._state.heap.contents[value.cell][0])
        elements = tuple(self.output(element) for element in containers.elements(value))
        return containers.classes.described(value, elements)

    def _parts(self, value: DictRef) -> list[OutputSpec]:
        """What a dict or object holds. Of an object that stands for a result of several types, the caller gets one
        part: these are not beside each other.
        """
        elements = self._state.heap.contents[value.cell]
        if not isinstance(value, ObjectRef) or choice_numbers(python_class(value.type_name)) is None:
            return [self.output(element) for element in elements]
        before, parts = (self._listed, self._alternatives), []
        listed, alternatives = before[0].copy(), before[1].copy()
        for element in elements:
            self._listed, self._alternatives = before[0].copy(), before[1].copy()
            parts.append(self.output(element))
            listed |= self._listed
            alternatives += self._alternatives[len(before[1]) :]
        self._listed, self._alternatives = listed, alternatives
        return parts

    def _objects(self, columns: tuple[OutputSpec, ...], fields: Sequence[str], type_name: str) -> OutputColumns:
        """A list of objects, of which each column has an attribute."""
        attributes = tuple((name, OutputLeaf(place, torch.Tensor)) for place, name in enumerate(fields))
        return OutputColumns(columns, element=self._object(ObjectRef((), type_name), attributes))

    def _arena(self, type_name: str) -> OutputColumns:
        """All objects of a class of which one may be in several places of the result."""
        if type_name not in self._arenas:  # an object has none of its own class: TorchScript has no such types
            columns = self._classes.arenas.columns(type_name)
            self._arenas[type_name] = self._objects(tuple(map(self.output, columns.values())), [*columns], type_name)
        return self._arenas[type_name]

    def _check_shared(self, value: DictRef | ListRef) -> None:
        """Reject objects and lists of numbers that may be one in eager in two places of the result, and are copies."""
        cell, heap = value.cell, self._state.heap
        shared = heap.sharing(cell) if cell in heap.shared else set()
        if cell in heap.shared.get(cell, ()) or self._listed & shared:
            form = heap.forms.get(cell)
            if isinstance(value, ListRef) and not (form is not None and form.objects):
                raise self._state.unsupported(
                    "a list of numbers that is in two places of the result, of which one is a list of dynamic length; "
                    "return list(...) of it"
                )
            raise self._state.unsupported(
                "an object that may be in two places of the result, of which one is in a list of dynamic length; return "
                "a copy of it"
            )
        self._listed.add(cell)

    def _check_copy(self, value: DictRef | ListRef) -> None:
        """Reject a copy of what control flow chose, if that may be in another place of the result.

        Raises:
            OtherForm: another import may find out which one it is.
        """
        heap = self._state.heap
        if isinstance(value, ListRef) and self._containers.classes.is_tuple(value):
            return  # nobody can change one
        found, is_copy = heap.may_be(value.cell), bool(heap.copies.get(value.cell))
        for others, copied in self._alternatives:
            if (is_copy or copied) and found & others:
                text = f"{in_words(value)} that an if or loop chose, beside what it may be in the result; return a copy of it"
                if REFERENCES in self._state.plan.forms:
                    raise self._state.unsupported(text)
                raise OtherForm(f"unsupported: {text}", self._state.locations.user(), REFERENCES)
        self._alternatives.append((found, is_copy))

    def _dict_class(self, value: DictRef | ListRef) -> dict[str, Any]:
        """The class of a dict, as `OutputDict` describes it."""
        found = self._state.heap.dict_classes.get(value.cell)
        if isinstance(found, tuple):
            return {"like": found}
        if found not in (None, OrderedDict):
            kind = found.__name__ if isinstance(found, type) else "dict in some runs and an OrderedDict in others"
            raise self._state.unsupported(f"a result that is a {kind}; return dict(...) of it")
        return {"ordered": found is OrderedDict}

    def _object(self, value: ObjectRef, items: tuple[tuple[str, OutputSpec], ...]) -> OutputSpec:
        kind = python_class(value.type_name)
        if kind is None:
            raise self._state.unsupported(
                f"a result of the class {value.short_name}, which Python does not know; return its attributes in a tuple"
            )
        if (numbers := choice_numbers(kind)) is not None:
            return OutputChoice(items, numbers)
        if (of := sequence_kind(kind)) is not None:
            elements = tuple(element for _, element in items)
            return OutputList(elements) if of is list else OutputTuple(elements)
        if (keys := record_keys(kind)) is not None:
            of_name = {attribute_name(key): key for key in (*keys, *later_keys(kind))}
            items = tuple((of_name[name], element) for name, element in items)
            return OutputDict(items, later=frozenset(later_keys(kind)), ordered=is_ordered(kind))
        return OutputObject(items, kind)

    def rows(self, value: Any) -> OutputSpec:
        """Collect the buffer and the length of a list whose length is dynamic."""
        if value.kind is torch.Tensor:
            self.tensors.append(value.buffer)
        buffer = self.output(self._copy(value.buffer))
        assert isinstance(buffer, OutputLeaf)
        return OutputRows(buffer, self.output(value.length), value.kind is torch.Tensor)

    def _copy(self, value: TensorValue) -> TensorValue:
        arguments: list[Value] = [value, ConstValue(None)]
        return self._tensors.call(torch.ops.aten.clone.default, arguments)[0]

    def leaf(self, ssa: Any, kind: type) -> OutputLeaf:
        """Return a value as a result of `@main`."""
        self.values.append(ssa)
        return OutputLeaf(len(self.values) - 1, kind)


def _member(kind: type[enum.Enum], number: OutputSpec) -> OutputChoice:
    """A member of an enum, by its number."""
    found = list(enumerate(members_of(kind)))
    items = [("number", number), *((str(place), OutputConstant(each)) for place, each in found)]
    return OutputChoice(tuple(items), tuple(place for place, _ in found))
