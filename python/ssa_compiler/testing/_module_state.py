"""What a module holds: what two sides of a call are compared by, beside results and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ._compare import leaves

__all__ = ["module_state"]

_STATE = (bool, int, float, str, torch.Tensor, type(None))


def module_state(model: Any) -> dict[str, Any]:
    """The parameters and buffers of a module, and its attributes, and those of objects that it holds, that are numbers,
    strings, None, tensors or containers of these, by qualified name.
    """
    if not isinstance(model, torch.nn.Module):
        return {}
    numbers = {
        f"{path}.{name}".removeprefix("."): value
        for path, space in _spaces(model)
        for name, value in space.items()
        if not name.startswith("_") and (value is None or all(isinstance(leaf, _STATE) for leaf in leaves(value)))
    }
    return numbers | {
        name: tensor.detach()
        for name, tensor in (
            *model.named_parameters(remove_duplicate=False),
            *model.named_buffers(remove_duplicate=False),
        )
    }


def _spaces(model: torch.nn.Module) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over the attributes of modules, and of the user's objects that they hold."""
    pending = [(path, vars(module)) for path, module in model.named_modules(remove_duplicate=False)]
    seen = set[int]()
    while pending:
        path, space = pending.pop()
        yield path, space
        for name, value in space.items():
            kind = type(value)
            own = kind.__module__.partition(".")[0] not in ("builtins", "torch", "collections", "enum", "functools")
            is_object = own and not isinstance(value, (type, torch.nn.Module, torch.Tensor)) and not callable(value)
            if is_object and hasattr(value, "__dict__") and id(value) not in seen:
                seen.add(id(value))
                pending.append((f"{path}.{name}".removeprefix("."), vars(value)))
