"""Ops that FakeTensors cannot run: their results are learnt from running them on real tensors.

PyTorch has no kernel for FakeTensors for some ops, and the composite kernels of others read numbers out of tensors. If
such an op neither writes nor aliases, it can be imported whole, and run in PyTorch: all that the importer has to know
is what its results look like. It runs on several real tensors of the sizes, strides and dtypes at hand; where these, or
numbers that the op takes, are dynamic, for several sizes and numbers. Sizes of results that are not the same each time
are known at run time only; the others are checked then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from ..values.state import State
from .concrete_run import try_op
from .sample_values import symbols_of, valuations, valued

__all__ = ["agrees_on_examples", "copied_as_by_eager", "outcome_on_examples", "shaped_as_on_examples"]

_LARGEST = 1 << 22
"""Elements of all tensors together: the op runs at import."""


_FEWEST_TRIED = 6
"""With numbers that are not known: the outcomes that have to agree on a size for it to be taken as known."""


def _zeros(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).zero_()


def _ones(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).fill_(1)


def _identity(tensor: torch.Tensor) -> torch.Tensor:
    """Identity matrices, on which what inverts and factors works."""
    real = _zeros(tensor)
    if real.dim() >= 2:
        real.diagonal(dim1=-2, dim2=-1).fill_(1)
    return real


def _ramp(tensor: torch.Tensor) -> torch.Tensor:
    """Numbers that are all different, between 0 and 1; what is not floating-point counts."""
    real = _zeros(tensor)
    count = max(real.numel(), 1)
    numbers = torch.arange(real.numel()).reshape(real.shape)
    ramp = numbers / count if real.is_floating_point() or real.is_complex() else numbers
    overlaps = torch._debug_has_internal_overlap(real) == _OVERLAPS
    filled = ramp.to(real.dtype) if overlaps else real.copy_(ramp)
    return filled + _identity(real)  # the diagonal is large, so that matrices are regular


_OVERLAPS = 1  # what PyTorch calls MemOverlap::Yes
_SHARES = object()
"""The outcome of an op that writes an argument, or of whose results one is a view."""
_FILLINGS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (_zeros, _ones, _identity, _ramp)


def outcome_on_examples(state: State, op: Any, args: Sequence[Any]) -> Any:
    """Return what an op's results look like.

    Args:
        state: the interpretation.
        op: an OpOverload.
        args: one Python value per schema argument: FakeTensors, symbols, constants as torch.ops takes them. Symbols are
            given several numbers.
    Returns:
        FakeTensors for tensors, numbers as they came; None if the op writes or aliases, does not run, or its results do
        not always have the same dtypes and ranks.
    """
    schema = op._schema
    if any(spec.alias_info is not None for spec in (*schema.arguments, *schema.returns)) or not schema.returns:
        return None
    symbols = symbols_of(args)
    if symbols and not state.plan.opaque:
        state.has_opaque_ops = True
        return None
    outcomes, tried = [], []
    for valuation in valuations(state, symbols):
        given = valued(args, valuation)
        if given is None or sum(t.numel() for t in tree_leaves(given) if isinstance(t, torch.Tensor)) > _LARGEST:
            continue
        found = [outcome for fill in _FILLINGS if (outcome := _run(op, given, fill)) is not None]
        if any(outcome is _SHARES for outcome in found):
            return None
        outcomes += found
        tried += [valuation] if found else []
    if not outcomes or any(_looks(found) != _looks(outcomes[0]) for found in outcomes):
        return None
    if any(
        t.layout != torch.strided or t.is_quantized for t in tree_leaves(outcomes[0]) if isinstance(t, torch.Tensor)
    ):
        return None
    if any(len({valuation[symbol] for valuation in tried}) < 2 for symbol in symbols):
        return None  # nothing is known of how the results look for other numbers
    count = itertools.count()
    telling = not symbols or len(tried) >= _FEWEST_TRIED

    def fake(first: Any, *others: Any) -> Any:
        if not isinstance(first, torch.Tensor):
            return first
        sizes: list[Any] = list(first.shape)
        for dim, size in enumerate(sizes):
            if not telling or any(other.shape[dim] != size for other in others):
                sizes[dim] = state.symbols.integer(("opaque", state.place(), next(count)), low=0)
        return torch.empty(sizes, dtype=first.dtype)

    with state.symbols.mode, torch.no_grad():
        return tree_map(fake, *outcomes)


def _looks(outcome: Any) -> Any:
    """What has to be alike: dtypes and ranks of tensors, types of numbers. Strides are not promised."""
    if isinstance(outcome, torch.Tensor):
        return outcome.dtype, outcome.dim(), outcome.layout, outcome.is_quantized
    if isinstance(outcome, (list, tuple)):
        return [_looks(element) for element in outcome]
    return type(outcome)


def _run(op: Any, args: Sequence[Any], fill: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Run an op on real tensors; None if it raises, `_SHARES` if it writes them, or its results share memory."""
    reals = tree_map(lambda leaf: fill(leaf) if isinstance(leaf, torch.Tensor) else leaf, list(args))
    positional = [value for spec, value in zip(op._schema.arguments, reals) if not spec.kwarg_only]
    keywords = {spec.name: value for spec, value in zip(op._schema.arguments, reals) if spec.kwarg_only}
    given = [leaf for leaf in tree_leaves(reals) if isinstance(leaf, torch.Tensor)]
    before = [tensor.clone() for tensor in given]
    try:
        outcome = try_op(op, positional, keywords)
    except Exception:  # noqa: BLE001 - whatever it does not do on these values
        return None
    if any(not torch.equal(tensor, copy) for tensor, copy in zip(given, before)):
        return _SHARES
    made = [leaf for leaf in tree_leaves(outcome) if isinstance(leaf, torch.Tensor)]
    storages = [leaf.untyped_storage()._cdata for leaf in made if leaf.layout == torch.strided]
    taken = {tensor.untyped_storage()._cdata for tensor in given}
    return _SHARES if taken & set(storages) or len(set(storages)) < len(storages) else outcome


_LOW_PRECISION = (torch.float16, torch.bfloat16)


def shaped_as_on_examples(state: State, op: Any, args: Sequence[Any], out: Any) -> Any:
    """Return what an op's results look like, if they do not look as FakeTensors say; what FakeTensors say otherwise.

    Some kernels for FakeTensors know of fast paths for single precision only (`embedding_bag`), and few of what eager
    returns early where there are no elements (`bincount` of none with weights), so ops on such tensors that are seldom
    used are asked.

    Args:
        state: the interpretation.
        op: an OpOverload.
        args: one Python value per schema argument.
        out: its outcome on FakeTensors.
    """
    if op.namespace != "aten" or op.is_view or torch.Tag.core in op.tags or torch.Tag.pointwise in op.tags:
        return out
    given, made = ([leaf for leaf in tree_leaves(part) if isinstance(leaf, torch.Tensor)] for part in (list(args), out))
    if not _are_known(given) or sum(tensor.numel() for tensor in given) > _LARGEST:
        return out
    none, known = any(not tensor.numel() for tensor in given), _are_known(made)
    if not none and not (known and any(tensor.dtype in _LOW_PRECISION for tensor in (*given, *made))):
        return out
    real = _run(op, args, _zeros)
    compare = _shapes if known else _looks
    if real is None or real is _SHARES or compare(real) == compare(out):
        return out
    found = outcome_on_examples(state, op, args)
    return out if found is None else found


def copied_as_by_eager(state: State, op: Any, args: Sequence[Any], out: Any) -> Any:
    """Return an outcome on FakeTensors; a copy of it where it shares memory unannotated, and eager makes a new tensor.

    What stands for an op on FakeTensors may be a view where its kernel copies (`channel_shuffle` of one group).

    Args:
        state: the interpretation.
        op: an OpOverload.
        args: one Python value per schema argument.
        out: its outcome on FakeTensors.
    """
    if not isinstance(out, torch.Tensor) or op._schema.returns[0].alias_info is not None:
        return out
    tensors = [leaf for leaf in tree_leaves(list(args)) if isinstance(leaf, torch.Tensor)]
    if any(tensor.layout != torch.strided for tensor in (*tensors, out)):
        return out
    if out.untyped_storage()._cdata not in {tensor.untyped_storage()._cdata for tensor in tensors}:
        return out
    outcomes = []
    with _disable_current_modes():
        for valuation in valuations(state, symbols_of(args)):
            given = valued(args, valuation)
            sizes = [leaf.numel() for leaf in tree_leaves(given) if isinstance(leaf, torch.Tensor)]
            if given is not None and 0 < sum(sizes) <= _LARGEST:
                outcomes.append(_run(op, given, _zeros))
    copies = [outcome is not _SHARES for outcome in outcomes if outcome is not None]
    return out.clone(memory_format=torch.contiguous_format) if copies and all(copies) else out


def _are_known(tensors: Sequence[torch.Tensor]) -> bool:
    return all(type(number) is int for tensor in tensors for number in (*tensor.shape, *tensor.stride()))


def _shapes(outcome: Any) -> list[Any]:
    return [(leaf.dtype, tuple(leaf.shape)) for leaf in tree_leaves(outcome) if isinstance(leaf, torch.Tensor)]


_WATCHED = (*_LOW_PRECISION, torch.bool)
_SCALES = (1.0, 6.0)
"""Sizes of the numbers in the examples; the exponential of the square of the larger is beyond float16."""
_FEWEST = 64
"""Elements of each tensor that are tried, in several rounds if it has fewer."""
_agreements: dict[Any, bool] = {}


def agrees_on_examples(op: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a decomposition rounds as the op does, where its tensors are of half precision, and does what it does to
    bools.

    Most kernels compute in single precision and round once, as most decompositions do; some of either round after each
    step. Few decompositions were written with bools in mind.

    Args:
        op: an OpOverload.
        function: its decomposition.
        args: the positional arguments, FakeTensors for tensors.
        kwargs: the keyword arguments.
    Returns:
        True also where that cannot be told: sizes are not known, or large, or the op does not run on random numbers.
    """
    leaves = tree_leaves((args, kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    numbers = [number for tensor in tensors for number in (*tensor.shape, *tensor.stride())]
    if not any(tensor.dtype in _WATCHED for tensor in tensors) or not all(type(number) is int for number in numbers):
        return True
    if sum(tensor.numel() for tensor in tensors) > _LARGEST:
        return True
    looks = [(t.dtype, t.shape, t.stride()) if isinstance(t, torch.Tensor) else repr(t) for t in leaves]
    key = (op, str(looks))
    if key not in _agreements:
        rounds = -(-_FEWEST // max(min(tensor.numel() for tensor in tensors), 1))
        generator = torch.Generator().manual_seed(0)
        scales = [scale for scale in _SCALES for _ in range(rounds)]
        _agreements[key] = all(_agrees(op, function, args, kwargs, scale, generator) for scale in scales)
    return _agreements[key]


def _agrees(
    op: Any,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    scale: float,
    generator: torch.Generator,
) -> bool:
    def example(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        real = _zeros(leaf)
        if real.dtype == torch.bool:
            return real.copy_(torch.rand(real.shape, generator=generator) < 0.5)
        if not real.is_floating_point():
            return real
        return real.copy_((torch.rand(real.shape, generator=generator) * 2 - 1) * scale)

    given, named = tree_map(example, (list(args), kwargs))
    with torch.no_grad():
        try:
            expected = tree_leaves(op(*given, **named))
        except Exception:  # noqa: BLE001 - whatever it does not do on these values
            return True
        try:
            actual = tree_leaves(function(*given, **named))
        except Exception:  # noqa: BLE001 - and the op does
            return False
    return all(_alike(*pair) for pair in zip(expected, actual) if isinstance(pair[0], torch.Tensor))


def _alike(expected: torch.Tensor, actual: torch.Tensor) -> bool:
    """Whether tensors differ by no more than one unit in the last place, if they are of a dtype that is looked at."""
    if expected.dtype not in _WATCHED or not expected.numel():
        return True
    left, right = expected.double(), actual.double()
    finite = left.isfinite() & right.isfinite()
    same = (left == right) | (left.isnan() & right.isnan())
    if expected.dtype == torch.bool or not bool(finite.any()):
        return bool(same.all())
    scale = left.abs()
    allowed = torch.finfo(expected.dtype).eps * scale + 1e-5 * scale[finite].max()
    return bool((same | (finite & ((left - right).abs() <= allowed))).all())
