"""How the user's arguments are nested, and which of `@main`'s they become."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import ArgumentTypeError, ArgumentValueError
from .enum_members import member_number
from .generators import number_of
from .results import Step

__all__ = [
    "ArgumentSpec",
    "ConstantSpec",
    "DictSpec",
    "InputSpec",
    "ListSpec",
    "ObjectSpec",
    "ScalarSpec",
    "SequenceSpec",
    "SharedSpec",
    "TensorSpec",
    "checked_number",
    "checked_scalar",
    "mismatch",
    "tensor_leaves",
]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor argument.

    Attributes:
        path: its name as the user sees it, `cache[1]`.
        index: position among `@main`'s arguments.
        dtype: its dtype, always checked.
        shape: the sizes of the example, always checked; `ImportedProgram.sizes` says which may differ.
        strides: the strides of the example (elements), expressions of Python over `SizeChecks.roots` where they follow
            from sizes that may differ; to be checked only where a `StridesAsExample` assumption says so.
    """

    path: str
    index: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int | str, ...]


@dataclass(frozen=True)
class ScalarSpec:
    """A bool, int or float argument that stays dynamic, or a generator of random numbers.

    Attributes:
        path: its name as the user sees it.
        index: position among `@main`'s arguments.
        kind: `bool` (i1), `int` (i64), `float` (f64), `torch.Generator` or an enum (an i64, a number).
        converts: whether an int that is passed becomes a float: TorchScript, if that is what eager runs, does so.
    """

    path: str
    index: int
    kind: type
    converts: bool = False


@dataclass(frozen=True)
class ConstantSpec:
    """A str, None or other constant the program is specialised on; a call must pass an equal value.

    Attributes:
        path: its name as the user sees it.
        value: the value the program was imported with.
        reason: why a bool, int or float, which otherwise stays dynamic, had to be a constant: what the import failed
            with; "" for others.
    """

    path: str
    value: Any
    reason: str = ""


@dataclass(frozen=True)
class SequenceSpec:
    """A tuple argument with one spec per element; a call must pass as many elements."""

    path: str
    elements: tuple[InputSpec, ...]


@dataclass(frozen=True)
class ListSpec:
    """A list argument with one spec per element; a call must pass as many elements."""

    path: str
    elements: tuple[InputSpec, ...]


@dataclass(frozen=True)
class DictSpec:
    """A dict argument; a call must pass exactly these keys, in this order, which the program may tell."""

    path: str
    items: tuple[tuple[Any, InputSpec], ...]


@dataclass(frozen=True)
class ObjectSpec(DictSpec):
    """An argument that is an object of the class `kind`; the items are its attributes."""

    kind: type = object


@dataclass(frozen=True)
class SharedSpec:
    """A list, dict or object that is passed in another place as well, which the program changes.

    Attributes:
        path: its name as the user sees it.
        other: that of the first place.
        route: the position of the argument that it is there, or is in, and the steps that lead to it.
    """

    path: str
    other: str
    route: tuple[Step, ...]


InputSpec = TensorSpec | ScalarSpec | ConstantSpec | SequenceSpec | ListSpec | DictSpec | SharedSpec


@dataclass(frozen=True)
class ArgumentSpec:
    """One parameter of the user's signature.

    Attributes:
        name: the Python name.
        spec: how its value is flattened.
        has_default: whether a call may leave it out.
        default: the value used then.
        keyword_only: whether it may be passed by keyword only.
    """

    name: str
    spec: InputSpec
    has_default: bool = False
    default: Any = None
    keyword_only: bool = False


def tensor_leaves(spec: InputSpec) -> Iterator[TensorSpec]:
    """Iterate over the tensors in an argument."""
    if isinstance(spec, TensorSpec):
        yield spec
    elif isinstance(spec, (SequenceSpec, ListSpec)):
        for element in spec.elements:
            yield from tensor_leaves(element)
    elif isinstance(spec, DictSpec):
        for _, element in spec.items:
            yield from tensor_leaves(element)


def mismatch(path: str, expected: str, value: Any) -> ArgumentTypeError:
    return ArgumentTypeError(f"argument '{path}': expected {expected}, got {type(value).__name__}").as_mismatch()


def checked_number(path: str, kind: type, value: int | float) -> int | float:
    """Return a number as the int or float that `@main` takes.

    Args:
        path: the argument's name, for messages.
        kind: int (64 bits) or float.
        value: the number.
    Raises:
        ArgumentValueError: it does not fit into 64 bits.
    """
    if kind is int and -(2**63) <= value < 2**63:
        return int(value)
    if kind is float:
        try:
            return float(value)
        except OverflowError:
            pass
    raise ArgumentValueError(f"argument '{path}': the number does not fit into a 64-bit {kind.__name__}")


def checked_scalar(path: str, kind: type, value: Any) -> bool | int | float:
    if isinstance(value, bool) and kind is bool:
        return value
    if kind is torch.Generator:
        if isinstance(value, torch.Generator):
            return number_of(value)
        raise mismatch(path, "a torch.Generator", value)
    if issubclass(kind, enum.Enum):
        number = member_number(value) if type(value) is kind else None
        if number is None:
            raise mismatch(path, f"a member of {kind.__name__}", value)
        return number
    fits = isinstance(value, kind) and not isinstance(value, bool)
    if fits or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        # np.float64 is a float to Python, and a member of an IntEnum an int.
        return checked_number(path, float if isinstance(value, float) else int, value)
    raise mismatch(path, {bool: "a bool", int: "an int", float: "a float"}[kind], value)
