"""Bools where a schema has a number: `mask ^ True`, `torch.full([2], flag)`.

TorchScript converts them to ints, and so changes the dtype of the result: in eager `mask + True` is a tensor of bools.
The conversion shows in the graph (for literals thanks to `source_rewrite.py`), and is taken back here. What `item()`
returns is not converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..fake.dtype_probe import rejects_bools
from ..fake.fake_run import run
from ..tensors.complex_scalars import with_tensors
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.values import ConstValue, ScalarValue, TensorValue, Value

__all__ = ["bool_tensor", "call_with_bools", "converted_bools"]

Call = Callable[[Any, list[Value]], list[Value]]


def call_with_bools(
    state: State,
    tensors: TensorOps,
    scalars: ScalarOps,
    node: Any,
    op: Any,
    arguments: list[Value],
    lookup: Callable[[Any], Value],
    call: Call,
) -> list[Value]:
    """Import an op; where it is given ints that are bools, so that it does what it does for bools.

    Args:
        state: the importer's state.
        tensors: emits ops on tensors.
        scalars: knows the types of scalars.
        node: the node of the op.
        op: the operator that it calls.
        arguments: its operands.
        lookup: the value of a node's input.
        call: imports an op that has no such operands.
    Returns:
        The op's results.
    Raises:
        ProgramRaises: the op takes an int, and no bool (`x - True`).
    """
    numbers = [n for n, spec in enumerate(op._schema.arguments) if "number" in str(spec.type)]
    bools = converted_bools(node, numbers, scalars, lookup)
    plain = [n for n in numbers if isinstance(arguments[n], (ConstValue, ScalarValue))]
    if given := tuple(n for n in plain if n in bools or scalars.kind(arguments[n]) is bool):
        if message := rejects_bools(op, [tensors.argument(argument) for argument in arguments], given):
            raise ProgramRaises(message)
    if not bools:
        return call(op, arguments)
    overload = with_tensors(op, list(bools))
    if overload is not None:
        # A tensor without dimensions counts as a number of its kind does.
        return call(overload, [bool_tensor(tensors.call, v) if n in bools else v for n, v in enumerate(arguments)])
    values = [tensors.python(tensors.argument(argument)) for argument in arguments]
    trace = run(state, op, [True if number in bools else value for number, value in enumerate(values)])
    results = call(op, [scalars.converted(v, int) if n in bools else v for n, v in enumerate(arguments)])
    for number, (result, eager) in enumerate(zip(list(results), tree_leaves(trace.out))):
        if isinstance(result, TensorValue) and result.fake.dtype != eager.dtype:  # what is not zero is True
            converted: list[Value] = [result, ConstValue(eager.dtype), *[ConstValue(False)] * 2, ConstValue(None)]
            results[number] = tensors.call(torch.ops.aten.to.dtype, converted)[0]
    return results


def converted_bools(
    node: Any, numbers: Iterable[int], scalars: ScalarOps, lookup: Callable[[Any], Value]
) -> dict[int, Value]:
    """Return the bools among some operands of a node, also those that TorchScript, not the user's `int()`, makes ints,
    by position.
    """
    found: dict[int, Value] = {}
    sources = list(node.inputs())
    for number in numbers:
        if number >= len(sources):
            continue
        made = sources[number].node()
        converted = made.kind() in ("aten::Int", "aten::Float") and made.sourceRange() == node.sourceRange()
        value = lookup(made.input() if converted else sources[number])
        if isinstance(value, (ConstValue, ScalarValue)) and scalars.kind(value) is bool:
            found[number] = value
    return found


def bool_tensor(call: Call, value: Value) -> Value:
    """A tensor of one bool, without dimensions."""
    operands = [value, ConstValue(torch.bool), *[ConstValue(None)] * 3]
    return call(torch.ops.aten.scalar_tensor.default, operands)[0]
