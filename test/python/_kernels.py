"""Programs that have to be one native kernel."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ssa_compiler import errors
from ssa_compiler.testing import check


def kernel_of(function: Callable[..., Any], *inputs: tuple[Any, ...]) -> Any:
    """Compile a program, which has to be a kernel, and compare it with eager three times for each input set."""
    checked = check(function, *inputs)
    compiled = checked.compiled
    explained = compiled.explain()
    assert explained.kernel, explained.kernel_reason
    assert len(compiled.specialisations) == 1
    for args in inputs:
        results = []
        for _ in range(3):
            given = copy.deepcopy(args)
            try:
                results.append(compiled(*given))
            except errors.ProgramError as error:
                results.append(str(error))
        assert len({str(result) for result in results}) == 1
    return compiled


def nested(x: Tensor, n: int, m: int) -> Tensor:
    y = torch.zeros_like(x)
    for i in range(n):
        row = y[i % 3]
        for j in range(m):
            row[j % 4] += x[i % 3, j % 4] * j
        if row.sum() > 10:
            y = y - 1
    return y
