"""What is logged, when, and that the times of the steps add up."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.process.logs import LOGS, set_up_logs, showing_progress

PROGRAM = """
import torch, ssa_compiler

def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2

compiled = ssa_compiler.compile(double, (torch.ones(2),))
compiled(torch.ones(3))
"""


def row(x: Tensor) -> Tensor:
    return x[0] + 1


def test_each_recompile_is_logged_and_from_the_fourth_on_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGS["recompiles"])
    compiled = ssa_compiler.compile(row, (torch.ones(2, 2),), dynamic_shapes=torch.export.Dim.STATIC)
    for size in range(3, 8):
        compiled(torch.ones(size, 2))
    records = [record for record in caplog.records if record.name == LOGS["recompiles"]]
    assert [record.levelno for record in records] == [logging.INFO] * 3 + [logging.WARNING] * 2
    assert "argument 'x': expected shape (2, 2), got (3, 2)" in records[0].getMessage()
    assert "dynamic_shapes" in records[-1].getMessage()


def run(tmp_path: Path, logs: str) -> str:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "SSA_COMPILER_LOGS": logs, "SSA_COMPILER_CACHE": "0"}
    return subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True).stderr


@pytest.mark.slow
def test_the_environment_chooses_logs(tmp_path: Path) -> None:
    printed = run(tmp_path, "recompiles,import")
    assert "double is compiled again (1 times before): argument 'x'" in printed
    assert "double(x: float32[2]): imported in" in printed
    assert "[ssa_compiler.backend]" not in printed
    assert run(tmp_path, "-all") == ""


def test_an_unknown_log_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="no log 'guards': expected recompiles"):
        set_up_logs("guards")


def test_the_steps_add_up() -> None:
    start = time.perf_counter()
    compiled = ssa_compiler.compile(row, (torch.ones(2, 2),))
    total = time.perf_counter() - start
    steps = [seconds for name, seconds in compiled.seconds.items() if "/" not in name]
    assert sum(steps) == pytest.approx(total, rel=0.1, abs=0.05)


def test_a_long_compilation_shows_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("ssa_compiler.process.logs._SILENT_S", 0.05)
    with showing_progress("model", {"import": 1.5, "pipeline/scf": 1.0}):
        time.sleep(0.3)
    printed = capsys.readouterr().err
    assert "compiling model: 0 s (import 1.5 s, ...)" in printed
    assert printed.endswith("\r")
    with showing_progress("model", {}):
        pass
    assert capsys.readouterr().err == ""
