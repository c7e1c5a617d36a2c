"""What operators return, by their schemas."""

from __future__ import annotations

from functools import lru_cache

import torch

from .values import UNKNOWN, ListValue, Scalar, TensorValue, TupleValue, Value

__all__ = ["schema_results"]


@lru_cache(maxsize=1024)
def schema_results(name: str) -> Value:
    """Return what all overloads of an operator return, by their schemas.

    Args:
        name: without the namespace.
    """
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}") if name.isidentifier() else ()
    found = {
        tuple(str(result.type) for result in schema.returns) for schema in schemas if ".out" not in str(schema)[:60]
    }
    if len(found) != 1:
        return TensorValue() if found and all(kinds == ("Tensor",) for kinds in found) else UNKNOWN
    values = tuple(_named(kind) for kind in found.pop())
    return values[0] if len(values) == 1 else TupleValue(values)


def _named(kind: str) -> Value:
    if kind == "List[Tensor]":
        return ListValue(TensorValue())
    simple = {"Tensor": TensorValue(), "int": Scalar(int), "float": Scalar(float), "bool": Scalar(bool)}
    return simple.get(kind, UNKNOWN)
