"""Programs with `Dim.AUTO` for all sizes: as many artefacts as calls of other sizes make, each against eager.

A call that an artefact rejects is compiled for, as `ssa_compiler.compile` does, and runs together with what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch.export import Dim

from ..errors import ProgramError
from ._compare import StageMismatch
from .harness import Call, Checked, check, run_eager

__all__ = ["AutoChecked", "check_auto_sizes", "expect_error"]


@dataclass
class AutoChecked:
    """What `check_auto_sizes` saw.

    Attributes:
        artefacts: what was checked, one for each time that the program was compiled.
        raised: input sets for which eager raised.
        turned_away: input sets that no artefact takes, for a reason other than their sizes.
    """

    artefacts: list[Checked] = field(default_factory=list)
    raised: int = 0
    turned_away: int = 0


def check_auto_sizes(
    model: Callable[..., Any],
    *calls: Sequence[Any] | Call,
    compiled: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> AutoChecked:
    """Check that a program with dynamic sizes does what eager does, whatever the sizes are.

    Args:
        model: function or nn.Module.
        calls: input sets, the first of which the program is compiled for.
        compiled: compile the programs with IREE, too.
        rtol: relative tolerance; by default one that fits the dtype.
        atol: absolute tolerance.
        options: further keyword arguments of `ssa_compiler.compile`.
    Returns:
        What was compiled for them.
    Raises:
        StageMismatch: a stage differs from eager, or a program rejects its own example because of its sizes.
        SsaCompilerError: the model cannot be imported or compiled for one of the input sets.
    """
    found = AutoChecked()
    given = {**(options or {}), "dynamic_shapes": Dim.AUTO}
    pending = list(calls)
    while pending:
        try:
            checked = check(
                model, *pending, compiled=compiled, rtol=rtol, atol=atol, options=dict(given), rejections=True
            )
        except ProgramError:
            # A further specialisation raises what eager does, whatever the import finds first.
            try:
                check(model, pending[0], options=dict(given), lenient=True)
            except ProgramError as error:
                expect_error(model, pending[0], error)
            found.raised += 1
            del pending[0]
            continue
        found.artefacts.append(checked)
        found.raised += sum(error is not None for error in checked.errors)
        first = checked.rejections[0]
        if first is not None and first.mismatch:
            raise StageMismatch("imported", 0, f"the program rejects what it was made for: {first}") from first
        others = [each for each in checked.rejections if each is not None and not each.mismatch]
        found.turned_away += len(others)
        pending = [
            call for call, rejection in zip(pending, checked.rejections) if rejection is not None and rejection.mismatch
        ]
    return found


def expect_error(model: Callable[..., Any], call: Sequence[Any] | Call, error: ProgramError) -> None:
    """Check that eager raises what the importer says a program surely does.

    Args:
        model: function or nn.Module.
        call: the example.
        error: what the importer raised.
    Raises:
        StageMismatch: eager does not raise, or something else.
    """
    expected = run_eager(model, call)
    if expected is None or not isinstance(error, _family(expected)):
        got = "no error" if expected is None else f"{type(expected).__name__}: {expected}"
        raise StageMismatch("importer", 0, f"expected {got}, got {type(error).__name__}: {error}") from error


def _family(error: BaseException) -> type[BaseException]:
    families = (IndexError, ZeroDivisionError, AssertionError, ValueError, TypeError, NotImplementedError, RuntimeError)
    return next((kind for kind in families if isinstance(error, kind)), type(error))
