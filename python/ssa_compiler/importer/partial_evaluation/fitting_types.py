"""Types, as TorchScript writes them, of which values are values of another type."""

from __future__ import annotations

import ast

__all__ = ["fits"]


def fits(text: str, other: str) -> bool:
    """Whether a tuple of a type is one of another type, of which an element may be None.

    Args:
        text: the type, as TorchScript writes it.
        other: the other one.
    """
    return text.startswith("Tuple[") and _fits(ast.parse(text, mode="eval").body, ast.parse(other, mode="eval").body)


def _fits(one: ast.expr, other: ast.expr) -> bool:
    if ast.dump(one) == ast.dump(other):
        return True
    if not isinstance(other, ast.Subscript):
        return False
    kind = ast.unparse(other.value)
    if kind == "Optional":
        is_optional = isinstance(one, ast.Subscript) and ast.unparse(one.value) == "Optional"
        return _fits(one.slice if is_optional else one, other.slice)  # type: ignore[attr-defined]
    if kind != "Tuple" or not isinstance(one, ast.Subscript) or ast.unparse(one.value) != "Tuple":
        return False
    mine, others = (getattr(each.slice, "elts", [each.slice]) for each in (one, other))
    return len(mine) == len(others) and all(map(_fits, mine, others))
