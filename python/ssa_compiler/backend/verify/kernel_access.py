"""Decide whether a dispatch may write its result over the tensor that it reads.

IREE places the result of a dispatch straight into the part of a larger tensor that it is inserted into, even where the
dispatch reads the same tensor: `x[i] = x[i].flip(0)` then reads elements that it has already overwritten. It is right when
each element is computed from the element at its own place, and from others that are certainly elsewhere. This module
verifies the common case: the written block and every block read from the same tensor are aligned to their common size, and
the kernel is elementwise. What it cannot verify is kept apart by a barrier.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations

from iree.compiler import ir

from ..ir.affine_offsets import LinearForm, linear_form, plus, times
from ..ir.bindings import source_lines, walk

__all__ = ["dispatch_lines", "kernel_function", "may_run_in_place", "reads_beside_what_it_writes", "writes_apart"]

_LOAD = "iree_tensor_ext.dispatch.tensor.load"
_STORE = "iree_tensor_ext.dispatch.tensor.store"
_DYNAMIC = -(2**63)
_TENSOR = re.compile(r":tensor<((?:(?:\d+|\?)x)*)(.*?)>>$")


def kernel_function(dispatch: ir.Operation, module: ir.Module) -> ir.Operation | None:
    """Return the function that a `stream.async.dispatch` runs, None if it has several or is not found."""
    entries = ir.ArrayAttr(dispatch.attributes["entry_points"])
    if len(entries) != 1:
        return None
    executable_name, _, export_name = str(entries[0]).partition("::")
    for view in module.body.operations:
        op = view.operation
        if op.name == "stream.executable" and str(op.attributes["sym_name"]).strip('"') == _plain(executable_name):
            reference = None
            for inner in walk(op):
                if inner.name == "stream.executable.export" and str(inner.attributes["sym_name"]).strip('"') == _plain(
                    export_name
                ):
                    reference = _plain(str(inner.attributes["function_ref"]))
                if inner.name == "func.func" and str(inner.attributes["sym_name"]).strip('"') == reference:
                    return inner
    return None


def dispatch_lines(dispatch: ir.Operation, module: ir.Module) -> list[int]:
    """Return the lines of the compiled text that a `stream.async.dispatch`, and the kernel it runs, was made from, sorted."""
    kernel = kernel_function(dispatch, module)
    return source_lines([dispatch, *(walk(kernel) if kernel is not None else ())])


def _plain(symbol: str) -> str:
    return symbol.lstrip("@").strip('"')


def may_run_in_place(dispatch: ir.Operation, module: ir.Module, shares: Callable[[ir.Value], bool]) -> bool:
    """Whether a dispatch that reads memory which its result overwrites computes the same as one that does not.

    Args:
        dispatch: a `stream.async.dispatch` with one result, tied to an operand.
        module: the module around it, with the executables.
        shares: whether an operand of the dispatch may share memory with the tied operand.
    Returns:
        True if verified.
    """
    if dispatch.name != "stream.async.dispatch":
        return False
    function = kernel_function(dispatch, module)
    ties = [ir.IntegerAttr(tied).value for tied in ir.ArrayAttr(dispatch.attributes["tied_operands"])]
    if function is None or len(ties) != 1 or ties[0] < 0:
        return False
    segments = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
    base = segments[0]
    bindings = [dispatch.operands[base + offset] for offset in range(segments[1])]
    arguments = list(function.regions[0].blocks[0].arguments)
    if len(arguments) != len(bindings):
        return False
    tied = ties[0]
    read = [
        number
        for number, binding in enumerate(bindings)
        if number != tied and str(binding.type).startswith("!stream.resource") and shares(binding)
    ]
    stores = _accesses(arguments[tied], _STORE)
    if stores is None or len(stores) != 1:
        return False
    passed = dict(zip(arguments, bindings, strict=True))
    target = _Target(stores[0], _range_start(dispatch, tied), _range_length(dispatch, tied), passed)
    for number in read:
        loads = _accesses(arguments[number], _LOAD)
        start = _range_start(dispatch, number)
        if loads is None or any(not (target.is_apart(load, start) or target.is_own(load, start)) for load in loads):
            return False
    return True


def reads_beside_what_it_writes(dispatch: ir.Operation, module: ir.Module) -> bool:
    """Whether a kernel may read elements of a tensor that it has overwritten before, through one and the same binding.

    `x[1:] = x[:-1].clone()` becomes a kernel that loads one part of a tensor and stores it to another one, which overlaps.

    Args:
        dispatch: a `stream.async.dispatch`.
        module: the module around it, with the executables.
    Returns:
        False if each part that is read is the part that is written, or lies apart from it.
    """
    function = kernel_function(dispatch, module) if dispatch.name == "stream.async.dispatch" else None
    if function is None:
        return False
    for subspan in walk(function):
        if subspan.name == "stream.binding.subspan" and "readwrite" in str(subspan.results[0].type):
            users = [use.owner.operation for use in subspan.results[0].uses]
            stores = [user for user in users if user.name == _STORE]
            loads = [user for user in users if user.name == _LOAD]
            if not all(_is_same_or_apart(load, store) for load in loads for store in stores):
                return True
    return False


def _is_same_or_apart(load: ir.Operation, store: ir.Operation) -> bool:
    """Whether a part that is read is the part that is written, or has no element in common with it."""
    may_differ = False
    overlaps = False
    for (first, size, stride), (start, length, step) in zip(
        zip(*_offsets_sizes_strides(load, 0)), zip(*_offsets_sizes_strides(store, 1)), strict=True
    ):
        if (first, size, stride) == (start, length, step):
            continue
        numbers = (first, size, stride, start, length, step)
        if all(isinstance(number, int) for number in numbers):
            a, b, c, d, e, f = (int(str(number)) for number in numbers)
            if a + (b - 1) * c < d or d + (e - 1) * f < a:
                return True
        if size == 1 and length == 1:
            may_differ = True  # one position each: the same one or another
        else:
            overlaps = True
    if overlaps:
        return False
    if not may_differ:
        return True
    stored = store.operands[0]
    return all(
        use.owner.operation == store
        or (
            use.owner.operation.name == "linalg.generic"
            and stored.owner == use.owner
            and _is_elementwise(use.owner.operation)
            and _reads_own_place(use.owner.operation, use.operand_number)
        )
        for use in load.results[0].uses
    )


class _Target:
    """The range of a tensor that a dispatch writes, and the store that writes it."""

    def __init__(
        self, store: ir.Operation, offset: ir.Value, length: ir.Value, passed: dict[ir.Value, ir.Value]
    ) -> None:
        self._store = store
        self._passed = passed
        self._offset = offset
        self._length = length
        kernel = store.operands[0].owner
        self._kernel = (
            kernel.operation
            if not isinstance(kernel, ir.Block) and _is_elementwise(kernel.operation) and _covers_all(store, 1)
            else None
        )

    def is_apart(self, load: ir.Operation, start: ir.Value) -> bool:
        """Whether a load reads nothing that is written: both ranges are known, and do not overlap."""
        place, first, length = _place(load), _constant(self._offset), _constant(self._length)
        binding = _constant(start)
        if place is None or first is None or length is None or binding is None:
            return False
        return binding + place[1] <= first or first + length <= binding + place[0]

    def is_own(self, load: ir.Operation, start: ir.Value) -> bool:
        """Whether each element is computed from the one in its place, or from one that no element is written to.

        That holds for blocks of one size if each starts at a multiple of the size, or both at the same place.
        """
        if self._kernel is None or _element_bytes(load, 0) is None or not _is_contiguous(load):
            return False
        if _element(load, 0) != _element(self._store, 1) or _block_of(load, 0) != _block_of(self._store, 1):
            return False
        for use in load.results[0].uses:
            user = use.owner.operation
            if user != self._kernel or not _reads_own_place(user, use.operand_number):
                return False
        own = _first_byte(load, self._passed)
        if own is not None and plus(own, linear_form(start)) == linear_form(self._offset):
            return True
        place, binding = _place(load), _constant(start)
        return binding == 0 and _is_aligned(load, place, self._length) and _is_multiple(self._offset, self._length)


def _is_aligned(load: ir.Operation, place: tuple[int, int] | None, length: ir.Value) -> bool:
    """Whether a load of a contiguous block starts at a multiple of its own length."""
    if place is None:
        return _is_aligned_block(load)
    size = place[1] - place[0]
    return _is_aligned_block(load) or (_constant(length) == size and place[0] % size == 0)


def writes_apart(dispatch: ir.Operation, module: ir.Module) -> bool:
    """Whether the results of a dispatch that are placed into one tensor lie in parts of it that do not overlap.

    Args:
        dispatch: a `stream.async.dispatch` with several results tied to operands.
        module: the module around it, with the executables.
    Returns:
        True if verified: the kernel reads none of what it writes, and the ranges written in each tensor are apart.
    """
    if dispatch.name != "stream.async.dispatch":
        return False
    function = kernel_function(dispatch, module)
    if function is None or any(
        "readwrite" in str(op.results[0].type) for op in walk(function) if op.name == "stream.binding.subspan"
    ):
        return False
    segments = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
    base = segments[0]
    ranges: dict[ir.Value, list[tuple[ir.Value, ir.Value]]] = {}
    for tied in ir.ArrayAttr(dispatch.attributes["tied_operands"]):
        index = ir.IntegerAttr(tied).value
        if index >= 0:
            position = _resource_position(dispatch, segments, index)
            offset = dispatch.operands[sum(segments[:3]) + position]
            end = dispatch.operands[sum(segments[:4]) + position]
            ranges.setdefault(dispatch.operands[base + index], []).append((offset, end))
    return all(
        _ends_before(first, second) or _ends_before(second, first)
        for parts in ranges.values()
        for first, second in combinations(parts, 2)
    )


def _ends_before(first: tuple[ir.Value, ir.Value], second: tuple[ir.Value, ir.Value]) -> bool:
    """Whether the range `first`, as offset and end, certainly ends where `second` starts or earlier."""
    end, offset = _constant(first[1]), _constant(second[0])
    return first[1] == second[0] or (end is not None and offset is not None and end <= offset)


def _accesses(binding: ir.Value, kind: str) -> list[ir.Operation] | None:
    """Return the loads or stores of a binding, None if it has another use or an offset."""
    uses = list(binding.uses)
    if len(uses) != 1 or uses[0].owner.operation.name != "stream.binding.subspan":
        return None
    subspan = uses[0].owner.operation
    if _constant(subspan.operands[1]) != 0:
        return None
    accesses = [use.owner.operation for use in subspan.results[0].uses]
    return accesses if all(access.name == kind for access in accesses) else None


def _constant(value: ir.Value) -> int | None:
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
        next(dynamic) if size == _DYNAMIC else size for size in map(int, ir.DenseI64ArrayAttr(op.attributes[static]))
    ]


def _tensor_sizes(op: ir.Operation, operand: int) -> list[object]:
    """The sizes of the dispatch tensor that is accessed."""
    parts = _shape(op, operand)[1].split("x")[:-1]
    segments = [int(size) for size in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]
    start = sum(segments[: operand + 1])
    dynamic = iter([op.operands[start + offset] for offset in range(segments[operand + 1])])
    return [next(dynamic) if part == "?" else int(part) for part in parts]


def _offsets_sizes_strides(op: ir.Operation, operand: int) -> tuple[list[object], list[object], list[object]]:
    first = operand + 2
    return (
        _list(op, "static_offsets", first),
        _list(op, "static_sizes", first + 1),
        _list(op, "static_strides", first + 2),
    )


def _covers_all(op: ir.Operation, operand: int) -> bool:
    """Whether an access is of the whole dispatch tensor."""
    offsets, sizes, strides = _offsets_sizes_strides(op, operand)
    return (
        all(offset == 0 for offset in offsets)
        and all(stride == 1 for stride in strides)
        and sizes == _tensor_sizes(op, operand)
    )


def _element(op: ir.Operation, operand: int) -> str:
    """The element type of the dispatch tensor that is accessed."""
    return _shape(op, operand)[2]


def _shape(op: ir.Operation, operand: int) -> re.Match[str]:
    """The dispatch tensor that is accessed: its sizes, `4x?x`, and its element type."""
    found = _TENSOR.search(str(op.operands[operand].type))
    assert found is not None
    return found


def _element_bytes(op: ir.Operation, operand: int) -> int | None:
    """The size of an element in bytes, None if it is not a plain number."""
    element = _element(op, operand)
    if element == "i1":
        return 1
    bits = element.removeprefix("bf").lstrip("if")
    return int(bits) // 8 if bits.isdigit() and int(bits) % 8 == 0 else None


def _place(load: ir.Operation) -> tuple[int, int] | None:
    """The first byte of a binding that a load may read, and the one after the last; None if not known."""
    offsets, sizes, strides = _offsets_sizes_strides(load, 0)
    size_of_element = _element_bytes(load, 0)
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


def _first_byte(load: ir.Operation, passed: dict[ir.Value, ir.Value]) -> LinearForm | None:
    """Where in a binding a load begins, in values outside of the kernel; None if it is not known."""
    step = _element_bytes(load, 0)
    first: LinearForm = {}
    for offset, extent in reversed(list(zip(_offsets_sizes_strides(load, 0)[0], _tensor_sizes(load, 0), strict=True))):
        assert isinstance(offset, (int, ir.Value))
        if step is None:
            if offset != 0:
                return None
            continue
        first = plus(first, times(linear_form(offset, passed), step))
        step = step * extent if isinstance(extent, int) else None
    return first


def _is_contiguous(load: ir.Operation) -> bool:
    """Whether a load reads elements that follow each other."""
    offsets, sizes, strides = _offsets_sizes_strides(load, 0)
    if any(stride != 1 for stride in strides):
        return False
    leading = True  # the sizes so far are 1
    for offset, size, extent in zip(offsets, sizes, _tensor_sizes(load, 0), strict=True):
        if not leading and not (offset == 0 and size == extent):
            return False
        leading = leading and size == 1
    return True


def _is_aligned_block(load: ir.Operation) -> bool:
    """Whether a load reads a contiguous block that starts at a multiple of its own size, wherever it starts."""
    offsets, sizes, strides = _offsets_sizes_strides(load, 0)
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


def _block_of(op: ir.Operation, operand: int) -> list[object]:
    """The sizes of an access without those that are 1."""
    return [size for size in _offsets_sizes_strides(op, operand)[1] if size != 1]


def _is_elementwise(op: ir.Operation) -> bool:
    if op.name != "linalg.generic" or len(op.results) != 1:
        return False
    if any("parallel" not in str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])):
        return False
    return _reads_own_place(op, len(op.operands) - 1)


def _reads_own_place(generic: ir.Operation, operand: int) -> bool:
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


def _range_start(dispatch: ir.Operation, operand: int) -> ir.Value:
    """The offset in bytes at which the range of a resource operand starts."""
    segments = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
    return dispatch.operands[sum(segments[:3]) + _resource_position(dispatch, segments, operand)]


def _range_length(dispatch: ir.Operation, operand: int) -> ir.Value:
    segments = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
    return dispatch.operands[sum(segments[:5]) + _resource_position(dispatch, segments, operand)]


def _resource_position(dispatch: ir.Operation, segments: list[int], operand: int) -> int:
    """Where the range of an operand stands among the ranges: resources only have one.

    The segments are: workload, operands, operand sizes, offsets, ends, lengths, result sizes.
    """
    base = segments[0]
    return sum(str(dispatch.operands[base + other].type).startswith("!stream.resource") for other in range(operand))


def _is_multiple(offset: ir.Value, length: ir.Value) -> bool:
    number, size = _constant(offset), _constant(length)
    if number == 0:
        return True
    if number is not None and size:
        return number % size == 0
    owner = offset.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.muli":
        return False
    for factor in owner.operation.operands:
        multiple = _constant(factor)
        if factor == length or (multiple is not None and size and multiple % size == 0):
            return True
    return False
