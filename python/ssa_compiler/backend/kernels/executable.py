"""The form in which IREE takes a kernel: an executable with a function on buffers, and a function that dispatches it.

The kernel's function reads its arguments from bindings and constants; dynamic sizes are constants. The function around
it (`kernel_call`, `program_call`) passes them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from iree.compiler import ir

from ...abi.kernel_interface import KernelInterface
from ..verify.kernel_limits import MOST_CONSTANTS, most_bindings
from .kernel_call import Argument, Callee, call_loop, host_names
from .program_call import call_program

__all__ = ["OperandLimitError", "assemble", "most_tensors"]

_HEADER = re.compile(r"^  func\.func @main\(.*$", re.MULTILINE)
_SIZES = "main.sizes"
"""The function of `--place-scratch` that computes the sizes of results and scratch memory."""
_SSA_NAME = re.compile(r"%[\w$.-]+")
_MOST_SCALARS = MOST_CONSTANTS // 2
"""Numbers of 64 bits."""
_TRANSLATION = "#iree_codegen.translation_info<pipeline = #iree_codegen.no_pipeline workgroup_size = [{}, 1, 1]>"
"""What says how many threads run a kernel on a GPU."""
_ADDRESSES = 1 << 62
"""Bytes of a buffer that stands for all memory."""
_ALIGNMENT = 64
"""Of scratch memory, in bytes; nothing is known of where the caller's tensors begin but that it suits their
elements.
"""


def most_tensors(*, gpu: bool) -> int:
    """How many buffers a kernel takes beside scratch memory and the status."""
    return most_bindings(gpu=gpu) - 2


class OperandLimitError(Exception):
    """A kernel with more operands than an executable is called with; says how many."""


def _arguments(kernel: ir.Operation) -> list[Argument]:
    block = kernel.regions[0].blocks[0]
    if not block.arguments:  # then there is no attribute
        return []
    roles = [ir.DictAttr(attributes)["kernel.role"] for attributes in ir.ArrayAttr(kernel.attributes["arg_attrs"])]
    return [
        Argument(f"%arg{number}", argument.type, ir.StringAttr(role).value)
        for number, (argument, role) in enumerate(zip(block.arguments, roles, strict=True))
    ]


def assemble(
    function: ir.Operation, kernel: ir.Module, name: str, *, whole: bool, threads: int
) -> tuple[str, str, KernelInterface | None]:
    """Return the executable, the function that dispatches it, `@main`, and how the runtime calls that.

    Args:
        function: the function that the kernel stands for, in the linalg stage.
        kernel: what `--lower-kernels` made of it.
        name: the name of the executable.
        whole: whether it is the whole program: the runtime passes its status and scratch memory.
        threads: the threads of a workgroup that runs it on a GPU; 0 on the CPU.
    Raises:
        OperandLimitError: it takes too many operands.
    """
    table = ir.SymbolTable(kernel.operation)
    lowered, sizes = table["main"].operation, table[_SIZES].operation
    arguments = _arguments(lowered)
    messages = [ir.StringAttr(a).value for a in ir.ArrayAttr(lowered.attributes["kernel.messages"])]
    inputs = [argument for argument in arguments if argument.is_given]
    lines, names = _inline(sizes, inputs)
    placed = lowered.attributes["kernel.placed"] if "kernel.placed" in lowered.attributes else ()
    notes = ir.IntegerAttr(lowered.attributes["kernel.notes"]).value
    functions = lowered.attributes["kernel.c_functions"] if "kernel.c_functions" in lowered.attributes else ()
    named = tuple(ir.StringAttr(each).value for each in functions)
    facts = (tuple(arguments), tuple(lines), tuple(names), tuple(messages), tuple(placed))
    callee = Callee(name, *facts, notes=notes, functions=named)
    sizes.erase()
    if whole:
        callee = _with_far(callee, gpu=threads > 0)
        call, interface = call_program(function, callee)
        executable = _executable(callee, kernel, ("status", "scratch", "output"), threads)
        return executable, call, replace(interface, workgroups=_count_workgroups(kernel))
    return _executable(callee, kernel, ("output", "scratch", "status"), threads), call_loop(function, callee), None


def _count_workgroups(kernel: ir.Module) -> int:
    """How many workgroups run a kernel."""
    lowered = ir.SymbolTable(kernel.operation)["main"].attributes
    return ir.IntegerAttr(lowered["kernel.workgroups"]).value if "kernel.workgroups" in lowered else 1


def _with_far(callee: Callee, *, gpu: bool) -> Callee:
    """Let the kernel be passed distances where there are more buffers than it takes: of those that it only reads."""
    buffers = [argument for argument in callee.arguments if argument.is_buffer]
    spare = len(buffers) - most_bindings(gpu=gpu)
    read = [number for number, argument in enumerate(callee.given) if argument.is_buffer and argument.role == "input"]
    fixed = [number for number in read if _has_elements(callee.given[number])]
    if spare <= 0 or len(fixed) <= spare:
        return callee
    return replace(callee, far=tuple(fixed[len(fixed) - spare :]), near=fixed[0])


def _has_elements(buffer: Argument) -> bool:
    """Whether it is known that there is memory of a buffer."""
    return not buffer.dynamic and 0 not in ir.MemRefType(buffer.type).shape


def _executable(callee: Callee, kernel: ir.Module, roles: tuple[str, ...], threads: int) -> str:
    """The executable. Its buffers are bound in the order of the arguments, then of the roles."""
    name, arguments = callee.name, callee.arguments
    groups = _count_workgroups(kernel)
    numbers = [(number, str(a.type)) for a in arguments for number in a.constants]
    numbers = [(number, "index" if type_.startswith("memref") else type_) for number, type_ in numbers]
    distances = [callee.given[number] for number in callee.far]
    numbers += [(f"{buffer.name}_from", "index") for buffer in distances]
    near = [number for number, argument in enumerate(callee.given) if number not in callee.far]
    buffers = [a for a in [*(callee.given[number] for number in near), *callee.with_role(*roles)] if a.is_buffer]
    if len(numbers) > _MOST_SCALARS:
        raise OperandLimitError(f"{len(numbers)} numbers and dynamic sizes among its arguments")
    if len(buffers) > most_bindings(gpu=threads > 0):
        tensors = [buffer for buffer in buffers if buffer.role not in ("scratch", "status")]
        raise OperandLimitError(f"{len(tensors)} tensors among its arguments and results")
    # Indirect: a command buffer that refers to no buffer of one call is recorded once.
    flags = [f'"{"ReadOnly|" if buffer.role == "input" else ""}Indirect"' for buffer in buffers]
    bindings = ", ".join(f"#hal.pipeline.binding<storage_buffer, {flag}>" for flag in flags)
    layout = f"#hal.pipeline.layout<constants = {2 * len(numbers)}, bindings = [{bindings}], flags = Indirect>"

    prologue = ["    %kernel_c0 = arith.constant 0 : index"]
    for ordinal, (number, type_) in enumerate(numbers):
        prologue += _load_scalar(number, type_, 2 * ordinal, layout)
    prologue += _bind(buffers, layout)
    if distances:
        prologue += _find_far(distances, buffers.index(callee.given[callee.near]), layout)
    text = kernel.operation.get_asm(enable_debug_info=False)
    # IREE links executables into one: names are those of all.
    attributes = f"attributes {{translation_info = {_TRANSLATION.format(threads)}}} " if threads else ""
    body = _HEADER.sub(
        f"  func.func @{name}() {attributes}{{\n" + "\n".join(prologue).replace("\\", "\\\\"), text, count=1
    )
    inner = body[body.index("{") + 1 : body.rindex("}")]
    return (
        f"  hal.executable.source private @{name} {{\n"
        f"    hal.executable.export public @{name} ordinal(0) layout({layout}) count(%device: !hal.device) "
        "-> (index, index, index) {\n"
        "      %one = arith.constant 1 : index\n"
        f"      %groups = arith.constant {groups} : index\n"
        "      hal.return %groups, %one, %one : index, index, index\n"
        "    }\n"
        "    builtin.module {\n"
        f"{inner}\n"
        "    }\n"
        "  }\n"
    )


def _bind(buffers: list[Argument], layout: str) -> list[str]:
    """The lines that take buffers from their bindings."""
    lines = []
    for binding, buffer in enumerate(buffers):
        access = " flags(ReadOnly)" if buffer.role == "input" else ""
        alignment = _ALIGNMENT if buffer.role == "scratch" else buffer.element_bytes
        given = f"{{{', '.join(buffer.constants)}}}" if buffer.dynamic else ""
        lines.append(
            f"    {buffer.name}_bound = hal.interface.binding.subspan layout({layout}) binding({binding}) "
            f"alignment({alignment}) offset(%kernel_c0){access} : {buffer.type}{given}"
        )
    return [*lines, _say_distinct(buffers)] if buffers else lines


def _find_far(buffers: list[Argument], near: int, layout: str) -> list[str]:
    """The lines that find buffers of which the distance from another one is known.

    Args:
        buffers: those that are far.
        near: the binding of the other one.
        layout: of the executable.
    """
    return [
        f"    %kernel_all = arith.constant {_ADDRESSES} : index",
        f"    %kernel_near = hal.interface.binding.subspan layout({layout}) binding({near}) "
        "alignment(1) offset(%kernel_c0) flags(ReadOnly) : memref<?xi8>{%kernel_all}",
        *(
            f"    {buffer.name} = memref.view %kernel_near[{buffer.name}_from][] : memref<?xi8> to {buffer.type}"
            for buffer in buffers
        ),
    ]


def _say_distinct(buffers: list[Argument]) -> str:
    """Name the buffers that are bound, and say that they share no memory: LLVM cannot know, and would load again what
    a store to another one might have changed. Of two that do, none is written (docs/Kernels.md, "What is trusted").
    """
    names = ", ".join(buffer.name for buffer in buffers)
    bound = ", ".join(f"{buffer.name}_bound" for buffer in buffers)
    types = ", ".join(str(buffer.type) for buffer in buffers)
    return f"    {names} = memref.distinct_objects {bound} : {types}"


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


def _inline(sizes: ir.Operation, inputs: list[Argument]) -> tuple[list[str], list[str]]:
    """The body of the function that computes sizes, as lines of the host's function, and the names of what it
    returns.
    """
    body = sizes.regions[0].blocks[0]
    given = [name for number, argument in enumerate(inputs) for name in host_names(number, argument)]
    names = {argument.get_name(): name for argument, name in zip(body.arguments, given, strict=True)}

    def rename(found: re.Match[str]) -> str:
        return names.get(found[0], f"%size_{found[0][1:]}")

    *ops, last = [view.operation for view in body.operations]
    lines = [_SSA_NAME.sub(rename, f"    {op.get_asm(enable_debug_info=False)}") for op in ops]
    return lines, [_SSA_NAME.sub(rename, operand.get_name()) for operand in last.operands]
