"""A random program: its text, what it is made of, and how it is loaded."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from .arguments import resolve
from .bounds import within_64_bits

__all__ = ["Loaded", "Program", "load"]


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        text: a Python file with `program`, a function, or `Program`, an nn.Module, and `INPUTS`, the input sets.
        seed: which one the generator made; None for one that was read from a file.
        features: how often each ingredient occurs.
    """

    text: str
    seed: int | None = None
    features: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Loaded:
    """A program in memory.

    Attributes:
        model: the function, or an instance of the module.
        calls: its input sets.
        exact: whether the floats that it returns have to be equal bit for bit.
    """

    model: Any
    calls: list[tuple[Any, ...]]
    exact: bool = False


def load(text: str, folder: Path, name: str) -> Loaded:
    """Write a program to a file, where TorchScript finds its source, and import it as a module, which stays in
    `sys.modules`.

    Args:
        text: the program.
        folder: where the file goes.
        name: the module's name.
    Returns:
        The program in memory.
    """
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where classes are looked up, also while the program runs
    spec.loader.exec_module(module)
    calls, exact = within_64_bits(text, resolve(module.INPUTS)), getattr(module, "EXACT", False)
    if hasattr(module, "Program"):
        torch.manual_seed(0)
        return Loaded(module.Program(), calls, exact)
    return Loaded(module.program, calls, exact)
