"""Finding operators by their schemas: the overload of a graph node, the functional form of an in-place op."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

__all__ = [
    "MAY_RETURN_ARGUMENT",
    "dtype_result",
    "element_of",
    "find_op",
    "functional_of",
    "in_place_of",
    "overload_of",
    "registered_name",
    "with_numbers",
    "writes_list_elements",
    "written_arguments",
]

# Ops whose result may be their argument, though their schema does not say so (seen on torch 2.13).
MAY_RETURN_ARGUMENT = frozenset(
    {
        "alpha_dropout",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_tensors",
        "cartesian_prod",
        "dropout",
        "einsum",
        "feature_alpha_dropout",
        "feature_dropout",
        "histogramdd",
        "meshgrid",
        "sum_to_size",
        "to_dense",
        "type_as",
        "unsafe_chunk",
        "unsafe_split",
        "unsafe_split_with_sizes",
    }
)


def registered_name(schema: Any) -> str:
    """Return the name under which torch-mlir registers an op, without the leading `torch.`: `aten.add.Tensor`."""
    return schema.name.replace("::", ".") + (f".{schema.overload_name}" if schema.overload_name else "")


def find_op(schema: Any) -> Any:
    """Return the OpOverload of a schema, None if torch.ops has none.

    For TorchScript, ops on lists of optional tensors have a twin on lists of tensors; of those the original is
    returned.
    """
    namespace, _, name = schema.name.partition("::")
    overload = schema.overload_name
    if overload.endswith("hacked_twin"):
        overload = overload.removesuffix("hacked_twin").removesuffix("_")
    try:
        packet = getattr(getattr(torch.ops, namespace), name)
        return getattr(packet, overload or "default")
    except (AttributeError, RuntimeError):
        return None


def functional_of(op: Any, written: int) -> Any:
    """Return the overload that computes what an in-place or out= op writes, None if there is none."""
    schema = op._schema
    is_out = schema.arguments[written].is_out
    expected = [str(a.type) for i, a in enumerate(schema.arguments) if not (is_out and i == written)]
    name = schema.name.partition("::")[2]
    if not is_out:
        if not name.endswith("_"):
            return None
        name = name[:-1]
    packet = getattr(getattr(torch.ops, op.namespace), name, None)
    if packet is None:
        return None
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        if candidate._schema.is_mutable or len(candidate._schema.returns) != 1:
            continue
        if [str(a.type) for a in candidate._schema.arguments] == expected:
            return candidate
    return None


def written_arguments(schema: Any) -> list[int]:
    """Return the positions of the arguments that an op writes."""
    return [i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]


def writes_list_elements(schema: Any) -> bool:
    """Whether an op writes the tensors in a list (`Tensor(a!)[]`), not the list itself (`Tensor[](a!)`)."""
    return re.search(r"Tensor\(\w+!\)\[\]", str(schema)) is not None


def element_of(op: Any) -> Any:
    """Return the in-place op that does to tensors what an op does to lists: `add_.Tensor` for `_foreach_add_.List`.

    Args:
        op: an OpOverload.
    Returns:
        The overload that takes an element where `op` takes a list, and perhaps more arguments that have defaults; None
        if there is none.
    """
    schema = op._schema
    name = schema.name.partition("::")[2]
    if not name.startswith("_foreach_") or written_arguments(schema) != [0]:
        return None
    expected = [re.sub(r"^List\[(.*)\]$", r"\1", str(argument.type)) for argument in schema.arguments]
    packet = getattr(getattr(torch.ops, op.namespace), name.removeprefix("_foreach_"), None)
    for overload in packet.overloads() if packet is not None else ():
        candidate = getattr(packet, overload)
        types = [str(argument.type) for argument in candidate._schema.arguments]
        rest = candidate._schema.arguments[len(expected) :]
        if types[: len(expected)] == expected and all(argument.has_default_value() for argument in rest):
            return candidate
    return None


def with_numbers(op: Any, numbers: set[int]) -> Any:
    """Return the overload that takes numbers where `op` takes tensors: `mul.Scalar` for `mul.Tensor`.

    PyTorch's decompositions pass numbers for tensors.

    Args:
        op: an OpOverload.
        numbers: positions of the arguments that are numbers.
    Returns:
        The overload, `op` itself if there is no such one.
    """
    wrapped = {i for i in numbers if str(op._schema.arguments[i].type) == "Tensor"}
    if not wrapped:
        return op
    expected = ["number" if i in wrapped else str(a.type) for i, a in enumerate(op._schema.arguments)]
    packet = op._overloadpacket
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        if [str(a.type) for a in candidate._schema.arguments][: len(expected)] == expected:
            return candidate
    return op


def in_place_of(op: Any, name: str) -> Any:
    """Return the in-place op `name` of the namespace of `op` that takes the same arguments, `op` itself if there is
    none.
    """
    expected = [str(argument.type) for argument in op._schema.arguments]
    packet = getattr(getattr(torch.ops, op.namespace), name)
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        if [str(argument.type) for argument in candidate._schema.arguments] == expected:
            return candidate
    return op


def overload_of(packet: Any, types: Sequence[str]) -> Any:
    """Return the overload whose first arguments are of these types and whose others have defaults, None if there is
    none.
    """
    for candidate in (getattr(packet, overload) for overload in packet.overloads()):
        arguments = candidate._schema.arguments
        found = [str(argument.type) for argument in arguments[: len(types)]]
        if found == list(types) and all(argument.has_default_value() for argument in arguments[len(types) :]):
            return candidate
    return None


@cache
def dtype_result(name: str) -> Any:
    """Return the result that operators of a name, `aten::promote_types`, give, if it is a dtype; otherwise None."""
    returned = [schema.returns for schema in torch._C._jit_get_schemas_for_operator(name)]
    results = [results[0] for results in returned if len(results) == 1]
    return next((result for result in results if "ScalarType" in str(result.real_type)), None)
