"""The cache on disk: what is taken from it, what is not, damaged entries, several processes, and its size."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend import forget_ops
from ssa_compiler.backend.driver import compilation
from ssa_compiler.backend.toolchain import op_bisect
from ssa_compiler.backend.toolchain.cache import ProgramCache, open_cache
from ssa_compiler.backend.workarounds import unsupported_ops
from ssa_compiler.process.child_processes import Completed

X = torch.arange(12.0).reshape(4, 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, which is on."""
    monkeypatch.setenv("SSA_COMPILER_CACHE", "1")
    monkeypatch.setenv("SSA_COMPILER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "programs"


@pytest.fixture
def no_tool(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to let every further run of iree-compile fail the test."""

    def stop() -> None:
        monkeypatch.setattr(compilation, "run_tool", lambda *_, **__: pytest.fail("iree-compile was run"))

    return stop


def add_to_rows(a: Tensor, n: int) -> Tensor:
    b = a.clone()
    for i in range(n):
        b[i] = b[i] + 1
    return b


def with_callbacks(a: Tensor, row: int) -> tuple[Tensor, Tensor]:
    b = a.clone()
    b[row] = torch.dropout(b[row], 0.5, True)
    b[1, 1:3] = torch.linalg.solve(torch.eye(2) * 2.0, b[2, 0:2])
    return b, torch.igamma(b.abs(), b.abs() + 1.0)


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def _codes(folder: Path) -> list[Path]:
    """The entries of compiled code; the others are those of whole programs, which have the code of one of these."""
    return [entry for entry in _entries(folder) if not (entry / "program.pickle").exists()]


def test_second_compilation_is_taken_from_the_cache(folder: Path, no_tool: Callable[[], None]) -> None:
    first = ssa_compiler.compile(add_to_rows, (X, 2))
    assert not first.explain().cached
    assert "compiled in" in str(first.explain())
    no_tool()
    second = ssa_compiler.compile(add_to_rows, (X, 2))
    assert second.explain().cached
    assert "from the compile cache in" in str(second.explain())
    assert second.seconds["cache"] > 0
    assert "import" not in second.seconds
    for n in (0, 1, 4):
        torch.testing.assert_close(second(X, n), add_to_rows(X, n))
    with pytest.raises(IndexError):
        second(X, 5)
    assert second.artifact.module == first.artifact.module
    assert second.artifact.stream == first.artifact.stream
    assert str(second.report()) == str(first.report())
    assert second.stages == first.stages
    assert len(_codes(folder)) == 1
    assert len(_entries(folder)) == 2


def test_callbacks_are_those_of_the_program(no_tool: Callable[[], None]) -> None:
    first = ssa_compiler.compile(with_callbacks, (X, 0))
    no_tool()
    second = ssa_compiler.compile(with_callbacks, (X, 0))
    assert second.artifact.callbacks == first.artifact.callbacks
    assert len(second.artifact.callbacks) >= 2
    for row in (1, 3):
        torch.manual_seed(0)
        expected = with_callbacks(X, row)
        torch.manual_seed(0)
        torch.testing.assert_close(second(X, row), expected)
    assert all(use.count == 2 for use in second.explain().callbacks)


@pytest.mark.parametrize("options", [{"index_checks": False}, {"data_tiling": True}, {"timeout_s": 200.0}], ids=str)
def test_other_options_are_another_program(folder: Path, options: dict[str, Any]) -> None:
    def pick(a: Tensor, rows: Tensor) -> Tensor:
        return a[rows]

    rows = torch.tensor([0, 2])
    ssa_compiler.compile(pick, (X, rows))
    other = ssa_compiler.compile(pick, (X, rows), **options)
    assert not other.explain().cached
    torch.testing.assert_close(other(X, rows), pick(X, rows))
    assert len(_codes(folder)) == 2


def test_other_programs_and_shapes_miss(folder: Path) -> None:
    def add_two(a: Tensor) -> Tensor:
        return a + 2

    def add_three(a: Tensor) -> Tensor:
        return a + 3

    compiled = [ssa_compiler.compile(program, (X,)) for program in (add_two, add_three)]
    assert not any(each.explain().cached for each in compiled)
    torch.testing.assert_close(compiled[1](X), X + 3)
    torch.testing.assert_close(compiled[1](X[:2]), X[:2] + 3)
    assert not compiled[1].specialisations[1].artifact.cached
    assert len(_codes(folder)) == 3


@pytest.mark.parametrize("file", ["program.vmfb", "module.mlir", "stream.mlir", "artifact.json", "digests.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_damaged_entry_is_made_again(folder: Path, file: str, damage: str) -> None:
    def program(a: Tensor) -> Tensor:
        return a * 2

    options: dict[str, Any] = {"kernels": False}  # stream IR is of dispatches
    ssa_compiler.compile(program, (X,), **options)
    (entry,) = _codes(folder)
    content = (entry / file).read_bytes()
    if damage == "gone":
        (entry / file).unlink()
    elif damage == "cut":
        (entry / file).write_bytes(content[: len(content) // 2])
    else:
        (entry / file).write_bytes(content[:-8] + bytes(byte ^ 1 for byte in content[-8:]))
    again = ssa_compiler.compile(program, (X,), **options)
    assert not again.explain().cached
    torch.testing.assert_close(again(X), program(X))
    assert (entry / file).read_bytes()
    assert ssa_compiler.compile(program, (X,), **options).explain().cached
    assert _codes(folder) == [entry]
    assert len(_entries(folder)) == 2


_MODEL = """
import torch

def program(a: torch.Tensor, n: int) -> torch.Tensor:
    b = a.clone()
    for i in range(n):
        b[i] = b[i] + 1
    return b
"""
_PROCESS = """
import sys, torch, ssa_compiler
from model import program
x = torch.arange(12.0).reshape(4, 3)
compiled = ssa_compiler.compile(program, (x, 2))
assert torch.equal(compiled(x, 3), program(x, 3))
heavy = ("iree.compiler", "torch_mlir", "sympy", "torch._dynamo", "ssa_compiler.importer.boundary.program")
print(compiled.explain().cached, [name for name in heavy if name in sys.modules])
"""


@pytest.mark.slow
def test_processes_share_the_cache(folder: Path, tmp_path: Path) -> None:
    """The second process loads nothing of the compiler."""
    (tmp_path / "model.py").write_text(_MODEL)
    paths = os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)])
    command = [sys.executable, "-c", _PROCESS]

    def start() -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": paths, "SSA_COMPILER_CACHE": "1"}
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    together = [start(), start()]
    for process in together:
        process.communicate(timeout=300)
        assert process.returncode == 0
    assert len(_entries(folder)) == 2  # and nothing temporary
    later = start()
    assert later.communicate(timeout=300)[0].strip() == "True []"
    assert later.returncode == 0


def test_cache_can_be_left_out(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(a: Tensor) -> Tensor:
        return a - 1

    assert not ssa_compiler.compile(program, (X,), cache=False).explain().cached
    assert _entries(folder) == []
    ssa_compiler.compile(program, (X,))
    assert not ssa_compiler.compile(program, (X,), cache=False).explain().cached
    dumped = ssa_compiler.compile(program, (X,), dump_dir=tmp_path / "dump")
    assert not dumped.explain().cached
    assert list((tmp_path / "dump").glob("*-backend.mlir"))
    scripted = ssa_compiler.script(program, cache=False)
    torch.testing.assert_close(scripted(X), X - 1)
    assert not scripted.explain().cached
    monkeypatch.setenv("SSA_COMPILER_CACHE", "off")
    assert not ssa_compiler.compile(program, (X,)).explain().cached


@pytest.mark.parametrize(
    ("word", "off"), [("0", True), ("OFF", True), (" false", True), ("no", True), ("1", False), ("", False)]
)
def test_words_that_turn_the_cache_off(word: str, off: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSA_COMPILER_CACHE", word)
    assert (open_cache() is None) == off


def test_what_the_clock_stopped_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(a: Tensor) -> Tensor:
        return a.clone() - 3

    run, runs = compilation.run_tool, []

    def slow_once(command: list[str], **limits: Any) -> Completed:
        runs.append(command)
        return Completed("", "", None) if len(runs) == 1 else run(command, **limits)

    monkeypatch.setattr(compilation, "run_tool", slow_once)
    torch.testing.assert_close(ssa_compiler.compile(program, (X,))(X), X - 3)
    assert len(runs) > 2
    assert _entries(folder) == []


def test_nothing_that_goes_wrong_keeps_a_program_from_being_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a file"
    file.write_text("")
    monkeypatch.setenv("SSA_COMPILER_CACHE", "1")
    monkeypatch.setenv("SSA_COMPILER_CACHE_DIR", str(file))
    torch.testing.assert_close(ssa_compiler.compile(torch.jit.script(_double), (X,))(X), X * 2)
    monkeypatch.setenv("SSA_COMPILER_CACHE_SIZE", "much")
    with pytest.raises(ssa_compiler.errors.ToolError, match="SSA_COMPILER_CACHE_SIZE: expected a number of GiB"):
        ssa_compiler.compile(_double, (X,))


def _double(a: Tensor) -> Tensor:
    return a * 2


# -- the folder by itself ------------------------------------------------------------------------------------------


def test_folder_is_the_users_own(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "programs"
    cache = ProgramCache(folder, 1000)
    cache.store("one", {"a": b"1"})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.look_up("one") == {"a": b"1"}
    folder.chmod(0o770)
    assert cache.look_up("one") is None
    cache.store("two", {"a": b"2"})
    assert [entry.name for entry in _entries(folder)] == ["one"]


def test_link_to_a_folder_is_not_used(tmp_path: Path) -> None:
    ProgramCache(tmp_path / "real", 1000).store("one", {"a": b"1"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert ProgramCache(tmp_path / "link", 1000).look_up("one") is None


def test_entries_not_used_for_longest_go_first(tmp_path: Path) -> None:
    cache = ProgramCache(tmp_path / "programs", 1000)
    for number, name in enumerate("abc"):
        cache.store(name, {"file": b"x" * 200})
        used = time.time() - 1000 + number
        os.utime(tmp_path / "programs" / name, (used, used))
    assert cache.look_up("a") is not None  # the oldest, and now the latest used
    cache.store("d", {"file": b"x" * 400})
    assert [entry.name for entry in _entries(tmp_path / "programs")] == ["a", "d"]
    cache.store("too large", {"file": b"x" * 2000})
    assert [entry.name for entry in _entries(tmp_path / "programs")] == ["a", "d"]


def test_first_of_two_writers_stays_and_abandoned_folders_go(tmp_path: Path) -> None:
    cache = ProgramCache(tmp_path / "programs", 1000)
    cache.store("one", {"a": b"first"})
    abandoned = tmp_path / "programs" / ".tmp-abandoned"
    fresh = tmp_path / "programs" / ".tmp-fresh"
    for folder in (abandoned, fresh):
        folder.mkdir()
    os.utime(abandoned, (0, 0))
    ProgramCache(tmp_path / "programs", 1000).store("one", {"a": b"second"})
    assert cache.look_up("one") == {"a": b"first"}
    ProgramCache(tmp_path / "programs", 1000).store("two", {"a": b"2"})
    assert {entry.name for entry in _entries(tmp_path / "programs")} == {"one", "two", ".tmp-fresh"}
    shutil.rmtree(tmp_path / "programs")
    assert cache.look_up("one") is None


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the compiler find out for itself which functions of float64 cannot be linked."""
    monkeypatch.setattr(unsupported_ops, "LINKLESS", frozenset())


def sines(x: Tensor) -> Tensor:
    return torch.sin(x.double())


@pytest.mark.usefixtures("nothing_known")
def test_ops_that_fail_like_everything_else_are_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_ops()
    monkeypatch.setattr(op_bisect, "run_tool", lambda *_, **__: Completed("", "error: no space left on device", 1))
    ssa_compiler.compile(sines, (X,))
    assert not [entry for entry in _entries(folder) if (entry / "failing.json").exists()]
    forget_ops()


def more_than_sines(x: Tensor) -> Tensor:
    return torch.sin(x.double()) + 1.0


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_known")
def test_ops_that_fail_are_known_in_other_processes(folder: Path) -> None:
    forget_ops()
    first = ssa_compiler.compile(sines, (X,), kernels=False).explain()
    assert first.attempts > 1
    forget_ops()
    compiled = ssa_compiler.compile(more_than_sines, (X,), kernels=False)
    second = compiled.explain()
    assert second.attempts == 1
    assert [(use.op, use.reason) for use in second.callbacks] == [(use.op, use.reason) for use in first.callbacks]
    torch.testing.assert_close(compiled(X), more_than_sines(X))
    forget_ops()
    without = ssa_compiler.compile(more_than_sines, (X,), kernels=False, cache=False).explain()
    assert without.attempts > 1
