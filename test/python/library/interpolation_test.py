"""Linear and nearest interpolation to sizes that are dynamic."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

IMAGE = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))


def resized(x: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    height, width = int(sizes[0]), int(sizes[1])
    image = F.interpolate(x[None, None], size=(height, width), mode="bilinear", align_corners=False)
    line = F.interpolate(x[None], size=width, mode="linear", align_corners=True)
    volume = F.interpolate(x.expand(1, 1, 3, 7, 5), size=(2, height, width), mode="trilinear")
    return image, line, volume


def scaled(x: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    rows = x[: int(sizes[0])][None, None]
    given = F.interpolate(rows, scale_factor=1.7, mode="bilinear")
    return given, F.interpolate(rows, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)


SIZES = [torch.tensor(sizes) for sizes in ((9, 11), (7, 5), (1, 1), (3, 2), (1, 6), (20, 1))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_dynamic_sizes(dtype: torch.dtype) -> None:
    check(resized, *[(IMAGE.to(dtype), sizes) for sizes in SIZES], rtol=1e-5, atol=1e-5)


def test_dynamic_sizes_of_the_image() -> None:
    check(scaled, *[(IMAGE, sizes) for sizes in SIZES[1:5]], rtol=1e-5, atol=1e-5)


def test_it_is_compiled() -> None:
    explanation = ssa_compiler.compile(resized, (IMAGE, SIZES[0]), fullgraph=True).explain()
    assert not explanation.callbacks


def nearest(x: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    height, width = int(sizes[0]), int(sizes[1])
    image = F.interpolate(x[None, None], size=(height, width))
    exact = F.interpolate(x[None, None], size=(height, width), mode="nearest-exact")
    line = F.interpolate(x[None], size=width)
    volume = F.interpolate(x.expand(1, 1, 3, 7, 5), size=(2, height, width), mode="nearest-exact")
    rows = x[: min(height, 7)][None, None]
    return image, exact, line, volume, F.interpolate(rows, scale_factor=(2.0, 1.7))


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8], ids=str)
def test_nearest(dtype: torch.dtype) -> None:
    more = [torch.tensor(sizes) for sizes in ((14, 10), (41, 23), (6, 58))]
    check(nearest, *[((IMAGE * 50).abs().to(dtype), sizes) for sizes in (*SIZES, *more)], rtol=0.0, atol=0.0)
    assert not ssa_compiler.compile(nearest, (IMAGE, SIZES[0]), fullgraph=True).explain().callbacks


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (-1, 2)])
def test_no_elements(sizes: tuple[int, int]) -> None:
    compiled = ssa_compiler.compile(resized, (IMAGE, SIZES[0]), fullgraph=True)
    with pytest.raises(RuntimeError, match="Input and output sizes should be greater than 0"):
        compiled(IMAGE, torch.tensor(sizes))
