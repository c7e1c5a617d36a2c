"""`compile`, `script`, and the callable that they return: a program with its specialisations.

A call that does not fit what the program was compiled for compiles it again for its arguments (`specialisation.py`);
what was compiled is kept.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import update_wrapper, wraps
from typing import TYPE_CHECKING, Any

from ._wrapper import ModelWrapper
from .errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from .frontend import open_source
from .options import Options
from .process.forks import new_lock
from .process.garbage import collections_paused
from .process.interrupts import InterruptGuard
from .process.logs import report_recompile, showing_progress
from .process.versions import check_versions
from .specialisation import CallbackUse, Explanation, Specialisation, compile_one, tensors_in

if TYPE_CHECKING:
    import torch

    from .abi import ImportedProgram, Signature
    from .backend import Artifact, CopyCount
    from .report import Report

__all__ = ["CallbackUse", "CompiledProgram", "Explanation", "Specialisation", "compile", "script"]


def compile(
    model: Callable[..., Any] | torch.nn.Module | str | os.PathLike[str],
    example_inputs: Sequence[Any],
    *,
    example_kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    max_specialisations: int = 8,
    target: str = "auto",
    data_tiling: bool | None = None,
    index_checks: bool = True,
    strict: bool = False,
    dump_dir: str | os.PathLike[str] | None = None,
    ssa_opt: str | os.PathLike[str] | None = None,
    timeout_s: float = 300.0,
    cache: bool = True,
    gradients: str = "raise",
    kernels: bool = True,
) -> CompiledProgram:
    """Compile a PyTorch program.

    Args:
        model: function, nn.Module, method of one, ScriptModule or ScriptFunction, what `torch.jit.trace` gives, the
            path of a file that `torch.jit.save` wrote, or what a registered front end takes.
        example_inputs: positional arguments. Tensors give dtypes, shapes and the device; ints, floats and bools stay
            dynamic where the program does not need them as constants; strings, None and the others are specialised
            (`explain()` lists them). They are neither run nor changed. A call whose arguments differ in what is not
            dynamic compiles the program again for them; so does a call after a change of what the program read from its
            module as a constant (the training flag, `self.eps`).
        example_kwargs: keyword arguments, likewise.
        dynamic_shapes: the sizes that are not fixed, as `torch.export.export` takes them:
            `{"x": {0: torch.export.Dim("n")}}`, by name or by position (docs/Shapes.md).
        max_specialisations: how often the program may be compiled, this time included; a call that would need more is
            rejected. 1 rejects every call that differs from the example.
        target: "cpu", "cuda", "cuda:sm_80" to "cuda:sm_90", or "auto" for the device of the examples and parameters.
        data_tiling: tile matrix operands and use microkernels on the CPU; None leaves the choice to the compiler.
        index_checks: raise, as eager does, when a number in an index tensor is out of range, or in a tensor that
            integers are divided by is 0. Without it such a number is undefined behaviour: anything may be read or
            written, and no error is raised.
        strict: raise UnsupportedOpError, with each op, line and reason, where an op would run in PyTorch from inside
            the compiled program. Random ops are such: they draw from PyTorch's stream.
        dump_dir: folder that receives the IR of every stage, and the input of a tool that fails; a further
            specialisation gets a folder `specialisation-<number>` in it.
        ssa_opt: the ssa-opt executable; searched for if None.
        timeout_s: wall-clock limit of each tool run in seconds.
        cache: take the program, or its compiled code, from the cache on disk if it is there, and keep it there if not
            (docs/Backend.md); with `dump_dir` it is always made anew. The environment variable SSA_COMPILER_CACHE=off
            turns the cache off everywhere.
        gradients: what a call does where eager would record gradients, as a parameter or an argument requires grad and
            grad mode is on: "raise" ArgumentValueError, or "detach" the results. Compiled programs record none.
        kernels: on the CPU, make one native kernel of the program, or of each loop of it, where that can be
            (docs/Kernels.md); else IREE launches one for each op. The environment variable SSA_COMPILER_KERNELS=off
            turns this off everywhere.
    Returns:
        A callable with the model's signature. It takes and returns torch tensors.
    Raises:
        ScriptError: TorchScript rejects the model.
        ArgumentError: the examples do not fit the signature, or lie on several devices.
        UnsupportedOpError, UnsupportedProgramError: the program cannot be compiled; the message has the user's line.
        TargetError: the target is unknown.
        ToolError: a tool is missing, of the wrong version, failed or ran out of time.
        OSError: `dump_dir` cannot be made or written.
    """
    if not isinstance(example_inputs, Sequence) or isinstance(example_inputs, str):
        raise ArgumentTypeError(
            f"example_inputs: expected a tuple of positional arguments, got {type(example_inputs).__name__}: write "
            "compile(model, (x,)), and example_kwargs={...} for keyword arguments"
        )
    codegen = (target, data_tiling, index_checks, dump_dir, ssa_opt, timeout_s)
    options = Options(*codegen, dynamic_shapes, strict, cache, gradients, kernels)
    compiled = CompiledProgram(model, options, max_specialisations)
    compiled.specialise(*example_inputs, **dict(example_kwargs or {}))
    return compiled


def script(model: Any = None, /, *, max_specialisations: int = 8, **options: Any) -> Any:
    """Compile a PyTorch program when it is called, for the inputs that it meets.

    Use it as a decorator, `@ssa_compiler.script` or `@ssa_compiler.script(dynamic_shapes=...)`, or as a function.

    Args:
        model: what `compile` takes; or a subclass of nn.Module, of which each instance is compiled when it is called.
            None to get the decorator.
        max_specialisations: how often the program may be compiled; of a class, each instance.
        **options: further keyword arguments of `compile`.
    Returns:
        A `CompiledProgram` without specialisations; the class itself; the decorator.
    Raises:
        ArgumentTypeError: an option is unknown, or the class is no nn.Module.
    """
    known = Options.__dataclass_fields__
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ArgumentTypeError(
            f"script() got an unexpected keyword argument '{unknown[0]}'; expected max_specialisations, {', '.join(known)}"
        )
    chosen = Options(**options)
    if model is None:
        return lambda model: script(model, max_specialisations=max_specialisations, **options)
    if isinstance(model, type):
        return _script_class(model, chosen, max_specialisations)
    return CompiledProgram(model, chosen, max_specialisations)


def _script_class(kind: type, options: Options, max_specialisations: int) -> type:
    """Let calls of a class's instances be compiled."""
    import torch

    if not issubclass(kind, torch.nn.Module):
        raise ArgumentTypeError(f"expected a function, an nn.Module or a subclass of it, got the class {kind.__name__}")
    eager: Callable[..., Any] = kind.__call__
    attribute = "_ssa_compiler_program"

    @wraps(eager)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if torch._C._get_tracing_state() is not None:
            return eager(self, *args, **kwargs)
        program = self.__dict__.get(attribute)
        if program is None:
            program = self.__dict__[attribute] = CompiledProgram(self, options, max_specialisations)
        return program(*args, **kwargs)

    kind.__call__ = call  # type: ignore[method-assign]
    return kind


class CompiledProgram(ModelWrapper):
    """A program and what was compiled of it. Call it like the model.

    The attributes `imported`, `stages`, `artifact`, `signature`, `driver` and `seconds`, and the methods below, are
    those of the first specialisation; `specialisations[i]` has them for each.

    Args:
        model: the user's program.
        options: how to compile it.
        max_specialisations: how often it may be compiled.
    Raises:
        ArgumentValueError: `max_specialisations` is less than 1.
    """

    def __init__(
        self,
        model: Callable[..., Any] | torch.nn.Module | str | os.PathLike[str],
        options: Options,
        max_specialisations: int = 8,
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
        self._made: list[Specialisation] = []
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
        return CompiledProgram(copy.deepcopy(self._model, memo), self._options, self._limit)

    def __reduce__(self) -> Any:  # what was compiled is neither copied nor pickled
        return CompiledProgram, (self._model, self._options, self._limit)

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
        except ArgumentError as error:
            if not error.mismatch:
                raise
            difference = error
        # Asked of the function that ran, not of `_order`: another thread may have changed that since.
        rejecting = tuple(made for made in self._order if made.is_called_by(call))
        return self._call_other(args, kwargs, rejecting, difference)

    def _call_other(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tried: tuple[Specialisation, ...],
        difference: ArgumentError,
    ) -> Any:
        """Run a call that the specialisation used last, `tried`, does not take."""
        made = None
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
                    continue
                self._prefer(candidate)
                return result
            with self._lock:
                if all(candidate in tried for candidate in self._order):  # no other thread has made one meanwhile
                    made = self._specialise(args, kwargs, difference)
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
        with self._lock:
            return self._specialise(args, kwargs, None)

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
        with InterruptGuard(), showing_progress(name, seconds), collections_paused():
            made = compile_one(self._source, args, kwargs, options, reason=reason, further=number > 0, seconds=seconds)
        self._made.append(made)
        if self._order:
            self._prefer(made)
        else:  # it is loaded by the first call, as that needs the device
            self._order = (made,)
            self._call = lambda args, kwargs: self._first_call(made, args, kwargs)
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

        if self._made:
            self._made[0].imported.bind(args, kwargs)
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
        raise (type(difference) if difference is not None else ArgumentValueError)(text)

    # -- what was compiled -------------------------------------------------------------------------------------------

    @property
    def specialisations(self) -> tuple[Specialisation, ...]:
        """What was compiled, in that order; `str()` of one shows the arguments it is for, `reason` why it was made."""
        return tuple(self._made)

    @property
    def _first(self) -> Specialisation:
        if not self._made:
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

    def explain(self) -> Explanation:
        """Return how the program was compiled, which ops run in PyTorch, and which further specialisations there
        are.
        """
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
        """Count copies, kernels and allocations in the program's stream IR, inside and outside loops."""
        return self._first.copy_count()


def _nothing_compiled(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    raise ArgumentTypeError("the program is compiled at its first call").as_mismatch()
