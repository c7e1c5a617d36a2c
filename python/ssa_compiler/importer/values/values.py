"""The abstract values that the importer computes with.

A TorchScript value is a constant known at import, a dynamic scalar, a tensor, a container of known
structure, or a module. Tensors carry what types cannot say: the set of storages they may live in, the SSA value their
storage is rooted at, and open questions about aliasing.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import sympy
import torch

from ...errors import SourceLocation

__all__ = [
    "EARLIER",
    "NONE",
    "SOME_STR",
    "ChosenRef",
    "ConstValue",
    "DictRef",
    "FunctionValue",
    "GradMode",
    "ListRef",
    "MaybeAlias",
    "MemberValue",
    "ModuleValue",
    "ObjectRef",
    "OptionalValue",
    "RuntimeStr",
    "ScalarValue",
    "TensorValue",
    "TupleValue",
    "Uninitialized",
    "Value",
    "in_words",
    "is_const",
    "is_generator",
    "made_at",
    "tensor_values",
]

Site = tuple[Any, ...]
"""A place in the program: the path of node numbers and block numbers that leads to it, call sites included."""


EARLIER = "earlier"
"""`(EARLIER, loop, site)` stands for the storages made at `site` in earlier iterations of the loop at the path
`loop`.
"""


_OF_PROGRAM = re.compile(r"_ssa_compiler_object_\d+_(.*)_\d+")
"""What partial evaluation calls a class of the user's."""


@dataclass(frozen=True)
class MaybeAlias:
    """A tensor that aliases `storages` or is a copy made at time `stamp`, which depends on a run-time size.

    Attributes:
        storages: what it aliases if it aliases.
        stamp: the write counter when it was made.
        op: the op that made it.
        location: the user's line of that op.
        retry: the key of the `AnotherPlan` after which it surely aliases; None if there is none.
        interferes: whether a write of one tensor that reads another, both given, this one in it, may overwrite what it
            reads later, if it aliases; None if that need not be asked.
        alike: whether the alias and the copy surely have the same strides.
    """

    storages: frozenset[Site]
    stamp: int
    op: str
    location: SourceLocation | None
    retry: Any = None
    interferes: Callable[[TensorValue, TensorValue], bool] | None = None
    alike: bool = False


class Value:
    """Base of the abstract values."""


@dataclass(eq=False)
class ConstValue(Value):
    """A Python constant (int, float, bool, str, None, device, ...), known at import.

    `structural` marks the length of a list or the rank of a tensor: a loop over it is a loop over the program's
    structure, like one over a ModuleList, and is unrolled.
    """

    value: Any
    structural: bool = False


@dataclass(eq=False)
class RuntimeStr(Value):
    """A string that depends on run-time values; good for messages only.

    Attributes:
        text: the string with `?` for what is unknown.
        pieces: the strings and `(format, value)` that it consists of; empty where they are not known.
    """

    text: str
    pieces: tuple[Any, ...] = ()


SOME_STR = RuntimeStr("?")
"""A string of which nothing is known; one object, so that a loop that carries it comes to a fixed point."""


@dataclass(eq=False)
class ScalarValue(Value):
    """A dynamic int, float or bool, or a generator of random numbers.

    Attributes:
        kind: int, float, bool or torch.Generator.
        ssa: its MLIR value (`!torch.int`, `!torch.float`, `!torch.bool`), or `!torch.int`, the number of a generator.
        sym: the SymInt, SymFloat or SymBool that stands for it in FakeTensor computations, or a generator that does.
    """

    kind: type
    ssa: Any
    sym: Any


def is_generator(value: Any) -> TypeGuard[ScalarValue]:
    """Whether a value is a generator of random numbers."""
    return isinstance(value, ScalarValue) and value.kind is torch.Generator


@dataclass(eq=False)
class TensorValue(Value):
    """A tensor.

    Attributes:
        ssa: its MLIR value, a `!torch.tensor<[..],dtype>`.
        fake: FakeTensor with its dtype, sizes and strides. Values that surely share storage share the fake's storage.
        storages: the storages it may live in.
        root: the SSA value it is surely a view of (itself, if it is no view); two tensors of one root share storage.
        offset: storage offset in elements, relative to the root's storage, in terms of run-time symbols.
        maybe: open questions whether it aliases.
        within: facts `(expression, low, high)` about symbols in the offset, true wherever this view exists: the indices
            that it was selected with were in range.
        absolute: whether the offset counts from the start of whichever storage it lives in; false after a join of
            tensors that lie at different offsets.
        merged: whether a join made another value of it: the program then has this tensor object under that one as well.
        renewed: whether an op that changes nothing (`detach`) made the object, of another one that shows the same; a
            join forgets it.
        chosen: whether control flow, or a place in a list, decides which tensor object it is; any other is an object of
            its own.
    """

    ssa: Any
    fake: torch.Tensor
    storages: frozenset[Site]
    root: Any
    offset: sympy.Expr
    maybe: tuple[MaybeAlias, ...] = ()
    within: tuple[tuple[Any, int, int], ...] = ()
    absolute: bool = True
    merged: bool = False
    renewed: bool = False
    chosen: bool = False


@dataclass(eq=False)
class TupleValue(Value):
    """A tuple; `fields` and `type_name` are set if it is a named tuple."""

    elements: tuple[Value, ...]
    fields: tuple[str, ...] = ()
    type_name: str = ""


@dataclass(frozen=True)
class ListRef(Value):
    """A list: a reference to a cell of the heap, which holds a tuple of values. `of_tensors`: element type is
    Tensor.
    """

    cell: Site


@dataclass(frozen=True)
class DictRef(Value):
    """A dict: a reference to a cell of the heap, which holds a tuple of values; its keys are in `Heap.keys`."""

    cell: Site


@dataclass(frozen=True)
class ObjectRef(DictRef):
    """An object of a scripted class: a dict of its attributes. `type_name` is the class's qualified name."""

    type_name: str

    @property
    def is_of_partial_evaluation(self) -> bool:
        """Whether the class is one that partial evaluation made, whose constructor is a function that returns it."""
        return _OF_PROGRAM.fullmatch(self.type_name.rpartition(".")[2]) is not None

    @property
    def short_name(self) -> str:
        """The class's name without its module."""
        name = self.type_name.rpartition(".")[2]
        found = _OF_PROGRAM.fullmatch(name)
        return name if found is None else found[1]


@dataclass(eq=False)
class ChosenRef(Value):
    """One of several lists, dicts or objects.

    Attributes:
        number: a run-time int that says which, as `Heap.number` counts them.
        choices: what it may be.
    """

    number: ScalarValue
    choices: tuple[ListRef | DictRef, ...]


@dataclass(eq=False)
class MemberValue(Value):
    """A member of an enum that control flow decides on.

    Attributes:
        kind: the enum.
        number: a dynamic int that says which of its members it is.
    """

    kind: type[enum.Enum]
    number: ScalarValue


@dataclass(eq=False)
class ModuleValue(Value):
    """A (sub)module; `path` is its qualified name, empty for the root."""

    script: Any
    path: str


@dataclass(eq=False)
class FunctionValue(Value):
    """A TorchScript function; `graph` is its un-inlined graph."""

    name: str
    graph: Any = field(repr=False)


@dataclass(eq=False)
class GradMode(Value):
    """`torch.no_grad()` and alike: nothing is differentiated here, but the program may ask.

    Attributes:
        mode: whether gradients are recorded inside; None if that is not known.
    """

    mode: bool | None


@dataclass(eq=False)
class OptionalValue(Value):
    """A value or None, depending on the run-time bool `present`; `value` is a placeholder while it is None."""

    present: ScalarValue
    value: Value


@dataclass(eq=False)
class Uninitialized(Value):
    """The value of a variable that is never read: made by TorchScript for break, return and raise. `kind` is its
    type.
    """

    kind: str


NONE = ConstValue(None)


_WORDS: tuple[tuple[type[Value], str], ...] = (
    (RuntimeStr, "a dynamic string"),
    (TensorValue, "a tensor"),
    (TupleValue, "a tuple"),
    (ListRef, "a list"),
    (DictRef, "a dict"),
    (ModuleValue, "a module"),
    (FunctionValue, "a function"),
    (GradMode, "a context manager"),
    (OptionalValue, "a value that may be None"),
)


def in_words(value: Value) -> str:
    """Say what a value is, as the user knows it."""
    if isinstance(value, ChosenRef):
        return in_words(value.choices[0])
    if isinstance(value, ObjectRef):
        return f"an object of class {value.short_name}"
    if isinstance(value, MemberValue):
        return f"a member of {value.kind.__name__}"
    if isinstance(value, (ConstValue, ScalarValue)):
        kind = value.kind if isinstance(value, ScalarValue) else type(value.value)
        return f"{'an' if kind is int else 'a'} {kind.__name__}"
    known = next((words for kind, words in _WORDS if isinstance(value, kind)), None)
    return known or f"a {type(value).__name__.removesuffix('Value').lower()} value"


def is_const(*values: Value) -> bool:
    """Whether every value is a constant known at import."""
    return all(isinstance(value, ConstValue) for value in values)


def made_at(storage: Site) -> Site:
    """Return the site of a storage, whichever iteration made it."""
    return storage[2] if storage[0] == EARLIER else storage


def tensor_values(argument: Any) -> list[TensorValue]:
    """Return the tensors in an op's argument, a value or a Python list of values."""
    if isinstance(argument, TensorValue):
        return [argument]
    if isinstance(argument, list):
        return [value for element in argument for value in tensor_values(element)]
    return []
