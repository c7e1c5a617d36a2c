"""Sets, as objects of a class of the library's, for each place in the program that makes one."""

from __future__ import annotations

import ast
import copy

from .interfaces import CallEvaluator, Result
from .library_classes import is_set
from .new_nodes import with_places
from .ranges import listed_range
from .rejections import NotCompiledError
from .values import DictValue, Known, Scalar, TupleValue, Value, annotation

__all__ = ["as_keys", "display", "make"]

_ELEMENTS = "keys"
_MAKING = ("set", "copy", "union", "intersection", "difference", "symmetric_difference")


def make(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate `set()` and `set(items)`.

    Raises:
        NotCompiledError: its elements are none that compare as Python's do.
    """
    from ...library.sets import EmptySet, Set

    if len(node.args) > 1 or node.keywords:
        raise NotCompiledError("set() of other arguments")
    scope, program = calls.scope, calls.scope.program
    node.args = [as_keys(calls, listed_range(calls.scope, part)) for part in node.args]
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


def _may_be_set(node: ast.expr) -> bool:
    """Whether an expression looks like one that makes a set."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Sub, ast.BitOr, ast.BitAnd, ast.BitXor)) and any(
            isinstance(part, ast.Name) or _may_be_set(part) for part in (node.left, node.right)
        )
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "id", getattr(called, "attr", ""))
    return isinstance(node, (ast.Set, ast.SetComp)) or name in _MAKING


def display(node: ast.Set | ast.SetComp) -> ast.Call:
    """Return a call of `set` for `{a, b}` or `{f(x) for x in items}`."""
    items = ast.List(node.elts, ast.Load()) if isinstance(node, ast.Set) else ast.ListComp(node.elt, node.generators)
    call = ast.Call(ast.Name("set", ast.Load()), [items], [])

    return with_places(call, node)


def as_keys(calls: CallEvaluator, node: ast.expr) -> ast.expr:
    """Return an expression for the elements of a set, in any order; others are returned as they are."""
    if isinstance(node, ast.Name):
        found = calls.scope.variables.get(node.id)
    elif _may_be_set(node):
        saved, hoisted = calls.scope.save(), len(calls.scope.before)
        found = calls.expressions.evaluate(copy.deepcopy(node))
        if is_set(found.value):
            node = calls.expressions.named(found, node, fresh=True)
        else:  # it is evaluated again
            calls.scope.restore(saved)
            del calls.scope.before[hoisted:]
    else:
        return node
    if found is None or not is_set(found.value):
        return node
    name, held = calls.scope.name(), ast.Attribute(node, _ELEMENTS, ast.Load())
    generator = ast.comprehension(ast.Name(name, ast.Store()), held, [], 0)
    return with_places(ast.ListComp(ast.Name(name, ast.Load()), [generator]), node)
