"""`update` of a dict by another one, either of which has dynamic keys: a loop over the other one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Dict  # noqa: UP035 - TorchScript

import torch

from ..containers.containers import Containers
from ..values.values import DictRef, Value

__all__ = ["update"]


def _put(target: Dict[int, int], other: Dict[int, int]) -> None:  # noqa: UP006 - TorchScript
    for key, element in other.items():
        target[key] = element


@cache
def _program() -> Any:
    return torch.jit.script(_put)


def update(containers: Containers, arguments: Sequence[Value], call: Callable[[str, Any, list[Value]], Value]) -> bool:
    """Import such an update; returns whether one is such.

    Args:
        containers: the program's dicts.
        arguments: the dicts.
        call: inlines a TorchScript function, given its name, graph and arguments.
    """
    dicts = [value for value in arguments if isinstance(value, DictRef)]
    if len(dicts) != 2 or not any(map(containers.has_dynamic_keys, dicts)):
        return False
    call(_program().qualified_name, _program().graph, [*dicts])
    return True
