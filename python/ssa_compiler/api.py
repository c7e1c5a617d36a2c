"""`compile` and `script`. What they return is in `compiled_program.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from .compiled_program import CompiledProgram
from .errors import ArgumentTypeError, SsaCompilerError
from .explanation import CallbackUse, Explanation
from .options import Options
from .process.interrupts import InterruptGuard
from .process.tracebacks import for_user
from .specialisation import Specialisation

if TYPE_CHECKING:
    import torch

__all__ = ["CallbackUse", "CompiledProgram", "Explanation", "Specialisation", "compile", "script"]


_MOST_NODES = 100_000
"""A program that has more of them, in all attempts to import it, is compiled in fragments."""


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
    fullgraph: bool | None = None,
) -> CompiledProgram:
    """Compile a PyTorch program.

    A program that cannot be compiled as a whole is compiled in fragments when it is called, with graph breaks between
    them: lines that Python runs. `explain()` lists both.

    Args:
        model: function, method, nn.Module, callable object or functools.partial, ScriptModule or ScriptFunction, what
            `torch.jit.trace` gives, the path of a file that `torch.jit.save` wrote, or what a registered front end
            takes. The program reads and changes the attributes of objects as eager does.
        example_inputs: positional arguments. Tensors give dtypes, shapes and the device; ints, floats and bools stay
            dynamic where the program does not need them as constants; strings, None and the others are specialised
            (`explain()` lists them). They are neither run nor changed. A call whose arguments differ in what is not
            dynamic compiles the program again for them; so does a call after a change of what the program read from its
            module as a constant (the training flag, `self.eps`).
        example_kwargs: keyword arguments, likewise.
        dynamic_shapes: the sizes that are not fixed, as `torch.export.export` takes them:
            `{"x": {0: torch.export.Dim("n")}}`, by name or by position (docs/Shapes.md). None lets a size be dynamic
            from the third that is seen of it; `torch.export.Dim.STATIC` keeps all sizes static.
        max_specialisations: how often the program may be compiled, this time included; a call that would need more is
            rejected. 1 rejects every call that differs from the example.
        target: "cpu", "cuda", "cuda:sm_80" to "cuda:sm_90", or "auto" for the device of the examples and parameters.
        data_tiling: tile matrix operands and use microkernels on the CPU; None leaves the choice to the compiler.
        index_checks: raise, as eager does, when a number in an index tensor is out of range, or in a tensor that
            integers are divided by is 0. Without it such a number is undefined behaviour: anything may be read or
            written, and no error is raised.
        strict: raise UnsupportedOpError, with each op, line and reason, where an op would run in PyTorch from inside
            the compiled program. Random ops are such: they draw from PyTorch's stream. Large products, which PyTorch's
            libraries compute on the CPU otherwise, are compiled.
        dump_dir: folder that receives the IR of every stage, and the input of a tool that fails; a further
            specialisation gets a folder `specialisation-<number>` in it.
        ssa_opt: the ssa-opt executable; searched for if None.
        timeout_s: wall-clock limit of each tool run in seconds.
        cache: take the program, or its compiled code, from the cache on disk if it is there, and keep it there if not
            (docs/Backend.md); with `dump_dir` it is always made anew. The environment variable SSA_COMPILER_CACHE=off
            turns the cache off everywhere.
        gradients: what a call does where eager would record gradients, as a parameter or an argument requires grad and
            grad mode is on: "raise" ArgumentValueError, or "detach" the results. Compiled programs record none.
        kernels: make one native kernel of the program, or of each part of it that can be one
            (docs/Kernels.md); IREE launches a kernel for each op of the rest. The environment variable
            SSA_COMPILER_KERNELS=off turns this off everywhere.
        fullgraph: raise where the program cannot be compiled as a whole. None for True if the environment variable
            SSA_COMPILER_FULLGRAPH is 1, else False; `strict` includes it.
    Returns:
        A callable with the model's signature. It takes and returns torch tensors.
    Raises:
        ScriptError: TorchScript rejects the model; likewise.
        ArgumentError: the examples do not fit the signature, or lie on several devices.
        UnsupportedOpError, UnsupportedProgramError: the program cannot be compiled, not even in fragments, or
            `fullgraph` forbids that; the message has the user's line.
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
    fullgraph = _fullgraph() if fullgraph is None else fullgraph
    most = None if fullgraph or strict else _MOST_NODES
    options = Options(*codegen, dynamic_shapes, strict, cache, gradients, kernels, fullgraph, most_nodes=most)
    with InterruptGuard():
        try:
            compiled = CompiledProgram(model, options, max_specialisations, _in_fragments)
        except Exception as error:
            raise for_user(error)  # noqa: B904 - SSA_COMPILER_TRACEBACKS=full shows all frames
        try:
            compiled.specialise(*example_inputs, **dict(example_kwargs or {}))
        except Exception as error:
            if not compiled.runs_in_fragments(error):
                raise for_user(error)  # noqa: B904 - as above
        return compiled


def _fullgraph() -> bool:
    return os.environ.get("SSA_COMPILER_FULLGRAPH", "") not in ("", "0")


def _in_fragments(model: Any, options: Options, limit: int, rejected: SsaCompilerError) -> Any:
    from .fragments.fragmented_program import in_fragments  # most programs do without

    return in_fragments(model, options, limit, rejected)


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
    known = [name for name in Options.__dataclass_fields__ if name not in ("exact_aliases", "most_nodes")]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ArgumentTypeError(
            f"script() got an unexpected keyword argument '{unknown[0]}'; expected max_specialisations, {', '.join(known)}"
        )
    chosen = Options(**{"fullgraph": _fullgraph(), **options})
    chosen = replace(chosen, most_nodes=None if chosen.fullgraph or chosen.strict else _MOST_NODES)
    if model is None:
        return lambda model: script(model, max_specialisations=max_specialisations, **options)
    if isinstance(model, type):
        return _script_class(model, chosen, max_specialisations)
    return CompiledProgram(model, chosen, max_specialisations, _in_fragments)


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
            program = self.__dict__[attribute] = CompiledProgram(self, options, max_specialisations, _in_fragments)
        try:
            return program(*args, **kwargs)
        except Exception as error:
            raise for_user(error)  # noqa: B904 - SSA_COMPILER_TRACEBACKS=full shows all frames

    kind.__call__ = call  # type: ignore[method-assign]
    return kind
