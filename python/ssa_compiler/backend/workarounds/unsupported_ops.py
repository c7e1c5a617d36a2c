"""Ops that are not given to IREE: its result is wrong, it takes all memory, or they draw random numbers.

What IREE rejects is found out by asking it (`driver`); only what it gets wrong silently, and what makes the asking
slow, has to be written down. Each entry has its reason and says which op it is about by operator name and operand type,
so that the rest of the op's uses compile.
"""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir

from ...semantics.functionalized import original_operator
from ...semantics.ignored_functions import find_call, is_ignored
from ..callbacks.callbacks import is_random, overload_of, torch_operator
from ..callbacks.dtype_emulation import has_carried
from ..ir.bindings import constant_integer, constant_number
from ..ir.types import element_of, is_mask, is_torch, is_torch_tensor, sizes
from .constants import FILLING
from .integers import divides_exactly
from .masks import INDEX_PUTS, listed, mask_write, replaces
from .pooling_windows import reads_beyond_window

__all__ = ["LINKLESS", "cannot_be_linked", "must_call_back"]


def _element(op: ir.Operation) -> str:
    """Element type of the first tensor operand, "" without one."""
    return next((element_of(operand.type) for operand in op.operands if is_torch_tensor(operand)), "")


def _is_int64(op: ir.Operation) -> bool:
    return _element(op) == "si64"


def _divides_int64(op: ir.Operation) -> bool:
    """Whether an op divides int64 by what `op_rewrites` cannot divide by."""
    return _is_int64(op) and not divides_exactly(op)


def _is_half(op: ir.Operation) -> bool:
    return _element(op) in ("f16", "bf16")


def _averages_bytes(op: ir.Operation) -> bool:
    reduce = op.operands[4].owner
    known = not isinstance(reduce, ir.Block) and "value" in reduce.operation.attributes
    return _element(op) == "ui8" and not (known and str(reduce.operation.attributes["value"]) != '"mean"')


def _is_scalar(op: ir.Operation) -> bool:
    """Whether the first tensor operand has no dimensions."""
    return next((not sizes(operand) for operand in op.operands if is_torch_tensor(operand)), False)


def _is_tanh_form(op: ir.Operation) -> bool:
    """Whether a `gelu` is the one that is computed with tanh."""
    owner = op.operands[1].owner
    return isinstance(owner, ir.Block) or "tanh" in str(owner.operation.attributes["value"])


def _has_dynamic_size(op: ir.Operation) -> bool:
    """Whether the first operand has a dynamic size."""
    return "?" in sizes(op.operands[0])


def _is_open(number: int) -> Callable[[ir.Operation], bool]:
    """Whether an operand is dynamic."""
    return lambda op: constant_number(op.operands[number]) is None


def _divides_by_deviation(op: ir.Operation) -> bool:
    """Whether a normalization by the tensor's own statistics has an `eps` of 0, or may have."""
    from_input, eps = op.operands[5].owner, op.operands[7]
    given = not isinstance(from_input, ir.Block) and str(from_input.operation.attributes["value"]) == "false"
    return not given and not constant_number(eps)


def _normalizes_otherwise(op: ir.Operation) -> bool:
    return _is_half(op) or _divides_by_deviation(op)


def _divides_by_open(op: ir.Operation) -> bool:
    """Whether one of the sizes asked of an adaptive op is dynamic."""
    return any(constant_integer(size) is None for size in listed(op.operands[1]))


def _infers_classes(op: ir.Operation) -> bool:
    """Whether a `one_hot` has as many classes as its tensor says, or may have."""
    classes = constant_integer(op.operands[1])
    return classes is None or classes < 0


def _leaves_rows_out(op: ir.Operation) -> bool:
    """Whether an `embedding_bag` is told of an index that stands for no row."""
    return not is_torch(op.operands[8], "none")


def _may_cut(op: ir.Operation) -> bool:
    """Whether a padding op takes elements away at an end, or may; `cut_before_padding` sees to those of a constant by
    known amounts.
    """
    counts = [constant_integer(count) for count in listed(op.operands[1])]
    if op.name == "torch.aten.constant_pad_nd" or (
        op.name == "torch.aten.pad" and '"constant"' in str(op.operands[2].owner)
    ):
        return None in counts
    return any(count is None or count < 0 for count in counts)


def _has_mask(op: ir.Operation) -> bool:
    """Whether one of the index tensors, in the list that is the second operand, is a boolean mask."""
    return any(is_mask(index) for index in listed(op.operands[1]))


def _accumulates_at_mask(op: ir.Operation) -> bool:
    """Whether an `index_put` adds to the elements at a boolean mask, or may do so."""
    return not replaces(op) and _has_mask(op)


def _spreads_over_unknown(op: ir.Operation) -> bool:
    """Whether an `index_put` repeats its values for a number of indices that is dynamic.

    Masks that become `where` do not count, and neither do accumulating ones, which are rejected for another reason.
    """
    indices = [index for index in listed(op.operands[1]) if is_torch_tensor(index)]
    if mask_write(op) is not None or not any(is_mask(index) or "?" in sizes(index) for index in indices):
        return False
    # Each mask counts for one dimension of indices; the values have those dimensions, and those that are not indexed.
    counts = [["?"] if is_mask(index) else sizes(index) for index in indices]
    taken = sum(len(sizes(index)) if is_mask(index) else 1 for index in indices)
    rank = len(sizes(op.operands[0])) - taken + max(map(len, counts))
    values = sizes(op.operands[2])
    return len(values) < rank or "1" in values


_PLACING = frozenset(
    {
        *FILLING,
        "torch.aten.masked_fill.Scalar",
        "torch.aten.where.Scalar",
        "torch.aten.where.ScalarOther",
        "torch.aten.where.ScalarSelf",
        "torch.aten.constant_pad_nd",
        "torch.aten.pad",
        "torch.aten.index_fill.int_Scalar",
    }
)
"""Ops that put a number into a tensor and compute nothing with it."""


def _computes_with_nan(op: ir.Operation) -> bool:
    """Whether an op computes with a constant that is NaN."""
    if op.name in _PLACING:
        return False
    numbers = [constant_number(v) for v in op.operands if is_torch(v, "float") or is_torch(v, "number")]
    return any(number is not None and number != number for number in numbers)


_MASK = "IREE 3.13.0 fails on boolean masks, of two dimensions only after it has taken all memory"
_SPREAD = "IREE repeats values once where there is no index at all"
_ENDLESS = "iree-compile comes to no end on a tensor without dimensions"
_GENERAL_NORM = "torch-mlir computes the norms of order 0 and infinity as those of the other orders"
_CONSTANT_CHANNELS = "where eps is 0, torch-mlir divides by the deviation of constant channels"
_CUT = "torch-mlir adds elements where some are to be taken away, IREE writes beyond the memory of the result"
_ADDED = "IREE takes a boolean mask for the indices 0 and 1 when it adds"

# operator -> (applies to the op, reason). Seen with IREE 3.13.0; a test compiles each without the entry and expects it
# wrong, or expects the failure.
_REJECTED: dict[str, tuple[Callable[[ir.Operation], bool], str]] = {
    "aten::floor_divide": (_divides_int64, "IREE divides int64 through floating point: wrong beyond 2**53"),
    "aten::floor_divide.Scalar": (_divides_int64, "IREE divides int64 through floating point: wrong beyond 2**53"),
    "aten::div.Tensor_mode": (_divides_int64, "IREE divides int64 through floating point: wrong beyond 2**53"),
    "aten::div.Scalar_mode": (_divides_int64, "IREE divides int64 through floating point: wrong beyond 2**53"),
    **{
        f"aten::adaptive_{kind}_pool{rank}d": (
            _divides_by_open,
            "IREE divides by the size that is asked for, which may be 0",
        )
        for kind in ("avg", "max")
        for rank in (1, 2, 3)
    },
    "aten::bilinear": (_has_dynamic_size, "torch-mlir asserts that there is a row"),
    "aten::binary_cross_entropy_with_logits": (_is_half, "torch-mlir's logarithm of the sigmoid overflows"),
    "aten::batch_norm": (_divides_by_deviation, _CONSTANT_CHANNELS),
    "aten::native_batch_norm": (_divides_by_deviation, _CONSTANT_CHANNELS),
    "aten::instance_norm": (
        _normalizes_otherwise,
        f"IREE accumulates the moments in half precision; {_CONSTANT_CHANNELS}",
    ),
    "aten::softmax.int": (_is_scalar, _ENDLESS),
    "aten::log_softmax.int": (_is_scalar, _ENDLESS),
    "aten::gelu": (_is_tanh_form, "IREE computes the tanh form with an error of 5e-5"),
    "aten::embedding_bag.padding_idx": (_leaves_rows_out, "torch-mlir leaves no row out"),
    "aten::linalg_vector_norm": (_is_open(1), _GENERAL_NORM),
    "aten::norm.Scalar": (_is_open(1), _GENERAL_NORM),
    "aten::norm.ScalarOpt_dim": (_is_open(1), _GENERAL_NORM),
    "aten::linspace": (_is_open(2), "torch-mlir fails where one number is asked for"),
    "aten::one_hot": (_infers_classes, "torch-mlir takes -1 for a number of classes"),
    "aten::pad": (_may_cut, _CUT),
    "aten::constant_pad_nd": (_may_cut, _CUT),
    **{f"aten::{kind}_pad{rank}d": (_may_cut, _CUT) for kind in ("reflection", "replication") for rank in (1, 2, 3)},
    "aten::max_unpool2d": (lambda _: True, "IREE leaves elements out"),
    "aten::scatter_reduce.two": (_averages_bytes, "eager adds up in eight bits before it divides"),
    "aten::index.Tensor": (_has_mask, _MASK),
    "aten::index.Tensor_hacked_twin": (_has_mask, _MASK),
}
_REJECTED_WRITES: tuple[tuple[Callable[[ir.Operation], bool], str], ...] = (
    (_accumulates_at_mask, _ADDED),
    (_spreads_over_unknown, _SPREAD),
)


LINKLESS = frozenset(
    f"aten::{name}"
    for name in (
        *("acos", "asin", "atan", "cos", "log10", "log2", "mish", "sin", "tan", "tanh"),
        *("remainder.Scalar", "remainder.Tensor"),
    )
)
"""Operators that call functions of C's on float64, which executables for CPUs do not have. iree-compile names one of
them at a time, and only when all else is compiled.
"""


def cannot_be_linked(op: ir.Operation) -> bool:
    """Whether an op calls a function of C's that is missing in an executable for a CPU.

    Args:
        op: any op of an `iree`-stage module that is no part of a kernel of ours.
    """
    return torch_operator(op) in LINKLESS and _element(op) == "f64"


def must_call_back(op: ir.Operation) -> str | None:
    """Return why an op has to run in PyTorch, None if it may be compiled.

    Args:
        op: any op of an `iree`-stage module.
    """
    operator = torch_operator(op)
    if operator is None or operator.startswith("prim::"):
        return None
    original = original_operator(operator)
    if is_ignored(original or operator):
        call = find_call(original or operator)
        return call.reason if call is not None else "it is a Python function"
    if original is not None:
        if not overload_of(original)._schema.is_mutable:
            return "its results are a list"
        return "PyTorch has it only as an op that writes in place"
    if has_carried(op):
        return "IREE has no such dtype"
    if operator in INDEX_PUTS:
        for applies, reason in _REJECTED_WRITES:
            if applies(op):
                return reason
    if reads_beyond_window(op):
        return "IREE takes all elements for the window where one size of the result is 1 and others are not known"
    if _computes_with_nan(op):
        return "torch-mlir and IREE compute wrongly with a constant that is NaN"
    if operator in _REJECTED and _REJECTED[operator][0](op):
        return _REJECTED[operator][1]
    if is_random(operator):
        return "it draws from PyTorch's random stream"
    if op.name == "torch.operator":
        return "torch-mlir has no such op"
    return None
