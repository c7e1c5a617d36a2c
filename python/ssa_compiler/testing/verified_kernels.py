"""Kernels with every access to memory checked: MLIR's run-time verification, compiled by its execution engine.

A kernel that reads or writes outside of a buffer may go unnoticed: what lies there belongs to the process. Here the
function that `--lower-kernels` made is lowered with a check in front of each access, and stands for the program that
IREE compiled. Its scratch memory has exactly the bytes that it asks for. A check that fails prints the access and ends
the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from ..abi.kernel_interface import NO_SPACE
from ..errors import program_error
from ..runtime import KernelProgram
from ..runtime.c_library import address_of
from ..runtime.kernel_program import copy_placed

if TYPE_CHECKING:
    from ..abi import Signature
    from ..abi.kernel_interface import PlacedResult
    from ..backend import Artifact
    from ..compiled_program import CompiledProgram

__all__ = ["VerifiedProgram", "verify_kernels"]

_PASSES = (
    "builtin.module(generate-runtime-verification,memref-expand,expand-strided-metadata,lower-affine,arith-expand,"
    "convert-vector-to-scf,convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,convert-vector-to-llvm,"
    "convert-ub-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
    "reconcile-unrealized-casts)"
)
_DTYPES = {"i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64}
_DTYPES.update({"f32": torch.float32, "f64": torch.float64})
_NUMBERS: dict[str, Any] = {"i1": ctypes.c_bool, "i64": ctypes.c_int64, "f64": ctypes.c_double}


_LINES = 1  # _IOLBF: output is written at the end of each line


class VerifiedProgram(KernelProgram):
    """A program that is one kernel, with checked accesses. Call it like a `Program`.

    Args:
        artifact: the compiled program, with its kernel's text.
        signature: what the program takes and returns.
    """

    def __init__(self, artifact: Artifact, signature: Signature, **options: Any) -> None:
        from torch_mlir import ir
        from torch_mlir.execution_engine import ExecutionEngine
        from torch_mlir.passmanager import PassManager

        assert artifact.interface is not None
        super().__init__(artifact.path, signature, artifact.interface, **options)
        # What is printed of a wrong access is not to be lost when the process ends at the access.
        libc = ctypes.CDLL(None)
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, _LINES, 0)
        self._messages = artifact.interface.messages
        self._enough = 0  # bytes of scratch memory that was sufficient in the last call
        with ir.Context():
            module = ir.Module.parse(artifact.kernel)
            table = ir.SymbolTable(module.operation)
            main, sizes = table["main"], table["main.sizes"]
            self._parameters = [
                _Parameter(ir.StringAttr(ir.DictAttr(entry)["kernel.role"]).value, type_)
                for entry, type_ in zip(ir.ArrayAttr(main.attributes["arg_attrs"]), main.type.inputs, strict=True)
            ]
            self._size_count = len(sizes.type.results)
            for function in (main, sizes):
                function.operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
            PassManager.parse(_PASSES).run(module.operation)
            self._engine = ExecutionEngine(module, opt_level=1)

    def __call__(self, leaves: Sequence[Any]) -> list[Any]:
        """Run the kernel; as `Program`."""
        used: list[Any] = list(leaves)
        self._push(self._list(self._count), leaves, used)  # for its checks
        values: list[Any] = []  # of the kernel's parameters
        numbers: list[Any] = []  # what the function that computes sizes takes
        given = [parameter for parameter in self._parameters if parameter.role in ("input", "written")]
        for parameter, leaf in zip(given, used, strict=True):
            if parameter.dtype is None:
                number = _NUMBERS[parameter.type](leaf)
                numbers.append(number)
                values.append(number)
                continue
            values.append(leaf)
            numbers += [ctypes.c_int64(leaf.shape[dim]) for dim, size in enumerate(parameter.shape) if size is None]
        sizes = iter(self._sizes(numbers))
        for parameter in self._parameters[len(given) :]:
            shape = [next(sizes) if size is None else size for size in parameter.shape]
            if parameter.role == "scratch":
                shape = [max(shape[0], self._enough)]
            values.append(torch.zeros(shape, dtype=parameter.dtype))
            if parameter.role == "status" and self._interface.functions:
                values[-1][-len(self._interface.functions) :] = torch.tensor(
                    [address_of(name) for name in self._interface.functions]
                )
        self._engine.invoke("main", *map(_passed, values))
        found = {parameter.role: value for parameter, value in zip(self._parameters, values)}
        outputs = [value for parameter, value in zip(self._parameters, values) if parameter.role == "output"]
        status = found.get("status")
        failed = int(status[0]) if status is not None else 0
        if failed and self._messages[failed - 1] == NO_SPACE:
            self._enough += 4096
            return self(leaves)
        if not failed:
            results = self._results_in(outputs, status, found.get("scratch"), leaves)
        self._written_back(leaves, used)
        if failed:
            raise program_error(self._interface.failure(failed, partial(_number_in, status)))
        return results

    def _sizes(self, numbers: list[Any]) -> list[int]:
        result = (ctypes.c_int64 * self._size_count)()
        pointer = ctypes.pointer(ctypes.pointer(result))
        passed = [ctypes.pointer(number) for number in numbers]
        if self._size_count == 1:  # returned as it is, behind the arguments
            self._engine.invoke("main.sizes", *passed, ctypes.pointer(result))
        else:
            self._engine.invoke("main.sizes", pointer, *passed)
        return list(result)

    def _results_in(self, outputs: list[Any], status: Any, scratch: Any, leaves: Sequence[Any]) -> list[Any]:
        def copy(place: PlacedResult, dtype: torch.dtype) -> torch.Tensor:
            return copy_placed(place, dtype, status.tolist(), scratch)

        tensors = [
            made if made.dtype is dtype else made.view(dtype)
            for made, (_, dtype) in zip(outputs, self._outputs, strict=True)
        ]
        return self._arrange(leaves, tensors, copy, partial(_number_in, status))


def _number_in(status: Any, word: int, kind: str) -> int | float | bool:
    """A word of the status buffer as a number of a kind."""
    number = status[word].view(torch.float64).item() if kind == "float" else status[word].item()
    return bool(number) if kind == "bool" else number


class _Parameter:
    """A parameter of a kernel: its role, and its type, dtype and shape; no dtype for a number, None for dynamic
    sizes.
    """

    def __init__(self, role: str, type_: Any) -> None:
        self.role, self.type = role, str(type_)
        element = getattr(type_, "element_type", None)
        self.dtype = _DTYPES[str(element)] if element is not None else None
        rank = type_.rank if element is not None else 0
        self.shape = [None if type_.is_dynamic_dim(dim) else type_.get_dim_size(dim) for dim in range(rank)]


def _passed(value: Any) -> Any:
    """A pointer to a number, or to a pointer to the descriptor of a tensor's memory."""
    if not isinstance(value, torch.Tensor):
        return ctypes.pointer(value)
    fields = [value.data_ptr(), value.data_ptr(), 0, *value.shape, *value.stride()]
    return ctypes.pointer(ctypes.pointer((ctypes.c_int64 * len(fields))(*fields)))


def verify_kernels(compiled: CompiledProgram) -> None:
    """Let what was compiled, if it is one kernel, run with checked accesses from now on.

    Args:
        compiled: a program that was not called yet.
    """
    for made in compiled.specialisations:
        if made.artifact.interface is not None:
            made._program = VerifiedProgram(made.artifact, made.signature, driver=made.driver, detach=made.detach)
