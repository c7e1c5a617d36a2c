"""A loaded program: tensors and numbers in, tensors and numbers out, with the sharing that the signature states.

Dense tensors that are aligned to 64 bytes are passed as they are; others are copied, and copied back if the program
writes them. A result never shares memory with an argument or with another result unless the signature says that it is
one: IREE may return the buffer that it was given, or one buffer twice, and such results are copied.
"""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentTypeError, ArgumentValueError, ToolError, program_error
from ..process.forks import new_lock
from .argument_views import ArgumentViews, addresses_of
from .callbacks import CallbackHost
from .device import ALIGNMENT, device_for, instance
from .tensor_memory import dense_copy, overlaps, span_of

if TYPE_CHECKING:
    import torch

    from ..abi.callback_sites import CallbackSite
    from ..abi.signature import ArgumentInfo, Signature

__all__ = ["Program"]

_MOST_KINDS = 4
"""Of the sizes, classes and so on of the tensors of a program, for which views are kept."""

_STATUS = re.compile(r"FAILED_PRECONDITION; (?P<text>.*?);\s*(?:while invoking|\n|$)", re.DOTALL)


class Program:
    """A compiled module, loaded.

    Args:
        path: the `.vmfb`; it must not change while the program lives.
        signature: what `@main` takes and returns.
        driver: "local-sync" or "cuda"; "local-task" for experiments only, its results are not reliable.
        callbacks: the ops that run in PyTorch.
        detach: take tensors that require grad, though results are detached; not where they are written.
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
    ) -> None:
        import iree.runtime as rt
        import torch

        self.signature = signature
        self._detach = detach
        self._device = device_for(driver)
        self._on_gpu = driver == "cuda"
        # What is kept of other sizes than this program's takes up room.
        self._device.trim()
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
        self._is_inference = torch.is_inference_mode_enabled
        self._is_grad_enabled = torch.is_grad_enabled
        self._strided = torch.strided
        self._is_there = _is_on_first_gpu if self._on_gpu else operator.attrgetter("is_cpu")
        # A shape that is fixed is compared at once; of others `_check` looks at each size.
        self._arguments = tuple(
            (info, info.dtype, None if None in info.shape else info.shape, self._view_maker(info))
            for info in signature.arguments
        )
        self._tensors = tuple(
            number for number, argument in enumerate(signature.arguments) if argument.kind == "tensor"
        )
        self._written = tuple(number for number, argument in enumerate(signature.arguments) if argument.written)
        # Parameters by argument: (tensor, address, view, span). Their memory is shared, so that in-place updates are
        # seen; what else may have become of the tensor (`p.t_()`, `p.data = p.data.t()`) is asked of it.
        self._parameter_views: dict[int, tuple[torch.Tensor, int, Any, tuple[int, int]]] = {}
        # Views of tensors like those of earlier calls, the latest first. They keep no tensor alive, so that Python code
        # which runs within a call, and may keep what it is given, gets others.
        self._views: tuple[ArgumentViews, ...] = ()
        self._can_view = self._device.torch_type == "cpu" and self._host is None and bool(self._tensors)
        self._seen: Any = None
        self._only_tensors = len(self._tensors) == len(signature.arguments)
        places = {number: place for place, number in enumerate(self._tensors)}
        self._places = [(info, places.get(number)) for number, info in enumerate(signature.arguments)]
        self._written_places = [places[number] for number in self._written]

    def _view_maker(self, info: ArgumentInfo) -> Callable[[torch.Tensor], Any]:
        """How the program sees the memory of an argument."""
        return self._device.writable_view if info.written else self._device.viewer(info.dtype)

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
        used: list[Any] = list(leaves)  # the tensors whose memory the program sees
        with self._lock:
            inputs = self._list(len(leaves))
            fitting, tensors = self._fitting(leaves)
            addresses = addresses_of(tensors) if fitting is not None else []
            if fitting is not None and self._push_known(inputs, fitting, leaves, addresses):
                spans = [(first, first + size) for first, size in zip(addresses, fitting.sizes)]
            else:
                spans = self._push(inputs, leaves, used)
                self._remember(leaves, used)
            outputs = self._list(len(signature.results))
            if self._on_gpu:
                self._device.wait_for_pytorch()
            try:
                self._invoke(self._function, inputs, outputs)
            except (RuntimeError, ValueError, IndexError, TypeError) as error:
                raise self._error(error) from None
        return self._results(outputs, leaves, used, spans)

    # -- arguments ---------------------------------------------------------------------------------------------------

    def _fitting(self, leaves: Sequence[Any]) -> tuple[ArgumentViews | None, Sequence[Any]]:
        """Return the views for arguments like those of an earlier call, None if there are none; and the tensors."""
        if len(leaves) != len(self._places):
            return None, ()  # which the checks say
        tensors = leaves if self._only_tensors else [leaves[number] for number in self._tensors]
        for views in self._views:
            if views.fit(tensors):
                if views is not self._views[0]:
                    self._views = (views, *(other for other in self._views if other is not views))
                return views, tensors
        return None, tensors

    def _push_known(self, inputs: Any, views: ArgumentViews, leaves: Sequence[Any], addresses: list[int]) -> bool:
        """Pass arguments like those of an earlier call, if each tensor can be passed as it is where it lies.

        Args:
            inputs: the list that receives them.
            views: of tensors like those among the arguments.
            leaves: the arguments.
            addresses: of the tensors among them.
        """
        found = views.find(addresses)
        if found is None:
            return False
        push = inputs.push_ref
        if self._only_tensors:
            for view in found:
                push(view)
            return True
        for leaf, (info, place) in zip(leaves, self._places):
            if place is None:
                _push_scalar(inputs, info, leaf)
            else:
                push(found[place])
        return True

    def _remember(self, leaves: Sequence[Any], used: Sequence[Any]) -> None:
        """Keep views for calls with arguments like these, which were checked.

        Args:
            leaves: the arguments.
            used: the tensors whose memory the program sees.
        """
        if not self._can_view or any(used[number] is not leaves[number] for number in self._tensors):
            return
        tensors = [leaves[number] for number in self._tensors]
        if not ArgumentViews.can_hold(tensors):
            return
        shapes = [tensor.shape for tensor in tensors]
        if shapes == self._seen:  # sizes may be others in every call
            views = ArgumentViews(self._device, tensors, self._written_places)
            self._views = (views, *self._views[: _MOST_KINDS - 1])
        self._seen = shapes

    def _push(self, inputs: Any, leaves: Sequence[Any], used: list[Any]) -> list[tuple[int, int]]:
        """Pass the arguments.

        Args:
            inputs: the list that receives them.
            leaves: the arguments.
            used: gets the tensors whose memory the program sees.
        Returns:
            The first and last byte address (exclusive) of the memory of each tensor among them.
        """
        if len(leaves) != len(self._arguments):
            raise ArgumentTypeError(f"expected {len(self._arguments)} arguments, got {len(leaves)}")
        spans: list[tuple[int, int]] = []
        push, strided, is_there = inputs.push_ref, self._strided, self._is_there
        for number, (leaf, (info, dtype, shape, view_of)) in enumerate(zip(leaves, self._arguments, strict=True)):
            if dtype is None:
                _push_scalar(inputs, info, leaf)
                continue
            if info.parameter:
                cached = self._parameter_views.get(number)
                if (
                    cached is not None
                    and cached[0] is leaf
                    and cached[1] == leaf.data_ptr()
                    and leaf.shape == shape
                    and leaf.dtype is dtype
                    and leaf.is_contiguous()
                    and not leaf.is_neg()
                    and not leaf.is_conj()
                ):
                    push(cached[2])
                    spans.append(cached[3])
                    continue
            try:
                fits = (
                    leaf.dtype is dtype
                    and leaf.shape == shape
                    and is_there(leaf)
                    and leaf.layout is strided
                    and not leaf.requires_grad
                )
            except AttributeError:
                fits = False
            if not fits:
                leaf = used[number] = self._checked(info, leaf)
            address = leaf.data_ptr()
            if not address and leaf.numel():
                raise ArgumentValueError(
                    f"argument '{info.name}': a {type(leaf).__name__} without memory has no numbers"
                )
            if (
                address % ALIGNMENT
                or not leaf.is_contiguous()
                or leaf.is_neg()
                or (dtype.is_complex and leaf.is_conj())
            ):
                tensor = used[number] = dense_copy(leaf)
                address = tensor.data_ptr()
            else:
                tensor = leaf
            view = view_of(tensor)
            span = (address, address + tensor.nbytes)
            if info.parameter and tensor is leaf and not info.written and not leaf.is_inference():
                self._parameter_views[number] = (leaf, address, view, span)
            push(view)
            spans.append(span)
        if self._written:
            self._check_written(leaves, used, spans)
        return spans

    def _checked(self, info: ArgumentInfo, leaf: Any) -> torch.Tensor:
        """Check one tensor argument; one without dimensions may be on the CPU, unless the program writes it."""
        if self._on_gpu and not info.written and _is_number(leaf):
            leaf = leaf.to(self._device.torch_type)
        self._check(info, leaf)
        return leaf

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
        if not self._is_there(leaf):
            raise ArgumentValueError(
                f"{name}: expected a tensor on {self._device.torch_name}, got one on {leaf.device}; "
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

    def _check_written(self, leaves: Sequence[Any], used: Sequence[Any], passed: Sequence[tuple[int, int]]) -> None:
        """Reject a written argument that shares memory with another argument, or whose elements overlap."""
        spans = {
            number: span if used[number] is leaves[number] else span_of(leaves[number])
            for number, span in zip(self._tensors, passed, strict=True)
        }
        for number in self._written:
            first, last = spans[number]
            if leaves[number].is_inference() and not self._is_inference():
                raise program_error(
                    "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed"
                )
            if used[number] is not leaves[number] and overlaps(leaves[number]):
                raise ArgumentValueError(
                    f"argument '{self.signature.arguments[number].name}' is written by the program, but several of its "
                    "elements share one memory location (an expanded tensor?): pass a clone"
                )
            for other, (other_first, other_last) in spans.items():
                if other != number and first < other_last and other_first < last:
                    raise ArgumentValueError(
                        f"argument '{self.signature.arguments[number].name}' is written by the program and shares memory "
                        f"with argument '{self.signature.arguments[other].name}': pass tensors that do not overlap"
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


def _push_scalar(inputs: Any, info: ArgumentInfo, leaf: Any) -> None:
    try:
        if info.kind == "float":
            inputs.push_float(leaf)
        else:
            inputs.push_int(leaf)
    except (TypeError, OverflowError):
        raise ArgumentTypeError(
            f"argument '{info.name}': expected a 64-bit {info.kind}, got {type(leaf).__name__} {leaf!r}"
        ) from None


def _is_on_first_gpu(tensor: torch.Tensor) -> bool:
    """Whether IREE's default device for CUDA, and its stream, can use a tensor's memory."""
    return tensor.is_cuda and tensor.get_device() == 0


def _is_number(leaf: Any) -> bool:
    """Whether an argument is a tensor without dimensions on the CPU, which ops on a GPU take as a number."""
    import torch

    return isinstance(leaf, torch.Tensor) and not leaf.dim() and leaf.device.type == "cpu"
