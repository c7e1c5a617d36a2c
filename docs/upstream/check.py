"""Runs the reproducers of this folder and says which still behave as their headers state.

    python docs/upstream/check.py [name ...]

Needs iree-compile, iree-run-module (and for nothing else torch-mlir-opt) on PATH. Exits with 1 if one behaves
differently: upstream has changed, and the workaround named in README.md may be removed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
_SIGNALS = {6: "SIGABRT", 8: "SIGFPE", 11: "SIGSEGV"}


def stated(text: str) -> list[str]:
    """The lines behind `Actual:` in a header."""
    header = text[: text.index("\n\n")]
    behind = header.partition("// Actual:")[2].partition("\n//\n")[0]
    return [line.removeprefix("//").strip() for line in behind.splitlines() if line.removeprefix("//").strip()]


def observed(path: Path, output: str) -> list[str]:
    """What the commands of a reproducer do: the results, or how a tool fails."""
    lines: list[str] = []
    for command in re.findall(r"^// RUN: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        words = shlex.split(command.replace("%s", str(path)).replace("%t", output))
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        signal = -done.returncode if done.returncode < 0 else 256 - done.returncode if done.returncode > 128 else 0
        if signal:
            return [f"{words[0]} is killed by {_SIGNALS.get(signal, signal)}"]
        if done.returncode:
            # iree-run-module writes its messages without "error: ", with the file of its sources in front.
            errors = [line.partition("error: ")[2] for line in done.stderr.splitlines() if "error: " in line]
            return errors[:1] or ["; ".join(done.stderr.split("; ")[:2]).partition("c:")[2].partition(": ")[2]]
        for line in done.stdout.splitlines():
            if line and not line.startswith("EXEC") and not line.endswith("hal.buffer_view"):
                lines.append(line.partition(": ")[2] if line.startswith("result[") else line)
    return lines


def main(names: list[str]) -> int:
    """Check the named reproducers, or all; returns the exit status."""
    changed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(FOLDER.glob("*.mlir")):
            if names and path.stem not in names:
                continue
            before, now = stated(path.read_text(encoding="utf-8")), observed(path, f"{folder}/{path.stem}")
            changed += before != now
            print(f"{path.stem}: {'as stated' if before == now else f'changed, now {now}'}", flush=True)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
