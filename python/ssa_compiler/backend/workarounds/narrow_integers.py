"""Integers of fewer than 64 bits, where torch-mlir or IREE take them for something else.

torch-mlir extends uint8 as if it had a sign wherever an op computes in another dtype: `x.sum()`, `x / 3`, `x == y`; to
complex numbers it converts neither uint8 nor bools rightly, of which True becomes -1. IREE's virtual machine has no
conversion of such integers to float64, `float(x[0])`. Conversions of floating-point numbers that fewer than 32 bits do
not hold depend on how many there are: processors have none, and LLVM may saturate what they give for 32 bits. Other
conversions of tensors are right. Of bytes and an int, torch-mlir has no products, differences and quotients.
"""

from __future__ import annotations

from functools import cache

from iree.compiler import ir

from ..callbacks.callbacks import overload_of, torch_operator
from ..ir.bindings import build, constant_integer, converted
from ..ir.types import DTYPES, element_of, with_element

__all__ = ["widen_integers"]

_UNSIGNED = "ui8"
_NARROW = (_UNSIGNED, "si8", "si16", "si32")
_SATURATED = (_UNSIGNED, "si8", "si16")
_FLOATS = ("f16", "bf16", "f32", "f64")
_CONVERSIONS = frozenset({"aten::to", "aten::_to_copy", "aten::view", "prims::convert_element_type"})
_UNSIGNED_OPS = frozenset(
    {
        *(
            "add",
            "bitwise_and",
            "bitwise_not",
            "bitwise_or",
            "bitwise_xor",
            "clone",
            "copy",
            "fill",
            "masked_fill",
            "mul",
        ),
        *("logical_not", "maximum", "minimum", "neg", "rsub", "sub", "where"),
    }
)
"""Pointwise ops on uint8 that torch-mlir computes rightly, or where the sign is lost again."""
_COMBINING = frozenset({"scatter_reduce"})
_BYTES = (_UNSIGNED, "si8")
_WRAPPING = frozenset({"torch.aten.mul.Scalar", "torch.aten.sub.Scalar", "torch.aten.fill.Scalar"})
_DIVIDING = frozenset({"torch.aten.floor_divide.Scalar", "torch.aten.remainder.Scalar"})
_REDUCING = frozenset({"torch.aten.max", "torch.aten.min"})
_READS = frozenset({"aten::Int", "aten::Float", "aten::IntImplicit", "aten::FloatImplicit", "aten::item"})
"""Ops that make a number of a tensor."""


def widen_integers(op: ir.Operation) -> int:
    """Convert what an op reads, if it is of narrow integers and the op computes in another dtype.

    Args:
        op: any op of an `iree`-stage module.
    Returns:
        1 if it was changed, otherwise 0.
    """
    operator = torch_operator(op)
    if operator is None or operator.partition("::")[0] not in ("aten", "prims"):
        return 0
    name = operator.partition(".")[0]
    if name in _READS:
        return _convert(op, _NARROW, "si64")
    elements = {element_of(result.type) for result in op.results} - {""}
    wide = next((element for element in elements if element.startswith("complex")), "")
    if wide:
        return _convert(op, (_UNSIGNED, "i1"), wide.removeprefix("complex<").rstrip(">"), _masks(operator))
    if name != "aten::view" and elements & set(_SATURATED) and _convert(op, _FLOATS, "si32"):
        return 1
    if name in _CONVERSIONS:
        return 0
    if elements == {_UNSIGNED} and _is_signed(operator):
        return _compute_in(op, "si32", _UNSIGNED)
    if len(elements) == 1 and elements <= set(_BYTES) and _is_rejected(op):
        return _compute_in(op, "si64", elements.pop())
    if not elements or _UNSIGNED in elements:
        return 0
    wanted = next((element for element in elements if element in DTYPES), "si64")
    if not _is_pointwise(operator):
        wanted = "si64"  # it may take integers only, as `bincount` with weights does
    return _convert(op, (_UNSIGNED,), wanted, _masks(operator))


@cache
def _masks(operator: str) -> frozenset[int]:
    """Which operands of an operator choose elements."""
    chosen = overload_of(operator)
    arguments = chosen._schema.arguments if chosen is not None else ()
    return frozenset(
        number
        for number, argument in enumerate(arguments)
        if argument.name in ("condition", "index", "indices", "mask")
    )


@cache
def _is_signed(operator: str) -> bool:
    """Whether torch-mlir computes an op on uint8 as if it had a sign, and that shows."""
    namespace, _, rest = operator.partition("::")
    name, _, overload = rest.partition(".")
    if namespace != "aten" or name in _UNSIGNED_OPS or (name.startswith("clamp") and not overload):  # between numbers
        return False
    return _is_pointwise(operator) or name in _COMBINING


def _is_pointwise(operator: str) -> bool:
    import torch

    chosen = overload_of(operator)
    return chosen is not None and torch.Tag.pointwise in getattr(chosen, "tags", ())


def _convert(op: ir.Operation, elements: tuple[str, ...], wanted: str, kept: frozenset[int] = frozenset()) -> int:
    where, changed = ir.InsertionPoint(op), 0
    for number, operand in enumerate(op.operands):
        if number in kept:
            continue
        if element_of(operand.type) in elements:
            op.operands[number] = converted(operand, wanted, where)
            changed = 1
            continue
        listed_ = operand.owner
        if isinstance(listed_, ir.Block) or listed_.operation.name != "torch.prim.ListConstruct":
            continue
        members = list(listed_.operation.operands)
        if any(element_of(member.type) in elements for member in members):
            members = [converted(m, wanted, where) if element_of(m.type) in elements else m for m in members]
            op.operands[number] = build("torch.prim.ListConstruct", [operand.type], members, where).results[0]
            changed = 1
    return changed


def _is_rejected(op: ir.Operation) -> bool:
    """Whether torch-mlir has no lowering of an op on bytes: with an int, or of all elements."""
    if op.name in _REDUCING:
        return True
    if op.name in _WRAPPING:  # of an int that does not fit, the last eight bits count
        return all(str(operand.type) in ("!torch.int", "!torch.bool") for operand in list(op.operands)[1:])
    number = constant_integer(op.operands[1]) if op.name in _DIVIDING else None
    return number is not None and 0 < number < 128


def _compute_in(op: ir.Operation, wanted: str, element: str) -> int:
    """Compute an op on bytes in a dtype that holds what it makes; what is beyond them wraps."""
    where = ir.InsertionPoint(op)
    operands = [converted(v, wanted, where) if element_of(v.type) == element else v for v in op.operands]
    attributes = {name: op.attributes[name] for name in ("name",) if op.name == "torch.operator"}
    wide = build(op.name, [with_element(result.type, wanted) for result in op.results], operands, where, attributes)
    for old, new in zip(op.results, wide.results, strict=True):
        old.replace_all_uses_with(converted(new, element, where))
    op.erase()
    return 1
