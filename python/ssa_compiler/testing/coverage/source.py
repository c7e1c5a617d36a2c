"""Writes a call of an operator as the source of a function that both Python and TorchScript understand.

Tensors, and lists of tensors, become parameters; every other argument becomes a literal. An operator of the database
that is a lambda is watched while it runs, and what it calls is written down.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

__all__ = ["NotWritable", "Source", "write_call", "write_lambda"]

_MODULES = (
    "torch",
    "torch.nn.functional",
    "torch.special",
    "torch.linalg",
    "torch.fft",
    "torch.Tensor",
    "torch.sparse",
    "torch.masked",
    "torch.signal.windows",
    "torch._C._nn",
)
_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
"""Methods of Python's operators by their name without underscores."""


class NotWritable(Exception):
    """A call that has no form in TorchScript's language."""


@dataclass
class Source:
    """A function as text.

    Attributes:
        floats: whether ints are written as floats, which Python's functions take for floats and TorchScript's do not.
        optional: whether a list of tensors is a list of tensors or None.
        lines: its statements.
        parameters: `name: type` of each.
        arguments: what to call it with: tensors and lists of tensors.
    """

    floats: bool = False
    optional: bool = False
    lines: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    arguments: list[Any] = field(default_factory=list)
    _names: dict[int, str] = field(default_factory=dict)
    _kept: list[Any] = field(default_factory=list)

    def text(self) -> str:
        """Return the module that defines it as `program`."""
        body = "\n".join(f"    {line}" for line in self.lines)
        return (
            "from typing import List, Optional\n\nimport torch\nfrom torch import inf, nan\n\n\n"
            f"def program({', '.join(self.parameters)}):\n{body}\n"
        )

    def rewritten(self, result: str) -> Source:
        """Return the same function with another result.

        Args:
            result: the expression, `{}` standing for the present one.
        """
        last = f"return {result.format(self.lines[-1].removeprefix('return '))}"
        return self.of([*self.lines[:-1], last])

    def of(self, lines: list[str]) -> Source:
        """Return a function of the same parameters with other statements."""
        return Source(self.floats, self.optional, lines, self.parameters, self.arguments)

    def name(self, value: Any, name: str) -> None:
        """Call a value that the function computes by a name."""
        self._names[id(value)] = name
        self._kept.append(value)

    def _parameter(self, value: Any, kind: str) -> str:
        if id(value) not in self._names:
            name = f"a{len(self.parameters)}"
            self.parameters.append(f"{name}: {kind}")
            self.arguments.append(copy.deepcopy(value))  # as it is before the call, which may write it
            self.name(value, name)
        return self._names[id(value)]

    def expression(self, value: Any) -> str:
        """Return a value as an expression."""
        if isinstance(value, torch.Tensor):
            return self._parameter(value, "torch.Tensor")
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        if self.floats and isinstance(value, int) and not isinstance(value, bool):
            return f"{value}.0"
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f"float('{value}')"
        if isinstance(value, complex):
            return f"complex({value.real!r}, {value.imag!r})"
        if isinstance(value, torch.device):
            return f"torch.device('{value}')"
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if hasattr(value, "item"):  # a number of numpy's
            return self.expression(value.item())
        raise NotWritable(f"an argument of type {type(value).__name__}")

    def _sequence(self, value: Sequence[Any]) -> str:
        if not isinstance(value, torch.Size) and id(value) in self._names:
            return self._names[id(value)]
        if value and all(isinstance(element, torch.Tensor) for element in value):
            kind = "Optional[torch.Tensor]" if self.optional else "torch.Tensor"
            return self._parameter(list(value), f"List[{kind}]")
        if isinstance(value, list) and value and all(e is None or isinstance(e, torch.Tensor) for e in value):
            return self._parameter(value, "List[Optional[torch.Tensor]]")
        if not value:
            return "torch.jit.annotate(List[int], [])"
        return f"[{', '.join(self.expression(element) for element in value)}]"

    def index(self, value: Any) -> str:
        """Return what stands between the brackets of a subscript."""
        if isinstance(value, tuple):
            if not value:
                raise NotWritable("an empty index")
            return ", ".join(self.index(element) for element in value)
        if isinstance(value, slice):
            parts = ["" if part is None else self.expression(part) for part in (value.start, value.stop, value.step)]
            return ":".join(parts)
        if value is Ellipsis:
            return "..."
        if isinstance(value, list):
            return f"torch.tensor({value!r})"
        return self.expression(value)


@cache
def _paths() -> dict[int, str]:
    """The functions that TorchScript finds by name."""
    found: dict[int, str] = {}
    for path in _MODULES:
        module: Any = torch
        for part in path.split(".")[1:]:
            module = getattr(module, part)
        for name in dir(module):
            found.setdefault(id(getattr(module, name, None)), f"{path}.{name}")
    return found


def _path(function: Any) -> str | None:
    if isinstance(function, torch._ops.OpOverload):
        return f"torch.ops.{function.namespace}.{function._schema.name.partition('::')[2]}"
    if isinstance(function, torch._ops.OpOverloadPacket):
        return f"torch.ops.{str(function).replace('::', '.')}"
    # Properties and methods of Tensor are made anew at each access, so that only their names identify them.
    return _paths().get(id(function)) or resolve_name(function)


def _keywords(source: Source, kwargs: dict[str, Any]) -> list[str]:
    # TorchScript's factories do not know requires_grad.
    given = {name: value for name, value in kwargs.items() if (name, value) != ("requires_grad", False)}
    return [f"{name}={source.expression(value)}" for name, value in given.items()]


def _call(source: Source, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """Return a call as an expression."""
    path = _path(function)
    if path is None:
        raise NotWritable("a function that has no name")
    method = path.removeprefix("torch.Tensor.")
    if method == path:
        given = [source.expression(argument) for argument in args]
        given += _keywords(source, kwargs)
        return f"{path}({', '.join(given)})"
    owner = source.expression(args[0])
    if method.endswith(".__get__"):
        return f"{owner}.{method.removesuffix('.__get__')}"
    if method == "__getitem__":
        return f"{owner}[{source.index(args[1])}]"
    if method.startswith("__"):
        bare = method.strip("_")
        if bare in _OPERATORS and len(args) == 2:
            return f"{owner} {_OPERATORS[bare]} {source.expression(args[1])}"
        if bare[1:] in _OPERATORS and bare[0] == "r" and len(args) == 2:
            return f"{source.expression(args[1])} {_OPERATORS[bare[1:]]} {owner}"
    given = [source.expression(argument) for argument in args[1:]]
    given += _keywords(source, kwargs)
    return f"{owner}.{method}({', '.join(given)})"


def write_call(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    floats: bool = False,
    optional: bool = False,
) -> Source:
    """Write one call.

    Args:
        function: a function or method of torch that has a name, or one of the database's lambdas.
        args: its positional arguments.
        kwargs: its keyword arguments.
        floats: see `Source`.
        optional: see `Source`.
    Returns:
        The function that makes the call and returns its result.
    Raises:
        NotWritable: TorchScript's language has no form for it.
    """
    if id(function) not in _paths() and not isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return write_lambda(function, args, kwargs, floats=floats, optional=optional)
    source = Source(floats, optional)
    source.lines.append(f"return {_call(source, function, args, kwargs)}")
    return source


class _Watch(TorchFunctionMode):
    """Notes which functions of torch are called from outside of torch."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        text = _call(self.source, func, args, kwargs or {})
        result = func(*args, **(kwargs or {}))
        name = f"v{len(self.source.lines)}"
        self.source.lines.append(f"{name} = {text}")
        self.source.name(result, name)
        return result


def write_lambda(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    floats: bool = False,
    optional: bool = False,
) -> Source:
    """Write what a function calls, one statement for each call.

    Args:
        function: a Python function; it is run on the arguments.
        args: its positional arguments.
        kwargs: its keyword arguments.
        floats: see `Source`.
        optional: see `Source`.
    Raises:
        NotWritable: it calls what TorchScript's language has no form for, or returns what it computes without torch.
    """
    source = Source(floats, optional)
    for value in (*args, *kwargs.values()):  # parameters come in the order of the arguments
        if isinstance(value, torch.Tensor):
            source.expression(value)
    with torch.no_grad(), _Watch(source):
        result = function(*args, **kwargs)
    if not source.lines or id(result) not in source._names:
        raise NotWritable("a function that does more than to call torch")
    source.lines.append(f"return {source._names[id(result)]}")
    return source
