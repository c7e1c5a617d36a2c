"""Random programs with graph breaks at random places do what eager does, and share memory as it does.

Fragments run under the interpreter, so that many are as small as they can be.
"""

from pathlib import Path

import pytest

from _graph_breaks import InterpretedFragment, with_graph_breaks
from _nightly import NIGHTLY
from ssa_compiler.errors import UnsupportedProgramError
from ssa_compiler.fragments import splitting, variants
from ssa_compiler.fragments.fragmented_program import in_fragments
from ssa_compiler.options import Options
from ssa_compiler.testing.fuzz.generate import generate
from ssa_compiler.testing.fuzz.program import load
from ssa_compiler.testing.harness import check_other

SEEDS = range(5_000_000, 5_000_400 if NIGHTLY else 5_000_012)


@pytest.mark.slow
def test_random_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "FEWEST_OPS", 1)
    monkeypatch.setattr(variants, "CompiledProgram", InterpretedFragment)
    fragments = 0
    made = []

    def build(model):  # type: ignore[no-untyped-def]
        made.append(in_fragments(model, Options(cache=False), 4, UnsupportedProgramError("of graph breaks")))
        return made[-1]

    for seed in SEEDS:
        text = with_graph_breaks(generate(seed).text, seed)
        if text is None:
            continue
        loaded = load(text, tmp_path, f"with_graph_breaks_{seed}")
        check_other(loaded.model, build, loaded.calls, f"seed {seed} with graph breaks")
        fragments += len(made[-1].explain().fragments)
    assert fragments > 3 * len(SEEDS)
