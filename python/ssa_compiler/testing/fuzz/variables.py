"""What a random program has: tensor variables, views of them, and targets of writes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch

__all__ = ["DTYPES", "KINDS", "MAX_DEPTH", "MAX_RANK", "Shape", "Sketch", "Target", "Var", "overlaps_itself"]


Shape = tuple[int, ...]


DTYPES = {"float32": torch.float32, "float64": torch.float64, "int64": torch.int64, "bool": torch.bool}


_NAMES = {dtype: name for name, dtype in DTYPES.items()}


MAX_RANK = 4


MAX_DEPTH = 3


KINDS = {"write": 5.0, "view": 3.0, "statement": 3.0, "python": 0.6}


@dataclass
class Var:
    """A tensor that the program can name.

    Attributes:
        text: its name, or an expression that names it (`self.state`, `items[0]`).
        model: a meta tensor with its shape, dtype and strides.
        roots: the storages that it may live in.
        region: the region it was made in.
        is_view: whether it was made by a view.
        uncertain: whether its strides depend on control flow.
        rebindable: whether it is a plain name.
    """

    text: str
    model: torch.Tensor
    roots: set[int]
    region: int = 0
    is_view: bool = False
    uncertain: bool = False
    rebindable: bool = True

    @property
    def shape(self) -> Shape:
        """Its sizes."""
        return tuple(self.model.shape)

    @property
    def dtype(self) -> str:
        """Name of its dtype, `float32`."""
        return _NAMES[self.model.dtype]

    @property
    def writable(self) -> bool:
        """Whether no two of its elements share memory."""
        return not overlaps_itself(self.model)


@dataclass(frozen=True)
class Sketch:
    """A view: what to write after the base's text, and the same with constants to apply to its model.

    Attributes:
        text: `{}` stands for the base: `{}.select(0, n % 4)`.
        model: the same for the model: `{}.select(0, 0)`; `text` if None.
    """

    text: str
    model: str | None = None


@dataclass(frozen=True)
class Target:
    """What a write writes to: a name, or a view expression of one."""

    text: str
    var: Var

    @property
    def shape(self) -> Shape:
        """Its sizes."""
        return self.var.shape

    @property
    def dtype(self) -> str:
        """Name of its dtype."""
        return self.var.dtype


def overlaps_itself(model: torch.Tensor) -> bool:
    """Whether two elements of a tensor lie at one place; exact, for small tensors."""
    if model.is_contiguous():
        return False
    ranges = [range(size) for size in model.shape]
    places = [sum(i * s for i, s in zip(index, model.stride())) for index in itertools.product(*ranges)]
    return len(set(places)) != len(places)
