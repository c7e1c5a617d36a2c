"""Module trees: submodules, parameters and buffers, found by attribute; each distinct tensor becomes one argument."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch_mlir import ir

from .state import State
from .values import ModuleValue, Site, TensorValue, Value

__all__ = ["FoundParameter", "Modules", "Restart"]


class Restart(Exception):
    """The import has to start again, knowing that a branch or loop assigns the attribute `path`."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass
class FoundParameter:
    """A parameter or buffer that the program uses: its names, the tensor, and its value in the program."""

    names: list[str]
    tensor: torch.Tensor
    value: TensorValue
    storage: Site


class Modules:
    """Resolves prim::GetAttr.

    Attributes:
        root: the user's module or function.
        script: its TorchScript object.
        first: the argument of each attribute that is bound to another tensor.
        found: parameters in the order in which the program uses them first.
    """

    def __init__(self, state: State, root: Any, script: Any) -> None:
        self.state = state
        self.root = root
        self.script = script
        self.first: dict[Site, TensorValue] = {}
        self.found: list[FoundParameter] = []
        self._submodules: dict[str, ModuleValue] = {}

    def python_function(self, name: str) -> Any:
        """Return the Python function of a scripted function or method, for a look at its source.

        Args:
            name: `__torch__.package.function`, `forward` or `layers.0.forward`.
        Returns:
            None if there is no source: the program came scripted, or the function is made by TorchScript.
        """
        if name.startswith("__torch__."):
            *path, last = name.removeprefix("__torch__.").split(".")
            module = sys.modules.get(".".join(path) or "__main__")
            return getattr(module, last, None)
        if not isinstance(self.root, torch.nn.Module):
            return self.root
        owner: Any = self.root
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part, None)
        return None if isinstance(owner, torch.jit.ScriptModule) else getattr(type(owner), last, None)

    def attribute(self, owner: ModuleValue, name: str) -> Any:
        """Return an attribute: a Value for modules and tensors, else the Python constant."""
        path = f"{owner.path}.{name}" if owner.path else name
        script = owner.script
        value = script.getattr(name)
        if isinstance(value, torch._C.ScriptModule):
            return self._submodules.setdefault(path, ModuleValue(value, path))
        if isinstance(value, torch.Tensor):
            cell = ("attribute", path)
            return self.state.heap[cell][0] if cell in self.state.heap else self.parameter(path, value)
        if isinstance(value, (torch._C.ScriptObject,)):
            raise self.state.refuse(f"the attribute {path}, an object of a custom class")
        if isinstance(value, (torch._C.ScriptList, torch._C.ScriptDict)):
            return list(value) if isinstance(value, torch._C.ScriptList) else dict(value.items())
        return value

    def registered(self, path: str, tensor: torch.Tensor) -> Value:
        """Return the argument for a tensor found in a container, which has to be a parameter or buffer as well."""
        named = (*self.root.named_parameters(), *self.root.named_buffers())
        for name, candidate in named:
            if candidate is tensor or _same_tensor(candidate, tensor):
                return self.parameter(name, tensor)
        raise self.state.refuse(f"the tensor {path} inside a container; register it as a parameter or buffer")

    def assign(self, owner: ModuleValue, name: str, value: TensorValue) -> None:
        """Bind a tensor attribute to another tensor; `assigned` says at the end what has to be stored.

        Raises:
            Restart: it is assigned in a branch or loop, which has to know of it beforehand.
            UnsupportedProgramError: the attribute is no tensor, or changes dtype or shape.
        """
        current = self.attribute(owner, name)
        if current is value:
            return  # `self.x += 1`: written in place already.
        path = f"{owner.path}.{name}" if owner.path else name
        if not isinstance(current, TensorValue):
            raise self.state.refuse(f"assignment to the attribute {path}, which is no tensor; make it a buffer")
        if current.fake.dtype != value.fake.dtype or current.fake.shape != value.fake.shape:
            raise self.state.refuse(f"assignment to the attribute {path}, which changes its dtype or shape")
        cell = ("attribute", path)
        if cell not in self.state.heap:
            if self.state.conditional:
                raise Restart(path)
            self.first[cell] = current
        self.state.heap[cell] = (value,)

    def prepare(self, paths: list[str]) -> None:
        """Make attributes known that a branch or loop assigns."""
        for path in paths:
            owner = ModuleValue(self.script, "")
            *modules, name = path.split(".")
            for part in modules:
                owner = self.attribute(owner, part)
            current = self.attribute(owner, name)
            self.first[("attribute", path)] = current
            self.state.heap[("attribute", path)] = (current,)

    def assigned(self) -> list[tuple[TensorValue, TensorValue]]:
        """Return the attributes that were bound to another tensor: the argument of `@main`, and the new value."""
        pairs = [(first, self.state.heap[cell][0]) for cell, first in self.first.items()]
        return [(first, value) for first, value in pairs if first is not value]  # type: ignore[misc]

    def parameter(self, path: str, tensor: torch.Tensor) -> Value:
        """Return the argument of `@main` for a parameter or buffer; two names of one tensor give one argument."""
        for known in self.found:
            if known.tensor is tensor or _same_tensor(known.tensor, tensor):
                if path not in known.names:
                    known.names.append(path)
                return known.value
        state = self.state
        if tensor.layout != torch.strided:
            raise state.refuse(f"the attribute {path}, a tensor that is not strided")
        if tensor.is_quantized:
            raise state.refuse(f"the attribute {path}, a quantized tensor")
        fake = fake_like(state, tensor)
        with state.emitter.context:
            argument = state.emitter.entry.add_argument(state.type_of(fake), ir.Location.unknown())
        storage: Site = ("parameter", path)
        value = TensorValue(argument, fake, frozenset([storage]), object(), sympy.Integer(tensor.storage_offset()))
        self.found.append(FoundParameter([path], tensor, value, storage))
        return value


def fake_like(state: State, tensor: torch.Tensor) -> torch.Tensor:
    """Return a FakeTensor with dtype, device, sizes, strides and storage offset of a real one, in its own storage."""
    size = tensor.untyped_storage().nbytes() // max(tensor.element_size(), 1)
    with state.symbols.mode:
        storage = torch.empty(size, dtype=tensor.dtype, device=tensor.device)
        return storage.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _same_tensor(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensor objects are one tensor (modules hand out new objects for the same one)."""
    return (
        a.numel() > 0
        and a.dtype == b.dtype
        and a.shape == b.shape
        and a.stride() == b.stride()
        and a.device == b.device
        and a.data_ptr() == b.data_ptr()
    )
