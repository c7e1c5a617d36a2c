"""The form in which IREE takes a kernel: an executable with a function on buffers, and a function that dispatches it.

The kernel's function reads its arguments from bindings and constants; dynamic sizes are constants. The function around it, which
has the signature of the program or loop that the kernel stands for, passes them, computes the sizes of results and of scratch
memory, and reports what the kernel's status says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from ._limits import MOST_BINDINGS, MOST_CONSTANTS

__all__ = ["OperandLimitError", "assemble"]

_HEADER = re.compile(r"^  func\.func @main\(.*$", re.MULTILINE)
_SIZES = "main.sizes"
"""The function of `--place-scratch` that computes the sizes of results and scratch memory."""
_SSA_NAME = re.compile(r"%[\w$.-]+")
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
    def dynamic(self) -> list[int]:
        """The dimensions of a buffer whose size is dynamic."""
        if not isinstance(self.type, ir.MemRefType):
            return []
        return [dim for dim in range(self.type.rank) if self.type.is_dynamic_dim(dim)]

    @property
    def constants(self) -> list[str]:
        """The names of the numbers that are passed for it: itself, or its dynamic sizes."""
        return [f"{self.name}_{dim}" for dim in self.dynamic] if self.is_buffer else [self.name]


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
    table = ir.SymbolTable(kernel.operation)
    lowered, sizes = table["main"].operation, table[_SIZES].operation
    arguments = _arguments(lowered)
    inputs, outputs, scratch, status = (
        [argument for argument in arguments if argument.role == role]
        for role in ("input", "output", "scratch", "status")
    )
    numbers = [(number, argument) for argument in arguments for number in argument.constants]
    buffers = [argument for argument in [*inputs, *outputs, *scratch, *status] if argument.is_buffer]
    if len(numbers) > _MOST_SCALARS:
        raise OperandLimitError(f"{len(numbers)} numbers and dynamic sizes among its arguments")
    if len(buffers) - len(scratch) - len(status) > _MOST_BUFFERS:
        raise OperandLimitError(f"{len(buffers) - len(scratch) - len(status)} tensors among its arguments and results")
    bindings = ", ".join(
        f"#hal.pipeline.binding<storage_buffer{', ReadOnly' if buffer.role == 'input' else ''}>" for buffer in buffers
    )
    layout = f"#hal.pipeline.layout<constants = {2 * len(numbers)}, bindings = [{bindings}]>"

    prologue = ["    %kernel_c0 = arith.constant 0 : index"]
    for ordinal, (number, argument) in enumerate(numbers):
        prologue += _load_scalar(number, "index" if argument.is_buffer else str(argument.type), 2 * ordinal, layout)
    for binding, buffer in enumerate(buffers):
        flags = " flags(ReadOnly)" if buffer.role == "input" else ""
        alignment = _ALIGNMENT if buffer.role == "scratch" else buffer.element_bytes
        given = f"{{{', '.join(buffer.constants)}}}" if buffer.dynamic else ""
        prologue.append(
            f"    {buffer.name} = hal.interface.binding.subspan layout({layout}) binding({binding}) "
            f"alignment({alignment}) offset(%kernel_c0){flags} : {buffer.type}{given}"
        )
    sizes_text = _inline(sizes, inputs)
    sizes.erase()
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
    return executable, _call(function, name, arguments, sizes_text, messages)


def _load_scalar(name: str, type_: str, ordinal: int, layout: str) -> list[str]:
    """A number of two push constants."""
    name = name[1:]
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
    if type_ == "i64":
        return [*lines, f"    %{name} = {bits}"]
    lines.append(f"    %{name}_bits = {bits}")
    if type_ == "f64":
        return [*lines, f"    %{name} = arith.bitcast %{name}_bits : i64 to f64"]
    if type_ == "index":
        return [*lines, f"    %{name} = arith.index_castui %{name}_bits : i64 to index"]
    return [*lines, f"    %{name} = arith.trunci %{name}_bits : i64 to {type_}"]


def _inline(sizes: ir.Operation, inputs: list[_Argument]) -> tuple[list[str], list[str]]:
    """The body of the function that computes sizes, as lines of the host's function, and the names of what it returns."""
    body = sizes.regions[0].blocks[0]
    given = [name for number, argument in enumerate(inputs) for name in _host_names(number, argument)]
    names = {argument.get_name(): name for argument, name in zip(body.arguments, given, strict=True)}

    def rename(found: re.Match[str]) -> str:
        return names.get(found[0], f"%size_{found[0][1:]}")

    *ops, last = [view.operation for view in body.operations]
    lines = [_SSA_NAME.sub(rename, f"    {op.get_asm(enable_debug_info=False)}") for op in ops]
    return lines, [_SSA_NAME.sub(rename, operand.get_name()) for operand in last.operands]


def _call(
    function: ir.Operation,
    executable: str,
    arguments: list[_Argument],
    sizes: tuple[list[str], list[str]],
    messages: list[str],
) -> str:
    """The function that dispatches the kernel and reports its status.

    Args:
        function: the function that the kernel stands for.
        executable: its name.
        arguments: those of the kernel.
        sizes: the lines that compute the sizes of results and scratch memory, and their names.
        messages: what the kernel's assertions say.
    """
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    given = _attributes(function, "arg_attrs", len(type_.inputs))
    returned = _attributes(function, "res_attrs", len(type_.results))
    taken = ", ".join(f"%a{n}: {t} {a}" for n, (t, a) in enumerate(zip(type_.inputs, given)))
    results = ", ".join(f"{t} {a}" for t, a in zip(type_.results, returned))
    lines = [f"  func.func @main({taken}) -> ({results}) {{"]
    inputs = [argument for argument in arguments if argument.role == "input"]
    made = [argument for argument in arguments if argument.role != "input"]
    for number, argument in enumerate(inputs):
        for name, dim in zip(_host_names(number, argument), argument.dynamic):
            lines.append(f"    {name}_at = arith.constant {dim} : index")
            lines.append(f"    {name} = tensor.dim %a{number}, {name}_at : {type_.inputs[number]}")
    lines += sizes[0]
    constants: list[str] = []
    for number, argument in enumerate(inputs):
        for name in _host_names(number, argument):
            lines += _split_scalar(name, name, "index" if argument.is_buffer else str(argument.type))
            constants += [f"{name}_lo", f"{name}_hi"]
    for number, name in enumerate(sizes[1][: sum(len(argument.dynamic) for argument in made)]):
        lines += _split_scalar(f"%size{number}", name, "index")
        constants += [f"%size{number}_lo", f"%size{number}_hi"]
    operands, shapes = [], []
    for number, argument in enumerate(inputs):
        if argument.is_buffer:
            operands.append(f"%a{number}")
            shapes.append(f"{type_.inputs[number]}{_braced(_host_names(number, argument))}")
    left, tensors = iter(sizes[1]), iter(str(t) for t in type_.results if isinstance(t, ir.RankedTensorType))
    types = [
        f"{next(tensors) if argument.role == 'output' else argument.tensor}{_braced([next(left) for _ in argument.dynamic])}"
        for argument in made
    ]
    dispatch = (
        f"flow.dispatch @{executable}::@{executable}({', '.join([*constants, *operands])}) : "
        f"({', '.join(['i32'] * len(constants) + shapes)}) -> ({', '.join(types)})"
    )
    lines.append(f"    %made:{len(made)} = {dispatch}" if made else f"    {dispatch}")
    last, status = f"%made#{len(made) - 1}", made[-1].tensor if made else ""
    if messages:
        lines += _check(last, status, messages)
    tensor_number, scalar_number, values = 0, 0, []
    for result in map(str, type_.results):
        if result.startswith("tensor<"):
            values.append(f"%made#{tensor_number}")
            tensor_number += 1
            continue
        lines += _read_scalar(scalar_number, last, status, result)
        values.append(f"%s{scalar_number}")
        scalar_number += 1
    lines.append(f"    return {', '.join(values)} : {', '.join(map(str, type_.results))}" if values else "    return")
    lines.append("  }\n")
    return "\n".join(lines)


def _host_names(number: int, argument: _Argument) -> list[str]:
    """The names in the host's function of the numbers that are passed for an input."""
    return [f"%a{number}_{dim}" for dim in argument.dynamic] if argument.is_buffer else [f"%a{number}"]


def _braced(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}" if names else ""


def _attributes(function: ir.Operation, name: str, count: int) -> list[str]:
    """The attributes of arguments or results that are not about kernels."""
    if name not in function.attributes:
        return [""] * count
    found = []
    for given in map(ir.DictAttr, ir.ArrayAttr(function.attributes[name])):
        kept = {named.name: named.attr for named in given if not named.name.startswith(_OWN)}
        found.append(str(ir.DictAttr.get(kept, context=function.context)) if kept else "")
    return found


def _split_scalar(name: str, value: str, type_: str) -> list[str]:
    """The halves `name`_lo and `name`_hi of a number."""
    lines = []
    bits = value
    if type_ != "i64":
        bits = f"{name}_bits"
        conversion = {"f64": "bitcast", "index": "index_castui"}.get(type_, "extui")
        lines.append(f"    {bits} = arith.{conversion} {value} : {type_} to i64")
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
