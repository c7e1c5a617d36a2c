"""Programs that take `*args`, `**kwargs` or keyword-only parameters with defaults, which TorchScript does not have.

A program is evaluated for a call, whose arguments are known: each that `*args` and `**kwargs` take is a parameter of
its own, of which the tuple and the dict are made where the program begins. A call with others needs another program.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import wanted_records
from .definitions import Definition
from .new_nodes import with_places
from .rejections import NotCompiledError

__all__ = ["ExtraArguments", "extra_arguments"]

_POSITIONAL, _NAMED = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


@dataclass(frozen=True)
class ExtraArguments:
    """What `*args` and `**kwargs` take in a call.

    Attributes:
        arguments: the arguments of the call, by the name of the parameter that each is in the program.
        positional: the parameters that `*args` consists of.
        named: those that `**kwargs` consists of, with their keys.
        names: what calls and messages call these parameters.
        signature: that of the user's function; None if it takes neither.
    """

    arguments: Mapping[str, Any]
    positional: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    signature: inspect.Signature | None = None

    def spelt_out(self, program: Any, definition: Definition, key: Any) -> Definition:
        """Return the program with a parameter for each argument.

        Args:
            program: the program.
            definition: its function.
            key: `Request.place` of it.
        """
        arguments = definition.node.args
        if arguments.vararg is None and arguments.kwarg is None and not any(arguments.kw_defaults):
            return definition
        node = copy.deepcopy(definition.node)
        arguments, first = node.args, list[ast.stmt]()
        added = [_parameter(name, arguments.vararg) for name in self.positional]
        added += [*arguments.kwonlyargs, *(_parameter(name, arguments.kwarg) for name in self.named)]
        if arguments.vararg is not None:
            made: ast.expr = ast.Tuple([ast.Name(name, ast.Load()) for name in self.positional], ast.Load())
            first.append(_assigned(arguments.vararg, made))
        if arguments.kwarg is not None:
            keys = [ast.Constant(name) for name in self.named.values()]
            whole = ast.Dict([*keys], [ast.Name(name, ast.Load()) for name in self.named])
            first.append(_assigned(arguments.kwarg, whole))
            wanted_records.want_at(program, (key, whole.lineno, whole.col_offset, "Dict"))
        if any(each.arg in self.names for each in ast.walk(definition.node) if isinstance(each, ast.arg)):
            raise NotCompiledError("a parameter with a name of ours")
        node.args = ast.arguments(arguments.posonlyargs, [*arguments.args, *added], None, [], [], None, [])
        node.body = [*first, *node.body]
        return replace(definition, node=node)


def _parameter(name: str, where: Any) -> ast.arg:
    return ast.copy_location(ast.arg(name), where)


def _assigned(parameter: ast.arg, value: ast.expr) -> ast.stmt:
    made: ast.stmt = with_places(ast.Assign([ast.Name(parameter.arg, ast.Store())], value), parameter)
    return made


def extra_arguments(function: Any, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ExtraArguments:
    """Return the arguments of a call.

    Args:
        function: the function.
        first: what is passed in front of the arguments; None if nothing is.
        args: positional arguments.
        kwargs: keyword arguments.
    Raises:
        NotCompiledError: they do not fit.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*(() if first is None else (first,)), *args, **kwargs)
    except TypeError as error:
        raise NotCompiledError("arguments that do not fit the signature") from error
    bound.apply_defaults()
    arguments: dict[str, Any] = {}
    names: dict[str, str] = {}
    positional: list[str] = []
    named: dict[str, str] = {}
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is _POSITIONAL:
            for number, each in enumerate(value):
                made = f"_ssa_compiler_{name}_{number}"
                positional.append(made)
                names[made], arguments[made] = f"{name}[{number}]", each
        elif kind is _NAMED:
            if not all(key.isidentifier() and key not in signature.parameters for key in value):
                raise NotCompiledError("a keyword argument that is no name, or that of another parameter")
            for key, each in value.items():
                made = f"_ssa_compiler_{name}_{key}"
                named[made] = names[made] = key
                arguments[made] = each
        else:
            arguments[name] = value
    is_open = any(each.kind in (_POSITIONAL, _NAMED) for each in signature.parameters.values())
    return ExtraArguments(arguments, tuple(positional), named, names, _plain(signature, first) if is_open else None)


def _plain(signature: inspect.Signature, first: Any) -> inspect.Signature:
    """A signature without what calls do not pass, annotations and values of defaults."""
    found = list(signature.parameters.values())[0 if first is None else 1 :]
    empty = inspect.Parameter.empty
    made = [each.replace(annotation=empty, default=empty if each.default is empty else None) for each in found]
    return inspect.Signature(made)
