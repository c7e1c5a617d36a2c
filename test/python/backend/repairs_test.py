"""Repairs of in-place updates: each op gets each of them once, so that compiling ends."""

from __future__ import annotations

import pytest
from iree.compiler import ir

from ssa_compiler.backend.driver.repairs import Repairs
from ssa_compiler.backend.ir.bindings import walk

MODULE = """
func.func @main(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %sum = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %sum : !torch.vtensor<[4],f32>
}
"""


@pytest.mark.parametrize("kind", ["live", "hazard", "reduction", "wait"])
@pytest.mark.parametrize("emplaced", [False, True])
def test_an_op_is_repaired_in_each_way_once(kind: str, emplaced: bool) -> None:
    """What a repair does to an op changes its hash in MLIR's bindings."""
    module = ir.Module.parse(MODULE, ir.Context())
    (op,) = (op for op in walk(module.operation) if op.name == "torch.aten.mul.Tensor")
    repairs = Repairs(module)
    made = [repairs.repair(kind, emplaced, [op]) for _ in range(8)]
    assert made[0] > 0
    assert made[-1] == 0
    assert repairs.copies + repairs.barriers == sum(made)
