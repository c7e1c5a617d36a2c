"""Shape functions of the ops that most programs consist of, for what can be said without a question about symbols.

FakeTensors answer for every op, in a fraction of a millisecond, and in several where sizes are symbols. Here the sizes
of a result are read off those of the operands, where these are known or the same expressions; the dtype of a result is
eager's own, of the op on tensors of one element. Whatever else there is to an op (sizes that may not fit, layouts that
are not known, errors) is left to the FakeTensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from ..ir.emitter import Emitter
from ..values.fake_layout import (
    broadcast,
    is_contiguous,
    is_plain,
    is_static,
    made,
    nests,
    on_meta,
    same_size,
    total,
)
from ..values.symbols import Symbols
from .decompose import is_compiled
from .trace import Record, Trace
from .view_rules import COMPOSITES, VIEWS, Rule

__all__ = ["trace_by_rule"]

_aten = torch.ops.aten
_EXAMPLES = {torch.SymInt: 2, torch.SymFloat: 0.5, torch.SymBool: True}
_CONSTANTS = (bool, int, float, str, type(None), torch.dtype, *_EXAMPLES)
_LARGEST = 1 << 17
"""Elements of tensors on which eager is asked for the strides of a result."""
_ERRORS = (RuntimeError, TypeError, ValueError, IndexError, ZeroDivisionError)


def trace_by_rule(symbols: Symbols, emitter: Emitter, op: Any, args: Sequence[Any]) -> Trace | None:
    """Return what an op does, if a rule says it; None otherwise.

    Args:
        symbols: the symbols of this import.
        emitter: knows the ops of torch-mlir.
        op: a built-in OpOverload.
        args: one Python value per schema argument: FakeTensors, symbols, constants as torch.ops takes them.
    """
    rule = _rule(op)
    if rule is None or torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        return None
    if op not in COMPOSITES and op not in _WHERE and not is_compiled(emitter, op):
        return None
    tensors = _tensors(args)
    if not tensors or not all(is_plain(tensor, symbols.mode) for tensor in tensors):
        return None
    if any(tensor.is_conj() or tensor.is_neg() for tensor in tensors):
        return None
    if any(tensor.fake_device != tensors[0].fake_device for tensor in tensors):
        return None
    return rule(symbols, op, args)


def _tensors(args: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in args:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found


@cache
def _rule(op: Any) -> Rule | None:
    named = VIEWS.get(op) or COMPOSITES.get(op) or _OTHERS.get(op)
    if named is not None:
        return named
    reduces = getattr(torch.Tag, "reduction", None) in op.tags  # no tag before PyTorch 2.12
    if not reduces and torch.Tag.pointwise not in op.tags:
        return None
    if torch.Tag.nondeterministic_seeded in op.tags or torch.Tag.view_copy in op.tags or op._can_decompose():
        return None
    arguments = op._schema.arguments
    written = [argument.alias_info is not None and argument.alias_info.is_write for argument in arguments]
    if len(op._schema.returns) != 1 or any(written[1:]):
        return None
    if reduces:
        return None if written[0] else _reduction
    if any("List" in str(argument.type) for argument in arguments):
        return None
    return _pointwise_in_place if written[0] else _pointwise


@cache
def _example(dtype: torch.dtype, sizes: tuple[int, ...]) -> torch.Tensor:
    return torch.ones(sizes, dtype=dtype, device="cpu")


def _on_examples(op: Any, args: Sequence[Any], size: int = 1, *, layouts: bool = False) -> torch.Tensor | None:
    """Run an op on real tensors of the dtypes and ranks of the operands; None if eager does not take them.

    Args:
        op: an OpOverload.
        args: one Python value per schema argument.
        size: how many elements their dimensions have.
        layouts: whether they have the sizes and strides of the operands instead, which are known.
    """
    given: list[Any] = []
    for value in args:
        if isinstance(value, torch.Tensor):
            if layouts:
                example = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu").fill_(1)
            else:
                example = _example(value.dtype, (size,) * value.dim())
            given.append(example.clone() if op._schema.is_mutable and not layouts else example)
        elif type(value) in _CONSTANTS:
            given.append(_EXAMPLES.get(type(value), value))
        elif type(value) is list and all(type(item) is int for item in value):
            given.append(value)
        else:
            return None
    positional = [value for spec, value in zip(op._schema.arguments, given) if not spec.kwarg_only]
    keywords = {spec.name: value for spec, value in zip(op._schema.arguments, given) if spec.kwarg_only}
    try:
        with torch.no_grad():
            found = op(*positional, **keywords)
    except _ERRORS:
        return None
    return found if isinstance(found, torch.Tensor) else None


def _small(tensors: Sequence[Any]) -> bool:
    return all(map(is_static, tensors)) and sum(tensor.numel() for tensor in tensors) <= _LARGEST


def _pointwise(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """An elementwise op. Where no operand has its dimensions in another order, the result is contiguous."""
    tensors = _tensors(args)
    sizes = broadcast([tensor.shape for tensor in tensors])
    if sizes is None:
        return None
    contiguous = all(nests(tensor, expanded=True) for tensor in tensors)
    if not contiguous and not _small(tensors):
        return None
    example = _on_examples(op, args, layouts=not contiguous)
    if example is None or example.dim() != len(sizes):
        return None
    strides = None if contiguous else example.stride()
    out = made(symbols, sizes, example.dtype, tensors[0].fake_device, strides)
    return Trace(out, [Record(op, list(args), out)])


def _pointwise_in_place(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    target, *others = [value for value in args if isinstance(value, torch.Tensor)]
    if args[0] is not target or not _fits(target, others) or _overlaps(target, others):
        return None
    known = not nests(target)
    if (known and not _small([target, *others])) or _on_examples(op, args, layouts=known) is None:
        return None
    return Trace(target, [Record(op, list(args), target)])


def _fits(target: Any, others: Sequence[Any]) -> bool:
    """Whether tensors are known to be broadcast to the shape of a target."""
    sizes = broadcast([target.shape, *(other.shape for other in others)])
    return sizes is not None and len(sizes) == target.dim() and all(map(same_size, sizes, target.shape))


def _overlaps(target: Any, others: Sequence[Any]) -> bool:
    """Whether other tensors may share elements with a target."""
    storage = target.untyped_storage()._cdata
    return any(other is not target and other.untyped_storage()._cdata == storage for other in others)


def _copy_into(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    target, source, *_ = args
    if not nests(target) or not _fits(target, [source]) or target is source or _overlaps(target, [source]):
        return None
    return Trace(target, [Record(op, list(args), target)])


def _clone(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    source, memory_format = args
    strides = None
    if memory_format is not torch.contiguous_format and not is_contiguous(source):
        if not is_static(source):
            return None
        strides = on_meta(source).clone(memory_format=memory_format).stride()
    elif memory_format not in (None, torch.preserve_format, torch.contiguous_format):
        return None
    out = made(symbols, source.shape, source.dtype, source.fake_device, strides)
    return Trace(out, [Record(op, list(args), out)])


def _cat(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    tensors, number = args
    first = tensors[0]
    rank = first.dim()
    if type(number) is not int or not -rank <= number < rank or any(each.dtype != first.dtype for each in tensors):
        return None
    if any(each.dim() != rank for each in tensors) or (rank >= 4 and not all(map(is_contiguous, tensors))):
        return None
    dim = number % rank
    rests = [[*each.shape[:dim], *each.shape[dim + 1 :]] for each in tensors]
    if not all(same_size(size, own) for rest in rests for size, own in zip(rests[0], rest)):
        return None
    sizes = list(first.shape)
    sizes[dim] = total([each.shape[dim] for each in tensors], symbols)
    out = made(symbols, sizes, first.dtype, first.fake_device)
    return Trace(out, [Record(op, list(args), out)])


_INDICES = (torch.int64, torch.int32)


def _index(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """Reading at places: the dimensions that neighbouring indices are for become those of the indices."""
    source, indices = args
    places = [number for number, index in enumerate(indices) if index is not None]
    if not places:
        return None
    first, last = places[0], places[-1]
    given = [indices[number] for number in places]
    if last - first + 1 != len(places) or last >= source.dim():
        return None
    if any(index.dtype not in _INDICES for index in given) or not all(map(nests, given)):
        return None
    if not nests(source, without=places):
        return None
    if any(type(size) is int and size == 0 for size in source.shape[first : last + 1]):
        return None
    read = broadcast([index.shape for index in given])
    if read is None:
        return None
    sizes = [*source.shape[:first], *read, *source.shape[last + 1 :]]
    out = made(symbols, sizes, source.dtype, source.fake_device)
    return Trace(out, [Record(op, list(args), out)])


def _reduction(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """A reduction: eager says, on one element, which dimensions stay, and on none whether it needs elements."""
    source, *others = _tensors(args)
    names = [argument.name for argument in op._schema.arguments]
    if others or source is not args[0]:
        return None
    dims, keeps = (args[names.index(name)] if name in names else None for name in ("dim", "keepdim"))
    numbers = dims if isinstance(dims, list) else [] if dims is None else [dims]
    rank = source.dim()
    if (dims == [] and keeps) or any(type(value) in _EXAMPLES for value in args):
        return None  # no dimensions mean all to some ops; a number may decide which norm it is
    if not rank or not nests(source) or not all(type(dim) is int and -rank <= dim < rank for dim in numbers):
        return None
    gone = {dim % rank for dim in numbers} or set(range(rank))
    example = _on_examples(op, args)
    some = all(type(source.shape[dim]) is int and source.shape[dim] > 0 for dim in gone)
    if example is None or not (some or _on_examples(op, args, 0) is not None):
        return None
    sizes: list[Any] = [1 if dim in gone else size for dim, size in enumerate(source.shape) if keeps or dim not in gone]
    if example.dim() != len(sizes):
        return None
    out = made(symbols, sizes, example.dtype, source.fake_device)
    return Trace(out, [Record(op, list(args), out)])


def _like(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """A new tensor like another one, `zeros_like` and alike."""
    named = dict(zip((argument.name for argument in op._schema.arguments), args))
    source, dtype = named["self"], named["dtype"]
    if any(named[name] is not None for name in ("layout", "device", "pin_memory", "memory_format")):
        return None
    if not is_contiguous(source):
        return None
    out = made(symbols, source.shape, dtype or source.dtype, source.fake_device)
    return Trace(out, [Record(op, list(args), out)])


def _where_scalar(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """`where` of a number makes a tensor of it, of the common dtype."""
    (number,) = (place for place in (1, 2) if not isinstance(args[place], torch.Tensor))
    scalar, other = args[number], args[3 - number]
    if (
        type(scalar) not in (int, float)
        or torch.result_type(_example(other.dtype, (1,) * other.dim()), scalar) != other.dtype
    ):
        return None
    constant = made(symbols, [], other.dtype, other.fake_device)
    making = [scalar, other.dtype, torch.strided, other.fake_device, None]
    given = [args[0], constant, other] if number == 1 else [args[0], other, constant]
    found = _where(symbols, _aten.where.self, given)
    if found is not None:
        found.records.insert(0, Record(_aten.scalar_tensor.default, making, constant))
    return found


def _where(symbols: Symbols, op: Any, args: Sequence[Any]) -> Trace | None:
    """`where` of bools; of uint8 it is deprecated, and FakeTensors reject it."""
    return _pointwise(symbols, op, args) if args[0].dtype is torch.bool else None


_WHERE: dict[Any, Rule] = {_aten.where.ScalarSelf: _where_scalar, _aten.where.ScalarOther: _where_scalar}
_OTHERS: dict[Any, Rule] = {
    **_WHERE,
    _aten.where.self: _where,
    _aten.zeros_like.default: _like,
    _aten.ones_like.default: _like,
    _aten.empty_like.default: _like,
    _aten.full_like.default: _like,
    _aten.copy_.default: _copy_into,
    _aten.clone.default: _clone,
    _aten.cat.default: _cat,
    _aten.index.Tensor: _index,
}
