"""The form in which IREE takes a kernel: an executable with a function on buffers, and a function that dispatches it.

The kernel's function reads its arguments from bindings and constants. The function around it, which has the signature of the
program or loop that the kernel stands for, passes them, and reports what the kernel's status says.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from iree.compiler import ir

from ._limits import MOST_BINDINGS, MOST_CONSTANTS

__all__ = ["OperandLimitError", "assemble"]

_HEADER = re.compile(r"^  func\.func @main\(.*$", re.MULTILINE)
_OWN = ("kernel.", "bufferization.")
"""What begins the names of attributes that are about kernels."""
_MOST_SCALARS, _MOST_BUFFERS = MOST_CONSTANTS // 2, MOST_BINDINGS - 2
"""Numbers of 64 bits; buffers beside scratch memory and the status."""
_ALIGNMENT = 64
"""Of scratch memory, in bytes; nothing is known of where the caller's tensors begin but that it suits their elements."""


class OperandLimitError(Exception):
    """A kernel with more operands than an executable is called with; says how many."""


@dataclass(frozen=True)
class _Argument:
    """An argument of a kernel: its name, type and role."""

    name: str
    type: ir.Type
    role: str

    @property
    def is_buffer(self) -> bool:
        return isinstance(self.type, ir.MemRefType)

    @property
    def tensor(self) -> str:
        """The type that a buffer has outside."""
        return re.sub(r"^memref<", "tensor<", str(self.type))

    @property
    def element_bytes(self) -> int:
        """Bytes of an element of a buffer, or of a number."""
        type_ = self.type.element_type if isinstance(self.type, ir.MemRefType) else self.type
        return max(type_.width // 8, 1)

    @property
    def scratch_bytes(self) -> int:
        """Bytes that a buffer takes in scratch memory."""
        return -(-math.prod(self.type.shape) * self.element_bytes // _ALIGNMENT) * _ALIGNMENT


def _arguments(kernel: ir.Operation) -> list[_Argument]:
    roles = [ir.DictAttr(attributes)["kernel.role"] for attributes in ir.ArrayAttr(kernel.attributes["arg_attrs"])]
    block = kernel.regions[0].blocks[0]
    return [
        _Argument(f"%arg{number}", argument.type, ir.StringAttr(role).value)
        for number, (argument, role) in enumerate(zip(block.arguments, roles, strict=True))
    ]


def assemble(function: ir.Operation, kernel: ir.Module, name: str) -> tuple[str, str]:
    """Return the executable and the function that dispatches it, `@main`, as text.

    Args:
        function: the function that the kernel stands for, in the linalg stage.
        kernel: what `--lower-kernels` made of it.
        name: the name of the executable.
    Raises:
        OperandLimitError: it takes too many operands.
    """
    (lowered,) = [op.operation for op in kernel.body if op.operation.name == "func.func"]
    arguments = _arguments(lowered)
    inputs, outputs, scratch, status = (
        [argument for argument in arguments if argument.role == role]
        for role in ("input", "output", "scratch", "status")
    )
    scalars = [argument for argument in inputs if not argument.is_buffer]
    buffers = [argument for argument in inputs if argument.is_buffer]
    if len(scalars) > _MOST_SCALARS:
        raise OperandLimitError(f"{len(scalars)} numbers among its arguments")
    if len(buffers) + len(outputs) > _MOST_BUFFERS:
        raise OperandLimitError(f"{len(buffers) + len(outputs)} tensors among its arguments and results")
    workspace = sum(argument.scratch_bytes for argument in scratch)
    kinds = ["ReadOnly"] * len(buffers) + [""] * (len(outputs) + bool(scratch) + len(status))
    bindings = ", ".join(f"#hal.pipeline.binding<storage_buffer{', ' + kind if kind else ''}>" for kind in kinds)
    layout = f"#hal.pipeline.layout<constants = {2 * len(scalars)}, bindings = [{bindings}]>"

    prologue = ["    %kernel_c0 = arith.constant 0 : index"]
    for number, scalar in enumerate(scalars):
        prologue += _load_scalar(scalar, 2 * number, layout)
    place = 0
    for number, buffer in enumerate([*buffers, *outputs, *scratch, *status]):
        binding = number
        flags, alignment, offset = "", buffer.element_bytes, "%kernel_c0"
        if buffer.role == "input":
            flags = " flags(ReadOnly)"
        elif buffer.role == "scratch":
            binding = len(buffers) + len(outputs)
            offset, alignment = f"%kernel_o{place}", _ALIGNMENT
            prologue.append(f"    {offset} = arith.constant {place} : index")
            place += buffer.scratch_bytes
        elif buffer.role == "status":
            binding = len(kinds) - 1
        prologue.append(
            f"    {buffer.name} = hal.interface.binding.subspan layout({layout}) binding({binding}) "
            f"alignment({alignment}) offset({offset}){flags} : {buffer.type}"
        )
    text = kernel.operation.get_asm(enable_debug_info=False)
    # IREE links executables into one: names are those of all.
    body = _HEADER.sub(f"  func.func @{name}() {{\n" + "\n".join(prologue).replace("\\", "\\\\"), text, count=1)
    inner = body[body.index("{") + 1 : body.rindex("}")]
    messages = [ir.StringAttr(a).value for a in ir.ArrayAttr(lowered.attributes["kernel.messages"])]
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
    return executable, _call(function, name, inputs, outputs, workspace, status, messages)


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
    type_ = str(scalar.type)
    if type_ == "i64":
        return [*lines, f"    %{name} = {bits}"]
    lines.append(f"    %{name}_bits = {bits}")
    if type_ == "f64":
        return [*lines, f"    %{name} = arith.bitcast %{name}_bits : i64 to f64"]
    return [*lines, f"    %{name} = arith.trunci %{name}_bits : i64 to {type_}"]


def _call(
    function: ir.Operation,
    executable: str,
    inputs: list[_Argument],
    outputs: list[_Argument],
    workspace: int,
    status: list[_Argument],
    messages: list[str],
) -> str:
    """The function that dispatches the kernel and reports its status."""
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    given = _attributes(function, "arg_attrs", len(type_.inputs))
    returned = _attributes(function, "res_attrs", len(type_.results))
    arguments = ", ".join(f"%a{n}: {t} {a}" for n, (t, a) in enumerate(zip(type_.inputs, given)))
    results = ", ".join(f"{t} {a}" for t, a in zip(type_.results, returned))
    lines = [f"  func.func @main({arguments}) -> ({results}) {{"]
    constants: list[str] = []
    for number, argument in enumerate(inputs):
        if not argument.is_buffer:
            lines += _split_scalar(number, str(argument.type))
            constants += [f"%a{number}_lo", f"%a{number}_hi"]
    operands = [(f"%a{n}", str(type_.inputs[n])) for n, argument in enumerate(inputs) if argument.is_buffer]
    tensors = iter(str(t) for t in type_.results if str(t).startswith("tensor<"))
    made = [next(tensors) for _ in outputs]
    if workspace:
        made.append(f"tensor<{workspace}xi8>")
    made += [argument.tensor for argument in status]
    names = ", ".join([*constants, *(name for name, _ in operands)])
    types = ", ".join(["i32"] * len(constants) + [t for _, t in operands])
    dispatch = f"flow.dispatch @{executable}::@{executable}({names}) : ({types}) -> ({', '.join(made)})"
    lines.append(f"    %made:{len(made)} = {dispatch}" if made else f"    {dispatch}")
    last = f"%made#{len(made) - 1}"
    if messages:
        lines += _check(last, status[0].tensor, messages)
    tensor_number, scalar_number, values = 0, 0, []
    for result in map(str, type_.results):
        if result.startswith("tensor<"):
            values.append(f"%made#{tensor_number}")
            tensor_number += 1
            continue
        lines += _read_scalar(scalar_number, last, status[0].tensor, result)
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
