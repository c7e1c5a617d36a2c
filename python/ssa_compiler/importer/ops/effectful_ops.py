"""Ops that do more than compute their results, and `warnings.warn`, as calls of Python from inside the compiled
program.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...errors import SourceLocation
from ...semantics.generator_ops import NAMESPACE
from ...semantics.ignored_functions import WARNING
from ..ir.purity import is_built_in
from ..values.runtime_strings import Template
from ..values.values import ListRef, RuntimeStr, TupleValue, Value, is_generator
from .python_calls import PythonCalls
from .python_functions import is_told

__all__ = ["run_later"]


def run_later(calls: PythonCalls, node: Any, op: Any, schema: Any, arguments: list[Value]) -> list[Value]:
    """Import an op that runs when the program does, as often and in the order that eager runs it.

    Args:
        calls: imports calls of Python.
        node: the node.
        op: the OpOverload; None if PyTorch has none.
        schema: its schema.
        arguments: one value per argument of the schema.
    Returns:
        Its results.
    Raises:
        UnsupportedOpError: it changes what only the caller may change, or its results are of an unknown kind.
    """
    state = calls.state
    if schema.name == "aten::warn":
        warning = WarnCall(
            arguments[0], _stack_level(node, getattr(arguments[1], "value", None)), state.locations.frames
        )
        calls.call(warning, warning.values)
        return []
    if (schema.name, schema.overload_name) == ("aten::manual_seed", ""):
        op = torch.manual_seed
    elif is_generator(arguments[0] if arguments else None):
        method = schema.name.partition("::")[2]
        if schema.name.startswith("aten::"):
            op = getattr(torch.Generator, method)
        if schema.returns and schema.returns[0].alias_info is not None:  # it returns the generator
            calls.call(OpCall(op, schema, returns=False), arguments)
            return [arguments[0]]
    elif op is None or is_built_in(schema.name):
        for argument in arguments:
            if isinstance(argument, ListRef):
                calls.containers.elements(argument)  # of one whose length is not known there is more to say
        raise state.unsupported_op(f"{schema.name}, which does more than compute a result")
    if not all(is_told(spec.type) for spec in schema.returns):
        raise state.unsupported_op(
            f"{schema.name}, whose result is neither a number nor a tensor, and which may give another one at each call"
        )
    result = calls.call(OpCall(op, schema), arguments)
    if not schema.returns:
        return []
    return list(result.elements) if isinstance(result, TupleValue) else [result]


class _Returned:
    """The output of a node."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def type(self) -> Any:
        return self._kind


class OpCall:
    """The node of an op without tensors that runs in PyTorch, as that of a Python function.

    Attributes:
        reason: why it is not compiled.
    """

    def __init__(self, op: Callable[..., Any], schema: Any, *, returns: bool = True) -> None:
        """Create it.

        Args:
            op: what runs.
            schema: its schema.
            returns: whether its results are used.
        """
        self._op, self._schema = op, schema
        self._returns = schema.returns if returns else []
        self.reason = (
            "it sets PyTorch's random stream"
            if schema.name.startswith(("aten::", NAMESPACE))
            else "it is no op of PyTorch's own, and may do more than compute its results"
        )

    def pyobj(self) -> Callable[..., Any]:
        """Return what is called with one value per argument of the schema."""
        arguments = self._schema.arguments
        positional = sum(not argument.kwarg_only for argument in arguments)
        names = [argument.name for argument in arguments[positional:]]

        def call(*values: Any) -> Any:
            result = self._op(*values[:positional], **dict(zip(names, values[positional:], strict=True)))
            return result if self._returns else None

        return call

    def pyname(self) -> str:
        """Return what the user calls it."""
        return str(self._schema.name)

    def outputsSize(self) -> int:
        """Return the number of results; several are a tuple."""
        return min(len(self._returns), 1)

    def output(self) -> Any:
        """Return the result."""
        kinds = [spec.type for spec in self._returns]
        return _Returned(kinds[0] if len(kinds) == 1 else torch._C.TupleType(kinds))


class WarnCall:
    """The node of a call of `warnings.warn`, as that of a Python function that gives the warning as eager does."""

    def __init__(self, message: Value, level: int, frames: Sequence[SourceLocation | None]) -> None:
        """Create it.

        Args:
            message: its text.
            level: `stacklevel`; 1 for the innermost of the frames.
            frames: the calls that lead there, outermost first.
        """
        pieces = message.pieces if isinstance(message, RuntimeStr) else ()
        known_text = str(getattr(message, "value", None) or getattr(message, "text", ""))
        self._text = Template(pieces or [known_text])
        self.values = self._text.values
        known = [frame for frame in frames if frame is not None] or [SourceLocation("?", 1)]
        self._place = known[max(len(known) - level, 0)]
        self._above = max(level - len(known), 0)

    def pyobj(self) -> Callable[..., None]:
        """Return what is called with the values."""
        text, place, above = self._text, self._place, self._above

        def warn(*values: Any) -> None:
            _warn(text.fill(iter(values)), place, above)

        return warn

    def pyname(self) -> str:
        """Return a name that no function of a user's has."""
        return WARNING

    def outputsSize(self) -> int:
        """Return the number of results."""
        return 0


def _stack_level(node: Any, level: Any) -> int:
    """Return the `stacklevel` of a call of `warnings.warn`.

    Args:
        node: the call. Python's default is 1, TorchScript's is 2.
        level: the number that TorchScript has for it, None if that is not known.
    """
    return level if isinstance(level, int) and (level != 2 or "stacklevel" in _call_text(node)) else 1


def _call_text(node: Any) -> str:
    """The source of a call, as far as a node shows it."""
    lines = node.sourceRange().splitlines()[1:]
    marked = next((n for n, line in enumerate(lines) if re.fullmatch(r" *~+ <--- HERE", line)), None)
    if not marked:
        return ""
    start = len(lines[marked]) - len(lines[marked].lstrip())
    text = "\n".join([lines[marked - 1][start:], *lines[marked + 1 :]])
    depth = 0
    for number, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ")" and not depth:
            return text[:number]
    return text


def _warn(message: str, place: SourceLocation, above: int) -> None:
    """Give a warning.

    Args:
        message: its text.
        place: the line that it is about, if `above` is 0.
        above: how many frames above the program the line is: that of the program's caller is 1.
    """
    frame = sys._getframe() if above else None
    while frame is not None and not _is_entry(frame):
        frame = frame.f_back
    for _ in range(above):
        frame = frame.f_back if frame is not None else None
    file, line = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else (place.file, place.line)
    space = frame.f_globals if frame is not None else _globals_of(file)
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, UserWarning, file, line, space.get("__name__", "<unknown>"), registry)


def _is_entry(frame: Any) -> bool:
    """Whether a frame is that of the call of a compiled program."""
    return frame.f_code.co_name == "__call__" and frame.f_globals.get("__name__") in (
        "ssa_compiler.compiled_program",
        "ssa_compiler.specialisation",
    )


_elsewhere: dict[str, dict[str, Any]] = {}


def _globals_of(file: str) -> dict[str, Any]:
    """The global names of the module that a file was loaded as."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == file:
            return vars(module)
    return _elsewhere.setdefault(file, {})
