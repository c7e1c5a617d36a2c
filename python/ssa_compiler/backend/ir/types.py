"""What a type says. The torch dialect has no Python types here: this module alone reads their text."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

__all__ = [
    "DTYPES",
    "element_of",
    "holds_tensor",
    "is_any_tensor",
    "is_dynamic",
    "is_mask",
    "is_resource",
    "is_tensor",
    "is_torch",
    "is_torch_tensor",
    "sizes",
    "tensor_type",
    "with_element",
    "with_sizes",
]

_TENSOR = "!torch.vtensor<["


# Element types of the torch dialect, with PyTorch's numbers of them.
DTYPES = {"ui8": 0, "si8": 1, "si16": 2, "si32": 3, "si64": 4, "f16": 5, "f32": 6, "f64": 7, "bf16": 15}


def is_tensor(value: ir.Value) -> bool:
    """Whether a value is a ranked builtin tensor."""
    return str(value.type).startswith("tensor<")


def is_any_tensor(value: ir.Value) -> bool:
    """Whether a value is a builtin tensor, or one of torch's of known rank."""
    return is_tensor(value) or is_torch_tensor(value)


def tensor_type(value: ir.Value) -> ir.RankedTensorType:
    """Return the ranked tensor type of a value for which `is_tensor` holds."""
    return ir.RankedTensorType(value.type)


def is_dynamic(value: ir.Value) -> bool:
    """Whether a builtin tensor has a dynamic size."""
    return not tensor_type(value).has_static_shape


def element_of(type_: ir.Type) -> str:
    """Return the element type of a value tensor of the torch dialect as it is written, `f16`; "" for other types."""
    text = str(type_)
    return text[:-1].rpartition("],")[2] if text.startswith(_TENSOR) else ""


def with_element(type_: ir.Type, element: str) -> ir.Type:
    """Return the type of a value tensor of the torch dialect with other elements."""
    return ir.Type.parse(f"{str(type_)[:-1].rpartition(',')[0]},{element}>", type_.context)


def is_torch_tensor(value: ir.Value) -> bool:
    """Whether a value is a value tensor of the torch dialect, of known rank."""
    return str(value.type).startswith(_TENSOR)


def is_torch(value: ir.Value, kind: str) -> bool:
    """Whether a value is of a scalar type of the torch dialect.

    Args:
        value: any value.
        kind: "int", "float", "bool" or "none".
    """
    return str(value.type) == f"!torch.{kind}"


def holds_tensor(value: ir.Value) -> bool:
    """Whether a value is a builtin or a value tensor of whatever rank, or a list of them."""
    return str(value.type).startswith(("tensor<", "!torch.vtensor<", "!torch.list<vtensor"))


def is_resource(value: ir.Value) -> bool:
    """Whether a value is memory, to IREE's stream dialect."""
    return str(value.type).startswith("!stream.resource")


def is_mask(value: ir.Value) -> bool:
    """Whether a value is a torch tensor of bools."""
    return element_of(value.type) == "i1"


def sizes(value: ir.Value) -> list[str]:
    """Return the sizes of a torch tensor as its type writes them: "?" for a dynamic one."""
    return [size for size in str(value.type).partition("[")[2].partition("]")[0].split(",") if size]


def with_sizes(type_: ir.Type, shape: Sequence[str]) -> ir.Type:
    """Return the type of a value tensor of the torch dialect with other sizes, each written as `sizes` does."""
    return ir.Type.parse(f"{_TENSOR}{','.join(shape)}],{element_of(type_)}>", type_.context)
