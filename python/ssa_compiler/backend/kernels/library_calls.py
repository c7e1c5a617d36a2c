"""Ops that are functions of the kernel library, `lib/Kernels/Library`."""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import torch_operator
from ..ir.bindings import build
from ..ir.copies import builtin_type

__all__ = ["call_library", "call_op", "declare", "is_kernel_op"]

_FUNCTIONS = {
    "ssa_compiler::nth": "(tensor<?x?xi64>, tensor<?xi64>) -> tensor<?xi64>",
    "ssa_compiler::order": "(tensor<?x?xi64>) -> tensor<?x?xi64>",
    "ssa_compiler::order_low": "(tensor<?x?xi64>) -> tensor<?x?xi64>",
    "ssa_compiler::places": "(tensor<?xi1>) -> tensor<?xi64>",
    "ssa_compiler::running_largest": "(tensor<?x?xi64>) -> tensor<?x?xi64>",
    "ssa_compiler::smallest": "(tensor<?x?xi64>, i64) -> tensor<?x?xi64>",
    "ssa_compiler::smallest_low": "(tensor<?x?xi64>, i64) -> tensor<?x?xi64>",
}
"""The types of the functions, by operator; the name of a function is its operator's, with a dot."""


def is_kernel_op(op: ir.Operation) -> bool:
    """Whether an op is a function of the kernel library."""
    return torch_operator(op) in _FUNCTIONS


def call_library(op: ir.Operation, module: ir.Module) -> None:
    """Replace an op by a call of a function that the module declares.

    Args:
        op: an op for which `is_kernel_op` holds.
        module: the module, of which the function becomes a declaration.
    """
    operator = torch_operator(op)
    assert operator is not None
    name, where = operator.replace("::", "."), ir.InsertionPoint(op)
    with op.context:
        type_ = ir.FunctionType(ir.Type.parse(_FUNCTIONS[operator]))
    operands = []
    for operand, wanted in zip(op.operands, type_.inputs, strict=True):
        if not isinstance(wanted, ir.RankedTensorType):
            operands.append(build("torch_c.to_i64", [wanted], [operand], where).results[0])
            continue
        plain = build("torch_c.to_builtin_tensor", [builtin_type(operand.type)], [operand], where).results[0]
        operands.append(build("tensor.cast", [wanted], [plain], where).results[0])
    callee = {"callee": ir.FlatSymbolRefAttr.get(name, op.context)}
    with where, op.location:
        call = ir.Operation.create("func.call", list(type_.results), operands, callee)
    for made, result in zip(call.results, op.results, strict=True):
        plain = build("tensor.cast", [builtin_type(result.type)], [made], where).results[0]
        result.replace_all_uses_with(build("torch_c.from_builtin_tensor", [result.type], [plain], where).results[0])
    op.erase()
    declare(module, name, type_)


def call_op(op: ir.Operation, module: ir.Module) -> None:
    """Replace an op on numbers, of a dialect that torch-mlir does not know, by a call of a function that stands for it.

    Args:
        op: the op; its attributes have their default values.
        module: the module, of which the function becomes a declaration.
    """
    name = f"ssa_compiler.op.{op.name}"
    operands = list(op.operands)
    results = [result.type for result in op.results]
    callee = {"callee": ir.FlatSymbolRefAttr.get(name, op.context)}
    with ir.InsertionPoint(op), op.location:
        call = ir.Operation.create("func.call", results, operands, callee)
        type_ = ir.FunctionType.get([operand.type for operand in operands], results)
    for made, result in zip(call.results, op.results, strict=True):
        result.replace_all_uses_with(made)
    op.erase()
    declare(module, name, type_)


def declare(module: ir.Module, name: str, type_: ir.FunctionType) -> None:
    """Declare a function, unless the module has one of that name."""
    names = [
        ir.StringAttr(op.operation.attributes["sym_name"]).value
        for op in module.body.operations
        if "sym_name" in op.operation.attributes
    ]
    if name in names:
        return
    with module.context, ir.Location.unknown(module.context):
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(type_),
            "sym_visibility": ir.StringAttr.get("private"),
        }
        ir.Operation.create("func.func", attributes=attributes, regions=1, ip=ir.InsertionPoint(module.body))
