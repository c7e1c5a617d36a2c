"""What computing an expression may do besides giving a value: change something, or raise."""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import types
from collections.abc import Sequence
from typing import Any

import torch

from ...abi.records import attribute_name, record_keys
from ..torchscript.evaluation_order import is_pure_op
from .callees import is_op
from .operator_calls import IS_PURE
from .values import DictValue, Known, ListValue, ObjectValue, OptionalValue, Scalar, TensorValue, TupleValue, field_of

__all__ = ["has_effects", "mark_iterators", "may_raise", "must_be_decomposed", "only_reads"]

_PURE = frozenset(
    "abs bool chr dict divmod enumerate float getattr hasattr int isinstance iter len list max min ord pow range reversed round "
    "slice sorted str sum tuple type zip all any".split()
)
_READING = frozenset(
    "index count get keys values items copy format join split startswith endswith upper lower strip numel replace".split()
)
_CONVERTING = frozenset("item tolist dim size numel ndimension stride".split())
_TYPING = (torch.jit.annotate, getattr(torch.jit, "_unwrap_optional"))  # noqa: B009 - it is not exported
_ITERATORS = tuple(each for each in vars(itertools).values() if isinstance(each, type))
_VIEWS = frozenset("items keys values".split())
_CHECKED = frozenset("dim size numel ndimension".split())


def has_effects(scope: Any, expression: Any) -> bool:
    """Whether it may be seen that an expression is computed, how often, or when.

    Args:
        scope: the function; what its variables are says which methods are called.
        expression: as it is written, or evaluated.
    """
    return any(
        isinstance(node, ast.NamedExpr)
        or (isinstance(node, ast.Call) and not hasattr(node, "is_pure") and not _is_pure(scope, node))
        or _calls_method(scope, node)
        for node in ast.walk(expression)
    )


def only_reads(call: ast.Call) -> bool:
    """Whether a call in an evaluated function has no effects but its arguments', whatever owns its method.

    Methods of the user's objects are functions there.
    """
    function = call.func
    reads = isinstance(function, ast.Attribute) and function.attr in _CONVERTING | _READING
    return reads or hasattr(call, "is_getter") or hasattr(call, "is_pure")


def _calls_method(scope: Any, node: Any) -> bool:
    """Whether `a[i]`, `a + b` or the like calls a method of an object."""
    if isinstance(node, ast.Subscript):
        operands = [node.value]
    elif isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        operands = list(node.args)  # `len(a)`
    else:
        return False
    found = [_value(scope, each) for each in operands]
    return any(isinstance(each, ObjectValue) and record_keys(each.kind) is None for each in found)


def _value(scope: Any, node: ast.expr) -> Any:
    """What is known of a variable, or of a part of an object; None of anything else."""
    if isinstance(node, ast.Attribute):
        found = _attribute(scope, _value(scope, node.value), node.attr)
    elif isinstance(node, ast.Subscript):
        owner = _value(scope, node.value)
        found = owner.element if isinstance(owner, (ListValue, DictValue)) else None
        if (
            isinstance(owner, ObjectValue)
            and isinstance(node.slice, ast.Constant)
            and record_keys(owner.kind) is not None
        ):
            found = scope.program.classes.attribute(owner.kind, attribute_name(str(node.slice.value)))
    else:
        found = _variable(scope, node)
    return found.element if isinstance(found, OptionalValue) else found


def _attribute(scope: Any, owner: Any, name: str) -> Any:
    """What is known of an attribute of an object, or of a field of a named tuple; None of anything else."""
    if isinstance(owner, TupleValue):
        return owner.elements[owner.names.index(name)] if name in owner.names else None
    if not isinstance(owner, ObjectValue):
        return None
    return field_of(owner.kind, name) if owner.name is None else scope.program.classes.attribute(owner.kind, name)


def _is_pure(scope: Any, call: ast.Call) -> bool:
    function = call.func
    if any(keyword.arg == "out" for keyword in call.keywords):
        return False
    keys = [keyword.value for keyword in call.keywords if keyword.arg == "key"]
    if any(not isinstance(key, ast.Lambda) for key in keys):
        return False
    if isinstance(function, ast.Name):
        return _is_pure_name(scope, function.id, call)
    if not isinstance(function, ast.Attribute):
        return False
    meant = _object(scope, function)
    if meant is not None:
        return _is_pure_object(meant, call)
    if _is_tensor(scope, function.value):
        return function.attr in _CONVERTING or is_pure_op(call)
    owner = _variable(scope, function.value)
    if isinstance(owner, (ListValue, TupleValue, DictValue, Scalar)) or isinstance(function.value, ast.Constant):
        return function.attr in _READING
    return isinstance(owner, Known) and isinstance(owner.object, (str, tuple, range)) and function.attr in _READING


def _is_pure_name(scope: Any, name: str, call: ast.Call) -> bool:
    if name in scope.variables or name in scope.local:
        return False
    if name in scope.program.names:
        return scope.program.names[name] in _TYPING
    try:
        meant = scope.lookup(name)
    except KeyError:
        return False
    if meant is getattr(builtins, name, None):
        return name in _PURE or (name in ("filter", "map") and _calls_pure(scope, call.args))
    return _is_pure_object(meant, call)


def _calls_pure(scope: Any, arguments: Sequence[ast.expr]) -> bool:
    """Whether the function that `map` is given has no effects."""
    function = arguments[0] if arguments else None
    if isinstance(function, ast.Lambda):
        return True  # its body is looked at, too
    return isinstance(function, ast.Name) and function.id in _PURE and _called(scope, function) is not None


def mark_iterators(scope: Any, node: ast.AST) -> None:
    """Mark the calls in a statement that make iterators or show dicts: what these give is computed where it is read."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and _is_iterator_function(_called(scope, part.func)):
            part.is_lazy = True  # type: ignore[attr-defined]
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _VIEWS:
            if isinstance(_value(scope, part.func.value), DictValue):
                part.shows_dict = True  # type: ignore[attr-defined]


def _called(scope: Any, function: ast.expr) -> Any:
    """The object that a name means which is no variable, or a function of a module; None if it is neither."""
    if not isinstance(function, ast.Name):
        return _object(scope, function)
    if function.id in scope.variables or function.id in scope.local:
        return None
    try:
        return scope.lookup(function.id)
    except KeyError:
        return None


def _is_iterator_function(meant: Any) -> bool:
    return any(meant is each for each in _ITERATORS) or meant == itertools.chain.from_iterable


def _is_pure_object(meant: Any, call: ast.Call) -> bool:
    """Whether an object that is called has no effects."""
    if isinstance(meant, types.BuiltinFunctionType) and meant in vars(math).values():
        return True
    if _is_iterator_function(meant) or any(meant is each for each in IS_PURE):
        return True
    return is_op(meant) and is_pure_op(call)


def _variable(scope: Any, node: ast.expr) -> Any:
    found = scope.variables.get(node.id) if isinstance(node, ast.Name) else None
    return None if found is None else found.value


def _object(scope: Any, node: ast.expr) -> Any:
    """The function of a module that `torch.nn.functional.relu` or the like is; None if it is none."""
    if isinstance(node, ast.Name):
        if node.id in scope.variables or node.id in scope.local:
            value = _variable(scope, node)
            thing = value.object if isinstance(value, Known) else None
            return thing if isinstance(thing, types.ModuleType) else None
        try:
            thing = scope.lookup(node.id)
        except KeyError:
            return None
        return thing if isinstance(thing, types.ModuleType) or thing is itertools.chain else None
    if not isinstance(node, ast.Attribute):
        return None
    owner = _object(scope, node.value)
    if owner is itertools.chain:
        return getattr(owner, node.attr, None)
    return vars(owner).get(node.attr) if isinstance(owner, types.ModuleType) else None


def _is_tensor(scope: Any, node: ast.expr) -> bool:
    """Whether an expression is a tensor for sure."""
    if isinstance(node, ast.Name):
        value = _variable(scope, node)
        return isinstance(value, TensorValue) or (isinstance(value, Known) and isinstance(value.object, torch.Tensor))
    if isinstance(node, ast.Call):
        is_op_call = isinstance(node.func, ast.Attribute) and _is_pure(scope, node)
        return is_op_call and node.func.attr not in _CONVERTING  # type: ignore[attr-defined]
    if isinstance(node, ast.Subscript):
        held = _held(scope, node.value)
        parts = held.values() if isinstance(held, dict) else held if isinstance(held, (list, tuple)) else ()
        return _is_tensor(scope, node.value) or (bool(parts) and all(isinstance(part, torch.Tensor) for part in parts))
    if isinstance(node, ast.BinOp):
        return _is_tensor(scope, node.left) or _is_tensor(scope, node.right)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = _variable(scope, node.value)
        if isinstance(owner, TensorValue):
            return node.attr in ("T", "mT", "data", "real", "imag")
        if isinstance(_attribute(scope, owner, node.attr), TensorValue):
            return True
        return isinstance(_held(scope, node), torch.Tensor)
    return False


def _held(scope: Any, node: ast.expr) -> Any:
    """What an attribute of a module is before the program runs, None if that is nothing that holds tensors."""
    owner = _variable(scope, node.value) if isinstance(node, ast.Attribute) else None
    if not isinstance(owner, Known) or not isinstance(owner.object, torch.nn.Module):
        return None
    assert isinstance(node, ast.Attribute)
    held = scope.program.held.get(id(owner.object), (None, {}))[1]
    return {**owner.object._parameters, **owner.object._buffers, **held}.get(node.attr)


def may_raise(node: Any) -> bool:
    """Whether computing an expression, which has no effects, may raise an error."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Subscript, ast.BinOp)):
            return True
        if isinstance(part, ast.Compare) and not all(isinstance(each, (ast.Is, ast.IsNot)) for each in part.ops):
            return True
        if isinstance(part, ast.UnaryOp) and not isinstance(part.op, ast.Not):
            return True
        if isinstance(part, ast.Call):
            called = part.func
            is_checked = isinstance(called, ast.Attribute) and called.attr in _CHECKED and not part.args
            is_length = isinstance(called, ast.Name) and called.id in ("len", "isinstance")
            if not is_checked and not is_length:
                return True
    return False


def must_be_decomposed(scope: Any, node: ast.stmt, part: ast.AST) -> bool:
    """Whether a statement is evaluated in steps: it assigns variables on its way, or computes where it stores.

    Args:
        scope: the function.
        node: the statement.
        part: what it evaluates itself, without the statements in it.
    """
    if not isinstance(node, (ast.FunctionDef, ast.With)) and any(
        isinstance(each, ast.NamedExpr) for each in ast.walk(part)
    ):
        return True
    if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name) and has_effects(scope, node.value):
        return True
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return has_effects(scope, node.target)
    return isinstance(node, (ast.Assign, ast.Delete)) and any(has_effects(scope, each) for each in node.targets)
