"""The parts of torch._dynamo that FakeTensors need, without loading all of torch.compile.

FakeTensorMode and ShapeEnv import `torch._dynamo.config`, `.exc`, `.utils` and `.source`, and with these the package
around them: the whole of torch.compile and torch.distributed, more than half a second of a first compilation. Here the
package is a module that has these four, and runs its `__init__` when somebody asks for anything else of it, or imports
another submodule.

PyTorch's own Python functions for ops are kept out of what torch.compile traces (`torch._disable_dynamo`), by a wrapper
that asks the package for `disable` at the function's first call. As long as nothing can be traced, the function itself
is what it gets.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import torch

__all__ = ["defer_dynamo"]

_NAME = "torch._dynamo"
_NEEDED = ("config", "utils", "exc", "source")
_logger = logging.getLogger(__name__)


class _Deferred(ModuleType):
    """A package whose `__init__` has not run yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (submodule := sys.modules.get(f"{_NAME}.{name}")) is not None:
            return submodule
        if name == "disable":
            return _disable
        _finder.run_init(self)
        return getattr(self, name)


class _Finder(MetaPathFinder):
    """Runs the package's `__init__` before a submodule is imported: they import one another in an order that it
    begins.
    """

    def __init__(self) -> None:
        self.running = threading.RLock()
        self.loading = True  # the submodules that are needed, which must not need others
        self.begun = False
        self.not_disabled: list[Any] = []
        """Functions that PyTorch keeps out of traces, and that were called before there were any."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = sys.modules.get(_NAME)
        if self.loading or not fullname.startswith(f"{_NAME}.") or not isinstance(package, _Deferred):
            return None
        if self.begun and self.running._is_owned():  # type: ignore[attr-defined]
            return None  # imported by the `__init__`
        self.run_init(package)
        found = sys.modules.get(fullname)
        return None if found is None else ModuleSpec(fullname, _Loaded(found))

    def run_init(self, package: _Deferred) -> None:
        """Run the package's `__init__`, once; another thread that needs it waits for the end.

        Raises:
            AttributeError: it is this thread that runs it.
        """
        with self.running:
            if type(package) is not _Deferred:
                return
            if self.loading or self.begun:  # as in any import in a circle
                raise AttributeError(f"partially initialised module {_NAME!r} lacks an attribute")
            self.begun = True
            try:
                assert package.__spec__ is not None
                assert package.__spec__.loader is not None
                package.__spec__.loader.exec_module(package)
            except BaseException:
                sys.modules.pop(_NAME, None)  # as when an import fails: the next one tries again
                raise
            finally:
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
            package.__class__ = ModuleType  # type: ignore[assignment]
            for function in self.not_disabled:  # the wrapper keeps what it got; now it has to ask again
                vars(function).pop("__dynamo_disable", None)
            self.not_disabled.clear()


class _Loaded(Loader):
    """Gives a module that has been loaded meanwhile to the import that was to load it."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


_finder = _Finder()


def _disable(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`torch._dynamo.disable` while the package is deferred."""
    package: Any = torch._dynamo
    with _finder.running:
        if isinstance(package, _Deferred) and not _finder.begun:
            if sys._getframe(1).f_globals.get("__name__") == "torch._compile":
                _finder.not_disabled.append(function)
                return function
            _finder.run_init(package)
    return package.disable(function, *args, **kwargs)


def defer_dynamo() -> None:
    """Load what FakeTensors need of torch._dynamo, and let the rest wait until it is needed.

    It changes nothing where the package is loaded already, or where the parts cannot be loaded without the rest.
    """
    spec = None if _NAME in sys.modules else importlib.util.find_spec(_NAME)
    if spec is None or spec.submodule_search_locations is None:
        return
    package = _Deferred(_NAME)
    package.__spec__, package.__loader__, package.__file__ = spec, spec.loader, spec.origin
    package.__package__, package.__path__ = _NAME, spec.submodule_search_locations
    before = set(sys.modules)
    sys.modules[_NAME] = torch._dynamo = package
    try:
        for name in _NEEDED:
            importlib.import_module(f"{_NAME}.{name}")
    except Exception as error:  # noqa: BLE001 - a version of PyTorch in which they need the rest, which loads it then
        _logger.debug("torch._dynamo is loaded as a whole: %s", error)
        for name in [name for name in sys.modules if name.startswith(_NAME) and name not in before]:
            del sys.modules[name]
        del torch._dynamo
        return
    _finder.loading = False
    sys.meta_path.insert(0, _finder)
