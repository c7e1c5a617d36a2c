"""Specialisation: a copy of a function for each set of types, with the arguments that are known put in."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from ...abi.surroundings import Surroundings
from ..torchscript.function_scope import variables_of
from . import objects, unions
from .binding import bind
from .calls import Calls
from .dataclass_constructors import dataclass_constructor, is_written_out
from .definitions import (
    Definition,
    Request,
    Specialised,
    captured,
    changes,
    constant_of,
    decorators,
    definition_of,
    expression_of,
    free_names,
    function_of,
    function_of_lambda,
    has_tuple_list,
    needs_owner,
    none_test,
)
from .effects import has_effects
from .extra_arguments import ExtraArguments
from .global_tensors import are_methods
from .index_values import IndexValue, passed_index
from .interfaces import Arguments, Evaluated, Result
from .parameters import SELF as _SELF
from .parameters import parameters_of
from .presence import declared_unset
from .rejections import NeedsKnownError, NotCompiledError, OrderError
from .returned_functions import moved
from .scope import Scope, literal, type_expression
from .spelt_arguments import with_parameters
from .statements import Statements
from .surroundings import adopt
from .values import (
    Closure,
    Known,
    OptionalValue,
    Scalar,
    TupleValue,
    Value,
    annotation,
    is_none,
    joined,
)

__all__ = ["Functions"]

_DEPTH = 24


class Functions:
    """The functions of a program, each in as many copies as there are sets of arguments."""

    def __init__(self, program: Evaluated) -> None:
        self._program = program
        self._made: dict[Any, Specialised] = {}
        self._copies: dict[Any, list[Specialised]] = {}
        self._active: list[Any] = []
        self._taken = set[Any]()
        self._scopes = 0
        self._kept: list[Any] = []  # so that their ids stay theirs

    # Calls. -----------------------------------------------------------------------------------------------------

    def call_method(
        self,
        scope: Scope,
        owner: torch.nn.Module,
        function: Any,
        name: str,
        arguments: Arguments,
        node: ast.Call,
    ) -> Result:
        """Call a method of a module."""
        adopt(self._program, Known(owner))
        definition = definition_of(function)
        if any(
            isinstance(each, ast.Name) and each.id in ("staticmethod", "classmethod") for each in decorators(definition)
        ):
            raise NotCompiledError("a static method or class method of a module")
        first = definition.node.args.args[0].arg
        known = {first: Result(ast.Name(first, ast.Load()), Known(owner))}
        made, left = self._specialised(Request(definition, owner, name, first, known, {}), arguments, scope)
        expression = self._program.module_expression(scope, owner, node)
        called = made.name
        if called == "forward":
            node.func = expression
        else:
            node.func = ast.copy_location(ast.Attribute(expression, called, ast.Load()), node)
        return self._placed(scope, node, owner, made, left)

    def call(self, scope: Scope, function: Any, arguments: Arguments, node: ast.Call) -> Result:
        """Call a function."""
        return self._call(scope, definition_of(function), arguments, node)

    def call_closure(self, scope: Scope, closure: Closure, arguments: Arguments, node: ast.Call) -> Result:
        """Call a function that the program defines."""
        outer: Scope = closure.scope
        definition = closure.node
        if getattr(definition, "decorator_list", None):
            raise NotCompiledError("a decorator")
        if isinstance(definition, ast.Lambda):
            definition = function_of_lambda(definition)
        function = closure.function or outer.function
        inner = Definition(function, definition_of(function).parsed, definition, outer, function)
        return self._call(scope, inner, arguments, node)

    def get(self, scope: Scope, function: Any, owner: Known, node: ast.Attribute) -> Result:
        """Evaluate a property: what it is, if that is known, else a call.

        Raises:
            NotCompiledError: it has effects, which are not expected where an attribute is read.
        """
        definition, thing = definition_of(function), owner.object
        name = f"_ssa_compiler_get_{node.attr}"
        call = ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), node), [], []), node)
        if isinstance(thing, torch.nn.Module):
            first = definition.node.args.args[0].arg
            known = {first: Result(ast.Name(first, ast.Load()), Known(thing))}
            request, given = Request(definition, thing, name, first, known, {}, is_getter=True), Arguments([], {})
        else:
            request, given = (
                Request(definition, scope.owner, name, _SELF, {}, {}, is_getter=True),
                Arguments([Result(None, owner)], {}),
            )
            if scope.owner is not None:
                request = replace(request, fixed={_SELF: Result(ast.Name(_SELF, ast.Load()), Known(scope.owner))})
            else:
                request = replace(request, first="")
        made, left = self._specialised(request, given, scope)
        if made.constant is not None and not left:
            return Result(None, made.constant)
        if made.has_effects:
            raise NotCompiledError("a property with effects")
        call.func, call.is_getter = self._function(scope, request.owner, made, node), True  # type: ignore[attr-defined]
        return self._placed(scope, call, request.owner, made, left)

    def get_of_object(self, scope: Scope, function: Any, owner: Result, node: ast.Attribute) -> Result:
        """Evaluate a property of an object that the program makes.

        Raises:
            NotCompiledError: it has effects.
        """
        call = ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), node), [], []), node)
        request = Request(definition_of(function), None, f"_ssa_compiler_get_{node.attr}", "", {}, {}, is_getter=True)
        made, left = self._specialised(request, Arguments([owner], {}), scope)
        if made.has_effects:
            raise NotCompiledError("a property with effects")
        call.func, call.is_getter = self._function(scope, None, made, node), True  # type: ignore[attr-defined]
        return self._placed(scope, call, None, made, left)

    def _function(self, scope: Scope, owner: torch.nn.Module | None, made: Specialised, node: ast.AST) -> ast.expr:
        """An expression for a copy."""
        if owner is None:
            return ast.copy_location(ast.Name(made.name, ast.Load()), node)
        expression = self._program.module_expression(scope, owner, node)
        return ast.copy_location(ast.Attribute(expression, made.name, ast.Load()), node)

    def construct(self, scope: Scope, kind: type, arguments: Arguments, node: ast.Call) -> Result:
        """Make an object of a class."""
        is_written = is_written_out(kind, self._program.passed)
        written = dataclass_constructor(scope, kind, arguments, node) if is_written else None
        return self._call(scope, written or objects.constructor(kind), arguments, node)

    def call_unfinished(
        self, scope: Scope, function: Any, arguments: Arguments, complete: frozenset[str], node: ast.Call
    ) -> tuple[Result, frozenset[str]]:
        """Call a method of an object that is being made.

        Args:
            scope: where it is called.
            function: the method.
            arguments: the arguments, the object first.
            complete: the attributes that the object has.
            node: the call.
        Returns:
            The result, and the attributes that the object has afterwards.
        """
        definition = definition_of(function)
        request = Request(definition, None, f"_ssa_compiler_{definition.node.name}", "", {}, {}, complete=complete)
        made, left = self._specialised(request, arguments, scope)
        node.func = ast.copy_location(ast.Name(made.name, ast.Load()), node)
        return self._placed(scope, node, None, made, left), made.complete

    def _call(self, scope: Scope, definition: Definition, arguments: Arguments, node: ast.Call) -> Result:
        is_method = definition.scope is not None or needs_owner(arguments)
        owner = scope.owner if is_method or are_methods(self._program) else None
        name = f"_ssa_compiler_{definition.node.name}"
        first = ""
        if owner is not None:
            is_own = definition.scope is not None and definition.scope.owner is owner
            first = definition.scope.self_name if is_own and definition.scope is not None else _SELF
        known = {first: Result(ast.Name(first, ast.Load()), Known(owner))} if owner is not None else {}
        made, left = self._specialised(Request(definition, owner, name, first, known, {}), arguments, scope)
        node.func = self._function(scope, owner, made, node)
        return self._placed(scope, node, owner, made, left)

    def _placed(
        self, scope: Scope, node: ast.Call, owner: torch.nn.Module | None, made: Specialised, left: Sequence[Any]
    ) -> Result:
        node.copy_of = made.key = (None if owner is None else id(owner), made.name)  # type: ignore[attr-defined]
        node.args = [ast.copy_location(each, node) if not hasattr(each, "lineno") else each for each in left]
        node.keywords = []
        is_plain = all(isinstance(each, (ast.Name, ast.Constant)) for each in left)
        if made.constant is not None and is_plain and literal(made.constant.object, node) is not None:
            return Result(literal(made.constant.object, node), made.constant)
        if (asked := none_test(made, node)) is not None:
            return Result(asked, Scalar(bool))
        # The call stays, whatever is known of its result: it may have effects.
        if isinstance(made.result, Closure) and made.returns_object:
            return Result(None, moved(scope, made.result, made.variables, node))
        if made.returns_object:
            scope.hoist([ast.copy_location(ast.Expr(node), node)], node)
            return Result(None, made.result)
        result = made.result if is_none(made.result) else self._program.widened(made.result)
        if isinstance(result, (Closure, Known)) and not is_none(result):
            raise NotCompiledError("a function that returns a module or a function")
        if unions.is_choice(result) and not scope.is_step:
            raise OrderError("a result of several types")
        return Result(node, result)

    # Copies. ------------------------------------------------------------------------------------------------------

    def root(
        self,
        function: Any,
        owner: torch.nn.Module | None,
        name: str,
        arguments: Mapping[str, Value],
        *,
        extra: ExtraArguments,
        dispatches: bool = False,
    ) -> Specialised:
        """Return the copy of the function that is compiled, whose parameters all stay.

        Args:
            function: the function.
            owner: the module whose method it is.
            name: its name.
            arguments: what is known of its arguments.
            extra: its arguments.
            dispatches: as of `Scope`.
        """
        definition = definition_of(function)
        first = definition.node.args.args[0].arg if owner is not None else ""
        if isinstance(owner, Surroundings):
            first, name = _SELF, self._program.unused_name(name)
        bound = {first: Result(ast.Name(first, ast.Load()), Known(owner))} if owner is not None else {}
        kept = {key: value for key, value in arguments.items() if key != first}
        request = Request(definition, owner, name, first, bound, kept, dispatches, is_root=True)
        definition = extra.spelt_out(self._program, definition, request.place)
        return self._specialise(replace(request, definition=definition))

    def _specialised(self, request: Request, arguments: Arguments, scope: Scope) -> tuple[Specialised, list[Any]]:
        """Return the copy for a call, and the arguments that are left.

        Args:
            request: what is wanted, without the arguments.
            arguments: those of the call.
            scope: where it is called.
        """
        definition, first = request.definition, request.first
        skip = 1 if first and definition.scope is None and request.owner is not None and first != _SELF else 0
        definition = with_parameters(definition, arguments, skip)
        request = replace(request, definition=definition)
        results = bind(scope, definition, arguments, skip)
        free = self._free(definition, results, scope)
        for keep_numbers in (True, False):
            dynamic: dict[str, Value] = {}
            left: list[Any] = []
            fixed = dict(request.fixed)
            for parameter, result in {**results, **free}.items():
                if self._is_fixed(result, keep_numbers):
                    if result.node is not None and has_effects(scope, result.node):
                        raise OrderError("an argument that is known, and has effects")
                    fixed[parameter] = self._passed(parameter, result, dynamic, left, scope)
                    continue
                dynamic[parameter] = self._program.widened(result.value)
                left.append(expression_of(scope, result))
            wanted = replace(request, fixed=fixed, dynamic=dynamic)
            try:
                return self._specialise(wanted), left
            except NeedsKnownError:
                if not keep_numbers or not any(isinstance(result.value, Known) for result in results.values()):
                    break
        return self._specialise(replace(wanted, dispatches=True)), left

    def _is_fixed(self, result: Result, keep_numbers: bool) -> bool:
        """Whether an argument is put into the copy."""
        value = result.value
        if isinstance(value, (Closure, IndexValue)):
            return True
        if isinstance(value, TupleValue) and result.node is None:
            raise NotCompiledError("a tuple with functions or modules that is an argument")
        if not isinstance(value, Known) or isinstance(value.object, torch.Tensor):
            return False
        if isinstance(value.object, (int, float)) and not isinstance(value.object, bool) and keep_numbers:
            return False
        return not (isinstance(value.object, (list, dict)) and result.node is not None)

    def _passed(
        self, parameter: str, result: Result, dynamic: dict[str, Value], left: list[Any], scope: Scope
    ) -> Result:
        """What a parameter is in the copy, whose argument is put in; the variables that it reads are passed."""
        value = result.value
        if isinstance(value, IndexValue):
            value, numbers = passed_index(parameter, value)
            for name, variable in numbers.items():
                dynamic[name] = self._program.widened(scope.variables[variable].value)
                left.append(ast.Name(variable, ast.Load()))
        if not isinstance(value, Closure):
            return Result(None, value)
        for outer, name in captured(value):
            passed = outer.captured_name(name)
            if passed not in dynamic:
                dynamic[passed] = self._program.widened(outer.variables[name].value)
                left.append(scope.captured(outer, name))
        return Result(None, value)

    def _free(self, definition: Definition, results: Mapping[str, Result], scope: Scope) -> dict[str, Result]:
        """The variables of the function around a closure that it reads."""
        outer = definition.scope
        if outer is None:
            return {}
        found: dict[str, Result] = {}
        for name in free_names(definition.node):
            if name in results or name == outer.self_name or name not in outer.variables:
                continue
            meant = outer.variables[name]
            found[name] = meant if meant.node is None else Result(scope.captured(outer, name), meant.value)
        return found

    def _specialise(self, request: Request) -> Specialised:
        """Make a copy of a function, or find one."""
        self._kept.append(request)
        key = request.key
        if key in self._made:
            return self._made[key]
        if key in self._active:  # with numbers that are known it may come to an end
            raise NeedsKnownError("a function that calls itself")
        if len(self._active) > _DEPTH:
            raise NotCompiledError("a function that calls itself")
        self._active.append(key)
        try:
            made = self._evaluated(request)
        finally:
            self._active.pop()
        self._made[key] = made
        return made

    def _evaluated(self, request: Request) -> Specialised:
        definition, dynamic = request.definition, request.dynamic
        node = copy.deepcopy(definition.node)
        outer = definition.scope
        scope = Scope(
            self._program,
            definition.function,
            request.owner,
            request.first,
            request.place,
            dispatches=request.dispatches,
            is_getter=request.is_getter,
            is_root=request.is_root,
            number=self._scopes,
        )
        self._scopes += 1
        scope.local, scope.parameters = variables_of(node), frozenset(dynamic)
        inner = [
            each for each in ast.walk(node) if isinstance(each, (ast.FunctionDef, ast.Lambda)) and each is not node
        ]
        scope.captured_names = frozenset(name for each in inner for name in free_names(each))
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                scope.reads.setdefault(each.id, set()).add(each.lineno)
        if outer is not None:
            scope.enclosing = outer.local | outer.enclosing
            scope.variables |= {key: found for key, found in outer.variables.items() if found.node is None}
        scope.variables |= {key: Result(found.node, found.value) for key, found in request.fixed.items()}
        for parameter, value in dynamic.items():
            scope.bind(parameter, value, node)
        objects.begin(scope, definition, request.complete)
        first = declared_unset(scope, node)
        body = [*first, *Statements(scope, Calls).block(node.body)]
        node.body = unions.declared(scope, list(dynamic), body, node) or [ast.copy_location(ast.Pass(), node)]
        node.decorator_list = []
        scope.returned = unions.result_of_all(scope)
        if not scope.is_dead and scope.returned is not None and not is_none(scope.returned):
            scope.returned = joined(scope.returned, Known(None), self._program.samples.of)
        is_object = isinstance(scope.returned, (Closure, Known)) and not is_none(scope.returned)
        if scope.returns_object and not request.is_getter and (request.is_root or not is_object):
            raise NotCompiledError("a function or module that is a result")
        if request.is_root and self._program.classes.has_set(scope.returned):
            raise NotCompiledError("a set or deque that is a result")
        if request.is_root and (has_tuple_list(scope.returned) or self._program.classes.has_unset(scope.returned)):
            raise NotCompiledError("a result that TorchScript has no type for")
        node.args = parameters_of(definition.node.args, request.first, dynamic, node, is_root=request.is_root)
        node.returns = self._returns(scope.returned, node)
        made = self._named(node, request, scope)
        made.complete = objects.end(scope, definition)
        made.constant = constant_of(scope, node)
        if request.is_getter:
            made.has_effects = changes(scope, node)
            if scope.returns_object and made.constant is None:
                raise NotCompiledError("a property that is a module or a function, which one is dynamic")
        return made

    def _returns(self, value: Value | None, node: ast.AST) -> Any:
        """The annotation of the result, where TorchScript does not find it out."""
        text = annotation(value) if isinstance(value, OptionalValue) else None
        return None if text is None else type_expression(text, node)

    def _named(self, node: Any, request: Request, scope: Scope) -> Specialised:
        """Give a copy a name, unless there is an equal one."""
        definition, owner, name = request.definition, request.owner, request.name
        node.name = "copy"
        result = scope.returned if scope.returned is not None else Known(None)
        text = ast.dump(node)
        copies = self._copies.setdefault((id(owner), name, id(definition.function)), [])
        for other in copies:
            if other.text == text:
                return replace(
                    other, result=result, returns_object=scope.returns_object, variables=scope.returned_variables
                )
        taken = (id(owner), name) in self._taken
        called = name if not taken and owner is not None else self._program.unused_name(name)
        self._taken.add((id(owner), name))
        node.name = called
        parameters = [*([scope.self_name] if scope.self_name else []), *request.dynamic]
        function = function_of(definition, called, node, request.is_root, parameters)
        made = Specialised(called, function, text, result, definition.source, returns_object=scope.returns_object)
        made.variables = scope.returned_variables
        copies.append(made)
        self._program.add(owner, made)
        return made
