"""Triangles of matrices: torch-mlir adds the number of the diagonal to that of a row, which wraps around for the
largest numbers.

Numbers beyond 2**62 in size are taken for that, beyond all rows and columns that there are.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import build, constant_integer, torch_integer

__all__ = ["TRIANGLES", "bound_diagonal"]

TRIANGLES = frozenset({"torch.aten.tril", "torch.aten.triu"})
_MOST = 2**62


def bound_diagonal(op: ir.Operation) -> int:
    """Bound the number of the diagonal; returns how many ops were rewritten.

    Args:
        op: one of `TRIANGLES`.
    """
    where, diagonal = ir.InsertionPoint(op), op.operands[1]
    known = constant_integer(diagonal)
    if known is not None and abs(known) <= _MOST:
        return 0
    if known is not None:
        op.operands[1] = torch_integer(max(-_MOST, min(known, _MOST)), where)
        return 1
    i64 = ir.IntegerType.get_signless(64, where.block.owner.context)
    bounded = build("torch_c.to_i64", [i64], [diagonal], where).results[0]
    for name, bound in (("arith.minsi", _MOST), ("arith.maxsi", -_MOST)):
        limit = build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, bound)}).results[0]
        bounded = build(name, [i64], [bounded, limit], where).results[0]
    op.operands[1] = build("torch_c.from_i64", [diagonal.type], [bounded], where).results[0]
    return 1
