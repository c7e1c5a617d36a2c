"""Stages under the interpreter, called like the program."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from ..abi.generators import kept_generators
from ..process.forks import new_context
from ._calls import Call
from ._compare import Outcome, StageMismatch
from .interpreter import Interpreter, InterpreterError

if TYPE_CHECKING:
    from ..abi import ImportedProgram, Signature

__all__ = ["LINALG", "Interpreted", "InterpretedLinalg", "attempt"]

LINALG = "linalg"
_MOST_STEPS = 300_000
"""Of the linalg stage, which has one for each element: about two seconds."""
_VALUE_STAGES = ("tensorssa", "iree", LINALG)  # where tensors are values and the runtime writes arguments back


def attempt(outcome: Outcome, function: Callable[[], Any], seed: int) -> Outcome:
    """Run one side of a call. Random numbers start from the same seed on every side; the caller's generators stay."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    try:
        with torch.no_grad(), torch.random.fork_rng(devices):
            # torch.manual_seed keeps a stack trace for each call as long as there is no CUDA device to seed.
            (torch.manual_seed if devices else torch.default_generator.manual_seed)(seed)
            outcome.result = function()
            outcome.random = torch.get_rng_state()
    except Exception as error:  # whatever the program raises is compared
        outcome.error = error
    return outcome


class Interpreted:
    """One stage under the interpreter, with its own module state."""

    def __init__(self, program: ImportedProgram, text: str, stage: str, *, max_block_runs: int = 10_000_000) -> None:
        own = [copy.deepcopy(container.owner) for container in program.held[:1]]
        program = replace(program, held=tuple(replace(container, owner=own[0]) for container in program.held))
        self._program = program
        self._values = stage in _VALUE_STAGES
        try:
            self.interpreter = Interpreter(text, max_block_runs=max_block_runs)
        except InterpreterError as error:
            raise StageMismatch(stage, 0, f"the IR is wrong: {error}") from error
        self._copies: list[Any] = []
        tensors = [parameter.current().detach() for parameter in program.parameters]
        self._state: list[torch.Tensor] = copy.deepcopy(tensors)
        self._numbers = [attribute.current() for attribute in program.attributes]

    def run(self, call: Call, seed: int) -> Outcome:
        from ..abi import build_result, flatten_arguments
        from ..abi.container_writeback import change_containers
        from ..abi.convention import bound_tensors
        from ..abi.object_writeback import change_objects, give_back, take_storages
        from ..abi.results import ResultBuilder

        args, kwargs = copy.deepcopy((call.args, call.kwargs))
        outcome = Outcome(arguments=(args, kwargs))

        def execute() -> Any:
            leaves = flatten_arguments(self._program, args, kwargs)
            state = [*self._numbers, *self._state]
            leaves[len(leaves) - len(state) :] = state
            given = take_storages(self._program.storages, leaves)
            results = list(give_back(leaves, given, self._finish(list(given), self._run(given))))
            change_objects(self._program.changed, leaves, results)
            bound = self._program.bind(args, kwargs)
            builder = ResultBuilder(results, bound)
            result = builder.build(self._program.results)
            change_containers(self._program.containers, self._program.held, bound, leaves, builder)
            self._numbers = [build_result(attribute.result, results) for attribute in self._program.attributes]
            for rebinding, tensor in bound_tensors(self._program, leaves, results):
                self._bind(rebinding.name, tensor)
            return result

        self._copies = outcome.copies
        with kept_generators():
            attempt(outcome, execute, seed)
        for parameter, tensor in zip(self._program.parameters, self._state, strict=True):
            outcome.state.update(dict.fromkeys((parameter.name, *parameter.aliases), tensor))
        for attribute, number in zip(self._program.attributes, self._numbers, strict=True):
            outcome.state[attribute.name] = number
        outcome.state.update({container.name: container.current() for container in self._program.held})
        return outcome

    def _run(self, arguments: Sequence[Any]) -> list[Any]:
        return self.interpreter.run(*arguments)

    def _bind(self, name: str, value: Any) -> None:
        """Take another tensor for a parameter; where it has other names, eager has two tensors from here on."""
        for number, parameter in enumerate(self._program.parameters):
            if name in (parameter.name, *parameter.aliases):
                self._state[number] = value

    def restore(self, state: Mapping[str, Any]) -> None:
        """Start from the state of another side."""
        for parameter, tensor in zip(self._program.parameters, self._state, strict=True):
            tensor.copy_(state[parameter.name])
        self._numbers = [state[attribute.name] for attribute in self._program.attributes]
        for container in self._program.held:
            container.store(copy.deepcopy(state[container.name]))

    def _finish(self, leaves: list[Any], results: list[Any]) -> list[Any]:
        """What the runtime does after a call: write arguments back, return the caller's own tensors."""
        if not self._values:
            return results
        finished = [result.clone() if isinstance(result, torch.Tensor) else result for result in results]
        for number, facts in enumerate(self.interpreter.functions["main"].result_attributes):
            if "tssa.writeback" in facts:
                leaves[facts["tssa.writeback"]].copy_(finished[number])
            elif "tssa.alias_of" in facts:
                finished[number] = leaves[facts["tssa.alias_of"]]
            elif "tssa.same_as" in facts:
                finished[number] = finished[facts["tssa.same_as"]]
            elif "tssa.may_alias" in facts or "tssa.may_same_as" in facts:
                self._copies.append(finished[number])
        return finished[: self._program.result_count]


class InterpretedLinalg(Interpreted):
    """The linalg stage of a program that is one kernel: fusion, bufferization and code generation come behind it.

    Its integers have no sign.
    """

    def __init__(self, program: ImportedProgram, text: str, signature: Signature) -> None:
        super().__init__(program, _generalized(text), LINALG, max_block_runs=_MOST_STEPS)
        self._dtypes = [result.dtype for result in signature.results]

    def _run(self, arguments: Sequence[Any]) -> list[Any]:
        passed = [value.view(torch.int8) if _is_byte(value) else value for value in arguments]
        results = self.interpreter.run(*passed)
        return [
            result.view(dtype) if dtype is not None and result.dtype is not dtype else result
            for result, dtype in zip(results, self._dtypes, strict=True)
        ]


def _generalized(text: str) -> str:
    """Return a module in which all linalg ops are `linalg.generic`."""
    from torch_mlir import ir
    from torch_mlir.passmanager import PassManager

    with new_context(ir):
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(func.func(linalg-generalize-named-ops))").run(module.operation)
        return str(module.operation.get_asm(enable_debug_info=True))


def _is_byte(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.uint8
