"""`torch.autocast` around ops that a program runs: their operands have been converted already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

__all__ = ["has_autocast_kernel", "off", "off_for"]


@cache
def _has_kernel(name: str, device: str) -> bool:
    import torch

    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, f"Autocast{device.upper()}"))


def has_autocast_kernel(name: str) -> bool:
    """Whether autocast, as it is now, has a kernel for an op: it converts operands, and turns itself off in the op.

    Args:
        name: the operator, `namespace::name.overload`.
    """
    import torch

    enabled: bool = torch._C._is_any_autocast_enabled()
    return enabled and any(
        torch.is_autocast_enabled(device) and _has_kernel(name, device) for device in ("cpu", "cuda")
    )


@contextmanager
def off() -> Iterator[None]:
    """Turn autocast off."""
    import torch

    with torch.autocast("cpu", enabled=False), torch.autocast("cuda", enabled=False):
        yield


def off_for(name: str) -> AbstractContextManager[None]:
    """Return a context in which autocast is off if it converts an op's operands: the program says how they are
    converted.

    What has no such kernel, an op of the user's for one, may use ops that have.

    Args:
        name: the operator, `namespace::name.overload`.
    """
    return off() if has_autocast_kernel(name) else nullcontext()
