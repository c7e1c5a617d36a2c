"""`super().method(...)` and `super(Kind, self).method(...)`."""

from __future__ import annotations

import ast

from .interfaces import CallEvaluator, Result
from .objects import call_super, is_object
from .rejections import NotCompiledError
from .values import Known

__all__ = ["call"]


def call(calls: CallEvaluator, node: ast.Call, function: ast.Attribute) -> Result:
    """Evaluate a call of a method of a base class.

    Args:
        calls: evaluates calls.
        node: the call.
        function: what is called, an attribute of `super(...)`.
    Raises:
        NotCompiledError: it is not that of the object whose method this is.
    """
    scope, name, said = calls.scope, function.attr, function.value
    assert isinstance(said, ast.Call)
    defined = _class_around(calls) if not said.args and not said.keywords else _class_named(calls, said)
    if (made := call_super(calls, node, name, defined)) is not None:
        return made
    owner = scope.owner
    kinds = type(owner).__mro__ if owner is not None else ()
    if owner is None or defined not in kinds:
        raise NotCompiledError("super() in a function that is no method")
    for kind in kinds[kinds.index(defined) + 1 :]:
        if name in vars(kind):
            arguments = calls.arguments(node)
            title = f"_ssa_compiler_{kind.__name__}_{name}"
            return scope.program.functions.call_method(scope, owner, vars(kind)[name], title, arguments, node)
    raise NotCompiledError("a method that no class above has")


def _class_around(calls: CallEvaluator) -> type | None:
    """The class that a method is written in, None if it is in none."""
    function = calls.scope.function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    defined: type | None = cells["__class__"].cell_contents if "__class__" in cells else None
    return defined


def _class_named(calls: CallEvaluator, said: ast.Call) -> type:
    """The class that `super(Kind, self)` says, which may be another than the one around it."""
    scope = calls.scope
    first = next(iter(scope.function.__code__.co_varnames), "")
    if len(said.args) != 2 or said.keywords or not isinstance(said.args[1], ast.Name) or said.args[1].id != first:
        raise NotCompiledError("super() of something else than the object of the method")
    kind, own = (calls.expressions.evaluate(part).value for part in said.args)
    is_own = is_object(own) or (isinstance(own, Known) and own.object is scope.owner)
    if not isinstance(kind, Known) or not isinstance(kind.object, type) or not is_own:
        raise NotCompiledError("super() of an unknown class")
    return kind.object
