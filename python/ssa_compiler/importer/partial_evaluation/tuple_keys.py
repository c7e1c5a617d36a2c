"""Dicts whose keys are tuples, which are strings to TorchScript; see `ir.tuple_keys`.

Where the keys are read as values, an operator makes tuples of the strings (`semantics.tuple_key_ops`): at the head of
each iteration of a loop over the dict. Functions that read all of them get a list.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

import torch

from ...semantics.tuple_key_ops import tuple_key_call
from ..ir.tuple_keys import TUPLE_KEY
from .interfaces import CallEvaluator, ExpressionEvaluator, Result
from .new_nodes import at_place, counted, with_places
from .peeking import peeked
from .rejections import NotCompiledError
from .values import NEVER, DictValue, Known, Scalar, TupleKey, TupleValue, Value

__all__ = ["dict_key", "goes_over_keys", "listed_keys", "over_keys", "popped", "reads_texts", "reject_tuple_keys"]

_PLAIN = (bool, int, float, str, type(None), torch.device)
_VIEWS = ("keys", "items")


def dict_key(expressions: ExpressionEvaluator, key: Result, where: ast.AST) -> Result:
    """Return the key of a dict, with an expression that TorchScript takes for one.

    Args:
        expressions: evaluates.
        key: the key.
        where: its place.
    Raises:
        NotCompiledError: it is a tuple with parts that no text tells.
    """
    if not isinstance(expressions.scope.program.widened(key.value), TupleValue):
        return key
    dynamic: list[Any] = []
    text = _template(expressions, key, dynamic, where)
    text = f"{TUPLE_KEY}{text}"
    constant = ast.copy_location(ast.Constant(text if dynamic else text.format()), where)
    if not dynamic:
        return Result(constant, key.value)
    function = ast.copy_location(ast.Attribute(constant, "format", ast.Load()), where)
    return Result(ast.copy_location(ast.Call(function, dynamic, []), where), key.value)


def _template(expressions: ExpressionEvaluator, part: Result, dynamic: list[Any], where: ast.AST) -> str:
    """How Python writes a part of a tuple, with `{}` for what is dynamic, which is added to `dynamic`."""
    value = part.value
    if isinstance(value, Known) and isinstance(value.object, _PLAIN):
        expressions.scope.use(value)
        return repr(value.object).replace("{", "{{").replace("}", "}}")
    if isinstance(value, Scalar) and value.kind in (int, torch.device):
        dynamic.append(expressions.expression(part, where))
        return "{}" if value.kind is int else "device('{}')"
    is_tuple = isinstance(value, TupleValue) or (isinstance(value, Known) and isinstance(value.object, tuple))
    parts = expressions.spread(part, where) if is_tuple else None
    if parts is None:
        raise NotCompiledError("a tuple that is a key, with something else in it than ints")
    texts = [_template(expressions, each, dynamic, where) for each in parts]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


# Keys as values. ------------------------------------------------------------------------------------------------------


def reject_tuple_keys(value: Value) -> None:
    """Reject what reads the keys of a dict, if these are tuples.

    Raises:
        NotCompiledError: they are.
    """
    if isinstance(value, DictValue) and isinstance(value.key, TupleValue):
        raise NotCompiledError("the keys of a dict, which are tuples, as values")


def reads_texts(value: Value, node: ast.AST) -> bool:
    """Whether an expression that is made here asks for the keys of a dict, and takes strings."""
    return hasattr(node, "has_texts") and isinstance(value, DictValue) and isinstance(value.key, TupleValue)


def over_keys(expressions: ExpressionEvaluator, loop: ast.For) -> list[ast.stmt] | None:
    """Return a loop over a dict whose keys are tuples as one over the strings that stand for them; None for others.

    Args:
        expressions: evaluates what is iterated over.
        loop: the loop, without an else branch.
    """
    scope, items = expressions.scope, loop.iter
    counts = isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "enumerate"
    if counts and "enumerate" not in scope.variables and len(items.args) == 1 and not items.keywords:  # type: ignore[attr-defined]
        (items,) = items.args  # type: ignore[attr-defined]
        return counted(scope, loop, items) if _readable(expressions, items) is not None else None
    if (found := _readable(expressions, items)) is None:
        return None
    (name, owner, key), text, whole, element = found, scope.name(), scope.name(), scope.name()
    head = (text, f"_ = {whole}") if name == "keys" else (f"{text}, {element}", f"_ = {whole}, {element}")
    (made,) = ast.parse(f"for {head[0]} in _.{name}():\n    {whole} = _\n    {head[1]}").body
    assert isinstance(made, ast.For)
    made.iter.has_texts = True  # type: ignore[attr-defined]
    made.iter.func.value = owner  # type: ignore[attr-defined]
    made.body[0].value = _read(key, text)  # type: ignore[attr-defined]
    made.body[1].targets = [loop.target]  # type: ignore[attr-defined]
    made.body += loop.body
    return [with_places(at_place(made, loop), loop)]


def goes_over_keys(expressions: ExpressionEvaluator, items: ast.expr) -> bool:
    """Whether a loop over an expression is another one, as of `over_keys`."""
    counts = isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "enumerate"
    return _readable(expressions, items.args[0] if counts and items.args else items) is not None  # type: ignore[attr-defined]


def _readable(expressions: ExpressionEvaluator, items: ast.expr) -> tuple[str, ast.expr, TupleKey] | None:
    """Return the view of a dict that an expression is, the dict, and its keys; None if these are no tuples that can be
    read.
    """
    name, owner = "keys", items
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr in _VIEWS:
        if items.args or items.keywords or hasattr(items, "has_texts"):
            return None
        name, owner = items.func.attr, items.func.value
    if not isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    found = peeked(expressions, lambda: expressions.evaluate(copy.deepcopy(owner)))
    key = found.value.key if found is not None and isinstance(found.value, DictValue) else None
    return (name, owner, key) if isinstance(key, TupleKey) and key.elements else None


def listed_keys(calls: CallEvaluator, node: ast.expr) -> ast.expr:
    """Return a list of the keys or items of a dict whose keys are tuples; other expressions as they are.

    Args:
        calls: evaluates calls.
        node: what is listed: the dict, `d.keys()` or `d.items()`.
    """
    if (found := _readable(calls.expressions, node)) is None:
        return node
    name, element = calls.scope.name(), calls.scope.name()
    names = name if found[0] == "keys" else f"({name}, {element})"
    made = ast.parse(f"[{names} for {names} in _]", mode="eval").body
    assert isinstance(made, ast.ListComp)
    made.generators[0].iter = node
    at_place(made, node)
    if hasattr(node, "token"):
        made.token = node.token  # type: ignore[attr-defined]
    return calls.expressions.named(calls.expressions.evaluate(made), node)


def popped(calls: CallEvaluator, node: ast.Call, value: DictValue) -> Result | None:
    """Evaluate `d.popitem()` of a dict whose keys are tuples; None of others.

    Args:
        calls: evaluates calls.
        node: the call, of an expression for the dict.
        value: the dict.
    """
    if not isinstance(value.key, TupleKey) or not value.key.elements or node.args or node.keywords:
        return None
    pair = TupleValue((Scalar(str), value.element or NEVER))
    name = calls.expressions.named(Result(node, pair), node)
    element = ast.parse(f"{name.id}[1]", mode="eval").body
    made = ast.Tuple([_read(value.key, f"{name.id}[0]"), element], ast.Load())
    return Result(at_place(made, node), TupleValue((TupleValue(value.key.elements), pair.elements[1])))


def _read(key: TupleKey, text: str) -> ast.expr:
    """An expression for the tuple that a string stands for, which a variable has."""
    kinds = [part.kind for part in key.elements]  # type: ignore[attr-defined]
    call: Any = ast.parse(f"{tuple_key_call(kinds)}({text})", mode="eval").body
    call.choice = TupleValue(key.elements) if len(kinds) > 1 else key.elements[0]
    return call if len(kinds) > 1 else ast.Tuple([call], ast.Load())
