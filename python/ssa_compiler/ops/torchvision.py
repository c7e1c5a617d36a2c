"""torchvision's operators, defined where torchvision is not installed: schemas, shapes, and what they compute in PyTorch."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import torch
from torch import Tensor

__all__ = ["define_missing"]

_LIBRARIES: list[Any] = []
"""Keeps the definitions alive."""


@cache
def define_missing() -> tuple[str, ...]:
    """Define the operators of torchvision that nobody has defined.

    Where torchvision is installed, it is left to whoever uses it to import it; nothing is defined, as it could not define
    its own then.

    Returns:
        The names of the operators that were defined.
    """
    if importlib.util.find_spec("torchvision") is not None:
        return ()
    defined = []
    library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    _LIBRARIES.append(library)
    for name, (schema, plain, shapes) in _OPERATORS.items():
        if hasattr(torch.ops.torchvision, name):
            continue
        library.define(f"{name}{schema}")  # type: ignore[no-untyped-call]
        library.impl(name, plain, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
        torch.library.register_fake(f"torchvision::{name}", shapes, lib=library)
        defined.append(f"torchvision::{name}")
    return tuple(defined)


def _check_boxes(dets: Tensor, scores: Tensor) -> None:
    _require(dets.dim() == 2, f"boxes should be a 2d tensor, got {dets.dim()}D")
    _require(dets.size(1) == 4, f"boxes should have 4 elements in dimension 1, got {dets.size(1)}")
    _require(scores.dim() == 1, f"scores should be a 1d tensor, got {scores.dim()}")
    _require(dets.size(0) == scores.size(0), "boxes and scores should have same number of elements in dimension 0")


def _require(condition: Any, message: str) -> None:
    """Raise unless a condition holds; symbolic ones become requirements of the program."""
    torch._check(condition, lambda: message)  # type: ignore[no-untyped-call]


def _nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    _check_boxes(dets, scores)
    left, top, right, bottom = dets.unbind(1)
    areas = (right - left) * (bottom - top)
    order = scores.argsort(stable=True, descending=True)
    kept = []
    while order.numel():
        best, order = order[0], order[1:]
        kept.append(best)
        width = (right[order].minimum(right[best]) - left[order].maximum(left[best])).clamp(min=0)
        height = (bottom[order].minimum(bottom[best]) - top[order].maximum(top[best])).clamp(min=0)
        common = width * height
        overlap = common / (areas[order] + areas[best] - common)
        # The threshold is a double to torchvision; what is not a number is above none.
        order = order[(overlap.to(torch.float64) > iou_threshold).logical_not()]
    return torch.stack(kept) if kept else torch.zeros([0], dtype=torch.int64, device=dets.device)


def _nms_shapes(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    _check_boxes(dets, scores)
    count = torch.library.get_ctx().new_dynamic_size()
    return dets.new_empty([count], dtype=torch.int64)


_OPERATORS = {
    "nms": ("(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", _nms, _nms_shapes),
}
