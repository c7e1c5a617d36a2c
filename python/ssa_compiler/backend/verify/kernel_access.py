"""Decide whether a dispatch may write its result over the tensor that it reads.

IREE places the result of a dispatch straight into the part of a larger tensor that it is inserted into, even where the
dispatch reads the same tensor: `x[i] = x[i].flip(0)` then reads elements that it has already overwritten. It is right
when each element is computed from the element at its own place, and from others that are certainly elsewhere. This
module verifies the common case: the written block and every block read from the same tensor are aligned to their common
size, and the kernel is elementwise. What it cannot verify is kept apart by a barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from iree.compiler import ir

from ..ir.affine_offsets import linear_form, plus
from ..ir.bindings import source_lines, walk
from ..ir.types import is_resource
from .access_geometry import (
    block_of,
    constant_of,
    covers_all,
    element_bytes,
    element_type,
    first_byte,
    is_aligned_block,
    is_contiguous,
    is_elementwise,
    is_multiple,
    offsets_sizes_strides,
    place_of,
    range_length,
    range_start,
    reads_own_place,
    resource_position,
)

__all__ = ["dispatch_lines", "kernel_function", "may_run_in_place", "reads_beside_what_it_writes", "writes_apart"]

_LOAD = "iree_tensor_ext.dispatch.tensor.load"
_STORE = "iree_tensor_ext.dispatch.tensor.store"


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
    """Return the lines of the compiled text that a `stream.async.dispatch`, and the kernel it runs, was made from,
    sorted.
    """
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
        number for number, binding in enumerate(bindings) if number != tied and is_resource(binding) and shares(binding)
    ]
    stores = _accesses(arguments[tied], _STORE)
    if stores is None or len(stores) != 1:
        return False
    passed = dict(zip(arguments, bindings, strict=True))
    target = _Target(stores[0], range_start(dispatch, tied), range_length(dispatch, tied), passed)
    for number in read:
        loads = _accesses(arguments[number], _LOAD)
        start = range_start(dispatch, number)
        if loads is None or any(not (target.is_apart(load, start) or target.is_own(load, start)) for load in loads):
            return False
    return True


def reads_beside_what_it_writes(dispatch: ir.Operation, module: ir.Module) -> bool:
    """Whether a kernel may read elements of a tensor that it has overwritten before, through one and the same binding.

    `x[1:] = x[:-1].clone()` becomes a kernel that loads one part of a tensor and stores it to another one, which
    overlaps.

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
        zip(*offsets_sizes_strides(load, 0)), zip(*offsets_sizes_strides(store, 1)), strict=True
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
            and is_elementwise(use.owner.operation)
            and reads_own_place(use.owner.operation, use.operand_number)
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
            if not isinstance(kernel, ir.Block) and is_elementwise(kernel.operation) and covers_all(store, 1)
            else None
        )

    def is_apart(self, load: ir.Operation, start: ir.Value) -> bool:
        """Whether a load reads nothing that is written: both ranges are known, and do not overlap."""
        place, first, length = place_of(load), constant_of(self._offset), constant_of(self._length)
        binding = constant_of(start)
        if place is None or first is None or length is None or binding is None:
            return False
        return binding + place[1] <= first or first + length <= binding + place[0]

    def is_own(self, load: ir.Operation, start: ir.Value) -> bool:
        """Whether each element is computed from the one in its place, or from one that no element is written to.

        That holds for blocks of one size if each starts at a multiple of the size, or both at the same place.
        """
        if self._kernel is None or element_bytes(load, 0) is None or not is_contiguous(load):
            return False
        if element_type(load, 0) != element_type(self._store, 1) or block_of(load, 0) != block_of(self._store, 1):
            return False
        for use in load.results[0].uses:
            user = use.owner.operation
            if user != self._kernel or not reads_own_place(user, use.operand_number):
                return False
        own = first_byte(load, self._passed)
        if own is not None and plus(own, linear_form(start)) == linear_form(self._offset):
            return True
        place, binding = place_of(load), constant_of(start)
        return binding == 0 and _is_aligned(load, place, self._length) and is_multiple(self._offset, self._length)


def _is_aligned(load: ir.Operation, place: tuple[int, int] | None, length: ir.Value) -> bool:
    """Whether a load of a contiguous block starts at a multiple of its own length."""
    if place is None:
        return is_aligned_block(load)
    size = place[1] - place[0]
    return is_aligned_block(load) or (constant_of(length) == size and place[0] % size == 0)


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
            position = resource_position(dispatch, segments, index)
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
    end, offset = constant_of(first[1]), constant_of(second[0])
    return first[1] == second[0] or (end is not None and offset is not None and end <= offset)


def _accesses(binding: ir.Value, kind: str) -> list[ir.Operation] | None:
    """Return the loads or stores of a binding, None if it has another use or an offset."""
    uses = list(binding.uses)
    if len(uses) != 1 or uses[0].owner.operation.name != "stream.binding.subspan":
        return None
    subspan = uses[0].owner.operation
    if constant_of(subspan.operands[1]) != 0:
        return None
    accesses = [use.owner.operation for use in subspan.results[0].uses]
    return accesses if all(access.name == kind for access in accesses) else None
