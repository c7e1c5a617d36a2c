"""Values that may be None, where None is an error: what is written is a function that raises what eager raises."""

from __future__ import annotations

import ast
import copy
import inspect
import typing
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import unions
from .effects import has_effects
from .float_parameters import as_float
from .hints import number_kind
from .interfaces import Arguments, Result
from .new_nodes import put_in, with_places
from .rejections import NotCompiledError
from .values import (
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    annotation,
    is_none,
    is_something,
)

__all__ = [
    "augmented",
    "declared_unset",
    "find_present",
    "learn_unset",
    "no_attribute",
    "none_itself",
    "of_module",
    "operands",
    "optional_truth",
    "required",
    "unset",
]

_UNSET = "unset"
_TESTS: dict[Any, str] = {bool: "bool(_)", int: "_ != 0", float: "_ != 0.0", str: "_ != ''"}
"""When a number or string is true."""
_OF_INTS = frozenset({"IntType", "NumberType", "BoolType"})
"""Types of parameters that take an int."""


def no_attribute(name: str) -> tuple[type[Exception], str]:
    """Return the error, and its message, of an attribute of None."""
    return AttributeError, f"'NoneType' object has no attribute '{name}'"


def none_itself(expressions: Any, result: Result, node: Any) -> Result:
    """Return None for a variable that is None: it may be a parameter, which TorchScript takes for something else, too,
    and an attribute that is None for nothing else.
    """
    value = result.value
    if not isinstance(result.node, ast.Name) or not isinstance(value, Known) or not is_none(value):
        return result
    return expressions.known(node, Known(None, None, expressions.scope.program.class_guards(value)))


def required(scope: Any, result: Result, error: type[Exception], message: str) -> Result:
    """Return what an optional value holds, by an expression that raises if it is None.

    Args:
        scope: the function.
        result: the value, an `OptionalValue` with an expression.
        error: what it raises.
        message: what that says.
    """
    from ...library.presence import PRESENT  # with the library comes what a program from the cache does not need

    assert isinstance(result.value, OptionalValue)
    call = ast.copy_location(ast.Call(ast.Name("_", ast.Load()), [], []), result.node)
    ast.copy_location(call.func, result.node)
    call.is_pure = True  # type: ignore[attr-defined]
    if annotation(result.value) is None:
        return Result(scope.program.unwrapped(result.node), result.value.element)
    text = Result(ast.copy_location(ast.Constant(message), result.node), Known(message))
    made = scope.program.functions.call(scope, PRESENT[error], Arguments([result, text], {}), call)
    return Result(made.node, result.value.element)


def operands(scope: Any, name: str, skip: int) -> Callable[[Result, int, str], Result]:
    """Return what makes of an argument of an operator one that it takes.

    That is not None, nor a list with None in it, unless the operator takes these; and no int where it takes a float,
    which TorchScript does not convert.

    Args:
        scope: the function.
        name: the operator.
        skip: how many operands come before.
    Returns:
        A function of the argument, its position and its name, "" if it has none.
    """
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}") if name.isidentifier() else ()
    given = [schema.arguments for schema in schemas]

    def held(result: Result, position: int, key: str) -> Result:
        element = result.value.element if isinstance(result.value, ListValue) else None
        of_tensors = isinstance(element, OptionalValue) and isinstance(element.element, TensorValue)
        is_optional = of_tensors or isinstance(result.value, OptionalValue)
        is_int, is_nothing = number_kind(result.value) is int, is_none(result.value)
        if not schemas or result.node is None or not (is_optional or is_int or is_nothing):
            return result
        found = [each for all_ in given for k, each in enumerate(all_) if k == position + skip or each.name == key]
        if is_nothing:  # as a variable it may be an Optional[Tensor] to TorchScript
            return Result(ast.copy_location(ast.Constant(None), result.node), result.value)
        if is_int:
            kinds = {_plain_kind(each.type) for each in found}
            return as_float(result, result.node) if "FloatType" in kinds and not kinds & _OF_INTS else result
        if of_tensors:
            takes = any(str(each.type) == "List[Tensor]" for each in found)
            return _present_elements(scope, result) if takes else result
        if any(each.type.kind() == "OptionalType" for each in found):
            return result
        return required(scope, result, TypeError, f"{name}(): an argument is None")

    return held


def _plain_kind(declared: Any) -> str:
    """The kind of a TorchScript type that may be an Optional."""
    return str((declared.getElementType() if declared.kind() == "OptionalType" else declared).kind())


def of_module(scope: Any, module: torch.nn.Module, arguments: Arguments) -> Arguments:
    """Return the arguments of a module of PyTorch's, of which those are not None that it declares as tensors.

    Args:
        scope: the function.
        module: the module.
        arguments: the arguments.
    """
    given = [*arguments.positional, *arguments.named.values()]
    if not any(isinstance(each.value, OptionalValue) and each.node is not None for each in given):
        return arguments
    names = [name for name in inspect.signature(type(module).forward).parameters if name != "self"]
    try:
        types = typing.get_type_hints(type(module).forward)
    except (NameError, TypeError):
        return arguments

    def held(result: Result, name: str) -> Result:
        is_optional = isinstance(result.value, OptionalValue) and result.node is not None
        if not is_optional or types.get(name) is not torch.Tensor:
            return result
        return required(scope, result, TypeError, f"{type(module).__name__}: argument '{name}' is None")

    positional = [held(result, name) for result, name in zip(arguments.positional, names)]
    return Arguments(positional, {name: held(each, name) for name, each in arguments.named.items()})


def _present_elements(scope: Any, result: Result) -> Result:
    """A list of tensors that may be None as one of tensors, by an expression that raises if one is."""
    from ...library.presence import tensors

    if not isinstance(result.node, ast.expr):
        return result
    call = ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), result.node), [], []), result.node)
    call.is_pure = True  # type: ignore[attr-defined]
    made: Result = scope.program.functions.call(scope, tensors, Arguments([result], {}), call)
    return made


def find_present(scope: Any, target: ast.expr, value: Value) -> None:
    """Note that an attribute is not None from here on, if what is assigned to it is not.

    Args:
        scope: the function.
        target: the attribute, evaluated.
        value: what is assigned.
    """
    owner: Any = target
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        if isinstance(owner, ast.Subscript) and not isinstance(owner.slice, ast.Constant):
            return
        owner = owner.value
    if isinstance(target, ast.Attribute) and isinstance(owner, ast.Name) and is_something(value):
        scope.present |= {ast.unparse(target)}


def augmented(scope: Any, node: ast.AugAssign) -> list[ast.stmt]:
    """Return the steps of `owner.name += value` or `owner[key] += value`, where the target may be None."""
    target: Any = node.target
    name, read = scope.name(), copy.deepcopy(target)
    read.ctx = ast.Load()
    first, last = (ast.copy_location(ast.Name(name, kind()), node) for kind in (ast.Store, ast.Load))
    node.target = copy.deepcopy(first)
    return [
        ast.copy_location(ast.Assign([first], read), node),
        node,
        ast.copy_location(ast.Assign([target], last), node),
    ]


def may_be_none(expressions: Any, target: ast.expr) -> bool:
    """Whether a target is an element of a list or dict that may be None."""
    if not isinstance(target, ast.Subscript) or has_effects(expressions.scope, target):
        return False
    read, hoisted = copy.deepcopy(target), len(expressions.scope.before)
    read.ctx = ast.Load()
    found = expressions.evaluate(read)
    del expressions.scope.before[hoisted:]  # it is evaluated again
    return isinstance(found.value, OptionalValue)


def unset(scope: Any, name: str) -> Result:
    """Return a variable that is None where Python has not set it: reading it raises then.

    Raises:
        NotCompiledError: the variable may be None otherwise.
    """
    result: Result = scope.variables[name]
    if not isinstance(result.value, OptionalValue) or not isinstance(result.node, ast.Name):
        raise NotCompiledError("a variable that may be None, or may not be set")
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    made = required(scope, result, UnboundLocalError, message)
    made.node.may_be_unset = result.node.id
    return made


def learn_unset(scope: Any, arms: Sequence[dict[str, Result]], node: ast.If) -> None:
    """Note which variables a branch sets that are read later, and others do not: they are None from the start.

    Args:
        scope: the function.
        arms: its variables at the end of each branch.
        node: the branches.
    """
    last = node.end_lineno or node.lineno
    everywhere = [name for name in arms[0] if all(name in arm for arm in arms)] if arms else []
    for name in sorted({name for arm in arms for name in arm} - {*everywhere}):
        is_read = any(line < node.lineno or line > last for line in scope.reads.get(name, ()))
        found = [arm[name] for arm in arms if name in arm]
        general = [scope.program.widened(result.value) for result in found]
        is_plain = all(scope.is_stored(name, result) for result in found) and not any(
            isinstance(value, (Known, OptionalValue, Unknown)) or annotation(value) is None for value in general
        )
        if is_read and is_plain and name not in scope.deleted:
            for value in general:
                scope.program.learn((_UNSET, scope.key, name), value)


def declared_unset(scope: Any, node: Any) -> list[ast.stmt]:
    """Return the statements of a function that let such variables be None, which reading them is an error of.

    Args:
        scope: the function.
        node: its place.
    """
    out: list[ast.stmt] = []
    for key, value in list(scope.program.elements.items()):
        if not isinstance(key, tuple) or key[:2] != (_UNSET, scope.key) or annotation(value) is None:
            continue
        name = key[2]
        if name in scope.variables or unions.is_several(scope, name):
            continue
        stored = ast.copy_location(ast.Name(scope.bind(name, OptionalValue(value), node), ast.Store()), node)
        nothing = scope.program.annotated(ast.copy_location(ast.Constant(None), node), OptionalValue(value))
        out.append(ast.copy_location(ast.Assign([stored], nothing), node))
        scope.variables[name] = unset(scope, name)
    return out


def optional_truth(expressions: Any, result: Result, node: ast.AST) -> Result:
    """Evaluate whether a value is true that may be None: it is there, and is not empty or zero.

    Args:
        expressions: evaluates expressions.
        result: the value.
        node: its place.
    Returns:
        The value itself if what it holds is always true, or it is not known when.
    """
    element = result.value.element  # type: ignore[attr-defined]
    kind = element.kind if isinstance(element, Scalar) else None
    test = "bool(_)" if isinstance(element, TensorValue) else _TESTS.get(kind)
    if isinstance(element, TupleValue) and element.elements:
        test = "True"
    if isinstance(element, (ListValue, DictValue)):
        test = "len(_) != 0"
    if test is None:
        return result
    held = result.node if isinstance(result.node, ast.Name) else expressions.named(result, node)
    there = ast.Compare(copy.deepcopy(held), [ast.IsNot()], [ast.Constant(None)])
    held_value = expressions.scope.program.unwrapped(copy.deepcopy(held))
    made = ast.BoolOp(ast.And(), [there, put_in(ast.parse(test, mode="eval").body, "_", held_value)])
    return Result(with_places(made, node), Scalar(bool))
