"""Walking TorchScript graphs: one method per kind of node; calls are inlined here, so that locations stay call sites."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ..containers.classes import Classes, compare_enums, named_tuple_type, tuple_class
from ..containers.containers import Containers
from ..containers.dynamic_lists import DynamicLists
from ..containers.tolist import to_list
from ..fake.empty_tensor_errors import check_sizes
from ..ir.locations import highlighted, is_augmented_assignment, is_call, is_item_assignment
from ..ir.purity import is_built_in, is_pure, original
from ..ir.schemas import dtype_result, find_op, in_place_of
from ..ir.torchscript_enums import python_argument
from ..ops.bool_operands import call_with_bools
from ..ops.devices import check_devices
from ..ops.effectful_ops import run_later
from ..ops.implicit_conversions import IMPLICIT, Implicit, converts_item
from ..ops.library_ops import OpPrograms
from ..ops.masks import as_fill, as_stored, masks_as_positions, plain_masks
from ..ops.nested_tensors import NestedTensors
from ..ops.operand_checks import check_operands, check_stored
from ..ops.print_calls import PrintCall
from ..ops.promotion import promote, with_eagers_dtypes
from ..ops.python_calls import PythonCalls
from ..ops.python_functions import is_told
from ..ops.scalar_tensors import take_numbers
from ..ops.tensor_queries import Metadata
from ..tensors.scalar_dims import check_dimensions
from ..tensors.scalar_ops import ScalarOps
from ..tensors.tensor_ops import TensorOps
from ..torchscript.literals import makes_float
from ..torchscript.source_rewrite import IN_PLACE, KEPT
from ..values.diagnostics import ProgramRaises
from ..values.modules import Modules
from ..values.plan import AnotherPlan
from ..values.runtime_strings import RaiseCall, made_text
from ..values.state import State
from ..values.values import (
    NONE,
    ConstValue,
    DictRef,
    FunctionValue,
    GradMode,
    ListRef,
    ModuleValue,
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
)
from .blocks import Blocks
from .if_and_loop import Control, Iteration

__all__ = ["Interpreter"]

_EMBEDDING = re.compile(r"__torch__\.torch\.nn\.functional\.(?:___torch_mangle_\d+\.)?embedding")


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
"""The op that an augmented assignment to a tensor is in eager, by what TorchScript may make of it: for some operators, and
for elements of dicts, the op that makes a new tensor."""


class Interpreter(Blocks):
    """Imports nodes into the current block of the state's emitter."""

    def __init__(self, state: State, modules: Modules) -> None:
        super().__init__(state, modules)
        state.scripted = isinstance(modules.root, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
        self.tensors = TensorOps(state)
        self.scalars = ScalarOps(state)
        self.control = Control(state, self.scalars, self._growing_lists, self.run_block)
        self.containers = Containers(state, self.control.select, self.control.growing)
        self.metadata = Metadata(state, self.tensors, self.scalars, self.containers)
        self.classes = Classes(state, self.containers)
        self.python_calls = PythonCalls(state, modules, self.tensors, self.containers)
        self.programs = OpPrograms(self.tensors, self._call)
        self.implicit = Implicit(state, self.scalars, self.containers, self._lookup, self._converted_op)
        self.nested = NestedTensors(self.tensors, self.containers, self._tensor_op)
        self.tensors.programs = lambda op, arguments: self.programs.call(op, [self._wrap(value) for value in arguments])
        self._divides_in_place = False

    def _growing_lists(self, choose: Any) -> DynamicLists:
        return DynamicLists(self.state, self.tensors, self.scalars, choose)

    def _node(self, node: Any) -> list[Value]:
        kind = node.kind()
        namespace, _, name = kind.partition("::")
        if namespace == "prim":
            method: Callable[[Any], list[Value]] | None = getattr(self, f"_prim_{name}", None)
            if method is not None:
                return method(node)
        arguments = [self._lookup(value) for value in node.inputs()]
        for argument in arguments:
            if isinstance(argument, Uninitialized):
                return [Uninitialized(str(output.type())) for output in node.outputs()]
        try:
            results = self._operator(node, kind, arguments)
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
        if (compared := compare_enums(kind, arguments)) is not None:
            return [compared]
        check_devices(self.state, self.modules.root, node, arguments)
        self._check_function(node, arguments)
        first = arguments[0] if arguments else NONE
        if self._from_python[-1] and not self.state.in_library:
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
            if not (has_tensor and not generic_list) and self.containers.knows(kind, first):
                return self.containers.call(kind, arguments)
        foreign = not is_built_in(schema.name)
        if foreign and not schema.is_mutable and all(is_told(spec.type) for spec in schema.returns):
            # There is no result whose looks it has to be asked for.
            return run_later(self.python_calls, node, op, schema, arguments)
        if has_tensor:
            if op is None:
                raise self.state.defect(f"PyTorch has no operator {text}")
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
                arguments = plain_masks(self.tensors, self.containers, arguments)
                arguments = masks_as_positions(self.tensors, self.containers, arguments)
            if kind in _ITEM_WRITES and at_tensors and is_item_assignment(highlighted(node)):
                arguments = as_stored(self.tensors, self.containers, arguments)
            if kind in ("aten::index_put", "aten::index_put_") and at_tensors and arguments[0] is first:
                op, arguments = as_fill(self.tensors, self.containers, op, arguments)
            op, arguments = take_numbers(self.scalars, op, arguments)
            arguments = promote(self.tensors, self.scalars, op, arguments)
            results = call_with_bools(
                self.state, self.tensors, self.scalars, node, op, arguments, self._lookup, self._tensor_op
            )
            results = with_eagers_dtypes(self.tensors, op, arguments, results)
            self.metadata.number_tensors.follow(kind, arguments, results)
            return results
        if not is_pure(schema) and not (is_built_in(kind) and isinstance(first, (ListRef, DictRef))):
            return run_later(self.python_calls, node, op, schema, arguments)
        if kind == "aten::pow" and is_call(highlighted(node)) and self.scalars.are_numbers(arguments):
            return [self.scalars.emit("math.pow", arguments)]
        return self._scalar(node, op, schema, arguments)

    def _converted_op(self, op: Any, arguments: list[Value]) -> list[Value]:
        """Import an op that no node stands for."""
        arguments = promote(self.tensors, self.scalars, op, arguments)
        return with_eagers_dtypes(self.tensors, op, arguments, self._tensor_op(op, arguments))

    def _check_function(self, node: Any, arguments: list[Value]) -> None:
        """Reject Python's `round` of a tensor, which raises there, and a function in `math` where TorchScript makes it a tensor."""
        name = highlighted(node).partition("(")[0]
        if not any(isinstance(value, TensorValue) for value in arguments):
            return
        if name == "round":
            raise self.state.unsupported_op("Python's round of a tensor, which has none; write x.round()")
        if not name.startswith("math."):
            return
        results = [output for output in node.outputs() if str(output.type()) == "Tensor"]
        if any(use.user.kind().startswith("prim::") for output in results for use in output.uses()):
            raise self.state.unsupported_op(f"{name} of a tensor, which is a number; write float(x)")

    def _tensor_op(self, op: Any, arguments: list[Value]) -> list[Value]:
        """Import an op on tensors; with a run-time bool, or a value that may be None, among its operands, once for either case.

        These decide what an op does (`keepdim`, `accumulate`, `bias`), so its operand has to be known to be one or the other.
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
        results = self.programs.call(op, arguments)
        if results is not None:
            return results
        wrapped = [self._wrap(result) for result in self.tensors.call(op, arguments)]
        if op.namespace == "aten" and not self.state.scripted:
            self.state.heap.tuples |= {value.cell for value in wrapped if isinstance(value, ListRef)}
        return wrapped

    def _wrap(self, result: Any) -> Value:
        if isinstance(result, list):
            return self.containers.new_list([self._wrap(element) for element in result])
        return result

    def _unwrap(self, value: Value) -> Any:
        """Return the Python value of constants, and lists and tuples of constants; raises ValueError if something is unknown."""
        if isinstance(value, ConstValue):
            return value.value
        if isinstance(value, ObjectRef):
            raise ValueError
        if isinstance(value, (ListRef, DictRef, TupleValue)):
            parts = [self._unwrap(element) for element in self.containers.elements(value)]
            if isinstance(value, DictRef):
                return dict(zip(self.state.heap.keys[value.cell], parts))
            return parts if isinstance(value, ListRef) else tuple(parts)
        raise ValueError

    def _shown(self, value: Value) -> Value:
        """The shape of a tensor as the text that eager makes of it: to TorchScript it is a list."""
        if not isinstance(value, ListRef) or value.cell not in self.state.heap.shapes:
            return value
        sizes = self.containers.elements(value)
        template = ConstValue(f"torch.Size([{', '.join('{}' for _ in sizes)}])")
        return made_text("format", [template, *sizes]) or value

    def _is_known(self, value: Value) -> bool:
        """Whether `_unwrap` gives the value."""
        if isinstance(value, ListRef) and (value.cell in self.state.heap.shapes or self.containers.is_growing(value)):
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
            return [self._extreme(node, schema.name.removeprefix("prim::"), *arguments)]
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

    # prim nodes.

    def _prim_Constant(self, node: Any) -> list[Value]:
        output = node.output()
        if output.type().kind() == "FunctionType":
            name = output.type().annotation_str
            function = torch.jit._state._python_cu.find_function(name)
            if function is None:
                if self.modules.inlined:
                    return [Uninitialized(str(output.type()))]  # what called it is there in its place
                raise AnotherPlan.inlining()
            return [FunctionValue(name, function.graph)]
        if not node.attributeNames():  # None; toIValue does not know it if it stands for a union
            return [NONE]
        if (
            node.hasAttribute("value") and node.kindOf("value") == "t"
        ):  # toIValue makes numbers of those without dimensions
            tensor = node.t("value")
            made = self._constant(ConstValue(tensor))
            if tensor.dim() == 0 and tensor.dtype == torch.int64 and isinstance(made, TensorValue):
                self.metadata.number_tensors.note(made, ConstValue(int(tensor)))
            return [made]
        return [self._constant(ConstValue(output.toIValue()))]

    def _prim_Uninitialized(self, node: Any) -> list[Value]:
        return [Uninitialized(str(node.output().type()))]

    def _prim_ListConstruct(self, node: Any) -> list[Value]:
        return [self.containers.new_list([self._lookup(value) for value in node.inputs()])]

    def _prim_TupleConstruct(self, node: Any) -> list[Value]:
        elements = tuple(self._lookup(value) for value in node.inputs())
        return [TupleValue(elements, *tuple_class(node))]

    def _prim_DictConstruct(self, node: Any) -> list[Value]:
        inputs = [self._lookup(value) for value in node.inputs()]
        keys = inputs[::2]
        if not is_const(*keys):
            raise self.state.unsupported("a dynamic dict key; use constants as keys")
        return [self.containers.new_dict([key.value for key in keys], inputs[1::2])]  # type: ignore[attr-defined]

    def _unpack(self, node: Any) -> list[Value]:
        (value,) = [self._lookup(value) for value in node.inputs()]
        if isinstance(value, Uninitialized):
            return [value] * node.outputsSize()
        elements = self.containers.elements(value)
        if len(elements) != node.outputsSize():
            text = f"expected {node.outputsSize()}"
            if len(elements) > node.outputsSize():
                raise ProgramRaises(f"ValueError: too many values to unpack ({text})")
            raise ProgramRaises(f"ValueError: not enough values to unpack ({text}, got {len(elements)})")
        return list(elements)

    _prim_TupleUnpack = _unpack
    _prim_ListUnpack = _unpack

    def _prim_TupleIndex(self, node: Any) -> list[Value]:
        value, index = (self._lookup(value) for value in node.inputs())
        elements = self.containers.elements(value)
        if isinstance(index, ScalarValue):
            return [self.control.select(index, elements)]
        return [elements[index.value]]  # type: ignore[attr-defined]

    def _prim_TupleSlice(self, node: Any) -> list[Value]:
        elements = self.containers.elements(self._lookup(node.input()))
        return [TupleValue(elements[node.i("beg") : node.i("end")])]

    def _identity(self, node: Any) -> list[Value]:
        return [self._lookup(next(iter(node.inputs())))]

    def _prim_unchecked_cast(self, node: Any) -> list[Value]:
        (value,) = self._identity(node)
        return [value.value if isinstance(value, OptionalValue) else value]

    def _prim_unchecked_unwrap_optional(self, node: Any) -> list[Value]:
        (value,) = self._identity(node)
        if isinstance(value, ConstValue) and value.value is None:
            raise ProgramRaises("RuntimeError: Unwrapping null optional")
        if isinstance(value, OptionalValue):
            self.state.emitter.assertion(value.present.ssa, "RuntimeError: Unwrapping null optional")
            return [value.value]
        return [value]

    def _prim_If(self, node: Any) -> list[Value]:
        condition = self.implicit.number(self._lookup(node.input()), bool)
        if isinstance(condition, Uninitialized):
            # Only code that is not reached branches on a variable that is not set.
            return [Uninitialized(str(output.type())) for output in node.outputs()]
        return self.control.branch(condition, node)

    def _prim_Loop(self, node: Any) -> list[Value]:
        trip, condition, *initial = (self._lookup(value) for value in node.inputs())
        trip, condition = self.implicit.number(trip, int), self.implicit.number(condition, bool)
        return self.control.loop(trip, condition, initial, node, self._iteration(node))

    def _iteration(self, node: Any) -> Iteration:
        """Return how a prim::Loop goes through lists, if it is a for loop over some.

        TorchScript asks once how long they are, Python before each iteration. A loop with a break has no number of
        iterations, but a condition: the position is less than the length, and there was no break.
        """
        trip, condition = list(node.inputs())[:2]
        breaks = condition.node().kind() == "aten::gt"
        lengths = [next(condition.node().inputs()) if breaks else trip]
        flag = list(next(next(node.blocks()).outputs()).node().inputs())[-1:] if breaks else []
        owners = []
        known = self._lookup(lengths[0])
        while lengths:
            made = lengths.pop().node()
            if made.kind() in ("prim::min", "prim::ListConstruct"):  # zip, enumerate
                lengths += made.inputs()
            elif made.kind() == "aten::len" and highlighted(made) != "len":
                owners.append(self._lookup(made.input()))
        lists = [(owner, self.containers.extent(owner)) for owner in owners if isinstance(owner, ListRef)]
        if not lists:
            return Iteration(lambda again: None)

        def check(again: Value | None) -> None:
            if again is not None and flag:
                again = self._lookup(flag[0])
            ended = isinstance(again, ConstValue) and not again.value  # by a break
            if not ended and any(self.containers.extent(owner) != extent for owner, extent in lists):
                raise self.state.unsupported(
                    "a list or dict that changes its length while a for loop goes through it; go through a copy, list(...)"
                )

        return Iteration(check, known.value if breaks and isinstance(known, ConstValue) else None)

    def _prim_RaiseException(self, node: Any) -> list[Value]:
        message, *named = (self._lookup(value) for value in node.inputs())
        text = str(message.value if isinstance(message, ConstValue) else getattr(message, "text", "?"))
        name = named[0].value if named and isinstance(named[0], ConstValue) and named[0].value else ""
        name = str(name).removeprefix("builtins.")
        kind = "" if text.startswith(f"{name}:") else name
        pieces = message.pieces if isinstance(message, RuntimeStr) else ()
        emitted = self.state.conditional and not all(isinstance(piece, str) for piece in pieces)
        if emitted:
            call = RaiseCall(pieces, kind, self.state.locations.user())
            self.python_calls.call(call, call.values)
        raise ProgramRaises(f"{kind}: {text}" if kind else text, emitted=emitted)

    def _prim_CallFunction(self, node: Any) -> list[Value]:
        function, *arguments = (self._lookup(value) for value in node.inputs())
        assert isinstance(function, FunctionValue)
        return [self._call(function.name, function.graph, arguments)]

    def _prim_CallMethod(self, node: Any) -> list[Value]:
        owner, *arguments = (self._lookup(value) for value in node.inputs())
        if isinstance(owner, GradMode):
            if arguments and isinstance(arguments[0], ConstValue):
                owner.mode = bool(arguments[0].value)  # set_grad_enabled(mode)
            return [NONE]
        if isinstance(owner, ObjectRef):
            kind = next(iter(node.inputs())).type()
            return [self._call(*self.classes.method(owner, kind, node.s("name")), [owner, *arguments])]
        if not isinstance(owner, ModuleValue):
            raise self.state.defect(f"a call of method {node.s('name')} of a {type(owner).__name__}")
        method = owner.script._get_method(node.s("name"))
        name = f"{owner.path}.{node.s('name')}" if owner.path else node.s("name")
        return [self._call(name, method.graph, [owner, *arguments])]

    def _prim_PythonOp(self, node: Any) -> list[Value]:
        inputs = [self._lookup(value) for value in node.inputs()]
        if any(isinstance(value, Uninitialized) for value in inputs):
            return [Uninitialized(str(output.type())) for output in node.outputs()]
        return [self.python_calls.call(node, inputs)][: node.outputsSize()]

    def _check_call(self, name: str, graph: Any, arguments: Sequence[Value]) -> None:
        """Reject `embedding(..., max_norm=...)` where the user scripted it: TorchScript drops the write to the weight."""
        if not _EMBEDDING.match(name) or "embedding_renorm_" in str(graph):
            return
        for spec, value in zip(graph.inputs(), arguments):
            if spec.debugName().startswith("max_norm") and not (isinstance(value, ConstValue) and value.value is None):
                raise self.state.unsupported(
                    "TorchScript drops the write of max_norm to the weight; pass the unscripted model"
                )

    def _prim_GetAttr(self, node: Any) -> list[Value]:
        owner = self._lookup(node.input())
        if isinstance(owner, ObjectRef):
            return [self.classes.attribute(owner, node.s("name"))]
        if not isinstance(owner, ModuleValue):
            raise self.state.defect(f"attribute {node.s('name')} of a {type(owner).__name__}")
        value = self.modules.attribute(owner, node.s("name"))
        if isinstance(value, Value):
            return [value]
        return [self._attribute(value, owner, node.s("name"), node.output().type())]

    def _attribute(self, value: Any, owner: ModuleValue, name: str, declared: Any) -> Value:
        if declared.kind() == "OptionalType":
            declared = declared.getElementType()
        if declared.kind() == "ClassType":
            raise self.state.unsupported(
                f"the attribute {name}, an object of a class; keep what it holds in the module"
            )
        if isinstance(value, (list, tuple)):
            kinds = declared.elements() if isinstance(value, tuple) else [declared.getElementType()] * len(value)
            parts = [self._attribute(e, owner, f"{name}[{i}]", t) for i, (e, t) in enumerate(zip(value, kinds))]
            if isinstance(value, tuple):
                return TupleValue(tuple(parts), *named_tuple_type(declared))
            made: ListRef | DictRef = self.containers.new_list(parts)
            self.state.heap.module_owned.add(made.cell)
            return made
        if isinstance(value, dict):
            kind = declared.getValueType()
            parts = [self._attribute(e, owner, f"{name}[{k!r}]", kind) for k, e in value.items()]
            made = self.containers.new_dict(list(value), parts)
            self.state.heap.module_owned.add(made.cell)
            return made
        if isinstance(value, torch.Tensor):
            return self.modules.registered(f"{owner.path}.{name}" if owner.path else name, value)
        return ConstValue(value)

    def _prim_SetAttr(self, node: Any) -> list[Value]:
        owner, value = (self._lookup(value) for value in node.inputs())
        if isinstance(owner, ObjectRef):
            self.classes.assign(owner, node.s("name"), value)
            return []
        if not isinstance(owner, ModuleValue):
            raise self.state.defect(f"assignment to the attribute '{node.s('name')}' of a {type(owner).__name__}")
        self.modules.assign(owner, node.s("name"), value)
        return []

    def _prim_CreateObject(self, node: Any) -> list[Value]:
        name = node.output().type().annotation_str
        if not name.startswith("__torch__.torch.autograd.grad_mode."):
            return [self.classes.create(name.removeprefix("__torch__."))]
        return [GradMode({"no_grad": False, "inference_mode": False, "enable_grad": True}.get(name.rpartition(".")[2]))]

    def _prim_EnumName(self, node: Any) -> list[Value]:
        (value,) = self._identity(node)
        assert isinstance(value, ConstValue)
        return [ConstValue(value.value.name)]

    def _prim_EnumValue(self, node: Any) -> list[Value]:
        (value,) = self._identity(node)
        assert isinstance(value, ConstValue)
        return [ConstValue(value.value.value)]

    def _prim_Enter(self, node: Any) -> list[Value]:
        context = self._lookup(node.input())
        if not isinstance(context, GradMode):
            raise self.state.unsupported("a context manager; only torch.no_grad() and alike are known")
        self.state.storages.grad_modes.append(
            self.state.storages.records_gradients() if context.mode is None else context.mode
        )
        return [NONE]

    def _prim_Exit(self, node: Any) -> list[Value]:
        if self.state.storages.grad_modes:
            self.state.storages.grad_modes.pop()
        return [NONE]

    def _prim_Print(self, node: Any) -> list[Value]:
        first = next(iter(node.inputs()), None)
        if first is not None and isinstance(mark := self._lookup(first), ConstValue) and mark.value in (KEPT, IN_PLACE):
            self._divides_in_place = mark.value == IN_PLACE
            return []
        call = PrintCall([self._shown(self._lookup(value)) for value in node.inputs()])
        self.python_calls.call(call, call.values)
        return []

    def _prim_tolist(self, node: Any) -> list[Value]:
        value = self._lookup(next(iter(node.inputs())))
        if not isinstance(value, TensorValue):
            return [Uninitialized(str(node.output().type()))] if isinstance(value, Uninitialized) else [value]
        return [to_list(self.tensors, self.scalars, self.containers, value, node.output().type())]

    def _prim_isinstance(self, node: Any) -> list[Value]:
        (value,) = self._identity(node)
        known = self.classes.is_instance(value, node.tys("types"))
        if known is None:
            raise self.state.unsupported_op("isinstance on a value whose type is dynamic; annotate it")
        return [ConstValue(known)]
