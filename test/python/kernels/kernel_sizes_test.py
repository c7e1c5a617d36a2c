"""Kernels whose sizes are dynamic: slices that change from trip to trip, sizes of arguments, sizes that numbers or data
decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from _kernels import kernel_of
from ssa_compiler import compile
from ssa_compiler.testing import check

X = torch.linspace(-2.0, 2.0, 8)
MANY = [8, 0, 1, 2, 5]


def written_slices(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[: i + 1] = y[: i + 1] * 0.5 + x[i]
    return y


def strided_sweeps(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i % 2 : -2 : 2] = 0.5 * (y[i % 2 : -2 : 2] + y[i % 2 + 2 :: 2])
    return y


def left_alone_or_replaced(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """One arm of the branch leaves `y` as it is, while an older version of it is still needed."""
    y, before = x.clone(), x.clone()
    for i in range(n):
        if i % 3 != 1:
            before = y
            y = y * 0.5 + i
        y[i] = before[0]
    return y, before


def row_sums(x: Tensor, n: int) -> Tensor:
    total = torch.zeros(1)
    for i in range(n):
        total = total + x[i:].cumsum(0).sum()
    return total


def sized_by_a_number(x: Tensor, n: int) -> Tensor:
    y = torch.zeros(n, 3)
    for i in range(n):
        y[i] = y[i - 1] + x[:3]
    return y


@pytest.mark.slow
def test_slices_that_change() -> None:
    programs: list[Callable[..., Any]] = [
        written_slices,
        strided_sweeps,
        left_alone_or_replaced,
        row_sums,
        sized_by_a_number,
    ]
    for function in programs:
        compiled = check(function, *[(X, n) for n in MANY]).compiled
        assert compiled.explain().kernel, compiled.explain().kernel_reason
        assert len(compiled.specialisations) == 1


def sizes_that_change_places(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Tensors of one dynamic size that swap; running sums and writes at indices of dynamic sizes."""
    a, b = x * 2, x + 1
    for i in range(n):
        a, b = b, a + b
        if i % 2 == 0:
            b = b.cumsum(0)
        a[y] = b[0]
    return a, b


def test_sizes_of_arguments() -> None:
    """One artefact for all sizes, those without elements included."""
    m, k = Dim("m"), Dim("k")
    shapes = {"x": {0: m}, "y": {0: k}, "n": None}
    calls = [(torch.randn(size), torch.arange(0, size, 2), n) for size in (5, 2, 9, 0) for n in (3, 0, 1)]
    compiled = check(sizes_that_change_places, *calls, options={"dynamic_shapes": shapes}).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    assert len(compiled.specialisations) == 1


def pairs_at_a_distance(x: Tensor, k: int, d: int) -> Tensor:
    """Slices that drop one dimension of one element and keep another, which says nothing of which is which."""
    y = x.clone()
    for i in range(3):
        pairs = y.view(1, k, 2, d)
        pairs[:, :, 0] = pairs[:, :, 0] * i + pairs[:, :, 1]
    return y


def columns_of_one_row(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[:, :, 0] = y[:, :, 0] * 2 + i
        y[0, :, 0, i] = y[0, :, 0, i - 1] + 1
    return y


def test_dimensions_of_one_element() -> None:
    x = torch.arange(24.0)[None]
    compiled = check(pairs_at_a_distance, (x, 3, 4), (x, 4, 3), (x, 12, 1), (x, 1, 12)).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    shapes = {"x": {1: Dim("rows"), 3: Dim("columns", min=2)}, "n": None}
    calls = [(torch.rand(1, rows, 1, columns), 2) for rows, columns in ((5, 4), (1, 2), (0, 3), (3, 9))]
    compiled = check(columns_of_one_row, *calls, options={"dynamic_shapes": shapes}).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason


def folds(x: Tensor, n: int) -> Tensor:
    """Scratch memory whose size no number among the arguments tells: it is found too small while the kernel runs."""
    width, y = n, x.clone()
    while width > 1:
        view = y.view(x.size(0) // width, width)
        rows = view.flip(0)
        if width % 8 == 0:
            rows = rows.flip(1).cumsum(0)
        view.copy_(rows * 0.5 + rows.flip(1))
        width = width // 2
    return y


def test_memory_whose_size_is_known_late() -> None:
    x = torch.linspace(-1, 1, 1 << 15)
    compiled = check(folds, *[(x, n) for n in (16, 0, 1, 2, 4, 1 << 15, 64, 3)]).compiled
    explained = compiled.explain()
    assert explained.kernel, explained.kernel_reason
    assert compiled.artifact.interface.grows


def sized_by_data(x: Tensor, t: float) -> tuple[Tensor, Tensor]:
    v = x[x > t]
    for i in range(v.size(0)):
        v[i] = v[i] * 2 + v[0]
    w, u = v.clone(), torch.zeros(3)
    for i in range(3):
        u[i] = w[:2].abs().cumsum(0).max() if w.size(0) > 0 else torch.ones(())
        w[:2] = w[:2] * 2 + i
    return w, u


def filtered(x: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    """New tensors that the host makes, between those that it copies out of the workspace."""
    y = x * 2
    enough = y > t
    chosen = y[enough]
    return chosen, y, torch.stack([chosen, chosen * chosen]), int(enough.sum()), enough[enough]


def returned_under_several_names(x: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    chosen = x[x > t]
    part = chosen[: chosen.size(0) // 2]
    other = part if t > 0 else chosen
    return chosen, chosen, part, other


def updated(x: Tensor, t: float) -> Tensor:
    x.mul_(2.0)
    return x[x > t]


@pytest.mark.slow
def test_sizes_that_data_decides() -> None:
    for function in (sized_by_data, filtered, returned_under_several_names, updated):
        compiled = check(function, *[(X.clone(), t) for t in (0.0, -9.0, 9.0, 0.5)]).compiled
        assert compiled.explain().kernel, compiled.explain().kernel_reason


def test_results_are_copies() -> None:
    """What the caller does to a result does not reach the next call, nor the other way."""
    compiled = compile(filtered, (X, 0.0))
    first = compiled(X, 0.0)
    kept = first[0].clone()
    second = compiled(-X, -1.0)
    torch.testing.assert_close(first[0], kept)
    first[0].fill_(9.0)
    torch.testing.assert_close(second, filtered(-X, -1.0))
    torch.testing.assert_close(compiled(X, 0.0), filtered(X, 0.0))


def doubled_by_a_branch(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """A branch ends in tensors of two sizes, one of them the argument's, while more is allocated behind it."""
    total, rows = torch.zeros(()), torch.zeros(4)
    for i in range(n):
        y = x[x > i * 0.25]
        z = torch.cat([y, y * 2]) if y.numel() > 2 else x
        noise = x[x < i] * 3
        total = total + z.sum() + noise.sum() + z.numel()
        rows[:2] += z[:2]
        rows[3] += z.max() if i % 2 == 1 else z.min()
    return total, rows


def written_behind_a_branch(x: Tensor, t: float) -> Tensor:
    y = x[x > t]
    z = torch.cat([y, y * 2]) if y.numel() > 2 else x
    z[0] = -1.0
    return z


def test_branches_that_decide_a_size() -> None:
    compiled = check(doubled_by_a_branch, *[(X.clone(), n) for n in (*MANY, 9)]).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    compiled = check(written_behind_a_branch, *[(X.clone(), t) for t in (0.0, -9.0, 9.0, 0.5)]).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason


def large(x: Tensor, t: float) -> tuple[Tensor, Tensor]:
    y = x[x > t]
    return torch.cat([y, y * 0.5, y + 1]), y


def test_results_that_need_more_memory() -> None:
    compiled = check(large, *[(torch.rand(20000), t) for t in (2.0, 0.0, 0.5, 0.9)]).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason


def dropped_boxes(x: Tensor, t: float, u: float) -> Tensor:
    """The mask that the loop carries has the size of what it is compared with, or the program raises."""
    chosen, other = x[x > t], x[x > u]
    dropped = torch.zeros(chosen.size(0), dtype=torch.bool)
    i = 0
    while i < chosen.size(0):
        if not bool(dropped[i]):
            dropped |= other > other[0] + i * 0.5
        i += 1
    return dropped


def test_an_assertion_says_that_a_size_stays() -> None:
    compiled = check(dropped_boxes, *[(X, t, u) for t, u in ((0.0, 0.0), (9.0, 9.0), (-1.0, -1.1))]).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    with pytest.raises(RuntimeError):
        compiled(X, 0.0, -1.0)


def sums(x: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    y = x[x > t]
    return y.sum(), y.mean(), y.var(), y.prod()


def test_many_floats_are_added_up_in_double_precision() -> None:
    x = 1 + torch.rand(1 << 15, generator=torch.Generator().manual_seed(0)) * 1e-3
    compiled = compile(sums, (x, 1.0))
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    for t in (1 + 2**-11, 0.0, 1 + 2**-11 + 2**-12):
        exact = [value.float() for value in sums(x.double(), t)]
        total, mean, var, product = compiled(x, t)
        torch.testing.assert_close([total, mean, product], [exact[0], exact[1], exact[3]], rtol=1e-6, atol=0)
        torch.testing.assert_close(var, exact[2], rtol=1e-5, atol=0)  # of differences from a mean in single precision


def unused_memory(x: Tensor, n: int, k: int) -> Tensor:
    y = torch.zeros(k)
    for i in range(3):
        if n < 100:
            t = torch.ones(n).cumsum(0) + x[i]
            y = y + t.max()
        if k > 2:
            y[2] = x[i]
    return y


def test_memory_that_cannot_be_had() -> None:
    """A tensor that is never made takes no memory; one that is raises, before or behind another check."""
    compiled = compile(unused_memory, (X, 3, 4))
    assert compiled.explain().kernel, compiled.explain().kernel_reason
    for n, k in ((3, 4), (2**40, 4), (2**61 - 20000, 3), (2**62, 1), (5, 0)):
        for _ in range(2):
            torch.testing.assert_close(compiled(X, n, k), unused_memory(X, n, k))
    for n, k in ((3, 2**62), (3, 2**61), (3, -1), (-1, 3), (3, -(2**63))):
        with pytest.raises(RuntimeError):
            compiled(X, n, k)
    torch.testing.assert_close(compiled(X, 3, 4), unused_memory(X, 3, 4))


def grown(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = torch.cat([x, x[i : i + 1]])
    return x


def test_a_tensor_that_grows_is_in_no_kernel() -> None:
    explained = check(grown, *[(X, n) for n in (2, 0, 1)]).compiled.explain()
    assert explained.kernels == 0
    assert explained.kernel_reason


def written_at_indices(x: Tensor, t: float) -> tuple[Tensor, Tensor]:
    y, out = x.clone(), torch.zeros(3, 4)
    for k in range(3):
        i = (x[:, 0] > t + k).nonzero().squeeze(1)
        j = torch.zeros_like(i) + 1
        y[i, j] = 5.0
        y[i] += x[i] * 2
        y.index_add_(0, i, x[i])
        y.index_copy_(0, i, x[i] * 3)
        y.scatter_(0, i.unsqueeze(1), torch.ones(i.size(0), 1))
        y[x[:, 0] > t] -= 1.0
        y = y.index_put([i, j], x[i][:, 2], accumulate=True)
        out[k, : i.numel()] = x[i][:, 0]
    return y, out


def read_at_indices(x: Tensor, t: float) -> tuple[Tensor, Tensor]:
    y, out = x.clone(), torch.zeros(3, 4)
    for k in range(3):
        i = (x[:, 0] > t + k).nonzero().squeeze(1)
        r = x[i]
        out[k, :3] = torch.cat([r, x]).amax(0)
        out[k, :3] += torch.cat([x[:1], r.flip(0)])[-1]
        out[k, :3] += (r > 5).any(0).float() + 2 * (r > 5).all(0).float()
        out[k, 3] = float((r.unsqueeze(0) == r.unsqueeze(1)).sum())
        out[k, 2] += float(r.numel())
        y = torch.where((i.unsqueeze(0) == torch.arange(4).unsqueeze(1)).any(1).unsqueeze(1), y + 1, y)
        out[k, :3] += torch.sort(torch.cat([r[:, 0], x[:3, 0]]))[0][:3]
    return y, out


@pytest.mark.slow
def test_no_index_at_all() -> None:
    """How many indices there are only data says, inside the kernel; it may be none."""
    x = torch.arange(12.0).view(4, 3) + 4
    for function in (written_at_indices, read_at_indices):
        compiled = check(function, *[(x, t) for t in (5.0, 100.0, 0.0, 12.0, 8.5, -5.0)]).compiled
        assert compiled.explain().kernel, compiled.explain().kernel_reason


def replaced_in_loops(x: Tensor, n: int, c: bool):
    kept, rows, sizes, filled, square = x, x, x, torch.zeros(2), x.outer(x)
    for i in range(n):
        kept = x[x > i]
        rows = x[: i + 1] * 2
        sizes = torch.full((i,), 7.0)
        filled = torch.zeros(i + 3)
        filled[i] = 1.0
    for i in range(3):
        if c:
            square = x.outer(x)[i : 5 - i, : n + 1]
    return kept, rows.sum() + torch.zeros(2), sizes, filled, square


def test_a_loop_replaces_a_tensor_by_one_of_another_size() -> None:
    """MLIR's canonicalisation gives a carried tensor the static size with which the loop begins, whatever it yields."""
    x = torch.arange(5.0)
    checked = check(replaced_in_loops, (x, 2, True), (x, 0, True), (x, 1, False), (x, 3, True), (x, 4, False))
    assert len(checked.compiled.specialisations) == 1


def halves(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    n = x.size(1) // 2
    return x[:, :n], x[:, n:], x[:n, : x.size(0)]


def windows(y: Tensor) -> Tensor:
    t = y.unfold(0, 2, 1).clone()
    row = t[0]
    row += row
    return t


def test_slices_that_begin_where_an_argument_does() -> None:
    """Bufferization casts such a slice to the type of a whole buffer, whose rows lie side by side."""
    compiled = compile(halves, (torch.rand(4, 4),), dynamic_shapes=Dim.AUTO)
    assert compiled.explain().kernel
    for rows, columns in ((4, 4), (3, 6), (2, 8), (5, 2)):
        x = torch.rand(rows, columns)
        for ours, expected in zip(compiled(x), halves(x)):
            assert torch.equal(ours, expected)
    check(windows, (torch.arange(4.0),))


class Recurrent(torch.nn.Module):
    """A loop of products with 4,096 weights: large where there are more than 16 rows."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.Linear(64, 64)

    def forward(self, h: Tensor, n: int) -> Tensor:
        states = torch.zeros(n, h.size(0), 64)
        for i in range(n):
            h = torch.tanh(self.cell(h))
            states[i] = h
        return states


@pytest.mark.parametrize("size", [Dim.AUTO, Dim("rows"), Dim("rows", max=16)], ids=str)
def test_a_dynamic_size_counts_as_in_the_example(size: Any) -> None:
    few, many = torch.rand(4, 64), torch.rand(20_000, 64)
    module, shapes = Recurrent(), {"h": {0: size}, "n": None}
    rows = (torch.rand(count, 64) for count in (0, 1, 2, 16))
    checked = check(module, (few, 3), *((h, n) for h, n in zip(rows, (2, 0, 1, 3))), options={"dynamic_shapes": shapes})
    assert checked.compiled.explain().kernel
    if getattr(size, "max", None) != 16:
        with torch.no_grad():
            large = compile(module, (many, 3), dynamic_shapes=shapes, cache=False)
            torch.testing.assert_close(checked.compiled(many, 2), large(many, 2))
        assert "products in one op" in str(large.explain().kernel_reason)


def routed(x: Tensor, y: Tensor, z: Tensor, weight: Tensor, drop: bool) -> Tensor:
    """Which of two tensors of other lengths is reshaped depends on the run, as in a mixture of experts."""
    rows, slots = torch.where(x == 1)
    if rows.numel() > 0:
        w = y[rows, slots]
        if drop and rows.numel() > 3:
            best = w.topk(3).indices.sort().values
            rows, w = rows[best], w[best]
        z.index_add_(0, rows, torch.nn.functional.silu(z[rows] @ weight) * w.unsqueeze(-1))
    return z


def test_a_tensor_that_a_branch_chooses_is_reshaped() -> None:
    torch.manual_seed(0)
    some, y, z, weight = torch.randint(0, 3, (5, 2)), torch.rand(5, 2), torch.rand(5, 8), torch.rand(8, 8)
    masks = (some, some * 0, some * 0 + 1)
    kernel_of(routed, *((mask, y, z, weight, drop) for mask in masks for drop in (True, False)))
