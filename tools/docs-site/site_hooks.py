"""What mkdocs.yml needs beyond MkDocs: the pages that TableGen writes, links to the repository's files, GitHub's
Markdown, colours for MLIR.

MkDocs calls the functions `on_...` (https://www.mkdocs.org/user-guide/configuration/#hooks). `make docs` runs the
build.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File
from pygments.lexers import LEXERS

ROOT = Path(__file__).resolve().parents[2]
TABLEGEN = ROOT / "build" / "wheel" / "docs"
TARGET = "reference/generated"
"""The folder of the site that receives TableGen's pages."""

PAGES = {
    "Passes/TransformsPasses.md": "Passes on tensors",
    "Passes/ConversionPasses.md": "Conversions",
    "Passes/KernelsPasses.md": "Passes that make kernels",
    "Dialects/TSSADialect.md": "The tssa dialect",
    "Dialects/TorchDialect.md": "The torch dialect",
    "Dialects/TorchConversionDialect.md": "The torch_c dialect",
}

_LOG = get_plugin_logger("site_hooks")
_MARKER = re.compile(r"(?:[-*+]|\d+\.) +(?=\S)")
_LINK = re.compile(r"\[([^\][]*)\]\((\.\.?/[^()\s#]*)(#[^()\s]*)?\)")
_FENCE = re.compile(r" *(```+|~~~+)")


def on_startup(**_: Any) -> None:
    """Let Pygments know MLIR."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    LEXERS["MlirLexer"] = ("mlir_lexer", "MLIR", ("mlir",), ("*.mlir",), ())


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that TableGen wrote. A pass that the overview leaves out is a warning.

    Raises:
        PluginError: they have not been written.
    """
    overview = (ROOT / "docs" / "reference" / "ssa-opt.md").read_text(encoding="utf-8")
    for name, title in PAGES.items():
        path = TABLEGEN / name
        if not path.is_file():
            raise PluginError(f"{path.relative_to(ROOT)} is missing: run `make docs`, which writes it")
        text = _passes_page(path.read_text(encoding="utf-8"), title)
        for flag in re.findall(r"^### `(--[\w-]+)`", text, flags=re.MULTILINE):
            if f"[`{flag}`]" not in overview:
                _LOG.warning("docs/reference/ssa-opt.md does not mention %s", flag)
        files.append(File.generated(config, f"{TARGET}/{Path(name).name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page's text for Python-Markdown."""
    source = Path(config.docs_dir, page.file.src_uri)
    return as_python_markdown(_with_repository_links(markdown, source, config))


def _passes_page(text: str, title: str) -> str:
    """TableGen's page, with a title and with each pass under the name that the command line has."""
    text = re.sub(r"^<!--.*?-->\n*", "", text)
    text = re.sub(r"^### `-([\w-]+)`$", r"### `--\1` {#\1}", text, flags=re.MULTILINE)
    return text if text.startswith("# ") else f"# {title}\n\n{text}"


def _with_repository_links(markdown: str, source: Path, config: Any) -> str:
    """Links to files outside of docs/, which the site does not have: to the repository, or their paths where it has no
    address.

    A link to a file that does not exist is a warning, and so an error of `mkdocs build --strict`.
    """
    docs = Path(config.docs_dir)

    def replaced(match: re.Match[str]) -> str:
        text, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        path = (source.parent / target).resolve()
        if path.is_relative_to(docs):
            return match.group(0)
        if not path.exists():
            _LOG.warning("'%s' links to '%s', which does not exist", source.relative_to(docs), target)
            return text
        name = str(path.relative_to(ROOT))
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{name}{anchor})"
        return f"`{name}`" if text.strip("`") in name else f"{text} (`{name}`)"

    parts = re.split(r"(^```.*?^```)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(replaced, part) for part in parts)


def as_python_markdown(markdown: str) -> str:
    """Rewrite what GitHub reads and Python-Markdown does not.

    Python-Markdown wants an empty line in front of lists and tables, and what belongs to a list item indented by four.
    """
    lines: list[str] = []
    width = 0  # of the marker of the list item that the line is in; 0 outside of lists
    fence = ""
    for line in markdown.splitlines():
        previous = lines[-1].strip() if lines else ""
        marker = None if fence else _MARKER.match(line)
        mark = _FENCE.match(line)
        if marker:
            if not width and previous:
                lines.append("")
            width = marker.end()
        elif width and line.startswith(" " * width):
            if previous and not fence and (mark or (_MARKER.match(line[width:]) and not _is_item(previous))):
                lines.append("")
            line = "    " + line[width:]
        elif width and line.strip() and not fence and not previous:
            width = 0
        if not fence and line.startswith("|") and previous and not previous.startswith("|"):
            lines.append("")
        if mark:
            if not fence:
                fence = mark.group(1)
            elif mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = ""
        lines.append(line)
    return "\n".join(lines) + "\n"


def _is_item(line: str) -> bool:
    return _MARKER.match(line) is not None
