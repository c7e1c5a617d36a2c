"""Running ops on real tensors while a program is imported, to see what they do.

Only ops that do nothing but compute are tried, and the caller's random numbers stay as they were. For other threads
that draw meanwhile these are not kept: that is only done where an op draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch._library.simple_registry import singleton as fake_kernels

from ..ir.purity import is_built_in

__all__ = ["Untried", "has_fake_kernel", "kept_random_numbers", "try_op"]


class Untried(RuntimeError):
    """The op is not one of PyTorch's own, or PyTorch does not survive it: running it might do anything."""


def try_op(op: Any, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Run an op.

    Args:
        op: an OpOverload.
        positional: its positional arguments, made for this.
        keywords: its keyword arguments.
    Raises:
        Untried: it is not run.
        Exception: whatever it raises.
    """
    if not is_built_in(op.name()) or _is_fatal(op, positional):
        raise Untried(op.name())
    with torch.no_grad(), kept_random_numbers(op):
        return op(*positional, **keywords)


def kept_random_numbers(op: Any) -> Any:
    """A context in which an op does not change PyTorch's random numbers."""
    return torch.random.fork_rng(devices=[]) if torch.Tag.nondeterministic_seeded in op.tags else nullcontext()


def _is_fatal(op: Any, positional: Sequence[Any]) -> bool:
    """Whether PyTorch's kernel would end the process: `arange(2**63 - 1, -1, -1)` divides -2**63 by -1."""
    return op._schema.name == "aten::arange" and any(type(n) is int and abs(n) >= 2**62 for n in positional)


def has_fake_kernel(op: Any) -> bool:
    """Whether running an op on FakeTensors runs nothing but what was made for that, or PyTorch's own code.

    Args:
        op: an OpOverload.
    """
    name = op.name()
    if is_built_in(name):
        return True
    entry = fake_kernels._data.get(name.removesuffix(".default"))  # `find` would make one
    if torch._C._dispatch_has_kernel_for_dispatch_key(name, "Meta") or (entry and entry.fake_impl.kernel):
        return True
    key = "CompositeImplicitAutograd"
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
    return composite and f"{name.replace('::', '/')}/{key}" not in torch.library._impls
