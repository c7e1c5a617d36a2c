"""PyTorch as it is: what every other peer is compared with."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..workload import Built
from .base import Launches, Peer, Program

__all__ = ["Eager", "count_operators"]


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operators that compute something: neither views, nor what only asks for a number or makes memory."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kernels = 0
        self.copies = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        aliases = any(value.alias_info is not None and not value.alias_info.is_write for value in func._schema.returns)
        if name in ("copy_", "clone", "_to_copy", "zeros", "fill_", "zero_", "full", "_local_scalar_dense"):
            self.copies += 1
        elif not aliases and name not in ("detach", "empty", "empty_like", "new_empty", "empty_strided"):
            self.kernels += 1
        return func(*args, **(kwargs or {}))


def count_operators(call: Any, args: tuple[Any, ...]) -> Launches:
    """Count the operators of one call, each about one kernel.

    Args:
        call: runs operators through PyTorch's dispatcher.
        args: its arguments.
    """
    with _Counter() as counter, torch.no_grad():
        call(*args)
    return Launches(counter.kernels, counter.copies, "operators dispatched, without views")


class _EagerProgram(Program):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def __call__(self, *args: Any) -> Any:
        return self.model(*args)

    def launches(self, args: tuple[Any, ...]) -> Launches | None:
        return count_operators(self.model, args)


class Eager(Peer):
    """Eager PyTorch under `torch.no_grad()`."""

    name = "eager"
    title = "eager"
    settings = "PyTorch, torch.no_grad()"

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        return _EagerProgram(built.model)
