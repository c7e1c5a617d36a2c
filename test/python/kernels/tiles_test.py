"""Products of matrices and convolutions in tiles of registers: sizes around those of tiles, layouts, dtypes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

# A tile is six rows of sixteen float32; a panel is made for eight rows.
SIZES = [(8, 16, 16), (9, 17, 18), (6, 5, 4), (7, 33, 35), (50, 64, 31), (13, 40, 47), (1, 9, 20), (12, 128, 3)]


def _values(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Values that show an element in the wrong place, in integers with small products."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7919 + len(shape)) % 31 - 15).reshape(shape).to(dtype)


def transposed(x: Tensor, w: Tensor) -> Tensor:
    return x @ w.t()


def plain(x: Tensor, w: Tensor) -> Tensor:
    return x @ w


def products(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Products of x [m, k] and w [k, n], and of v [n, k], in several layouts."""
    y = torch.ones(x.size(0) + 2, w.size(1) + 3, dtype=x.dtype)
    y[1:-1, 2:-1] += x @ w
    columns = x.t().contiguous()
    batches = torch.stack([x, x + 1, x - 1])
    return x @ w, x @ v.t(), columns.t() @ w, torch.bmm(batches, torch.stack([w, -w, w])), y


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
@pytest.mark.parametrize("sizes", SIZES)
def test_products_of_matrices(sizes: tuple[int, int, int], dtype: torch.dtype) -> None:
    m, k, n = sizes
    arguments = (_values(m, k, dtype=dtype), _values(k, n, dtype=dtype), _values(n, k, dtype=dtype))
    compiled = check(products, arguments).compiled
    assert compiled.explain().kernel
    for found, expected in zip(compiled(*arguments), products(*arguments), strict=True):
        assert torch.equal(found, expected)  # small integers: exact in any order


def steps(x: Tensor, w: Tensor, n: int) -> Tensor:
    """A product of each trip is the factor of the next."""
    for _ in range(n):
        x = torch.tanh(x @ w.t()) + x[:, :1]
    return x


def test_a_product_in_a_loop() -> None:
    check(steps, *[(_values(9, 20) / 8, _values(20, 20) / 8, n) for n in (0, 1, 2, 7)])


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 20])
def test_dynamic_rows(rows: int) -> None:
    shapes = {"x": {0: torch.export.Dim("m", min=0)}, "w": None}
    for program, w in ((plain, _values(24, 19)), (transposed, _values(19, 24))):
        compiled = ssa_compiler.compile(program, (_values(5, 24), w), dynamic_shapes=shapes)
        x = _values(rows, 24)
        assert torch.equal(compiled(x, w), program(x, w))
        assert compiled.explain().kernel
        assert len(compiled.specialisations) == 1


def test_dynamic_columns() -> None:
    compiled = ssa_compiler.compile(
        plain, (_values(5, 24), _values(24, 19)), dynamic_shapes={"x": None, "w": {1: torch.export.Dim("n", min=0)}}
    )
    for columns in (0, 1, 15, 16, 17, 40):
        x, w = _values(5, 24), _values(24, columns)
        assert torch.equal(compiled(x, w), x @ w)


def convolution(x: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(x, w, padding=1)


def strided(x: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(x, w, stride=2)


def dilated(x: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(x, w, dilation=2, padding=2)


def sequence(x: Tensor, w: Tensor) -> Tensor:
    return F.conv1d(x[:, :, 0], w[:, :, 0])


def grouped(x: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(x, w[:, :1], groups=x.size(1))


@pytest.mark.parametrize("program", [convolution, strided, dilated, sequence, grouped])
@pytest.mark.parametrize(("width", "channels", "outputs"), [(7, 4, 8), (16, 1, 8), (35, 3, 6)])
def test_convolutions(program: Callable[[Tensor, Tensor], Tensor], width: int, channels: int, outputs: int) -> None:
    x, w = _values(2, channels, width, width), _values(outputs, channels, 3, 3)
    compiled = check(program, (x, w)).compiled
    assert compiled.explain().kernel
    assert torch.equal(compiled(x, w), program(x, w))


def test_a_product_that_fits_the_cache_is_part_of_the_kernel() -> None:
    """With more products than plain loops are left."""
    x, w = _values(97, 128), _values(96, 128)
    assert check(transposed, (x, w)).compiled.explain().kernel
