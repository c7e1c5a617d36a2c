"""Which numbers among a program's arguments decide what values are: a backward slice of the IR.

An op that cannot be imported with dynamic numbers may be one with constants. Those behind its operands are tried first
(`boundary/program.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torch_mlir import ir

from .values import ChosenRef, DictRef, ListRef, OptionalValue, ScalarValue, Site, TensorValue, TupleValue, Value

__all__ = ["arguments_behind"]

_MOST_VALUES = 20_000
"""How many values a slice follows; a larger one is not worth its time."""


def arguments_behind(values: Iterable[Value], contents: Mapping[Site, Any]) -> frozenset[int]:
    """Return the arguments of `@main` that values depend on; those of tensors only if there are no numbers.

    Args:
        values: operands of an op.
        contents: what the lists and dicts among them hold.
    """
    values = list(values)
    for kind in (ScalarValue, TensorValue):
        found = _arguments(part.ssa for part in _parts(values, contents, set()) if isinstance(part, kind))
        if found:
            return found
    return frozenset()


def _parts(values: Iterable[Value], contents: Mapping[Site, Any], seen: set[Site]) -> Iterator[Value]:
    """Values, and those that they hold."""
    for value in values:
        yield value
        if isinstance(value, TupleValue):
            yield from _parts(value.elements, contents, seen)
        elif isinstance(value, OptionalValue):
            yield from _parts((value.present, value.value), contents, seen)
        elif isinstance(value, ChosenRef):
            yield from _parts((value.number, *value.choices), contents, seen)
        elif isinstance(value, (ListRef, DictRef)) and value.cell not in seen:
            seen.add(value.cell)
            yield from _parts(contents.get(value.cell, ()), contents, seen)


def _arguments(roots: Iterable[Any]) -> frozenset[int]:
    """The arguments of `@main` in the backward slice of values; of ops with regions all that is in these counts."""
    found: set[int] = set()
    seen: set[Any] = set()
    left = [ir.Value(root) for root in roots]
    while left and len(seen) < _MOST_VALUES:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if not isinstance(owner, ir.Block):
            left += _operands(owner)
        elif owner.owner is None or owner.owner.operation.name == "func.func":
            found.add(ir.BlockArgument(value).arg_number)
        else:
            left += owner.owner.operation.operands
    return frozenset(found)


def _operands(op: Any) -> Iterator[Any]:
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _operands(inner.operation)
