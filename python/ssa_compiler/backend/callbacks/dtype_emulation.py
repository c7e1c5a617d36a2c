"""Tensors of dtypes that IREE does not compute with: between the ops, all callbacks, they are integers of the same
width.
"""

from __future__ import annotations

import re

from iree.compiler import ir

from ...errors import InternalError
from ...semantics.dtypes import carriers, element_types
from ..ir.bindings import walk
from .callbacks import torch_operator

__all__ = ["carry_as_integers", "has_carried"]

_VALUE_TENSOR = re.compile(r"!torch\.vtensor<\[[^\]]*\],(?P<element>.+)>")
_BUILTIN = re.compile(r"tensor<(?P<sizes>(?:[?\d]+x)*)(?P<element>.+)>")


def has_carried(op: ir.Operation) -> bool:
    """Whether an operand or result of an op is a tensor of such a dtype."""
    types = [value.type for values in (op.operands, op.results) for value in values]
    return any((found := _VALUE_TENSOR.fullmatch(str(type_))) and found["element"] in carriers() for type_ in types)


def carry_as_integers(module: ir.Module) -> None:
    """Give the values of these dtypes the type of integers of their width.

    Args:
        module: an `iree`-stage module in which all torch ops on such values are callbacks, changed in place.
    Raises:
        InternalError: there is one that is not.
    """
    text = str(module)
    if not any(name in text for name in carriers()):
        return
    for op in walk(module.operation):
        operator = torch_operator(op)
        if operator is not None and has_carried(op):
            raise InternalError(f"{operator} on a dtype that IREE does not have")
        for value in (
            *op.results,
            *(argument for region in op.regions for block in region for argument in block.arguments),
        ):
            value.set_type(_carried(value.type))
        for name in ("function_type", "source_encoding", "target_encoding"):
            if name in op.attributes:
                op.attributes[name] = ir.TypeAttr.get(_carried_signature(ir.TypeAttr(op.attributes[name]).value))


def _carried_signature(type_: ir.Type) -> ir.Type:
    if not isinstance(type_, ir.FunctionType):
        return _carried(type_)
    inputs, results = ([_carried(item) for item in items] for items in (type_.inputs, type_.results))
    return ir.FunctionType.get(inputs, results, type_.context)


def _carried(type_: ir.Type) -> ir.Type:
    """The type of integers for that of a tensor of such a dtype; any other type as it is."""
    text = str(type_)
    if found := _VALUE_TENSOR.fullmatch(text):
        carrier = carriers().get(found["element"])
        return type_ if carrier is None else _with_element(found, f"s{carrier}", text, type_)
    if found := _BUILTIN.fullmatch(text):
        carrier = _builtin_carriers().get(found["element"])
        return type_ if carrier is None else _with_element(found, carrier, text, type_)
    return type_


def _builtin_carriers() -> dict[str, str]:
    return {entry.mlir: entry.carrier for entry in element_types() if entry.carrier}


def _with_element(found: re.Match[str], element: str, text: str, type_: ir.Type) -> ir.Type:
    start, end = found.span("element")
    return ir.Type.parse(text[:start] + element + text[end:], type_.context)
