"""Annotations that are strings, of functions that TorchScript does not compile: of a file with
`from __future__ import annotations` it does not read the types of ignored functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.jit.annotations as types_of

from ..isolation.patching import replaced

__all__ = ["string_annotations"]


@contextmanager
def string_annotations() -> Iterator[None]:
    """Let TorchScript read what such annotations mean, where Python evaluates them."""
    find: Any = getattr(types_of, "try_real_annotations")  # noqa: B009 - it has no types

    def found(function: Any, location: Any) -> Any:
        try:
            written = inspect.signature(function)
            if not any(isinstance(each, str) for each in _notes(written)):
                return find(function, location)
            meant = inspect.signature(function, eval_str=True)
        except Exception:  # noqa: BLE001 - what Python raises for names that it does not know
            return find(function, location)

        def as_type(note: Any) -> Any:
            return types_of.ann_to_type(note, location)  # type: ignore[no-untyped-call]

        parameters = [as_type(each.annotation) for each in meant.parameters.values()]
        return parameters, as_type(meant.return_annotation)

    with replaced(types_of, "try_real_annotations", found):
        yield


def _notes(signature: inspect.Signature) -> list[Any]:
    return [signature.return_annotation, *(each.annotation for each in signature.parameters.values())]
