"""`ssa_compiler::tuple_key_int_int` and alike, operators that read a tuple which is a key of a dict.

TorchScript has strings for such tuples, and operators return what they declare; so there is one for each sequence of
types. The importer, which has the tuples themselves, takes the calls for their operands.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .ignored_functions import keep_library

__all__ = ["TUPLE_KEY_OP", "tuple_key_call"]

TUPLE_KEY_OP = "ssa_compiler::tuple_key"
"""Begins the names of the operators."""

_library = torch.library.Library("ssa_compiler", "FRAGMENT")  # type: ignore[no-untyped-call]
keep_library(_library)
_defined: set[str] = set()


def tuple_key_call(kinds: Sequence[type]) -> str:
    """Return how source text calls the operator that reads a tuple.

    Args:
        kinds: bool, int or str for each element.
    """
    names = [kind.__name__ for kind in kinds]
    operator = "_".join([TUPLE_KEY_OP, *names])
    if operator not in _defined:
        _library.define(f"{operator.partition('::')[2]}(str key) -> ({', '.join(names)})")  # type: ignore[no-untyped-call]
        _defined.add(operator)
    return f"torch.ops.{operator.replace('::', '.')}"
