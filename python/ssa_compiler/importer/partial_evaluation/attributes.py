"""Attributes of objects that are known."""

from __future__ import annotations

import ast
import enum
import types
from typing import Any, get_args

import torch
import torch.jit._recursive as recursive

from ...abi.surroundings import Surroundings
from .callees import is_of_torch
from .constants import is_constant, is_mutable_object
from .hints import sizes
from .interfaces import ExpressionEvaluator, Result
from .presence import required
from .reading import MISSING, read
from .scope import UNSEEN, literal
from .surroundings import adopt
from .values import Known, Scalar, TensorValue, Value, joined

__all__ = ["attribute", "of_tensor"]

_STORED = (bool, int, float, str)
"""What TorchScript takes as attributes of modules."""


def attribute(expressions: ExpressionEvaluator, owner: Result, value: Known, node: ast.Attribute) -> Result:
    """Evaluate the attribute of an object that is known.

    Args:
        expressions: evaluates.
        owner: the object.
        value: what is known of it.
        node: the attribute.
    Raises:
        NotCompiledError: a change of it would not be seen.
    """
    program, thing = expressions.scope.program, value.object
    program.states.see(value)
    if isinstance(thing, torch.nn.Module):
        adopt(program, value)
    found = read(thing, node.attr)
    if found is MISSING:
        if (added := program.states.added(expressions.scope, value, node.attr, node)) is not None:
            message = f"'{type(thing).__name__}' object has no attribute '{node.attr}'"
            return required(expressions.scope, added, AttributeError, message)
        node.value = expressions.expression(owner, node.value)
        return Result(node)
    if isinstance(found, property) and not isinstance(thing, type):
        return program.functions.get(expressions.scope, found.fget, value, node)
    made = _found(expressions, value, found, node.attr)
    if isinstance(found, torch.nn.Module) and made.path and not isinstance(thing, torch.nn.Module):
        program.depend_on_module(made.path)  # the object may hold another one later
        adopt(program, made)
    if isinstance(thing, torch.nn.Module):
        return _of_module(expressions, owner, made, node)
    if isinstance(thing, (dict, list, tuple, str)):
        return Result(None, made)
    if made.path is None or isinstance(thing, (types.ModuleType, type, types.FunctionType)):
        if owner.node is not None and literal(found, node) is None:
            node.value = owner.node
            if isinstance(found, enum.Enum):  # TorchScript has them, too
                return Result(node, Known(expressions.scope.use(made)))
            return Result(node if made.path is None else None, made)
        return expressions.known(node, made)
    if program.is_assigned(node.attr, found, type(thing)):
        return program.states.attribute(expressions.scope, value, node.attr, node)
    if isinstance(found, (torch.Tensor, torch.Generator)) or _is_uniform(found):
        parts: Any = found.values() if isinstance(found, dict) else found
        if isinstance(found, (torch.Tensor, torch.Generator)) or any(
            isinstance(part, (torch.Tensor, torch.Generator)) for part in parts
        ):
            is_tensor = isinstance(found, torch.Tensor)
            inner = program.tensor_value(found, made.path) if is_tensor else expressions.samples.value(found)
            return Result(program.held_expression(expressions.scope, made.path, found, node), inner)
    return expressions.known(node, made)


def _found(expressions: ExpressionEvaluator, value: Known, found: Any, name: str) -> Known:
    """What an attribute is, with what it depends on."""
    program, thing = expressions.scope.program, value.object
    path = program.path_of(value)
    if isinstance(thing, (dict, list, tuple, str)):
        is_item = isinstance(thing, dict) and not callable(found)
        part = program.part_of(path, name) if is_item and path is not None and program.is_elsewhere(path) else None
        return Known(found, part, value.guards if part is not None else program.guards_of(value))
    if path is not None:
        return Known(found, program.part_of(path, name), value.guards)
    is_of_user = isinstance(thing, (types.ModuleType, type)) and not is_of_torch(thing) and not is_constant(found)
    is_number = isinstance(thing, type) and not is_of_torch(thing) and not callable(found)
    if isinstance(thing, types.FunctionType) or is_of_user or is_number:
        return Known(found, program.part_of(program.place_of(thing), name), value.guards)
    unseen = frozenset([UNSEEN]) if is_mutable_object(thing) else frozenset()
    return Known(found, None, value.guards | unseen)


def _of_module(expressions: ExpressionEvaluator, owner: Result, made: Known, node: ast.Attribute) -> Result:
    """The attribute of a module."""
    found, made_of = made.object, owner.value.object  # type: ignore[attr-defined]
    if isinstance(found, torch.nn.Module):
        return Result(None, made)
    node.value = expressions.expression(owner, node.value)
    if not isinstance(found, torch.Tensor) and not callable(found) and _is_of_class(made_of, node.attr):
        return expressions.known(node, made)  # an attribute of the class, of which TorchScript knows nothing
    program = expressions.scope.program
    if isinstance(found, torch.Generator):
        return Result(node, expressions.samples.value(found))
    if program.is_assigned(node.attr, found):
        if type(found) in (list, dict) and made.path is not None:
            return Result(node, program.states.container(made_of, node.attr, made))
        value = _assigned(expressions, made, node.attr)
        program.states.declare(made_of, node.attr, value)
        return Result(node, value)
    if isinstance(found, torch.Tensor):
        if _is_of_class(made_of, node.attr) and node.attr not in {**made_of._parameters, **made_of._buffers}:
            program.hold(made_of, node.attr, found)
        value = program.tensor_value(found, made.path)
        return Result(program.unwrapped(node) if _may_be_none(made_of, node.attr) else node, value)
    if callable(found) and not isinstance(found, type):
        return Result(node, made)
    if isinstance(found, (*_STORED, type(None))) or _is_uniform(found):
        return Result(node, made)
    return expressions.known(node, made)


def _may_be_none(module: torch.nn.Module, name: str) -> bool:
    """Whether the class of a module says that an attribute may be None, as convolutions do of their bias."""
    annotation = recursive.get_annotations(module).get(name)  # type: ignore[no-untyped-call]
    return type(None) in get_args(annotation)


def _is_of_class(module: torch.nn.Module, name: str) -> bool:
    """Whether an attribute of a module is its class's."""
    return name not in vars(module) and not isinstance(module, Surroundings)


def _assigned(expressions: ExpressionEvaluator, made: Known, name: str) -> Value:
    """What is known of an attribute that the program assigns: what it was, or is assigned."""
    program, found = expressions.scope.program, made.object
    value: Value = Known(None) if found is None else expressions.samples.value(found)
    if isinstance(found, torch.Tensor):
        value = program.tensor_value(found, made.path)
    return joined(value, program.elements.get(("attribute", name)), expressions.samples.of)


def _is_uniform(thing: Any) -> bool:
    """Whether TorchScript takes a container as an attribute of a module."""
    if isinstance(thing, (list, tuple)) and thing and not hasattr(thing, "_fields"):
        return len({type(part) for part in thing}) == 1 and isinstance(
            thing[0], (*_STORED, torch.Tensor, torch.Generator)
        )
    if not isinstance(thing, dict) or not thing:
        return False
    kinds = {type(part) for part in thing.values()}
    return all(kind in _STORED for kind in kinds) or (
        kinds in ({torch.Tensor}, {torch.Generator}) and {*map(type, thing)} == {str}
    )


def of_tensor(expressions: ExpressionEvaluator, owner: TensorValue, name: str) -> Value:
    """Return what is known of an attribute of a tensor."""
    simple: dict[str, Value] = {
        "shape": sizes(owner),
        "dtype": Scalar(torch.dtype, owner.dtype),
        "device": Scalar(torch.device),
        "ndim": Scalar(int) if owner.rank is None else Known(owner.rank),
    }
    return simple.get(name) or expressions.samples.result(lambda tensor: getattr(tensor, name), [owner], {})
