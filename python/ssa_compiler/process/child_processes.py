"""Child processes: ssa-opt and iree-compile run over MLIR text, within limits, and their failures become errors.

Both tools are native code built on different versions of LLVM, so each runs in a process of its own: a crash or an
endless loop of one is an error message here, and so is one that would take all memory. A failure keeps the input, so
that the command printed with it repeats it.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SourceLocation, SsaCompilerError, ToolError, UnsupportedOpError, UnsupportedProgramError

__all__ = [
    "MEMORY_VARIABLE",
    "Completed",
    "Diagnostic",
    "keep_reproducer",
    "memory_limit",
    "parse_diagnostics",
    "remove_with",
    "run_tool",
    "tool_error",
]

# Environment variable with the memory limit of a child process in GiB; 0 for none.
MEMORY_VARIABLE = "SSA_COMPILER_TOOL_MEMORY"
_DEFAULT_MEMORY_GIB = 8.0

# `file:line:col: severity: text`, the form of a plain location.
_PLAIN = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<col>\d+): (?P<kind>error|warning|remark|note): (?P<text>.*)$"
)
# `loc(...): severity: text`, the form of any other location.
_WRAPPED = re.compile(r"^loc\((?P<loc>.*)\): (?P<kind>error|warning|remark|note): (?P<text>.*)$")
_FILE_LINE_COLUMN = re.compile(r'"(?P<file>[^"]+)":(?P<line>\d+):\d+')
_OPERATOR = re.compile(r"torch\.(?:aten|prim|prims|operator)[\w.]*")


@dataclass(frozen=True)
class Completed:
    """What a child process left behind.

    Attributes:
        stdout: its standard output.
        stderr: its standard error.
        returncode: its exit status; negative for a signal, None if it was stopped at its time limit.
    """

    stdout: str
    stderr: str
    returncode: int | None


@dataclass(frozen=True)
class Diagnostic:
    """One message of an MLIR tool.

    Attributes:
        kind: "error", "warning", "remark" or "note".
        text: the message without its location.
        file: file of the innermost location of the outermost caller; empty where the location is unknown.
        line: line in it, counted from 1; 0 where the location is unknown.
        column: column, counted from 1; 0 where it is not given.
    """

    kind: str
    text: str
    file: str
    line: int
    column: int

    @property
    def user_location(self) -> SourceLocation | None:
        """The user's line, or None when the message is about a line of an MLIR file or of nothing."""
        if not self.line or self.file in ("-", "<stdin>") or self.file.endswith(".mlir"):
            return None
        return SourceLocation(self.file, self.line)


def memory_limit() -> int | None:
    """Return the memory limit of a child process in bytes, None for no limit.

    Raises:
        ToolError: the environment variable holds no number.
    """
    text = os.environ.get(MEMORY_VARIABLE, "")
    try:
        gib = float(text) if text else _DEFAULT_MEMORY_GIB
    except ValueError:
        gib = -1.0
    if not 0.0 <= gib < 2**30:
        raise ToolError(f"{MEMORY_VARIABLE}: expected a number of GiB, or 0 for no limit; got {text!r}")
    return int(gib * 2**30) or None


def _limit_memory(process: int, limit: int) -> None:
    """Limit what a process may allocate, in bytes.

    Writable private memory is what counts. Address space is limited more loosely, for systems that count only the heap
    as
    data: each thread reserves some that it never uses.
    """
    with contextlib.suppress(OSError, ValueError):  # gone already, or a stricter limit is in force
        resource.prlimit(process, resource.RLIMIT_DATA, (limit, limit))
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(process, resource.RLIMIT_AS, (4 * limit, 4 * limit))


def run_tool(
    command: Sequence[str], *, stdin: str | None = None, timeout_s: float = 120.0, memory: int | None = None
) -> Completed:
    """Run a child process and collect its output.

    Args:
        command: program and arguments.
        stdin: text for its standard input; None for an empty one.
        timeout_s: wall-clock limit in seconds, after which the process and its children are killed.
        memory: memory limit in bytes; `memory_limit()` if None.
    Returns:
        Output and exit status, also for a process that failed.
    Raises:
        ToolError: the program does not exist or cannot be started.
    """
    memory = memory_limit() if memory is None else memory
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"cannot start {command[0]}: {error}", command=command) from error
    if memory is not None:
        _limit_memory(process.pid, memory)
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout_s)
        return Completed(stdout, stderr, process.returncode)
    except subprocess.TimeoutExpired:
        _kill(process.pid)
        stdout, stderr = process.communicate()
        return Completed(stdout or "", stderr or "", None)
    except BaseException:
        _kill(process.pid)
        process.wait()
        raise


def _kill(group: int) -> None:
    """Kill a process and its children, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def parse_diagnostics(stderr: str) -> list[Diagnostic]:
    """Parse the messages of an MLIR tool, errors first in their own order.

    A call-site location belongs to its last caller, which is the user's line (docs/Architecture.md).

    Args:
        stderr: what the tool printed.
    Returns:
        Every message found; source excerpts and other lines are skipped.
    """
    found: list[Diagnostic] = []
    for line in stderr.splitlines():
        if match := _PLAIN.match(line):
            where = (match["file"], int(match["line"]), int(match["col"]))
        elif match := _WRAPPED.match(line):
            places = _FILE_LINE_COLUMN.findall(match["loc"])
            where = (places[-1][0], int(places[-1][1]), 0) if places else ("", 0, 0)
        else:
            continue
        if match["kind"] == "note" and match["text"].startswith("called from") and found:
            last = found[-1]
            found[-1] = Diagnostic(last.kind, last.text, *where)
            continue
        found.append(Diagnostic(match["kind"], match["text"], *where))
    return found


def keep_reproducer(tool: str, source: str, dump_dir: str | os.PathLike[str] | None) -> str:
    """Write the input of a failed run to a file that stays.

    Args:
        tool: name for the file, such as "ssa-opt".
        source: the MLIR text it was given.
        dump_dir: folder that receives the file; a new temporary folder if None.
    Returns:
        The path of the file.
    """
    folder = Path(dump_dir) if dump_dir is not None else Path(tempfile.mkdtemp(prefix="ssa-compiler-failure-"))
    folder.mkdir(parents=True, exist_ok=True)
    handle, reproducer = tempfile.mkstemp(prefix=f"{tool}-reproducer-", suffix=".mlir", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(source)
    return reproducer


def remove_with(owner: object, folder: str | os.PathLike[str]) -> None:
    """Remove a folder when an object dies, or when the process exits if that is earlier.

    Args:
        owner: the object.
        folder: the folder; a forked process does not remove it.
    """
    weakref.finalize(owner, _remove, os.fspath(folder), os.getpid())


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def tool_error(
    tool: str,
    command: Sequence[str],
    completed: Completed,
    *,
    source: str,
    dump_dir: str | os.PathLike[str] | None = None,
    location: SourceLocation | None = None,
) -> SsaCompilerError:
    """Turn a failed child process into the error to raise.

    Args:
        tool: name for the message, such as "ssa-opt".
        command: the command line; an argument `-` or `{input}` stands for the input file.
        completed: what the process left.
        source: the MLIR text it was given.
        dump_dir: folder that receives the reproducer; a new temporary folder if None.
        location: the user's line where the caller knows it better than the diagnostics do.
    Returns:
        `UnsupportedOpError` or `UnsupportedProgramError` for a diagnostic that starts with "unsupported:", else
        `ToolError` with command, stderr, exit status and reproducer. Not raised.
    """
    errors = [d for d in parse_diagnostics(completed.stderr) if d.kind == "error"]
    first = errors[0] if errors else None
    if first is not None and location is None:
        location = first.user_location
    if first is not None and first.text.startswith("unsupported:"):
        text = first.text[len("unsupported:") :].strip()
        text += "" if "; " in text else "; clone() the tensor before it is written"
        kind = UnsupportedOpError if _OPERATOR.search(text) else UnsupportedProgramError
        return kind(f"unsupported: {text}", location=location)
    reproducer = keep_reproducer(tool, source, dump_dir)
    repeat = [reproducer if part in ("-", "{input}") else part for part in command]
    if completed.returncode is None:
        what = "ran out of time"
    elif completed.returncode < 0:
        what = f"was killed by {signal.Signals(-completed.returncode).name}"
    else:
        what = f"failed with exit status {completed.returncode}"
    detail = f": {first.text}" if first is not None else ""
    return ToolError(
        f"{tool} {what}{detail}\nrepeat it with: {shlex.join(repeat)}",
        command=repeat,
        stderr=completed.stderr,
        returncode=completed.returncode,
        reproducer=reproducer,
        location=location,
    )
