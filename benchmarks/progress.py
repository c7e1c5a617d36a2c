"""A progress bar on the standard error: tqdm's where it is installed, else a line for each workload."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["progress_bar"]


class _Lines:
    """What stands in for tqdm's bar: says what begins, and when."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.start = time.perf_counter()

    def set_description(self, text: str) -> None:
        """Say which workload begins."""
        print(f"{self.done + 1}/{self.total} {text} ({time.perf_counter() - self.start:.0f} s)", file=sys.stderr)

    def set_postfix_str(self, text: str) -> None:
        """What happens inside a workload is not said."""

    def update(self) -> None:
        """One more is done."""
        self.done += 1


@contextlib.contextmanager
def progress_bar(total: int) -> Iterator[Any]:
    """Show how many of `total` workloads are done.

    Args:
        total: number of workloads.
    Yields:
        An object with tqdm's `set_description`, `set_postfix_str` and `update`.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        yield _Lines(total)
        return
    if not sys.stderr.isatty():  # a log file gets lines, not a bar that is drawn over
        yield _Lines(total)
        return
    with tqdm(total=total, unit="workload", dynamic_ncols=True) as bar:
        yield bar
