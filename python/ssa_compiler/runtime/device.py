"""IREE devices and tensors: one device per driver, and DLPack in both directions without copies."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..errors import TargetError
from ..process.forks import new_lock
from ..semantics.dtypes import by_mlir, element_types

if TYPE_CHECKING:
    import torch

__all__ = ["ALIGNMENT", "Device", "device_for", "instance"]

# IREE rejects to import memory that is not aligned to this many bytes.
ALIGNMENT = 64

# Memory of results and temporaries that is kept for the next ones of the same size: pieces of at most so many bytes,
# which together are no more than that and one piece, and so many of them. The system gives fresh memory page by page: a
# tensor of 64 MiB takes four times as long.
_KEPT = "caching:*=128mib;128mib;64"
# On CUDA there are pools for tensors, for numbers on their way to the host, and for those on their way to the GPU,
# which take a millisecond to allocate. They have no limit, as IREE frees twice what exceeds one, or is trimmed; but
# tensors have few sizes (`backend/legalize/gpu_memory.py`).
_KEPT_ON_CUDA = "caching:" + ",".join(
    f"{heap}=*;*;65536"
    for heap in ("DEVICE_LOCAL", "DEVICE_LOCAL|HOST_VISIBLE", "HOST_LOCAL", "HOST_LOCAL|HOST_CACHED")
)

_lock = new_lock()


@cache
def instance() -> Any:
    """Return the process's IREE VM instance."""
    import iree.runtime as rt

    rt._binding.disable_leak_checker()  # programs held at interpreter exit are not a leak worth a page of text
    return rt.VmInstance()


class Device:
    """An IREE device.

    Attributes:
        driver: "local-sync", "local-task" or "cuda".
        torch_type, torch_name: what PyTorch calls it, without and with its number.
        hal: the `iree.runtime.HalDevice`.
    """

    def __init__(self, driver: str) -> None:
        import iree.runtime as rt
        import torch

        self.driver = driver
        try:
            if driver == "cuda":
                # What is allocated in the order of a stream cannot be exported as a tensor.
                rt.flags.parse_flags("--cuda_async_allocations=false")
            kept = _KEPT_ON_CUDA if driver == "cuda" else _KEPT
            self.hal = rt.get_driver(driver).create_default_device(allocators=[kept])
            # A result that is left when the interpreter ends gives its memory back to the device: it has to be there.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.hal))
        except Exception as error:
            raise TargetError(f"no device for the IREE driver '{driver}' on this machine: {error}") from error
        cuda = driver == "cuda"
        self.torch_type = "cuda" if cuda else "cpu"
        self._code = 2 if cuda else 1
        self.torch_name = "cuda:0" if cuda else "cpu"
        self._stream = partial(torch.cuda.current_stream, 0) if cuda else None
        self._import = self.hal.from_dlpack_capsule
        self._export = self.hal.create_dlpack_capsule
        self._to_dlpack = torch._C._to_dlpack
        self._from_dlpack = torch._C._from_dlpack
        self._uint8 = torch.uint8
        # The dtypes that IREE does not have, or not with their sign, as integers of the same width.
        self._passed_as = {entry.dtype: by_mlir()[entry.carrier].dtype for entry in element_types() if entry.carrier}
        self._passed_as[torch.uint8] = torch.int8
        self._runtime = rt
        self._host_memory = int(rt.MemoryType.DEVICE_LOCAL | rt.MemoryType.HOST_VISIBLE)
        self._usage = int(rt.BufferUsage.DEFAULT)
        self._element_types: dict[torch.dtype, int] = {}

    def view(self, tensor: torch.Tensor) -> Any:
        """Return a buffer view of a tensor's own memory, which kernels may write.

        Args:
            tensor: dense and aligned to `ALIGNMENT`; uint8 is passed as int8, IREE's integers being signless, and what
                IREE does not compute with as integers of its width.
        """
        if tensor.dtype in self._passed_as:
            tensor = tensor.view(self._passed_as[tensor.dtype])
        try:
            return self._import(self._to_dlpack(tensor))
        except ValueError:
            if tensor.numel():
                raise
            # Without elements it is contiguous whatever its strides are, which IREE does not see.
            return self._import(self._to_dlpack(tensor.new_empty(tensor.shape)))

    def shared_words(self, count: int) -> torch.Tensor:
        """Return words that the device and the host read and write where they lie.

        Args:
            count: how many.
        Returns:
            Zeros, int64, [count], on the device for PyTorch; the host finds them at `data_ptr()`.
        """
        import torch

        if self.torch_type == "cpu" or not count:
            return torch.zeros(count, dtype=torch.int64)
        # CUDA gives pinned memory of the host one address for both.
        words = torch.zeros(count, dtype=torch.int64, pin_memory=True)
        return torch.as_tensor(_CudaWords(words), device=self.torch_name)

    def check_workgroups(self, count: int) -> None:
        """Check that workgroups which wait for each other are there at once, one on each multiprocessor of a GPU.

        Args:
            count: how many.
        Raises:
            TargetError: they would wait for ever.
        """
        if count == 1 or self.torch_type == "cpu":
            return
        import torch

        found = torch.cuda.get_device_properties(self.torch_name).multi_processor_count
        if found < count:
            raise TargetError(
                f"the program was compiled for a GPU with {count} multiprocessors, and this one has {found}; compile it "
                "where this GPU is"
            )

    def wait_for_pytorch(self) -> None:
        """Wait for what PyTorch has been asked to compute, before IREE reads its tensors or writes into them.

        Both use streams of their own on CUDA, and neither waits for the other's. IREE's calls return when their results
        are there, so that PyTorch need not wait.
        """
        if self._stream is not None:
            self._stream().synchronize()

    def viewer(self, dtype: torch.dtype | None) -> Callable[[torch.Tensor], Any]:
        """Return `view` for tensors of one dtype, without what that dtype does not need."""
        if dtype in self._passed_as:
            return self.view
        import_capsule, to_dlpack = self._import, self._to_dlpack

        def view(tensor: torch.Tensor) -> Any:
            try:
                return import_capsule(to_dlpack(tensor))
            except ValueError:
                return self.view(tensor)

        return view

    def writable_view(self, tensor: torch.Tensor) -> Any:
        """Return a buffer view of a tensor's own memory, into which fills and copies go too, where the driver has such.

        IREE lets those overwrite no memory that comes from DLPack. On CUDA there is no other way in, and the compiled
        program does without them (`backend/verify/in_place.py`).

        Args:
            tensor: as for `view`.
        """
        if self.torch_type != "cpu" or not tensor.nbytes:
            return self.view(tensor)
        memory = tensor.detach().reshape(-1).view(self._uint8).numpy()
        buffer = self.hal.allocator.import_host_allocation(memory, self._host_memory, self._usage)
        return self._runtime.HalBufferView(buffer, list(tensor.shape), self._element_type(tensor))

    def borrower(self, tensor: torch.Tensor) -> Callable[[int], Any]:
        """Return what makes buffer views for tensors like one, on the CPU, which do not keep them alive.

        Args:
            tensor: as for `view`, with at least one element.
        Returns:
            A function of the address of the first element.
        """
        memory_type = ctypes.c_uint8 * tensor.nbytes
        shape, element_type = list(tensor.shape), self._element_type(tensor)
        buffer_of, view_of = self.hal.allocator.import_host_allocation, self._runtime.HalBufferView
        kind, usage = self._host_memory, self._usage

        def view(address: int) -> Any:
            return view_of(buffer_of(memory_type.from_address(address), kind, usage), shape, element_type)

        return view

    def _element_type(self, tensor: torch.Tensor) -> int:
        found = self._element_types.get(tensor.dtype)
        if found is None:
            found = self._element_types[tensor.dtype] = self.view(tensor).element_type
        return found

    def tensor(self, view: Any, dtype: torch.dtype) -> torch.Tensor:
        """Return a tensor over a buffer view's memory, which it keeps alive."""
        tensor = self._from_dlpack(self._export(view, self._code, 0))
        return tensor if tensor.dtype is dtype else tensor.view(dtype)

    def trim(self) -> None:
        """Give memory back that is kept for tensors, on the CPU; on CUDA IREE would free it twice."""
        if self.torch_type == "cpu":
            self.hal.allocator.trim()


class _CudaWords:
    """Pinned memory of the host as CUDA memory.

    Args:
        words: pinned, int64, [n].
    """

    def __init__(self, words: torch.Tensor) -> None:
        self.words = words
        self.__cuda_array_interface__ = {
            "shape": tuple(words.shape),
            "typestr": "<i8",
            "data": (words.data_ptr(), False),
            "version": 2,
        }


@cache
def _device(driver: str) -> Device:
    return Device(driver)


def device_for(driver: str) -> Device:
    """Return the process's device of a driver.

    Args:
        driver: "local-sync" (runs in the calling thread), "local-task" (a pool of threads) or "cuda".
    Raises:
        TargetError: there is no such device.
    """
    with _lock:
        return _device(driver)
