"""Ops of torchvision as programs of the library: non-maximum suppression, with and without known numbers of boxes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check


def suppress(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    return torch.ops.torchvision.nms(boxes, scores, threshold)


def suppress_confident(boxes: Tensor, scores: Tensor, classes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As `batched_nms`: boxes of each class apart from those of the others."""
    confident = scores > 0.4
    boxes, scores, classes = boxes[confident], scores[confident], classes[confident]
    if boxes.numel() == 0:
        return boxes, scores, classes
    apart = classes.to(boxes.dtype) * (boxes.max() + 1.0)
    kept = torch.ops.torchvision.nms(boxes + apart[:, None], scores, 0.5)
    return boxes[kept], scores[kept], classes[kept]


def _boxes(count: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    corner = torch.rand(count, 2, generator=generator) * 300.0
    return torch.cat([corner, corner + torch.rand(count, 2, generator=generator) * 120.0], 1)


@pytest.fixture(scope="module")
def compiled() -> ssa_compiler.CompiledProgram:
    """Of 300 boxes: three blocks, the last of which is not full."""
    checked = check(suppress, (_boxes(300), torch.rand(300), 0.5), compiled=True)
    assert checked.compiled.explain().callbacks == ()
    return checked.compiled


@pytest.mark.parametrize("threshold", [-0.1, 0.0, 0.3, 0.7, 1.0])
def test_thresholds(compiled: ssa_compiler.CompiledProgram, threshold: float) -> None:
    boxes, scores = _boxes(300, 1), torch.rand(300)
    assert torch.equal(compiled(boxes, scores, threshold), suppress(boxes, scores, threshold))


def test_equal_scores_and_odd_boxes(compiled: ssa_compiler.CompiledProgram) -> None:
    boxes, scores = _boxes(300, 2), (torch.rand(300) * 4).round()
    boxes[::7] = boxes[0]
    boxes[3] = float("nan")
    boxes[5, 2:] = boxes[5, :2]  # no area
    boxes[6, 2:] = boxes[6, :2] - 10.0  # inside out
    boxes[9, 3] = float("inf")
    scores[11] = float("nan")
    assert torch.equal(compiled(boxes, scores, 0.5), suppress(boxes, scores, 0.5))


def test_long_chain(compiled: ssa_compiler.CompiledProgram) -> None:
    """Each box overlaps its neighbours only, so that each decision waits for the one before."""
    left = torch.arange(300.0) * 4.0
    boxes = torch.stack([left, torch.zeros(300), left + 10.0, torch.full([300], 10.0)], 1)
    scores = torch.linspace(1.0, 0.0, 300)
    kept = compiled(boxes, scores, 0.4)
    assert torch.equal(kept, torch.arange(0, 300, 2))


def test_overlap_exactly_at_the_threshold(compiled: ssa_compiler.CompiledProgram) -> None:
    """The threshold is a double: an overlap that is the float next to 0.7, above it or below, decides."""
    for numerator, denominator in ((7, 10), (3, 10), (9, 10), (1, 3), (6, 7)):
        boxes = _boxes(300, 3)
        boxes[0] = torch.tensor([0.0, 1000.0, float(denominator), 1001.0])
        boxes[1] = torch.tensor([0.0, 1000.0, float(numerator), 1001.0])
        scores = torch.rand(300) * 0.5
        scores[0], scores[1] = 1.0, 0.9
        threshold = numerator / denominator
        kept = compiled(boxes, scores, threshold)
        assert torch.equal(kept, suppress(boxes, scores, threshold))


@pytest.mark.slow
def test_numbers_of_boxes_known_at_run_time_only() -> None:
    boxes, scores, classes = _boxes(150), torch.rand(150), torch.arange(150) % 3
    few = torch.where(torch.arange(150) < 5, scores, 0.0)
    inputs = [(boxes, s, classes) for s in (scores, few, scores * 0.0, scores + 1.0)]
    assert check(suppress_confident, *inputs, compiled=True).compiled.explain().callbacks == ()


def test_errors() -> None:
    with pytest.raises(RuntimeError, match="same number of elements"):
        ssa_compiler.compile(suppress, (_boxes(5), torch.rand(4), 0.5))


_PLAIN = [([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]], [0.8, 0.9, 0.1], 0.5, [1, 2]), ([], [], 0.5, [])]


@pytest.mark.parametrize(("boxes", "scores", "threshold", "kept"), _PLAIN)
def test_plain_implementation(boxes: list[list[int]], scores: list[float], threshold: float, kept: list[int]) -> None:
    """What eager computes where torchvision is not installed; expected numbers are torchvision's."""
    found = torch.ops.torchvision.nms(torch.tensor(boxes).view(-1, 4).float(), torch.tensor(scores), threshold)
    assert found.tolist() == kept


@pytest.mark.slow
def test_saved_program_loads_where_torchvision_is_not_installed(tmp_path: Path) -> None:
    path = tmp_path / "suppress.pt"
    torch.jit.script(suppress).save(str(path))
    program = (
        "import sys, torch, ssa_compiler\n"
        "loaded = torch.jit.load(sys.argv[1])\n"
        "boxes, scores = torch.tensor([[0., 0., 2., 2.], [0., 0., 2., 1.9], [5., 5., 6., 6.]]), torch.rand(3)\n"
        "print(torch.equal(ssa_compiler.compile(loaded, (boxes, scores, 0.5))(boxes, scores, 0.5), loaded(boxes, scores, 0.5)))\n"
    )
    found = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "True"
