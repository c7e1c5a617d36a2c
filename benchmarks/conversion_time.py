"""How the time of TensorSSA conversion grows with writes, regions and tensors.

Writes a program in the Torch dialect with in-place writes to slices of several tensors under nested loops and branches,
and runs `ssa-opt --torch-to-scf --convert-to-tensorssa` on it. Prints JSON and a Markdown table (README.md in this
folder).
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import resource
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ssa_compiler._opt import find_ssa_opt
from ssa_compiler.testing.markdown import markdown_table

__all__ = ["Size", "convert", "measure", "write_program"]

FLAGS = ("--torch-to-scf", "--convert-to-tensorssa")
_TENSOR = "!torch.tensor<[8,4],f32>"
_ROW = "!torch.tensor<[4],f32>"
_RESULT_OP = re.compile(r"^\s*(?:%\S+(?:, %\S+)* = )?\"?(?:torch|tssa|scf|arith|cf|torch_c)\.", re.MULTILINE)


@dataclass(frozen=True)
class Size:
    """The size of a program.

    Attributes:
        writes: in-place writes, spread evenly over the regions.
        regions: loops and branches in turn, each inside the one before.
        tensors: arguments, one of which each write chooses at random.
    """

    writes: int = 2000
    regions: int = 200
    tensors: int = 50


LARGEST = 4000
SWEEPS: dict[str, list[Size]] = {
    "writes": [Size(writes=count) for count in (250, 500, 1000, 2000, LARGEST)],
    "regions": [Size(regions=count) for count in (25, 50, 100, 200)],
    "tensors": [Size(tensors=count) for count in (6, 12, 25, 50, 100)],
}


def write_program(size: Size, seed: int = 0) -> str:
    """Return a program of a size, the same for the same seed.

    Args:
        size: how large.
        seed: chooses the tensor of each write.
    """
    choice = random.Random(seed)
    arguments = ", ".join(f"%a{number}: {_TENSOR}" for number in range(size.tensors))
    lines = [
        f"func.func @main(%n: !torch.int, %c: !torch.bool, {arguments}) -> {_TENSOR} {{",
        "%true = torch.constant.bool true",
        "%int0 = torch.constant.int 0",
        "%int1 = torch.constant.int 1",
    ]
    ends: list[str] = []
    index = "%int0"
    written = 0
    for region in range(size.regions):
        if region % 2:
            lines.append("torch.prim.If %c -> () {")
            ends.append("torch.prim.If.yield\n} else {\ntorch.prim.If.yield\n}")
        else:
            index = f"%i{region}"
            lines.append(f"torch.prim.Loop %n, %true, init() {{\n^bb0({index}: !torch.int):")
            ends.append("torch.prim.Loop.condition %true, iter()\n} : (!torch.int, !torch.bool) -> ()")
        share = size.writes * (region + 1) // size.regions
        for write in range(written, share):
            tensor = choice.randrange(size.tensors)
            lines += [
                f"%v{write} = torch.aten.select.int %a{tensor}, %int0, {index} : "
                f"{_TENSOR}, !torch.int, !torch.int -> {_ROW}",
                f"%w{write} = torch.aten.add_.Scalar %v{write}, %int1, %int1 : "
                f"{_ROW}, !torch.int, !torch.int -> {_ROW}",
            ]
        written = share
    return "\n".join([*lines, *reversed(ends), f"return %a0 : {_TENSOR}\n}}", ""])


def convert(program: str) -> tuple[float, str]:
    """Convert a program.

    Args:
        program: MLIR of the Torch dialect.
    Returns:
        The processor time in seconds, with the start of the process and parsing, and the converted program. It does not
        depend on what else the machine does.
    Raises:
        subprocess.CalledProcessError: it is rejected.
    """
    command = [find_ssa_opt(), "-", *FLAGS]
    start = _used()
    completed = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    return _used() - start, completed.stdout


def _used() -> float:
    """The processor time that finished child processes have used, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def count_ops(module: str) -> int:
    """Count the ops of a printed module, one on each line, without functions, returns and what closes a region."""
    return len(_RESULT_OP.findall(module))


def measure(size: Size, repeats: int) -> dict[str, float | int]:
    """Convert a program of a size several times.

    Args:
        size: how large.
        repeats: how often, after one run that does not count.
    Returns:
        The size, the median and the spread of the time in seconds, and the number of ops before and after.
    """
    program = write_program(size)
    _, converted = convert(program)
    times = sorted(convert(program)[0] for _ in range(repeats))
    return {
        **asdict(size),
        "median_s": round(statistics.median(times), 4),
        "min_s": round(times[0], 4),
        "max_s": round(times[-1], 4),
        "ops_before": count_ops(program),
        "ops_after": count_ops(converted),
    }


def _markdown(results: dict[str, list[dict[str, float | int]]]) -> str:
    tables = []
    for sweep, rows in results.items():
        head = (sweep, "median, s", f"ms per {sweep.removesuffix('s')}", "ops before", "ops after")
        cells = [
            (
                f"{row[sweep]}",
                f"{row['median_s']:.2f}",
                f"{row['median_s'] * 1000.0 / row[sweep]:.2f}",
                f"{row['ops_before']}",
                f"{row['ops_after']}",
            )
            for row in rows
        ]
        tables.append(markdown_table(head, cells))
    return "\n\n".join(tables) + "\n"


def main() -> None:
    """Run the sweeps, print the tables to the standard error and the JSON to the standard output or a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each size (default: 3)")
    parser.add_argument("--output", type=Path, help="write the JSON to this file as well")
    parser.add_argument("--small", action="store_true", help="a tenth of each size")
    options = parser.parse_args()

    def scaled(size: Size) -> Size:
        if not options.small:
            return size
        return replace(
            size, writes=size.writes // 10, regions=max(size.regions // 10, 2), tensors=max(size.tensors // 10, 1)
        )

    results = {sweep: [measure(scaled(size), options.repeats) for size in sizes] for sweep, sizes in SWEEPS.items()}
    report = {"benchmark": "conversion_time", "machine": platform.processor() or platform.machine(), "sweeps": results}
    text = json.dumps(report, indent=2)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    print(text)
    print(_markdown(results), file=sys.stderr)


if __name__ == "__main__":
    main()
