"""Why a program is no kernel, in words that the user can act on: the op, his line, and what the tool did."""

from __future__ import annotations

import re
import signal

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.kernels import kernels
from ssa_compiler.process.child_processes import Completed

X = torch.ones(3, 3)


def without_elements(x: Tensor) -> Tensor:
    y = x.clone()
    z = y[:, 3:].reshape(-1, 2)
    return z + 1


def complex_magnitude(x: Tensor) -> Tensor:
    z = torch.complex(x, x) + 1
    return z.abs()


def line(function: object, number: int) -> str:
    code = function.__code__  # type: ignore[attr-defined]
    return f"{code.co_filename}:{code.co_firstlineno + number}"


def test_a_crash_names_the_op_the_line_and_the_signal() -> None:
    explained = ssa_compiler.compile(without_elements, (X,)).explain()
    assert explained.kernel_reason == f"torch-mlir-opt crashed on aten::view at {line(without_elements, 2)} (SIGFPE)"


def test_a_message_has_the_line() -> None:
    explained = ssa_compiler.compile(complex_magnitude, (X,)).explain()
    found = re.fullmatch(r"torch-mlir-opt rejected it: (.*) \((.*)\)", explained.kernel_reason)
    assert found is not None, explained.kernel_reason
    assert found[2] in (line(complex_magnitude, 1), line(complex_magnitude, 2))


@pytest.mark.parametrize(
    ("completed", "reason", "lasting"),
    [
        (Completed("", "", None), "tool ran out of time on it", False),
        (Completed("", "", -signal.SIGKILL), "tool crashed on it (SIGKILL)", False),
        (Completed("", "", -signal.SIGSEGV), "tool crashed on it (SIGSEGV)", True),
        (Completed("", "", 3), "tool failed on it (exit status 3)", True),
        (Completed("", "a.py:7:0: error: no such type\n", 1), "tool rejected it: no such type (a.py:7)", True),
        (Completed("", "-:7:0: error: no such type\n", 1), "tool rejected it: no such type", True),
    ],
)
def test_what_a_tool_did(completed: Completed, reason: str, lasting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "run_tool", lambda *_, **__: completed)
    with pytest.raises(kernels.NoKernelError) as raised:
        kernels.run_stage(["/usr/bin/tool", "-", "--flag"], "", 1.0)
    assert (str(raised.value), raised.value.lasting) == (reason, lasting)
    assert raised.value.crashed == (("/usr/bin/tool", "--flag") if "crashed" in reason else ())
