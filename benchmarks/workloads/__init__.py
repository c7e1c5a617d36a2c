"""The benchmark programs, by name. All are imperative PyTorch, written here from published descriptions."""

from __future__ import annotations

from ..workload import Workload
from . import (
    adaptive,
    boxes,
    decoding,
    detection,
    discrete,
    filtered,
    growing,
    masks,
    networks,
    numeric,
    recurrent,
    sampling,
    small,
)

__all__ = ["WORKLOADS"]

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for module in (
        recurrent,
        decoding,
        growing,
        sampling,
        detection,
        filtered,
        masks,
        networks,
        boxes,
        numeric,
        adaptive,
        discrete,
        small,
    )
    for workload in module.WORKLOADS
}
