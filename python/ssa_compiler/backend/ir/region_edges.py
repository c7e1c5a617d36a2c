"""Where control flow forwards values: from operands of loops, branches and terminators to block arguments and
results.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

__all__ = ["forwarded_to", "region_edges"]


def region_edges(op: ir.Operation) -> Iterator[tuple[int, ir.Value]]:
    """Return what an op forwards unchanged.

    Args:
        op: any op; those that are neither loops nor terminators forward nothing.
    Returns:
        Pairs of the number of an operand, and a value that it becomes: an argument of a block, or a result of the op
        around. A loop that may have no trip forwards what it starts from to its results, too.
    """
    if op.name == "scf.for":
        yield from _into(op, range(3, len(op.operands)), 0, first=1)
        yield from zip(range(3, len(op.operands)), op.results, strict=True)
    elif op.name == "scf.while":
        yield from _into(op, range(len(op.operands)), 0)
    elif op.name == "scf.condition":
        loop, passed = _around(op), range(1, len(op.operands))
        yield from _into(loop, passed, 1)
        yield from zip(passed, loop.results, strict=True)
    elif op.name == "scf.yield":
        around, passed = _around(op), range(len(op.operands))
        if around.name in ("scf.for", "scf.while"):
            yield from _into(around, passed, 0, first=int(around.name == "scf.for"))
        if around.name != "scf.while":
            yield from zip(passed, around.results, strict=True)
    elif op.name in ("cf.br", "cf.cond_br"):
        place = 0 if op.name == "cf.br" else 1
        for successor in op.successors:
            arguments = list(successor.arguments)
            yield from zip(range(place, place + len(arguments)), arguments, strict=True)
            place += len(arguments)


def forwarded_to(op: ir.Operation, index: int) -> list[ir.Value]:
    """Return the values that an operand becomes; see `region_edges`."""
    return [target for number, target in region_edges(op) if number == index]


def _into(op: ir.Operation, operands: range, region: int, first: int = 0) -> Iterator[tuple[int, ir.Value]]:
    """Operands beside the arguments of a region's block, from one of them on."""
    yield from zip(operands, list(op.regions[region].blocks[0].arguments)[first:], strict=True)


def _around(op: ir.Operation) -> ir.Operation:
    parent = op.parent
    assert parent is not None
    return parent.operation
