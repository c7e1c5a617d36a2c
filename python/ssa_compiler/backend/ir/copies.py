"""Copies that IREE can neither remove nor merge, and barriers that keep two ops in separate dispatches.

IREE folds `flow.tensor.clone`, `linalg.copy` and any computation it can see to be the identity. An opaque copy is an
elementwise kernel `k == 0 ? x : k` whose scalar `k` is zero behind `util.optimization_barrier`: every such copy has a
scalar of its own, so no two of them are equal to CSE and none is the identity. It costs one pass over the tensor, and
nothing at all where it is fused into the kernel that computes the tensor.
"""

from __future__ import annotations

from iree.compiler import ir

from .bindings import build, constant_i32
from .types import is_tensor, tensor_type

__all__ = ["after", "barrier", "builtin_type", "dynamic_sizes", "opaque_copy"]


def dynamic_sizes(value: ir.Value, where: ir.InsertionPoint) -> list[ir.Value]:
    """Create `tensor.dim` for each dynamic size of a builtin tensor."""
    context = value.context
    index = ir.IndexType.get(context)
    sizes = []
    shaped = tensor_type(value)
    for axis in range(shaped.rank):
        if shaped.is_dynamic_dim(axis):
            number = build("arith.constant", [index], [], where, {"value": ir.IntegerAttr.get(index, axis)}).results[0]
            sizes.append(build("tensor.dim", [index], [value, number], where).results[0])
    return sizes


def _from_scalar(scalar: ir.Value, element: ir.Type, where: ir.InsertionPoint) -> ir.Value:
    """Convert an i32 to any element type, with a value that does not matter."""
    context = scalar.context
    text = str(element)
    if text == "i32":
        return scalar
    if text.startswith("complex<"):
        part_type = ir.Type.parse(text[len("complex<") : -1], context)
        part = _from_scalar(scalar, part_type, where)
        return build("complex.create", [element], [part, part], where).results[0]
    if text.startswith("i"):
        op = "arith.extsi" if int(text[1:]) > 32 else "arith.trunci"
        return build(op, [element], [scalar], where).results[0]
    return build("arith.sitofp", [element], [scalar], where).results[0]


def _builtin(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Return a torch tensor as a builtin one."""
    if is_tensor(value):
        return value
    return build("torch_c.to_builtin_tensor", [builtin_type(value.type)], [value], where).results[0]


def builtin_type(vtensor: ir.Type) -> ir.Type:
    """Return the builtin type of `!torch.vtensor<[4,?],si64>`: `tensor<4x?xi64>`."""
    body = str(vtensor).removeprefix("!torch.vtensor<[").rstrip(">")
    sizes, _, element = body.partition("],")
    element = element.replace("si", "i").replace("ui", "i") + (">" if element.startswith("complex<") else "")
    return ir.Type.parse(
        "tensor<" + "".join(f"{size}x" for size in sizes.split(",") if size) + element + ">", vtensor.context
    )


def _like(value: ir.Value, result: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Cast a builtin tensor back to the type of `value`."""
    if is_tensor(value):
        return result
    return build("torch_c.from_builtin_tensor", [value.type], [result], where).results[0]


def opaque_copy(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Create a copy of a tensor that has memory of its own.

    Args:
        value: a builtin tensor or a `!torch.vtensor` of known rank and element type.
        where: where the copy is made.
    Returns:
        The copy, of the same type.
    """
    context = value.context
    source = _builtin(value, where)
    shaped = tensor_type(source)
    element = shaped.element_type
    scalar = build(
        "util.optimization_barrier", [ir.IntegerType.get_signless(32, context)], [constant_i32(0, where)], where
    ).results[0]
    empty = build("tensor.empty", [source.type], dynamic_sizes(source, where), where).results[0]
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(shaped.rank, context))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>", context)
    generic = build(
        "linalg.generic",
        [source.type],
        [source, empty],
        where,
        {
            "indexing_maps": ir.ArrayAttr.get([identity, identity], context),
            "iterator_types": ir.ArrayAttr.get([parallel] * shaped.rank, context),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1], context),
        },
        regions=1,
    )
    unknown = ir.Location.unknown(context)
    block = ir.Block.create_at_start(generic.regions[0], [element, element], [unknown, unknown])
    body = ir.InsertionPoint(block)
    i1 = ir.IntegerType.get_signless(1, context)
    equal = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), 0)
    keep = build("arith.cmpi", [i1], [scalar, constant_i32(0, body)], body, {"predicate": equal}).results[0]
    other = _from_scalar(scalar, element, body)
    chosen = build("arith.select", [element], [keep, block.arguments[0], other], body).results[0]
    build("linalg.yield", [], [chosen], body)
    return _like(value, generic.results[0], where)


def barrier(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """Put a tensor behind an optimization barrier, so that its producer and its users are never one dispatch.

    Args:
        value: a builtin tensor or a `!torch.vtensor` of known rank and element type.
        where: where the barrier is made.
    Returns:
        The same tensor, of the same type. No memory is copied.
    """
    source = _builtin(value, where)
    sizes = dynamic_sizes(source, where)
    hidden = build("util.optimization_barrier", [source.type], [source], where).results[0]
    if sizes:
        hidden = build("flow.tensor.tie_shape", [source.type], [hidden, *sizes], where).results[0]
    return _like(value, hidden, where)


def after(op: ir.Operation) -> ir.InsertionPoint:
    """Return the insertion point right after an op that is not a terminator."""
    following = False
    for view in op.block.operations:
        if following:
            return ir.InsertionPoint(view.operation)
        following = view.operation == op
    raise ValueError("the op is a terminator")
