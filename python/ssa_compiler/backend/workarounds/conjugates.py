"""Conjugates and views with the opposite sign, which torch-mlir does not know: made of the parts of complex numbers."""

from __future__ import annotations

from iree.compiler import ir

from ..ir.bindings import attribute, build, walk
from ..ir.types import element_of, with_element

__all__ = ["rewrite_conjugates"]

_CONJUGATES = ('"torch.aten._conj"', '"torch.aten._conj_physical"')
_PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}


def rewrite_conjugates(module: ir.Module) -> int:
    """Rewrite `_conj`, `_conj_physical` and `_neg_view`.

    Args:
        module: an `iree`-stage module, rewritten in place before unknown ops become callbacks.
    Returns:
        The number of ops rewritten.
    """
    return sum(_rewrite(op) for op in list(walk(module.operation)) if op.name == "torch.operator")


def _rewrite(op: ir.Operation) -> int:
    name, where = attribute(op, "name"), ir.InsertionPoint(op)
    if name == '"torch.aten._neg_view"':
        made = build("torch.aten.neg", [op.results[0].type], [op.operands[0]], where)
    elif name in _CONJUGATES and (part := _PARTS.get(element_of(op.operands[0].type))):
        type_ = with_element(op.operands[0].type, part)
        real, imaginary = (
            build(f"torch.aten.{p}", [type_], [op.operands[0]], where).results[0] for p in ("real", "imag")
        )
        opposite = build("torch.aten.neg", [type_], [imaginary], where).results[0]
        made = build("torch.aten.complex", [op.results[0].type], [real, opposite], where)
    else:
        return 0
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
    return 1
