"""Functions as they are written, and their copies."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.jit.frontend as frontend
from torch._sources import SourceContext

from ..torchscript.function_scope import admit_none
from .autograd_functions import without_context
from .effects import has_effects, may_raise, only_reads
from .index_values import IndexValue
from .interfaces import Arguments, Result
from .lambda_sources import parsed_lambda
from .nonlocals import with_cells
from .parameters import all_parameters, signature_of
from .rejections import NotCompiledError
from .scope import Scope, literal
from .values import Closure, Known, ListValue, ObjectValue, Scalar, TupleValue, Value, guards_of

__all__ = [
    "Definition",
    "Request",
    "Specialised",
    "captured",
    "changes",
    "constant_of",
    "decorators",
    "definition_of",
    "expression_of",
    "free_names",
    "function_of",
    "function_of_lambda",
    "has_tuple_list",
    "identity_of",
    "is_of_torch_wrapper",
    "needs_owner",
    "none_test",
    "parsed_function",
    "type_key",
]

_PARSE = getattr(frontend, "parse_def")  # noqa: B009 - a name that the module imports
_PARSED = "_ssa_compiler_parsed"
_PADDING = "." * 400
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


@dataclass
class Specialised:
    """A copy of a function.

    Attributes:
        name: the name that it is called by.
        function: what TorchScript compiles.
        text: its syntax tree, as text.
        result: what it returns.
        source: the Python function that it is a copy of.
        key: its module and name.
        complete: the attributes that the first parameter, an object that is being made, has where it returns.
        constant: what it returns, if that is known and all that it does.
        has_effects: whether a property has effects.
        returns_object: whether `result` is an object that TorchScript has no expression for: the copy returns None, or
            of a function its variables.
        variables: those, with what is known of them.
    """

    name: str
    function: Any
    text: str
    result: Value
    source: Any = None
    key: Any = None
    complete: frozenset[str] = frozenset()
    constant: Known | None = None
    has_effects: bool = False
    returns_object: bool = False
    variables: Sequence[tuple[str, Value]] = ()


@dataclass
class Definition:
    """A function as it is written.

    Attributes:
        function: the Python function.
        parsed: TorchScript's parse of it.
        node: its definition, which may be one inside of it.
        scope: the function that defines it, None if a module does.
        source: the function as it is called, with its decorators.
        made_kind: the class whose objects it makes, None if it is no constructor.
    """

    function: Any
    parsed: Any
    node: Any
    scope: Scope | None = None
    source: Any = None
    made_kind: type | None = None


@dataclass(frozen=True)
class Request:
    """What a copy of a function is wanted for.

    Attributes:
        definition: the function.
        owner: the module that it becomes a method of, None if it stays a function.
        name: what it is called.
        first: the name of the parameter for the module.
        fixed: the parameters that are put in.
        dynamic: the parameters that stay, with what is known of them.
        dispatches: as of `Scope`.
        is_root: whether it is the program itself.
        complete: the attributes that the first parameter, an object that is being made, has so far; None if it is none.
        is_getter: whether it is the function of a property.
    """

    definition: Definition
    owner: torch.nn.Module | None
    name: str
    first: str
    fixed: Mapping[str, Result]
    dynamic: Mapping[str, Value]
    dispatches: bool = False
    is_root: bool = False
    complete: frozenset[str] | None = None
    is_getter: bool = False

    @property
    def place(self) -> Any:
        """What stands for the function."""
        node, kind = self.definition.node, self.definition.made_kind
        made = () if kind is None else (kind.__qualname__, id(kind))
        return id(self.definition.function), node.lineno, node.col_offset, *made

    @property
    def key(self) -> Any:
        """What stands for the copy."""
        parts = tuple((key, identity_of(result.value)) for key, result in sorted(self.fixed.items()))
        types_ = tuple((name, type_key(value)) for name, value in self.dynamic.items())
        return self.place, id(self.owner), parts, types_, self.dispatches, self.complete


def definition_of(function: Any) -> Definition:
    """Return a function as it is written.

    Raises:
        NotCompiledError: it has no source, or is none that is evaluated.
    """
    plain = inspect.unwrap(function)
    if plain is not function and not is_of_torch_wrapper(function):
        raise NotCompiledError("a decorator")
    if not isinstance(plain, types.FunctionType):
        raise NotCompiledError("a callable object that is no function")
    parsed = parsed_function(plain)
    node = parsed.ast.body[0]
    if any(isinstance(each, (ast.Await, ast.Global)) for each in ast.walk(node)) or _yields(node):
        raise NotCompiledError("yield, await or global")
    without_context(plain, node)
    admit_none(plain, node.args)
    with_cells(node)
    return Definition(plain, parsed, node, source=function)


def parsed_function(function: types.FunctionType) -> Any:
    """Return TorchScript's parse of a function.

    Raises:
        NotCompiledError: it has no source.
    """
    try:
        return parsed_lambda(function, function_of_lambda) if function.__name__ == "<lambda>" else _PARSE(function)
    except (OSError, TypeError, RuntimeError) as error:
        raise NotCompiledError("a function whose source is not there") from error


def _yields(node: ast.AST) -> bool:
    """Whether a function is a generator, whatever functions in it are."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (ast.FunctionDef, ast.Lambda)) and _yields(child):
            return True
    return False


def function_of(definition: Definition, name: str, node: Any, is_root: bool, names: Sequence[str]) -> Any:
    """A Python function whose source is a syntax tree."""
    original = definition.function
    made = types.FunctionType(
        original.__code__, original.__globals__, name, original.__defaults__, original.__closure__
    )
    made.__kwdefaults__, made.__module__ = original.__kwdefaults__, original.__module__
    made.__qualname__ = name
    if is_root:
        made.__signature__ = signature_of(original, node)  # type: ignore[attr-defined]
    else:
        made.__signature__ = inspect.Signature([inspect.Parameter(each, _POSITIONAL) for each in names])  # type: ignore[attr-defined]
    tree = ast.Module([node], [])
    last = definition.parsed.source.count("\n") + 2
    for part in ast.walk(tree):
        if hasattr(part, "is_type"):
            # TorchScript looks up the text at the place of a type before it takes the expression.
            part.lineno = part.end_lineno = last  # type: ignore[attr-defined]
            part.col_offset, part.end_col_offset = 1, 2  # type: ignore[attr-defined]
    setattr(made, _PARSED, _padded(definition.parsed)._replace(ast=ast.fix_missing_locations(tree)))
    return made


def _padded(parsed: Any) -> Any:
    """A parsed function with a comment after its source, in which TorchScript looks up how long expressions are."""
    first = parsed.source.partition("\n")[0]
    indent = len(first) - len(textwrap.dedent(parsed.source).partition("\n")[0])
    source = f"{parsed.source}\n#{_PADDING}"
    context = SourceContext(source, parsed.filename, parsed.file_lineno, indent, True, parsed.ctx.funcname)  # type: ignore[no-untyped-call]
    return parsed._replace(ctx=context, source=source)


def is_of_torch_wrapper(function: Any) -> bool:
    """Whether a function is wrapped by PyTorch's own decorators (`@torch.no_grad()`), of which the importer knows."""
    while hasattr(function, "__wrapped__"):
        if str(function.__code__.co_filename).startswith(torch.__path__[0]):
            function = function.__wrapped__
        else:
            return False
    return True


def decorators(definition: Definition) -> Sequence[ast.expr]:
    found: Sequence[ast.expr] = definition.node.decorator_list
    return found


def needs_owner(arguments: Arguments) -> bool:
    return any(_has_module(result.value) for result in (*arguments.positional, *arguments.named.values()))


def _has_module(value: Value) -> bool:
    if isinstance(value, (Closure, IndexValue)):
        return True
    if not isinstance(value, Known):
        return False
    thing = value.object
    if isinstance(thing, (list, tuple)):
        return any(_has_module(Known(part)) for part in thing)
    return isinstance(thing, (torch.nn.Module, types.MethodType)) or (
        literal(thing, ast.Pass()) is None
        and not isinstance(thing, (types.FunctionType, types.BuiltinFunctionType, type))
    )


def expression_of(scope: Scope, result: Result) -> Any:
    if isinstance(result.node, ast.Slice):
        raise NotCompiledError("a slice of dynamic numbers that is an argument")
    if result.node is not None:
        return result.node
    if isinstance(result.value, Known) and (made := literal(result.value.object, ast.Pass())) is not None:
        scope.use(result.value)
        return made
    raise NotCompiledError("a value that TorchScript has no type for")


def identity_of(value: Value) -> Any:
    """What stands for a value that is put into a copy."""
    if isinstance(value, Closure):
        variables = value.scope.variables
        read = [(name, variables[name].value) for name in free_names(value.node) if name in variables]
        known = tuple((name, identity_of(each)) for name, each in read if isinstance(each, (Known, Closure)))
        return id(value.node), known
    if isinstance(value, IndexValue):
        return ast.dump(value.node)
    assert isinstance(value, Known)
    plain = isinstance(value.object, (bool, int, float, str, type(None)))
    found = repr(value.object) if plain else id(value.object)
    return found, tuple(sorted(guards_of(value)))  # on which a copy depends


def type_key(value: Value) -> str:
    """What is known of a value, without the samples."""
    kind = type(value).__name__
    if isinstance(value, Scalar):
        return f"{kind} {value.kind.__name__}"
    if isinstance(value, ObjectValue):
        return f"{kind} {value.kind.__qualname__} {id(value.kind)}"
    if isinstance(value, TupleValue):
        return f"{kind}({', '.join(map(type_key, value.elements))}) {value.names} {id(value.kind)}"
    if isinstance(value, Known):
        return f"{kind} {identity_of(value)}"
    parts = [getattr(value, name, None) for name in ("key", "element", "dtype", "rank", "length", "is_tuple", "names")]
    places = sorted(map(str, getattr(value, "places", ())))
    parts += [f"{key}: {type_key(each)}" for key, each in getattr(value, "parts", ())]
    return f"{kind}({[type_key(each) if isinstance(each, Value) else each for each in parts]}{places})"


def free_names(node: Any) -> list[str]:
    """The names that a function reads and does not bind."""
    bound = {each.arg for each in all_parameters(node.args)}
    body = node.body if isinstance(node.body, list) else [node.body]
    names = [each for statement in body for each in ast.walk(statement) if isinstance(each, ast.Name)]
    bound |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return list(dict.fromkeys(each.id for each in names if each.id not in bound))


def constant_of(scope: Scope, node: Any) -> Known | None:
    """Return what a copy of a function returns if it does nothing else and that is known."""
    only, returned = node.body[0] if len(node.body) == 1 else None, scope.returned
    if not isinstance(only, ast.Return) or not isinstance(returned, Known):
        return None
    if only.value is None:
        return returned
    raises = may_raise(only.value) and literal(returned.object, only) is not None  # of others nothing is left
    return None if raises or has_effects(scope, only.value) else returned


def changes(scope: Scope, node: Any) -> bool:
    """Whether a copy of a function has effects."""
    stored = (ast.Attribute, ast.Subscript)
    return any(
        (isinstance(part, stored) and not isinstance(part.ctx, ast.Load))
        or (
            isinstance(part, ast.Call)
            and has_effects(scope, ast.Call(part.func, [], part.keywords))
            and not only_reads(part)
        )
        for statement in node.body
        for part in ast.walk(statement)
    )


def has_tuple_list(value: Value | None) -> bool:
    if isinstance(value, ListValue) and value.is_tuple:
        return True
    inner = [getattr(value, "element", None), getattr(value, "key", None), *getattr(value, "elements", ())]
    return any(has_tuple_list(each) for each in inner if each is not None)


def captured(closure: Closure, seen: frozenset[int] = frozenset()) -> list[tuple[Scope, str]]:
    """The variables that a closure reads, and those that the closures read which it calls, by the functions whose they
    are; without what is put in.
    """
    made: dict[tuple[int, str], tuple[Scope, str]] = {}
    for name in free_names(closure.node) if id(closure.node) not in seen else ():
        scope: Scope = closure.scope
        found = scope.variables.get(name)
        if found is None or (isinstance(found.value, Known) and isinstance(found.value.object, torch.nn.Module)):
            continue
        if isinstance(found.value, Closure):
            made |= {(id(each), key): (each, key) for each, key in captured(found.value, seen | {id(closure.node)})}
        elif not isinstance(found.value, Known) or found.node is not None:
            made[id(scope), name] = scope, name
    return list(made.values())


def none_test(made: Specialised, node: ast.Call) -> ast.expr | None:
    """`exists(x)` as `x is not None`, which says what `x` is behind it; None if a call is no such test."""
    (parsed,) = getattr(made.function, "_ssa_compiler_parsed").ast.body  # noqa: B009 - an attribute of a function
    returned = parsed.body[0] if len(parsed.body) == 1 else None
    test = returned.value if isinstance(returned, ast.Return) else None
    names = [each.arg for each in parsed.args.args]
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)) or len(test.ops) != 1:
        return None
    other, given = test.comparators[0], node.args[-1] if node.args else None
    if not isinstance(other, ast.Constant) or other.value is not None or not isinstance(given, ast.Name):
        return None
    if not isinstance(test.left, ast.Name) or test.left.id != names[-1] or len(node.args) != 1:
        return None
    made_of = ast.Compare(given, [test.ops[0]], [ast.copy_location(ast.Constant(None), node)])
    return ast.copy_location(made_of, node)


def function_of_lambda(node: ast.Lambda) -> ast.FunctionDef:
    """Return a lambda as a function that returns something."""
    body = ast.copy_location(ast.Return(copy.deepcopy(node.body)), node.body)
    return ast.copy_location(ast.FunctionDef("_lambda", copy.deepcopy(node.args), [body], [], None, None), node)
