"""Partial evaluation of calls: of PyTorch's functions, Python's, methods of values, and functions of the user's."""

from __future__ import annotations

import ast
import builtins
import collections
import copy
import enum
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..torchscript.function_scope import is_iterator
from . import (
    autograd_functions,
    builtin_calls,
    dtype_limits,
    enums,
    inherited,
    itertools_calls,
    known_objects,
    methods,
    named_tuple_methods,
    objects,
    operator_calls,
    ordering,
    records,
    tensor_types,
    untyped_fields,
)
from .callees import (
    forward_of,
    is_left_to_python,
    is_of_torch,
    is_op,
    is_pure,
    is_super,
    only_keywords,
    takes_list,
)
from .classes import is_plain_class
from .counters import is_counter_class
from .dataclass_constructors import is_written_out
from .dispatch import dispatch, of_either
from .displays import listed, ordered_display, spread
from .effects import has_effects
from .float_parameters import with_floats
from .interfaces import Arguments, ExpressionEvaluator, Result
from .named_tuples import typed_class
from .new_nodes import at_place
from .number_functions import of_numbers
from .presence import no_attribute, of_module, operands
from .rejections import NeedsKnownError, NotCompiledError
from .rows import rows_of
from .surroundings import adopt
from .values import (
    NEVER,
    UNKNOWN,
    Closure,
    Known,
    ListValue,
    Never,
    ObjectValue,
    OptionalValue,
    Value,
    is_none,
)

__all__ = ["Calls"]

_CONSUMERS = frozenset({"all", "any", "dict", "list", "max", "min", "sorted", "sum", "tuple"})
_CONSUMING_METHODS = frozenset({"extend", "join", "subtract", "update"})
_ITERATORS = frozenset({"enumerate", "map", "next", "reversed", "zip"})
_OF_MODULES = "children modules named_children named_modules parameters named_parameters buffers named_buffers"
_PARTS = frozenset(_OF_MODULES.split())


class Calls:
    """Evaluates the calls of one function."""

    def __init__(self, expressions: ExpressionEvaluator) -> None:
        self.expressions = expressions
        self.scope = expressions.scope

    def call(self, node: ast.Call) -> Result:
        """Evaluate a call; what was found not to be None may be None behind one that has effects."""
        effects = has_effects(self.scope, node)
        try:
            return self._evaluated(node)
        finally:
            if effects:
                self.scope.present = frozenset()

    def _evaluated(self, node: ast.Call) -> Result:
        if hasattr(node, "creates"):
            return objects.create(self, node)
        if hasattr(node, "choice"):
            return Result(node, node.choice)
        if (handler := enums.called(self, node.func)) is not None:
            node.func = handler
        if isinstance(node.func, ast.IfExp):  # `(f if c else g)(x)`
            return self.expressions.evaluate(of_either(node, node.func))
        self._consume(node)
        if isinstance(node.func, ast.Attribute):
            if is_super(node.func.value):
                return inherited.call(self, node, node.func)
            owner = self.expressions.evaluate(node.func.value)
            if is_none(owner.value) or isinstance(owner.value, Never):
                return self.as_it_is(node, NEVER)  # it raises
            if isinstance(owner.value, OptionalValue) and objects.is_object(owner.value.element):
                owner = self.expressions.present(owner, *no_attribute(node.func.attr))
            if objects.is_object(owner.value):
                if records.is_record(owner.value):
                    return records.call_method(self, node, owner)
                return objects.call_method(self, node, owner)
            if (made := enums.call_method(self, node, owner)) is not None:
                return made
            if (made := named_tuple_methods.call(self, node, owner)) is not None:
                return made
            if not isinstance(owner.value, Known) or isinstance(owner.value.object, torch.Tensor):
                return methods.call(self, node, owner)
            if node.func.attr in known_objects.MUTATING and self.scope.program.change(owner.value):
                return Result(node)  # it is evaluated again, when the attribute is known to be changed
            callee = self.expressions.attribute_of(owner, owner.value, node.func)
        else:
            try:
                callee = self.expressions.evaluate(node.func)
            except NeedsKnownError:
                if not self.scope.dispatches or not isinstance(node.func, ast.Subscript):
                    raise
                return dispatch(self, node, node.func)
        return self.called(node, callee)

    def called(self, node: ast.Call, callee: Result) -> Result:
        """Call what an expression is."""
        if objects.is_object(callee.value):
            arguments = self.arguments(node)
            made = objects.call_special(self, "__call__", callee, list(arguments.positional), node)
            if made is None or arguments.named:
                raise NotCompiledError("a call of an object")
            return made
        if isinstance(callee.value, Closure):
            return self.scope.program.functions.call_closure(self.scope, callee.value, self.arguments(node), node)
        if isinstance(callee.value, Known):
            return self.known(node, callee)
        node.func = self.expressions.expression(callee, node.func)
        return self.as_it_is(node)

    def _consume(self, node: ast.Call) -> None:
        """Note that generators which are passed to functions that read them at once are lists.

        Raises:
            NotCompiledError: an iterator is a value.
        """
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        own = called in self.scope.variables or called in self.scope.local
        consumes = called in _CONSUMERS and not own and self.scope.lookup(called) is getattr(builtins, called)
        consumes |= isinstance(node.func, ast.Attribute) and node.func.attr in _CONSUMING_METHODS
        consumes |= is_counter_class(self.scope, node.func)
        for part in node.args:
            inner = part.value if isinstance(part, ast.Starred) else part
            is_view = isinstance(inner, ast.Call) and (consumes or called in ("len", *_ITERATORS))
            if is_view or (isinstance(inner, ast.GeneratorExp) and (consumes or isinstance(part, ast.Starred))):
                inner.is_consumed = True  # type: ignore[attr-defined]
            elif is_iterator(inner) and not consumes and called not in _ITERATORS and not isinstance(part, ast.Starred):
                raise NotCompiledError("an iterator that is a value")

    def known(self, node: ast.Call, callee: Result) -> Result:
        """Call an object that is known."""
        assert isinstance(callee.value, Known)
        thing = callee.value.object
        if isinstance(thing, torch.nn.Module):
            return self._module(node, callee.value)
        if (made := known_objects.call(self, node, callee.value)) is not None:
            return made
        if isinstance(thing, (types.FunctionType, type)):
            self.scope.use(callee.value)
        if (made := autograd_functions.call(self, node, thing)) is not None:
            return made
        if isinstance(thing, types.MethodType):
            return self._method(node, thing, callee)
        if thing in (torch.jit.is_scripting, torch.jit.is_tracing):  # type: ignore[attr-defined]
            return self.expressions.known(node, Known(False))
        for module in (itertools_calls, operator_calls, ordering):
            if (found := module.call(self, node, thing)) is not None:
                return found
        if (made := named_tuple_methods.of_dataclass(self, node, thing)) is not None:
            return made
        if thing in dtype_limits.LIMITS:
            return dtype_limits.limits_of(self, node, thing)
        if isinstance(thing, type):
            return self._class(node, thing, callee)
        if isinstance(thing, types.FunctionType) and not is_of_torch(thing):
            return self.user(node, thing, callee)
        if (made := builtin_calls.call(self, node, thing)) is not None:
            return made
        if isinstance(thing, types.BuiltinMethodType) and isinstance(thing.__self__, (dict, str, list, tuple)):
            return known_objects.method_of_container(self, node, thing, callee.value)
        return self._foreign(node, thing, callee)

    # Arguments. ---------------------------------------------------------------------------------------------------

    def arguments(self, node: ast.Call) -> Arguments:
        """Evaluate the arguments of a call.

        Raises:
            NotCompiledError: their number is dynamic.
        """
        positional: list[Result] = []
        for part in node.args:
            if not isinstance(part, ast.Starred):
                positional.append(self.expressions.evaluate(part))
                continue
            whole = self.expressions.evaluate(part.value)
            found = spread(self.expressions, whole, part)
            if found is None and (found := rows_of(self.expressions, whole, part)) is None:
                raise NotCompiledError("*args of a dynamic number of arguments")
            positional += found
        named: dict[str, Result] = {}
        for keyword in node.keywords:
            found_value = self.expressions.evaluate(keyword.value)
            key, items = keyword.arg, records.items
            given = {key: found_value} if key is not None else items(self.expressions, found_value, keyword.value)
            if given.keys() & named.keys() and not hasattr(node, "overrides"):
                raise NotCompiledError("an argument that is passed twice")
            named |= given
        return Arguments(positional, named)

    def present(self, arguments: Arguments, name: str, skip: int) -> Arguments:
        """Let the arguments of an operator that may not be None be what they hold.

        Args:
            arguments: the arguments.
            name: the name of the operator.
            skip: how many operands come before.
        """
        held = operands(self.scope, name, skip)
        positional = [held(result, position, "") for position, result in enumerate(arguments.positional)]
        return Arguments(positional, {key: held(each, -9, key) for key, each in arguments.named.items()})

    def place(self, node: ast.Call, arguments: Arguments, *, copied: bool = False) -> None:
        """Let a call have the arguments that are left.

        Args:
            node: the call.
            arguments: the arguments.
            copied: whether copies of lists and dicts do: it does not keep them.
        """

        def left(result: Result) -> Any:
            return self.expressions.expression(result, node, copied=copied)

        node.args = [left(result) for result in arguments.positional]
        node.keywords = [
            ast.copy_location(ast.keyword(name, left(result)), node) for name, result in arguments.named.items()
        ]

    def written(self, statements: Sequence[ast.stmt], name: str, node: ast.AST) -> Result:
        """Write statements in front of the one that is evaluated, and return a variable that they assign."""
        for statement in statements:
            self.scope.hoist(self.expressions.statements.statement(at_place(statement, node)), node)
        return self.scope.load(ast.copy_location(ast.Name(name, ast.Load()), node))

    def as_it_is(self, node: ast.Call, value: Value = UNKNOWN) -> Result:
        """Evaluate the arguments of a call of which nothing else is known."""
        self.place(node, self.arguments(node))
        return Result(node, value)

    def with_list(self, node: ast.Call, name: str, position: int) -> bool:
        """Let `f(a, *sizes)` be `f([a] + sizes)` where that is the same to an operator of PyTorch's.

        Args:
            node: the call.
            name: the name of the operator.
            position: that of the list among its operands.
        """
        if not any(isinstance(part, ast.Starred) for part in node.args) or not takes_list(name, position):
            return False
        kept, hoisted = copy.deepcopy(node.args), len(self.scope.before)
        made = listed(self.expressions, node.args, node)
        if made is None or not isinstance(made.value, ListValue):
            node.args, self.scope.before[hoisted:] = kept, []
            return False
        node.args = [made.node]
        return True

    # What is called. ----------------------------------------------------------------------------------------------

    def _module(self, node: ast.Call, value: Known) -> Result:
        adopt(self.scope.program, value)
        return self.module_with(node, value.object, self.arguments(node))

    def _is_chain(self, module: torch.nn.Module) -> bool:
        """Whether a module calls its parts, of which some are the user's, one after the other."""
        is_plain = isinstance(module, torch.nn.Sequential) and forward_of(module) is torch.nn.Sequential.forward
        program = self.scope.program
        return is_plain and (program.has_own_parts(module) or program.path_of(Known(module)) is None)

    def module_with(self, node: ast.Call, module: torch.nn.Module, arguments: Arguments) -> Result:
        program = self.scope.program
        if self._is_chain(module) and len(arguments.positional) == 1 and not arguments.named:
            result = arguments.positional[0]
            for part in module.children():
                inner = ast.copy_location(ast.Call(ast.copy_location(ast.Name("_", ast.Load()), node), [], []), node)
                result = self.module_with(inner, part, Arguments([result], {}))
            return result
        forward = forward_of(module)
        if not isinstance(module, torch.jit.ScriptModule) and not is_of_torch(forward):
            if self._passes_state(module, arguments):
                given = Arguments([Result(None, Known(module)), *arguments.positional], arguments.named)
                return program.functions.call(self.scope, forward, given, node)
            return program.functions.call_method(self.scope, module, forward, "forward", arguments, node)
        arguments = of_module(self.scope, module, arguments)
        values = [result.value for result in arguments.positional]
        named = {name: result.value for name, result in arguments.named.items()}
        value = self.expressions.samples.module_result(module, values, named)
        node.func = program.module_expression(self.scope, module, node)
        self.place(node, arguments)
        return Result(node, value)

    def _passes_state(self, module: torch.nn.Module, arguments: Arguments) -> bool:
        """Whether a module is passed an object with tensors or state that another module holds, whose attributes only
        methods of that one read.
        """
        program = self.scope.program
        own = program.path_of(Known(module))
        for result in (*arguments.positional, *arguments.named.values()):
            is_object = isinstance(result.value, Known) and is_plain_class(type(result.value.object))
            path = program.path_of(result.value) if is_object else None
            if path is not None and not program.is_elsewhere(path) and not path.startswith(f"{own}."):
                return True
        return False

    def _of_owner(self, node: ast.Call, function: Any, owner: torch.nn.Module, name: str) -> Result:
        arguments = self.arguments(node)
        if self._passes_state(owner, arguments):
            given = Arguments([Result(None, Known(owner)), *arguments.positional], arguments.named)
            return self.scope.program.functions.call(self.scope, function, given, node)
        return self.scope.program.functions.call_method(self.scope, owner, function, name, arguments, node)

    def _method(self, node: ast.Call, method: types.MethodType, callee: Result) -> Result:
        owner, function = method.__self__, method.__func__
        function = inspect.unwrap(function) if is_of_torch(inspect.unwrap(function)) else function
        if is_of_torch(function) and isinstance(owner, torch.nn.Module):
            return self._container(node, method, callee)
        if isinstance(owner, torch.nn.Module):
            if is_left_to_python(method) or not isinstance(function, types.FunctionType):
                self.scope.program.forget_lengths()
                node.func = self.expressions.expression(callee, node)
                return self.as_it_is(node)
            return self._of_owner(node, function, owner, method.__name__)
        if not isinstance(function, types.FunctionType):
            raise NotCompiledError("a method that is no function of Python")
        arguments = self.arguments(node)
        first = Result(None, Known(owner, known_objects.holder_path(self.scope.program, callee.value)))
        return self.scope.program.functions.call(
            self.scope, function, Arguments([first, *arguments.positional], arguments.named), node
        )

    def _container(self, node: ast.Call, method: types.MethodType, callee: Result) -> Result:
        """`self.blocks.items()`, of a ModuleDict."""
        containers = (torch.nn.ModuleDict, torch.nn.ModuleList, torch.nn.Sequential)
        if isinstance(method.__self__, containers) and method.__name__ in ("items", "keys", "values") and not node.args:
            return Result(None, Known([*method()]))
        if method.__name__ in _PARTS and not node.args and not node.keywords:
            return Result(None, Known([*method()]))
        node.func = self.expressions.expression(callee, node)
        return self.as_it_is(node)

    def user(self, node: ast.Call, function: Any, callee: Result) -> Result:
        """Call a function of the user's."""
        plain = inspect.unwrap(function)
        if is_left_to_python(function) or is_left_to_python(plain) or not isinstance(plain, types.FunctionType):
            self.scope.program.forget_lengths()
            node.func = self.expressions.expression(callee, node)
            return self.as_it_is(node)
        return self.scope.program.functions.call(self.scope, function, self.arguments(node), node)

    def _class(self, node: ast.Call, kind: type, callee: Result) -> Result:
        if (made := builtin_calls.call(self, node, kind)) is not None:
            return made
        if issubclass(kind, torch.nn.Module):
            raise NotCompiledError("a module that is made by the program")
        if issubclass(kind, enum.Enum):
            return enums.enumerator(self, node, kind)
        if (made := tensor_types.made(self, node, kind)) is not None:
            return made
        if kind is collections.OrderedDict and (display := ordered_display(node)) is not None:
            display.ordered = self.expressions.expression(callee, node)  # type: ignore[attr-defined]
            return self.expressions.evaluate(display)
        if untyped_fields.is_untyped(kind):
            return untyped_fields.make(self, node, kind, self.arguments(node))
        if is_plain_class(kind) or is_written_out(kind, self.scope.program.passed):
            return self.scope.program.functions.construct(self.scope, kind, self.arguments(node), node)
        node.func = self.expressions.expression(callee, node)
        if not hasattr(kind, "_fields"):
            return self.as_it_is(node, ObjectValue(kind))
        arguments = self.arguments(node)
        self.place(node, arguments)
        given = dict(zip(getattr(kind, "_fields"), arguments.positional)) | dict(arguments.named)  # noqa: B009
        typed = typed_class(kind, {name: result.value for name, result in given.items()})
        if typed is not kind:
            node.func = ast.copy_location(ast.Name(self.scope.program.constant_name(typed), ast.Load()), node)
        return Result(node, ObjectValue(typed))

    def _foreign(self, node: ast.Call, thing: Any, callee: Result) -> Result:
        """Call a function of PyTorch's or of another library."""
        if thing is torch.nonzero and len(node.args) == 1 and node.keywords:  # TorchScript has the method's words only
            function = ast.copy_location(ast.Attribute(node.args[0], "nonzero", ast.Load()), node.func)
            return self._evaluated(ast.copy_location(ast.Call(function, [], node.keywords), node))
        name = str(getattr(thing, "__name__", ""))
        node.func = self.expressions.expression(callee, node.func)
        if self.with_list(node, name, 0):
            items = self.expressions.evaluate(node.args[0])
            arguments = Arguments([Result(node.args[0], items.value)], self.arguments(only_keywords(node)).named)
        else:
            arguments = self.present(self.arguments(node), name, 0)
        arguments = enums.plain_arguments(with_floats(thing, arguments, node))
        values = [result.value for result in arguments.positional]
        named = {key: result.value for key, result in arguments.named.items()}
        everything = [*values, *named.values()]
        if is_pure(thing) and all(isinstance(value, Known) for value in everything):
            if (folded := self._computed(node, thing, values, named)) is not None:
                return folded
        if is_pure(thing) and (made := of_numbers(self, node, thing, arguments)) is not None:
            return made
        self.place(node, arguments, copied=is_op(thing) or is_pure(thing))
        if is_op(thing):
            return Result(node, self.expressions.samples.result(thing, values, named, name))
        return Result(node, self.expressions.samples.result(thing, values, named) if is_pure(thing) else UNKNOWN)

    def _computed(self, node: ast.Call, thing: Any, values: Sequence[Any], named: Mapping[str, Any]) -> Result | None:
        """Compute a pure function of numbers that are known."""
        if any(isinstance(value.object, torch.Tensor) for value in (*values, *named.values())):
            return None
        try:
            made = thing(*(value.object for value in values), **{key: value.object for key, value in named.items()})
        except Exception:  # noqa: BLE001 - the program raises it, where it is evaluated
            return None
        made = made.item() if type(made).__module__ == "numpy" and getattr(made, "shape", None) == () else made
        if type(made) not in (bool, int, float):
            return None
        guards = frozenset().union(*(self.scope.program.guards_of(value) for value in (*values, *named.values())))
        return self.expressions.known(node, Known(made, None, guards))
