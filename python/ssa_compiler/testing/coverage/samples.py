"""Picks samples of the operators in PyTorch's database and makes programs of them."""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .source import NotWritable, Source, write_call

__all__ = ["DTYPES", "Case", "Unit", "cases", "other_sizes", "tolerance", "units"]

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "bool", "complex64")
_MOST_SAMPLES = 300
"""Some operators have thousands; those that differ in kind come first."""
_LARGEST = 1 << 18
"""Elements in all tensors of a sample; larger ones test PyTorch's kernels for large tensors."""
_TELLING = 12
"""Elements in all tensors of a sample from which on it has capacity for special values."""
_ALTERNATIVES = 4
"""Samples to try until TorchScript takes one."""
_FORMS = ((False, False), (True, False), (False, True))
"""How to write numbers and lists of tensors: `Source.floats` and `Source.optional`."""


@dataclass(frozen=True)
class Unit:
    """An operator at a dtype.

    Attributes:
        op: its name in the database, followed by `.variant` where it has several entries.
        dtype: name of the dtype.
        further: how many more samples of it to run than the two of the table.
        dynamic_sizes: whether the sizes of arguments are dynamic, and others are tried.
        extremes: whether inputs at the edges of the operator's domain are tried (`edges`).
    """

    op: str
    dtype: str
    further: int = 0
    dynamic_sizes: bool = False
    extremes: bool = False


@dataclass
class Case:
    """A program made of a sample.

    Attributes:
        name: `function`, `function-arguments`, `inplace` or `inplace-arguments`; `function-1` and so on of further
            samples.
        sources: ways to write the program, of which TorchScript may take some; none if its language has none.
        problem: why it has none.
    """

    name: str
    sources: tuple[Source, ...]
    problem: str = ""


@cache
def _database() -> dict[str, Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {entry.full_name: entry for entry in op_db} | {
        f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name: entry for entry in op_db
    }


@cache
def _names() -> tuple[str, ...]:
    from torch.testing._internal.common_methods_invocations import op_db

    return tuple(f"{e.name}.{e.variant_test_name}" if e.variant_test_name else e.name for e in op_db)


def units(dtypes: tuple[str, ...] = DTYPES, further: int = 0, **settings: bool) -> list[Unit]:
    """List every operator of the database with every dtype that it takes on the CPU."""
    found = []
    for name in dict.fromkeys(_names()):
        supported = _database()[name].supported_dtypes("cpu")
        found += [Unit(name, dtype, further, **settings) for dtype in dtypes if getattr(torch, dtype) in supported]
    return found


def tolerance(unit: Unit) -> tuple[float, float]:
    """Return the relative and absolute tolerance for results: torch.testing's for the dtype, or OpInfo's if wider."""
    from torch.testing._comparison import default_tolerances
    from torch.testing._internal.common_device_type import toleranceOverride

    dtype = getattr(torch, unit.dtype)
    rtol, atol = default_tolerances(dtype)
    for entry in _database()[unit.op].decorators or ():
        for decorator in getattr(entry, "decorators", (entry,)):
            if isinstance(decorator, toleranceOverride) and dtype in decorator.d:
                rtol, atol = max(rtol, decorator.d[dtype].rtol), max(atol, decorator.d[dtype].atol)
    return rtol, atol


def _elements(sample: Any) -> int:
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    return sum(leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor))


def _can_grow(sample: Any) -> bool:
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    return any(size > 1 for leaf in leaves if isinstance(leaf, torch.Tensor) for size in leaf.shape)


def _settings(sample: Any) -> int:
    """How many arguments other than tensors a sample gives."""
    return sum(
        not isinstance(leaf, torch.Tensor) for value in (*sample.args, *sample.kwargs.values()) for leaf in [value]
    )


def _kind(sample: Any) -> str:
    """What a sample sets: its arguments but for the contents and the sizes of tensors."""

    def shown(leaf: Any) -> str:
        return f"{leaf.dim()}d {leaf.dtype}" if isinstance(leaf, torch.Tensor) else repr(leaf)

    keywords = sorted(sample.kwargs.items())
    return repr([[shown(leaf) for leaf in tree_leaves(value)] for value in (sample.input, sample.args, keywords)])


def _chosen(unit: Unit) -> Iterator[tuple[list[Any], str]]:
    """Yield the smallest sample, and one with non-default arguments: of those that set most, the smallest.

    Each is followed by the next best, should TorchScript not take it. After them come further samples, each of which
    sets something else.
    """
    torch.manual_seed(0)
    entry = _database()[unit.op]
    with torch.no_grad():
        samples = list(
            itertools.islice(entry.sample_inputs("cpu", getattr(torch, unit.dtype), requires_grad=False), _MOST_SAMPLES)
        )
    fitting = [sample for sample in samples if _elements(sample) <= _LARGEST]
    if unit.dynamic_sizes:
        fitting = [sample for sample in fitting if _can_grow(sample)]
    # A sample without elements says nothing about values, one with few has no capacity for several special ones.
    least = _TELLING if unit.extremes else 1
    sizes = [(_elements(sample) < least, _elements(sample)) for sample in fitting]
    small = sorted(range(len(fitting)), key=lambda i: sizes[i])
    telling = sorted(small[1:], key=lambda i: (-_settings(fitting[i]), *sizes[i]))
    for order, suffix in ((small, ""), (telling, "-arguments")):
        if order:
            yield [fitting[i] for i in order[:_ALTERNATIVES]], suffix
    if unit.extremes:
        yield from _without_factors(fitting[i] for i in (*telling, *small))
    seen = {_kind(fitting[order[0]]) for order in (small, telling) if order}
    others = {_kind(fitting[i]): i for i in reversed(small) if sizes[i] != (True, 0)}
    kinds = sorted(set(others) - seen)
    for number, kind in enumerate(random.Random(0).sample(kinds, min(unit.further, len(kinds))), 1):
        yield [fitting[others[kind]]], f"-{number}"


def _without_factors(samples: Iterable[Any]) -> Iterator[tuple[list[Any], str]]:
    """Yield samples with 0 for the factors of what is added up: NaN times 0 counts or not, as the operator says."""
    found: set[str] = set()
    for sample in samples:
        for name in {"alpha", "beta"} & set(sample.kwargs) - found:
            found.add(name)
            without = copy.copy(sample)
            without.kwargs = sample.kwargs | {name: type(sample.kwargs[name])(0)}
            yield [without], f"-{name}-0"


def cases(unit: Unit) -> Iterator[Case]:
    """Make the programs of an operator: two samples, as a function and, where it has one, in its in-place form.

    Further samples are functions only.
    """
    entry = _database()[unit.op]
    for samples, suffix in _chosen(unit):
        forms = (("function", entry.op), ("inplace", entry.inplace_variant))
        for form, function in forms[:1] if suffix[1:].isdigit() or unit.extremes else forms:
            fitting = [sample for sample in samples if form == "function" or not sample.broadcasts_input]
            if function is None or not fitting:
                continue
            sources: list[Source] = []
            problem = ""
            for sample, (floats, optional) in itertools.product(fitting, _FORMS):
                values, args, kwargs = copy.deepcopy((sample.input, sample.args, sample.kwargs))
                torch.manual_seed(0)
                try:
                    source = write_call(function, (values, *args), kwargs, floats=floats, optional=optional)
                except NotWritable as error:
                    problem = str(error)
                except Exception as error:  # the sample does not run, in eager
                    problem = f"eager raises {type(error).__name__}: {error}"
                else:
                    if all(source.text() != other.text() for other in sources):
                        sources.append(source)
            yield Case(form + suffix, tuple(sources), problem)


def other_sizes(arguments: list[Any]) -> list[list[Any]]:
    """Return arguments with other sizes: each size above 1 is one more, and then more than twice as large.

    Equal sizes stay equal. The elements are those of the tensors, over and over, so that indices stay in range.

    Args:
        arguments: tensors and lists of tensors.
    """

    def grown(tensor: torch.Tensor, scale: int) -> torch.Tensor:
        shape = [scale * size + 1 if size > 1 else size for size in tensor.shape]
        count = math.prod(shape)
        if not tensor.numel():
            return torch.zeros(shape, dtype=tensor.dtype)
        return tensor.reshape(-1).repeat(-(-count // tensor.numel()))[:count].reshape(shape)

    def of(value: Any, scale: int) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(of(element, scale) for element in value)
        return grown(value, scale) if isinstance(value, torch.Tensor) else value

    return [[of(argument, scale) for argument in arguments] for scale in (1, 2)]
