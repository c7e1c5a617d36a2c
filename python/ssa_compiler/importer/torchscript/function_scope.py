"""Names in a Python function: its variables, and what the others mean."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

__all__ = [
    "Names",
    "admit_none",
    "annotate_from_defaults",
    "is_iterator",
    "let_defaults_be",
    "reject_iterators",
    "reject_starred_targets",
    "variables_of",
]


def variables_of(definition: Any) -> frozenset[str]:
    """The parameters and variables of a function, without those of loops over the parts of a module."""
    arguments = definition.args
    names = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    bound = [node for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names |= {node.id for node in bound}
    for node in ast.walk(definition):
        if isinstance(node, ast.For) and any(isinstance(part, ast.Attribute) for part in ast.walk(node.iter)):
            names -= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    return frozenset(names - {"self"})


def let_defaults_be(arguments: ast.arguments) -> None:
    """Turn keyword-only parameters with defaults, which TorchScript rejects, into ones that may be passed by position
    too.

    The calling convention knows what they are (`OpenedModel.keyword_only`).
    """
    pairs = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    arguments.args += [argument for argument, default in pairs if default is not None]
    arguments.defaults += [default for _, default in pairs if default is not None]
    arguments.kwonlyargs = [argument for argument, default in pairs if default is None]
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)


def annotate_from_defaults(arguments: ast.arguments) -> None:
    """Give parameters without annotations the types of their defaults, which TorchScript takes for tensors and rejects:
    `eps=1e-5` is a float, `mask=None` a tensor or None.
    """
    for argument, default in _with_defaults(arguments):
        if argument.annotation is not None:
            continue
        try:
            value = ast.literal_eval(default)
        except ValueError:  # it is no constant
            continue
        name = "Optional[Tensor]" if value is None else type(value).__name__
        if value is None or type(value) in (bool, int, float, str):
            argument.annotation = ast.parse(name, mode="eval").body
            for part in ast.walk(argument.annotation):
                ast.copy_location(part, argument)


def admit_none(function: Any, arguments: ast.arguments) -> None:
    """Let annotated parameters that are None by default be None, as `mask: Tensor = None` means: TorchScript takes
    such a parameter for a tensor always.

    Args:
        function: the function.
        arguments: its parameters, changed in place.
    """
    for argument, default in _with_defaults(arguments):
        note = argument.annotation
        if note is None or not isinstance(default, ast.Constant) or default.value is not None:
            continue
        try:
            kind = eval(compile(ast.Expression(note), "<annotation>", "eval"), Names(function))
        except Exception:  # noqa: BLE001 - TorchScript says what is wrong with it
            continue
        if isinstance(kind, str) or kind is Any or kind is None or type(None) in get_args(kind):
            continue
        made = ast.Subscript(ast.Name("Optional", ast.Load()), note, ast.Load())
        # Not where the annotation stands: TorchScript looks up what is written there before it takes the expression.
        ast.copy_location(made.value, argument)
        argument.annotation = ast.copy_location(made, argument)


def _with_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have defaults, with these."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(positional[::-1], arguments.defaults[::-1])
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if default is not None:
            yield argument, default


def is_iterator(value: ast.expr) -> bool:
    """Whether an expression is an iterator, which can be read once: a generator, `zip(...)` or the like."""
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    return isinstance(value, ast.GeneratorExp) or called in ("enumerate", "filter", "iter", "map", "reversed", "zip")


def reject_iterators(definition: ast.AST, own: frozenset[str]) -> None:
    """Reject iterators that are values, or that `any` or `all` does not read to the end: TorchScript takes a generator,
    which can be read once and is computed late, for a list.

    Args:
        definition: the function.
        own: its variables.
    Raises:
        NotImplementedError: there is one.
    """
    for node in ast.walk(definition):
        if isinstance(node, ast.Call) and _stops_early(node, own):
            raise NotImplementedError("a generator that is not read to its end; write a loop")
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
        if any(_has_generator(each.iter, own) for each in loops):
            raise NotImplementedError("an iterator that is a value, which can be read once; write list(...)")
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) else None
        unpacked = isinstance(node, ast.Assign) and all(
            isinstance(each, (ast.Tuple, ast.List)) for each in node.targets
        )
        if value is None or unpacked or not is_iterator(value):
            continue
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in own:
            continue
        raise NotImplementedError("an iterator that is a value, which can be read once; write list(...)")


def _has_generator(items: ast.expr, own: frozenset[str]) -> bool:
    """Whether a loop goes through a generator, whose elements Python computes in turn with its body."""
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id not in own:
        reads = items.func.id in ("enumerate", "filter", "map", "zip")
        return reads and any(_has_generator(part, own) for part in items.args)
    return isinstance(items, ast.GeneratorExp)


def _stops_early(call: ast.Call, own: frozenset[str]) -> bool:
    """Whether `any` or `all` is called with a generator of which it may be seen that it is not read to its end."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name not in ("any", "all") or name in own or len(call.args) != 1:
        return False
    items = call.args[0]
    raising = (ast.Subscript, ast.Call, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
    return isinstance(items, ast.GeneratorExp) and any(isinstance(part, raising) for part in ast.walk(items.elt))


def reject_starred_targets(definition: ast.AST) -> None:
    """Reject `*a, b = 1, 2, 3`, where TorchScript makes a tuple of what Python makes a list of.

    Args:
        definition: the function.
    Raises:
        NotImplementedError: there is one.
    """
    if any(isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Store) for node in ast.walk(definition)):
        raise NotImplementedError("a starred target, which is a list; write the elements out")


class Names(dict[str, Any]):
    """What names mean in a function that are none of its own variables."""

    def __init__(self, function: Any) -> None:
        function = inspect.unwrap(function)
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
        super().__init__(getattr(function, "__globals__", {}))
        for name, cell in zip(code.co_freevars if code is not None else (), cells):
            with suppress(ValueError):  # it has no contents yet
                self[name] = cell.cell_contents
