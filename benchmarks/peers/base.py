"""What the harness asks of every peer: compile a model, run it on arguments in the peer's own form, give results as
torch's.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import torch

from ..launches import Launches
from ..workload import Built

__all__ = ["Launches", "Peer", "PeerUnavailable", "Program", "move"]


class PeerUnavailable(RuntimeError):
    """The peer cannot run here, or has no version of the workload; the message says why."""


@dataclass
class Program(ABC):
    """A compiled model.

    Attributes:
        details: what there is to say about it beside times, by name, JSON values: callbacks, graph breaks, copies.
        artefact_bytes: size of the compiled code, None where it is not in one piece.
    """

    details: dict[str, Any] = field(default_factory=dict)
    artefact_bytes: int | None = None

    @abstractmethod
    def __call__(self, *args: Any) -> Any:
        """Run it on arguments that `place` returned."""

    def place(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments in the peer's own form; not timed."""
        return args

    def fetch(self, result: Any) -> Any:
        """Return a result as torch tensors and numbers; not timed."""
        return result

    def finish(self, result: Any) -> None:  # noqa: B027 - nothing to do is usual
        """Wait until a result is there, as part of the time of a call; CUDA is waited for elsewhere."""

    def recompilations(self) -> int:
        """How often it was compiled after the first time, for arguments unlike the example."""
        return 0

    def launches(self, args: tuple[Any, ...]) -> Launches | None:
        """What a call with arguments (as of the workload) launches; None where it cannot be counted."""
        return None

    def refresh(self) -> None:  # noqa: B027 - nothing to do is usual
        """Bring `details` up to date after calls."""


class Peer(ABC):
    """A way to run a model.

    Attributes:
        name: on the command line and in the JSON.
        title: in tables and plots.
        settings: how it is used, one line.
        modules: imported before anything is timed: not part of compile times, and not to be interrupted by their limit.
    """

    name: str
    title: str
    settings: str
    modules: tuple[str, ...] = ()

    def check(self, built: Built, device: str) -> None:  # noqa: B027 - nothing to do is usual
        """Say whether it can run a workload here.

        Raises:
            PeerUnavailable: it cannot.
        """

    def load(self) -> None:
        """Import `modules`."""
        for module in self.modules:
            importlib.import_module(module)

    @abstractmethod
    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        """Compile a workload for arguments like these; what the first call compiles need not be done here.

        Args:
            built: the workload, its model on the device.
            args: the example, on the device; not written.
            device: "cpu" or "cuda".
        Raises:
            Exception: whatever the peer raises for what it does not take.
        """

    def forget(self) -> None:  # noqa: B027 - nothing to do is usual
        """Drop what the process remembers of earlier compilations, so that only caches on disk are left."""

    def restart(self, built: Built, program: Program, args: tuple[Any, ...], device: str) -> Program:
        """Make the program again, with what a new process would find on disk.

        Args:
            built: the workload, its model on the device.
            program: what `compile` returned; it is not used any more.
            args: the example, on the device.
            device: "cpu" or "cuda".
        """
        self.forget()
        return self.compile(built, args, device)


def move(value: Any, device: str) -> Any:
    """Return nested lists and tuples with their tensors on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return type(value)(move(item, device) for item in value)
    return value
