"""Tuples of ints that are keys of dicts, of which some ints may be dynamic; see `ir.tuple_keys`."""

from __future__ import annotations

import ast

from ..ir.tuple_keys import TUPLE_KEY, decoded
from ..values.values import ConstValue, RuntimeStr, ScalarValue, TupleValue, Value

__all__ = ["key_ints", "key_parts"]

_DYNAMIC = "dynamic"


def key_ints(key: Value) -> tuple[Value, ...] | None:
    """Return the ints in a tuple that is a key; None if it is something else, or has other parts."""
    if isinstance(key, TupleValue):  # as a dict with dynamic keys has it
        return key.elements if all(map(_is_int, key.elements)) else None
    if isinstance(key, ConstValue):
        known = decoded(key.value)
        is_plain = isinstance(known, tuple) and len(known) > 0 and all(type(part) is int for part in known)
        return tuple(map(ConstValue, known)) if is_plain else None
    if not isinstance(key, RuntimeStr) or not str(next(iter(key.pieces), "")).startswith(TUPLE_KEY):
        return None
    dynamic = [piece for piece in key.pieces if not isinstance(piece, str)]
    if any(form != "{}" or not isinstance(value, ScalarValue) or value.kind is not int for form, value in dynamic):
        return None
    text = "".join(piece if isinstance(piece, str) else _DYNAMIC for piece in key.pieces)
    tree = ast.parse(text.removeprefix(TUPLE_KEY), mode="eval").body
    following, found = iter(dynamic), list[Value]()
    for part in tree.elts if isinstance(tree, ast.Tuple) else ():
        if isinstance(part, ast.Name) and part.id == _DYNAMIC:
            found.append(next(following)[1])
            continue
        try:
            value = ast.literal_eval(part)
        except ValueError:
            return None
        if type(value) is not int:
            return None
        found.append(ConstValue(value))
    return tuple(found)


def _is_int(part: Value) -> bool:
    return (
        type(part.value) is int if isinstance(part, ConstValue) else isinstance(part, ScalarValue) and part.kind is int
    )


def key_parts(key: Value) -> tuple[Value, ...] | None:
    """Return the parts of a tuple that is a key of a dict; None if they are not known."""
    if isinstance(key, TupleValue):
        return key.elements
    known = decoded(key.value) if isinstance(key, ConstValue) else None
    return tuple(map(ConstValue, known)) if isinstance(known, tuple) else key_ints(key)
