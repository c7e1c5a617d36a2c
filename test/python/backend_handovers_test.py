"""Which tensors that are handed to a loop get memory of their own (backend/_ownership.py)."""

from __future__ import annotations

import pytest
from iree.compiler import ir

from ssa_compiler.backend._ownership import own_handovers

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
    """Two ops of one name and with equal operands and attributes are one value, and those of constants 1 and 2 are not."""
    for _ in range(20):
        with ir.Context() as context:
            module = ir.Module.parse(PAIR.format(one=one, other=other), context)
            assert own_handovers(module) == copies
