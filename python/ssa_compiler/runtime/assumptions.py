"""What each call checks of what the program takes for granted: of its arguments, of the module, of PyTorch's
settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..abi.argument_specs import TensorSpec
from ..abi.assumptions import DistinctStorage, FlagOff, NotInferred, SameObject, StorageAsExample, StridesAsExample
from ..abi.convention import autocast_dtypes
from ..abi.object_writeback import OwnObject
from ..abi.same_values import same_tensor
from ..errors import ArgumentTypeError, ArgumentValueError

if TYPE_CHECKING:
    from ..abi import ImportedProgram
    from . import Program

__all__ = ["assumption_checker", "facts_checker", "gradient_checker"]


def facts_checker(imported: ImportedProgram) -> Callable[[], None]:
    """Make the check of what the program takes for granted of the module and of PyTorch's settings."""
    facts, objects = imported.facts, imported.objects
    default, autocast = imported.default_dtype, imported.autocast
    get_default, grad_mode, is_grad_enabled = torch.get_default_dtype, imported.grad_mode, torch.is_grad_enabled
    device, count_modes = imported.default_device, torch._C._len_torch_function_stack
    is_autocast, any_autocast = any(dtype is not None for dtype in autocast), torch._C._is_any_autocast_enabled
    tied = [(parameter, parameter.renamed(alias)) for parameter in imported.parameters for alias in parameter.aliases]

    def check() -> None:
        text = None
        if get_default() is not default:
            text = f"PyTorch's default dtype: expected {default}, got {get_default()}"
        elif (count_modes() or device != "cpu") and torch.get_default_device().type != device:  # a mode says which
            text = f"PyTorch's default device: expected {device}, got {torch.get_default_device().type}"
        elif (is_autocast or any_autocast()) and autocast_dtypes() != autocast:
            text = f"torch.autocast, dtypes on CPU and CUDA: expected {autocast}, got {autocast_dtypes()}"
        elif grad_mode is not None and is_grad_enabled() is not grad_mode:
            text = f"torch.is_grad_enabled(), for which the program asks: expected {grad_mode}, got {not grad_mode}"
        elif facts is not None:
            text = facts.difference()
        if text is None and objects is not None:
            text = objects.difference()
        if text is None:
            for parameter, other in tied:
                one, two = parameter.current(), other.current()
                if not same_tensor(one, two):
                    text = f"parameters '{parameter.name}' and '{other.name}': expected one tensor, got two"
                    break
        if text is not None:
            raise ArgumentValueError(text).as_mismatch()

    return check


def gradient_checker(imported: ImportedProgram, program: Program) -> Callable[[Sequence[Any]], None] | None:
    """Make the check that eager would record no gradients of parameters, None where no result could have any.

    Arguments of the user's are checked by the runtime, whatever becomes of them.
    """
    made = [info.dtype for info in program.signature.results if info.dtype is not None and info.alias_of is None]
    if not any(dtype.is_floating_point or dtype.is_complex for dtype in made):
        return None
    recorded = [(spec.index, spec.name) for spec in imported.parameters if spec.index in imported.recorded]
    if not recorded:
        return None
    is_grad_enabled = torch.is_grad_enabled

    def check(leaves: Sequence[Any]) -> None:
        if not is_grad_enabled():
            return
        for index, name in recorded:
            if leaves[index].requires_grad:
                raise ArgumentValueError(
                    f"parameter '{name}' requires grad, and compiled programs do not record gradients: call the program under "
                    'torch.no_grad(), or compile it with gradients="detach" for results without gradients'
                )

    return check


def assumption_checker(imported: ImportedProgram) -> Callable[[Sequence[Any]], None] | None:
    """Make the check of what the program takes for granted of its arguments, None where that is nothing.

    That written arguments share no memory with others is checked by the runtime for every written argument.
    """
    checks, sizes = _ArgumentChecks(imported).found(), imported.sizes
    if not checks:
        return sizes.check if sizes is not None else None

    def check(leaves: Sequence[Any]) -> None:
        if sizes is not None:
            sizes.check(leaves)
        for function, item in checks:
            function(item, leaves)

    return check


class _ArgumentChecks:
    """One check for each kind of assumption; each takes the assumption and `@main`'s arguments."""

    def __init__(self, imported: ImportedProgram) -> None:
        self._imported = imported
        self._specs: dict[int, Any] = {spec.index: spec for spec in imported.tensor_specs()}
        self._specs.update({spec.index: spec for spec in imported.parameters})
        self._states = [spec.index for spec in imported.parameters]
        # Strides that follow from dynamic sizes.
        self._dynamic_strides = {
            item.index: [imported.sizes.number(stride) for stride in self._specs[item.index].strides]
            for item in imported.assumptions
            if isinstance(item, StridesAsExample) and imported.sizes is not None
            if not all(isinstance(stride, int) for stride in self._specs[item.index].strides)
        }

    def found(self) -> list[tuple[Callable[[Any, Sequence[Any]], None], Any]]:
        """Return the checks that the program needs, each with its assumption."""
        imported = self._imported
        kinds: dict[type, Callable[[Any, Sequence[Any]], None]] = {
            FlagOff: self._check_flag,
            NotInferred: self._check_size,
            OwnObject: self._check_own,
            DistinctStorage: self._check_distinct,
            StridesAsExample: self._check_strides,
            StorageAsExample: self._check_storage,
            SameObject: self._check_identity,
        }
        # The runtime checks the others; of these it sees the storage only.
        checks: list[tuple[Callable[[Any, Sequence[Any]], None], Any]] = [
            (self._check_looks, self._specs[index]) for index in sorted(imported.storages)
        ]
        shared = self._states if len(self._states) > 1 else []
        assumed = [
            item for item in imported.assumptions if not isinstance(item, DistinctStorage) or item.index in shared
        ]
        return checks + [(kinds[type(item)], item) for item in assumed]

    def _name(self, index: int) -> str:
        return str(getattr(self._specs[index], "path", None) or self._specs[index].name)

    def _tensor(self, leaves: Sequence[Any], index: int) -> Any:
        leaf = leaves[index]
        if not hasattr(leaf, "stride"):
            text = f"argument '{self._name(index)}': expected a tensor, got {type(leaf).__name__}"
            raise ArgumentTypeError(text).as_mismatch()
        return leaf

    def _check_strides(self, item: StridesAsExample, leaves: Sequence[Any]) -> None:
        leaf, expected = self._tensor(leaves, item.index), self._specs[item.index].strides
        if item.index in self._dynamic_strides:
            if leaf.dim() != len(expected):
                return  # the check of its shape says so
            expected = tuple(compute(leaves) for compute in self._dynamic_strides[item.index])
        for size, stride, wanted in zip(leaf.shape, leaf.stride(), expected):
            if stride != wanted and (item.exact or (size != 1 and leaf.numel())):
                raise ArgumentValueError(
                    f"argument '{self._name(item.index)}': expected strides {tuple(expected)}, got {tuple(leaf.stride())}: "
                    f"{item.reason}"
                ).as_mismatch()

    def _check_storage(self, item: StorageAsExample, leaves: Sequence[Any]) -> None:
        leaf = self._tensor(leaves, item.index)
        found: list[tuple[str, int | None, int]] = [("a storage offset of", item.offset, leaf.storage_offset())]
        found.append(("a storage of size", item.size, leaf.untyped_storage().nbytes() // leaf.element_size()))
        for what, wanted, got in found:
            if wanted is not None and got != wanted:
                raise ArgumentValueError(
                    f"argument '{self._name(item.index)}': expected {what} {wanted}, got {got}: {item.reason}"
                ).as_mismatch()

    def _check_identity(self, item: SameObject, leaves: Sequence[Any]) -> None:
        if (leaves[item.first] is leaves[item.second]) != item.same:
            raise ArgumentValueError(
                f"arguments '{self._name(item.first)}' and '{self._name(item.second)}': expected "
                f"{'one tensor' if item.same else 'two tensors'}, as in the example: the program asks whether one is the other"
            ).as_mismatch()

    def _check_flag(self, item: FlagOff, leaves: Sequence[Any]) -> None:
        leaf = self._tensor(leaves, item.index)
        if item.flag == "requires_grad":
            if leaf.requires_grad != item.expected:
                raise ArgumentValueError(
                    f"argument '{self._name(item.index)}': expected requires_grad {item.expected}, got {leaf.requires_grad}: "
                    f"{item.reason}"
                ).as_mismatch()
        elif getattr(leaf, item.flag)():
            remedy = item.flag.replace("is_", "resolve_") + "()"
            raise ArgumentValueError(
                f"argument '{self._name(item.index)}': {item.flag} is true, and compiled programs take it for false "
                f"({item.reason}): pass its .{remedy}"
            )

    def _check_own(self, item: OwnObject, leaves: Sequence[Any]) -> None:
        leaf = self._tensor(leaves, item.index)
        memory = leaf.untyped_storage().data_ptr()
        for number, other in enumerate(leaves):
            if number == item.index or not hasattr(other, "untyped_storage"):
                continue
            if other is leaf or (item.grows and memory and other.untyped_storage().data_ptr() == memory):
                raise ArgumentValueError(
                    f"argument '{self._name(item.index)}' gets another shape from the program and is "
                    f"{'' if other is leaf else 'part of '}argument '{self._name(number)}' as well: pass a clone"
                )

    def _check_size(self, item: NotInferred, leaves: Sequence[Any]) -> None:
        if leaves[item.index] == -1:
            raise ArgumentValueError(
                f"an argument that is a size for {item.op}: the program was not compiled for -1"
            ).as_mismatch()

    def _check_distinct(self, item: DistinctStorage, leaves: Sequence[Any]) -> None:
        # One tensor under two names of the module is another program; other memory that is shared the runtime rejects.
        same = [index for index in self._states if leaves[index] is leaves[item.index]]
        if len(same) > 1:
            names = [*map(self._name, same)]
            raise ArgumentValueError(f"parameters {names}: expected {len(names)} tensors, got one").as_mismatch()

    def _check_looks(self, item: TensorSpec, leaves: Sequence[Any]) -> None:
        leaf = self._tensor(leaves, item.index)
        if leaf.dtype is not item.dtype or tuple(leaf.shape) != item.shape:
            raise ArgumentValueError(
                f"argument '{item.path}': expected {item.dtype} of shape {item.shape}, got {leaf.dtype} of shape "
                f"{tuple(leaf.shape)}"
            ).as_mismatch()
