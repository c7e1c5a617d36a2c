"""The command line of the fuzzer; `python -m ssa_compiler.testing.fuzz --help` explains it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .generate import generate
from .peers import BACKEND_VARIABLE, choose_backend
from .pool import Runner, Task, run_tasks
from .record import AUTO, PARTIAL, PEERS, STATUSES, Record, signature
from .score import format_score, read_records
from .shrink import shrink
from .sizes import auto_program

__all__ = ["main"]

_DESCRIPTION = """\
Write random imperative programs and compare what the compiler makes of them with eager PyTorch: results, dtypes, shapes,
contents of all arguments after the call, state of modules, what shares memory, and the errors raised. Each program runs
on several input sets with one artefact.
"""

_EPILOG = """\
examples:
  python -m ssa_compiler.testing.fuzz --seeds 0:1000 --jobs 2 --output run.jsonl
      1,000 programs under the interpreter, at every stage. Run it again to go on where it was interrupted.
  python -m ssa_compiler.testing.fuzz --seeds 0:100 --compiled
      100 programs, compiled with IREE as well.
  python -m ssa_compiler.testing.fuzz --seeds 0:200 --peer torchscript --peer torch.compile
      the same programs on other systems, side by side.
  python -m ssa_compiler.testing.fuzz --seeds 17:18 --show
      print program 17.
  python -m ssa_compiler.testing.fuzz --seeds 0:1000 --shrink --failures found
      make failing programs smaller and write them to the folder `found`.
  python -m ssa_compiler.testing.fuzz --seeds 0:200 --auto-sizes
      programs with dynamic sizes, half of them about sizes, run with odd ones, 0 and 1.
  python -m ssa_compiler.testing.fuzz --program found/17.py
      run one program from a file.

The exit status is 0 if nothing was wrong, 1 if a result was wrong or a program crashed a tool, 2 for a wrong command line.
docs/Fuzzing.md describes the grammar, what is compared, how to read the score, and how to add an ingredient.
"""


def _range(text: str) -> range:
    first, colon, last = text.partition(":")
    try:
        return range(int(first), int(last)) if colon else range(int(first), int(first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected FIRST:LAST, got {text!r}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ssa_compiler.testing.fuzz",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_programs(parser.add_argument_group("which programs"))
    _add_runs(parser.add_argument_group("how they are run"))
    _add_outputs(parser.add_argument_group("what comes out"))
    return parser


def _add_programs(what: argparse._ArgumentGroup) -> None:
    what.add_argument(
        "--seeds", type=_range, default=range(0, 200), metavar="FIRST:LAST", help="default 0:200; LAST is not included"
    )
    what.add_argument(
        "--program",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="run this program instead; may be repeated",
    )
    what.add_argument("--show", action="store_true", help="print the programs, run nothing")
    what.add_argument(
        "--features", action="store_true", help="print the grammar with its frequencies in these programs, run nothing"
    )


def _add_runs(how: argparse._ArgumentGroup) -> None:
    how.add_argument(
        "--compiled", action="store_true", help="compile with IREE and run, besides the interpreter at every stage"
    )
    how.add_argument(
        "--metamorphic",
        action="store_true",
        help="compare each program with a rewritten form of it (loops unrolled, branches duplicated, clones inserted)",
    )
    how.add_argument(
        "--partially-evaluated",
        action="store_true",
        help="evaluate each program partially, though TorchScript takes it as it is, and interpret it",
    )
    how.add_argument(
        "--auto-sizes",
        action="store_true",
        help="sizes are dynamic, those of the input sets differ, and every other program is about sizes",
    )
    how.add_argument(
        "--peer",
        action="append",
        default=[],
        choices=PEERS,
        help="run another system on the same programs too; may be repeated",
    )
    how.add_argument(
        "--backend", help="backend of torch.compile; default inductor, or aot_eager where inductor cannot run"
    )
    how.add_argument("--only-peers", action="store_true", help="do not run this compiler")
    how.add_argument("--jobs", type=int, default=1, help="worker processes (default 1)")
    how.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for each program (default 60)")
    how.add_argument(
        "--memory", type=float, default=8.0, metavar="GIB", help="for each worker (default 8, 0 for no limit)"
    )


def _add_outputs(out: argparse._ArgumentGroup) -> None:
    out.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="append a JSON line for each program; programs that are in it are not run again",
    )
    out.add_argument(
        "--failures", type=Path, metavar="FOLDER", help="write each program that is wrong or crashes to this folder"
    )
    out.add_argument(
        "--shrink", action="store_true", help="make each such program smaller while it fails in the same way"
    )
    out.add_argument("--quiet", action="store_true", help="print the score only")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool.

    Args:
        arguments: the command line; that of the process if None.
    Returns:
        The exit status: 1 if something is wrong.
    """
    options = _parser().parse_args(arguments)
    if options.show:
        for seed in options.seeds:
            print((auto_program if options.auto_sizes else generate)(seed).text)
        return 0
    if options.features:
        print("\n".join(_frequencies(options.seeds)))
        return 0
    if "torch.compile" in options.peer:
        os.environ[BACKEND_VARIABLE] = options.backend or choose_backend()
        print(f"torch.compile: fullgraph=True, backend {os.environ[BACKEND_VARIABLE]}", flush=True)
    records = _run(options)
    print(format_score(records))
    return 1 if any(record.status in ("wrong", "error") and record.system not in PEERS for record in records) else 0


def _frequencies(seeds: range) -> list[str]:
    from .score import feature_table

    records = [Record("", seed, "ok", features=sorted(generate(seed).features)) for seed in seeds]
    return feature_table(records)


def _run(options: argparse.Namespace) -> list[Record]:
    """Run what is asked for and not in the output file yet; returns all records."""
    own = "compiled" if options.compiled else "metamorphic" if options.metamorphic else "interpreted"
    own = AUTO[options.compiled] if options.auto_sizes else own
    own = PARTIAL if options.partially_evaluated else own
    systems = [] if options.only_peers else [own]
    systems += options.peer
    wanted = {(system, seed) for system in systems for seed in options.seeds}
    records: list[Record] = []
    failed: list[tuple[Task, Record]] = []
    if options.output is not None and not options.program:
        records = [record for record in read_records(options.output) if (record.system, record.seed) in wanted]
    done = {(record.system, record.seed) for record in records}

    def tasks() -> Iterator[Task]:
        for system in systems:
            if options.program:
                for path in options.program:
                    yield Task(system, text=path.read_text(encoding="utf-8"))
            else:
                yield from (Task(system, seed) for seed in options.seeds if (system, seed) not in done)

    start, last = time.monotonic(), 0.0
    output = options.output.open("a+", encoding="utf-8") if options.output is not None else None
    if output is not None and output.tell():
        output.seek(output.tell() - 1)
        if output.read() != "\n":  # a line that was cut short
            output.write("\n")
    try:
        running = run_tasks(tasks(), jobs=options.jobs, timeout_s=options.timeout, memory_gib=options.memory)
        for number, (task, record) in enumerate(running, 1):
            records.append(record)
            if output is not None:
                output.write(json.dumps(record.json()) + "\n")
                output.flush()
            if record.status in ("wrong", "error"):
                failed.append((task, record))
                _report(options, task, record)
            if not options.quiet and time.monotonic() - last > 15:
                last = time.monotonic()
                print(f"{number} programs in {last - start:.0f} s: {_counts(records)}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted; the score is that of the programs so far", file=sys.stderr)
    finally:
        if output is not None:
            output.close()
    if options.shrink or options.failures is not None:
        _keep(options, failed)
    return records


def _counts(records: list[Record]) -> str:
    return ", ".join(f"{sum(record.status == status for record in records)} {status}" for status in STATUSES)


def _report(options: argparse.Namespace, task: Task, record: Record) -> None:
    """Say at once what is wrong."""
    if not options.quiet:
        name = f"{record.seed if record.seed is not None else 'program'}"
        print(f"{record.system} {name}: {record.status}: {record.message[:300]}", file=sys.stderr, flush=True)


def _keep(options: argparse.Namespace, failed: list[tuple[Task, Record]]) -> None:
    """Write failing programs to a folder; make one of each kind smaller if asked for."""
    kinds: set[tuple[str, ...]] = set()
    runner = Runner(timeout_s=min(options.timeout, 20.0), memory_gib=options.memory)
    try:
        for task, record in failed:
            text = task.program().text
            kind = (record.system, *signature(record), record.reason)
            if options.shrink and kind not in kinds:
                kinds.add(kind)
                text = _smaller(runner, task, record, text)
            if options.failures is None:
                print(text)
                continue
            options.failures.mkdir(parents=True, exist_ok=True)
            name = f"{record.system}-{record.seed if record.seed is not None else 'program'}.py"
            message = f"{record.system}: {record.status}: {record.message}"
            comment = "".join(f"# {line}\n" for line in message.splitlines()[:6])
            (options.failures / name).write_text(comment + text, encoding="utf-8")
    finally:
        runner.close()


def _smaller(runner: Runner, task: Task, record: Record, text: str) -> str:
    def fails(candidate: str) -> bool:
        return signature(runner.run(Task(task.system, record.seed, candidate))) == signature(record)

    found = shrink(text, fails) if fails(text) else text
    lines = len(found.splitlines())
    print(f"{record.system} {record.seed}: shrunk from {len(text.splitlines())} to {lines} lines", file=sys.stderr)
    return found
