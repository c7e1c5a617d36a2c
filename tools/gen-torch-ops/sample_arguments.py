"""Arguments for an operator, made up from its schema, so that it can be run and watched.

A schema does not say which shapes and dtypes fit. `sample_calls` therefore yields several lists of arguments, from
which the caller takes the first that the operator accepts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

_SIZE = 3
_MAX_CALLS = 96


def _tensor(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A tensor of values 0, 1, 2 and so on (of dtype and shape as given), valid as indices of dimensions of size 3."""
    count = int(torch.Size(shape).numel())
    values = torch.arange(count) % _SIZE
    if dtype is torch.bool:
        return (values % 2 == 0).reshape(shape)
    if dtype.is_floating_point:
        return (values.to(dtype) * 0.25 + 0.125).reshape(shape)
    return values.to(dtype).reshape(shape)


def _tensor_options(name: str, shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    """The tensors worth trying for an argument called `name`, most likely first."""
    if name == "self":
        return [_tensor(shape, dtype)]
    if name in ("mask", "condition"):
        return [_tensor(shape, torch.bool)]
    if name in ("index", "indices"):
        return [_tensor(shape, torch.int64), _tensor((_SIZE,), torch.int64)]
    if name.startswith("vec"):
        return [_tensor((_SIZE,), dtype)]
    if name.startswith("mat"):
        return [_tensor((_SIZE, _SIZE), dtype)]
    if name.startswith("batch"):
        return [_tensor((_SIZE, _SIZE, _SIZE), dtype)]
    return [_tensor(shape, dtype), _tensor((), dtype), _tensor((_SIZE,), dtype)]


def _options(argument: Any, shape: tuple[int, ...], dtype: torch.dtype) -> list[Any]:
    """The values worth trying for one argument of a schema."""
    kind, name = str(argument.type), argument.name
    if kind == "Tensor":
        return _tensor_options(name, shape, dtype)
    if kind == "List[Tensor]":
        return [[_tensor(shape, dtype), _tensor(shape, dtype)], [_tensor(shape, torch.int64)]]
    if kind == "List[Optional[Tensor]]":
        return [[_tensor((_SIZE,), torch.int64)]]
    if kind == "Optional[Tensor]":
        return [None, _tensor(shape, dtype)]
    if argument.has_default_value():
        default = argument.default_value
        return [default, 1] if default is None and kind == "Optional[number]" else [default]
    if kind.startswith("Optional["):
        return [None]
    if name == "indexing":
        return ["ij"]
    if kind in ("number", "float"):
        return [1, 0.5] if kind == "number" else [0.5, 2.0]
    if kind == "int":
        return [0, 1] if name in ("dim", "dim0", "dim1", "diagonal", "index", "start") else [1, 0]
    simple: dict[str, list[Any]] = {
        "bool": [False],
        "List[int]": [list(shape), [0], [_SIZE * _SIZE]],
        "str": ["sum", "add", "prod", "none"],
        "List[float]": [[1.0]],
        "Device": [torch.device("cpu")],
    }
    return simple.get(kind, [None])


def sample_calls(schema: Any, dtype: torch.dtype) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yields lists of arguments that fit a schema's types, all tensors of `dtype` unless their name says otherwise.

    Args:
        schema: a `torch._C.FunctionSchema`.
        dtype: dtype of the operator's tensors.
    Yields:
        Positional and keyword arguments; tensors are contiguous, on the CPU, with dimensions of size 3.
    """
    for shape in ((_SIZE, _SIZE), (_SIZE,), (_SIZE, _SIZE, _SIZE), ()):
        options = [_options(argument, shape, dtype) for argument in schema.arguments]
        for values in itertools.islice(itertools.product(*options), _MAX_CALLS):
            positional: list[Any] = []
            keywords: dict[str, Any] = {}
            for argument, value in zip(schema.arguments, values, strict=True):
                if argument.kwarg_only:
                    keywords[argument.name] = value
                else:
                    positional.append(value)
            yield positional, keywords
