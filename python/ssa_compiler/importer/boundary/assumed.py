"""What a program takes for granted of its arguments, which each call checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...abi.assumptions import DistinctStorage, FlagOff, NotInferred, SameObject, StorageAsExample, StridesAsExample
from ...abi.convention import Assumption
from ...abi.object_writeback import ChangedObject, OwnObject
from ..values.state import State
from ..values.values import Site

__all__ = ["assumptions_of"]


def assumptions_of(
    state: State, storages: Mapping[int, Site], changed: Iterable[ChangedObject]
) -> tuple[Assumption, ...]:
    """Return the assumptions that importing a program left.

    Args:
        state: the interpretation, at its end.
        storages: the storage of each tensor among `@main`'s arguments, by its number.
        changed: the caller's objects that change shape.
    """
    layouts, memory = state.layouts, state.storages
    found: list[Assumption] = []
    for index, storage in storages.items():
        if storage in layouts.reasons:
            found.append(StridesAsExample(index, layouts.reasons[storage], storage in layouts.exact))
        if storage in memory.plain_reasons:
            flag, reason = memory.plain_reasons[storage]
            found.append(FlagOff(index, flag, reason, flag == "requires_grad" and storage in memory.requiring))
        if storage in memory.storage_reasons:
            offset, size, reason = memory.storage_reasons[storage]
            found.append(StorageAsExample(index, offset, size, reason))
        if storage in memory.written and len(storages) > 1:
            found.append(DistinctStorage(index, "the program writes it"))
    found += [OwnObject(change.index, change.contents is not None) for change in changed]
    found += [NotInferred(index, op) for index, op in state.sizes_given.items()]
    found += [SameObject(one, other, same) for (one, other), same in state.identities.items()]
    return tuple(found)
