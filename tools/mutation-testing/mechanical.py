"""Mutants made without thought: a statement deleted, a condition negated, two arguments swapped, a number off by one.

Works on the text of C++ sources with comments and strings blanked out. Some mutants do not compile; they are not
counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from mutant import Mutant

__all__ = ["all_mutants", "sample"]

_IGNORED = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^#[^\n]*", re.M)
_STATEMENT = re.compile(r"(?<=[;{}):])\s*\n(\s+)((?!return|using|auto |const |namespace|public|private|case|template|struct)"
                        r"[a-z][\w.]*(?:\[[^\];]*\])?(?:->|::|\.|\()[^;{}]*;|continue;|break;|\+\+\w[^;]*;|[a-z]\w* (?:\|=|=) [^;{}]*;)")  # fmt: skip
_CONDITION = re.compile(r"\bif \(")
_COMPARISONS = {" == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " < ", " >= ": " > ", " > ": " >= ", " && ": " || ",
                " || ": " && "}  # fmt: skip
_CALL = re.compile(r"[\w>]\(")
_NUMBER = re.compile(r"(?<![\w.\"/*=<-])(?:[01])(?![\w.\"*/])")
_BOOL = re.compile(r"\b(?:true|false)\b")

# No argument, or one of which there is only one of its type: nobody swaps it, and the compiler would notice.
_FIXED = re.compile(
    r"^\[|^$|^(?:builder|rewriter|loc|function)$|[Ll]oc\b|getLoc|^(?:const )?\w+(?:<.*>)? [*&]?\w+$|^\w[\w:]* &"
)

Edit = tuple[int, int, str]


def _blank(text: str) -> str:
    """The text with comments, strings and preprocessor lines replaced by blanks, of the same length."""
    return _IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _closing(text: str, start: int) -> int | None:
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for position in range(start, len(text)):
        if text[position] in "([{":
            depth += 1
        elif text[position] in ")]}":
            depth -= 1
            if depth == 0:
                return position
    return None


def _delete_statement(text: str, code: str) -> Iterator[Edit]:
    for match in _STATEMENT.finditer(code):
        yield match.start(2), match.end(2), ";"


def _negate_condition(text: str, code: str) -> Iterator[Edit]:
    for match in _CONDITION.finditer(code):
        end = _closing(code, match.end() - 1)
        if end is None:
            continue
        condition = code[match.end() : end]
        if ";" not in condition and not re.search(r"[^=!<>]=[^=]", re.sub(r"\{.*\}", "", condition, flags=re.S)):
            yield match.end(), end, f"!({text[match.end() : end]})"


def _swap_arguments(text: str, code: str) -> Iterator[Edit]:
    for match in _CALL.finditer(code):
        end = _closing(code, match.end() - 1)
        if end is None or end - match.end() > 200:
            continue
        commas, depth = [], 0
        for position in range(match.end(), end):
            depth += (code[position] in "([{<") - (code[position] in ")]}>")
            if code[position] == "," and depth == 0:
                commas.append(position)
        bounds = [match.end() - 1, *commas, end]
        parts = [text[begin + 1 : finish].strip() for begin, finish in zip(bounds, bounds[1:])]  # noqa: RUF007
        for first in range(len(parts) - 1):
            swapped = [*parts[:first], parts[first + 1], parts[first], *parts[first + 2 :]]
            if swapped != parts and not any(_FIXED.search(part) for part in [*parts[first : first + 2], parts[0]]):
                yield match.end(), end, ", ".join(swapped)


def _change_operator(text: str, code: str) -> Iterator[Edit]:
    for old, new in _COMPARISONS.items():
        start = code.find(old)
        while start >= 0:
            if not code[: start + 1].rstrip().endswith("template"):
                yield start, start + len(old), new
            start = code.find(old, start + 1)


def _change_number(text: str, code: str) -> Iterator[Edit]:
    for match in _NUMBER.finditer(code):
        yield match.start(), match.end(), "1" if match.group() == "0" else "0"


def _flip_bool(text: str, code: str) -> Iterator[Edit]:
    for match in _BOOL.finditer(code):
        yield match.start(), match.end(), "false" if match.group() == "true" else "true"


_KINDS: dict[str, Callable[[str, str], Iterator[Edit]]] = {
    "delete": _delete_statement,
    "negate": _negate_condition,
    "swap": _swap_arguments,
    "operator": _change_operator,
    "number": _change_number,
    "bool": _flip_bool,
}


def all_mutants(path: str, text: str) -> list[Mutant]:
    """All mutants of one source.

    Args:
        path: its path in the repository.
        text: its contents.
    Returns:
        One mutant for each place and kind, named by both, so that names survive changes elsewhere in the file.
    """
    code = _blank(text)
    mutants = []
    seen: dict[str, int] = {}
    for kind, find in _KINDS.items():
        for begin, end, new in find(text, code):
            line = text.count("\n", 0, begin) + 1
            old = " ".join(text[begin:end].split())
            around = " ".join(text.split("\n")[line - 1].split())
            label = f"{kind} {path.rsplit('/', 1)[-1]}: {around}" + (f" [{old}]" if kind != "delete" else "")
            seen[label] = seen.get(label, 0) + 1
            name = label if seen[label] == 1 else f"{label} #{seen[label]}"
            mutants.append(
                Mutant(name, path, text[:begin] + new + text[end:], f"{path}:{line}: {old} -> {' '.join(new.split())}")
            )
    return mutants


def sample(sources: dict[str, str], count: int, seed: int) -> list[Mutant]:
    """Draw mutants at random: first a kind, then one of its places in all sources.

    Args:
        sources: contents by path.
        count: how many.
        seed: equal seeds and sources draw equal mutants.
    Returns:
        Different mutants, in the order in which they were drawn.
    """
    random = Random(seed)
    by_kind: dict[str, list[Mutant]] = {kind: [] for kind in _KINDS}
    for path, text in sorted(sources.items()):
        for mutant in all_mutants(path, text):
            by_kind[mutant.name.split(" ")[0]].append(mutant)
    # As many deletions and negations as of all other kinds together.
    weights = {"delete": 5, "negate": 4, "swap": 3, "operator": 3, "number": 1, "bool": 1}
    drawn: list[Mutant] = []
    while len(drawn) < count and any(by_kind.values()):
        kind = random.choices(list(weights), list(weights.values()))[0]
        if by_kind[kind]:
            drawn.append(by_kind[kind].pop(random.randrange(len(by_kind[kind]))))
    return drawn
