"""Compares eager PyTorch, the interpreter at every stage and the compiled program, so that a failure names its stage.

Eager is the oracle. Each side gets its own copy of the arguments and of the module's state, copied together, so that
what aliases in the original aliases in the copy; compared are results (structure, dtype, shape, values), the arguments
afterwards, module state afterwards, whether a result is an argument, and errors by their type. Each side of a call draws
random numbers from the same seed.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from .interpreter import Interpreter, InterpreterError

if TYPE_CHECKING:
    from ..importer import ImportedProgram

__all__ = ["Call", "Checked", "StageMismatch", "check", "compare_values"]

Model = Callable[..., Any]
COMPILED = "compiled"
_VALUE_STAGES = ("tensorssa", "iree")  # where tensors are values and the runtime writes arguments back

# Relative and absolute tolerance of floating-point values. Operators are the same in every stage, but the compiler
# reorders reductions and approximates transcendental functions, to a few units in the last place of each dtype.
_TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-9, 1e-11),
    torch.float32: (2e-5, 2e-6),
    torch.float16: (2e-3, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
    torch.complex64: (2e-5, 2e-6),
    torch.complex128: (1e-9, 1e-11),
}
# An exception of eager is matched by one that is an instance of the same of these; the first that fits counts.
_ERRORS = (IndexError, ZeroDivisionError, AssertionError, ValueError, TypeError, NotImplementedError, RuntimeError)


class StageMismatch(AssertionError):
    """A stage does not do what eager does.

    Attributes:
        stage: the first stage that differs: "imported", "scf", "tensorssa", "iree" or "compiled".
        call: index of the input set.
    """

    def __init__(self, stage: str, call: int, detail: str) -> None:
        self.stage = stage
        self.call = call
        super().__init__(f"stage '{stage}', input set {call}: {detail}")


class Call:
    """One input set with keyword arguments; without them a plain tuple will do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs


@dataclass
class _Outcome:
    """What one side did: a result or an error, and the arguments and module state afterwards.

    `copies` are the tensors of the result that the conversion documents as copies of what may be an argument.
    """

    result: Any = None
    error: BaseException | None = None
    arguments: tuple[Any, Any] = ((), {})
    state: dict[str, Any] = field(default_factory=dict)
    copies: list[Any] = field(default_factory=list)


@dataclass
class Checked:
    """What `check` saw, for further assertions.

    Attributes:
        program: the imported program.
        stages: IR text by stage.
        block_counts: for each input set and stage, how often each block ran (see `Interpreter.block_counts`).
        compiled: the compiled program; None if it was not asked for.
        errors: for each input set the error that eager raised, or None.
    """

    program: ImportedProgram
    stages: dict[str, str]
    block_counts: list[dict[str, Counter[str]]] = field(default_factory=list)
    compiled: Any = None
    errors: list[BaseException | None] = field(default_factory=list)

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


def check(
    model: Model,
    *calls: Sequence[Any] | Call,
    rtol: float | None = None,
    atol: float | None = None,
    compiled: bool = True,
    target: str = "cpu",
    options: Mapping[str, Any] | None = None,
) -> Checked:
    """Check that every stage of compiling a model does what eager does.

    Args:
        model: function or nn.Module (a module is copied; its own state does not change).
        calls: input sets, each a tuple of positional arguments or a `Call`. The first is the example that the model is
            compiled for; all run on that one artefact, in order, module state carried from each to the next.
        rtol: relative tolerance of floating-point values; by default one that fits the dtype.
        atol: absolute tolerance.
        compiled: also compile the program with IREE and run it.
        target: target of the compiled program.
        options: further keyword arguments of `ssa_compiler.compile`.
    Returns:
        The stages' texts and block counts.
    Raises:
        StageMismatch: a stage differs from eager; the first one is named.
        SsaCompilerError: the model cannot be imported or compiled.
    """
    from ..importer import import_program
    from ..pipeline import STAGES, run_pipeline

    sets = [call if isinstance(call, Call) else Call(*call) for call in calls]
    if not sets:
        raise ValueError("expected at least one input set")
    oracle = _copy(model)
    program = import_program(_copy(model), sets[0].args, sets[0].kwargs)
    checked = Checked(program, dict(run_pipeline(program.module).stages))
    interpreters = {stage: _Interpreted(program, checked.stages[stage], stage) for stage in STAGES}
    runner = _Compiled(model, sets[0], target, dict(options or {})) if compiled else None
    checked.compiled = runner.program if runner else None
    for number, call in enumerate(sets):
        expected = _run_eager(oracle, call, number)
        checked.errors.append(expected.error)
        counts: dict[str, Counter[str]] = {}
        for stage, interpreted in interpreters.items():
            interpreted_outcome = interpreted.run(call, number)
            _compare(stage, number, expected, interpreted_outcome, rtol, atol)
            counts[stage] = interpreted.interpreter.block_counts
        checked.block_counts.append(counts)
        if runner is not None:
            actual = runner.run(call, number)
            # Results of the compiled program are where the last stage under the interpreter has them.
            actual.copies = [
                value
                for value, twin in zip(_leaves(actual.result), _leaves(interpreted_outcome.result), strict=False)
                if any(twin is copied for copied in interpreted_outcome.copies)
            ]
            _compare(COMPILED, number, expected, actual, rtol, atol)
    return checked


# --- the three sides --------------------------------------------------------------------------------------------------


def _copy(value: Any) -> Any:
    """A deep copy; tensors that share storage share it in the copy, with their strides."""
    return value if not isinstance(value, torch.nn.Module) and callable(value) else copy.deepcopy(value)


def _state(model: Any) -> dict[str, Any]:
    """The parameters and buffers of a module, and its attributes that are numbers, by qualified name."""
    if not isinstance(model, torch.nn.Module):
        return {}
    numbers = {
        f"{path}.{name}".removeprefix("."): value
        for path, module in model.named_modules(remove_duplicate=False)
        for name, value in vars(module).items()
        if isinstance(value, bool | int | float) and not name.startswith("_")
    }
    return numbers | {
        name: tensor.detach()
        for name, tensor in (
            *model.named_parameters(remove_duplicate=False),
            *model.named_buffers(remove_duplicate=False),
        )
    }


def _attempt(outcome: _Outcome, function: Callable[[], Any], seed: int) -> _Outcome:
    """Run one side of a call. Random numbers start from the same seed on every side; the caller's generators stay."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    try:
        with torch.no_grad(), torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            outcome.result = function()
    except Exception as error:  # whatever the program raises is compared
        outcome.error = error
    return outcome


def _run_eager(model: Model, call: Call, seed: int) -> _Outcome:
    args, kwargs = copy.deepcopy((call.args, call.kwargs))
    outcome = _attempt(_Outcome(arguments=(args, kwargs)), lambda: model(*args, **kwargs), seed)
    outcome.state = _state(model)
    return outcome


class _Interpreted:
    """One stage under the interpreter, with its own module state."""

    def __init__(self, program: ImportedProgram, text: str, stage: str) -> None:
        self._program = program
        self._values = stage in _VALUE_STAGES
        try:
            self.interpreter = Interpreter(text)
        except InterpreterError as error:
            raise StageMismatch(stage, 0, f"the IR is wrong: {error}") from error
        self._copies: list[Any] = []
        tensors = [parameter.current().detach() for parameter in program.parameters]
        self._state: list[torch.Tensor] = copy.deepcopy(tensors)
        self._numbers = [attribute.current() for attribute in program.attributes]

    def run(self, call: Call, seed: int) -> _Outcome:
        from ..importer import build_result, flatten_arguments

        args, kwargs = copy.deepcopy((call.args, call.kwargs))
        outcome = _Outcome(arguments=(args, kwargs))

        def execute() -> Any:
            leaves = flatten_arguments(self._program, args, kwargs)
            state = [*self._numbers, *self._state]
            leaves[len(leaves) - len(state) :] = state
            results = self._finish(leaves, self.interpreter.run(*leaves))
            self._numbers = [build_result(attribute.result, results) for attribute in self._program.attributes]
            return build_result(self._program.results, results)

        self._copies = outcome.copies
        _attempt(outcome, execute, seed)
        for parameter, tensor in zip(self._program.parameters, self._state, strict=True):
            outcome.state.update(dict.fromkeys((parameter.name, *parameter.aliases), tensor))
        for attribute, number in zip(self._program.attributes, self._numbers, strict=True):
            outcome.state[attribute.name] = number
        return outcome

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
            elif "tssa.may_alias" in facts:
                self._copies.append(finished[number])
        return finished[: self._program.result_count]


class _Compiled:
    """The program that `ssa_compiler.compile` returns, with its own copy of the module."""

    def __init__(self, model: Model, example: Call, target: str, options: dict[str, Any]) -> None:
        import ssa_compiler

        self._model = _copy(model)
        args, kwargs = copy.deepcopy((example.args, example.kwargs))
        if kwargs:
            options["example_kwargs"] = kwargs
        self.program = ssa_compiler.compile(self._model, args, target=target, **options)

    def run(self, call: Call, seed: int) -> _Outcome:
        args, kwargs = copy.deepcopy((call.args, call.kwargs))
        outcome = _attempt(_Outcome(arguments=(args, kwargs)), lambda: self.program(*args, **kwargs), seed)
        outcome.state = _state(self._model)
        return outcome


# --- comparing --------------------------------------------------------------------------------------------------------


def compare_values(
    expected: Any, actual: Any, name: str = "result", *, rtol: float | None = None, atol: float | None = None
) -> str | None:
    """Compare two results.

    Args:
        expected: what eager returned: tensors, scalars, None, str, nested in tuples, lists and dicts.
        actual: what the other side returned.
        name: how to call the value in the message.
        rtol: relative tolerance of floating-point values, by default that of the dtype.
        atol: absolute tolerance.
    Returns:
        What differs, in words; None if nothing does. Integers and bools must be equal, NaN equals NaN.
    """
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, torch.Tensor):
            return f"{name}: expected a tensor, got {type(actual).__name__}"
        return _compare_tensors(expected, actual, name, rtol, atol)
    if isinstance(expected, list | tuple):
        if isinstance(actual, list) != isinstance(expected, list) or not isinstance(actual, list | tuple):
            return f"{name}: expected a {type(expected).__name__}, got {type(actual).__name__}"
        if len(expected) != len(actual):
            return f"{name}: expected {len(expected)} elements, got {len(actual)}"
        pairs = [(f"{name}[{i}]", a, b) for i, (a, b) in enumerate(zip(expected, actual, strict=True))]
    elif isinstance(expected, dict):
        if not isinstance(actual, dict) or list(expected) != list(actual):
            return f"{name}: expected keys {list(expected)}, got {list(actual) if isinstance(actual, dict) else actual}"
        pairs = [(f"{name}[{key!r}]", expected[key], actual[key]) for key in expected]
    else:
        return _compare_scalars(expected, actual, name, rtol, atol)
    return next((found for label, a, b in pairs if (found := compare_values(a, b, label, rtol=rtol, atol=atol))), None)


def _compare_scalars(expected: Any, actual: Any, name: str, rtol: float | None, atol: float | None) -> str | None:
    if type(expected) is not type(actual):
        return f"{name}: expected {expected!r}, got {actual!r}"
    if isinstance(expected, float):
        left, right = (torch.tensor(value, dtype=torch.float64) for value in (expected, actual))
        return _compare_tensors(left, right, name, rtol, atol)
    return None if expected == actual else f"{name}: expected {expected!r}, got {actual!r}"


def _compare_tensors(
    expected: torch.Tensor, actual: torch.Tensor, name: str, rtol: float | None, atol: float | None
) -> str | None:
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{name}: expected {expected.dtype} {list(expected.shape)}, got {actual.dtype} {list(actual.shape)}"
    relative, absolute = _TOLERANCES.get(expected.dtype, (0.0, 0.0))
    if expected.dtype in _TOLERANCES:
        relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    close = torch.isclose(actual.detach().cpu(), expected.detach().cpu(), rtol=relative, atol=absolute, equal_nan=True)
    if bool(close.all()):
        return None
    where = tuple(int(i) for i in (~close).nonzero()[0])
    return (
        f"{name}: {int((~close).sum())} of {close.numel()} elements differ, the first at {list(where)}: "
        f"expected {expected[where].item()!r}, got {actual[where].item()!r}"
    )


def _compare(
    stage: str, call: int, expected: _Outcome, actual: _Outcome, rtol: float | None, atol: float | None
) -> None:
    def fail(detail: str) -> None:
        raise StageMismatch(stage, call, detail) from actual.error

    if isinstance(actual.error, InterpreterError):
        fail(f"the IR is wrong: {actual.error}")
    if expected.error is not None:
        fitting = next((kind for kind in _ERRORS if isinstance(expected.error, kind)), type(expected.error))
        if not isinstance(actual.error, fitting):
            got = f"{type(actual.error).__name__}: {actual.error}" if actual.error else "no error"
            fail(f"expected {type(expected.error).__name__} ({expected.error}), got {got}")
        return  # what a program had written when it raised is not promised
    if actual.error is not None:
        fail(f"raised {type(actual.error).__name__}: {actual.error}")
    for name, left, right in (
        ("result", expected.result, actual.result),
        ("arguments afterwards", expected.arguments, actual.arguments),
        ("module state", {k: expected.state[k] for k in actual.state if k in expected.state}, actual.state),
    ):
        if detail := compare_values(left, right, name, rtol=rtol, atol=atol):
            fail(detail)
    if detail := _compare_identity(expected, actual):
        fail(detail)


def _leaves(value: Any) -> list[Any]:
    return list(torch.utils._pytree.tree_leaves(value))


def _compare_identity(expected: _Outcome, actual: _Outcome) -> str | None:
    """A result that is an argument, or an earlier result, in eager must be so everywhere.

    Except those that the conversion documents as copies: an argument in some runs and not in others.
    """

    def twins(outcome: _Outcome) -> list[int]:
        values = _leaves(outcome.arguments) + _leaves(outcome.result)
        return [
            next(j for j, other in enumerate(values) if other is value) if isinstance(value, torch.Tensor) else i
            for i, value in enumerate(values)
        ]

    left, right = twins(expected), twins(actual)
    values = _leaves(actual.arguments) + _leaves(actual.result)
    arguments = len(_leaves(expected.arguments))
    for position in range(arguments, len(left)):
        if left[position] != right[position] and not any(values[position] is copied for copied in actual.copies):
            return f"result {position - arguments} is {_twin(left[position], position, arguments)} in eager, " + (
                f"but {_twin(right[position], position, arguments)} here"
            )
    return None


def _twin(number: int, position: int, arguments: int) -> str:
    if number == position:
        return "a tensor of its own"
    return f"argument {number}" if number < arguments else f"the same tensor as result {number - arguments}"
