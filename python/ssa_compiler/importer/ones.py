"""Sizes that are 1 for the example, though they are computed from open sizes: `x[:1]`.

PyTorch takes a size that it cannot tell from 1 for none, so that nothing is broadcast and the other sizes have to be static.
That the size is 1 is a guard instead, and the op gets a tensor whose type says so.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import sympy
import torch

from .argument_sizes import MakeStatic
from .symbols import expr_of
from .values import ConstValue, TensorValue

if TYPE_CHECKING:
    from .aten import TensorOps

__all__ = ["with_known_ones"]


def with_known_ones(
    tensors: TensorOps, op: Any, args: list[Any], dims: Collection[int] | None = None
) -> list[Any] | None:
    """Return the arguments of an op with the sizes that are 1 for the example known to be.

    Args:
        tensors: emits the views.
        op: the OpOverload.
        args: its arguments.
        dims: the dimensions that matter; None for all.
    Returns:
        The arguments; None if there is no such size among what the op reads.
    """
    changed = False

    def known(argument: Any) -> Any:
        nonlocal changed
        if isinstance(argument, list):
            return [known(item) for item in argument]
        made = _with_ones(tensors, op, argument, dims) if isinstance(argument, TensorValue) else argument
        changed |= made is not argument
        return made

    found = [
        argument if spec.alias_info is not None and spec.alias_info.is_write else known(argument)
        for spec, argument in zip(op._schema.arguments, args)
    ]
    return found if changed else None


def _with_ones(tensors: TensorOps, op: Any, value: TensorValue, dims: Collection[int] | None) -> TensorValue:
    sizes = tensors.state.sizes
    for dim, expr in enumerate(map(expr_of, value.fake.shape)):
        if dims is not None and dim not in dims:
            continue
        if expr.is_Integer or not sizes.covers(expr) or sizes.expanded(expr).xreplace(sizes.hints) != 1:
            continue
        guards = dict(sizes.guards)
        sizes.place = (op.name(), tensors.state.locations.user())
        sizes.assume(sympy.Eq(expr, 1))
        try:
            sizes.settle()
        except MakeStatic:  # there is no other size for which it is
            sizes.forget(guards)
            continue
        fake, state = value.fake, tensors.state
        shape = [*fake.shape[:dim], 1, *fake.shape[dim + 1 :]]
        with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
            out = fake.as_strided(shape, fake.stride(), fake.storage_offset())
        value = tensors.views.slice(value, dim, ConstValue(0), ConstValue(1), out)
    return value
