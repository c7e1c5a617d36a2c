"""Dataclasses that the user has not scripted.

TorchScript scripts the classes that a program meets, and takes dataclasses that are decorated with `torch.jit.script`.
Of others it wants the source of `__init__`, to look up the names in it, and dataclasses write theirs themselves. It
also scripts `__eq__` and the like of all of them, which fails for dataclasses in dataclasses.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.jit._script as jit_script
import torch.jit.frontend as frontend
from torch import _jit_internal
from torch.jit import _dataclass_impls
from torch.jit._dataclass_impls import DATACLASS_MAGIC_METHODS

from ..isolation.patching import replaced
from .field_types import types_of_defaults

__all__ = ["plain_dataclasses"]

# Names that the module imports.
_PARSE = getattr(frontend, "parse_def")  # noqa: B009
_IS_DROPPED = getattr(frontend, "_is_drop_fn")  # noqa: B009
# What `dataclass` writes, but for the constructor and what makes an object frozen.
_WRITTEN = frozenset(DATACLASS_MAGIC_METHODS) - {"__init__"}


class _Names:
    """What names in the annotations of a class stand for; those that `inspect` prints start with a module."""

    def __init__(self, kind: type) -> None:
        self._module = sys.modules.get(kind.__module__)

    def __getattr__(self, name: str) -> Any:
        for place in (self._module, builtins):
            if hasattr(place, name):
                return getattr(place, name)
        return sys.modules.get(name)


@contextmanager
def plain_dataclasses() -> Iterator[None]:
    """Let TorchScript script the dataclasses that a program meets, as if they were decorated with `torch.jit.script`.

    They stay scripted, with all that they compute as TorchScript has it: a program of the user's may meet them next.
    """
    compile_class = jit_script._recursive_compile_class

    def compiling(kind: type, place: Any) -> Any:
        if not dataclasses.is_dataclass(kind):
            return compile_class(kind, place)  # type: ignore[no-untyped-call]
        names = _jit_internal.createResolutionCallbackFromEnv(_Names(kind))
        typed = {**kind.__init__.__annotations__, **types_of_defaults(kind)}
        with (
            replaced(kind.__init__, "__annotations__", typed),
            replaced(kind.__init__, "__defaults__", _defaults(kind)),
            replaced(frontend, "parse_def", _PARSE),
            replaced(frontend, "_is_drop_fn", _is_left_out),
            replaced(frontend, "DATACLASS_MAGIC_METHODS", {**DATACLASS_MAGIC_METHODS, "__init__": _constructor}),
        ):
            return jit_script._compile_and_register_class(kind, names, _jit_internal._qualified_name(kind))  # type: ignore[no-untyped-call]

    with replaced(jit_script, "_recursive_compile_class", compiling):
        yield


def _is_left_out(method: Any) -> bool:
    return bool(_IS_DROPPED(method)) or (method.__name__ in _WRITTEN and method.__code__.co_filename == "<string>")


def _defaults(kind: Any) -> tuple[Any, ...] | None:
    """The defaults of the constructor of a dataclass that TorchScript takes: those behind the last factory."""
    names = list(inspect.signature(kind.__init__).parameters)[1:]
    made = [field.name for field in dataclasses.fields(kind) if field.default_factory is not dataclasses.MISSING]
    behind = len(names) - 1 - max((names.index(name) for name in made if name in names), default=-1)
    defaults: tuple[Any, ...] = kind.__init__.__defaults__ or ()
    return defaults[-behind:] if behind else None


def _constructor(kind: Any) -> Any:
    """Write the constructor of a dataclass; what its factories make has to be passed to it."""
    if all(field.default_factory is dataclasses.MISSING for field in dataclasses.fields(kind)):
        return _dataclass_impls.synthesize__init__(kind)
    own = [field.name for field in dataclasses.fields(kind) if field.init]
    body = [f"self.{name} = {name}" for name in own]
    body += ["self.__post_init__()"] if hasattr(kind, "__post_init__") else []
    return _dataclass_impls.compose_fn(kind, "__init__", body, signature=str(inspect.signature(kind.__init__)))
