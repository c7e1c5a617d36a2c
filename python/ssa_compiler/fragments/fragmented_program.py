"""What `compile` returns for a program that is compiled in fragments."""

from __future__ import annotations

import inspect
import logging
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..compiled_program import CompiledProgram
from ..errors import SsaCompilerError
from ..options import Options
from ..process.logs import LOGS
from .functions import Functions, has_hooks
from .unit import Break, Unit

__all__ = ["FragmentedExplanation", "FragmentedProgram", "in_fragments"]


@dataclass(frozen=True)
class FragmentedExplanation:
    """How a program with graph breaks was compiled, as far as it was called.

    Attributes:
        reason: why it is not compiled as a whole.
        fragments: what is compiled: the function or lines, and its `CompiledProgram`.
        breaks: the lines that Python runs, with the reason.
    """

    reason: str
    fragments: tuple[tuple[str, CompiledProgram], ...]
    breaks: tuple[Break, ...]

    def __str__(self) -> str:
        count = f"{len(self.fragments)} fragment{'s' * (len(self.fragments) != 1)} compiled"
        lines = [f"{count}; not the whole program: {self.reason}"]
        for name, program in self.fragments:
            lines.append(f"  {name}:")
            lines += [f"    {line}" for line in str(program.explain()).splitlines()]
        return "\n".join([*lines, *(f"  {each}" for each in self.breaks)])


class FragmentedProgram:
    """A program that is compiled in fragments, between which Python runs it. Call it like the model.

    Args:
        call: runs it.
        functions: the table of its functions.
        rejected: why it is not compiled as a whole.
    """

    def __init__(self, call: Callable[..., Any], functions: Functions, rejected: SsaCompilerError) -> None:
        self._call, self._functions = call, functions
        self.reason = str(rejected).partition("\n")[0]
        """Why it is not compiled as a whole."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Args:
            *args: positional arguments as the model takes them.
            **kwargs: keyword arguments.
        Returns:
            What the model returns. Where eager records gradients, Python runs the fragments, too, so that they are.
        Raises:
            Exception: whatever the program raises; where a fragment does, it is a ProgramError.
        """
        if self._functions.options.gradients == "detach":
            with torch.no_grad():
                return self._call(*args, **kwargs)
        return self._call(*args, **kwargs)

    def explain(self) -> FragmentedExplanation:
        """Return what of the program is compiled, what Python runs, and why. Only what was called is known."""
        fragments: list[tuple[str, CompiledProgram]] = []
        breaks: list[Break] = []

        def add(unit: Unit) -> None:
            fragments.extend(unit.compiled())
            breaks.extend(unit.breaks)
            for part in unit.parts:
                add(part)

        for unit in self._functions.units:
            add(unit)
        return FragmentedExplanation(self.reason, tuple(fragments), tuple(breaks))


def in_fragments(model: Any, options: Options, limit: int, rejected: SsaCompilerError) -> FragmentedProgram | None:
    """Return a program that is compiled in fragments.

    Args:
        model: what was passed to `compile`.
        options: what was asked for.
        limit: how often each fragment may be compiled.
        rejected: why it is not compiled as a whole.
    Returns:
        None if Python cannot run it between fragments: it is no Python function with its source, or has hooks.
    """
    found = _function(model)
    if found is None:
        return None
    functions = Functions(options, limit)
    call = functions.root(*found, rejected)
    if call is None:
        return None
    name = getattr(model, "__name__", type(model).__name__)
    logging.getLogger(LOGS["import"]).warning(
        "%s is compiled with graph breaks: %s", name, str(rejected).partition("\n")[0]
    )
    return FragmentedProgram(call, functions, rejected)


def _function(model: Any) -> tuple[types.FunctionType, Any] | None:
    """The Python function of a model, and what it is called on."""
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return None
    if isinstance(model, torch.nn.Module):
        if has_hooks(model) or not inspect.ismethod(model.forward):
            return None
        return model.forward.__func__, model  # type: ignore[return-value]
    if inspect.ismethod(model):
        return (model.__func__, model.__self__) if isinstance(model.__func__, types.FunctionType) else None
    if isinstance(model, types.FunctionType):
        return model, None
    called = inspect.getattr_static(type(model), "__call__", None)
    return (called, model) if isinstance(called, types.FunctionType) else None
