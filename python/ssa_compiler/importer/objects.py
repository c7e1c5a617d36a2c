"""Ops that change a tensor object rather than its contents: `t_`, `unsqueeze_`, `detach_`, `requires_grad_`.

A `TensorValue` stands for one tensor object, whatever names, lists and tuples hold it. Where that is sure to be so, the value
itself is made to stand for the view that the op's functional form gives. It is sure for what an op in the same block made,
as long as no join has made another value of it; inside a branch or loop a value from outside cannot be changed, as the
change would have to depend on whether the code is reached.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
from torch_mlir import ir

from .schemas import functional_of
from .state import State
from .values import ConstValue, TensorValue

if TYPE_CHECKING:
    from .aten import TensorOps

__all__ = ["change_object"]


def change_object(tensors: TensorOps, op: Any, args: list[Any]) -> TensorValue:
    """Import an op that changes shape, strides or flags of a tensor object.

    Args:
        tensors: emits ops.
        op: the OpOverload.
        args: one value, or list of values, per schema argument.
    Returns:
        The object, which is the op's result.
    Raises:
        UnsupportedOpError: somebody else may see the change, or the storage itself changes.
    """
    state, target = tensors.state, args[0]
    if not isinstance(target, TensorValue):
        raise state.refuse_op(f"{op.name()} on a {type(target).__name__}; call it on tensors")
    _check_own(state, op, target)
    if op is torch.ops.aten.requires_grad_.default:
        if not isinstance(args[1], ConstValue) or args[1].value:
            raise state.refuse_op("aten::requires_grad_(True); compiled programs do not record gradients")
        return target
    if op is torch.ops.aten.detach_.default:
        if target.fake._is_view():
            raise state.refuse_op("aten::detach_ of a view, which eager refuses as well; use detach()")
        return target
    functional = functional_of(op, 0)
    if functional is None or not _is_view(functional):
        raise state.refuse_op(f"{op.name()}, which changes the shape or storage of a tensor in place; make a new one")
    (changed,) = tensors.call_arguments(functional, args)
    for field in fields(TensorValue):
        setattr(target, field.name, getattr(changed, field.name))
    return target


def _check_own(state: State, op: Any, target: TensorValue) -> None:
    """Check that this value is all that stands for the object, and that the code is reached whenever the object exists."""
    owner = target.ssa.owner
    made_here = not isinstance(owner, ir.Block) and owner.operation.block == state.emitter.scope.block
    if not made_here or target.merged or len(owner.regions):
        raise state.refuse_op(
            f"{op.name()}, which changes a tensor object that comes from the caller, the module or another block, or that a "
            "branch or loop passed on; use the op without the underscore"
        )


def _is_view(op: Any) -> bool:
    """Whether an op's schema says that its result is a view of its first argument."""
    alias = op._schema.returns[0].alias_info
    return alias is not None and not alias.is_write
