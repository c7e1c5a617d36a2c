"""Tests of scripts/setup.sh on machines that lack something, played by stub commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "setup.sh"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def run_setup(folder: Path, stubs: dict[str, str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the script in an empty project whose PATH starts with stub commands."""
    (folder / "scripts").mkdir()
    shutil.copy(SCRIPT, folder / "scripts" / "setup.sh")
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
