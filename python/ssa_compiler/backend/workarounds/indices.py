"""Indexing with tensors whose sizes are dynamic, rewritten so that IREE compiles it.

IREE rejects several such tensors side by side (`x[i, j]`): they become one, positions in the flattened dimensions. When
it stores one value for all indices it repeats the value once even where there is no index at all, and writes somewhere:
so values get the shape of what they are stored in. And it has no kernel that gathers from a column of a tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused, torch_operator
from ..ir.bindings import build, walk
from ..ir.copies import barrier
from ..ir.types import element_of, is_mask, is_torch_tensor, sizes, with_sizes
from .masks import INDEX_PUTS, listed

__all__ = ["rewrite_indices"]

_READS = frozenset({"aten::index.Tensor", "aten::index.Tensor_hacked_twin"})


@dataclass(frozen=True)
class _Indices:
    """The index tensors of an op: adjacent ones, and no masks.

    Attributes:
        first: the first dimension that they index.
        tensors: one for each dimension.
    """

    first: int
    tensors: list[ir.Value]


def rewrite_indices(module: ir.Module) -> int:
    """Rewrite the indexing ops of a module that have an index of unknown size.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    rewritten = 0
    for op in list(walk(module.operation)):
        operator = torch_operator(op)
        if operator not in INDEX_PUTS and operator not in _READS:
            continue
        where = _Builder(ir.InsertionPoint(op))
        if operator in _READS and _is_column(op.operands[0]):
            op.operands[0] = barrier(op.operands[0], where.point)
            rewritten += 1
        indices = _indices(op)
        if indices is None:
            continue
        if operator in _READS:
            rewritten += _repair_read(op, indices, where)
        else:
            rewritten += _repair_write(op, indices, where)
    return rewritten


def _indices(op: ir.Operation) -> _Indices | None:
    """The indices of an op if one of them has a dynamic size."""
    given = listed(op.operands[1])
    places = [n for n, value in enumerate(given) if is_torch_tensor(value)]
    tensors = [given[n] for n in places]
    if not tensors or any(map(is_mask, tensors)) or not any("?" in sizes(tensor) for tensor in tensors):
        return None
    if places != list(range(places[0], places[0] + len(places))):
        return None
    return _Indices(places[0], tensors)


def _is_column(value: ir.Value) -> bool:
    """Whether a vector is every n-th element of a tensor."""
    owner = value.owner
    made_by_select = not isinstance(owner, ir.Block) and owner.operation.name == "torch.aten.select.int"
    return made_by_select and sizes(value) == ["?"]


def _repair_read(op: ir.Operation, indices: _Indices, where: _Builder) -> int:
    if len(indices.tensors) == 1:
        return 0
    flat, place = where.flattened(op.operands[0], indices)
    operands = [flat, where.index_list(indices.first, place, op.operands[1].type)]
    made = build(op.name, [op.results[0].type], operands, where.point)
    op.results[0].replace_all_uses_with(made.results[0])
    erase_unused(op)
    return 1


def _repair_write(op: ir.Operation, indices: _Indices, where: _Builder) -> int:
    base, values, first = op.operands[0], op.operands[2], indices.first
    target, index = where.flattened(base, indices) if len(indices.tensors) > 1 else (base, indices.tensors[0])
    flat = target
    values = where.stored(target, index, first, values)
    if first and len(sizes(index)) == 1:
        target, values = where.swapped(target, first), where.swapped(values, first)
    # Where either is known, IREE wants both to be.
    index = where.sized(index, sizes(values)[: len(sizes(index))])
    positions = where.index_list(0 if target != flat else first, index, op.operands[1].type)
    made = build(op.name, [target.type], [target, positions, values, op.operands[3]], where.point).results[0]
    if target != flat:
        made = where.swapped(made, first)
    if flat != base:
        made = where.call("torch.aten.view", base.type, made, where.int_list(where.sizes_of(base)))
    op.results[0].replace_all_uses_with(made)
    erase_unused(op)
    return 1


class _Builder:
    """Builds torch ops at one place."""

    def __init__(self, point: ir.InsertionPoint) -> None:
        self.point = point
        self._context = point.block.owner.context

    def call(self, name: str, type_: ir.Type | str, *operands: ir.Value) -> ir.Value:
        """Create an op with one result."""
        made = type_ if isinstance(type_, ir.Type) else ir.Type.parse(type_, self._context)
        return build(name, [made], operands, self.point).results[0]

    def integer(self, number: int) -> ir.Value:
        """Create a constant."""
        attribute = {"value": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, self._context), number)}
        type_ = ir.Type.parse("!torch.int", self._context)
        return build("torch.constant.int", [type_], [], self.point, attribute).results[0]

    def sizes_of(self, value: ir.Value) -> list[ir.Value]:
        """The sizes of a tensor as torch ints."""
        return [
            self.call("torch.aten.size.int", "!torch.int", value, self.integer(dim))
            if size == "?"
            else self.integer(int(size))
            for dim, size in enumerate(sizes(value))
        ]

    def int_list(self, values: list[ir.Value]) -> ir.Value:
        """Create a list of ints."""
        return self.call("torch.prim.ListConstruct", "!torch.list<int>", *values)

    def index_list(self, first: int, index: ir.Value, type_: ir.Type) -> ir.Value:
        """Create a list of indices that is None but for one dimension."""
        nones = [self.call("torch.constant.none", "!torch.none") for _ in range(first)]
        if nones:  # a list of tensors only takes no None
            type_ = ir.Type.parse("!torch.list<optional<vtensor>>", self._context)
        return self.call("torch.prim.ListConstruct", type_, *nones, index)

    def flattened(self, base: ir.Value, indices: _Indices) -> tuple[ir.Value, ir.Value]:
        """Make one dimension of those that are indexed, and one index tensor.

        Returns:
            The flattened tensor, and positions in its dimension.
        """
        first, count = indices.first, len(indices.tensors)
        shape = sizes(base)
        inner = shape[first : first + count]
        total = "?" if "?" in inner else str(_product([int(size) for size in inner]))
        type_ = with_sizes(base.type, [*shape[:first], total, *shape[first + count :]])
        flat = self.call(
            "torch.aten.flatten.using_ints", type_, base, self.integer(first), self.integer(first + count - 1)
        )
        bounds = self.sizes_of(base)[first : first + count]
        place: ir.Value | None = None
        for tensor, bound in zip(indices.tensors, bounds):
            tensor = self._from_front(tensor, bound)
            if place is None:
                place = tensor
                continue
            scaled = self.call("torch.aten.mul.Scalar", place.type, place, bound)
            type_ = with_sizes(place.type, _broadcast(sizes(scaled), sizes(tensor)))
            place = self.call("torch.aten.add.Tensor", type_, scaled, tensor, self.integer(1))
        assert place is not None
        return flat, place

    def _from_front(self, index: ir.Value, bound: ir.Value) -> ir.Value:
        """An index whose negative numbers count from the end, counted from the start."""
        flags = f"!torch.vtensor<[{','.join(sizes(index))}],i1>"
        negative = self.call("torch.aten.lt.Scalar", flags, index, self.integer(0))
        wrapped = self.call("torch.aten.add.Scalar", index.type, index, bound, self.integer(1))
        return self.call("torch.aten.where.self", index.type, negative, wrapped, index)

    def stored(self, target: ir.Value, index: ir.Value, first: int, values: ir.Value) -> ir.Value:
        """The values that are stored at an index, in the shape of what they are stored in."""
        whole = sizes(target)
        shape = [*whole[:first], *sizes(index), *whole[first + 1 :]]
        type_ = with_sizes(values.type, shape)
        if values.type == type_:
            return values
        given = sizes(values)
        if len(given) == len(shape) and all(a == b or (a != "1" and "?" in (a, b)) for a, b in zip(given, shape)):
            return values
        lengths = self.sizes_of(target)
        counts = [*lengths[:first], *self.sizes_of(index), *lengths[first + 1 :]]
        return self.call("torch.aten.broadcast_to", type_, values, self.int_list(counts))

    def swapped(self, value: ir.Value, dim: int) -> ir.Value:
        """A tensor with a dimension in the place of the first, and the first in its place."""
        shape = sizes(value)
        shape[0], shape[dim] = shape[dim], shape[0]
        type_ = with_sizes(value.type, shape)
        return self.call("torch.aten.transpose.int", type_, value, self.integer(0), self.integer(dim))

    def sized(self, value: ir.Value, shape: list[str]) -> ir.Value:
        """A tensor as one whose sizes are those that are known to be its own."""
        known = [b if a == "?" else a for a, b in zip(sizes(value), shape)]
        if known == sizes(value) or element_of(value.type) != "si64":
            return value
        before, after = (f"tensor<{'x'.join([*s, 'i64'])}>" for s in (sizes(value), known))
        tensor = self.call("torch_c.to_builtin_tensor", before, value)
        cast = self.call("tensor.cast", after, tensor)
        return self.call("torch_c.from_builtin_tensor", with_sizes(value.type, known), cast)


def _broadcast(one: list[str], other: list[str]) -> list[str]:
    """The sizes of two tensors together: unknown ones are not 1, which the importer has seen to."""
    rank = max(len(one), len(other))
    pairs = zip(["1"] * (rank - len(one)) + one, ["1"] * (rank - len(other)) + other)
    return [b if a in ("1", "?") and b != "1" else a for a, b in pairs]


def _product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result
