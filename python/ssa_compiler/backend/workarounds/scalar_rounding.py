"""Numbers given to ops on floating-point tensors: torch-mlir computes some in double precision, eager in the tensor's.

0.1 rounded to float32 is larger than 0.1: `x <= 0.1` is true of it in eager, and `threshold(x, 0.1, 0.)` makes it 0.
"""

from __future__ import annotations

from functools import cache

from iree.compiler import ir

from ..callbacks.callbacks import overload_of, torch_operator
from ..ir.bindings import build, constant_number, torch_integer
from ..ir.types import DTYPES, element_of, is_torch

__all__ = ["float_constant", "number_tensor", "round_numbers"]

_COMPARISONS = frozenset(f"torch.aten.{name}.Scalar" for name in ("eq", "ne", "lt", "le", "gt", "ge"))


@cache
def _numbers_of(operator: str) -> tuple[int, ...]:
    """Which operands of an operator are numbers of any kind."""
    chosen = overload_of(operator) if operator.startswith("aten::") else None
    arguments = chosen._schema.arguments if chosen is not None else ()
    return tuple(number for number, argument in enumerate(arguments) if "number" in str(argument.type))


def round_numbers(op: ir.Operation) -> int:
    """Round the numbers that an op takes to the dtype of its tensors.

    Of dynamic ones, the ones that a tensor is compared with.

    Returns:
        1 if it was rewritten, otherwise 0.
    """
    import torch

    dtypes = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
    operator = torch_operator(op)
    places = _numbers_of(operator) if operator is not None else ()
    elements = {element_of(operand.type) for operand in op.operands} & dtypes.keys() if places else set()
    if len(elements) != 1:
        return 0
    (element,) = elements
    where, changed = ir.InsertionPoint(op), 0
    for place in places:
        number = constant_number(op.operands[place])
        if number is None or number != number:
            continue
        rounded = torch.tensor(number, dtype=dtypes[element]).item()
        if rounded != number:
            op.operands[place] = float_constant(rounded, where)
            changed = 1
    if op.name in _COMPARISONS and constant_number(op.operands[1]) is None:
        if element == "f64" and is_torch(op.operands[1], "float"):
            return changed
        one = number_tensor(op.operands[1], element, where)
        name = op.name.replace(".Scalar", ".Tensor")
        compared = build(name, [op.results[0].type], [op.operands[0], one], where)
        op.results[0].replace_all_uses_with(compared.results[0])
        op.erase()
        return 1
    return changed


def float_constant(number: float, where: ir.InsertionPoint) -> ir.Value:
    """A constant that is a float."""
    context = where.block.owner.context
    attribute = ir.FloatAttr.get(ir.F64Type.get(context), number, ir.Location.unknown(context))
    type_ = ir.Type.parse("!torch.float", context)
    return build("torch.constant.float", [type_], [], where, {"value": attribute}).results[0]


def number_tensor(number: ir.Value, element: str, where: ir.InsertionPoint) -> ir.Value:
    """A tensor without dimensions of a number."""
    context = where.block.owner.context
    sizes = build("torch.prim.ListConstruct", [ir.Type.parse("!torch.list<int>", context)], [], where).results[0]
    none = build("torch.constant.none", [ir.Type.parse("!torch.none", context)], [], where).results[0]
    operands = [sizes, number, torch_integer(DTYPES[element], where), none, none, none]
    return build("torch.aten.full", [ir.Type.parse(f"!torch.vtensor<[],{element}>", context)], operands, where).results[
        0
    ]
