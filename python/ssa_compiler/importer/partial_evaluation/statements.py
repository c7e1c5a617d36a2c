"""Partial evaluation of statements."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from ..torchscript.function_scope import is_iterator
from . import counters, generator_functions, optional_variables, records, unions
from .assignments import Assignments
from .conditions import as_condition, is_left_out, narrowed
from .effects import has_effects, mark_iterators, must_be_decomposed
from .expressions import Expressions
from .interfaces import CallEvaluator, Result, Written
from .iterators import put_in_place
from .loop_else import without_else
from .loops import Loops
from .order import decomposed, mark, with_name
from .presence import learn_unset
from .rejections import NeedsKnownError, NotCompiledError, OrderError, RejectionError, StatementsError
from .returned_functions import returned_variables
from .rows import over_rows
from .scope import Scope, literal
from .setdefault_calls import setdefault_steps
from .tuple_keys import dict_key
from .unification import unified
from .values import (
    Closure,
    DictValue,
    Known,
    ListValue,
    UnionValue,
    Value,
    annotation,
)

__all__ = ["Statements"]

_MOST_DIMENSIONS = 16


class Statements(Assignments):
    """Evaluates the statements of one function."""

    def __init__(self, scope: Scope, calls: Callable[[Expressions], CallEvaluator]) -> None:
        self.scope = scope
        self.expressions = Expressions(scope, self)
        self.expressions.calls = calls(self.expressions)
        self.loops = Loops(self, self.expressions)

    def assign(self, target: ast.expr, result: Result, node: Any = None) -> list[ast.stmt]:
        """Let a target of an assignment or of a loop have a value, which may be of one of several types."""
        if not unions.is_choice(result.value):
            return super().assign(target, result, node)
        where, name = target if node is None else node, self.scope.name()
        if isinstance(target, ast.Name):
            return unions.assigned(self, target, result, where)
        held = ast.copy_location(ast.Name(name, ast.Store()), where)
        made = unions.assigned(self, held, result, where)
        read = ast.copy_location(ast.Name(name, ast.Load()), where)
        return [*made, *self.block([ast.copy_location(ast.Assign([target], read), where)])]

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Evaluate statements one after the other; what follows the end of a block is left out."""
        out: list[ast.stmt] = []
        for statement in put_in_place(self.scope, records.gathered(self.scope, body)):
            try:
                out += unions.noted(self.scope, self.statement(statement))
            except RejectionError as error:
                error.location = error.location or self.scope.location(statement)
                raise
            if self.scope.is_dead:
                break
        return out or [ast.copy_location(ast.Pass(), body[0])] if body else []

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """Evaluate a statement; what comes before it is put in front."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NotCompiledError("a statement of another kind, such as try")
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            return self.block(without_else(node, self.scope.name()))
        if isinstance(node, ast.For):
            node.body = [*over_rows(self.expressions, node), *node.body]
        scope, is_step = self.scope, getattr(node, "is_step", False)
        mark(node)
        part = copy.deepcopy(_evaluated_part(node))
        if not is_step and must_be_decomposed(scope, node, part):
            return self._decomposed(node)
        kept, saved = copy.deepcopy(node), scope.save()
        outer = scope.before, scope.whole, scope.is_step
        scope.before, scope.whole, scope.is_step = [], part, is_step
        try:
            made: list[ast.stmt] = method(node)
            return [*scope.before, *made]
        except unions.SplitError as error:
            scope.restore(saved)
            name = error.name
        except OrderError as error:
            scope.restore(saved)
            if is_step and isinstance(error, StatementsError):
                return self.block([*error.statements, with_name(kept, error.token, error.name)])
            if is_step:
                raise NotCompiledError(*error.args) from error
            name = ""
        finally:
            scope.before, scope.whole, scope.is_step = outer
        if name and isinstance(kept, ast.Return) and not (self.scope.is_getter or is_step):
            return self.block(unions.named_result(self.scope, kept))
        if name and (is_step or not isinstance(kept, (ast.If, ast.While, ast.For, ast.Return))):
            if isinstance(kept, ast.While):
                raise NotCompiledError("a loop while a variable of several types")
            return unions.split(self, kept, name)
        return self._decomposed(kept)

    def _decomposed(self, node: ast.stmt) -> list[ast.stmt]:
        """Evaluate a statement in steps."""
        mark_iterators(self.scope, node)
        generator_functions.mark_generators(self, node)
        steps = decomposed(node, self.scope.name)
        if steps is None:
            raise NotCompiledError("a statement that cannot be decomposed")
        return self.block(steps)

    # Control flow. ----------------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> list[ast.stmt]:
        node.test = self.expressions.shortened(node.test)
        effects = has_effects(self.scope, node.test)
        test = self.expressions.evaluate(as_condition(node.test))
        truth = self.expressions.truth(test, node.test) if is_left_out(self.scope, test, effects) else None
        if truth is not None:
            chosen = node.body if truth else node.orelse
            return self.block(chosen) if chosen else []
        node.test = self.expressions.expression(test, node.test)
        start, present = self.scope.fork(), self.scope.present
        arms, left = [], list[frozenset[str]]()
        known = [narrowed(dict(start), node.test, holds=holds) for holds in (True, False)]
        parts = [_present(node.test, holds) for holds in (True, False)]
        # TorchScript's variable cannot be None again in a block that is inside of one where it knows that it is not.
        hidden = any(
            start[name] is not found[name]
            for found, body in zip(known, (node.body, node.orelse))
            for name in _stored_inside(body) & start.keys()
        )
        if hidden:
            node.test = _hidden(node.test)
        for number, name in enumerate(("body", "orelse")):
            self.scope.present = present | parts[number]
            self.scope.variables = known[number]
            if hidden:
                optional_variables.let_be_present(self.scope, start)
            setattr(node, name, self.block(getattr(node, name)))
            if not self.scope.is_dead:
                arms.append(self.scope.variables)
                left.append(self.scope.present)
            self.scope.is_dead = False
        self.scope.is_dead, self.scope.present = not arms, frozenset.intersection(*left) if left else present
        self.scope.variables = start
        learn_unset(self.scope, arms, node)
        self.scope.merge(arms, node, stores=len(arms) == 2, start=start)
        self._store_what_differs(node, arms)
        if len(arms) == 1 and any(
            isinstance(each[-1], (ast.Break, ast.Continue)) for each in (node.body, node.orelse) if each
        ):
            optional_variables.let_be_present(self.scope, start)
        return [node]

    def _store_what_differs(self, node: ast.If, arms: list[dict[str, Result]]) -> None:
        """Store a variable in an arm that leaves it as it was known, where the other stores it."""
        for name, result in self.scope.variables.items():
            if not self.scope.is_stored(name, result):
                continue
            for arm, body in zip(arms, (node.body, node.orelse) if len(arms) == 2 else ()):
                found = arm[name]
                if self.scope.is_stored(name, found):
                    continue
                store = ast.copy_location(ast.Name(result.node.id, ast.Store()), node)
                value = self.expressions.expression(found, node)
                body += unions.noted(self.scope, [ast.copy_location(ast.Assign([store], value), node)])

    def _for(self, node: ast.For) -> list[ast.stmt]:
        made = generator_functions.inlined(self, node)
        return self.loops.loop(node) if made is None else made

    def _while(self, node: ast.While) -> list[ast.stmt]:
        if (made := self._while_known(node)) is not None:
            return made
        test: Any = None

        def once() -> list[ast.stmt]:
            nonlocal test
            found = self.expressions.evaluate(as_condition(copy.deepcopy(node.test)))
            if self.scope.before:
                raise OrderError("a condition of a loop that takes statements")
            test = self.expressions.expression(found, node.test)
            before = self.scope.variables
            self.scope.variables = narrowed(dict(before), test, holds=True)
            optional_variables.let_be_present(self.scope, before)
            return self.block(copy.deepcopy(node.body))

        node.body = self.loops.repeated(once, node)
        node.test = test
        return [node]

    def _while_known(self, node: ast.While) -> list[ast.stmt] | None:
        """`while x.dim() < n: x = x[..., None]`: a loop over numbers of dimensions, which is written out."""
        is_rank = any(
            isinstance(part, ast.Attribute) and part.attr in ("dim", "ndim", "shape", "ndimension")
            for part in ast.walk(node.test)
        )
        if not is_rank or any(isinstance(part, (ast.Break, ast.Continue)) for part in ast.walk(node)):
            return None
        saved, hoisted = self.scope.save(), list(self.scope.before)
        out: list[ast.stmt] = []
        for _ in range(_MOST_DIMENSIONS):
            if self.scope.is_dead:
                return out
            truth = self.expressions.truth(self.expressions.evaluate(as_condition(copy.deepcopy(node.test))), node.test)
            if len(self.scope.before) != len(hoisted):
                break
            if truth is False:
                return out
            if truth is None:
                break
            out += self.block(copy.deepcopy(node.body))
        self.scope.restore(saved)
        self.scope.before[:] = hoisted
        return None

    def _break(self, node: ast.Break) -> list[ast.stmt]:
        self.scope.jumps.append(self.scope.fork())
        self.scope.is_dead = True
        return [node]

    def _continue(self, node: ast.Continue) -> list[ast.stmt]:
        self.scope.jumps.append(self.scope.fork())
        self.scope.is_dead = True
        return [node]

    def _return(self, node: ast.Return) -> list[ast.stmt]:
        if not self.scope.is_getter and node.value is not None:
            node.value = unions.with_choices(self.scope, node.value)
        result = Result(None, Known(None)) if node.value is None else self.expressions.evaluate(node.value)
        if node.value is not None:
            if is_iterator(node.value):
                raise NotCompiledError("an iterator that is a value")
            if self.scope.program.is_shared(result.value) and not self.scope.is_getter:
                raise NotCompiledError("a global list or dict that is a result")
            if isinstance(result.value, (Closure, Known)) and result.node is None and literal_or_none(result) is None:
                self.scope.returns_object = True
                result = Result(self._object(result.value, node), result.value)
            node.value = self.expressions.expression(result, node.value)
            if not self.scope.is_getter:
                node.value = unions.returned(self.scope, result.value, node.value)
        before, value = self.scope.returned, result.value
        if isinstance(before, UnionValue):
            self.scope.leave()
            return [node]
        both = value if before is None else unified(self.scope.program, before, value)
        if before is not None and annotation(both) is None and None not in (annotation(before), annotation(value)):
            if self.scope.is_getter or unions.returns_several(self.scope):
                raise NotCompiledError("results of several types")
        self.scope.returned = both
        self.scope.leave()
        return [node]

    def _object(self, value: Value, node: ast.Return) -> ast.expr:
        """What is returned instead of an object: of a function the variables that it reads."""
        if not isinstance(value, Closure) or self.scope.is_getter:
            return ast.copy_location(ast.Constant(None), node)
        if self.scope.is_root or self.scope.returned is not None:
            raise NotCompiledError("a function that is a result")
        names = returned_variables(self.scope, value)
        kept = [(name, self.scope.variables[name]) for name in names]
        self.scope.returned_variables = [(name, self.scope.program.widened(each.value)) for name, each in kept]
        parts = [copy.deepcopy(each.node) for _, each in kept]
        if len(parts) == 1:
            return parts[0]
        return ast.copy_location(ast.Tuple(parts, ast.Load()) if parts else ast.Constant(None), node)

    def _raise(self, node: ast.Raise) -> list[ast.stmt]:
        if node.exc is not None:
            made = self.expressions.evaluate(node.exc)
            node.exc = made.node if made.node is not None else node.exc
        self.scope.is_dead = True
        return [node]

    def _assert(self, node: ast.Assert) -> list[ast.stmt]:
        node.test = self.expressions.shortened(node.test)
        effects = has_effects(self.scope, node.test)
        test = self.expressions.evaluate(as_condition(node.test))
        if is_left_out(self.scope, test, effects) and self.expressions.truth(test, node.test) is True:
            return []
        node.test = self.expressions.expression(test, node.test)
        return [node] if node.msg is None else self._failing(node, node.msg)

    def _failing(self, node: ast.Assert, message: ast.expr) -> list[ast.stmt]:
        """An assertion with its message, which is evaluated if the assertion fails."""
        kept, hoisted, whole = self.scope.fork(), list(self.scope.before), self.scope.whole
        self.scope.before, self.scope.whole = [], copy.deepcopy(message)
        try:
            node.msg = self.expressions.left(message)
            first = self.scope.before
        except (NeedsKnownError, NotCompiledError):
            node.msg, first = ast.copy_location(ast.Constant("assertion failed"), node), []
        finally:
            self.scope.variables, self.scope.before, self.scope.whole = kept, hoisted, whole
        if not first:
            return [node]
        failed = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node)
        error = ast.copy_location(ast.Name(self.scope.program.constant_name(AssertionError), ast.Load()), node)
        raised = ast.copy_location(ast.Raise(ast.copy_location(ast.Call(error, [node.msg], []), node), None), node)
        return [ast.copy_location(ast.If(failed, [*first, raised], []), node)]

    def _expr(self, node: ast.Expr) -> list[ast.stmt]:
        if isinstance(node.value, ast.Constant):
            return []
        if (steps := setdefault_steps(self.scope, node)) is not None:
            return self.block(steps)
        result = self.expressions.evaluate(node.value)
        if result.node is None or isinstance(result.node, ast.Constant):
            return []
        node.value = result.node
        return [node]

    def _with(self, node: ast.With) -> list[ast.stmt]:
        for item in node.items:
            item.context_expr = self.expressions.left(item.context_expr)
        node.body = self.block(node.body)
        return [node]

    def _functiondef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        self.scope.variables[node.name] = Result(None, Closure(node, self.scope))
        return []

    def _import(self, node: ast.Import) -> list[ast.stmt]:
        import importlib

        for alias in node.names:
            module = importlib.import_module(alias.name if alias.asname else alias.name.partition(".")[0])
            name = alias.asname or alias.name.partition(".")[0]
            where = ast.copy_location(ast.Name(self.scope.program.constant_name(module), ast.Load()), node)
            self.scope.variables[name] = Result(where, Known(module))
        return []

    def _written(self, node: Written) -> list[ast.stmt]:
        return node.evaluate()

    def _pass(self, node: ast.Pass) -> list[ast.stmt]:
        return []

    def _delete(self, node: ast.Delete) -> list[ast.stmt]:
        if (steps := counters.deleted(self, node)) is not None:
            return self.block(steps)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.delete(target.id)
        kept = [target for target in node.targets if not isinstance(target, ast.Name)]
        self.scope.forget_parts()
        for target in kept:
            if not isinstance(target, ast.Subscript):
                raise NotCompiledError("del of an attribute")
            owner = self.expressions.evaluate(target.value)
            self.scope.program.change(owner.value)
            if not isinstance(owner.value, DictValue):
                found = owner.value if isinstance(owner.value, ListValue) else ListValue(None)
                self.scope.program.resize(self.scope, target.value, found)
            target.value = self.expressions.expression(owner, target.value)
            index = self.expressions.evaluate(target.slice)
            index = dict_key(self.expressions, index, target) if isinstance(owner.value, DictValue) else index
            target.slice = self.expressions.expression(index, target.slice)
        node.targets = kept
        return [node] if kept else []


def _evaluated_part(node: ast.stmt) -> ast.AST:
    """What a statement evaluates itself, without the statements in it."""
    if isinstance(node, (ast.If, ast.While)):
        return node.test
    if isinstance(node, ast.For):
        return node.iter
    return ast.Tuple([item.context_expr for item in node.items], ast.Load()) if isinstance(node, ast.With) else node


def _stored_inside(body: list[ast.stmt]) -> set[str]:
    """The variables that are assigned in the blocks of statements."""
    inside = [
        part
        for statement in body
        for name in ("body", "orelse")
        for each in getattr(statement, name, ())
        for part in ast.walk(each)
    ]
    return {part.id for part in inside if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _hidden(test: ast.expr) -> ast.expr:
    """A condition of which TorchScript does not see what it says about None."""
    call = ast.Call(ast.copy_location(ast.Name("bool", ast.Load()), test), [test], [])
    return ast.copy_location(call, test)


def _present(test: ast.expr, holds: bool) -> frozenset[str]:
    """The parts of objects that are not None where a test holds or does not, as text."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _present(test.operand, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        return frozenset().union(*(_present(part, holds) for part in test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, (ast.Subscript, ast.Attribute)):
        other = test.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None and isinstance(test.ops[0], ast.IsNot) is holds:
            return frozenset([ast.unparse(test.left)])
    return frozenset()


def literal_or_none(result: Result) -> Any:
    """The literal of a value that is known, None if there is none."""
    return literal(result.value.object, ast.Pass()) if isinstance(result.value, Known) else None
