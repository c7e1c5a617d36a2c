"""How far a call is from what a program was compiled for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..errors import ArgumentError
from .argument_specs import (
    ConstantSpec,
    DictSpec,
    InputSpec,
    ListSpec,
    ObjectSpec,
    ScalarSpec,
    SequenceSpec,
    SharedSpec,
    TensorSpec,
    checked_scalar,
    tensor_leaves,
)
from .same_values import same_value

if TYPE_CHECKING:
    from .convention import ImportedProgram
    from .size_guards import SizeChecks

__all__ = ["changed_sizes", "count_differences", "static_sizes"]


def count_differences(program: ImportedProgram, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """Count in how many places a call differs from what a program was compiled for.

    Args:
        program: the imported program.
        args: positional arguments of a call that it does not take.
        kwargs: keyword arguments.
    Returns:
        The number of sizes, dtypes, constants and keys that differ, and one for the module. A value of another kind, or
        a tensor with another number of dimensions, counts as if all of it differed. At least 1: a call may also break
        what was assumed of sizes, strides or PyTorch's settings.
    """
    try:
        values = program.bind(args, kwargs)
    except ArgumentError as error:
        if not error.mismatch:
            raise
        return 1 + sum(map(_weight, program.specs))  # it was made for other arguments
    found = sum(_count(spec, value, program.sizes) for spec, value in zip(program.specs, values, strict=True))
    if program.facts is not None and program.facts.difference() is not None:
        found += 1
    if program.objects is not None and program.objects.difference() is not None:
        found += 1
    return max(found, 1)


def changed_sizes(
    program: ImportedProgram, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> frozenset[tuple[str, int]] | None:
    """Return the sizes in which a call differs from what a program was compiled for.

    Args:
        program: the imported program.
        args: positional arguments of a call.
        kwargs: keyword arguments.
    Returns:
        Each by the path of the tensor and the dimension; None if the call differs in something else.
    """
    try:
        values = program.bind(args, kwargs)
    except ArgumentError:
        return None
    others = [part.difference() for part in (program.facts, program.objects) if part is not None]
    pairs = list(zip(program.specs, values, strict=True))
    if any(other is not None for other in others) or any(_count(*pair, _ANY_SIZE) for pair in pairs):
        return None
    return frozenset(found for pair in pairs for found in _sizes(*pair))


def static_sizes(program: ImportedProgram) -> frozenset[tuple[str, int]]:
    """Return the sizes that a program was compiled for as they were, by the tensor's path and dimension.

    Those of 0 and 1 are not among them, which are static whatever the program can do with.
    """
    return frozenset(
        (leaf.path, dim)
        for spec in program.specs
        for leaf in tensor_leaves(spec)
        for dim, size in enumerate(leaf.shape)
        if size > 1 and (program.sizes is None or program.sizes.text(leaf.index, dim) is None)
    )


def _sizes(spec: InputSpec, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(spec, TensorSpec):
        yield from ((spec.path, dim) for dim, size in enumerate(value.shape) if size != spec.shape[dim])
    elif isinstance(spec, DictSpec):
        for key, element in spec.items:
            yield from _sizes(element, getattr(value, key) if isinstance(spec, ObjectSpec) else value[key])
    elif isinstance(spec, (SequenceSpec, ListSpec)):
        for element, part in zip(spec.elements, value):
            yield from _sizes(element, part)


class _AnySize:
    """Says that each size may differ."""

    def text(self, index: int, dim: int) -> str:
        return f"{index}.size({dim})"


_ANY_SIZE = _AnySize()


def _count(spec: InputSpec, value: Any, sizes: SizeChecks | _AnySize | None) -> int:
    if isinstance(spec, SharedSpec):
        return 0
    if isinstance(spec, TensorSpec):
        return _count_of_tensor(spec, value, sizes) if isinstance(value, torch.Tensor) else _weight(spec)
    if isinstance(spec, ScalarSpec):
        return 0 if _is_scalar(spec, value) else 1
    if isinstance(spec, ConstantSpec):
        return 0 if same_value(value, spec.value) else 1
    if isinstance(spec, ObjectSpec):
        if type(value) is not spec.kind:
            return _weight(spec)
        return sum(_count(element, getattr(value, key), sizes) for key, element in spec.items)
    if isinstance(spec, DictSpec):
        if not isinstance(value, dict):
            return _weight(spec)
        missing = sum(_weight(element) for key, element in spec.items if key not in value)
        common = sum(_count(element, value[key], sizes) for key, element in spec.items if key in value)
        known = [key for key, _ in spec.items]
        added = sum(key not in known for key in value)
        return missing + common + added + (not missing and not added and list(value) != known)
    if not isinstance(value, tuple if isinstance(spec, SequenceSpec) else list):
        return _weight(spec)
    common = sum(_count(element, item, sizes) for element, item in zip(spec.elements, value))
    missing = sum(_weight(element) for element in spec.elements[len(value) :])
    return common + missing + max(len(value) - len(spec.elements), 0)


def _count_of_tensor(spec: TensorSpec, value: torch.Tensor, sizes: SizeChecks | _AnySize | None) -> int:
    dtype = int(value.dtype is not spec.dtype)
    if value.dim() != len(spec.shape):
        return dtype + max(value.dim(), len(spec.shape))
    return dtype + sum(
        expected != size and (sizes is None or sizes.text(spec.index, dim) is None)
        for dim, (expected, size) in enumerate(zip(spec.shape, value.shape))
    )


def _is_scalar(spec: ScalarSpec, value: Any) -> bool:
    try:
        checked_scalar(spec.path, spec.kind, float(value) if spec.converts and type(value) is int else value)
    except (ArgumentError, OverflowError):
        return False
    return True


def _weight(spec: InputSpec) -> int:
    """How much it counts if all of an argument differs: its sizes and dtype, or those of all in it."""
    if isinstance(spec, TensorSpec):
        return 1 + len(spec.shape)
    if isinstance(spec, DictSpec):
        return 1 + sum(_weight(element) for _, element in spec.items)
    if isinstance(spec, (SequenceSpec, ListSpec)):
        return 1 + sum(map(_weight, spec.elements))
    return 1
