"""Reads MLIR as text: what a line of an op defines, uses and is typed with. Enough to change it, not a parser.

Works best on the generic form (`ssa-opt --mlir-print-op-generic`), where every op has the same syntax.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

__all__ = ["Line", "brackets", "read_line", "split_functions", "split_types", "types_of_values"]

SEPARATOR = "// -----"
_OPEN, _CLOSE = "([{<", ")]}>"
_RESULTS = re.compile(r"^\s*((?:%[\w$.-]+(?::\d+)?(?:,\s*)?)+)\s*=\s*")
_GENERIC = re.compile(r'"([\w.]+)"\(([^()]*)\)')
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_ARGUMENT = re.compile(r"(%[\w$.-]+)\s*:\s*")


@dataclass
class Line:
    """One line of an op in the generic form.

    Attributes:
        name: the op's name, empty if the line is no op of the generic form.
        results: names of the values that it defines, with the number of values of each name.
        operands: names of the values that it takes.
        operand_types: their types, empty if the op's signature is on a later line.
        result_types: types of the results, if they are on this line.
    """

    name: str = ""
    results: list[tuple[str, int]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    operand_types: list[str] = field(default_factory=list)
    result_types: list[str] = field(default_factory=list)


def brackets(text: str) -> int:
    """How many more curly and round brackets `text` opens than it closes."""
    return sum(text.count(one) for one in "({") - sum(text.count(one) for one in ")}")


def split_types(text: str) -> list[str]:
    """Split a list of types at the commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    plain = text.replace("->", "  ")
    for position, character in enumerate(plain):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _signature(text: str) -> tuple[list[str], list[str]]:
    """The operand and result types of `... : (types) -> types` at the end of a line."""
    found = re.search(r"\) : \((.*)\) -> (.+)$|[}>] : \((.*)\) -> (.+)$", text)
    if not found:
        return [], []
    operands = found.group(1) if found.group(1) is not None else found.group(3)
    results = found.group(2) or found.group(4)
    results = re.sub(r"\s*loc\(.*$", "", results).strip()
    if results.startswith("(") and results.endswith(")"):
        results = results[1:-1]
    return split_types(operands), split_types(results)


def read_line(text: str) -> Line:
    """Read one line; what is not found stays empty."""
    line = Line()
    results = _RESULTS.match(text)
    if results:
        for one in results.group(1).split(","):
            name, _, count = one.strip().partition(":")
            line.results.append((name, int(count or 1)))
    rest = text[results.end() :] if results else text
    op = _GENERIC.search(rest)
    if op:
        line.name = op.group(1)
        line.operands = _VALUE.findall(op.group(2))
        line.operand_types, line.result_types = _signature(rest)
    return line


def types_of_values(lines: list[str]) -> dict[str, str]:
    """The type of each value that the text shows: of results and of block arguments."""
    types: dict[str, str] = {}
    opened: list[list[tuple[str, int]]] = []
    for text in lines:
        line = read_line(text)
        if text.rstrip().endswith("({"):
            opened.append(line.results)
        results, result_types = line.results, line.result_types
        if text.strip().startswith("})") and opened:
            results, result_types = opened.pop(), _signature(text)[1]
        names = [f"{name}#{index}" if count > 1 else name for name, count in results for index in range(count)]
        if len(names) == len(result_types):
            types.update(zip(names, result_types))
        if text.strip().startswith("^"):
            start = text.find("(")
            for argument in split_types(text[start + 1 : text.rfind(")")]) if start >= 0 else []:
                found = _ARGUMENT.match(argument)
                if found:
                    types[found.group(1)] = argument[found.end() :].split(" loc(")[0]
    return types


def split_functions(text: str) -> list[str]:
    """Split a file at its separators, and each piece with several functions at column 0 into one piece for each."""
    pieces = []
    for part in text.split(SEPARATOR):
        lines = [line for line in part.split("\n") if line.strip() and not line.lstrip().startswith("//")]
        starts = [index for index, line in enumerate(lines) if line.startswith("func.func")]
        if len(starts) < 2 or any(line.startswith("#") or line.startswith("module") for line in lines):
            pieces.append("\n".join(lines))
            continue
        bounds = [0, *starts[1:], len(lines)]
        pieces += ["\n".join(lines[begin:end]) for begin, end in itertools.pairwise(bounds)]
    return [piece for piece in pieces if piece.strip()]
