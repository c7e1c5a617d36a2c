"""Find and run `ssa-opt`, the C++ side of the compiler.

It is looked for in this order: an explicit path, the environment variable SSA_OPT, the build folder of a source tree,
the scripts folder of the Python environment (where the wheel puts it), PATH.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .errors import ToolError
from .process.child_processes import run_tool, tool_error

__all__ = ["find_ssa_opt", "run_ssa_opt"]


def find_ssa_opt(path: str | os.PathLike[str] | None = None) -> str:
    """Locate the `ssa-opt` executable.

    Args:
        path: the executable to use; None to search.
    Returns:
        Its path.
    Raises:
        ToolError: `path` or SSA_OPT names no executable, or none was found.
    """
    for origin, explicit in (("ssa_opt", path), ("SSA_OPT", os.environ.get("SSA_OPT"))):
        if explicit:
            if not os.access(explicit, os.X_OK):
                raise ToolError(f"{origin} names no executable: {explicit}")
            return os.fspath(explicit)
    root = Path(__file__).resolve().parents[2]
    candidates = [root / "build" / "bin" / "ssa-opt", Path(sysconfig.get_path("scripts")) / "ssa-opt"]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("ssa-opt")
    if found is None:
        raise ToolError(
            "ssa-opt was not found; build it (`make build`) or `pip install .`, "
            "or set the environment variable SSA_OPT to its path"
        )
    return found


def run_ssa_opt(
    module: str,
    passes: Sequence[str],
    *,
    ssa_opt: str | os.PathLike[str] | None = None,
    timeout_s: float = 120.0,
    dump_dir: str | os.PathLike[str] | None = None,
) -> str:
    """Run passes over a module.

    Args:
        module: textual MLIR with locations, one `builtin.module`.
        passes: pass flags in execution order, such as `--torch-to-scf`.
        ssa_opt: the executable; searched for if None.
        timeout_s: wall-clock limit in seconds.
        dump_dir: folder that receives the input if the run fails.
    Returns:
        The rewritten module as text with locations.
    Raises:
        UnsupportedOpError, UnsupportedProgramError: a pass rejected the program; carries the user's line.
        ToolError: ssa-opt is missing, failed, crashed or ran out of time.
    """
    command = [find_ssa_opt(ssa_opt), "-", *passes, "--mlir-print-debuginfo"]
    completed = run_tool(command, stdin=module, timeout_s=timeout_s)
    if completed.returncode != 0:
        raise tool_error("ssa-opt", command, completed, source=module, dump_dir=dump_dir)
    return completed.stdout
