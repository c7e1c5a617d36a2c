"""Which dicts are of another class in eager, an OrderedDict, say, which to TorchScript is another name of `dict`."""

from __future__ import annotations

import inspect
from collections import Counter, OrderedDict, defaultdict
from typing import Any

from ..ir.locations import highlighted
from ..values.state import State
from ..values.values import DictRef

__all__ = ["note_class", "note_default_dict"]


def note_class(state: State, node: Any, function: Any, made: DictRef) -> None:
    """Note the class of the dict that an `aten::dict` makes.

    Args:
        state: the interpretation.
        node: the op.
        function: the Python function that it is in, None if there is none.
        made: the dict.
    """
    callee = highlighted(node).partition("(")[0].strip()
    if callee == "dict" or not callee:  # what came scripted without its source is compared with TorchScript
        return
    if callee.rpartition(".")[2] == "OrderedDict" or _named(function, callee) is OrderedDict:
        state.heap.dict_classes[made.cell] = OrderedDict


def note_default_dict(state: State, node: Any, function: Any, made: DictRef) -> bool:
    """Note that a dict is a defaultdict or Counter, if an `aten::dict` says so: partial evaluation makes the defaults.

    Args:
        state: the interpretation.
        node: the op, which then returns the dict itself.
        function: the Python function that it is in, None if there is none.
        made: the dict.
    """
    kind = _named(function, highlighted(node).partition("(")[0].strip())
    if kind is not Counter and kind is not defaultdict:
        return False
    state.heap.dict_classes[made.cell] = kind
    return True


def _named(function: Any, name: str) -> Any:
    """What a name, `module.name` or alike, stands for in a function; None if that is not known."""
    code = inspect.unwrap(function) if callable(function) else None
    if not inspect.isfunction(code):
        return None
    first, *rest = name.split(".")
    cells = dict(zip(code.__code__.co_freevars, code.__closure__ or ()))
    found = cells[first].cell_contents if first in cells else code.__globals__.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found
