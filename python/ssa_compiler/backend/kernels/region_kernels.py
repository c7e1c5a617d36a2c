"""Make kernels of parts of a program that is no kernel as a whole.

A part is a run of ops of one block, loops and branches with all that is in them included, between ops that no kernel
takes: as long as possible. One that qualifies is taken out into a function of its own, which becomes a kernel like a
whole program (`kernels`), and its dispatch takes the place of the ops. Where a long run does not, the parts of it
between matrix products and ops whose result has as many elements as data says are tried, then each loop, then what is
in the loops. What a part uses from around it becomes an argument, but for constants, which are copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Sequence

import torch
from iree.compiler import ir

from ..callbacks.callbacks import is_callback, overload_of, torch_operator
from ..ir.bindings import LOOPS, ancestor_in_block, build, cast_root, defining_block, main_function, walk
from ..ir.copies import builtin_type
from ..ir.types import element_of, is_any_tensor
from ..workarounds.constants import hide_constants
from .kernels import Kernel, NoKernelError, form_kernel
from .library_calls import is_kernel_op
from .linalg_ready import make_lowerable

__all__ = ["form_regions"]

_MOST_TRIED = 16
"""Parts that are tried: each costs the time of two tools."""
_LEAST_OPS = 6
"""Ops on tensors that a part without a loop has at least: IREE makes one kernel of a few elementwise ops, too."""
_PASSED = {
    "!torch.int": ("i64", "torch_c.to_i64", "torch_c.from_i64"),
    "!torch.float": ("f64", "torch_c.to_f64", "torch_c.from_f64"),
    "!torch.bool": ("i1", "torch_c.to_i1", "torch_c.from_i1"),
    "index": ("i64", "arith.index_cast", "arith.index_cast"),
}
"""How numbers are passed that a kernel does not take: as which type, and the conversions to it and back."""
_PLAIN = ("i1", "i32", "i64", "f32", "f64")
_COPIED = ("torch.constant.", "torch.prim.ListConstruct", "arith.constant")
_OUTSIDE = ("hal.", "func.return", "scf.yield", "scf.condition", "util.return")
"""What begins the names of ops that no kernel has: those that pass tensors to callbacks, and the ends of blocks."""
_NO_ELEMENTS = ("f16", "bf16", "complex<f32>", "complex<f64>", "complex<f16>")
_PRODUCTS = tuple(
    f"aten::{name}" for name in ("mm", "bmm", "matmul", "linear", "addmm", "baddbmm", "convolution", "conv", "einsum")
)
_UNUSED = (*_COPIED, "torch_c.")
_SIZES = ("tssa.example_sizes", "tssa.max_sizes")


def form_regions(
    module: ir.Module, *, ssa_opt: str | os.PathLike[str] | None, timeout_s: float
) -> tuple[list[Kernel], list[str]]:
    """Make kernels of the parts of a module that can be kernels, and of the ops that only kernels have.

    Args:
        module: an `iree`-stage module, rewritten in place: it dispatches kernels whose executables it does not have.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit of each tool in seconds.
    Returns:
        The kernels; why other parts are none.
    """
    former = _Former(ssa_opt, timeout_s)
    former.visit(main_function(module).regions[0].blocks[0])
    if former.kernels:
        _erase_unused(module)
    return former.kernels, former.reasons


class _Former:
    """Looks for parts of a module, and makes kernels of them.

    Attributes:
        kernels: those that were made.
        reasons: why other parts are none.
    """

    def __init__(self, ssa_opt: str | os.PathLike[str] | None, timeout_s: float) -> None:
        self.kernels: list[Kernel] = []
        self.reasons: list[str] = []
        self._ssa_opt, self._timeout_s = ssa_opt, timeout_s

    def visit(self, block: ir.Block) -> None:
        """Make kernels of the parts of a block."""
        ops = [view.operation for view in block.operations]
        outside = [op for op in ops if _stays_outside(op)]
        for run in _runs(ops, _stays_outside):
            if self._forms(run):
                continue
            for part in _runs(run, _divides) if any(map(_divides, run)) else [run]:
                if len(part) < len(run) and self._forms(part):
                    continue
                for op in part:
                    if not ((op.name in LOOPS or is_kernel_op(op)) and self._forms([op], alone=True)):
                        self._look_into(op)
        for op in outside:
            self._look_into(op)

    def _look_into(self, op: ir.Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self.visit(block)

    def _forms(self, ops: Sequence[ir.Operation], *, alone: bool = False) -> bool:
        """Make a kernel of ops, and put its dispatch in their place, if that can be."""
        must = any(map(is_kernel_op, ops))
        if not alone and (len(ops) < 2 or not _is_worthwhile(ops)):
            return False
        if not (alone and must) and len(self.kernels) + len(self.reasons) >= _MOST_TRIED:
            return False
        try:
            self.kernels.append(_take_out(ops, f"kernel_{len(self.kernels)}", self._ssa_opt, self._timeout_s))
        except NoKernelError as error:
            self.reasons.append(str(error))
            return False
        return True


def _runs(ops: Sequence[ir.Operation], breaks: Callable[[ir.Operation], bool]) -> list[list[ir.Operation]]:
    """Return the longest runs of ops between those that break one, without what need not be in a kernel."""
    runs: list[list[ir.Operation]] = [[]]
    for op in ops:
        if breaks(op):
            runs.append([])
        elif not op.name.startswith(_COPIED) and (runs[-1] or _has_tensors(op)):
            runs[-1].append(op)
    return [trimmed for run in runs if (trimmed := _without_numbers(run))]


def _without_numbers(run: list[ir.Operation]) -> list[ir.Operation]:
    """Return a run without ops on numbers that need nothing of it, or come last: the host computes them as well."""
    while run and not _has_tensors(run[-1]):
        run = run[:-1]
    kept: list[ir.Operation] = []
    made: set[ir.Value] = set()
    for op in run:
        if _has_tensors(op) or _needs(op, made):
            kept.append(op)
            made.update(op.results)
    return kept


def _needs(op: ir.Operation, made: Container[ir.Value]) -> bool:
    """Whether an op uses one of some values, be it in a list."""
    return any(
        operand in made or (_is_copied(operand) and _needs(operand.owner.operation, made)) for operand in op.operands
    )


def _has_tensors(op: ir.Operation) -> bool:
    """Whether an op is no mere computation with numbers; an assertion is none."""
    return bool(op.regions) or not op.results or any(is_any_tensor(value) for value in (*op.operands, *op.results))


def _stays_outside(op: ir.Operation) -> bool:
    """Whether no kernel has an op: it runs in PyTorch, ends the block, or has other numbers than kernels have."""
    parts = [op, *walk(op)]
    return (
        op.name.startswith(_OUTSIDE)
        or any(is_callback(part) for part in parts)
        or any(element_of(result.type) in _NO_ELEMENTS for part in parts for result in part.results)
    )


def _divides(op: ir.Operation) -> bool:
    """Whether an op may be what keeps a part from being a kernel.

    It is a product of matrices, at which IREE's own kernels are quicker, or an op whose result has as many elements as
    data says, which the host makes before a kernel is called.
    """
    name = torch_operator(op) or ""
    overload = overload_of(name) if name and not name.startswith("aten::index.") else None
    resizes = overload is not None and torch.Tag.dynamic_output_shape in overload.tags
    return resizes or name.startswith(_PRODUCTS)


def _is_worthwhile(ops: Sequence[ir.Operation]) -> bool:
    """Whether a kernel of ops saves launches."""
    if any(op.name in LOOPS or is_kernel_op(op) for part in ops for op in (part, *walk(part))):
        return True
    return sum(torch_operator(op) is not None and any(map(is_any_tensor, op.results)) for op in ops) >= _LEAST_OPS


def _take_out(
    ops: Sequence[ir.Operation], name: str, ssa_opt: str | os.PathLike[str] | None, timeout_s: float
) -> Kernel:
    """Make a kernel of ops of one block, and put its dispatch in their place.

    Raises:
        NoKernelError: they cannot be one; nothing is changed then, but for conversions that nothing uses.
    """
    if any(is_callback(part) for op in ops for part in (op, *walk(op))):
        raise NoKernelError("a part of it runs in PyTorch")
    outlined = _Outlined(ops)
    kernel = form_kernel(outlined.text(), ops[0].context, name=name, whole=False, ssa_opt=ssa_opt, timeout_s=timeout_s)
    outlined.replace_by(kernel)
    return kernel


class _Outlined:
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
            if op not in self._ops and op.name.startswith(_COPIED) and _needs(op, self._replacing):
                op.move_before(self._last)
        for op in reversed(between):
            unused = op.name.startswith(_COPIED) and not any(list(result.uses) for result in op.results)
            if op in self._ops or unused:
                op.erase()

    def _is_used_outside(self, result: ir.Value) -> bool:
        """Whether an op behind the part uses a value, be it in a list."""
        for use in result.uses:
            user = ancestor_in_block(use.owner.operation, self._last.block)
            if user is None or user in self._ops:
                continue
            if not user.name.startswith(_COPIED) or any(map(self._is_used_outside, user.results)):
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
