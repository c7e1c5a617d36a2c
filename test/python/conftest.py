"""Makes the source tree importable for the tests: the package, the test programs and the examples.

The cache on disk is off: every test imports and compiles what it tests. Only the suites that are not about the backend
take compiled code from an earlier run, from `build/test-cache`: it is found by the text that the backend is given, and
by a digest of the backend and its tools. Tracebacks have the compiler's own frames. A rejected program raises, but in
the tests of fragments.

Most tests of the importer, the library and whole programs compare the stages under the interpreter only, unless they
look at what is compiled (`COMPILED`); the nightly run compiles all. With `--sampled`, as `make test` has it, some tests
are left out, others in each commit (`_sampling.py`).
"""

from __future__ import annotations

import gc
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from _sampling import Case, chosen

ROOT = Path(__file__).resolve().parents[2]
CODE_CACHE = ROOT / "build/test-cache"
# Folders of tests about what is given to the backend, about how programs are called, or about tools.
CACHED_SUITES = ("api", "importer", "library", "tools")
os.environ["SSA_COMPILER_CACHE"] = "0"
os.environ.setdefault("SSA_COMPILER_TRACEBACKS", "full")
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "test/python", "examples")]
COMPILED = {"importer": 6, "library": 3, "e2e": 3}
"""One of so many tests of these folders is compiled."""
NIGHTLY = bool(os.environ.get("SSA_COMPILER_NIGHTLY"))


def pytest_configure(config: object) -> None:
    """Silence TorchScript's deprecation notice, which every test that scripts a model would repeat."""
    add = config.addinivalue_line  # type: ignore[attr-defined]
    add("filterwarnings", "ignore:.*torch.jit.*:DeprecationWarning")
    add("filterwarnings", "ignore:.*torch.jit.*:FutureWarning")
    add("markers", "slow: it takes more than five seconds; where tests are sampled, few runs take it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a run that is `--sampled` does not take."""
    seed = config.getoption("--sampled")
    if seed is None or NIGHTLY:
        return
    cases = [
        Case(item.nodeid, item.nodeid.partition("[")[0], item.get_closest_marker("slow") is not None) for item in items
    ]
    runs = chosen(cases, seed)
    config.hook.pytest_deselected(items=[item for item, taken in zip(items, runs) if not taken])
    items[:] = [item for item, taken in zip(items, runs) if taken]


class _NeedsCompilingError(BaseException):
    """A test that was to be interpreted looks at the compiled program; no `except Exception` takes it."""


class _Sampled:
    """Stands for the compiled program in a test that is interpreted unless it looks at that."""

    def __getattr__(self, name: str) -> object:
        raise _NeedsCompilingError

    def __call__(self, *args: object, **kwargs: object) -> object:
        raise _NeedsCompilingError


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Interpret some tests of `COMPILED`'s folders, and compile those again that need it."""
    config = pyfuncitem.config
    whole = NIGHTLY or config.getoption("--interpreted") or config.getoption("--target") != "cpu"
    if whole or not zlib.crc32(pyfuncitem.nodeid.encode()) % COMPILED.get(pyfuncitem.path.parent.name, 1):
        return None
    from ssa_compiler.testing import harness

    names = pyfuncitem._fixtureinfo.argnames
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(harness, "NOT_COMPILED", _Sampled())
            pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    except _NeedsCompilingError:
        return None
    return True


class _NotCompiled:
    """Stands for a program that `--interpreted` does not compile: a test that looks at it is skipped."""

    def __getattr__(self, name: str) -> object:
        pytest.skip("it looks at the compiled program")

    def __call__(self, *args: object, **kwargs: object) -> object:
        pytest.skip("it calls the compiled program")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--interpreted", action="store_true", help="compile nothing; skip what needs a compiled program")
    parser.addoption(
        "--target", default="cpu", help="what `check` compiles programs for: cpu, or cuda where there is a GPU"
    )
    parser.addoption(
        "--sampled", metavar="SEED", help="leave out most cases of parametrised tests, and most slow tests"
    )
    parser.addoption("--partially-evaluated", action="store_true", help="evaluate every program partially")


@pytest.fixture(autouse=True)
def _fullgraph(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs that are rejected raise, but in the tests of what becomes of them else."""
    monkeypatch.setenv("SSA_COMPILER_FULLGRAPH", "0" if request.path.parent.name == "fragments" else "1")


@pytest.fixture(autouse=True)
def _partially_evaluated(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make tests of the importer tests of partial evaluation, where that is asked for."""
    from ssa_compiler.importer.partial_evaluation.opening import prefer_partial_evaluation

    prefer_partial_evaluation(bool(request.config.getoption("--partially-evaluated")))
    yield
    prefer_partial_evaluation(False)


@pytest.fixture(autouse=True)
def _interpreted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the stages under the interpreter only, where that is asked for."""
    if request.config.getoption("--interpreted"):
        from ssa_compiler import backend
        from ssa_compiler.testing import harness

        monkeypatch.setattr(harness, "NOT_COMPILED", _NotCompiled())
        monkeypatch.setattr(backend, "compile_module", lambda *_, **__: pytest.skip("it compiles"), raising=False)


@pytest.fixture(autouse=True)
def _target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile programs for the device that is asked for."""
    from ssa_compiler.testing import harness

    monkeypatch.setattr(harness, "TARGET", request.config.getoption("--target"))


@pytest.fixture(autouse=True)
def _kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no kernels in tests of the backend, which are about dispatches."""
    if request.path.parent.name == "backend":
        monkeypatch.setenv("SSA_COMPILER_KERNELS", "off")


@pytest.fixture(autouse=True)
def _code_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take compiled code from the last run in tests that are not about the backend, but not in the nightly run."""
    if request.path.parent.name not in CACHED_SUITES or NIGHTLY or request.config.getoption("--interpreted"):
        return
    from ssa_compiler import backend
    from ssa_compiler.backend.driver import driver

    def compile_module(*args: Any, **options: Any) -> Any:
        if os.environ["SSA_COMPILER_CACHE"] != "0":  # a test of the cache itself
            return driver.compile_module(*args, **options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSA_COMPILER_CACHE", "1")
            patch.setenv("SSA_COMPILER_CACHE_DIR", str(CODE_CACHE))
            return driver.compile_module(*args, **{**options, "cache": True})

    monkeypatch.setattr(backend, "compile_module", compile_module, raising=False)


def pytest_collection_finish(session: object) -> None:
    """Leave PyTorch's modules out of garbage collections, which would take a sixth of the time."""
    import ssa_compiler.backend
    import ssa_compiler.importer  # noqa: F401

    gc.collect()
    gc.freeze()
