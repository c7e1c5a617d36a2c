"""Compiles a program, interrupted at one moment after the other; prints how often it was, and how often it came too
late.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
os.environ["SSA_COMPILER_CACHE"] = "0"

import ssa_compiler

FIRST = 0.3
"""Seconds into the first compilation: modules are being loaded."""
MOMENTS = (0.0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7)


def program(x: torch.Tensor, n: int) -> torch.Tensor:
    y = x.clone()
    for i in range(n):
        y[i] = torch.sort(y[i] + 1)[0] + torch.ops.interrupted.add_one(x[i])
    torch.manual_seed(n)
    return y + torch.rand(3)


LIBRARY = torch.library.Library("interrupted", "DEF")
LIBRARY.define("add_one(Tensor x) -> Tensor")
LIBRARY.impl("add_one", lambda x: x + 1, "CPU")
torch.library.register_fake("interrupted::add_one", torch.empty_like, lib=LIBRARY)


def interrupted(delay: float) -> bool:
    """Compile; whether it was interrupted."""
    main = threading.main_thread().ident or 0
    timer = threading.Timer(delay, lambda: signal.pthread_kill(main, signal.SIGINT))
    try:
        timer.start()
        ssa_compiler.compile(program, (torch.zeros(3, 3), 2))
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        return True
    return False


def main() -> None:
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # the parent may ignore interrupts, and so would this process
    x = torch.rand(3, 3)
    found = [interrupted(delay) for delay in (FIRST, *MOMENTS)]
    compiled = ssa_compiler.compile(program, (x, 2))
    for n in (2, 0, 3):
        assert torch.equal(compiled(x, n), program(x, n))
    assert found[0], "the first was not interrupted"
    print(sum(found), len(found) - sum(found))


if __name__ == "__main__":
    main()
