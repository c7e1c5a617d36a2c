"""Objects with tensors or state that a function finds in global names and closures, as attributes of a module.

A program reads tensors, and stores what it assigns, by the names of attributes of a module. That of a function is made
of the places where such objects are found. The modules among them are its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .object_guards import MISSING, Place

__all__ = ["Surroundings"]


class Surroundings(torch.nn.Module):
    """A module whose attributes are what is at some places now."""

    __jit_ignored_attributes__ = ("_places",)

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, Place] = {}
        self.eval()

    def name_of(self, place: Place) -> str:
        """Return the name of the attribute for a place.

        Args:
            place: where an object is found.
        """
        for name, known in self._places.items():
            if known.holder is place.holder and known.steps == place.steps:
                return name
        text = "".join(each if each.isalnum() else "_" for each in place.text)
        name = next(
            each for each in (text, *(f"{text}_{k}" for k in range(2, len(self._places) + 4))) if self._is_unused(each)
        )
        self._places[name] = place
        return name

    def _is_unused(self, name: str) -> bool:
        is_taken = name in self._places or name in self._modules or name in vars(self)
        return not is_taken and not hasattr(torch.nn.Module, name)

    def add_part(self, module: torch.nn.Module) -> None:
        """Let a module that the function finds there be a part, if it is none."""
        if all(module is not part for part in self.modules()):
            self.add_module(f"part_{len(self._modules)}", module)

    def found(self) -> Iterator[tuple[str, Any]]:
        """Iterate over the attributes: the names, and what is there now."""
        for name, place in self._places.items():
            yield name, place.current()

    def __getattr__(self, name: str) -> Any:
        place = vars(self).get("_places", {}).get(name)
        found = MISSING if place is None else place.current()
        return super().__getattr__(name) if found is MISSING else found
