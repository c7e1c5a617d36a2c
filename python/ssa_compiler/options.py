"""What `compile` can be asked for, and what of it a front end is asked for."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

from .errors import ArgumentValueError

__all__ = ["ChangedSizes", "ImportOptions", "Options"]


@dataclass(frozen=True)
class ChangedSizes:
    """Sizes that are dynamic if the program can do with that, as they were seen to change from call to call.

    Attributes:
        sizes: each by the path of the tensor (`cache[1]`) and the dimension, in order.
    """

    sizes: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Options:
    """What `compile` was asked for, beside the model and its arguments; see there."""

    target: str = "auto"
    data_tiling: bool | None = None
    index_checks: bool = True
    dump_dir: str | os.PathLike[str] | None = None
    ssa_opt: str | os.PathLike[str] | None = None
    timeout_s: float = 300.0
    dynamic_shapes: Any = None
    strict: bool = False
    cache: bool = True
    gradients: str = "raise"
    kernels: bool = True
    fullgraph: bool = False
    exact_aliases: tuple[tuple[int, str], ...] | None = None
    most_nodes: int | None = None

    def __post_init__(self) -> None:
        timed = isinstance(self.timeout_s, (int, float)) and not isinstance(self.timeout_s, bool)
        if not timed or not 0 < self.timeout_s < math.inf:
            raise ArgumentValueError(f"timeout_s: expected a number of seconds above 0, got {self.timeout_s!r}")
        if self.gradients not in ("raise", "detach"):
            raise ArgumentValueError(f"gradients: expected 'raise' or 'detach', got {self.gradients!r}")


@dataclass(frozen=True)
class ImportOptions:
    """What `compile` asks of a front end.

    Attributes:
        index_checks: check at run time that the numbers in index tensors are in range.
        dynamic_shapes: which sizes stay dynamic; see `compile`.
        lenient: whether `dynamic_shapes` need not be kept to for these examples.
        kernels: whether loops become native kernels, so that the algorithms of the library may go number by number.
        unrolls: whether loops of few iterations that build lists are written out, however large they are.
        exact_aliases: reject results that share memory with arguments or each other in eager, and not here, but for
            these, each with the parameter whose tensor it may be: the caller knows when it is. None to take all.
        most_nodes: how many nodes of graphs may be imported in all attempts, those of loops that are written out each
            time; None for any number.
    """

    index_checks: bool = True
    dynamic_shapes: Any = None
    lenient: bool = False
    kernels: bool = False
    unrolls: bool = False
    exact_aliases: tuple[tuple[int, str], ...] | None = None
    most_nodes: int | None = None
