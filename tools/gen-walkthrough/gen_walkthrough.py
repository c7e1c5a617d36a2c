"""Writes docs/walkthrough.md: one program through every stage of the compiler, from walkthrough.md.in and what the
stages print.

    python tools/gen-walkthrough/gen_walkthrough.py            # writes the page
    python tools/gen-walkthrough/gen_walkthrough.py --check    # says whether the page is up to date

The template has the explanations. A comment `<!-- show NAME` with a regular expression on each line becomes the lines
of NAME that one of them finds, with `...` for those left out; an expression that finds nothing is an error.
`<!-- passes STAGE -->` becomes the flags of ssa-opt that make a stage. NAME is a stage of
`ssa_compiler.pipeline.STAGES`, a pass of --convert-to-tensorssa, a step that makes a kernel ("linalg", "form-kernels",
"lower-kernels"), or "program", "explain", "report" and "error". A stage or one of its passes that the template does not
mention is an error, too.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PAGE = ROOT / "docs" / "walkthrough.md"
TEMPLATE = FOLDER / "walkthrough.md.in"
PROGRAM = FOLDER / "double_tails.py"

_MLIR = re.compile(r"^(?:imported|scf|tensorssa|iree|linalg|form-kernels|lower-kernels|(?:tssa|torch)-[\w-]+)$")


def conversion_passes() -> list[str]:
    """The passes of --convert-to-tensorssa, in order, from the description of the pipeline."""
    source = (ROOT / "lib" / "Transforms" / "Pipelines.cpp").read_text(encoding="utf-8")
    call = source[source.index('"convert-to-tensorssa"') :]
    description = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call[: call.index("[](")])[1:])
    return description[description.index("): ") + 3 :].split(", ")


def texts() -> dict[str, str]:
    """What each stage prints, by its name."""
    import torch
    from double_tails import double_tails

    import ssa_compiler
    from ssa_compiler._opt import run_ssa_opt
    from ssa_compiler.backend.kernels import kernels
    from ssa_compiler.pipeline import STAGES

    x = torch.arange(12.0).reshape(4, 3)
    found = {"program": PROGRAM.read_text(encoding="utf-8")}
    run = kernels.run_stage

    def recorded(command: list[str], text: str, timeout_s: float) -> str:
        printed = run(command, text, timeout_s)
        flag = next(word for word in reversed(command) if word.startswith("--") and not word.startswith("--mlir"))
        found["linalg" if flag.startswith("--pass-pipeline") else flag[2:].partition("=")[0]] = printed
        return printed

    kernels_module: Any = kernels
    kernels_module.run_stage = recorded
    try:
        compiled = ssa_compiler.compile(double_tails, (x, 1, 3), target="cpu", cache=False)
    finally:
        kernels_module.run_stage = run
    for start, stop in ((0, 0), (1, 3), (0, 4), (4, 4)):
        assert torch.equal(compiled(x, start, stop), double_tails(x, start, stop))
    found |= {stage: compiled.mlir(stage) for stage in STAGES}
    passes = conversion_passes()
    for count, name in enumerate(passes, start=1):
        found[name] = run_ssa_opt(compiled.mlir("scf"), [f"--{made}" for made in passes[:count]])
    found["explain"] = re.sub(r"in \d+\.\d+ s", "in ... s", str(compiled.explain()))
    found["report"] = str(compiled.report())
    try:
        compiled(x, 1, 5)
    except IndexError as error:
        found["error"] = f"{type(error).__name__}: {error}"
    return {name: text.replace(f"{FOLDER}/", "") for name, text in found.items()}


def readable(text: str) -> list[str]:
    """MLIR without locations, constants, and the types of operands where those of results follow."""
    text = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", text)
    lines = []
    for line in text.splitlines():
        if re.search(r"= (?:arith|torch)\.constant|^#", line):
            continue
        line = re.sub(r"attributes \{.*\} \{$", "attributes {...} {", line)
        if re.search(r"= (?:torch|torch_c|tssa)\.|^ *tssa\.", line):
            line = re.sub(r" : !?\w[^\]\"]*(?=\] :)", "", line)  # in the brackets of tssa.access
            line = re.sub(r" : (?:[^\"{}]* -> )", " -> ", line)
            line = re.sub(r"(tssa\.(?:assign|update).*?) : .*", r"\1", line)
        lines.append(line)
    return lines


def excerpt(name: str, text: str, patterns: list[str]) -> str:
    """The lines of a text that the patterns find, as a code block.

    Raises:
        SystemExit: a pattern finds nothing.
    """
    mlir = _MLIR.match(name) is not None
    lines = readable(text) if mlir else text.rstrip().splitlines()
    chosen = [not patterns or any(re.search(pattern, line) for pattern in patterns) for line in lines]
    for pattern in patterns:
        if not any(re.search(pattern, line) for line in lines):
            raise SystemExit(f"{TEMPLATE.name}: nothing of '{name}' matches: {pattern}")
    first, last = chosen.index(True), len(chosen) - 1 - chosen[::-1].index(True)
    shown: list[str] = []
    for line, wanted in zip(lines[first : last + 1], chosen[first : last + 1], strict=True):
        if wanted:
            shown.append(line)
        elif shown[-1].strip() != "..." and line.strip():
            shown.append(line[: len(line) - len(line.lstrip())] + "...")
    margin = min(len(line) - len(line.lstrip()) for line in shown if line.strip())
    kind = "mlir" if mlir else "python" if name == "program" else "text"
    return "\n".join([f"```{kind}", *(line[margin:].rstrip() for line in shown), "```"])


def render() -> str:
    """Return the page.

    Raises:
        SystemExit: the template leaves out a stage or pass, or shows what there is not.
    """
    from ssa_compiler.pipeline import PASSES, STAGES

    template = TEMPLATE.read_text(encoding="utf-8")
    stage_of = {flag: stage for stage, flags in PASSES.items() for flag in flags}
    for name in [
        *(flag for flags in PASSES.values() for flag in flags),
        *(f"--{name}" for name in conversion_passes()),
    ]:
        if not re.search(rf"{name}\b", template) and not re.search(rf"<!-- passes {stage_of.get(name)} -->", template):
            raise SystemExit(f"{TEMPLATE.name} does not mention {name}")
    for stage in STAGES:
        if f"`{stage}`" not in template:
            raise SystemExit(f"{TEMPLATE.name} does not mention the stage {stage}")
    printed = texts()

    def shown(match: re.Match[str]) -> str:
        name, patterns = match.group(1), match.group(2).strip().splitlines()
        if name not in printed:
            raise SystemExit(f"{TEMPLATE.name} shows '{name}': expected one of {', '.join(printed)}")
        return excerpt(name, printed[name], patterns)

    def flags(match: re.Match[str]) -> str:
        *others, last = [f"`{flag}`" for flag in PASSES[match.group(1)]]
        return f"{', '.join(others)} and {last}" if others else last

    page = re.sub(r"<!-- passes (\w+) -->", flags, template)
    return re.sub(r"<!-- show ([\w-]+)\n?(.*?)-->", shown, page, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare without writing")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT / "python"))  # this tree's compiler, whatever is installed
    page = render()
    if options.check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
            print(
                f"{PAGE.relative_to(ROOT)} is not up to date: run {Path(__file__).relative_to(ROOT)}", file=sys.stderr
            )
            return 1
        return 0
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
