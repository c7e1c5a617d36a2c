"""Ops that IREE does not compile, or to a wrong result, and that another form of the same op compiles rightly.

Each entry says what is wrong in IREE 3.13.0; a test compiles the op as it was and expects that.
"""

from __future__ import annotations

import math

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build, constant_integer, constant_number, converted, definer, torch_integer, walk
from ..ir.copies import barrier
from ..ir.types import element_of, is_torch, sizes, with_element
from .bools import ACCUMULATIONS, SUMS, fill_with_bool, reduce_bools
from .diagonals import TRIANGLES, bound_diagonal
from .dims import SCATTERS, count_from_front
from .integers import DIVISIONS, avoid_overflow, divide_integers
from .low_precision import widen_low_precision
from .masks import listed
from .narrow_integers import widen_integers
from .paddings import PADDINGS, cut_before_padding
from .pooling_windows import cut_to_windows, is_pooling
from .powers import raise_negatives
from .reshapes import VIEWS, forget_sizes, regroup
from .rotations import part_rotations
from .scalar_rounding import float_constant, number_tensor, round_numbers
from .shifts import SHIFTS, shift_integers
from .vector_products import as_matrix_product
from .zeros import SIGNED, keep_sign

__all__ = ["rewrite_ops"]


def rewrite_ops(module: ir.Module) -> int:
    """Rewrite the ops of a module that have to be rewritten.

    Args:
        module: an `iree`-stage module, rewritten in place.
    Returns:
        The number of ops rewritten.
    """
    rewritten = 0
    for op in list(walk(module.operation)):
        if op.name in SCATTERS:
            rewritten += count_from_front(op)
        if op.name == "torch.aten.select_scatter":
            rewritten += _count_from_start(op)
        elif op.name == "torch.aten.sign":
            rewritten += _sign_of_real(op)
        elif op.name in ("arith.sitofp", "arith.uitofp"):
            rewritten += _choose_number(op)
        elif op.name in ("torch.aten.neg", "torch.aten.rsub.Scalar"):
            rewritten += _negate_integers(op)
        elif op.name in DIVISIONS:
            rewritten += divide_integers(op) or avoid_overflow(op)
        elif op.name in TRIANGLES:
            rewritten += bound_diagonal(op)
        elif op.name in SHIFTS:
            rewritten += shift_integers(op)
        elif op.name in _LOSES_NAN - set(SIGNED):
            rewritten += _keep_nan(op)
        elif op.name in _TAKES_NUMBERS:
            rewritten += _prefer_nan(op)
        elif op.name == "torch.aten.nan_to_num":
            rewritten += _replace_once(op)
        elif op.name == "torch.aten.eq.Tensor":
            rewritten += _equal_itself(op)
        elif op.name == "torch.aten.pow.Tensor_Tensor":
            rewritten += raise_negatives(op)
        elif op.name in ACCUMULATIONS or op.name in SUMS:
            rewritten += reduce_bools(op)
        elif op.name in _MOVES_MEANS:
            rewritten += _lose_infinite_means(op)
        elif op.name in SIGNED:
            rewritten += keep_sign(op) or (op.name in _LOSES_NAN and _keep_nan(op))
        elif op.name in _LARGEST_EXPONENTS:
            rewritten += _overflow_first(op)
        elif op.name == "torch.aten.matmul":
            rewritten += as_matrix_product(op)
        elif op.name == "torch.aten.roll":
            rewritten += _roll_once(op)
        elif op.name in ("torch.aten.cat", "torch.aten.slice_scatter"):
            rewritten += _keep_sizes_of_parts(op) or part_rotations(op)
        elif op.name in PADDINGS:
            rewritten += cut_before_padding(op)
        elif op.name == "torch.aten.unfold":
            rewritten += _keep_apart(op)
        elif op.name in VIEWS:
            rewritten += regroup(op)
        elif op.name == "torch.tensor_static_info_cast":
            rewritten += forget_sizes(op)
        elif is_pooling(op):
            rewritten += cut_to_windows(op)
    # Last: what the ops above became.
    for op in list(walk(module.operation)):
        rewritten += widen_low_precision(op) or fill_with_bool(op)
    # And what those became.
    for op in list(walk(module.operation)):
        rewritten += widen_integers(op) or round_numbers(op)
    return rewritten


def _keep_sizes_of_parts(op: ir.Operation) -> int:
    """Join parts of the sizes they have.

    Where the type of a part without elements does not say so, IREE replaces the result by the other part, which is of
    another type.
    """
    if op.name != "torch.aten.cat":
        return 0
    parts = listed(op.operands[0])
    known = [_before_cast(part) for part in parts]
    if not any("0" in sizes(now) and "0" not in sizes(before) for before, now in zip(parts, known, strict=True)):
        return 0
    where = ir.InsertionPoint(op)
    op.operands[0] = build("torch.prim.ListConstruct", [op.operands[0].type], known, where).results[0]
    return 1


def _sign_of_real(op: ir.Operation) -> int:
    """`sgn`, which is the same of real numbers: torch-mlir makes that of `sign`, and does not lower it then."""
    made = build("torch.aten.sgn", [op.results[0].type], list(op.operands), ir.InsertionPoint(op))
    op.results[0].replace_all_uses_with(made.results[0])
    erase_unused(op)
    return 1


def _before_cast(value: ir.Value) -> ir.Value:
    """Return what a torch tensor was before `forget_sizes` cast it."""
    origin = value
    for name in ("torch_c.from_builtin_tensor", "tensor.cast", "torch_c.to_builtin_tensor"):
        op = definer(origin)
        if op is None or op.name != name:
            return value
        origin = op.operands[0]
    return origin


_LOSES_NAN = frozenset(f"torch.aten.{name}" for name in ("clamp", "clamp_min", "clamp_max", "hardtanh", "threshold"))
"""Ops of which torch-mlir makes bounds of NaN."""


def _keep_nan(op: ir.Operation) -> int:
    """What bounds a number leaves NaN as it is, and a bound that is NaN bounds nothing: of `clamp` NaN is the result
    then.
    """
    type_ = op.results[0].type
    if element_of(type_) not in _FLOATS:
        return 0
    where = ir.InsertionPoint(op)
    operands = list(op.operands)
    operands[0] = converted(operands[0], element_of(type_), where)
    bounded = build(op.name, [type_], operands, where).results[0]
    missing = _is_nan(operands[0], where)
    kept = build("torch.aten.where.self", [type_], [missing, operands[0], bounded], where).results[0]
    of_threshold = op.name == "torch.aten.threshold"
    for bound in operands[1:2] if of_threshold else operands[1:]:
        if is_torch(bound, "float") and constant_number(bound) is None:
            number = number_tensor(bound, element_of(type_), where)
            chosen = [_is_nan(number, where), operands[0] if of_threshold else number, kept]
            kept = build("torch.aten.where.self", [type_], chosen, where).results[0]
    op.results[0].replace_all_uses_with(kept)
    op.erase()
    return 1


_TAKES_NUMBERS = frozenset(
    f"torch.aten.{name}"
    for name in ("maximum", "minimum", "max.other", "min.other", "clamp.Tensor", "clamp_min.Tensor")
)
"""Ops that give the other operand where the first is NaN, since processors do."""


def _prefer_nan(op: ir.Operation) -> int:
    """The larger or smaller of two numbers is NaN where one of them is."""
    type_ = op.results[0].type
    element = element_of(type_)
    if element not in _FLOATS:
        return 0
    where = ir.InsertionPoint(op)
    given = [(operand, _given(operand)) for operand in op.operands]
    tensors = [None if tensor is None else converted(tensor, element, where) for _, tensor in given]
    operands = [
        operand if tensor is None or tensor == before else tensor
        for (operand, before), tensor in zip(given, tensors, strict=True)
    ]
    chosen = build(op.name, [type_], operands, where).results[0]
    for operand in filter(None, tensors):
        missing = _is_nan(operand, where)
        chosen = build("torch.aten.where.self", [type_], [missing, operand, chosen], where).results[0]
    op.results[0].replace_all_uses_with(chosen)
    op.erase()
    return 1


def _replace_once(op: ir.Operation) -> int:
    """What `nan_to_num` puts in the place of NaN or an infinity stays: torch-mlir replaces one after the other, so that
    an infinity that stands for NaN is replaced, too.
    """
    type_, where = op.results[0].type, ir.InsertionPoint(op)
    element, value = element_of(type_), op.operands[0]
    if element not in _FLOATS or value.type != type_:
        return 0
    flags = with_element(type_, "i1")
    replacements = [(n, number) for n, number in enumerate(op.operands[1:]) if not _stays_finite(number)]
    if not replacements:
        return 0
    result = build(op.name, [type_], list(op.operands), where).results[0]
    for place, number in replacements:
        if place:
            infinity = float_constant(math.inf if place == 1 else -math.inf, where)
            found = build("torch.aten.eq.Scalar", [flags], [value, infinity], where).results[0]
        else:
            found = _is_nan(value, where)
        chosen = [found, number_tensor(_number(number), element, where), result]
        result = build("torch.aten.where.self", [type_], chosen, where).results[0]
    op.results[0].replace_all_uses_with(result)
    op.erase()
    return 1


def _number(value: ir.Value) -> ir.Value:
    """A number that may be left out, as it was before it became one of that kind."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "torch.derefine":
        return value
    return _number(owner.operation.operands[0])


def _stays_finite(value: ir.Value) -> bool:
    """Whether a replacement is left out, or known to be finite in all dtypes."""
    number = constant_number(_number(value))
    return is_torch(_number(value), "none") or (number is not None and abs(number) <= 65504)


def _given(value: ir.Value) -> ir.Value | None:
    """A tensor that may be left out, as it was before it became one of that kind; None for none."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "torch.derefine":
        return None if is_torch(value, "none") else value
    return _given(owner.operation.operands[0])


_FLOATS = ("f16", "bf16", "f32", "f64")


def _is_nan(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    return build("torch.aten.isnan", [with_element(value.type, "i1")], [value], where).results[0]


def _equal_itself(op: ir.Operation) -> int:
    """`x == x` is true to torch-mlir, also of NaN, and of what has a part that is NaN."""
    value, flags, where = op.operands[0], op.results[0].type, ir.InsertionPoint(op)
    element = element_of(value.type)
    if value != op.operands[1] or not (element in _FLOATS or element.startswith("complex")):
        return 0
    if element in _FLOATS:
        missing = _is_nan(value, where)
    else:
        part_type = with_element(value.type, element.removeprefix("complex<").rstrip(">"))
        parts = [build(f"torch.aten.{part}", [part_type], [value], where).results[0] for part in ("real", "imag")]
        missing = build("torch.aten.logical_or", [flags], [_is_nan(part, where) for part in parts], where).results[0]
    known = build("torch.aten.logical_not", [flags], [missing], where).results[0]
    op.results[0].replace_all_uses_with(known)
    op.erase()
    return 1


_MOVES_MEANS = frozenset({"torch.aten.native_group_norm", "torch.aten.native_layer_norm"})
"""Ops whose second result is a mean that eager moves by the distance of each number from it."""


def _lose_infinite_means(op: ir.Operation) -> int:
    """An infinity makes such a mean NaN; to torch-mlir it is the sum by the count."""
    type_, where = op.results[1].type, ir.InsertionPoint(op)
    if not list(op.results[1].uses) or element_of(type_) not in _FLOATS:
        return 0
    results = build(op.name, [result.type for result in op.results], list(op.operands), where).results
    infinite = build("torch.aten.isinf", [with_element(type_, "i1")], [results[1]], where).results[0]
    missing = number_tensor(float_constant(math.nan, where), element_of(type_), where)
    mean = build("torch.aten.where.self", [type_], [infinite, missing, results[1]], where).results[0]
    for old, new in zip(op.results, (results[0], mean, results[2]), strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return 1


def _choose_number(op: ir.Operation) -> int:
    """The number of a bool: IREE converts the bool itself, which its virtual machine cannot do for 64 bits."""
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.extui":
        return 0
    flag = owner.operation.operands[0]
    if flag.type != ir.IntegerType.get_signless(1, flag.context):
        return 0
    where = ir.InsertionPoint(op)
    type_ = op.results[0].type
    one, zero = (
        build("arith.constant", [type_], [], where, {"value": ir.FloatAttr.get(type_, number, op.location)}).results[0]
        for number in (1.0, 0.0)
    )
    chosen = build("arith.select", [type_], [flag, one, zero], where).results[0]
    op.results[0].replace_all_uses_with(chosen)
    op.erase()
    return 1


def _negate_integers(op: ir.Operation) -> int:
    """`-x` and `c - x` of integers go through floating point of 32 bits: wrong beyond 2**24."""
    type_ = op.results[0].type
    if not str(type_).endswith((",si64>", ",si32>", ",si16>", ",si8>", ",ui8>")) or op.operands[0].type != type_:
        return 0
    where = ir.InsertionPoint(op)
    factor = -1 if op.name == "torch.aten.neg" else _negated(op.operands[2])
    if factor is None:
        return 0
    value = build("torch.aten.mul.Scalar", [type_], [op.operands[0], torch_integer(factor, where)], where).results[0]
    if op.name == "torch.aten.rsub.Scalar":
        operands = [value, op.operands[1], torch_integer(1, where)]
        value = build("torch.aten.add.Scalar", [type_], operands, where).results[0]
    op.results[0].replace_all_uses_with(value)
    erase_unused(op)
    return 1


def _negated(value: ir.Value) -> int | None:
    number = constant_integer(value)
    return None if number is None else -number


_LARGEST_EXPONENTS = {"torch.aten.exp": 88.72283935546875, "torch.aten.exp2": 127.99999237060547}
"""The exponentials, and up to which number of float32 they are finite."""
_SUMS_OF_TWO = frozenset({"torch.aten.add.Tensor", "torch.aten.sub.Tensor"})
_SHOWN_AGAIN = frozenset(
    f"torch.aten.{name}"
    for name in (
        "expand",
        "permute",
        "select.int",
        "slice.Tensor",
        "squeeze.dim",
        "t",
        "transpose.int",
        "unsqueeze",
        "view",
    )
)


def _overflow_first(op: ir.Operation) -> int:
    """`exp(x) - y`: LLVM takes the last product of the exponential and the difference for one step, in which nothing
    overflows.
    """
    type_, where = op.results[0].type, ir.InsertionPoint(op)
    if element_of(type_) != "f32" or op.operands[0].type != type_ or not _is_summed(op.results[0]):
        return 0
    value = op.operands[0]
    largest, infinite = float_constant(_LARGEST_EXPONENTS[op.name], where), float_constant(math.inf, where)
    power = build(op.name, [type_], [value], where).results[0]
    flags = with_element(type_, "i1")
    over = build("torch.aten.gt.Scalar", [flags], [value, largest], where).results[0]
    chosen = [over, number_tensor(infinite, "f32", where), power]
    op.results[0].replace_all_uses_with(build("torch.aten.where.self", [type_], chosen, where).results[0])
    op.erase()
    return 1


def _is_summed(value: ir.Value) -> bool:
    """Whether a tensor, or what views show of it, is part of a sum or difference with another one."""
    users = [use.owner.operation for use in value.uses]
    return any(
        user.name in _SUMS_OF_TWO or (user.name in _SHOWN_AGAIN and _is_summed(user.results[0])) for user in users
    )


def _roll_once(op: ir.Operation) -> int:
    """`roll` by more than the size does nothing to torch-mlir."""
    where = ir.InsertionPoint(op)
    integer = ir.Type.parse("!torch.int", op.context)
    shifts, changed = [], False
    for shift, dimension in zip(listed(op.operands[1]), listed(op.operands[2])):
        by, dim = constant_integer(shift), constant_integer(dimension)
        size = sizes(op.operands[0])[dim] if dim is not None else "?"
        if by is not None and size.isdigit():
            once = by % max(int(size), 1)
            shifts.append(shift if once == by else torch_integer(once, where))
            changed |= once != by
            continue
        length = build("torch.aten.size.int", [integer], [op.operands[0], dimension], where).results[0]
        some = build("torch.prim.max.int", [integer], [length, torch_integer(1, where)], where).results[0]
        shifts.append(build("torch.aten.remainder.int", [integer], [shift, some], where).results[0])
        changed = True
    if not changed:
        return 0
    op.operands[1] = build("torch.prim.ListConstruct", [op.operands[1].type], shifts, where).results[0]
    return 1


def _keep_apart(op: ir.Operation) -> int:
    """Windows that leave elements out: IREE computes the tensor together with them, and only what is in them."""
    size, step = constant_integer(op.operands[2]), constant_integer(op.operands[3])
    if (size is not None and step is not None and step <= size) or not sizes(op.operands[0]):
        return 0
    op.operands[0] = barrier(op.operands[0], ir.InsertionPoint(op))
    return 1


def _count_from_start(op: ir.Operation) -> int:
    """`select_scatter` at the constant index -1 changes nothing: its end, -1 + 1, is taken for the position 0."""
    dimension, index = constant_integer(op.operands[2]), constant_integer(op.operands[3])
    if dimension is None or index is None or index >= 0:
        return 0
    size = sizes(op.operands[0])[dimension]
    if not size.isdigit():
        return 0
    integer = ir.IntegerType.get_signless(64, op.context)
    attribute = {"value": ir.IntegerAttr.get(integer, index + int(size))}
    op.operands[3] = build("torch.constant.int", [op.operands[3].type], [], ir.InsertionPoint(op), attribute).results[0]
    return 1
