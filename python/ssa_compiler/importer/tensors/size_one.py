"""Sizes that are 1, though they are computed: `x[:1]` of a dynamic size, `x[k : k + 1]` at a run-time position.

PyTorch takes a size that it cannot tell from 1 for none, so that nothing is broadcast and the other sizes have to be
equal. Here a guard of calls, or an assertion, says that the size is 1, and the op gets a tensor whose type says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations, zip_longest
from typing import Any

import sympy
import torch

from ...errors import UnsupportedOpError, program_error_name
from ..values.argument_sizes import MakeStatic
from ..values.plan import form_key
from ..values.symbols import expr_of
from ..values.values import ConstValue, TensorValue
from .views import Views

__all__ = ["narrow_slice", "sizes_that_meet", "with_asserted_ones", "with_known_ones"]

_FILLED = "a slice that is not empty"
_EMPTY = (
    "unsupported: a slice of one element, `x[k : k + 1]`, that is empty, in a list whose length depends on run-time "
    "values; index the tensor, `x[k]`, and unsqueeze it"
)


def with_known_ones(views: Views, op: Any, args: list[Any], dims: Collection[int] | None = None) -> list[Any] | None:
    """Return the arguments of an op with the sizes that are 1 for the example known to be.

    Args:
        views: emits the views.
        op: the OpOverload.
        args: its arguments.
        dims: the dimensions that matter; None for all.
    Returns:
        The arguments; None if there is no such size among what the op reads.
    """
    return _mapped(op, args, lambda value: _with_ones(views, op, value, dims))


def narrow_slice(views: Views, out: TensorValue, dim: int, start: Any, end: Any) -> TensorValue:
    """Note that a slice has at most one element along a dimension, if its bounds say so; assert that it has one, if an
    earlier import found that the program cannot be compiled otherwise.

    Args:
        views: emits the assertion.
        out: the slice, of whatever step.
        dim: the dimension.
        start: where it begins: an int or a SymInt; None for the front.
        end: where it ends; None for the back.
    """
    state, size = views.state, expr_of(out.fake.shape[dim])
    to_the_back = end is None or (isinstance(end, int) and end == sys.maxsize)
    if size.is_Integer or (to_the_back and not (isinstance(start, int) and start == -1)):
        return out
    if start is None or (to_the_back and state.sizes.covers(size)):
        return out  # of `x[-1:]` of a size of an argument a guard says that it is not 0
    if sympy.expand((0 if to_the_back else expr_of(end)) - expr_of(start)) != 1:
        return out
    state.symbols.at_most_one.add(size)
    key = (_FILLED, form_key(state.place()))
    state.symbols.slices.setdefault(size, set()).add(key)
    if key not in state.plan.retries:
        return out
    text = f"{program_error_name(UnsupportedOpError)}: {_EMPTY}"
    state.check(sympy.Eq(size, 1), text)
    return _as_one(views, out, dim)


def with_asserted_ones(views: Views, op: Any, args: list[Any], requirements: Iterable[Any]) -> list[Any] | None:
    """Return the arguments of an op that broadcasts, where sizes of 0 or 1 are asserted to be 1 where they meet others.

    Args:
        views: emits the views and assertions.
        op: the OpOverload.
        args: its arguments.
        requirements: what PyTorch took for granted of their sizes, such as that `x[k : k + 1]` has 6 elements.
    Returns:
        The arguments; None if no such size is among those that the op reads.
    Raises:
        ProgramRaises: the sizes surely do not fit.
    """
    state = views.state
    narrow: dict[Any, Any] = {}
    for requirement in requirements:
        sizes = requirement.args if isinstance(requirement, sympy.Eq) else ()
        found = [size for size in sizes if size in state.symbols.at_most_one]
        if len(found) == 1 and 1 not in sizes:
            narrow[found[0]] = next(size for size in sizes if size != found[0])
    if not narrow:
        return None

    def asserted(value: TensorValue) -> TensorValue:
        for dim, expr in enumerate(map(expr_of, value.fake.shape)):
            if expr not in narrow:
                continue
            text = f"RuntimeError: {op.name()}: the size of one tensor ({narrow[expr]}) must match that of another (0)"
            if state.symbols.known(sympy.Ge(narrow[expr], 2)) is not True:
                text = f"unsupported: {op.name()} of a slice of one element, `x[k : k + 1]`, that is empty"
                text = f"{program_error_name(UnsupportedOpError)}: {text}"
            state.check(sympy.Eq(expr, 1), text)
            value = _as_one(views, value, dim)
        return value

    return _mapped(op, args, asserted)


def sizes_that_meet(python: Sequence[Any]) -> list[Any]:
    """Return which sizes of the operands of a pointwise op have to be equal, unless one of them is 1.

    Args:
        python: the operands; tensors among them are FakeTensors.
    """
    shapes = [[*map(expr_of, reversed(value.shape))] for value in python if isinstance(value, torch.Tensor)]
    columns = [[size for size in column if size is not None] for column in zip_longest(*shapes)]
    return [sympy.Eq(*pair) for column in columns for pair in combinations(column, 2)]


def _mapped(op: Any, args: list[Any], change: Callable[[TensorValue], TensorValue]) -> list[Any] | None:
    """Return the arguments with the tensors that an op only reads changed; None if none was."""
    changed = False

    def mapped(argument: Any) -> Any:
        nonlocal changed
        if isinstance(argument, list):
            return [mapped(item) for item in argument]
        made = change(argument) if isinstance(argument, TensorValue) else argument
        changed |= made is not argument
        return made

    found = [
        argument if spec.alias_info is not None and spec.alias_info.is_write else mapped(argument)
        for spec, argument in zip(op._schema.arguments, args)
    ]
    return found if changed else None


def _with_ones(views: Views, op: Any, value: TensorValue, dims: Collection[int] | None) -> TensorValue:
    sizes = views.state.sizes
    for dim, expr in enumerate(map(expr_of, value.fake.shape)):
        if dims is not None and dim not in dims:
            continue
        if expr.is_Integer or not sizes.covers(expr) or sizes.expanded(expr).xreplace(sizes.hints) != 1:
            continue
        guards = dict(sizes.guards)
        sizes.place = (op.name(), views.state.locations.user())
        sizes.assume(sympy.Eq(expr, 1))
        try:
            sizes.settle()
        except MakeStatic:  # there is no other size for which it is
            sizes.forget(guards)
            continue
        value = _as_one(views, value, dim)
    return value


def _as_one(views: Views, value: TensorValue, dim: int) -> TensorValue:
    """View a tensor that has one element along a dimension as one whose type says so."""
    fake, state = value.fake, views.state
    shape = [*fake.shape[:dim], 1, *fake.shape[dim + 1 :]]
    with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
        out = fake.as_strided(shape, fake.stride(), fake.storage_offset())
    return views.slice(value, dim, ConstValue(0), ConstValue(1), out)
