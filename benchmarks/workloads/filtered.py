"""Post-processing of YOLOv3, SSD, FCOS and YOLACT at the sizes that FuncTs was measured at: a 320 x 320 image, 80
classes.

As in mmdetection, whose heads FuncTs took: anchors are made in each call, and a filter by score decides how many boxes
there are, so that sizes depend on the data. In `detection` and `masks` the tensors have one size and what does not
count is masked.
"""

# TorchScript reads the annotations of buffers, and does not know them as strings: no
# `from __future__ import annotations`.
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload
from .boxes import decode_deltas, overlap, suppress
from .detection import plant

__all__ = ["WORKLOADS", "FilteredFCOS", "FilteredSSD", "FilteredYOLACT", "FilteredYOLOv3"]


def shapes_around(centre: float, widths: Sequence[float], heights: Sequence[float]) -> torch.Tensor:
    """Anchors of one cell: float32 [shapes, 4], corners in pixels."""
    half = 0.5 * torch.stack([torch.tensor(widths), torch.tensor(heights)], dim=1)
    return torch.cat([centre - half, centre + half], dim=1)


def grid_shifts(height: int, width: int, stride: float, like: torch.Tensor) -> torch.Tensor:
    """Positions of the cells of a map, assigned column by column: float32 [height * width, 4], x, y, x, y in pixels."""
    x = (torch.arange(width, device=like.device) * stride).repeat(height)
    y = (torch.arange(height, device=like.device) * stride).reshape(-1, 1).repeat(1, width).reshape(-1)
    shifts = torch.zeros(height * width, 4, device=like.device)
    shifts[:, 0] = x
    shifts[:, 1] = y
    shifts[:, 2] = x
    shifts[:, 3] = y
    return shifts


def filter_scores(scores: torch.Tensor, threshold: float, most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The best pairs of box and class.

    Args:
        scores: float32 [n, classes].
        threshold: pairs with a smaller score are left out.
        most: how many pairs at most.
    Returns:
        Scores, best first, float32 [k]; their classes and their boxes, int64 [k].
    """
    enough = scores > threshold
    places = enough.nonzero()
    best, order = scores[enough].sort(descending=True)
    places = places[order[:most]]
    return best[:most], places[:, 1], places[:, 0]


def keep_best(
    boxes: torch.Tensor, scores: torch.Tensor, labels: torch.Tensor, threshold: float, limit: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Non-maximum suppression within each class.

    Args:
        boxes: float32 [n, 4].
        scores: float32 [n].
        labels: int64 [n], the classes.
        threshold: overlap from which on a box is dropped.
        limit: the most boxes to keep.
    Returns:
        Boxes with scores, best first, float32 [k, 5]; their classes, int64 [k].
    """
    best, order = scores.sort(descending=True)
    shifted = boxes + (labels * (boxes.max() + 1))[:, None]
    keep, kept = suppress(shifted[order], boxes.shape[0], threshold, limit)
    keep = keep[:kept]
    chosen = order[keep]
    return torch.cat([boxes[chosen], best[keep][:, None]], dim=1), labels[chosen]


class FilteredYOLOv3(nn.Module):
    """Boxes from the three maps of YOLOv3; predictions of little confidence are left out first.

    Args:
        classes: number of classes.
        limit: the most boxes kept.
    """

    base: torch.Tensor

    def __init__(self, classes: int, limit: int) -> None:
        super().__init__()
        sizes = (((116, 156, 373), (90, 198, 326)), ((30, 62, 59), (61, 45, 119)), ((10, 16, 33), (13, 30, 23)))
        self.classes = classes
        self.limit = limit
        self.strides = [32.0, 16.0, 8.0]
        shapes = [shapes_around(stride / 2, w, h) for stride, (w, h) in zip(self.strides, sizes)]
        self.register_buffer("base", torch.stack(shapes))

    def forward(self, maps: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Find boxes.

        Args:
            maps: for each level float32 [1, 3 * (5 + classes), grid, grid], the coarsest first.
        Returns:
            Boxes with scores, float32 [k, 5]; classes, int64 [k]; how many boxes reached NMS.
        """
        predictions: list[torch.Tensor] = []
        anchors: list[torch.Tensor] = []
        strides: list[torch.Tensor] = []
        for level in range(3):
            height, width = maps[level].shape[2:]
            p = maps[level].permute(0, 2, 3, 1).reshape(-1, 5 + self.classes).clone()
            p[:, :2].sigmoid_()
            p[:, 4:].sigmoid_()
            shifts = grid_shifts(height, width, self.strides[level], p)
            predictions.append(p)
            anchors.append((self.base[level] + shifts[:, None]).reshape(-1, 4))
            strides.append(torch.full((p.shape[0], 1), self.strides[level], device=p.device))
        p = torch.cat(predictions)
        anchor = torch.cat(anchors)
        centre = (anchor[:, :2] + anchor[:, 2:]) * 0.5 + (p[:, :2] - 0.5) * torch.cat(strides)
        half = (anchor[:, 2:] - anchor[:, :2]) * 0.5 * p[:, 2:4].exp()
        boxes = torch.cat([centre - half, centre + half], dim=1)
        confident = p[:, 4] >= 0.005
        boxes = boxes[confident]
        confidence = p[:, 4][confident]
        scores = p[:, 5:][confident]
        places = (scores > 0.05).nonzero()
        found = boxes[places[:, 0]]
        score = scores[places[:, 0], places[:, 1]] * confidence[places[:, 0]]
        kept, labels = keep_best(found, score, places[:, 1], 0.45, self.limit)
        return kept, labels, found.shape[0]


class FilteredSSD(nn.Module):
    """Boxes from the six levels of SSD, six anchors for each cell: of each level the best pairs of box and class.

    Args:
        size: image size in pixels.
        classes: number of classes, without the background.
        before: the most pairs of a level that take part in NMS.
        limit: the most boxes kept.
    """

    base: torch.Tensor

    def __init__(self, size: int, classes: int, before: int, limit: int) -> None:
        super().__init__()
        self.size = float(size)
        self.classes = classes
        self.before = before
        self.limit = limit
        self.strides = [16.0, 32.0, 64.0, 107.0, 160.0, 320.0]
        edges = [48.0, 100.0, 150.0, 202.0, 253.0, 304.0, 320.0]
        shapes = []
        for stride, edge, larger in zip(self.strides, edges, edges[1:]):
            ratios = [1.0, 1.0, 0.5, 2.0, 1 / 3, 3.0]
            sides = [edge, math.sqrt(edge * larger), edge, edge, edge, edge]
            widths = [side / math.sqrt(ratio) for side, ratio in zip(sides, ratios)]
            heights = [side * math.sqrt(ratio) for side, ratio in zip(sides, ratios)]
            shapes.append(shapes_around(stride / 2, widths, heights))
        self.register_buffer("base", torch.stack(shapes))

    def forward(self, scores: list[torch.Tensor], deltas: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Find boxes.

        Args:
            scores: for each level float32 [1, 6 * (classes + 1), grid, grid]; the last class is the background.
            deltas: for each level float32 [1, 6 * 4, grid, grid].
        Returns:
            Boxes with scores, float32 [k, 5]; classes, int64 [k]; how many boxes reached NMS.
        """
        boxes: list[torch.Tensor] = []
        best: list[torch.Tensor] = []
        labels: list[torch.Tensor] = []
        for level in range(6):
            height, width = scores[level].shape[2:]
            shifts = grid_shifts(height, width, self.strides[level], scores[level])
            anchors = (self.base[level] + shifts[:, None]).reshape(-1, 4)
            probability = scores[level][0].permute(1, 2, 0).reshape(-1, self.classes + 1).softmax(1)[:, :-1]
            found, classes, rows = filter_scores(probability, 0.02, self.before)
            delta = deltas[level][0].permute(1, 2, 0).reshape(-1, 4)
            boxes.append(decode_deltas(anchors[rows], delta[rows], 0.1, self.size))
            best.append(found)
            labels.append(classes)
        score = torch.cat(best)
        kept, label = keep_best(torch.cat(boxes), score, torch.cat(labels), 0.45, self.limit)
        return kept, label, score.shape[0]


class FilteredFCOS(nn.Module):
    """Boxes from the five levels of FCOS: of each level the best pairs of point and class, weighted by centre-ness.

    Args:
        size: image size in pixels.
        classes: number of classes.
        before: the most pairs of a level that take part in NMS.
        limit: the most boxes kept.
    """

    def __init__(self, size: int, classes: int, before: int, limit: int) -> None:
        super().__init__()
        self.size = float(size)
        self.classes = classes
        self.before = before
        self.limit = limit
        self.strides = [8.0, 16.0, 32.0, 64.0, 128.0]

    def forward(
        self, scores: list[torch.Tensor], distances: list[torch.Tensor], centres: list[torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Find boxes.

        Args:
            scores: for each level float32 [1, classes, grid, grid].
            distances: for each level float32 [1, 4, grid, grid], in pixels.
            centres: for each level float32 [1, 1, grid, grid].
        Returns:
            Boxes with scores, float32 [k, 5]; classes, int64 [k]; how many boxes reached NMS.
        """
        boxes: list[torch.Tensor] = []
        best: list[torch.Tensor] = []
        labels: list[torch.Tensor] = []
        for level in range(5):
            height, width = scores[level].shape[2:]
            points = grid_shifts(height, width, self.strides[level], scores[level])
            points += 0.5 * self.strides[level]
            probability = scores[level][0].permute(1, 2, 0).reshape(-1, self.classes).sigmoid()
            found, classes, rows = filter_scores(probability, 0.025, self.before)
            found *= centres[level].reshape(-1).sigmoid()[rows]
            corners = points[rows]
            lengths = distances[level][0].permute(1, 2, 0).reshape(-1, 4)[rows]
            corners[:, :2] -= lengths[:, :2]
            corners[:, 2:] += lengths[:, 2:]
            boxes.append(corners.clamp_(0.0, self.size))
            best.append(found)
            labels.append(classes)
        score = torch.cat(best)
        kept, label = keep_best(torch.cat(boxes), score, torch.cat(labels), 0.5, self.limit)
        return kept, label, score.shape[0]


class FilteredYOLACT(nn.Module):
    """Boxes and masks from the five levels of YOLACT: fast NMS, and as many masks as there are boxes.

    Args:
        size: image size in pixels.
        classes: number of classes, without the background.
        before: the most anchors of a level.
        ranked: how many boxes of each class take part in fast NMS.
        limit: the most boxes kept.
    """

    base: torch.Tensor

    def __init__(self, size: int, classes: int, before: int, ranked: int, limit: int) -> None:
        super().__init__()
        self.size = float(size)
        self.classes = classes
        self.before = before
        self.ranked = ranked
        self.limit = limit
        self.strides = [8.0, 16.0, 32.0, 64.0, 128.0]
        roots = [math.sqrt(0.5), 1.0, math.sqrt(2.0)]
        shapes = [shapes_around(s / 2, [3 * s / r for r in roots], [3 * s * r for r in roots]) for s in self.strides]
        self.register_buffer("base", torch.stack(shapes))

    def forward(
        self,
        scores: list[torch.Tensor],
        deltas: list[torch.Tensor],
        coefficients: list[torch.Tensor],
        prototypes: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]:
        """Find boxes and masks.

        Args:
            scores: for each level float32 [1, 3 * (classes + 1), grid, grid]; the last class is the background.
            deltas: for each level float32 [1, 3 * 4, grid, grid].
            coefficients: for each level float32 [1, 3 * kinds, grid, grid].
            prototypes: float32 [1, kinds, height, width].
        Returns:
            Boxes with scores, float32 [k, 5]; classes, int64 [k]; masks, float32 [k, height, width]; how many boxes
            were confident.
        """
        boxes: list[torch.Tensor] = []
        chances: list[torch.Tensor] = []
        mixes: list[torch.Tensor] = []
        kinds = prototypes.shape[1]
        for level in range(5):
            height, width = scores[level].shape[2:]
            shifts = grid_shifts(height, width, self.strides[level], scores[level])
            anchors = (self.base[level] + shifts[:, None]).reshape(-1, 4)
            probability = scores[level][0].permute(1, 2, 0).reshape(-1, self.classes + 1).softmax(1)[:, :-1]
            _, rows = probability.amax(dim=1).topk(min(self.before, probability.shape[0]))
            delta = deltas[level][0].permute(1, 2, 0).reshape(-1, 4)
            boxes.append(decode_deltas(anchors[rows], delta[rows], 0.1, self.size))
            chances.append(probability[rows])
            mixes.append(coefficients[level][0].permute(1, 2, 0).reshape(-1, kinds)[rows])
        score, order = torch.cat(chances).t().sort(dim=1, descending=True)
        score = score[:, : self.ranked]
        order = order[:, : self.ranked]
        ranked = torch.cat(boxes)[order]
        shared = overlap(ranked, ranked)
        shared.triu_(1)
        confident = score > 0.05
        keep = (shared.amax(dim=1) <= 0.5) & confident
        label = torch.arange(self.classes, device=score.device)[:, None].expand_as(keep)[keep]
        best, place = score[keep].sort(descending=True)
        place = place[: self.limit]
        found = ranked[keep][place]
        mix = torch.cat(mixes)[order[keep][place]]
        masks = torch.sigmoid(prototypes[0].permute(1, 2, 0) @ mix.t())
        height, width = masks.shape[:2]
        columns = torch.arange(width, device=masks.device)[None, :, None] * (self.size / width)
        rows = torch.arange(height, device=masks.device)[:, None, None] * (self.size / height)
        masks *= (columns >= found[:, 0]) & (columns < found[:, 2]) & (rows >= found[:, 1]) & (rows < found[:, 3])
        kept = torch.cat([found, best[: self.limit, None]], dim=1)
        return kept, label[place], masks.permute(2, 0, 1).contiguous(), int(confident.sum())


def _maps(flat: torch.Tensor, grids: Sequence[int], anchors: int) -> list[torch.Tensor]:
    """The maps [1, anchors * channels, grid, grid] of predictions [1, n, channels]."""
    parts = torch.split_with_sizes(flat, [grid * grid * anchors for grid in grids], dim=1)
    return [part.reshape(1, grid, grid, -1).permute(0, 3, 1, 2).contiguous() for part, grid in zip(parts, grids)]


def _facts(result: Any) -> dict[str, int]:
    return {"boxes in NMS": int(result[-1]), "kept": int(result[0].shape[0])}


def _grids(size: int, strides: Sequence[float]) -> list[int]:
    return [math.ceil(size / stride) for stride in strides]


def _likely_classes(predictions: int, classes: int, confident: int, background: bool, run: int = 4) -> torch.Tensor:
    """Logits, float32 [1, predictions, classes], and of the background if there is one, some of them confident."""
    logits = 0.5 * torch.randn(1, predictions, classes + int(background))
    if background:
        logits[..., -1] += 9.0
        plant(logits[..., :-1], min(confident, predictions // 2), low=6.5, run=run)
    else:
        logits -= 7.0
        plant(logits, min(confident, predictions // 2), low=-1.5, run=run)
    return logits


def build_yolov3(*, size: int, classes: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes, fewer for small sizes."""
    model = FilteredYOLOv3(classes, limit)
    grids = _grids(size, model.strides)
    total = sum(3 * grid * grid for grid in grids)

    def inputs(confident: int) -> tuple[Any, ...]:
        p = 0.5 * torch.randn(1, total, 5 + classes)
        p[..., 5:] = _likely_classes(total, classes, confident, False)
        sure = p[..., 5:].amax(dim=2) > -2.0
        p[..., 4] = torch.where(sure, 2.0 + torch.rand(1, total), p[..., 4] - 7.0)
        return (_maps(p, grids, 3),)

    return Built(model, {f"{n} boxes": inputs(n) for n in (100, 20, 300)}, facts=_facts)


def build_ssd(*, size: int, classes: int, before: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes, fewer for small sizes."""
    model = FilteredSSD(size, classes, before, limit)
    grids = _grids(size, model.strides)
    total = sum(6 * grid * grid for grid in grids)

    def inputs(confident: int) -> tuple[Any, ...]:
        logits = _likely_classes(total, classes, confident, True)
        return _maps(logits, grids, 6), _maps(torch.randn(1, total, 4), grids, 6)

    return Built(model, {f"{n} boxes": inputs(n) for n in (100, 20, 300)}, facts=_facts)


def build_fcos(*, size: int, classes: int, before: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes, fewer for small sizes."""
    model = FilteredFCOS(size, classes, before, limit)
    grids = _grids(size, model.strides)
    total = sum(grid * grid for grid in grids)

    def inputs(confident: int) -> tuple[Any, ...]:
        flat = (
            _likely_classes(total, classes, confident, False),
            32.0 * (1.0 + torch.rand(1, total, 4)),
            2.0 + torch.randn(1, total, 1),
        )
        return tuple(_maps(part, grids, 1) for part in flat)

    return Built(model, {f"{n} boxes": inputs(n) for n in (100, 20, 300)}, facts=_facts)


def build_yolact(*, size: int, classes: int, kinds: int, before: int, ranked: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes, fewer for small sizes."""
    model = FilteredYOLACT(size, classes, before, ranked, limit)
    grids = _grids(size, model.strides)
    total = sum(3 * grid * grid for grid in grids)
    height = math.ceil(size / 4)

    def inputs(confident: int) -> tuple[Any, ...]:
        flat = (
            _likely_classes(total, classes, confident, True, run=6),
            torch.randn(1, total, 4),
            torch.tanh(torch.randn(1, total, kinds)),
        )
        return (*(_maps(part, grids, 3) for part in flat), torch.randn(1, kinds, height, height))

    return Built(model, {f"{n} boxes": inputs(n) for n in (100, 20, 300)}, facts=_facts)


def _workload(name: str, description: str, build: Any, sizes: dict[str, int], small: dict[str, int]) -> Workload:
    source = f"benchmark/ai_model/{name} of the FuncTs repository, written from mmdetection's head"
    sizes, small = {"size": 320, "classes": 80, **sizes}, {"size": 32, "classes": 3, **small}
    return Workload(f"{name}_filtered", "detection", description, source, build, sizes, small)


WORKLOADS = (
    _workload(
        "yolov3",
        "YOLOv3 post-processing with anchors and sizes of FuncTs: as many boxes as are confident",
        build_yolov3,
        {"limit": 100},
        {"limit": 5},
    ),
    _workload(
        "ssd",
        "SSD post-processing, 3,234 anchors made in the call: as many pairs of box and class as score enough",
        build_ssd,
        {"before": 1000, "limit": 100},
        {"before": 12, "limit": 5},
    ),
    _workload(
        "fcos",
        "FCOS post-processing, points made in the call: as many pairs of point and class as score enough",
        build_fcos,
        {"before": 1000, "limit": 100},
        {"before": 12, "limit": 5},
    ),
    _workload(
        "yolact",
        "YOLACT post-processing, anchors made in the call: fast NMS with a sort of each class, as many masks as boxes",
        build_yolact,
        {"kinds": 32, "before": 1000, "ranked": 200, "limit": 100},
        {"kinds": 4, "before": 12, "ranked": 8, "limit": 5},
    ),
)
