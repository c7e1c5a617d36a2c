"""Child processes that fail: the error carries the command, the input and the user's line."""

from __future__ import annotations

import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ssa_compiler import SourceLocation, ToolError, UnsupportedOpError, UnsupportedProgramError
from ssa_compiler._opt import find_ssa_opt, run_ssa_opt
from ssa_compiler.process.child_processes import MEMORY_VARIABLE, memory_limit, parse_diagnostics, run_tool
from ssa_compiler.process.versions import check_versions


def _tool(folder: Path, script: str) -> str:
    path = folder / "ssa-opt"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_malformed_input_leaves_a_reproducer(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="ssa-opt failed with exit status 1") as caught:
        run_ssa_opt("module { nonsense }", [], dump_dir=tmp_path)
    error = caught.value
    assert error.returncode == 1
    assert "nonsense" in error.stderr
    assert Path(str(error.reproducer)).read_text() == "module { nonsense }"
    assert Path(str(error.reproducer)).parent == tmp_path
    repeat = str(error).rsplit("repeat it with: ", 1)[1]
    assert subprocess.run(shlex.split(repeat), capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize(
    ("script", "message"), [("kill -SEGV $$", "killed by SIGSEGV"), ("sleep 60", "ran out of time")]
)
def test_crash_and_time_limit(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        run_ssa_opt("module {}", [], ssa_opt=_tool(tmp_path, script), timeout_s=0.5, dump_dir=tmp_path)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("unsupported: 'torch.aten.frobnicate' has no functional form", UnsupportedOpError),
        ("unsupported: a tensor is written while another name of it is in use", UnsupportedProgramError),
    ],
)
def test_unsupported_diagnostics_name_the_users_line(tmp_path: Path, text: str, kind: type[Exception]) -> None:
    tool = _tool(tmp_path, f'echo "model.py:12:3: error: {text}" >&2; exit 1')
    with pytest.raises(kind, match=r"model\.py:12: unsupported: ") as caught:
        run_ssa_opt("module {}", [], ssa_opt=tool, dump_dir=tmp_path)
    assert caught.value.location == SourceLocation("model.py", 12)  # type: ignore[attr-defined]


def test_call_sites_belong_to_the_last_caller() -> None:
    (found,) = parse_diagnostics('loc(callsite("layer.py":3:1 at "model.py":12:5)): error: wrong\n')
    assert found.user_location == SourceLocation("model.py", 12)
    (found,) = parse_diagnostics("layer.py:3:1: error: wrong\nmodel.py:12:5: note: called from\n")
    assert found.user_location == SourceLocation("model.py", 12)
    (found,) = parse_diagnostics("/x/module1.mlir:12:5: error: wrong\n")
    assert found.user_location is None


_ALLOCATE = "import sys; kept = [bytearray(1 << 20) for _ in range(int(sys.argv[1]))]; print(len(kept))"


def test_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", _ALLOCATE]
    monkeypatch.setenv(MEMORY_VARIABLE, "0.25")
    assert run_tool([*command, "16"]).stdout == "16\n"
    failed = run_tool([*command, "1024"])
    assert failed.returncode not in (0, None)
    assert "MemoryError" in failed.stderr
    assert run_tool([*command, "512"], memory=2**30).stdout == "512\n"
    monkeypatch.setenv(MEMORY_VARIABLE, "0")
    assert run_tool([*command, "512"]).stdout == "512\n"


def test_memory_limit_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, "much")
    with pytest.raises(ToolError, match="expected a number of GiB"):
        memory_limit()


def test_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match="names no executable"):
        find_ssa_opt(tmp_path / "none")
    monkeypatch.setenv("SSA_OPT", str(tmp_path / "none"))
    with pytest.raises(ToolError, match="SSA_OPT names no executable"):
        find_ssa_opt()
    with pytest.raises(ToolError, match="cannot start"):
        run_tool([str(tmp_path / "none")])


def test_versions() -> None:
    check_versions()


def test_wrong_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssa_compiler.process.versions._version", lambda package: "1.0")
    with pytest.raises(ToolError, match=r"torch-mlir 20261001 is needed, found 1\.0: pip install"):
        check_versions.__wrapped__()
