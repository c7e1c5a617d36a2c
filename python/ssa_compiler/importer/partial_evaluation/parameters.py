"""The parameters of copies of functions."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from .scope import type_expression
from .values import Value, annotation, is_none

__all__ = ["SELF", "all_parameters", "parameters_of", "signature_of"]

SELF = "_ssa_compiler_self"
"""The parameter of a function that becomes a method of a module."""
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def all_parameters(node: ast.arguments) -> list[ast.arg]:
    extra = [each for each in (node.vararg, node.kwarg) if each is not None]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *extra]


def parameters_of(
    arguments: ast.arguments, first: str, dynamic: Mapping[str, Value], node: Any, *, is_root: bool
) -> ast.arguments:
    """Return the parameters of a copy of a function.

    Args:
        arguments: those of the function.
        first: the one for the module; "" if there is none.
        dynamic: what is known of those that stay.
        node: the copy.
        is_root: whether it is the program itself.
    """
    written = {each.arg: each for each in all_parameters(arguments)}
    made: list[ast.arg] = []
    for name in [*([first] if first else []), *dynamic]:
        given = written.get(name)
        kept = given.annotation if given is not None and is_root else None
        text = annotation(dynamic[name]) if name in dynamic else None
        # Where an argument may be None, its tests have been decided by the example.
        is_decided = kept is not None and _is_optional(kept) and not is_none(dynamic[name])
        if text is not None and (kept is None or is_decided or not _is_of_torchscript(kept)):
            kept = type_expression(text, node)
        made.append(ast.copy_location(ast.arg(name, kept), given if given is not None else node))
    if not is_root:
        return ast.arguments([], made, None, [], [], None, [])
    arguments = copy.deepcopy(arguments)
    annotated = {each.arg: each for each in made}
    arguments.args = [annotated.get(each.arg, each) for each in arguments.args]
    if first == SELF:
        (arguments.posonlyargs or arguments.args).insert(0, made[0])
    arguments.kwonlyargs = [annotated.get(each.arg, each) for each in arguments.kwonlyargs]
    return arguments


def _is_of_torchscript(node: ast.expr) -> bool:
    """Whether an annotation is one that TorchScript takes."""
    text = ast.unparse(node).replace("torch.Tensor", "Tensor").replace("typing.", "")
    allowed = {
        "Tensor",
        "int",
        "float",
        "bool",
        "str",
        "List",
        "Tuple",
        "Dict",
        "Optional",
        "list",
        "tuple",
        "dict",
        "torch",
    }
    words = [each.id for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name)]
    return bool(words) and set(words) <= allowed and text not in ("list", "tuple", "dict", "List", "Tuple", "Dict")


def _is_optional(node: ast.expr) -> bool:
    """Whether an annotation lets an argument be None."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value).rpartition(".")[2] == "Optional"
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return any(isinstance(side, ast.Constant) and side.value is None for side in sides)


def signature_of(function: Any, node: Any) -> inspect.Signature:
    """Return the signature of the program, without the defaults that are of other types than the example."""
    signature = _spelt_out(inspect.signature(function), node)
    annotations = {each.arg: each.annotation for each in all_parameters(node.args)}
    made = []
    for parameter in signature.parameters.values():
        note, default = annotations.get(parameter.name), parameter.default
        if note is not None and default is not inspect.Parameter.empty:
            text, kind = ast.unparse(note), type(default)
            fits = (
                text.startswith("Optional")
                if default is None
                else text in (kind.__name__, f"Optional[{kind.__name__}]")
            )
            is_mutable = isinstance(default, (list, dict, set))  # which each call passes
            other_tuple = kind is tuple and text.startswith("Tuple[") and text != _type_of(default)
            if is_mutable or other_tuple or (not fits and kind in (bool, int, float, str, type(None))):
                parameter = parameter.replace(default=inspect.Parameter.empty)
        made.append(parameter)
    required = inspect.Parameter.empty
    # What follows a parameter without a default may have one if it is passed by keyword, as here all may be.
    positional = [each for each in made if each.kind is not each.KEYWORD_ONLY]
    first = max((k for k, each in enumerate(positional) if each.default is required), default=-1)
    made = [
        each.replace(default=required) if k < first and each.kind is not each.KEYWORD_ONLY else each
        for k, each in enumerate(made)
    ]
    added = [name for name in annotations if name not in signature.parameters]  # the module that it is a method of
    place = made[0].kind if made and made[0].kind is inspect.Parameter.POSITIONAL_ONLY else _POSITIONAL
    return signature.replace(parameters=[*(inspect.Parameter(name, place) for name in added), *made])


def _type_of(value: Any) -> str:
    """The type of a tuple of numbers and strings, as annotations write it."""
    return f"Tuple[{', '.join(map(_type_of, value))}]" if isinstance(value, tuple) else type(value).__name__


def _spelt_out(signature: inspect.Signature, node: Any) -> inspect.Signature:
    """A signature with the parameters that a function has in the place of `*args` and `**kwargs`, and of those that may
    be passed by keyword only and have defaults.
    """
    own = signature.parameters
    if all(each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in own.values()) and (
        len(node.args.kwonlyargs) == sum(each.kind is each.KEYWORD_ONLY for each in own.values())
    ):
        return signature
    made = []
    for each in all_parameters(node.args):
        if each.arg in own:
            kind = own[each.arg].kind
            kind = _POSITIONAL if kind is inspect.Parameter.KEYWORD_ONLY else kind
            made.append(own[each.arg].replace(kind=kind))
        else:
            made.append(inspect.Parameter(each.arg, _POSITIONAL))
    return signature.replace(parameters=_with_valid_defaults(made))


def _with_valid_defaults(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """Parameters without the defaults of those that ones without a default follow."""
    required = inspect.Parameter.empty
    first = max((k for k, each in enumerate(parameters) if each.default is required), default=-1)
    return [each.replace(default=required) if k < first else each for k, each in enumerate(parameters)]
