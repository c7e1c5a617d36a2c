"""Reading the signature of `@main` from a module: kinds, dtypes, and the attributes about sharing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...abi.signature import ArgumentInfo, ResultInfo, Signature
from ...process.forks import new_context

if TYPE_CHECKING:
    import torch
    from iree.compiler import ir

__all__ = ["read_signature"]


def read_signature(iree: str, typed: str | None = None) -> Signature:
    """Read the signature of a program.

    Args:
        iree: the `iree`-stage module.
        typed: the module of an earlier stage, whose torch types tell uint8 from int8; the `iree` one if None.
    Returns:
        The signature. Without `typed`, `i8` is taken for int8.
    """
    from iree.compiler import ir

    from .bindings import DIALECTS

    with new_context(ir, *DIALECTS) as context:
        module = ir.Module.parse(iree, context)
        function = _main(module)
        arguments, results = _types(function)
        argument_attributes = _attributes(function, "arg_attrs", len(arguments))
        result_attributes = _attributes(function, "res_attrs", len(results))
        typed_arguments, typed_results = arguments, results
        if typed is not None:
            # An operation does not keep its module alive.
            typed_module = ir.Module.parse(typed, context)
            typed_arguments, typed_results = _types(_main(typed_module))
        written = {number for entry in result_attributes if (number := _number(entry, "tssa.writeback")) is not None}
        return Signature(
            tuple(
                _argument(number, text, typed_text, entry, number in written)
                for number, (text, typed_text, entry) in enumerate(
                    zip(arguments, typed_arguments, argument_attributes, strict=True)
                )
            ),
            tuple(
                _result(text, typed_text, entry)
                for text, typed_text, entry in zip(results, typed_results, result_attributes, strict=True)
            ),
        )


def _main(module: ir.Module) -> ir.Operation:
    from .bindings import main_function

    return main_function(module)


def _types(function: ir.Operation) -> tuple[list[str], list[str]]:
    from iree.compiler import ir

    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return [str(item) for item in type_.inputs], [str(item) for item in type_.results]


def _attributes(function: ir.Operation, name: str, count: int) -> list[dict[str, ir.Attribute]]:
    from iree.compiler import ir

    if name not in function.attributes:
        return [{}] * count
    return [
        {named.name: named.attr for named in ir.DictAttr(entry)} for entry in ir.ArrayAttr(function.attributes[name])
    ]


def _number(entry: dict[str, ir.Attribute], name: str) -> int | None:
    from iree.compiler import ir

    return int(ir.IntegerAttr(entry[name]).value) if name in entry else None


def _text(entry: dict[str, ir.Attribute], name: str) -> str:
    from iree.compiler import ir

    return str(ir.StringAttr(entry[name]).value) if name in entry else ""


_SCALARS = {"i64": "int", "f64": "float", "i1": "bool"}


_TENSOR = re.compile(r"tensor<(?P<sizes>(?:[?\d]+x)*)(?P<element>.+)>")
_TYPED = re.compile(r"!torch\.v?tensor<\[.*\],(?P<element>.+)>")


def _tensor(text: str, typed: str) -> tuple[torch.dtype, tuple[int | None, ...]]:
    from ...semantics.dtypes import by_mlir

    found = _TENSOR.fullmatch(text)
    assert found is not None, text
    named = _TYPED.fullmatch(typed) or found
    sizes = found["sizes"].split("x")[:-1]
    return by_mlir()[named["element"]].dtype, tuple(None if size == "?" else int(size) for size in sizes)


def _argument(number: int, text: str, typed: str, entry: dict[str, ir.Attribute], written: bool) -> ArgumentInfo:
    name = _text(entry, "tssa.name") or f"#{number}"
    if text in _SCALARS:
        return ArgumentInfo(name, _SCALARS[text], None, ())
    dtype, shape = _tensor(text, typed)
    return ArgumentInfo(name, "tensor", dtype, shape, _text(entry, "tssa.parameter"), written)


def _result(text: str, typed: str, entry: dict[str, ir.Attribute]) -> ResultInfo:
    sharing = (_number(entry, "tssa.writeback"), _number(entry, "tssa.alias_of"), _number(entry, "tssa.same_as"))
    if text in _SCALARS:
        return ResultInfo(_SCALARS[text], None, *sharing)
    return ResultInfo("tensor", _tensor(text, typed)[0], *sharing)
