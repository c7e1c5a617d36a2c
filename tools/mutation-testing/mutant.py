"""A changed source file, and the reader of the mistakes written by hand (mistakes.txt, equivalent.txt)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "read_equivalents", "read_mistakes"]


@dataclass(frozen=True)
class Mutant:
    """One changed source.

    Attributes:
        name: unique among all mutants.
        path: the source's path in the repository.
        text: its new contents; empty if the search text of a mistake is not in the source any more.
        what: what was changed, for people.
    """

    name: str
    path: str
    text: str
    what: str


def read_mistakes(path: Path, root: Path) -> list[Mutant]:
    """Read the mistakes that people make.

    Args:
        path: a file of entries `=== name path`, a sentence, `--- search` and the text that has to occur once in the
            source, `--- replace` and the text to put there. An entry may have several pairs of search and replace.
        root: folder of the repository.
    Returns:
        A mutant for each, without text where the search text does not occur exactly once.
    """
    mutants = []
    for entry in re.split(r"^(?==== )", path.read_text(), flags=re.M)[1:]:
        head, *edits = re.split(r"^--- search\n", entry, flags=re.M)
        title, *what = head.strip().split("\n")
        _, name, source = title.split(" ")
        text = (root / source).read_text()
        for edit in edits:
            search, replace = (part.strip("\n") for part in re.split(r"^--- replace\n", edit, flags=re.M))
            text = text.replace(search, replace) if text.count(search) == 1 else ""
        mutants.append(Mutant(name, source, text, " ".join(what)))
    return mutants


def read_equivalents(path: Path) -> dict[str, str]:
    """Read which mutants change nothing that a program can show: `=== name` and the reason on the lines below."""
    entries = re.split(r"^=== ", path.read_text(), flags=re.M)[1:]
    return {entry.split("\n")[0].strip(): " ".join(entry.split("\n")[1:]).strip() for entry in entries}
