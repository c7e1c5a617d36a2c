"""Runs one program and says what came of it: one record for each program and system."""

from __future__ import annotations

import functools
import hashlib
import re
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from ...errors import (
    ProgramError,
    ScriptError,
    SsaCompilerError,
    ToolError,
    UnsupportedOpError,
    UnsupportedProgramError,
)
from ..auto_sizes import check_auto_sizes, expect_error
from ..harness import StageMismatch, check
from .arguments import resized
from .generate import generate
from .program import Loaded, Program, load
from .sizes import size_program

__all__ = [
    "AUTO",
    "PEERS",
    "STATUSES",
    "SYSTEMS",
    "Record",
    "fail",
    "generator_version",
    "normalize",
    "run_program",
    "signature",
]

# What can come of a program. "wrong" and "error" are failures; a system that refuses says so.
STATUSES = ("ok", "refused", "wrong", "error")
AUTO = ("auto-sizes", "auto-sizes compiled")
PEERS = ("torchscript", "torch.compile", "torch-mlir")
SYSTEMS = ("interpreted", "compiled", *AUTO, "metamorphic", *PEERS)


@dataclass
class Record:
    """What one system made of one program.

    Attributes:
        system: one of `SYSTEMS`.
        seed: the program's seed; None for a program from a file.
        status: one of `STATUSES`.
        reason: the message without names and numbers, to count equal ones; empty if ok.
        message: the whole message.
        stage: for a wrong result the first stage that differs.
        features: the program's ingredients.
        seconds: wall-clock time.
        version: which generator wrote the program.
        raised: input sets for which eager raised.
        calls: input sets in all.
        turned_away: input sets that did not fit what the program was compiled for.
        executed: whether results were compared; a system may only convert.
        rewrites: for a metamorphic check, what was changed.
        artefacts: with dynamic sizes, how often the program was compiled for its input sets.
    """

    system: str
    seed: int | None
    status: str
    reason: str = ""
    message: str = ""
    stage: str = ""
    features: list[str] = field(default_factory=list)
    seconds: float = 0.0
    version: str = ""
    raised: int = 0
    calls: int = 0
    turned_away: int = 0
    executed: bool = True
    rewrites: list[str] = field(default_factory=list)
    artefacts: int = 1

    def json(self) -> dict[str, Any]:
        """The record as plain data."""
        return asdict(self)


@functools.lru_cache(maxsize=1)
def generator_version() -> str:
    """Name the generator by what it writes, so that records of other programs are not mixed up with these."""
    text = "".join(generate(seed).text + size_program(seed).text for seed in range(40))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def normalize(message: str) -> str:
    """Reduce a message to what is the same in other programs: without files, names and numbers.

    Args:
        message: an error's text.
    Returns:
        Its first line, shortened.
    """
    line = next((part for part in message.strip().splitlines() if part.strip()), "")
    line = re.sub(r"\S*\.(?:py|mlir):\d+(?::\d+)?:?\s*", "", line)
    line = re.sub(r"/\S+", "<path>", line)
    line = re.sub(r"!torch\.\w+<[^>]*>|tensor<[^>]*>", "<type>", line)
    line = re.sub(r"'(?:%|)(?:x|y|z|o|n|k|self\.\w+|[a-z]+\d+)'", "'<name>'", line)
    line = re.sub(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "#", line)
    return line[:160]


def signature(record: Record) -> tuple[str, str, str]:
    """What has to stay the same for two failures to be one: the status, the stage and the kind of difference."""
    if record.status == "wrong" and "expected" not in record.message.partition("differ")[0]:
        kinds = ("differ", "raised", "IR is wrong", "shares memory", "in eager")
        return record.status, record.stage, next((kind for kind in kinds if kind in record.message), record.reason)
    return record.status, record.stage, record.reason


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
        from .metamorphic import run_metamorphic

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
        runner: Callable[[Loaded, Record, float], None]
        if system in ("interpreted", "compiled", *AUTO):
            runner = _run_own
        else:
            from .peers import run_peer

            runner = run_peer
        try:
            runner(loaded, record, timeout_s)
        except StageMismatch as error:
            record.stage = error.stage
            refused = isinstance(error.__cause__, (UnsupportedOpError, UnsupportedProgramError))
            fail(record, "refused" if refused else "wrong", str(error), folder)  # it may be refused while it runs
        except (UnsupportedOpError, UnsupportedProgramError) as error:
            fail(record, "refused", str(error), folder)
        except ScriptError as error:
            fail(record, "refused", f"TorchScript cannot script it: {_script_message(str(error))}", folder)
        except (ToolError, SsaCompilerError) as error:
            fail(record, "error", f"{type(error).__name__}: {error}", folder)
        except Exception as error:  # a crash of the importer is a result
            fail(record, "error", f"{type(error).__name__}: {error}", folder)
    record.seconds = round(time.perf_counter() - start, 4)
    return record


def fail(record: Record, status: str, message: str, folder: str) -> None:
    """Note that a program did not come through.

    Args:
        record: changed.
        status: one of `STATUSES`.
        message: why.
        folder: a temporary folder, whose name is left out of the message.
    """
    record.status = status
    record.message = message.replace(folder + "/", "")
    record.reason = normalize(record.message)


def _script_message(text: str) -> str:
    """The line of TorchScript's message that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines[1:] if not line.startswith("cannot script")), lines[-1] if lines else text)


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
            loaded.model, *loaded.calls, compiled=compiled, options=options, refusals=True, exact=loaded.exact
        )
    except ProgramError as error:
        # The importer found that the program surely raises; so it has to, for the example.
        expect_error(loaded.model, loaded.calls[0], error)
        record.raised = record.calls
        return
    record.raised = sum(error is not None for error in checked.errors)
    record.turned_away = sum(refusal is not None for refusal in checked.refusals)
