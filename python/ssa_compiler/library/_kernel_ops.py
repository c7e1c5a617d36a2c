"""Ops that only native kernels have: functions of `lib/Kernels/Library`, which go through their elements one by one.

They are what `ssa-opt --link-kernel-library` defines. Where a program cannot have a kernel for one, it runs here, in
PyTorch.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._bits import LIBRARY

__all__: list[str] = []


def _order(keys: Tensor) -> Tensor:
    return torch.argsort(keys, dim=1, stable=True)


def _smallest(keys: Tensor, k: int) -> Tensor:
    return _order(keys)[:, :k].contiguous()


def _smallest_shape(keys: Tensor, k: int) -> Tensor:
    return keys.new_empty([keys.size(0), k])


LIBRARY.define("order(Tensor keys) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("order", _order, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("order", torch.empty_like, "Meta")  # type: ignore[no-untyped-call]

LIBRARY.define("smallest(Tensor keys, SymInt k) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("smallest", _smallest, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("smallest", _smallest_shape, "Meta")  # type: ignore[no-untyped-call]


def _places(flags: Tensor) -> Tensor:
    found = flags.nonzero().view(-1)
    return torch.nn.functional.pad(found, (0, flags.size(0) - found.size(0)))


# The places of true elements, and zeros: as many as there are elements. The backend makes them of `nonzero`.
LIBRARY.define("places(Tensor flags) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("places", _places, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("places", lambda flags: flags.new_empty([flags.size(0)], dtype=torch.int64), "Meta")  # type: ignore[no-untyped-call]
