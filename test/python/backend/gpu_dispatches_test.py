"""Programs for CUDA: what is rewritten for them runs on the CPU here, and the code made for them is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.driver import compilation
from ssa_compiler.backend.legalize.gpu_memory import rounded
from ssa_compiler.testing import check

INTEGERS = torch.tensor([[5, 3, 9], [-4, -7, -1], [2**31 - 1, -(2**31), 0]])


def compiled_for_cuda(function: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """The artefact of a program, which is all native, and its kernels as PTX."""
    artifact = ssa_compiler.compile(function, args, target="cuda:sm_80", cache=False).artifact
    assert artifact.callbacks == ()
    return artifact, Path(artifact.path).read_bytes().decode("latin1")


@pytest.fixture
def as_for_cuda(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Compile for the CPU as for CUDA; returns what was rewritten, and how often."""
    names = "widen_summands", "decompose_softmax", "correct_dispatches", "round_allocations", "skip_empty_launches"
    counts = dict.fromkeys(names, 0)

    def counted(name: str, rewrite: Callable[[Any], int]) -> Callable[[Any], int]:
        def run(module: Any) -> int:
            counts[name] += (made := rewrite(module))
            return made

        return run

    for name in counts:
        monkeypatch.setattr(compilation, name, counted(name, getattr(compilation, name)))
    monkeypatch.setattr(compilation.Compilation, "_for_gpu", True)
    return counts


def extremes(x: Tensor) -> tuple[Tensor, ...]:
    return x.amin(1), x.amax(1), x.amin(), x.amax(0), x.argmin(1), x.argmax(), x.sum(1), (x > 0).sum()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8])
def test_reductions_of_signed_integers(dtype: torch.dtype, as_for_cuda: dict[str, int]) -> None:
    info = torch.iinfo(dtype)
    x = INTEGERS.clamp(info.min, info.max).to(dtype)
    check(
        extremes, (x,), (-x.clamp(min=info.min + 1),), (torch.full_like(x, info.min),), (torch.full_like(x, info.max),)
    )
    assert as_for_cuda["correct_dispatches"] > 0
    assert as_for_cuda["widen_summands"] > 0


def by_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.amin(1), x.amax(1)


def test_the_neutral_elements_are_those_of_unsigned_integers() -> None:
    """IREE would start signed reductions from them as well: from -1, `amin` of positive numbers would be -1."""
    _, code = compiled_for_cuda(by_rows, torch.zeros(4, 128, dtype=torch.int32))
    assert "shfl.sync" in code  # threads of a warp reduce together
    assert "min.u32" in code
    assert "max.u32" in code
    assert re.search(r"\b(min|max)\.(relu\.)?s32", code) is None


def places(x: Tensor, n: int) -> tuple[Tensor, ...]:
    y, last, first = x[:n], x.max(1), x.min(0)
    found = x.argmin(1), x.argmax(), x.argmax(0), y.argmin(1), x.argmin(1, keepdim=True)
    return *found, last.indices, last.values, first.indices, first.values, y.max(1).indices


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_places_of_integers(dtype: torch.dtype, as_for_cuda: dict[str, int]) -> None:
    """The first of several equal numbers is found, also where all are what the search starts from."""
    info = torch.iinfo(dtype)
    x = torch.tensor([[2, 1, 1, 3], [-1, 5, -1, 5], [0, 0, 0, 0], [-3, -7, -9, -9]]).to(dtype)
    check(places, (x, 2), (-x, 3), *((torch.full_like(x, number), 1) for number in (info.min, info.max)))
    assert as_for_cuda["correct_dispatches"] > 0


def place(x: Tensor) -> Tensor:
    return x.argmax(1)


def test_places_in_long_rows_are_found_in_loops() -> None:
    """IREE would have one thread read the whole row at once, with code for each number."""
    _, code = compiled_for_cuda(place, torch.zeros(2, 1025, dtype=torch.int64))
    assert code.count("ld.global") < 100


def softmaxes(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.softmax(-1), x.double().softmax(1), x.softmax(0)


def test_softmax_of_long_rows(as_for_cuda: dict[str, int]) -> None:
    x = torch.linspace(-200, 80, 1202).view(2, 601)
    x[1, :3] = -torch.inf
    check(softmaxes, (x,), (torch.full_like(x, -torch.inf),), (x.masked_fill(x > 79.0, torch.inf),))
    assert as_for_cuda["decompose_softmax"] == 2


def softmax(x: Tensor) -> Tensor:
    return torch.softmax(x, 1)


def test_softmax_of_long_rows_has_loops() -> None:
    _, code = compiled_for_cuda(softmax, torch.zeros(2, 601))
    assert code.count("ld.global") < 100


def rows(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    y = x[:n] * 2
    return y, y.sum(0), y.clone().add_(1)


def test_kernels_without_workgroups_are_not_launched(as_for_cuda: dict[str, int]) -> None:
    """CUDA rejects such launches."""
    check(rows, *((torch.rand(8, 5), n) for n in (3, 0, 1, 8)))
    assert as_for_cuda["skip_empty_launches"] > 0


def order(x: Tensor) -> Tensor:
    return x.sort(dim=1).values


def test_threads_wait_before_they_read_what_others_write(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []

    def find(before: Any, program: bytes, ours: Sequence[str]) -> list[list[int]]:
        found.append(len(races := find_races(before, program, ours)))
        return races

    find_races = compilation.find_races
    monkeypatch.setattr(compilation, "find_races", find)
    compiled_for_cuda(order, torch.rand(4, 128))
    assert found[0] > 0  # IREE fuses a scatter with what computes its indices
    assert found[-1] == 0


def test_sizes_of_memory_are_few() -> None:
    sizes = [rounded(size) for size in range(1, 100_000)]
    assert all(0 <= given - size <= max(1023, size / 4) for size, given in zip(range(1, 100_000), sizes, strict=True))
    assert all(rounded(size) == size for size in set(sizes))
    assert len(set(sizes)) < 30


def grown(x: Tensor, n: int) -> Tensor:
    cache = x[:0]
    for i in range(n):
        cache = torch.cat([cache, x[i : i + 1] * i])
    return cache.sum(1)


def test_tensors_that_grow(as_for_cuda: dict[str, int]) -> None:
    check(grown, *((torch.rand(6, 300), n) for n in (3, 0, 1, 6)))
    assert as_for_cuda["round_allocations"] > 0
