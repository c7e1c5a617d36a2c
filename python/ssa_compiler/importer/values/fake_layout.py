"""Sizes and strides of FakeTensors, compared and made without asking about symbols.

PyTorch's own comparisons of symbolic sizes prove, guess or require; each takes a millisecond. Here two sizes are the
same if they are the same expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager
from torch.utils._sympy.functions import Max

from .symbols import COUNTS, Symbols

__all__ = [
    "broadcast",
    "contiguous_strides",
    "empty_on_meta",
    "is_contiguous",
    "is_plain",
    "is_static",
    "made",
    "nests",
    "on_meta",
    "product",
    "same_size",
    "same_view",
    "shares_storage",
    "total",
    "viewed",
]


def is_plain(fake: Any, mode: FakeTensorMode) -> bool:
    """Whether there is nothing to a tensor of a mode but its metadata: no known elements, no counts, no gradient."""
    return (
        type(fake) is FakeTensor
        and fake.fake_mode is mode
        and fake.constant is None
        and fake.layout is torch.strided
        and not fake.requires_grad
        and all(getattr(fake, memo, None) is None for memo in COUNTS)
    )


def _key(size: Any) -> Any:
    return size if type(size) is int else size.node.expr


def same_size(a: Any, b: Any) -> bool:
    """Whether two sizes are the same expression."""
    return a is b or _key(a) == _key(b)


def broadcast(shapes: Sequence[Sequence[Any]]) -> list[Any] | None:
    """Return the shape that shapes are broadcast to; None where two sizes of a dimension are not known to fit.

    Args:
        shapes: sizes, ints or SymInts.
    """
    rank = max(map(len, shapes))
    result: list[Any] = [1] * rank
    for shape in shapes:
        for dim, size in enumerate(shape, rank - len(shape)):
            before = result[dim]
            if type(size) is int and size == 1:
                continue
            if type(before) is int and before == 1:
                result[dim] = size
            elif not same_size(before, size):
                return None
    return result


def _at_least_one(size: Any) -> Any:
    return max(size, 1) if type(size) is int else Max(1, size)  # type: ignore[no-untyped-call]


@lru_cache(8192)
def _contiguous(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    strides: list[Any] = []
    stride: Any = 1
    for size in reversed(sizes):
        strides.append(stride)
        stride = stride * _at_least_one(size)
    return tuple(reversed(strides))


@lru_cache(8192)
def _product(sizes: tuple[Any, ...]) -> Any:
    return sympy.Mul(*sizes)


def product(sizes: Sequence[Any], symbols: Symbols) -> Any:
    """Return the product of sizes, an int or a SymInt."""
    return symbols.to_symint(_product(tuple(map(_key, sizes))))


def total(sizes: Sequence[Any], symbols: Symbols) -> Any:
    """Return the sum of sizes, an int or a SymInt."""
    return symbols.to_symint(_total(tuple(map(_key, sizes))))


@lru_cache(8192)
def _total(sizes: tuple[Any, ...]) -> Any:
    return sympy.Add(*sizes)


def contiguous_strides(sizes: Sequence[Any], symbols: Symbols) -> tuple[Any, ...]:
    """Return the strides of a contiguous tensor, ints or SymInts."""
    found = _contiguous(tuple(map(_key, sizes)))
    return tuple(stride if type(stride) is int else symbols.to_symint(stride) for stride in found)


def is_contiguous(fake: torch.Tensor) -> bool:
    """Whether the strides of a tensor are those of a contiguous one, of dimensions of one element as well.

    If it may have no elements, it is contiguous then, whatever its strides.
    """
    strides, wanted = tuple(map(_key, fake.stride())), _contiguous(tuple(map(_key, fake.shape)))
    return strides == wanted or tuple(map(_of_some, strides)) == tuple(map(_of_some, wanted))


def _without_one(*args: Any) -> Any:
    return sympy.Mul(*args) if 1 in args else Max(*args)  # type: ignore[no-untyped-call]


@lru_cache(8192)
def _of_some(stride: Any) -> Any:
    """A stride where no size is 0: without the `Max(1, size)` of contiguous tensors."""
    return stride if type(stride) is int else stride.replace(Max, _without_one)


def nests(fake: torch.Tensor, *, expanded: bool = False, without: Sequence[int] = ()) -> bool:
    """Whether each dimension's stride is known to span the dimensions behind it, as in slices of contiguous tensors.

    TensorIterator then keeps the dimensions in their order, and its results are contiguous.

    Args:
        fake: a tensor.
        expanded: whether dimensions of stride 0 are left out.
        without: other dimensions that are left out.
    """
    layout = [pair for dim, pair in enumerate(zip(fake.shape, fake.stride())) if dim not in without]
    return _nests(tuple(_key(size) for size, _ in layout), tuple(_key(stride) for _, stride in layout), expanded)


@lru_cache(8192)
def _nests(sizes: tuple[Any, ...], strides: tuple[Any, ...], expanded: bool) -> bool:
    span: Any = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if stride == 0 and expanded:
            continue
        if not _at_least(stride, span):
            return False
        span = stride * _at_least_one(size)
    return True


def _at_least(stride: Any, span: Any) -> bool:
    """Whether a stride is a span, or known to be larger: both are products of numbers and sizes, each at least 1."""
    own, others = (sympy.sympify(_of_some(value)).as_coeff_mul() for value in (stride, span))
    return bool(own[0] >= others[0]) and all(own[1].count(factor) >= others[1].count(factor) for factor in others[1])


def is_static(fake: torch.Tensor) -> bool:
    """Whether all numbers of a tensor's layout are known."""
    return all(type(number) is int for number in (*fake.shape, *fake.stride(), fake.storage_offset()))


def on_meta(fake: torch.Tensor) -> torch.Tensor:
    """Return a tensor without elements of a known layout, which ops take without FakeTensorMode."""
    return torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype, device="meta")


def made(
    symbols: Symbols,
    sizes: Sequence[Any],
    dtype: torch.dtype,
    device: torch.device,
    strides: Sequence[Any] | None = None,
) -> FakeTensor:
    """Return a new tensor, as FakeTensorMode makes it.

    Args:
        symbols: the symbols of this import.
        sizes: ints and SymInts.
        dtype: of its elements.
        device: where eager has it.
        strides: ints and SymInts; None for a contiguous tensor.
    """
    with in_kernel_invocation_manager(symbols.mode), symbols.env.suppress_guards():
        element = empty_on_meta(sizes, strides, dtype)
    return FakeTensor(symbols.mode, element, device)


def empty_on_meta(sizes: Sequence[Any], strides: Sequence[Any] | None, dtype: torch.dtype) -> torch.Tensor:
    """Return a new tensor without elements; contiguous if there are no strides."""
    if strides is None or tuple(map(_key, strides)) == _contiguous(tuple(map(_key, sizes))):
        return torch.empty(tuple(sizes), dtype=dtype, device="meta")
    # For sizes that are symbols, PyTorch asks a dozen questions about such strides.
    return torch.empty_strided(tuple(sizes), tuple(strides), dtype=dtype, device="meta")


def viewed(symbols: Symbols, fake: FakeTensor, sizes: Sequence[Any], strides: Sequence[Any], offset: Any) -> FakeTensor:
    """Return a view of a tensor."""
    with in_kernel_invocation_manager(symbols.mode), symbols.env.suppress_guards():
        # Of a FakeTensor, PyTorch loads torch.distributed to see whether it is one of its own.
        element = torch.empty(0, dtype=fake.dtype, device="meta")
        element = element.set_(fake.untyped_storage(), 0, (0,), (1,)).as_strided(tuple(sizes), tuple(strides), offset)
    return FakeTensor(symbols.mode, element, fake.fake_device)


def shares_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two FakeTensors share storage."""
    return a.untyped_storage()._cdata == b.untyped_storage()._cdata


def same_view(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two FakeTensors are the same view of one storage."""

    def facts(tensor: torch.Tensor) -> tuple[Any, ...]:
        numbers = (*tensor.shape, *tensor.stride(), tensor.storage_offset())
        return tuple(n.node.expr if isinstance(n, torch.SymInt) else n for n in numbers)

    return (
        shares_storage(a, b)
        and a.dtype == b.dtype
        and a.dim() == b.dim()
        and facts(a) == facts(b)
        and a.is_conj() == b.is_conj()
        and a.is_neg() == b.is_neg()
    )
