"""Ops whose kernels for FakeTensors ask what nobody knows yet, though the answer does not matter for their result.

Which these are depends on PyTorch: later versions ask less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

from ..values.symbols import Symbols

__all__ = ["own_kernel", "without_guards"]

_EXAMPLES = {torch.SymInt: 2, torch.SymFloat: 2.0}


@cache
def _copies_ask() -> bool:
    """Whether the kernel of `copy_` asks whether a size is 1."""
    symbols = Symbols()
    with _disable_current_modes(), symbols.mode:
        source, target = (torch.empty([symbols.integer("size", 0)]) for _ in range(2))
        try:
            target.copy_(source)
        except GuardOnDataDependentSymNode:
            return True
    return False


def own_kernel(op: Any, args: Sequence[Any]) -> Callable[..., Any] | None:
    """Return what runs on FakeTensors in the place of an op; None if the op itself does.

    Args:
        op: an OpOverload.
        args: its positional arguments.
    """
    if op is not torch.ops.aten.copy_.default:
        return None
    dynamic = any(not isinstance(size, int) for tensor in args[:2] for size in tensor.shape)
    return _copy if dynamic and _copies_ask() else None


def _copy(target: torch.Tensor, source: torch.Tensor, _: bool = False) -> torch.Tensor:
    source.expand(target.shape)  # which requires that the sizes fit
    return target


def without_guards(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return what an op gives whose kernel asked about a dynamic number.

    Args:
        op: an OpOverload that raised.
        args: its positional arguments; tensors are fake.
        kwargs: its keyword arguments.
    Raises:
        GuardOnDataDependentSymNode: it asks about something else.
    """
    if torch.Tag.pointwise in op.tags:
        # Numbers decide neither on the shape nor, but for their kind, on the dtype.
        args, kwargs = tree_map(lambda leaf: _EXAMPLES.get(type(leaf), leaf), (tuple(args), kwargs))
    return op(*args, **kwargs)
