"""Data flows one way, from lower layers to higher ones, and a file or function is read at one sitting."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "ssa_compiler"
ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "python"
LINES_OF_A_FILE, LINES_OF_A_FUNCTION = 450, 60

# Lowest first; the same as in docs/Architecture.md.
LAYERS = (
    ("errors",),
    ("process", "abi", "options", "explanation", "_wrapper"),
    ("semantics", "ops", "_opt"),
    ("library",),
    ("importer", "pipeline", "report", "runtime", "backend"),
    ("frontend",),
    ("program_cache",),
    ("specialisation",),
    ("compiled_program",),
    ("fragments",),
    ("api",),
    ("testing",),
)
FOLDERS = {
    "importer": (
        "isolation",
        "ir",
        "torchscript",
        "partial_evaluation",
        "values",
        "fake",
        "tensors",
        "containers",
        "ops",
        "control",
        "boundary",
    ),
    "backend": (
        "ir",
        "callbacks",
        "workarounds",
        "legalize",
        "buffers",
        "toolchain",
        "verify",
        "report",
        "kernels",
        "driver",
    ),
}


def _modules() -> dict[str, Path]:
    """Every module of the package, by name; a package is its `__init__.py`."""
    found = {}
    for path in sorted((SOURCES / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imported(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a module imports: at its top, inside of functions, or for types only."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            outer = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*outer, *([node.module] if node.module else [])])
            for alias in node.names:
                yield from (found for found in (f"{base}.{alias.name}", base) if found in modules and found != name)


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    modules = _modules()
    return {name: set(_imported(name, path, modules)) for name, path in modules.items()}


def test_no_module_imports_itself_by_way_of_others(imports: dict[str, set[str]]) -> None:
    """Imports of types count: what two modules need of each other belongs below both."""
    faces = {name for name in imports if (SOURCES / name.replace(".", "/")).is_dir()}
    left = {name: {other for other in others if other not in faces} for name, others in imports.items()}
    while leaves := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in leaves}
    assert not left, "these import each other, or what does"


def test_layers_import_lower_ones_only(imports: dict[str, set[str]]) -> None:
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    parts = {name.split(".")[1] for name in imports if name != PACKAGE}
    assert parts == level.keys(), "a module or folder that LAYERS does not have"
    for name, others in imports.items():
        for other in others - {PACKAGE}:
            if name != PACKAGE and (mine := name.split(".")[1]) != (its := other.split(".")[1]):
                assert level[its] < level[mine], f"{name} imports {other}"


@pytest.mark.parametrize("package", FOLDERS)
def test_folders_import_lower_ones_only(package: str, imports: dict[str, set[str]]) -> None:
    order = FOLDERS[package]
    prefix = f"{PACKAGE}.{package}."
    inner = {name: name.removeprefix(prefix).split(".")[0] for name in imports if name.startswith(prefix)}
    assert set(inner.values()) == set(order), "a folder that FOLDERS does not have"
    for name, folder in inner.items():
        for other in imports[name] & inner.keys():
            assert order.index(inner[other]) <= order.index(folder), f"{name} imports {other}"


@pytest.mark.parametrize("folder", ["python", "test", "tools", "benchmarks", "examples"])
def test_files_and_functions_are_short(folder: str) -> None:
    """Docstrings of functions aside: they are as long as the interface is."""
    long = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if (lines := text.count("\n")) > LINES_OF_A_FILE:
            long.append(f"{path.relative_to(ROOT)}: {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = node.body[0]
                is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                described = (first.end_lineno or 0) - first.lineno + 1 if is_docstring else 0
                if (lines := (node.end_lineno or 0) - node.lineno + 1 - described) > LINES_OF_A_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}: {node.name}, {lines} lines")
    assert not long
