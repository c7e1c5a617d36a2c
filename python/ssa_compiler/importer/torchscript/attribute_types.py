"""Attributes of a module whose value does not tell their type, where only its `__init__` does.

TorchScript takes the type of an attribute from the class's annotations, else from its value: an attribute that is None
for now may never be anything else, and an empty list or dict has no type. Python programs say `self.state:
Optional[Tensor] = None` or `self.cache: List[Tensor] = []` in `__init__`, or nothing, and assign a tensor in forward.
Where TorchScript rejects that, the module is scripted again with the types that follow from its source.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
import torch.jit._recursive as recursive

from ...errors import ScriptError
from ..isolation.patching import replaced

__all__ = ["scripted_with_types"]

_REJECTED = ("Wrong type for attribute assignment", "we failed to convert Python type: ", "Unknown type annotation: ")
_EMPTY: dict[type, Any] = {list: list[torch.Tensor], dict: dict[str, torch.Tensor]}
"""What TorchScript takes `[]` and `{}` for in a function."""
_ANNOTATIONS = "__annotations__"


def scripted_with_types(
    module: torch.nn.Module, script: Callable[[], Any], decided: Callable[[Any], dict[str, Any]] | None = None
) -> Any:
    """Script a module, with attributes that may be None if it has to be.

    Args:
        module: the module. It is not changed.
        script: scripts it.
        decided: the types of attributes of a part that are known otherwise; None if there are none.
    Raises:
        ScriptError: TorchScript rejects it.
    """
    try:
        return script()
    except ScriptError as rejection:
        if not any(text in rejection.explanation for text in _REJECTED):
            raise
        found = {part: names for part in module.modules() if (names := _types(part))}
        if not found:
            raise
    if decided is not None:
        found = {part: {**names, **decided(part)} for part, names in found.items()}
    with _annotated(found):
        return script()


@contextmanager
def _annotated(found: dict[torch.nn.Module, dict[str, Any]]) -> Iterator[None]:
    """Let parts of a module have annotations of their own, beside those of their classes."""
    of_class = recursive.get_annotations

    def of_part(part: Any) -> dict[str, Any]:
        own = found.get(part, {}) if isinstance(part, torch.nn.Module) else {}
        return {**of_class(part), **own}  # type: ignore[no-untyped-call]

    with replaced(recursive, "get_annotations", of_part):
        yield


def _types(module: torch.nn.Module) -> dict[str, Any]:
    """The attributes of a module that may be None, or are empty, with their types; of those that its class annotates
    the ones whose annotations are not evaluated (`from __future__ import annotations`).
    """
    if isinstance(module, torch.jit.ScriptModule):
        return {}
    known = getattr(module, _ANNOTATIONS, {})
    own = {name: value for name, value in vars(module).items() if name not in vars(torch.nn.Module())}
    empty = {name: _EMPTY[type(value)] for name, value in own.items() if type(value) in _EMPTY and not value}
    started = {name: kind for name, kind in _literals(type(module)).items() if name in empty}
    found = empty | started | _assigned(type(module))
    unknown = {name: kind for name, kind in found.items() if name not in known and hasattr(module, name)}
    return unknown | (_evaluated_hints(type(module)) if any(isinstance(kind, str) for kind in known.values()) else {})


def _evaluated_hints(kind: type) -> dict[str, Any]:
    """The annotations of a class of the user's, evaluated."""
    try:
        hints = typing.get_type_hints(kind)
    except Exception:  # noqa: BLE001 - it may name what is imported for type checkers only
        return {}
    return {name: hint for name, hint in hints.items() if name not in torch.nn.Module.__annotations__}


def _sources(kind: type) -> Iterator[tuple[type, ast.Module]]:
    """Iterate over the syntax trees of a class and of the user's classes that it derives from."""
    for owner in kind.__mro__:
        if owner.__module__.partition(".")[0] not in ("torch", "builtins"):
            with suppress(OSError, TypeError, SyntaxError):
                yield owner, ast.parse(textwrap.dedent(inspect.getsource(owner)))


def _literals(kind: type) -> dict[str, Any]:
    """The types of the attributes that `__init__` sets to a list or dict of numbers, bools or strings: such a list may
    have become empty since.
    """
    found: dict[str, Any] = {}
    for _, tree in _sources(kind):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and (type_ := _literal_type(node.value)) is not None:
                for name in filter(None, map(_attribute, node.targets)):
                    found.setdefault(name, type_)
    return found


def _literal_type(value: ast.expr) -> Any:
    """The type of `[1.0, 2.0]`, `[0] * n` or `{"a": 1}`; None of anything else."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return _literal_type(value.left)
    if isinstance(value, ast.List):
        element = _common_type(value.elts)
        return None if element is None else types.GenericAlias(list, (element,))
    if isinstance(value, ast.Dict):
        key, element = _common_type(value.keys), _common_type(value.values)
        return None if key is None or element is None else types.GenericAlias(dict, (key, element))
    return None


def _common_type(parts: Sequence[ast.expr | None]) -> Any:
    kinds = {type(part.value) if isinstance(part, ast.Constant) else None for part in parts}
    return kinds.pop() if len(kinds) == 1 else None


def _assigned(kind: type) -> dict[str, Any]:
    """The attributes that methods of a class assign, if some say that they are optional, lists or dicts, or assign None
    and others do not.
    """
    annotated: dict[str, Any] = {}
    nothing, something = set[str](), set[str]()
    for owner, tree in _sources(kind):
        names = {**vars(typing), **vars(sys.modules.get(owner.__module__, typing))}
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and (name := _attribute(node.target)):
                type_ = _evaluated(node.annotation, names)
                if type(None) in typing.get_args(type_) or typing.get_origin(type_) in (list, dict):
                    annotated.setdefault(name, type_)
            if isinstance(node, ast.Assign):
                is_none = isinstance(node.value, ast.Constant) and node.value.value is None
                (nothing if is_none else something).update(filter(None, map(_attribute, node.targets)))
            if isinstance(node, ast.Call) and (name := _registered_as_none(node)):
                nothing.add(name)
    return dict.fromkeys(nothing & something, torch.Tensor | None) | annotated


def _attribute(target: ast.expr) -> str:
    """The name of an attribute of `self`; "" for anything else."""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return target.attr
    return ""


def _registered_as_none(call: ast.Call) -> str:
    """The name in `self.register_buffer("name", None)`; "" for any other call."""
    values = [argument.value if isinstance(argument, ast.Constant) else ... for argument in call.args[:2]]
    if _attribute(call.func) != "register_buffer" or len(values) != 2 or values[1] is not None:
        return ""
    return values[0] if isinstance(values[0], str) else ""


def _evaluated(annotation: ast.expr, names: dict[str, Any]) -> Any:
    """The type that an annotation means; None if it is not known here."""
    try:
        return eval(compile(ast.Expression(annotation), "<annotation>", "eval"), dict(names))
    except Exception:  # noqa: BLE001 - an annotation in a function is never evaluated by Python
        return None
