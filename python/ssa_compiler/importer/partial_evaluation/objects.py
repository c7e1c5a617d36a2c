"""Objects that a program makes, of classes of the user's: their constructors, attributes and methods."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from typing import Any

from ...abi.records import record_keys
from .callees import is_left_to_python
from .definitions import Definition, definition_of
from .effects import has_effects
from .interfaces import Arguments, CallEvaluator, ExpressionEvaluator, Result
from .presence import required
from .rejections import NotCompiledError, OrderError
from .scope import Scope
from .values import NEVER, Known, ObjectValue, OptionalValue, Scalar, Value, is_none

__all__ = [
    "SPECIAL",
    "attribute",
    "begin",
    "call_method",
    "call_special",
    "call_super",
    "constructor",
    "create",
    "decides",
    "end",
    "has_attribute",
    "is_object",
    "store",
    "truth",
]

_SET = Result(None, Known(True))
_MISSING = object()
SPECIAL: dict[type, str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.MatMult: "__matmul__",
    ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.Pow: "__pow__", ast.Lt: "__lt__", ast.LtE: "__le__",
    ast.Gt: "__gt__", ast.GtE: "__ge__", ast.Eq: "__eq__", ast.NotEq: "__ne__",
    ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__", ast.LShift: "__lshift__", ast.RShift: "__rshift__",
    ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__",
}  # fmt: skip
"""The methods that operators call."""


def is_object(value: Value) -> bool:
    """Whether a value is an object whose class is evaluated."""
    return isinstance(value, ObjectValue) and value.name is not None


def _member(kind: type, name: str) -> Any:
    return inspect.getattr_static(kind, name, _MISSING)


def decides(value: Value) -> bool:
    """Whether the class of an object says when it is true."""
    kind = value.kind if isinstance(value, ObjectValue) else object
    return any(_member(kind, name) is not _MISSING for name in ("__bool__", "__len__"))


# Making objects. ----------------------------------------------------------------------------------------------------


def constructor(kind: type, written: Definition | None = None) -> Definition:
    """Return a function that makes an object of a class.

    Args:
        kind: the class.
        written: what stands for its `__init__`, if that is not to be taken.
    Raises:
        NotCompiledError: the class has none, or the object is passed on before it is complete.
    """
    init = inspect.getattr_static(kind, "__init__")
    if written is None and not isinstance(init, types.FunctionType):
        raise NotCompiledError("a class without __init__")
    written = written or definition_of(init)
    node = copy.deepcopy(written.node)
    self_name = node.args.args[0].arg
    _check_kept(node, self_name)
    node.name, node.args.args = f"new_{kind.__name__}", node.args.args[1:]
    made = ast.Call(ast.Name(kind.__name__, ast.Load()), [], [])
    made.creates = kind  # type: ignore[attr-defined]
    first, last = ast.Assign([ast.Name(self_name, ast.Store())], made), ast.Return(ast.Name(self_name, ast.Load()))
    returning = _Returning(self_name)
    node.body = [first, *map(returning.visit, node.body), last]
    node.returns = None
    for statement in (first, last):
        for part in ast.walk(statement):
            ast.copy_location(part, node)
    node.self_name = self_name
    return Definition(written.function, written.parsed, node, source=written.source, made_kind=kind)


class _Returning(ast.NodeTransformer):
    """Lets a constructor return the object."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Return(self, node: ast.Return) -> ast.Return:
        node.value = ast.copy_location(ast.Name(self._name, ast.Load()), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node


def _check_kept(node: Any, name: str) -> None:
    """Reject a method that passes an object on that is not complete."""
    kept = set[int]()
    for part in ast.walk(node):
        if isinstance(part, (ast.FunctionDef, ast.Lambda)) and part is not node:
            kept -= {id(each) for each in ast.walk(part)}
            continue
        if isinstance(part, ast.Attribute):
            kept.add(id(part.value))
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "super":
            kept |= set(map(id, part.args))
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == name and id(part) not in kept:
            raise NotCompiledError("an object that is passed on by its constructor")


def begin(scope: Scope, definition: Definition, complete: frozenset[str] | None) -> None:
    """Begin the evaluation of a function whose first parameter may be an object that is being made.

    Args:
        scope: the function.
        definition: the same as it is written.
        complete: the attributes that the object has, None if there is none.
    """
    if definition.made_kind is not None:
        scope.unfinished = definition.node.self_name
    elif complete is not None:
        scope.unfinished = definition.node.args.args[0].arg
        _check_kept(definition.node, scope.unfinished)
        scope.variables |= {f"{scope.unfinished}.{name}": _SET for name in complete}


def end(scope: Scope, definition: Definition) -> frozenset[str]:
    """Return the attributes that the object has where the function returns."""
    if scope.unfinished is None:
        return frozenset()
    if not scope.is_dead:
        scope.leave()
    complete = frozenset.intersection(*scope.ends) if scope.ends else frozenset()
    if definition.made_kind is not None:
        scope.program.classes.finish(definition.made_kind, complete)
    return complete


def create(calls: CallEvaluator, node: ast.Call) -> Result:
    """Evaluate the first statement of a constructor."""
    value = calls.scope.program.classes.value(node.creates)  # type: ignore[attr-defined]
    node.func = ast.copy_location(ast.Name(value.name or "", ast.Load()), node)
    return Result(node, value)


# Attributes. --------------------------------------------------------------------------------------------------------


def attribute(expressions: ExpressionEvaluator, owner: Result, node: ast.Attribute) -> Result:
    """Evaluate `object.name`."""
    assert isinstance(owner.value, ObjectValue)
    kind, name, scope = owner.value.kind, node.attr, expressions.scope
    classes, member = scope.program.classes, _member(kind, name)
    if isinstance(member, functools.cached_property):
        raise NotCompiledError("a cached property")
    if isinstance(member, property):
        return scope.program.functions.get_of_object(scope, member.fget, owner, node)
    found = classes.attribute(kind, name)
    if found is None:
        if member is not _MISSING:
            if isinstance(member, (types.FunctionType, staticmethod, classmethod)):
                raise NotCompiledError("a method that is a value")
            return expressions.known(node, Known(member, scope.program.place_of(kind, name)))
        classes.await_(kind, name)
        node.value = expressions.expression(owner, node.value)
        return Result(node, NEVER)
    unset = classes.may_be_unset(kind, name)
    if unset and (member is not _MISSING or isinstance(found, (OptionalValue, Known))):
        raise NotCompiledError(f"{name}, an attribute that an object may not have")
    if _is_unfinished(scope, owner) and f"{scope.unfinished}.{name}" not in scope.variables:
        raise NotCompiledError(f"{name}, an attribute that is read before it is assigned")
    if isinstance(found, Known) and not is_none(found):
        if owner.node is not None and has_effects(scope, owner.node):
            raise OrderError("an attribute of what has effects")
        expressions.discard(owner, node)
        return Result(None, found)
    node.value = expressions.expression(owner, node.value)
    if not unset:
        return Result(node, found)
    message = f"'{kind.__name__}' object has no attribute '{name}'"
    return required(scope, Result(node, OptionalValue(found)), AttributeError, message)


def has_attribute(expressions: ExpressionEvaluator, owner: Result, name: str, where: ast.AST) -> Result:
    """Evaluate `hasattr(object, name)`."""
    assert isinstance(owner.value, ObjectValue)
    kind, scope = owner.value.kind, expressions.scope
    if record_keys(kind) is not None or _is_unfinished(scope, owner):
        raise NotCompiledError("hasattr() of an object that is being made, or of a dict")
    if _member(kind, name) is not _MISSING:
        expressions.discard(owner, where)
        return expressions.known(where, Known(True))
    found = scope.program.classes.attribute(kind, name)
    if found is None or not scope.program.classes.may_be_unset(kind, name):
        expressions.discard(owner, where)
        return expressions.known(where, Known(found is not None))
    if isinstance(found, (OptionalValue, Known)):
        raise NotCompiledError(f"{name}, an attribute that an object may not have")
    attribute = ast.Attribute(expressions.expression(owner, where), name, ast.Load())
    test = ast.Compare(attribute, [ast.IsNot()], [ast.Constant(None)])
    for part in ast.walk(test):
        ast.copy_location(part, where)
    return Result(test, Scalar(bool))


def store(expressions: ExpressionEvaluator, owner: Result, target: ast.Attribute, value: Value) -> bool:
    """Note that an attribute of an object is assigned.

    Returns:
        Whether it is stored; objects that TorchScript has no values for are put in where they are read.
    """
    assert isinstance(owner.value, ObjectValue)
    kind, name, scope = owner.value.kind, target.attr, expressions.scope
    member = _member(kind, name)
    is_frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    if hasattr(member, "__set__") or (is_frozen and not _is_unfinished(scope, owner)):
        raise NotCompiledError("a property that is assigned")
    classes = scope.program.classes
    classes.learn(kind, name, value)
    if _is_unfinished(scope, owner):
        scope.variables[f"{scope.unfinished}.{name}"] = _SET
    return classes.is_stored(kind, name)


def _is_unfinished(scope: Scope, owner: Result) -> bool:
    return isinstance(owner.node, ast.Name) and owner.node.id == scope.unfinished


# Methods. -----------------------------------------------------------------------------------------------------------


def call_method(calls: CallEvaluator, node: ast.Call, owner: Result) -> Result:
    """Evaluate `object.method(...)`."""
    function = node.func
    assert isinstance(function, ast.Attribute)
    assert isinstance(owner.value, ObjectValue)
    kind, name, scope = owner.value.kind, function.attr, calls.scope
    member = _member(kind, name)
    if scope.program.classes.attribute(kind, name) is not None or isinstance(member, property):
        found = attribute(calls.expressions, owner, function)
        return calls.called(node, found)
    if isinstance(member, staticmethod):
        return calls.called(node, Result(None, Known(member.__func__)))
    if isinstance(member, classmethod):
        return _with(calls, node, member.__func__, Result(None, Known(kind)))
    if not isinstance(member, types.FunctionType) or is_left_to_python(member):
        raise NotCompiledError(f"{name}, no method of a {kind.__name__}")
    return _with(calls, node, member, owner)


def _with(calls: CallEvaluator, node: ast.Call, function: Any, first: Result) -> Result:
    """Call a function with one more argument."""
    scope, given = calls.scope, calls.arguments(node)
    arguments = Arguments([first, *given.positional], given.named)
    if not is_object(first.value) or not _is_unfinished(scope, first):
        return scope.program.functions.call(scope, function, arguments, node)
    prefix = f"{scope.unfinished}."
    result, complete = scope.program.functions.call_unfinished(scope, function, arguments, scope.complete(), node)
    if not scope.conditional:
        scope.variables |= {f"{prefix}{name}": _SET for name in complete}
    return result


def call_special(calls: CallEvaluator, name: str, owner: Result, given: list[Result], node: ast.AST) -> Result | None:
    """Evaluate what calls a method by its name, as `object[i]` does; None if there is no such method."""
    assert isinstance(owner.value, ObjectValue)
    member = _member(owner.value.kind, name)
    if not isinstance(member, types.FunctionType) or is_left_to_python(member):
        return None
    return calls.scope.program.functions.call(calls.scope, member, Arguments([owner, *given], {}), _call(node))


def truth(calls: CallEvaluator, owner: Result, node: ast.AST) -> Result:
    """Evaluate whether an object is true, of which its class decides.

    Raises:
        NotCompiledError: it does so by something else than a function that returns a bool or an int.
    """
    made = call_special(calls, "__bool__", owner, [], node)
    if made is not None and isinstance(made.value, Scalar) and made.value.kind is bool:
        return made
    made = call_special(calls, "__len__", owner, [], node) if made is None else None
    if made is None or not isinstance(made.value, Scalar) or made.value.kind is not int:
        raise NotCompiledError("the truth of an object")
    test = ast.Compare(made.node, [ast.NotEq()], [ast.Constant(0)])
    for part in ast.walk(test):
        if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return Result(test, Scalar(bool))


def call_super(calls: CallEvaluator, node: ast.Call, name: str, defined: type | None) -> Result | None:
    """Evaluate `super().method(...)` in a method of an object; None if it is none."""
    scope = calls.scope
    first = scope.unfinished or next(iter(scope.function.__code__.co_varnames), "")
    owner = scope.variables.get(first)
    if owner is None or not is_object(owner.value):
        return None
    kinds = owner.value.kind.__mro__
    if defined not in kinds:
        raise NotCompiledError("super() in a function that is no method")
    for kind in kinds[kinds.index(defined) + 1 : -1]:
        if isinstance(member := vars(kind).get(name), types.FunctionType):
            return _with(calls, node, member, owner)
    if name == "__init__" and not node.args and not node.keywords:
        return Result(ast.copy_location(ast.Constant(None), node), Known(None))
    raise NotCompiledError(f"super().{name}")


def _call(node: ast.AST) -> ast.Call:
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), node), [], []), node)
