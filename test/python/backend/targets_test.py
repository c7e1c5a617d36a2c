"""Targets: CUDA code for each architecture without a GPU, and doubles that stay doubles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from ssa_compiler import TargetError
from ssa_compiler.backend import CUDA_ARCHITECTURES, compile_module, read_signature, resolve_target
from ssa_compiler.runtime import Program

ADD = """module {
  func.func @main(%a: tensor<64xf64>) -> tensor<64xf64> {
    %t = torch_c.from_builtin_tensor %a : tensor<64xf64> -> !torch.vtensor<[64],f64>
    %c = torch.constant.float 1.0e-12
    %one = torch.constant.int 1
    %u = torch.aten.add.Scalar %t, %c, %one : !torch.vtensor<[64],f64>, !torch.float, !torch.int -> !torch.vtensor<[64],f64>
    %b = torch_c.to_builtin_tensor %u : !torch.vtensor<[64],f64> -> tensor<64xf64>
    return %b : tensor<64xf64>
  }
}
"""


@pytest.mark.parametrize("architecture", CUDA_ARCHITECTURES)
def test_cuda_artifact_holds_code_for_the_architecture(architecture: str) -> None:
    artifact = compile_module(ADD, resolve_target(f"cuda:{architecture}"))
    found = set(re.findall(rb"\.target (sm_\d+)", Path(artifact.path).read_bytes()))
    assert found == {architecture.encode()}


def test_cuda_code_computes_with_doubles() -> None:
    artifact = compile_module(ADD, resolve_target("cuda:sm_80"))  # the file lives as long as this
    assert re.search(rb"add(\.rn)?\.f64", Path(artifact.path).read_bytes())


def test_doubles_stay_doubles_on_the_cpu() -> None:
    artifact = compile_module(ADD, resolve_target("cpu"))
    a = torch.ones(64, dtype=torch.float64)
    (result,) = Program(artifact.path, read_signature(ADD))([a])
    assert result.dtype == torch.float64
    assert torch.equal(result, a + 1e-12)
    assert not torch.equal(result, a)


@pytest.mark.parametrize("name", ["tpu", "cuda:sm_20", "cpu0", ""])
def test_unknown_target(name: str) -> None:
    with pytest.raises(TargetError, match="unknown"):
        resolve_target(name)
