"""Reading the parameters that the user's module holds now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..abi.module_state import ParameterSpec

__all__ = ["CurrentParameters"]


class CurrentParameters:
    """Reads the parameters that the user's module holds now, without walking its attributes at every call.

    A parameter may be replaced (`model.weight = ...`), and so may a submodule: the dictionaries that hold them are
    kept, and that they still are the module's is checked at each call.
    """

    def __init__(self, parameters: Sequence[ParameterSpec]) -> None:
        self._parameters = parameters
        self._find()

    def _find(self) -> None:
        self._links: list[tuple[dict[str, Any], str, Any]] = []
        self._slots: list[tuple[dict[str, Any], str]] = []
        self._direct = True
        seen: set[tuple[int, str]] = set()
        for parameter in self._parameters:
            owner = parameter.owner
            *path, name = parameter.name.split(".")
            for part in path:
                modules = getattr(owner, "__dict__", {}).get("_modules")
                if not isinstance(modules, dict) or part not in modules:
                    self._direct = False
                    return
                if (id(modules), part) not in seen:
                    seen.add((id(modules), part))
                    self._links.append((modules, part, modules[part]))
                owner = modules[part]
            state = getattr(owner, "__dict__", {})
            holders = [state.get("_parameters"), state.get("_buffers")]
            fitting = [holder for holder in holders if isinstance(holder, dict) and holder.get(name) is not None]
            if not fitting:
                self._direct = False
                return
            self._slots.append((fitting[0], name))

    def current(self) -> list[Any]:
        """Return the tensor of each parameter.

        Raises:
            ArgumentTypeError: the module has no tensor of that name any more.
        """
        if self._direct:
            for modules, part, module in self._links:
                if modules.get(part) is not module:
                    self._find()
                    break
        if self._direct:
            found = [holder.get(name) for holder, name in self._slots]
            if all(tensor is not None for tensor in found):
                return found
        return [parameter.current() for parameter in self._parameters]
