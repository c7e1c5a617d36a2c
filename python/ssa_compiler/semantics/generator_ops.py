"""What TorchScript does not have of `torch.Generator`, as operators, `ssa_generators::make` and alike.

It makes one constant of all calls of `torch.Generator()`, and has no `get_state`. An operator whose effects are not
known it leaves where it is.
"""

from __future__ import annotations

import torch

from .ignored_functions import keep_library

__all__ = ["MAKE", "NAMESPACE", "STATE_OPS"]

NAMESPACE = "ssa_generators"
"""The operators' namespace."""
MAKE = "make"
"""The operator that is `torch.Generator`."""
STATE_OPS = ("get_state", "set_state", "clone_state")
"""Methods of a generator that are operators, too."""

_STATE_SIZES: dict[str, int] = {}

_library = torch.library.Library(NAMESPACE, "DEF")  # type: ignore[no-untyped-call]
keep_library(_library)


def _define(schema: str, function: object) -> None:
    _library.define(schema, "CONSERVATIVE")  # type: ignore[no-untyped-call]
    _library.impl(schema.partition("(")[0], function, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]


def _make(device: torch.device | None = None) -> torch.Generator:
    return torch.Generator() if device is None else torch.Generator(device)


def _state_size(generator: torch.Generator) -> int:
    """The number of bytes of a generator's state."""
    kind = generator.device.type
    if kind not in _STATE_SIZES:
        _STATE_SIZES[kind] = generator.get_state().numel()
    return _STATE_SIZES[kind]


def _fake_state(generator: torch.Generator) -> torch.Tensor:
    return torch.empty(_state_size(generator), dtype=torch.uint8)


_define("make(Device? device=None) -> Generator", _make)
_define("clone_state(Generator self) -> Generator", lambda generator: generator.clone_state())
_define("get_state(Generator self) -> Tensor", lambda generator: generator.get_state())
_define(
    "set_state(Generator self, Tensor new_state) -> ()", lambda generator, state: generator.set_state(state) and None
)
torch.library.register_fake(f"{NAMESPACE}::get_state", _fake_state, lib=_library)
