"""Keys that a record gets after it was made: `result = {"x": x}`, and `result["rank"] = 3` in a branch.

Such a key is an attribute that is None until the dict gets it, for all dicts with the same keys from the start; the
caller's dict has the key if it is not None. Dicts get these keys in one order, that of the program's text: a program
that adds them in another one raises when it runs.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from ...abi.records import attribute_name, record_keys
from ...errors import UnsupportedProgramError
from . import objects
from .definitions import expression_of
from .effects import has_effects
from .interfaces import ExpressionEvaluator, Result
from .presence import find_present, required
from .rejections import NotCompiledError, OrderError
from .scope import Scope
from .values import NEVER, UNKNOWN, Known, ObjectValue, OptionalValue, Scalar, is_none

__all__ = [
    "added_key",
    "complete",
    "contains",
    "element",
    "has_any",
    "is_added",
    "is_later",
    "later_keys",
    "or_default",
    "stored",
]


def later_keys(scope: Scope, owner: Result) -> list[str]:
    """Return the keys that a record may get, in the order in which it gets them."""
    assert isinstance(owner.value, ObjectValue)
    return scope.program.classes.later_keys(owner.value.kind)


def is_added(expressions: ExpressionEvaluator, target: ast.expr) -> bool:
    """Whether a target is an attribute that the program adds to an object which it does not make, or that one which it
    makes may not have: to TorchScript it may be None.
    """
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, (ast.Name, ast.Attribute)):
        return False
    owner = expressions.evaluate(copy.deepcopy(target.value)).value
    if isinstance(owner, ObjectValue) and record_keys(owner.kind) is None:
        return expressions.scope.program.classes.may_be_unset(owner.kind, target.attr)
    return isinstance(owner, Known) and expressions.scope.program.states.may_be_added(owner, target.attr)


def added_key(expressions: ExpressionEvaluator, owner: Result, target: ast.Attribute | ast.Subscript) -> str | None:
    """Return the key of a record that is assigned, if the record does not have it from the start."""
    scope, hoisted = expressions.scope, len(expressions.scope.before)
    key = expressions.evaluate(copy.deepcopy(target.slice)) if isinstance(target, ast.Subscript) else None
    if key is not None and isinstance(key.value, Known) and type(key.value.object) is str:
        if key.value.object not in (_first_keys(owner) or ()):
            return str(scope.use(key.value))
    del scope.before[hoisted:]  # the key is evaluated again
    return None


def _first_keys(owner: Result) -> tuple[str, ...] | None:
    return record_keys(owner.value.kind) if isinstance(owner.value, ObjectValue) else None


# Writing. -------------------------------------------------------------------------------------------------------------


def stored(expressions: ExpressionEvaluator, owner: Result, key: str, result: Result, node: ast.AST) -> list[ast.stmt]:
    """Return the statements of `record[key] = value`, for a key that it does not have from the start.

    Args:
        expressions: evaluates expressions.
        owner: the record.
        key: the key.
        result: the value.
        node: the place.
    Raises:
        NotCompiledError: the value may be None, or is an object that TorchScript has no values for.
    """
    scope = expressions.scope
    assert isinstance(owner.value, ObjectValue)
    if owner.node is None or has_effects(scope, owner.node):
        raise OrderError("a key that is added to what has effects")
    value = scope.program.widened(result.value)
    if is_none(value) or isinstance(value, OptionalValue):
        raise NotCompiledError(f"{key!r}, a key that is added to a dict with a value that may be None")
    if isinstance(value, Known):
        raise NotCompiledError(f"{key!r}, a key that is added to a dict with a value that TorchScript has no type for")
    scope.program.classes.add_key(owner.value.kind, key)
    out: list[ast.stmt] = []
    given = expression_of(scope, Result(result.node, result.value))
    if not isinstance(given, (ast.Name, ast.Constant)):
        held = scope.name()
        out.append(ast.copy_location(ast.Assign([ast.copy_location(ast.Name(held, ast.Store()), node)], given), node))
        given = ast.copy_location(ast.Name(held, ast.Load()), node)
        scope.variables[held] = Result(given, value)
    keys, name = [*map(attribute_name, later_keys(scope, owner))], attribute_name(key)
    if after := keys[keys.index(name) + 1 :]:
        test = " or ".join(f"{{}}.{each} is not None" for each in after)
        text = "unsupported: keys that are added to a dict in another order than that of the program's text; add them in one order"
        out.append(_raising(scope, owner, f"{{}}.{name} is None and ({test})", text, node))
    target = _attribute(owner, key, node, ast.Store())
    objects.store(expressions, owner, target, value)
    find_present(scope, target, value)
    return [*out, ast.copy_location(ast.Assign([target], given), node)]


def is_later(expressions: ExpressionEvaluator, target: ast.expr) -> bool:
    """Whether a target is an element of a record for a key that it does not have from the start."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, (ast.Name, ast.Attribute)):
        return False
    owner = expressions.evaluate(copy.deepcopy(target.value))
    return _first_keys(owner) is not None and added_key(expressions, owner, target) is not None


def _attribute(owner: Result, key: str, where: ast.AST, context: Any) -> ast.Attribute:
    return ast.copy_location(ast.Attribute(copy.deepcopy(owner.node), attribute_name(key), context), where)


def _raising(scope: Scope, owner: Result, test: str, message: str, where: ast.AST) -> ast.stmt:
    """A statement that raises what says that a program is unsupported.

    Args:
        scope: the function.
        owner: the record.
        test: when it raises, with {} for the record.
        message: what it says.
        where: the place.
    """
    error = scope.program.constant_name(UnsupportedProgramError)
    text = f"if {test.replace('{}', ast.unparse(owner.node))}:\n    raise {error}({message!r})"
    made = ast.parse(text).body[0]
    for each in ast.walk(made):
        ast.copy_location(each, where)
    return made


# Reading. -------------------------------------------------------------------------------------------------------------


def element(expressions: ExpressionEvaluator, owner: Result, key: str, where: ast.AST) -> Result:
    """Evaluate `record[key]`, which raises if the record does not have the key.

    Raises:
        NotCompiledError: nothing adds it.
    """
    scope = expressions.scope
    assert isinstance(owner.value, ObjectValue)
    kind, elements = owner.value.kind, scope.program.elements
    if key not in later_keys(scope, owner):
        if ("awaited", kind, key) in elements:
            raise NotCompiledError(f"{key!r}, a key that a dict does not have")
        elements["awaited", kind, key] = UNKNOWN
    found = scope.program.classes.attribute(kind, attribute_name(key))
    node = _attribute(owner, key, where, ast.Load())
    if found is None:
        return Result(node, NEVER)
    return required(scope, Result(node, OptionalValue(found)), KeyError, repr(key))


def contains(expressions: ExpressionEvaluator, owner: Result, key: str, where: ast.AST, kind: type) -> Result:
    """Evaluate `key in record`, or `not in`."""
    attribute = _attribute(owner, key, where, ast.Load())
    test = ast.Compare(attribute, [ast.IsNot() if kind is ast.In else ast.Is()], [ast.Constant(None)])
    for part in ast.walk(test):
        ast.copy_location(part, where)
    return Result(test, Scalar(bool))


def has_any(expressions: ExpressionEvaluator, owner: Result, where: ast.AST) -> Result:
    """Evaluate whether a record that is made without keys has one by now."""
    tests = [contains(expressions, owner, key, where, ast.In).node for key in later_keys(expressions.scope, owner)]
    made = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), tests), where)
    return Result(made, Scalar(bool))


def or_default(expressions: ExpressionEvaluator, owner: Result, key: str, default: Result, where: ast.AST) -> Result:
    """Evaluate `record.get(key, default)`.

    Raises:
        NotCompiledError: the default is not None.
    """
    assert isinstance(owner.value, ObjectValue)
    found = expressions.scope.program.classes.attribute(owner.value.kind, attribute_name(key))
    if not is_none(default.value) or found is None:
        raise NotCompiledError(f"get() of {key!r}, a key that is added to a dict, with a default")
    return Result(_attribute(owner, key, where, ast.Load()), OptionalValue(found))


def complete(expressions: ExpressionEvaluator, owner: Result, where: ast.AST) -> Result:
    """Let a record have all keys that it may get, where all are asked for: a program that has not added one by then
    raises when it runs.

    Returns:
        The record, as a variable if it may get keys.
    """
    keys = later_keys(expressions.scope, owner)
    if not keys:
        return owner
    owner = Result(expressions.named(owner, where), owner.value)
    text = "unsupported: reading all keys of a dict to which one is added later; add it before"
    test = " or ".join(f"{{}}.{attribute_name(each)} is None" for each in keys)
    expressions.scope.hoist([_raising(expressions.scope, owner, test, text, where)], where)
    return owner
