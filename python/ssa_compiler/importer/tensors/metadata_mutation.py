"""Ops that change a tensor object rather than its contents: `t_`, `unsqueeze_`, `resize_`, `detach_`, `requires_grad_`.

A `TensorValue` stands for one tensor object, whatever names, lists and tuples hold it. Where that is sure to be so, the
value itself is made to stand for another view: the one that the op's functional form gives, or, where it has none that
is a view, the one that the op leaves a FakeTensor as. It is sure for what an op in the same block made, and for
arguments and parameters in the block of `@main`, as long as no join has made another value of them; inside a branch or
loop a value from outside cannot be changed, as the change would have to depend on whether the code is reached.

What became of the caller's objects is told by `abi/object_writeback.py`. A storage that becomes larger has to be so
from the start, so that all views of it are views of one tensor: the import starts again (`AnotherPlan`) with capacity
for the elements.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import sympy
import torch
from torch_mlir import ir

from ...errors import UnsupportedOpError
from ..fake.fake_run import run
from ..ir.emitter import DTYPE_NUMBERS
from ..ir.schemas import functional_of
from ..values.fake_layout import same_view
from ..values.plan import AnotherPlan
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, Site, TensorValue, Value, made_at, tensor_values
from .as_strided import WHOLE_STORAGE, Strided
from .tensor_emitter import TensorEmitter

__all__ = ["become", "change_object", "extend_storage", "needed_length"]

_EXTENDED = "room"


def change_object(tensors: TensorEmitter, strided: Strided, op: Any, args: list[Any]) -> TensorValue:
    """Import an op that changes shape, strides, storage or flags of a tensor object.

    Args:
        tensors: emits ops.
        strided: knows storages.
        op: the OpOverload.
        args: one value, or list of values, per schema argument.
    Returns:
        The object, which is the op's result.
    Raises:
        AnotherPlan: its storage needs capacity for more elements.
        UnsupportedOpError: somebody may see the change who cannot be told.
    """
    state, target, name = tensors.state, args[0], str(op.name())
    if not isinstance(target, TensorValue):
        raise state.defect(f"{name} on a {type(target).__name__}")
    callers = _is_callers(state, target)
    if not callers:
        _check_own(state, op, target)
    if op is torch.ops.aten.requires_grad_.default:
        if not isinstance(args[1], ConstValue) or args[1].value:
            raise state.unsupported_op("aten::requires_grad_(True); compiled programs do not record gradients")
        if callers:
            state.storages.need_plain(target, "requires_grad", name)
        return target
    if op is torch.ops.aten.detach_.default:
        if callers:
            raise state.unsupported_op("aten::detach_ of a tensor of the caller's or the module's; use detach()")
        if target.root in state.storages.owners and state.storages.owners[target.root].ssa != target.ssa:
            raise state.unsupported_op("aten::detach_ of a view, which eager rejects as well; use detach()")
        return target
    if callers:
        state.layouts.need(target.storages, name, exact=True)
    functional = functional_of(op, 0)
    if functional is not None and _is_view(functional):
        (changed,) = tensors.call_arguments(functional, args)
    else:
        changed = _left_as(tensors, strided, op, args, callers)
    if callers:
        state.originals.setdefault(id(target), (target, replace(target)))
    become(state, target, changed)
    return target


def become(state: State, target: TensorValue, changed: TensorValue) -> None:
    """Make the value of an object stand for another view.

    Args:
        state: the interpretation.
        target: the object's value.
        changed: the view.
    """
    if state.storages.owners.get(target.root) is target:  # the tensor that the storage was made with stays what it was
        state.storages.owners[target.root] = replace(target)
    for field in fields(TensorValue):
        setattr(target, field.name, getattr(changed, field.name))


def _is_callers(state: State, target: TensorValue) -> bool:
    """Whether this is an argument, or a parameter of the module, in code that every call reaches."""
    if state.conditional or target.merged:
        return False
    return id(target) in state.originals or (isinstance(target.ssa.owner, ir.Block) and not target.renewed)


def _check_own(state: State, op: Any, target: TensorValue) -> None:
    """Check that this value is all that stands for the object, and that the code is reached whenever the object
    exists.
    """
    owner = target.ssa.owner
    if isinstance(owner, ir.Block):  # an object of its own that shows the same as an argument: `x.detach()`
        made_here = target.renewed and not state.conditional and owner == state.emitter.scope.block
    else:
        made_here = owner.operation.block == state.emitter.scope.block and not len(owner.regions)
    if not made_here or target.merged:
        raise _elsewhere(state, op)


def _elsewhere(state: State, op: Any) -> UnsupportedOpError:
    return state.unsupported_op(
        f"{op.name()}, which changes a tensor object that comes from outside of the branch or loop that it is in, or that a "
        "branch or loop passed on; use the op without the underscore"
    )


def _is_view(op: Any) -> bool:
    """Whether an op's schema says that its result is a view of its first argument."""
    alias = op._schema.returns[0].alias_info
    return alias is not None and not alias.is_write


def _left_as(tensors: TensorEmitter, strided: Strided, op: Any, args: list[Any], callers: bool) -> TensorValue:
    """Return the view that an op makes of a tensor object, found by letting it change a FakeTensor.

    Args:
        tensors: emits ops.
        strided: knows storages.
        op: the OpOverload.
        args: one value, or list of values, per schema argument.
        callers: whether the object is the caller's.
    """
    state, target = tensors.state, args[0]
    rejection = state.unsupported_op(
        f"{op.name()}, which changes the shape or storage of a tensor in place; make a new one"
    )
    with state.symbols.mode, torch.no_grad():
        fake = target.fake.detach()
    trace = run(state, op, [fake, *(tensors.python(argument) for argument in args[1:])])
    if trace.guesses or fake.dtype != target.fake.dtype:
        raise rejection
    for requirement in trace.requirements:
        state.require(requirement, op.name())
    if same_view(fake, target.fake):
        return target
    others = [value for argument in args[1:] for value in tensor_values(argument)]
    for other in others:
        if same_view(fake, other.fake):  # `set_`
            if callers:
                raise rejection
            return replace(other, renewed=True)
    sizes, strides = ([tensors.symbolic(expr_of(n)) for n in numbers] for numbers in (fake.shape, fake.stride()))
    if fake.untyped_storage()._cdata != target.fake.untyped_storage()._cdata:
        raise rejection
    if _flat(fake) and _flat(target.fake) and expr_of(fake.numel()) == expr_of(target.fake.numel()):
        (viewed,) = tensors.call_arguments(torch.ops.aten.view.default, [target, sizes])
        return viewed
    _check_length(tensors.state, strided, op, target, fake)
    given = [target, sizes, strides, ConstValue(None)]
    (changed,) = tensors.call_arguments(torch.ops.aten.as_strided.default, given)
    return changed


def _flat(fake: torch.Tensor) -> bool:
    """Whether a tensor is contiguous; where sizes are not known, that is not asked."""
    return all(isinstance(n, int) for n in (*fake.shape, *fake.stride())) and fake.is_contiguous()


def _check_length(state: State, strided: Strided, op: Any, target: TensorValue, fake: torch.Tensor) -> None:
    """Start again with a larger storage if the elements that an op asks for do not fit into it.

    Raises:
        Retry: they do not.
        UnsupportedOpError: it is not known what the storage is.
    """
    owner = state.storages.owners.get(target.root)
    numbers = (*fake.shape, *fake.stride(), target.offset)
    if owner is None or not strided.knows(target) or not all(expr_of(n).is_Integer for n in numbers):
        if owner is not None and target.absolute:
            strided.ask_for_storage(owner)
        raise state.unsupported_op(f"{op.name()} of a tensor whose storage is not known; clone() it first")
    if 0 in fake.shape:
        return
    reach = sum((int(size) - 1) * int(stride) for size, stride in zip(fake.shape, fake.stride()))
    needed = int(target.offset - owner.offset) + reach + 1
    if needed <= owner.fake.numel():
        return
    (storage,) = map(made_at, owner.storages)
    if storage[0] == "parameter":
        raise state.unsupported_op(
            f"{op.name()}, which makes the storage of a module's tensor larger; assign a new tensor"
        )
    if storage[0] == "argument" and (
        (WHOLE_STORAGE, storage) in state.plan.retries
        or int(owner.offset) != 0
        or state.storages.lengths.get(owner.root, owner.fake.numel()) != owner.fake.numel()
    ):
        strided.ask_for_storage(owner)
        raise state.unsupported_op(
            f"{op.name()} of a part of a larger tensor, beyond what its storage holds; clone() it first"
        )
    raise AnotherPlan.without({(_EXTENDED, storage, needed)})


def needed_length(state: State, storage: Site) -> int:
    """Return how many elements a storage has to have capacity for, 0 if what it is made with will do.

    Args:
        state: the interpretation.
        storage: the site where it is made.
    """
    return max((key[2] for key in state.plan.retries if key[:2] == (_EXTENDED, storage)), default=0)


def extend_storage(tensors: TensorEmitter, value: TensorValue, length: int) -> tuple[TensorValue, TensorValue]:
    """Make a tensor of known sizes the beginning of a larger storage.

    Args:
        tensors: emits ops.
        value: the tensor, which is contiguous.
        length: elements of the storage; those beyond the tensor's are not defined.
    Returns:
        The tensor that is the storage, and the view of it that stands for `value`.
    """
    state, aten = tensors.state, torch.ops.aten
    none, count = ConstValue(None), value.fake.numel()

    def emit(op: Any, *args: Any) -> TensorValue:
        return tensors.call_arguments(op, list(args))[0]

    dtype = ConstValue(DTYPE_NUMBERS[value.fake.dtype])
    made = emit(aten.empty.memory_format, [ConstValue(length)], dtype, none, none, none, none)
    made = replace(made, storages=value.storages, offset=sympy.Integer(0))
    state.storages.owners[made.root] = made
    bounds: list[Value] = [ConstValue(n) for n in (0, 0, count, 1)]
    part = emit(aten.slice.Tensor, made, *bounds)
    if count:
        flat = emit(aten.view.default, value, [ConstValue(count)])
        tensors.emit(aten.copy_.default, [part, flat, ConstValue(False)], [state.type_of(part.fake)])
    sizes = [ConstValue(size) for size in value.fake.shape]
    return made, emit(aten.view.default, part, sizes)
