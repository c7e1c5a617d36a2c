"""Runs ssa-opt on pieces of MLIR, many in one process, and says which of them it crashed on, hung on or made
invalid.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ir_text import SEPARATOR

__all__ = ["Finding", "Outcome", "SsaOpt"]

_HANG_S = 10.0
_REPORT = re.compile(
    r"^(?:SUMMARY: .*|.*runtime error: .*|.*[Aa]ssertion.*|LLVM ERROR: .*|.*UNREACHABLE.*|.*ERROR: AddressSanitizer.*)$",
    re.M,
)
_ERROR = re.compile(r"^[^\s:]+:(\d+):\d+: error: (.*)$", re.M)


@dataclass
class Outcome:
    """What one run of ssa-opt did. `status` is None if it did not end in time."""

    status: int | None
    stdout: str
    stderr: str

    @property
    def crashed(self) -> bool:
        """True unless the run ended by itself, with success or with a diagnostic."""
        return self.status not in (0, 1)


@dataclass
class Finding:
    """Something that ssa-opt must not do.

    Attributes:
        kind: "crash", "hang", "invalid output" (the verifier rejects what a pass made), "unreadable output" or "silent
            failure" (exit status 1 without an error message).
        flags: the flags of ssa-opt.
        text: the input.
        detail: what it printed.
    """

    kind: str
    flags: tuple[str, ...]
    text: str
    detail: str

    @property
    def signature(self) -> str:
        """Findings with one signature have, most likely, one cause."""
        found = _REPORT.search(self.detail)
        message = found.group() if found else self.detail.strip().split("\n")[0]
        return f"{self.kind}: {re.sub(r'0x[0-9a-f]+|[0-9]+|%[a-z0-9_]+', 'N', message)[:160]}"


def _join(texts: Sequence[str]) -> tuple[str, list[int]]:
    """One file of many pieces, and the line at which each begins, counted from 1."""
    starts, line = [], 1
    for text in texts:
        starts.append(line)
        line += text.count("\n") + 2
    return f"\n{SEPARATOR}\n".join(texts), starts


class SsaOpt:
    """An ssa-opt executable."""

    def __init__(self, path: Path) -> None:
        """Use the executable at `path`."""
        self.path = path
        self.runs = 0

    @property
    def has_test_passes(self) -> bool:
        """Whether it is the executable for the tests."""
        return self.path.name.endswith("-test")

    def run(self, text: str, flags: Sequence[str], timeout: float = _HANG_S) -> Outcome:
        """Run it on `text`, for at most `timeout` seconds."""
        self.runs += 1
        command = [
            str(self.path), "-", "--mlir-disable-threading", "--mlir-print-op-on-diagnostic=false",
            "--allow-unregistered-dialect", *flags,
        ]  # fmt: skip
        try:
            done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired as expired:
            return Outcome(None, "", (expired.stderr or b"").decode(errors="replace"))
        return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def _run_batch(
        self, texts: Sequence[str], flags: Sequence[str]
    ) -> tuple[list[str | None], dict[int, list[str]]] | None:
        """Run on all texts at once.

        Returns:
            For each text its output, None if it was rejected, and the errors of each rejected text; None if it crashed.
        """
        joined, starts = _join(texts)
        outcome = self.run(joined, [*flags, "--split-input-file"], timeout=_HANG_S + len(texts))
        if outcome.crashed:
            return None
        parts = [part.strip() for part in re.split(rf"^{SEPARATOR}$", outcome.stdout, flags=re.M)]
        if len(parts) != len(texts):
            return None
        errors: dict[int, list[str]] = {}
        for match in _ERROR.finditer(outcome.stderr):
            line = int(match.group(1))
            index = sum(start <= line for start in starts) - 1
            errors.setdefault(index, []).append(match.group(2))
        return [part or None for part in parts], errors

    def check(self, texts: Sequence[str], flags: Sequence[str]) -> tuple[list[str | None], list[Finding]]:
        """Run passes on each text.

        Args:
            texts: pieces that parse, if `flags` is not empty.
            flags: the passes; none to see which texts parse.
        Returns:
            Each text's output, None for those rejected or found bad; and the findings.
        """
        batch = self._run_batch(texts, flags)
        if batch is None:
            if len(texts) == 1:
                return self._check_one(texts[0], flags)
            outputs: list[str | None] = []
            findings: list[Finding] = []
            for text in texts:
                one, found = self._check_one(text, flags)
                outputs += one
                findings += found
            return outputs, findings
        outputs, errors = batch
        findings = []
        if flags:
            for index, output in enumerate(outputs):
                # What the conversion cannot do it says so. Anything else may be the verifier.
                if output is None and not all("unsupported: " in error for error in errors.get(index, [""])):
                    findings += self._check_one(texts[index], flags)[1]
        return outputs, findings

    def _check_one(self, text: str, flags: Sequence[str]) -> tuple[list[str | None], list[Finding]]:
        outcome = self.run(text, flags)

        def finding(kind: str, detail: str) -> tuple[list[str | None], list[Finding]]:
            return [None], [Finding(kind, tuple(flags), text, detail)]

        if outcome.crashed:
            return finding("hang" if outcome.status is None else "crash", outcome.stderr)
        if outcome.status == 0:
            return [outcome.stdout.strip() or None], []
        if "error:" not in outcome.stderr:
            return finding("silent failure", outcome.stderr)
        if not flags:
            return [None], []
        # A pass that rejects its input does so without the verifier too; one that made something invalid goes on.
        unverified = self.run(text, [*flags, "--verify-each=0"])
        if unverified.crashed or unverified.status == 0:
            return finding("invalid output", outcome.stderr)
        if _ERROR.findall(unverified.stderr) != _ERROR.findall(outcome.stderr):
            return finding("invalid output", outcome.stderr)
        return [None], []
