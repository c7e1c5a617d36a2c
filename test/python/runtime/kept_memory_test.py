"""Memory that is kept for the results of later calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from ssa_compiler import compile
from ssa_compiler.runtime.device import device_for

MIB = 1 << 20


def doubles(x: Tensor) -> Tensor:
    return x * 2


def test_a_result_takes_the_memory_of_one_that_is_gone() -> None:
    x = torch.rand(512, 1024)
    compiled = compile(doubles, (x,))
    allocator = device_for("local-sync").hal.allocator
    compiled(x)
    before = allocator.statistics["device_bytes_allocated"]
    places = set()
    for _ in range(5):
        y = compiled(x)
        assert torch.equal(y, x * 2)
        places.add(y.data_ptr())
        del y
    assert allocator.statistics["device_bytes_allocated"] - before <= x.nbytes
    assert len(places) == 1


def test_results_that_live_have_memory_of_their_own() -> None:
    x = torch.rand(512, 1024)
    compiled = compile(doubles, (x,))
    results = [compiled(x + number) for number in range(5)]
    assert len({result.data_ptr() for result in results}) == 5
    for number, result in enumerate(results):
        assert torch.equal(result, (x + number) * 2)


def test_what_is_kept_is_bounded() -> None:
    """Of four results of 96 MiB that are gone, two fit."""
    allocator = device_for("local-sync").hal.allocator
    x = torch.zeros(96 * MIB // 4)
    compiled = compile(doubles, (x,))
    results = [compiled(x) for _ in range(4)]
    del results
    statistics = allocator.statistics
    assert statistics["device_bytes_allocated"] - statistics["device_bytes_freed"] <= 256 * MIB


@pytest.mark.slow
def test_a_result_may_outlive_the_runtime(tmp_path: Path) -> None:
    """When the interpreter ends, a tensor in another module goes after everything of this package."""
    program = tmp_path / "program.py"
    program.write_text(
        "import threading, torch\n"
        "from ssa_compiler import compile\n"
        "def doubles(x):\n"
        "    return x * 2\n"
        "threading.kept = compile(doubles, (torch.ones(3),))(torch.ones(3))\n"
        "print(threading.kept.tolist())\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "[2.0, 2.0, 2.0]\n")
