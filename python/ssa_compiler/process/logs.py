"""Logs of what is compiled, by Python's `logging`, and a line on the terminal while that takes long.

`SSA_COMPILER_LOGS=recompiles,+backend` sends logs to standard error, in the manner of PyTorch's TORCH_LOGS: names of
`LOGS`, `all` for all of them, with `+` in front for debug messages, `-` for errors only.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["LOGS", "VARIABLE", "report_recompile", "set_up_logs", "showing_progress"]

VARIABLE = "SSA_COMPILER_LOGS"
LOGS = {
    "recompiles": "ssa_compiler.recompiles",
    "import": "ssa_compiler.importer",
    "backend": "ssa_compiler.backend",
    "cache": "ssa_compiler.backend.toolchain.cache",
}
"""Loggers by their name in the environment variable."""
_LEVELS = {"+": logging.DEBUG, "-": logging.ERROR}
_MANY = 3
"""From the recompilation after so many on, each is a warning: the program would do better with dynamic sizes."""
_SILENT_S, _TICK_S = 2.0, 0.5
"""How long a compilation takes before there is a line about it, and how often that is written."""


def set_up_logs(text: str) -> None:
    """Send the logs that are asked for to standard error.

    Args:
        text: the value of the environment variable. A name that means nothing is warned of.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[%(name)s] %(levelname)s: %(message)s"))
    for given in names:
        level, name = _LEVELS.get(given[0], logging.INFO), given.lstrip("+-")
        if name not in LOGS and name != "all":
            warnings.warn(f"{VARIABLE}: no log {name!r}: expected {', '.join(LOGS)} or all", stacklevel=2)
            continue
        for found in LOGS.values() if name == "all" else [LOGS[name]]:
            logger = logging.getLogger(found)
            logger.setLevel(level)
            logger.propagate = False
            logger.handlers = [handler]


def report_recompile(name: str, count: int, reason: str) -> None:
    """Log that a program is compiled again.

    Args:
        name: the program.
        count: how often it was compiled before.
        reason: how the call differs from what it was compiled for.
    """
    logger = logging.getLogger(LOGS["recompiles"])
    level = logging.WARNING if count > _MANY else logging.INFO
    advice = "; sizes that vary can be dynamic: compile(..., dynamic_shapes=...)" if count > _MANY else ""
    logger.log(level, "%s is compiled again (%d times before): %s%s", name, count, reason, advice)


@contextmanager
def showing_progress(what: str, seconds: dict[str, float]) -> Iterator[None]:
    """Say on the terminal what is going on, if standard error is one and it takes more than two seconds.

    Args:
        what: the program.
        seconds: the steps that are done, added to while this is open.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    done, start = threading.Event(), time.perf_counter()

    def write() -> None:
        width = 0
        if not done.wait(_SILENT_S):
            while True:
                steps = [f"{name} {taken:.1f} s" for name, taken in list(seconds.items()) if "/" not in name]
                line = f"compiling {what}: {time.perf_counter() - start:.0f} s ({', '.join([*steps, '...'])})"
                sys.stderr.write("\r" + line.ljust(width))
                sys.stderr.flush()
                width = len(line)
                if done.wait(_TICK_S):
                    break
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
