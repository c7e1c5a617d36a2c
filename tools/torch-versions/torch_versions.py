"""Runs the Python tests with other versions of torch, and writes what came of it into docs/torch-versions.md.

    python tools/torch-versions/torch_versions.py                      # the lowest and the newest supported series
    python tools/torch-versions/torch_versions.py 2.12 2.14.1 -- -k views    # these; what follows -- is for pytest

Each version gets a virtual environment of its own in build/torch-versions, which is removed afterwards unless --keep is
given; what pytest prints stays beside it. The tests run the package of this tree, and the ssa-opt beside the Python
that runs this script: it does not depend on the version of torch. A CPU build is taken where pip finds one, else what
there is: gigabytes.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/torch-versions"
DOCUMENT = ROOT / "docs/torch-versions.md"
sys.path.insert(0, str(ROOT / "scripts"))

from find_torch import available, chosen, supported  # noqa: E402

_HEAD = """# Versions of PyTorch

Written by `make torch-versions`: do not edit. Continuous integration runs with one version of PyTorch; this is how
the Python tests ended with others. `TORCH_VERSIONS="2.12 2.14.1"` names versions, and `TORCH_VERSIONS_FLAGS` more
arguments of tools/torch-versions/torch_versions.py. Each version is downloaded, with CUDA where there is no CPU
build, and needs about 6 GB for the time. What failed, if anything did, is in the logs in build/torch-versions.

"""
_COLUMNS = ("torch", "date", "commit", "python", "command", "passed", "failed", "skipped")


@dataclass
class Result:
    """One row of the table."""

    torch: str
    date: str
    commit: str
    python: str
    command: str
    passed: int
    failed: int
    skipped: int


def known() -> dict[str, list[str]]:
    """The rows of the table as it is, by the first cell."""
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {row[0]: row for row in rows[2:]}


def write(result: Result) -> None:
    """Put a result into the table, in the place of what was there for its version of torch."""
    rows = known() | {result.torch: [str(cell) for cell in astuple(result)]}
    ordered = sorted(rows.values(), key=lambda row: [int(part) for part in re.findall(r"\d+", row[0])[:3]])
    lines = [_COLUMNS, ["---"] * len(_COLUMNS), *ordered]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    DOCUMENT.write_text(_HEAD + table, encoding="utf-8")


def output(*command: str | Path) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def needed() -> list[str]:
    """What the tests need, but torch: the dependencies of the package, and of its extra `test`."""
    found = []
    for requirement in requires("ssa-compiler") or []:
        wanted, _, marker = (part.strip() for part in requirement.partition(";"))
        if not re.match(r"torch[^\w-]", wanted) and ("extra" not in marker or re.search(r"extra == .test.", marker)):
            found.append(wanted)
    return found


def prepared(version: str) -> Path:
    """The Python of a virtual environment with a version of torch and what the tests need."""
    folder = BUILD / version
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, f"torch=={version}", *needed()], check=True)
    return python


def tested(python: Path, jobs: int, arguments: Sequence[str]) -> Result:
    """Run the tests with a Python, and say how they ended."""
    shown = ["pytest", "-q", "-n", str(jobs), *(arguments or ["test/python"])]
    log = BUILD / f"{python.parents[1].name}.log"
    environment = {
        **os.environ,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "python"),
        "SSA_OPT": str(Path(sys.executable).parent / "ssa-opt"),
    }
    command = [str(python), "-m", *shown, "-p", "no:cacheprovider"]
    with log.open("w") as stream:
        subprocess.run(command, cwd=ROOT, env=environment, stdout=stream, stderr=subprocess.STDOUT, check=False)
    text = log.read_text(errors="replace")
    last = next((line for line in reversed(text.splitlines()) if re.search(r"\d+ \w+.* in [\d.]+s", line)), "")
    print(*(line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))), last, sep="\n")
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last.rpartition(" in ")[0])}
    if not counts:
        raise SystemExit(f"pytest counted nothing: {log}")
    return Result(
        torch=output(python, "-c", "import torch; print(torch.__version__)"),
        date=datetime.date.today().isoformat(),
        commit=output("git", "describe", "--always", "--dirty"),
        python=output(python, "-c", "import platform; print(platform.python_version())"),
        command=f"`{' '.join(shown)}`",
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0) + sum(number for word, number in counts.items() if word.startswith("error")),
        skipped=counts.get("skipped", 0),
    )


def main() -> int:
    """Command line; returns the exit status."""
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, of_pytest = sys.argv[1:end], sys.argv[end + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", help="such as 2.12 or 2.14.1")
    parser.add_argument("--jobs", type=int, default=2, help="processes of pytest")
    parser.add_argument("--keep", action="store_true", help="keep the virtual environments")
    options = parser.parse_args(arguments)
    low, high = supported()
    wanted = options.versions or [f"{low[0]}.{low[1]}", f"{high[0]}.{high[1] - 1}"]
    versions = available(None)
    status = 0
    for each in wanted:
        version = chosen(versions, each, any_build=True)
        if version is None:
            print(f"torch {each}: none that is supported and that pip finds", file=sys.stderr)
            status = 1
            continue
        print(f"torch {version}:", flush=True)
        try:
            result = tested(prepared(version), options.jobs, of_pytest)
        finally:
            if not options.keep:
                shutil.rmtree(BUILD / version, ignore_errors=True)
        write(result)
        status |= result.failed > 0
    return status


if __name__ == "__main__":
    sys.exit(main())
