"""One import of a program, under one plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch_mlir import ir

from ...abi.argument_specs import ArgumentSpec, tensor_leaves
from ...abi.convention import ImportedProgram
from ...abi.module_guards import ModuleFacts
from ...abi.module_state import ContainerSpec, ParameterSpec
from ...abi.object_guards import ObjectFacts
from ...abi.paths import follow
from ...errors import program_error
from ..control.graph_importer import GraphImporter
from ..ops.devices import check_default_device
from ..torchscript.models import OpenedModel
from ..values.attempts import unexpected_errors_located
from ..values.diagnostics import ProgramRaises
from ..values.held_containers import declared_type
from ..values.memory_of_caller import check_result_aliases
from ..values.modules import FoundParameter, Modules
from ..values.plan import AnotherPlan
from ..values.state import State
from ..values.values import NONE, ModuleValue, Value
from .argument_containers import changed_containers
from .argument_storage import CallersObjects
from .arguments import Arguments
from .assumed import assumptions_of
from .attributes import Attributes
from .examples import bind_examples, default_of, has_default
from .outputs import Outputs

__all__ = ["ProgramImport"]


class ProgramImport:
    """Imports a program under one plan."""

    def __init__(self, opened: OpenedModel, state: State) -> None:
        self.opened, self.model, self.name, self.read = opened, opened.owner, opened.name, opened.read
        self.scripted = scripted = opened.scripted
        self.state = state
        self.is_module = isinstance(scripted, torch.jit.ScriptModule)
        self.modules = Modules(self.state, self.model, scripted if self.is_module else None, opened.looks)
        self.modules.inlined = inlined = state.plan.inlined
        self.modules.sources = opened.sources
        self.modules.methods = {opened.method: opened.python} if opened.python is not None else {}
        self.interpreter = GraphImporter(self.state, self.modules)
        self.callers = CallersObjects(self.state, self.interpreter.tensors, self.interpreter.metadata)
        interpreter = self.interpreter
        self.outputs = Outputs(self.state, interpreter.tensors, interpreter.containers, interpreter.classes)
        self.attributes = Attributes(self.state, self.modules, self.model, self.outputs)
        method = scripted._c._get_method(opened.method) if self.is_module else scripted
        self.held: list[ContainerSpec] = []
        self.graph, self.schema = method.inlined_graph if inlined else method.graph, method.schema

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ImportedProgram:
        """Import the program for these examples."""
        state = self.state
        located = unexpected_errors_located(state.locations.user)
        with located, state.emitter.context, ir.Location.unknown():
            specs, values, arguments = self._arguments(args, kwargs)
            try:
                self.modules.prepare(state.plan.assigned)
                self.interpreter.classes.arenas.begin()
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
        state, outputs, first = self.state, self.outputs, len(arguments.names)
        output = outputs.output(result)
        bound = {path: outputs.output(value) for path, value in self.attributes.replaced().items()}
        if self.held:
            passed = {leaf.index for container in self.held for leaf in tensor_leaves(container.spec)}
            own = {parameter.storage for parameter in self.modules.found}
            self.attributes.check_contents(own | {arguments.storages[index] for index in passed})
        found = dict(enumerate(self.modules.found, first + len(self.modules.numbers)))
        changed = self.callers.changed(found, self.modules, outputs.output, outputs.leaf)
        containers = changed_containers(state, outputs.output, outputs.rows)
        self.interpreter.python_calls.register(outputs.leaves)
        numbers = self.attributes.numbers(first)
        rebindings = self.attributes.rebindings()
        if state.plan.exact_aliases is not None:
            indices = {name: index for index, name in enumerate(arguments.names)}
            counted = {
                result: frozenset({arguments.storages[indices[name]]}) for result, name in state.plan.exact_aliases
            }
            check_result_aliases(state, result, outputs.tensors, counted, self.modules.assigned())
        if failed := state.ranges.failed(state.storages.written):
            raise AnotherPlan.without(failed)
        state.emitter.op("func.return", [], outputs.values)
        self._finish_function(arguments.names)
        state.emitter.module.operation.verify()
        text = state.emitter.module.operation.get_asm(enable_debug_info=True)
        storages = arguments.storages | {index: parameter.storage for index, parameter in found.items()}
        state.layouts.settle(state.storages.written | outputs.returned)
        self.attributes.check_strides()
        written, recorded = state.storages.written, state.storages.recorded
        return ImportedProgram(
            module=text,
            name=self.name,
            arguments=specs,
            parameters=tuple(self._parameter(index, parameter) for index, parameter in found.items()),
            results=output,
            result_count=len(outputs.values),
            assumptions=assumptions_of(state, storages, changed),
            written=frozenset(index for index, storage in storages.items() if storage in written),
            training=bool(getattr(self.scripted, "training", False)) if self.is_module else None,
            attributes=numbers,
            rebindings=rebindings,
            facts=self._facts(),
            objects=ObjectFacts(self.opened.objects) if self.opened.objects else None,
            sizes=state.sizes.checks(),
            grad_mode=state.storages.grad_mode,
            recorded=frozenset(index for index, storage in storages.items() if storage in recorded),
            changed=changed,
            containers=containers,
            storages=self.callers.storages,
            held=tuple(replace(container, result=bound.get(container.name)) for container in self.held),
            signature=self.opened.signature,
            can_be_kept=self.opened.signature is None,
            keeps_loops=bool(state.kept_loops),
            makes_generators=self.interpreter.python_calls.makes_generators,
        )

    def _parameter(self, index: int, found: FoundParameter) -> ParameterSpec:
        """Return how a call reads a parameter or buffer."""
        tensor, (name, *aliases) = found.tensor, found.names
        shape, strides = tuple(tensor.shape), tuple(tensor.stride())
        return ParameterSpec(name, index, tensor.dtype, shape, strides, self.model, tuple(aliases))

    def _arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[ArgumentSpec, ...], list[Value], Arguments]:
        arguments = Arguments(self.state, self.interpreter.containers)
        declared = list(self.schema.arguments)[1 if self.is_module else 0 :]
        values: list[Value] = [ModuleValue(self.scripted._c, "")] if self.is_module else []
        specs = []
        examples = bind_examples(self.opened, declared, args, kwargs)
        with self.state.at("arguments"):
            for argument, example in zip(declared, examples):
                spec, value = arguments.add(argument, example, self.opened.names.get(argument.name))
                only = spec.keyword_only or argument.name in self.opened.keyword_only
                optional, default = has_default(self.opened, argument), default_of(self.opened, argument)
                specs.append(replace(spec, keyword_only=only, has_default=optional, default=default))
                values.append(value)
            for path in self.state.plan.held:
                own, kind = follow(self.model, path), declared_type(self.scripted, path)
                container, value = arguments.add_held(path, own, kind)
                self.held.append(ContainerSpec(path, container, self.model))
                self.modules.hold(path, value)
        self.callers.prepare()
        check_default_device(self.state, self.model)
        return tuple(specs), values, arguments

    def _finish_function(self, names: list[str]) -> None:
        emitter = self.state.emitter
        inputs = [argument.type for argument in emitter.entry.arguments]
        outputs = [ssa.type for ssa in self.outputs.values]
        attributes = emitter.function.attributes
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs))
        described = [{"tssa.name": ir.StringAttr.get(name)} for name in names]
        for index, known in self.state.sizes.known().items():
            if index not in self.callers.storages:  # of which the argument is another tensor
                described[index] |= {key: ir.DenseI64ArrayAttr.get(sizes) for key, sizes in known.items()}
        described += [{"tssa.name": ir.StringAttr.get(number.name)} for number in self.modules.numbers]
        for parameter in self.modules.found:
            name = ir.StringAttr.get(parameter.names[0])
            described.append({"tssa.name": name, "tssa.parameter": name})
        attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in described])

    def _facts(self) -> ModuleFacts | None:
        """What is taken for granted of the module."""
        if not isinstance(self.model, torch.nn.Module):
            return None
        read = self.modules.constants - {number.name for number in self.modules.numbers}
        passed = {name for parameter in self.modules.found for name in parameter.names}  # whose shapes are checked
        read = read | {name for name in self.read if name.rpartition(".")[0] not in passed}
        return ModuleFacts(self.model, read, self.modules.held)
