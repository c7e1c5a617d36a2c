"""The time that forming kernels takes does not double with each branch, and what takes too long is given up soon."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler._opt import run_ssa_opt
from ssa_compiler.backend.kernels import region_kernels
from ssa_compiler.backend.kernels.kernels import NoKernelError

BRANCH = """
  %r{after} = scf.if %c -> (tensor<?xf32>) {{
    %a = tensor.insert %one into %r{before}[%c0] : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }} else {{
    %b = linalg.fill ins(%one : f32) outs(%r{before} : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }}"""
CHAIN = """
func.func @main(%x: tensor<?xf32> {{kernel.role = "input"}}, %n: index, %c: i1) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %r0 = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>{branches}
  %z = linalg.fill ins(%one : f32) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %w = scf.if %c -> (tensor<?xf32>) {{
    scf.yield %r{count} : tensor<?xf32>
  }} else {{
    scf.yield %z : tensor<?xf32>
  }}
  return %w : tensor<?xf32>
}}
"""


def test_a_chain_of_branches() -> None:
    """Each asks for the size of what the branch before ends in, twice: 2**32 questions would end with a ToolError."""
    branches = "".join(BRANCH.format(before=number, after=number + 1) for number in range(32))
    made = run_ssa_opt(CHAIN.format(branches=branches, count=32), ["--yield-in-place"], timeout_s=120.0)
    assert made.count("scf.if") == 33


def loops(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = x * 0.5 + i
    x = torch.igamma(x, x)  # runs in PyTorch
    for i in range(n):
        x = x * 0.25 + i
    x = torch.igamma(x, x)
    for i in range(n):
        x = x * 0.125 + i
    return x


@pytest.mark.parametrize(("lasting", "tried"), [(True, 6), (False, 2)])
def test_no_more_parts_are_tried_after_two_that_took_too_long(
    lasting: bool, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def form(text: str, *_: Any, **__: Any) -> None:
        tries.append(text)
        raise NoKernelError("it took too long", lasting=lasting)

    monkeypatch.setattr(region_kernels, "form_kernel", form)
    compiled = ssa_compiler.compile(loops, (torch.ones(3), 2), target="cpu")
    assert len(tries) == tried
    torch.testing.assert_close(compiled(torch.ones(3), 3), loops(torch.ones(3), 3))
