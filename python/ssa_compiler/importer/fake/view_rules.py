"""Shape functions of views, and of ops that are a view, a copy or nothing, as layouts decide (`reshape`, `to`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import FloorDiv, Max, Min

from ..values.fake_layout import contiguous_strides, is_contiguous, is_static, made, on_meta, product, same_size, viewed
from ..values.symbols import Symbols, expr_of
from .trace import Record, Trace

__all__ = ["COMPOSITES", "VIEWS", "Rule"]

_aten = torch.ops.aten
_END = 2**63 - 1


def _view(
    symbols: Symbols, op: Any, args: Sequence[Any], sizes: Sequence[Any], strides: Sequence[Any], offset: Any = None
) -> Trace:
    source = args[0]
    out = viewed(symbols, source, sizes, strides, source.storage_offset() if offset is None else offset)
    return Trace(out, [Record(op, list(args), out)])


def _dim(dim: Any, rank: int) -> int | None:
    """A dimension counted from the front; None if there is none of that number."""
    return int(dim) % rank if type(dim) is int and -rank <= dim < rank else None


def _select(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, number, index = args
    dim = _dim(number, source.dim())
    if dim is None or type(index) not in (int, torch.SymInt):
        return None
    size, strides = source.shape[dim], list(source.stride())
    low, high = symbols.bounds(expr_of(index))
    if (low < 0 <= high) or (type(size) is int and not (-size <= high and low < size)):
        return None  # what it counts from is not known; or it is out of range
    offset = source.storage_offset() + (index if low >= 0 else size + index) * strides[dim]
    sizes = [*source.shape[:dim], *source.shape[dim + 1 :]]
    return _view(symbols, op, args, sizes, strides[:dim] + strides[dim + 1 :], offset)


def _slice(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, number, start, end, step = args
    dim = _dim(number, source.dim())
    if dim is None or type(step) is not int or step < 1:
        return None
    sizes, strides = list(source.shape), list(source.stride())
    size = sizes[dim]
    start, end = 0 if start is None else start, _END if end is None else end
    if any(type(each) is not int for each in (start, end, size)):
        return _dynamic_slice(symbols, op, args, dim, (start, end, step))
    first = min(max(start + size if start < 0 else start, 0), size)
    last = min(max(end + size if end < 0 else end, first), size)
    sizes[dim] = -((first - last) // step)
    offset = source.storage_offset() + first * strides[dim]
    strides[dim] = strides[dim] * step
    return _view(symbols, op, args, sizes, strides, offset)


def _dynamic_slice(
    symbols: Symbols, op: Any, args: Sequence[Any], dim: int, bounds: tuple[Any, Any, int]
) -> Trace | None:
    """A slice with dynamic bounds or of a dynamic size, in the terms in which FakeTensors give it.

    A bound of which it is not known whether it counts from the end makes the size and the offset new symbols.
    """
    source, (start, end, step) = args[0], bounds
    if any(type(each) not in (int, torch.SymInt) for each in (start, end)):
        return None
    sizes, strides = list(source.shape), list(source.stride())
    size = sizes[dim]
    if type(start) is int and start == 0 and type(end) is int and end == _END and step == 1:
        return _view(symbols, op, args, sizes, strides)
    first = _bound(symbols, expr_of(size), expr_of(start))
    last = expr_of(size) if type(end) is int and end == _END else _bound(symbols, expr_of(size), expr_of(end))
    if first is None or last is None:
        sizes[dim] = symbols.new_integer(0, symbols.bounds(expr_of(size))[1])
    else:
        sizes[dim] = symbols.to_symint(_length(symbols, first, last, step))
    if first is None:
        offset = symbols.new_integer(0, sympy.oo)
    elif first == 0:
        offset = source.storage_offset()
    else:
        offset = symbols.to_symint(expr_of(source.storage_offset()) + first * expr_of(strides[dim]))
    strides[dim] = strides[dim] * step
    return _view(symbols, op, args, sizes, strides, offset)


def _bound(symbols: Symbols, size: Any, bound: Any) -> Any:
    """A bound of a slice, counted from the front; None if it is not known whether it is."""
    low, high = symbols.bounds(bound)
    if low >= 0:
        if symbols.known(sympy.Le(bound, size)):
            return bound
        return size if symbols.known(sympy.Gt(bound, size)) else Min(bound, size)  # type: ignore[no-untyped-call]
    if high < 0:
        if symbols.known(sympy.Ge(bound, -size)):
            return bound + size
        nothing = symbols.known(sympy.Lt(bound, -size))
        return sympy.Integer(0) if nothing else Max(bound + size, 0)  # type: ignore[no-untyped-call]
    return None


def _length(symbols: Symbols, first: Any, last: Any, step: int) -> Any:
    """The number of elements of a slice."""
    if symbols.known(sympy.Ge(last, first)):
        length = last - first
    elif symbols.known(sympy.Ge(first, last)):
        return sympy.Integer(0)
    else:
        length = Max(last - first, 0)  # type: ignore[no-untyped-call]
    return length if step == 1 else FloorDiv(length + step - 1, step)


def _unsqueeze(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, number = args
    dim = _dim(number, source.dim() + 1)
    if dim is None:
        return None
    sizes, strides = list(source.shape), list(source.stride())
    stride = 1 if dim == len(sizes) else sizes[dim] * strides[dim]
    return _view(symbols, op, args, [*sizes[:dim], 1, *sizes[dim:]], [*strides[:dim], stride, *strides[dim:]])


def _permuted(symbols: Symbols, op: Any, args: Sequence[Any], order: Sequence[Any]) -> Trace | None:
    source = args[0]
    dims = [_dim(dim, source.dim()) for dim in order]
    if None in dims or sorted(dims) != list(range(source.dim())):  # type: ignore[type-var]
        return None
    sizes, strides = source.shape, source.stride()
    return _view(symbols, op, args, [sizes[dim] for dim in dims], [strides[dim] for dim in dims])


def _permute(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    return _permuted(symbols, op, args, args[1])


def _transpose(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, *numbers = args
    first, second = (_dim(number, source.dim()) for number in numbers)
    if first is None or second is None:
        return None
    order = list(range(source.dim()))
    order[first], order[second] = second, first
    return _permuted(symbols, op, args, order)


def _expand(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, wanted, implicit = args
    added = len(wanted) - source.dim()
    if implicit or added < 0:
        return None
    sizes: list[Any] = []
    strides: list[Any] = []
    for number, size in enumerate(wanted):
        before = source.shape[number - added] if number >= added else 1
        keeps = number >= added and ((type(size) is int and size == -1) or same_size(size, before))
        if not keeps and ((type(size) is int and size < 0) or type(before) is not int or before != 1):
            return None
        if not keeps and type(size) is not int and not symbols.bounds(expr_of(size))[0] >= 0:
            return None  # it may be -1, for the size that is there
        if number < added and type(size) is int and size == 1:
            return None  # what its stride is depends on the dimensions behind it
        sizes.append(before if keeps else size)
        strides.append(source.stride(number - added) if keeps else 0)
    return _view(symbols, op, args, sizes, strides)


def _new_shape(symbols: Symbols, source: torch.Tensor, wanted: Sequence[Any]) -> list[Any] | None:
    """The sizes of a tensor in another shape; None where they are not known to fit."""
    sizes = list(wanted)
    free = [number for number, size in enumerate(sizes) if type(size) is int and size == -1]
    others = [size for size in sizes if not (type(size) is int and size == -1)]
    if len(free) > 1 or not all(_is_made_of(size, source.shape) for size in others):
        return None
    if not free:
        return sizes if same_size(product(source.shape, symbols), product(sizes, symbols)) else None
    if not all(type(size) is int for size in others):
        return None  # a dynamic size may be 0, which leaves the size in question undecided
    known = math.prod(others)
    static = math.prod(size for size in source.shape if type(size) is int)
    if known == 0 or static % known:
        return None
    dynamic = [size for size in source.shape if type(size) is not int]
    sizes[free[0]] = product([static // known, *dynamic], symbols)
    return sizes


def _is_made_of(size: Any, sizes: Sequence[Any]) -> bool:
    """Whether a size is known, or a product of given sizes and numbers: then it is not negative."""
    if type(size) is int:
        return size >= 0
    given = {expr_of(other) for other in sizes}
    factors = sympy.Mul.make_args(expr_of(size))
    return all(factor in given or (factor.is_Integer and factor > 0) for factor in factors)


def _view_as(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, wanted = args
    if not is_contiguous(source):
        return None
    sizes = _new_shape(symbols, source, wanted)
    return None if sizes is None else _view(symbols, op, args, sizes, contiguous_strides(sizes, symbols))


def _reshaped(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """`reshape` of a contiguous tensor is a view; of another of known layout, PyTorch says whether one is possible."""
    source, wanted = args
    sizes = _new_shape(symbols, source, wanted)
    if sizes is None:
        return None
    view, given = _aten.view.default, [source, sizes]
    if is_contiguous(source):
        return _view(symbols, view, given, sizes, contiguous_strides(sizes, symbols))
    if not is_static(source):
        guesses = _apart(symbols, source, sizes)
        return None if guesses is None else _copied(symbols, source, sizes, guesses)
    try:
        strides = on_meta(source).view(sizes).stride()
    except RuntimeError:
        return _copied(symbols, source, sizes)
    return _view(symbols, view, given, sizes, strides)


def _apart(symbols: Symbols, source: torch.Tensor, sizes: Sequence[Any]) -> list[Any] | None:
    """What makes a reshape a copy: it merges two dimensions whose elements do not lie behind each other.

    Returns:
        Conditions, as guesses where they are not known; None if no such dimensions are found.
    """
    dims = [(size, step) for size, step in zip(source.shape, source.stride()) if not (type(size) is int and size == 1)]
    ends = [product(sizes[number:], symbols) for number in range(len(sizes) + 1)]
    for number, ((outer, step), (inner, stride)) in enumerate(itertools.pairwise(dims), 1):
        behind = product([size for size, _ in dims[number:]], symbols)
        span = product([stride, inner], symbols)
        if same_size(step, span) or any(same_size(behind, end) for end in ends):
            continue
        conditions = [sympy.Ne(expr_of(step), expr_of(span))]
        conditions += [sympy.Ne(expr_of(behind), expr_of(end)) for end in ends]
        conditions += [sympy.Ne(expr_of(each), 1) for each in (outer, inner)]
        conditions += [sympy.Ne(expr_of(each), 0) for each in source.shape]
        return [each for each in conditions if each.free_symbols]
    return None


def _copied(symbols: Symbols, source: Any, sizes: Sequence[Any], guesses: Sequence[Any] = ()) -> Trace:
    copy = made(symbols, source.shape, source.dtype, source.fake_device)
    copying = Record(_aten.clone.default, [source, torch.contiguous_format], copy)
    out = viewed(symbols, copy, sizes, contiguous_strides(sizes, symbols), 0)
    return Trace(out, [copying, Record(_aten._unsafe_view.default, [copy, list(sizes)], out)], list(guesses))


def _flatten(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, *numbers = args
    if not source.dim():
        return _reshaped(symbols, op, [source, [1]])
    start, end = (_dim(number, source.dim()) for number in numbers)
    if start is None or end is None or start > end:
        return None
    if start == end:
        return Trace(source, [])
    shape = source.shape
    merged = product(shape[start : end + 1], symbols)
    return _reshaped(symbols, op, [source, [*shape[:start], merged, *shape[end + 1 :]]])


def _movedim(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, *numbers = args
    before, after = (_dim(number, source.dim()) for number in numbers)
    if before is None or after is None:
        return None
    order = [dim for dim in range(source.dim()) if dim != before]
    order.insert(after, before)
    return _permuted(symbols, _aten.permute.default, [source, order], order)


def _contiguous(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, memory_format = args
    if memory_format is not torch.contiguous_format:
        return None
    if is_contiguous(source) or (is_static(source) and on_meta(source).is_contiguous()):
        return Trace(source, [])
    if not is_static(source):
        return None
    out = made(symbols, source.shape, source.dtype, source.fake_device)
    return Trace(out, [Record(_aten.clone.default, [source, memory_format], out)])


def _to_dtype(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, dtype, non_blocking, copy, memory_format = args
    if memory_format not in (None, torch.preserve_format) or type(copy) is not bool:
        return None
    if dtype == source.dtype and not copy:
        return Trace(source, [])
    strides: Sequence[int] | None = None
    if not is_contiguous(source):
        if not is_static(source):
            return None
        strides = on_meta(source).to(dtype, copy=True).stride()
    out = made(symbols, source.shape, dtype, source.fake_device, strides)
    given = [source, dtype, None, None, None, non_blocking, memory_format]
    return Trace(out, [Record(_aten._to_copy.default, given, out)])


Rule = Callable[[Symbols, Any, Sequence[Any]], Trace | None]

VIEWS: dict[Any, Rule] = {
    _aten.select.int: _select,
    _aten.slice.Tensor: _slice,
    _aten.unsqueeze.default: _unsqueeze,
    _aten.permute.default: _permute,
    _aten.transpose.int: _transpose,
    _aten.expand.default: _expand,
    _aten.view.default: _view_as,
}
"""Rules of views."""

COMPOSITES: dict[Any, Rule] = {
    _aten.reshape.default: _reshaped,
    _aten.flatten.using_ints: _flatten,
    _aten.movedim.int: _movedim,
    _aten.contiguous.default: _contiguous,
    _aten.to.dtype: _to_dtype,
}
"""Rules of ops that are shown as what they consist of for these operands: a view, a copy, or nothing."""
