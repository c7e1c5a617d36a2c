"""The function that dispatches a kernel, in the place of a program or of a part of one.

That of a program gets the status buffer and scratch memory as arguments: the runtime keeps them between calls and reads
the status. That of a part makes both, and reports the status to the program around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from iree.compiler import ir

from ...abi.kernel_interface import FIRST_SCALAR, INTERRUPTED, NO_SPACE, KernelInterface, PlacedResult

__all__ = ["Argument", "Callee", "call_loop", "call_program", "host_names"]

_OWN = ("kernel.", "bufferization.")
"""What begins the names of attributes that are about kernels."""
_SHARED = ("tssa.writeback", "tssa.alias_of", "tssa.same_as")
"""Attributes of results that are no new tensors."""
_FIRST_WORKSPACE = 1 << 16
"""Bytes to begin with where the arguments decide."""


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
    """

    name: str
    arguments: tuple[Argument, ...]
    size_lines: tuple[str, ...]
    sizes: tuple[str, ...]
    messages: tuple[str, ...]
    placed: tuple[int, ...]

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


def call_program(function: ir.Operation, callee: Callee) -> tuple[str, KernelInterface]:
    """Return the function that stands for a whole program, `@main`, as text, and how it is called.

    Args:
        function: the program in the linalg stage.
        callee: its kernel, with buffers in the order: arguments, status, scratch memory, results.
    """
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    attributes = _attributes(function, "arg_attrs", len(type_.inputs))
    own = callee.with_role("status", "scratch")
    kept = [*callee.given, *own]
    types = [*map(str, type_.inputs), *(argument.tensor for argument in own)]
    attributes += ["", ""][: len(own)]
    for number, argument in enumerate(kept):
        if argument.role != "input":
            inner = attributes[number].strip("{}")
            attributes[number] = f"{{{', '.join(filter(None, [inner, 'iree.abi.consume']))}}}"
    taken = ", ".join(f"%a{n}: {t} {a}" for n, (t, a) in enumerate(zip(types, attributes, strict=True)))
    lines, values = _sizes_of(kept, types), _named(kept)
    lines += callee.size_lines
    outputs = callee.with_role("output")
    sizes = iter(callee.sizes)
    values.update({number: next(sizes) for argument in outputs for number in argument.constants})
    passed, constants = _pass(callee.arguments, values)
    lines += passed
    operands = [number for number, argument in enumerate(kept) if argument.is_buffer]
    shapes = [f"{types[n]}{_braced([values[number] for number in kept[n].constants])}" for n in operands]
    tied = [n for n in operands if kept[n].role != "input"]
    new = _new_tensors(function, type_)
    returned = [str(result) for number, result in new.items() if number not in callee.placed]
    made = [
        f"{tensor}{_braced([values[number] for number in argument.constants])}"
        for tensor, argument in zip(returned, outputs, strict=True)
    ]
    results = [*made, *(f"%a{n}{_braced([values[number] for number in kept[n].constants])}" for n in tied)]
    lines.append(
        f"    %made:{len(results)} = flow.dispatch @{callee.name}::@{callee.name}"
        f"({', '.join([*constants, *(f'%a{n}' for n in operands)])}) : "
        f"({', '.join(['i32'] * len(constants) + shapes)}) -> ({', '.join(results)})"
    )
    if not results:  # it only returns its arguments
        lines.pop()
    names = [f"%made#{number}" for number in range(len(outputs))]
    if results and not outputs:  # what nothing uses is not run
        returned, names = [types[tied[0]]], ["%made#0"]
    lines.append(f"    return {', '.join(names)}{' : ' * bool(names)}{', '.join(returned)}")
    text = "\n".join([f"  func.func @main({taken}) -> ({', '.join(returned)}) {{", *lines, "  }\n"])
    scratch, status = callee.with_role("scratch"), callee.with_role("status")
    grows = NO_SPACE in callee.messages
    bytes_ = int(_constant(callee)) if scratch and not grows else _FIRST_WORKSPACE if scratch else 0
    words = ir.MemRefType(status[0].type).shape[0] if status else 0
    placed = tuple(_placed(callee, new, words))
    return text, KernelInterface(callee.messages, words, bytes_, grows, INTERRUPTED in callee.messages, placed)


def _new_tensors(function: ir.Operation, type_: ir.FunctionType) -> dict[int, ir.RankedTensorType]:
    """The types of the results that are new tensors, by their positions."""
    attributes = _attributes(function, "res_attrs", len(type_.results))
    return {
        number: result
        for number, (result, shared) in enumerate(zip(type_.results, attributes, strict=True))
        if isinstance(result, ir.RankedTensorType) and not any(name in shared for name in _SHARED)
    }


def _placed(callee: Callee, new: Mapping[int, ir.RankedTensorType], words: int) -> Iterator[PlacedResult]:
    """How the caller finds what is in scratch memory. The last words of the status are about it."""
    shapes = [
        tuple(None if new[number].is_dynamic_dim(dim) else new[number].shape[dim] for dim in range(new[number].rank))
        for number in callee.placed
    ]
    word = words - sum(1 + shape.count(None) for shape in shapes)
    for number, shape in zip(callee.placed, shapes, strict=True):
        yield PlacedResult(list(new).index(number), shape, word)
        word += 1 + shape.count(None)


def _constant(callee: Callee) -> str:
    """The bytes of scratch memory that does not depend on the arguments."""
    name = callee.sizes[-1]
    (found,) = [line for line in callee.size_lines if line.strip().startswith(f"{name} = arith.constant ")]
    return found.split()[3]


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
    lines, values = _sizes_of(inputs, types), _named(inputs)
    lines += callee.size_lines
    sizes = iter(callee.sizes)
    values.update({number: next(sizes) for argument in made for number in argument.constants})
    passed, constants = _pass(callee.arguments, values)
    lines += passed
    operands = [number for number, argument in enumerate(inputs) if argument.is_buffer]
    shapes = [f"{types[n]}{_braced([values[number] for number in inputs[n].constants])}" for n in operands]
    # Bools are bytes in a kernel.
    tensors = [str(result) for result in type_.results if isinstance(result, ir.RankedTensorType)]
    tensors += [argument.tensor for argument in made[len(tensors) :]]
    shaped = [
        f"{tensor}{_braced([values[number] for number in argument.constants])}"
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


def _named(arguments: list[Argument]) -> dict[str, str]:
    """The names in the caller of the numbers that a kernel is passed for arguments, by those in the kernel."""
    return {
        inner: outer
        for number, argument in enumerate(arguments)
        for inner, outer in zip(argument.constants, host_names(number, argument), strict=True)
    }


def _pass(arguments: tuple[Argument, ...], values: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The lines that halve the numbers which a kernel is passed, and the names of the halves."""
    lines: list[str] = []
    constants: list[str] = []
    for argument in arguments:
        for number in argument.constants:
            name = f"%pass_{number[1:]}"
            lines += _split_scalar(name, values[number], "index" if argument.is_buffer else str(argument.type))
            constants += [f"{name}_lo", f"{name}_hi"]
    return lines, constants


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
