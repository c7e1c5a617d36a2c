"""Make kernels of the loops of a program that is no kernel as a whole.

A loop that qualifies is taken out into a function of its own, which becomes a kernel like a whole program (`kernels`),
and its dispatch takes the loop's place. A loop that does not is looked into for others. What a loop uses from around it
becomes an argument, but for constants, which are copied.
"""

from __future__ import annotations

import os

from iree.compiler import ir

from ..callbacks.callbacks import EFFECT, is_callback
from ..ir.bindings import LOOPS, build, cast_root, defining_block, main_function, walk
from ..ir.copies import builtin_type
from ..ir.types import element_of
from ..workarounds.constants import hide_constants
from .kernels import Kernel, NoKernelError, form_kernel
from .library_calls import is_kernel_op
from .linalg_ready import make_lowerable

__all__ = ["form_regions"]

_MOST_TRIED = 16
"""Loops that are tried: each costs the time of two tools."""
_PASSED = {
    "!torch.int": ("i64", "torch_c.to_i64", "torch_c.from_i64"),
    "!torch.float": ("f64", "torch_c.to_f64", "torch_c.from_f64"),
    "!torch.bool": ("i1", "torch_c.to_i1", "torch_c.from_i1"),
    "index": ("i64", "arith.index_cast", "arith.index_cast"),
}
"""How numbers are passed that a kernel does not take: as which type, and the conversions to it and back."""
_PLAIN = ("i1", "i32", "i64", "f32", "f64")
_COPIED = ("torch.constant.", "torch.prim.ListConstruct", "arith.constant")
_UNUSED = (*_COPIED, "torch_c.")
_SIZES = ("tssa.example_sizes", "tssa.max_sizes")


def form_regions(
    module: ir.Module, *, ssa_opt: str | os.PathLike[str] | None, timeout_s: float
) -> tuple[list[Kernel], list[str]]:
    """Make kernels of the loops of a module that can be kernels, and of the ops that only kernels have.

    Args:
        module: an `iree`-stage module, rewritten in place: it dispatches kernels whose executables it does not have.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit of each tool in seconds.
    Returns:
        The kernels; why other loops are none.
    """
    kernels: list[Kernel] = []
    reasons: list[str] = []
    has_effects = any(EFFECT in op.attributes for op in walk(module.operation))
    if has_effects:
        reasons.append("effects, whose order its checks would have to keep")

    def visit(block: ir.Block) -> None:
        for view in list(block.operations):
            op = view.operation
            is_tried = op.name in LOOPS and not has_effects and len(kernels) + len(reasons) < _MOST_TRIED
            if is_tried or is_kernel_op(op):
                try:
                    kernels.append(_take_out(op, f"kernel_{len(kernels)}", ssa_opt, timeout_s))
                    continue
                except NoKernelError as error:
                    reasons.append(str(error))
            for region in op.regions:
                for inner in region.blocks:
                    visit(inner)

    visit(main_function(module).regions[0].blocks[0])
    if kernels:
        _erase_unused(module)
    return kernels, reasons


def _take_out(loop: ir.Operation, name: str, ssa_opt: str | os.PathLike[str] | None, timeout_s: float) -> Kernel:
    """Make a kernel of a loop, and put its dispatch in the loop's place.

    Raises:
        NoKernelError: it cannot be one; nothing is changed then, but for conversions that nothing uses.
    """
    if any(is_callback(op) for op in walk(loop)):
        raise NoKernelError("a part of it runs in PyTorch")
    outlined = _Outlined(loop)
    kernel = form_kernel(outlined.text(), loop.context, name=name, whole=False, ssa_opt=ssa_opt, timeout_s=timeout_s)
    outlined.replace_by(kernel)
    return kernel


class _Outlined:
    """A loop as a function, and what its call takes and returns."""

    def __init__(self, loop: ir.Operation) -> None:
        self._loop = loop
        self._outside = ir.InsertionPoint(loop)
        self._results = [result for result in loop.results if list(result.uses)]
        self._passed: list[ir.Value] = []
        self._inside: dict[ir.Value, ir.Value] = {}
        with loop.context, ir.Location.unknown(loop.context):
            self._module = ir.Module.create()
            used = _captured(loop)
            passed = [value for value in used if not _is_copied(value)]
            types = [_passed_type(value.type) for value in passed]
            returned = [_passed_type(result.type) for result in self._results]
            function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get("main"),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, returned)),
                    "arg_attrs": ir.ArrayAttr.get([_known_sizes(value) for value in passed]),
                },
                regions=1,
                ip=ir.InsertionPoint(self._module.body),
            )
            body = function.regions[0].blocks.append(*types)
            where = ir.InsertionPoint(body)
            for value in used:
                self._take_in(value, body, where)
            clone = loop.clone(where)
            for op in (clone, *walk(clone)):
                for number, operand in enumerate(op.operands):
                    if operand in self._inside:
                        op.operands[number] = self._inside[operand]
            made = [clone.results[list(loop.results).index(result)] for result in self._results]
            build("func.return", [], [_converted(value, where) for value in made], where)

    def text(self) -> str:
        """The function, for `form_kernel`."""
        hide_constants(self._module)
        make_lowerable(self._module)
        return str(self._module.operation.get_asm(enable_debug_info=True))

    def replace_by(self, kernel: Kernel) -> None:
        """Put the call of a kernel in the place of the loop."""
        called = kernel.dispatch(self._loop.context)
        block = main_function(called).regions[0].blocks[0]
        values = dict(zip(block.arguments, self._passed, strict=True))
        for view in block.operations:
            op = view.operation
            if op.name == "func.return":
                results = [values[operand] for operand in op.operands]
                break
            clone = op.clone(self._outside)
            for number, operand in enumerate(op.operands):
                clone.operands[number] = values[operand]
            values.update(zip(op.results, clone.results))
        for old, new in zip(self._results, results, strict=True):
            old.replace_all_uses_with(_converted_back(new, old.type, self._outside))
        self._loop.erase()

    def _take_in(self, value: ir.Value, body: ir.Block, where: ir.InsertionPoint) -> ir.Value:
        """What stands in the function for a value from outside."""
        if value in self._inside:
            return self._inside[value]
        if _is_copied(value):
            owner = value.owner.operation
            operands = [self._take_in(operand, body, where) for operand in owner.operands]
            clone = owner.clone(where)
            for number, operand in enumerate(operands):
                clone.operands[number] = operand
            self._inside[value] = clone.results[0]
        else:
            argument = body.arguments[len(self._passed)]
            self._passed.append(_converted(value, self._outside))
            self._inside[value] = _converted_back(argument, value.type, where)
        return self._inside[value]


def _captured(loop: ir.Operation) -> list[ir.Value]:
    """The values from around a loop that it uses, and what lists among them consist of."""
    found: list[ir.Value] = []

    def add(value: ir.Value) -> None:
        if value in found:
            return
        if _is_copied(value):
            for operand in value.owner.operation.operands:
                add(operand)
        found.append(value)

    for op in (loop, *walk(loop)):
        for operand in op.operands:
            if not _is_within(defining_block(operand), loop):
                add(operand)
    return found


def _known_sizes(value: ir.Value) -> ir.DictAttr:
    """What is known of the sizes of a tensor, if it is an argument of the program."""
    root = cast_root(value)
    given: dict[str, ir.Attribute] = {}
    if isinstance(root.owner, ir.Block) and "arg_attrs" in (function := root.owner.owner).attributes:
        described = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(root).arg_number])
        given = {key: described[key] for key in _SIZES if key in described}
    return ir.DictAttr.get(given)


def _is_within(block: ir.Block, loop: ir.Operation) -> bool:
    current: ir.Operation | None = block.owner.operation
    while current is not None and current.name != "func.func":
        if current == loop:
            return True
        current = current.parent.operation if current.parent is not None else None
    return False


def _is_copied(value: ir.Value) -> bool:
    """Whether a value is made anew in the function: a constant, or a list. Tensors are passed."""
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.name.startswith(_COPIED)
        and not isinstance(value.type, ir.RankedTensorType)
    )


def _passed_type(type_: ir.Type) -> ir.Type:
    text = str(type_)
    if text in _PLAIN or isinstance(type_, ir.RankedTensorType):
        return type_
    if text in _PASSED:
        return ir.Type.parse(_PASSED[text][0], type_.context)
    if text.startswith("!torch.vtensor<[") and not element_of(type_).startswith("complex"):
        return builtin_type(type_)
    raise NoKernelError(f"a value of type {text}")


def _converted(value: ir.Value, where: ir.InsertionPoint) -> ir.Value:
    """A value in the type in which it is passed."""
    type_, text = _passed_type(value.type), str(value.type)
    if type_ == value.type:
        return value
    name = _PASSED[text][1] if text in _PASSED else "torch_c.to_builtin_tensor"
    return build(name, [type_], [value], where).results[0]


def _converted_back(value: ir.Value, type_: ir.Type, where: ir.InsertionPoint) -> ir.Value:
    if value.type == type_:
        return value
    name = _PASSED[str(type_)][2] if str(type_) in _PASSED else "torch_c.from_builtin_tensor"
    return build(name, [type_], [value], where).results[0]


def _erase_unused(module: ir.Module) -> None:
    """Erase the constants, lists and conversions that nothing uses: IREE rejects them."""
    for op in reversed(list(walk(module.operation))):
        if op.name.startswith(_UNUSED) and op.results and not any(list(result.uses) for result in op.results):
            op.erase()
