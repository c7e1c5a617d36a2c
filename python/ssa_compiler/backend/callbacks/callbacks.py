"""Callbacks: an op that IREE cannot compile runs in PyTorch from inside the compiled program.

The op becomes a call of an imported function. Tensors pass as buffer views, so shapes may be dynamic; ints,
floats and bools pass as scalars; constants and the structure of lists are kept here, in a `CallbackSite`, from which
the runtime rebuilds the arguments of `torch.ops.<namespace>.<name>.<overload>`. There is no list of op names: whatever
can be described this way can be called.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from iree.compiler import ir

from ...abi.callback_sites import MODULE_NAME, Argument, CallbackSite, Constant, Listed, Passed
from ...errors import InternalError, SourceLocation
from ...semantics.dtypes import by_mlir
from ..ir.bindings import attribute, build
from ..ir.copies import builtin_type

__all__ = [
    "EFFECT",
    "describe_arguments",
    "erase_unused",
    "is_assertion",
    "is_callback",
    "is_random",
    "overload_of",
    "to_callback",
    "torch_operator",
]

EFFECT = "tssa.effect"
"""Attribute of a callback that does something beside computing its results of its operands."""


_SCALARS = {
    "!torch.int": ("int", "torch_c.to_i64", "torch_c.from_i64", "i64", "I"),
    "!torch.float": ("float", "torch_c.to_f64", "torch_c.from_f64", "f64", "F"),
    "!torch.bool": ("bool", "torch_c.to_i1", "torch_c.from_i1", "i32", "i"),
}


def torch_operator(op: ir.Operation) -> str | None:
    """Return the operator of a torch op as PyTorch writes it, `aten::add.Tensor`; None for any other op."""
    name = attribute(op, "name").strip('"') if op.name == "torch.operator" else op.name
    parts = name.split(".")
    if len(parts) < 3 or parts[0] != "torch" or parts[1] in ("constant", "vtensor", "tensor", "runtime"):
        return None
    return f"{parts[1]}::{'.'.join(parts[2:])}"


def overload_of(operator: str) -> Any:
    """Return the OpOverload of an operator, `aten::add.Tensor`; None if PyTorch has none."""
    import torch

    namespace, _, rest = operator.partition("::")
    name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), name, None)
    return getattr(packet, overload or "default", None)


def is_assertion(op: ir.Operation) -> bool:
    """Whether a call of Python only raises the program's own exception, with numbers of the run in its message."""
    return "tssa.message" in op.attributes


@cache
def is_random(operator: str) -> bool:
    """Whether PyTorch tags an operator as drawing from the global random stream."""
    import torch

    chosen = overload_of(operator)
    return chosen is not None and torch.Tag.nondeterministic_seeded in getattr(chosen, "tags", ())


def is_callback(op: ir.Operation) -> bool:
    """Whether an op is the call of a callback."""
    return op.name == "util.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value.startswith(f"{MODULE_NAME}.")


def to_callback(
    module: ir.Module,
    op: ir.Operation,
    number: int,
    *,
    location: SourceLocation | None,
    reason: str,
    extern: bool = False,
) -> CallbackSite | None:
    """Replace a torch op by a call into PyTorch.

    Args:
        module: the module around it.
        op: a torch op on value tensors; erased.
        number: a number that no other callback of the module has.
        location: the user's line.
        reason: why the op is not compiled.
        extern: see `CallbackSite`.
    Returns:
        The description of the call, or None (and nothing changed) when an operand or a result cannot be passed.
    """
    if not reason:
        raise InternalError(f"no reason for the callback of {op.name}", location=location)
    operator = torch_operator(op)
    if operator is None:
        return None
    passed: list[tuple[ir.Value, str]] = []
    arguments = [_describe(operand, passed) for operand in op.operands]
    results = [_passed_type(result.type) for result in op.results]
    known_arguments = [argument for argument in arguments if argument is not None]
    known_results = [result for result in results if result is not None]
    for position, (result, old) in enumerate(zip(known_results, op.results)):
        if not list(old.uses):  # eager's dropout of no elements has a mask of floats
            known_results[position] = Passed(result.kind)
    if len(known_arguments) != len(arguments) or len(known_results) != len(results) or not results:
        return None
    name = f"call{number}"
    where = ir.InsertionPoint(op)
    call_operands, operand_codes = _pass_operands(passed, where)
    context = op.context
    result_types, result_codes = [], ""
    for result in known_results:
        text, code = ("!hal.buffer_view", "r") if result.kind == "tensor" else _scalar_of(result.kind)
        result_types.append(ir.Type.parse(text, context))
        result_codes += code
    i64 = ir.IntegerType.get_signless(64, context)
    result_types.append(i64)
    start = build("arith.constant", [i64], [], where, {"value": ir.IntegerAttr.get(i64, 0)}).results[0]
    call_operands.append(start)
    callee = f"{MODULE_NAME}.{name}"
    _declare(module, callee, call_operands, result_types)
    attributes: dict[str, ir.Attribute] = {"callee": ir.FlatSymbolRefAttr.get(callee, context)}
    if "tssa.random" in op.attributes or is_random(operator):
        attributes[EFFECT] = ir.UnitAttr.get(context)
    call = build("util.call", result_types, call_operands, where, attributes)
    for old, new, result in zip(op.results, list(call.results)[:-1], known_results, strict=True):
        if list(old.uses):
            old.replace_all_uses_with(_received(old.type, new, result, where))
    site = CallbackSite(
        name,
        operator,
        tuple(known_arguments),
        tuple(known_results),
        f"0{operand_codes}I_{result_codes}I",
        location,
        reason,
        extern,
    )
    erase_unused(op)
    return site


def _declare(module: ir.Module, callee: str, operands: list[ir.Value], results: list[ir.Type]) -> None:
    """Declare the imported function of a callback at the start of a module."""
    types = ", ".join(str(operand.type) for operand in operands), ", ".join(map(str, results))
    declared = ir.Module.parse(f'util.func private @"{callee}"({types[0]}) -> ({types[1]})', module.context)
    function = next(iter(declared.body.operations)).operation
    function.detach_from_parent()
    ir.InsertionPoint.at_block_begin(module.body).insert(function)


def erase_unused(op: ir.Operation) -> None:
    """Erase an op, and the constants and lists that only it used: IREE rejects torch constants without uses."""
    _erase_unused(op, set())


def _erase_unused(op: ir.Operation, erased: set[int]) -> None:
    """Erase an op; `erased` has the hashes of the ops that are gone, which must not be touched any more."""
    # A constant may be an operand, and an element of a list that is another one.
    makers = {
        hash(operand.owner.operation): operand.owner.operation
        for operand in op.operands
        if not isinstance(operand.owner, ir.Block)
    }
    erased.add(hash(op))
    op.erase()
    for key, maker in makers.items():
        if key in erased:
            continue
        plain = maker.name.startswith("torch.constant.") or maker.name in ("torch.prim.ListConstruct", "torch.derefine")
        if plain and not any(list(result.uses) for result in maker.results):
            _erase_unused(maker, erased)


def _scalar_of(kind: str) -> tuple[str, str]:
    entry = _SCALARS[f"!torch.{kind}"]
    return entry[3], entry[4]


def _passed_type(type_: ir.Type) -> Passed | None:
    """How a value of a torch type is passed, None if it is not."""
    text = str(type_)
    if text in _SCALARS:
        return Passed(_SCALARS[text][0])
    if text.startswith("!torch.vtensor<["):
        element = text[:-1].partition("],")[2]
        known = by_mlir().get(element)
        return Passed("tensor", str(known.dtype).removeprefix("torch.")) if known is not None else None
    return None


def describe_arguments(op: ir.Operation) -> list[Argument | None]:
    """Describe the operands of a torch op; None for one that cannot be passed."""
    return [_describe(operand, []) for operand in op.operands]


def _describe(value: ir.Value, passed: list[tuple[ir.Value, str]]) -> Argument | None:
    """Describe an operand, collecting the values that have to be passed."""
    owner = value.owner
    op = None if isinstance(owner, ir.Block) else owner.operation
    if op is not None:
        if op.name == "torch.constant.none":
            return Constant(None)
        if op.name in ("torch.constant.int", "torch.constant.float", "torch.constant.bool", "torch.constant.str"):
            return Constant(_literal(op.attributes["value"]))
        if op.name == "torch.prim.ListConstruct":
            items = [_describe(operand, passed) for operand in op.operands]
            known = [item for item in items if item is not None]
            return Listed(tuple(known)) if len(known) == len(items) else None
        if op.name == "torch.derefine":
            return _describe(op.operands[0], passed)
    result = _passed_type(value.type)
    if result is not None:
        passed.append((value, result.kind))
    return result


def _literal(attribute_: ir.Attribute) -> object:
    if isinstance(attribute_, ir.BoolAttr):
        return bool(attribute_.value)
    if isinstance(attribute_, ir.IntegerAttr):
        number = int(attribute_.value)
        return bool(number) if str(attribute_.type) == "i1" else number
    if isinstance(attribute_, ir.FloatAttr):
        return float(attribute_.value)
    return ir.StringAttr(attribute_).value


def _pass_operands(passed: list[tuple[ir.Value, str]], where: ir.InsertionPoint) -> tuple[list[ir.Value], str]:
    """Create the operands of the call and its calling convention."""
    context = where.block.owner.context
    view = ir.Type.parse("!hal.buffer_view", context)
    operands, codes = [], ""
    for value, kind in passed:
        if kind == "tensor":
            tensor = build("torch_c.to_builtin_tensor", [builtin_type(value.type)], [value], where).results[0]
            operands.append(_export(tensor, view, where))
            codes += "r"
            continue
        _, cast, _, text, code = _SCALARS[f"!torch.{kind}"]
        native = ir.Type.parse("i1" if kind == "bool" else text, context)
        scalar = build(cast, [native], [value], where).results[0]
        if kind == "bool":
            scalar = build("arith.extui", [ir.Type.parse(text, context)], [scalar], where).results[0]
        operands.append(scalar)
        codes += code
    return operands, codes


def _export(tensor: ir.Value, view: ir.Type, where: ir.InsertionPoint) -> ir.Value:
    """Create the buffer view of a builtin tensor."""
    from ..ir.copies import dynamic_sizes

    sizes = dynamic_sizes(tensor, where)
    return build(
        "hal.tensor.export", [view], [tensor, *sizes], where, {"source_encoding": ir.TypeAttr.get(tensor.type)}
    ).results[0]


def _received(type_: ir.Type, value: ir.Value, result: Passed, where: ir.InsertionPoint) -> ir.Value:
    """Turn a result of the call into a value of the op's result type."""
    context = value.context
    if result.kind != "tensor":
        _, _, cast, _, _ = _SCALARS[f"!torch.{result.kind}"]
        if result.kind == "bool":
            value = build("arith.trunci", [ir.IntegerType.get_signless(1, context)], [value], where).results[0]
        return build(cast, [type_], [value], where).results[0]
    builtin = ir.RankedTensorType(builtin_type(type_))
    index = ir.IndexType.get(context)
    sizes = [
        build("hal.buffer_view.dim", [index], [value], where, {"index": ir.IntegerAttr.get(index, axis)}).results[0]
        for axis in range(builtin.rank)
        if builtin.is_dynamic_dim(axis)
    ]
    tensor = build(
        "hal.tensor.import",
        [builtin],
        [value, *sizes],
        where,
        {
            "target_encoding": ir.TypeAttr.get(builtin),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, len(sizes), 0, 0], context),
        },
    ).results[0]
    return build("torch_c.from_builtin_tensor", [type_], [tensor], where).results[0]
