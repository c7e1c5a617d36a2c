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


_WITH_KERNELS = (
    "api_compile_test.py",
    "compile_cache_test.py",
    "container_ops_test.py",
    "e2e",
    "edges_test.py",
    "kernel_calls_test.py",
    "kernel_library_test.py",
    "kernel_regions_test.py",
    "kernel_sizes_test.py",
    "kernel_verification_test.py",
    "kernels_test.py",
    "library_functions_test.py",
    "scalar_programs_test.py",
    "user_programs_test.py",
)
_NIGHTLY = bool(os.environ.get("SSA_COMPILER_NIGHTLY"))


@pytest.fixture(autouse=True)
def _kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make kernels in some test files only: each program costs a third more time, and tests of the backend are about dispatches.

    `SSA_COMPILER_NIGHTLY=1` makes them in all other files, too.
    """
    path = request.path
    chosen = path.name in _WITH_KERNELS or path.parent.name in _WITH_KERNELS
    if not chosen and (not _NIGHTLY or path.name.startswith("backend_")):
        monkeypatch.setenv("SSA_COMPILER_KERNELS", "off")


def pytest_collection_finish(session: object) -> None:
    """Leave PyTorch's modules out of garbage collections, which would take a sixth of the time."""
    import ssa_compiler.backend
    import ssa_compiler.importer  # noqa: F401

    gc.collect()
    gc.freeze()
