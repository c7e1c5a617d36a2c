"""Programs with classes, other objects, and exceptions with numbers of the run, in the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_MODEL = """
import types
from dataclasses import dataclass

import torch

OPTIONS = types.SimpleNamespace(step=2, name="plain")

@dataclass
class Track:
    box: torch.Tensor
    hits: int = 1

    def grow(self, by):
        self.box = self.box + by
        self.hits += OPTIONS.step

@dataclass
class Result:
    boxes: torch.Tensor
    hits: int

class Counter:
    def __init__(self):
        self.counts = {}

    def add(self, key):
        self.counts[key] = self.counts.get(key, 0) + 1

def track(x, n: int):
    tracks = [Track(x[0]), Track(x[1])]
    counter = Counter()
    best = {"score": 0.0, "index": -1}
    for i in range(n):
        tracks[i % 2].grow(float(i))
        counter.add(i % 3)
        score = x[i % 3].sum().item()
        if score > best["score"]:
            best = {"score": score, "index": i}
        if tracks[0].hits > 12:
            raise ValueError(f"{tracks[0].hits} hits of {(n, score)} at {i}")
    noise = torch.rand(2).shape[0]  # runs in PyTorch
    return Result(tracks[0].box + noise, tracks[1].hits), best["index"], best["score"]

def other(x):
    counter = Counter()
    counter.add(x.shape[0])
    return Track(x).box + len(counter.counts) + OPTIONS.step
"""
_PROCESS = """
import sys, torch, ssa_compiler, model
x = torch.arange(12.0).reshape(3, 4)
if sys.argv[1] == "after":  # names that the process makes have other numbers
    ssa_compiler.compile(model.other, (x,), fullgraph=True, cache=False)(x)
    ssa_compiler.compile(model.other, (x[0],), fullgraph=True, cache=False)(x[0])
compiled = ssa_compiler.compile(model.track, (x, 3), fullgraph=True)
print(compiled.explain().cached)
for n in (0, 1, 2, 5, 40):
    found = []
    for call in (model.track, compiled):
        try:
            result, *numbers = call(x, n)
            assert type(result) is model.Result
            found.append((result.boxes.tolist(), result.hits, numbers))
        except ValueError as error:
            found.append(error.args[0].rpartition(".py:")[2].partition(": ")[2] or error.args[0])
    assert found[0] == found[1], (n, found)
assert "hits of" in found[0]
model.OPTIONS.step = 3
assert compiled(x, 2)[0].hits == model.track(x, 2)[0].hits
"""


@pytest.mark.slow
def test_another_process_finds_them(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)])
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "SSA_COMPILER_CACHE": "1",
        "SSA_COMPILER_CACHE_DIR": str(tmp_path / "cache"),
    }

    def run(model: str, first: str) -> str:
        (tmp_path / "model.py").write_text(model)
        command = [sys.executable, "-c", _PROCESS, first]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run(_MODEL, "first") == "False"
    assert run(_MODEL, "first") == "True"
    assert run(_MODEL, "after") == "True"
    assert run(_MODEL.replace("self.box + by", "self.box - by"), "first") == "False"
