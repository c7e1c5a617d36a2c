"""What TorchScript knows of Python classes: named tuples, scripted classes (dataclasses too), enums, `isinstance`.

An object of a scripted class is a cell of the heap, like a dict whose keys are the attributes; its methods are inlined.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Sequence
from typing import Any

import torch

from ...abi.records import record_keys, sequence_kind
from ...abi.results import TORCH_SIZE
from ..ir.typed_tuples import plain_name
from ..torchscript.python_classes import python_class
from ..values.chosen_members import equal, same
from ..values.heap import TUPLE
from ..values.plan import AnotherPlan
from ..values.state import State
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    MemberValue,
    ObjectRef,
    OptionalValue,
    RuntimeStr,
    ScalarValue,
    TensorValue,
    TupleValue,
    Value,
)
from .arenas import Arenas, is_row
from .containers import Containers
from .list_classes import LIST

__all__ = [
    "Classes",
    "attribute_types",
    "compare_enums",
    "named_tuple_type",
    "tuple_class",
    "with_class",
]

_SCALARS = {"IntType": int, "FloatType": float, "BoolType": bool}
_ANY = {"AnyListType": (LIST,), "AnyTupleType": (TUPLE, TORCH_SIZE)}


class Classes:
    """Implements objects of scripted classes on the heap."""

    def __init__(self, state: State, containers: Containers) -> None:
        self.state, self.containers = state, containers
        self.arenas = Arenas(state, containers)

    def create(self, type_name: str) -> ObjectRef:
        """Make an object without attributes."""
        return ObjectRef(self.containers.new_dict((), ()).cell, type_name)

    def attribute(self, owner: ObjectRef | TupleValue, name: str) -> Value:
        """Return the value of an attribute."""
        if isinstance(owner, TupleValue):
            return self.arenas.attribute(owner, name)
        keys = self.state.heap.keys[owner.cell]
        if name not in keys:
            raise self.state.defect(f"the attribute '{name}' of a {owner.short_name} before it is set")
        return self.state.heap.contents[owner.cell][keys.index(name)]

    def assign(self, owner: ObjectRef | TupleValue, name: str, value: Value) -> None:
        """Set an attribute.

        Raises:
            UnsupportedProgramError: the object is not the program's own, or it depends on run-time values which it is.
        """
        if isinstance(owner, TupleValue):
            self.arenas.assign(owner, name, value)
        else:
            self.containers.set_attribute(owner, name, value)

    def method(self, owner: Value, kind: Any, name: str) -> tuple[str, Any]:
        """Return the qualified name and the un-inlined graph of a method.

        Args:
            owner: the object.
            kind: its TorchScript type.
            name: the method.
        Raises:
            AnotherPlan: it comes from a file.
        """
        qualified = f"{kind.annotation_str}.{name}"
        function = torch.jit._state._python_cu.find_function(qualified)
        if function is None or next(iter(function.graph.inputs())).type() != kind:
            raise AnotherPlan.inlining()
        return qualified, function.graph

    def is_instance(self, value: Value, types: Sequence[Any]) -> bool | None:
        """Whether a value is of one of these TorchScript types; None if that is not known at import."""
        answers = [self._fits(value, kind) for kind in types]
        if any(answers):
            return True
        return None if None in answers else False

    def _fits(self, value: Value, kind: Any) -> bool | None:
        name = kind.kind()
        if isinstance(value, OptionalValue):
            inner = self._fits(value.value, kind)
            return None if inner is not False or name == "NoneType" else False
        if name == "OptionalType":
            return self._fits(value, kind.getElementType()) or (isinstance(value, ConstValue) and value.value is None)
        if name == "UnionType":
            fits = [self._fits(value, part) for part in kind.containedTypes()]
            return True if True in fits else None if None in fits else False
        if name in _ANY:  # `list` and `tuple`, whatever is in them
            return self.containers.classes.of(value) in _ANY[name]
        if isinstance(value, TensorValue):
            return bool(name == "TensorType")
        if isinstance(value, ScalarValue):
            return _SCALARS.get(name) is value.kind
        if isinstance(value, RuntimeStr):
            return bool(name == "StringType")
        if isinstance(value, ConstValue):
            plain = {**_SCALARS, "StringType": str, "NoneType": type(None)}
            if name not in plain:
                return _is_enum(kind, value.value)
            return isinstance(value.value, plain[name]) and isinstance(value.value, bool) == (name == "BoolType")
        if isinstance(value, ObjectRef) or is_row(value):
            return bool(name == "ClassType" and kind.annotation_str.removeprefix("__torch__.") == value.type_name)
        if isinstance(value, TupleValue):
            if name != "TupleType" or len(kind.elements()) != len(value.elements):
                return False
            fits = [self._fits(element, part) for element, part in zip(value.elements, kind.elements())]
            return None if None in fits else all(fits)
        if isinstance(value, (ListRef, DictRef)):
            wanted = "ListType" if isinstance(value, ListRef) else "DictType"
            if name != wanted:
                return False
            elements = self.containers.elements(value)
            part = kind.getElementType() if wanted == "ListType" else kind.getValueType()
            fits = [self._fits(element, part) for element in elements]
            return None if None in fits or not elements else all(fits)
        return None


def _is_enum(kind: Any, value: Any) -> bool:
    return bool(
        kind.kind() == "EnumType" and isinstance(value, enum.Enum) and type(value).__name__ in kind.annotation_str
    )


def compare_enums(kind: str, arguments: Sequence[Value], numbers: Any) -> Value | None:
    """Return the outcome of comparing an enum member; None if the op `kind` is no such comparison.

    Args:
        kind: the op.
        arguments: its operands.
        numbers: emits operations on numbers.
    """
    if kind not in ("aten::eq", "aten::ne", "aten::__is__", "aten::__isnot__") or len(arguments) != 2:
        return None
    one, other = arguments
    if kind.startswith("aten::__is") and (found := _is_present(kind, one, other, numbers)) is not None:
        return found
    if MemberValue in map(type, arguments):
        compared = (same if kind.startswith("aten::__is") else equal)(numbers, one, other)
        if compared is None or kind in ("aten::eq", "aten::__is__"):
            return compared
        made: Value = numbers.emit("__not__", [compared])
        return made
    if not isinstance(one, ConstValue) or not isinstance(other, ConstValue) or not isinstance(one.value, enum.Enum):
        return None
    # A member that is a string or an int as well equals others of its value.
    alike = one.value is other.value if kind.startswith("aten::__is") else bool(one.value == other.value)
    return ConstValue(alike == (kind in ("aten::eq", "aten::__is__")))


def _is_present(kind: str, one: Value, other: Value, numbers: Any) -> Value | None:
    """Whether a member that may be None is another member; None if there are no such."""
    if not isinstance(one, OptionalValue):
        one, other = other, one
    if not isinstance(one, OptionalValue) or (found := same(numbers, one.value, other)) is None:
        return None
    both: Value = numbers.emit("__and__", [one.present, found])
    return both if kind == "aten::__is__" else numbers.emit("__not__", [both])


def named_tuple_type(kind: Any) -> tuple[tuple[str, ...], str]:
    """Return the field names of a tuple type, and its class's qualified name if it is the user's own.

    Args:
        kind: a TupleType; one that is no named tuple has no fields.
    """
    text = kind.str()
    if text.startswith("("):
        return (), ""
    name = plain_name(kind.annotation_str)
    return _fields(text), name.removeprefix("__torch__.") if name.startswith("__torch__.") else ""


def with_class(value: Value, kind: Any) -> Value:
    """Return a tuple that is a constant with the fields and the class of its type; anything else as it is.

    Args:
        value: the value.
        kind: its type.
    """
    if not isinstance(value, TupleValue) or kind.kind() != "TupleType":
        return value
    elements = tuple(with_class(each, part) for each, part in zip(value.elements, kind.elements()))
    return TupleValue(elements, *named_tuple_type(kind))


def tuple_class(node: Any) -> tuple[tuple[str, ...], str]:
    """Return the field names and the class's qualified name of a tuple that is made.

    All results of one of PyTorch's ops are a tuple of a class in `torch.return_types`, which TorchScript has no name
    for; those of an operator of the user's are a plain tuple in eager.

    Args:
        node: a prim::TupleConstruct.
    """
    fields, name = named_tuple_type(node.output().type())
    if name or not fields:
        return fields, name
    elements = list(node.inputs())
    op = elements[0].node()
    if [value.debugName() for value in op.outputs()] != [value.debugName() for value in elements]:
        return fields, name
    namespace, _, name = op.kind().partition("::")
    if namespace != "aten":
        return (), ""
    return fields, f"{torch.return_types.__name__}.{name}"


def _fields(text: str) -> tuple[str, ...]:
    """The names of `NamedTuple(a : Tensor, b : NamedTuple(c : int))` that are not inside of another one."""
    depth, outer = 0, ""
    for character in text:
        depth -= character in ")]"
        outer += character if depth == 1 else ""
        depth += character in "(["
    return tuple(re.findall(r"(\w+)\s*:", outer))


def is_made_by_init(value: ObjectRef) -> bool:
    """Whether an object is complete when its `__init__` returns; others are when a function that has it returns it."""
    return not value.is_of_partial_evaluation or record_keys(python_class(value.type_name)) is not None


def attribute_types(kind: Any, example: Any) -> dict[str, Any] | None:
    """Return the TorchScript types of an object's attributes, by name.

    Args:
        kind: its ClassType.
        example: the object.
    Returns:
        None if it is not of that class, or its attributes are not those of the scripted class.
    """
    name = kind.annotation_str.removeprefix("__torch__.")
    cls = python_class(name)
    if (keys := record_keys(cls)) is not None:
        if (of := sequence_kind(cls)) is not None:
            is_such = isinstance(example, (list, tuple)) and type(example) is of and len(example) == len(keys)
            return dict(zip(keys, kind.containedTypes())) if is_such else None
        return dict(zip(keys, kind.containedTypes())) if isinstance(example, dict) and tuple(example) == keys else None
    if cls is not type(example):
        return None
    if dataclasses.is_dataclass(example):
        names = [field.name for field in dataclasses.fields(example)]
    else:
        names = list(vars(example))
    types = kind.containedTypes()
    return dict(zip(names, types)) if len(names) == len(types) else None
