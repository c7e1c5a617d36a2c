"""Which function of the library stands for which operator, and when."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

__all__ = ["Applies", "OpProgram", "find_program", "implements"]

Function = TypeVar("Function", bound=Callable[..., Any])
Applies = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class OpProgram:
    """A function that stands for operators.

    Attributes:
        function: the Python function.
        applies: whether it does, for arguments by name; FakeTensors, symbols and Python values.
        laid_out: whether its results are new tensors that lie in memory as the operator's do; otherwise they are
            copied.
        kernels: whether it is for native kernels only.
        rows: whether tensors without dimensions are given to it, and come from it, as rows of one element.
    """

    function: Callable[..., Any]
    applies: Applies
    laid_out: bool = False
    kernels: bool = False
    rows: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the operator's arguments that the function takes."""
        return tuple(inspect.signature(self.function).parameters)

    @cached_property
    def script(self) -> Any:
        """The ScriptFunction."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.jit.script(self.function)


_programs: dict[str, list[OpProgram]] = {}


def implements(
    *operators: str,
    where: Applies | None = None,
    laid_out: bool = False,
    kernels: bool = False,
    rows: bool = False,
) -> Callable[[Function], Function]:
    """Say that a function stands for operators.

    Args:
        operators: as PyTorch writes them, `aten::sort.stable`.
        where: whether it does for certain arguments; always if None.
        laid_out: whether its results are new tensors that lie in memory as the operators' do.
        kernels: whether it is for native kernels only; then it comes before those that are for all.
        rows: whether it is elementwise, and tensors without dimensions are to be rows of one element to it.
    """

    def register(function: Function) -> Function:
        program = OpProgram(function, where or (lambda arguments: True), laid_out, kernels, rows)
        for operator in operators:
            _programs.setdefault(operator, []).append(program)
        return function

    return register


@cache
def _load() -> None:
    """Import each module of the library whose name does not begin with an underscore, in the order of their names."""
    for found in sorted(pkgutil.iter_modules([str(Path(__file__).parent)]), key=lambda found: found.name):
        if not found.name.startswith("_"):
            importlib.import_module(f"{__package__}.{found.name}")


def find_program(operator: str, arguments: Mapping[str, Any], *, kernels: bool = False) -> OpProgram | None:
    """Return the function that stands for an operator called with these arguments, None if there is none.

    Args:
        operator: as PyTorch writes it.
        arguments: one Python value, FakeTensor or symbol per schema argument, by name.
        kernels: whether it may use ops that only native kernels have.
    """
    _load()
    programs = sorted(_programs.get(operator, ()), key=lambda program: not program.kernels)
    usable = (program for program in programs if kernels or not program.kernels)
    return next((program for program in usable if _applies(program, arguments)), None)


def _applies(program: OpProgram, arguments: Mapping[str, Any]) -> bool:
    try:
        return program.applies(arguments)
    except GuardOnDataDependentSymNode:  # it asks for what is dynamic
        return False
