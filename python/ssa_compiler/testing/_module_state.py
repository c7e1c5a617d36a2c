"""What a module holds: what two sides of a call are compared by, beside results and arguments."""

from __future__ import annotations

from typing import Any

import torch

from ._compare import leaves

__all__ = ["module_state"]

_STATE = (bool, int, float, str, torch.Tensor, type(None))


def module_state(model: Any) -> dict[str, Any]:
    """The parameters and buffers of a module, and its attributes that are numbers, strings, None, tensors or containers
    of these, by qualified name.
    """
    if not isinstance(model, torch.nn.Module):
        return {}
    numbers = {
        f"{path}.{name}".removeprefix("."): value
        for path, module in model.named_modules(remove_duplicate=False)
        for name, value in vars(module).items()
        if not name.startswith("_") and (value is None or all(isinstance(leaf, _STATE) for leaf in leaves(value)))
    }
    return numbers | {
        name: tensor.detach()
        for name, tensor in (
            *model.named_parameters(remove_duplicate=False),
            *model.named_buffers(remove_duplicate=False),
        )
    }
