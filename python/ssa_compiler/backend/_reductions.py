"""Find reductions that IREE is about to compile wrongly.

IREE folds a tensor filled with one number into the ops that read it. Where that leaves a reduction whose body reads none of
its inputs (`torch.full((9,), 7.0).sum()` becomes "add 7 to the result, nine times"), the vectoriser of IREE 3.13 adds the
number once for each vector instead of once for each element. Such reductions are found in the kernels of the stream IR.
"""

from __future__ import annotations

from iree.compiler import ir

from ._ir import walk

__all__ = ["find_constant_reductions"]


def find_constant_reductions(module: ir.Module) -> list[ir.Operation]:
    """Return the `linalg.generic` reductions of a module whose body reads no input.

    Args:
        module: stream IR with its executables.
    """
    found = []
    for op in walk(module.operation):
        if op.name == "linalg.generic" and any(
            "reduction" in str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])
        ):
            inputs = int(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0])
            body = op.regions[0].blocks[0]
            if not any(list(body.arguments[number].uses) for number in range(inputs)) and not any(
                inner.operation.name == "linalg.index" for inner in body.operations
            ):
                found.append(op)
    return found
