"""Runs a program of the operator database on inputs at the edges of its domain, and says which of them differ from eager."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from ...errors import ProgramError, SsaCompilerError
from .._compare import Outcome, StageMismatch, fitting_error
from ..harness import Checked, check, run_eager
from .edges import DENORMALS, Inputs, edge_values, empty_sizes

__all__ = ["EdgeRun", "is_rounding"]

_MOST_FAILURES = 8
"""Inputs that differ, after which a program is left: each costs an import."""


class EdgeRun:
    """Runs one program on edges of its domain.

    Args:
        program: the function.
        arguments: those of the sample, on which it has to be right already.
        tolerances: relative and absolute tolerance.
        interpreted: without compiling it.
        is_undefined: whether the function returns memory as it finds it, for certain arguments.
    Attributes:
        failures: what is wrong, by the name of the inputs.
        rounded: names of inputs whose results differ by no more than eager's own rounding errors.
        refused: names of inputs that the compiler refuses.
    """

    def __init__(
        self,
        program: Callable[..., Any],
        arguments: list[Any],
        tolerances: tuple[float | None, float | None],
        interpreted: bool,
        is_undefined: Callable[[Callable[..., Any], list[Any]], bool] = lambda program, arguments: False,
    ) -> None:
        self._program, self._arguments, self._tolerances = program, arguments, tolerances
        self._interpreted, self._is_undefined = interpreted, is_undefined
        self.failures: dict[str, str] = {}
        self.rounded: list[str] = []
        self.refused: list[str] = []
        self.checked: Checked | None = None

    def run(self) -> None:
        """Run on other numbers on one artefact; on no elements, whose sizes are known or not."""
        values = edge_values(self._arguments)
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
                self.refused.append("dynamic sizes")

    def _check(self, sets: list[Inputs], options: dict[str, Any]) -> Checked:
        rtol, atol = self._tolerances
        compiled = not self._interpreted
        calls = [inputs.arguments for inputs in sets]
        return check(
            self._program, *calls, rtol=rtol, atol=atol, compiled=compiled, options=options, refusals=bool(options)
        )

    def _run(self, sets: list[Inputs], options: dict[str, Any]) -> Checked | None:
        """Run on one artefact, leaving out what differs until nothing does."""
        while len(self.failures) < _MOST_FAILURES:
            try:
                return self._check(sets, options)
            except StageMismatch as mismatch:
                inputs = sets[mismatch.call]
                self._note(inputs, mismatch)
                if mismatch.call == 0:
                    return None
                sets = [other for other in sets if other is not inputs]
        return None

    def _note(self, inputs: Inputs, mismatch: StageMismatch) -> None:
        if mismatch.sides is not None and is_rounding(self._program, inputs.arguments, *mismatch.sides):
            self.rounded.append(inputs.name)
        else:
            self.failures[inputs.name] = str(mismatch)

    def _run_known(self, inputs: Inputs) -> None:
        """Run a program made for these inputs."""
        expected = run_eager(self._program, inputs.arguments)
        try:
            self._check([inputs], {})
        except StageMismatch as mismatch:
            self._note(inputs, mismatch)
        except ProgramError as raised:  # at import: it surely raises
            if expected is None or not isinstance(raised, fitting_error(expected)):
                self.failures[inputs.name] = f"expected {expected!r}, got {raised!r}"
        except SsaCompilerError:
            self.refused.append(inputs.name)


def is_rounding(program: Callable[..., Any], arguments: list[Any], expected: Outcome, actual: Outcome) -> bool:
    """Whether results are no farther from those in double precision than eager's, but for a small factor.

    Sums of numbers that differ in size, or cancel, depend on the order in which they are added.

    Args:
        program: the function.
        arguments: what it was called with.
        expected: what eager did.
        actual: what the other side did.
    """
    if expected.error is not None or actual.error is not None:
        return False
    wide = tree_map(_widened, copy.deepcopy(arguments))
    try:
        with torch.no_grad():
            exact = tree_leaves(program(*wide))
    except RuntimeError:  # a dtype is written into it
        return False
    sides = [tree_leaves(side.result) for side in (expected, actual)]
    if len({len(exact), *map(len, sides)}) != 1:
        return False
    return all(map(_is_as_near, exact, *sides))


def _widened(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or not (leaf.is_floating_point() or leaf.is_complex()):
        return leaf
    return leaf.to(torch.complex128 if leaf.is_complex() else torch.float64)


def _is_as_near(exact: Any, eager: Any, ours: Any) -> bool:
    if not isinstance(eager, torch.Tensor):
        return bool(eager == ours)
    if not isinstance(ours, torch.Tensor) or not isinstance(exact, torch.Tensor):
        return False
    if eager.dtype != ours.dtype or eager.shape != ours.shape or exact.shape != eager.shape:
        return False
    if not (eager.is_floating_point() or eager.is_complex()):
        return torch.equal(eager, ours)
    parts = [torch.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in (exact, eager, ours)]
    true, left, right = (part.double() for part in parts)
    same = (left == right) | (left.isnan() & right.isnan())
    finite = left.isfinite() & right.isfinite() & true.isfinite()
    if not bool((same | finite).all()):
        return False
    allowed = 4 * (left - true)[finite].abs().max() if bool(finite.any()) else 0.0
    return bool((same | ((right - true).abs() <= allowed)).all())
