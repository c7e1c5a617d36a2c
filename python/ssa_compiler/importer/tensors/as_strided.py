"""Importing `as_strided`, which looks at the storage of its base and not at its elements.

It is emitted on the tensor that owns the storage, at an explicit position. That tensor has to be contiguous, so that
the storage is the flattened tensor. A tensor that an op of the program made fills its storage. One of the caller's may
begin anywhere in a larger one: where that matters, a call has to be like the example in that, and is checked. Where an
argument is not contiguous, or elements beyond it are wanted, the import starts again with the storage for the argument
(`argument_storage.py`).
"""

from __future__ import annotations

from typing import Any

import sympy

from ..values.plan import AnotherPlan
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import ConstValue, TensorValue
from .tensor_emitter import TensorEmitter

__all__ = ["WHOLE_STORAGE", "Strided"]

WHOLE_STORAGE = "whole storage"
"""`(WHOLE_STORAGE, site)` is the key of the `AnotherPlan` that lets `@main` take the storage of an argument, made at
the site.
"""


class Strided:
    """Finds what `as_strided` shows of the tensor that owns a storage."""

    def __init__(self, state: State, tensors: TensorEmitter) -> None:
        self.state, self.tensors = state, tensors

    def knows(self, base: TensorValue) -> bool:
        """Whether the tensor that owns the storage of `base` is known, and is the storage flattened."""
        return (
            base.absolute
            and base.root in self.state.storages.owners
            and _is_flat(self.state.storages.owners[base.root])
        )

    def operands(self, args: list[Any], offset: sympy.Expr | None = None) -> tuple[list[Any], sympy.Expr]:
        """Return the arguments to call `as_strided` with on the tensor that owns the storage.

        Args:
            args: one value, or list of values, per schema argument.
            offset: the storage offset of the view where the program does not give it.
        Returns:
            The same, with the owner for the base and the position in it for the offset; then the storage offset of the
            view in elements.
        Raises:
            ProgramRaises: eager raises, since the view would leave the storage.
            UnsupportedOpError: the storage is not known.
        """
        state, base = self.state, args[0]
        state.storages.settle(base, "as_strided")
        owner = state.storages.owners.get(base.root, base)
        if not _is_flat(owner) or not base.absolute:
            self.ask_for_storage(owner)
            raise state.unsupported_op("as_strided of a tensor whose storage is not known; clone() it first")
        given = offset is None and not (isinstance(args[3], ConstValue) and args[3].value is None)
        if given and base.root not in state.storages.owners:
            raise state.unsupported_op(
                "as_strided with a storage offset, of a tensor that may begin anywhere in its storage; clone() it first"
            )
        if offset is None:
            offset = expr_of(self.tensors.python(args[3])) if given else base.offset
        sizes = [expr_of(self.tensors.python(size)) for size in args[1]]
        strides = [expr_of(self.tensors.python(stride)) for stride in args[2]]
        position = sympy.expand(offset - owner.offset)
        self._check(owner, sizes, strides, position, given)
        return [owner, args[1], args[2], self.tensors.symbolic(position)], offset

    def ask_for_storage(self, owner: TensorValue) -> None:
        """Start again with the whole storage of an argument for its tensor, unless that was done, or its sizes are not
        fixed.

        Args:
            owner: the tensor that owns the storage.
        Raises:
            Retry: there is more to it than what the tensor shows, or that in another order.
        """
        state, fake = self.state, owner.fake
        known = all(isinstance(number, int) for number in (*fake.shape, *fake.stride())) and owner.offset.is_Integer
        for storage in owner.storages if known and owner.root in state.storages.lengths else ():
            key = (WHOLE_STORAGE, storage)
            if storage[0] == "argument" and key not in state.plan.retries:
                raise AnotherPlan.without({key})

    def _check(self, owner: TensorValue, sizes: list[Any], strides: list[Any], position: Any, given: bool) -> None:
        """Check that the view stays within the storage, as eager does, and note what that rests on.

        Args:
            owner: the tensor that owns the storage.
            sizes: of the view.
            strides: of the view.
            position: where the view starts in the owner, in elements.
            given: whether the program said where in the storage it starts.
        """
        state, fake = self.state, owner.fake
        count, start = int(fake.numel()), int(owner.offset)
        length = state.storages.lengths.get(
            owner.root, count
        )  # that of the FakeTensor's storage may have grown meanwhile
        negative = "RuntimeError: as_strided: Negative strides are not supported at the moment"
        for stride in strides:
            state.check(sympy.Ge(stride, 0), negative)
        for size in sizes:
            text = f"RuntimeError: Storage size calculation overflowed with sizes={sizes} and strides={strides}"
            state.check(sympy.Ge(size, 0), text)
        state.check(sympy.Ge(position + start, 0), f"RuntimeError: Tensor: invalid storage offset {position + start}")
        reach = sum((stride * (size - 1) for size, stride in zip(sizes, strides)), position)
        empty = [sympy.Eq(size, 0) for size in sizes]
        within = sympy.Or(*empty, sympy.Le(reach + 1, count))
        shown = sympy.Or(*empty, sympy.And(sympy.Ge(position, 0), sympy.Le(reach + 1, count)))
        inside = state.symbols.known(shown) is True
        fills = start == 0 and length == count
        if not inside and not fills:
            self.ask_for_storage(owner)
            raise state.unsupported_op("as_strided that may reach beyond the elements of its tensor; clone() it first")
        for storage in owner.storages & self._callers() if owner.root in state.storages.lengths else ():
            reason = f"aten::as_strided at {state.locations.user()}"
            state.layouts.need([storage], "aten::as_strided")
            if given or not inside:
                before = state.storages.storage_reasons.get(storage)
                size = length if not inside or (before is not None and before[1] is not None) else None
                state.storages.storage_reasons[storage] = (start, size, reason)
        state.check(
            within,
            f"RuntimeError: setStorage: sizes {sizes}, strides {strides}, storage offset {position + start} are out of "
            f"bounds for storage of size {length * fake.element_size()}",
        )

    def _callers(self) -> frozenset[Any]:
        """The storages of arguments, parameters and buffers."""
        owners = self.state.storages.owners.values()
        return frozenset(s for owner in owners for s in owner.storages if s[0] in ("argument", "parameter"))


def _is_flat(value: TensorValue) -> bool:
    """Whether a tensor is surely contiguous, from a known place in its storage on."""
    fake = value.fake
    known = all(isinstance(number, int) for number in (*fake.shape, *fake.stride()))
    return known and value.offset.is_Integer and fake.is_contiguous()
