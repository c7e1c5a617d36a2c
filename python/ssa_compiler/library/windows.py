"""The largest element of each window, and where it is: pooling that returns indices, and adaptive pooling.

IREE's kernels lose NaN, or where it is. PyTorch gives NaN where a window has one, and the place of the last; of equal
elements the place of the first. A window is written as the places of its elements; one that has fewer than others
repeats its first or last element, which changes none of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import Applies, implements

__all__: list[str] = []


def _largest(x: Tensor, planes: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """The largest element of windows of the last three dimensions, and its place in these.

    Args:
        x: [..., depth, height, width].
        planes: int64 [windows, elements] of places in the first of the three dimensions.
        rows: the same of the second.
        columns: the same of the third.
    Returns:
        Elements and int64 places, [..., windows of planes, windows of rows, windows of columns].
    """
    depth, height, width = x.size(-3), x.size(-2), x.size(-1)
    deep = planes[:, None, None, :, None, None]
    high = rows[None, :, None, None, :, None]
    wide = columns[None, None, :, None, None, :]
    elements = planes.size(1) * rows.size(1) * columns.size(1)
    places = ((deep * height + high) * width + wide).reshape(-1)
    windows = x.reshape([-1, depth * height * width]).index_select(1, places).reshape([x.size(0), -1, elements])
    places = places.reshape([1, -1, elements])
    best = windows.amax(2, keepdim=True)
    # One number says both: the last place of NaN, above all others, or the first of equal ones.
    total = depth * height * width
    rank = torch.where(windows == best, total - 1 - places, -1)
    rank = torch.where(torch.isnan(windows), total + places, rank).amax(2)
    place = torch.where(rank >= total, rank - total, total - 1 - rank)
    shape = [x.size(0), planes.size(0), rows.size(0), columns.size(0)]
    return best.reshape(shape), place.reshape(shape)


def _adaptive(size: int, windows: int, like: Tensor) -> Tensor:
    """The places of the elements of windows that divide a dimension as evenly as they can."""
    number = torch.arange(windows, device=like.device)
    start = torch.div(number * size, windows, rounding_mode="floor").unsqueeze(1)
    end = torch.div((number + 1) * size + windows - 1, windows, rounding_mode="floor").unsqueeze(1)
    most = size // windows if size % windows == 0 else (size + windows - 1) // windows + 1
    return torch.minimum(start + torch.arange(most, device=like.device), end - 1)


def _sliding(size: int, windows: int, length: int, stride: int, padding: int, dilation: int, like: Tensor) -> Tensor:
    """The places of the elements of windows of one length, of which what is outside stands for the next one inside."""
    start = (torch.arange(windows, device=like.device) * stride - padding).unsqueeze(1)
    places = start + torch.arange(length, device=like.device) * dilation
    step = torch.div(start.clamp(max=0).neg() + dilation - 1, dilation, rounding_mode="floor")
    first = start + step * dilation
    last = start + torch.div(size - 1 - start, dilation, rounding_mode="floor").clamp(max=length - 1) * dilation
    return torch.maximum(first, torch.minimum(places, last))


def _windows(size: int, length: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are; the last one starts inside, or in the padding before."""
    left = size + 2 * padding - dilation * (length - 1) - 1
    count = (left + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def _pick(numbers: list[int], place: int) -> int:
    return numbers[place] if len(numbers) > 1 else numbers[0]


def _is_adaptive(rank: int) -> Applies:
    def applies(arguments: Mapping[str, Any]) -> bool:
        return _is_pooled(rank)(arguments) and 0 not in arguments["output_size"]

    return applies


def _is_pooled(rank: int) -> Applies:
    """Whether there is an image of a rank, or a batch of such, with elements."""

    def applies(arguments: Mapping[str, Any]) -> bool:
        tensor = arguments["self"]
        elements = 0 not in [size for size in tensor.shape if isinstance(size, int)]
        return tensor.dtype.is_floating_point and elements and tensor.dim() in (rank + 1, rank + 2)

    return applies


def _check_output_size(sizes: list[int]) -> None:
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}")


@implements("aten::adaptive_max_pool1d", where=_is_adaptive(1))
def adaptive_max_pool1d(self: Tensor, output_size: list[int]) -> tuple[Tensor, Tensor]:
    """Windows of a row."""
    _check_output_size(output_size)
    one = torch.zeros([1, 1], dtype=torch.int64, device=self.device)
    x = self.reshape([-1, 1, 1, self.size(-1)])
    best, place = _largest(x, one, one, _adaptive(self.size(-1), output_size[0], self))
    shape = list(self.shape[:-1]) + output_size[:1]
    return best.reshape(shape), place.reshape(shape)


@implements("aten::adaptive_max_pool2d", where=_is_adaptive(2))
def adaptive_max_pool2d(self: Tensor, output_size: list[int]) -> tuple[Tensor, Tensor]:
    """Windows of an image."""
    _check_output_size(output_size)
    height, width = self.size(-2), self.size(-1)
    high, wide = output_size[0], _pick(output_size, 1)
    one = torch.zeros([1, 1], dtype=torch.int64, device=self.device)
    x = self.reshape([-1, 1, height, width])
    best, place = _largest(x, one, _adaptive(height, high, self), _adaptive(width, wide, self))
    shape = list(self.shape[:-2]) + [high, wide]  # noqa: RUF005 - TorchScript does not unpack into lists
    return best.reshape(shape), place.reshape(shape)


@implements("aten::adaptive_max_pool3d", where=_is_adaptive(3))
def adaptive_max_pool3d(self: Tensor, output_size: list[int]) -> tuple[Tensor, Tensor]:
    """Windows of a volume."""
    _check_output_size(output_size)
    depth, height, width = self.size(-3), self.size(-2), self.size(-1)
    deep, high, wide = output_size[0], _pick(output_size, 1), _pick(output_size, 2)
    planes, rows = _adaptive(depth, deep, self), _adaptive(height, high, self)
    best, place = _largest(self.reshape([-1, depth, height, width]), planes, rows, _adaptive(width, wide, self))
    shape = list(self.shape[:-3]) + [deep, high, wide]  # noqa: RUF005
    return best.reshape(shape), place.reshape(shape)


def _in_words(numbers: list[int], sign: str) -> str:
    """Numbers by their dimensions, as PyTorch writes them: `kH: 2 kW: 3`."""
    if len(numbers) == 3:
        return f"{sign}T: {numbers[0]} {sign}H: {numbers[1]} {sign}W: {numbers[2]}"
    return f"{sign}H: {numbers[0]} {sign}W: {numbers[1]}"


def _times(numbers: list[int]) -> str:
    if len(numbers) == 4:
        return f"{numbers[0]}x{numbers[1]}x{numbers[2]}x{numbers[3]}"
    return f"{numbers[0]}x{numbers[1]}x{numbers[2]}"


def _check_windows(
    self: Tensor,
    rank: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> None:
    """Raise what eager raises for windows of numbers that are dynamic, in eager's order; a row is an image."""
    lengths: list[int] = []
    if rank == 1:
        lengths = [1]
    steps, apart, images, counts = lengths.copy(), lengths.copy(), lengths.copy(), lengths.copy()
    for i in range(rank):
        length, outside, between = _pick(kernel_size, i), _pick(padding, i), _pick(dilation, i)
        step = length if len(stride) == 0 else _pick(stride, i)
        if step == 0:
            raise RuntimeError("stride should not be zero")
        if outside < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {outside}")
        if outside > ((length - 1) * between + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, "
                f"but got pad={outside}, kernel_size={length} and dilation={between}"
            )
        size = self.size(i - rank)
        lengths.append(length)
        steps.append(step)
        apart.append(between)
        images.append(size)
        counts.append(_windows(size, length, step, outside, between, ceil_mode))
    if min(lengths) <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got {_in_words(lengths, 'k')}")
    if min(steps) <= 0:
        raise RuntimeError(f"stride should be greater than zero, but got {_in_words(steps, 'd')}")
    if min(apart) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {_in_words(apart, 'dilation')}")
    if min(counts) < 1:
        planes = [self.size(-rank - 1)]
        raise RuntimeError(
            f"Given input size: ({_times(planes + images)}). Calculated output size: ({_times(planes + counts)}). "
            "Output size is too small"
        )


def _places(
    size: int,
    number: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
    like: Tensor,
) -> Tensor:
    """The places of sliding windows in the dimension of a number."""
    length, outside, apart = _pick(kernel_size, number), _pick(padding, number), _pick(dilation, number)
    step = length if len(stride) == 0 else _pick(stride, number)
    count = _windows(size, length, step, outside, apart, ceil_mode)
    return _sliding(size, count, length, step, outside, apart, like)


@implements("aten::max_pool2d_with_indices", where=_is_pooled(2))
def max_pool2d_with_indices(
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    """Sliding windows of an image."""
    _check_windows(self, 2, kernel_size, stride, padding, dilation, ceil_mode)
    height, width = self.size(-2), self.size(-1)
    rows = _places(height, 0, kernel_size, stride, padding, dilation, ceil_mode, self)
    columns = _places(width, 1, kernel_size, stride, padding, dilation, ceil_mode, self)
    one = torch.zeros([1, 1], dtype=torch.int64, device=self.device)
    best, place = _largest(self.reshape([-1, 1, height, width]), one, rows, columns)
    shape = list(self.shape[:-2]) + [rows.size(0), columns.size(0)]  # noqa: RUF005
    return best.reshape(shape), place.reshape(shape)


@implements("aten::max_pool3d_with_indices", where=_is_pooled(3))
def max_pool3d_with_indices(
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    """Sliding windows of a volume."""
    _check_windows(self, 3, kernel_size, stride, padding, dilation, ceil_mode)
    depth, height, width = self.size(-3), self.size(-2), self.size(-1)
    planes = _places(depth, 0, kernel_size, stride, padding, dilation, ceil_mode, self)
    rows = _places(height, 1, kernel_size, stride, padding, dilation, ceil_mode, self)
    columns = _places(width, 2, kernel_size, stride, padding, dilation, ceil_mode, self)
    best, place = _largest(self.reshape([-1, depth, height, width]), planes, rows, columns)
    shape = list(self.shape[:-3]) + [planes.size(0), rows.size(0), columns.size(0)]  # noqa: RUF005
    return best.reshape(shape), place.reshape(shape)


@implements("aten::max_pool1d_with_indices", where=_is_pooled(1))
def max_pool1d_with_indices(
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    """Sliding windows of a row."""
    _check_windows(self, 1, kernel_size, stride, padding, dilation, ceil_mode)
    columns = _places(self.size(-1), 0, kernel_size, stride, padding, dilation, ceil_mode, self)
    one = torch.zeros([1, 1], dtype=torch.int64, device=self.device)
    best, place = _largest(self.reshape([-1, 1, 1, self.size(-1)]), one, one, columns)
    shape = list(self.shape[:-1]) + [columns.size(0)]  # noqa: RUF005
    return best.reshape(shape), place.reshape(shape)


def _reaches_beyond(rank: int) -> Applies:
    """Whether the last of the windows, in some dimension the only one, may reach beyond the elements; iree-compile
    fails on that.
    """

    def applies(arguments: Mapping[str, Any]) -> bool:
        tensor, ceil_mode = arguments["self"], arguments["ceil_mode"]
        lists = [arguments[name] for name in ("kernel_size", "stride", "padding", "dilation")]
        known = all(isinstance(number, int) for number in (*tensor.shape, *(n for each in lists for n in each)))
        if ceil_mode is not True or not known or not _is_pooled(rank)(arguments):
            return False
        kernel, stride, padding, dilation = lists
        counts = [
            _windows(
                tensor.shape[i - rank],
                _pick(kernel, i),
                _pick(stride, i) if stride else _pick(kernel, i),
                _pick(padding, i),
                _pick(dilation, i),
                True,
            )
            for i in range(rank)
        ]
        return 1 in counts and min(counts) > 0

    return applies


@implements("aten::max_pool1d", where=_reaches_beyond(1))
def max_pool1d(
    self: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil_mode: bool
) -> Tensor:
    """Sliding windows of a row."""
    return max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


@implements("aten::max_pool2d", where=_reaches_beyond(2))
def max_pool2d(
    self: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil_mode: bool
) -> Tensor:
    """Sliding windows of an image."""
    return max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


@implements("aten::max_pool3d", where=_reaches_beyond(3))
def max_pool3d(
    self: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil_mode: bool
) -> Tensor:
    """Sliding windows of a volume."""
    return max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]
