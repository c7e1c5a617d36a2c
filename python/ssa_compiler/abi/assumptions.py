"""What an imported program takes for granted of its arguments, which each call checks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DistinctStorage", "FlagOff", "NotInferred", "SameObject", "StorageAsExample", "StridesAsExample"]


@dataclass(frozen=True)
class StridesAsExample:
    """The text is right only if argument `index` of `@main` has the strides recorded in its spec.

    Taken where an op aliases or copies depending on strides (`reshape`, `contiguous`, ...) and that can be told.
    Dimensions of size 1 do not matter, unless the assumption is `exact`.
    """

    index: int
    reason: str
    exact: bool = False


@dataclass(frozen=True)
class FlagOff:
    """The text is right only if a flag of argument `index` is off, or `expected`: the program, or an op, asked for it.

    Attributes:
        index: index among `@main`'s arguments.
        flag: "is_conj", "is_neg" or "requires_grad".
        reason: what asked.
    """

    index: int
    flag: str
    reason: str
    expected: bool = False


@dataclass(frozen=True)
class NotInferred:
    """The text is right only if argument `index` of `@main`, an int, is not -1: the op `op` takes that for a size to
    infer.
    """

    index: int
    op: str


@dataclass(frozen=True)
class StorageAsExample:
    """The text is right only if argument `index` of `@main` lies in its storage as the example did.

    Taken where an op counts from the start of the storage (`as_strided` with a storage offset).

    Attributes:
        index: index among `@main`'s arguments.
        offset: the storage offset (elements) that the argument has to have.
        size: how many elements its storage has to have; None if that does not matter.
        reason: the op.
    """

    index: int
    offset: int
    size: int | None
    reason: str


@dataclass(frozen=True)
class DistinctStorage:
    """The text is right only if argument `index`, which the program writes, shares no memory with any other
    argument.
    """

    index: int
    reason: str


@dataclass(frozen=True)
class SameObject:
    """The program asks whether two tensor arguments are one object (`query is key`) and was imported for the answer
    `same`.

    Attributes:
        first: index among `@main`'s arguments.
        second: index among `@main`'s arguments.
        same: whether `first is second` has to hold.
    """

    first: int
    second: int
    same: bool
