"""Sets, as objects of a class of the library's, for each place in the program that makes one."""

from __future__ import annotations

import ast

from .interfaces import CallEvaluator, Result
from .library_classes import is_set
from .new_nodes import with_places
from .rejections import NotCompiledError
from .values import DictValue, Known, Scalar, TupleValue, Value, annotation

__all__ = ["as_keys", "display", "make"]

_ELEMENTS = "keys"


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `set()` and `set(items)`.

    Raises:
        NotCompiledError: its elements are none that compare as Python's do.
    """
    from ...library.sets import EmptySet, Set

    if len(node.args) > 1 or node.keywords:
        raise NotCompiledError("set() of other arguments")
    scope, program = calls.scope, calls.scope.program
    place = "set", scope.place(node)
    known = program.elements.get(place)
    kind = known.object if isinstance(known, Known) else type("set", (Set if node.args else EmptySet,), {})
    program.elements[place] = Known(kind)
    elements = program.classes.attribute(kind, _ELEMENTS)
    key = elements.key if isinstance(elements, DictValue) else None
    if key is not None and annotation(key) is not None and not _is_exact(key):
        raise NotCompiledError("a set of other elements than ints, strings and tuples of these")
    return program.functions.construct(scope, kind, calls.arguments(node), node)


def _is_exact(key: Value) -> bool:
    """Whether keys of a dict of a type are equal where elements of a set are; floats that are no numbers are not."""
    return isinstance(key, TupleValue) or (isinstance(key, Scalar) and key.kind in (int, str))


def display(node: ast.Set | ast.SetComp) -> ast.Call:
    """Return a call of `set` for `{a, b}` or `{f(x) for x in items}`."""
    items = ast.List(node.elts, ast.Load()) if isinstance(node, ast.Set) else ast.ListComp(node.elt, node.generators)
    call = ast.Call(ast.Name("set", ast.Load()), [items], [])

    return with_places(call, node)


def as_keys(calls: CallEvaluator, node: ast.expr) -> ast.expr:
    """Return an expression for the elements of a set, in any order; others are returned as they are."""
    if not isinstance(node, ast.Name) or node.id not in calls.scope.variables:
        return node
    if not is_set(calls.scope.variables[node.id].value):
        return node
    name, held = calls.scope.name(), ast.Attribute(node, _ELEMENTS, ast.Load())
    generator = ast.comprehension(ast.Name(name, ast.Store()), held, [], 0)
    return with_places(ast.ListComp(ast.Name(name, ast.Load()), [generator]), node)
