"""Tests of scripts/setup.sh on machines that lack something, played by stub commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "setup.sh"
sys.path.insert(0, str(SCRIPT.parent))

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def run_setup(folder: Path, stubs: dict[str, str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the script in an empty project whose PATH starts with stub commands."""
    (folder / "scripts").mkdir()
    for name in ("setup.sh", "find_torch.py"):
        shutil.copy(SCRIPT.parent / name, folder / "scripts")
    shutil.copy(ROOT / "pyproject.toml", folder)
    commands = folder / "stubs"
    commands.mkdir()
    for name, body in stubs.items():
        path = commands / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    environment = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "PYTHON": sys.executable, **variables}
    for name in {"MLIR_DIR", "VENV", "TORCH_INDEX_URL"} - set(variables):
        environment.pop(name, None)
    command = ["bash", str(folder / "scripts" / "setup.sh")]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


NOTHING_INSTALLS = {"dpkg-query": "exit 1", "apt-get": "exit 100", "sudo": "exit 1"}


def test_packages_that_cannot_be_installed_are_named_in_one_line(tmp_path: Path) -> None:
    done = run_setup(tmp_path, NOTHING_INSTALLS)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("set-up failed: install these packages and run again: ")
    for package in ("libmlir-22-dev", "mlir-22-tools", "llvm-22-dev", "zlib1g-dev", "libzstd-dev"):
        assert package in line
    assert "MLIR_DIR" in line


def test_an_mlir_of_the_users_own_needs_no_packages(tmp_path: Path) -> None:
    needs = dict.fromkeys(("cmake", "ninja", "g++"), "exit 0")
    old_python = {"oldpython": '[ "$1" = --version ] && echo Python 3.8.1; case "$2" in *version_info*) exit 1;; esac'}
    done = run_setup(tmp_path, {**NOTHING_INSTALLS, **needs, **old_python}, MLIR_DIR="/opt/mlir", PYTHON="oldpython")
    assert done.returncode == 1
    assert "Python 3.10 to 3.13 is needed" in done.stderr
    assert "Python 3.8.1" in done.stderr
    assert "libmlir" not in done.stderr + done.stdout


PIP = """case "$*" in
  *"index versions"*) echo "torch (9.9.9)"; echo "Available versions: {versions}"; exit 0;;
  *install*torch*) echo "$*" >>"$PIP_LOG"; exit 0;;
esac
exit 1"""
"""Stands for the Python of a virtual environment where no torch is installed, and for its pip."""


def install(folder: Path, versions: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Let the script install torch where pip finds these versions: how it ends, and what pip was asked to install."""
    needs = dict.fromkeys(("cmake", "ninja", "g++"), "exit 0")
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    body = f"""case "$*" in *-m*pip*) ;; *find_torch.py*--fits*) exit 1;; *find_torch.py*) exec {sys.executable} - "$@" <<'END'
import runpy, sys
sys.executable = {str(python)!r}
sys.argv = sys.argv[1:]
sys.path.insert(0, "scripts")
runpy.run_path(sys.argv[0], run_name="__main__")
END
;; esac
{PIP.format(versions=versions)}"""
    python.write_text(f"#!/bin/sh\n{body}\n")
    python.chmod(0o755)
    log = folder / "pip.log"
    log.touch()
    done = run_setup(
        folder,
        {**NOTHING_INSTALLS, **needs},
        MLIR_DIR="/opt/mlir",
        VENV=str(folder / "venv"),
        PIP_LOG=str(log),
        **variables,
    )
    return done, log.read_text()


def test_the_newest_supported_cpu_build_is_installed(tmp_path: Path) -> None:
    done, asked = install(tmp_path, "9.0.0+cpu, 2.15.0, 2.14.0+cpu, 2.13.0+cpu, 2.11.0")
    assert "== installing torch==2.14.0+cpu" in done.stdout.splitlines()
    assert asked.splitlines()[0].endswith("pip install --disable-pip-version-check -q torch==2.14.0+cpu")


def test_a_build_with_cuda_is_never_installed(tmp_path: Path) -> None:
    done, asked = install(tmp_path, "2.15.0, 2.13.0+cu130, 2.10.0+cpu")
    assert done.returncode == 1
    assert "no supported CPU build of torch at https://download.pytorch.org/whl/cpu" in done.stderr
    assert not asked


def test_the_ranges_of_torch_are_one() -> None:
    """pyproject.toml, what the package checks when it runs, and what people read."""
    from find_torch import fits, supported

    from ssa_compiler.process import versions

    low, high = supported()
    assert (low, high) == versions._TORCH
    last = f"{high[0]}.{high[1] - 1}"
    assert fits(f"{last}.1+cpu")
    assert not fits(f"{high[0]}.{high[1]}.0")
    for document in ("README.md", "docs/start.md"):
        assert f"{low[0]}.{low[1]} to {last}" in (ROOT / document).read_text(encoding="utf-8")
