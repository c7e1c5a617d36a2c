"""`dynamic_shapes=`, in torch.export's vocabulary: which sizes of the arguments stay dynamic, and what is asked of
them.

A size is asked for by a `torch.export.Dim` (`Dim("n", min=2)`, `2 * n + 1`), which has to stay dynamic and is the same
wherever it is named; by `Dim.DYNAMIC`, likewise without a name; or by `Dim.AUTO`, which may become static. None,
`Dim.STATIC` and an int, which has to be the size of the example, stand for a static size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch.export.dynamic_shapes import _DimHint, _DimHintType

from ...errors import ArgumentTypeError, ArgumentValueError
from ...options import ChangedSizes

__all__ = ["SizeRequest", "requested_sizes"]


@dataclass(frozen=True)
class SizeRequest:
    """What is asked of one size of a tensor: it is `scale * root + offset`.

    Attributes:
        root: name of what is the same wherever it is named: `n`, or `x.size(0)` where the user gave no name.
        value: the root's value for the example.
        scale: at least 1.
        offset: any integer.
        low: least value of the root.
        high: greatest value of the root, None if there is none.
        explicit: whether it has to stay dynamic.
        named: whether the user gave a name.
    """

    root: str
    value: int
    scale: int
    offset: int
    low: int
    high: int | None
    explicit: bool
    named: bool

    def __str__(self) -> str:
        text = self.root if self.scale == 1 else f"{self.scale}*{self.root}"
        return text if not self.offset else f"{text}{self.offset:+d}"


def requested_sizes(
    wanted: Any, names: Sequence[str], values: Sequence[Any], *, lenient: bool = False
) -> dict[tuple[str, int], SizeRequest]:
    """Return what is asked of the sizes of arguments.

    Args:
        wanted: the user's `dynamic_shapes`: by name or by position, nested as the arguments are; None for all static;
            or sizes that were seen to change.
        names: the names of the arguments.
        values: their example values.
        lenient: leave out what does not fit the nesting of the values, instead of raising.
    Returns:
        A request for each size that need not be static, by the path of the tensor (`cache[1]`) and the dimension.
    Raises:
        ArgumentTypeError: `wanted` is nested otherwise than the arguments, or contains something else.
        ArgumentValueError: the values do not fit it: a size out of range, two of one name that differ.
    """
    if isinstance(wanted, ChangedSizes):
        found = requested_sizes(torch.export.Dim.AUTO, names, values, lenient=True)
        return {size: request for size, request in found.items() if size in wanted.sizes}
    reader = _Reader(lenient)
    if isinstance(wanted, Mapping):
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ArgumentTypeError(
                f"dynamic_shapes: there is no argument '{unknown[0]}'; the arguments are {', '.join(names)}"
            )
        pairs = [(name, value, wanted.get(name)) for name, value in zip(names, values)]
    elif isinstance(wanted, (list, tuple)):
        if len(wanted) > len(names):
            raise ArgumentTypeError(f"dynamic_shapes: expected at most {len(names)} entries, got {len(wanted)}")
        pairs = list(zip(names, values, wanted))
    else:
        pairs = [(name, value, wanted) for name, value in zip(names, values)]
    for name, value, part in pairs:
        reader.read(name, value, part)
    return reader.requests


class _Reader:
    """Walks arguments and what is asked of them side by side."""

    def __init__(self, lenient: bool) -> None:
        self.lenient = lenient
        self.requests: dict[tuple[str, int], SizeRequest] = {}
        self._roots: dict[str, tuple[int, str]] = {}

    def read(self, path: str, value: Any, wanted: Any) -> None:
        """Take what is asked of one value."""
        if wanted is None:
            return
        if isinstance(value, torch.Tensor):
            self._tensor(path, value, wanted)
        elif isinstance(value, (list, tuple)):
            for number, (part, asked) in enumerate(zip(value, self._elements(path, value, wanted))):
                self.read(f"{path}[{number}]", part, asked)
        elif isinstance(value, dict):
            for key, asked in self._items(path, value, wanted):
                self.read(f"{path}[{key!r}]", value[key], asked)
        elif is_dataclass(value) and not isinstance(value, type):
            parts = {field.name: getattr(value, field.name) for field in fields(value)}
            asked_of = dict(zip(parts, wanted)) if isinstance(wanted, (list, tuple)) else wanted
            for key, asked in self._items(path, parts, asked_of):
                self.read(f"{path}.{key}", parts[key], asked)
        elif not isinstance(wanted, (_DimHint, torch.export.Dim)) and not self.lenient:
            # Numbers are dynamic, whatever is asked for; there is nothing to say about other values.
            raise ArgumentTypeError(
                f"dynamic_shapes: argument '{path}' is a {type(value).__name__}, which has no sizes; expected None"
            )

    def _misfit(self, path: str, expected: str, wanted: Any) -> ArgumentTypeError:
        return ArgumentTypeError(f"dynamic_shapes: '{path}': expected {expected}, got {wanted!r}")

    def _elements(self, path: str, value: Any, wanted: Any) -> Sequence[Any]:
        if isinstance(wanted, _DimHint):
            return [wanted] * len(value)
        if isinstance(wanted, (list, tuple)) and (len(wanted) == len(value) or self.lenient):
            return wanted
        names = getattr(value, "_fields", ())
        if isinstance(wanted, Mapping) and names and set(wanted) <= set(names):
            return [wanted.get(name) for name in names]
        if self.lenient:
            return []
        raise self._misfit(path, f"a list or tuple of {len(value)} entries", wanted)

    def _items(self, path: str, value: Mapping[Any, Any], wanted: Any) -> list[tuple[Any, Any]]:
        if isinstance(wanted, _DimHint):
            return [(key, wanted) for key in value]
        if isinstance(wanted, Mapping) and (self.lenient or set(wanted) <= set(value)):
            return [(key, asked) for key, asked in wanted.items() if key in value]
        if self.lenient:
            return []
        raise self._misfit(path, f"a dict with keys among {list(value)}", wanted)

    def _tensor(self, path: str, tensor: torch.Tensor, wanted: Any) -> None:
        rank = tensor.dim()
        if isinstance(wanted, _DimHint):
            asked: dict[int, Any] = dict.fromkeys(range(rank), wanted)
        elif isinstance(wanted, Mapping):
            asked = dict(wanted)
        elif isinstance(wanted, (list, tuple)):
            asked = dict(enumerate(wanted))
            if len(wanted) != rank and not self.lenient:
                raise self._misfit(path, f"one entry for each of the {rank} dimensions", wanted)
        else:
            raise self._misfit(path, "a dict of dimensions, or one entry for each", wanted)
        for dim, each in asked.items():
            if type(dim) is not int or not -rank <= dim < rank:
                if self.lenient:
                    continue
                raise self._misfit(path, f"dimensions of a tensor of rank {rank}", dim)
            self._size(path, dim % rank, int(tensor.shape[dim]), each)

    def _size(self, path: str, dim: int, size: int, wanted: Any) -> None:
        where = f"argument '{path}': size {dim}"
        if wanted is None or (isinstance(wanted, _DimHint) and wanted.type is _DimHintType.STATIC):
            return
        if type(wanted) is int:
            if wanted != size and not self.lenient:
                raise ArgumentValueError(f"{where}: dynamic_shapes says {wanted}, the example has {size}")
            return
        if isinstance(wanted, _DimHint):
            explicit = wanted.type is _DimHintType.DYNAMIC
            request = SizeRequest(
                f"{path}.size({dim})", size, 1, 0, wanted.min or 0, wanted.max, explicit, named=False
            )  # fmt: skip
        elif isinstance(wanted, torch.export.Dim):
            request = self._named(where, size, wanted)
        else:
            raise self._misfit(f"{path}.size({dim})", "a torch.export.Dim, an int or None", wanted)
        if request.value < request.low or (request.high is not None and request.value > request.high):
            most = "" if request.high is None else f" and at most {request.high}"
            raise ArgumentValueError(
                f"{where}: {request.root} has to be at least {request.low}{most} by dynamic_shapes, got {request.value}"
            )
        known, first = self._roots.setdefault(request.root, (request.value, where))
        if known != request.value:
            raise ArgumentValueError(
                f"{where} is {request} by dynamic_shapes, so that {request.root} is {request.value}; but by {first} it is "
                f"{known}"
            )
        self.requests[path, dim] = request

    def _named(self, where: str, size: int, wanted: Any) -> SizeRequest:
        root = getattr(wanted, "root", wanted)
        offset = int(wanted.fn(0)) if hasattr(wanted, "fn") else 0
        scale = int(wanted.fn(1)) - offset if hasattr(wanted, "fn") else 1
        if (size - offset) % scale:
            raise ArgumentValueError(f"{where} has to be {wanted.__name__} by dynamic_shapes, got {size}")
        high = int(root.max) if isinstance(root.max, int) else None
        value = (size - offset) // scale
        return SizeRequest(root.__name__, value, scale, offset, int(root.min), high, explicit=True, named=True)
