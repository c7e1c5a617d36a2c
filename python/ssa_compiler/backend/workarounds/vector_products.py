"""Products of matrices and a vector, which torch-mlir does not lower: those of matrices with one column or row."""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import build, torch_integer
from ..ir.types import sizes, with_sizes

__all__ = ["as_matrix_product"]


def as_matrix_product(op: ir.Operation) -> int:
    """Make a matrix of the vector that `matmul` multiplies with three or more dimensions.

    Args:
        op: a `torch.aten.matmul`.
    Returns:
        1 if it was rewritten, else 0.
    """
    ranks = [len(sizes(operand)) for operand in op.operands]
    if 1 not in ranks or max(ranks) < 3:
        return 0
    where, result = ir.InsertionPoint(op), op.results[0]
    number = ranks.index(1)  # the vector is a row in front of matrices, a column behind them
    vector, shape = op.operands[number], sizes(result)
    (size,) = sizes(vector)
    place = torch_integer(number, where)
    matrix = with_sizes(vector.type, [size, "1"] if number else ["1", size])
    op.operands[number] = build("torch.aten.unsqueeze", [matrix], [vector, place], where).results[0]
    wide = with_sizes(result.type, [*shape, "1"] if number else [*shape[:-1], "1", shape[-1]])
    product = build("torch.aten.matmul", [wide], list(op.operands), where).results[0]
    back = torch_integer(-1 if number else -2, where)
    result.replace_all_uses_with(build("torch.aten.squeeze.dim", [result.type], [product, back], where).results[0])
    op.erase()
    return 1
