"""Importing `as_strided`, which looks at the storage of its base and not at its elements.

It is emitted on the tensor that owns the storage, at an explicit offset. That tensor has to fill its storage, contiguous from
the start, so that the storage is the flattened tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
import torch

from .state import State
from .symbols import expr_of
from .values import ConstValue, TensorValue

if TYPE_CHECKING:
    from .aten import TensorOps

__all__ = ["Strided"]


class Strided:
    """Knows which tensor owns a storage."""

    def __init__(self, state: State, tensors: TensorOps) -> None:
        self.state, self.tensors = state, tensors
        self._owners: dict[Any, TensorValue] = {}

    def made(self, value: TensorValue) -> None:
        """Note a tensor that an op returned in a storage of its own."""
        self._owners[value.root] = value

    def operands(self, args: list[Any]) -> list[Any]:
        """Return the arguments to call `as_strided` with on the tensor that owns the storage.

        Args:
            args: one value, or list of values, per schema argument.
        Returns:
            The same, with the owner for the base, and the offset.
        Raises:
            ProgramRaises: eager raises, since the view would leave the storage.
            UnsupportedOpError: the storage is not known.
        """
        state, base = self.state, args[0]
        owner = self._owners.get(base.root, base)
        if not _fills_storage(owner):
            raise state.refuse_op("as_strided of a tensor whose storage is not known; clone() it first")
        own = base.root in self._owners
        given = not (isinstance(args[3], ConstValue) and args[3].value is None)
        if given and not own:
            raise state.refuse_op(
                "as_strided with a storage offset, of a tensor that may begin anywhere in its storage; clone() it first"
            )
        offset = expr_of(self.tensors.python(args[3])) if given else base.offset
        sizes = [expr_of(self.tensors.python(size)) for size in args[1]]
        strides = [expr_of(self.tensors.python(stride)) for stride in args[2]]
        self._check(owner.fake, sizes, strides, offset, own)
        return [owner, args[1], args[2], self.tensors.symbolic(offset)]

    def _check(self, storage: torch.Tensor, sizes: list[Any], strides: list[Any], offset: Any, own: bool) -> None:
        """Check that the view stays within the storage, as eager does; `own` if that is all elements of the tensor."""
        negative = "RuntimeError: as_strided: Negative strides are not supported at the moment"
        for stride in strides:
            self.state.check(sympy.Ge(stride, 0), negative)
        self.state.check(sympy.Ge(offset, 0), f"RuntimeError: Tensor: invalid storage offset {offset}")
        reach = sum((stride * (size - 1) for size, stride in zip(sizes, strides)), offset)
        within = sympy.Or(*(sympy.Eq(size, 0) for size in sizes), sympy.Le(reach + 1, int(storage.numel())))
        if not own and self.state.symbols.known(within) is not True:
            raise self.state.refuse_op("as_strided that may reach beyond the elements of an argument; clone() it first")
        self.state.check(
            within,
            f"RuntimeError: setStorage: sizes {sizes}, strides {strides}, storage offset {offset} are out of bounds for "
            f"storage of size {storage.numel() * storage.element_size()}",
        )


def _fills_storage(value: TensorValue) -> bool:
    """Whether a tensor is surely contiguous, from the start of its storage on."""
    fake = value.fake
    known = all(isinstance(number, int) for number in (*fake.shape, *fake.stride()))
    return known and value.offset == 0 and fake.is_contiguous()
