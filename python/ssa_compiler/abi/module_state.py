"""Parameters, buffers, numbers and containers of the user's module: where they are held, and what a call makes of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..errors import ArgumentTypeError
from .argument_specs import InputSpec, checked_scalar
from .paths import follow, holder_of
from .results import OutputSpec

__all__ = ["AttributeSpec", "ContainerSpec", "ParameterSpec", "RebindingSpec"]


@dataclass(frozen=True)
class ParameterSpec:
    """A parameter or buffer that the program uses.

    Attributes:
        name: qualified name, `layers.0.weight`.
        index: position among `@main`'s arguments.
        dtype: its dtype.
        shape: its sizes.
        strides: its strides at import (elements); matter only under a `StridesAsExample` assumption.
        owner: the user's own module; `current()` reads the tensor that it holds now.
        aliases: further qualified names that held the same tensor at import.
    """

    name: str
    index: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    owner: Any
    aliases: tuple[str, ...] = ()

    def current(self) -> torch.Tensor:
        """Return the tensor that the module holds under this name now.

        Raises:
            ArgumentTypeError: the module has no tensor of that name any more.
        """
        value = follow(self.owner, self.name)
        if not isinstance(value, torch.Tensor):
            text = f"the module holds no tensor under the name '{self.name}' any more: give it one"
            raise ArgumentTypeError(text).as_mismatch()
        return value

    def renamed(self, name: str) -> ParameterSpec:
        """Return the same parameter under another of its names."""
        return replace(self, name=name, aliases=())


@dataclass(frozen=True)
class AttributeSpec:
    """A bool, int or float attribute that the program assigns: read before the call, set after it.

    Attributes:
        name: qualified name, `layers.0.count`.
        index: position among `@main`'s arguments.
        kind: bool, int or float.
        owner: the user's own module.
        result: its value after the call.
    """

    name: str
    index: int
    kind: type
    owner: Any
    result: OutputSpec

    def current(self) -> bool | int | float:
        """Return the number that the module holds now.

        Raises:
            ArgumentTypeError: the module holds no such number under this name any more.
            ArgumentValueError: it does not fit into 64 bits.
        """
        holder, name = holder_of(self.owner, self.name)
        return checked_scalar(self.name, self.kind, getattr(holder, name, None))

    def store(self, value: bool | int | float) -> None:
        """Give the module a number."""
        holder, name = holder_of(self.owner, self.name)
        setattr(holder, name, value)


@dataclass(frozen=True)
class RebindingSpec:
    """A tensor attribute that the program assigns another tensor: set after the call.

    Attributes:
        name: qualified name, `layers.0.state`.
        owner: the user's own module.
        result: what it is after the call, a tensor or None.
        source: an int, which object that is: -1 if the program did not assign it, the number of an argument of `@main`,
            or a smaller number, one for each new object.
        returned: new objects that the user gets as well, by number.
    """

    name: str
    owner: Any
    result: OutputSpec
    source: OutputSpec
    returned: Mapping[int, OutputSpec] = field(default_factory=dict)

    def store(self, value: torch.Tensor | None) -> None:
        """Bind the attribute to a tensor, or to None.

        Raises:
            TypeError: it is a parameter, and the tensor is none.
        """
        holder, name = holder_of(self.owner, self.name)
        setattr(holder, name, value)


@dataclass(frozen=True)
class ContainerSpec:
    """A list, dict, tuple or string of the module that the program changes or assigns, or that holds tensors which are
    no parameters or buffers: passed as an argument behind the user's.

    Attributes:
        name: qualified name, `layers.0.cache`.
        spec: how its value is flattened.
        owner: the user's own module.
        result: what the attribute is bound to after the call; None if the program does not assign it.
    """

    name: str
    spec: InputSpec
    owner: Any
    result: OutputSpec | None = None

    def current(self) -> Any:
        """Return what the module holds now; None if there is no such attribute any more, which fits no `spec` of a
        container.
        """
        holder, name = holder_of(self.owner, self.name)
        return getattr(holder, name, None)

    def store(self, value: Any) -> None:
        """Bind the attribute to another value; None stands for no value if there is no such attribute."""
        holder, name = holder_of(self.owner, self.name)
        if value is not None or hasattr(holder, name):
            setattr(holder, name, value)
