"""What came of running a program under one system."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .generate import generate
from .sizes import size_program

__all__ = [
    "AUTO",
    "PARTIAL",
    "PEERS",
    "STATUSES",
    "SYSTEMS",
    "Record",
    "fail",
    "generator_version",
    "normalize",
    "signature",
]

# What can come of a program. "wrong" and "error" are failures; a system that rejects says so.
STATUSES = ("ok", "rejected", "wrong", "error")
AUTO = ("auto-sizes", "auto-sizes compiled")
PEERS = ("torchscript", "torch.compile", "torch-mlir")
PARTIAL = "partially evaluated"
SYSTEMS = ("interpreted", "compiled", PARTIAL, *AUTO, "metamorphic", *PEERS)


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
