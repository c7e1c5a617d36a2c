"""Rewrite an `iree`-stage module so that torch-mlir's own pipeline lowers it to linalg, for kernels.

Some ops have a meaning to IREE alone: barriers, and the choice between whole tensors. For others torch-mlir has no
lowering.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused, is_assertion, torch_operator
from ..ir.bindings import build, main_function, walk
from ..ir.copies import builtin_type, dynamic_sizes
from ..ir.types import element_of, is_tensor
from ..toolchain.compile_attempt import user_location
from ..workarounds.masks import INDEX_PUTS, listed
from .library_calls import call_library, call_op, is_kernel_op
from .numbered_assertions import assert_with_numbers

__all__ = ["CONSTANT", "make_lowerable"]

CONSTANT = "kernel.constant"
"""Attribute of a function's argument that stands for a constant: its elements."""


def make_lowerable(module: ir.Module) -> None:
    """Rewrite what torch-mlir does not take.

    Args:
        module: an `iree`-stage module, rewritten in place.
    """
    function = main_function(module)
    constants: list[tuple[ir.Value, ir.Attribute]] = []
    for op in list(walk(module.operation)):
        if op.name == "arith.select" and is_tensor(op.results[0]):
            _choose_elements(op)
        elif op.name == "torch.aten.view.dtype":
            _reinterpret(op)
        elif is_kernel_op(op):
            call_library(op, module)
        elif is_assertion(op):
            assert_with_numbers(op, module)
        elif op.name.startswith("math."):
            call_op(op, module)
        elif torch_operator(op) in INDEX_PUTS:
            _write_if_there_is_an_index(op)
        elif op.name == "torch.aten.copy":
            _copy_of_same_size(op)
        elif op.name == "flow.tensor.tie_shape":
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        elif op.name == "util.optimization_barrier":
            constants += _remove_barrier(op, function.regions[0].blocks[0])
    if constants:
        _add_arguments(function, constants)


def _choose_elements(op: ir.Operation) -> None:
    """Choose element by element where one of two whole tensors is chosen."""
    type_ = ir.RankedTensorType(op.results[0].type)
    if not type_.has_static_shape:
        return
    condition, *arms = op.operands
    chosen = _elementwise(op, "arith.select", arms, type_, before=[condition])
    op.results[0].replace_all_uses_with(chosen)
    op.erase()


def _elementwise(
    where: ir.Operation,
    name: str,
    tensors: list[ir.Value],
    type_: ir.RankedTensorType,
    *,
    before: Sequence[ir.Value] = (),
) -> ir.Value:
    """Apply an op of numbers to the elements of tensors.

    Args:
        where: what it is created in front of.
        name: the op.
        tensors: its operands, of equal sizes.
        type_: the type of the result.
        before: numbers that are the op's first operands.
    """
    with ir.InsertionPoint(where), where.location:
        empty = ir.Operation.create("tensor.empty", [type_], dynamic_sizes(tensors[0], ir.InsertionPoint(where)))
        same = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
        parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
        made = ir.Operation.create(
            "linalg.generic",
            [type_],
            [*tensors, empty.results[0]],
            {
                "indexing_maps": ir.ArrayAttr.get([same] * (len(tensors) + 1)),
                "iterator_types": ir.ArrayAttr.get([parallel] * type_.rank),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(tensors), 1]),
            },
            regions=1,
        )
        elements = [ir.RankedTensorType(tensor.type).element_type for tensor in tensors]
        body = made.regions[0].blocks.append(*elements, type_.element_type)
        with ir.InsertionPoint(body):
            operands = [*before, *body.arguments[: len(tensors)]]
            number = ir.Operation.create(name, [type_.element_type], operands)
            ir.Operation.create("linalg.yield", operands=[number.results[0]])
    return made.results[0]


def _write_if_there_is_an_index(op: ir.Operation) -> None:
    """Leave a tensor as it is where no index says what to write.

    torch-mlir takes a dynamic number of indices for 1 if it is 0, and writes what is not there.
    """
    target, result = op.operands[0], op.results[0]
    dynamic = [index for index in listed(op.operands[1]) if "?" in str(index.type)]
    if not dynamic:
        return
    where, plain = ir.InsertionPoint(op), builtin_type(result.type)
    before = build("torch_c.to_builtin_tensor", [plain], [target], where).results[0]
    sizes = []
    for index in dynamic:
        tensor = build("torch_c.to_builtin_tensor", [builtin_type(index.type)], [index], where).results[0]
        sizes += dynamic_sizes(tensor, where)
    with where, op.location:
        number, flag = ir.IndexType.get(op.context), ir.IntegerType.get_signless(1)
        attributes = {"value": ir.IntegerAttr.get(number, 0)}
        zero = ir.Operation.create("arith.constant", [number], attributes=attributes).results[0]
        predicate = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}  # ne
        some = [ir.Operation.create("arith.cmpi", [flag], [size, zero], predicate).results[0] for size in sizes]
        while len(some) > 1:
            some.append(ir.Operation.create("arith.andi", [flag], [some.pop(), some.pop()]).results[0])
        branch = ir.Operation.create("scf.if", [plain], some, regions=2)
    written, left = (region.blocks.append() for region in branch.regions)
    inside = ir.InsertionPoint(written)
    clone = op.clone(inside)
    after = build("torch_c.to_builtin_tensor", [plain], [clone.results[0]], inside).results[0]
    build("scf.yield", [], [after], inside)
    build("scf.yield", [], [before], ir.InsertionPoint(left))
    behind = ir.InsertionPoint(op)
    result.replace_all_uses_with(
        build("torch_c.from_builtin_tensor", [result.type], [branch.results[0]], behind).results[0]
    )
    op.erase()


_BROADCASTS = "unsupported: a copy broadcasts a dynamic size of 1"


def _copy_of_same_size(op: ir.Operation) -> None:
    """Replace a copy by its source where the sizes are equal.

    torch-mlir looks at run time which of the dynamic sizes are 1 and broadcasts these; the importer rejects programs
    that do.
    """
    target, source = op.operands[:2]
    type_ = op.results[0].type
    if source.type != type_ or "?" not in str(type_):
        return
    where = ir.InsertionPoint(op)
    plain = builtin_type(type_)
    given, wanted = (
        build("torch_c.to_builtin_tensor", [plain], [value], where).results[0] for value in (source, target)
    )
    line = user_location(op)
    message = _BROADCASTS if line is None else f"{_BROADCASTS} [{line}]"
    with where, op.location:
        index = ir.IndexType.get(op.context)
        for dim, size in enumerate(ir.RankedTensorType(plain).shape):
            if size >= 0:
                continue
            at = ir.Operation.create("arith.constant", [index], attributes={"value": ir.IntegerAttr.get(index, dim)})
            sizes = [ir.Operation.create("tensor.dim", [index], [tensor, at.results[0]]) for tensor in (wanted, given)]
            same = ir.Operation.create(
                "arith.cmpi",
                [ir.IntegerType.get_signless(1)],
                [made.results[0] for made in sizes],
                {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)},
            )
            ir.Operation.create("cf.assert", [], [same.results[0]], {"msg": ir.StringAttr.get(message)})
    op.results[0].replace_all_uses_with(source)
    op.erase()


_WIDTHS = {"f32": 32, "si32": 32, "f64": 64, "si64": 64}


def _reinterpret(op: ir.Operation) -> None:
    """Read the bits of a tensor as another type of the same width."""
    source, result = op.operands[0], op.results[0]
    widths = [_WIDTHS.get(element_of(value.type)) for value in (source, result)]
    if None in widths or widths[0] != widths[1]:
        return
    builtin = [builtin_type(value.type) for value in (source, result)]
    where = ir.InsertionPoint(op)
    plain = build("torch_c.to_builtin_tensor", [builtin[0]], [source], where).results[0]
    bits = _elementwise(op, "arith.bitcast", [plain], ir.RankedTensorType(builtin[1]))
    result.replace_all_uses_with(build("torch_c.from_builtin_tensor", [result.type], [bits], where).results[0])
    erase_unused(op)


def _remove_barrier(op: ir.Operation, entry: ir.Block) -> list[tuple[ir.Value, ir.Attribute]]:
    """Remove a barrier, which keeps IREE from something that torch-mlir does not do.

    A constant behind one is what torch-mlir would compute with while it compiles, and wrongly: it becomes an argument.
    """
    arguments = []
    for operand, result in zip(op.operands, op.results, strict=True):
        owner = operand.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant" and is_tensor(operand):
            value = owner.operation.attributes["value"]
            operand = entry.add_argument(operand.type, op.location)
            arguments.append((operand, value))
        result.replace_all_uses_with(operand)
    op.erase()
    return arguments


def _add_arguments(function: ir.Operation, constants: list[tuple[ir.Value, ir.Attribute]]) -> None:
    """Add arguments that stand for constants to the type of a function."""
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = [*type_.inputs, *(value.type for value, _ in constants)]
    empty = ir.DictAttr.get({}, context=function.context)
    given = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else None
    given = given or [empty] * len(type_.inputs)
    given += [ir.DictAttr.get({CONSTANT: value}, context=function.context) for _, value in constants]
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, type_.results, context=function.context)
    )
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(given, context=function.context)
