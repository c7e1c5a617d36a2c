"""What calls a kernel that stands for a part of a program: a function on tensors, which takes the part's place.

IREE makes the status buffer and scratch memory for each call, and the function reports the status to the program around
it. A kernel that is the whole program is called by `program_call`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from iree.compiler import ir

from ...abi.kernel_interface import FIRST_SCALAR

__all__ = ["Argument", "Callee", "braced", "call_loop", "host_names", "names_of", "pass_numbers", "split_scalar"]


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel: its name, type and role."""

    name: str
    type: ir.Type
    role: str

    @property
    def is_buffer(self) -> bool:
        return isinstance(self.type, ir.MemRefType)

    @property
    def is_given(self) -> bool:
        """Whether it is an argument of what the kernel stands for."""
        return self.role in ("input", "written")

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


@dataclass(frozen=True)
class Callee:
    """A kernel, as its caller sees it.

    Attributes:
        name: of the executable, and of the function in it.
        arguments: those of the kernel.
        size_lines: host code that computes `sizes` from the arguments.
        sizes: the names of the dynamic sizes of results, and of the bytes of scratch memory.
        messages: what the kernel's assertions say.
        placed: the positions of results that the kernel leaves in its scratch memory.
        far: the positions, among `given`, of the buffers that are passed as a distance from another one, in bytes.
        near: the position of that one.
        notes: the words of its status, behind the scalars, for the numbers of messages.
        functions: the functions of the C library that it calls, by addresses in the last words of its status.
    """

    name: str
    arguments: tuple[Argument, ...]
    size_lines: tuple[str, ...]
    sizes: tuple[str, ...]
    messages: tuple[str, ...]
    placed: tuple[int, ...]
    far: tuple[int, ...] = ()
    near: int = -1
    notes: int = 0
    functions: tuple[str, ...] = ()

    @property
    def other_words(self) -> int:
        """How many words of its status, the last ones, are neither flags nor results."""
        return self.notes + len(self.functions)

    def with_role(self, *roles: str) -> list[Argument]:
        """The arguments with one of some roles, role by role."""
        return [argument for role in roles for argument in self.arguments if argument.role == role]

    @property
    def given(self) -> list[Argument]:
        """The arguments of what the kernel stands for."""
        return [argument for argument in self.arguments if argument.is_given]


def host_names(number: int, argument: Argument) -> list[str]:
    """The names in the caller of the numbers that are passed for an argument of its own."""
    return [f"%a{number}_{dim}" for dim in argument.dynamic] if argument.is_buffer else [f"%a{number}"]


def call_loop(function: ir.Operation, callee: Callee) -> str:
    """Return a function that stands for a part of a program, `@main`, as text.

    Args:
        function: the part in the linalg stage.
        callee: its kernel, with buffers in the order: arguments, results, scratch memory, status.
    """
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    taken = ", ".join(f"%a{number}: {input_}" for number, input_ in enumerate(type_.inputs))
    results = ", ".join(map(str, type_.results))
    inputs, made = callee.given, callee.with_role("output", "scratch", "status")
    types = list(map(str, type_.inputs))
    lines, values = _sizes_of(inputs, types), names_of(inputs)
    lines += callee.size_lines
    sizes = iter(callee.sizes)
    values.update({number: next(sizes) for argument in made for number in argument.constants})
    passed, constants = pass_numbers(callee.arguments, values)
    lines += passed
    operands = [number for number, argument in enumerate(inputs) if argument.is_buffer]
    shapes = [f"{types[n]}{braced([values[number] for number in inputs[n].constants])}" for n in operands]
    # Bools are bytes in a kernel.
    tensors = [str(result) for result in type_.results if isinstance(result, ir.RankedTensorType)]
    tensors += [argument.tensor for argument in made[len(tensors) :]]
    shaped = [
        f"{tensor}{braced([values[number] for number in argument.constants])}"
        for tensor, argument in zip(tensors, made, strict=True)
    ]
    dispatch = (
        f"flow.dispatch @{callee.name}::@{callee.name}({', '.join([*constants, *(f'%a{n}' for n in operands)])}) : "
        f"({', '.join(['i32'] * len(constants) + shapes)}) -> ({', '.join(shaped)})"
    )
    lines.append(f"    %made:{len(made)} = {dispatch}" if made else f"    {dispatch}")
    last, status = f"%made#{len(made) - 1}", made[-1].tensor if made else ""
    if callee.messages:
        lines += _check(last, status, callee.messages)
    returned: list[str] = []
    outputs, scalars = (f"%made#{number}" for number in range(len(made))), count()
    for result in map(str, type_.results):
        if result.startswith("tensor<"):
            returned.append(next(outputs))
        else:
            scalar = next(scalars)
            lines += _read_scalar(scalar, last, status, result)
            returned.append(f"%s{scalar}")
    lines.append(f"    return {', '.join(returned)} : {results}" if returned else "    return")
    return "\n".join([f"  func.func @main({taken}) -> ({results}) {{", *lines, "  }\n"])


def _sizes_of(arguments: list[Argument], types: list[str]) -> list[str]:
    """The lines that ask for the dynamic sizes of arguments."""
    lines = []
    for number, argument in enumerate(arguments):
        for name, dim in zip(host_names(number, argument), argument.dynamic):
            lines.append(f"    {name}_at = arith.constant {dim} : index")
            lines.append(f"    {name} = tensor.dim %a{number}, {name}_at : {types[number]}")
    return lines


def names_of(arguments: list[Argument]) -> dict[str, str]:
    """The names in the caller of the numbers that a kernel is passed for arguments, by those in the kernel."""
    return {
        inner: outer
        for number, argument in enumerate(arguments)
        for inner, outer in zip(argument.constants, host_names(number, argument), strict=True)
    }


def pass_numbers(arguments: tuple[Argument, ...], values: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The lines that halve the numbers which a kernel is passed, and the names of the halves."""
    lines: list[str] = []
    constants: list[str] = []
    for argument in arguments:
        for number in argument.constants:
            name = f"%pass_{number[1:]}"
            lines += split_scalar(name, values[number], "index" if argument.is_buffer else str(argument.type))
            constants += [f"{name}_lo", f"{name}_hi"]
    return lines, constants


def braced(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}" if names else ""


def split_scalar(name: str, value: str, type_: str) -> list[str]:
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


def _check(status: str, type_: str, messages: tuple[str, ...]) -> list[str]:
    """The lines that report what a status says."""
    lines = ["    %first = arith.constant 0 : index", f"    %status = flow.tensor.load {status}[%first] : {type_}"]
    for number, message in enumerate(messages, 1):
        lines += [
            f"    %code{number} = arith.constant {number} : i64",
            f"    %fine{number} = arith.cmpi ne, %status, %code{number} : i64",
            f"    cf.assert %fine{number}, {ir.StringAttr.get(message)}",
        ]
    return lines


def _read_scalar(number: int, status: str, type_: str, result: str) -> list[str]:
    """The lines that read a scalar result, `%s` and its number."""
    name = f"%s{number}"
    lines = [
        f"    {name}_at = arith.constant {number + FIRST_SCALAR} : index",
        f"    {name}_bits = flow.tensor.load {status}[{name}_at] : {type_}",
    ]
    if result == "f64":
        return [*lines, f"    {name} = arith.bitcast {name}_bits : i64 to f64"]
    if result == "i64":
        return [*lines[:-1], lines[-1].replace(f"{name}_bits", name, 1)]
    return [*lines, f"    {name} = arith.trunci {name}_bits : i64 to {result}"]
