"""Python functions that TorchScript ignores, tried at import: what they write and what they return."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._jit_internal import FunctionModifiers, get_torchscript_modifier

from ...errors import SourceLocation
from ...semantics.ignored_functions import IgnoredCall
from ..values.values import TensorValue, Value

__all__ = [
    "SCHEMA_NAMES",
    "Look",
    "Made",
    "is_told",
    "looks",
    "may_write",
    "on_a_copy",
    "read_attributes",
    "run_ignored",
    "schema_of",
    "stays_python",
    "title_of",
    "told_type",
]


_SCALARS = {"IntType": int, "FloatType": float, "BoolType": bool, "GeneratorType": torch.Generator}


SCHEMA_NAMES = {int: "int", float: "float", bool: "bool", torch.Generator: "int", torch.Tensor: "Tensor"}


@dataclass
class Made:
    """A call that was imported.

    Attributes:
        schema: that of its operator.
        call: what the operator runs.
        path: the module whose method it is; None of a function.
        location: the user's line.
        results: the tensors and containers that it returns.
        given: its tensors and dynamic scalars, numbered as the operator's arguments.
    """

    schema: str
    call: IgnoredCall
    path: str | None
    location: SourceLocation | None
    results: list[Value]
    given: list[Any]


@dataclass(frozen=True)
class Look:
    """A tensor that Python returned, without its contents."""

    dtype: torch.dtype
    sizes: tuple[int, ...]

    @staticmethod
    def of(tensor: torch.Tensor) -> Look:
        return Look(tensor.dtype, tuple(int(size) for size in tensor.shape))

    def fake(self) -> torch.Tensor:
        return torch.empty(self.sizes, dtype=self.dtype)


_MODIFIERS = {
    FunctionModifiers.IGNORE: "it is marked @torch.jit.ignore",
    FunctionModifiers.UNUSED: "it is marked @torch.jit.unused",
}


def title_of(function: Any, name: str) -> str:
    """What reports call a function: its name with that of its class, without the functions around them.

    Args:
        function: a function or bound method; what is none has `name`.
        name: the name by which it is called.
    """
    qualified = getattr(function, "__qualname__", "").rpartition("<locals>.")[2]
    return qualified if qualified.rpartition(".")[2] == name else name


def stays_python(function: Any) -> str:
    """Why a function is not compiled."""
    modifier = get_torchscript_modifier(function)  # type: ignore[no-untyped-call]
    return _MODIFIERS.get(modifier, "TorchScript leaves it to Python")


def looks(leaf: Any) -> Any:
    """What the result's looks may depend on."""
    if isinstance(leaf, TensorValue):
        return leaf.fake.dtype, tuple(map(str, leaf.fake.shape)), tuple(map(str, leaf.fake.stride()))
    return leaf.kind


def on_a_copy(function: Any) -> Any:
    """Return a method of a copy of its module, whose attributes it may change."""
    owner = getattr(function, "__self__", None)
    if owner is None:
        return function
    try:
        return types.MethodType(function.__func__, copy.deepcopy(owner))
    except Exception:  # noqa: BLE001 - the user's class; what cannot be copied is used as it is
        return function


def run_ignored(function: Any, arguments: Any) -> tuple[Any, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 - the user's code, on values that it was not made for
        return None, error


def is_told(declared: Any) -> bool:
    """Whether a type says all about a result."""
    if declared.kind() == "TupleType":
        return all(map(is_told, declared.elements()))
    return declared.kind() == "NoneType" or declared.kind() in _SCALARS


def told_type(declared: Any) -> Any:
    """A value of such a type."""
    if declared is None or declared.kind() == "NoneType":
        return None
    if declared.kind() == "TupleType":
        return tuple(map(told_type, declared.elements()))
    return _SCALARS[declared.kind()]()


def schema_of(operator: str, leaves: list[Any], kinds: list[type], written: frozenset[int]) -> str:
    arguments = []
    for number, leaf in enumerate(leaves):
        kind = SCHEMA_NAMES[torch.Tensor if isinstance(leaf, TensorValue) else leaf.kind]
        arguments.append(f"{kind}(a{number}!) x{number}" if number in written else f"{kind} x{number}")
    returns = ", ".join(SCHEMA_NAMES[kind] for kind in kinds) or "int"
    return f"{operator}({', '.join(arguments)}) -> ({returns})"


def may_write(function: Any) -> bool:
    """Whether the source of a function shows writes in place, of whatever."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            return True
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Subscript) for target in targets):
                return True
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if (called.endswith("_") and not called.endswith("__")) or any(k.arg == "out" for k in node.keywords):
                return True
    return False


def read_attributes(root: Any, names: Sequence[str]) -> dict[str, Any]:
    """The values that a module, of which this is a weak reference, holds under these names."""
    found = {}
    for name in names:
        value = root()
        for part in name.split("."):
            value = getattr(value, part, None)
        found[name] = value
    return found
