"""Which attributes a module's code asks for, `hasattr(self, "extra")` and `getattr(self, "extra", None)`, and whether they are there.

TorchScript answers while scripting and leaves nothing of the question.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["asked_spaces", "present_attributes"]

_ASKING = frozenset({"hasattr", "getattr"})
_SPACES = ("_parameters", "_buffers", "_modules")


def present_attributes(module: torch.nn.Module) -> dict[str, bool]:
    """Return whether each attribute is there that a part of a module is asked for, by its qualified name.

    Args:
        module: not scripted. Its parts may ask each other: any of them may be asked for what any of them asks.
    """
    parts = list(module.named_modules())
    names = sorted({name for _, part in parts for name in _asked(type(part))})
    return {f"{path}.{name}".removeprefix("."): hasattr(part, name) for path, part in parts for name in names}


def asked_spaces(module: torch.nn.Module) -> list[tuple[dict[str, Any], str, bool]]:
    """Return the dictionaries in which those attributes would lie, and whether they do.

    Plain attributes of parts that do not ask are left out: these are counted anyhow.
    """
    parts = [(vars(part), _asked(type(part))) for part in module.modules()]
    names = sorted({name for _, asked in parts for name in asked})
    held = [(space[kind], name) for space, _ in parts for kind in _SPACES for name in names]
    held += [(space, name) for space, asked in parts for name in asked]
    return [(space, name, name in space) for space, name in held]


_answers: dict[type, frozenset[str]] = {}


def _asked(kind: type) -> frozenset[str]:
    if kind not in _answers:
        _answers[kind] = _names(kind)
    return _answers[kind]


def _names(kind: type) -> frozenset[str]:
    """The names that the methods of a class may ask for: texts in code that asks; PyTorch's own classes do not count."""
    names: set[str] = set()
    for each in kind.__mro__:
        if each.__module__.partition(".")[0] in ("torch", "builtins"):
            continue
        for method in vars(each).values():
            code = getattr(method, "__code__", None)
            for part in _codes(code) if code is not None else ():
                if _ASKING & {*part.co_names}:
                    names |= {text for text in part.co_consts if isinstance(text, str) and text.isidentifier()}
    return frozenset(names)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)
