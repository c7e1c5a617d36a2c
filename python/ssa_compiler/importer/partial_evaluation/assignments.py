"""Partial evaluation of assignments."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

import torch

from ...abi.records import attribute_name
from ...errors import UnsupportedProgramError
from ..torchscript.function_scope import is_iterator
from . import counters, default_dicts, iterators, later_keys, objects, records, wanted_records
from .builtin_calls import numbers_of
from .classes import holds_made_objects
from .displays import spread
from .ellipses import expanded
from .expressions import Expressions
from .forgotten_writes import is_forgotten, written, written_element
from .index_values import IndexValue, is_value
from .interfaces import Result
from .learned_types import element_of
from .local_annotations import annotated_type
from .new_nodes import parsed_at
from .number_functions import with_float
from .presence import augmented, find_present, may_be_none, none_itself
from .rejections import NotCompiledError
from .scope import Scope
from .subscripts import index_of
from .tuple_keys import dict_key
from .values import (
    UNKNOWN,
    Closure,
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Value,
    annotation,
    elements_of,
    is_none,
    type_value,
)

__all__ = ["Assignments"]


class Assignments:
    """Evaluates the assignments of one function.

    Attributes:
        scope: the function.
        expressions: evaluates its expressions.
    """

    scope: Scope
    expressions: Expressions

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """Evaluate a statement; what comes before it is put in front."""
        raise NotImplementedError

    # Assignments. -------------------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> list[ast.stmt]:
        if (iterator := iterators.assigned(self, node)) is not None:
            return iterator
        unpacked = all(isinstance(each, (ast.Tuple, ast.List)) for each in node.targets)
        if is_iterator(node.value) and not unpacked:
            raise NotCompiledError("an iterator that is a value")
        if isinstance(node.value, ast.GeneratorExp):
            node.value.is_consumed = True  # type: ignore[attr-defined]
        if (parts := self._side_by_side(node)) is not None:
            return parts
        result = numbers_of(self.scope, self.expressions.evaluate(node.value), node)
        if len(node.targets) > 1:
            name = self.expressions.named(result, node)
            result = Result(name, result.value)
        return [made for target in node.targets for made in self.assign(target, result, node)]

    def assign(self, target: ast.expr, result: Result, node: Any = None) -> list[ast.stmt]:
        """Let a target of an assignment or of a loop have a value."""
        node = target if node is None else node
        if isinstance(target, ast.Name):
            return self._assign_name(target, result, node)
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._unpack(target, result, node)
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            if (made := self._assign_to_object(target, result, node)) is not None:
                return made
        value, is_attribute = result.value, isinstance(target, ast.Attribute)
        given = none_itself(self.expressions, result, node) if is_attribute else result
        expression = self.expressions.expression(given, node)
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice) and target.slice.step is None:
            owner = self.expressions.evaluate(copy.deepcopy(target.value))
            if isinstance(owner.value, ListValue):
                return self._assign_slice(target, owner, Result(expression, value), node)
        place = self._place(target, value)
        find_present(self.scope, place, value)
        return [ast.copy_location(ast.Assign([place], expression), node)]

    def _assign_to_object(
        self, target: ast.Attribute | ast.Subscript, result: Result, node: Any
    ) -> list[ast.stmt] | None:
        """Assign an attribute or element of an object that the program makes; None if it is none."""
        owner = self.expressions.present(self.expressions.evaluate(copy.deepcopy(target.value)))
        if not objects.is_object(owner.value):
            return None
        self.scope.forget_parts()
        if records.is_record(owner.value):
            if (key := later_keys.added_key(self.expressions, owner, target)) is not None:
                return later_keys.stored(self.expressions, owner, key, result, node)
            target = self._key(owner, target)
        if isinstance(target, ast.Attribute):
            if not objects.store(self.expressions, owner, target, result.value):
                return []
            target.value, value = owner.node, self.expressions.expression(result, node)
            find_present(self.scope, target, result.value)
            return [ast.copy_location(ast.Assign([target], value), node)]
        name = self.expressions.named(result, node)  # Python evaluates the value first
        given = [self.expressions.evaluate(target.slice), Result(name, result.value)]
        if (made := objects.call_special(self.expressions.calls, "__setitem__", owner, given, node)) is None:
            raise NotCompiledError("an object without elements")
        return [ast.copy_location(ast.Expr(made.node), node)]

    def _key(self, owner: Result, target: ast.Attribute | ast.Subscript) -> ast.Attribute:
        """The attribute of a record that an element is."""
        key = self.expressions.evaluate(copy.deepcopy(target.slice)) if isinstance(target, ast.Subscript) else None
        if key is None or not isinstance(key.value, Known):
            wanted_records.reject_key(self.scope.program, UNKNOWN if key is None else key.value)
        if (name := self.scope.use(key.value)) not in (records.keys_of(owner.value) or ()):
            raise NotCompiledError(f"{name!r}, a key that is added to a dict")
        return ast.copy_location(ast.Attribute(target.value, attribute_name(name), ast.Store()), target)

    def _assign_slice(self, target: ast.Subscript, owner: Result, result: Result, node: ast.AST) -> list[ast.stmt]:
        """`items[a:b] = values`, of as many values as there are elements."""
        items, values = self.expressions.named(owner, node), self.expressions.named(result, node)
        numbers, name, other = self.scope.name(), self.scope.name(), self.scope.name()
        part = ast.unparse(target.slice)
        error = self.scope.program.constant_name(UnsupportedProgramError)
        text = (
            f"{numbers} = [{name} for {name} in range(len({items.id}))][{part}]\n"
            f"if len({numbers}) != len({values.id}):\n"
            f"    raise {error}('unsupported: a slice of a list that is assigned another number of elements')\n"
            f"for {name}, {other} in zip({numbers}, {values.id}):\n    {items.id}[{name}] = {other}"
        )
        return [each for statement in parsed_at(text, node) for each in self.statement(statement)]

    def _assign_name(self, target: ast.Name, result: Result, node: ast.AST) -> list[ast.stmt]:
        value = result.value
        self.scope.forget(target.id)
        if isinstance(value, (Closure, IndexValue)) or (isinstance(value, Known) and not is_value(value.object, node)):
            thing = value.object if isinstance(value, Known) else None
            is_attribute = isinstance(result.node, ast.Attribute) and not callable(thing)
            if not isinstance(thing, torch.Tensor) and not is_attribute:
                self.scope.variables[target.id] = Result(None, value)
                return []
        if (result.node is None and isinstance(value, TupleValue)) or self.scope.program.is_held(result):
            self.scope.variables[target.id] = result
            return []
        expression = self.expressions.expression(result, node)
        learned: Value | None = None
        if is_none(value):
            place = self.scope.place(target)
            if isinstance(found := self.scope.program.elements.get(place), OptionalValue):
                learned = found
                expression = self.scope.program.annotated(expression, found)
            self.scope.nothing.setdefault(target.id, set()).add(place)
        stored = self.scope.bind(target.id, value, node, learned)
        store = ast.copy_location(ast.Name(stored, ast.Store()), target)
        return [ast.copy_location(ast.Assign([store], expression), node)]

    def _unpack(self, target: Any, result: Result, node: ast.AST) -> list[ast.stmt]:
        """`a, *b = value`."""
        result = self.expressions.present(result, TypeError, "cannot unpack non-iterable NoneType object")
        elements = spread(self.expressions, result, node)
        starred = [k for k, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        if elements is not None:
            return self._unpack_known(target, elements, starred, node)
        value, expression = result.value, self.expressions.expression(result, node)
        if isinstance(value, TensorValue) and value.rank == 0:
            error = ast.parse("raise TypeError('iteration over a 0-d tensor')").body[0]
            self.scope.is_dead = True
            return [error for each in ast.walk(error) if ast.copy_location(each, node)][:1]
        if isinstance(value, TensorValue):
            unbind = ast.copy_location(ast.Attribute(expression, "unbind", ast.Load()), node)
            expression = ast.copy_location(ast.Call(unbind, [ast.copy_location(ast.Constant(0), node)], []), node)
            part = self.expressions.samples.result(lambda tensor: tensor[0], [value], {})
            value = ListValue(part)
        if not starred:
            element = element_of(value)
            made: list[ast.stmt] = []
            for number, part in enumerate(target.elts):
                if isinstance(part, (ast.Name, ast.Tuple, ast.List)):
                    self.bind_target(part, self._size(expression, number) or element)
                else:
                    target.elts[number] = self._place(part, element)
            return [ast.copy_location(ast.Assign([target], expression), node), *made]
        if not isinstance(value, ListValue):
            raise NotCompiledError("unpacking of what has a dynamic number of elements")
        name = self.expressions.named(Result(expression, value), node, fresh=True)
        return self._unpack_list(target, name, value, starred[0])

    def _size(self, expression: ast.expr, number: int) -> Value | None:
        """The size that an element of `x.shape` has."""
        if not isinstance(expression, ast.Attribute) or expression.attr != "shape":
            return None
        element = ast.copy_location(ast.Subscript(expression, ast.Constant(number), ast.Load()), expression)
        return self.expressions.evaluate(copy.deepcopy(element)).value

    def _unpack_known(
        self, target: Any, elements: Sequence[Result], starred: Sequence[int], node: ast.AST
    ) -> list[ast.stmt]:
        """Unpack what has a known number of elements, each of which is an expression."""
        count = len(target.elts)
        if len(elements) < count - 1 or (len(elements) != count and not starred):
            raise NotCompiledError("unpacking of another number of elements")
        groups: list[Any] = list(elements)
        if starred:
            first, rest = starred[0], count - 1 - starred[0]
            groups = [
                *elements[:first],
                list(elements[first : len(elements) - rest]),
                *elements[len(elements) - rest :],
            ]
        out: list[ast.stmt] = []
        pairs: list[tuple[ast.expr, Result]] = []
        for part, group in zip(target.elts, groups):
            if isinstance(part, ast.Starred):
                held = [self._held(each, out, node) for each in group]
                display = ast.List([self.expressions.expression(each, node) for each in held], ast.Load())
                pairs.append((part.value, self.expressions.evaluate(ast.copy_location(display, node))))
            else:
                pairs.append((part, self._held(group, out, node) if len(elements) > 1 else group))
        if out and any(isinstance(each, ast.Starred) for part, _ in pairs for each in ast.walk(part)):
            self.scope.hoist(out, node)  # in front of what unpacking a part puts there
            out = []
        return [*out, *(made for part, each in pairs for made in self.assign(part, each, node))]

    def _side_by_side(self, node: ast.Assign) -> list[ast.stmt] | None:
        """`a, b = self.a, self.b`: no tuple is made, and each name means what its value is; None for anything else."""
        (target, *others), value = node.targets, node.value
        displays = (ast.Tuple, ast.List)
        if others or not isinstance(target, displays) or not isinstance(value, displays):
            return None
        if len(target.elts) != len(value.elts):
            return None
        if any(isinstance(part, (ast.Starred, ast.Tuple, ast.List)) for part in (*target.elts, *value.elts)):
            return None
        elements = [self.expressions.evaluate(part) for part in value.elts]
        return self._unpack_known(target, elements, (), node)

    def _held(self, result: Result, out: list[ast.stmt], node: ast.AST) -> Result:
        """A variable with an element, which `out` stores: in `a, b = b, a`, all are evaluated first."""
        if result.node is None or isinstance(result.node, ast.Constant):
            return result
        if isinstance(result.node, ast.Tuple) and isinstance(result.value, TupleValue):
            parts = [Result(*each) for each in zip(result.node.elts, result.value.elements)]
            whole = copy.copy(result.node)  # of which some parts may have no expression
            whole.elts = [self._held(part, out, node).node for part in parts]
            return Result(whole, result.value)
        name = self.scope.name()
        store = ast.copy_location(ast.Name(name, ast.Store()), node)
        out.append(ast.copy_location(ast.Assign([store], result.node), node))
        held = Result(ast.copy_location(ast.Name(name, ast.Load()), node), result.value)
        self.scope.variables[name] = held
        return held

    def _unpack_list(self, target: Any, name: ast.Name, value: ListValue, starred: int) -> list[ast.stmt]:
        """`a, *b, c = items`."""
        least, rest = len(target.elts) - 1, len(target.elts) - 1 - starred
        text = (
            f"if len({name.id}) < {least}:\n"
            f"    raise ValueError('not enough values to unpack (expected at least {least})')"
        )
        (check,) = ast.parse(text).body
        for each in ast.walk(check):
            ast.copy_location(each, target)
        out: list[ast.stmt] = [check] if least else []
        for number, part in enumerate(target.elts):
            is_star = isinstance(part, ast.Starred)
            if is_star:
                if "list" in self.scope.local:
                    raise NotCompiledError("a variable that is called list")
                text = f"list({name.id}[{starred}:{-rest if rest else ''}])"
            else:
                text = f"{name.id}[{number if number < starred else number - len(target.elts)}]"
            found = ast.parse(text, mode="eval").body
            for each in ast.walk(found):
                ast.copy_location(each, part)
            if is_star:
                result = Result(found, ListValue(value.element, frozenset([self.scope.place(part)])))
            else:
                result = Result(found, value.element or UNKNOWN)
            out += self.assign(part.value if is_star else part, result, part)
        return out

    def bind_target(self, target: Any, value: Value) -> None:
        """Let the target of a loop that stays one be what an element is."""
        if isinstance(target, ast.Name):
            name = getattr(target, "variable", target.id)
            self.scope.forget(name)
            target.variable = name  # type: ignore[attr-defined]
            target.id = self.scope.bind(name, self.scope.program.widened(value), target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts, other = elements_of(self.scope.program.widened(value)) or (), element_of(value)
            for number, part in enumerate(target.elts):
                if isinstance(part, ast.Starred):
                    raise NotCompiledError("a starred target in a comprehension, or inside another target")
                self.bind_target(part, parts[number] if number < len(parts) else other)

    def _place(self, target: ast.expr, value: Value | None) -> Any:
        """Evaluate where a value is stored: an attribute or an element."""
        if isinstance(target, ast.Attribute):
            self.scope.forget_parts()
            owner = self.expressions.present(self.expressions.evaluate(copy.deepcopy(target.value)))
            if objects.is_object(owner.value):
                if not objects.store(self.expressions, owner, target, value or UNKNOWN):
                    raise NotCompiledError("an attribute that TorchScript has no type for")
                target.value = owner.node
                return target
            self.scope.program.assign(target.attr, value)
            owner = self.expressions.evaluate(target.value)
            if isinstance(owner.value, TensorValue):
                raise NotCompiledError("an attribute of a tensor")
            if isinstance(owner.value, Known) and isinstance(owner.value.object, torch.nn.Module):
                self.scope.program.states.add(self.scope, owner.value, target.attr, target)
            elif isinstance(owner.value, Known):
                state = self.scope.program.states.attribute(self.scope, owner.value, target.attr, target).node
                state.ctx = ast.Store()
                return state
            target.value = self.expressions.expression(owner, target.value)
            return target
        if not isinstance(target, ast.Subscript):
            raise NotCompiledError("a target that is no variable, attribute or element")
        owner = self.expressions.present(self.expressions.evaluate(copy.deepcopy(target.value)))
        if records.is_record(owner.value):
            self.scope.forget_parts()
            attribute = self._key(owner, target)
            if not objects.store(self.expressions, owner, attribute, value or UNKNOWN):
                raise NotCompiledError("an element that TorchScript has no type for")
            attribute.value = owner.node
            return attribute
        owner = self.expressions.present(self.expressions.evaluate(target.value))
        if not isinstance(owner.value, TensorValue):
            self.scope.forget_parts()
        if isinstance(owner.value, ListValue) and not isinstance(target.slice, ast.Slice):
            self.scope.program.put(self.scope, target.value, owner.value, None, value)
        if isinstance(owner.value, Known) and not isinstance(owner.value.object, torch.Tensor):
            if owner.value.path is None or self.scope.program.is_elsewhere(owner.value.path):
                raise NotCompiledError("an element of an object of the model")
            self.scope.program.assign(owner.value.path.rpartition(".")[2])
        index = index_of(self.expressions, target.slice)
        if isinstance(owner.value, DictValue):
            self.scope.program.put(self.scope, target.value, owner.value, index.value, value)
            wanted_records.check_type(self.scope.program, owner.value, index.value, value)
            index = dict_key(self.expressions, index, target.slice)
        target.value = self.expressions.expression(owner, target.value)
        target.slice = expanded(owner.value, index.value, self.expressions.expression(index, target.slice))
        return target

    def _augassign(self, node: ast.AugAssign) -> list[ast.stmt]:
        if any(
            is_so(self.expressions, node.target)
            for is_so in (later_keys.is_later, later_keys.is_added, may_be_none, counters.is_element)
        ):
            return [made for step in augmented(self.scope, node) for made in self.statement(step)]
        default_dicts.fill_target(self.expressions, node.target)
        result = self.expressions.evaluate(node.value)
        node.value = self.expressions.expression(result, node.value)
        if not isinstance(node.target, ast.Name):
            read: Any = copy.deepcopy(node.target)
            read.ctx = ast.Load()
            held = self.expressions.present(self.expressions.evaluate(copy.deepcopy(read)))
            if not isinstance(held.value, (TensorValue, Scalar)):
                self.scope.program.forget_lengths()
            if not (is_attribute := isinstance(read, ast.Attribute)):
                owner = self.expressions.present(self.expressions.evaluate(copy.deepcopy(read.value)))
                is_attribute = records.is_record(owner.value)
            changed = self._updated(node, held, result) if is_attribute else None
            node.target = self._place(node.target, changed)
            if isinstance(node.target, ast.Subscript) and is_forgotten(node, held.value):
                return written_element(self.scope, node)
            return [node]
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        before = self.expressions.present(self.expressions.evaluate(read), TypeError, "an operand is None")
        self.scope.program.change(before.value)
        is_tuple = isinstance(before.value, TupleValue) or getattr(before.value, "is_tuple", False)
        if is_tuple or (isinstance(before.value, Known) and isinstance(before.value.object, tuple)):
            node.value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
            return self._assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        value = self._updated(node, before, result)
        if is_forgotten(node, before.value):
            return [written(self.expressions.named(before, node), node)]
        if isinstance(before.value, ListValue) and isinstance(value, ListValue):
            self.scope.program.put(self.scope, read, before.value, None, value.element)
            self.scope.program.resize(self.scope, read, before.value)
        general = self.scope.program.widened(value)
        was_stored = self.scope.is_stored(node.target.id, before)
        stored = self.scope.bind(node.target.id, general, node)
        is_remainder = isinstance(value, Scalar) and isinstance(node.op, ast.Mod)
        if was_stored and stored == before.node.id and not is_remainder:
            node.target = ast.copy_location(ast.Name(stored, ast.Store()), node.target)
            return [node]
        if not isinstance(before.value, (Scalar, Known)):
            store = ast.copy_location(ast.Name(stored, ast.Store()), node)
            node.target = ast.copy_location(ast.Name(stored, ast.Store()), node.target)
            return [ast.copy_location(ast.Assign([store], self.expressions.expression(before, node)), node), node]
        left = self.expressions.expression(before, node)
        made = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
        return [ast.copy_location(ast.Assign([ast.Name(stored, ast.Store())], made), node)]

    def _updated(self, node: ast.AugAssign, before: Result, result: Result) -> Value:
        """What `before op= result` is."""
        left, right = self.expressions.present(before), self.expressions.present(result)
        if isinstance(left.value, TensorValue) and not isinstance(node.op, ast.MatMult):
            return left.value  # an operation in place changes neither the dtype nor the shape
        if (converted := with_float(node.op, right, left.value)) is not right:
            node.value, right = converted.node, converted
        nodes = [copy.deepcopy(each.node) or ast.copy_location(ast.Constant(None), node) for each in (left, right)]
        made = ast.copy_location(ast.BinOp(nodes[0], node.op, nodes[1]), node)
        return self.expressions.operated(made, left, right).value

    def _annassign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return []
        kind = annotated_type(self.scope, node.annotation)
        if isinstance(node.target, ast.Name) and kind is None:
            return self._assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        result = self.expressions.evaluate(node.value)
        if not isinstance(node.target, ast.Name):
            return self.assign(node.target, result, node)
        value = type_value(kind) if (text := annotation(result.value)) is None else result.value
        node.value = self.expressions.expression(result, node.value)
        if holds_made_objects(text) or getattr(node.value, "is_annotated", False):
            return self._assign_name(node.target, result, node)
        if isinstance(value, Known):
            value = self.scope.program.widened(value)
        self.scope.bind(node.target.id, type_value(kind) if is_none(value) else value, node)
        return [node]
