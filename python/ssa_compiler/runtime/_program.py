"""A loaded program: tensors and numbers in, tensors and numbers out, with the sharing that the signature states.

Dense tensors that are aligned to 64 bytes are passed as they are; others are copied, and copied back if the program writes
them. A result never shares memory with an argument or with another result unless the signature says that it is one: IREE
may return the buffer that it was given, or one buffer twice, and such results are copied.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._forks import new_lock
from ..errors import ArgumentTypeError, ArgumentValueError, ToolError, program_error
from ._callbacks import CallbackHost
from ._device import ALIGNMENT, device_for, instance

if TYPE_CHECKING:
    import torch

    from ..backend import CallbackSite
    from ._signature import ArgumentInfo, Signature

__all__ = ["Program"]

_STATUS = re.compile(r"FAILED_PRECONDITION; (?P<text>.*?);\s*(?:while invoking|\n|$)", re.DOTALL)


class Program:
    """A compiled module, loaded.

    Args:
        path: the `.vmfb`; it must not change while the program lives.
        signature: what `@main` takes and returns.
        driver: "local-sync" or "cuda"; "local-task" for experiments only, its results are not reliable.
        callbacks: the ops that run in PyTorch.
        detach: take tensors that require grad, though results are detached; not where they are written.
        in_place: whether the compiled code may write into arguments; else all that it writes comes back in new tensors.
    Raises:
        TargetError: there is no device for the driver.
    """

    def __init__(
        self,
        path: str,
        signature: Signature,
        *,
        driver: str = "local-sync",
        callbacks: Sequence[CallbackSite] = (),
        detach: bool = False,
        in_place: bool = True,
    ) -> None:
        import iree.runtime as rt
        import torch

        self.signature = signature
        self._detach = detach
        self._device = device_for(driver)
        self._written_view = self._device.writable_view if in_place else self._device.view
        self._host = CallbackHost(callbacks, self._device) if callbacks else None
        vm = instance()
        modules = [rt.create_hal_module(vm, self._device.hal)]
        if self._host is not None:
            modules.append(self._host.module())
        program = rt.VmModule.mmap(vm, str(path))
        self._context = rt.VmContext(vm, [*modules, program])
        self._function = program.lookup_function("main")
        self._invoke = self._context.invoke if self._host is None else self._timed_invoke
        self._seconds = 0.0
        self._lock = new_lock()
        self._list = rt.VmVariantList
        self._view_type = rt.HalBufferView
        self._arguments = tuple(enumerate(signature.arguments))
        self._written = tuple(number for number, argument in self._arguments if argument.written)
        self._plain_results = all(
            result.writeback is None and result.alias_of is None and result.same_as is None
            for result in signature.results
        )
        self._is_grad_enabled = torch.is_grad_enabled
        self._strided = torch.strided
        # Parameters by argument: (tensor, address, view, span, looks). Their memory is shared, so that in-place updates are
        # seen; what else may have become of the tensor (`p.t_()`, `p.data = p.data.t()`) its looks tell.
        self._parameter_views: dict[int, tuple[torch.Tensor, int, Any, tuple[int, int], tuple[Any, ...]]] = {}

    @property
    def callback_counts(self) -> list[int]:
        """How often each callback ran so far."""
        return list(self._host.counts) if self._host is not None else []

    @property
    def native_time(self) -> float:
        """The part of the time of all calls, from 0 to 1, that was not spent in callbacks."""
        return 1.0 - self._host.seconds / self._seconds if self._host is not None and self._seconds else 1.0

    def _timed_invoke(self, function: Any, inputs: Any, outputs: Any) -> None:
        start = time.perf_counter()
        try:
            self._context.invoke(function, inputs, outputs)
        finally:
            self._seconds += time.perf_counter() - start

    def __call__(self, leaves: Sequence[torch.Tensor | int | float]) -> list[Any]:
        """Run the program.

        Args:
            leaves: one tensor or number per argument of `@main`, parameters included. Written tensors get their new
                contents in place.
        Returns:
            One entry per result of `@main` that is not a write-back: tensors that own their memory, or the argument or
            earlier result that the signature names; Python numbers.
        Raises:
            ArgumentTypeError: wrong number, type or dtype of the arguments.
            ArgumentValueError: wrong shape, device or sharing of the arguments.
            ProgramError: the program raised, as eager would; subclasses as in `errors`.
        """
        signature = self.signature
        if len(leaves) != len(signature.arguments):
            raise ArgumentTypeError(f"expected {len(signature.arguments)} arguments, got {len(leaves)}")
        inputs = self._list(len(leaves))
        outputs = self._list(len(signature.results))
        used: list[Any] = list(leaves)  # the tensors whose memory the program sees
        ranges: list[tuple[int, int]] = []
        with self._lock:
            for number, info in self._arguments:
                leaf = leaves[number]
                if info.kind != "tensor":
                    try:
                        if info.kind == "float":
                            inputs.push_float(leaf)
                        else:
                            inputs.push_int(leaf)
                    except (TypeError, OverflowError):
                        raise ArgumentTypeError(
                            f"argument '{info.name}': expected a 64-bit {info.kind}, got {type(leaf).__name__} {leaf!r}"
                        ) from None
                    continue
                cached = self._parameter_views.get(number)
                if (
                    cached is not None
                    and cached[0] is leaf
                    and cached[1] == leaf.data_ptr()
                    and cached[4] == _looks(leaf)
                ):
                    inputs.push_ref(cached[2])
                    ranges.append(cached[3])
                    continue
                self._check(info, leaf)
                tensor = self._passable(leaf)
                used[number] = tensor
                view = self._written_view(tensor) if info.written else self._device.view(tensor)
                address = tensor.data_ptr()
                span = (address, address + tensor.nbytes)
                if info.parameter and tensor is leaf and not info.written and not leaf.is_inference():
                    self._parameter_views[number] = (leaf, address, view, span, _looks(leaf))
                inputs.push_ref(view)
                ranges.append(span)
            if self._written:
                self._check_written(leaves)
            try:
                self._invoke(self._function, inputs, outputs)
            except (RuntimeError, ValueError, IndexError, TypeError) as error:
                raise self._error(error) from None
        return self._results(outputs, leaves, used, ranges)

    # -- arguments ---------------------------------------------------------------------------------------------------

    def _check(self, info: ArgumentInfo, leaf: Any) -> None:
        """Check one tensor argument."""
        import torch

        name = f"parameter '{info.parameter}'" if info.parameter else f"argument '{info.name}'"
        if not isinstance(leaf, torch.Tensor):
            raise ArgumentTypeError(f"{name}: expected a tensor, got {type(leaf).__name__}").as_mismatch()
        if leaf.dtype is not info.dtype:
            raise ArgumentTypeError(f"{name}: expected dtype {info.dtype}, got {leaf.dtype}").as_mismatch()
        if len(leaf.shape) != len(info.shape) or any(
            size is not None and size != actual for size, actual in zip(info.shape, leaf.shape, strict=True)
        ):
            expected = tuple("?" if size is None else size for size in info.shape)
            text = f"{name}: expected shape {expected}, got {tuple(leaf.shape)}".replace("'?'", "?")
            raise ArgumentValueError(text).as_mismatch()
        if leaf.device.type != self._device.torch_type:
            raise ArgumentValueError(
                f"{name}: expected a tensor on {self._device.torch_type}, got one on {leaf.device}; "
                "compile with example inputs on that device, or move the tensor"
            ).as_mismatch()
        if leaf.layout is not self._strided:
            raise ArgumentValueError(f"{name}: expected a strided tensor, got layout {leaf.layout}")
        if leaf.requires_grad and self._is_grad_enabled() and (info.written or not (info.parameter or self._detach)):
            what = "is written by the program and requires grad" if info.written else "requires grad"
            raise ArgumentValueError(
                f"{name} {what}, and compiled programs do not record gradients: call it under torch.no_grad(), pass a "
                'detached tensor, or compile with gradients="detach" for results without gradients'
            )

    def _passable(self, tensor: Any) -> torch.Tensor:
        """Return the tensor itself where IREE can use its memory, else a dense copy."""
        import torch

        if (
            tensor.is_contiguous()
            and tensor.data_ptr() % ALIGNMENT == 0
            and not tensor.is_conj()
            and not tensor.is_neg()
        ):
            return tensor
        dense = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
        dense.copy_(tensor.detach())
        return dense

    def _check_written(self, leaves: Sequence[Any]) -> None:
        """Refuse a written argument that shares memory with another argument, or whose elements overlap."""
        spans = {
            number: _span(leaf)
            for number, leaf in enumerate(leaves)
            if self.signature.arguments[number].kind == "tensor"
        }
        for number in self._written:
            first, last = spans[number]
            name = self.signature.arguments[number].name
            if last - first < leaves[number].nbytes:
                raise ArgumentValueError(
                    f"argument '{name}' is written by the program, but several of its elements share one memory "
                    "location (an expanded tensor?): pass a clone"
                )
            for other, (other_first, other_last) in spans.items():
                if other != number and first < other_last and other_first < last:
                    raise ArgumentValueError(
                        f"argument '{name}' is written by the program and shares memory with argument "
                        f"'{self.signature.arguments[other].name}': pass tensors that do not overlap"
                    )

    # -- results -----------------------------------------------------------------------------------------------------

    def _results(
        self, outputs: Any, leaves: Sequence[Any], used: list[Any], ranges: list[tuple[int, int]]
    ) -> list[Any]:
        results: list[Any] = []
        writes: list[tuple[int, torch.Tensor]] = []
        view_type = self._view_type
        for number, info in enumerate(self.signature.results):
            if info.writeback is not None:
                tensor = self._device.tensor(outputs.get_as_object(number, view_type), info.dtype)  # type: ignore[arg-type]
                writes.append((info.writeback, tensor))
            elif info.alias_of is not None:
                results.append(leaves[info.alias_of])
            elif info.same_as is not None:
                results.append(results[info.same_as])
            elif info.kind == "tensor":
                tensor = self._device.tensor(outputs.get_as_object(number, view_type), info.dtype)  # type: ignore[arg-type]
                address = tensor.data_ptr()
                end = address + tensor.nbytes
                for first, last in ranges:
                    if first < end and address < last:
                        tensor = tensor.clone()
                        address = tensor.data_ptr()
                        end = address + tensor.nbytes
                        break
                ranges.append((address, end))
                results.append(tensor)
            elif info.kind == "bool":
                results.append(bool(outputs.get_variant(number)))
            else:
                results.append(outputs.get_variant(number))
        if writes:
            self._write_back(writes, leaves, used)
        return results

    @staticmethod
    def _write_back(writes: list[tuple[int, torch.Tensor]], leaves: Sequence[Any], used: list[Any]) -> None:
        """Give the caller's tensors their new contents."""
        import torch

        # A buffer that IREE returns as another argument's contents must be read before that argument is written.
        pending = []
        for number, tensor in writes:
            leaf = leaves[number]
            if tensor.data_ptr() == leaf.data_ptr() and used[number] is leaf:
                if not leaf.is_inference():
                    torch.autograd.graph.increment_version(leaf)
                continue
            shared = any(other != number and tensor.data_ptr() == used[other].data_ptr() for other, _ in writes)
            pending.append((leaf, tensor.clone() if shared else tensor))
        for leaf, tensor in pending:
            if leaf.requires_grad:
                with torch.no_grad():
                    leaf.copy_(tensor)
            else:
                leaf.copy_(tensor)

    def _error(self, error: Exception) -> BaseException:
        """Turn an error of IREE's into one of the project's, or into the one that a callback has raised."""
        if self._host is not None:
            raised = self._host.take_error()
            if raised is not None:
                return raised
        text = str(error)
        match = _STATUS.search(text)
        if match:
            return program_error(match["text"])
        return ToolError(f"the compiled program failed: {text}")


def _looks(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Return what else than the address decides which elements a tensor has; `tensor.data = ...` does not change the version."""
    return tensor._version, tensor.dtype, tensor.shape, tensor.stride(), tensor.is_conj(), tensor.is_neg()


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """Return first and last byte address (exclusive) that a tensor's elements lie in; equal for an empty tensor."""
    start = tensor.data_ptr()
    if tensor.numel() == 0:
        return start, start
    extent = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return start, start + extent * tensor.element_size()
