"""What `compile` and `script` return: a program with its specialisations.

A call that does not fit what the program was compiled for compiles it again for its arguments (`specialisation.py`);
what was compiled is kept.
"""

from __future__ import annotations

import copy
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Protocol

from ._wrapper import ModelWrapper
from .abi.differences import changed_sizes, count_differences, static_sizes
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    ProgramError,
    ScriptError,
    SsaCompilerError,
    ToolError,
    UnsupportedOpError,
    UnsupportedProgramError,
)
from .frontend import open_source
from .options import ChangedSizes, Options
from .process.forks import new_lock
from .process.garbage import collections_paused
from .process.interrupts import InterruptGuard
from .process.logs import LOGS, report_recompile, showing_progress
from .process.tracebacks import for_user
from .process.versions import check_versions
from .specialisation import Specialisation, compile_one, tensors_in

if TYPE_CHECKING:
    import torch

    from .abi import ImportedProgram, Signature
    from .backend import Artifact, CopyCount
    from .report import Report

__all__ = ["CompiledProgram"]


_STATIC_AT_FIRST = 2
"""For so many sizes a program is compiled as they are: prefill and decoding, training and evaluation."""


class Fragmented(Protocol):
    """A program that runs in Python, with fragments that are compiled."""

    reason: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it."""

    def explain(self) -> Any:
        """Return what of it is compiled."""


InFragments = Callable[[Any, Options, int, SsaCompilerError], "Fragmented | None"]


class CompiledProgram(ModelWrapper):
    """A program and what was compiled of it. Call it like the model.

    The attributes `imported`, `stages`, `artifact`, `signature`, `driver` and `seconds`, and the methods below, are
    those of the first specialisation; `specialisations[i]` has them for each.

    Args:
        model: the user's program.
        options: how to compile it.
        max_specialisations: how often it may be compiled.
        in_fragments: what compiles a program in fragments if the whole is rejected; None where that is not asked for.
    Raises:
        ArgumentValueError: `max_specialisations` is less than 1.
    """

    def __init__(
        self,
        model: Callable[..., Any] | torch.nn.Module | str | os.PathLike[str],
        options: Options,
        max_specialisations: int = 8,
        in_fragments: InFragments | None = None,
    ) -> None:
        if max_specialisations < 1:
            raise ArgumentValueError(f"max_specialisations: expected at least 1, got {max_specialisations}")
        start = time.perf_counter()
        with InterruptGuard():
            check_versions()
            self._source = open_source(model)
        self._opening_s = time.perf_counter() - start
        self._model = model
        self._options = options
        self._limit = max_specialisations
        self._in_fragments = in_fragments
        self._fragmented: Fragmented | None = None
        self._made: list[Specialisation] = []
        self._static: frozenset[tuple[str, int]] = frozenset()  # sizes that cannot be dynamic
        # The latest used comes first. Replaced, never changed: a call may run in another thread.
        self._order: tuple[Specialisation, ...] = ()
        self._call: Callable[[Sequence[Any], Mapping[str, Any]], Any] = _nothing_compiled
        self._lock = new_lock()
        if callable(model) and not isinstance(model, type) and hasattr(model, "__name__"):
            update_wrapper(self, model)

    def __get__(self, instance: Any, owner: Any = None) -> CompiledProgram:
        if instance is not None:
            name = getattr(self._model, "__qualname__", "the function")
            raise ArgumentTypeError(
                f"ssa_compiler.script cannot compile a method as part of its class ({name}): decorate the class, or pass "
                "an instance or its bound method"
            )
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledProgram:
        return CompiledProgram(copy.deepcopy(self._model, memo), self._options, self._limit, self._in_fragments)

    def __reduce__(self) -> Any:  # what was compiled is neither copied nor pickled
        return CompiledProgram, (self._model, self._options, self._limit, self._in_fragments)

    @property
    def model(self) -> Any:
        """What was passed to `compile` or `script`."""
        return self._model

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Args:
            *args: positional arguments as the model takes them. Tensors that the model writes are written.
            **kwargs: keyword arguments.
        Returns:
            What the model returns. Tensors own their memory, except for results that are arguments of the call.
        Raises:
            ArgumentError: the arguments cannot be passed, or there are `max_specialisations` for others already; the
                message names the argument.
            ProgramError: the program raised, as eager would.
            TargetError: there is no device to run on.
            SsaCompilerError: the program has to be compiled for these arguments, and `compile` raises this.
        """
        call = self._call
        try:
            return call(args, kwargs)
        except Exception as error:
            if not isinstance(error, ArgumentError) or not error.mismatch:
                raise for_user(error)  # noqa: B904 - SSA_COMPILER_TRACEBACKS=full shows all frames
            difference = error
        # Asked of the function that ran, not of `_order`: another thread may have changed that since.
        rejecting = tuple(made for made in self._order if made.is_called_by(call))
        try:
            return self._call_other(args, kwargs, rejecting, difference)
        except Exception as error:
            if not self.runs_in_fragments(error):
                raise for_user(error)  # noqa: B904 - SSA_COMPILER_TRACEBACKS=full shows all frames
        return self(*args, **kwargs)

    def runs_in_fragments(self, error: Exception) -> bool:
        """Let calls for which there is no specialisation run in Python, with fragments that are compiled.

        Args:
            error: what a specialisation raised.
        Returns:
            Whether they do from now on: the program is rejected, and that is asked for and can be done.
        """
        rejected = (ScriptError, UnsupportedOpError, UnsupportedProgramError)
        asked = self._in_fragments is not None and not (self._options.fullgraph or self._options.strict)
        failed = isinstance(error, ToolError) and bool(error.returncode)
        if not asked or self._fragmented is not None or not (isinstance(error, rejected) or failed):
            return False
        assert self._in_fragments is not None
        assert isinstance(error, SsaCompilerError)
        self._fragmented = self._in_fragments(self._model, self._options, self._limit, error)
        if self._fragmented is not None and not self._made:
            fragmented = self._fragmented
            self._call = lambda args, kwargs: fragmented(*args, **kwargs)
        return self._fragmented is not None

    def _call_other(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tried: tuple[Specialisation, ...],
        difference: ArgumentError,
    ) -> Any:
        """Run a call that the specialisation used last, `tried`, does not take: `difference`."""
        made = None
        differences = [(candidate, difference) for candidate in tried]
        while made is None:
            for candidate in self._order:
                if candidate in tried:
                    continue
                try:
                    result = candidate.loaded_call()(args, kwargs)
                except ArgumentError as error:
                    if not error.mismatch:
                        raise
                    tried += (candidate,)
                    differences.append((candidate, error))
                    continue
                self._prefer(candidate)
                return result
            if self._fragmented is not None:
                return self._fragmented(*args, **kwargs)
            with self._lock:
                if all(candidate in tried for candidate in self._order):  # no other thread has made one meanwhile
                    nearest = _of_nearest(differences, args, kwargs) if differences else difference
                    made = self._specialise(args, kwargs, nearest)
        try:
            return made.loaded_call()(args, kwargs)
        except ArgumentError as error:
            if not error.mismatch:
                raise
            final = type(error)(str(error))
        raise final  # it was compiled for these very arguments: they cannot be passed

    def _prefer(self, chosen: Specialisation) -> None:
        """Try a specialisation first from now on."""
        with self._lock:
            self._order = (chosen, *(other for other in self._order if other is not chosen))
            self._call = chosen.loaded_call()

    def specialise(self, *args: Any, **kwargs: Any) -> Specialisation:
        """Compile the program for arguments like these, before the first call with them.

        Args:
            *args: positional arguments; neither run nor changed.
            **kwargs: keyword arguments.
        Returns:
            The specialisation. It is a new one, whatever there is already.
        Raises:
            SsaCompilerError: as `compile`.
        """
        try:
            with self._lock:
                return self._specialise(args, kwargs, None)
        except Exception as error:
            raise for_user(error)  # noqa: B904 - SSA_COMPILER_TRACEBACKS=full shows all frames

    def _specialise(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], difference: ArgumentError | None
    ) -> Specialisation:
        number = len(self._made)
        if number or difference is not None:
            self._check_new(args, kwargs, difference)
        options = self._options
        if number and options.dump_dir is not None:
            options = replace(options, dump_dir=os.path.join(options.dump_dir, f"specialisation-{number + 1}"))
        reason = "" if difference is None or not number else str(difference)
        name = getattr(self._model, "__name__", type(self._model).__name__)
        if reason:
            report_recompile(name, number, reason)
        seconds = {"modules": 0.0 if number else self._opening_s}
        compiles = partial(compile_one, self._source, args, kwargs, reason=reason, further=number > 0, seconds=seconds)
        with InterruptGuard(), showing_progress(name, seconds), collections_paused():
            made = self._with_changed_sizes(compiles, args, kwargs, options) or compiles(options)
        self._made.append(made)
        if self._order:
            self._prefer(made)
        else:  # it is loaded by the first call, as that needs the device
            self._order = (made,)
            self._call = lambda args, kwargs: self._first_call(made, args, kwargs)
        return made

    def _with_changed_sizes(
        self,
        compiles: Callable[[Options], Specialisation],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Options,
    ) -> Specialisation | None:
        """Compile for a call with the sizes dynamic that differ from earlier calls, if two differ in nothing else.

        Returns:
            None if sizes are not dynamic: the user says which are, few were seen, or the program is rejected so.
        """
        if options.dynamic_shapes is not None:
            return None
        changed = [sizes for made in self._made if (sizes := changed_sizes(made.imported, args, kwargs))]
        sizes = frozenset[tuple[str, int]]().union(*changed) - self._static
        if len(changed) < _STATIC_AT_FIRST or not sizes:
            return None
        try:
            made = compiles(replace(options, dynamic_shapes=ChangedSizes(tuple(sorted(sizes)))))
        except SsaCompilerError as error:
            logging.getLogger(LOGS["recompiles"]).debug("with dynamic sizes: %s", error)
            self._static |= frozenset() if isinstance(error, ProgramError) else sizes
            return None
        self._static |= sizes & static_sizes(made.imported)
        return made

    def _first_call(self, made: Specialisation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        call = made.loaded_call()
        if self._order[0] is made:
            self._call = call
        return call(args, kwargs)

    def _check_new(self, args: tuple[Any, ...], kwargs: dict[str, Any], difference: ArgumentError | None) -> None:
        """Reject to compile for arguments that it would be of no use for.

        Raises:
            ArgumentError: there are too many specialisations, or a call with the arguments would be rejected.
        """
        import torch

        try:
            if self._made:
                self._made[0].imported.bind(args, kwargs)
        except ArgumentError as error:
            if not error.mismatch:
                raise
        tensors = tensors_in([*args, *kwargs.values()])
        detach = self._options.gradients == "detach"
        if not detach and torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            raise ArgumentValueError(
                "an argument requires grad, and compiled programs do not record gradients: call the program under "
                'torch.no_grad(), pass a detached tensor, or compile with gradients="detach" for results without gradients'
            )
        kind = self._options.target.partition(":")[0]
        wrong = next((t for t in tensors if t.device.type != kind and (t.dim() or t.device.type != "cpu")), None)
        if kind != "auto" and wrong is not None:
            raise ArgumentValueError(
                f"expected tensors on {kind}, got one on {wrong.device}: the program is compiled for target "
                f"'{self._options.target}'; move the tensor, or compile with target='auto'"
            )
        if len(self._made) < self._limit:
            return
        text = f"{difference}; " if difference is not None else ""
        if self._limit > 1:
            text += f"the program was compiled for {len(self._made)} kinds of arguments already (max_specialisations): "
            text += "; ".join(dict.fromkeys(map(str, self._made)))
            text += ". Let what changes be dynamic with dynamic_shapes=, or allow more specialisations"
        else:
            text += "the program may be compiled only once (max_specialisations=1)"
        exhausted = (type(difference) if difference is not None else ArgumentValueError)(text)
        exhausted.exhausted = True
        raise exhausted

    # -- what was compiled -------------------------------------------------------------------------------------------

    @property
    def specialisations(self) -> tuple[Specialisation, ...]:
        """What was compiled, in that order; `str()` of one shows the arguments it is for, `reason` why it was made."""
        return tuple(self._made)

    @property
    def _first(self) -> Specialisation:
        if not self._made:
            if self._fragmented is not None:
                raise UnsupportedProgramError(
                    "a program with graph breaks has no IR of the whole: `explain().fragments` has its parts. Not compiled "
                    f"as a whole: {self._fragmented.reason}"
                )
            raise ArgumentValueError("the program is compiled when it is called first: call it, or `specialise` it")
        return self._made[0]

    @property
    def imported(self) -> ImportedProgram:
        """The importer's result with the calling convention."""
        return self._first.imported

    @property
    def stages(self) -> dict[str, str]:
        """Textual IR by stage."""
        return self._first.stages

    @property
    def artifact(self) -> Artifact:
        """The compiled code and how it was made."""
        return self._first.artifact

    @property
    def signature(self) -> Signature:
        """What the compiled `@main` takes and returns."""
        return self._first.signature

    @property
    def driver(self) -> str:
        """The IREE driver that runs it."""
        return self._first.driver

    @property
    def seconds(self) -> dict[str, float]:
        """Compile time by step."""
        return self._first.seconds

    def _loaded(self) -> Any:
        return self._first._loaded()

    def mlir(self, stage: str = "tensorssa") -> str:
        """Return the textual IR after a stage, with locations.

        Args:
            stage: "imported", "scf", "tensorssa" or "iree".
        Raises:
            ArgumentValueError: there is no such stage.
        """
        return self._first.mlir(stage)

    def explain(self) -> Any:
        """Return how the program was compiled, which ops run in PyTorch, and which further specialisations there
        are.

        Returns:
            An `Explanation`; of a program with graph breaks a `FragmentedExplanation`, which lists these and fragments.
        """
        if self._fragmented is not None and not self._made:
            return self._fragmented.explain()
        others = [
            f"specialisation {n}: {made}, as {made.reason or 'asked for'}" for n, made in enumerate(self._made, 1)
        ]
        return replace(self._first.explain(), others=tuple(others[1:]))

    def report(self, *, ssa_opt: str | os.PathLike[str] | None = None) -> Report:
        """Return what became of each write of the program, and which copies it needs and makes (docs/Report.md).

        Args:
            ssa_opt: the ssa-opt executable, which runs the conversion again; searched for if None.
        Raises:
            ToolError: ssa-opt is missing or fails.
        """
        return self._first.report(ssa_opt=ssa_opt)

    def copy_count(self) -> CopyCount:
        """Count the copies, dispatches and allocations that IREE schedules; see `Specialisation.copy_count`."""
        return self._first.copy_count()


def _of_nearest(
    differences: Sequence[tuple[Specialisation, ArgumentError]], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ArgumentError:
    """Return how a call differs from the specialisation that is nearest to it, of several the one used last.

    Args:
        differences: specialisations, the one used last first, each with what it raised for the call.
        args: positional arguments of the call.
        kwargs: keyword arguments.
    """
    return min(differences, key=lambda found: count_differences(found[0].imported, args, kwargs))[1]


def _nothing_compiled(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    raise ArgumentTypeError("the program is compiled at its first call").as_mismatch()
