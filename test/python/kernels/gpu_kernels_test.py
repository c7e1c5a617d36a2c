"""Kernels for a GPU, run thread by thread without one: equal to eager, and no thread overtakes another."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from _workgroup import RaceError, Workgroup
from ssa_compiler._opt import run_ssa_opt
from ssa_compiler.backend.toolchain.targets import CUDA_ARCHITECTURES

Program = Callable[..., Any]


def rows(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i % 8] = torch.relu(y[i % 8] + y[0]) * 0.5
        y = y + y.sum()
    return y


def filtered(x: Tensor, a: Tensor, n: int) -> tuple[Tensor, Tensor]:
    s, p = torch.zeros(4), torch.eye(4)
    for i in range(n):
        s = a @ s + x[i]
        p = a @ p @ a.t() + 0.1
        if bool(s.sum() > 1.0):
            s = s * 0.5
        p[1] = s
    return s, p


def counted(x: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    for i in places.tolist():
        x[i] += 1.0
        x[i] = x[i] * x.max()
    return x.argmax(), (x > 1).any()


def joined(edges: Tensor) -> Tensor:
    parents = torch.arange(12)
    for i in range(edges.shape[0]):
        a, b = int(edges[i, 0]), int(edges[i, 1])
        while int(parents[a]) != a:
            a = int(parents[a])
        while int(parents[b]) != b:
            b = int(parents[b])
        if a != b:
            parents[a] = b
    return parents


def ordered(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    values, places = torch.sort(x, stable=True)
    return values, places, torch.topk(x, 3)[0]


def halved(x: Tensor) -> tuple[Tensor, int]:
    steps = 0
    while float(x.abs().max()) > 1.0:
        x = x / 2
        steps += 1
    return x, steps


def normalized(x: Tensor) -> tuple[Tensor, ...]:
    y = torch.softmax(x, 1)
    return y, y.sum(0), x.mean(), x.double().sum(), x.cumsum(1), x.prod(0), (x > 0).all(1), x.amin()


def scattered(x: Tensor, places: Tensor) -> Tensor:
    y = x.clone()
    y[places] = 5.0
    y.index_add_(0, places, torch.ones(places.shape[0]))
    return y


def recurrent(w: Tensor, x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = torch.tanh(x @ w if i % 2 else w @ x)
    return x


def grown(x: Tensor, n: int) -> Tensor:
    return x[: x.shape[0] - n].cumsum(0) * x.shape[0]


def inputs_of() -> dict[str, tuple[Program, list[tuple[Any, ...]]]]:
    torch.manual_seed(0)
    places = ([1, 2, -1], [5, 5, 1], [0, 0, 0], [5, 7, 1])
    edges = [torch.randint(0, 12, (9, 2)), torch.randint(0, 12, (9, 2)), torch.full((9, 2), 13)]
    return {
        "rows": (rows, [(torch.randn(8, 40), n) for n in (2, 0, 1, 9)]),
        "filtered": (filtered, [(torch.randn(5, 4), torch.randn(4, 4), n) for n in (5, 0, 1, 2)]),
        "counted": (counted, [(torch.randn(6, 10), torch.tensor(which)) for which in places]),
        "joined": (joined, [(which,) for which in edges]),
        "ordered": (ordered, [(torch.randn(20),), (torch.randint(0, 5, (20,)).float(),)]),
        "halved": (halved, [(torch.randn(40) * 9,), (torch.zeros(40),)]),
        "normalized": (normalized, [(torch.randn(5, 100),)]),
        "scattered": (scattered, [(torch.randn(20), torch.tensor(which)) for which in ([1, 5, 1, 3], [1, 25, 1, 3])]),
        "recurrent": (recurrent, [(torch.randn(70, 70) / 9, torch.randn(70), n) for n in (3, 0)]),
    }


CASES = inputs_of()


def lowered(function: Program, args: Sequence[Any], workgroups: int) -> str:
    """The kernel that a program becomes, for small workgroups."""
    artifact = ssa_compiler.compile(function, copy.deepcopy(args), target="cuda:sm_80", cache=False).artifact
    assert artifact.is_kernel, artifact.kernel_reason
    groups = f"kernel.workgroups = {workgroups} : i64, " if workgroups > 1 else ""
    formed = artifact.linalg.replace('kernel.form = "kernel"', f'{groups}kernel.form = "kernel"')
    return run_ssa_opt(formed, ["--lower-kernels=threads=32 host-buffers=true"])


def tensors_of(result: Any) -> list[Tensor]:
    return [part for part in (result if isinstance(result, tuple) else (result,)) if isinstance(part, Tensor)]


def compare(function: Program, text: str, args: Sequence[Any], seed: int) -> None:
    workgroup = Workgroup(text, seed)
    expected, given = copy.deepcopy(args), copy.deepcopy(args)
    message, results = "", []
    try:
        results = tensors_of(function(*expected))
    except IndexError:
        message = "out of bounds"
    failed, made, _ = workgroup.run(given)
    if message:
        assert failed
        assert message in workgroup.messages[failed - 1]
        return
    assert not failed
    for result, got in zip(results, made, strict=True):
        torch.testing.assert_close(got.to(result.dtype), result, rtol=1e-4, atol=1e-5)
    for wanted, left in zip(expected, given, strict=True):
        torch.testing.assert_close(left, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("workgroups", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_equal_to_eager_without_races(name: str, workgroups: int) -> None:
    function, inputs = CASES[name]
    text = lowered(function, inputs[0], workgroups)
    for seed, args in enumerate(inputs):
        compare(function, text, args, seed)


def swapped(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x.flip(0) * 2
    return x


def test_a_missing_barrier_is_a_race() -> None:
    args = (torch.randn(40), 3)
    text = lowered(swapped, args, 1)
    compare(swapped, text, args, 0)
    lines = text.splitlines(keepends=True)
    barriers = [number for number, line in enumerate(lines) if line.strip().startswith("gpu.barrier")]
    assert barriers
    for number in barriers:
        with pytest.raises(RaceError):
            compare(swapped, "".join(lines[:number] + lines[number + 1 :]), args, 0)


@pytest.mark.parametrize("architecture", CUDA_ARCHITECTURES)
def test_one_launch(architecture: str) -> None:
    function, inputs = CASES["filtered"]
    artifact = ssa_compiler.compile(function, inputs[0], target=f"cuda:{architecture}", cache=False).artifact
    assert artifact.is_kernel
    code = Path(artifact.path).read_bytes().decode("latin1")
    assert re.findall(r"\.target (sm_\d+)", code) == [architecture]
    assert len(re.findall(r"\.entry ", code)) == 1
    assert ".maxntid 256, 1, 1" in code
    assert "bar.sync" in code
    assert "ld.shared" in code


def large(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = (x + x.sum(0)) * 0.5
    return x


def test_many_workgroups_wait_for_each_other() -> None:
    artifact = ssa_compiler.compile(large, (torch.randn(300, 300), 3), target="cuda:sm_80", cache=False).artifact
    assert artifact.is_kernel, artifact.kernel_reason
    code = Path(artifact.path).read_bytes().decode("latin1")
    assert "atom.add.release.gpu" in code
    assert "ld.acquire.gpu" in code


def test_very_large_ops_are_left_to_kernels_of_their_own() -> None:
    artifact = ssa_compiler.compile(large, (torch.randn(5000, 5000), 3), target="cuda:sm_80", cache=False).artifact
    assert artifact.kernel_reason == "25000000 steps in one op, for all of a GPU"


class Layers(torch.nn.Module):
    """More weights than IREE passes buffers to a kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(10))

    def forward(self, x: Tensor, n: int) -> Tensor:
        for _ in range(n):
            for layer in self.layers:
                x = torch.tanh(layer(x))
        return x


def test_arguments_beyond_the_limit_are_told_by_distance() -> None:
    artifact = ssa_compiler.compile(Layers().eval(), (torch.randn(3, 8), 2), target="cuda:sm_80", cache=False).artifact
    interface = artifact.interface
    assert interface is not None, artifact.kernel_reason
    assert len(interface.far) == 20 + 1 + 1 - 16  # weights, the argument, the result
    assert interface.near not in interface.far
    code = Path(artifact.path).read_bytes().decode("latin1")
    assert len(re.findall(r"\.param \.u64 \.ptr", code)) == 16
