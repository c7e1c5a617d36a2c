"""Programs that are one native kernel: lowered by ssa-opt, put into an IREE executable, and called once.

torch-mlir lowers a program to upstream dialects, `--form-kernels` decides whether it can be a kernel, and `--lower-kernels` makes
of it a function on buffers that returns nothing (docs/Kernels.md). Here it gets the shape in which IREE takes foreign code: an
executable whose function reads its arguments from bindings and constants, and a function that dispatches it and reports what
the kernel's status says.
"""

from __future__ import annotations

import math
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from iree.compiler import ir
from torch_mlir import _mlir_libs

from .._opt import find_ssa_opt
from .._process import parse_diagnostics, run_tool
from ._version_copies import VersionCopies

__all__ = [
    "KERNEL_FLAGS",
    "Kernel",
    "NoKernelError",
    "count_kernel_copies",
    "count_ops",
    "form_kernel",
]

# IREE's own kernels are vectorised before LLVM sees them; ours are plain loops.
KERNEL_FLAGS = ("--iree-llvmcpu-loop-vectorization", "--iree-llvmcpu-slp-vectorization")

_TO_LINALG = (
    "builtin.module(func.func(torch-reduce-op-variants,"
    "torch-decompose-complex-ops{legal-ops=aten.flatten.using_ints}),canonicalize,cse,"
    "torch-backend-to-linalg-on-tensors-backend-pipeline)"
)
# Ops of torch-mlir's own dialects are there in generic form.
_TO_KERNELS = ("--allow-unregistered-dialect", "--lower-tm-tensor", "--form-kernels")
_OWN = ("kernel.", "bufferization.")
"""What begins the names of attributes that are about kernels."""
_HEADER = re.compile(r"^  func\.func @main\(.*$", re.MULTILINE)
_NATIVE_OP = re.compile(r"^[^/\n]*?\btorch\.(?:aten|prims|torchvision|operator)\b", re.MULTILINE)
_REASON = re.compile(r'kernel\.reason = "((?:[^"\\]|\\.)*)"')
_COPIES = re.compile(r"kernel\.((?:loop_)?cop(?:ies|ied_bytes)) = (\d+)")
_MOST_COPIED, _MOST_COPIED_IN_LOOPS = 1 << 20, 1 << 16
"""Bytes of whole tensors that a kernel copies: more take longer than the launches that it saves."""
_DYNAMIC = re.compile(r"(?:!torch\.v)?tensor<[^>]*\?[^>]*>")
_MEMREF = re.compile(r"memref<(.*)>")
_MOST_SCALARS, _MOST_BUFFERS = 32, 30
"""What IREE passes to an executable: 64 constants of 32 bits, 32 buffers, of which two are scratch memory and the status."""
_MOST_WRITTEN = 1024
"""Elements of an argument that are written back after the call."""
_ALIGNMENT = 64
"""Of scratch memory, in bytes; nothing is known of where the caller's tensors begin but that it suits their elements."""


@dataclass(frozen=True)
class Kernel:
    """A function that is one kernel.

    Attributes:
        executable: the kernel in the form in which IREE takes foreign code, as text.
        call: a function `@main` that dispatches it and reports its status, as text.
        lowered: what `--lower-kernels` made.
        ops: how many ops of PyTorch's are in it.
    """

    executable: str
    call: str
    lowered: str
    ops: int

    @property
    def text(self) -> str:
        """A module of the executable and the function."""
        return f"module {{\n{self.executable}{self.call}}}\n"


class NoKernelError(Exception):
    """A program that cannot be one kernel; says why.

    Attributes:
        lasting: whether it would be the same another time: no tool was stopped by the clock or from outside.
    """

    def __init__(self, reason: str, *, lasting: bool = True) -> None:
        super().__init__(reason)
        self.lasting = lasting


def form_kernel(
    text: str,
    context: ir.Context,
    *,
    name: str = "kernels",
    ssa_opt: str | os.PathLike[str] | None,
    timeout_s: float,
) -> Kernel:
    """Make a kernel of a function, if it can be one.

    Args:
        text: an `iree`-stage module with the function, `@main`, without callbacks, after `make_lowerable`.
        context: for parsing what ssa-opt prints.
        name: the name of the executable.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit of each tool in seconds.
    Raises:
        NoKernelError: it cannot be one.
    """
    if (found := _DYNAMIC.search(text)) is not None:
        raise NoKernelError(f"a value of type {found[0]}")  # what ssa-opt would say, sooner
    lower = str(Path(_mlir_libs.__path__[0]) / "torch-mlir-opt")
    linalg = _run([lower, "-", f"--pass-pipeline={_TO_LINALG}", "--mlir-print-op-generic"], text, timeout_s)
    maker = find_ssa_opt(ssa_opt)
    formed = _run([maker, "-", *_TO_KERNELS], linalg, timeout_s)
    if (found := _REASON.search(formed)) is not None:
        raise NoKernelError(found[1])
    lowered = _run([maker, "-", "--lower-kernels"], formed, timeout_s)
    copied = dict(_COPIES.findall(lowered))
    if int(copied["copied_bytes"]) > _MOST_COPIED:
        raise NoKernelError(f"it would copy {copied['copied_bytes']} bytes")
    if int(copied["loop_copied_bytes"]) > _MOST_COPIED_IN_LOOPS:
        raise NoKernelError(f"it would copy {copied['loop_copied_bytes']} bytes in a loop")
    program = ir.Module.parse(formed, context)
    _refuse_large_writes(_main(program))
    executable, call = _assemble(program, ir.Module.parse(lowered, context), name)
    return Kernel(executable, call, lowered, count_ops(text))


def count_ops(text: str) -> int:
    """How many ops of PyTorch's a module has.

    Args:
        text: the module.
    """
    return len(_NATIVE_OP.findall(text))


def count_kernel_copies(lowered: str) -> VersionCopies:
    """Count the copies of whole tensors in kernels.

    Args:
        lowered: `Artifact.kernel`.
    """
    found = _COPIES.findall(lowered)
    outside, inside = (sum(int(count) for name, count in found if name == kind) for kind in ("copies", "loop_copies"))
    return VersionCopies(outside, inside)


def _refuse_large_writes(function: ir.Operation) -> None:
    """A kernel has its results in new tensors: what a call writes into an argument is copied there afterwards."""
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    if "res_attrs" not in function.attributes:
        return
    for result, attributes in zip(type_.results, ir.ArrayAttr(function.attributes["res_attrs"])):
        if "tssa.writeback" not in ir.DictAttr(attributes) or not isinstance(result, ir.RankedTensorType):
            continue
        elements = math.prod(ir.RankedTensorType(result).shape)
        if elements > _MOST_WRITTEN:
            raise NoKernelError(f"an argument of {elements} elements is updated in place")


def _run(command: list[str], text: str, timeout_s: float) -> str:
    """Run a tool over a module."""
    completed = run_tool([*command, "--mlir-print-debuginfo"], stdin=text, timeout_s=timeout_s)
    if completed.returncode == 0:
        return completed.stdout
    messages = [found.text for found in parse_diagnostics(completed.stderr) if found.kind == "error"]
    name, lasting = Path(command[0]).name, completed.returncode not in (None, -signal.SIGKILL)
    raise NoKernelError(f"{name}: {messages[0] if messages else 'it failed'}".splitlines()[0], lasting=lasting)


def _main(module: ir.Module) -> ir.Operation:
    (function,) = [op.operation for op in module.body if op.operation.name == "func.func"]
    return function


@dataclass(frozen=True)
class _Argument:
    """An argument of a kernel: its name, type, role, and the tensor type that its binding has outside."""

    name: str
    type: str
    role: str

    @property
    def is_buffer(self) -> bool:
        return self.type.startswith("memref<")

    @property
    def tensor(self) -> str:
        return re.sub(r"^memref<", "tensor<", self.type)


def _arguments(kernel: ir.Operation) -> list[_Argument]:
    roles = [ir.DictAttr(attributes)["kernel.role"] for attributes in ir.ArrayAttr(kernel.attributes["arg_attrs"])]
    block = kernel.regions[0].blocks[0]
    return [
        _Argument(f"%arg{number}", str(argument.type), ir.StringAttr(role).value)
        for number, (argument, role) in enumerate(zip(block.arguments, roles, strict=True))
    ]


def _bytes(type_: str) -> int:
    parts = _MEMREF.fullmatch(type_)[1].split("x")  # type: ignore[index]
    size = max(int(re.sub(r"\D", "", parts[-1])) // 8, 1)
    for part in parts[:-1]:
        size *= int(part)
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _assemble(program: ir.Module, kernel: ir.Module, name: str) -> tuple[str, str]:
    """The executable and the function that dispatches it."""
    function = _main(kernel)
    arguments = _arguments(function)
    inputs = [argument for argument in arguments if argument.role == "input"]
    scalars = [argument for argument in inputs if not argument.is_buffer]
    buffers = [argument for argument in inputs if argument.is_buffer]
    outputs = [argument for argument in arguments if argument.role == "output"]
    scratch = [argument for argument in arguments if argument.role == "scratch"]
    (status,) = [argument for argument in arguments if argument.role == "status"]
    if len(scalars) > _MOST_SCALARS:
        raise NoKernelError(f"{len(scalars)} numbers among its arguments")
    if len(buffers) + len(outputs) > _MOST_BUFFERS:
        raise NoKernelError(f"{len(buffers) + len(outputs)} tensors among its arguments and results")
    workspace = sum(_bytes(argument.type) for argument in scratch)
    constants = 2 * len(scalars)
    kinds = ["ReadOnly"] * len(buffers) + [""] * (len(outputs) + bool(scratch) + 1)
    bindings = ", ".join(f"#hal.pipeline.binding<storage_buffer{', ' + kind if kind else ''}>" for kind in kinds)
    layout = f"#hal.pipeline.layout<constants = {constants}, bindings = [{bindings}]>"

    prologue = ["    %kernel_c0 = arith.constant 0 : index"]
    for number, scalar in enumerate(scalars):
        prologue += _load_scalar(scalar, 2 * number, layout)
    place = 0
    for number, buffer in enumerate([*buffers, *outputs, *scratch, status]):
        binding = number
        flags, alignment, offset = "", _element_bytes(buffer.type), "%kernel_c0"
        if buffer.role == "input":
            flags = " flags(ReadOnly)"
        elif buffer.role == "scratch":
            binding = len(buffers) + len(outputs)
            offset, alignment = f"%kernel_o{place}", _ALIGNMENT
            prologue.append(f"    {offset} = arith.constant {place} : index")
            place += _bytes(buffer.type)
        elif buffer is status:
            binding = len(kinds) - 1
        prologue.append(
            f"    {buffer.name} = hal.interface.binding.subspan layout({layout}) binding({binding}) "
            f"alignment({alignment}) offset({offset}){flags} : {buffer.type}"
        )
    text = kernel.operation.get_asm(enable_debug_info=False)
    # IREE links executables into one: names are those of all.
    body = _HEADER.sub(f"  func.func @{name}() {{\n" + "\n".join(prologue).replace("\\", "\\\\"), text, count=1)
    inner = body[body.index("{") + 1 : body.rindex("}")]
    messages = [ir.StringAttr(a).value for a in ir.ArrayAttr(function.attributes["kernel.messages"])]
    executable = (
        f"  hal.executable.source private @{name} {{\n"
        f"    hal.executable.export public @{name} ordinal(0) layout({layout}) count(%device: !hal.device) "
        "-> (index, index, index) {\n"
        "      %one = arith.constant 1 : index\n"
        "      hal.return %one, %one, %one : index, index, index\n"
        "    }\n"
        "    builtin.module {\n"
        f"{inner}\n"
        "    }\n"
        "  }\n"
    )
    return executable, _call(program, name, inputs, outputs, workspace, status, messages)


def _element_bytes(type_: str) -> int:
    return max(int(re.sub(r"\D", "", _MEMREF.fullmatch(type_)[1].split("x")[-1])) // 8, 1)  # type: ignore[index]


def _load_scalar(scalar: _Argument, ordinal: int, layout: str) -> list[str]:
    """A scalar argument of two push constants."""
    name = scalar.name[1:]
    load = f"hal.interface.constant.load layout({layout}) ordinal"
    lines = [
        f"    %{name}_lo = {load}({ordinal}) : i32",
        f"    %{name}_hi = {load}({ordinal + 1}) : i32",
        f"    %{name}_lo64 = arith.extui %{name}_lo : i32 to i64",
        f"    %{name}_hi64 = arith.extui %{name}_hi : i32 to i64",
        f"    %{name}_by = arith.constant 32 : i64",
        f"    %{name}_up = arith.shli %{name}_hi64, %{name}_by : i64",
    ]
    bits = f"arith.ori %{name}_lo64, %{name}_up : i64"
    if scalar.type == "i64":
        return [*lines, f"    %{name} = {bits}"]
    lines.append(f"    %{name}_bits = {bits}")
    if scalar.type == "f64":
        return [*lines, f"    %{name} = arith.bitcast %{name}_bits : i64 to f64"]
    return [*lines, f"    %{name} = arith.trunci %{name}_bits : i64 to {scalar.type}"]


def _call(
    program: ir.Module,
    executable: str,
    inputs: list[_Argument],
    outputs: list[_Argument],
    workspace: int,
    status: _Argument,
    messages: list[str],
) -> str:
    """The function that dispatches the kernel and reports its status."""
    function = _main(program)
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    given = _attributes(function, "arg_attrs", len(type_.inputs))
    returned = _attributes(function, "res_attrs", len(type_.results))
    arguments = ", ".join(f"%a{n}: {t} {a}" for n, (t, a) in enumerate(zip(type_.inputs, given)))
    results = ", ".join(f"{t} {a}" for t, a in zip(type_.results, returned))
    lines = [f"  func.func @main({arguments}) -> ({results}) {{"]
    constants: list[str] = []
    for number, argument in enumerate(inputs):
        if not argument.is_buffer:
            lines += _split_scalar(number, argument.type)
            constants += [f"%a{number}_lo", f"%a{number}_hi"]
    operands = [(f"%a{n}", str(type_.inputs[n])) for n, argument in enumerate(inputs) if argument.is_buffer]
    tensors = iter(str(t) for t in type_.results if str(t).startswith("tensor<"))
    made = [next(tensors) for _ in outputs]
    if workspace:
        made.append(f"tensor<{workspace}xi8>")
    made.append(status.tensor)
    names = ", ".join([*constants, *(name for name, _ in operands)])
    types = ", ".join(["i32"] * len(constants) + [t for _, t in operands])
    lines.append(
        f"    %made:{len(made)} = flow.dispatch @{executable}::@{executable}({names}) : ({types}) -> ({', '.join(made)})"
    )
    last = f"%made#{len(made) - 1}"
    if messages:
        lines += _check(last, status.tensor, messages)
    tensor_number, scalar_number, values = 0, 0, []
    for result in map(str, type_.results):
        if result.startswith("tensor<"):
            values.append(f"%made#{tensor_number}")
            tensor_number += 1
            continue
        lines += _read_scalar(scalar_number, last, status.tensor, result)
        values.append(f"%s{scalar_number}")
        scalar_number += 1
    lines.append(f"    return {', '.join(values)} : {', '.join(map(str, type_.results))}" if values else "    return")
    lines.append("  }\n")
    return "\n".join(lines)


def _attributes(function: ir.Operation, name: str, count: int) -> list[str]:
    """The attributes of arguments or results that are not about kernels."""
    if name not in function.attributes:
        return [""] * count
    found = []
    for given in map(ir.DictAttr, ir.ArrayAttr(function.attributes[name])):
        kept = {named.name: named.attr for named in given if not named.name.startswith(_OWN)}
        found.append(str(ir.DictAttr.get(kept, context=function.context)) if kept else "")
    return found


def _split_scalar(number: int, type_: str) -> list[str]:
    name = f"%a{number}"
    lines = []
    bits = name
    if type_ == "f64":
        bits = f"{name}_bits"
        lines.append(f"    {bits} = arith.bitcast {name} : f64 to i64")
    elif type_ != "i64":
        bits = f"{name}_bits"
        lines.append(f"    {bits} = arith.extui {name} : {type_} to i64")
    return [
        *lines,
        f"    {name}_by = arith.constant 32 : i64",
        f"    {name}_up = arith.shrui {bits}, {name}_by : i64",
        f"    {name}_lo = arith.trunci {bits} : i64 to i32",
        f"    {name}_hi = arith.trunci {name}_up : i64 to i32",
    ]


def _check(status: str, type_: str, messages: list[str]) -> list[str]:
    lines = ["    %first = arith.constant 0 : index", f"    %status = flow.tensor.load {status}[%first] : {type_}"]
    for number, message in enumerate(messages, 1):
        lines += [
            f"    %code{number} = arith.constant {number} : i64",
            f"    %fine{number} = arith.cmpi ne, %status, %code{number} : i64",
            f"    cf.assert %fine{number}, {ir.StringAttr.get(message)}",
        ]
    return lines


def _read_scalar(number: int, status: str, type_: str, result: str) -> list[str]:
    name = f"%s{number}"
    lines = [
        f"    {name}_at = arith.constant {number + 1} : index",
        f"    {name}_bits = flow.tensor.load {status}[{name}_at] : {type_}",
    ]
    if result == "f64":
        return [*lines, f"    {name} = arith.bitcast {name}_bits : i64 to f64"]
    if result == "i64":
        return [*lines[:-1], lines[-1].replace(f"{name}_bits", name, 1)]
    return [*lines, f"    {name} = arith.trunci {name}_bits : i64 to {result}"]
