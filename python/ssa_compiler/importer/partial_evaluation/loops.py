"""What loops iterate over, and loops that are written out as each iteration means another part of the model."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

import torch

from . import deques, lazy_loops, records, sequences, wanted_records
from .classes import is_plain_class
from .displays import spread
from .effects import has_effects
from .hints import is_plain
from .interfaces import ExpressionEvaluator, Iteration, Result, StatementEvaluator
from .iterators import iterated
from .library_classes import is_deque
from .new_nodes import at_place, with_places
from .presence import unset
from .ranges import is_range, of_range
from .rejections import NeedsKnownError, NotCompiledError
from .scope import MIXED, literal
from .tuple_keys import over_keys, reject_tuple_keys
from .unrolled_loops import MOST_ITERATIONS, UnrolledLoops
from .values import (
    NEVER,
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Unknown,
    annotation,
    elements_of,
    guards_of,
)

__all__ = ["Loops"]

_FEW_ITERATIONS = 16
_MOST_ROUNDS = 24


class Loops(UnrolledLoops):
    """Evaluates the loops of one function."""

    def __init__(self, statements: StatementEvaluator, expressions: ExpressionEvaluator) -> None:
        super().__init__(statements)
        self._expressions = expressions
        self._writes_out = False

    def iteration(self, node: ast.expr) -> Iteration:
        """Evaluate what a loop iterates over."""
        node = of_range(self.scope, node) or node
        node.is_consumed = True  # type: ignore[attr-defined]
        builtin = self._builtin(node)
        if builtin in ("zip", "enumerate") and not node.keywords and not _starred(node):  # type: ignore[attr-defined]
            return self._combined(node, builtin)  # type: ignore[arg-type]
        if (found := records.iteration(self._expressions, node)) is not None:
            return found
        result = self._expressions.evaluate(node)
        result = self._expressions.present(result, TypeError, "'NoneType' object is not iterable")
        return self._over(result, node)

    def _builtin(self, node: ast.expr) -> str:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in self.scope.variables:
            return node.func.id
        return ""

    def _over(self, result: Result, node: ast.expr) -> Iteration:
        if is_deque(result.value):
            return self._over(self._expressions.evaluate(deques.items(result, node)), node)
        value = result.value
        if isinstance(value, Known) and not isinstance(value.object, torch.Tensor):
            return self._over_known(result, value, node)
        left = self._expressions.expression(result, node) if result.node is not None else None
        if elements_of(value) is not None or sequences.is_sequence(value):
            return Iteration(
                left, UNKNOWN, spread(self._expressions, Result(left, value), node, fresh=True) or (), True
            )
        if isinstance(value, ListValue):
            element = value.element if value.element is not None else NEVER
            if value.length is None or left is None:
                return Iteration(left, element)
            parts = (
                spread(self._expressions, Result(left, value), node, fresh=True) if isinstance(left, ast.Name) else None
            )
            return Iteration(left, element, parts, False, value.length)
        reject_tuple_keys(value)
        if isinstance(value, DictValue) and left is not None:
            keys: Any = ast.Attribute(left, "keys", ast.Load())
            keys = ast.copy_location(ast.Call(ast.copy_location(keys, node), [], []), node)
            return Iteration(keys, wanted_records.read_key(value))
        if isinstance(value, TensorValue):
            return Iteration(left, self._expressions.samples.result(_row_of, [value], {}))
        if left is None:
            raise NotCompiledError("a loop over what TorchScript has no type for")
        return Iteration(left, Scalar(str) if isinstance(value, Scalar) and value.kind is str else UNKNOWN)

    def _over_known(self, result: Result, value: Known, node: ast.expr) -> Iteration:
        thing = value.object
        if isinstance(thing, range):
            left = result.node if isinstance(result.node, ast.Call) else ast.parse(repr(thing), mode="eval").body
            guards = self.scope.program.guards_of(value)
            first = Scalar(int, thing[0] if thing else None)
            if abs(thing.stop - thing.start) > MOST_ITERATIONS * abs(thing.step):
                return Iteration(ast.copy_location(left, node), first)
            elements = [Result(None, Known(number, None, guards)) for number in thing]
            return Iteration(ast.copy_location(left, node), first, elements, False, len(thing))
        try:
            parts = list(thing)
        except TypeError:
            raise NotCompiledError("a loop over what is no container") from None
        if (objects := self.scope.program.states.elements(value)) is not None:
            return Iteration(None, UNKNOWN, objects, True)
        self.scope.use(value)
        guards = self.scope.program.guards_of(value)
        is_named = isinstance(result.node, (ast.Attribute, ast.Name)) and isinstance(thing, (list, tuple))
        if is_named and thing and all(isinstance(part, torch.Tensor) for part in thing):
            items = [ast.copy_location(ast.Constant(k), node) for k in range(len(thing))]
            nodes = [ast.copy_location(ast.Subscript(copy.deepcopy(result.node), k, ast.Load()), node) for k in items]
            tensors = [Result(*pair) for pair in zip(nodes, map(self._expressions.samples.value, thing))]
            return Iteration(None, UNKNOWN, tensors, True)
        made = [
            Result(None, Known(part, None, guards)) if isinstance(part, (list, dict)) else self.part(part, node)
            for part in parts
        ]
        if any(isinstance(part, torch.Tensor) for part in parts):
            return Iteration(None, UNKNOWN, made, True)
        is_uniform = is_plain(parts) and len({type(part) for part in parts}) == 1 and not isinstance(parts[0], tuple)
        # A name or a flag, as a rule, says which part of a model is meant.
        chooses = any(isinstance(part, (str, bool)) for part in parts)
        if not is_uniform or isinstance(thing, dict) or chooses:
            return Iteration(None, UNKNOWN, made, True)
        if result.node is None and any(isinstance(part, (list, dict)) for part in parts):
            return Iteration(None, UNKNOWN, made, True)
        is_copy = isinstance(thing, tuple)
        left = literal(parts, node) if is_copy else self._expressions.expression(result, node, copied=True)
        element = self.scope.program.widened(Known(parts[0], value.path))  # a change of it changes the attribute
        return Iteration(left, element, made, False, len(made))

    def part(self, thing: Any, where: ast.AST) -> Result:
        """Return a result for an element of what is known."""
        if isinstance(thing, torch.Tensor):
            expression = self.scope.program.tensor_expression(self.scope, thing, where)
            return Result(expression, self._expressions.samples.value(thing))
        if isinstance(thing, tuple) and any(isinstance(each, torch.Tensor) for each in thing):
            return _row([self.part(each, where) for each in thing])
        return Result(None, Known(thing))

    def _combined(self, node: ast.Call, builtin: str) -> Iteration:
        """`zip(a, b)` and `enumerate(a)`."""
        start = 0
        if builtin == "enumerate" and len(node.args) > 1:
            first = self._expressions.evaluate(node.args[1])
            if not isinstance(first.value, Known):
                raise NotCompiledError("enumerate() that starts at a dynamic number")
            start = self.scope.use(first.value)
        operands = node.args if builtin == "zip" else node.args[:1]
        if any(self._builtin(part) == "map" and has_effects(self.scope, part) for part in operands):
            raise NotCompiledError("map() that is read step by step")
        parts = [self.iteration(part) for part in operands]
        lengths = [len(part.elements) for part in parts if part.elements is not None]
        known = [part.length for part in parts if part.length is not None]
        length = min(known) if len(known) == len(parts) else None
        elements: list[Result] | None = None
        unrolled = any(part.is_unrolled for part in parts) or (self._writes_out and bool(lengths))
        tests: list[ast.expr] = []
        if (lengths and unrolled) or len(lengths) == len(parts):
            count = min(lengths + known)
            columns = [self._column(part, count, argument, tests) for part, argument in zip(parts, node.args)]
            if builtin == "enumerate":
                columns.insert(0, [Result(None, Known(number + start)) for number in range(count)])
            elements = [_row(row) for row in zip(*columns)]
        values = [part.element for part in parts]
        if builtin == "enumerate":
            values.insert(0, Scalar(int))
        if not unrolled:
            node.args[: len(parts)] = [part.node for part in parts]
        return Iteration(None if unrolled else node, TupleValue(tuple(values)), elements, unrolled, length, tests)

    def _column(self, part: Iteration, count: int, node: ast.expr, tests: list[ast.expr]) -> list[Result]:
        """The first elements of what is iterated over.

        Args:
            part: the same.
            count: how many.
            node: the expression.
            tests: as of `Iteration`; those whether it has so many elements are added.
        """
        if part.elements is not None:
            _add_tests(tests, part.tests[:count], node)
            return list(part.elements[:count])
        items = part.node
        if isinstance(part.element, Unknown):  # it may be a dict
            if self.scope.program.length(frozenset(), 1) is None:
                raise NotCompiledError("something that may be a list which changes, beside parts of a model")
            items = ast.copy_location(
                ast.Call(ast.copy_location(ast.Name("list", ast.Load()), node), [items], []), node
            )
        name = self._expressions.named(Result(items, UNKNOWN), node, fresh=True)
        if part.length is None:
            _add_tests(tests, [_longer(name, k, node) for k in range(count)], node)
        return [
            Result(
                ast.copy_location(ast.Subscript(copy.deepcopy(name), ast.Constant(k), ast.Load()), node), part.element
            )
            for k in range(count)
        ]

    # Loops. -----------------------------------------------------------------------------------------------------

    def loop(self, node: ast.For) -> list[ast.stmt]:
        """Evaluate a for loop without an else branch."""
        if (following := iterated(self._statements, node)) is not None:
            return following
        if (over := over_keys(self._expressions, node)) is not None:
            return self._statements.block(over)
        deques.check_unchanged(self._expressions, node)
        node.iter = of_range(self.scope, node.iter) or node.iter
        if (late := lazy_loops.computed_late(self._expressions, node, self._builtin)) is not None:
            return self._statements.block(late)
        if self._builtin(node.iter) == "reversed" and any(_changes_items(self.scope, each) for each in node.body):
            if not self._is_constant(node.iter.args[0]):  # type: ignore[attr-defined]
                return self._backwards(node)
        source, before = copy.deepcopy(node.iter), (self.scope.fork(), list(self.scope.before), self.scope.present)
        iteration = self.iteration(node.iter)
        if iteration.elements is not None and iteration.is_unrolled:
            return self.unrolled(node, iteration.elements, iteration.tests)
        after = self.scope.fork(), list(self.scope.before), self.scope.present
        try:
            return self._rolled(copy.deepcopy(node), iteration)
        except (NeedsKnownError, NotCompiledError) as error:
            again = iteration.elements is None and isinstance(error, NeedsKnownError)
            self.scope.variables, self.scope.before[:], self.scope.present = before if again else after
            iteration = self._written_out(source) if again else iteration
            most = MOST_ITERATIONS if isinstance(error, NeedsKnownError) else _FEW_ITERATIONS
            if iteration.elements is None or len(iteration.elements) > most or hasattr(node, "is_single"):
                raise
        return self.unrolled(node, iteration.elements, iteration.tests)

    def _written_out(self, node: ast.expr) -> Iteration:
        """What a loop goes through; of `zip` as far as one of its operands is known."""
        self._writes_out = True
        try:
            return self.iteration(node)
        finally:
            self._writes_out = False

    def _is_constant(self, node: ast.expr) -> bool:
        """Whether something to go through stays what it is: a range or a tuple."""
        if is_range(self.scope, node):
            return True
        saved, hoisted = self.scope.save(), len(self.scope.before)
        value = self._expressions.evaluate(copy.deepcopy(node)).value
        self.scope.restore(saved)
        del self.scope.before[hoisted:]
        is_tuple = isinstance(value, TupleValue) or (isinstance(value, ListValue) and value.is_tuple)
        is_known = isinstance(value, Known) and isinstance(value.object, (range, tuple, torch.nn.Module))
        return is_tuple or is_known or is_deque(value)  # of a deque, `check_unchanged` has seen to it

    def _backwards(self, node: ast.For) -> list[ast.stmt]:
        """`for x in reversed(items)`, where the list may change: Python counts down from its length."""
        (argument,) = node.iter.args  # type: ignore[attr-defined]
        result = self._expressions.evaluate(argument)
        if not isinstance(result.value, ListValue) or result.value.is_tuple:
            raise NotCompiledError("what may change while a loop goes through it from its end")
        items, count = self._expressions.named(result, argument, fresh=True), self.scope.name()
        text = (
            f"{count} = len({items.id}) - 1\n"
            f"while {count} >= 0 and {count} < len({items.id}):\n"
            f"    _ = {items.id}[{count}]\n    {count} -= 1"
        )
        first, loop = ast.parse(text).body
        assert isinstance(loop, ast.While)
        assert isinstance(loop.body[0], ast.Assign)
        loop.body[0].targets = [node.target]
        loop.body += node.body
        placed = [at_place(statement, node) for statement in (first, loop)]
        return [made for statement in placed for made in self._statements.statement(statement)]

    def _rolled(self, node: ast.For, iteration: Iteration) -> list[ast.stmt]:
        """A loop that stays one."""
        node.iter = iteration.node
        if any(isinstance(part, ast.Starred) for part in ast.walk(node.target)):
            whole = self.scope.name()
            parts = ast.Assign([node.target], ast.Name(whole, ast.Load()))
            node.body = [with_places(parts, node), *node.body]
            node.target = with_places(ast.Name(whole, ast.Store()), node)

        def once() -> list[ast.stmt]:
            self._statements.bind_target(node.target, iteration.element)
            return self._statements.block(copy.deepcopy(node.body))

        node.body = self.repeated(once, node)
        return [node]

    def repeated(self, once: Any, node: ast.stmt) -> list[ast.stmt]:
        """Evaluate what is repeated until nothing more is found out, and return it as it is then.

        Args:
            once: evaluates it.
            node: the loop.
        """
        scope = self.scope
        _forget_changed(scope, node)
        present = scope.present  # what an iteration adds is not so where there is none
        for _ in range(_MOST_ROUNDS):
            start, scope.present = scope.fork(), present
            jumps, scope.jumps = scope.jumps, []
            hoisted, scope.before = scope.before, []
            try:
                body: list[ast.stmt] = once()
            finally:
                scope.before = hoisted
                exits, scope.jumps, scope.present = scope.jumps, jumps, present & scope.present
            end = [] if scope.is_dead else [scope.variables]
            scope.is_dead = False
            scope.merge([start, *exits, *end], node)
            made = {k: v for arm in (*exits, *end) for k, v in arm.items() if k not in start}
            if early := {k: v for k, v in made.items() if k in scope.unbound}:
                scope.variables = start
                self._declare_early(early, node)
                continue
            if _same(start, scope.variables):
                self.declare(made, node)
                return body
            scope.variables = {name: scope.variables.get(name, found) for name, found in start.items()}
        raise NotCompiledError("what is known of the variables of a loop does not settle")

    def _declare_early(self, made: dict[str, Result], node: ast.stmt) -> None:
        """Let variables that a loop reads before it assigns them be None at first."""
        scope = self.scope
        for name, result in made.items():
            scope.unbound.discard(name)
            place = scope.key, node.lineno, node.col_offset, name
            scope.program.learn(place, OptionalValue(scope.program.widened(result.value)))
            value = scope.program.elements[place]
            if not isinstance(value, OptionalValue) or annotation(value) is None:
                raise NotCompiledError(f"{name}, of several types")
            self._store_nothing(name, value, node)
            scope.variables[name] = unset(scope, name)

    def _store_nothing(self, name: str, value: OptionalValue, node: ast.stmt) -> None:
        name = self.scope.bind(name, value, node)
        declared = self.scope.program.annotated(ast.copy_location(ast.Constant(None), node), value)
        store = ast.copy_location(ast.Name(name, ast.Store()), node)
        self.scope.before.append(ast.copy_location(ast.Assign([store], declared), node))

    def declare(self, made: dict[str, Result], node: ast.stmt) -> None:
        """Let variables that are first assigned in a loop be read after it: they are None if it has no iterations, and
        reading them is an error.
        """
        scope = self.scope
        last = getattr(node, "end_lineno", None) or node.lineno
        for name, result in made.items():
            if not any(line < node.lineno or line > last for line in scope.reads.get(name, ())):
                continue
            if hasattr(result.node, "may_be_unset"):
                scope.variables[name] = result
                continue
            if not scope.is_stored(name, result):  # it may not be set
                scope.variables[name] = MIXED
                continue
            result = Result(result.node, scope.program.widened(result.value))
            if isinstance(result.value, (OptionalValue, Unknown, Known)) or annotation(result.value) is None:
                scope.bind(name, result.value, node)
                continue
            self._store_nothing(name, OptionalValue(result.value), node)
            scope.variables[name] = unset(scope, name)


def _row_of(tensor: torch.Tensor) -> torch.Tensor:
    """What a loop over a tensor goes through, though the example may have none."""
    return tensor[0] if tensor.shape[0] else tensor.new_empty(tensor.shape[1:])


def _row(results: Sequence[Result]) -> Result:
    """A tuple of results."""
    values = tuple(result.value for result in results)
    if all(isinstance(value, Known) and not is_plain_class(type(value.object)) for value in values):
        guards = frozenset().union(*(guards_of(value) for value in values))
        return Result(None, Known(tuple(value.object for value in values), None, guards))  # type: ignore[attr-defined]
    nodes = [result.node for result in results]
    return Result(_Row(nodes), TupleValue(values))


def _longer(name: ast.Name, number: int, node: ast.expr) -> ast.expr:
    """Whether a list has more than a number of elements."""
    made = ast.parse(f"len({name.id}) > {number}", mode="eval").body
    for part in ast.walk(made):
        ast.copy_location(part, node)
    return made


def _add_tests(tests: list[ast.expr], added: Sequence[ast.expr], node: ast.expr) -> None:
    """Let tests hold only if others do, which are asked later."""
    both = [ast.copy_location(ast.BoolOp(ast.And(), [*pair]), node) for pair in zip(tests, added)]
    tests[:] = both or tests or added


class _Row(ast.Tuple):
    """The operands of a `zip`, of which some may have no expression."""

    def __init__(self, elts: Sequence[Any] = ()) -> None:
        super().__init__(list(elts), ast.Load())


def _forget_changed(scope: Any, loop: ast.stmt) -> None:
    """Note that what a loop changes may be another one where it begins: an earlier iteration may have changed it."""
    if _changes_items(scope, loop):
        scope.forget_parts()
    for node in ast.walk(loop):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            scope.forget_parts()
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            scope.forget(node.id)


def _changes_items(scope: Any, statement: ast.stmt) -> bool:
    """Whether a statement may change what a list holds."""
    return any(
        (isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Call) and has_effects(scope, ast.Call(node.func, [], [])))
        for node in ast.walk(statement)
    )


def _starred(node: Any) -> bool:
    return any(isinstance(part, ast.Starred) for part in node.args)


def _same(before: dict[str, Result], after: dict[str, Result]) -> bool:
    return all(name in after and after[name].value == found.value for name, found in before.items())
