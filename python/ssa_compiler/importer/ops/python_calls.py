"""Calls of Python functions that TorchScript ignores: `@torch.jit.ignore`.

Such a call stays a call of Python (`semantics/ignored_functions.py`). What it returns has to be known at import. Where
the declared type does not say it (a tensor has a dtype and a shape, a list a length), the function runs once: on
FakeTensors, or on zeros where it needs numbers. Which arguments it writes is read off its source.
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import sympy
import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch_mlir import ir

from ...abi.records import is_dict_of_names
from ...abi.results import (
    OutputConstant,
    OutputDict,
    OutputLeaf,
    OutputList,
    OutputOptional,
    OutputSpec,
    OutputTuple,
    build_result,
)
from ...semantics.functionalized import functionalized_name, functionalized_schema
from ...semantics.ignored_functions import IgnoredCall, TensorFacts, operator_name, register
from ..containers.containers import Containers
from ..ir.torchscript_enums import unnumbered
from ..isolation.process_state import own_numbers
from ..tensors.disjointness import provably_disjoint
from ..tensors.overlap import meets_itself
from ..tensors.tensor_ops import TensorOps
from ..torchscript.python_classes import python_class
from ..values.modules import Modules
from ..values.runtime_strings import RaiseCall
from ..values.state import State
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    ModuleValue,
    ObjectRef,
    OptionalValue,
    ScalarValue,
    TensorValue,
    TupleValue,
    Value,
    in_words,
)
from .python_functions import (
    SCHEMA_NAMES,
    Look,
    Made,
    is_told,
    looks,
    may_write,
    on_a_copy,
    read_attributes,
    run_ignored,
    schema_of,
    stays_python,
    title_of,
    told_type,
)

__all__ = ["PythonCalls"]

_LARGEST = 1 << 24
"""Elements of the zeros that a function runs on at import."""


class PythonCalls:
    """Imports calls of Python functions.

    Attributes:
        makes_generators: whether one may return a generator of random numbers.
    """

    def __init__(self, state: State, modules: Modules, tensors: TensorOps, containers: Containers) -> None:
        self.state, self.modules = state, modules
        self.tensors, self.containers = tensors, containers
        self.makes_generators = False
        self._made: dict[Any, Made] = {}
        self._looks: dict[Any, Any] = modules.looks

    def call(self, node: Any, inputs: Sequence[Value]) -> Value:
        """Import a prim::PythonOp.

        Args:
            node: the node; a `PrintCall` for a print.
            inputs: its operands.
        Returns:
            What the function returns.
        Raises:
            UnsupportedOpError: it cannot be called from compiled code.
        """
        given = list(inputs)
        first = given[0] if given else None
        owner = first if isinstance(first, ModuleValue) else None
        function = node.pyobj() if owner is None else None
        if owner is not None:
            del given[0]
        name = node.pyname()
        leaves: list[Any] = []
        arguments = OutputTuple(tuple(self._argument(value, leaves, name) for value in given))
        python = getattr(self._holder(owner), name) if owner is not None else function
        outcome = self._outcome(node, python, arguments, leaves, name)
        results, facts, kinds, fakes = self._results(outcome)
        place = ("python", self.state.place())
        earlier = self._made.get(place)
        operator = earlier.schema.partition("(")[0] if earlier else operator_name(name)
        written = frozenset(
            number for number, leaf in enumerate(leaves) if isinstance(leaf, TensorValue) and may_write(python)
        )
        message = node.message if isinstance(node, RaiseCall) else ""
        call = IgnoredCall(
            name,
            function,
            None if owner is None else weakref.ref(self._holder(owner)),
            arguments,
            results,
            facts,
            written,
            place in self.state.plan.retries,
            None,
            self.state.locations.user(),
            title_of(python, name),
            getattr(node, "reason", "") or stays_python(python),
            message,
        )
        self.makes_generators |= torch.Generator in kinds
        schema = schema_of(operator, leaves, kinds, written)
        made = Made(schema, call, owner.path if owner is not None else None, self.state.locations.user(), [], leaves)
        self._made[place] = made
        made.results += self._emit(schema, leaves, written, kinds, fakes, name, place, message)
        return self._value(results, made.results[:], made.results)

    def register(self, returned: Container[int]) -> None:
        """Make the operators of a finished import known to PyTorch.

        Args:
            returned: the tensors that the program returns, by `id` of the value.
        Raises:
            UnsupportedProgramError: a method is called of a module that the program writes.
        """
        for made in self._made.values():
            made.call.changed = self._is_changed(made.results)
            tensors = [value for value in made.results if isinstance(value, TensorValue)]
            made.call.handed_on = frozenset(
                number for number, value in zip(made.call.tensors, tensors, strict=False) if id(value) in returned
            )
            arguments = list(self.state.emitter.entry.arguments)
            made.call.callers = tuple(
                number
                for number, leaf in enumerate(made.given)
                if isinstance(leaf, TensorValue) and leaf.ssa in arguments and not leaf.renewed
            )
            made.call.overwritten = tuple(
                number
                for number, leaf in enumerate(made.given)
                if isinstance(leaf, TensorValue) and number not in made.call.written and self._is_changed([leaf])
            )
            if made.path is not None:
                self._check_state(made)
                made.call.reads = functools.partial(
                    read_attributes, weakref.ref(self.modules.root), self._read_names(made.path)
                )
            register(made.schema, made.call)

    def _check_state(self, made: Made) -> None:
        """Reject a method of what the program writes: it may read that before or after."""
        prefix = f"{made.path}." if made.path else ""
        for name in self._changed_state():
            if name.startswith(prefix):
                self.state.locations.frames[:] = [made.location]
                raise self.state.unsupported(
                    f"a call of the ignored method '{made.call.name}' of a module whose '{name}' the program writes, which the "
                    "method might read; make it a function that takes what it needs as arguments"
                )

    def _changed_state(self) -> Iterator[str]:
        """The names under which the module has what the program writes, changes or assigns."""
        for found in self.modules.found:
            if found.storage in self.state.storages.written:
                yield from found.names
        yield from (number.name for number in self.modules.numbers)
        yield from (path for _, path in self.modules.first)
        places = self.state.heap.places
        for path, value in self.modules.held.items():
            if ("attribute", path) in places or self._is_changed(self._parts(value)):
                yield from self.modules.names_of_container(path)

    def _is_changed(self, values: Iterable[Value]) -> bool:
        """Whether the program changes a tensor, list or dict."""
        written, places = self.state.storages.written, self.state.heap.places
        return any(
            bool(value.storages & written) if isinstance(value, TensorValue) else getattr(value, "cell", None) in places
            for value in values
        )

    def _parts(self, value: Value) -> Iterator[Value]:
        """A value, and everything in it."""
        yield value
        if isinstance(value, OptionalValue):
            yield from self._parts(value.value)
        elif isinstance(value, TupleValue):
            for element in value.elements:
                yield from self._parts(element)
        elif isinstance(value, (ListRef, DictRef)):
            for element in self.state.heap.contents[value.cell]:
                yield from self._parts(element)

    def _read_names(self, path: str) -> tuple[str, ...]:
        """The names of what the program reads, as far as a method of the module `path` might change it.

        TorchScript leaves out reads of what is None: a method may bind such an attribute to a tensor.
        """
        found = (found.names[0] for found in self.modules.found)
        return (*found, *sorted(self.modules.constants), *self.modules.held, *self.modules.none_attributes(path))

    def _holder(self, owner: ModuleValue) -> Any:
        """The Python module of a module value."""
        holder = self.modules.root
        for part in owner.path.split(".") if owner.path else ():
            holder = getattr(holder, part)
        return holder

    # Arguments. ------------------------------------------------------------------------------------------------------

    def _argument(self, value: Value, leaves: list[Any], name: str) -> OutputSpec:
        """Describe an argument, collecting its tensors and run-time numbers."""

        def leaf(value: Any, kind: type) -> OutputLeaf:
            leaves.append(value)
            return OutputLeaf(len(leaves) - 1, kind)

        if isinstance(value, ConstValue):
            return OutputConstant(unnumbered(value.value))
        if isinstance(value, TensorValue):
            self.state.storages.use(value, name)
            self.state.storages.note_gradients(value)
            return leaf(value, torch.Tensor)
        if isinstance(value, ScalarValue):
            return leaf(value, value.kind)
        if isinstance(value, OptionalValue):
            return OutputOptional(leaf(value.present, bool), self._argument(value.value, leaves, name))
        if isinstance(value, TupleValue):
            elements = tuple(self._argument(element, leaves, name) for element in value.elements)
            return OutputTuple(elements, value.fields, value.type_name)
        is_plain = not isinstance(value, ObjectRef) or is_dict_of_names(python_class(value.type_name))
        if isinstance(value, (ListRef, DictRef)) and is_plain:
            parts = tuple(self._argument(element, leaves, name) for element in self.containers.elements(value))
            if isinstance(value, ListRef):
                return self.containers.classes.described(value, parts)
            ordered = self.state.heap.dict_classes.get(value.cell) is OrderedDict
            return OutputDict(tuple(zip(self.state.heap.keys[value.cell], parts)), ordered=ordered)
        raise self.state.unsupported_op(
            f"the ignored function '{name}', which is given {in_words(value)}; pass tensors, numbers, strings, or "
            "tuples, lists and dicts of them"
        )

    # Results. --------------------------------------------------------------------------------------------------------

    def _outcome(self, node: Any, function: Any, arguments: OutputSpec, leaves: list[Any], name: str) -> Any:
        """Return what the function returns, as FakeTensors, numbers for numbers, and constants."""
        declared = node.output().type() if node.outputsSize() else None
        if declared is None or is_told(declared):
            return told_type(declared)
        key = (self.state.place(), *(looks(leaf) for leaf in leaves))
        if key in self._looks:
            return self._faked(self._looks[key])
        fakes = [self.tensors.python(leaf) for leaf in leaves]
        function = on_a_copy(function)
        outcome, error = self._run_on_fakes(function, arguments, fakes)
        if error is not None:
            outcome, error = self._run_on_zeros(function, arguments, fakes, error)
        if error is not None:
            raise self.state.unsupported_op(
                f"the ignored function '{name}', whose result has to be known at import and which does not run on "
                f"FakeTensors, nor on zeros ({type(error).__name__}: {str(error).partition(chr(10))[0]}); make it a "
                "torch.library.custom_op with register_fake"
            ) from error
        tensors = [leaf for leaf in tree_leaves(outcome) if isinstance(leaf, torch.Tensor)]
        if all(isinstance(size, int) for tensor in tensors for size in tensor.shape):
            self._looks[key] = tree_map(lambda leaf: Look.of(leaf) if isinstance(leaf, torch.Tensor) else leaf, outcome)
            return self._faked(self._looks[key])
        return outcome

    def _faked(self, outcome: Any) -> Any:
        with self.state.symbols.mode:
            return tree_map(lambda leaf: leaf.fake() if isinstance(leaf, Look) else leaf, outcome)

    def _run_on_fakes(self, function: Any, arguments: OutputSpec, fakes: list[Any]) -> tuple[Any, Exception | None]:
        with own_numbers(), self.state.symbols.transaction(), torch.no_grad(), self.state.symbols.mode:
            given = [fake.clone() if isinstance(fake, torch.Tensor) else fake for fake in fakes]
            return run_ignored(function, build_result(arguments, given))

    def _run_on_zeros(
        self, function: Any, arguments: OutputSpec, fakes: list[Any], error: Exception
    ) -> tuple[Any, Exception | None]:
        given: list[Any] = []
        count = 0
        for fake in fakes:
            if isinstance(fake, torch.Tensor):
                if not all(isinstance(number, int) for number in (*fake.shape, *fake.stride())):
                    return None, error
                count += fake.numel()
                if count > _LARGEST:
                    return None, error
                given.append(torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype).zero_())
            else:
                kinds = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
                given.append(kinds[type(fake)]())
        with own_numbers(), torch.no_grad():
            return run_ignored(function, build_result(arguments, given))

    def _results(self, outcome: Any) -> tuple[OutputSpec, dict[int, TensorFacts], list[type], list[Any]]:
        """Describe a result: its structure, its tensors, the kind of each leaf and the leaves."""
        facts: dict[int, TensorFacts] = {}
        kinds: list[type] = []
        leaves: list[Any] = []

        def describe(value: Any) -> OutputSpec:
            scalars = {
                torch.SymInt: int,
                torch.SymFloat: float,
                torch.SymBool: bool,
                int: int,
                float: float,
                bool: bool,
                torch.Generator: torch.Generator,
            }
            if isinstance(value, torch.Tensor) or type(value) in scalars:
                kind = torch.Tensor if isinstance(value, torch.Tensor) else scalars[type(value)]
                if isinstance(value, torch.Tensor):
                    sizes = tuple(size if isinstance(size, int) else None for size in value.shape)
                    facts[len(kinds)] = TensorFacts(value.dtype, sizes)
                kinds.append(kind)
                leaves.append(value)
                return OutputLeaf(len(kinds) - 1, kind)
            if isinstance(value, tuple):
                return OutputTuple(tuple(describe(element) for element in value), tuple(getattr(value, "_fields", ())))
            if isinstance(value, list):
                return OutputList(tuple(describe(element) for element in value))
            if isinstance(value, dict):
                return OutputDict(tuple((key, describe(element)) for key, element in value.items()))
            if isinstance(value, (set, frozenset)) and any(isinstance(element, torch.Tensor) for element in value):
                raise self.state.unsupported_op("a set of tensors that Python returns; return a list or tuple")
            return OutputConstant(value)

        return describe(outcome), facts, kinds, leaves

    # Emission. -------------------------------------------------------------------------------------------------------

    def _emit(
        self,
        schema: str,
        leaves: list[Any],
        written: frozenset[int],
        kinds: list[type],
        fakes: list[Any],
        name: str,
        place: Any,
        message: str,
    ) -> list[Value]:
        state, emitter = self.state, self.state.emitter
        parsed = torch._C.parse_schema(schema)
        result_types = [
            state.type_of(fake) if kind is torch.Tensor else emitter.scalar_type(kind)
            for kind, fake in zip(kinds, fakes)
        ] or [emitter.scalar_type(int)]
        targets = [leaves[number] for number in sorted(written)]
        self._check_targets(targets, name)
        text, called = schema, schema.partition("(")[0].replace("::", ".")
        if targets:
            result_types = [*(state.type_of(target.fake) for target in targets), *result_types]
            text, called = functionalized_schema(parsed, len(result_types)), functionalized_name(parsed)
            returns = ", ".join(["Tensor"] * len(targets) + [SCHEMA_NAMES[kind] for kind in kinds or [int]])
            text = f"{text.rpartition(' -> ')[0]} -> ({returns})"
        attributes = {
            "name": ir.StringAttr.get(f"torch.{called}"),
            "tssa.schema": ir.StringAttr.get(text),
            "tssa.random": ir.UnitAttr.get(),
        }
        if message:
            attributes["tssa.message"] = ir.StringAttr.get(message)
        op = emitter.op("torch.operator", result_types, [leaf.ssa for leaf in leaves], attributes)
        results = list(op.results)
        store = torch.ops.aten.copy_.default
        for target, ssa in zip(targets, results):
            value = TensorValue(ssa, target.fake, frozenset(), object(), sympy.Integer(0))
            self.tensors.emit(store, [target, value, ConstValue(False)], [state.type_of(target.fake)])
            state.storages.write(target, name)
        values: list[Value] = []
        for kind, fake, ssa in zip(kinds, fakes, results[len(targets) :]):
            if kind is not torch.Tensor:
                values.append(state.opaque_scalar(kind, ssa))
                continue
            value = state.fresh(ssa, fake)
            sources = [leaf for leaf in (*leaves, *values) if isinstance(leaf, TensorValue)]
            if sources and place not in state.plan.retries:
                # If it matters whether Python returns one of these, the import starts again, and running it checks.
                state.storages.maybe_alias(value, sources, name, retry=place)
            values.append(value)
        return values

    def _check_targets(self, targets: list[TensorValue], name: str) -> None:
        for number, target in enumerate(targets):
            meets = meets_itself(target.fake) is not False
            for other in targets[:number]:
                shared = other.root is target.root or bool(other.storages & target.storages)
                meets = meets or (shared and not provably_disjoint(self.state.symbols, target, other))
            if meets:
                raise self.state.unsupported_op(
                    f"the ignored function '{name}', which may write arguments that share memory; pass one of them"
                )

    def _value(self, spec: OutputSpec, leaves: list[Value], made: list[Value]) -> Value:
        """Return the value of a result; containers that are made for it are appended to `made`."""
        if isinstance(spec, OutputLeaf):
            return leaves[spec.index]
        if isinstance(spec, OutputConstant):
            return ConstValue(spec.value)
        if isinstance(spec, OutputDict):
            keys = [key for key, _ in spec.items]
            made.append(self.containers.new_dict(keys, [self._value(each, leaves, made) for _, each in spec.items]))
            return made[-1]
        assert isinstance(spec, (OutputTuple, OutputList))
        elements = tuple(self._value(element, leaves, made) for element in spec.elements)
        if isinstance(spec, OutputTuple):
            return TupleValue(elements, spec.fields)
        made.append(self.containers.new_list(elements))
        return made[-1]
