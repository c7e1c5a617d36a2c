"""Ops asked what they do with dtypes and numbers, by running them on small tensors: FakeTensors do not tell."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch

from ...abi.convention import autocast_dtypes
from ...errors import eager_error_name
from ..values.values import ConstValue, TensorValue, Value
from .concrete_run import try_op

__all__ = [
    "SIZES",
    "Described",
    "describe",
    "dtypes_under_autocast",
    "mixed_dtypes",
    "rejects",
    "rejects_bools",
    "rejects_written",
    "replaces_storage",
    "run_example",
]

Described = tuple[Any, ...]
_COMMON = {torch.float32, torch.float64}
"""Dtypes that almost every op has kernels for, if all its tensors have the same."""
_ABOUT_DTYPES = re.compile(
    r"not implemented for '|(?i:bool|complex|half|integ|dtype).*not supported|not supported.*(?i:bool)"
    r"|does not support (?i:bool|complex|half|integ)|Expected object of scalar type|different dtypes"
)
_ABOUT_TYPES = re.compile(r"(?i:scalar type|\bd?types?\b|\bdata ?types?\b)")
"""What is said of several floating dtypes; of others, it may be the example's numbers that do not fit."""
_INDICES = (torch.int8, torch.int16, torch.int32, torch.int64)
SIZES = (3, 12, 2)
"""How many elements examples have along each dimension: windows may be larger than the smaller ones, or want an even
number, and places in images have two coordinates."""
_UNKNOWN = 3
"""A size that is dynamic."""
_LARGEST = 1 << 20
"""How many elements examples of the sizes at hand have at most."""


def _cache(function: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what a function returned, for each state of autocast, on which depends what ops do."""
    kept = cache(lambda _, *operands: function(*operands))
    return lambda *operands: kept(autocast_dtypes(), *operands)


def describe(arguments: Sequence[Value], sized: bool = False) -> Described:
    """Return what decides how an op takes numbers and dtypes: its tensors' dtypes, ranks and devices, and constants,
    and lists of such.

    Args:
        arguments: the op's.
        sized: put sizes in the place of ranks.
    """
    return tuple(
        ("list", describe(value, sized))
        if isinstance(value, list)
        else (value.fake.dtype, _sizes(value.fake) if sized else value.fake.dim(), value.fake.device.type)
        if isinstance(value, TensorValue)
        else ("constant", value.value)
        if isinstance(value, ConstValue) and isinstance(value.value, (bool, int, float, str, torch.dtype, type(None)))
        else None
        for value in arguments
    )


def _sizes(fake: torch.Tensor) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else _UNKNOWN for size in fake.shape)


def rejects(op: Any, arguments: Sequence[Value]) -> str:
    """Return what an op raises for the dtypes of its operands, "ExceptionName: text"; "" if it takes them, or may.

    Args:
        op: an OpOverload.
        arguments: one value per schema argument.
    """
    described = describe(arguments)
    if any(one is not None and one[0] == "list" and any(map(_is_number, one[1])) for one in described):
        return ""  # `x[i] = v` is a copy into a view
    answer = _rejects(op, described, SIZES)
    if answer is None:
        described = describe(arguments, sized=True)
        elements = sum(math.prod(one[1]) for one in _tensors(described))
        answer = _rejects(op, described, (_UNKNOWN,)) if elements <= _LARGEST else ""
    return answer or ""


def rejects_bools(op: Any, arguments: Sequence[Value], places: tuple[int, ...]) -> str:
    """Return what an op raises for bools in the place of numbers, "ExceptionName: text"; "" if it takes them, or may.

    Args:
        op: an OpOverload.
        arguments: one value per schema argument.
        places: which of them are the bools.
    """
    others = [ConstValue(None) if number in places else value for number, value in enumerate(arguments)]
    return _rejects_bools(op, describe(others), places)


@_cache
def _rejects_bools(op: Any, described: Described, places: tuple[int, ...]) -> str:
    try:
        run_example(op, described, dict.fromkeys(places, True))
    except (RuntimeError, TypeError) as error:
        message = f"{eager_error_name(error)}: {str(error).splitlines()[0] if str(error) else ''}"
    except Exception:  # the example does not suit the op
        return ""
    else:
        return ""
    try:
        run_example(op, described, dict.fromkeys(places, 1))
    except Exception:  # it is not for the bools
        return ""
    return message


def rejects_written(op: Any, arguments: Sequence[Value], place: int, dtype: torch.dtype) -> str:
    """Return what an op raises for the dtype of a tensor that it writes, "ExceptionName: text"; "" if it takes it, or
    may.

    Args:
        op: an OpOverload.
        arguments: one value per schema argument.
        place: which of them is written.
        dtype: that of the op's result, which it takes.
    """
    answer = _rejects_written(op, describe(arguments), place, dtype, SIZES)
    sized = describe(arguments, sized=True)
    if answer is None and _elements(sized) <= _LARGEST:
        answer = _rejects_written(op, sized, place, dtype, (_UNKNOWN,))
    return answer or ""


@_cache
def _rejects_written(
    op: Any, described: Described, place: int, dtype: torch.dtype, sizes: tuple[int, ...]
) -> str | None:
    """What an op raises for the dtype of what it writes; None if no example suits it."""
    taken = (*described[:place], (dtype, *described[place][1:]), *described[place + 1 :])
    for size in sizes:
        try:
            run_example(op, taken, {}, size)
        except Exception:  # the example does not suit the op
            continue
        try:
            run_example(op, described, {}, size)
        except Exception as error:
            return f"{eager_error_name(error)}: {str(error).strip().partition(chr(10))[0]}"
        return ""
    return None


def mixed_dtypes(op: Any, arguments: Sequence[Value]) -> tuple[torch.dtype | None, ...]:
    """Return the dtypes of an op's results, None for what is no tensor; () if its operands are not of several floating
    dtypes.

    Args:
        op: an OpOverload.
        arguments: one value per schema argument.
    """
    described = describe(arguments)
    tensors = _tensors(described)
    if len(_floats(tensors)) < 2 or any(device != "cpu" for _, _, device in tensors):
        return ()
    sized = describe(arguments, sized=True)
    small = sum(math.prod(one[1]) for one in _tensors(sized)) <= _LARGEST
    return _result_dtypes(op, described, SIZES) or (_result_dtypes(op, sized, (_UNKNOWN,)) if small else ())


def dtypes_under_autocast(op: Any, arguments: Sequence[Value]) -> tuple[torch.dtype | None, ...]:
    """Return the dtypes of an op's results under `torch.autocast` as it is now, None for what is no tensor; () if no
    example suits the op.

    Args:
        op: an OpOverload.
        arguments: one value per schema argument.
    """
    described = describe(arguments, sized=True)
    if _elements(described) > _LARGEST:
        return ()
    return tuple(_dtypes_under_autocast(op, described))


def _elements(described: Described) -> int:
    """How many elements tensors of known sizes have together, also in lists."""
    listed = sum(_elements(one[1]) for one in described if one is not None and one[0] == "list")
    return listed + sum(math.prod(one[1]) for one in _tensors(described))


@_cache
def _dtypes_under_autocast(op: Any, described: Described) -> tuple[torch.dtype | None, ...]:
    try:
        return _dtypes(_run(op, [_example(one, _UNKNOWN) for one in described]))
    except Exception:  # the example does not suit the op
        return ()


@_cache
def _result_dtypes(op: Any, described: Described, sizes: tuple[int, ...]) -> tuple[torch.dtype | None, ...]:
    for size in sizes:
        try:
            made = run_example(op, described, {}, size)
        except Exception:  # the example does not suit the op
            continue
        return _dtypes(made)
    return ()


def _dtypes(made: Any) -> tuple[torch.dtype | None, ...]:
    results = made if isinstance(made, tuple) else (made,)
    return tuple(result.dtype if isinstance(result, torch.Tensor) else None for result in results)


def _floats(tensors: Sequence[Any]) -> set[torch.dtype]:
    return {one[0] for one in tensors if one[0].is_floating_point}


def _is_number(described: Any) -> bool:
    """Whether a described tensor is an index without dimensions."""
    return described is not None and described[1] in (0, ()) and described[0] in _INDICES


def _tensors(described: Described) -> list[Any]:
    return [one for one in described if one is not None and isinstance(one[0], torch.dtype)]


@_cache
def _rejects(op: Any, described: Described, sizes: tuple[int, ...]) -> str | None:
    """What an op raises for dtypes; None if no example suits it, and its operands are of several floating dtypes."""
    tensors = _tensors(described)
    dtypes = {dtype for dtype, _, _ in tensors}
    if (len(dtypes) < 2 and dtypes <= _COMMON) or any(device != "cpu" for _, _, device in tensors):
        return ""
    floats = _floats(tensors)
    for size in sizes:
        try:
            run_example(op, described, {}, size)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            text = str(error).strip().splitlines()[0] if str(error).strip() else ""
            of_types = len(floats) > 1 and not isinstance(error, TypeError)  # that may be about the example
            mixed = of_types and (_ABOUT_TYPES.search(text) or (text and _takes_one(op, described, size)))
            if mixed or _ABOUT_DTYPES.search(text):
                return f"{eager_error_name(error)}: {text}"
        except Exception:  # the example does not suit the op
            continue
        else:
            return ""
    return None if len(floats) > 1 else ""


def _takes_one(op: Any, described: Described, size: int) -> bool:
    """Whether an op takes an example if all its floating-point tensors are of the same dtype."""
    alike = tuple(
        (torch.float32, *one[1:]) if one in _tensors(described) and one[0].is_floating_point else one
        for one in described
    )
    try:
        run_example(op, alike, {}, size)
    except Exception:
        return False
    return True


@cache
def replaces_storage(op: Any, described: Described) -> bool:
    """Return whether an in-place op gives the tensor that it writes another storage, dtype or shape, on an example.

    Args:
        op: an OpOverload that writes its first operand.
        described: its operands, from `describe`.
    """
    target = _example(described[0], SIZES[0])
    before = target.untyped_storage().data_ptr(), target.dtype, target.shape
    try:
        with torch.random.fork_rng(devices=[]):  # not all that draw are said to
            run_example(op, described, {0: target})
    except Exception:  # the example does not suit the op
        return False
    return (target.untyped_storage().data_ptr(), target.dtype, target.shape) != before


def run_example(op: Any, described: Described, given: Mapping[int, Any], size: int = SIZES[0]) -> Any:
    """Run an op on CPU tensors of a few elements along each dimension.

    Args:
        op: an OpOverload.
        described: its operands, from `describe`; with sizes or ranks.
        given: other operands, by number.
        size: how many elements, where only ranks are known.
    Raises:
        NotImplementedError: it draws random numbers.
        Exception: what the op raises, also because the example does not suit it.
    """
    if torch.Tag.nondeterministic_seeded in op.tags:
        raise NotImplementedError
    specs = op._schema.arguments
    # What is written gets the size of the result: of another one, eager would warn.
    size_of = [0 if spec.is_out else size for spec in specs]
    return _run(op, [given[n] if n in given else _example(one, size_of[n]) for n, one in enumerate(described)])


def _run(op: Any, examples: list[Any]) -> Any:
    named = {spec.name: value for spec, value in zip(op._schema.arguments, examples) if spec.kwarg_only}
    return try_op(op, examples[: len(examples) - len(named)], named)


def _example(described: Any, size: int) -> Any:
    if described is None:
        return 1
    if described[0] == "constant":
        return described[1]
    if described[0] == "list":
        return [_example(one, size) for one in described[1]]
    dtype, rank, _ = described
    if not size:
        return torch.empty([0], dtype=dtype)
    shape = list(rank) if isinstance(rank, tuple) else [size if rank < 5 else min(size, 3)] * rank
    if dtype is torch.bool:
        return torch.ones(shape, dtype=dtype)
    if dtype is torch.int64:
        return torch.zeros(shape, dtype=dtype)  # indices
    return (torch.arange(math.prod(shape)) % 7 + 1).reshape(shape).to(dtype)
