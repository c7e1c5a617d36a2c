"""The programs of the user documentation print what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ssa_compiler

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
_SHOWN = re.compile(r"```python\n(.*?)```\n+```text\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_the_python_function_in_a_program(tmp_path: Path) -> None:
    text = (DOCS / "howto" / "call-python.md").read_text(encoding="utf-8")
    ((program, expected),) = _SHOWN.findall(text)
    (tmp_path / "move.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "move.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace(f"{tmp_path}/", "") == expected


def test_the_table_of_names_is_up_to_date_and_whole() -> None:
    command = [sys.executable, str(ROOT / "tools" / "gen-api" / "gen_api.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(
        r"^\| \[`([\w.]+)`\]\(([^)]+)\) \| \w.* \|$", (DOCS / "reference" / "python.md").read_text(), re.M
    )
    assert {*ssa_compiler.__all__} <= {name for name, _ in rows}
    assert all((DOCS / "reference" / source).exists() for _, source in rows)
