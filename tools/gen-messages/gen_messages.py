"""Writes docs/Messages.md: every message with which ssa-compiler rejects a program, a model or an argument.

The messages are read from the sources: what `unsupported` and `unsupported_op` get, what the exceptions that say no are
made with, and what the passes of ssa-opt emit as "unsupported". `--check` compares the file without writing it.
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
TABLE = ROOT / "docs" / "Messages.md"
HOLE = "…"
"""Stands for what differs from program to program."""

IN_PYTHON = "call it in a function that is marked @torch.jit.ignore, which stays Python"
_REJECTIONS = {
    "reject": "UnsupportedProgramError",
    "unsupported": "UnsupportedProgramError",
    "unsupported_op": "UnsupportedOpError",
}
_EXCEPTIONS = (
    "ArgumentTypeError",
    "ArgumentValueError",
    "ScriptError",
    "TargetError",
    "UnsupportedOpError",
    "UnsupportedProgramError",
)
_TITLES = {
    "ScriptError": "What cannot be taken as a model",
    "ArgumentTypeError": "Arguments of a wrong type",
    "ArgumentValueError": "Arguments of a wrong value",
    "TargetError": "Targets",
    "UnsupportedOpError": "Ops that cannot be compiled",
    "UnsupportedProgramError": "Programs whose meaning cannot be kept",
    "ProgramError": "Python functions that TorchScript ignores, when they run",
    "ssa-opt": "Passes of ssa-opt",
}
_HEAD = """# Messages

Every message with which a model, a program or an argument is rejected, by the exception that carries it. All derive from
`ssa_compiler.SsaCompilerError`. A message about a program starts with the user's file and line, then `unsupported:`, the op or
construct, and after a semicolon or colon the remedy; "expected ..., got ..." says itself what would do. `…` stands for names,
types and numbers. `test/python/importer/messages_test.py` provokes them. An `InternalError` is none of these: it says that the compiler
has a defect, and wants to be reported.

This file is generated: `python tools/gen-messages/gen_messages.py`.
"""


@dataclass(frozen=True)
class Site:
    """A place that rejects something.

    Attributes:
        file: path below the repository's root.
        kind: the exception's name, "ssa-opt" for passes.
        template: the message, with `HOLE` for what differs.
    """

    file: str
    kind: str
    template: str

    @property
    def pattern(self) -> str:
        """A regular expression for the messages that come from here."""
        return ".*".join(re.escape(part) for part in self.template.split(HOLE))

    @property
    def has_remedy(self) -> bool:
        """Whether the message says what to do, or what was expected instead."""
        return bool(re.search(r"; \S|[a-z'\])…] ?: ?[a-z…]|expected|takes|missing|unexpected|multiple", self.template))


def sites() -> list[Site]:
    """Return all sites, in the order of the table."""
    found = {site for path in sorted((ROOT / "python/ssa_compiler").rglob("*.py")) for site in _python_sites(path)}
    found |= {site for path in sorted((ROOT / "lib").rglob("*.cpp")) for site in _pass_sites(path)}
    order = list(_TITLES)
    return sorted(found, key=lambda site: (order.index(site.kind), site.template, site.file))


def _python_sites(path: Path) -> Iterator[Site]:
    file = str(path.relative_to(ROOT))
    if "/testing/" in file or "/library/" in file:
        return
    for function in _functions(ast.parse(path.read_text(encoding="utf-8"))):
        assigned = {
            target.id: node.value
            for node in _own_nodes(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in _own_nodes(function):
            if isinstance(node, ast.Call) and node.args:
                site = _site(node, assigned, file)
                if site is not None:
                    yield site


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda)))


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _site(call: ast.Call, assigned: dict[str, ast.expr], file: str) -> Site | None:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    message = _text(call.args[0], assigned).removeprefix("unsupported: ")
    if not re.search(r"[a-z]{2}", message):
        return None  # it forwards what another place says
    if name in _REJECTIONS:
        if len(call.args) == 2:  # a model: what it is, and the remedy
            return Site(file, "ScriptError", f"got {message}: {_text(call.args[1], assigned)}")
        if name == "unsupported_op" and "; " not in message:
            message = f"{message}; {IN_PYTHON}"
        return Site(file, _REJECTIONS[name], message)
    if name == "_error" and file.endswith("semantics/ignored_functions.py"):
        return Site(file, "ProgramError", f"the ignored function '{HOLE}' {message}")
    if name in _EXCEPTIONS:
        return Site(file, name, message)
    return None


def _text(node: ast.expr, assigned: dict[str, ast.expr]) -> str:
    """The text of a message, as far as it is the same each time."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else HOLE for part in node.values]
        return re.sub(f"{HOLE}+", HOLE, "".join(map(str, parts)))
    if isinstance(node, ast.Name) and node.id in assigned:
        return _text(assigned[node.id], {})
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
        return _text(node.func.value, assigned)
    if isinstance(node, ast.IfExp):
        return _text(node.body, assigned)
    return HOLE


def _pass_sites(path: Path) -> Iterator[Site]:
    """What a pass emits: the stream that follows `emitError()`, literals joined, other operands as holes."""
    source = path.read_text(encoding="utf-8")
    for match in re.finditer(r'<<\s*"unsupported: ', source):
        statement = source[match.start() : source.index(";\n", match.start())]
        operands = re.split(r"<<", statement)[1:]
        parts = []
        for operand in operands:
            literals = re.findall(r'"((?:[^"\\]|\\.)*)"', operand) if operand.strip().startswith('"') else []
            parts.append("".join(literals) if literals else HOLE)
        message = "".join(parts).removeprefix("unsupported: ")
        if re.search(r"[a-z]{2}", message):
            yield Site(str(path.relative_to(ROOT)), "ssa-opt", message)


def render() -> str:
    """Return the table."""
    lines = [_HEAD]
    every = sites()
    for kind, title in _TITLES.items():
        chosen = [site for site in every if site.kind == kind]
        name = "`UnsupportedOpError` or `UnsupportedProgramError`" if kind == "ssa-opt" else f"`{kind}`"
        lines += [f"## {title}", f"{name}:", "", "| message | from |", "|---|---|"]
        places: dict[str, list[str]] = {}
        for site in chosen:
            places.setdefault(site.template, []).append(site.file.removeprefix("python/ssa_compiler/"))
        for template, files in places.items():
            message = template.replace("|", "\\|").replace("\n", " ").strip()
            lines.append(f"| {message} | {', '.join(files)} |")
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Write or check the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare without writing")
    options = parser.parse_args(arguments)
    text = render()
    if options.check:
        if not TABLE.exists() or TABLE.read_text(encoding="utf-8") != text:
            print(
                f"{TABLE.relative_to(ROOT)} is not up to date: run {Path(__file__).relative_to(ROOT)}", file=sys.stderr
            )
            return 1
        return 0
    TABLE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
