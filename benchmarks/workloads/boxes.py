"""Boxes: corner form, overlap, non-maximum suppression, and the small programs on boxes that show one effect each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "clustered_boxes", "decode_deltas", "multiclass_nms", "overlap", "suppress"]


def overlap(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Intersection over union of boxes.

    Args:
        a: float32 [..., n, 4], corners x1, y1, x2, y2.
        b: float32 [..., m, 4].
    Returns:
        float32 [..., n, m].
    """
    low = torch.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = torch.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    size = (high - low).clamp(min=0)
    shared = size[..., 0] * size[..., 1]
    area_a = (a[..., 2] - a[..., 0]) * (a[..., 3] - a[..., 1])
    area_b = (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    return shared / (area_a[..., :, None] + area_b[..., None, :] - shared).clamp(min=1e-6)


def suppress(boxes: torch.Tensor, count: int, threshold: float, limit: int) -> tuple[torch.Tensor, int]:
    """Greedy non-maximum suppression of boxes that are in the order of their scores.

    Args:
        boxes: float32 [n, 4].
        count: how many of them take part.
        threshold: a box is dropped if its overlap with a better one that is kept is larger.
        limit: the most boxes to keep.
    Returns:
        Positions of the kept boxes, int64 [limit], 0 after the last; how many there are.
    """
    keep = torch.zeros(limit, dtype=torch.int64, device=boxes.device)
    dropped = torch.zeros(boxes.shape[0], dtype=torch.bool, device=boxes.device)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = 0
    i = 0
    while i < count and kept < limit:
        if not bool(dropped[i]):
            keep[kept] = i
            kept += 1
            low = torch.maximum(boxes[:, :2], boxes[i, :2])
            high = torch.minimum(boxes[:, 2:], boxes[i, 2:])
            size = (high - low).clamp(min=0)
            shared = size[:, 0] * size[:, 1]
            dropped |= shared > threshold * (area + area[i] - shared)
        i += 1
    return keep, kept


def multiclass_nms(
    boxes: torch.Tensor, scores: torch.Tensor, score_threshold: float, threshold: float, before: int, limit: int
) -> tuple[torch.Tensor, torch.Tensor, int, int]:
    """Non-maximum suppression within each class, in one run: boxes of different classes are moved apart.

    Args:
        boxes: float32 [n, 4].
        scores: float32 [n, classes].
        score_threshold: pairs of box and class with a smaller score take no part.
        threshold: overlap from which on a box is dropped.
        before: the most pairs that take part, the best ones.
        limit: the most boxes to keep.
    Returns:
        Boxes with scores, float32 [limit, 5], zeros after the last; their classes, int64 [limit]; how many were kept;
        how many took part.
    """
    n, classes = scores.shape
    pairs = boxes[:, None, :].expand(n, classes, 4).reshape(-1, 4)
    labels = torch.arange(classes, device=boxes.device)[None, :].expand(n, classes).reshape(-1)
    best, order = scores.reshape(-1).topk(min(before, n * classes))
    count = int((best > score_threshold).sum())
    chosen = pairs[order]
    classes_of = labels[order]
    shifted = chosen + (classes_of * (boxes.max() + 1))[:, None]
    keep, kept = suppress(shifted, count, threshold, limit)
    found = torch.zeros(limit, 5, dtype=boxes.dtype, device=boxes.device)
    found[:, :4] = chosen[keep]
    found[:, 4] = best[keep]
    valid = torch.arange(limit, device=boxes.device) < kept
    return found * valid[:, None], classes_of[keep] * valid, kept, count


def decode_deltas(priors: torch.Tensor, deltas: torch.Tensor, deviation: float, size: float) -> torch.Tensor:
    """Boxes from priors and the offsets that a network predicts for them, assigned through slices.

    Args:
        priors: float32 [n, 4], corners.
        deltas: float32 [..., n, 4]: centre offsets and logarithms of the size, divided by `deviation`'s two values.
        deviation: standard deviation of the centre offsets; that of the sizes is twice as large.
        size: image size in pixels that the boxes are cut to.
    Returns:
        float32 [..., n, 4], corners.
    """
    boxes = torch.zeros_like(deltas)
    width = priors[:, 2] - priors[:, 0]
    height = priors[:, 3] - priors[:, 1]
    x = (priors[:, 0] + priors[:, 2]) * 0.5 + deltas[..., 0] * deviation * width
    y = (priors[:, 1] + priors[:, 3]) * 0.5 + deltas[..., 1] * deviation * height
    half_width = 0.5 * width * torch.exp((deltas[..., 2] * deviation * 2).clamp(-4.0, 4.0))
    half_height = 0.5 * height * torch.exp((deltas[..., 3] * deviation * 2).clamp(-4.0, 4.0))
    boxes[..., 0] = x - half_width
    boxes[..., 1] = y - half_height
    boxes[..., 2] = x + half_width
    boxes[..., 3] = y + half_height
    boxes.clamp_(0.0, size)
    return boxes


def clustered_boxes(count: int, objects: int, size: float) -> torch.Tensor:
    """Random boxes around a number of objects, as a detector finds them.

    Args:
        count: how many boxes.
        objects: how many objects; each box lies around one of them.
        size: image size in pixels.
    Returns:
        float32 [count, 4], corners.
    """
    centre = torch.rand(objects, 2) * size
    extent = (0.05 + 0.2 * torch.rand(objects, 2)) * size
    which = torch.randint(objects, (count,))
    middle = centre[which] + 0.08 * extent[which] * torch.randn(count, 2)
    half = 0.5 * extent[which] * torch.exp(0.1 * torch.randn(count, 2))
    return torch.cat([middle - half, middle + half], dim=1).clamp(0, size)


class NMS(nn.Module):
    """Non-maximum suppression alone."""

    def forward(
        self, boxes: torch.Tensor, scores: torch.Tensor, threshold: float
    ) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Return positions of the kept boxes, int64 [n], their scores, and how many there are.

        Args:
            boxes: float32 [n, 4].
            scores: float32 [n].
            threshold: overlap from which on a box is dropped.
        """
        best, order = scores.sort(descending=True)
        keep, kept = suppress(boxes[order], boxes.shape[0], threshold, boxes.shape[0])
        valid = torch.arange(boxes.shape[0], device=boxes.device) < kept
        return order[keep] * valid, best[keep] * valid, kept


def _nms_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def forward(boxes: Any, scores: Any, threshold: Any) -> Any:
        n = boxes.shape[0]
        order = jnp.argsort(-scores)
        best, sorted_boxes = scores[order], boxes[order]
        area = (sorted_boxes[:, 2] - sorted_boxes[:, 0]) * (sorted_boxes[:, 3] - sorted_boxes[:, 1])

        def take(i: Any, carried: Any) -> Any:
            keep, dropped, kept = carried
            low = jnp.maximum(sorted_boxes[:, :2], sorted_boxes[i, :2])
            high = jnp.minimum(sorted_boxes[:, 2:], sorted_boxes[i, 2:])
            size = jnp.clip(high - low, 0)
            shared = size[:, 0] * size[:, 1]
            return keep.at[kept].set(i), dropped | (shared > threshold * (area + area[i] - shared)), kept + 1

        def body(i: Any, carried: Any) -> Any:
            return jax.lax.cond(carried[1][i], lambda other: other, lambda other: take(i, other), carried)

        start = (jnp.zeros(n, jnp.int32), jnp.zeros(n, bool), jnp.zeros((), jnp.int32))
        keep, _, kept = jax.lax.fori_loop(0, n, body, start)
        valid = jnp.arange(n) < kept
        return order[keep] * valid, best[keep] * valid, kept

    return forward


def build_nms(*, boxes: int, objects: int) -> Built:
    """Make NMS; the further input sets have fewer and more objects, so that more and fewer boxes are dropped."""
    sets = {"clustered": objects, "few objects": max(objects // 4, 1), "scattered": objects * 4}
    inputs = {
        name: (clustered_boxes(boxes, number, 640.0), torch.rand(boxes), 0.5 if name != "scattered" else 0.7)
        for name, number in sets.items()
    }
    count = boxes
    return Built(NMS(), inputs, facts=lambda result: {"boxes in NMS": count, "kept": int(result[2])}, jax=_nms_jax)


class BoxExpand(nn.Module):
    """Boxes made larger around their centres by in-place changes of their columns."""

    def forward(self, boxes: torch.Tensor, ratio: float, size: float) -> torch.Tensor:
        """Return boxes, float32 [n, 4], larger by `ratio` and cut to the image of `size` pixels."""
        boxes = boxes.clone()
        width = boxes[:, 2] - boxes[:, 0]
        height = boxes[:, 3] - boxes[:, 1]
        boxes[:, 0] -= width * (ratio - 1) * 0.5
        boxes[:, 1] -= height * (ratio - 1) * 0.5
        boxes[:, 2] += width * (ratio - 1) * 0.5
        boxes[:, 3] += height * (ratio - 1) * 0.5
        boxes[:, 0::2].clamp_(0.0, size)
        boxes[:, 1::2].clamp_(0.0, size)
        return boxes


def build_expand(*, boxes: int) -> Built:
    """Make the expansion, by several ratios."""
    given = clustered_boxes(boxes, 20, 640.0)
    return Built(BoxExpand(), {f"by {ratio}": (given, ratio, 640.0) for ratio in (1.2, 2.0)})


class OffsetToBox(nn.Module):
    """Boxes from anchors and predicted offsets."""

    def forward(self, anchors: torch.Tensor, offsets: torch.Tensor, size: float) -> torch.Tensor:
        """Return boxes, float32 [batch, n, 4], of anchors [n, 4] and offsets [batch, n, 4] in an image of `size`
        pixels.
        """
        return decode_deltas(anchors, offsets, 0.1, size)


def build_offsets(*, boxes: int, batch: int) -> Built:
    """Make the decoding, with small and with large offsets."""
    anchors = clustered_boxes(boxes, boxes, 320.0)
    return Built(
        OffsetToBox(),
        {
            "small": (anchors, torch.randn(batch, boxes, 4), 320.0),
            "large": (anchors, 10 * torch.randn(batch, boxes, 4), 320.0),
        },
    )


class IoURatio(nn.Module):
    """Generalised intersection over union of pairs of boxes: many pointwise ops."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return float32 [n], 1 for equal boxes down to -1; a and b are float32 [n, 4]."""
        low = torch.maximum(a[:, :2], b[:, :2])
        high = torch.minimum(a[:, 2:], b[:, 2:])
        size = (high - low).clamp(min=0)
        shared = size[:, 0] * size[:, 1]
        area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
        area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        union = area_a + area_b - shared
        ratio = shared / union.clamp(min=1e-6)
        hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).clamp(min=0)
        around = hull[:, 0] * hull[:, 1]
        ratio -= (around - union) / around.clamp(min=1e-6)
        return ratio


def build_iou(*, boxes: int) -> Built:
    """Make the ratio, for boxes of few and of many objects."""
    sets = {"few objects": 5, "many objects": 100}
    return Built(
        IoURatio(),
        {name: (clustered_boxes(boxes, n, 640.0), clustered_boxes(boxes, n, 640.0)) for name, n in sets.items()},
    )


WORKLOADS = (
    Workload(
        "nms",
        "boxes",
        "greedy non-maximum suppression as a loop over boxes that writes a tensor of positions",
        "Girshick et al., Rich Feature Hierarchies, 2014, section 2.3; Neubeck and Van Gool 2006",
        build_nms,
        {"boxes": 300, "objects": 20},
        {"boxes": 24, "objects": 4},
        variants=({"boxes": 1000},),
    ),
    Workload(
        "box_expand",
        "boxes",
        "boxes made larger by in-place changes of columns",
        "the box expansion of detection data pipelines; a small case of the FuncTs repository",
        build_expand,
        {"boxes": 1000},
        {"boxes": 8},
    ),
    Workload(
        "offset_to_box",
        "boxes",
        "boxes from anchors and predicted offsets, assigned column by column",
        "Ren et al., Faster R-CNN, 2015, equation 2; a small case of the FuncTs repository",
        build_offsets,
        {"boxes": 3234, "batch": 1},
        {"boxes": 8, "batch": 2},
    ),
    Workload(
        "iou_ratio",
        "boxes",
        "generalised overlap of box pairs: many pointwise ops",
        "Rezatofighi et al., Generalized Intersection over Union, 2019, algorithm 1",
        build_iou,
        {"boxes": 10000},
        {"boxes": 8},
    ),
)
