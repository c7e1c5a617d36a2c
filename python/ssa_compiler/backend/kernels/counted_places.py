"""`nonzero` for parts of programs: a kernel makes the places, as many as there are elements, and the host takes those
that are.

IREE computes `nonzero` with a dozen kernels, and no kernel of ours returns a tensor whose size its elements decide.
"""

from __future__ import annotations

import math

from iree.compiler import ir

from ..ir.bindings import build, torch_integer, walk
from ..ir.types import element_of, sizes

__all__ = ["count_places", "takes_counted"]

_TAKES = "tssa.takes_counted"


def count_places(module: ir.Module) -> int:
    """Rewrite each `nonzero` of a bool tensor with at least one dimension.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        How many were rewritten.
    """
    found = [op for op in walk(module.operation) if op.name == "torch.aten.nonzero" and _is_known(op.operands[0])]
    for op in found:
        _Rewrite(op).run()
    return len(found)


def takes_counted(op: ir.Operation) -> bool:
    """Whether an op takes the places that are of those that a kernel made."""
    return _TAKES in op.attributes


def _is_known(flags: ir.Value) -> bool:
    return bool(sizes(flags)) and element_of(flags.type) == "i1"


class _Rewrite:
    """Rewrites one `nonzero`."""

    def __init__(self, op: ir.Operation) -> None:
        self._op, self._context, self._where = op, op.context, ir.InsertionPoint(op)

    def run(self) -> None:
        op = self._op
        flags = op.operands[0]
        shape = sizes(flags)
        count = math.prod(map(int, shape)) if all(map(str.isdigit, shape)) else "?"
        none, zero = self._made("torch.constant.none", "!torch.none"), self._integer(0)
        flat = flags
        if len(shape) > 1:
            ends = [zero, self._integer(len(shape) - 1)]
            flat = self._made("torch.aten.flatten.using_ints", f"!torch.vtensor<[{count}],i1>", flags, *ends)
        numbers = f"!torch.vtensor<[{count}],si64>"
        operator = ir.StringAttr.get("torch.ssa_compiler.places", self._context)
        places = self._made("torch.operator", numbers, flat, name=operator)
        counted = self._made("torch.aten.sum", "!torch.vtensor<[],si64>", flat, none)
        found = self._made("torch.aten.Int.Tensor", "!torch.int", counted)
        columns = [
            self._made("torch.aten.unsqueeze", f"!torch.vtensor<[{count},1],si64>", each, self._integer(1))
            for each in self._coordinates(flags, places, numbers)
        ]
        rows = columns[0]
        if len(columns) > 1:
            kind = "!torch.list<vtensor>"
            rows = self._made("torch.prim.ListConstruct", kind, *columns)
            rows = self._made(
                "torch.aten.cat", f"!torch.vtensor<[{count},{len(columns)}],si64>", rows, self._integer(1)
            )
        one = self._integer(1)
        taken = build("torch.aten.slice.Tensor", [op.results[0].type], [rows, zero, zero, found, one], self._where)
        taken.attributes[_TAKES] = ir.UnitAttr.get(self._context)
        op.results[0].replace_all_uses_with(taken.results[0])
        op.erase()

    def _coordinates(self, flags: ir.Value, places: ir.Value, type_: str) -> list[ir.Value]:
        """The coordinates, one tensor for each dimension, of places in the flattened tensor."""
        found: list[ir.Value] = []
        for dim, size in reversed(list(enumerate(sizes(flags)))[1:]):
            if size.isdigit():
                number = self._integer(int(size))
            else:
                number = self._made("torch.aten.size.int", "!torch.int", flags, self._integer(dim))
            found.append(self._made("torch.aten.remainder.Scalar", type_, places, number))
            places = self._made("torch.aten.floor_divide.Scalar", type_, places, number)
        return [places, *reversed(found)]

    def _integer(self, number: int) -> ir.Value:
        return torch_integer(number, self._where)

    def _made(self, name_: str, type_: str, *operands: ir.Value, **attributes: ir.Attribute) -> ir.Value:
        return build(name_, [ir.Type.parse(type_, self._context)], operands, self._where, attributes).results[0]
