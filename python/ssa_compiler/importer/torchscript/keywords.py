"""Keywords that Python's torch takes and TorchScript does not: `x.sum(axis=0, keepdims=True)`, as numpy has them,
`out=None` and `requires_grad=False`, which mean nothing, and those of functions that are Python's.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence
from typing import Any

import torch
from torch.jit import _builtins

__all__ = ["as_schema", "has_names_of_numpy"]

_OF_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
"""What any function that PyTorch's parser of arguments serves calls these parameters, too (python_arg_parser.cpp)."""
_WITHOUT_MEANING = {"out": None, "requires_grad": False}


def as_schema(call: ast.Call, function: Any) -> None:
    """Let a call of a function of PyTorch's have the keywords of its schemas.

    Args:
        call: the call, which is changed.
        function: what is called.
    """
    schemas = _schemas(function)
    if not schemas:
        return
    known = _names(schemas)
    call.keywords = [each for each in call.keywords if not _means_nothing(each, known)]
    if isinstance(function, types.FunctionType):
        _bind(call, function, known)
        return
    for keyword in call.keywords:
        if keyword.arg not in known:
            keyword.arg = _OF_NUMPY.get(keyword.arg or "", keyword.arg)


def has_names_of_numpy(call: ast.Call) -> bool:
    """Whether a call of a method has keywords that no schema of that name has, and `torch` a function of that name."""
    assert isinstance(call.func, ast.Attribute)
    function = getattr(torch, call.func.attr, None)
    if isinstance(function, types.FunctionType) or not hasattr(torch.Tensor, call.func.attr):
        return False
    known = _names(_schemas(function))
    return bool(known) and any(each.arg in _OF_NUMPY and each.arg not in known for each in call.keywords)


def _schemas(function: Any) -> Sequence[Any]:
    """The schemas of the operator that TorchScript takes a function for; none if it takes it for none."""
    name = _builtins._find_builtin(function) if callable(function) else None  # type: ignore[no-untyped-call]
    found = torch._C._jit_get_schemas_for_operator(name) if name is not None and name.startswith("aten::") else []
    of_tensors = [each for each in found if any("Tensor" in str(argument.type) for argument in each.arguments)]
    return of_tensors or found  # others add numbers, strings and lists


def _names(schemas: Sequence[Any]) -> frozenset[str]:
    return frozenset(argument.name for schema in schemas for argument in schema.arguments)


def _means_nothing(keyword: ast.keyword, known: frozenset[str]) -> bool:
    name, value = keyword.arg, keyword.value
    if name not in _WITHOUT_MEANING or not isinstance(value, ast.Constant) or value.value is not _WITHOUT_MEANING[name]:
        return False
    return name == "out" or name not in known


def _bind(call: ast.Call, function: types.FunctionType, known: frozenset[str]) -> None:
    """Pass by position what a function of Python's has another name for than the operator."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return
    given = {each.arg: each for each in call.keywords}
    if not given.keys() - known:
        return
    for name in list(inspect.signature(function).parameters)[len(call.args) :]:
        if name not in given or not given.keys() - known:
            break
        call.args.append(given.pop(name).value)
    call.keywords = list(given.values())
