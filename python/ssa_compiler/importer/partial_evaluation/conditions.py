"""Expressions that choose one of several, and the truth of values."""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

import torch

from ..torchscript.function_scope import is_iterator
from . import enums, later_keys, objects, records, sequences
from .effects import has_effects
from .hints import is_plain
from .interfaces import Result
from .new_nodes import with_places
from .presence import optional_truth
from .rejections import NeedsKnownError, NotCompiledError, OrderError
from .samples import Samples
from .scope import Scope
from .unification import unified
from .values import (
    UNKNOWN,
    Closure,
    Known,
    ObjectValue,
    OptionalValue,
    Unknown,
    Value,
    annotation,
    is_none,
    joined,
)

__all__ = ["Conditions", "as_condition", "is_left_out", "narrowed"]


class Conditions:
    """Evaluates `a and b`, `a if c else b`, and the truth of values.

    Attributes:
        scope: the function.
        samples: what tensors may look like.
        calls: evaluates calls.
    """

    scope: Scope
    calls: Any
    samples: Samples

    def evaluate(self, node: ast.expr) -> Result:
        """Evaluate an expression as far as that can be done."""
        raise NotImplementedError

    def expression(self, result: Result, where: ast.AST, *, copied: bool = False) -> Any:
        """Return an expression for a result."""
        raise NotImplementedError

    def named(self, result: Result, where: ast.AST, *, fresh: bool = False) -> ast.Name:
        """Return a variable with a result."""
        raise NotImplementedError

    def _condition(self, owner: Result, node: ast.AST) -> Result:
        """Evaluate whether an object, a record or what may be None is true; anything else is returned as it is."""
        if isinstance(owner.value, OptionalValue):
            return optional_truth(self, owner, node)
        if not objects.is_object(owner.value):
            return owner
        if not records.is_record(owner.value):
            return objects.truth(self.calls, owner, node) if objects.decides(owner.value) else owner
        if records.keys_of(owner.value) or not later_keys.later_keys(self.scope, owner):
            return owner
        return later_keys.has_any(self.calls.expressions, owner, node)

    def discard(self, result: Result, where: ast.AST) -> None:
        """Keep the errors of an expression whose value is known."""
        raise NotImplementedError

    def _boolop(self, node: ast.BoolOp) -> Result:
        stops = isinstance(node.op, ast.Or)
        kept: list[Result] = []
        depth = self.scope.conditional
        try:
            for part in node.values:
                effects = has_effects(self.scope, part)
                found = self.evaluate(part)
                self.scope.conditional += 1
                effects = not is_left_out(self.scope, found, effects)
                truth = None if effects else self.truth(found, part)
                if effects and is_none(found.value):
                    raise OrderError("the truth of what returns None")
                is_last = part is node.values[-1]
                if truth is None or (is_last and kept):
                    kept.append(Result(self.expression(found, part), found.value))
                elif truth is stops or is_last:
                    if not kept:
                        return found
                    kept.append(Result(self.expression(found, part), found.value))
                    break
        finally:
            self.scope.conditional = depth
        if len(kept) == 1:
            return kept[0]
        node.values = [result.node for result in kept]
        value: Value | None = None
        for result in kept:
            value = result.value if value is None else joined(value, result.value, self.samples.of)
        types = {annotation(result.value) for result in kept}
        if isinstance(value, Unknown) and None not in types and not hasattr(node, "is_condition"):
            raise OrderError("a value of one of several types")
        return Result(node, value or UNKNOWN)

    def shortened(self, node: ast.expr) -> ast.expr:
        """Leave out of a condition what is not evaluated: `y.numel()` in `y is not None and y.numel()`, if y is None.

        Args:
            node: the condition.
        """
        if not isinstance(node, ast.BoolOp):
            return node
        for number, part in enumerate(node.values[:-1]):
            if has_effects(self.scope, part):
                break
            saved, hoisted = self.scope.save(), len(self.scope.before)
            try:
                truth = self._truth(self.evaluate(copy.deepcopy(part)))
            finally:
                self.scope.restore(saved)
                del self.scope.before[hoisted:]
            if truth is None:
                break
            if truth is isinstance(node.op, ast.Or):
                node.values = node.values[: number + 1]
                return node if number else part
        return node

    def _ifexp(self, node: ast.IfExp) -> Result:
        node.test = self.shortened(node.test)
        effects = has_effects(self.scope, node.test)
        test = self.evaluate(as_condition(node.test))
        if is_left_out(self.scope, test, effects) and (truth := self.truth(test, node.test)) is not None:
            chosen = node.body if truth else node.orelse
            if is_iterator(chosen):
                raise NotCompiledError("an iterator that is a value")
            return self.evaluate(chosen)
        if _is_range(node.body) and _is_range(node.orelse):
            return self.evaluate(_chosen_range(node, self.named(test, node.test)))
        if any(is_iterator(part) or _is_range(part) for part in (node.body, node.orelse)):
            raise NeedsKnownError("an iterator or range that is chosen by a dynamic condition")
        node.test = self.expression(test, node.test)
        self.scope.conditional += 1
        start = self.scope.variables
        try:
            self.scope.variables = narrowed(dict(start), node.test, holds=True)
            body = self.evaluate(node.body)
            self.scope.variables = narrowed(dict(start), node.test, holds=False)
            orelse = self.evaluate(node.orelse)
        finally:
            self.scope.conditional -= 1
            self.scope.variables = start
        node.body, node.orelse = self.expression(body, node.body), self.expression(orelse, node.orelse)
        both = unified(self.scope.program, body.value, orelse.value)
        if isinstance(both, Unknown) and None not in (annotation(body.value), annotation(orelse.value)):
            raise OrderError("a value of one of two types")
        return Result(node, both)

    def truth(self, result: Result, where: ast.AST) -> bool | None:
        """Return whether a value is true, as far as that is known; its expression is dropped then.

        Args:
            result: the value.
            where: the part of the statement that it is of.
        """
        truth = self._truth(result)
        if truth is not None:
            self.discard(result, where)
        return truth

    def _truth(self, result: Result) -> bool | None:
        if (keys := records.keys_of(result.value)) is not None:
            if not keys and later_keys.later_keys(self.scope, result):
                raise NotCompiledError("whether there is something in a dict that gets keys later")
            return bool(keys)
        if sequences.is_sequence(result.value):
            return sequences.length(result.value) > 0
        if isinstance(result.value, ObjectValue) and not objects.decides(result.value):
            return True
        if not isinstance(result.value, Known) or isinstance(result.value.object, torch.Tensor):
            return True if isinstance(result.value, Closure) or enums.is_true(result.value) else None
        thing = result.value.object
        if not is_plain(thing) and not isinstance(thing, (torch.nn.Module, types.FunctionType, types.MethodType, type)):
            return None
        return bool(self.scope.use(result.value))


def is_left_out(scope: Scope, result: Result, effects: bool) -> bool:
    """Whether an expression may be left out where its value is known.

    Args:
        scope: the function.
        result: what it evaluates to: `exists(x)`, of which the value is known, is a literal by now.
        effects: whether it has effects as it is written.
    """
    return not effects or (result.node is not None and not has_effects(scope, result.node))


def narrowed(variables: dict[str, Result], test: ast.expr, *, holds: bool) -> dict[str, Result]:
    """Return what variables are where a test for None, which is evaluated, holds or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrowed(variables, test.operand, holds=not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for part in test.values:
            variables = narrowed(variables, part, holds=holds)
        return variables
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
        name = Scope.variable_of(test.left.id)
        found = variables.get(name)
        is_none_test = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        if found is None or not isinstance(found.node, ast.Name) or found.node.id != test.left.id:
            return variables
        if is_none_test and isinstance(found.value, OptionalValue):
            if isinstance(test.ops[0], ast.IsNot) is holds:
                variables[name] = Result(found.node, found.value.element)
    return variables


def as_condition(node: ast.expr) -> ast.expr:
    """Mark an expression of which only the truth is asked, and the parts of which that is so."""
    node.is_condition = True  # type: ignore[attr-defined]
    for part in node.values if isinstance(node, ast.BoolOp) else ():
        as_condition(part)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        as_condition(node.operand)
    return node


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _chosen_range(node: ast.IfExp, test: ast.Name) -> ast.Call:
    """`range(a, b) if c else range(n)` as one range, of numbers that are chosen."""
    both = [_bounds(part.args) for part in (node.body, node.orelse)]  # type: ignore[attr-defined]
    numbers: list[ast.expr] = [ast.IfExp(copy.deepcopy(test), *pair) for pair in zip(*both)]
    return with_places(ast.Call(ast.Name("range", ast.Load()), numbers, []), node)


def _bounds(arguments: list[ast.expr]) -> list[ast.expr]:
    """Start, stop and step of a range."""
    if len(arguments) == 1:
        return [ast.Constant(0), arguments[0], ast.Constant(1)]
    return arguments if len(arguments) == 3 else [*arguments, ast.Constant(1)]
