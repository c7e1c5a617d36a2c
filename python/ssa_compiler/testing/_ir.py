"""Reads MLIR text into plain Python objects that the interpreter can run quickly.

The text is parsed by torch-mlir's bindings, which register the Torch dialect and the upstream ones. What they cannot
parse, the custom assembly of `tssa` and `torch_c`, is first printed in generic form by `ssa-opt` (or `torch-mlir-opt`).
Each SSA value becomes a slot number in its function's frame, so running an operation touches no MLIR object.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from .._opt import find_ssa_opt
from ..errors import SourceLocation, SsaCompilerError, ToolError
from ..process.forks import new_context
from ..semantics.dtypes import by_mlir

__all__ = [
    "Block",
    "Function",
    "InterpreterError",
    "Operation",
    "ValueType",
    "parse_module",
    "parse_type",
    "to_generic_form",
]


class InterpreterError(SsaCompilerError, RuntimeError):
    """The interpreted IR is wrong or not understood; never an error of the interpreted program itself."""


_DTYPES = {name: entry.dtype for name, entry in by_mlir().items()}

_UNSIGNED = {getattr(torch, f"uint{width}"): getattr(torch, f"int{width}") for width in (8, 16, 32, 64)}

_TENSOR = re.compile(r"^!torch\.(v?)tensor(?:<(?:\*|\[(?P<sizes>[^\]]*)\]|(?P<nosizes>unk))?,?(?P<dtype>[^,]*).*>)?$")
_BUILTIN = re.compile(r"^tensor<(?P<sizes>(?:(?:\?|\d+)x)*)(?P<dtype>[^,]+).*>$")
_SCALARS: dict[str, type] = {
    "!torch.int": int,
    "!torch.float": float,
    "!torch.bool": bool,
    "!torch.str": str,
    "!torch.none": type(None),
    "index": int,
    "i1": bool,
    **{f"i{width}": int for width in (8, 16, 32, 64)},
    **dict.fromkeys(("f16", "bf16", "f32", "f64"), float),
}


@dataclass(frozen=True)
class ValueType:
    """What the interpreter wants to know of an MLIR type.

    Attributes:
        text: the type as MLIR prints it.
        tensor: "mutable" (`!torch.tensor`), "value" (`!torch.vtensor`), "builtin" (`tensor`) or "" for other types.
        sizes: one entry for each dimension, None for one that is not static; None if the rank is not known.
        dtype: element type; None if not known.
        scalar: the Python type of a scalar value; None for tensors and for types that are not checked.
    """

    text: str
    tensor: str = ""
    sizes: tuple[int | None, ...] | None = None
    dtype: torch.dtype | None = None
    scalar: type | None = None

    def mismatch(self, value: object) -> str | None:
        """Say how a run-time value contradicts this type.

        Args:
            value: a torch tensor or Python scalar.
        Returns:
            "expected ..., got ..."; None if the value fits.
        """
        if self.scalar is not None and type(value) is not self.scalar:
            return f"expected {self.text}, got {value!r}"
        if not self.tensor:
            return None
        if not isinstance(value, torch.Tensor):
            return f"expected {self.text}, got {type(value).__name__}"
        same_dtype = self.dtype in (None, value.dtype)
        if self.tensor == "builtin" and value.dtype in _UNSIGNED:  # builtin tensors carry no signedness
            same_dtype = self.dtype in (value.dtype, _UNSIGNED[value.dtype])
        if not same_dtype or (
            self.sizes is not None
            and (
                len(self.sizes) != value.dim()
                or any(want is not None and want != got for want, got in zip(self.sizes, value.shape, strict=True))
            )
        ):
            return f"expected {self.text}, got {value.dtype} {list(value.shape)}"
        return None


@functools.lru_cache(maxsize=4096)
def parse_type(text: str) -> ValueType:
    """Read a type from its MLIR text.

    Args:
        text: for example `!torch.vtensor<[2,?],f32>`, `tensor<2x?xf32>`, `!torch.int`, `i64`.
    Returns:
        The facts in it; a type that is neither a tensor nor a scalar gives one that any value fits.
    """
    if match := _TENSOR.match(text):
        names = match["sizes"]
        sizes = None if names is None else tuple(None if s == "?" else int(s) for s in names.split(",") if s)
        kind = "value" if match[1] else "mutable"
        return ValueType(text, kind, sizes, _DTYPES.get(match["dtype"] or ""))
    if match := _BUILTIN.match(text):
        sizes = tuple(None if s == "?" else int(s) for s in match["sizes"].split("x") if s)
        return ValueType(text, "builtin", sizes, _DTYPES.get(match["dtype"]))
    return ValueType(text, scalar=_SCALARS.get(text))


@dataclass
class Operation:
    """One operation.

    Attributes:
        name: full name, `torch.aten.add.Tensor`.
        operands, results: slots in the function's frame.
        operand_types, result_types: their types.
        attributes: MLIR attributes by name (properties included).
        regions: for each region its blocks.
        successors: for each successor the index of the block in the region that holds this operation.
        location: the user's line, if the IR has one.
        resources: blobs of `dense_resource` attributes of the module, by name, without their alignment header.
        execute: what runs it, filled in by the interpreter.
    """

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    operand_types: tuple[ValueType, ...]
    result_types: tuple[ValueType, ...]
    attributes: dict[str, Any]
    regions: list[list[Block]]
    successors: tuple[int, ...]
    location: SourceLocation | None
    resources: dict[str, bytes]
    execute: Callable[..., Any] | None = None


@dataclass
class Block:
    """Straight-line code: `arguments` are slots, the last operation is the terminator."""

    label: str
    arguments: tuple[int, ...]
    argument_types: tuple[ValueType, ...]
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Function:
    """One `func.func`.

    Attributes:
        name: symbol name.
        blocks: its body.
        slots: how many values its frame holds.
        argument_attributes, result_attributes: for each argument and result its attributes, ints and strings unwrapped.
    """

    name: str
    blocks: list[Block]
    slots: int
    argument_attributes: tuple[dict[str, Any], ...]
    result_attributes: tuple[dict[str, Any], ...]


def to_generic_form(text: str) -> str:
    """Print MLIR in generic form, keeping locations.

    Args:
        text: one module in any assembly that `ssa-opt` reads.
    Returns:
        The same module in generic assembly.
    Raises:
        InterpreterError: no tool was found, or it rejected the text; carries the tool's diagnostics.
    """
    failures = []
    for tool in _printers():
        command = [tool, "--mlir-print-op-generic", "--mlir-print-debuginfo", "--allow-unregistered-dialect"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            return done.stdout
        failures.append(f"{tool}: {done.stderr.strip()[:2000]}")
    raise InterpreterError(
        "cannot parse the IR: " + ("\n".join(failures) or "neither ssa-opt nor torch-mlir-opt found")
    )


def _printers() -> Iterator[str]:
    """Tools that print generic form: ssa-opt knows every dialect of the pipeline, torch-mlir-opt all but `tssa`."""
    with contextlib.suppress(ToolError):
        yield find_ssa_opt()
    beside = Path(sys.executable).parent / "torch-mlir-opt"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("torch-mlir-opt")
    if found:
        yield found


class _Kept(threading.local):
    """The context in which modules are parsed, which takes some milliseconds to make."""

    context: Any = None
    uses: int = 0


_USES = 64
_kept = _Kept()


def parse_module(text: str) -> dict[str, Function]:
    """Parse a module of any stage.

    Args:
        text: MLIR text of one `builtin.module` holding `func.func` operations.
    Returns:
        The functions by name.
    Raises:
        InterpreterError: the text is not valid MLIR.
    """
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect

    # A context keeps all that it has read, and knows the names of blobs.
    if _kept.uses % _USES == 0 or "dense_resource" in text:
        _kept.context = new_context(ir)
        _kept.context.allow_unregistered_dialects = True
        torch_dialect.register_dialect(_kept.context)
        _kept.uses = 0
    _kept.uses += 1
    with _kept.context:
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            try:
                module = ir.Module.parse(to_generic_form(text))
            except ir.MLIRError as error:
                raise InterpreterError(f"cannot parse the IR: {error}") from error
        resources = _resources(text) if "dense_resource" in text else {}
        functions = [op for op in module.body.operations if op.operation.name == "func.func"]
        translated = [_FunctionReader(resources).read(op.operation) for op in functions]
    return {function.name: function for function in translated}


def _resources(text: str) -> dict[str, bytes]:
    """Blobs of the module's resource section; the first four bytes are the alignment."""
    found = re.findall(r'([\w$.-]+|"[^"]+"): "0x([0-9A-Fa-f]*)"', text)
    return {name.strip('"'): bytes.fromhex(blob)[4:] for name, blob in found}


def source_location(location: Any) -> SourceLocation | None:
    """The user's line of an MLIR location: of a call site the last caller, of a fused one the first that has a line.

    Args:
        location: an `ir.Location`.
    Returns:
        File and line; None for an unknown location.
    """
    from torch_mlir import ir

    location = location.maybe_downcast() if hasattr(location, "maybe_downcast") else location
    if isinstance(location, ir.CallSiteLoc):
        return source_location(location.caller)
    if isinstance(location, ir.FileLineColLoc):
        return SourceLocation(location.filename, location.start_line)
    if isinstance(location, ir.NameLoc):
        return source_location(location.child_loc)
    if isinstance(location, ir.FusedLoc):
        return next((found for one in location.locations if (found := source_location(one))), None)
    return None


class _FunctionReader:
    """Translates one function; slots are numbered in the order of definition."""

    def __init__(self, resources: dict[str, bytes]) -> None:
        self._slots: dict[Any, int] = {}
        self._resources = resources
        self._labels: dict[str, int] = {}

    def read(self, function: Any) -> Function:
        name = function.attributes["sym_name"].value
        signature = function.attributes["function_type"].value
        blocks = self._region(function.regions[0], self._label(name, "", None))
        return Function(
            name,
            blocks,
            len(self._slots),
            _argument_attributes(function, "arg_attrs", len(signature.inputs)),
            _argument_attributes(function, "res_attrs", len(signature.results)),
        )

    def _slot(self, value: Any) -> int:
        return self._slots.setdefault(value, len(self._slots))

    def _label(self, parent: str, role: str, location: SourceLocation | None) -> str:
        label = f"{parent}/{role}" if role else parent
        if role and location:
            label += f"@{Path(location.file).name}:{location.line}"
        count = self._labels[label] = self._labels.get(label, 0) + 1
        return label if count == 1 else f"{label}#{count}"

    def _region(self, region: Any, label: str) -> list[Block]:
        blocks = list(region.blocks)
        numbers = {block: number for number, block in enumerate(blocks)}
        translated = []
        for number, block in enumerate(blocks):  # all arguments first: a branch may pass values forwards
            arguments = tuple(self._slot(argument) for argument in block.arguments)
            types = tuple(parse_type(str(argument.type)) for argument in block.arguments)
            translated.append(Block(label if number == 0 else f"{label}^{number}", arguments, types))
        for block, result in zip(blocks, translated, strict=True):
            for op in block.operations:
                result.operations.append(self._operation(op.operation, result.label, numbers))
        return translated

    def _operation(self, op: Any, label: str, numbers: dict[Any, int]) -> Operation:
        location = source_location(op.location)
        operands = tuple(self._slot(value) for value in op.operands)
        roles = _region_roles(op.name, len(op.regions))
        regions = [
            self._region(region, self._label(label, role, location))
            for region, role in zip(op.regions, roles, strict=True)
        ]
        return Operation(
            name=op.name,
            operands=operands,
            results=tuple(self._slot(value) for value in op.results),
            operand_types=tuple(parse_type(str(value.type)) for value in op.operands),
            result_types=tuple(parse_type(str(value.type)) for value in op.results),
            attributes=_attributes(op, location),
            regions=regions,
            successors=tuple(numbers[block] for block in op.successors),
            location=location,
            resources=self._resources,
        )


def _attributes(op: Any, location: SourceLocation | None) -> dict[str, Any]:
    try:
        return {str(name): op.attributes[name] for name in op.attributes}
    except TypeError as error:  # the bindings have no class for it: complex literals
        raise InterpreterError(f"unsupported: attribute of '{op.name}': {error}", location=location) from error


def _region_roles(name: str, count: int) -> Sequence[str]:
    """Names of the regions of an operation, the same for its torch and its scf form, so that counts can be compared."""
    if name in ("torch.prim.If", "scf.if"):
        return ("then", "else")[:count]
    if name in ("torch.prim.Loop", "scf.for"):
        return ("loop",)
    if name == "scf.while":
        return ("before", "loop")
    return [name.rpartition(".")[2] + (str(number) if number else "") for number in range(count)]


def _argument_attributes(function: Any, kind: str, count: int) -> tuple[dict[str, Any], ...]:
    if kind not in [str(name) for name in function.attributes]:
        return tuple({} for _ in range(count))
    return tuple(
        {str(item.name): getattr(item.attr, "value", item.attr) for item in each} for each in function.attributes[kind]
    )
