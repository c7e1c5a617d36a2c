"""Makes the source tree importable for the tests: the package, the test programs and the examples.

The cache on disk is off: every test compiles what it tests.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
os.environ["SSA_COMPILER_CACHE"] = "0"
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "test/python", "examples")]


def pytest_configure(config: object) -> None:
    """Silence TorchScript's deprecation notice, which every test that scripts a model would repeat."""
    add = config.addinivalue_line  # type: ignore[attr-defined]
    add("filterwarnings", "ignore:.*torch.jit.*:DeprecationWarning")
    add("filterwarnings", "ignore:.*torch.jit.*:FutureWarning")


@pytest.fixture(autouse=True)
def _kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no kernels in tests of the backend, which are about dispatches."""
    if request.path.parent.name == "backend":
        monkeypatch.setenv("SSA_COMPILER_KERNELS", "off")


def pytest_collection_finish(session: object) -> None:
    """Leave PyTorch's modules out of garbage collections, which would take a sixth of the time."""
    import ssa_compiler.backend
    import ssa_compiler.importer  # noqa: F401

    gc.collect()
    gc.freeze()
