"""The largest and smallest elements and where they are, of rows with NaN, infinities and equal elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional

from ssa_compiler import compile
from ssa_compiler.errors import ProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

NAN, INF = math.nan, math.inf
ROWS = [
    [1.0, NAN, 3.0, NAN, 2.0, 0.0, -1.0, 5.0, 4.0],
    [NAN] * 9,
    [INF] * 9,
    [-INF] * 9,
    [-INF, -INF, NAN, INF, INF, -INF, NAN, 0.0, 0.0],
    [2.0, 2.0, 5.0, 5.0, -5.0, -5.0, 5.0, 1.0, -5.0],
    [0.0, -0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0],
    [5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0, -2.0, NAN],
    [NAN, -INF, INF, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
]


def _compiles_right(function: Callable[..., object], *inputs: Tensor) -> None:
    checked = check(function, inputs, compiled=True)
    assert checked.compiled.explain().callbacks == ()


def _agree(function: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor], dynamic_shapes: object) -> None:
    compiled = compile(function, (inputs[0],), dynamic_shapes=dynamic_shapes, cache=False)
    for x in inputs:
        torch.testing.assert_close(compiled(x), function(x), equal_nan=True)
    assert compiled.explain().callbacks == ()


def _extremes(x: Tensor) -> list[Tensor]:
    most, where = x.max(1)
    least, place = x.min(-1, keepdim=True)
    down, row = torch.max(x, 0)
    up, column = torch.min(x, dim=0, keepdim=True)
    found = [most, where, least, place, down, row, up, column]
    found += [x.argmax(1), x.argmin(-1, keepdim=True), x.argmax(0), x.argmin(dim=0, keepdim=True)]
    found += [x.argmax(), x.argmin(), x[5:7].argmax(), x[5:7].argmin(), x.argmax(None, keepdim=True)]
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.slow
def test_places_of_extremes(dtype: torch.dtype) -> None:
    x = torch.tensor(ROWS, dtype=dtype)
    _compiles_right(_extremes, x)
    wide = torch.randn(9, 70).to(dtype)
    wide[2, 65], wide[3, 11], wide[3, 69], wide[4, :] = NAN, NAN, NAN, -INF
    _compiles_right(_extremes, wide)


def test_places_of_extremes_of_unknown_sizes() -> None:
    x = torch.tensor(ROWS)
    _agree(_extremes, [x, torch.randn(8, 33), x[:7]], {"x": {0: Dim("n"), 1: Dim("m")}})


def _scalars(x: Tensor) -> list[Tensor]:
    y = x[0, 0]
    most, where = y.max(0)
    least, place = y.min(-1, keepdim=True)
    return [most, where, least, place, y.argmax(), y.argmin(0)]


def test_scalars() -> None:
    for x in (torch.tensor([[NAN]]), torch.tensor([[2.0]])):
        _compiles_right(_scalars, x)


def _values(x: Tensor) -> list[Tensor]:
    low, high = torch.aminmax(x, dim=1)
    most, least = x.cummax(1), x.cummin(0)
    found = [x.amax(1), x.amin(0, keepdim=True), x.max(), x.min(), x[5:7].max(), low, high]
    found += [most[0], most[1], least[0], least[1], x.median(1)[0], x.nanmedian(1)[0], x.median()]
    found += [x.topk(3, 1)[0], x.topk(1, 1)[0], x.topk(3, 1, False)[0], x.sort(1)[0], x.sort(dim=1, stable=True)[1]]
    found += [functional.max_pool1d(x[:, None], 3), functional.max_pool2d(x[None, None], 2, 1, 1)]
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.slow
def test_values_of_extremes(dtype: torch.dtype) -> None:
    _compiles_right(_values, torch.tensor(ROWS, dtype=dtype))


def _pooled(x: Tensor) -> list[Tensor]:
    row, image, volume = x[:, None], x[None, None], x.view(3, 1, 3, 3, 3)
    found: list[Tensor] = []
    for pair in (
        functional.max_pool1d(row, 3, return_indices=True),
        functional.max_pool1d(row, 3, 2, 1, 1, True, return_indices=True),
        functional.max_pool2d(image, 3, return_indices=True),
        functional.max_pool2d(image, [2, 3], [2, 1], [1, 0], return_indices=True),
        functional.max_pool2d(image, 2, 3, 1, 1, True, return_indices=True),
        functional.max_pool2d(image, 3, 2, 1, 2, return_indices=True),
        functional.max_pool3d(volume, 2, 1, return_indices=True),
        functional.max_pool3d(volume, [1, 2, 3], 1, [0, 1, 1], return_indices=True),
    ):
        found += [pair[0], pair[1]]
    return found


def _adapted(x: Tensor) -> list[Tensor]:
    row, image, volume = x[:, None], x[None], x.view(3, 3, 3, 3)
    found: list[Tensor] = []
    for pair in (
        functional.adaptive_max_pool1d(row, 3, return_indices=True),
        functional.adaptive_max_pool1d(row, 4, return_indices=True),
        functional.adaptive_max_pool1d(x, 1, return_indices=True),
        functional.adaptive_max_pool1d(row, 11, return_indices=True),
        functional.adaptive_max_pool2d(image, [3, 3], return_indices=True),
        functional.adaptive_max_pool2d(image, [4, 5], return_indices=True),
        functional.adaptive_max_pool2d(image[None], [1, 1], return_indices=True),
        functional.adaptive_max_pool3d(volume, [1, 3, 2], return_indices=True),
    ):
        found += [pair[0], pair[1]]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("function", "dtype"), [(_pooled, torch.float32), (_adapted, torch.float64)])
def test_windows(function: Callable[..., object], dtype: torch.dtype) -> None:
    _compiles_right(function, torch.tensor(ROWS, dtype=dtype))


def _pooled_values(x: Tensor) -> list[Tensor]:
    best, place = functional.max_pool2d(x, 3, 2, 1, return_indices=True)
    adapted = functional.adaptive_max_pool2d(x, [2, 3])
    return [best, place, adapted, best.view(best.size(0), -1)]


def test_windows_of_images_of_unknown_sizes() -> None:
    inputs = [torch.randn(size, 3, 7, 9) for size in (2, 5)]
    inputs[1][3, 1, 2] = NAN
    _agree(_pooled_values, inputs, {"x": {0: Dim("n")}})


def _strides(x: Tensor) -> tuple[Tensor, Tensor, int]:
    best, place = functional.max_pool2d(x, 2, return_indices=True)
    return best, place, best.stride(1)


def test_windows_of_channels_last() -> None:
    x = torch.randn(2, 3, 6, 4).to(memory_format=torch.channels_last)
    x[0, :, 2, 1] = NAN
    check(_strides, (x,), compiled=True)


def _rows_in_windows(x: Tensor, k: int, s: int, p: int, d: int) -> tuple[Tensor, Tensor]:
    return functional.max_pool1d(x[0, 0], k, s, p, d, return_indices=True)


def _images_in_windows(x: Tensor, k: int, s: int, p: int, d: int) -> tuple[Tensor, Tensor]:
    return functional.max_pool2d(x[0], k, s, p, d, return_indices=True)


def _volumes_in_windows(x: Tensor, k: int, s: int, p: int, d: int) -> tuple[Tensor, Tensor]:
    return functional.max_pool3d(x, k, s, p, d, True, return_indices=True)


@pytest.mark.parametrize("function", [_rows_in_windows, _images_in_windows, _volumes_in_windows])
def test_windows_that_eager_rejects(function: Callable[..., object]) -> None:
    x = torch.randn(1, 2, 3, 3, 3)
    taken = [(2, 2, 0, 1), (3, 1, 1, 1), (2, 1, 1, 2)]
    # Of no elements, steps of nothing, paddings, elements that are not there, and more than one of these.
    rejected = [(0, 2, 0, 1), (2, 0, 0, 1), (2, -1, 0, 1), (2, 1, -1, 1), (2, 1, 2, 1), (2, 1, 0, 0), (4, 1, 0, 1)]
    rejected += [(2, 0, -1, 0), (-1, 1, 0, 0), (2, 2, 3, -1)]
    checked = check(function, *((x, *numbers) for numbers in taken + rejected), compiled=False)
    assert [type(error) for error in checked.errors] == [type(None)] * len(taken) + [RuntimeError] * len(rejected)


def _into_windows(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return functional.adaptive_max_pool2d(x, [2, k], return_indices=True)


def test_negative_numbers_of_windows() -> None:
    with pytest.raises(ProgramError, match="negative dimension -1"):
        import_program(_into_windows, (torch.randn(1, 3, 3), -1))


def alone(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    one_window = torch.nn.functional.conv2d(x[None], weight, stride=2, padding=1)
    pooled = torch.nn.functional.max_pool2d(x, 3, 2, ceil_mode=True)
    return torch.nn.functional.conv2d(x, weight, stride=2, padding=1), one_window, pooled


def test_images_without_batch_and_single_windows() -> None:
    """iree-compile fails on them."""
    x = torch.randn(2, 4, 3)
    missing = x.clone()
    missing[0, 2, 1] = math.nan
    checked = check(alone, (x, torch.randn(4, 2, 3, 4)), (missing, torch.randn(4, 2, 3, 4)))
    assert checked.compiled.explain().callbacks == ()


def sampled(x: Tensor, grid: Tensor) -> list[Tensor]:
    nearest = torch.nn.functional.grid_sample(x, grid, "nearest", "border", True)
    return [torch.nn.functional.grid_sample(x, grid, "bilinear", "reflection", False), nearest]


@pytest.mark.slow
def test_samples_of_volumes() -> None:
    x, grid = torch.randn(2, 3, 2, 3, 4), torch.randn(2, 2, 2, 3, 3) * 1.5
    checked = check(sampled, (x, grid))
    assert checked.compiled.explain().callbacks == ()


def of_nothing(x: Tensor, lu: Tensor, pivots: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    normalized = torch.nn.functional.group_norm(x, 2)
    return normalized, torch.linalg.lu_solve(lu, pivots, x[:, :, 0].t()), torch.linalg.pinv(x[:, :, 0])


def test_of_nothing() -> None:
    """iree-compile fails on the one, and does not know the others."""
    checked = check(of_nothing, (torch.zeros(0, 4, 3), torch.eye(4), torch.arange(4, dtype=torch.int32)))
    assert checked.compiled.explain().callbacks == ()
