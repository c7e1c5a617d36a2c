"""Feeds ssa-opt mutated MLIR: it may reject any of it, but never crash, hang, or make something invalid of it.

    python tools/fuzz-ir/fuzz_ir.py --ssa-opt build/asan/bin/ssa-opt --inputs 4000 --seed 1

Starts from the lit tests and (with --programs) from imported test programs, changes the text at random
(ir_mutations.py), and runs the pipelines and each pass on what still parses. Best used with a build with sanitizers,
see docs/Testing.md. Findings are written to --out, one file for each cause. The exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

from ir_corpus import collect
from ir_mutations import mutate
from ir_runner import Finding, SsaOpt
from ir_text import brackets

__all__ = ["FLAGS", "fuzz"]

PIPELINES = (
    ("--convert-to-tensorssa",),
    (
        "--torch-to-scf",
        "--convert-to-tensorssa",
        "--expand-float-to-int",
        "--reserve-capacity",
        "--fold-nested-updates",
        "--legalize-iree-boundary",
    ),
)
PASSES = (
    "--torch-to-scf", "--torch-insert-bounds-checks", "--tssa-resolve-ambiguous-aliases", "--tssa-rewrite-mutation",
    "--tssa-block-propagation", "--tssa-rename", "--tssa-remove-update", "--torch-simplify", "--tssa-promote-slots",
    "--tssa-lower", "--remove-redundant-asserts", "--verify-value-semantics", "--expand-float-to-int",
    "--reserve-capacity", "--fold-nested-updates", "--legalize-iree-boundary", "--canonicalize", "--cse",
)  # fmt: skip
TEST_PASSES = ("--test-print-tensor-aliases", "--test-print-torch-aliasing")
"""Passes that only ssa-opt-test has."""
STEPS = ("--tssa-rewrite-mutation", "--tssa-block-propagation", "--tssa-rename", "--tssa-remove-update", "--tssa-lower")
FLAGS: tuple[tuple[str, ...], ...] = (
    *PIPELINES,
    *((name,) for name in PASSES),
    *(STEPS[:count] for count in range(2, len(STEPS) + 1)),
)


def fuzz(
    ssa_opt: SsaOpt, corpus: list[str], inputs: int, seed: int, batch: int = 40, seconds: float = float("inf")
) -> tuple[list[Finding], Counter[str]]:
    """Run ssa-opt on mutants of the corpus.

    Args:
        ssa_opt: the tool.
        corpus: texts to mutate.
        inputs: how many mutants.
        seed: equal seeds make equal mutants.
        batch: how many mutants share one process.
        seconds: stop after this time.
    Returns:
        The findings, and the counts "inputs", "parsed" and "runs".
    """
    random = Random(seed)
    pool = [line for text in corpus for line in text.split("\n") if "= " in line and brackets(line) == 0]
    findings: list[Finding] = []
    counts: Counter[str] = Counter()
    chosen = [*FLAGS, *((name,) for name in TEST_PASSES if ssa_opt.has_test_passes)]
    start = time.monotonic()
    while counts["inputs"] < inputs and time.monotonic() - start < seconds:
        valid: list[str] = []
        while len(valid) < batch and counts["inputs"] < inputs:
            texts = [mutate(random.choice(corpus), random, pool)[0] for _ in range(2 * batch)]
            counts["inputs"] += len(texts)
            outputs, found = ssa_opt.check(texts, [])
            findings += found
            valid += [text for text, output in zip(texts, outputs) if output is not None]
        counts["parsed"] += len(valid)
        for flags in chosen if valid else ():
            converted, found = ssa_opt.check(valid, flags)
            findings += found
            printed = [output for output in converted if output is not None]
            if flags in PIPELINES and printed:
                for text, output in zip(printed, ssa_opt.check(printed, [])[0]):
                    if output is None:
                        findings.append(Finding("unreadable output", (), text, "what ssa-opt printed it does not read"))
        counts["runs"] = ssa_opt.runs
        print(
            f"\r{counts['inputs']} inputs, {counts['parsed']} parse, {counts['runs']} runs of ssa-opt, "
            f"{len({finding.signature for finding in findings})} causes found, {time.monotonic() - start:.0f} s",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip
    print(file=sys.stderr)
    return findings, counts


def main() -> int:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ssa-opt", type=Path, required=True, help="the ssa-opt to test")
    parser.add_argument("--inputs", type=int, default=1000, help="how many mutated inputs (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="equal seeds make equal inputs (default: 0)")
    parser.add_argument("--batch", type=int, default=40, help="inputs in one run of ssa-opt (default: 40)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--programs", action="store_true", help="start from test/python/programs too (needs torch)")
    parser.add_argument(
        "--out", type=Path, default=Path("build/fuzz-ir"), help="where findings go (default: build/fuzz-ir)"
    )
    options = parser.parse_args()
    ssa_opt = SsaOpt(options.ssa_opt)
    corpus = collect(ssa_opt, options.programs)
    print(f"{len(corpus)} starting points, seed {options.seed}", file=sys.stderr)
    findings, _ = fuzz(ssa_opt, corpus, options.inputs, options.seed, options.batch, options.seconds)
    causes: dict[str, list[Finding]] = {}
    for finding in findings:
        causes.setdefault(finding.signature, []).append(finding)
    options.out.mkdir(parents=True, exist_ok=True)
    for number, (signature, same) in enumerate(causes.items()):
        smallest = min(same, key=lambda finding: len(finding.text))
        path = options.out / f"finding-{options.seed}-{number}.mlir"
        detail = "".join(f"// {line}\n" for line in smallest.detail.split("\n")[:40])
        path.write_text(
            f"// ssa-opt {' '.join(smallest.flags)} --allow-unregistered-dialect\n{smallest.text}\n{detail}"
        )
        print(f"{len(same)} x {signature}\n    {' '.join(smallest.flags)} {path}")
    return 1 if causes else 0


if __name__ == "__main__":
    sys.exit(main())
