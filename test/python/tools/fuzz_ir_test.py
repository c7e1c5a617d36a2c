"""Mutated .mlir inputs: ssa-opt may reject any, but never crash, hang, or make something invalid (tools/fuzz-ir).

A sample; `make sanitize` runs some thousands with sanitizers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from ssa_compiler._opt import find_ssa_opt

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "fuzz-ir"))

from fuzz_ir import fuzz
from ir_corpus import collect
from ir_mutations import MUTATIONS, mutate
from ir_runner import SsaOpt
from ir_text import read_line, split_functions, types_of_values

ROOT = Path(__file__).resolve().parents[3]
GENERIC = """func.func @f(%a: i1) {
  %0 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %1:2 = "scf.if"(%a) ({
    "scf.yield"(%0, %0) : (!torch.int, !torch.int) -> ()
  }) : (i1) -> (!torch.int, !torch.vtensor<[4,3],f32>)
  %2 = "torch.aten.add.int"(%0, %1#0) : (!torch.int, !torch.int) -> !torch.int
  return
}"""


@pytest.mark.slow
def test_sample_of_mutated_inputs() -> None:
    built = ROOT / "build/wheel/bin/ssa-opt-test"  # where this installation was built
    ssa_opt = SsaOpt(built if built.exists() else Path(find_ssa_opt()))
    findings, counts = fuzz(ssa_opt, collect(ssa_opt, programs=False), inputs=240, seed=1, seconds=30)
    assert not findings, "\n\n".join(f"{finding.signature}\n{finding.flags}\n{finding.text}" for finding in findings)
    assert counts["parsed"] >= 10, "hardly any mutant parses: the sample shows nothing"


def test_types_of_values_are_read_from_the_generic_form() -> None:
    assert types_of_values(GENERIC.split("\n")) == {
        "%0": "!torch.int",
        "%1#0": "!torch.int",
        "%1#1": "!torch.vtensor<[4,3],f32>",
        "%2": "!torch.int",
    }
    line = read_line(GENERIC.split("\n")[5])
    assert (line.name, line.operands, line.result_types) == ("torch.aten.add.int", ["%0", "%1#0"], ["!torch.int"])


def test_files_are_split_at_separators_and_functions() -> None:
    text = "// RUN: x\nfunc.func @a() {\n}\n\nfunc.func @b() {\n}\n// -----\nmodule {\n}\n"
    assert split_functions(text) == ["func.func @a() {\n}", "func.func @b() {\n}", "module {\n}"]


def test_equal_seeds_make_equal_mutants_and_each_mutation_can_change_something() -> None:
    pool = [line for line in GENERIC.split("\n") if "= " in line]
    assert [mutate(GENERIC, Random(3), pool) for _ in range(2)] == [mutate(GENERIC, Random(3), pool)] * 2
    seen = {name for seed in range(600) for name in mutate(GENERIC, Random(seed), pool)[1]}
    without_place = {"change_float", "change_bool", "change_string", "swap_regions", "make_in_place", "change_op"}
    assert {mutation.__name__ for mutation in MUTATIONS} - seen <= without_place


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("kill -ABRT $$", "crash"),
        ("sleep 60", "hang"),
        ("exit 1", "silent failure"),
        (
            'case "$*" in *--verify-each=0*) echo "module {}";; *) echo "f:1:1: error: invalid" >&2; exit 1;; esac',
            "invalid output",
        ),
    ],
)
def test_what_counts_as_a_finding(script: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ir_runner._HANG_S", 1.0)
    fake = tmp_path / "ssa-opt"
    fake.write_text(f"#!/bin/bash\ncat >/dev/null\n{script}\n")
    fake.chmod(0o755)
    findings = SsaOpt(fake).check(["module {}"], ["--cse"])[1]
    assert [finding.kind for finding in findings] == [kind]


@pytest.mark.parametrize("errors", ["unsupported: no pure form", "expected a permutation"])
def test_a_rejection_is_no_finding(errors: str, tmp_path: Path) -> None:
    fake = tmp_path / "ssa-opt"
    fake.write_text(f'#!/bin/bash\ncat >/dev/null\necho "f:1:1: error: {errors}" >&2\nexit 1\n')
    fake.chmod(0o755)
    assert SsaOpt(fake).check(["module {}"], ["--cse"]) == ([None], [])
