"""Which bytes of a tensor a load or store of a kernel touches."""

from __future__ import annotations

import re

from iree.compiler import ir

from ..ir.affine_offsets import LinearForm, linear_form, plus, times
from ..ir.types import is_resource

__all__ = [
    "DYNAMIC",
    "TENSOR",
    "block_of",
    "constant_of",
    "covers_all",
    "element_bytes",
    "element_type",
    "first_byte",
    "is_aligned_block",
    "is_contiguous",
    "is_elementwise",
    "is_multiple",
    "offsets_sizes_strides",
    "place_of",
    "range_length",
    "range_start",
    "reads_own_place",
    "resource_position",
]


DYNAMIC = -(2**63)


TENSOR = re.compile(r":tensor<((?:(?:\d+|\?)x)*)(.*?)>>$")


def constant_of(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute = owner.operation.attributes["value"]
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None


def _list(op: ir.Operation, static: str, segment: int) -> list[object]:
    """The offsets, sizes or strides of an access: an int where static, the value where dynamic."""
    segments = [int(size) for size in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]
    start = sum(segments[:segment])
    dynamic = iter([op.operands[start + offset] for offset in range(segments[segment])])
    return [
        next(dynamic) if size == DYNAMIC else size for size in map(int, ir.DenseI64ArrayAttr(op.attributes[static]))
    ]


def _tensor_sizes(op: ir.Operation, operand: int) -> list[object]:
    """The sizes of the dispatch tensor that is accessed."""
    parts = _shape(op, operand)[1].split("x")[:-1]
    segments = [int(size) for size in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]
    start = sum(segments[: operand + 1])
    dynamic = iter([op.operands[start + offset] for offset in range(segments[operand + 1])])
    return [next(dynamic) if part == "?" else int(part) for part in parts]


def offsets_sizes_strides(op: ir.Operation, operand: int) -> tuple[list[object], list[object], list[object]]:
    first = operand + 2
    return (
        _list(op, "static_offsets", first),
        _list(op, "static_sizes", first + 1),
        _list(op, "static_strides", first + 2),
    )


def covers_all(op: ir.Operation, operand: int) -> bool:
    """Whether an access is of the whole dispatch tensor."""
    offsets, sizes, strides = offsets_sizes_strides(op, operand)
    return (
        all(offset == 0 for offset in offsets)
        and all(stride == 1 for stride in strides)
        and sizes == _tensor_sizes(op, operand)
    )


def element_type(op: ir.Operation, operand: int) -> str:
    """The element type of the dispatch tensor that is accessed."""
    return _shape(op, operand)[2]


def _shape(op: ir.Operation, operand: int) -> re.Match[str]:
    """The dispatch tensor that is accessed: its sizes, `4x?x`, and its element type."""
    found = TENSOR.search(str(op.operands[operand].type))
    assert found is not None
    return found


def element_bytes(op: ir.Operation, operand: int) -> int | None:
    """The size of an element in bytes, None if it is not a plain number."""
    element = element_type(op, operand)
    if element == "i1":
        return 1
    bits = element.removeprefix("bf").lstrip("if")
    return int(bits) // 8 if bits.isdigit() and int(bits) % 8 == 0 else None


def place_of(load: ir.Operation) -> tuple[int, int] | None:
    """The first byte of a binding that a load may read, and the one after the last; None if not known."""
    offsets, sizes, strides = offsets_sizes_strides(load, 0)
    size_of_element = element_bytes(load, 0)
    if size_of_element is None:
        return None
    first = last = 0
    step: int | None = size_of_element
    for offset, size, stride, extent in reversed(
        list(zip(offsets, sizes, strides, _tensor_sizes(load, 0), strict=True))
    ):
        if not (isinstance(offset, int) and isinstance(size, int) and isinstance(stride, int)) or size == 0:
            return None
        if step is None:
            if offset != 0 or size != 1:
                return None
            continue
        first += offset * step
        last += (offset + (size - 1) * stride) * step
        step = step * extent if isinstance(extent, int) else None
    return first, last + size_of_element


def first_byte(load: ir.Operation, passed: dict[ir.Value, ir.Value]) -> LinearForm | None:
    """Where in a binding a load begins, in values outside of the kernel; None if it is not known."""
    step = element_bytes(load, 0)
    first: LinearForm = {}
    for offset, extent in reversed(list(zip(offsets_sizes_strides(load, 0)[0], _tensor_sizes(load, 0), strict=True))):
        assert isinstance(offset, (int, ir.Value))
        if step is None:
            if offset != 0:
                return None
            continue
        first = plus(first, times(linear_form(offset, passed), step))
        step = step * extent if isinstance(extent, int) else None
    return first


def is_contiguous(load: ir.Operation) -> bool:
    """Whether a load reads elements that follow each other."""
    offsets, sizes, strides = offsets_sizes_strides(load, 0)
    if any(stride != 1 for stride in strides):
        return False
    leading = True  # the sizes so far are 1
    for offset, size, extent in zip(offsets, sizes, _tensor_sizes(load, 0), strict=True):
        if not leading and not (offset == 0 and size == extent):
            return False
        leading = leading and size == 1
    return True


def is_aligned_block(load: ir.Operation) -> bool:
    """Whether a load reads a contiguous block that starts at a multiple of its own size, wherever it starts."""
    offsets, sizes, strides = offsets_sizes_strides(load, 0)
    whole = _tensor_sizes(load, 0)
    if any(stride != 1 for stride in strides):
        return False
    leading = True
    for offset, size, extent in zip(offsets, sizes, whole, strict=True):
        if offset == 0 and size == extent:
            if size != 1:
                leading = False
        elif not leading or size != 1:
            return False
    return True


def block_of(op: ir.Operation, operand: int) -> list[object]:
    """The sizes of an access without those that are 1."""
    return [size for size in offsets_sizes_strides(op, operand)[1] if size != 1]


def is_elementwise(op: ir.Operation) -> bool:
    if op.name != "linalg.generic" or len(op.results) != 1:
        return False
    if any("parallel" not in str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])):
        return False
    return reads_own_place(op, len(op.operands) - 1)


def reads_own_place(generic: ir.Operation, operand: int) -> bool:
    """Whether an operand of a `linalg.generic` is indexed by the identity."""
    maps = ir.ArrayAttr(generic.attributes["indexing_maps"])
    affine = ir.AffineMapAttr(maps[operand]).value if hasattr(ir.AffineMapAttr(maps[operand]), "value") else None
    if affine is None:
        affine = ir.AffineMap.parse(str(maps[operand])) if hasattr(ir.AffineMap, "parse") else None
    if affine is None:
        text = str(maps[operand]).removeprefix("affine_map<").removesuffix(">")
        left, _, right = text.partition(" -> ")
        return left == right
    return bool(affine == ir.AffineMap.get_identity(affine.n_dims, generic.context))


def range_start(dispatch: ir.Operation, operand: int) -> ir.Value:
    """The offset in bytes at which the range of a resource operand starts."""
    segments = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
    return dispatch.operands[sum(segments[:3]) + resource_position(dispatch, segments, operand)]


def range_length(dispatch: ir.Operation, operand: int) -> ir.Value:
    segments = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
    return dispatch.operands[sum(segments[:5]) + resource_position(dispatch, segments, operand)]


def resource_position(dispatch: ir.Operation, segments: list[int], operand: int) -> int:
    """Where the range of an operand stands among the ranges: resources only have one.

    The segments are: workload, operands, operand sizes, offsets, ends, lengths, result sizes.
    """
    base = segments[0]
    return sum(is_resource(dispatch.operands[base + other]) for other in range(operand))


def is_multiple(offset: ir.Value, length: ir.Value) -> bool:
    number, size = constant_of(offset), constant_of(length)
    if number == 0:
        return True
    if number is not None and size:
        return number % size == 0
    owner = offset.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.muli":
        return False
    for factor in owner.operation.operands:
        multiple = constant_of(factor)
        if factor == length or (multiple is not None and size and multiple % size == 0):
            return True
    return False
