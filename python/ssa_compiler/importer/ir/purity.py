"""Which ops may be computed while a program is imported, and what becomes of the others.

An op that does something beside computing its results, or whose results depend on more than its arguments, runs when
the program
does: as often as in eager, in order, or not at all. Ops of PyTorch's own namespaces are taken for pure where their
schemas leave no place for anything else; of an op of anybody else's nothing is known, whatever its schema says.

TorchScript believes schemas. While scripting it computes such ops of others that are called with constants, and drops
those whose results nobody uses. It is therefore shown a twin of each, of a kind that it leaves alone (`unfolded`); the
importer takes the twin for the op (`original`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.jit import _builtins

from ...process.interrupts import uninterrupted
from ...semantics.ignored_functions import keep_library
from ..isolation.patching import replaced

__all__ = ["is_built_in", "is_pure", "original", "unfolded"]

_BUILT_IN = frozenset({"aten", "prim", "prims", "ssa_compiler", "torchvision"})
"""Namespaces whose ops do what their schemas say."""
_SETTINGS = frozenset(
    {
        "aten::_get_tracing_state",
        "aten::get_autocast_dtype",
        "aten::is_autocast_cpu_enabled",
        "aten::is_autocast_enabled",
        "aten::is_scripting",
    }
)
"""Questions about PyTorch's settings, on which a call checks that they are as they were."""
_PLAIN = frozenset(
    f"{kind}Type"
    for kind in "AnyEnum Bool Complex DeviceObj Dict Enum Float Int Layout List None Number Optional String Tuple Var".split()
)


def is_built_in(name: str) -> bool:
    """Whether an operator, `aten::add`, is PyTorch's own, torchvision's or of the library here."""
    return name.partition("::")[0] in _BUILT_IN


def is_pure(schema: Any) -> bool:
    """Whether an op on numbers, strings and containers of them does nothing but compute its results of its arguments.

    Args:
        schema: its schema.
    """
    if schema.name in _SETTINGS:
        return True
    specs = (*schema.arguments, *schema.returns)
    return (
        is_built_in(schema.name)
        and bool(schema.arguments)  # without any, the answer comes from elsewhere
        and bool(schema.returns)
        and all(spec.type.kind() in _PLAIN for spec in specs)
        and not any(spec.alias_info is not None and spec.alias_info.is_write for spec in schema.arguments)
    )


# Twins. ---------------------------------------------------------------------------------------------------------------

_TWINS = "ssa_compiler_unfolded"
_library = torch.library.Library(_TWINS, "DEF")  # type: ignore[no-untyped-call]
keep_library(_library)
_originals: dict[str, str] = {}


@uninterrupted
def _twin(name: str) -> str:
    """Return the name of the twin of an operator, `ssa_compiler_unfolded::my__log`."""
    namespace, _, rest = name.partition("::")
    twin = f"{_TWINS}::{namespace}__{rest}"
    if twin not in _originals:
        for schema in torch._C._jit_get_schemas_for_operator(name):
            # What it writes and aliases is known by the original; a twin may do anything.
            text = re.sub(r"\([\w|*]+!?(?: -> [\w|*]+)?\)(?=[ \[?,)]|$)", "", str(schema).partition("::")[2])
            text = f"{namespace}__{text}"
            _library.define(text, alias_analysis="CONSERVATIVE")  # type: ignore[no-untyped-call]
            overload = getattr(getattr(getattr(torch.ops, namespace), rest), schema.overload_name or "default")
            _library.impl(text.partition("(")[0], overload, "CompositeImplicitAutograd")  # type: ignore[no-untyped-call]
        _originals[twin] = name
    return twin


@contextmanager
def unfolded() -> Iterator[None]:
    """Let TorchScript neither compute nor drop ops that may have effects."""
    find = _builtins._find_builtin

    def found(function: Any) -> Any:
        name = find(function)  # type: ignore[no-untyped-call]
        return name if name is None or is_built_in(name) or name.startswith(f"{_TWINS}::") else _twin(name)

    with replaced(_builtins, "_find_builtin", found):
        yield


def original(kind: str, schema: str) -> tuple[str, str]:
    """Return the name and the schema of the operator of a node, which may be a twin.

    Args:
        kind: the node's kind, `aten::add`.
        schema: its schema.
    """
    name = _originals.get(kind)
    if name is None:
        return kind, schema
    overload = torch._C.parse_schema(schema).overload_name
    found = torch._C._jit_get_schemas_for_operator(name)
    return name, str(next(each for each in found if each.overload_name == overload))
