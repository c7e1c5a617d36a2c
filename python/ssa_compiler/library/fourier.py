"""Fourier transforms of known sizes, as products with matrices of roots of unity of at most 1024 rows.

A transform of n = n1 * n2 numbers is n2 transforms of n1, a product with roots of unity, and n1 transforms of n2; each
of these is a product with the matrix of the roots of unity. All is computed in float64, since a matrix product adds up
larger rounding errors than eager's transforms. Source: Cooley and Tukey, An algorithm for the machine calculation of
complex Fourier series.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, List  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from . import _constants  # noqa: F401 - defines ssa_compiler::roots_of_unity
from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006 - TorchScript reads these annotations

_MOST = 1024
"""The largest matrix of roots of unity has so many rows."""


def _first_factor(n: int) -> int:
    """The factor of a size that the first transforms have, 1 if one matrix is enough, or no factor is small.

    An expression of constants, which the importer computes.
    """
    factor = 1
    if n > 64:
        if n % 32 == 0:
            factor = 32
        elif n % 16 == 0:
            factor = 16
        elif n % 8 == 0:
            factor = 8
        elif n % 10 == 0:
            factor = 10
        elif n % 9 == 0:
            factor = 9
        elif n % 7 == 0:
            factor = 7
        elif n % 5 == 0:
            factor = 5
        elif n % 4 == 0:
            factor = 4
        elif n % 3 == 0:
            factor = 3
        elif n % 2 == 0:
            factor = 2
    return factor


def _is_feasible(sizes: list[Any]) -> bool:
    """Whether sizes are known and have two factors that are small enough."""
    known = all(isinstance(size, int) and size > 0 for size in sizes)
    return known and all(size // _first_factor(size) <= _MOST for size in sizes)


def _transforms(arguments: Mapping[str, Any]) -> bool:
    tensor, dims = arguments["self"], arguments["dim"]
    if tensor.dtype not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return False
    if not dims or not all(isinstance(size, int) and size > 0 for size in tensor.shape):
        return False
    return _is_feasible([tensor.shape[dim] for dim in dims])


def _transforms_to_real(arguments: Mapping[str, Any]) -> bool:
    last = arguments["last_dim_size"]
    sizes = [*arguments["self"].shape]
    if not _transforms({**arguments, "dim": arguments["dim"][-1:]}) or not _is_feasible([last]):
        return False
    return last // 2 + 1 == sizes[arguments["dim"][-1]] and (
        len(arguments["dim"]) == 1 or _transforms({**arguments, "dim": arguments["dim"][:-1]})
    )


def _matrix(roots: Tensor, rows: int, columns: int, step: int) -> Tensor:
    """The roots to the powers of products of row and column, and a step: [rows, columns]."""
    row = torch.arange(rows, device=roots.device).unsqueeze(1)
    column = torch.arange(columns, device=roots.device).unsqueeze(0)
    power = torch.remainder(row * column * step, roots.size(0))
    return roots.index_select(0, power.reshape([-1])).reshape([rows, columns])


def _product(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """The elementwise product of a + ib and c + id."""
    return a * c - b * d, a * d + b * c


def _matrix_product(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """The matrix product of a + ib and c + id."""
    return torch.matmul(a, c) - torch.matmul(b, d), torch.matmul(a, d) + torch.matmul(b, c)


def _rows(real: Tensor, imaginary: Tensor, forward: bool) -> tuple[Tensor, Tensor]:
    """Transform rows [b, n] of complex numbers, given by their parts."""
    n = real.size(1)
    n1 = _first_factor(n)
    n2 = n // n1
    roots = torch.ops.ssa_compiler.roots_of_unity(n).to(real.device)
    c, s = roots[0], (-roots[1] if forward else roots[1])
    c2, s2 = _matrix(c, n2, n2, n1), _matrix(s, n2, n2, n1)
    if n1 == 1:
        return _matrix_product(real, imaginary, c2, s2)
    c1, s1 = _matrix(c, n1, n1, n2), _matrix(s, n1, n1, n2)
    # x[b, j1 n2 + j2] as [b, j2, j1]
    x = real.reshape([-1, n1, n2]).transpose(1, 2).reshape([-1, n1])
    y = imaginary.reshape([-1, n1, n2]).transpose(1, 2).reshape([-1, n1])
    x, y = _matrix_product(x, y, c1, s1)
    turned, other = _matrix(c, n2, n1, 1), _matrix(s, n2, n1, 1)
    x, y = _product(x.reshape([-1, n2, n1]), y.reshape([-1, n2, n1]), turned, other)
    x, y = x.transpose(1, 2).reshape([-1, n2]), y.transpose(1, 2).reshape([-1, n2])
    x, y = _matrix_product(x, y, c2, s2)
    # [b, k1, k2] as X[b, k1 + n1 k2]
    x, y = x.reshape([-1, n1, n2]).transpose(1, 2), y.reshape([-1, n1, n2]).transpose(1, 2)
    return x.reshape([-1, n]), y.reshape([-1, n])


def _along(real: Tensor, imaginary: Tensor, dim: int, forward: bool) -> tuple[Tensor, Tensor]:
    """Transform along a dimension."""
    x, y = real.movedim(dim, -1), imaginary.movedim(dim, -1)
    shape = x.shape
    x, y = _rows(x.reshape([-1, x.size(-1)]), y.reshape([-1, y.size(-1)]), forward)
    return x.reshape(shape).movedim(-1, dim), y.reshape(shape).movedim(-1, dim)


def _scale(normalization: int, n: int) -> float:
    """What results are multiplied by: nothing, by the root of the number of elements, or by that."""
    if normalization == 0:
        return 1.0
    if normalization == 1:
        return 1.0 / math.sqrt(float(n))
    return 1.0 / float(n)


def _made(real: Tensor, imaginary: Tensor, dtype: torch.dtype) -> Tensor:
    """Complex numbers whose parts have a dtype."""
    return torch.complex(real.to(dtype).contiguous(), imaginary.to(dtype).contiguous())


@implements("aten::_fft_c2c", where=_transforms)
def complex_to_complex(self: Tensor, dim: List[int], normalization: int, forward: bool) -> Tensor:
    """The transform along dimensions."""
    real, imaginary = torch.real(self), torch.imag(self)
    dtype = real.dtype
    x, y = real.to(torch.float64), imaginary.to(torch.float64)
    n = 1
    for d in dim:
        x, y = _along(x, y, d, forward)
        n = n * self.size(d)
    scale = _scale(normalization, n)
    return _made(x * scale, y * scale, dtype)


@implements("aten::_fft_r2c", where=_transforms)
def real_to_complex(self: Tensor, dim: List[int], normalization: int, onesided: bool) -> Tensor:
    """The transform of real numbers; of the last dimension only the first half, if asked for."""
    x = self.to(torch.float64)
    y = torch.zeros_like(x)
    last = dim[len(dim) - 1]
    n = self.size(last)
    x, y = _along(x, y, last, True)
    if onesided:
        x, y = x.narrow(last, 0, n // 2 + 1), y.narrow(last, 0, n // 2 + 1)
    for d in dim[:-1]:
        x, y = _along(x, y, d, True)
        n = n * self.size(d)
    scale = _scale(normalization, n)
    return _made(x * scale, y * scale, self.dtype)


@implements("aten::_fft_c2r", where=_transforms_to_real)
def complex_to_real(self: Tensor, dim: List[int], normalization: int, last_dim_size: int) -> Tensor:
    """The inverse transform to real numbers, of which the first half along the last dimension is given."""
    real, imaginary = torch.real(self), torch.imag(self)
    dtype = real.dtype
    x, y = real.to(torch.float64), imaginary.to(torch.float64)
    n = last_dim_size
    for d in dim[:-1]:
        x, y = _along(x, y, d, False)
        n = n * self.size(d)
    last = dim[len(dim) - 1]
    x, y = x.movedim(last, -1), y.movedim(last, -1)
    place = torch.arange(last_dim_size, device=self.device)
    mirrored = place > last_dim_size - place
    half = torch.where(mirrored, last_dim_size - place, place)
    x, y = x.index_select(-1, half), y.index_select(-1, half)
    # What is its own mirror image has no imaginary part, whatever is given.
    own = torch.remainder(2 * place, last_dim_size) == 0
    y = torch.where(own, 0.0, torch.where(mirrored, -y, y))
    x, _ = _along(x, y, -1, False)
    return (x * _scale(normalization, n)).to(dtype).movedim(-1, last).contiguous()
