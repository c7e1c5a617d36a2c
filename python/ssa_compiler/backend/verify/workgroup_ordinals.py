"""Repair kernels that IREE would start with too few workgroups.

A kernel for tensors of dynamic sizes is started with numbers from which the count of its workgroups is computed: its
*workload*. Inside the kernel, `iree_tensor_ext.dispatch.workload.ordinal %v, n` says that `%v` is the n-th of them,
that is, the n-th operand of `workgroup_count_from_slice` in the export. Where two numbers of the workload turn out to
be equal at all places that start the kernel, `iree-stream-fold-uniform-operands` of IREE 3.13 passes one of them, and
renumbers the ordinals: the one that is dropped gets 0 (it should get the number of the one that is kept), and the
operands of `workgroup_count_from_slice` stay as many as they were, so that the others are off as well. A kernel that
writes a slice then gets as many workgroups as the slice's *offset* says: none if that is 0. The ordinals that the
kernel had before are right for these operands, so they are put back.
"""

from __future__ import annotations

from iree.compiler import ir

from ...errors import ToolError
from ..ir.bindings import exported_ops, walk

__all__ = ["restore_ordinals"]

_EXPORT = "stream.executable.export"
_COUNT = "iree_tensor_ext.dispatch.workgroup_count_from_slice"
_ORDINAL = "iree_tensor_ext.dispatch.workload.ordinal"


def restore_ordinals(before: ir.Module, scheduled: ir.Module) -> int:
    """Put back the ordinals of the kernels whose workload IREE has shortened.

    Args:
        before: the stream IR in front of the pass.
        scheduled: what `iree-compile --compile-to=stream` wrote, changed in place.
    Returns:
        The number of kernels that were repaired.
    Raises:
        ToolError: a kernel's ordinals cannot be told.
    """
    if not any(len(_count(export).operands) > 1 for export in _exports(before)):
        return 0
    earlier = {_name(export): _ordinals(export) for export in _exports(before)}
    repaired = 0
    for export in _exports(scheduled):
        operands = list(_count(export).operands)
        if len(set(operands)) == len(operands):
            continue
        old, new = earlier.get(_name(export), []), _ordinals(export)
        if len(old) != len(new):
            raise ToolError(
                f"IREE renumbered the workload of {_name(export)}, and its ordinals cannot be told; please report it"
            )
        for one, other in zip(old, new, strict=True):
            other.attributes["ordinal"] = ir.IntegerAttr.get(ir.IndexType.get(scheduled.context), _number(one))
        repaired += 1
    return repaired


def _exports(module: ir.Module) -> list[ir.Operation]:
    """The exports that count workgroups by a workload."""
    return [op for op in walk(module.operation) if op.name == _EXPORT and any(o.name == _COUNT for o in walk(op))]


def _count(export: ir.Operation) -> ir.Operation:
    return next(op for op in walk(export) if op.name == _COUNT)


def _name(export: ir.Operation) -> str:
    return str(export.attributes["sym_name"])


def _ordinals(export: ir.Operation) -> list[ir.Operation]:
    """The ordinals in the function of an export, in textual order."""
    return [op for op in exported_ops(export) if op.name == _ORDINAL]


def _number(ordinal: ir.Operation) -> int:
    return int(ir.IntegerAttr(ordinal.attributes["ordinal"]).value)
