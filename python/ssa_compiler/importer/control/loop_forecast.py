"""What a loop's body surely makes of the values that it carries, read off its graph.

A body is imported until what is known at its head holds at its end. A tensor that each iteration makes anew, and an int
that each iteration adds to, are known not to be what they are before the loop: assuming that from the start saves an
import of the body. What is read off is a forecast: the import checks it. There is none for loops that change lists.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch

from ...errors import SsaCompilerError
from ..values.fake_layout import contiguous_strides, is_contiguous
from ..values.lattice import Abstract, AnyScalar, AnyTensor, Same, any_tensor
from ..values.lattice_join import from_earlier_iterations, join
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import EARLIER, ConstValue, ScalarValue, Site, TensorValue, Value, made_at

__all__ = ["forecast"]

_STEPS = {"aten::add": 0, "aten::sub": 0, "aten::mul": 1, "aten::floordiv": 1}
"""Ops on ints that change their first operand, but for one second operand."""
Blocks = list[tuple[Any, Site]]
"""TorchScript blocks, each inside the next, and their places."""


def forecast(
    state: State,
    site: Site,
    initial: Sequence[Value],
    known: Sequence[Abstract],
    before: dict[Site, tuple[Value, ...]],
    body: Any,
) -> list[Abstract]:
    """Return what is known at the head of a loop of what it carries.

    Args:
        state: the interpretation.
        site: the loop.
        initial: what it carries into the first iteration.
        known: what is known of that.
        before: the contents of lists in front of the loop.
        body: the TorchScript block.
    """
    found = list(known)
    if _changes_containers(body):
        return found
    inside = (*site, "body")
    parameters = [value.debugName() for value in body.inputs()][1:]  # the first one counts
    outputs = list(body.outputs())[1:]

    def widen(number: int, other: Abstract) -> None:
        with suppress(SsaCompilerError):
            joined = join(state, known[number], other, "loop", before, before)
            found[number] = from_earlier_iterations(joined, inside)

    for number, (value, output) in enumerate(zip(initial, outputs)):
        if not isinstance(known[number], Same):
            continue
        if isinstance(value, TensorValue):
            storages = None
            with suppress(RecursionError):  # of thousands of branches, each after the other
                storages = _storages([(body, inside)], output, {parameters[number]}, {})
            if storages:
                widen(number, _like(state, value, storages))
        elif _is_int(value) and _changes([(body, inside)], output, {parameters[number]}, {}):
            found[number] = AnyScalar(int)
    for number, output in enumerate(outputs):
        name = output.debugName()
        if name in parameters and name != parameters[number] and isinstance(known[number], Same):
            other = found[parameters.index(name)]  # `x, last = x * 2, x`
            if isinstance(other, AnyTensor) and isinstance(initial[number], TensorValue):
                widen(number, other)
    return found


def _changes_containers(block: Any) -> bool:
    """Whether a block changes a list, dict or object: which form that has to have is found by importing the block."""
    for node in block.nodes():
        if node.kind() == "prim::SetAttr" or any(map(_changes_containers, node.blocks())):
            return True
        if "!" in node.schema() and next(node.inputs()).type().kind() in ("ListType", "DictType"):
            return True
    return False


def _like(state: State, value: TensorValue, storages: frozenset[Site]) -> AnyTensor:
    """A new tensor with the sizes of another one; contiguous if that is, for all that is known."""
    like = any_tensor(state, value)
    if None not in like.sizes and is_contiguous(value.fake):
        strides = tuple(map(expr_of, contiguous_strides(value.fake.shape, state.symbols)))
        like = replace(like, strides=strides)
    return replace(like, storages=storages, maybe=(), root=object(), offset=0)


def _is_int(value: Value) -> bool:
    if isinstance(value, ScalarValue):
        return value.kind is int
    return isinstance(value, ConstValue) and type(value.value) is int


def _storages(around: Blocks, value: Any, carried: Set[str], memo: dict[str, Any]) -> frozenset[Site] | None:
    """The storages that a tensor may live in, if the body makes it; None if that cannot be told.

    Args:
        around: the block that has the value as an output, and the blocks around it, up to the loop's body.
        value: the value.
        carried: the names of what loops carry in its place: it brings no storage of the body's.
        memo: the answers for values so far, by name: each branch of a branch may be what was before it.
    """
    name = value.debugName()
    if name in carried:
        return frozenset()
    if name not in memo:
        memo[name] = _storages_made(around, value, carried, memo)
    found: frozenset[Site] | None = memo[name]
    return found


def _storages_made(around: Blocks, value: Any, carried: Set[str], memo: dict[str, Any]) -> frozenset[Site] | None:
    around, number, node = _maker(around, value)
    if node is None:
        return None
    path = around[0][1]
    if node.kind() == "prim::If":
        found = [_storages(inner, output, carried, memo) for inner, output in _branches(around, number, node, value)]
        return None if None in found else frozenset().union(*filter(None, found))
    if node.kind() == "prim::Loop":
        inner, first, parameter, output = _loop(around, number, node, value)
        before = _storages(around, first, carried, memo)
        made = _storages(inner, output, {*carried, parameter.debugName()}, memo)
        if before is None or made is None:
            return None
        return before | {(EARLIER, inner[0][1], made_at(storage)) for storage in made}
    if not node.kind().startswith("aten::") or node.schema() == "(no schema)":
        return None
    schema = torch._C.parse_schema(node.schema())
    if len(schema.returns) != 1 or str(schema.returns[0].type) != "Tensor":
        return None
    if schema.returns[0].alias_info is not None:
        return _storages(around, next(node.inputs()), carried, memo)  # a view of its first operand, or that itself
    if any(spec.alias_info is not None for spec in schema.arguments):
        return None
    return frozenset([(*path, number, 1)])


def _maker(around: Blocks, value: Any) -> tuple[Blocks, int, Any]:
    """The node that makes a value, its number, and the blocks around it; None if it comes from around the body."""
    for depth, (block, _) in enumerate(around):
        for number, node in enumerate(block.nodes()):
            if any(output.debugName() == value.debugName() for output in node.outputs()):
                return around[depth:], number, node
    return around, 0, None


def _branches(around: Blocks, number: int, node: Any, value: Any) -> list[tuple[Blocks, Any]]:
    """The branches that a value comes from, with the blocks around them, and what it is in each."""
    place = [output.debugName() for output in node.outputs()].index(value.debugName())
    path = around[0][1]
    return [
        ([(branch, (*path, number, name)), *around], list(branch.outputs())[place])
        for branch, name in zip(node.blocks(), ("then", "else"))
    ]


def _loop(around: Blocks, number: int, node: Any, value: Any) -> tuple[Blocks, Any, Any, Any]:
    """The body of a loop with the blocks around it, and what a result of the loop is: what it is before the loop, in
    front of an iteration, and after one.
    """
    place = [output.debugName() for output in node.outputs()].index(value.debugName())
    (body,) = node.blocks()
    inner = [(body, (*around[0][1], number, 1, "body")), *around]
    return inner, list(node.inputs())[place + 2], list(body.inputs())[place + 1], list(body.outputs())[place + 1]


def _changes(around: Blocks, value: Any, carried: Set[str], memo: dict[str, bool]) -> bool:
    """Whether an int is, on some path through the body, another one than the one that the loop carries in its place."""
    name = value.debugName()
    if name not in memo:
        memo[name] = name not in carried and _is_changed(around, value, carried, memo)
    return memo[name]


def _is_changed(around: Blocks, value: Any, carried: Set[str], memo: dict[str, bool]) -> bool:
    around, number, node = _maker(around, value)
    if node is None:
        return False
    if node.kind() == "prim::If":
        return any(_changes(inner, output, carried, memo) for inner, output in _branches(around, number, node, value))
    if node.kind() == "prim::Loop":
        inner, first, parameter, output = _loop(around, number, node, value)
        inside = {*carried, parameter.debugName()}
        return _changes(around, first, carried, memo) or _changes(inner, output, inside, memo)
    if node.kind() not in _STEPS or str(node.output().type()) != "int":
        return False
    first, second, *_ = node.inputs()
    constant = second.node().kind() == "prim::Constant"
    return first.debugName() in carried and constant and second.toIValue() != _STEPS[node.kind()]
