"""Small helpers over IREE's MLIR Python bindings: walking, use-def questions, and building the few ops we insert.

Everything here works on modules of the `iree` stage (docs/Architecture.md): structured control flow, builtin tensors at
region boundaries, torch ops between `torch_c` casts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from iree.compiler import _mlir_libs, ir

from ...process.generic_ops import leave_out_op_classes
from .types import DTYPES, element_of, with_element

__all__ = [
    "CASTS",
    "DIALECTS",
    "LOOPS",
    "ancestor_in_block",
    "attribute",
    "build",
    "cast_root",
    "constant_i32",
    "constant_integer",
    "constant_number",
    "converted",
    "definer",
    "defining_block",
    "equivalents",
    "exported_ops",
    "is_behind_barrier",
    "main_function",
    "source_lines",
    "torch_integer",
    "walk",
]

leave_out_op_classes(_mlir_libs._mlir)

# Ops whose result is their operand in another type: the same tensor to every analysis here.
CASTS = frozenset(
    {
        "torch_c.to_builtin_tensor",
        "torch_c.from_builtin_tensor",
        "tensor.cast",
        "util.optimization_barrier",
        "flow.tensor.tie_shape",
    }
)
LOOPS = frozenset({"scf.for", "scf.while"})
# Dialects that are loaded before anything is parsed: those of ops that are created by other means than `build`, and
# torch's: results of `torch_c` ops have its types, which the text does not name.
DIALECTS = ("arith", "cf", "func", "linalg", "scf", "tensor", "torch", "util")


def walk(root: ir.Operation) -> Iterator[ir.Operation]:
    """Yield every operation below `root`, outer ones first, in textual order."""
    for region in root.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from walk(view.operation)


def main_function(module: ir.Module) -> ir.Operation:
    """Return the public function `@main`.

    Raises:
        ValueError: the module has none.
    """
    for view in module.body.operations:
        if view.operation.name == "func.func" and attribute(view.operation, "sym_name") == '"main"':
            return view.operation
    raise ValueError("the module has no function @main")


def attribute(op: ir.Operation, name: str) -> str:
    """Return the text of an attribute, "" if the op has none of that name."""
    return str(op.attributes[name]) if name in op.attributes else ""


_LINE = re.compile(r'\.mlir":(\d+):')


def source_lines(ops: Iterable[ir.Operation]) -> list[int]:
    """Return the lines of the text given to iree-compile that ops of its IR come from, sorted."""
    places = {str(op.location) for op in ops}
    return sorted({int(line) for place in places for line in _LINE.findall(place)})


def definer(value: ir.Value) -> ir.Operation | None:
    """Return the op that a value is a result of; None for the argument of a block."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def defining_block(value: ir.Value) -> ir.Block:
    """Return the block in which a value is defined."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def cast_root(value: ir.Value) -> ir.Value:
    """Look through the casts that define a value."""
    while (op := definer(value)) is not None and op.name in CASTS:
        value = op.operands[0]
    return value


def is_behind_barrier(value: ir.Value) -> bool:
    """Whether a value is what a barrier hides, possibly in another type."""
    while (op := definer(value)) is not None and op.name in CASTS:
        if op.name == "util.optimization_barrier":
            return True
        value = op.operands[0]
    return False


def equivalents(value: ir.Value) -> list[ir.Value]:
    """Return a value and everything that is a cast of it."""
    found = [value]
    for current in found:
        for use in current.uses:
            user = use.owner.operation
            if user.name in CASTS:
                found.append(user.results[0])
    return found


def ancestor_in_block(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """Return `op`, or the op around it, that lies directly in `block`; None if `op` is not inside the block."""
    current: ir.Operation | None = op
    while current is not None and current.block != block:
        parent = current.parent
        if parent is None or parent.operation.name == "builtin.module":
            return None
        current = parent.operation
    return current


def build(
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    where: ir.InsertionPoint,
    attributes: dict[str, ir.Attribute] | None = None,
    regions: int = 0,
) -> ir.Operation:
    """Create one operation at an insertion point, with the location of the operation there."""
    there = where.ref_operation
    context = results[0].context if results else where.block.owner.context
    context.get_dialect_descriptor(name.partition(".")[0])  # loads it: an op of one that is not is not recognised
    return ir.Operation.create(
        name,
        results=list(results),
        operands=list(operands),
        attributes=attributes or {},
        regions=regions,
        ip=where,
        loc=ir.Location.unknown(context) if there is None else there.location,
    )


def constant_i32(number: int, where: ir.InsertionPoint) -> ir.Value:
    """Create an `arith.constant` of type i32."""
    i32 = ir.IntegerType.get_signless(32, where.block.owner.context)
    return build("arith.constant", [i32], [], where, {"value": ir.IntegerAttr.get(i32, number)}).results[0]


def constant_integer(value: ir.Value) -> int | None:
    """Return the number of a `torch.constant.int`, or of an `arith.constant` cast to a torch integer; None for
    others.
    """
    op = definer(value)
    if op is None:
        return None
    if op.name == "torch_c.from_i64":
        return constant_integer(op.operands[0])
    if op.name in ("torch.constant.int", "arith.constant"):
        return int(ir.IntegerAttr(op.attributes["value"]).value)
    return None


def constant_number(value: ir.Value) -> int | float | None:
    """Return the number of a scalar constant, an int for a bool; None if the value is none."""
    op = definer(value)
    if op is None:
        return None
    if op.name in ("torch_c.from_i64", "torch_c.from_f64", "torch_c.from_i1", "torch.derefine"):
        return constant_number(op.operands[0])
    if op.name not in ("torch.constant.int", "torch.constant.float", "torch.constant.bool", "arith.constant"):
        return None
    attribute_ = op.attributes["value"]
    if isinstance(attribute_, ir.FloatAttr):
        return float(attribute_.value)
    if isinstance(attribute_, (ir.BoolAttr, ir.IntegerAttr)):
        return int(attribute_.value)
    return None


def torch_integer(number: int, where: ir.InsertionPoint) -> ir.Value:
    """Create a `torch.constant.int`."""
    context = where.block.owner.context
    attribute_ = {"value": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), number)}
    return build("torch.constant.int", [ir.Type.parse("!torch.int", context)], [], where, attribute_).results[0]


def converted(value: ir.Value, element: str, where: ir.InsertionPoint) -> ir.Value:
    """Return a value tensor of the torch dialect with other elements, one of `DTYPES`; create the conversion if
    needed.
    """
    if element_of(value.type) == element:
        return value
    dtype = torch_integer(DTYPES[element], where)
    return build(
        "torch.prims.convert_element_type", [with_element(value.type, element)], [value, dtype], where
    ).results[0]


def exported_ops(export: ir.Operation) -> list[ir.Operation]:
    """Return the ops of the kernel that a `stream.executable.export` stands for, in textual order."""
    wanted = ir.FlatSymbolRefAttr(export.attributes["function_ref"]).value
    return [
        op
        for function in walk(export.parent)
        if function.name.endswith(".func") and ir.StringAttr(function.attributes["sym_name"]).value == wanted
        for op in walk(function)
    ]
