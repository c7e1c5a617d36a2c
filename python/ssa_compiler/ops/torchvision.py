"""torchvision's operators, defined where torchvision is not installed: schemas, shapes, and what they compute in
PyTorch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from ..process.interrupts import uninterrupted

__all__ = ["define_missing"]

_LIBRARIES: list[Any] = []
"""Keeps the definitions alive."""


@cache
@uninterrupted
def define_missing() -> tuple[str, ...]:
    """Define the operators of torchvision that nobody has defined.

    Where torchvision is installed, it is left to whoever uses it to import it; nothing is defined, as it could not
    define its own then.

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


def _check_regions(input: Tensor, rois: Tensor) -> None:
    _require(input.dim() == 4, f"input should be a 4d tensor, got {input.dim()}D")
    _require(rois.dim() == 2 and rois.size(1) == 5, "rois must have shape as Tensor[K, 5]")
    _require(input.dtype == rois.dtype, "expected input and rois to have the same dtype")


def _samples(start: Any, size: Any, bins: int, ratio: int, extent: int) -> list[list[tuple[int, int, float] | None]]:
    """For each bin of a region along one dimension, its samples: two elements and the weight of the second; None
    outside.
    """
    count = ratio if ratio > 0 else int(torch.ceil(size / bins))
    found: list[list[tuple[int, int, float] | None]] = []
    for number in range(bins):
        places = [float(start + number * (size / bins) + (n + 0.5) * (size / bins) / count) for n in range(count)]
        found.append([])
        for place in places:
            if not -1.0 <= place <= extent:
                found[-1].append(None)
                continue
            low = min(max(int(place), 0), extent - 1)
            part = min(max(place - low, 0.0), 1.0) if low < extent - 1 else 0.0
            found[-1].append((low, min(low + 1, extent - 1), part))
    return found


def _roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    _check_regions(input, rois)
    result = input.new_zeros([rois.size(0), input.size(1), pooled_height, pooled_width])
    for region, pooled in zip(rois, result, strict=True):
        left, top, right, bottom = (region[1:] * spatial_scale - (0.5 if aligned else 0.0)).unbind()
        sizes = (bottom - top, right - left) if aligned else ((bottom - top).clamp(min=1), (right - left).clamp(min=1))
        rows = _samples(top, sizes[0], pooled_height, sampling_ratio, input.size(2))
        columns = _samples(left, sizes[1], pooled_width, sampling_ratio, input.size(3))
        image = input[int(region[0])]
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                for y in row:
                    for x in column:
                        if y is None or x is None:
                            continue
                        upper = torch.lerp(image[:, y[0], x[0]], image[:, y[0], x[1]], x[2])
                        lower = torch.lerp(image[:, y[1], x[0]], image[:, y[1], x[1]], x[2])
                        pooled[:, i, j] += torch.lerp(upper, lower, y[2])
                pooled[:, i, j] /= max(len(row) * len(column), 1)
    return result


def _roi_align_shapes(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    _check_regions(input, rois)
    return input.new_empty([rois.size(0), input.size(1), pooled_height, pooled_width])


_OPERATORS: dict[str, tuple[str, Callable[..., Tensor], Callable[..., Tensor]]] = {
    "nms": ("(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", _nms, _nms_shapes),
    "roi_align": (
        "(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio, "
        "bool aligned) -> Tensor",
        _roi_align,
        _roi_align_shapes,
    ),
}
