"""Take ops of one block out into a function of its own, and put the call of a kernel in their place.

What the ops use from around them becomes an argument, but for constants and lists, which are made anew. Numbers are
passed as the types that kernels take.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from iree.compiler import ir

from ..ir.bindings import ancestor_in_block, build, cast_root, defining_block, main_function, walk
from ..ir.copies import builtin_type
from ..ir.types import element_of, is_any_tensor
from ..workarounds.constants import hide_constants
from .kernels import Kernel, NoKernelError
from .linalg_ready import make_lowerable

__all__ = ["COPIED", "Outlined", "erase_unused", "needs"]

COPIED = ("torch.constant.", "torch.prim.ListConstruct", "arith.constant")
"""What begins the names of ops that are made anew in the function."""
_PASSED = {
    "!torch.int": ("i64", "torch_c.to_i64", "torch_c.from_i64"),
    "!torch.float": ("f64", "torch_c.to_f64", "torch_c.from_f64"),
    "!torch.bool": ("i1", "torch_c.to_i1", "torch_c.from_i1"),
    "index": ("i64", "arith.index_cast", "arith.index_cast"),
}
"""How numbers are passed that a kernel does not take: as which type, and the conversions to it and back."""
_PLAIN = ("i1", "i32", "i64", "f32", "f64")
_UNUSED = (*COPIED, "torch_c.")
_SIZES = ("tssa.example_sizes", "tssa.max_sizes")


class Outlined:
    """Ops of one block as a function, and what its call takes and returns.

    Args:
        ops: they follow each other, but for constants and lists between them, which are made anew.
    """

    def __init__(self, ops: Sequence[ir.Operation]) -> None:
        self._ops = list(ops)
        self._last = self._ops[-1]
        self._outside = ir.InsertionPoint(self._last)
        self._results = [result for op in self._ops for result in op.results if self._is_used_outside(result)]
        self._passed: list[ir.Value] = []
        self._inside: dict[ir.Value, ir.Value] = {}
        self._replacing: set[ir.Value] = set()  # what stands for the results behind the call
        with self._last.context, ir.Location.unknown(self._last.context):
            self._module = ir.Module.create()
            returned = [_passed_type(result.type) for result in self._results]
            function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get("main"),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get([], returned)),
                },
                regions=1,
                ip=ir.InsertionPoint(self._module.body),
            )
            body = function.regions[0].blocks.append()
            where = ir.InsertionPoint(body)
            for op in self._ops:
                self._clone(op, body, where)
            made = [self._inside[result] for result in self._results]
            build("func.return", [], [_converted(value, where) for value in made], where)
            types = [argument.type for argument in body.arguments]
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, returned))
            function.attributes["arg_attrs"] = ir.ArrayAttr.get([_known_sizes(value) for value in self._passed])

    @property
    def tensors(self) -> int:
        """How many tensors the function takes and returns."""
        return sum(map(is_any_tensor, [*self._passed, *self._results]))

    def text(self) -> str:
        """The function, for `form_kernel`."""
        hide_constants(self._module)
        make_lowerable(self._module)
        return str(self._module.operation.get_asm(enable_debug_info=True))

    def replace_by(self, kernel: Kernel) -> None:
        """Put the call of a kernel in the place of the ops."""
        called = kernel.dispatch(self._last.context)
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
            replacing = _converted_back(new, old.type, self._outside)
            self._replacing.add(replacing)
            old.replace_all_uses_with(replacing)
        self._erase()

    def _erase(self) -> None:
        """Erase the ops, and the lists between them that only they use; lists of results move behind the call."""
        block = [view.operation for view in self._last.block.operations]
        between = block[block.index(self._ops[0]) : block.index(self._last) + 1]
        for op in between:
            if op not in self._ops and op.name.startswith(COPIED) and needs(op, self._replacing):
                op.move_before(self._last)
        for op in reversed(between):
            unused = op.name.startswith(COPIED) and not any(list(result.uses) for result in op.results)
            if op in self._ops or unused:
                op.erase()

    def _is_used_outside(self, result: ir.Value) -> bool:
        """Whether an op behind the part uses a value, be it in a list."""
        for use in result.uses:
            user = ancestor_in_block(use.owner.operation, self._last.block)
            if user is None or user in self._ops:
                continue
            if not user.name.startswith(COPIED) or any(map(self._is_used_outside, user.results)):
                return True
        return False

    def _clone(self, op: ir.Operation, body: ir.Block, where: ir.InsertionPoint) -> None:
        for part in (op, *walk(op)):
            for operand in part.operands:
                if not _is_within(defining_block(operand), op):
                    self._take_in(operand, body, where)
        clone = op.clone(where)
        for part in (clone, *walk(clone)):
            for number, operand in enumerate(part.operands):
                if operand in self._inside:
                    part.operands[number] = self._inside[operand]
        self._inside.update(zip(op.results, clone.results))

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
            argument = body.add_argument(_passed_type(value.type), ir.Location.unknown(value.context))
            self._passed.append(_converted(value, self._outside))
            self._inside[value] = _converted_back(argument, value.type, where)
        return self._inside[value]


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
        and owner.operation.name.startswith(COPIED)
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


def erase_unused(module: ir.Module) -> None:
    """Erase the constants, lists and conversions that nothing uses: IREE rejects them."""
    for op in reversed(list(walk(module.operation))):
        if op.name.startswith(_UNUSED) and op.results and not any(list(result.uses) for result in op.results):
            op.erase()


def needs(op: ir.Operation, made: Container[ir.Value]) -> bool:
    """Whether an op uses one of some values, be it in a list."""
    return any(
        operand in made or (_is_copied(operand) and needs(operand.owner.operation, made)) for operand in op.operands
    )
