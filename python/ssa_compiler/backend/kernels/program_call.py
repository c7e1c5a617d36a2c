"""What calls a kernel that is a whole program: a function with IREE's calling convention, scheduled.

It is what IREE's passes would make of a function that dispatches the kernel, up to the end of `--compile-to=stream`:
buffer views are checked and imported, results are allocated side by side, and one command buffer has one dispatch. As
it is written here, iree-compile starts behind those passes, and there is nothing to verify of what they do in place.
The status buffer and scratch memory are arguments: the runtime keeps them between calls and reads the status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from iree.compiler import ir

from ...abi.kernel_interface import INTERRUPTED, NO_SPACE, KernelInterface, PlacedResult
from .kernel_call import Argument, Callee, braced, host_names, names_of, pass_numbers, split_scalar

__all__ = ["call_program"]

_SHARED = ("tssa.writeback", "tssa.alias_of", "tssa.same_as")
"""Attributes of results that are no new tensors."""
_FIRST_WORKSPACE = 1 << 16
"""Bytes to begin with where the arguments decide."""
_ON = "on(#hal.device.affinity<@__device_0>)"
_EXTERNAL = "!stream.resource<external>"
_VIEW = "!hal.buffer_view"


@dataclass(frozen=True)
class _Tensor:
    """A tensor among the function's arguments or results.

    Attributes:
        name: what names of its values begin with.
        type: its type outside the kernel.
        sizes: the names of its dynamic sizes.
        element_bytes: bytes of an element.
    """

    name: str
    type: ir.RankedTensorType
    sizes: tuple[str, ...]
    element_bytes: int

    @property
    def bytes(self) -> str:
        """The name of its size in bytes."""
        return f"{self.name}_bytes"

    @property
    def typed(self) -> str:
        """Its type and dynamic sizes."""
        return f"{self.type}{braced(list(self.sizes))}"

    @property
    def memory(self) -> str:
        """The type of its memory."""
        return f"{_EXTERNAL}{{{self.bytes}}}"

    def count_bytes(self) -> Iterator[str]:
        """The lines that compute its size in bytes."""
        known = self.element_bytes
        for dim in range(self.type.rank):
            known *= 1 if self.type.is_dynamic_dim(dim) else self.type.get_dim_size(dim)
        last = f"{self.name}_of"
        yield f"    {last if self.sizes else self.bytes} = arith.constant {known} : index"
        for number, size in enumerate(self.sizes, 1):
            made = self.bytes if number == len(self.sizes) else f"{self.name}_of{number}"
            yield f"    {made} = arith.muli {last}, {size} : index"
            last = made


def call_program(function: ir.Operation, callee: Callee) -> tuple[str, KernelInterface]:
    """Return the function that stands for a whole program, `@main`, as text, and how it is called.

    Args:
        function: the program in the linalg stage.
        callee: its kernel, with buffers in the order: arguments, status, scratch memory, results.
    """
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    kept = [*callee.given, *callee.with_role("status", "scratch")]
    tensors: dict[int, _Tensor] = {}
    for number, argument in enumerate(kept):
        if argument.is_buffer and number not in callee.far:
            outside = type_.inputs[number] if argument.is_given else _tensor_type(argument)
            sizes = tuple(host_names(number, argument))
            tensors[number] = _Tensor(f"%a{number}", outside, sizes, argument.element_bytes)
    new = _new_tensors(function, type_)
    made = _made(callee, [result for number, result in new.items() if number not in callee.placed])
    lines = [line for number, tensor in tensors.items() for line in _import(number, tensor, kept[number].role)]
    lines += callee.size_lines
    values = names_of(kept)
    values.update(
        (number, size)
        for argument, tensor in zip(callee.with_role("output"), made, strict=True)
        for number, size in zip(argument.constants, tensor.sizes, strict=True)
    )
    passed, constants = pass_numbers(callee.arguments, values)
    lines += passed
    for number in callee.far:
        lines += split_scalar(f"%far{number}", f"%a{number}", "i64")
        constants += [f"%far{number}_lo", f"%far{number}_hi"]
    written = [tensor for number, tensor in tensors.items() if kept[number].role != "input"]
    returned = made or written[:1]  # a function without results would not be run
    if returned:
        bound = [("ro" if kept[number].role == "input" else "rw", tensor) for number, tensor in tensors.items()]
        lines += [*_dispatch(callee.name, constants, bound, made), *_export(returned, bool(made))]
    exported = ", ".join(f"{tensor.name}_view" for tensor in returned)
    lines.append(f"    util.return{f' {exported} : ' if returned else ''}{', '.join([_VIEW] * len(returned))}")
    types = [
        str(tensors[number].type if number in tensors else "i64" if number in callee.far else type_.inputs[number])
        for number in range(len(kept))
    ]
    text = "\n".join([_header(types, list(tensors), [str(tensor.type) for tensor in returned]), *lines, "  }\n"])
    return text, _interface(callee, new)


def _tensor_type(argument: Argument) -> ir.RankedTensorType:
    return ir.RankedTensorType(ir.Type.parse(argument.tensor, argument.type.context))


def _new_tensors(function: ir.Operation, type_: ir.FunctionType) -> dict[int, ir.RankedTensorType]:
    """The types of the results that are new tensors, by their positions."""
    attributes: list[ir.Attribute | tuple[str, ...]] = [()] * len(type_.results)
    if "res_attrs" in function.attributes:
        attributes = list(ir.ArrayAttr(function.attributes["res_attrs"]))
    return {
        number: result
        for number, (result, given) in enumerate(zip(type_.results, attributes, strict=True))
        if isinstance(result, ir.RankedTensorType) and not any(name in given for name in _SHARED)
    }


def _made(callee: Callee, types: list[ir.RankedTensorType]) -> list[_Tensor]:
    """The new tensors that are memory of their own."""
    sizes = iter(callee.sizes)
    return [
        _Tensor(f"%made{number}", type_, tuple(next(sizes) for _ in argument.constants), argument.element_bytes)
        for number, (argument, type_) in enumerate(zip(callee.with_role("output"), types, strict=True))
    ]


def _header(types: list[str], tensors: list[int], results: list[str]) -> str:
    """The function's first line. Its declaration is what tools of IREE's show."""
    taken = ", ".join(f"%a{n}: {_VIEW if n in tensors else type_}" for n, type_ in enumerate(types))
    inputs = ", ".join(f"%input{number}: {type_}" for number, type_ in enumerate(types))
    outputs = ", ".join(f"%output{number}: {type_}" for number, type_ in enumerate(results))
    return (
        f"  util.func public @main({taken}) -> ({', '.join([_VIEW] * len(results))}) attributes {{iree.abi.stub, "
        f'iree.reflection = {{iree.abi.declaration = "sync func @main({inputs}) -> ({outputs})"}}}} {{'
    )


def _import(number: int, tensor: _Tensor, role: str) -> Iterator[str]:
    """The lines that check a buffer view and take its memory."""
    name, type_ = tensor.name, tensor.type
    for dim in range(type_.rank):
        if type_.is_dynamic_dim(dim):
            yield f"    {name}_{dim} = hal.buffer_view.dim<{name} : {_VIEW}>[{dim}] : index"
        else:
            yield f"    {name}_{dim} = arith.constant {type_.get_dim_size(dim)} : index"
    yield f"    {name}_element = hal.element_type<{type_.element_type}> : i32"
    yield f"    {name}_encoding = hal.encoding_type<dense_row_major> : i32"
    shape = ", ".join(f"{name}_{dim}" for dim in range(type_.rank))
    yield (
        f'    hal.buffer_view.assert<{name} : {_VIEW}> message("input{number}") shape([{shape}]) '
        f"type({name}_element) encoding({name}_encoding)"
    )
    yield from tensor.count_bytes()
    consume = "" if role == "input" else "consume "
    yield f"    {name}_memory = stream.tensor.import {_ON} {consume}{name} : {_VIEW} -> {tensor.typed} in {tensor.memory}"


def _dispatch(
    kernel: str, constants: list[str], bound: list[tuple[str, _Tensor]], made: list[_Tensor]
) -> Iterator[str]:
    """The lines that allocate the results and run the kernel: then `%done`.

    Args:
        kernel: its name.
        constants: what it is passed.
        bound: the tensors that are arguments, and what it may do with each.
        made: the results, which are parts of `%all` from `<name>_from` on.
    """
    yield "    %zero = arith.constant 0 : index"
    yield "    %alignment = arith.constant 64 : index"
    total = "%zero"
    for tensor in made:
        yield from tensor.count_bytes()
        yield f"    {tensor.name}_from = arith.addi {total}, %zero : index"
        yield f"    {tensor.name}_aligned = util.align {tensor.bytes}, %alignment : index"
        total = f"{tensor.name}_end"
        yield f"    {total} = arith.addi {tensor.name}_from, {tensor.name}_aligned : index"
    captured = [f"{t.name}_memory as {t.name}_bound: {t.memory}" for _, t in bound]
    accesses = [f"        {mode} {t.name}_bound[%zero for {t.bytes}] : {t.memory}" for mode, t in bound]
    ready = ""
    if made:
        whole = f"{_EXTERNAL}{{{total}}}"
        yield f"    %all, %ready = stream.resource.alloca uninitialized {_ON} : {whole} => !stream.timepoint"
        captured.append(f"%all as %all_bound: {whole}")
        accesses += [f"        wo %all_bound[{t.name}_from for {t.bytes}] : {whole}" for t in made]
        ready = "await(%ready) => "
    given = f"({', '.join(constants)} : {', '.join(['i32'] * len(constants))})" if constants else ""
    yield f"    %done = stream.cmd.execute {_ON} {ready}with({', '.join(captured)}) {{"
    yield f"      stream.cmd.dispatch @{kernel}::@{kernel}{given} {{"
    yield ",\n".join(accesses)
    yield "      }"
    yield "    } => !stream.timepoint"


def _export(returned: list[_Tensor], made: bool) -> Iterator[str]:
    """The lines that wait for the kernel and make buffer views of what is returned.

    Args:
        returned: the tensors.
        made: whether they are parts of `%all`.
    """
    last = returned[-1]
    whole = f"{_EXTERNAL}{{{last.name}_end}}" if made else last.memory
    yield f"    %memory = stream.timepoint.await %done => {'%all' if made else f'{last.name}_memory'} : {whole}"
    for tensor in returned:
        part = "%memory"
        if made:
            part = f"{tensor.name}_part"
            yield f"    {part} = stream.resource.subview %memory[{tensor.name}_from] : {whole} -> {tensor.memory}"
        yield f"    {tensor.name}_view = stream.tensor.export {_ON} {part} : {tensor.typed} in {tensor.memory} -> {_VIEW}"


def _interface(callee: Callee, new: Mapping[int, ir.RankedTensorType]) -> KernelInterface:
    """What the runtime has to know."""
    scratch, status = callee.with_role("scratch"), callee.with_role("status")
    grows = NO_SPACE in callee.messages
    bytes_ = 0  # takes none
    if scratch:  # all buffers in it may be empty
        bytes_ = _FIRST_WORKSPACE if grows else max(int(_constant(callee)), 1)
    words = ir.MemRefType(status[0].type).shape[0] if status else 0
    placed = tuple(_placed(callee, new, words - callee.other_words))
    polls = INTERRUPTED in callee.messages
    facts = (callee.messages, words, bytes_, grows, polls, placed, callee.far, callee.near)
    return KernelInterface(*facts, notes=callee.notes, functions=callee.functions)


def _placed(callee: Callee, new: Mapping[int, ir.RankedTensorType], words: int) -> Iterator[PlacedResult]:
    """How the caller finds what is in scratch memory. The last ones of the words are about it."""
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
