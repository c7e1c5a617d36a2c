"""Which tensors that are passed to a loop get memory of their own (backend/buffers/copy_insertion.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from iree.compiler import ir
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.buffers.copy_insertion import copy_forwarded
from ssa_compiler.backend.ir.bindings import build, walk
from ssa_compiler.backend.verify.in_place import find_violations
from ssa_compiler.testing import check

PAIR = """
func.func @main(%a: tensor<3x4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = torch_c.from_builtin_tensor %a : tensor<3x4xf32> -> !torch.vtensor<[3,4],f32>
  %dim = torch.constant.int 0
  %one = torch.constant.int {one}
  %other = torch.constant.int {other}
  %p = torch.aten.select.int %x, %dim, %one : !torch.vtensor<[3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  %q = torch.aten.select.int %x, %dim, %other : !torch.vtensor<[3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  %s = torch_c.to_builtin_tensor %p : !torch.vtensor<[4],f32> -> tensor<4xf32>
  %t = torch_c.to_builtin_tensor %q : !torch.vtensor<[4],f32> -> tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %s, %v = %t) -> (tensor<4xf32>, tensor<4xf32>) {{
    scf.yield %u, %v : tensor<4xf32>, tensor<4xf32>
  }}
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}}
"""


@pytest.mark.parametrize(("one", "other", "copies"), [(1, 2, 0), (2, 2, 1)])
def test_values_that_iree_may_merge_are_one(one: int, other: int, copies: int) -> None:
    """Two ops of one name and with equal operands and attributes are one value, and those of constants 1 and 2 are
    not.
    """
    for _ in range(20):
        with ir.Context() as context:
            module = ir.Module.parse(PAIR.format(one=one, other=other), context)
            assert copy_forwarded(module) == copies


def _own_place(x: Tensor, y: Tensor) -> None:
    y[1:].add_(x[:3])


def _loop_state(x: Tensor, n: int) -> Tensor:
    h, total = x, torch.zeros(3)
    for i in range(n):
        h = h + 1.0
        total[i] = h[i]
    return total


def _read(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    y[n] = 3.5
    return y


def test_reading_the_place_that_is_written_is_no_hazard() -> None:
    """Proved without a barrier; moved by one element, the kernel would read what it has overwritten."""
    artifact = ssa_compiler.compile(_own_place, (torch.rand(4), torch.rand(4)), target="cpu").artifact
    assert artifact.attempts == 1
    with ir.Context() as context:
        module = ir.Module.parse(artifact.stream, context)
        assert find_violations(module) == []
        (dispatch,) = [op for op in walk(module.operation) if op.name == "stream.async.dispatch"]
        sizes = [int(size) for size in ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])]
        start, end = (sum(sizes[:segment]) + 2 for segment in (3, 4))  # of the operand that is written
        for number, bytes_ in ((start, 0), (end, 12)):
            index = ir.IndexType.get(context)
            dispatch.operands[number] = build(
                "arith.constant", [index], [], ir.InsertionPoint(dispatch), {"value": ir.IntegerAttr.get(index, bytes_)}
            ).results[0]
        assert [found.kind for found in find_violations(module)] == ["hazard"]


@pytest.mark.parametrize(("function", "number", "copies"), [(_loop_state, 3, 0), (_read, 1, 1)])
def test_an_argument_is_copied_only_where_it_would_be_updated(
    function: Callable[..., Tensor], number: int, copies: int
) -> None:
    compiled = check(function, (torch.rand(3), number)).compiled
    assert compiled.artifact.attempts == 1
    assert compiled.report().copies_made == copies
