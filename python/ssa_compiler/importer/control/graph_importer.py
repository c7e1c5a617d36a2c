"""Walking TorchScript graphs: one method per kind of node; calls are inlined here, so that locations stay call
sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import torch

from ..containers.arenas import is_row
from ..containers.classes import is_made_by_init, named_tuple_type, tuple_class, with_class
from ..containers.listed_objects import is_permutation
from ..containers.tolist import to_list
from ..ir.locations import highlighted
from ..ir.tuple_keys import decoded
from ..ops.message_pieces import plain_pieces
from ..ops.print_calls import PrintCall
from ..torchscript.as_eager import ASKED
from ..torchscript.syntax_rewriter import IN_PLACE, KEPT
from ..torchscript.tuple_operands import is_made_of_tuple
from ..values.diagnostics import ProgramRaises
from ..values.dynamic_list_value import is_scalar
from ..values.heap import TUPLE, UNKNOWN
from ..values.plan import AnotherPlan
from ..values.runtime_strings import RaiseCall
from ..values.values import (
    NONE,
    ChosenRef,
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
    is_const,
)
from .concatenations import Concatenations
from .trip_counts import Iteration, Trips, counted_up_to, most_iterations

__all__ = ["GraphImporter"]

_FEW_CONSTANTS = 8
"""A loop over so many is written out."""
_EMBEDDING = re.compile(r"__torch__\.torch\.nn\.functional\.(?:___torch_mangle_\d+\.)?embedding")


class GraphImporter(Concatenations):
    """Imports the nodes of a graph: `prim` nodes here, one method for each kind, and operators."""

    def _node(self, node: Any) -> list[Value]:
        kind, self._nodes[-1] = node.kind(), node
        self._spend()
        if not self.state.heap.origins or kind in ("prim::If", "prim::Loop"):
            return self._one_node(node, kind)
        found = [self._environments[-1].get(value.debugName(), NONE) for value in node.inputs()]
        with self.containers.ragged_lists.nested.up_to_date(found):
            return self._one_node(node, kind)

    def _spend(self) -> None:
        """Count a node.

        Raises:
            UnsupportedProgramError: there were too many.
        """
        budget = self.state.plan.budget
        if budget is not None:
            budget.left -= 1
            if budget.left < 0:
                raise self.state.unsupported(
                    "a program that is this large once its loops and calls are written out; compile parts of it"
                )

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
        return [with_class(self._constant(ConstValue(output.toIValue())), output.type())]

    def _prim_Uninitialized(self, node: Any) -> list[Value]:
        return [Uninitialized(str(node.output().type()))]

    def _prim_ListConstruct(self, node: Any) -> list[Value]:
        elements = [self._lookup(value) for value in node.inputs()]
        if str(node.output().type()) == "List[Optional[Tensor]]":
            elements = self._indices(node, elements)
        made = self.containers.new_list(elements)
        self.containers.classes.declare(made, node.output().type())
        if is_made_of_tuple(node):
            self.containers.classes.note(made, TUPLE if self._rewritten[self._calls[-1]] else UNKNOWN)
        return [made]

    def _indices(self, node: Any, elements: list[Value]) -> list[Value]:
        """The indices of `x[indices]`, where these may be a tuple."""
        opened = next((each for each in elements if isinstance(each, TupleValue)), None)
        if opened is None:
            return elements
        if len(elements) > 1 or "," in highlighted(node.output().uses()[0].user).partition("[")[2].partition("]")[0]:
            raise self.state.unsupported("a tuple of tensors as one of several indices; write its elements there")
        return list(opened.elements)

    def _prim_TupleConstruct(self, node: Any) -> list[Value]:
        elements = tuple(self._lookup(value) for value in node.inputs())
        return [TupleValue(elements, *tuple_class(node))]

    def _prim_DictConstruct(self, node: Any) -> list[Value]:
        inputs = [self._lookup(value) for value in node.inputs()]
        keys = inputs[::2]
        if not is_const(*keys):
            raise self.state.unsupported("a dynamic dict key; use constants as keys")
        return [self.containers.new_dict([decoded(key.value) for key in keys], inputs[1::2])]  # type: ignore[attr-defined]

    def _unpack(self, node: Any) -> list[Value]:
        (value,) = [self._lookup(value) for value in node.inputs()]
        if isinstance(value, Uninitialized):
            return [value] * node.outputsSize()
        count, text = ConstValue(node.outputsSize()), f"expected {node.outputsSize()}"
        too_many, too_few = (f"ValueError: {each} values to unpack ({text}" for each in ("too many", "not enough"))
        if self.containers.is_growing(value):
            (length,) = self.containers.call("aten::len", [value])
            self.scalars.require(self.scalars.emit("le", [length, count]), f"{too_many})")
            self.scalars.require(self.scalars.emit("ge", [length, count]), f"{too_few})")
            places = map(ConstValue, range(count.value))
            return [self.containers.call("aten::__getitem__", [value, place])[0] for place in places]
        elements = self.containers.elements(value)
        if len(elements) != count.value:
            raise ProgramRaises(f"{too_many})" if len(elements) > count.value else f"{too_few}, got {len(elements)})")
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
        limit, condition = (self._lookup(value) for value in list(node.inputs())[:2])
        limit, condition = self.implicit.number(limit, int), self.implicit.number(condition, bool)
        bound = most_iterations(node)
        most = limit if bound is None else self.implicit.number(self._lookup(bound), int)
        return self.control.loop(Trips(limit, most, condition), self._carried(node), node, self._iteration(node))

    def _iteration(self, node: Any) -> Iteration:
        """Return how a prim::Loop goes through lists, if it is a for loop over some.

        TorchScript asks once how long they are, Python before each iteration. A loop with a break has no number of
        iterations, but a condition: the position is less than the length, and there was no break.
        """
        bound, counters = counted_up_to(node)
        lengths = [next(node.inputs()) if bound is None else bound]
        flag = [] if bound is None else list(next(next(node.blocks()).outputs()).node().inputs())[-1:]
        owners = []
        known = self._lookup(lengths[0])
        while lengths:
            made = lengths.pop().node()
            if made.kind() in ("prim::min", "prim::ListConstruct"):  # zip, enumerate
                lengths += made.inputs()
            elif made.kind() == "aten::len" and highlighted(made) != "len":
                owners.append(self._lookup(made.input()))
        choices = [each for owner in owners for each in (owner.choices if isinstance(owner, ChosenRef) else (owner,))]
        lists = [(owner, self.containers.extent(owner)) for owner in choices if isinstance(owner, ListRef)]
        length = known.value if bound is not None and isinstance(known, ConstValue) else None
        if not lists:
            return Iteration(lambda again: None, length)

        def check(again: Value | None) -> None:
            if again is not None and flag:
                again = self._lookup(flag[0])
            ended = isinstance(again, ConstValue) and not again.value  # by a break
            if not ended and any(self.containers.extent(owner) != extent for owner, extent in lists):
                raise self.state.unsupported(
                    "a list or dict that changes its length while a for loop goes through it; go through a copy, list(...)"
                )

        visits = self.containers.dicts.later_keys.visits(owners[0]) if len(owners) == 1 else None
        return Iteration(check, length, visits, counters, self._are_numbers(owner for owner, _ in lists))

    def _are_numbers(self, lists: Iterable[ListRef]) -> bool:
        """Whether lists hold numbers, of which some are dynamic; few constants are better known in each iteration."""
        contents = [self.state.heap.contents.get(each.cell, (NONE,)) for each in lists]
        numbers = list(chain.from_iterable(contents))
        few = self.state.in_library or min(map(len, contents)) <= _FEW_CONSTANTS
        return all(map(is_scalar, numbers)) and not (few and all(isinstance(each, ConstValue) for each in numbers))

    def _prim_RaiseException(self, node: Any) -> list[Value]:
        message, *named = (self._lookup(value) for value in node.inputs())
        text = str(message.value if isinstance(message, ConstValue) else getattr(message, "text", "?"))
        name = named[0].value if named and isinstance(named[0], ConstValue) and named[0].value else ""
        name = str(name).removeprefix("builtins.")
        kind = "" if text.startswith(f"{name}:") else name
        pieces = message.pieces if isinstance(message, RuntimeStr) else ()
        emitted = self.state.conditional and not all(isinstance(piece, str) for piece in pieces)
        if emitted:
            call = RaiseCall(plain_pieces(self.containers, pieces), kind, self.state.locations.user())
            self.python_calls.call(call, call.values)
        raise ProgramRaises(f"{kind}: {text}" if kind else text, emitted=emitted)

    def _prim_CallFunction(self, node: Any) -> list[Value]:
        function, *arguments = (self._lookup(value) for value in node.inputs())
        assert isinstance(function, FunctionValue)
        if is_permutation(function.name):
            self.containers.tuple_lists.objects.permutations.add(arguments[0].cell)  # type: ignore[attr-defined]
            return arguments
        return [self.classes.arenas.kept(self._call(function.name, function.graph, arguments))]

    def _prim_CallMethod(self, node: Any) -> list[Value]:
        owner, *arguments = (self._lookup(value) for value in node.inputs())
        if isinstance(owner, GradMode):
            if arguments and isinstance(arguments[0], ConstValue):
                owner.mode = bool(arguments[0].value)  # set_grad_enabled(mode)
            return [NONE]
        if isinstance(owner, ObjectRef) or is_row(owner):
            first = next(iter(node.inputs()))
            made = self._call(*self.classes.method(owner, first.type(), node.s("name")), [owner, *arguments])
            if node.s("name") == "__init__" and isinstance(owner, ObjectRef) and is_made_by_init(owner):
                self._environments[-1][first.debugName()] = self.classes.arenas.kept(owner)
            return [made]
        if not isinstance(owner, ModuleValue):
            raise self.state.defect(f"a call of method {node.s('name')} of a {type(owner).__name__}")
        method = owner.script._get_method(node.s("name"))
        name = f"{owner.path}.{node.s('name')}" if owner.path else node.s("name")
        return [self.classes.arenas.kept(self._call(name, method.graph, [owner, *arguments]))]

    def _prim_PythonOp(self, node: Any) -> list[Value]:
        inputs = [self._lookup(value) for value in node.inputs()]
        if any(isinstance(value, Uninitialized) for value in inputs):
            return [Uninitialized(str(output.type())) for output in node.outputs()]
        if isinstance(node.pyobj(), torch.nn.Module):
            # TorchScript leaves it to Python; partial evaluation takes it for a part of the program.
            raise self.state.unsupported(
                "a call of a module that is a variable of Python; make it an attribute of a module"
            )
        return [self.python_calls.call(node, inputs)][: node.outputsSize()]

    def _check_call(self, name: str, graph: Any, arguments: Sequence[Value]) -> None:
        """Reject `embedding(..., max_norm=...)` where the user scripted it: TorchScript drops the write to the
        weight.
        """
        if not _EMBEDDING.match(name) or "embedding_renorm_" in str(graph):
            return
        for spec, value in zip(graph.inputs(), arguments):
            if spec.debugName().startswith("max_norm") and not (isinstance(value, ConstValue) and value.value is None):
                raise self.state.unsupported(
                    "TorchScript drops the write of max_norm to the weight; pass the unscripted model"
                )

    def _prim_GetAttr(self, node: Any) -> list[Value]:
        owner = self._lookup(node.input())
        if isinstance(owner, ObjectRef) or is_row(owner):
            return [self.classes.attribute(owner, node.s("name"))]
        if not isinstance(owner, ModuleValue):
            raise self.state.defect(f"attribute {node.s('name')} of a {type(owner).__name__}")
        value = self.modules.attribute(owner, node.s("name"))
        if isinstance(value, Value):
            return [value]
        path = f"{owner.path}.{node.s('name')}" if owner.path else node.s("name")
        return [self._attribute(value, path, path, node.output().type())]

    def _attribute(self, value: Any, path: str, name: str, declared: Any) -> Value:
        """Return a constant of the module's: the attribute `path`, or what it has at the place `name`."""
        if declared.kind() == "OptionalType":
            declared = declared.getElementType()
        if declared.kind() == "ClassType":
            raise self.state.unsupported(
                f"the attribute {name}, an object of a class; keep what it holds in the module"
            )
        if isinstance(value, (list, tuple)):
            kinds = declared.elements() if isinstance(value, tuple) else [declared.getElementType()] * len(value)
            parts = [self._attribute(e, path, f"{name}[{i}]", t) for i, (e, t) in enumerate(zip(value, kinds))]
            if isinstance(value, tuple):
                return TupleValue(tuple(parts), *named_tuple_type(declared))
            made: ListRef | DictRef = self.containers.new_list(parts)
            self.state.heap.module_owned[made.cell] = path if self.modules.can_hold(path) else ""
            return made
        if isinstance(value, dict):
            kind = declared.getValueType()
            parts = [self._attribute(e, path, f"{name}[{k!r}]", kind) for k, e in value.items()]
            made = self.containers.new_dict(list(value), parts)
            self.state.heap.module_owned[made.cell] = path if self.modules.can_hold(path) else ""
            return made
        if isinstance(value, torch.Tensor):
            return self.modules.registered(name, value)
        return ConstValue(value)

    def _prim_SetAttr(self, node: Any) -> list[Value]:
        owner, value = (self._lookup(value) for value in node.inputs())
        if isinstance(owner, ObjectRef) or is_row(owner):
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
        value: Any = self._identity(node)[0]
        return [ConstValue(value.value.name)]

    def _prim_EnumValue(self, node: Any) -> list[Value]:
        value: Any = self._identity(node)[0]
        return [ConstValue(value.value.value)]

    def _prim_Enter(self, node: Any) -> list[Value]:
        context = self._lookup(node.input())
        if not isinstance(context, GradMode):
            raise self.state.unsupported(
                "a context manager other than torch.no_grad(), enable_grad() and set_grad_enabled(); enter it around the "
                "call of the compiled program, or in a function that is marked @torch.jit.ignore"
            )
        self.state.storages.grad_modes.append(
            self.state.storages.records_gradients() if context.mode is None else context.mode
        )
        return [NONE]

    def _prim_Exit(self, node: Any) -> list[Value]:
        if self.state.storages.grad_modes:
            self.state.storages.grad_modes.pop()
        return [NONE]

    def _prim_Print(self, node: Any) -> list[Value]:
        first, *rest = [*map(self._lookup, node.inputs()), NONE]
        mark = first.value if isinstance(first, ConstValue) else None
        if mark in (KEPT, IN_PLACE):
            self._divides_in_place = mark == IN_PLACE
            return []
        if mark == ASKED:
            self.containers.classes.asked(rest[0])
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
