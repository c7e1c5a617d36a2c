"""Module trees: submodules, parameters, buffers, numbers and containers, found by attribute.

Each distinct tensor becomes one argument. A number is a constant unless the program assigns it: then it is an argument
too. So is a list, dict, tuple or string that the program changes or assigns.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch.utils._pytree import tree_leaves
from torch_mlir import ir

from ...abi.paths import follow
from ...abi.same_values import registered_name, same_tensor
from ...abi.surroundings import Surroundings
from ...errors import SourceLocation
from ..ir.torchscript_enums import Numbered
from ..ir.tuple_keys import decoded_keys
from .held_containers import can_be_held, containers_in, declared_type, holds_container
from .plan import AnotherPlan
from .state import State
from .values import ConstValue, ModuleValue, OptionalValue, ScalarValue, Site, TensorValue, Value

__all__ = ["NO_TENSOR", "Assigned", "FoundNumber", "FoundParameter", "Modules", "NewObject"]


UNBOUND, NO_TENSOR = -1, -2


@dataclass
class FoundParameter:
    """A parameter or buffer that the program uses: its names, the tensor, and its value in the program."""

    names: list[str]
    tensor: torch.Tensor
    value: TensorValue
    storage: Site


@dataclass
class Assigned:
    """An attribute that is a tensor, or None, and that the program assigns.

    Attributes:
        name: qualified name.
        first: what it is before the call: an argument of `@main`, or None.
        value: what it is after it.
        source: an int, which object it is: `UNBOUND` if it was not assigned, the number of an argument of `@main`, or a
            negative number of a new tensor.
    """

    name: str
    first: Value
    value: Value
    source: Value


@dataclass
class NewObject:
    """A tensor that is no argument of `@main`, perhaps a part of one, and that an attribute was bound to.

    Attributes:
        name: the attribute.
        first: what that was before.
        value: the tensor.
        place: where it was assigned.
        regions: the branches and loops in which it was (`State.outside`).
    """

    name: str
    first: Value
    value: TensorValue
    place: SourceLocation | None
    regions: tuple[frozenset[Site], ...]


@dataclass
class FoundNumber:
    """A bool, int or float attribute that the program assigns: its name, its kind and its cell on the heap."""

    name: str
    kind: type
    cell: Site


class Modules:
    """Resolves prim::GetAttr.

    Attributes:
        root: the user's module or function.
        script: its TorchScript object; None of a function.
        looks: what ignored Python functions return, as far as they were asked.
        first: what each attribute was before it was bound to another tensor: an argument, or None.
        reshaped: the attributes that are bound to a tensor of another dtype or shape.
        new_objects: the tensors that attributes were bound to and that are no arguments.
        found: parameters in the order in which the program uses them first.
        numbers: the numbers that the program assigns.
        held: the containers that are arguments, by qualified name, with what they are before the call.
        constants: the qualified names of the attributes that were read as constants.
        inlined: whether the graph has its calls inlined.
        sources: the Python functions of which the program has copies, by the names of the copies.
        methods: the Python functions of the module's methods that are known, by their names.
    """

    def __init__(self, state: State, root: Any, scripted: Any, looks: dict[Any, Any] | None = None) -> None:
        self.state = state
        self.looks = looks if looks is not None else {}
        self.sources: Mapping[str, Any] = {}
        self.methods: Mapping[str, Any] = {}
        self.root = root
        self._scripted = scripted
        self.script = scripted._c if scripted is not None else None
        self.first: dict[Site, Value] = {}
        self.reshaped: set[str] = set()
        self.new_objects: list[NewObject] = []
        self.found: list[FoundParameter] = []
        self.numbers: list[FoundNumber] = []
        self.held: dict[str, Value] = {}
        self._held_containers: set[int] = set()
        self.constants: set[str] = set()
        self.inlined = False
        self._submodules: dict[str, ModuleValue] = {}
        named = root.named_modules() if isinstance(root, torch.nn.Module) else ()
        self._first_names = {id(module): name for name, module in named}

    def python_function(self, name: str) -> Any:
        """Return the Python function of a scripted function or method, for a look at its source.

        Args:
            name: `__torch__.package.function`, `forward` or `layers.0.forward`.
        Returns:
            None if there is no source: the program came scripted, or the function is made by TorchScript.
        """
        if (copied := self._copied(name)) is not None:
            return copied
        if name in self.methods:  # which may be no attribute of the module's class
            return self.methods[name]
        if name.startswith("__torch__."):
            parts = name.removeprefix("__torch__.").split(".")
            *path, last = (part for part in parts if not part.startswith("___torch_mangle_"))
            module = sys.modules.get(".".join(path) or "__main__")
            return getattr(module, last, None)
        if not isinstance(self.root, torch.nn.Module):
            return self.root
        owner: Any = self.root
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part, None)
        if isinstance(owner, torch.jit.ScriptModule):
            return None
        own = getattr(owner, "__dict__", {}).get(last)  # a forward that was set on the module itself
        return own.__func__ if isinstance(own, types.MethodType) else getattr(type(owner), last, None)

    def _copied(self, name: str) -> Any:
        """The Python function that partial evaluation made a copy of, None if it made none."""
        return self.sources.get(name.rpartition(".")[2] if name.startswith("__torch__.") else name)

    def is_generated(self, name: str) -> bool:
        """Return whether partial evaluation wrote a function or method, by its name as of `python_function`."""
        return self._copied(name) is not None

    def dtype_attributes(self) -> frozenset[str]:
        """Return the names under which the module or a part of it holds a dtype; to TorchScript these are ints."""
        if not isinstance(self.root, torch.nn.Module):
            return frozenset()
        owners = [space for module in self.root.modules() for space in (vars(module), *map(vars, type(module).__mro__))]
        return frozenset(name for space in owners for name, value in space.items() if isinstance(value, torch.dtype))

    def attribute(self, owner: ModuleValue, name: str) -> Any:
        """Return an attribute: a Value for modules and tensors, else the Python constant."""
        path = f"{owner.path}.{name}" if owner.path else name
        script = owner.script
        value = script.getattr(name)
        if isinstance(value, torch._C.ScriptModule):
            path = self._first_name(path)
            return self._submodules.setdefault(path, ModuleValue(value, path))
        cell = ("attribute", path)
        if cell in self.state.heap.contents:
            return self.state.heap.contents[cell][0]
        if isinstance(value, torch.Tensor):
            return self.parameter(path, value)
        if isinstance(value, (torch._C.ScriptObject,)):
            raise self.state.unsupported(
                f"the attribute {path}, an object of a custom class such as packed weights; dequantize, or keep tensors"
            )
        if self._held_containers and any(
            id(c) in self._held_containers for c in containers_in(follow(self.root, path))
        ):
            raise AnotherPlan.holding(path)
        self.constants.add(path)
        if isinstance(value, (torch._C.ScriptList, torch._C.ScriptDict)):
            value = list(value) if isinstance(value, torch._C.ScriptList) else dict(value.items())
        if any(isinstance(leaf, torch.Generator) for leaf in tree_leaves(value)):
            raise AnotherPlan.holding(path)
        return self._as_assigned(path, value)

    def _as_assigned(self, path: str, value: Any) -> Any:
        """Return a constant as the user's module has it: TorchScript makes floats of ints where the class says
        float.
        """
        return _with_ints(decoded_keys(value), follow(self.root, path))

    def _first_name(self, path: str) -> str:
        """Return the first name of a submodule that the user's module has under several: TorchScript made several of
        it.
        """
        return self._first_names.get(id(follow(self.root, path)), path)

    def registered(self, path: str, tensor: torch.Tensor) -> Value:
        """Return the argument for a tensor found in a container: as a parameter or buffer, or as a part of the
        container.
        """
        name = registered_name(self.root, tensor)
        if name is not None:
            return self.parameter(name, tensor)
        if self.can_hold(attribute := path.partition("[")[0]):
            raise AnotherPlan.holding(attribute)
        raise self.state.unsupported(f"the tensor {path} inside a container; register it as a parameter or buffer")

    def can_hold(self, path: str) -> bool:
        """Whether an attribute can be an argument."""
        return can_be_held(self.root, path) and declared_type(self._scripted, path) is not None

    def hold(self, path: str, value: Value) -> None:
        """Note an attribute that is an argument, and its value."""
        self.held[path] = value
        self.state.heap.contents[("attribute", path)] = (value,)
        self._held_containers |= {id(container) for container in containers_in(follow(self.root, path))}

    def names_of_container(self, path: str) -> list[str]:
        """Return the qualified name of an attribute, and of those that are, or hold, a list or dict that is in it."""
        wanted = {id(container) for container in containers_in(follow(self.root, path))}
        return [path, *(name for name, value in self._attributes() if wanted & {*map(id, containers_in(value))})]

    def none_attributes(self, path: str) -> list[str]:
        """Return the qualified names of the attributes of a module, and of the modules in it, that are None."""
        prefix = f"{path}." if path else ""
        return [name for name, value in self._attributes() if value is None and name.startswith(prefix)]

    def _attributes(self) -> Iterator[tuple[str, Any]]:
        """Iterate over the attributes of all modules: the qualified name and the value."""
        for prefix, module in self.root.named_modules():
            found = dict(module.found()) if isinstance(module, Surroundings) else {}
            for space in (vars(module), module._parameters, module._buffers, found):
                for name, value in space.items():
                    if not name.startswith("_"):
                        yield f"{prefix}.{name}" if prefix else name, value

    def assign(self, owner: ModuleValue, name: str, value: Value) -> None:
        """Bind an attribute to another tensor or number; `assigned` and `numbers` say at the end what has to be stored.

        Raises:
            AnotherPlan: it has to be known beforehand: it is a number, or assigned in a branch or loop.
            UnsupportedProgramError: the attribute changes dtype or shape, or cannot be assigned.
        """
        attribute = self.attribute(owner, name)
        current = _as_value(attribute)
        if current is value:
            return  # `self.x += 1`: written in place already.
        path = f"{owner.path}.{name}" if owner.path else name
        if path in self.held:
            self._assign_held(path, value)
            return
        if isinstance(value, (ConstValue, ScalarValue)) and _number_kind(value) is not None:
            if any(number.name == path for number in self.numbers):
                self.state.heap.contents[("attribute", path)] = (value,)
                return
            if type(attribute) in (bool, int, float):
                raise AnotherPlan.assigning(path)
        if not _may_be_tensor(current) or not _may_be_tensor(value):
            if self.can_hold(path):
                raise AnotherPlan.holding(path)
            raise self.state.unsupported(
                f"assignment to the attribute {path}, which is no tensor, number, string or container of these, or of a "
                "module that is scripted; compile the unscripted module, or make it a buffer"
            )
        if isinstance(current, TensorValue) and isinstance(value, TensorValue):
            same = current.fake.dtype == value.fake.dtype
            if not same or not self.state.same_sizes(value, current, "the assignment of an attribute"):
                if self.state.conditional:
                    raise self.state.unsupported(
                        f"assignment to the attribute {path}, which changes its dtype or shape in a branch or loop; "
                        "assign it behind that"
                    )
                self.reshaped.add(path)
        cell = ("attribute", path)
        if cell not in self.state.heap.contents:
            if self.state.conditional:
                raise AnotherPlan.assigning(path)
            self.first[cell] = current
        before = self.first.get(cell)  # it may be None meanwhile
        if current is not before and isinstance(before, TensorValue) and isinstance(value, TensorValue):
            if before.fake.dtype != value.fake.dtype or not self.state.same_sizes(value, before, "an assignment"):
                self.reshaped.add(path)
        self.state.heap.contents[cell] = (value,)
        self.state.heap.contents[("source", path)] = (ConstValue(self._source(path, value)),)

    def _assign_held(self, path: str, value: Value) -> None:
        """Bind an attribute that is an argument."""
        before = self.state.heap.contents[("attribute", path)][0]
        if self.state.conditional and (holds_container(before) or holds_container(value)):
            raise self.state.unsupported(
                f"assignment to the attribute {path}, a list or dict, in a branch or loop with run-time values; change its "
                "contents (clear() and extend() of a list), or assign it behind that"
            )
        self.state.heap.contents[("attribute", path)] = (value,)
        self.state.heap.places[("attribute", path)] = self.state.locations.user()

    def prepare(self, paths: Iterable[str]) -> None:
        """Make attributes known that the program assigns: arguments for the numbers, then those for the tensors."""
        owners = {path: self._owner(path) for path in paths}
        numbers = {path: self._as_assigned(path, owner.script.getattr(name)) for path, (owner, name) in owners.items()}
        for path, number in numbers.items():
            if isinstance(number, (bool, int, float)):
                self._number(path, type(number))
        for path, (owner, name) in owners.items():
            if not isinstance(numbers[path], (bool, int, float)):
                current = _as_value(self.attribute(owner, name))
                self.first[("attribute", path)] = current
                self.state.heap.contents[("attribute", path)] = (current,)
                self.state.heap.contents[("source", path)] = (ConstValue(UNBOUND),)

    def _owner(self, path: str) -> tuple[ModuleValue, str]:
        """Return the module of an attribute, and the attribute's own name.

        That has dots in it if it is one of an object which is no module.
        """
        owner, parts = ModuleValue(self.script, ""), path.split(".")
        while len(parts) > 1 and owner.script.hasattr(parts[0]):
            if not isinstance(inner := self.attribute(owner, parts[0]), ModuleValue):
                break
            owner, parts = inner, parts[1:]
        return owner, ".".join(parts)

    def _number(self, path: str, kind: type) -> None:
        emitter, cell = self.state.emitter, ("attribute", path)
        with emitter.context:
            ssa = emitter.entry.add_argument(emitter.scalar_type(kind), ir.Location.unknown())
        self.state.heap.contents[cell] = (self.state.opaque_scalar(kind, ssa, cell),)
        self.numbers.append(FoundNumber(path, kind, cell))

    def assigned(self) -> list[Assigned]:
        """Return the tensor attributes that were bound to other tensors."""
        heap = self.state.heap.contents
        found = [
            Assigned(cell[1], first, heap[cell][0], heap[("source", cell[1])][0]) for cell, first in self.first.items()
        ]
        return [entry for entry in found if entry.first is not entry.value]

    def _source(self, path: str, value: Value) -> int:
        """The number of the object that an attribute is bound to (`Assigned.source`)."""
        value = value.value if isinstance(value, OptionalValue) else value
        if not isinstance(value, TensorValue):
            return NO_TENSOR
        entry = self.state.emitter.entry.arguments
        number = next((number for number, argument in enumerate(entry) if argument == value.ssa), None)
        if number is not None and not value.renewed and id(value) not in self.state.originals:
            return number
        place, regions = self.state.locations.user(), tuple(self.state.outside)
        self.new_objects.append(NewObject(path, self.first[("attribute", path)], value, place, regions))
        number, known = next((n, known) for n, known in enumerate(self.new_objects) if known.value is value)
        # What two iterations of a loop make is one value here, but two tensors.
        if known.name != path and regions and known.regions and [*map(id, regions)] != [*map(id, known.regions)]:
            raise self.state.unsupported(
                f"the attributes {known.name} and {path}, bound to one tensor in two branches or loops; clone() it"
            )
        return NO_TENSOR - 1 - number

    def parameter(self, path: str, tensor: torch.Tensor) -> Value:
        """Return the argument of `@main` for a parameter or buffer; two names of one tensor give one argument."""
        for known in self.found:
            if same_tensor(known.tensor, tensor):
                if path not in known.names:
                    known.names.append(path)
                if id(known.value) in self.state.originals:
                    self.check_one_object(known)
                return known.value
        state = self.state
        if tensor.layout != torch.strided:
            raise state.unsupported(f"the attribute {path}, a tensor that is not strided; make it dense")
        if tensor.is_quantized:
            raise state.unsupported(f"the attribute {path}, a quantized tensor; dequantize() it")
        fake = fake_like(state, tensor)
        with state.emitter.context:
            argument = state.emitter.entry.add_argument(state.type_of(fake), ir.Location.unknown())
        storage: Site = ("parameter", path)
        value = TensorValue(argument, fake, frozenset([storage]), object(), sympy.Integer(tensor.storage_offset()))
        state.owns(value, tensor)
        self.found.append(FoundParameter([path], tensor, value, storage))
        return value

    def check_one_object(self, found: FoundParameter) -> None:
        """Reject to change the shape of one of several tensor objects that are one value here, as they show the same
        memory.
        """
        objects = [follow(self.root, name) for name in found.names]
        if any(other is not objects[0] for other in objects):
            raise self.state.unsupported(
                f"{' and '.join(found.names)}, two tensors of one memory, one of which gets another shape; clone() one"
            )


def _with_ints(value: Any, own: Any) -> Any:
    """Return a value with ints or bools for those floats in it that are such in another, and its dtypes."""
    if isinstance(own, torch.dtype) and type(value) is int:
        return Numbered(value, own)
    if type(value) is float:
        return own if type(own) in (bool, int) and own == value else value
    if isinstance(value, dict) and isinstance(own, dict) and value.keys() == own.keys():
        return {key: _with_ints(part, own[key]) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and isinstance(own, (list, tuple)) and len(value) == len(own):
        parts = [_with_ints(part, other) for part, other in zip(value, own, strict=True)]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def _number_kind(value: ConstValue | ScalarValue) -> type | None:
    kind = value.kind if isinstance(value, ScalarValue) else type(value.value)
    return kind if kind in (bool, int, float) else None


def fake_like(state: State, tensor: torch.Tensor) -> torch.Tensor:
    """Return a FakeTensor with dtype, device, sizes, strides and storage offset of a real one, in its own storage."""
    size = tensor.untyped_storage().nbytes() // max(tensor.element_size(), 1)
    with state.symbols.mode:
        storage = torch.empty(size, dtype=tensor.dtype, device=tensor.device)
        return storage.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _as_value(attribute: Any) -> Value:
    """What an attribute is in the program: constants come as they are."""
    return attribute if isinstance(attribute, Value) else ConstValue(attribute)


def _may_be_tensor(value: Value) -> bool:
    """Whether a value is a tensor, None, or one of the two as the run decides."""
    if isinstance(value, OptionalValue):
        return isinstance(value.value, TensorValue)
    return isinstance(value, TensorValue) or (isinstance(value, ConstValue) and value.value is None)
