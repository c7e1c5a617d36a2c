"""Ops on half precision, computed in single precision and rounded once.

So does eager on the CPU. torch-mlir writes functions as several ops, and rounds after each; sums and products over a
dimension are rounded after each element (10,000 ones add up to 2,048), and `baddbmm` rounds the product before it adds.
"""

from __future__ import annotations

from functools import cache

from iree.compiler import ir

from ..callbacks.callbacks import overload_of, torch_operator
from ..ir.bindings import build, constant_integer, constant_number, converted, torch_integer
from ..ir.types import DTYPES, element_of, with_element

__all__ = ["widen_low_precision"]

_LOW_PRECISION = ("f16", "bf16")
_ACCUMULATING = frozenset(
    f"aten::{name}"
    for name in (
        *(
            "addbmm",
            "addmm",
            "addmv",
            "addr",
            "baddbmm",
            "bilinear",
            "cdist",
            "dot",
            "einsum",
            "inner",
            "trace",
            "vdot",
        ),
        *("cosine_similarity", "linalg_cross", "cumprod", "cumsum", "logcumsumexp", "nanmean", "renorm"),
        *("_log_softmax", "_safe_softmax", "_softmax", "log_sigmoid_forward", "log_softmax", "softmax"),
        *("batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm"),
        *("native_batch_norm", "native_group_norm", "native_layer_norm", "_weight_norm_interface"),
        *("_adaptive_avg_pool2d", "_adaptive_avg_pool3d"),
        *(f"{name}{rank}d" for name in ("adaptive_avg_pool", "avg_pool") for rank in (1, 2, 3)),
        *("binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss", "mse_loss"),
        *("nll_loss2d_forward", "nll_loss_forward", "smooth_l1_loss"),
        "scaled_dot_product_attention",
        *("upsample_bicubic2d", "upsample_bilinear2d", "upsample_linear1d", "upsample_trilinear3d"),
        *("scatter_add", "scatter_reduce"),  # but not index_add and index_put, which round each sum in eager too
    )
)
"""Ops that add up more than one number, or compute in several steps, and have no tag that says so."""
_ROUNDING_ONCE = frozenset(
    f"aten::{name}"
    for name in (
        *(
            "abs",
            "add",
            "ceil",
            "clamp",
            "clamp_max",
            "clamp_min",
            "div",
            "floor",
            "mul",
            "neg",
            "relu",
            "rsub",
            "sign",
            "sqrt",
        ),
        *("sub", "trunc"),
        *("_to_copy", "clone", "copy", "masked_fill", "nan_to_num", "to", "where"),
        *("amax", "amin", "aminmax", "max", "maximum", "min", "minimum"),
    )
)
"""Ops that are one op of the processor, or compute nothing."""
_EXACT_NUMBER = frozenset(f"aten::{name}.{form}" for name in ("div", "mul") for form in ("Scalar", "Tensor"))
"""Of them, those that use a number as it is, also in a tensor of no dimensions, which torch-mlir rounds first."""


@cache
def _computed(operator: str) -> tuple[int, ...] | None:
    """Which operands of an operator are dtypes; None unless PyTorch computes it in several steps, or sums.

    Its tags say so of ops that go element by element, and of reductions.
    """
    import torch

    namespace, _, rest = operator.partition("::")
    name = rest.partition(".")[0]
    if namespace != "aten" or (operator.partition(".")[0] in _ROUNDING_ONCE and operator not in _EXACT_NUMBER):
        return None
    chosen = overload_of(operator)
    if chosen is None:
        return None
    if not {torch.Tag.pointwise, torch.Tag.reduction} & set(chosen.tags) and f"aten::{name}" not in _ACCUMULATING:
        return None
    return tuple(number for number, argument in enumerate(chosen._schema.arguments) if argument.name == "dtype")


def _is_exact(op: ir.Operation) -> bool:
    """Whether the number that an op takes is one of half precision, or it takes none."""
    import torch

    element = element_of(op.operands[1].type)
    if element:
        return element in _LOW_PRECISION or element_of(op.operands[0].type) not in _LOW_PRECISION
    number = constant_number(op.operands[1])
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}.get(element_of(op.results[0].type))
    return number is not None and torch.tensor(number, dtype=dtype).item() == number


def widen_low_precision(op: ir.Operation) -> int:
    """Compute an op whose results are of half precision in single precision.

    Returns:
        1 if it was rewritten, else 0.
    """
    operator = torch_operator(op)
    if operator is None or not any(element_of(result.type) in _LOW_PRECISION for result in op.results):
        return 0
    dtypes = _computed(operator)
    if dtypes is None or (operator in _EXACT_NUMBER and _is_exact(op)):
        return 0
    where = ir.InsertionPoint(op)
    operands = [
        converted(operand, "f32", where) if element_of(operand.type) in _LOW_PRECISION else operand
        for operand in op.operands
    ]
    for number in dtypes:
        if constant_integer(operands[number]) in [DTYPES[half] for half in _LOW_PRECISION]:
            operands[number] = torch_integer(DTYPES["f32"], where)
    types = [
        with_element(result.type, "f32") if element_of(result.type) in _LOW_PRECISION else result.type
        for result in op.results
    ]
    attributes = {name: op.attributes[name] for name in ("name",) if op.name == "torch.operator"}
    wide = build(op.name, types, operands, where, attributes)
    for old, new in zip(op.results, wide.results, strict=True):
        element = element_of(old.type)
        old.replace_all_uses_with(converted(new, element, where) if element in _LOW_PRECISION else new)
    op.erase()
    return 1
