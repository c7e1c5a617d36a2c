"""Find reductions that IREE is about to compile wrongly.

IREE folds a tensor filled with one number into the ops that read it. Where that leaves a reduction whose body reads
none of its inputs (`torch.full((9,), 7.0).sum()` becomes "add 7 to the result, nine times"), the vectoriser of IREE
3.13 adds the number once for each vector instead of once for each element. A product of matrices of which one is filled
in the same kernel (`torch.addmm(b, torch.zeros(5, 16), w)`) is such a reduction after it was decomposed: what is added
to it is added several times. Such reductions are found in the kernels of the stream IR.
"""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import walk

__all__ = ["find_constant_reductions"]


def find_constant_reductions(module: ir.Module) -> list[ir.Operation]:
    """Return the reductions of a module that read no input, or one that is filled with one number.

    Args:
        module: stream IR with its executables.
    """
    return [
        op
        for op in walk(module.operation)
        if _reduces(op) and (_reads_nothing(op) or any(map(_is_filled, _inputs(op))))
    ]


_REDUCING = (
    "batch_matmul",
    "batch_matvec",
    "batch_vecmat",
    "contract",
    "conv",
    "dot",
    "matmul",
    "matvec",
    "pooling",
    "vecmat",
)


def _reduces(op: ir.Operation) -> bool:
    """Whether an op is a `linalg.generic` that reduces, or one of linalg's products and windows, which all do."""
    dialect, _, name = op.name.partition(".")
    if name == "generic" and dialect == "linalg":
        return any("reduction" in str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"]))
    return dialect == "linalg" and name.startswith(_REDUCING)


def _inputs(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[: int(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0])]


_RESHAPES = ("tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice")


def _is_filled(value: ir.Value) -> bool:
    """Whether all elements of a tensor are one number that is computed in the kernel, from nothing that it reads."""
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name in _RESHAPES:
        return _is_filled(op.operands[0])
    return op.name in ("linalg.fill", "arith.constant") or (op.name == "linalg.generic" and _reads_nothing(op))


def _reads_nothing(op: ir.Operation) -> bool:
    body = op.regions[0].blocks[0]
    if any(list(body.arguments[number].uses) for number in range(len(_inputs(op)))):
        return False
    return not any(inner.operation.name == "linalg.index" for inner in body.operations)
