"""Mutation testing of the TensorSSA conversion: changes its source in one place at a time and sees whether a test
fails.

    python tools/mutation-testing/mutation_test.py --work build/mutation-testing
    python tools/mutation-testing/mutation_test.py --kernels

Half of the mutants are mistakes that people make (mistakes.txt), half are made mechanically (mechanical.py). Each is
applied to a copy of the tree, built, and run through the lit tests and, if it survives them, through the interpreted
programs (programs_check.py). With --kernels it is the passes that make kernels (kernel_mistakes.txt), and the programs
are those of the tests of kernels, compiled, and again with every access to memory checked. A mutant that survives both
is a gap in the tests, unless equivalent.txt says why no program can show the difference. Results are kept in the work
folder, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence, Set
from itertools import zip_longest
from pathlib import Path

from mechanical import all_mutants, sample
from mutant import Mutant, read_equivalents, read_mistakes

__all__ = ["Tree", "main"]

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
COPIED = ("CMakeLists.txt", "cmake", "include", "lib", "test", "tools", "python", "examples")
# What the conversion consists of. Reports and tests passes are not part of it.
SOURCES = (
    "lib/Analysis/AmbiguousAliasAnalysis.cpp", "lib/Analysis/TensorAliasAnalysis.cpp",
    "lib/Analysis/VerifyTensorAliases.cpp", "lib/Conversion/TorchToSCF.cpp", "lib/Conversion/FoldNestedUpdates.cpp",
    "lib/Conversion/NestedUpdates.cpp", "lib/Dialect/Torch/IR/StridedSlice.cpp",
    *(f"lib/Dialect/Torch/IR/{kind}ViewModels.cpp" for kind in ("Part", "Strided", "Whole")),
    *(f"lib/Transforms/{name}.cpp" for name in (
        "AmbiguousAliasResolver", "BlockPropagation", "InsertBoundsChecks", "LowerTSSA", "PromoteSlots", "RegionUtils",
        "RemoveRedundantAsserts", "RemoveUpdate", "Rename", "ResolveAmbiguousAliases", "RewriteMutation", "TagCapacity",
        "TorchSimplify", "VerifyValueSemantics", "WriteForms",
    )),
)  # fmt: skip
KERNEL_SOURCES = tuple(str(path.relative_to(ROOT)) for path in sorted((ROOT / "lib/Kernels").glob("*.cpp")))
KERNEL_TESTS = ("forming_test.py", "kernel_sizes_test.py", "library_test.py", "regions_test.py")
BUILD_LIMIT_S, LIT_LIMIT_S, PROGRAMS_LIMIT_S = 900, 300, 900


def _run(command: Sequence[str | Path], limit: float, **environment: str) -> tuple[int | None, str]:
    """Run a command; its status, None if it took more than `limit` seconds, and its output."""
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", env={**os.environ, **environment}, start_new_session=True,
    )  # fmt: skip
    try:
        output = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return None, ""
    return process.returncode, output


class Tree:
    """A copy of the repository with a build folder of its own."""

    def __init__(self, work: Path, kernels: bool) -> None:
        """Use the folder `work`, which may hold the copy of an earlier run."""
        self.kernels = kernels
        self.source = (work / "source").resolve()
        self.build = (work / "build").resolve()
        self.baseline = work.resolve() / "baseline.json"
        self.original = work.resolve() / "ssa-opt"

    def synchronise(self) -> None:
        """Copy what has changed in the repository, and only that, so that little has to be built again."""
        wanted = set()
        for name in COPIED:
            top = ROOT / name
            for path in [top] if top.is_file() else sorted(top.rglob("*")):
                if not path.is_file() or "__pycache__" in path.parts:
                    continue
                copy = self.source / path.relative_to(ROOT)
                wanted.add(copy)
                if not copy.exists() or copy.read_bytes() != path.read_bytes():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, copy)
        for copy in [path for path in self.source.rglob("*") if path.is_file()]:
            if copy not in wanted and "__pycache__" not in copy.parts:
                copy.unlink()

    def configure(self) -> None:
        """Configure the build: fast to compile and link, and without warnings as errors, which would kill mutants."""
        flags = [
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG",
            "-DCMAKE_CXX_FLAGS_RELEASE_SET=ON",
        ]
        flags += ["-DCMAKE_CXX_FLAGS=-Wno-error -w"]
        for linker in ("mold", "lld"):
            if shutil.which(linker) or shutil.which(f"ld.{linker}") or shutil.which(f"ld.{linker}-22"):
                flags.append(f"-DLLVM_USE_LINKER={linker}")
                break
        for compiler in ("clang++-22", "clang++"):
            if shutil.which(compiler):
                flags += [f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_C_COMPILER={compiler.replace('++', '')}"]
                break
        if "MLIR_DIR" in os.environ:
            flags.append(f"-DMLIR_DIR={os.environ['MLIR_DIR']}")
        status, output = _run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, *flags], 300)
        if status != 0:
            raise SystemExit(output)

    def make(self, jobs: int) -> tuple[bool, str]:
        """Build ssa-opt, and the tool of the lit tests."""
        status, output = _run(
            ["cmake", "--build", self.build, f"-j{jobs}", "--target", "ssa-opt", "ssa-opt-test"], BUILD_LIMIT_S
        )
        return status == 0, output

    def lit(self) -> str | None:
        """The first lit test that fails, "hang" if they do not end, None if all pass."""
        lit = Path(sys.executable).parent / "lit"
        command: list[str | Path] = [lit, "-q", "-j1", "--max-failures=1", self.build / "test/lit"]
        status, output = _run(command, LIT_LIMIT_S)
        if status is None:
            return "hang"
        failed = re.search(r"^(?:TIMEOUT|FAIL): .*? :: (\S+)", output, re.M) or re.search(r":: (\S+\.mlir)", output)
        return None if status == 0 else (failed.group(1) if failed else output[-200:])

    def keep_original(self) -> None:
        """Keep the ssa-opt just built as the one without a mutant."""
        shutil.copy(self.build / "bin/ssa-opt", self.original)
        self.baseline.unlink(missing_ok=True)

    def programs(self) -> str | None:
        """Run the programs; what differs from the run without a mutant, None if nothing does."""
        if self.kernels:
            return self._run_kernels("") or self._run_kernels("1")
        if not self.baseline.exists():
            failed = self._run_programs("--record", self.original)
            if failed:
                raise SystemExit(f"without a mutant the programs fail already: {failed}")
        return self._run_programs("--compare", self.build / "bin/ssa-opt")

    def _run_kernels(self, verify: str) -> str | None:
        tests = [self.source / "test/python/kernels" / name for name in KERNEL_TESTS]
        command: list[str | Path] = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "1", *tests]
        variables = {"SSA_OPT": str(self.build / "bin/ssa-opt"), "SSA_COMPILER_VERIFY_KERNELS": verify}
        status, output = _run(command, PROGRAMS_LIMIT_S, **variables)
        if status is None:
            return "hang"
        failed = re.search(r"^(?:FAILED|ERROR) \S*/(\S+)", output, re.M)
        return None if status == 0 else failed.group(1) if failed else output[-200:]

    def _run_programs(self, action: str, ssa_opt: Path) -> str | None:
        script = self.source / "tools/mutation-testing/programs_check.py"
        command: list[str | Path] = [sys.executable, script, action, self.baseline]
        status, output = _run(command, PROGRAMS_LIMIT_S, SSA_OPT=str(ssa_opt))
        if status is None:
            return "hang"
        return None if status == 0 else (output.strip().split("\n") or ["?"])[-1]


def _test(tree: Tree, mutant: Mutant, lit_only: bool) -> dict[str, str]:
    """Build and test one mutant; the copy is as before afterwards."""
    if not mutant.text:
        return {"result": "stale", "by": "the text to replace is not in the source exactly once"}
    path = tree.source / mutant.path
    original = path.read_text()
    path.write_text(mutant.text)
    try:
        built, output = tree.make(1)
        if not built:
            errors = [line for line in output.split("\n") if "error:" in line]
            return {"result": "does not compile", "by": (errors or [""])[0][-200:]}
        for result, test in (("killed by lit", tree.lit), ("killed by programs", tree.programs)):
            if lit_only and test != tree.lit:
                continue
            by = test()
            if by:
                return {"result": result, "by": by}
        return {"result": "survived", "by": ""}
    finally:
        path.write_text(original)


def _collect(count: int, seed: int, again: Set[str], kernels: bool) -> list[Mutant]:
    """The mistakes, and twice as many mechanical mutants as asked for, since some will not compile; by turns.

    Only those called as in `again`, if that is not empty: what is drawn depends on the sources, names do not.
    """
    chosen = KERNEL_SOURCES if kernels else SOURCES
    sources = {path: (ROOT / path).read_text() for path in chosen if (ROOT / path).exists()}
    mistakes = read_mistakes(HERE / ("kernel_mistakes.txt" if kernels else "mistakes.txt"), ROOT)
    if again:
        mechanical = [mutant for path, text in sources.items() for mutant in all_mutants(path, text)]
        return [mutant for mutant in [*mistakes, *mechanical] if mutant.name in again]
    pairs = zip_longest(mistakes, sample(sources, 2 * count, seed))
    return [mutant for pair in pairs for mutant in pair if mutant]


def _report(results: dict[str, dict[str, str]], equivalents: dict[str, str]) -> int:
    """Print a table; the number of survivors that are not known to be equivalent."""
    counts: Counter[str] = Counter()
    survivors = []
    for name, result in results.items():
        outcome = result["result"]
        if outcome == "survived" and name in equivalents:
            outcome = "equivalent"
        elif outcome == "survived":
            survivors.append(f"{name}\n    {result['what']}")
        counts[outcome] += 1
    for outcome, number in sorted(counts.items()):
        print(f"{number:4} {outcome}")
    print("\n".join(["Survivors:", *survivors]) if survivors else "No survivors.")
    return len(survivors) + counts["stale"]


def main() -> int:
    """Run what has not been run yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build/mutation-testing", help="folder of the copy and results"
    )
    parser.add_argument(
        "--kernels", action="store_true", help="the passes that make kernels, in place of the conversion"
    )
    parser.add_argument("--count", type=int, default=24, help="mechanical mutants that compile (default: 24)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mechanical ones (default: 0)")
    parser.add_argument("--only", help="only mutants whose name contains this; run them even if they have been run")
    parser.add_argument("--survivors", action="store_true", help="run the survivors of earlier runs again")
    parser.add_argument("--lit-only", action="store_true", help="do not run the programs")
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    options = parser.parse_args()
    if options.kernels:
        options.work = options.work.with_name(f"{options.work.name}-kernels")
    kept = options.work / "results.json"
    results: dict[str, dict[str, str]] = json.loads(kept.read_text()) if kept.exists() else {}
    survivors = {name for name, result in results.items() if options.survivors and result["result"] == "survived"}
    mutants = _collect(options.count, options.seed, survivors, options.kernels)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.name}{'' if mutant.text else '   STALE'}\n    {mutant.what}")
        return 1 if any(not mutant.text for mutant in mutants) else 0

    options.work.mkdir(parents=True, exist_ok=True)
    tree = Tree(options.work, options.kernels)
    tree.synchronise()
    tree.configure()
    built, output = tree.make(2)
    if not built:
        raise SystemExit(output)
    tree.keep_original()
    failed = tree.lit()
    if failed:
        raise SystemExit(f"without a mutant a test fails already: {failed}")

    compiled = 0
    for mutant in mutants:
        mechanical = mutant.name.split(" ")[0] != mutant.name
        if options.only and options.only not in mutant.name:
            continue
        again = options.only or mutant.name in survivors
        if mechanical and compiled >= options.count and not (options.only or survivors):
            continue
        if mutant.name not in results or again or results[mutant.name]["result"] == "stale":
            start = time.monotonic()
            results[mutant.name] = {**_test(tree, mutant, options.lit_only), "what": mutant.what}
            kept.write_text(json.dumps(results, indent=1))
            result = results[mutant.name]
            print(f"{time.monotonic() - start:4.0f} s  {result['result']:18} {mutant.name}  {result['by']}", flush=True)
        compiled += mechanical and results[mutant.name]["result"] != "does not compile"
    tree.make(1)
    return 1 if _report(results, read_equivalents(HERE / "equivalent.txt")) else 0


if __name__ == "__main__":
    sys.exit(main())
