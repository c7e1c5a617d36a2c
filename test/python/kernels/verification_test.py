"""Kernels with every access to memory checked, and the stage that they are made from under the interpreter: right ones
pass, and wrong ones do not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import StageMismatch, check
from ssa_compiler.testing._interpreted import LINALG, InterpretedLinalg
from ssa_compiler.testing.harness import VERIFY_VARIABLE
from ssa_compiler.testing.verified_kernels import VerifiedProgram


def everything(x: Tensor, y: Tensor, n: int, f: float) -> tuple[Tensor, Tensor, int, float, bool, Tensor]:
    scratch = torch.zeros(70, 70)
    for i in range(n):
        scratch[i : i + 2] += x[0, 0]
        y[i % 3] = y[i % 3] * f + i
    return x + 1, scratch[: y.shape[0]], n * 2, f * 0.5, n > 2, y


def test_right_kernels_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VERIFY_VARIABLE, "1")
    x, y = torch.rand(3, 4), torch.rand(5, 2)
    sizes = {"dynamic_shapes": {"x": None, "y": {0: torch.export.Dim("rows", min=3)}, "n": None, "f": None}}
    inputs = [(x, y, n, 1.5) for n in (2, 0, 1, 7)] + [(x.t().clone().t(), torch.rand(9, 2), 3, 0.0)]
    checked = check(everything, *inputs, options=sizes)
    assert checked.compiled.artifact.is_kernel
    assert isinstance(checked.compiled.specialisations[0]._program, VerifiedProgram)
    assert all(LINALG in counts for counts in checked.block_counts)


def lowered(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Products, reductions, padding, sorting, sums in order, and numbers of the loops' own."""
    y = torch.nn.functional.pad(x @ x.t(), (1, 2)).softmax(1)
    for i in range(n):
        y[i % 3] = y[i % 3].flip(0) + torch.arange(6) * i
    return y.cumsum(1), y.sort(0, descending=True)[0], y.argmax(1), (y * 40).to(torch.uint8)


def test_the_linalg_stage_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VERIFY_VARIABLE, "1")
    checked = check(lowered, *[(torch.rand(3, 4), n) for n in (2, 0, 1, 5)])
    assert checked.compiled.artifact.is_kernel
    assert all(counts[LINALG].total() > 100 for counts in checked.block_counts)


def test_a_wrong_linalg_stage_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here with sums in the place of products."""
    monkeypatch.setenv(VERIFY_VARIABLE, "1")
    right = InterpretedLinalg.__init__

    def wrong(self: InterpretedLinalg, program: Any, text: str, signature: Any) -> None:
        right(self, program, text.replace("arith.mulf", "arith.addf"), signature)

    monkeypatch.setattr(InterpretedLinalg, "__init__", wrong)
    x, y = torch.rand(3, 4), torch.rand(5, 2)
    with pytest.raises(StageMismatch, match="stage 'linalg'"):
        check(everything, (x, y, 2, 1.5))


_WRONG = textwrap.dedent("""
    import dataclasses, torch, ssa_compiler
    from ssa_compiler.testing.verified_kernels import VerifiedProgram

    def program(x):
        y = x.clone()
        for i in range(7):
            y[i] = y[i] * 2
        return y

    x = torch.ones(7, 3)
    made = ssa_compiler.compile(program, (x,), cache=False).specialisations[0]
    text = made.artifact.kernel
    assert text.count("constant 3 : index") == 1
    for columns in (3, 4):  # the first is right
        artifact = dataclasses.replace(made.artifact, kernel=text.replace("constant 3 :", f"constant {columns} :"))
        print(VerifiedProgram(artifact, made.signature)([x])[0].sum().item(), flush=True)
""")


@pytest.mark.slow
def test_a_wrong_kernel_does_not(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(_WRONG)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    first, *printed = found.stdout.splitlines()
    assert first == "42.0"
    assert found.returncode < 0
    assert "memref.load" in "".join(printed)
    assert "out-of-bounds" in "".join(printed)
