"""The benchmarks run at their smallest sizes, and the row update copies nothing."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def driver() -> ModuleType:
    """The benchmark driver as a module."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "driver.py"
    spec = importlib.util.spec_from_file_location("benchmark_driver", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_row_update(driver: ModuleType) -> None:
    result = driver.run("row_update", small=True)
    assert set(result["loop_copies"].values()) == {0}
    assert len(result["slopes_us"]) == len(result["eager_us"]) == 2


def test_command_line_writes_json(driver: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "result.json"
    monkeypatch.setattr(sys, "argv", ["driver.py", "lstm", "--small", "--output", str(output)])
    driver.main()
    (result,) = json.loads(output.read_text())
    assert result["benchmark"] == "lstm"
    assert {"torch", "iree-base-compiler"} <= set(result["versions"])
    assert result["ratio_to_eager"] > 0
    assert result["ratio_to_torchscript"] > 0
    monkeypatch.setattr(sys, "argv", ["driver.py", "nonsense"])
    with pytest.raises(SystemExit):
        driver.main()


def test_lstm(driver: ModuleType) -> None:
    result = driver.run("lstm", small=True)
    assert result["compile_s"] > 0
    assert result["compiled"]["median_ms"] > 0
