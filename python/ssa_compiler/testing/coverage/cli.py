"""The command line of the coverage measurement."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    from .samples import DTYPES

    parser = argparse.ArgumentParser(
        prog="python -m ssa_compiler.testing.coverage",
        description="Compile PyTorch's operator database and compare it with eager. Interrupted, it goes on where it was.",
    )
    parser.add_argument("--results", type=Path, default=Path("build/coverage.jsonl"), help="file of records")
    parser.add_argument(
        "--more", type=Path, action="append", default=[], help="further file of records for the table; may be repeated"
    )
    parser.add_argument("--ops", default="", help="regular expression that the whole name of an operator has to match")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="comma-separated names")
    parser.add_argument("--interpreted", action="store_true", help="only import, and run each stage in the interpreter")
    parser.add_argument("--sample", type=int, help="only so many operators with dtypes, always the same")
    parser.add_argument("--further", type=int, default=0, help="more samples of each operator, with other arguments")
    parser.add_argument(
        "--dynamic-sizes", action="store_true", help="sizes are dynamic, and each program runs with up to two others"
    )
    parser.add_argument("--extremes", action="store_true", help="each program runs with large and small numbers too")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--timeout", type=float, default=120.0, help="limit of a case in seconds")
    parser.add_argument("--retry", default="", help="statuses to run again, comma-separated")
    parser.add_argument("--verbose", action="store_true", help="print each case, not only those that fail")
    parser.add_argument(
        "--write", type=Path, help="write the table of the records to this Markdown file, and run nothing"
    )
    parser.add_argument("--summary", action="store_true", help="print the table of the records, and run nothing")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 1 if a result was wrong, or a process crashed.
    """
    options = _parser().parse_args(argv)
    from .run import merged, run
    from .samples import units
    from .table import page, summary

    if options.write is not None:
        options.write.write_text(page(merged([options.results, *options.more])), encoding="utf-8")
        return 0
    if options.summary:
        print(summary(merged([options.results, *options.more])))
        return 0
    chosen = [
        unit
        for unit in units(
            tuple(options.dtypes.split(",")),
            options.further,
            dynamic_sizes=options.dynamic_sizes,
            extremes=options.extremes,
        )
        if re.fullmatch(options.ops or ".*", unit.op)
    ]
    if options.sample is not None and options.sample < len(chosen):
        chosen = random.Random(0).sample(chosen, options.sample)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    for record in run(
        chosen,
        options.results,
        interpreted=options.interpreted,
        jobs=options.jobs,
        timeout_s=options.timeout,
        retry=filter(None, options.retry.split(",")),
    ):
        counts[record["status"]] += 1
        if options.verbose or record["status"] not in ("native", "callback", "imported", "unscriptable", "raises"):
            message = record.get("message") or ", ".join(use["op"] for use in record.get("callbacks", ()))
            print(
                f"{record['status']:12} {record['op']} {record['dtype']} {record['case']}: {message[:200]}", flush=True
            )
    print(", ".join(f"{count} {status}" for status, count in counts.most_common()))
    return int(any(counts[status] for status in ("wrong", "crashed")))


if __name__ == "__main__":
    sys.exit(main())
