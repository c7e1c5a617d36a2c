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


class _NotCompiled:
    """Stands for a program that `--interpreted` does not compile: a test that looks at it is skipped."""

    def __getattr__(self, name: str) -> object:
        pytest.skip("it looks at the compiled program")

    def __call__(self, *args: object, **kwargs: object) -> object:
        pytest.skip("it calls the compiled program")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--interpreted", action="store_true", help="compile nothing; skip what needs a compiled program")


@pytest.fixture(autouse=True)
def _interpreted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the stages under the interpreter only, where that is asked for."""
    if request.config.getoption("--interpreted"):
        from ssa_compiler import backend
        from ssa_compiler.testing import harness

        monkeypatch.setattr(harness, "NOT_COMPILED", _NotCompiled())
        monkeypatch.setattr(backend, "compile_module", lambda *_, **__: pytest.skip("it compiles"), raising=False)


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
