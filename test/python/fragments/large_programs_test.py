# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The import of a program that would be very large, as its loops are written out, is given up."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import api
from ssa_compiler.errors import UnsupportedProgramError
from ssa_compiler.importer import import_program

X = torch.arange(4.0)


def written_out(x, n: int):
    parts = [x]
    for i in range(40):
        parts = [parts[-1] + i, *parts] if i % 2 else [parts[0] * 2]
        for j in range(n):
            parts[0] = parts[0] + j
    return torch.stack(parts)


def test_a_budget():
    assert import_program(written_out, (X, 3), most_nodes=100_000).module
    with pytest.raises(UnsupportedProgramError, match="once its loops and calls are written out"):
        import_program(written_out, (X, 3), most_nodes=10)


def test_fragments_instead(monkeypatch):
    monkeypatch.setattr(api, "_MOST_NODES", 10)
    compiled = ssa_compiler.compile(written_out, (X, 3))
    for n in (3, 0, 1):
        assert compiled(X, n).equal(written_out(X, n))
    assert compiled.explain().reason
