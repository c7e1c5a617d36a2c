"""What a module's code asks about attributes, which TorchScript answers while scripting and leaves nothing of.

That is whether they are there, `hasattr(self, "extra")` and `getattr(self, "extra", None)`, and of which type they are,
`isinstance(self.scale, int)` and `self.scale is None`.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["asked_spaces", "present_attributes", "typed_attributes"]

_ASKING = frozenset({"hasattr", "getattr"})
_SPACES = ("_parameters", "_buffers", "_modules")


def present_attributes(module: torch.nn.Module) -> dict[str, bool]:
    """Return whether each attribute is there that a part of a module is asked for, by its qualified name.

    Args:
        module: not scripted. Its parts may ask each other: any of them may be asked for what any of them asks.
    """
    parts = list(module.named_modules())
    names = sorted({name for _, part in parts for name in _asked(part)})
    return {f"{path}.{name}".removeprefix("."): hasattr(part, name) for path, part in parts for name in names}


def asked_spaces(module: torch.nn.Module) -> list[tuple[dict[str, Any], str, bool]]:
    """Return the dictionaries in which those attributes would lie, and whether they do.

    Plain attributes of parts that do not ask are left out: these are counted anyhow.
    """
    parts = [(vars(part), _asked(part)) for part in module.modules()]
    names = sorted({name for _, asked in parts for name in asked})
    held = [(space[kind], name) for space, _ in parts for kind in _SPACES for name in names]
    held += [(space, name) for space, asked in parts for name in asked]
    return [(space, name, name in space) for space, name in held]


def typed_attributes(module: torch.nn.Module) -> list[tuple[str, dict[str, Any], str, type]]:
    """Return the plain attributes by whose types a branch may be decided.

    Args:
        module: not scripted.
    Returns:
        Of each its qualified name, the dictionary that it lies in, its name there, and its type.
    """
    parts = list(module.named_modules())
    names = {name for _, part in parts for name in _asked_types(part)}
    return [
        (f"{path}.{name}".removeprefix("."), vars(part), name, type(vars(part)[name]))
        for path, part in parts
        for name in sorted(names & vars(part).keys())
    ]


# By class.
_names_asked: dict[type, frozenset[str]] = {}
_names_asked_types: dict[type, frozenset[str]] = {}


def _asked(part: torch.nn.Module) -> frozenset[str]:
    """The names that the methods of a part may ask for: texts in code that asks."""
    kind = type(part)
    if kind not in _names_asked:
        texts = [text for code in _codes_of(kind) if _ASKING & {*code.co_names} for text in code.co_consts]
        _names_asked[kind] = frozenset(text for text in texts if isinstance(text, str) and text.isidentifier())
    return _names_asked[kind]


def _asked_types(part: torch.nn.Module) -> frozenset[str]:
    """The names of what the methods of a part may ask for the type of: all names in code that asks for one."""
    kind = type(part)
    if kind not in _names_asked_types:
        codes = [
            code for code in _codes_of(kind) if "isinstance" in code.co_names or any(map(_looks_for_none, _ops(code)))
        ]
        _names_asked_types[kind] = frozenset(name for code in codes for name in code.co_names)
    return _names_asked_types[kind]


def _ops(code: types.CodeType) -> list[str]:
    return [instruction.opname for instruction in dis.get_instructions(code)]


def _looks_for_none(op: str) -> bool:
    return op == "IS_OP" or op.endswith("_NONE")  # `POP_JUMP_FORWARD_IF_NOT_NONE`


def _codes_of(kind: type) -> Iterator[types.CodeType]:
    """The code of a class's methods and properties; PyTorch's own classes do not count."""
    for each in kind.__mro__:
        if each.__module__.partition(".")[0] in ("torch", "builtins"):
            continue
        for held in vars(each).values():
            method = held.fget if isinstance(held, property) else getattr(held, "__func__", held)
            while method is not None:
                code = getattr(method, "__code__", None)
                yield from _codes(code) if code is not None else ()
                method = getattr(method, "__wrapped__", None)  # what a decorator such as `torch.no_grad()` hides


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)
