"""Compares eager PyTorch, the interpreter at every stage and the compiled program, so that a failure names its stage.

Eager is the oracle. Each side gets its own copy of the arguments and of the module's state, copied together, so that
what aliases in the original aliases in the copy; compared are results (structure, dtype, shape, values), the arguments
afterwards, module state afterwards, which results are arguments or share memory, and errors by their type. Each side of
a call draws random numbers from the same seed.
"""

from __future__ import annotations

import copy
import functools
import operator
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from ..errors import ArgumentError
from ._calls import Call
from ._compare import Outcome, StageMismatch, compare_outcomes, compare_values, leaves
from ._devices import copied_to, factories_on
from ._interpreted import LINALG, Interpreted, InterpretedLinalg, attempt
from ._module_state import module_state
from ._rejections import rejected_at_call
from ._untouched import untouched
from .interpreter import TooManyBlocksError

if TYPE_CHECKING:
    from ..abi import ImportedProgram

__all__ = [
    "Call",
    "Checked",
    "Outcome",
    "StageMismatch",
    "check",
    "compare_outcomes",
    "compare_values",
    "run_eager",
    "run_stages",
]

Model = Callable[..., Any]
COMPILED = "compiled"
NOT_COMPILED: Any = None
"""What stands for the compiled program where none was asked for; if it is not None, `check` compiles nothing."""
TARGET = "cpu"
"""What `check` compiles for if it is not told."""
VERIFY_VARIABLE = "SSA_COMPILER_VERIFY_KERNELS"
"""Not empty: programs that are one kernel run with each access to memory checked (`verified_kernels`), and their linalg
stage under the interpreter.
"""


@dataclass
class Checked:
    """What `check` saw, for further assertions.

    Attributes:
        program: the imported program.
        stages: IR text by stage.
        block_counts: for each input set and stage, how often each block ran (see `Interpreter.block_counts`).
        compiled: the compiled program; None if it was not asked for.
        errors: for each input set the error that eager raised, or None.
        rejections: for each input set why a compiled call rejects it, or None (see `check`).
    """

    program: ImportedProgram
    stages: dict[str, str]
    block_counts: list[dict[str, Counter[str]]] = field(default_factory=list)
    compiled: Any = None
    errors: list[BaseException | None] = field(default_factory=list)
    rejections: list[ArgumentError | None] = field(default_factory=list)

    def count_ops(self, stage: str, *names: str) -> int:
        """Count operations by name.

        Args:
            stage: a stage of `stages`.
            names: operation names, `scf.for`.
        Returns:
            How many operations of `@main` have one of the names.
        """
        wanted = "|".join(map(re.escape, names))
        return len(re.findall(rf"(?:^|[\s=\"])(?:{wanted})(?=[\s\"(]|$)", self.stages[stage], re.MULTILINE))

    def loops(self, stage: str = "iree") -> int:
        """Number of loop operations in a stage."""
        return self.count_ops(stage, "torch.prim.Loop", "scf.for", "scf.while")


def _imported(
    importer: Callable[..., ImportedProgram], model: Callable[..., Any], call: Call, **options: Any
) -> ImportedProgram:
    """Import a model, which must not change it or the arguments."""
    with untouched(model, call.args, call.kwargs):
        return importer(model, call.args, call.kwargs, **options)


def check(
    model: Model,
    *calls: Sequence[Any] | Call,
    rtol: float | None = None,
    atol: float | None = None,
    compiled: bool = True,
    target: str | None = None,
    options: Mapping[str, Any] | None = None,
    rejections: bool = False,
    exact: bool = False,
    lenient: bool = False,
) -> Checked:
    """Check that every stage of compiling a model does what eager does.

    Args:
        model: function or nn.Module (a module is copied; its own state does not change).
        calls: input sets, each a tuple of positional arguments or a `Call`. The first is the example that the model is
            compiled for; all run on that one artefact, in order, module state carried from each to the next.
        rtol: relative tolerance of floating-point values; by default one that fits the dtype.
        atol: absolute tolerance.
        compiled: also compile the program with IREE and run it.
        target: target of the compiled program, "cpu" or "cuda"; `TARGET` if None. For "cuda" it gets copies of the
            arguments and of the module there; eager and the interpreter run on the CPU.
        options: further keyword arguments of `ssa_compiler.compile`.
        rejections: allow input sets that a call of the compiled program rejects, because they do not fit what it was
            compiled for (another string, a written argument that shares memory). They run on no side; that the compiled
            program rejects them is checked.
        exact: hold Python floats to eager's bit for bit; by default they may differ as tensors may.
        lenient: import the program as for a further specialisation (see `import_program`); it is not compiled then.
    Returns:
        The stages' texts and block counts.
    Raises:
        StageMismatch: a stage differs from eager; the first one is named. Also if compiling changes anything that
            outlives it, random numbers and warnings included.
        SsaCompilerError: the model cannot be imported or compiled.
    """
    from ..importer import import_program  # first: loading it changes the filters of warnings
    from ..pipeline import import_and_run

    sets = [call if isinstance(call, Call) else Call(*call) for call in calls]
    if not sets:
        raise ValueError("expected at least one input set")
    oracle = _copy(model := _of_object(model))
    compiled &= not lenient and NOT_COMPILED is None
    runner = _Compiled(model, sets[0], target or TARGET, dict(options or {})) if compiled else None
    if runner is not None and runner.device == "cpu" and not isinstance(model, torch.nn.Module):
        checked = Checked(runner.program.imported, dict(runner.program.stages))
    else:  # ignored methods run on the module that was imported: the compiled program's is its own
        shapes = (options or {}).get("dynamic_shapes")
        own = functools.partial(
            _imported, import_program, _copy(model), sets[0], dynamic_shapes=shapes, lenient=lenient
        )
        imported, pipeline = import_and_run(lambda unrolls: own(unrolls=unrolls))
        checked = Checked(imported, dict(pipeline.stages))
    checked.compiled = runner.program if runner is not None else NOT_COMPILED
    program = checked.program
    interpreters = _interpreted(checked, runner)
    for number, call in enumerate(sets):
        rejection = rejected_at_call(program, call)
        checked.rejections.append(rejection)
        if rejection is not None and rejections:
            checked.errors.append(None)
            checked.block_counts.append({})
            if runner is not None:
                runner.expect_rejection(call, number, rejection)
            continue
        expected = _run_eager(oracle, call, number)
        if rejection is not None and expected.error is None:
            raise StageMismatch("imported", number, f"raised {type(rejection).__name__}: {rejection}") from rejection
        checked.errors.append(expected.error)
        counts, last = _compare_stages(interpreters, call, number, expected, rtol, atol, exact=exact)
        checked.block_counts.append(counts)
        if runner is not None:
            actual = runner.run(call, number)
            # Results of the compiled program are where the last stage under the interpreter has them.
            twins = zip(leaves(actual.result), leaves(last.result), strict=False)
            actual.copies = [value for value, twin in twins if last.is_copy(twin)]
            compare_outcomes(COMPILED, number, expected, actual, rtol, atol, exact=exact)
        if expected.error is not None:  # what was written before is not promised; the next call starts from one state
            for interpreted in interpreters.values():
                interpreted.restore(expected.state)
            if runner is not None:
                runner.restore(expected.state)
    return checked


def _interpreted(checked: Checked, runner: _Compiled | None) -> dict[str, Interpreted]:
    """Every stage under the interpreter; of a kernel that is to be verified, the linalg stage as well."""
    program, stages = checked.program, checked.stages
    interpreters = {stage: Interpreted(program, stages[stage], stage) for stage in stages}
    if runner is not None and os.environ.get(VERIFY_VARIABLE) and runner.program.artifact.linalg:
        interpreters[LINALG] = InterpretedLinalg(program, runner.program.artifact.linalg, runner.program.signature)
    return interpreters


def _compare_stages(
    interpreters: dict[str, Interpreted],
    call: Call,
    number: int,
    expected: Outcome,
    rtol: float | None,
    atol: float | None,
    *,
    exact: bool,
) -> tuple[dict[str, Counter[str]], Outcome]:
    """Run one input set at every stage; return how often each block ran, by stage, and the outcome of the last one."""
    counts: dict[str, Counter[str]] = {}
    for stage, interpreted in list(interpreters.items()):
        outcome = interpreted.run(call, number)
        if stage == LINALG and isinstance(outcome.error, TooManyBlocksError):
            del interpreters[stage]  # one step for each element takes too long
            break
        compare_outcomes(stage, number, expected, outcome, rtol, atol, exact=exact)
        counts[stage] = interpreted.interpreter.block_counts
        last = outcome
    return counts, last


# --- the three sides --------------------------------------------------------------------------------------------------


def run_stages(model: Model, calls: Sequence[Call]) -> Iterator[tuple[str, int, Outcome]]:
    """Run every stage under the interpreter, without comparing it with anything.

    Args:
        model: function or nn.Module.
        calls: input sets; the first is the example.
    Yields:
        Stage, number of the input set, and what came of it.
    Raises:
        SsaCompilerError: the model cannot be imported.
    """
    from ..importer import import_program
    from ..pipeline import STAGES, run_pipeline

    program = import_program(_copy(model), calls[0].args, calls[0].kwargs)
    texts = run_pipeline(program.module).stages
    for stage in STAGES:
        interpreted = Interpreted(program, texts[stage], stage)
        for number, call in enumerate(calls):
            yield stage, number, interpreted.run(call, number)


def check_other(
    model: Model,
    build: Callable[[Any], Any],
    calls: Sequence[Sequence[Any]],
    name: str,
    *,
    identity: bool = True,
    rejections: type[BaseException] | None = None,
) -> list[BaseException | None]:
    """Compare another way to run a model with eager, as `check` does for this compiler.

    Args:
        model: function or nn.Module.
        build: makes a callable of a copy of the model; if that is a module, its state is compared. An `Interpreted`
            runs with state of its own.
        calls: input sets.
        name: what to call it in a message.
        identity: also compare which results are arguments or share memory.
        rejections: what the callable raises for what it does not support; raised again where eager does not raise.
    Returns:
        For each input set the error that eager raised, or None.
    Raises:
        StageMismatch: it differs from eager; of errors only that there is one is compared.
    """
    oracle, own = _copy(model), _copy(model)
    other = build(own)
    holder = other if isinstance(other, torch.nn.Module) else own
    errors: list[BaseException | None] = []
    for number, each in enumerate(calls):
        call = Call(*each)
        expected = _run_eager(oracle, call, number)
        errors.append(expected.error)
        if isinstance(other, Interpreted):
            actual = other.run(call, number)
        else:
            args, kwargs = copy.deepcopy((call.args, call.kwargs))
            actual = attempt(Outcome(arguments=(args, kwargs)), functools.partial(other, *args, **kwargs), number)
            actual.state = module_state(holder)
        if rejections is not None and isinstance(actual.error, rejections):
            if expected.error is None:
                raise actual.error
            return errors
        both = expected.error is not None and actual.error is not None  # other systems raise types of their own
        if not both:
            compare_outcomes(name, number, expected, actual, None, None, identity=identity)
        if expected.error is not None:
            return errors  # what it wrote before is not promised, so that its state is of no use any more
    return errors


def run_eager(model: Model, call: Sequence[Any] | Call, seed: int = 0) -> BaseException | None:
    """Run a model in eager PyTorch on copies of its arguments and its state.

    Args:
        model: function or nn.Module.
        call: the input set.
        seed: random numbers start here; `check` takes the number of the input set.
    Returns:
        The error that it raised, or None.
    """
    return _run_eager(_copy(model), call if isinstance(call, Call) else Call(*call), seed).error


def _of_object(model: Model) -> Model:
    """The module that stands for an object, so that its state is compared, too."""
    from ..importer.torchscript.object_programs import of_object

    made: Model = of_object(model)
    return made


def _copy(value: Any) -> Any:
    """A deep copy; tensors that share storage share it in the copy, with their strides."""
    return value if not isinstance(value, torch.nn.Module) and callable(value) else copy.deepcopy(value)


def _run_eager(model: Model, call: Call, seed: int) -> Outcome:
    args, kwargs = copy.deepcopy((call.args, call.kwargs))
    converted = isinstance(model, (torch.jit.ScriptFunction, torch.jit.ScriptModule, torch.ScriptMethod))
    before = Outcome(arguments=(args, kwargs), converted=converted)
    outcome = attempt(before, lambda: model(*args, **kwargs), seed)
    outcome.state = module_state(model)
    return outcome


class _Compiled:
    """The program that `ssa_compiler.compile` returns, with its own copy of the module."""

    def __init__(self, model: Model, example: Call, target: str, options: dict[str, Any]) -> None:
        import ssa_compiler

        self.device = target.partition(":")[0]
        on_cpu = self.device == "cpu"
        self._model = _copy(model) if on_cpu else self._moved(model)
        args, kwargs = self._moved((example.args, example.kwargs))
        if kwargs:
            options["example_kwargs"] = kwargs
        options.setdefault("max_specialisations", 1)  # all input sets run on one artefact
        options.setdefault("cache", False)  # what is checked is what this compiler makes
        with untouched(self._model, args, kwargs), factories_on(self.device):
            self.program = ssa_compiler.compile(self._model, args, target=target, **options)
        if os.environ.get(VERIFY_VARIABLE):
            from .verified_kernels import verify_kernels

            verify_kernels(self.program)

    def _moved(self, value: Any) -> Any:
        return copy.deepcopy(value) if self.device == "cpu" else copied_to(self.device, value)

    def run(self, call: Call, seed: int) -> Outcome:
        args, kwargs = self._moved((call.args, call.kwargs))
        with factories_on(self.device):
            outcome = attempt(Outcome(arguments=(args, kwargs)), lambda: self.program(*args, **kwargs), seed)
        outcome.state = module_state(self._model)
        if self.device != "cpu":  # with one copy, what shares memory goes on to do so
            seen = (outcome.result, outcome.arguments, outcome.state)
            outcome.result, outcome.arguments, outcome.state = copied_to("cpu", seen)
        return outcome

    def restore(self, state: Mapping[str, Any]) -> None:
        """Start from the state of another side."""
        for name, value in module_state(self._model).items():
            if isinstance(value, torch.Tensor):
                value.copy_(state[name])
            else:
                path, _, attribute = name.rpartition(".")
                owner = operator.attrgetter(path)(self._model) if path else self._model
                setattr(owner, attribute, copy.deepcopy(state[name]))

    def expect_rejection(self, call: Call, seed: int, rejection: ArgumentError) -> None:
        """Check that the program rejects a call.

        Raises:
            StageMismatch: it does not.
        """
        outcome = self.run(call, seed)
        if not isinstance(outcome.error, ArgumentError):
            raise StageMismatch(COMPILED, seed, f"expected {rejection!r}, got {outcome.error!r}") from outcome.error
