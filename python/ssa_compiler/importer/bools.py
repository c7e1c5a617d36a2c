"""Bools where a schema has a number: `mask ^ True`, `torch.full([2], flag)`.

TorchScript converts them to ints, and so changes the dtype of the result: in eager `mask + True` is a tensor of bools. The
conversion shows in the graph (for literals thanks to `source.py`), and is taken back here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .aten import TensorOps
from .complex_numbers import with_tensors
from .fakes import run
from .scalars import ScalarOps
from .state import State
from .values import ConstValue, TensorValue, Value

__all__ = ["call_with_bools"]

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
        ProgramRaises: the op takes an int, and no bool.
    """
    bools = [
        number
        for number, (source, spec) in enumerate(zip(node.inputs(), op._schema.arguments))
        if "number" in str(spec.type)
        and (made := source.node()).kind() == "aten::Int"
        and made.sourceRange() == node.sourceRange()  # the conversion is TorchScript's, not the user's int()
        and scalars.kind(lookup(made.input())) is bool
    ]
    if not bools:
        return call(op, arguments)
    overload = with_tensors(op, bools)
    if overload is not None:
        # A tensor without dimensions counts as a number of its kind does.
        return call(overload, [_tensor(tensors, v) if n in bools else v for n, v in enumerate(arguments)])
    values = [tensors.python(tensors.argument(argument)) for argument in arguments]
    trace = run(state, op, [True if number in bools else value for number, value in enumerate(values)])
    results = call(op, arguments)
    for number, (result, eager) in enumerate(zip(list(results), tree_leaves(trace.out))):
        if isinstance(result, TensorValue) and result.fake.dtype != eager.dtype:  # what is not zero is True
            converted: list[Value] = [result, ConstValue(eager.dtype), *[ConstValue(False)] * 2, ConstValue(None)]
            results[number] = tensors.call(torch.ops.aten.to.dtype, converted)[0]
    return results


def _tensor(tensors: TensorOps, value: Value) -> Value:
    """A tensor of one bool."""
    operands = [value, ConstValue(torch.bool), *[ConstValue(None)] * 3]
    made: Value = tensors.call(torch.ops.aten.scalar_tensor.default, operands)[0]
    return made
