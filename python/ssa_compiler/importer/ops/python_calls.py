"""Calls of Python functions that TorchScript ignores: `@torch.jit.ignore`.

Such a call stays a call of Python (`semantics/ignored_functions.py`). What it returns has to be known at import. Where the declared type does
not say it (a tensor has a dtype and a shape, a list a length), the function runs once: on FakeTensors, or on zeros where it
needs numbers. Which arguments it writes is read off its source.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
import types
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch_mlir import ir

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
from ...errors import SourceLocation
from ...semantics.functionalized import functionalized_name, functionalized_schema
from ...semantics.ignored_functions import IgnoredCall, TensorFacts, operator_name, register
from ..containers.containers import Containers
from ..ir.torchscript_enums import unnumbered
from ..isolation.process_state import own_numbers
from ..tensors.disjointness import provably_disjoint
from ..tensors.overlap import meets_itself
from ..tensors.tensor_ops import TensorOps
from ..values.modules import Modules
from ..values.runtime_strings import Template
from ..values.state import State
from ..values.values import (
    ConstValue,
    DictRef,
    ListRef,
    ModuleValue,
    OptionalValue,
    RuntimeStr,
    ScalarValue,
    TensorValue,
    TupleValue,
    Value,
    in_words,
)

__all__ = ["PrintCall", "PythonCalls", "is_told"]

_SCALARS = {"IntType": int, "FloatType": float, "BoolType": bool}
_SCHEMA_NAMES = {int: "int", float: "float", bool: "bool", torch.Tensor: "Tensor"}
_LARGEST = 1 << 24
"""Elements of the zeros that a function runs on at import."""


@dataclass
class _Made:
    """A call that was imported."""

    schema: str
    call: IgnoredCall
    path: str | None
    location: SourceLocation | None


class PrintCall:
    """The node of a call of `print`, which is an op to TorchScript, as that of a Python function."""

    def __init__(self, printed: Sequence[Value]) -> None:
        """Create it.

        Args:
            printed: the operands; strings may have run-time values in them.
        """
        texts = [
            Template(value.pieces) if isinstance(value, RuntimeStr) and value.pieces else None for value in printed
        ]
        self._texts = texts
        self.values = [v for value, text in zip(printed, texts) for v in (text.values if text else [value])]

    def pyobj(self) -> Any:
        """Return what is called with the values."""

        def print_all(*values: Any) -> None:
            rest = iter(values)
            print(*(text.fill(rest) if text else next(rest) for text in self._texts))

        return print_all

    def pyname(self) -> str:
        """Return what the user calls it."""
        return "print"

    def outputsSize(self) -> int:
        """Return the number of results."""
        return 0


class PythonCalls:
    """Imports calls of Python functions."""

    def __init__(self, state: State, modules: Modules, tensors: TensorOps, containers: Containers) -> None:
        self.state, self.modules = state, modules
        self.tensors, self.containers = tensors, containers
        self._made: dict[Any, _Made] = {}
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
            number for number, leaf in enumerate(leaves) if isinstance(leaf, TensorValue) and _may_write(python)
        )
        call = IgnoredCall(
            name,
            function,
            None if owner is None else weakref.ref(self._holder(owner)),
            arguments,
            results,
            facts,
            written,
            place in self.state.retries,
            None,
            self.state.locations.user(),
        )
        schema = _schema(operator, leaves, kinds, written)
        self._made[place] = _Made(schema, call, owner.path if owner is not None else None, self.state.locations.user())
        values = self._emit(schema, leaves, written, kinds, fakes, name, place)
        return self._value(results, values)

    def register(self) -> None:
        """Make the operators of a finished import known to PyTorch.

        Raises:
            UnsupportedProgramError: a method is called of a module that the program writes.
        """
        for made in self._made.values():
            if made.path is not None:
                self._check_state(made)
                made.call.reads = functools.partial(_read, weakref.ref(self.modules.root), self._read_names())
            register(made.schema, made.call)

    def _check_state(self, made: _Made) -> None:
        """Reject a method of what the program writes: it may read that before or after."""
        prefix = f"{made.path}." if made.path else ""
        written = [name for found in self.modules.found if found.storage in self.state.written for name in found.names]
        written += [number.name for number in self.modules.numbers]
        for name in written:
            if name.startswith(prefix):
                self.state.locations.frames[:] = [made.location]
                raise self.state.unsupported(
                    f"a call of the ignored method '{made.call.name}' of a module whose '{name}' the program writes, which the "
                    "method might read; make it a function that takes what it needs as arguments"
                )

    def _read_names(self) -> tuple[str, ...]:
        return (*(found.names[0] for found in self.modules.found), *sorted(self.modules.constants))

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
            self.state.use(value, name)
            self.state.note_gradients(value)
            return leaf(value, torch.Tensor)
        if isinstance(value, ScalarValue):
            return leaf(value, value.kind)
        if isinstance(value, OptionalValue):
            return OutputOptional(leaf(value.present, bool), self._argument(value.value, leaves, name))
        if isinstance(value, TupleValue):
            elements = tuple(self._argument(element, leaves, name) for element in value.elements)
            return OutputTuple(elements, value.fields, value.type_name)
        if isinstance(value, (ListRef, DictRef)):
            parts = tuple(self._argument(element, leaves, name) for element in self.containers.elements(value))
            if isinstance(value, ListRef):
                return OutputList(parts)
            return OutputDict(tuple(zip(self.state.keys[value.cell], parts)))
        raise self.state.unsupported_op(
            f"the ignored function '{name}', which is given {in_words(value)}; pass tensors, numbers, strings, or "
            "tuples, lists and dicts of them"
        )

    # Results. --------------------------------------------------------------------------------------------------------

    def _outcome(self, node: Any, function: Any, arguments: OutputSpec, leaves: list[Any], name: str) -> Any:
        """Return what the function returns, as FakeTensors, numbers for numbers, and constants."""
        declared = node.output().type() if node.outputsSize() else None
        if declared is None or is_told(declared):
            return _told(declared)
        key = (self.state.place(), *(_looks(leaf) for leaf in leaves))
        if key in self._looks:
            return self._faked(self._looks[key])
        fakes = [self.tensors.python(leaf) for leaf in leaves]
        function = _on_a_copy(function)
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
            self._looks[key] = tree_map(
                lambda leaf: _Look.of(leaf) if isinstance(leaf, torch.Tensor) else leaf, outcome
            )
            return self._faked(self._looks[key])
        return outcome

    def _faked(self, outcome: Any) -> Any:
        with self.state.symbols.mode:
            return tree_map(lambda leaf: leaf.fake() if isinstance(leaf, _Look) else leaf, outcome)

    def _run_on_fakes(self, function: Any, arguments: OutputSpec, fakes: list[Any]) -> tuple[Any, Exception | None]:
        with own_numbers(), self.state.symbols.transaction(), torch.no_grad(), self.state.symbols.mode:
            given = [fake.clone() if isinstance(fake, torch.Tensor) else fake for fake in fakes]
            return _run(function, build_result(arguments, given))

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
            return _run(function, build_result(arguments, given))

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
            returns = ", ".join(["Tensor"] * len(targets) + [_SCHEMA_NAMES[kind] for kind in kinds or [int]])
            text = f"{text.rpartition(' -> ')[0]} -> ({returns})"
        attributes = {
            "name": ir.StringAttr.get(f"torch.{called}"),
            "tssa.schema": ir.StringAttr.get(text),
            "tssa.random": ir.UnitAttr.get(),
        }
        op = emitter.op("torch.operator", result_types, [leaf.ssa for leaf in leaves], attributes)
        results = list(op.results)
        store = torch.ops.aten.copy_.default
        for target, ssa in zip(targets, results):
            value = TensorValue(ssa, target.fake, frozenset(), object(), sympy.Integer(0))
            self.tensors.emit(store, [target, value, ConstValue(False)], [state.type_of(target.fake)])
            state.write(target, name)
        values: list[Value] = []
        for kind, fake, ssa in zip(kinds, fakes, results[len(targets) :]):
            if kind is not torch.Tensor:
                values.append(state.opaque_scalar(kind, ssa))
                continue
            value = state.fresh(ssa, fake)
            sources = [leaf for leaf in (*leaves, *values) if isinstance(leaf, TensorValue)]
            if sources and place not in state.retries:
                # If it matters whether Python returns one of these, the import starts again, and running it checks.
                state.maybe_alias(value, sources, name, retry=place)
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

    def _value(self, spec: OutputSpec, leaves: list[Value]) -> Value:
        if isinstance(spec, OutputLeaf):
            return leaves[spec.index]
        if isinstance(spec, OutputConstant):
            return ConstValue(spec.value)
        if isinstance(spec, OutputDict):
            keys = [key for key, _ in spec.items]
            return self.containers.new_dict(keys, [self._value(element, leaves) for _, element in spec.items])
        assert isinstance(spec, (OutputTuple, OutputList))
        elements = tuple(self._value(element, leaves) for element in spec.elements)
        return (
            TupleValue(elements, spec.fields) if isinstance(spec, OutputTuple) else self.containers.new_list(elements)
        )


@dataclass(frozen=True)
class _Look:
    """A tensor that Python returned, without its contents."""

    dtype: torch.dtype
    sizes: tuple[int, ...]

    @staticmethod
    def of(tensor: torch.Tensor) -> _Look:
        return _Look(tensor.dtype, tuple(int(size) for size in tensor.shape))

    def fake(self) -> torch.Tensor:
        return torch.empty(self.sizes, dtype=self.dtype)


def _looks(leaf: Any) -> Any:
    """What the result's looks may depend on."""
    if isinstance(leaf, TensorValue):
        return leaf.fake.dtype, tuple(map(str, leaf.fake.shape)), tuple(map(str, leaf.fake.stride()))
    return leaf.kind


def _on_a_copy(function: Any) -> Any:
    """Return a method of a copy of its module, whose attributes it may change."""
    owner = getattr(function, "__self__", None)
    if owner is None:
        return function
    try:
        return types.MethodType(function.__func__, copy.deepcopy(owner))
    except Exception:  # noqa: BLE001 - the user's class; what cannot be copied is used as it is
        return function


def _run(function: Any, arguments: Any) -> tuple[Any, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 - the user's code, on values that it was not made for
        return None, error


def is_told(declared: Any) -> bool:
    """Whether a type says all about a result."""
    if declared.kind() == "TupleType":
        return all(map(is_told, declared.elements()))
    return declared.kind() == "NoneType" or declared.kind() in _SCALARS


def _told(declared: Any) -> Any:
    """A value of such a type."""
    if declared is None or declared.kind() == "NoneType":
        return None
    if declared.kind() == "TupleType":
        return tuple(map(_told, declared.elements()))
    return _SCALARS[declared.kind()]()


def _schema(operator: str, leaves: list[Any], kinds: list[type], written: frozenset[int]) -> str:
    arguments = []
    for number, leaf in enumerate(leaves):
        kind = _SCHEMA_NAMES[torch.Tensor if isinstance(leaf, TensorValue) else leaf.kind]
        arguments.append(f"{kind}(a{number}!) x{number}" if number in written else f"{kind} x{number}")
    returns = ", ".join(_SCHEMA_NAMES[kind] for kind in kinds) or "int"
    return f"{operator}({', '.join(arguments)}) -> ({returns})"


def _may_write(function: Any) -> bool:
    """Whether the source of a function shows writes in place, of whatever."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            return True
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Subscript) for target in targets):
                return True
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if (called.endswith("_") and not called.endswith("__")) or any(k.arg == "out" for k in node.keywords):
                return True
    return False


def _read(root: Any, names: Sequence[str]) -> dict[str, Any]:
    """The values that a module, of which this is a weak reference, holds under these names."""
    found = {}
    for name in names:
        value = root()
        for part in name.split("."):
            value = getattr(value, part, None)
        found[name] = value
    return found
