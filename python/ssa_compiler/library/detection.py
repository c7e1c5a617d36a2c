"""Ops of torchvision: non-maximum suppression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _round_down(number: float, dtype: torch.dtype) -> Tensor:
    """The largest float of a dtype that is not above a number, [1]: what is above one is above the other."""
    exact = torch.full([1], number, dtype=torch.float64)
    if dtype == torch.float64:
        return exact
    rounded = exact.to(torch.float32)
    bits = torch.ops.ssa_compiler.bits(rounded)
    lower = torch.ops.ssa_compiler.from_bits(torch.where(bits > 0, bits - 1, bits + 1))
    return torch.where(rounded.to(torch.float64) > exact, lower, rounded)


def _overlaps(some: Tensor, others: Tensor, threshold: Tensor) -> Tensor:
    """Whether boxes overlap more than a threshold, as torchvision computes it: bool [n, m] of [n, 4] and [m, 4]."""
    left, top, right, bottom = some.unsqueeze(1).unbind(2)
    left_of, top_of, right_of, bottom_of = others.unsqueeze(0).unbind(2)
    width = (torch.minimum(right, right_of) - torch.maximum(left, left_of)).clamp(min=0)
    height = (torch.minimum(bottom, bottom_of) - torch.maximum(top, top_of)).clamp(min=0)
    common = width * height
    area, area_of = (right - left) * (bottom - top), (right_of - left_of) * (bottom_of - top_of)
    return common / (area + area_of - common) > threshold


def _are_boxes(arguments: Mapping[str, Any]) -> bool:
    boxes, scores = arguments["dets"], arguments["scores"]
    fits = boxes.dim() == 2 and boxes.shape[1] == 4 and scores.dim() == 1 and boxes.dtype == scores.dtype
    return fits and boxes.dtype in (torch.float32, torch.float64) and 0 not in _known(boxes.shape)


def _known(sizes: Any) -> list[int]:
    return [size for size in sizes if isinstance(size, int)]


@implements("torchvision::nms", where=_are_boxes, kernels=True)
def nms_one_by_one(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The boxes that no better one overlaps, which is kept itself, the best first."""
    n = scores.size(0)
    if dets.size(0) != n:
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0")
    order = torch.argsort(scores, dim=0, descending=True, stable=True)
    left, top, right, bottom = dets[order].t().contiguous().unbind(0)
    area = (right - left) * (bottom - top)
    threshold = _round_down(iou_threshold, dets.dtype)
    alive = torch.ones([n], dtype=torch.bool, device=dets.device)
    for i in range(n):
        if bool(alive[i]):
            behind = i + 1
            width = torch.minimum(right[i], right[behind:]) - torch.maximum(left[i], left[behind:])
            height = torch.minimum(bottom[i], bottom[behind:]) - torch.maximum(top[i], top[behind:])
            common = width.clamp(min=0) * height.clamp(min=0)
            hidden = common / (area[i] + area[behind:] - common) > threshold
            alive[behind:] = torch.logical_and(alive[behind:], torch.logical_not(hidden))
    return order[alive.nonzero().select(1, 0)]


@implements("torchvision::nms", where=_are_boxes)
def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The boxes that no better one overlaps, which is kept itself, the best first.

    Boxes are decided on in blocks, the best block first. Within a block all decisions are made at once, and again on
    the grounds of what they were, until they stay: the first box is decided rightly at once, and each time at least one
    more.
    """
    n = scores.size(0)
    if dets.size(0) != n:
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0")
    order = torch.argsort(scores, dim=0, descending=True, stable=True)
    blocks = (n + 127) // 128
    boxes = torch.zeros([blocks * 128, 4], dtype=dets.dtype, device=dets.device)
    boxes[:n] = dets[order]
    threshold = _round_down(iou_threshold, dets.dtype)
    place = torch.arange(128, device=dets.device)
    later = place.unsqueeze(1) < place.unsqueeze(0)
    alive = torch.ones([blocks * 128], dtype=torch.bool, device=dets.device)
    for block in range(blocks):
        start = block * 128
        some = boxes[start : start + 128]
        hides = torch.logical_and(_overlaps(some, some, threshold), later)
        candidates = alive[start : start + 128].clone()
        kept = candidates.clone()
        changed = True
        while changed:
            hidden = torch.logical_and(hides, kept.unsqueeze(1)).to(torch.int32).sum(0, dtype=torch.int32) > 0
            again = torch.logical_and(candidates, torch.logical_not(hidden))
            changed = bool(torch.logical_xor(again, kept).any())
            kept = again
        alive[start : start + 128] = kept
        end = start + 128
        covers = torch.logical_and(_overlaps(some, boxes[end:], threshold), kept.unsqueeze(1))
        covered = covers.to(torch.int32).sum(0, dtype=torch.int32) > 0
        alive[end:] = torch.logical_and(alive[end:], torch.logical_not(covered))
    return order[alive[:n].nonzero().select(1, 0)]
