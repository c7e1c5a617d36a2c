"""What `@main` takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["ArgumentInfo", "ResultInfo", "Signature"]


@dataclass(frozen=True)
class ArgumentInfo:
    """One argument of `@main`.

    Attributes:
        name: as the user sees it.
        kind: "tensor", "int", "float" or "bool".
        dtype: dtype of a tensor, None for scalars.
        shape: sizes of a tensor, None where any size goes; () for scalars.
        parameter: qualified name of a parameter or buffer, "" for an argument of the user's.
        written: whether the program writes it.
    """

    name: str
    kind: str
    dtype: torch.dtype | None
    shape: tuple[int | None, ...]
    parameter: str = ""
    written: bool = False


@dataclass(frozen=True)
class ResultInfo:
    """One result of `@main`.

    Attributes:
        kind: "tensor", "int", "float" or "bool".
        dtype: dtype of a tensor, None for scalars.
        writeback: number of the argument whose final contents this is, None for a result of the user's.
        alias_of: number of the argument that this result is, None if it is not one.
        same_as: number of the earlier result that this one is, None if it is not one.
    """

    kind: str
    dtype: torch.dtype | None
    writeback: int | None = None
    alias_of: int | None = None
    same_as: int | None = None

    @property
    def is_old(self) -> bool:
        """Whether it is an argument or an earlier result."""
        return self.alias_of is not None or self.same_as is not None


@dataclass(frozen=True)
class Signature:
    """Arguments and results of `@main` in order."""

    arguments: tuple[ArgumentInfo, ...]
    results: tuple[ResultInfo, ...]
