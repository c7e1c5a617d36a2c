"""Views of tensors whose sizes are dynamic, dimension by dimension.

torch-mlir takes a size of the result that it does not know for the size of the tensor in the same place:
`x.view(-1, 2)` of three rows of four has three rows then. So the dimensions that stay are told apart from those that
become others, and these are made one, and that one is split.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from ..callbacks.callbacks import erase_unused
from ..ir.bindings import build, constant_integer, torch_integer
from ..ir.copies import builtin_type
from ..ir.types import DTYPES, element_of, is_torch_tensor, sizes
from .masks import listed

__all__ = ["VIEWS", "forget_sizes", "regroup"]

VIEWS = frozenset({"torch.aten.view", "torch.aten.reshape", "torch.aten._unsafe_view"})


def regroup(op: ir.Operation) -> int:
    """Replace a view by what merges dimensions and what parts one, if there is a size that is not known.

    Returns:
        1 if it was rewritten, else 0.
    """
    source, target = op.operands[0], op.results[0]
    before, after, given = sizes(source), sizes(target), listed(op.operands[1])
    if "?" not in (*before, *after) or len(given) != len(after) or not before or not after:
        return 0
    if "0" in after:
        return _of_nothing(op)
    first, behind = _kept(source, before, after, given)
    if first + behind == len(before) == len(after):
        return 0
    if first + behind in (len(before), len(after)):  # ones that come or go: beside a dimension that stays
        first, behind = (first - 1, behind) if first else (first, behind - 1)
    where = ir.InsertionPoint(op)
    merged, parts = before[first : len(before) - behind], after[first : len(after) - behind]
    value = source
    if len(merged) > 1:
        shape = [*before[:first], _product(merged), *before[len(before) - behind :]]
        bounds = [torch_integer(number, where) for number in (first, first + len(merged) - 1)]
        value = build("torch.aten.flatten.using_ints", [_typed(source, shape)], [value, *bounds], where).results[0]
    whole = [*before[:first], _product(parts), *before[len(before) - behind :]]
    value = _cast(value, _typed(value, whole), where)
    if len(parts) > 1:
        counts = given[first : len(given) - behind]
        list_ = build("torch.prim.ListConstruct", [op.operands[1].type], counts, where).results[0]
        shape = [*before[:first], *parts, *before[len(before) - behind :]]
        operands = [value, torch_integer(first, where), list_]
        value = build("torch.aten.unflatten.int", [_typed(value, shape)], operands, where).results[0]
    target.replace_all_uses_with(_cast(value, target.type, where))
    erase_unused(op)
    return 1


def forget_sizes(op: ir.Operation) -> int:
    """Replace a cast of a torch tensor to a type of fewer known sizes by a cast of a builtin tensor.

    torch-mlir sees through its own cast while it decomposes ops such as `select_scatter`: the result gets the sizes
    known before the cast, which its users do not expect.

    Returns:
        1 if it was rewritten, else 0.
    """
    (source,), (result,) = op.operands, op.results
    if not is_torch_tensor(source) or not is_torch_tensor(result):
        return 0
    if not any(after == "?" != before for before, after in zip(sizes(source), sizes(result))):
        return 0
    where = ir.InsertionPoint(op)
    tensor = build("torch_c.to_builtin_tensor", [builtin_type(source.type)], [source], where).results[0]
    tensor = build("tensor.cast", [builtin_type(result.type)], [tensor], where).results[0]
    result.replace_all_uses_with(build("torch_c.from_builtin_tensor", [result.type], [tensor], where).results[0])
    op.erase()
    return 1


def _of_nothing(op: ir.Operation) -> int:
    """A view without elements is as good as a new tensor; the sizes of parts of nothing cannot be computed from it."""
    type_ = op.results[0].type
    number = DTYPES.get(element_of(type_))
    if number is None:
        return 0
    where = ir.InsertionPoint(op)
    none = build("torch.constant.none", [ir.Type.parse("!torch.none", op.context)], [], where).results[0]
    operands = [op.operands[1], torch_integer(number, where), none, none, none]
    op.results[0].replace_all_uses_with(build("torch.aten.zeros", [type_], operands, where).results[0])
    erase_unused(op)
    return 1


def _kept(source: ir.Value, before: Sequence[str], after: Sequence[str], given: Sequence[ir.Value]) -> tuple[int, int]:
    """How many dimensions stay what they are, at the start and at the end."""

    def same(old: int, new: int) -> bool:
        if before[old] != "?" and before[old] == after[new]:
            return True
        return before[old] == after[new] and _is_size(given[new], source, old)

    shortest = min(len(before), len(after))
    first = next((number for number in range(shortest) if not same(number, number)), shortest)
    rest = shortest - first
    behind = next((n for n in range(rest) if not same(len(before) - 1 - n, len(after) - 1 - n)), rest)
    return first, behind


def _is_size(value: ir.Value, tensor: ir.Value, dimension: int) -> bool:
    """Whether a number is certainly this size of the tensor."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name != "torch.aten.size.int" or op.operands[0] != tensor:
        return False
    return constant_integer(op.operands[1]) == dimension


def _product(counts: Sequence[str]) -> str:
    if "?" in counts:
        return "?"
    product = 1
    for count in counts:
        product *= int(count)
    return str(product)


def _typed(value: ir.Value, shape: Sequence[str]) -> ir.Type:
    element = element_of(value.type)
    return ir.Type.parse(f"!torch.vtensor<[{','.join(shape)}],{element}>", value.type.context)


def _cast(value: ir.Value, type_: ir.Type, where: ir.InsertionPoint) -> ir.Value:
    if value.type == type_:
        return value
    return build("torch.tensor_static_info_cast", [type_], [value], where).results[0]
