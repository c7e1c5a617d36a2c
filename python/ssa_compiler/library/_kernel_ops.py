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


def _nth(keys: Tensor, numbers: Tensor) -> Tensor:
    return _order(keys).gather(1, numbers.unsqueeze(1)).squeeze(1)


def _nth_shape(keys: Tensor, numbers: Tensor) -> Tensor:
    return torch.empty_like(numbers)


for _name in ("order", "order_low"):  # the latter of keys from 0 to 2^32 - 1
    LIBRARY.define(f"{_name}(Tensor keys) -> Tensor")  # type: ignore[no-untyped-call]
    LIBRARY.impl(_name, _order, "CPU")  # type: ignore[no-untyped-call]
    LIBRARY.impl(_name, torch.empty_like, "Meta")  # type: ignore[no-untyped-call]

for _name in ("smallest", "smallest_low"):
    LIBRARY.define(f"{_name}(Tensor keys, SymInt k) -> Tensor")  # type: ignore[no-untyped-call]
    LIBRARY.impl(_name, _smallest, "CPU")  # type: ignore[no-untyped-call]
    LIBRARY.impl(_name, _smallest_shape, "Meta")  # type: ignore[no-untyped-call]


def _running_largest(keys: Tensor) -> Tensor:
    return keys.cummax(1).indices


LIBRARY.define("running_largest(Tensor keys) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("running_largest", _running_largest, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("running_largest", torch.empty_like, "Meta")  # type: ignore[no-untyped-call]

LIBRARY.define("nth(Tensor keys, Tensor numbers) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("nth", _nth, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("nth", _nth_shape, "Meta")  # type: ignore[no-untyped-call]


def _places(flags: Tensor) -> Tensor:
    found = flags.nonzero().view(-1)
    return torch.nn.functional.pad(found, (0, flags.size(0) - found.size(0)))


# The places of true elements, and zeros: as many as there are elements. The backend makes them of `nonzero`.
LIBRARY.define("places(Tensor flags) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.impl("places", _places, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("places", lambda flags: flags.new_empty([flags.size(0)], dtype=torch.int64), "Meta")  # type: ignore[no-untyped-call]
