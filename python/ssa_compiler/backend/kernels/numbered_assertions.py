"""Assertions in kernels whose messages say numbers of the run."""

from __future__ import annotations

from iree.compiler import ir

from ...abi.numbered_messages import NOTE
from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build
from .library_calls import declare

__all__ = ["assert_with_numbers"]

_TO_BUILTIN = {
    "!torch.int": ("torch_c.to_i64", "i64", None),
    "!torch.float": ("torch_c.to_f64", "f64", "arith.bitcast"),
    "!torch.bool": ("torch_c.to_i1", "i1", "arith.extui"),
}
"""How a number becomes 64 bits: the op that makes a builtin type of it, that type, and what makes bits of that."""


def assert_with_numbers(op: ir.Operation, module: ir.Module) -> None:
    """Replace a call of Python that raises an exception by an assertion that fails.

    The numbers of its message are kept before, by calls of a function that the module declares, one for each number.

    Args:
        op: the call, for which `is_assertion` holds.
        module: the module around it.
    """
    where = ir.InsertionPoint(op)
    with op.context:
        i64, i1 = ir.IntegerType.get_signless(64), ir.IntegerType.get_signless(1)
        callee = {"callee": ir.FlatSymbolRefAttr.get(NOTE)}
        for position, operand in enumerate(op.operands):
            conversion, type_, to_bits = _TO_BUILTIN[str(operand.type)]
            bits = build(conversion, [ir.Type.parse(type_)], [operand], where).results[0]
            if to_bits is not None:
                bits = build(to_bits, [i64], [bits], where).results[0]
            place = build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, position)}).results[0]
            build("func.call", [], [place, bits], where, callee)
        never = build("arith.constant", [i1], [], where, {"value": ir.IntegerAttr.get(i1, 0)}).results[0]
        build("cf.assert", [], [never], where, {"msg": op.attributes["tssa.message"]})
        for result in op.results:
            if list(result.uses):
                zero = build("torch.constant.int", [result.type], [], where, {"value": ir.IntegerAttr.get(i64, 0)})
                result.replace_all_uses_with(zero.results[0])
        declare(module, NOTE, ir.FunctionType.get([i64, i64], []))
    erase_unused(op)
