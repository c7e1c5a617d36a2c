"""Writes at masks and indices of which there may be none: right where the mask is all False, and without indices."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check


def row_at_mask(x: Tensor, m: Tensor) -> Tensor:
    x[m] = torch.ones(3)
    return x


def one_row_at_mask(x: Tensor, m: Tensor) -> Tensor:
    x[m] = torch.full([1, 3], 2.0)
    return x


def number_at_columns(x: Tensor, m: Tensor) -> Tensor:
    x.t()[:, m] = 4.0
    return x


def row_for_two_dimensions(x: Tensor, m: Tensor) -> Tensor:
    y = torch.stack([x, x + 1.0], 2)
    y[m[:, None].expand(5, 3)] = torch.tensor([[-1.0, -2.0]])
    return y


def number_at_mask_and_index(x: Tensor, m: Tensor) -> Tensor:
    x[m, 1] = 3.0
    return x


def number_at_found_indices(x: Tensor, m: Tensor) -> Tensor:
    x[m.nonzero().squeeze(1)] = 1.0
    return x


def rows_at_mask(x: Tensor, m: Tensor) -> Tensor:
    x[m] = x[m] * 2.0
    return x


def in_a_loop(x: Tensor, m: Tensor) -> Tensor:
    for i in range(3):
        x[m.logical_and(x[:, i] > 0.0)] = float(i)
    return x


CHOSEN = [row_at_mask, one_row_at_mask, number_at_columns, row_for_two_dimensions, number_at_mask_and_index, in_a_loop]
OTHERS = [number_at_found_indices, rows_at_mask]


@pytest.mark.parametrize("program", [*CHOSEN, *OTHERS])
def test_write_at_a_mask(program: Callable[..., Tensor]) -> None:
    x = torch.randn(5, 3)
    masks = [torch.tensor([True, False, True, False, False]), torch.zeros(5, dtype=torch.bool), torch.ones(5) > 0]
    artifact = check(program, *[(x, mask) for mask in masks], compiled=True).compiled.artifact
    # What is a choice needs no list of indices, and no callback that writes at them.
    written = "torch.aten.index_put" in artifact.module or any("index_put" in site.op for site in artifact.callbacks)
    assert written == (program in OTHERS)


_PLAIN = """
import subprocess, sys, tempfile
import torch
from ssa_compiler.backend import compiler_path, resolve_target, read_signature
from ssa_compiler.runtime import Program

text = '''module {
func.func @main(%x: tensor<5x3xf32>, %m: tensor<5xi1>) -> tensor<5x3xf32> {
  %t = torch_c.from_builtin_tensor %x : tensor<5x3xf32> -> !torch.vtensor<[5,3],f32>
  %i = torch_c.from_builtin_tensor %m : tensor<5xi1> -> !torch.vtensor<[5],i1>
  %v = torch.vtensor.literal(dense<1.0> : tensor<3xf32>) : !torch.vtensor<[3],f32>
  %false = torch.constant.bool false
  %l = torch.prim.ListConstruct %i : (!torch.vtensor<[5],i1>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index_put %t, %l, %v, %false : !torch.vtensor<[5,3],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[3],f32>, !torch.bool -> !torch.vtensor<[5,3],f32>
  %b = torch_c.to_builtin_tensor %r : !torch.vtensor<[5,3],f32> -> tensor<5x3xf32>
  return %b : tensor<5x3xf32>
}
}
'''
with tempfile.TemporaryDirectory() as folder:
    source, output = folder + "/plain.mlir", folder + "/plain.vmfb"
    open(source, "w").write(text)
    subprocess.run([compiler_path(), source, *resolve_target("cpu").flags, "-o", output], check=True)
    x = torch.randn(5, 3)
    results = [Program(output, read_signature(text))([x.clone(), torch.zeros(5, dtype=torch.bool)])[0] for _ in range(8)]
sys.exit(0 if all(torch.equal(result, x) for result in results) else 3)
"""


@pytest.mark.slow
def test_iree_writes_where_there_is_no_index() -> None:
    """In a process of its own: the write goes to an address that is computed from memory never written."""
    assert subprocess.run([sys.executable, "-c", _PLAIN], check=False).returncode != 0


def masks_combined(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    m, k = x > 0, y > 0
    return m & k, m | k, m ^ k


def test_operators_between_masks_are_native() -> None:
    x = torch.tensor([1.0, 1.0, -1.0, -1.0])
    compiled = check(masks_combined, (x, x[[0, 2, 1, 3]])).compiled
    assert compiled.explain().callbacks == ()
