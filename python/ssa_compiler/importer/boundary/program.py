"""`import_program`: one TorchScript program to one imported module and its calling convention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch_mlir import ir

from ...abi.argument_specs import ArgumentSpec
from ...abi.assumptions import DistinctStorage, FlagOff, NotInferred, SameObject, StorageAsExample, StridesAsExample
from ...abi.container_writeback import ChangedContainer
from ...abi.convention import Assumption, ImportedProgram
from ...abi.module_guards import ModuleFacts
from ...abi.module_state import AttributeSpec, ParameterSpec, RebindingSpec
from ...abi.object_writeback import ChangedObject, OwnObject
from ...abi.results import (
    TORCH_SIZE,
    OutputArgument,
    OutputConstant,
    OutputDict,
    OutputLeaf,
    OutputList,
    OutputObject,
    OutputOptional,
    OutputRows,
    OutputSpec,
    OutputTuple,
)
from ...errors import (
    SsaCompilerError,
    UnsupportedOpError,
    UnsupportedProgramError,
    program_error,
)
from ..containers.classes import python_class
from ..control.graph_importer import Interpreter
from ..fake.fake_run import run
from ..ir.torchscript_enums import unnumbered
from ..isolation.process_state import quiet
from ..ops.devices import check_default_device
from ..torchscript.models import OpenedModel, has_own_functions, open_model
from ..values.argument_sizes import ArgumentSizes, MakeStatic
from ..values.attempts import unexpected_errors_located
from ..values.dynamic_shapes import SizeRequest, requested_sizes
from ..values.modules import NO_TENSOR, FoundParameter, Inline, Modules, NewObject, Restart
from ..values.state import ProgramRaises, Retry, State, Unjoinable
from ..values.symbols import expr_of
from ..values.values import (
    NONE,
    ConstValue,
    DictRef,
    ListRef,
    ModuleValue,
    ObjectRef,
    OptionalValue,
    ScalarValue,
    Site,
    TensorValue,
    TupleValue,
    Value,
    in_words,
    tensor_values,
)
from .argument_containers import changed_containers
from .argument_storage import CallersObjects
from .arguments import Arguments

__all__ = ["import_program"]


def import_program(
    model: Callable[..., Any] | torch.nn.Module | OpenedModel,
    example_inputs: tuple[Any, ...],
    example_kwargs: dict[str, Any] | None = None,
    *,
    index_checks: bool = True,
    dynamic_shapes: Any = None,
    lenient: bool = False,
    kernels: bool = False,
) -> ImportedProgram:
    """Import a TorchScript program.

    Args:
        model: function, nn.Module (scripted here; training flag as it is), or anything else that `open_model` takes.
        example_inputs: positional arguments. Tensors give dtype, shape and strides; bools, ints and floats stay
            dynamic, unless the program needs one as a constant; str and None are specialised. They are neither run nor
            changed.
        example_kwargs: keyword arguments.
        index_checks: check at run time that the numbers in index tensors are in range, as eager does. Without it a number
            that is out of range is undefined behaviour: anything may be read or written, no error is raised, and a GPU
            need not wait for the host.
        dynamic_shapes: which sizes are not fixed, in torch.export's vocabulary (`dynamic_shapes.py`).
        lenient: make static what `dynamic_shapes` wants open and the program cannot have so for these examples, and leave
            out of it what does not fit them: for a further specialisation.
        kernels: use ops that only native kernels have, such as `ssa_compiler::order`; elsewhere they run in PyTorch.
    Returns:
        The module's text and the calling convention.
    Raises:
        ScriptError: TorchScript rejects the model.
        ArgumentTypeError: the examples do not fit the signature.
        UnsupportedOpError: an op cannot be imported.
        UnsupportedProgramError: the program's meaning cannot be kept.
        ProgramError: the program surely raises this for arguments like these, and nothing before; else a call raises it.
    """
    with quiet():
        importer = _Importer(model, tuple(example_inputs), dict(example_kwargs or {}), index_checks, kernels)
        importer.ask(dynamic_shapes, lenient)
        program, rejection = importer.any_attempt()
        if program is None and importer.closable():
            program = importer.with_static_sizes(str(rejection))
        if program is None:
            program = importer.with_opaque_ops()
    if program is None:
        assert rejection is not None
        raise rejection.plain() if isinstance(rejection, Unjoinable) else rejection
    return program


class _Importer:
    """Imports a program under decisions that an earlier import found necessary.

    Attributes:
        scalars: the paths of the bool, int and float arguments that stayed dynamic in the last import that was rejected.
    """

    def __init__(
        self,
        model: Any,
        example_inputs: tuple[Any, ...],
        example_kwargs: dict[str, Any],
        index_checks: bool,
        kernels: bool,
    ) -> None:
        self.opened = open_model(model)
        self.examples, self.index_checks = (example_inputs, example_kwargs), index_checks
        self.kernels = kernels
        self.assigned: list[str] = []
        self.retries: frozenset[Any] = frozenset()
        self.inlined = has_own_functions(self.opened.scripted)
        self.scalars: list[str] = []
        self.requests: dict[tuple[str, int], SizeRequest] = {}
        self.static: dict[str, str] = {}
        self.lenient = False
        self.splits = False
        self.opaque = False

    def ask(self, dynamic_shapes: Any, lenient: bool) -> None:
        """Take what the user wants of the sizes of arguments; see `import_program`."""
        if dynamic_shapes is None:
            return
        self.lenient = lenient
        scripted, method = self.opened.scripted, self.opened.method
        schema = scripted._c._get_method(method).schema if method else scripted.schema
        declared = list(schema.arguments)[1 if method else 0 :]
        values = _bind(self.opened, declared, *self.examples)
        self.requests = requested_sizes(dynamic_shapes, [a.name for a in declared], values, lenient=lenient)
        for request in self.requests.values():
            # PyTorch takes sizes of 0 and 1 for something else (broadcasting, tensors without elements).
            if request.value < 2 and (lenient or not request.explicit):
                self.static[request.root] = f"the example has {request.value}"

    def closable(self) -> list[str]:
        """Return the names of the dynamic sizes that may become static."""
        open_ = {r.root: None for r in self.requests.values() if self.lenient or not r.explicit}
        return [root for root in open_ if root not in self.static]

    def any_attempt(self) -> tuple[ImportedProgram | None, SsaCompilerError | None]:
        """Import with numbers and bools as constants if it has to be, and then with branches that are not joined."""
        program, rejection = None, None
        for self.splits in (False, True):
            program, found = self.attempt({})
            rejection, last = rejection or found, found
            if program is None and self.scalars:
                program, last = self.specialised(str(found))
            if program is not None or not (isinstance(found, Unjoinable) or isinstance(last, Unjoinable)):
                break
        return program, rejection

    def with_opaque_ops(self) -> ImportedProgram | None:
        """Import with what decides by dynamic scalars left to PyTorch, where constants do not help."""
        self.opaque = True
        return self.any_attempt()[0]

    def with_static_sizes(self, rejection: str) -> ImportedProgram | None:
        """Import with as few static sizes as the program can do with.

        Args:
            rejection: why it cannot do without any.
        """
        roots, untouched = self.closable(), dict(self.static)
        self.static.update(dict.fromkeys(roots, rejection))
        program, _ = self.any_attempt()
        if program is None:
            self.static = untouched
        for root in roots if program is not None and len(roots) > 1 else []:
            before = dict(self.static)
            del self.static[root]
            found, rejected = self.any_attempt()
            if found is None or root in self.static:
                self.static = before | {
                    root: str(rejected) if rejected is not None else self.static.get(root, rejection)
                }
            program = found if found is not None else program
        return self.any_attempt()[0] if program is not None else None  # with the reasons that were found

    def attempt(self, constants: Mapping[str, str]) -> tuple[ImportedProgram | None, SsaCompilerError | None]:
        """Import with these bool, int and float arguments as constants.

        Args:
            constants: why each of them has to be one, by path.
        Returns:
            The program, or why it is rejected.
        """
        while True:
            sizes = ArgumentSizes(self.requests, self.static)
            state = State(
                self.retries,
                constants,
                index_checks=self.index_checks,
                sizes=sizes,
                splits=self.splits,
                opaque=self.opaque,
                kernels=self.kernels,
                run=run,
            )
            try:
                one = _ProgramImport(self.opened, self.assigned, state, inlined=self.inlined)
                return one.run(*self.examples), None
            except Restart as restart:
                self.assigned.append(restart.path)
            except Inline:
                self.inlined = True
            except Retry as retry:
                self.retries |= retry.keys
            except MakeStatic as found:
                explicit = {r.root for r in self.requests.values() if r.explicit} & found.roots
                if explicit and not self.lenient:
                    text = (
                        f"unsupported: {found.reason}, but the size {', '.join(sorted(explicit))} is dynamic by "
                        "dynamic_shapes: make it static or Dim.AUTO, or change the example if only that does not fit"
                    )
                    return None, UnsupportedProgramError(text, location=found.location)
                reason = f"{found.reason} [{found.location}]" if found.location else found.reason
                self.static |= dict.fromkeys(found.roots, reason)
            except (UnsupportedOpError, UnsupportedProgramError) as rejection:
                self.scalars = state.scalars
                return None, rejection

    def specialised(self, rejection: str) -> tuple[ImportedProgram | None, SsaCompilerError | None]:
        """Import with as few constants among the bool, int and float arguments as the program can do with.

        Args:
            rejection: why it cannot do without any.
        """
        constants = dict.fromkeys(self.scalars, rejection)
        program, error = self.attempt(constants)
        if program is None or len(constants) == 1:
            return program, error

        def release(paths: list[str]) -> None:
            """Let as many of these arguments be dynamic as can be, of which not all can."""
            for half in (paths[: len(paths) // 2], paths[len(paths) // 2 :]):
                taken = {path: constants.pop(path) for path in half}
                fewer, rejected = self.attempt(constants)
                if fewer is None:
                    constants.update(dict.fromkeys(taken, str(rejected)))
                    if len(half) > 1:
                        release(half)

        release(list(constants))
        return self.attempt(constants)  # with the reasons that were found


class _ProgramImport:
    """One run of the importer."""

    def __init__(self, opened: OpenedModel, assigned: list[str], state: State, *, inlined: bool = False) -> None:
        self.opened, self.model, self.name = opened, opened.owner, opened.name
        self.assigned = assigned
        self.scripted = scripted = opened.scripted
        self.state = state
        self.is_module = isinstance(scripted, torch.jit.ScriptModule)
        self.modules = Modules(self.state, self.model, scripted._c if self.is_module else None, opened.looks)
        self.modules.inlined = inlined
        self.interpreter = Interpreter(self.state, self.modules)
        self.callers = CallersObjects(self.state, self.interpreter.tensors, self.interpreter.metadata)
        self.results: list[Any] = []
        self.returned: set[Site] = set()
        self._leaves: dict[int, tuple[TensorValue, OutputLeaf]] = {}
        self._renewed: dict[int, OutputLeaf] = {}
        self._containers: dict[Site, OutputSpec] = {}
        self.attributes: tuple[AttributeSpec, ...] = ()
        self.rebindings: tuple[RebindingSpec, ...] = ()
        self.changed: tuple[ChangedObject, ...] = ()
        self.containers: tuple[ChangedContainer, ...] = ()
        method = scripted._c._get_method(opened.method) if self.is_module else scripted
        self.graph, self.schema = method.inlined_graph if inlined else method.graph, method.schema

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ImportedProgram:
        """Import the program for these examples."""
        state = self.state
        located = unexpected_errors_located(state.locations.user)
        with located, state.emitter.context, ir.Location.unknown():
            specs, values, arguments = self._arguments(args, kwargs)
            try:
                self.modules.prepare(self.assigned)
                result = self.interpreter.run_graph(self.opened.method or self.name, self.graph, values)
            except ProgramRaises as raised:
                if state.emitter.asserts:  # one of them may end a call with another error before this one
                    state.emitter.assertion(state.emitter.constant(False), raised.text)
                    return self._finished(NONE, specs, arguments)
                location = state.locations.user()
                suffix = f" [{location}]" if location else ""
                raise program_error(f"{raised.text}{suffix}") from raised
            return self._finished(result, specs, arguments)

    def _finished(self, result: Value, specs: tuple[ArgumentSpec, ...], arguments: Arguments) -> ImportedProgram:
        """Return the program with this result."""
        state = self.state
        output = self._output(result)
        self.changed = self.callers.changed(self._parameters(arguments), self.modules, self._output, self._leaf)
        self.containers = changed_containers(state, self._output)
        self.interpreter.python_calls.register()
        self.attributes = self._numbers(len(arguments.names))
        self.rebindings = self._rebindings()
        if failed := state.ranges.failed(state.written):
            raise Retry(failed)
        state.emitter.op("func.return", [], self.results)
        self._finish_function(arguments.names)
        state.emitter.module.operation.verify()
        text = state.emitter.module.operation.get_asm(enable_debug_info=True)
        return self._program(text, specs, arguments, output)

    def _arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[ArgumentSpec, ...], list[Value], Arguments]:
        arguments = Arguments(self.state, self.interpreter.containers)
        declared = list(self.schema.arguments)[1 if self.is_module else 0 :]
        values: list[Value] = [ModuleValue(self.scripted._c, "")] if self.is_module else []
        specs = []
        examples = _bind(self.opened, declared, args, kwargs)
        with self.state.at("arguments"):
            for argument, example in zip(declared, examples):
                spec, value = arguments.add(argument, example)
                only = spec.keyword_only or argument.name in self.opened.keyword_only
                specs.append(replace(spec, keyword_only=only, default=_default(self.opened, argument)))
                values.append(value)
        self.callers.prepare()
        check_default_device(self.state, self.model)
        return tuple(specs), values, arguments

    def _output(self, value: Value) -> OutputSpec:
        """Collect the results of `@main` from the user's result."""
        if isinstance(value, ConstValue):
            return OutputConstant(unnumbered(value.value))
        if isinstance(value, TensorValue):
            self.state.use(value, "return")
            self.returned |= value.storages
            if id(value) in self.state.originals:  # the caller's object: it gets its new shape after the call
                return self._leaf(self.state.originals[id(value)][1].ssa, torch.Tensor)
            if not value.renewed:
                leaf = self._leaf(value.ssa, torch.Tensor)
                self._leaves.setdefault(id(value), (value, leaf))
                return leaf
            if any(before.ssa == value.ssa for _, before in self.state.originals.values()):
                # It shows what the caller's object did, which has another shape now.
                return self._leaf(self._copy(value).ssa, torch.Tensor)
            if id(value) not in self._renewed:
                self._renewed[id(value)] = replace(self._leaf(value.ssa, torch.Tensor), renewed=True)
            return self._renewed[id(value)]
        if isinstance(value, ScalarValue):
            return self._leaf(value.ssa, value.kind)
        if isinstance(value, (DictRef, ListRef)):
            if value.cell not in self._containers:
                self._containers[value.cell] = self._container(value)
            return self._containers[value.cell]
        if isinstance(value, TupleValue):
            return OutputTuple(tuple(self._output(e) for e in value.elements), value.fields, value.type_name)
        if isinstance(value, OptionalValue):
            return OutputOptional(self._leaf(value.present.ssa, bool), self._output(value.value))
        raise self.state.unsupported(
            f"a result that is {in_words(value)}; return tensors, numbers, strings known at import, or containers of them"
        )

    def _container(self, value: DictRef | ListRef) -> OutputSpec:
        """A list, dict or object, which has one spec however many places of the result it is in."""
        containers = self.interpreter.containers
        if value.cell in self.state.caller_owned:
            return OutputArgument(self.state.caller_owned[value.cell].route)
        if isinstance(value, DictRef):
            parts = [self._output(element) for element in containers.elements(value)]
            items = tuple(zip(map(unnumbered, self.state.keys[value.cell]), parts))
            return self._object(value, items) if isinstance(value, ObjectRef) else OutputDict(items)
        if value.cell in self.state.views:
            kind = self.state.views[value.cell].kind
            raise self.state.unsupported(f"{kind}() of a dict as a result; return list(d.{kind}())")
        if containers.is_growing(value):
            return self._rows(self.state.heap[value.cell][0])
        elements = tuple(self._output(element) for element in containers.elements(value))
        if value.cell in self.state.shapes:
            return OutputTuple(elements, type_name=TORCH_SIZE)
        return OutputTuple(elements) if value.cell in self.state.tuples else OutputList(elements)

    def _object(self, value: ObjectRef, items: tuple[tuple[str, OutputSpec], ...]) -> OutputSpec:
        kind = python_class(value.type_name)
        if kind is None:
            raise self.state.unsupported(
                f"a result of the class {value.short_name}, which Python does not know; return its attributes in a tuple"
            )
        return OutputObject(items, kind)

    def _rows(self, value: Any) -> OutputSpec:
        """The buffer and the length of a list whose length is dynamic."""
        buffer = self._output(self._copy(value.buffer))
        assert isinstance(buffer, OutputLeaf)
        return OutputRows(buffer, self._output(value.length), value.kind is torch.Tensor)

    def _copy(self, value: TensorValue) -> TensorValue:
        arguments: list[Value] = [value, ConstValue(None)]
        return self.interpreter.tensors.call(torch.ops.aten.clone.default, arguments)[0]

    def _rebindings(self) -> tuple[RebindingSpec, ...]:
        """Collect the results of `@main` that tensor attributes are bound to after a call."""
        found = self.modules.assigned()
        for assigned in found:
            first, value = assigned.first, _tensor_of(assigned.value)
            kept = first if assigned.name not in self.modules.reshaped and isinstance(first, TensorValue) else None
            if value is not None and kept is not None:
                if not self.state.same_sizes(value, kept, "the assignment of an attribute"):
                    raise self.state.unsupported(
                        "a tensor that changes its shape in place while it is an attribute; assign a new one"
                    )
        for new in self.modules.new_objects:
            self._check_shared_state(new)
        returned = dict(self._leaves)
        objects = {
            NO_TENSOR - 1 - number: returned[id(new.value)][1]
            for number, new in enumerate(self.modules.new_objects)
            if id(new.value) in returned
        }
        return tuple(
            RebindingSpec(a.name, self.model, self._output(a.value), self._output(a.source), objects) for a in found
        )

    def _check_shared_state(self, new: NewObject) -> None:
        """Reject an attribute that shares memory with another one in some runs, or with a part of it: it would be a copy.

        That is no difference as long as nothing writes what is shared.
        """
        storages = new.value.storages.union(*(tensor.storages for tensor in tensor_values(new.first)))
        for parameter in self.modules.found:
            name = next((name for name in parameter.names if name != new.name), None)
            if name is None or parameter.storage not in new.value.storages:
                continue
            if storages & self.state.written or new.name in parameter.names:
                raise UnsupportedProgramError(
                    f"unsupported: the attribute {new.name}, bound to a tensor that may share memory with the attribute "
                    f"{name}; clone() it",
                    location=new.place,
                )

    def _check_strides_of_attributes(self) -> None:
        """Reject an attribute whose strides matter and which is bound to a tensor with others.

        The module's own tensor keeps its strides; in eager the next call would find those of the new one.
        """
        for assigned in self.modules.assigned():
            first, value = assigned.first, _tensor_of(assigned.value)
            if not isinstance(first, TensorValue) or value is None:
                continue
            if assigned.name in self.modules.reshaped and _is_plain(value.fake):
                continue
            reasons = [self.state.layouts.reasons[s] for s in first.storages if s in self.state.layouts.reasons]
            sizes, old, new = (map(expr_of, n) for n in (first.fake.shape, first.fake.stride(), value.fake.stride()))
            others = any(size != 1 and a != b for size, a, b in zip(sizes, old, new))
            if reasons and (others or self.state.layouts.has_ambiguous_strides(value)):
                raise self.state.unsupported(
                    f"an attribute that is bound to a tensor with other strides ({reasons[0]} needs those it has); "
                    "assign its contiguous()"
                )

    def _numbers(self, first: int) -> tuple[AttributeSpec, ...]:
        """Collect the results of `@main` that are numbers of the module; their arguments start at `first`."""
        return tuple(
            AttributeSpec(
                found.name, first + number, found.kind, self.model, self._output(self.state.heap[found.cell][0])
            )
            for number, found in enumerate(self.modules.numbers)
        )

    def _parameters(self, arguments: Arguments) -> dict[int, FoundParameter]:
        return dict(enumerate(self.modules.found, len(arguments.names) + len(self.modules.numbers)))

    def _leaf(self, ssa: Any, kind: type) -> OutputLeaf:
        self.results.append(ssa)
        return OutputLeaf(len(self.results) - 1, kind)

    def _finish_function(self, names: list[str]) -> None:
        emitter = self.state.emitter
        inputs = [argument.type for argument in emitter.entry.arguments]
        outputs = [ssa.type for ssa in self.results]
        attributes = emitter.function.attributes
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs))
        described = [{"tssa.name": name} for name in (*names, *(number.name for number in self.modules.numbers))]
        for parameter in self.modules.found:
            name = parameter.names[0]
            described.append({"tssa.name": name, "tssa.parameter": name})
        attributes["arg_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get({key: ir.StringAttr.get(text) for key, text in entry.items()}) for entry in described]
        )

    def _program(
        self, text: str, specs: tuple[ArgumentSpec, ...], arguments: Arguments, output: OutputSpec
    ) -> ImportedProgram:
        state = self.state
        first = len(arguments.names) + len(self.attributes)
        storages = dict(arguments.storages)
        parameters = []
        for number, found in enumerate(self.modules.found):
            tensor = found.tensor
            storages[first + number] = found.storage
            parameters.append(
                ParameterSpec(
                    found.names[0],
                    first + number,
                    tensor.dtype,
                    tuple(tensor.shape),
                    tuple(tensor.stride()),
                    self.model,
                    tuple(found.names[1:]),
                )
            )
        state.layouts.settle(state.written | self.returned)
        self._check_strides_of_attributes()
        assumptions: list[Assumption] = []
        for index, storage in storages.items():
            if storage in state.layouts.reasons:
                exact = storage in state.layouts.exact
                assumptions.append(StridesAsExample(index, state.layouts.reasons[storage], exact))
            if storage in state.plain_reasons:
                flag, reason = state.plain_reasons[storage]
                expected = flag == "requires_grad" and storage in state.requiring
                assumptions.append(FlagOff(index, flag, reason, expected))
            if storage in state.storage_reasons:
                offset, size, reason = state.storage_reasons[storage]
                assumptions.append(StorageAsExample(index, offset, size, reason))
            if storage in state.written and len(storages) > 1:
                assumptions.append(DistinctStorage(index, "the program writes it"))
        assumptions += [OwnObject(change.index, change.contents is not None) for change in self.changed]
        assumptions += [NotInferred(index, op) for index, op in state.sizes_given.items()]
        for (one, other), same in state.identities.items():
            assumptions.append(SameObject(one, other, same))
        return ImportedProgram(
            module=text,
            name=self.name,
            arguments=specs,
            parameters=tuple(parameters),
            results=output,
            result_count=len(self.results),
            assumptions=tuple(assumptions),
            written=frozenset(index for index, storage in storages.items() if storage in state.written),
            training=bool(getattr(self.scripted, "training", False)) if self.is_module else None,
            attributes=self.attributes,
            rebindings=self.rebindings,
            facts=self._facts(),
            sizes=state.sizes.checks(),
            grad_mode=state.grad_mode,
            recorded=frozenset(index for index, storage in storages.items() if storage in state.recorded),
            changed=self.changed,
            containers=self.containers,
            storages=self.callers.storages,
        )

    def _facts(self) -> ModuleFacts | None:
        """What is taken for granted of the module."""
        if not isinstance(self.model, torch.nn.Module):
            return None
        return ModuleFacts(self.model, self.modules.constants - {number.name for number in self.modules.numbers})


def _is_plain(fake: torch.Tensor) -> bool:
    """Whether a tensor is contiguous, which can be told if its sizes are known."""
    return all(isinstance(number, int) for number in (*fake.shape, *fake.stride())) and fake.is_contiguous()


def _tensor_of(value: Value) -> TensorValue | None:
    """The tensor that a value is, or may be."""
    value = value.value if isinstance(value, OptionalValue) else value
    return value if isinstance(value, TensorValue) else None


def _default(opened: OpenedModel, argument: Any) -> Any:
    """The default of a declared argument, None if it has none."""
    default = argument.default_value if argument.has_default_value() else None
    own = opened.defaults.get(argument.name)
    return own if type(default) is float and own == default else default


def _bind(opened: OpenedModel, declared: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return one example per declared argument."""
    empty = ImportedProgram(
        module="",
        name=opened.name,
        arguments=tuple(
            ArgumentSpec(
                a.name,
                spec=None,  # type: ignore[arg-type]
                has_default=a.has_default_value(),
                default=_default(opened, a),
                keyword_only=a.kwarg_only or a.name in opened.keyword_only,
            )
            for a in declared
        ),
        parameters=(),
        results=OutputConstant(None),
        result_count=0,
        assumptions=(),
        written=frozenset(),
    )
    return empty.bind(args, kwargs)
