"""Make kernels of parts of a program that is no kernel as a whole.

A part is a run of ops of one block, loops and branches with all that is in them included, between ops that no kernel
takes: as long as possible. One that qualifies is taken out into a function of its own, which becomes a kernel like a
whole program (`kernels`), and its dispatch takes the place of the ops. Where a long run does not, the parts of it
between matrix products and ops whose result has as many elements as data says are tried, then each loop, then what is
in the loops; a part with more arguments and results than a kernel takes is cut in two. What a part uses from around it
becomes an argument, but for constants, which are copied.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

import torch
from iree.compiler import ir

from ..callbacks.callbacks import is_callback, overload_of, torch_operator
from ..ir.bindings import LOOPS, ancestor_in_block, definer, main_function, walk
from ..ir.types import element_of, is_any_tensor
from .counted_places import count_places, takes_counted
from .executable import OperandLimitError, most_tensors
from .kernels import Kernel, NoKernelError, form_kernel
from .library_calls import is_kernel_op
from .outlining import COPIED, Outlined, erase_unused, needs

__all__ = ["form_regions"]

_MOST_TRIED = 16
"""Parts that are tried: each costs the time of two tools."""
_LEAST_OPS = 6
"""Ops on tensors that a part without a loop has at least: IREE makes one kernel of a few elementwise ops, too."""
_OUTSIDE = ("hal.", "func.return", "scf.yield", "scf.condition", "util.return")
"""What begins the names of ops that no kernel has: those that pass tensors to callbacks, and the ends of blocks."""
_NO_ELEMENTS = ("f16", "bf16", "complex<f32>", "complex<f64>", "complex<f16>")
_PRODUCTS = tuple(
    f"aten::{name}" for name in ("mm", "bmm", "matmul", "linear", "addmm", "baddbmm", "convolution", "conv", "einsum")
)


def form_regions(
    module: ir.Module, *, gpu: bool, ssa_opt: str | os.PathLike[str] | None, timeout_s: float
) -> tuple[list[Kernel], list[str]]:
    """Make kernels of the parts of a module that can be kernels, and of the ops that only kernels have.

    Args:
        module: an `iree`-stage module, rewritten in place: it dispatches kernels whose executables it does not have.
        gpu: whether a GPU runs the program.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit of each tool in seconds.
    Returns:
        The kernels; why other parts are none.
    """
    count_places(module)
    former = _Former({"workgroups": int(gpu), "ssa_opt": ssa_opt, "timeout_s": timeout_s})
    former.visit(main_function(module).regions[0].blocks[0])
    if former.kernels:
        erase_unused(module)
    return former.kernels, former.reasons


class _TooManyTensors(NoKernelError):
    """A part that no tool has to look at."""


class _Former:
    """Looks for parts of a module, and makes kernels of them.

    Attributes:
        kernels: those that were made.
        reasons: why other parts are none.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self.kernels: list[Kernel] = []
        self.reasons: list[str] = []
        self._options = options
        self._tried = 0
        self._overloaded = False  # whether the part tried last had too many arguments and results

    def visit(self, block: ir.Block) -> None:
        """Make kernels of the parts of a block."""
        ops = [view.operation for view in block.operations]
        outside = [op for op in ops if _stays_outside(op)]
        for run in _runs(ops, _stays_outside):
            if any(map(_divides, run)):
                if not self._forms(run):
                    for part in _runs(run, _divides):
                        self._visit_part(part)
            else:
                self._visit_part(run)
        for op in outside:
            self._look_into(op)

    def _visit_part(self, part: list[ir.Operation]) -> None:
        if self._forms(part):
            return
        if self._overloaded and len(part) > 1:
            for half in _halves(part):
                self._visit_part(half)
            return
        for op in part:
            if not ((op.name in LOOPS or is_kernel_op(op)) and self._forms([op], alone=True)):
                self._look_into(op)

    def _look_into(self, op: ir.Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self.visit(block)

    def _forms(self, ops: Sequence[ir.Operation], *, alone: bool = False) -> bool:
        """Make a kernel of ops, and put its dispatch in their place, if that can be."""
        must = any(map(is_kernel_op, ops))
        self._overloaded = False
        if not alone and (len(ops) < 2 or not _is_worthwhile(ops)):
            return False
        if not (alone and must) and self._tried >= _MOST_TRIED:
            return False
        try:
            self.kernels.append(_take_out(ops, f"kernel_{len(self.kernels)}", self._options))
        except NoKernelError as error:
            self._overloaded = isinstance(error, _TooManyTensors) or isinstance(error.__cause__, OperandLimitError)
            if not isinstance(error, _TooManyTensors):
                # The time that One-Shot Bufferize takes grows with the cube of the size: smaller parts take long, too.
                self._tried += 1 if error.lasting else _MOST_TRIED // 2
            self.reasons.append(str(error))
            return False
        self._tried += 1
        return True


def _runs(ops: Sequence[ir.Operation], breaks: Callable[[ir.Operation], bool]) -> list[list[ir.Operation]]:
    """Return the longest runs of ops between those that break one, without what need not be in a kernel."""
    runs: list[list[ir.Operation]] = [[]]
    for op in ops:
        if breaks(op):
            runs.append([])
        elif not op.name.startswith(COPIED) and (runs[-1] or _has_tensors(op)):
            runs[-1].append(op)
    return [trimmed for run in runs if (trimmed := _without_numbers(run))]


def _halves(part: list[ir.Operation]) -> list[list[ir.Operation]]:
    """Cut a part so that neither half has more arguments and results than it must."""
    size = len(part)
    places = {op: number for number, op in enumerate(part)}
    block = part[0].block
    # How many tensors more go into or out of each half if the cut is at a place than if it is before it.
    left, right = [0] * (size + 1), [0] * (size + 1)
    read: dict[ir.Value, list[int]] = {}  # from around the part
    for number, op in enumerate(part):
        for value in {
            value for inner in (op, *walk(op)) for operand in inner.operands for value in _tensors_of(operand)
        }:
            if ancestor_in_block(_owner(value), block) not in places:
                read.setdefault(value, []).append(number)
        for value in filter(is_any_tensor, op.results):
            users = [places.get(ancestor_in_block(user, block)) for user in _users(value)]
            outside, last = None in users, max((user for user in users if user is not None), default=number)
            left[number + 1] += 1
            left[size if outside else last + 1] -= 1
            right[number + 1] += 1 - outside
            right[last + 1] -= 1
            right[0] += outside
    for numbers in read.values():
        left[numbers[0] + 1] += 1
        right[0] += 1
        right[numbers[-1] + 1] -= 1
    lefts, rights = itertools.accumulate(left), itertools.accumulate(right)
    costs = [max(pair) for pair in zip(lefts, rights)]
    cut = min(range(1, size), key=lambda place: (costs[place], abs(place - size // 2)))
    return [trimmed for half in (part[:cut], part[cut:]) if (trimmed := _without_numbers(half))]


def _tensors_of(value: ir.Value) -> list[ir.Value]:
    """A tensor, or the tensors of a list."""
    if is_any_tensor(value):
        return [value]
    maker = definer(value)
    if maker is None or not maker.name.startswith(COPIED):
        return []
    return [tensor for operand in maker.operands for tensor in _tensors_of(operand)]


def _owner(value: ir.Value) -> ir.Operation:
    """The op that makes a value, or whose region it is an argument of."""
    return definer(value) or value.owner.owner.operation


def _users(value: ir.Value) -> list[ir.Operation]:
    """The ops that use a value, by itself or in a list."""
    users = [use.owner.operation for use in value.uses]
    listed = [op for op in users if op.name.startswith(COPIED)]
    return [op for op in users if op not in listed] + [op for made in listed for op in _users(made.results[0])]


def _without_numbers(run: list[ir.Operation]) -> list[ir.Operation]:
    """Return a run without ops on numbers that need nothing of it, or come last: the host computes them as well."""
    while run and not _has_tensors(run[-1]):
        run = run[:-1]
    kept: list[ir.Operation] = []
    made: set[ir.Value] = set()
    for op in run:
        if _has_tensors(op) or needs(op, made):
            kept.append(op)
            made.update(op.results)
    return kept


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
    if takes_counted(op):
        return True
    name = torch_operator(op) or ""
    overload = overload_of(name) if name and not name.startswith("aten::index.") else None
    resizes = overload is not None and torch.Tag.dynamic_output_shape in overload.tags
    return resizes or name.startswith(_PRODUCTS)


def _is_worthwhile(ops: Sequence[ir.Operation]) -> bool:
    """Whether a kernel of ops saves launches."""
    if any(op.name in LOOPS or is_kernel_op(op) for part in ops for op in (part, *walk(part))):
        return True
    return sum(torch_operator(op) is not None and any(map(is_any_tensor, op.results)) for op in ops) >= _LEAST_OPS


def _take_out(ops: Sequence[ir.Operation], name: str, options: dict[str, Any]) -> Kernel:
    """Make a kernel of ops of one block, and put its dispatch in their place.

    Args:
        ops: the ops.
        name: the name of the executable.
        options: further ones of `form_kernel`.

    Raises:
        NoKernelError: they cannot be one; nothing is changed then, but for conversions that nothing uses.
    """
    if any(is_callback(part) for op in ops for part in (op, *walk(op))):
        raise NoKernelError("a part of it runs in PyTorch")
    outlined = Outlined(ops)
    if outlined.tensors > most_tensors(gpu=options["workgroups"] > 0):
        raise _TooManyTensors(f"{outlined.tensors} tensors among its arguments and results")
    kernel = form_kernel(outlined.text(), ops[0].context, name=name, whole=False, **options)
    outlined.replace_by(kernel)
    return kernel
