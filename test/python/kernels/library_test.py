"""Ops that native kernels have as functions of their own: sorting, the smallest elements, boxes; against eager, ties
included.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from ssa_compiler import compile
from ssa_compiler.backend.driver import compilation
from ssa_compiler.backend.kernels import region_kernels
from ssa_compiler.backend.kernels.kernels import NoKernelError
from ssa_compiler.importer import import_program
from ssa_compiler.ops import define_missing
from ssa_compiler.pipeline import run_pipeline
from ssa_compiler.testing import check

define_missing()
NAN, INF = math.nan, math.inf


def sorted_both_ways(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    values, order = torch.sort(x, dim=1, stable=True)
    return values, order, torch.argsort(x, dim=0, descending=True, stable=True), torch.argsort(x, stable=True)


def numbers(rows: int, n: int, dtype: torch.dtype) -> list[Tensor]:
    """Random ones, equal ones, sorted ones, extreme ones."""
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        random = torch.randint(info.min // 2, info.max // 2, (rows, n), dtype=dtype)
        extremes = torch.tensor([info.max, info.min, 0, 1, info.max])
    else:
        random = torch.randn(rows, n, dtype=dtype)
        extremes = torch.tensor([NAN, -INF, INF, -0.0, 0.0, 1e-45, -1e-45, NAN, 3e38])
    ends = extremes.to(dtype).repeat(rows * n)[: rows * n].view(rows, n)
    return [random, random.round() if dtype.is_floating_point else random // 50, random.sort()[0], ends]


@pytest.mark.slow
def test_sorting() -> None:
    """Rows around the size up to which they are sorted by insertion."""
    for dtype, rows, n in (
        (torch.float32, 3, 48),
        (torch.float32, 2, 300),
        (torch.float64, 3, 49),
        (torch.int64, 2, 100),
        (torch.uint8, 5, 1),
    ):
        inputs = [(x,) for x in numbers(rows, n, dtype)]
        compiled = check(sorted_both_ways, *inputs, exact=True).compiled
        assert compiled.explain().kernel, compiled.explain().kernel_reason


def largest_and_smallest(x: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
    return torch.topk(x, k).values, torch.topk(x, k, largest=False).values, torch.topk(x.neg(), k).values


def places(x: Tensor, k: int) -> Tensor:
    return torch.topk(x, k).indices


@pytest.mark.slow
def test_some_of_many() -> None:
    calls = [(x, k) for x in numbers(2, 120, torch.float32) for k in (5, 0, 1, 48, 49, 120)]
    compiled = check(largest_and_smallest, *calls, exact=True).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    compiled = compile(places, (torch.zeros(2, 9), 3))
    assert compiled(torch.zeros(2, 9), 3).tolist() == [[0, 1, 2]] * 2  # of equal ones the first


def in_the_middle(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.median(x, dim=1)[0], torch.kthvalue(x, 2, dim=1)[0], torch.nanmedian(x)


def where_in_the_middle(x: Tensor) -> list[Tensor]:
    """By the elements in these places: of equal ones it may be any."""
    places = [torch.median(x, 1)[1], torch.nanmedian(x, 1)[1], torch.kthvalue(x, 3, 1)[1], torch.kthvalue(x, 60, 1)[1]]
    return [x.gather(1, place.unsqueeze(1)) for place in places] + [torch.kthvalue(x, 1, 0, keepdim=True)[0]]


def so_far(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    highest, lowest = torch.cummax(x, 1), torch.cummin(x, 0)
    return highest.values, highest.indices, lowest.values, lowest.indices


def distinct(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.unique(x, return_inverse=True, return_counts=True)


@pytest.mark.slow
def test_what_sorting_serves() -> None:
    for dtype in (torch.float32, torch.int64):
        inputs = [(x,) for x in numbers(3, 60, dtype)]
        for program in (in_the_middle, where_in_the_middle):
            compiled = check(program, *inputs, exact=True).compiled
            assert compiled.explain().kernel, compiled.explain().kernel_reason
    check(distinct, *[(torch.arange(70) % k,) for k in (7, 1, 70)])


def test_running_extremes() -> None:
    for dtype in (torch.float64, torch.uint8):
        compiled = check(so_far, *[(x,) for x in numbers(3, 20, dtype)], exact=True).compiled
        assert compiled.explain().kernel, compiled.explain().kernel_reason
    shapes = {"x": {1: Dim("n")}}
    inputs = [(torch.randn(2, n).round(),) for n in (6, 2, 50)]
    check(so_far, *inputs, exact=True, options={"dynamic_shapes": shapes})


def test_a_size_that_is_dynamic() -> None:
    shapes = {"x": {1: Dim("n")}}
    inputs = [(torch.randn(2, n).round(),) for n in (60, 3, 48, 49, 500)]
    compiled = check(sorted_both_ways, *inputs, exact=True, options={"dynamic_shapes": shapes}).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    assert len(compiled.specialisations) == 1


def suppressed(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    return torch.ops.torchvision.nms(boxes, scores, threshold)


@pytest.mark.slow
def test_boxes() -> None:
    corner = torch.rand(150, 2) * 100
    boxes, scores = torch.cat([corner, corner + torch.rand(150, 2) * 60], 1), torch.rand(150)
    odd = boxes.clone()
    odd[::7] = NAN
    odd[1::7] = 0.0
    calls = [(b, s, t) for b in (boxes, odd) for s in (scores, scores.round()) for t in (0.5, 0.0, 1.0)]
    compiled = check(suppressed, *calls).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason


def cycle(following: Tensor, start: int) -> Tensor:
    seen = [start]
    place = int(following[start])
    while place != start:
        seen.append(place)
        place = int(following[place])
    return torch.tensor(sorted(seen))


def test_sorted_lists_of_dynamic_length() -> None:
    following = torch.tensor([4, 2, 1, 3, 5, 0])
    explained = check(cycle, *[(following, start) for start in (0, 1, 3)]).compiled.explain()
    assert not explained.callbacks
    assert explained.kernels == 1


def printed(x: Tensor) -> Tensor:
    print("sorting")
    return torch.argsort(x, stable=True)


def test_sorting_beside_effects() -> None:
    """Loops are no kernels there; sorting checks nothing whose order would matter."""
    explained = check(printed, (torch.randn(3, 60),)).compiled.explain()
    assert (explained.kernel, explained.kernels) == (False, 1)


def test_without_a_kernel_the_op_runs_in_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(*args: object, **options: object) -> None:
        raise NoKernelError("none today")

    monkeypatch.setattr(region_kernels, "form_kernel", reject)
    monkeypatch.setattr(compilation, "form_kernel", reject)
    explained = check(largest_and_smallest, (torch.randn(2, 60), 5), exact=True).compiled.explain()
    assert {site.op for site in explained.callbacks} == {"ssa_compiler::smallest_low"}
    assert "could not be made a kernel" in str(explained)


def test_only_programs_for_kernels_have_such_ops() -> None:
    imported = import_program(sorted_both_ways, (torch.randn(2, 3),), kernels=True)
    assert "torch.ssa_compiler.order_low" in run_pipeline(imported.module).final
    plain = import_program(sorted_both_ways, (torch.randn(2, 3),))
    assert "torch.ssa_compiler" not in plain.module
