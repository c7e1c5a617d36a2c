"""Runs one program and says what came of it: one record for each program and system."""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch

from ...errors import (
    ProgramError,
    ScriptError,
    SsaCompilerError,
    ToolError,
    UnsupportedOpError,
    UnsupportedProgramError,
)
from ...importer.partial_evaluation.opening import prefer_partial_evaluation
from ..auto_sizes import check_auto_sizes, expect_error
from ..harness import StageMismatch, check
from .arguments import resized
from .metamorphic import run_metamorphic
from .peers import run_peer
from .program import Loaded, Program, load
from .record import AUTO, PARTIAL, Record, fail, generator_version

__all__ = ["run_program"]


def run_program(program: Program, system: str = "interpreted", *, timeout_s: float = 120.0) -> Record:
    """Run a program on all its input sets and compare it with eager.

    Args:
        program: the program.
        system: one of `SYSTEMS`.
        timeout_s: wall-clock limit of each run of a tool in seconds.
    Returns:
        The record; whatever the system raises is in it.
    """
    if system == "metamorphic":
        return run_metamorphic(program)
    start = time.perf_counter()
    record = Record(system, program.seed, "ok", features=sorted(program.features), version=generator_version())
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name = f"fuzz_{program.seed if program.seed is not None else 'file'}"
        try:
            loaded = load(program.text, Path(folder), name)
        except Exception as error:  # the file itself is wrong, not the compiler
            fail(record, "error", f"the program cannot be loaded: {type(error).__name__}: {error}", folder)
            return record
        record.calls = len(loaded.calls)
        if not loaded.calls:
            fail(record, "rejected", "for every input set an int of the program leaves 64 bits, or it runs on", folder)
            return record
        runner = _run_own if system in ("interpreted", "compiled", PARTIAL, *AUTO) else run_peer
        prefer_partial_evaluation(system == PARTIAL)
        try:
            runner(loaded, record, timeout_s)
        except StageMismatch as error:
            record.stage = error.stage
            rejected = isinstance(error.__cause__, (UnsupportedOpError, UnsupportedProgramError))
            fail(record, "rejected" if rejected else "wrong", str(error), folder)  # it may be rejected while it runs
        except (UnsupportedOpError, UnsupportedProgramError) as error:
            fail(record, "rejected", str(error), folder)
        except ScriptError as error:
            fail(record, "rejected", f"TorchScript cannot script it: {_script_message(error)}", folder)
        except (ToolError, SsaCompilerError) as error:
            fail(record, "error", f"{type(error).__name__}: {error}", folder)
        except Exception as error:  # a crash of the importer is a result
            fail(record, "error", f"{type(error).__name__}: {error}", folder)
        finally:
            sys.modules.pop(name, None)
    record.seconds = round(time.perf_counter() - start, 4)
    return record


def _script_message(error: ScriptError) -> str:
    """The line of TorchScript's message that says what is wrong; what stops partial evaluation, if that was tried."""
    last = str(error).rpartition("artial evaluation, ")[2]
    return (error.explanation or str(error)).partition("\n")[0] if last == str(error) else last


def _run_own(loaded: Loaded, record: Record, timeout_s: float) -> None:
    """This compiler: every stage under the interpreter, then the compiled program if asked for."""
    compiled = record.system.endswith("compiled")
    options = {"timeout_s": timeout_s} if compiled else None
    if record.system in AUTO:
        shapes = {tuple(v.shape for v in call if isinstance(v, torch.Tensor)) for call in loaded.calls}
        calls = resized(loaded.calls) if len(shapes) == 1 else loaded.calls
        found = check_auto_sizes(loaded.model, *calls, compiled=compiled, options=options)
        record.raised, record.turned_away, record.artefacts = found.raised, found.turned_away, len(found.artefacts)
        return
    try:
        checked = check(
            loaded.model, *loaded.calls, compiled=compiled, options=options, rejections=True, exact=loaded.exact
        )
    except ProgramError as error:
        # The importer found that the program surely raises; so it has to, for the example.
        expect_error(loaded.model, loaded.calls[0], error)
        record.raised = record.calls
        return
    record.raised = sum(error is not None for error in checked.errors)
    record.turned_away = sum(rejection is not None for rejection in checked.rejections)
