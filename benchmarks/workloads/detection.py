"""Post-processing of YOLOv3, SSD and FCOS: from the maps that the network makes to boxes, as mmdetection describes it.

The networks are not run: their outputs are the inputs, drawn so that a known number of boxes reaches NMS.
"""

# TorchScript reads the annotations of buffers, and does not know them as strings: no
# `from __future__ import annotations`.
import math
from typing import Any, NamedTuple

import torch
from torch import nn

from ..workload import Built, Workload
from .boxes import decode_deltas, multiclass_nms

__all__ = ["WORKLOADS", "detection_facts", "plant"]


def plant(logits: torch.Tensor, count: int, *, low: float, run: int = 4) -> None:
    """Let a number of predictions of each image be confident; neighbours together, as they are around an object.

    Args:
        logits: float32 [batch, predictions, classes], written.
        count: how many predictions get one likely class.
        low: the least logit of a likely class; they are spread evenly over 4 from there.
        run: how many neighbouring predictions belong to one object.
    """
    batch, predictions, classes = logits.shape
    for image in range(batch):
        starts = torch.randperm(max(predictions // run, 1))[: math.ceil(count / run)] * run
        for start in starts.tolist():
            label = int(torch.randint(classes, ()))
            chosen = logits[image, start : start + run, label]
            chosen.copy_(low + 4.0 * torch.rand(chosen.shape))


def detection_facts(result: Any) -> dict[str, int]:
    """How many boxes reached NMS and were kept, over all images; the last two results are counts for each image."""
    return {"boxes in NMS": int(result[-1].sum()), "kept": int(result[-2].sum())}


class YOLOv3Head(nn.Module):
    """Boxes from the three maps of YOLOv3.

    Args:
        size: image size in pixels.
        grids: width and height of each map.
        classes: number of classes.
        before: the most boxes that take part in NMS.
        limit: the most boxes kept.
    """

    cells0: torch.Tensor
    cells1: torch.Tensor
    cells2: torch.Tensor
    anchors0: torch.Tensor
    anchors1: torch.Tensor
    anchors2: torch.Tensor

    def __init__(self, size: int, grids: tuple[int, ...], classes: int, before: int, limit: int) -> None:
        super().__init__()
        anchors = (((116, 90), (156, 198), (373, 326)), ((30, 61), (62, 45), (59, 119)), ((10, 13), (16, 30), (33, 23)))
        self.classes = classes
        self.before = before
        self.limit = limit
        self.strides = [float(size // grid) for grid in grids]
        for level, grid in enumerate(grids):
            cells = torch.arange(grid, dtype=torch.float32)
            y, x = torch.meshgrid(cells, cells, indexing="ij")
            self.register_buffer(f"cells{level}", torch.stack([x, y], dim=2).reshape(-1, 1, 2).repeat(1, 3, 1))
            self.register_buffer(f"anchors{level}", torch.tensor(anchors[level], dtype=torch.float32))

    def level(
        self, prediction: torch.Tensor, cells: torch.Tensor, anchors: torch.Tensor, stride: float
    ) -> torch.Tensor:
        """Decode one map.

        Args:
            prediction: float32 [batch, 3 * (5 + classes), grid, grid].
            cells: float32 [grid * grid, 3, 2], position of each cell.
            anchors: float32 [3, 2], width and height.
            stride: pixels from cell to cell.
        Returns:
            float32 [batch, grid * grid * 3, 5 + classes]: corners, confidence, class scores.
        """
        batch = prediction.shape[0]
        p = prediction.permute(0, 2, 3, 1).reshape(batch, -1, 3, 5 + self.classes).clone()
        p[..., :2].sigmoid_()
        p[..., 4:].sigmoid_()
        centre = (p[..., :2] + cells) * stride
        half = torch.exp(p[..., 2:4].clamp(max=4.0)) * anchors * 0.5
        p[..., 0:2] = centre - half
        p[..., 2:4] = centre + half
        return p.reshape(batch, -1, 5 + self.classes)

    def forward(
        self, large: torch.Tensor, middle: torch.Tensor, small: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Find boxes.

        Args:
            large: float32 [batch, 3 * (5 + classes), grid, grid], the coarsest map.
            middle: likewise, of a finer grid.
            small: likewise, of the finest.
        Returns:
            Boxes with scores, float32 [batch, limit, 5]; classes, int64 [batch, limit]; for each image how many were
            kept and how many reached NMS, int64 [batch].
        """
        p = torch.cat(
            [
                self.level(large, self.cells0, self.anchors0, self.strides[0]),
                self.level(middle, self.cells1, self.anchors1, self.strides[1]),
                self.level(small, self.cells2, self.anchors2, self.strides[2]),
            ],
            dim=1,
        )
        batch = p.shape[0]
        boxes = torch.zeros(batch, self.limit, 5, device=p.device)
        labels = torch.zeros(batch, self.limit, dtype=torch.int64, device=p.device)
        kept = torch.zeros(batch, dtype=torch.int64, device=p.device)
        reached = torch.zeros(batch, dtype=torch.int64, device=p.device)
        for image in range(batch):
            confidence = p[image, :, 4]
            scores = p[image, :, 5:] * (confidence * (confidence > 0.005))[:, None]
            found, classes, number, count = multiclass_nms(p[image, :, :4], scores, 0.05, 0.45, self.before, self.limit)
            boxes[image] = found
            labels[image] = classes
            kept[image] = number
            reached[image] = count
        return boxes, labels, kept, reached


def build_yolov3(*, size: int, coarse: int, classes: int, batch: int, before: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes an image, fewer for small sizes."""
    grids = (coarse, 2 * coarse, 4 * coarse)
    model = YOLOv3Head(size, grids, classes, before, limit)

    def maps(confident: int) -> tuple[torch.Tensor, ...]:
        total = sum(3 * grid * grid for grid in grids)
        p = 0.5 * torch.randn(batch, total, 5 + classes)
        p[..., 4:] -= 7.0
        plant(p[..., 5:], min(confident, total // 2), low=-1.5)
        sure = p[..., 5:].amax(dim=2) > -2.0
        p[..., 4] = torch.where(sure, 2.0 + torch.rand(batch, total), p[..., 4])
        parts = torch.split_with_sizes(p, [3 * grid * grid for grid in grids], dim=1)
        return tuple(
            part.reshape(batch, grid, grid, -1).permute(0, 3, 1, 2).contiguous() for part, grid in zip(parts, grids)
        )

    return Built(model, {f"{n} boxes": maps(n) for n in (100, 20, 300)}, facts=detection_facts)


class _SSDLevels(NamedTuple):
    """The six levels of SSD: how many pixels from cell to cell, edges of priors as parts of the image, ratios of
    sides.
    """

    strides: tuple[int, ...]
    edges: tuple[float, ...]  # one more: a level has a prior between its edge and the next one's
    ratios: tuple[tuple[float, ...], ...]

    def grids(self, size: int) -> list[int]:
        """Width and height of each level's map."""
        return [math.ceil(size / stride) for stride in self.strides]

    def anchors(self) -> list[int]:
        """How many priors a cell of each level has."""
        return [2 + 2 * len(ratios) for ratios in self.ratios]

    def priors(self, size: int) -> torch.Tensor:
        """Priors for an image of a size: float32 [priors, 4], corners in pixels."""
        priors = []
        for grid, edge, larger, ratios in zip(self.grids(size), self.edges, self.edges[1:], self.ratios):
            middle = math.sqrt(edge * larger)
            shapes = [(edge, edge), (middle, middle)]
            for root in map(math.sqrt, ratios):
                shapes += [(edge * root, edge / root), (edge / root, edge * root)]
            for y in range(grid):
                for x in range(grid):
                    cx, cy = (x + 0.5) / grid, (y + 0.5) / grid
                    priors += [(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2) for w, h in shapes]
        return torch.tensor(priors, dtype=torch.float32) * size


_SSD320 = _SSDLevels(
    (16, 32, 64, 107, 160, 320), (0.15, 0.33, 0.47, 0.61, 0.75, 0.9, 1.05), ((2.0,), *[(2.0, 3.0)] * 5)
)
_SSD300 = _SSDLevels(
    (8, 16, 32, 64, 100, 300), (0.1, 0.2, 0.37, 0.54, 0.71, 0.88, 1.05), ((2.0,), *[(2.0, 3.0)] * 3, (2.0,), (2.0,))
)


class SSDHead(nn.Module):
    """Boxes from the outputs of the six levels of SSD.

    Args:
        priors: float32 [priors, 4], corners in pixels.
        size: image size in pixels.
        classes: number of classes, without the background.
        before: the most boxes that take part in NMS.
        limit: the most boxes kept.
    """

    priors: torch.Tensor

    def __init__(self, priors: torch.Tensor, size: int, classes: int, before: int, limit: int) -> None:
        super().__init__()
        self.size = float(size)
        self.classes = classes
        self.before = before
        self.limit = limit
        self.register_buffer("priors", priors)

    def forward(
        self, scores: list[torch.Tensor], deltas: list[torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Find boxes.

        Args:
            scores: for each level float32 [batch, anchors * (classes + 1), grid, grid]; the last class is the
                background.
            deltas: for each level float32 [batch, anchors * 4, grid, grid].
        Returns:
            Boxes with scores, float32 [batch, limit, 5]; classes, int64 [batch, limit]; for each image how many were
            kept and how many reached NMS, int64 [batch].
        """
        batch = scores[0].shape[0]
        flat_scores = [level.permute(0, 2, 3, 1).reshape(batch, -1, self.classes + 1) for level in scores]
        flat_deltas = [level.permute(0, 2, 3, 1).reshape(batch, -1, 4) for level in deltas]
        probability = torch.softmax(torch.cat(flat_scores, dim=1), dim=2)[..., :-1]
        decoded = decode_deltas(self.priors, torch.cat(flat_deltas, dim=1), 0.1, self.size)
        boxes = torch.zeros(batch, self.limit, 5, device=decoded.device)
        labels = torch.zeros(batch, self.limit, dtype=torch.int64, device=decoded.device)
        kept = torch.zeros(batch, dtype=torch.int64, device=decoded.device)
        reached = torch.zeros(batch, dtype=torch.int64, device=decoded.device)
        for image in range(batch):
            found, classes, number, count = multiclass_nms(
                decoded[image], probability[image], 0.02, 0.45, self.before, self.limit
            )
            boxes[image] = found
            labels[image] = classes
            kept[image] = number
            reached[image] = count
        return boxes, labels, kept, reached


def _build_ssd(layout: _SSDLevels, size: int, classes: int, batch: int, before: int, limit: int) -> Built:
    model = SSDHead(layout.priors(size), size, classes, before, limit)
    grids = layout.grids(size)
    counts = [grid * grid * number for grid, number in zip(grids, layout.anchors())]

    def levels(confident: int) -> tuple[Any, ...]:
        logits = 0.5 * torch.randn(batch, sum(counts), classes + 1)
        logits[..., -1] += 9.0
        plant(logits[..., :-1], min(confident, sum(counts) // 2), low=6.5)
        deltas = torch.randn(batch, sum(counts), 4)

        def split(flat: torch.Tensor) -> list[torch.Tensor]:
            return [
                part.reshape(batch, grid, grid, -1).permute(0, 3, 1, 2).contiguous()
                for part, grid in zip(torch.split_with_sizes(flat, counts, dim=1), grids)
            ]

        return split(logits), split(deltas)

    return Built(model, {f"{n} boxes": levels(n) for n in (100, 20, 300)}, facts=detection_facts)


def build_ssd(*, size: int, classes: int, batch: int, before: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes an image, fewer for small sizes."""
    return _build_ssd(_SSD320, size, classes, batch, before, limit)


def build_ssd300(*, size: int, classes: int, batch: int, before: int, limit: int) -> Built:
    """Make the head with the levels of the paper; the input sets are as those of `build_ssd`."""
    return _build_ssd(_SSD300, size, classes, batch, before, limit)


class FCOSHead(nn.Module):
    """Boxes from the five levels of FCOS: distances from points to the sides of boxes, scores weighted by centre-ness.

    Args:
        size: image size in pixels.
        classes: number of classes.
        before: the most points of one level, and the most boxes that take part in NMS.
        limit: the most boxes kept.
    """

    points0: torch.Tensor
    points1: torch.Tensor
    points2: torch.Tensor
    points3: torch.Tensor
    points4: torch.Tensor

    def __init__(self, size: int, classes: int, before: int, limit: int) -> None:
        super().__init__()
        self.size = float(size)
        self.classes = classes
        self.before = before
        self.limit = limit
        self.strides = [8, 16, 32, 64, 128]
        for level, stride in enumerate(self.strides):
            cells = (torch.arange(math.ceil(size / stride)) + 0.5) * stride
            y, x = torch.meshgrid(cells, cells, indexing="ij")
            self.register_buffer(f"points{level}", torch.stack([x, y], dim=2).reshape(-1, 2))

    def level(
        self, points: torch.Tensor, scores: torch.Tensor, distances: torch.Tensor, centres: torch.Tensor, stride: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode one level of one image.

        Args:
            points: float32 [grid * grid, 2].
            scores: float32 [classes, grid, grid].
            distances: float32 [4, grid, grid], before scaling.
            centres: float32 [1, grid, grid].
            stride: pixels from point to point.
        Returns:
            Boxes, float32 [points, 4], and scores, float32 [points, classes], of the best points.
        """
        probability = scores.permute(1, 2, 0).reshape(-1, self.classes).sigmoid()
        probability = probability * centres.reshape(-1, 1).sigmoid()
        lengths = (distances.permute(1, 2, 0).reshape(-1, 4) * stride).clamp(min=0.0)
        n = min(self.before, points.shape[0])
        _, best = probability.amax(dim=1).topk(n)
        chosen = points[best]
        lengths = lengths[best]
        boxes = torch.zeros(n, 4, device=points.device)
        boxes[:, :2] = chosen - lengths[:, :2]
        boxes[:, 2:] = chosen + lengths[:, 2:]
        boxes.clamp_(0.0, self.size)
        return boxes, probability[best]

    def forward(
        self, scores: list[torch.Tensor], distances: list[torch.Tensor], centres: list[torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Find boxes.

        Args:
            scores: for each level float32 [batch, classes, grid, grid].
            distances: for each level float32 [batch, 4, grid, grid].
            centres: for each level float32 [batch, 1, grid, grid].
        Returns:
            Boxes with scores, float32 [batch, limit, 5]; classes, int64 [batch, limit]; for each image how many were
            kept and how many reached NMS, int64 [batch].
        """
        points = [self.points0, self.points1, self.points2, self.points3, self.points4]
        batch = scores[0].shape[0]
        device = scores[0].device
        boxes = torch.zeros(batch, self.limit, 5, device=device)
        labels = torch.zeros(batch, self.limit, dtype=torch.int64, device=device)
        kept = torch.zeros(batch, dtype=torch.int64, device=device)
        reached = torch.zeros(batch, dtype=torch.int64, device=device)
        for image in range(batch):
            level_boxes: list[torch.Tensor] = []
            level_scores: list[torch.Tensor] = []
            for level in range(5):
                found, probability = self.level(
                    points[level],
                    scores[level][image],
                    distances[level][image],
                    centres[level][image],
                    float(self.strides[level]),
                )
                level_boxes.append(found)
                level_scores.append(probability)
            best, classes, number, count = multiclass_nms(
                torch.cat(level_boxes), torch.cat(level_scores), 0.05, 0.5, self.before, self.limit
            )
            boxes[image] = best
            labels[image] = classes
            kept[image] = number
            reached[image] = count
        return boxes, labels, kept, reached


def build_fcos(*, size: int, classes: int, batch: int, before: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes an image, fewer for small sizes."""
    model = FCOSHead(size, classes, before, limit)
    grids = [math.ceil(size / stride) for stride in model.strides]
    counts = [grid * grid for grid in grids]

    def levels(confident: int) -> tuple[Any, ...]:
        logits = 0.5 * torch.randn(batch, sum(counts), classes) - 7.0
        plant(logits, min(confident, sum(counts) // 2), low=-1.5)
        distances = 3.0 + torch.randn(batch, sum(counts), 4)
        centres = 2.0 + torch.randn(batch, sum(counts), 1)

        def split(flat: torch.Tensor) -> list[torch.Tensor]:
            return [
                part.reshape(batch, grid, grid, -1).permute(0, 3, 1, 2).contiguous()
                for part, grid in zip(torch.split_with_sizes(flat, counts, dim=1), grids)
            ]

        return split(logits), split(distances), split(centres)

    return Built(model, {f"{n} boxes": levels(n) for n in (100, 20, 300)}, facts=detection_facts)


WORKLOADS = (
    Workload(
        "yolov3",
        "detection",
        "YOLOv3 post-processing: in-place sigmoid on slices, box decode, confidence filter, multi-class NMS",
        "Redmon and Farhadi, YOLOv3, 2018, section 2.1; settings of mmdetection's YOLOV3Head (320 input)",
        build_yolov3,
        {"size": 320, "coarse": 10, "classes": 80, "batch": 1, "before": 1000, "limit": 100},
        {"size": 32, "coarse": 1, "classes": 3, "batch": 2, "before": 12, "limit": 5},
        variants=({"batch": 8},),
        sweeps={"batch": (1, 2, 4, 8, 16)},
        quick=True,
    ),
    Workload(
        "ssd",
        "detection",
        "SSD post-processing: softmax, box decode by columns over six levels, multi-class NMS",
        "Liu et al., SSD, 2016, section 2; settings of mmdetection's SSDHead (320 input, 80 classes)",
        build_ssd,
        {"size": 320, "classes": 80, "batch": 1, "before": 1000, "limit": 200},
        {"size": 32, "classes": 3, "batch": 2, "before": 12, "limit": 5},
        variants=({"batch": 8},),
        sweeps={"batch": (1, 2, 4, 8, 16)},
    ),
    Workload(
        "ssd300",
        "detection",
        "SSD post-processing with the 8,732 priors of the paper",
        "Liu et al., SSD, 2016, sections 2 and 3.1 (SSD300, PASCAL VOC: 20 classes; 80 for COCO)",
        build_ssd300,
        {"size": 300, "classes": 20, "batch": 1, "before": 400, "limit": 200},
        {"size": 32, "classes": 3, "batch": 2, "before": 12, "limit": 5},
        variants=({"classes": 80},),
    ),
    Workload(
        "fcos",
        "detection",
        "FCOS post-processing: distance decode and centre-ness over five levels, multi-class NMS",
        "Tian et al., FCOS, 2019, section 3; settings of mmdetection's FCOSHead (320 input, 80 classes)",
        build_fcos,
        {"size": 320, "classes": 80, "batch": 1, "before": 1000, "limit": 100},
        {"size": 32, "classes": 3, "batch": 2, "before": 12, "limit": 5},
        variants=({"batch": 8},),
        sweeps={"batch": (1, 2, 4, 8, 16)},
    ),
)
