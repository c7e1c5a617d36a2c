"""The programs that fuzz_ir.py starts from: the pieces of the lit tests, and test programs as the importer sees
them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ir_runner import SsaOpt
from ir_text import SEPARATOR, split_functions

__all__ = ["ROOT", "collect"]

ROOT = Path(__file__).resolve().parents[2]
_MAX_LINES = 120


def _of_lit_tests() -> list[str]:
    return [
        piece
        for path in sorted((ROOT / "test/lit").rglob("*.mlir"))
        for piece in split_functions(path.read_text())
    ]  # fmt: skip


def _of_programs() -> list[str]:
    """Import test/python/programs. Those that the importer rejects are left out."""
    sys.path[:0] = [str(ROOT / folder) for folder in ("python", "test/python", "examples")]
    from programs import PROGRAMS
    from ssa_compiler import SsaCompilerError
    from ssa_compiler.importer import import_program

    texts = []
    for program in PROGRAMS.values():
        calls = program.calls()
        first = calls[0]
        try:
            texts.append(import_program(program.make(), first if isinstance(first, tuple) else (first,)).module)
        except SsaCompilerError:
            continue
    return texts


def _print(ssa_opt: SsaOpt, texts: list[str], *flags: str) -> list[str]:
    """Each text as ssa-opt prints it, without locations; those that it rejects are left out."""
    outcome = ssa_opt.run(f"\n{SEPARATOR}\n".join(texts), [*flags, "--split-input-file"], timeout=300)
    pieces = [piece.strip("\n") for piece in outcome.stdout.split(SEPARATOR)]
    return [piece for piece in pieces if piece.strip() and piece.count("\n") <= _MAX_LINES]


def collect(ssa_opt: SsaOpt, programs: bool) -> list[str]:
    """All starting points, in the custom and in the generic syntax.

    Args:
        ssa_opt: the tool that prints them.
        programs: import test/python/programs too, which needs torch and takes a while.
    Returns:
        Texts without locations.
    """
    os.environ.setdefault("PYTHONHASHSEED", "0")
    pieces = [piece for piece in _of_lit_tests() if piece.count("\n") <= _MAX_LINES]
    if programs:
        imported = _print(ssa_opt, _of_programs())
        pieces += imported + _print(ssa_opt, imported, "--torch-to-scf")
    # Three times, since mutations of the generic syntax parse more often.
    return pieces + 3 * _print(ssa_opt, pieces, "--mlir-print-op-generic")
