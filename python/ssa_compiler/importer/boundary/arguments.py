"""The user's arguments: from the example inputs and the signature to arguments of `@main` and their specs."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Any

import sympy
import torch
from torch_mlir import ir

from ...abi.argument_specs import (
    ArgumentSpec,
    ConstantSpec,
    DictSpec,
    InputSpec,
    ListSpec,
    ObjectSpec,
    ScalarSpec,
    SequenceSpec,
    SharedSpec,
    TensorSpec,
    checked_number,
)
from ...abi.results import Step
from ...errors import ArgumentTypeError
from ..containers.classes import attribute_types, named_tuple_type
from ..containers.containers import Containers
from ..ir.emitter import DTYPE_NUMBERS
from ..ir.torchscript_enums import Numbered
from ..values.argument_sizes import python_code
from ..values.chosen_members import kind_of, member
from ..values.modules import fake_like
from ..values.plan import SHARED
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, DictRef, ListRef, ObjectRef, ScalarValue, Site, TensorValue, TupleValue, Value
from .argument_containers import lend
from .dynamic_arguments import define_sizes, fake_argument

__all__ = ["Arguments"]


# The TorchScript types that an example of a Python type fits, besides Any and unions. A dtype is an int to TorchScript.
_CONSTANT_KINDS = {
    bool: ("BoolType", "NumberType"),
    str: ("StringType", "DeviceObjType"),
    type(None): ("OptionalType", "NoneType"),
    torch.device: ("DeviceObjType",),
    torch.dtype: ("IntType",),
}
_NUMBER_KINDS = ("IntType", "FloatType", "NumberType", "AnyType", "UnionType")


_ANNOTATED = (bool, int, float, complex, str, list, tuple, dict, torch.device, torch.dtype)
"""What a parameter may be annotated to take."""


def _remedy(example: Any) -> str:
    """What to do about an example that no program takes."""
    if type(example).__module__ == "numpy":
        return "pass torch.from_numpy(x), or x.item() for a number"
    if isinstance(example, complex):
        return "pass a tensor of one element"
    return "pass tensors, numbers, strings, or tuples, lists, dicts and scripted classes of them"


_PLAIN = {
    torch.Tensor: "TensorType",
    bool: "BoolType",
    int: "IntType",
    float: "FloatType",
    str: "StringType",
    type(None): "NoneType",
    list: "ListType",
    dict: "DictType",
    tuple: "TupleType",
}


def _fits(example: Any, member: Any) -> bool:
    """Whether an example is of a member of a union, of which there is only one of each kind of container."""
    kinds = (torch.Tensor, bool, int, float, str)  # and what is one to Python, as np.float64 is a float
    kind = next((kind for kind in kinds if isinstance(example, kind)), type(example))
    return bool(member.kind() == _PLAIN.get(kind))


def mismatch(path: str, declared: Any, example: Any) -> ArgumentTypeError:
    return ArgumentTypeError(f"argument '{path}': expected {declared}, got {type(example).__name__}")


class Arguments:
    """Makes `@main`'s arguments, one per tensor, bool, int or float in the example.

    Attributes:
        names: the `tssa.name` of each argument.
        storages: the storage of each tensor argument, by index.
    """

    def __init__(self, state: State, containers: Containers) -> None:
        self.state = state
        self.containers = containers
        self.names: list[str] = []
        self._route: list[Step] = []
        self._count = 0
        self._of_module = False  # whose numbers need not be of the type that TorchScript takes them for
        self._seen: dict[int, tuple[SharedSpec, Value, Site]] = {}
        self.storages: dict[int, Site] = {}

    def add(self, argument: Any, example: Any, name: str | None = None) -> tuple[ArgumentSpec, Value]:
        """Add one parameter of the signature.

        Args:
            argument: the schema's argument.
            example: its example value.
            name: what calls call it; None if that is its name.
        Returns:
            Its spec, without the default, and its value in the program.
        Raises:
            ArgumentTypeError: the example does not fit the declared type.
        """
        self._route[:] = [("item", self._count)]
        self._count += 1
        name = argument.name if name is None else name
        spec, value = self._leaf(name, example, argument.type)
        return ArgumentSpec(name, spec, argument.has_default_value(), None, argument.kwarg_only), value

    def add_held(self, path: str, example: Any, declared: Any) -> tuple[InputSpec, Value]:
        """Add a list, dict, tuple or string of the module.

        Args:
            path: the attribute's qualified name.
            example: what it is.
            declared: its TorchScript type.
        Returns:
            Its spec and its value in the program.
        """
        self._route[:] = [("item", self._count)]
        self._count += 1
        self._of_module = True
        try:
            return self._leaf(f"self.{path}", example, declared)
        finally:
            self._of_module = False

    def _leaf(self, path: str, example: Any, declared: Any) -> tuple[InputSpec, Value]:
        kind = declared.kind()
        if kind == "OptionalType" and example is not None:
            return self._leaf(path, example, declared.getElementType())
        if kind == "UnionType":
            fitting = next((member for member in declared.containedTypes() if _fits(example, member)), None)
            if fitting is None:
                raise mismatch(path, declared, example)
            return self._leaf(path, example, fitting)
        if isinstance(example, torch.Tensor):
            if kind not in ("TensorType", "AnyType"):
                raise ArgumentTypeError(f"argument '{path}': expected {declared}, got a tensor")
            return self._tensor(path, example)
        if kind == "TensorType":
            remedy = (
                "parameters without annotation are tensors to TorchScript, write "
                f"`{path}: {type(example).__name__}` in the function's signature"
                if isinstance(example, _ANNOTATED) and path.isidentifier()
                else "it is declared as a container of tensors; pass it apart from them"
                if isinstance(example, _ANNOTATED)
                else _remedy(example)
            )
            raise ArgumentTypeError(f"argument '{path}': expected a tensor, got {type(example).__name__}: {remedy}")
        if id(example) in self._seen and SHARED in self.state.plan.retries:
            first, value, _ = self._seen[id(example)]
            return replace(first, path=path), value
        if kind == "ClassType":
            return self._object(path, example, declared)
        if isinstance(example, enum.Enum) and kind == "EnumType":
            return self._member(path, example)
        if isinstance(example, bool) or example is None or isinstance(example, (str, torch.device, torch.dtype)):
            expected = _CONSTANT_KINDS.get(type(example))
            if expected is not None and kind not in (*expected, "AnyType", "UnionType") and not self._of_module:
                raise mismatch(path, declared, example)
            if isinstance(example, bool):
                return self._scalar(path, example)
            return ConstantSpec(path, example), self._constant(example)
        if isinstance(example, (int, float)):
            fits = kind in _NUMBER_KINDS and not (kind == "IntType" and isinstance(example, float))
            if not fits and not self._of_module:
                raise mismatch(path, declared, example)
            if self.state.scripted and kind == "FloatType":
                spec, value = self._scalar(path, checked_number(path, float, example))
                return replace(spec, converts=True) if isinstance(spec, ScalarSpec) else spec, value
            return self._scalar(path, example)
        if isinstance(example, torch.Generator):
            if kind not in ("GeneratorType", "AnyType"):
                raise mismatch(path, declared, example)
            return self._generator(path)
        if isinstance(example, dict) and hasattr(type(example), "__missing__"):
            raise ArgumentTypeError(
                f"argument '{path}': a {type(example).__name__} makes elements that are not there: pass dict(...) of it"
            )
        if isinstance(example, dict):
            return self._dict(path, example, declared)
        if isinstance(example, (list, tuple)):
            return self._sequence(path, example, declared)
        raise ArgumentTypeError(
            f"argument '{path}': values of type {type(example).__name__} are not supported: {_remedy(example)}"
        )

    def _part(self, path: str, step: Step, example: Any, declared: Any) -> tuple[InputSpec, Value]:
        """Add a part of a container."""
        self._route.append(step)
        try:
            return self._leaf(path, example, declared)
        finally:
            self._route.pop()

    def _constant(self, example: Any) -> Value:
        if isinstance(example, torch.dtype):
            return ConstValue(
                DTYPE_NUMBERS[example] if self.state.scripted else Numbered(DTYPE_NUMBERS[example], example)
            )
        return ConstValue(example)

    def _tensor(self, path: str, example: torch.Tensor) -> tuple[InputSpec, Value]:
        state = self.state
        if example.layout != torch.strided or example.is_nested:
            kind = "a nested tensor" if example.is_nested else f"layout {example.layout}"
            raise ArgumentTypeError(
                f"argument '{path}': expected a dense tensor, got {kind}: pass x.to_dense(), or its parts"
            )
        if example.is_quantized or example.dtype not in DTYPE_NUMBERS:
            remedy = "pass x.dequantize()" if example.is_quantized else "convert it with x.to(...)"
            raise ArgumentTypeError(f"argument '{path}': tensors of dtype {example.dtype} are not supported: {remedy}")
        fake = fake_argument(state, path, example)
        if fake is None:
            fake = fake_like(state, example)
        index, ssa = self._argument(path, state.type_of(fake))
        storage: Site = ("argument", index)
        self.storages[index] = storage
        value = TensorValue(ssa, fake, frozenset([storage]), object(), sympy.Integer(example.storage_offset()))
        state.arguments[index], state.examples[index] = value, example
        state.owns(value, example)
        define_sizes(state, path, index, ssa, example.dim())
        strides: tuple[int | str, ...] = tuple(example.stride())
        if state.sizes.hints:
            found = map(expr_of, fake.stride())
            strides = tuple(int(stride) if stride.is_number else python_code(stride) for stride in found)
        return TensorSpec(path, index, example.dtype, tuple(example.shape), strides), value

    def _scalar(self, path: str, example: bool | int | float) -> tuple[InputSpec, Value]:
        # What the annotation says does not matter: Python computes with an int that is passed for a float.
        kind = next(kind for kind in (bool, int, float) if isinstance(example, kind))
        if kind is not bool:
            example = checked_number(path, kind, example)
        if path in self.state.plan.constants:
            return ConstantSpec(path, example, self.state.plan.constants[path]), ConstValue(example)
        index, ssa = self._argument(path, self.state.emitter.scalar_type(kind))
        self.state.scalars[index] = path
        value = self.state.opaque_scalar(kind, ssa, ("argument", index))
        if kind is int and isinstance(value, ScalarValue):
            self.state.ints[expr_of(value.sym)] = (index, int(example))
        return ScalarSpec(path, index, kind), value

    def _member(self, path: str, example: enum.Enum) -> tuple[InputSpec, Value]:
        """A member of an enum: which one it is, if the program assigns it."""
        kind = type(example)
        if not self._of_module or path in self.state.plan.constants or kind_of(ConstValue(example)) is None:
            return ConstantSpec(path, example, self.state.plan.constants.get(path, "")), ConstValue(example)
        index, ssa = self._argument(path, self.state.emitter.scalar_type(int))
        self.state.scalars[index] = path
        return ScalarSpec(path, index, kind), member(kind, self.state.opaque_scalar(int, ssa, ("argument", index)))

    def _generator(self, path: str) -> tuple[InputSpec, Value]:
        index, ssa = self._argument(path, self.state.emitter.scalar_type(torch.Generator))
        value = self.state.opaque_scalar(torch.Generator, ssa)
        return ScalarSpec(path, index, torch.Generator), value

    def _argument(self, path: str, to: Any) -> tuple[int, Any]:
        self.names.append(path)
        return len(self.names) - 1, self.state.emitter.entry.add_argument(to, ir.Location.unknown())

    def _sequence(self, path: str, example: Any, declared: Any) -> tuple[InputSpec, Value]:
        is_tuple = declared.kind() == "TupleType" or (declared.kind() == "AnyType" and isinstance(example, tuple))
        wanted = tuple if is_tuple else list
        if not isinstance(example, wanted) or declared.kind() not in ("TupleType", "ListType"):
            raise mismatch(path, declared, example)
        if is_tuple:
            types = declared.elements()
            if len(types) != len(example):
                raise ArgumentTypeError(f"argument '{path}': expected {len(types)} elements, got {len(example)}")
        else:
            types = [declared.getElementType()] * len(example)
        parts = [self._part(f"{path}[{i}]", ("item", i), e, t) for i, (e, t) in enumerate(zip(example, types))]
        specs, values = tuple(part[0] for part in parts), tuple(part[1] for part in parts)
        if is_tuple:
            return SequenceSpec(path, specs), TupleValue(values, *named_tuple_type(declared))
        made = self.containers.new_list(values)
        self._lend(made, path, example, made)
        return ListSpec(path, specs), made

    def _object(self, path: str, example: Any, declared: Any) -> tuple[InputSpec, Value]:
        types = attribute_types(declared, example)
        if types is None:
            raise ArgumentTypeError(
                f"argument '{path}': expected {declared}, got {type(example).__name__}: pass an object of that class with the "
                "attributes that its __init__ sets"
            )
        spec: InputSpec
        if isinstance(example, (list, tuple)):
            parts = {
                name: self._part(f"{path}[{i}]", ("item", i), example[i], kind)
                for i, (name, kind) in enumerate(types.items())
            }
            elements = tuple(part[0] for part in parts.values())
            spec = ListSpec(path, elements) if isinstance(example, list) else SequenceSpec(path, elements)
        elif isinstance(example, dict):  # a record
            parts = {
                name: self._part(f"{path}[{name!r}]", ("item", name), example[name], kind)
                for name, kind in types.items()
            }
            spec = DictSpec(path, tuple((name, part[0]) for name, part in parts.items()))
        else:
            parts = {
                name: self._part(f"{path}.{name}", ("attribute", name), getattr(example, name), kind)
                for name, kind in types.items()
            }
            spec = ObjectSpec(path, tuple((name, part[0]) for name, part in parts.items()), type(example))
        made = self.containers.new_dict(list(parts), [part[1] for part in parts.values()])
        value = ObjectRef(made.cell, declared.annotation_str.removeprefix("__torch__."))
        if not isinstance(example, tuple):
            self._lend(made, path, example, value)
        return spec, value

    def _dict(self, path: str, example: dict[Any, Any], declared: Any) -> tuple[InputSpec, Value]:
        if declared.kind() != "DictType":
            raise mismatch(path, declared, example)
        element = declared.getValueType()
        parts = {key: self._part(f"{path}[{key!r}]", ("item", key), value, element) for key, value in example.items()}
        spec = DictSpec(path, tuple((key, part[0]) for key, part in parts.items()))
        made = self.containers.new_dict(list(parts), [part[1] for part in parts.values()])
        self._lend(made, path, example, made)
        return spec, made

    def _lend(self, made: ListRef | DictRef, path: str, example: Any, value: Value) -> None:
        """Note a container of the caller's, and whether it has been passed before."""
        first = self._seen.setdefault(id(example), (SharedSpec(path, path, tuple(self._route)), value, made.cell))
        lend(self.state, made.cell, self._route, path, first[2] != made.cell)
        if first[2] != made.cell:
            self.state.heap.caller_owned[first[2]] = replace(self.state.heap.caller_owned[first[2]], repeated=True)
