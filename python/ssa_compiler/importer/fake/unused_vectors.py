"""Factorizations of which only values are used: composite ops ask for vectors, too, when they run on FakeTensors.

Of plain tensors they would not. What stands for the factorization may have no vectors: their signs are arbitrary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .trace import Record, Trace

__all__ = ["without_unused_vectors"]

_FACTORIZATIONS: dict[str, tuple[int, tuple[int, ...]]] = {
    "aten::_linalg_svd": (2, (0, 2)),
    "aten::_linalg_eigh": (2, (1,)),
}
"""Which argument asks for vectors, and which results they are."""
_EIG = "aten::linalg_eig"  # raises for infinities, as `linalg_eigvals` does not


def without_unused_vectors(trace: Trace) -> Iterator[Record]:
    """Yield the base ops of a composite one, and ask for no vectors that it does not use."""
    names = {record.op.name() for record in trace.records}
    if names.isdisjoint((*_FACTORIZATIONS, _EIG)):
        yield from trace.records
        return
    used = {
        id(leaf) for leaf in tree_leaves((trace.out, [record.args for record in trace.records])) if _is_tensor(leaf)
    }
    for record in trace.records:
        asking, vectors = _FACTORIZATIONS.get(record.op.name(), (0, ()))
        if vectors and not any(id(record.out[number]) in used for number in vectors):
            args = [*record.args[:asking], False, *record.args[asking + 1 :]]
            out = [r.new_empty([0]) if number in vectors else r for number, r in enumerate(record.out)]
            yield replace(record, args=args, out=tuple(out))
        elif record.op.name() == _EIG and id(record.out[1]) not in used:
            yield replace(record, op=torch.ops.aten.linalg_eigvals.default, out=record.out[0])
        else:
            yield record


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor)
