"""A loaded program that is one kernel.

It updates arguments in place, returns new tensors only, and tells what failed, and its scalar results, in a status
buffer. That and its scratch memory are kept between calls: fresh memory costs page faults.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..abi.kernel_interface import FIRST_SCALAR, INTERRUPTED, NO_SPACE
from ..errors import program_error
from .argument_views import addresses_of
from .c_library import address_of
from .interruption import unwatch, watch
from .program import Program

if TYPE_CHECKING:
    import torch

    from ..abi.kernel_interface import KernelInterface, PlacedResult
    from ..abi.signature import ArgumentInfo, Signature
    from .argument_views import ArgumentViews
    from .device import Device

__all__ = ["KernelProgram", "copy_placed"]

_MOST_KEPT = 1 << 28
"""Bytes of scratch memory that are kept; more are given back after the call."""


class KernelProgram(Program):
    """A program that is one kernel. Call it like a `Program`.

    Args:
        path: as of `Program`.
        signature: what the program takes and returns.
        interface: what the kernel takes and returns.
        driver: as of `Program`.
        detach: as of `Program`.
    Raises:
        TargetError: there is no device for the driver.
    """

    def __init__(
        self,
        path: str,
        signature: Signature,
        interface: KernelInterface,
        *,
        driver: str = "local-sync",
        detach: bool = False,
    ) -> None:
        super().__init__(path, signature, driver=driver, detach=detach)
        self._device.check_workgroups(interface.workgroups)
        self._interface = interface
        self._count = len(signature.arguments) + bool(interface.words) + bool(interface.workspace)
        self._free: list[_Buffers] = []
        self._workspace = interface.workspace
        self._placed = {result.number: result for result in interface.placed}
        self._returned = [info for info in signature.results if info.writeback is None]
        new = [info.dtype for info in self._returned if info.dtype is not None and not info.is_old]
        self._outputs = [(number, dtype) for number, dtype in enumerate(new) if number not in self._placed]
        self._only_new = len(new) == len(self._returned) and not self._placed

    def _view_maker(self, info: ArgumentInfo) -> Callable[[torch.Tensor], Any]:
        return self._device.viewer(info.dtype)  # nothing but the kernel writes

    def __call__(self, leaves: Sequence[torch.Tensor | int | float]) -> list[Any]:
        used: Sequence[Any] = leaves
        interface = self._interface
        with self._lock:
            # Taken out of the list, so that a signal handler which calls the program finds others.
            buffers = self._free.pop() if self._free else _Buffers(self._device, interface, self._workspace)
            fitting, tensors = self._fitting(leaves)
            inputs = self._known_inputs(fitting, leaves, tensors, buffers) if fitting is not None else None
            if inputs is None:
                used = list(leaves)
                inputs = self._new_inputs(leaves, used, buffers)
            outputs = self._list(len(self._outputs))
            watched = interface.polls and watch(buffers.words)
            if self._on_gpu:
                self._device.wait_for_pytorch()
            try:
                self._invoke(self._function, inputs, outputs)
            except (RuntimeError, ValueError, IndexError, TypeError) as error:
                raise self._error(error) from None
            finally:
                if watched:
                    unwatch()
            failed = buffers.words[0] if interface.words else 0
            if not failed:
                results = self._results_of(outputs, buffers, leaves)
            else:  # before another call gets the buffers
                message = interface.failure(failed, buffers.scalar)
            if self._workspace <= _MOST_KEPT:
                self._free.append(buffers)
        if not failed:
            if self._written:
                self._written_back(leaves, used)
            return results
        if message == NO_SPACE:
            self._free.clear()
            self._workspace *= 2
            return self(leaves)
        if message == INTERRUPTED:
            self._free.clear()
            raise KeyboardInterrupt
        self._written_back(leaves, used)
        raise program_error(message)

    def _known_inputs(
        self, views: ArgumentViews, leaves: Sequence[Any], tensors: Sequence[Any], buffers: _Buffers
    ) -> Any:
        """Pass arguments like those of an earlier call; None if a tensor cannot be passed as it is.

        Args:
            views: of tensors like those among the arguments.
            leaves: the arguments.
            tensors: the tensors among them.
            buffers: what this call uses. It keeps the list of the last call.
        """
        addresses = addresses_of(tensors)
        if buffers.addresses == addresses and buffers.views is views and self._only_tensors:
            return buffers.inputs
        inputs = self._list(self._count)
        push = self._push_known_near if self._interface.far else self._push_known
        if not push(inputs, views, leaves, addresses):
            return None
        buffers.push(inputs)
        buffers.views, buffers.addresses, buffers.inputs = views, addresses, inputs
        return inputs

    def _push_known_near(self, inputs: Any, views: ArgumentViews, leaves: Sequence[Any], addresses: list[int]) -> bool:
        """`_push_known`, and distances of those of which the kernel is told where they are."""
        pushed = _Pushed()
        if not self._push_known(pushed, views, leaves, addresses):
            return False
        place = dict(zip(self._tensors, addresses))
        self._push_near(inputs, pushed.all, lambda number: place[number])
        return True

    def _new_inputs(self, leaves: Sequence[Any], used: list[Any], buffers: _Buffers) -> Any:
        """Check the arguments, and pass them.

        Args:
            leaves: the arguments.
            used: gets the tensors whose memory the program sees.
            buffers: what this call uses.
        """
        try:
            inputs = self._list(self._count)
            if self._interface.far:
                pushed = _Pushed()
                self._push(pushed, leaves, used)
                self._push_near(inputs, pushed.all, lambda number: used[number].data_ptr())
            else:
                self._push(inputs, leaves, used)
            self._remember(leaves, used)
        except BaseException:
            self._free.append(buffers)
            raise
        buffers.push(inputs)
        return inputs

    def _push_near(self, inputs: Any, pushed: list[tuple[str, Any]], address: Callable[[int], int]) -> None:
        """Pass arguments, and distances for those of which the kernel is told where they are.

        Args:
            inputs: the list that receives them.
            pushed: all arguments, as they would be passed.
            address: where a tensor among them lies.
        """
        far, first = self._interface.far, address(self._interface.near)
        for number, (kind, value) in enumerate(pushed):
            if number in far:
                inputs.push_int(address(number) - first)
            else:
                getattr(inputs, kind)(value)

    def _results_of(self, outputs: Any, buffers: _Buffers, leaves: Sequence[Any]) -> list[Any]:
        tensor_of, output, view_type = self._device.tensor, outputs.get_as_object, self._view_type
        tensors = [tensor_of(output(place, view_type), dtype) for place, (_, dtype) in enumerate(self._outputs)]
        return self._arrange(leaves, tensors, buffers.copy, buffers.scalar)

    def _arrange(
        self,
        leaves: Sequence[Any],
        outputs: list[torch.Tensor],
        copy: Callable[[PlacedResult, torch.dtype], torch.Tensor],
        scalar: Callable[[int, str], int | float | bool],
    ) -> list[Any]:
        """Return the program's results, from those of the kernel.

        Args:
            leaves: the arguments of the call.
            outputs: the new tensors that the kernel returned.
            copy: returns a new tensor that the kernel left in the workspace.
            scalar: returns the scalar in a word of the status buffer, of a kind.
        """
        if self._only_new:
            return outputs
        results: list[Any] = []
        tensors, word = 0, FIRST_SCALAR
        made = iter(outputs)
        for info in self._returned:
            if info.alias_of is not None:
                results.append(leaves[info.alias_of])
            elif info.same_as is not None:
                results.append(results[info.same_as])
            elif info.dtype is not None:
                place = self._placed.get(tensors)
                results.append(next(made) if place is None else copy(place, info.dtype))
                tensors += 1
            else:
                results.append(scalar(word, info.kind))
                word += 1
        return results

    def _written_back(self, leaves: Sequence[Any], used: Sequence[Any]) -> None:
        """Let the caller's tensors know, or have, what was written."""
        import torch

        for number in self._written:
            leaf, tensor = leaves[number], used[number]
            if tensor is leaf:
                if not leaf.is_inference():
                    torch.autograd.graph.increment_version(leaf)
                continue
            with torch.no_grad():
                leaf.copy_(tensor)


def copy_placed(place: PlacedResult, dtype: torch.dtype, words: list[int], workspace: torch.Tensor) -> torch.Tensor:
    """Copy a result out of the workspace of a kernel.

    Args:
        place: where it is.
        dtype: of its elements.
        words: the status buffer.
        workspace: int8, [bytes].
    """
    import torch

    sizes = iter(words[place.word + 1 : place.word + 1 + place.shape.count(None)])
    shape = [next(sizes) if size is None else size for size in place.shape]
    result = torch.empty(shape, dtype=dtype, device=workspace.device)
    first = words[place.word]
    if workspace.is_cuda:
        result.view(-1).view(torch.int8).copy_(workspace[first : first + result.nbytes])
    else:
        ctypes.memmove(result.data_ptr(), workspace.data_ptr() + first, result.nbytes)
    return result


class _Pushed:
    """A list like IREE's, which keeps what it is given.

    Attributes:
        all: the names of the methods that were called, and what they were given.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, Any]] = []

    def push_ref(self, value: Any) -> None:
        self.all.append(("push_ref", value))

    def push_int(self, value: int) -> None:
        self.all.append(("push_int", value))

    def push_float(self, value: float) -> None:
        self.all.append(("push_float", value))


class _Buffers:
    """The status buffer and the workspace of a kernel; used by one call at a time.

    Args:
        device: where the kernel runs.
        interface: what the kernel takes.
        workspace: bytes of scratch memory.
    Attributes:
        words: the status buffer.
        views, addresses, inputs: the last list of arguments that keeps no tensor alive: from which views, where its
            tensors lie, and the list.
    """

    def __init__(self, device: Device, interface: KernelInterface, workspace: int) -> None:
        import torch

        words = interface.words
        status = device.shared_words(words)
        # Workgroups of a GPU count in the first bytes.
        empty = torch.zeros if device.torch_type == "cuda" else torch.empty
        scratch = empty(workspace, dtype=torch.int8, device=device.torch_name)
        self._memory = (status, scratch)
        self._views = [device.view(tensor) for tensor in self._memory if tensor.numel()]
        self.views: ArgumentViews | None = None
        self.addresses: list[int] = []
        self.inputs: Any = None
        self.words = (ctypes.c_int64 * words).from_address(status.data_ptr())
        self.words[words - len(interface.functions) :] = [address_of(name) for name in interface.functions]
        self._floats = (ctypes.c_double * words).from_address(status.data_ptr())

    def push(self, inputs: Any) -> None:
        """Pass them, behind the arguments."""
        for view in self._views:
            inputs.push_ref(view)

    def copy(self, place: PlacedResult, dtype: torch.dtype) -> torch.Tensor:
        """Return a result that is in the workspace, in memory of its own."""
        return copy_placed(place, dtype, self.words[:], self._memory[1])

    def scalar(self, word: int, kind: str) -> int | float | bool:
        """Return a scalar result.

        Args:
            word: where it is.
            kind: "int", "float" or "bool".
        """
        if kind == "float":
            return self._floats[word]
        return bool(self.words[word]) if kind == "bool" else self.words[word]
