"""What the importer makes of a program: its text, and whether the interpreter gets eager's results from it."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler.abi import build_result, flatten_arguments
from ssa_compiler.importer import import_program
from ssa_compiler.testing import compare_values, interpret


def ops(text: str) -> list[str]:
    """Names of the torch ops in a module's text, constants and lists of operands left out."""
    names = re.findall(r"(?:= |^\s+)(torch\.[A-Za-z_.0-9]+)", text, re.MULTILINE)
    return [name.removeprefix("torch.") for name in names if not name.startswith(("torch.constant", "torch.prim.List"))]


def imported(model: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Text of the imported module."""
    return import_program(model, args, kwargs).module


def assert_equal_to_eager(model: Callable[..., Any], *calls: Sequence[Any]) -> str:
    """Import for the first call and compare results, arguments and module state on all of them.

    Returns:
        The imported text.
    """
    oracle = copy.deepcopy(model)
    imported_model = copy.deepcopy(model)
    program = import_program(imported_model, tuple(calls[0]))
    for call in calls:
        eager_args, our_args = copy.deepcopy(call), copy.deepcopy(call)
        try:
            with torch.no_grad():
                expected = oracle(*eager_args)
        except Exception as error:
            with pytest.raises(type(error)):
                interpret(program.module, *flatten_arguments(program, our_args))
            continue
        leaves = [v.detach() if isinstance(v, Tensor) else v for v in flatten_arguments(program, our_args)]
        actual = build_result(program.results, interpret(program.module, *leaves))
        assert (found := compare_values(expected, actual)) is None, found
        assert (found := compare_values(list(eager_args), list(our_args))) is None, found
        if isinstance(oracle, nn.Module):
            state = {name: value.detach() for name, value in imported_model.state_dict().items()}
            assert (found := compare_values(dict(oracle.state_dict()), state)) is None, found
    return program.module
