"""Runs a program of the operator database on inputs at the edges of its domain, and says which of them differ from
eager.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from ...errors import ProgramError, SsaCompilerError, UnsupportedProgramError
from .._compare import Outcome, StageMismatch, fitting_error
from ..harness import Checked, check, run_eager
from .edges import DENORMALS, Inputs, edge_values, empty_sizes, known_difference

__all__ = ["EdgeRun", "is_rounding"]

_MOST_FAILURES = 12
"""Inputs that differ, after which a program is left: each costs an import."""

_UNCHECKED = ("max_pool2d_with_indices_backward",)
"""Operators that write wherever integers say in eager, into memory of others too."""


class EdgeRun:
    """Runs one program on edges of its domain.

    Args:
        op: the operator's name in the database.
        program: the function.
        arguments: those of the sample, on which it has to be right already.
        tolerances: relative and absolute tolerance.
        interpreted: without compiling it.
        is_undefined: whether the function returns memory as it finds it, for certain arguments.
    Attributes:
        failures: what is wrong, by the name of the inputs.
        known: why results may differ, by the name of the inputs.
        rounded: names of inputs whose results differ by no more than eager's own rounding errors.
        rejected: names of inputs that the compiler rejects.
    """

    def __init__(
        self,
        op: str,
        program: Callable[..., Any],
        arguments: list[Any],
        tolerances: tuple[float | None, float | None],
        interpreted: bool,
        is_undefined: Callable[[Callable[..., Any], list[Any]], bool] = lambda program, arguments: False,
    ) -> None:
        self._op, self._program, self._arguments, self._tolerances = op, program, arguments, tolerances
        self._interpreted, self._is_undefined = interpreted, is_undefined
        self.failures: dict[str, str] = {}
        self.known: dict[str, str] = {}
        self.rounded: list[str] = []
        self.rejected: list[str] = []
        self.checked: Checked | None = None

    def run(self) -> None:
        """Run on other numbers on one artefact; on no elements, whose sizes are known or not."""
        values = edge_values(self._arguments)
        if self._op in _UNCHECKED:
            values = [inputs for inputs in values if "integers" not in inputs.name]
        values = _survived(self._program, values)
        if not self._interpreted:  # IREE's kernels flush them to zero
            values = [inputs for inputs in values if inputs.name != DENORMALS]
        self.checked = self._run([Inputs("the sample", self._arguments), *values], {})
        empty = [e for e in empty_sizes(self._arguments) if not self._is_undefined(self._program, e.arguments)]
        for inputs in empty:
            self._run_known(inputs)
        if empty:
            named = [Inputs(f"{inputs.name}, dynamic", inputs.arguments) for inputs in empty]
            options = {"dynamic_shapes": torch.export.Dim.AUTO}
            try:
                self._run([Inputs("the sample, dynamic", self._arguments), *named], options)
            except SsaCompilerError:
                self.rejected.append("dynamic sizes")

    def _check(self, sets: list[Inputs], options: dict[str, Any], compiled: bool) -> Checked:
        rtol, atol = self._tolerances
        calls = [inputs.arguments for inputs in sets]
        return check(
            self._program, *calls, rtol=rtol, atol=atol, compiled=compiled, options=options, rejections=bool(options)
        )

    def _run(self, sets: list[Inputs], options: dict[str, Any]) -> Checked | None:
        """Run on one artefact, leaving out what differs until nothing does."""
        while len(self.failures) + len(self.known) < _MOST_FAILURES:
            try:
                return self._check(sets, options, not self._interpreted)
            except StageMismatch as mismatch:
                inputs = sets[mismatch.call]
                self._note(inputs, mismatch)
                if mismatch.call == 0:
                    return None
                sets = [other for other in sets if other is not inputs]
        return None

    def _note(self, inputs: Inputs, mismatch: StageMismatch) -> None:
        if mismatch.sides is not None and isinstance(mismatch.sides[1].error, UnsupportedProgramError):
            self.rejected.append(inputs.name)
        elif mismatch.sides is not None and is_rounding(self._program, inputs.arguments, *mismatch.sides):
            self.rounded.append(inputs.name)
        elif why := known_difference(self._op, inputs.name):
            self.known[inputs.name] = why
        else:
            self.failures[inputs.name] = str(mismatch)

    def _run_known(self, inputs: Inputs) -> None:
        """Run a program made for these inputs, without compiling it: kernels of no elements compute nothing."""
        expected = run_eager(self._program, inputs.arguments)
        try:
            self._check([inputs], {}, compiled=False)
        except StageMismatch as mismatch:
            self._note(inputs, mismatch)
        except ProgramError as raised:  # at import: it surely raises
            if expected is None or not isinstance(raised, fitting_error(expected)):
                self.failures[inputs.name] = f"expected {expected!r}, got {raised!r}"
        except SsaCompilerError:
            self.rejected.append(inputs.name)


def _survived(program: Callable[..., Any], sets: list[Inputs]) -> list[Inputs]:
    """The inputs that do not kill the process in eager, as an integer that is divided may; tried in another process."""
    left = list(sets)
    while True:
        reader, writer = os.pipe()
        if not (child := os.fork()):
            for inputs in left:
                run_eager(program, inputs.arguments)
                os.write(writer, b".")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as done:
            count = len(done.read())
        os.waitpid(child, 0)
        if count >= len(left):
            return left
        del left[count]


def is_rounding(program: Callable[..., Any], arguments: list[Any], expected: Outcome, actual: Outcome) -> bool:
    """Whether results differ by no more than rounding errors, which are large where large numbers cancel.

    They may differ from those in double precision by as much as eager's, but for a small factor, or by the rounding
    errors of the result for the sizes of the numbers, without their signs, of which a sum is as large as its summands.
    Integers become floats in double precision, too, where the function computes with floats. Beyond the largest number
    of the dtype it depends on the order whether infinities cancel.

    Args:
        program: the function.
        arguments: what it was called with.
        expected: what eager did.
        actual: what the other side did.
    """
    if expected.error is not None or actual.error is not None:
        return False
    wide = tree_map(_widened, copy.deepcopy(arguments))
    has_floats = any(map(_is_number, tree_leaves(arguments)))
    sizes = tree_map(lambda leaf: _size(leaf) if _is_number(leaf) or not has_floats else leaf, wide)
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        with torch.no_grad():
            exact, largest = (tree_leaves(program(*given)) for given in (copy.deepcopy(wide), sizes))
    except (RuntimeError, IndexError):  # a dtype is written into it; or indices that are negative
        return False
    finally:
        torch.set_default_dtype(default)
    sides = [tree_leaves(side.result) for side in (expected, actual)]
    if len({len(exact), len(largest), *map(len, sides)}) != 1:
        return False
    return all(map(_is_as_near, exact, largest, *sides))


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex())


def _size(leaf: Any) -> Any:
    """A number without its sign; of integers those next to it, as the smallest one has none."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype == torch.bool:
        return leaf
    return leaf.abs() if _is_number(leaf) else leaf.clamp(min=-torch.iinfo(leaf.dtype).max).abs()


def _widened(leaf: Any) -> Any:
    if not _is_number(leaf):
        return leaf
    return leaf.to(torch.complex128 if leaf.is_complex() else torch.float64)


def _is_as_near(exact: Any, largest: Any, eager: Any, ours: Any) -> bool:
    if not isinstance(eager, torch.Tensor):
        return bool(eager == ours)
    if not isinstance(ours, torch.Tensor) or eager.dtype != ours.dtype or eager.shape != ours.shape:
        return False
    if not _is_number(eager) or any(t.shape != eager.shape for t in (exact, largest)):
        return torch.equal(eager, ours)
    ends = torch.finfo(eager.dtype)
    true, left, right = map(_parts, (exact, eager, ours))
    size = largest.abs().unsqueeze(-1) if eager.is_complex() else largest
    same = (left == right) | (left.isnan() & right.isnan())
    overflows = size.abs() > ends.max / 4
    finite = left.isfinite() & right.isfinite() & true.isfinite()
    error = (left - true)[finite].abs().max() if bool(finite.any()) else torch.zeros([])
    allowed = 4 * error + 64 * ends.eps * size.abs().nan_to_num(0.0)
    return bool((same | overflows | (finite & ((right - true).abs() <= allowed))).all())


def _parts(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers of a tensor in double precision; real and imaginary parts apart."""
    return (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).double()
