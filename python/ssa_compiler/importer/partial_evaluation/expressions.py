"""Partial evaluation of expressions: what is known is computed, what is left is what TorchScript takes."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable
from typing import Any

import torch

from . import (
    attributes,
    displays,
    dtype_limits,
    enums,
    later_keys,
    mixed_comparisons,
    named_tuple_methods,
    objects,
    records,
    sequences,
    sets,
    tuple_orders,
    wanted_records,
)
from .comprehensions import comprehension
from .conditions import Conditions, as_condition
from .effects import has_effects, may_raise
from .formatted_strings import formatted_string
from .hints import are_plain, hint
from .interfaces import Result, StatementEvaluator
from .new_nodes import with_places
from .number_functions import as_int, with_float
from .presence import no_attribute, required
from .rejections import NotCompiledError, OrderError
from .scope import Scope, literal
from .subscripts import subscript
from .surroundings import adopted
from .tuple_keys import dict_key
from .tuple_orders import is_list
from .values import (
    NEVER,
    UNKNOWN,
    Closure,
    DictValue,
    Known,
    Never,
    ObjectValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    field_of,
    is_none,
    is_something,
)

__all__ = ["Expressions"]

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
    ast.Invert: operator.invert, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


_ORDERINGS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OF_DTYPES = ("is_floating_point", "is_complex")
"""What a dtype is asked in Python, and a tensor in TorchScript."""


class Expressions(Conditions):
    """Evaluates the expressions of one function."""

    def __init__(self, scope: Scope, statements: StatementEvaluator) -> None:
        self.scope = scope
        self.statements = statements
        self.samples = scope.program.samples
        self.calls: Any = None  # an evaluator of calls, which needs this one

    def evaluate(self, node: ast.expr) -> Result:
        """Evaluate an expression as far as that can be done."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            return self._parts(node)
        found: Result = method(node)
        is_part = self.scope.present and isinstance(node, (ast.Subscript, ast.Attribute))
        if is_part and isinstance(found.value, OptionalValue) and ast.unparse(found.node) in self.scope.present:
            found = Result(self.scope.program.unwrapped(found.node), found.value.element)
        return self._condition(found, node) if getattr(node, "is_condition", False) else found

    def present(
        self, result: Result, error: type[Exception] = TypeError, message: str = "an operand is None"
    ) -> Result:
        """Return what an optional value holds where None is an error.

        Args:
            result: the value; others are returned as they are.
            error: what eager raises.
            message: what it says.
        """
        if not isinstance(result.value, OptionalValue) or result.node is None:
            return result
        return required(self.scope, result, error, message)

    def left(self, node: ast.expr) -> ast.expr:
        """Return what is left of an expression.

        Raises:
            NotCompiledError: its value is an object that TorchScript has no expression for.
        """
        return self.expression(self.evaluate(node), node)

    def expression(self, result: Result, where: ast.AST, *, copied: bool = False) -> Any:
        """Return an expression for a result.

        Args:
            result: the result.
            where: its place.
            copied: whether a copy of a list or dict does, as for the operand of an operator.
        """
        if result.node is not None:
            return result.node
        if not copied and self.scope.program.is_held(result):
            raise NotCompiledError("a list or dict of an object, which becomes a part of another one")
        if isinstance(result.value, Known):
            thing = result.value.object
            if isinstance(thing, torch.Tensor):
                return self.scope.program.tensor_expression(self.scope, thing, where, result.value.path)
            if isinstance(thing, torch.nn.Module):
                return self.scope.program.module_expression(self.scope, thing, where)
            if (made := literal(thing, where)) is not None:
                self.scope.use(result.value)
                return made
            if isinstance(thing, (types.FunctionType, types.BuiltinFunctionType, type)):
                self.scope.use(result.value)
                return ast.copy_location(ast.Name(self.scope.program.constant_name(thing), ast.Load()), where)
            self.scope.program.change(result.value)  # a list or dict is passed then, whatever is in it
        raise NotCompiledError("a value that TorchScript has no type for")

    def named(self, result: Result, where: ast.AST, *, fresh: bool = False) -> ast.Name:
        """Return a variable that has a value, by an assignment in front of the statement if there is none.

        Args:
            result: the value.
            where: the expression that it is of.
            fresh: whether it has to be a variable that nothing else assigns.
        """
        if isinstance(result.node, ast.Name) and not fresh:
            return result.node
        name = self.scope.name()
        store = ast.copy_location(ast.Name(name, ast.Store()), where)
        stored = ast.copy_location(ast.Assign([store], self.expression(result, where)), where)
        self.scope.hoist([stored], where)
        made = ast.copy_location(ast.Name(name, ast.Load()), where)
        self.scope.variables[name] = Result(made, result.value)
        return made

    def discard(self, result: Result, where: ast.AST) -> None:
        """Keep the errors of an expression whose value is known."""
        if result.node is not None and may_raise(result.node):
            result.node.is_value = True  # which is kept
            self.scope.hoist([ast.copy_location(ast.Expr(result.node), where)], where)

    def known(self, node: Any, value: Known) -> Result:
        """Return the result of folding; `node` is what it was folded from."""
        if (made := literal(value.object, node)) is not None:
            self.scope.use(value)
        return Result(made, value)

    def spread(self, result: Result, where: ast.AST) -> list[Result] | None:
        """Return the elements of what is unpacked, None if their number is dynamic."""
        return displays.spread(self, result, where)

    # What is simple. ----------------------------------------------------------------------------------------------

    def _parts(self, node: Any) -> Result:
        """Evaluate the parts of an expression of which nothing is known."""
        for name, part in ast.iter_fields(node):
            if isinstance(part, ast.expr):
                setattr(node, name, self.left(part))
            elif isinstance(part, list):
                setattr(node, name, [self.left(each) if isinstance(each, ast.expr) else each for each in part])
        return Result(node)

    def _constant(self, node: ast.Constant) -> Result:
        return Result(node, Known(node.value))

    def _name(self, node: ast.Name) -> Result:
        return adopted(self, self.scope.load(node), node)

    def _lambda(self, node: ast.Lambda) -> Result:
        return Result(None, Closure(node, self.scope))

    def _joinedstr(self, node: ast.JoinedStr) -> Result:
        return formatted_string(self, node)

    def _namedexpr(self, node: ast.NamedExpr) -> Result:
        raise OrderError("an assignment expression")

    # Attributes and elements. ---------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> Result:
        owner = self.present(self.evaluate(node.value), *no_attribute(node.attr))
        if isinstance(owner.value, Known):
            return self.attribute_of(owner, owner.value, node)
        if objects.is_object(owner.value):
            if records.is_record(owner.value):
                raise NotCompiledError(f"{node.attr}, an attribute of a dict")
            return objects.attribute(self, owner, node)
        if (found := enums.attribute(self, owner, node)) is not None:
            return found
        if (found := named_tuple_methods.attribute(self, node, owner)) is not None:
            return found
        node.value = self.expression(owner, node.value)
        if isinstance(owner.value, Never):
            return Result(node, NEVER)
        if node.attr in _OF_DTYPES and isinstance(node.value, ast.Attribute) and node.value.attr == "dtype":
            asked = ast.copy_location(ast.Attribute(node.value.value, node.attr, ast.Load()), node)
            return Result(ast.copy_location(ast.Call(asked, [], []), node), Scalar(bool))
        if isinstance(owner.value, TupleValue) and node.attr in owner.value.names:
            return Result(node, owner.value.elements[owner.value.names.index(node.attr)])
        if isinstance(owner.value, TensorValue):
            made = attributes.of_tensor(self, owner.value, node.attr)
            has_rank = isinstance(made, Known) and has_effects(self.scope, node.value)  # which are kept
            return Result(node, self.scope.program.widened(made) if has_rank else made)
        return Result(node, field_of(owner.value.kind, node.attr) if isinstance(owner.value, ObjectValue) else UNKNOWN)

    def attribute_of(self, owner: Result, value: Known, node: ast.Attribute) -> Result:
        """Evaluate the attribute of an object that is known."""
        if isinstance(value.object, dtype_limits.DtypeLimits):
            return dtype_limits.attribute(self, value.object, node)
        return attributes.attribute(self, owner, value, node)

    def _subscript(self, node: ast.Subscript) -> Result:
        return subscript(self, node)

    def _slice(self, node: ast.Slice) -> Result:
        parts = [node.lower, node.upper, node.step]
        found = [None if part is None else self.evaluate(part) for part in parts]
        for name, part, result in zip(("lower", "upper", "step"), parts, found):
            if part is not None and result is not None:
                setattr(node, name, self.expression(result, part))
        hints = [None if result is None else hint(result.value) for result in found]
        values = [result.value for result in found if result is not None]
        if all(isinstance(value, Known) for value in values):
            guards = frozenset().union(*(self.scope.program.guards_of(value) for value in values))
            return Result(node, Known(slice(*hints), None, guards))
        return Result(node, Scalar(slice, slice(*hints)))

    # Operators. -------------------------------------------------------------------------------------------------

    def _unaryop(self, node: ast.UnaryOp) -> Result:
        if isinstance(node.op, ast.Not):
            operand = self.evaluate(as_condition(node.operand))
        else:
            operand = enums.as_plain(self.present(self.evaluate(node.operand)))
        if isinstance(operand.value, Known) and (folded := self._folded(node, type(node.op), [operand])):
            return folded
        if objects.is_object(operand.value) and (name := objects.SPECIAL.get(type(node.op))) is not None:
            if (called := objects.call_special(self.calls, name, operand, [], node)) is not None:
                return called
        if isinstance(node.op, ast.Not) and (sequences.is_sequence(operand.value) or enums.is_true(operand.value)):
            return self.known(node, Known(not self.truth(operand, node.operand)))
        node.operand = self.expression(operand, node.operand)
        if isinstance(node.op, ast.Not):
            return Result(node, Scalar(bool))
        if isinstance(node.op, ast.Invert) and isinstance(operand.value, Scalar):  # TorchScript has it of tensors only
            number = ast.Call(ast.Name("int", ast.Load()), [node.operand], [])
            made = ast.BinOp(ast.UnaryOp(ast.USub(), number), ast.Sub(), ast.Constant(1))
            return Result(with_places(made, node), Scalar(int))
        return Result(node, self.computed(type(node.op), [operand.value]))

    def _binop(self, node: ast.BinOp) -> Result:
        return self.operated(node, self.present(self.evaluate(node.left)), self.present(self.evaluate(node.right)))

    def operated(self, node: ast.BinOp, left: Result, right: Result) -> Result:
        """Return what an operator makes of two operands."""
        if is_none(left.value) or is_none(right.value):
            return Result(node, NEVER)  # it raises
        if isinstance(left.value, Known) and isinstance(right.value, Known):
            if folded := self._folded(node, type(node.op), [left, right]):
                return folded
        if not isinstance(left.value, Known) or not isinstance(right.value, Known):
            left, right = enums.as_plain(left), enums.as_plain(right)
        if objects.is_object(left.value) and (name := objects.SPECIAL.get(type(node.op))) is not None:
            if (called := objects.call_special(self.calls, name, left, [right], node)) is not None:
                return called
        elif objects.is_object(right.value) and type(node.op) in objects.SPECIAL:
            reflected = objects.SPECIAL[type(node.op)].replace("__", "__r", 1)
            if (called := objects.call_special(self.calls, reflected, right, [left], node)) is not None:
                return called
        left, right = with_float(node.op, left, right.value), with_float(node.op, right, left.value)
        node.left = self.expression(left, node.left, copied=True)
        node.right = self.expression(right, node.right, copied=True)
        if (listed := displays.concatenated(self, node, left.value, right.value)) is not None:
            return listed
        made = self.computed(type(node.op), [left.value, right.value])
        is_power = isinstance(node.op, ast.Pow) and made == Scalar(int)
        return Result(as_int(node) if is_power else node, made)  # to TorchScript it is a float

    def computed(self, kind: type, values: list[Value]) -> Value:
        """What an operator makes of values; of a tensor a tensor."""
        if any(isinstance(value, Never) for value in values):
            return NEVER
        found = self.samples.result(_OPERATORS[kind], values, {})
        is_tensor = any(isinstance(value, TensorValue) for value in values)
        return TensorValue() if isinstance(found, Unknown) and is_tensor else found

    def _compare(self, node: ast.Compare) -> Result:
        effects = any(has_effects(self.scope, part) for part in (node.left, *node.comparators))
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            node.comparators = [enums.display(self, node.comparators[0])]
        results = [self.evaluate(part) for part in (node.left, *node.comparators)]
        values = [result.value for result in results]
        if len(values) == 2:
            kind = type(node.ops[0])
            if (called := self._compared(node, kind, results)) is not None:
                return called
            if kind in (ast.In, ast.NotIn) and (found := enums.contained(self, node, results)) is not None:
                return found
            if kind not in (ast.Is, ast.IsNot, ast.In, ast.NotIn) and any(map(enums.is_member, values)):
                results = [enums.as_plain(result) for result in results]
                values = [result.value for result in results]
            if kind in _ORDERINGS:
                results = [self.present(result) for result in results]
                values = [result.value for result in results]
            if (ordered := tuple_orders.compared(self, node, _OPERATORS[kind], results)) is not None:
                return ordered
            if effects and is_none(values[0]):
                raise OrderError("a comparison of what returns None")
            if kind in (ast.In, ast.NotIn) and isinstance(values[1], DictValue):
                self.scope.program.ask(values[1], values[0])
                results[0] = dict_key(self, results[0], node.left)
            known = all(isinstance(value, Known) for value in values) and not effects
            if known and (folded := self._folded(node, kind, results)):
                return folded
            if kind in (ast.Is, ast.IsNot) and is_none(values[1]) and is_something(values[0]) and not effects:
                self.discard(results[0], node.left)
                return self.known(node, Known(kind is ast.IsNot))
            equal = kind in (ast.Eq, ast.NotEq)
            if equal and (made := mixed_comparisons.compared(self, node, results, effects=effects)) is not None:
                return made
            if equal and any(isinstance(value, Unknown) for value in values):
                if any(is_list(value) is not None for value in values):
                    raise NotCompiledError("a comparison of a list or tuple with what has no known type")
            if equal and is_list(values[0]) is not None and is_list(values[1]) is not None:
                if is_list(values[0]):
                    node.of_lists = True  # type: ignore[attr-defined]
                results = [Result(displays.as_list(r.node), r.value) for r in results]
        parts = (node.left, *node.comparators)
        both = [self.expression(result, part, copied=True) for result, part in zip(results, parts)]
        node.left, *node.comparators = both
        if any(isinstance(value, (TensorValue, Unknown)) for value in values) and len(values) == 2:
            if not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return Result(node, self.computed(type(node.ops[0]), values))
        return Result(node, Scalar(bool))

    def _compared(self, node: ast.Compare, kind: type, results: list[Result]) -> Result | None:
        """Compare an object that the program makes, by its method; None if it has none."""
        left, right = results
        if (keys := records.keys_of(right.value)) is not None and kind in (ast.In, ast.NotIn):
            if not isinstance(left.value, Known):
                wanted_records.reject_key(self.scope.program, left.value)
            if self.scope.use(left.value) in later_keys.later_keys(self.scope, right):
                return later_keys.contains(self, right, self.scope.use(left.value), node, kind)
            self.discard(right, node)
            return self.known(node, Known((self.scope.use(left.value) in keys) is (kind is ast.In)))
        mixed = any(records.is_record(each.value) or sequences.is_sequence(each.value) for each in results)
        if mixed and kind in (ast.Eq, ast.NotEq, ast.In, ast.NotIn):
            raise NotCompiledError("a comparison of lists or dicts whose elements are of several types")
        if kind in (ast.In, ast.NotIn) and objects.is_object(right.value):
            found = objects.call_special(self.calls, "__contains__", right, [left], node)
            if found is None or kind is ast.In:
                return found
            absent = ast.UnaryOp(ast.Not(), self.expression(found, node))
            return Result(ast.copy_location(absent, node), Scalar(bool))
        if not objects.is_object(left.value) or kind not in objects.SPECIAL:
            return None
        return objects.call_special(self.calls, objects.SPECIAL[kind], left, [right], node)

    def _folded(self, node: ast.expr, kind: type, operands: list[Result]) -> Result | None:
        """Compute what depends on nothing but what is known."""
        values: list[Any] = [operand.value for operand in operands]
        is_identity = kind in (ast.Is, ast.IsNot)
        if not is_identity and not are_plain([v.object for v in values], contained=kind in (ast.In, ast.NotIn)):
            return None
        if is_identity and all(type(value.object) in (int, float, complex) for value in values):
            return None  # equal numbers may be several objects
        try:
            made = _OPERATORS[kind](*(value.object for value in values))
        except Exception:  # noqa: BLE001 - the program raises it, where it is evaluated
            return None
        for operand in operands:
            self.discard(operand, node)
        program, depends = self.scope.program, self.scope.program.guards_of
        if is_identity:
            depends = program.class_guards if any(map(is_none, values)) else program.identity_guards
        return self.known(node, Known(made, None, frozenset().union(*map(depends, values))))

    # Displays and calls. ------------------------------------------------------------------------------------------

    def _tuple(self, node: ast.Tuple) -> Result:
        return displays.tuple_display(self, node)

    def _list(self, node: ast.List) -> Result:
        return displays.list_display(self, node)

    def _dict(self, node: ast.Dict) -> Result:
        return displays.dict_display(self, node)

    def _set(self, node: ast.Set) -> Result:
        return sets.make(self.calls, sets.display(node))

    def _setcomp(self, node: ast.SetComp) -> Result:
        return sets.make(self.calls, sets.display(node))

    def _listcomp(self, node: ast.ListComp) -> Result:
        return comprehension(self, node)

    def _generatorexp(self, node: ast.GeneratorExp) -> Result:
        """A generator where it is consumed at once; see `Calls`."""
        if not hasattr(node, "is_consumed"):
            raise NotCompiledError("a generator that is a value")
        made: Any = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        if hasattr(node, "token"):
            made.token = node.token  # it is computed where the generator is
        return comprehension(self, made)

    def _dictcomp(self, node: ast.DictComp) -> Result:
        return comprehension(self, node)

    def _call(self, node: ast.Call) -> Result:
        return self.calls.call(node)
