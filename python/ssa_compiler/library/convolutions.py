"""Convolutions in forms that IREE compiles: of batches, and of windows that end where the padded input does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, List, Optional  # noqa: UP035 - TorchScript

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

# ruff: noqa: UP006, UP045 - TorchScript reads these annotations


def _has_no_batch(arguments: Mapping[str, Any]) -> bool:
    x, weight = arguments["input"], arguments["weight"]
    known = all(isinstance(size, int) and size > 0 for size in (*x.shape, *weight.shape))
    return known and x.dim() == weight.dim() - 1


@implements("aten::conv1d", where=_has_no_batch)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of one element of a batch."""
    return torch.conv1d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)


@implements("aten::conv1d.padding", where=_has_no_batch)
def conv1d_padded(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: str,
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of one element of a batch, padded by what a word says."""
    return torch.conv1d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)


@implements("aten::conv2d.padding", where=_has_no_batch)
def conv2d_padded(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: str,
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of one element of a batch, padded by what a word says."""
    return torch.conv2d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)


@implements("aten::conv3d.padding", where=_has_no_batch)
def conv3d_padded(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: str,
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of one element of a batch, padded by what a word says."""
    return torch.conv3d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)


@implements("aten::conv2d", where=_has_no_batch)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of one element of a batch."""
    return torch.conv2d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)


@implements("aten::conv3d", where=_has_no_batch)
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of one element of a batch."""
    return torch.conv3d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)


@implements("aten::conv_transpose1d", where=_has_no_batch)
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    output_padding: List[int],
    groups: int,
    dilation: List[int],
) -> Tensor:
    """The transposed convolution of one element of a batch."""
    x = input.unsqueeze(0)
    return torch.conv_transpose1d(x, weight, bias, stride, padding, output_padding, groups, dilation).squeeze(0)


@implements("aten::conv_transpose2d.input", where=_has_no_batch)
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    output_padding: List[int],
    groups: int,
    dilation: List[int],
) -> Tensor:
    """The transposed convolution of one element of a batch."""
    x = input.unsqueeze(0)
    return torch.conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation).squeeze(0)


@implements("aten::conv_transpose3d.input", where=_has_no_batch)
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    output_padding: List[int],
    groups: int,
    dilation: List[int],
) -> Tensor:
    """The transposed convolution of one element of a batch."""
    x = input.unsqueeze(0)
    return torch.conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups, dilation).squeeze(0)


def _both(numbers: Any) -> list[Any]:
    return list(numbers) * 2 if len(numbers) == 1 else list(numbers)


def _leaves_elements_out(arguments: Mapping[str, Any]) -> bool:
    """Whether one window covers a dimension, and elements behind it, which iree-compile fails on."""
    x, weight = arguments["input"], arguments["weight"]
    stride, padding, dilation = (_both(arguments[name]) for name in ("stride", "padding", "dilation"))
    sizes = [*x.shape, *weight.shape, *stride, *padding, *dilation]
    if x.dim() != 4 or not all(isinstance(size, int) and size >= 0 for size in sizes) or 0 in x.shape:
        return False
    left = []
    for i in range(2):
        rest = x.shape[2 + i] + 2 * padding[i] - dilation[i] * (weight.shape[2 + i] - 1) - 1
        left.append((rest // stride[i], rest % stride[i]))
    return all(count >= 0 for count, _ in left) and any(count == 0 and rest > 0 for count, rest in left)


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """How many elements to pad at the end, fewer than none to leave out, for the last window to end there."""
    length = dilation * (kernel - 1) + 1
    count = (size + 2 * padding - length) // stride
    return count * stride + length - padding - size


@implements("aten::conv2d", where=_leaves_elements_out)
def conv2d_of_windows(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    dilation: List[int],
    groups: int,
) -> Tensor:
    """The convolution of what is in windows, and nothing behind them."""
    below = _windows(input.size(2), weight.size(2), stride[0], padding[0], dilation[0])
    behind = _windows(input.size(3), weight.size(3), stride[-1], padding[-1], dilation[-1])
    x = torch.constant_pad_nd(input, [padding[-1], behind, padding[0], below], 0.0)
    return torch.conv2d(x, weight, bias, stride, [0, 0], dilation, groups)
