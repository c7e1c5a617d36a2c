"""Writes the table of the Python package's names into docs/reference/python.md, for readers of the file itself.

    python tools/gen-api/gen_api.py            # writes the table
    python tools/gen-api/gen_api.py --check    # says whether it is up to date

The names are those whose docstrings the page has on the site, in its order: each `::: module.name`, with the members of
classes that it does not leave out. What a name is is the first sentence of its docstring.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "python"
PAGE = ROOT / "docs" / "reference" / "python.md"
_TABLE = re.compile(r"(<!-- api: .*? -->\n).*?(<!-- end of api -->\n)", re.DOTALL)
_DIRECTIVE = re.compile(r"^::: (?P<path>[\w.]+)\n(?P<options>(?:    .*\n)*)", re.MULTILINE)
_MEMBERS = re.compile(r"members: \[(?P<inline>[^\]]*)\]|^ +- (?P<listed>\w+)$", re.MULTILINE)
_Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Entry:
    """A public name.

    Attributes:
        name: as the user writes it, `CompiledProgram.mlir`.
        summary: the first sentence of its docstring.
        source: the file, from the root of the repository.
    """

    name: str
    summary: str
    source: str


def entries() -> Iterator[Entry]:
    """Yield the names that the page documents, in its order."""
    for match in _DIRECTIVE.finditer(PAGE.read_text(encoding="utf-8")):
        path, members = match["path"], _members(match["options"])
        module = SOURCES / f"{path.replace('.', '/')}.py"
        if module.exists():
            for name in members:
                yield next(_described(f"{path}.{name}", []))
        else:
            yield from _described(path, members)


def render() -> str:
    """Return the page with the table as it has to be."""
    rows = [f"| [`{entry.name}`](../../{entry.source}) | {entry.summary} |" for entry in entries()]
    table = "\n".join(["", "| name | is |", "|---|---|", *rows, "", ""])
    page, count = _TABLE.subn(lambda match: match[1] + table + match[2], PAGE.read_text(encoding="utf-8"))
    if count != 1:
        raise SystemExit(f"{PAGE.relative_to(ROOT)} has no place for the table: expected {_TABLE.pattern}")
    return page


def _members(options: str) -> list[str]:
    """The members that a directive names."""
    found: list[str] = []
    for match in _MEMBERS.finditer(options):
        found += [match["listed"]] if match["listed"] else [name.strip() for name in match["inline"].split(",")]
    return found


def _described(path: str, members: list[str]) -> Iterator[Entry]:
    """Yield a function or class, and the methods and properties of the class.

    Args:
        path: the module and the name.
        members: those that are documented; all if there are none.
    """
    module, _, name = path.rpartition(".")
    file = SOURCES / f"{module.replace('.', '/')}.py"
    found = _definition(ast.parse(file.read_text(encoding="utf-8")), name, path)
    source = str(file.relative_to(ROOT))
    yield Entry(name, _summary(found, path), source)
    if isinstance(found, ast.ClassDef):
        for member in found.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                if not members or member.name in members:
                    yield Entry(f"{name}.{member.name}", _summary(member, path), source)


def _definition(tree: ast.Module, name: str, path: str) -> _Definition:
    for node in tree.body:
        if isinstance(node, _Definition) and node.name == name:
            return node
    raise SystemExit(f"{PAGE.relative_to(ROOT)} names {path}, which there is not")


def _summary(node: _Definition, path: str) -> str:
    """The first sentence of a docstring."""
    text = ast.get_docstring(node)
    if not text:
        raise SystemExit(f"{path}: {node.name} has no docstring")
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.;]) | \(docs/", paragraph)[0].rstrip(".;")
    return sentence.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write or check the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare without writing")
    options = parser.parse_args(arguments)
    page = render()
    if not options.check:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        print(f"{PAGE.relative_to(ROOT)} is not up to date: run {Path(__file__).relative_to(ROOT)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
