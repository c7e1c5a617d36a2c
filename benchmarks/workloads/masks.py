"""Post-processing of YOLACT: box decode, fast NMS, masks from prototypes, and cutting them to their boxes."""

# TorchScript reads the annotations of buffers, and does not know them as strings: no
# `from __future__ import annotations`.
import math
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload
from .boxes import decode_deltas, overlap
from .detection import detection_facts, plant

__all__ = ["WORKLOADS", "YOLACTHead"]


def _priors(size: int) -> torch.Tensor:
    """Priors of five levels with three shapes each: float32 [priors, 4], corners in pixels."""
    priors = []
    for level, edge in enumerate((24, 48, 96, 192, 384)):
        grid = math.ceil(size / (8 * 2**level))
        length = edge * size / 550
        for y in range(grid):
            for x in range(grid):
                cx, cy = (x + 0.5) * size / grid, (y + 0.5) * size / grid
                for ratio in (1.0, 0.5, 2.0):
                    w, h = length * math.sqrt(ratio) / 2, length / math.sqrt(ratio) / 2
                    priors.append((cx - w, cy - h, cx + w, cy + h))
    return torch.tensor(priors, dtype=torch.float32)


class YOLACTHead(nn.Module):
    """Boxes and masks from the outputs of YOLACT.

    Args:
        size: image size in pixels.
        classes: number of classes, without the background.
        before: how many boxes of each class take part in fast NMS.
        limit: the most boxes kept.
    """

    priors: torch.Tensor

    def __init__(self, size: int, classes: int, before: int, limit: int) -> None:
        super().__init__()
        self.size = float(size)
        self.classes = classes
        self.before = before
        self.limit = limit
        self.register_buffer("priors", _priors(size))

    def forward(
        self, logits: torch.Tensor, deltas: torch.Tensor, coefficients: torch.Tensor, prototypes: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Find boxes and masks.

        Args:
            logits: float32 [batch, priors, classes + 1]; the last class is the background.
            deltas: float32 [batch, priors, 4].
            coefficients: float32 [batch, priors, kinds], before tanh.
            prototypes: float32 [batch, height, width, kinds].
        Returns:
            Boxes with scores, float32 [batch, limit, 5]; classes, int64 [batch, limit]; masks, bool
            [batch, limit, height, width]; for each image how many were kept and how many reached NMS, int64 [batch].
        """
        batch, height, width, _ = prototypes.shape
        device = logits.device
        probability = torch.softmax(logits, dim=2)[..., :-1]
        decoded = decode_deltas(self.priors, deltas, 0.1, self.size)
        boxes = torch.zeros(batch, self.limit, 5, device=device)
        labels = torch.zeros(batch, self.limit, dtype=torch.int64, device=device)
        masks = torch.zeros(batch, self.limit, height, width, dtype=torch.bool, device=device)
        kept = torch.zeros(batch, dtype=torch.int64, device=device)
        reached = torch.zeros(batch, dtype=torch.int64, device=device)
        columns = torch.arange(width, device=device)
        rows = torch.arange(height, device=device)
        for image in range(batch):
            scores, order = probability[image].t().topk(self.before, dim=1)
            chosen = decoded[image][order]
            shared = overlap(chosen, chosen).triu(1)
            alive = (shared.amax(dim=1) <= 0.5) & (scores > 0.05)
            reached[image] = (scores > 0.05).sum()
            best, places = (scores * alive).reshape(-1).topk(self.limit)
            class_of = torch.arange(self.classes, device=device)[:, None].expand(self.classes, self.before)
            valid = best > 0.05
            kept[image] = valid.sum()
            found = chosen.reshape(-1, 4)[places]
            boxes[image, :, :4] = found * valid[:, None]
            boxes[image, :, 4] = best * valid
            labels[image] = class_of.reshape(-1)[places] * valid
            mix = torch.tanh(coefficients[image][order.reshape(-1)[places]])
            mask = torch.sigmoid(prototypes[image] @ mix.t()).permute(2, 0, 1)
            left = (found[:, 0] / self.size * width)[:, None, None]
            top = (found[:, 1] / self.size * height)[:, None, None]
            right = (found[:, 2] / self.size * width)[:, None, None]
            bottom = (found[:, 3] / self.size * height)[:, None, None]
            inside = (columns >= left) & (columns < right) & (rows[:, None] >= top) & (rows[:, None] < bottom)
            masks[image] = (mask * inside > 0.5) & valid[:, None, None]
        return boxes, labels, masks, kept, reached


def build_yolact(*, size: int, classes: int, kinds: int, batch: int, before: int, limit: int) -> Built:
    """Make the head; the input sets have 100, 20 and 300 confident boxes an image, fewer for small sizes."""
    model = YOLACTHead(size, classes, before, limit)
    priors = model.priors.shape[0]
    grid = math.ceil(size / 4)

    def outputs(confident: int) -> tuple[Any, ...]:
        logits = 0.5 * torch.randn(batch, priors, classes + 1)
        logits[..., -1] += 9.0
        plant(logits[..., :-1], min(confident, priors // 2), low=6.5, run=6)
        return (
            logits,
            torch.randn(batch, priors, 4),
            torch.randn(batch, priors, kinds),
            torch.randn(batch, grid, grid, kinds),
        )

    return Built(model, {f"{n} boxes": outputs(n) for n in (100, 20, 300)}, facts=detection_facts)


WORKLOADS = (
    Workload(
        "yolact",
        "detection",
        "YOLACT post-processing: box decode, fast NMS, prototype masks, crop",
        "Bolya et al., YOLACT, 2019, sections 3.2 and 4.2; settings of mmdetection's YOLACTHead (320 input)",
        build_yolact,
        {"size": 320, "classes": 80, "kinds": 32, "batch": 1, "before": 200, "limit": 100},
        {"size": 32, "classes": 3, "kinds": 4, "batch": 2, "before": 8, "limit": 5},
        variants=({"batch": 8},),
        sweeps={"batch": (1, 2, 4, 8, 16)},
    ),
)
