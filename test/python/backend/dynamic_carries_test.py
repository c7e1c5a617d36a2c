"""Tensors that loops and branches forward in another size or from a shared block, and tensors of run-time size in
nested loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from iree.compiler import ir
from torch import Tensor

from ssa_compiler.backend.legalize.dynamic_carries import branch_to_tensors, carry_sizes, hide_places, loosen_loops
from ssa_compiler.testing import check


def rows() -> Tensor:
    return torch.arange(60.0).reshape(20, 3)


def grown_by_cat(x: Tensor, n: int) -> Tensor:
    v = x[:1]
    for i in range(n):
        v = torch.cat([v, x[i : i + 1] * 2])
    return v


def grown_in_an_inner_loop(x: Tensor, n: int) -> Tensor:
    v = x[:1]
    for i in range(n):
        for j in range(i):
            v = torch.cat([v, x[j : j + 1] * 2])
    return v


def kept_in_nested_loops(x: Tensor, n: int) -> Tensor:
    v = x[: n + 1].clone()
    for i in range(n):
        for j in range(i):
            v[j] = x[i] + v[i]
    return v


def made_beside_a_buffer(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Without an iteration, `h` is still where it was made: in one block of memory with the buffer and the result."""
    h = x[0] * 3
    a = [x[0] * 1]
    b = [x[1] + 1]
    h += 1
    for _ in range(n):
        h += 1
        a.append(x[0] + 1)
    b.append(a[-1])
    return torch.stack(b), h * 1


def two_buffers(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    h = x[0] * 3
    a = [x[0] * 1]
    b = [x[1] + 1]
    for _ in range(n):
        h += 1
    for i in range(n):
        if i % 2 == 0:
            a.append(x[i] * 2)
        b.append(h * 0.5)
    return torch.stack(a), torch.stack(b)


def made_together_in_a_branch(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """The branch makes both in one block of memory, `a` behind `b`; without it each is where it was."""
    a = x[:n] + 1
    b = x[:n] + 2
    for i in range(4):
        if i < n:
            b = b + a
            a = a - b
    return a, b


def made_beside_in_a_loop(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """The loop makes all in one block of memory; `s` and `t` are of known sizes."""
    a = x[:n] + 1
    s = x[1] * 2
    t = torch.zeros(())
    for _ in range(n):
        a = a * 2
        s = s * 0.5
        t = t * 0.5 + x[2, 0]
    return a, s, t


def chosen(x: Tensor, n: int) -> Tensor:
    a = x[:n]
    b = x[n:]
    return (a if n > 2 else b) * 2


def left_in_two_ways(x: Tensor, n: int) -> Tensor:
    """Where the loop goes on, there is a tensor without elements in the place of the one that it would be left with."""
    y = x[:n] + 1
    k = 0
    while True:
        if k >= n:
            break
        if k == 3:
            break
        y = y * 2
        k += 1
    return y


@pytest.mark.parametrize(
    "program",
    [
        grown_by_cat,
        grown_in_an_inner_loop,
        kept_in_nested_loops,
        made_beside_a_buffer,
        two_buffers,
        made_together_in_a_branch,
        made_beside_in_a_loop,
        chosen,
        left_in_two_ways,
    ],
    ids=lambda program: program.__name__,
)
def test_compiled_equals_eager(program: Callable[..., Any]) -> None:
    check(program, *((rows(), n) for n in (2, 0, 1, 7)))


_LOOP = """
func.func @main(%x: tensor<SIZEx3xf32>, %n: index) -> tensor<SIZEx3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = tensor.cast %x : tensor<SIZEx3xf32> to tensor<SIZEx3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> (tensor<SIZEx3xf32>) {
    scf.yield %a : tensor<SIZEx3xf32>
  }
  return %r : tensor<SIZEx3xf32>
}
"""


@pytest.mark.parametrize(("size", "rewritten"), [("2", 0), ("?", 1)])
def test_only_programs_with_run_time_sizes_are_changed(size: str, rewritten: int) -> None:
    with ir.Context():
        module = ir.Module.parse(_LOOP.replace("SIZE", size))
        assert loosen_loops(module) == rewritten
        assert ("scf.while" in str(module)) == bool(rewritten)
        assert module.operation.verify()


_BRANCH = """
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %c: i1) -> tensor<?x3xf32> {
  %r = scf.if %c -> (tensor<?x3xf32>) {
    scf.yield %x : tensor<?x3xf32>
  } else {
    scf.yield %y : tensor<?x3xf32>
  }
  return %r : tensor<?x3xf32>
}
"""


def test_branches_yield_their_sizes() -> None:
    with ir.Context():
        module = ir.Module.parse(_BRANCH)
        assert carry_sizes(module) == 1
        assert "-> (tensor<?x3xf32>, index)" in str(module)
        assert module.operation.verify()


_CHOICE = """
func.func @main(%x: tensor<SIZExf32>, %y: tensor<SIZExf32>, %c: i1) -> tensor<SIZExf32> {
  %r = arith.select %c, %x, %y : tensor<SIZExf32>
  return %r : tensor<SIZExf32>
}
"""


@pytest.mark.parametrize(("size", "rewritten"), [("2", 0), ("?", 1)])
def test_a_choice_between_tensors_of_run_time_sizes_is_a_branch(size: str, rewritten: int) -> None:
    with ir.Context():
        module = ir.Module.parse(_CHOICE.replace("SIZE", size))
        assert branch_to_tensors(module) == rewritten
        assert ("scf.if" in str(module)) == bool(rewritten)
        assert hide_places(module) == 2 * rewritten
        assert hide_places(module) == 0
        assert module.operation.verify()
