"""The command line: `python -m benchmarks run|report|compare|list`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from . import compare, report
from .index import update_index
from .measure import Effort
from .peers import PEERS
from .run import CannotResume, make_plan, run_all
from .workloads import WORKLOADS

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and do what it says; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_run(commands.add_parser("run", help="measure, and write JSON, a Markdown table and plots"))
    made = commands.add_parser("report", help="write the Markdown table and the plots of a JSON file again")
    made.add_argument("json", type=Path)
    made.add_argument("--output", type=Path, help="folder; that of the JSON file if not given")
    compared = commands.add_parser(
        "compare", help="find regressions between two JSON files; exit status 1 if there are"
    )
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    compared.add_argument("--peer", default="ours", help="whose results (default: ours)")
    compared.add_argument(
        "--tolerance", type=float, default=0.05, help="part by which a median may grow (default: 0.05)"
    )
    commands.add_parser("list", help="list workloads and peers")
    options = parser.parse_args(arguments)
    if options.command == "list":
        return _list()
    if options.command == "report":
        print(_write_report(options.json, options.output or options.json.parent))
        return 0
    if options.command == "compare":
        return compare.main(options.before, options.after, options.peer, options.tolerance)
    return _run(options)


def _add_run(parser: argparse.ArgumentParser) -> None:
    sets = ("quick", "full", "scaling", "small")
    parser.add_argument("--set", choices=sets, default="quick", help="which workloads and sizes (default: quick)")
    parser.add_argument("--only", default="", help="workloads, with commas between them")
    parser.add_argument("--peer", default="", help="peers, with commas between them; eager is always measured")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a compilation, 0: none (default: 60)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each peer, 0: its default (default: 1)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for a run of one input set, all peers (default: 2)")
    parser.add_argument("--rounds", type=int, default=30, help="the most samples of a run (default: 30)")
    parser.add_argument("--no-warm", action="store_true", help="leave out warm starts")
    parser.add_argument("--resume", action="store_true", help="keep what the JSON file has, measure what it lacks")
    parser.add_argument(
        "--output",
        type=Path,
        help="the JSON file (default: docs/benchmarks/<date>-<device>-<set>.json, or build/benchmarks)",
    )


def _run(options: argparse.Namespace) -> int:
    names = [[name for name in text.split(",") if name] for text in (options.only, options.peer)]
    effort = Effort(rounds=options.rounds, seconds=options.seconds, least=min(5, options.rounds))
    try:
        plan = make_plan(
            options.set,
            only=names[0],
            peers=names[1],
            device=options.device,
            limit=options.limit,
            threads=options.threads,
            effort=effort,
            warm=not options.no_warm,
        )
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    # What is not a whole set is not for docs.
    whole = not any(names) and options.set != "small"
    folder = _ROOT / "docs" / "benchmarks" if whole else _ROOT / "build" / "benchmarks"
    output = options.output or folder / f"{date.today().isoformat()}-{options.device}-{options.set}.json"
    try:
        with _interruptible():
            run_all(plan, output, resume=options.resume)
    except CannotResume as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"interrupted; {output} has what was measured, --resume goes on", file=sys.stderr)
        return 130
    finally:
        if output.exists():
            print(os.path.relpath(_write_report(output, output.parent)))
    return 0


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM interrupt the body as Ctrl-C does, and SIGINT also where a shell has it ignored for background
    processes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def _write_report(source: Path, folder: Path) -> Path:
    """Write the report of a run, and enter it where runs are listed."""
    written = report.write(source, folder)
    update_index(folder)
    return written


def _list() -> int:
    for workload in WORKLOADS.values():
        sizes = ", ".join(f"{name} {value}" for name, value in workload.sizes.items())
        print(f"{workload.name:14} {'quick' if workload.quick else '     '} {workload.description} [{sizes}]")
    print()
    for peer in PEERS.values():
        print(f"{peer.name:29} {peer.settings}")
    return 0
