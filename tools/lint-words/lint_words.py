"""Words that must not return: each has a term of the field, or of docs/glossary.md, in its place.

    python tools/lint-words/lint_words.py

Prints each line with one of them, and fails if there is any. Reads the tracked sources, tests and documents.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A pattern, and what to write.
WORDS = {
    r"take[sn]? over|taking over|took over|takeovers?": "reuse (or donate) the buffer",
    r"hand(?:s|ed|ing)? on|handovers?": "forward; region successor operand",
    r"way out|ways out|way_out": "remedy; to users: what to do instead",
    r"refus(?:e|es|ed|ing|als?)": "reject; to users: unsupported",
    r"known only at run time|only the run knows": "dynamic; data-dependent",
    r"open sizes?|stays? open": "dynamic size",
    r"unannounced": "unannotated",
    r"mend(?:s|ed|ing)?": "rewrite, work around, repair",
    r"spell(?:s|ed|ing)?|spelt": "write; form",
    r"parted|taken apart|take[sn]? apart": "split, expanded, decomposed",
    r"surely apart|surely_apart": "provably disjoint",
    r"may cross|may_cross": "may interfere",
    r"un?settled layout|settled layout": "static strides",
    r"lets? go": "released",
}
SUFFIXES = {".py", ".md", ".cpp", ".h", ".td", ".mlir", ".txt", ".toml", ".sh"}
# What was published or generated from a run is left as it was.
LEFT = ("docs/benchmarks/", "tools/lint-words/", "docs/Rationale/")


def texts() -> Iterator[tuple[str, str]]:
    """Yield each tracked text with its path."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        path = ROOT / name
        if path.suffix in SUFFIXES and not name.startswith(LEFT) and path.exists():
            yield name, path.read_text(encoding="utf-8")


def main() -> int:
    """Print the lines with words that are not to be used; returns the exit status."""
    patterns = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): instead for words, instead in WORDS.items()}
    found = 0
    for name, text in texts():
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, instead in patterns.items():
                if (match := pattern.search(line)) is not None:
                    found += 1
                    print(f"{name}:{number}: '{match[0]}': write {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
