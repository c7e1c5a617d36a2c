"""Programs that are one native kernel: equal to eager, also when called again, and left to dispatches where they cannot
be.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from _kernels import kernel_of, nested
from ssa_compiler.backend.driver import compilation
from ssa_compiler.testing import check

NAN, INF = math.nan, math.inf


def swapped(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    for _ in range(n):
        x, y = y, x
    return x, y


def rotated(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    a, b, c = x + 1, y + 2, x * y
    for _ in range(n):
        a, b, c = b, c, a + b
    return a, b, c


def shared_start(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    a, b = x, x
    for i in range(n):
        a = a + i
        b = a * b
    return a, b, x


def old_version_kept(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x.clone()
    before = y
    for i in range(n):
        before = y.clone()
        y[i % 3] = before[(i + 1) % 3] + y[0]
    return y, before


def branches(x: Tensor, y: Tensor, n: int) -> Tensor:
    out = x.clone()
    for i in range(n):
        if i % 2 == 0:
            out[i % 3] = y[0] * i
        elif i == 3:
            out = y + out
        else:
            out = torch.maximum(out, x)
    return out


def until(x: Tensor, limit: float) -> tuple[Tensor, int]:
    steps = 0
    while float(x.sum()) < limit:
        x = x * 2
        steps += 1
        if steps >= 20:
            break
    return x, steps


A, B = torch.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(3, 4).flip(0) - 3


@pytest.mark.parametrize("function", [swapped, rotated])
def test_tensors_that_change_places(function: Callable[..., Any]) -> None:
    kernel_of(function, *[(A, B, n) for n in (3, 0, 1, 2, 7)], *[(A, A, n) for n in (1, 2)])


def test_one_tensor_that_is_carried_twice() -> None:
    kernel_of(shared_start, *[(A, n) for n in (3, 0, 1, 2)])


def test_versions_that_are_still_needed() -> None:
    kernel_of(old_version_kept, *[(A, n) for n in (4, 0, 1, 2, 9)])


def test_branches_that_end_in_other_buffers() -> None:
    kernel_of(branches, *[(A, B, n) for n in (6, 0, 1, 2, 3, 4)])


def test_loops_that_data_decides() -> None:
    kernel_of(until, (A, 1e3), (A, -1.0), (A, 67.0), (A, INF), (A * NAN, 10.0))


def test_loops_in_loops() -> None:
    kernel_of(nested, *[(A, n, m) for n in (3, 0, 1, 2) for m in (0, 1, 5)])


def checked_in_the_middle(x: Tensor, indices: list[int]) -> tuple[Tensor, int]:
    total = 0
    for i in indices:
        x = x + x[i]
        assert total < 5, "too many"
        total += 1
        if i == 2:
            raise ValueError("two")
    return x, total


def divided(x: Tensor, i: int, guard: bool) -> Tensor:
    y = (x.clone() + 1).sum(0) * x
    if guard:
        y[i] = x[i] * 3
    return y


def by_index(x: Tensor, i: int, n: int) -> Tensor:
    total = torch.zeros_like(x[0])
    for _ in range(n):
        total = total + x[i]
    return total


def sorted_rows(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    values, order = x.sort(dim=1, descending=True, stable=True)
    best, places = x.topk(2, dim=0)
    return values, order, best, places


def running(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.cumsum(0), x.cumsum(1), (x > 0).cumsum(1)


def written_at_indices(x: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    a, b = x.clone(), x.clone()
    a[at] = x[:4] + 10
    b.index_add_(0, at, x[:4])
    return a, b, torch.zeros(6, 4).index_put((at, at.flip(0) % 4), x[0], accumulate=True), x[:, at % 4]


def concatenated(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x
    for _ in range(n):
        y = torch.cat([y[:, 1:], y[:, :1] * 2], dim=1)
    return y, torch.stack([x, y], 1)


def with_constants(x: Tensor) -> Tensor:
    least = torch.tensor([[2.0, -3.0, math.nan, math.inf]])
    return torch.where(x > least, x * least, x + torch.tensor([math.nan, 0.0, -0.0, 1.0]))


def divided_by_arguments(x: Tensor, y: Tensor, a: int, b: int) -> tuple[int, int, Tensor, Tensor]:
    total = x[0] // y
    for i in range(1, 4):
        total = total + (x[i] * a) // y % (y * y + 1) + i // b
    return a // b, a % b, total, x % y


X = torch.tensor(
    [
        [1.5, -2.0, 1.5, 0.0],
        [3.0, -0.0, NAN, 4.0],
        [-1.0, 7.0, -INF, 2.0],
        [5.0, 5.0, 6.0, -7.0],
        [8.0, INF, 1.0, 0.5],
        [2.0, -9.0, 4.0, 1.0],
    ]
)


@pytest.mark.parametrize("function", [sorted_rows, running, with_constants])
def test_ops_that_torch_mlir_leaves_to_others(function: Callable[..., Any]) -> None:
    kernel_of(function, (X,), (X.flip(0),))


def test_writes_at_indices() -> None:
    finite = X.nan_to_num(1.0, 2.0, 3.0)
    kernel_of(
        written_at_indices,
        (finite, torch.tensor([5, 0, 2, 1])),
        (finite, torch.tensor([3, 3, 3, 0])),
        (finite, torch.tensor([0, 6, 1, 2])),
        (finite, torch.tensor([0, 2**40, 1, 2])),
    )


def test_concatenations() -> None:
    kernel_of(concatenated, (X, 0), (X, 1), (X, 2), (X, 7))


def test_divisions_by_numbers_that_are_not_known() -> None:
    x, y = torch.arange(24).reshape(6, 4) - 9, torch.tensor([3, -2, 5, -7])
    numbers = [(17, 5), (-17, 5), (17, -5), (1, 1), (5, 0), (3, -2), (-(2**63), 3), (2**63 - 1, -1)]
    kernel_of(divided_by_arguments, *((x, y, a, b) for a, b in numbers), (x, y * 0 + 1, 4, 2), (x, y // 5, 4, 2))


def with_functions_of_numbers(x: Tensor, f: float, n: int) -> tuple[Tensor, float, int]:
    y = x.clone()
    for i in range(abs(n)):
        y[i % 3] = y[i % 3] * 0.5 + math.sqrt(abs(f)) + abs(n - i)
    return y, math.floor(f) * 0.5 - math.ceil(f), abs(n)


def test_functions_of_numbers() -> None:
    sets: list[tuple[Tensor, float, int]] = [(X, f, n) for f, n in ((4.5, 2), (-7.25, -3), (-0.0, 0), (1e10, -1))]
    kernel_of(with_functions_of_numbers, *sets)


def test_errors_are_those_of_the_first_check_that_fails() -> None:
    """Out of range in a loop that does not run, or after another error, is none."""
    kernel_of(by_index, *[(A, i, n) for i in (0, -3, 2, 3, -4, 2**62, -(2**63)) for n in (0, 1, 2)])
    kernel_of(divided, (A, 1, True), (A, 7, True))


def always_failing(x: Tensor, n: int) -> Tensor:
    v = x[0] * 2
    while True:
        v.expand([2, 4]).neg_()  # one element is several
        if n > 1:
            break
        n += 1
    for row in x:
        v = v + row
    return v


def test_a_check_that_always_fails_in_a_loop() -> None:
    """What is behind it was folded by iree-compile for ever."""
    check(always_failing, (A, 0), (A, 1), (A, -1), (A, 2))


def summed(x: float, y: float, z: float, n: int) -> tuple[float, float, float, bool]:
    total, error = x, 0.0
    for _ in range(n):
        total = x + y
        error = (x - (total - (total - x))) + (y - (total - x))
    return x * y + z, total, error, not x > y


def test_floats_are_not_contracted() -> None:
    """`x * y + z` rounds twice, sums are not reordered, NaN compares as in Python."""
    numbers = [
        (1 + 2.0**-30, 1 - 2.0**-30, -1.0),
        (0.1, 0.2, 0.3),
        (NAN, 1.0, INF),
        (1e308, 10.0, -INF),
        (-0.0, 0.0, -0.0),
    ]
    numbers += [(5e-324, 0.5, 5e-324), (2.2250738585072014e-308, 0.5, 0.0)]
    compiled = kernel_of(summed, *((*given, 1) for given in numbers))
    for given in numbers[:2]:
        assert compiled(*given, 1) == summed(*given, 1)


def halved(x: Tensor, y: float) -> tuple[Tensor, Tensor, Tensor, float, bool]:
    return x * 0.5, x + x, x.sum() * 0.5, y * 0.5 + y, y > 0.0


def test_denormal_numbers_are_kept() -> None:
    tiny = torch.tensor([1e-40, -1e-45, 2e-38])
    compiled = kernel_of(halved, (tiny, 5e-324), (tiny, 1e-310))
    assert torch.equal(compiled(tiny, 1.0)[0], tiny * 0.5)
    assert torch.equal(compiled(tiny, 1.0)[1], tiny + tiny)


def doubled(x: Tensor, y: Tensor, u: float, v: float):
    largest: list[float] = [max(u, v)]
    last = 0.0
    for number in largest:
        last = number * 2
    return y + 0, x + 0, torch.tensor([1]).double(), last


def test_denormal_numbers_in_front_of_the_first_loop_are_kept() -> None:
    """LLVM multiplied before the control word was set: nothing but the number itself was needed for it."""
    kernel_of(doubled, (torch.ones(2), torch.ones(3), 5e-324, -1.0))


def counted(flags: Tensor, n: int) -> tuple[Tensor, bool, int]:
    seen = torch.zeros(5, dtype=torch.bool)
    for i in range(n):
        seen[i % 5] = bool(flags[i % 3]) or bool(seen[(i + 1) % 5])
    return seen, bool(seen.any()), int(seen.sum())


def test_bools_have_bytes() -> None:
    flags = torch.tensor([True, False, True])
    kernel_of(counted, (flags, 3), (flags, 0), (~flags, 1), (~flags, 12))


def large_numbers(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor, int, int, bool]:
    return x + n, x.flip(0) * n, x.cumsum(0), n + 1, n * 3, n >= 0


def test_ints_have_64_bits() -> None:
    x = torch.tensor([1, -1, 2**62, -(2**63)])
    kernel_of(large_numbers, *[(x, n) for n in (0, -1, 2**31, -(2**31), 2**32, -(2**32), 2**61, -(2**61))])


def scratched(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[1:-1, 1:-1] = (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]) * 0.25 + i
    return y


def test_scratch_memory_beyond_the_stack() -> None:
    x = torch.linspace(-1, 1, 64 * 256).reshape(64, 256)
    compiled = kernel_of(scratched, (x, 2), (x, 0), (x, 1), (x, 3))
    assert 'kernel.role = "scratch"' in compiled.artifact.kernel


def test_threads_share_a_kernel() -> None:
    compiled = kernel_of(nested, (A, 3, 5))
    expected, found = nested(A, 3, 5), []

    def call() -> None:
        for _ in range(200):
            found.append(compiled(A.clone(), 3, 5))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800
    assert all(torch.equal(result, expected) for result in found)


def test_iree_does_not_schedule_whole_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What calls a kernel is scheduled as it is written: iree-compile runs once, from there on."""
    runs: list[list[str]] = []
    run = compilation.run_tool

    def counted(command: list[str], **limits: Any) -> Any:
        runs.append(command)
        return run(command, **limits)

    monkeypatch.setattr(compilation, "run_tool", counted)
    compiled = ssa_compiler.compile(rotated, (torch.ones(3), torch.zeros(3), 2), target="cpu")
    assert compiled.artifact.is_kernel
    assert [[flag for flag in command if flag.startswith("--compile-")] for command in runs] == [
        ["--compile-from=stream"]
    ]
    assert compiled.copy_count().dispatches == 1
