"""Make constant tensors in a way that torch-mlir does not know, so that it folds nothing.

torch-mlir computes ops on constant tensors while it compiles, and some wrongly: -3 % 5 is -3 to it (`fmod`), and int32
-3 // 5 is 858993664, as it reads the constants with a width that they do not have. It folds what `zeros`, `full` and
alike make, what decomposes to those, and builtin constants behind `torch_c.from_builtin_tensor`. It does not look into
`linalg.fill`, nor behind a barrier; what IREE folds of those is right, but for NaN, which is always behind one. Tensors
that no torch op computes with stay as they are: IREE sees better what they are made of.
"""

from __future__ import annotations

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build, constant_number, walk
from ..ir.copies import barrier, builtin_type

__all__ = ["FILLING", "hide_constants"]

_ZERO, _ONE = "zero", "one"
FILLING: dict[str, str | int] = {
    "torch.aten.zeros": _ZERO,
    "torch.aten.zeros_like": _ZERO,
    "torch.aten.new_zeros": _ZERO,
    "torch.aten.zero": _ZERO,
    "torch.aten.ones": _ONE,
    "torch.aten.ones_like": _ONE,
    "torch.aten.new_ones": _ONE,
    "torch.aten.full": 1,
    "torch.aten.full_like": 1,
    "torch.aten.new_full": 2,
    "torch.aten.fill.Scalar": 1,
    "torch.aten.scalar_tensor": 0,
    "torch.aten.tensor.int": 0,
    "torch.aten.tensor.float": 0,
    "torch.aten.tensor.bool": 0,
    "torch.prim.NumToTensor.Scalar": 0,
}
"""Ops that fill a tensor with one number: the number, or the operand that is it."""


def hide_constants(module: ir.Module) -> int:
    """Rewrite the ops that make constant tensors of known sizes.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    rewritten = 0
    for op in list(walk(module.operation)):
        text = _text(op)
        if text is None or not _is_computed_with(op.results[0]):
            continue
        where = ir.InsertionPoint(op)
        type_ = op.results[0].type
        shaped = ir.RankedTensorType(builtin_type(type_))
        if op.name in FILLING:
            made = _filled(text, shaped, where)
        else:
            value = ir.Attribute.parse(f"{text} : {shaped}", op.context)
            made = barrier(build("arith.constant", [shaped], [], where, {"value": value}).results[0], where)
        hidden = build("torch_c.from_builtin_tensor", [type_], [made], where).results[0]
        op.results[0].replace_all_uses_with(hidden)
        erase_unused(op)
        rewritten += 1
    return rewritten


def _is_computed_with(value: ir.Value) -> bool:
    """Whether a torch op reads a tensor, and not only loops, branches and copies, which torch-mlir does not fold."""
    return any(use.owner.operation.name.startswith("torch.") for use in value.uses)


def _filled(text: str, shaped: ir.RankedTensorType, where: ir.InsertionPoint) -> ir.Value:
    """Fill a tensor with a number."""
    element = shaped.element_type
    value = ir.Attribute.parse(text if str(element) == "i1" else f"{text} : {element}", element.context)
    number = build("arith.constant", [element], [], where, {"value": value}).results[0]
    empty = build("tensor.empty", [shaped], [], where).results[0]
    segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1], element.context)}
    fill = build("linalg.fill", [shaped], [number, empty], where, segments, regions=1)
    unknown = ir.Location.unknown(element.context)
    block = ir.Block.create_at_start(fill.regions[0], [element, element], [unknown, unknown])
    build("linalg.yield", [], [block.arguments[0]], ir.InsertionPoint(block))
    made = fill.results[0]
    return barrier(made, where) if isinstance(value, ir.FloatAttr) and value.value != value.value else made


def _text(op: ir.Operation) -> str | None:
    """The elements that an op makes, as an attribute without its type; None if they or their number are not known."""
    if op.name != "torch.vtensor.literal" and op.name not in FILLING:
        return None
    type_ = str(op.results[0].type)
    sizes, _, element = type_.removeprefix("!torch.vtensor<[").rstrip(">").partition("],")
    if not type_.startswith("!torch.vtensor<[") or "?" in sizes or element.startswith("complex"):
        return None
    if op.name == "torch.vtensor.literal":
        text = str(op.attributes["value"])
        return text[: text.rindex(" : ")] if text.startswith("dense<") else None
    filling = FILLING[op.name]
    number = {_ZERO: 0, _ONE: 1}[filling] if isinstance(filling, str) else constant_number(op.operands[filling])
    if number is None:
        return None
    if element == "i1":
        return "true" if number else "false"
    if element[0] in "bf":
        rounded = ir.FloatAttr.get(ir.Type.parse(element, op.context), float(number), ir.Location.unknown(op.context))
        return str(rounded).partition(" : ")[0]
    return str(_wrapped(int(number), element))


def _wrapped(number: int, element: str) -> int:
    """An integer as an element holds it: PyTorch keeps the low bits."""
    bits = int(element.lstrip("siu"))
    number &= (1 << bits) - 1
    return number if element.startswith("u") or number < 1 << (bits - 1) else number - (1 << bits)
