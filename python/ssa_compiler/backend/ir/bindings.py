"""Small helpers over IREE's MLIR Python bindings: walking, use-def questions, and building the few ops we insert.

Everything here works on modules of the `iree` stage (docs/Architecture.md): structured control flow, builtin tensors at
region boundaries, torch ops between `torch_c` casts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from iree.compiler import _mlir_libs, ir

from ...process.generic_ops import leave_out_op_classes

__all__ = [
    "CASTS",
    "DTYPES",
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
    "element_of",
    "equivalents",
    "exported_ops",
    "is_any_tensor",
    "is_behind_barrier",
    "is_dynamic",
    "is_tensor",
    "main_function",
    "source_lines",
    "tensor_type",
    "torch_integer",
    "walk",
    "with_element",
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
# Element types of the torch dialect, with PyTorch's numbers of them.
DTYPES = {"ui8": 0, "si8": 1, "si16": 2, "si32": 3, "si64": 4, "f16": 5, "f32": 6, "f64": 7, "bf16": 15}


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


def is_tensor(value: ir.Value) -> bool:
    """Whether a value is a ranked builtin tensor."""
    return str(value.type).startswith("tensor<")


def is_any_tensor(value: ir.Value) -> bool:
    """Whether a value is a builtin tensor, or one of torch's of known rank."""
    return is_tensor(value) or str(value.type).startswith("!torch.vtensor<[")


def tensor_type(value: ir.Value) -> ir.RankedTensorType:
    """Return the ranked tensor type of a value for which `is_tensor` holds."""
    return ir.RankedTensorType(value.type)


def is_dynamic(value: ir.Value) -> bool:
    """Whether a builtin tensor has a dynamic size."""
    return not tensor_type(value).has_static_shape


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
    """Return the number of a `torch.constant.int`, or of an `arith.constant` cast to a torch integer; None for others."""
    op = definer(value)
    if op is None:
        return None
    if op.name == "torch_c.from_i64":
        return constant_integer(op.operands[0])
    if op.name in ("torch.constant.int", "arith.constant"):
        return int(ir.IntegerAttr(op.attributes["value"]).value)
    return None


def constant_number(value: ir.Value) -> float | None:
    """Return the number of a `torch.constant.int` or `torch.constant.float`; None for others."""
    op = definer(value)
    if op is not None and op.name == "torch.constant.float":
        return float(ir.FloatAttr(op.attributes["value"]).value)
    return constant_integer(value)


def torch_integer(number: int, where: ir.InsertionPoint) -> ir.Value:
    """Create a `torch.constant.int`."""
    context = where.block.owner.context
    attribute_ = {"value": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), number)}
    return build("torch.constant.int", [ir.Type.parse("!torch.int", context)], [], where, attribute_).results[0]


def element_of(type_: ir.Type) -> str:
    """Return the element type of a value tensor of the torch dialect as it is written, `f16`; "" for other types."""
    text = str(type_)
    return text[:-1].rpartition("],")[2] if text.startswith("!torch.vtensor<[") else ""


def with_element(type_: ir.Type, element: str) -> ir.Type:
    """Return the type of a value tensor of the torch dialect with other elements."""
    return ir.Type.parse(f"{str(type_)[:-1].rpartition(',')[0]},{element}>", type_.context)


def converted(value: ir.Value, element: str, where: ir.InsertionPoint) -> ir.Value:
    """Return a value tensor of the torch dialect with other elements, one of `DTYPES`; create the conversion if needed."""
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
