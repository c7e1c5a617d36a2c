"""The memory of the program's tensors: when it was written, whose it is, and what may alias it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .diagnostics import Diagnostics
from .plan import AnotherPlan
from .symbols import COUNTS
from .values import MaybeAlias, Site, TensorValue, made_at

__all__ = ["Storages"]


class Storages:
    """What is known of each storage; a storage is named by the place that made it.

    Attributes:
        stamps: time of the last write to each storage.
        clock: the time; it advances with each write.
        written: every storage written so far, whether that code is reached or not.
        counted: tensors of which an op has made symbols, such as the number of their nonzero elements, for the next
            such op.
        requiring: storages of the caller's tensors that require gradients.
        recorded: the storages that ops use outside of `torch.no_grad()`, where eager may record gradients.
        grad_mode: whether gradients are recorded at import; None as long as the program does not ask.
        grad_modes: the contexts (`torch.no_grad()`) that the code at hand is in.
        plain_reasons: storages of tensors of which the program asked what no call may change, with what and the op.
        storage_reasons: storages of arguments that an op counts in from their start: the storage offset and, where it
            matters, the size of the storage, in elements, and the op.
        owners: the tensor that a storage was made with, by root.
        lengths: how many elements the storages of the caller's tensors hold, by root; the others hold one tensor each.
        questioned: the storages of which it matters when they were written: what a tensor may alias, depending on what
            only a run decides, and what holds a number of the program.
    """

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self.stamps: dict[Site, int] = {}
        self.clock = 0
        self.written: set[Site] = set()
        self.counted: list[TensorValue] = []
        self.requiring: set[Site] = set()
        self.recorded: set[Site] = set()
        self.grad_mode: bool | None = None
        self.grad_modes: list[bool] = []
        self.plain_reasons: dict[Site, tuple[str, str]] = {}
        self.storage_reasons: dict[Site, tuple[int, int | None, str]] = {}
        self.owners: dict[Any, TensorValue] = {}
        self.lengths: dict[Any, int] = {}
        self.questioned: set[Site] = set()

    def records_gradients(self) -> bool:
        """Whether eager records gradients here; where it depends on the caller, calls check that."""
        if self.grad_modes:
            return self.grad_modes[-1]
        self.grad_mode = torch.is_grad_enabled()
        return self.grad_mode

    def need_plain(self, value: TensorValue, flag: str, op: str) -> None:
        """Note that the program asked for a flag of a tensor, and was told that it is off, or as in the example.

        Args:
            value: the tensor.
            flag: "is_conj", "is_neg" or "requires_grad".
            op: what asked.
        """
        for storage in value.storages:
            self.plain_reasons.setdefault(storage, (flag, f"{op} at {self._diagnostics.locations.user()}"))

    def note_gradients(self, value: TensorValue) -> None:
        """Note that an op uses a tensor, which eager may record for gradients."""
        if not self.grad_modes or self.grad_modes[-1]:
            self.recorded |= value.storages

    def use(self, value: TensorValue, op: str) -> None:
        """Check that the value's contents are what eager would see.

        Raises:
            UnsupportedProgramError: it aliases or not depending on a run-time size, and what it may alias was written.
        """
        for maybe in value.maybe:
            if any(self.stamps.get(made_at(storage), 0) > maybe.stamp for storage in maybe.storages):
                if maybe.retry is not None:
                    raise AnotherPlan.without({maybe.retry})
                raise self._diagnostics.unsupported(
                    f"{op} reads the result of {maybe.op} at {maybe.location}, which aliases or copies depending on a "
                    "run-time size, after what it may alias was written; call .clone() there"
                )

    def write(self, value: TensorValue, op: str) -> None:
        """Note a write to the value's storages.

        Raises:
            UnsupportedProgramError: it depends on a run-time size what is written.
        """
        for maybe in value.maybe:
            if maybe.retry is not None:
                raise AnotherPlan.without({maybe.retry})
            raise self._diagnostics.unsupported(
                f"{op} writes the result of {maybe.op} at {maybe.location}, which aliases or copies depending on a "
                "run-time size; call .clone() there"
            )
        self.clock += 1
        storages = {made_at(storage) for storage in value.storages}
        for counted in [value for value in self.counted if not storages.isdisjoint(map(made_at, value.storages))]:
            for name in COUNTS:
                setattr(counted.fake, name, None)
            self.counted.remove(counted)
        self.stamps.update(dict.fromkeys(storages, self.clock))
        self.written |= storages

    def settle(self, value: TensorValue, op: str, *, strides: bool = False) -> None:
        """Find out whether a tensor aliases or is a copy, for an op that asks where it lies in memory.

        Args:
            value: the tensor.
            op: the op.
            strides: whether only its strides are asked for.

        Raises:
            UnsupportedProgramError: that depends on a run-time size.
        """
        for maybe in value.maybe:
            if strides and maybe.alike:
                continue
            if maybe.retry is not None:
                raise AnotherPlan.without({maybe.retry})
            raise self._diagnostics.unsupported(
                f"{op} of the result of {maybe.op} at {maybe.location}, which aliases or copies depending on a run-time "
                "size; call .clone() there"
            )

    def maybe_alias(
        self,
        value: TensorValue,
        sources: list[TensorValue],
        op: str,
        retry: Any = None,
        interferes: Callable[[TensorValue, TensorValue], bool] | None = None,
        *,
        alike: bool = False,
    ) -> None:
        """Note that `value` aliases `sources` or is a copy, depending on a run-time size or on a layout that control
        flow decides.

        Args:
            value: a result.
            sources: the arguments that it may alias.
            op: the op that made it.
            retry: the key of a `Retry` that makes it a sure alias; None if it cannot be made one.
            interferes: see `MaybeAlias`.
            alike: likewise.
        """
        value.maybe += tuple(dict.fromkeys(question for source in sources for question in source.maybe))
        storages = frozenset().union(*(source.storages for source in sources))
        self.questioned |= set(map(made_at, storages))
        place = self._diagnostics.locations.user()
        value.maybe += (MaybeAlias(storages, self.clock, op, place, retry, interferes, alike),)
