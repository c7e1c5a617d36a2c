"""The stages between the importer and the backend: which passes make each, and writing them to a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._opt import run_ssa_opt
from .errors import UnsupportedProgramError

if TYPE_CHECKING:
    from .abi import ImportedProgram

__all__ = ["PASSES", "STAGES", "PipelineResult", "dump_stage", "import_and_run", "run_pipeline"]

# Stage -> the ssa-opt flags that make it from the stage before, in order (docs/Architecture.md).
PASSES: dict[str, tuple[str, ...]] = {
    # Checks come first: a view that nobody uses is dead code to any pass, and raises in eager.
    "scf": ("--torch-insert-bounds-checks", "--torch-to-scf"),
    "tensorssa": ("--convert-to-tensorssa",),
    "iree": ("--expand-float-to-int", "--reserve-capacity", "--fold-nested-updates", "--legalize-iree-boundary"),
}
STAGES = ("imported", *PASSES)


@dataclass(frozen=True)
class PipelineResult:
    """The IR after each stage.

    Attributes:
        stages: textual MLIR with locations, keyed by stage name in order.
        seconds: wall-clock time of each stage.
    """

    stages: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def final(self) -> str:
        """The module for the backend."""
        return self.stages[STAGES[-1]]


def dump_stage(dump_dir: str | os.PathLike[str] | None, stage: str, text: str, suffix: str = ".mlir") -> None:
    """Write one stage to `<dump_dir>/<number>-<stage>.mlir`; nothing if `dump_dir` is None.

    Args:
        dump_dir: folder, made if it does not exist.
        stage: a stage of this module, or another name for what a later layer writes.
        text: what to write.
        suffix: file name extension.
    """
    if dump_dir is None:
        return
    folder = Path(dump_dir)
    folder.mkdir(parents=True, exist_ok=True)
    number = STAGES.index(stage) if stage in STAGES else len(STAGES)
    (folder / f"{number}-{stage}{suffix}").write_text(text, encoding="utf-8")


def import_and_run(deliver: Callable[[bool], ImportedProgram], **tools: Any) -> tuple[ImportedProgram, PipelineResult]:
    """Import a program and run every stage over it.

    A list that a loop makes longer may be a buffer with copies of its elements. Where a write would show that, the
    program is imported again with such loops written out, if they are short.

    Args:
        deliver: imports the program; is told whether to write out loops of few iterations, however large they are.
        **tools: as of `run_pipeline`.
    Raises:
        SsaCompilerError: it is rejected.
    """
    program = deliver(False)
    try:
        return program, run_pipeline(program.module, **tools)
    except UnsupportedProgramError:
        if not program.keeps_loops:
            raise
    program = deliver(True)
    return program, run_pipeline(program.module, **tools)


def run_pipeline(
    imported: str,
    *,
    ssa_opt: str | os.PathLike[str] | None = None,
    timeout_s: float = 120.0,
    dump_dir: str | os.PathLike[str] | None = None,
) -> PipelineResult:
    """Run every stage over an imported module.

    Args:
        imported: the importer's module as text with locations.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit of each stage in seconds.
        dump_dir: folder that receives each stage, and the input of a stage that fails.
    Returns:
        The IR after each stage.
    Raises:
        UnsupportedOpError, UnsupportedProgramError, ToolError: see `run_ssa_opt`.
    """
    stages = {"imported": imported}
    seconds: dict[str, float] = {}
    dump_stage(dump_dir, "imported", imported)
    text = imported
    for stage, passes in PASSES.items():
        start = time.perf_counter()
        text = run_ssa_opt(text, passes, ssa_opt=ssa_opt, timeout_s=timeout_s, dump_dir=dump_dir)
        seconds[stage] = time.perf_counter() - start
        stages[stage] = text
        dump_stage(dump_dir, stage, text)
    return PipelineResult(stages, seconds)
