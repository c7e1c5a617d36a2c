"""Importing operators: which of the importer's parts knows one, and what its operands are before.

A node is tried as a question about values, an op on containers, one on tensors, and one on scalars, in this order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ...abi.results import TORCH_SIZE
from ...semantics import autocast
from ...semantics.rebinding import REBOUND
from ...semantics.tuple_key_ops import TUPLE_KEY_OP
from ..containers.classes import Classes, compare_enums
from ..containers.containers import Containers
from ..containers.dict_classes import note_class, note_default_dict
from ..containers.dynamic_lists import DynamicLists
from ..containers.tuple_keys import key_parts
from ..fake.empty_tensor_errors import check_sizes
from ..ir.locations import highlighted, is_augmented_assignment, is_call, is_item_assignment
from ..ir.purity import is_built_in, is_pure, original
from ..ir.schemas import dtype_result, find_op, in_place_of
from ..ir.torchscript_enums import python_argument
from ..ops.autocast import check_dtypes, converted_operands
from ..ops.bool_operands import call_with_bools, converted_bools
from ..ops.devices import check_devices, on_default_device
from ..ops.dict_updates import update
from ..ops.effectful_ops import run_later
from ..ops.float_sums import sum_of_floats
from ..ops.implicit_conversions import IMPLICIT, Implicit, converts_item
from ..ops.library_ops import OpPrograms
from ..ops.masks import as_fill, as_stored, masks_as_positions, plain_masks, present_indices
from ..ops.method_names import check_exists
from ..ops.nested_tensors import NestedTensors
from ..ops.number_stores import as_eager_stores, stored_number
from ..ops.operand_checks import check_operands, check_stored
from ..ops.out_variants import out_variant
from ..ops.promotion import promote, with_eagers_dtypes
from ..ops.python_builtins import PythonBuiltins
from ..ops.python_calls import PythonCalls
from ..ops.python_functions import is_told
from ..ops.scalar_tensors import take_numbers
from ..ops.tensor_queries import Metadata
from ..tensors.scalar_dims import check_dimensions
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..torchscript.literals import makes_float
from ..values.heap import TUPLE
from ..values.memory_of_caller import check_rebound
from ..values.modules import Modules
from ..values.runtime_strings import made_text
from ..values.state import State
from ..values.values import (
    NONE,
    ConstValue,
    DictRef,
    ListRef,
    ObjectRef,
    OptionalValue,
    RuntimeStr,
    ScalarValue,
    TensorValue,
    TupleValue,
    Uninitialized,
    Value,
    in_words,
    is_const,
    is_generator,
)
from .blocks import Blocks
from .if_and_loop import Control
from .join_owners import is_named

__all__ = ["Operators"]

_ITEM_WRITES = ("aten::copy_", "aten::index_put_")
_AUGMENTED = {
    "aten::add": "add_",
    "aten::sub": "sub_",
    "aten::mul": "mul_",
    "aten::div": "div_",
    "aten::remainder": "remainder_",
    "aten::fmod": "remainder_",
    "aten::fmod_": "remainder_",
    "aten::pow": "pow_",
    "aten::bitwise_and": "bitwise_and_",
    "aten::__and__": "__iand__",
    "aten::bitwise_or": "bitwise_or_",
    "aten::__or__": "__ior__",
    "aten::bitwise_xor": "bitwise_xor_",
    "aten::__xor__": "__ixor__",
    "aten::__lshift__": "__ilshift__",
    "aten::__rshift__": "__irshift__",
}
"""The op that an augmented assignment to a tensor is in eager, by what TorchScript may make of it: for some operators,
and for elements of dicts, the op that makes a new tensor."""


_LISTS_AUGMENTED = ("aten::add", "aten::mul")


class _Shown(str):
    """The text of something that is no string: `repr` shows it as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Operators(Blocks):
    """Imports nodes that are operators into the current block of the state's emitter."""

    def __init__(self, state: State, modules: Modules) -> None:
        super().__init__(state, modules)
        state.scripted = isinstance(modules.root, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
        self.tensors = TensorOps(state)
        self.scalars = ScalarOps(state)
        self.control = Control(state, self.scalars, self._growing_lists, self.run_block, self._environments)
        self.containers = Containers(state, self.control.select, self.control.growing)
        self.metadata = Metadata(state, self.tensors, self.scalars, self.containers)
        self.classes = Classes(state, self.containers)
        self.python_calls = PythonCalls(state, modules, self.tensors, self.containers)
        self.programs = OpPrograms(self.tensors, self._call)
        self.implicit = Implicit(state, self.scalars, self.containers, self._lookup, self._converted_op)
        self.builtins = PythonBuiltins(state, self.scalars, self._converted_op, self.control.choose, self.containers)
        self.nested = NestedTensors(self.tensors, self.containers, self._tensor_op)
        self.tensors.programs = lambda op, arguments: self.programs.call(op, [self._wrap(value) for value in arguments])
        self.containers.ragged_lists.nested.is_named = lambda cell: is_named(
            state.heap.contents, self._environments, self._nodes, cell
        )
        self._divides_in_place = False

    def _growing_lists(self, choose: Any) -> DynamicLists:
        return DynamicLists(self.state, self.tensors, self.scalars, choose)

    def _node(self, node: Any) -> list[Value]:
        kind = node.kind()
        namespace, _, name = kind.partition("::")
        if kind == "aten::_unwrap_optional":
            namespace, name = "prim", "unchecked_unwrap_optional"  # of which the program has asked
        if namespace == "prim":
            method: Callable[[Any], list[Value]] | None = getattr(self, f"_prim_{name}", None)
            if method is not None:
                return method(node)
        arguments = [self._lookup(value) for value in node.inputs()]
        for argument in arguments:
            if isinstance(argument, Uninitialized):
                return [Uninitialized(str(output.type())) for output in node.outputs()]
        function = self.modules.python_function(self._calls[-1]) if kind == "aten::dict" else None
        if function is not None and arguments and isinstance(arguments[0], DictRef):
            if note_default_dict(self.state, node, function, arguments[0]):
                return arguments
        try:
            results = self._operator(node, kind, arguments)
            if kind == "aten::dict" and not self.state.scripted and isinstance(results[0], DictRef):
                note_class(self.state, node, function, results[0])
            if (
                len(results) == 1
                and isinstance(results[0], ConstValue)
                and (returned := dtype_result(kind)) is not None
            ):
                return [self.metadata.dtype(python_argument(results[0].value, returned))]
            return results
        except GuardOnDataDependentSymNode as error:
            raise self.state.unsupported_op(f"{kind}, whose result depends on dynamic scalars") from error

    def _operator(self, node: Any, kind: str, arguments: list[Value]) -> list[Value]:
        if (compared := compare_enums(kind, arguments, self.scalars)) is not None:
            return [compared]
        if kind == "aten::dict" and not arguments:
            return [self.containers.new_dict((), ())]
        if (marked := self._marked(kind, arguments)) is not None:
            return marked
        check_devices(self.state, self.modules.root, node, arguments)
        arguments = on_default_device(node, arguments)
        first = arguments[0] if arguments else NONE
        if self._from_python[-1] and not self.state.in_library:
            source = self.modules.python_function(self._calls[-1])
            if (found := self.builtins.call(node, kind, arguments, source)) is not None:
                return found
            if kind in IMPLICIT and isinstance(first, TensorValue):
                return [first]  # to Python it stays a tensor
            if self.scalars.are_numbers(arguments) and converts_item(node):
                return [first]
        operated = self.implicit.operator(node, kind, arguments, self._divides_in_place)
        if operated is not None:
            self._divides_in_place = False
            return operated
        if self.implicit.counts(node, kind, arguments):
            arguments = [self.implicit.number(argument, int) for argument in arguments]
        found = self.metadata.call(kind, node, arguments)
        if found is not None:
            return found
        kind, text = original(kind, node.schema())
        if text == "(no schema)":
            raise self.state.unsupported_op(kind)
        schema = torch._C.parse_schema(text)
        op, arguments = self.implicit.settled(node, find_op(schema), schema, arguments)
        first = arguments[0] if arguments else NONE
        has_tensor = any("Tensor" in str(spec.type) for spec in (*schema.arguments, *schema.returns))
        if kind == "aten::mul" and isinstance(first, (ConstValue, ScalarValue)) and isinstance(arguments[-1], ListRef):
            arguments = arguments[::-1]  # `2 * list`
            first = arguments[0]
        generic_list = schema.arguments and str(schema.arguments[0].type) in ("List[t]", "List[Tensor]", "List[str]")
        if isinstance(first, DictRef) or (isinstance(first, ListRef) and (generic_list or not has_tensor)):
            if (total := sum_of_floats(self.containers, kind, first, self._call)) is not None:
                return [total]
            if not (has_tensor and not generic_list) and self.containers.knows(kind, first):
                augmented = kind in _LISTS_AUGMENTED and is_augmented_assignment(highlighted(node))
                return self.containers.call(f"{kind}_" if augmented else kind, arguments)
        foreign = not is_built_in(schema.name)
        told = foreign and not schema.is_mutable and all(is_told(spec.type) for spec in schema.returns)
        if told or (is_generator(first) and not has_tensor):  # there is no result whose looks it has to be asked for
            return run_later(self.python_calls, node, op, schema, arguments)
        if has_tensor:
            if op is None:
                raise self.state.defect(f"PyTorch has no operator {text}")
            if self._from_python[-1] and not self.state.in_library and isinstance(first, TensorValue):
                check_exists(node, kind, op)
            return self._on_tensors(node, kind, op, arguments)
        if not is_pure(schema) and not (is_built_in(kind) and isinstance(first, (ListRef, DictRef))):
            return run_later(self.python_calls, node, op, schema, arguments)
        if kind == "aten::pow" and is_call(highlighted(node)) and self.scalars.are_numbers(arguments):
            return [self.scalars.emit("math.pow", arguments)]
        return self._scalar(node, op, schema, arguments)

    def _marked(self, kind: str, arguments: list[Value]) -> list[Value] | None:
        """Import an operator of ours, by which fragments and partial evaluation say something, or an update of a dict
        with dynamic keys; None for others.
        """
        if kind == REBOUND:
            check_rebound(self.state, arguments[0])
            return arguments
        if kind == "aten::update" and update(self.containers, arguments, self._call):
            return []
        if not kind.startswith(TUPLE_KEY_OP):
            return None
        if (parts := key_parts(arguments[0])) is None:
            raise self.state.unsupported_op(kind)
        return list(parts)

    def _on_tensors(self, node: Any, kind: str, op: Any, arguments: list[Value]) -> list[Value]:
        """Import an op with tensors among its operands or results."""
        first = arguments[0] if arguments else NONE
        if kind in _AUGMENTED and isinstance(first, TensorValue) and is_augmented_assignment(highlighted(node)):
            op = in_place_of(op, _AUGMENTED[kind])
        if kind in ("aten::floor_divide", "aten::remainder") and self._divides_in_place:
            op, self._divides_in_place = in_place_of(op, f"{kind.removeprefix('aten::')}_"), False
        at_tensors = isinstance(first, TensorValue)  # list.index has the same name
        if kind == "aten::index" and at_tensors:
            # `x[i] += y` is index, add_ and index_put_ with one list of indices: nobody else sees the part.
            users = [use.user.kind() for use in list(node.inputs())[1].uses()]
            self.tensors.indexing.put_back = "aten::index_put_" in users
        if kind in ("aten::index", "aten::index_put", "aten::index_put_") and at_tensors:
            arguments = present_indices(self.containers, arguments)
            arguments = plain_masks(self.tensors, self.containers, arguments)
            arguments = masks_as_positions(self.tensors, self.containers, arguments)
        assigned = kind in _ITEM_WRITES and at_tensors and is_item_assignment(highlighted(node))
        if assigned:
            arguments = as_stored(self.tensors, self.containers, arguments)
        if kind in ("aten::index_put", "aten::index_put_") and at_tensors and arguments[0] is first:
            op, arguments = as_fill(self.tensors, self.containers, op, arguments)
        if assigned and (number := stored_number(node, self.scalars, self._lookup)) is not None:
            op, arguments = as_eager_stores(self.tensors, self.containers, op, arguments, number)
        op, arguments = take_numbers(self.scalars, out_variant(op), arguments)
        arguments = promote(self.tensors, self.scalars, op, arguments)
        results = call_with_bools(
            self.state, self.tensors, self.scalars, node, op, arguments, self._lookup, self._tensor_op
        )
        results = with_eagers_dtypes(self.tensors, op, arguments, results)
        self.metadata.number_tensors.follow(kind, arguments, results)
        return results

    def _converted_op(self, op: Any, arguments: list[Value]) -> list[Value]:
        """Import an op that no node stands for."""
        arguments = promote(self.tensors, self.scalars, op, arguments)
        return with_eagers_dtypes(self.tensors, op, arguments, self._tensor_op(op, arguments))

    def _tensor_op(self, op: Any, arguments: list[Value]) -> list[Value]:
        """Import an op on tensors, whose lists are tuples to Python unless it is called by `torch.ops`."""
        results = self._op_for_each_case(op, arguments)
        if op.namespace == "aten" and not self.state.locations.text().startswith("torch.ops."):
            for value in results:
                if isinstance(value, ListRef):
                    self.containers.classes.note(value, TUPLE)
        return results

    def _op_for_each_case(self, op: Any, arguments: list[Value]) -> list[Value]:
        """Import an op on tensors; with a run-time bool, or a value that may be None, among its operands, once for
        either case.

        These decide what an op does (`keepdim`, `accumulate`, `bias`), so its operand has to be known to be one or the
        other.
        """
        if (nested := self.nested.call(op, arguments)) is not None:
            return nested
        for number, value in enumerate(arguments):
            if isinstance(value, OptionalValue):
                condition, cases = value.present, (value.value, NONE)
            elif isinstance(value, ScalarValue) and value.kind is bool:
                condition, cases = value, (ConstValue(True), ConstValue(False))
            else:
                continue

            def with_case(case: Value, number: int = number) -> Callable[[], list[Value]]:
                chosen = [*arguments[:number], case, *arguments[number + 1 :]]
                return lambda: self._tensor_op(op, chosen)

            return self.control.choose(condition, *map(with_case, cases))
        if not self.state.in_library:
            opened = [self.tensors.argument(value) for value in arguments]
            python = [self.tensors.python(value) for value in opened]
            check_dimensions(self.scalars, op, opened)
            check_operands(self.state, op, python)
            check_stored(self.tensors, op, opened)
            check_sizes(self.state, op, python)
            check_dtypes(self.tensors, op, opened)
        if (converted := converted_operands(self.tensors, self.containers, op, arguments)) is not None:
            with autocast.off():
                return self._tensor_op(op, converted)
        results = self.programs.call(op, arguments)
        if results is not None:
            return results
        wrapped = [self._wrap(result) for result in self.tensors.call(op, arguments)]
        for value in wrapped:
            if isinstance(value, ListRef):
                self.containers.equal_views.note(value, arguments[0])
        return wrapped

    def _wrap(self, result: Any) -> Value:
        if isinstance(result, list):
            return self.containers.new_list([self._wrap(element) for element in result])
        return result

    def _unwrap(self, value: Value) -> Any:
        """Return the Python value of constants, and lists and tuples of constants; raises ValueError if something is
        unknown.
        """
        if isinstance(value, ConstValue):
            return value.value
        if isinstance(value, ObjectRef):
            raise ValueError
        if isinstance(value, (ListRef, DictRef, TupleValue)):
            parts = [self._unwrap(element) for element in self.containers.elements(value)]
            if isinstance(value, DictRef):
                return dict(zip(self.state.heap.keys[value.cell], parts))
            return tuple(parts) if self.containers.classes.is_tuple(value) else parts
        raise ValueError

    def _shown(self, value: Value) -> Value:
        """The shape of a tensor as the text that eager makes of it: to TorchScript it is a list."""
        if self.containers.classes.of(value) != TORCH_SIZE:
            return value
        sizes = self.containers.elements(value)
        template = ConstValue(f"torch.Size([{', '.join('{}' for _ in sizes)}])")
        text = made_text("format", [template, *sizes]) or value
        return ConstValue(_Shown(text.value)) if isinstance(text, ConstValue) else text

    def _is_known(self, value: Value) -> bool:
        """Whether `_unwrap` gives the value."""
        if self.containers.classes.of(value) == TORCH_SIZE or self.containers.is_growing(value):
            return False
        if isinstance(value, (ListRef, DictRef, TupleValue)) and not isinstance(value, ObjectRef):
            return all(map(self._is_known, self.containers.elements(value)))
        return isinstance(value, ConstValue)

    def _is_structural(self, value: Value) -> bool:
        if isinstance(value, ConstValue):
            return value.structural
        return any(self._is_structural(element) for element in self.containers.elements(value))

    def _scalar(self, node: Any, op: Any, schema: Any, arguments: list[Value]) -> list[Value]:
        if schema.name == "aten::divmod":
            return [self._constant(self.scalars.emit(name, list(arguments))) for name in ("floordiv", "remainder")]
        if any(spec.alias_info is not None and spec.alias_info.is_write for spec in schema.arguments):
            # It says why not: nobody would see a change of a copy.
            return self.containers.call(schema.name, arguments)
        if schema.name in ("aten::frexp", "aten::modf") and not is_const(*arguments):
            return self.scalars.several(schema, arguments)
        if schema.name in ("prim::min", "prim::max") and len(arguments) == 2 and self.scalars.are_numbers(arguments):
            bools = {} if self.state.scripted else converted_bools(node, (0, 1), self.scalars, self._lookup)
            numbers = [bools.get(place, argument) for place, argument in enumerate(arguments)]
            return [self._extreme(node, schema.name.removeprefix("prim::"), *numbers)]
        texts = schema.name in ("aten::format", "aten::percentFormat", "aten::str")
        if texts and not is_const(*arguments) and not all(map(self._is_known, arguments)):
            return [self.scalars.text(schema, list(map(self._shown, arguments)))]
        if schema.name == "aten::str" and self._is_known(arguments[0]):
            return [ConstValue(str(self._unwrap(arguments[0])))]
        if any(isinstance(argument, (ListRef, DictRef, TupleValue)) for argument in arguments):
            try:
                constants = [
                    ConstValue(self._unwrap(argument), self._is_structural(argument)) for argument in arguments
                ]
            except ValueError:
                if schema.name == "aten::eq":
                    return [self.containers.values.equal(*arguments)]
                if schema.name == "aten::ne":
                    return [self.containers.values.differ(*arguments)]
                raise self.state.unsupported_op(f"{schema.name} on a list with dynamic elements") from None
            arguments = list(constants)
        for argument in arguments:
            if not isinstance(argument, (ConstValue, ScalarValue, RuntimeStr)):
                raise self.state.unsupported_op(f"{schema.name} on {in_words(argument)}")
        result = self.scalars.call(op, schema, arguments)
        if len(schema.returns) > 1 and isinstance(result, ConstValue):
            return [self._constant(ConstValue(value)) for value in result.value]
        return [self._constant(result)]

    def _extreme(self, node: Any, name: str, one: Value, other: Value) -> Value:
        """`min` or `max` of two numbers: one of them, of its own type."""
        kinds = [self.scalars.kind(number) for number in (one, other)]
        to_float = all(makes_float(use.user) for use in node.output().uses())
        if kinds[0] is kinds[1] is not bool or is_const(one, other) or to_float:
            return self.scalars.emit(name, [one, other])
        second = self.scalars.emit("lt" if name == "min" else "gt", [other, one])
        if isinstance(second, ConstValue):
            return other if second.value else one
        return self.control.choose(second, lambda: [other], lambda: [one])[0]

    def _constant(self, value: Value) -> Value:
        """Open constants that are Python containers."""
        if isinstance(value, ConstValue):
            if isinstance(value.value, list):
                return self.containers.new_list([self._constant(ConstValue(e)) for e in value.value])
            if isinstance(value.value, tuple):
                return TupleValue(tuple(self._constant(ConstValue(e)) for e in value.value))
            if isinstance(value.value, dict):
                elements = [self._constant(ConstValue(e)) for e in value.value.values()]
                return self.containers.new_dict(list(value.value), elements)
            if isinstance(value.value, torch.Tensor):
                return self.metadata.literal(value.value)
        return value
