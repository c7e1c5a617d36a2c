"""Sizes and numbers that are computed from data: whatever op takes them, one artefact does what eager does for each.

An op that decides by such numbers, and that FakeTensors cannot follow, runs in PyTorch; one that IREE or torch-mlir
compile as if the numbers were others is written otherwise, or runs in PyTorch as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from ssa_compiler.backend.driver import module_at_work
from ssa_compiler.testing import check

X = (torch.arange(12.0).reshape(4, 3) - 5) * 0.3
WIDE = torch.arange(72.0).reshape(6, 12)
SHAPES = [(3, 4), (2, 6), (4, 3), (6, 2), (1, 12)]


def sets(*numbers: int) -> list[tuple[Tensor, Tensor]]:
    """Input sets, one for each number; the first is the example."""
    return [(X.clone(), torch.tensor(number)) for number in numbers]


# Views. --------------------------------------------------------------------------------------------------------------


def pairs(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    y = x[: int(k[0]), : int(k[1])] * 2
    return y.view(-1, 2), y.reshape(2, -1) + 1


def rows_of_two(x: Tensor, k: Tensor) -> Tensor:
    return (x[: int(k[0]), : int(k[1])] * 2).view(-1, 2)


def fixed(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    y = x[: int(k[0]), : int(k[1])] * 2
    return y.view(6, 2) + 1, y.reshape(3, 4), y.reshape(2, 3, 2), y.reshape(1, 12)


def swapped(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    n, m = int(k[0]), int(k[1])
    y = x[:n, :m] * 2
    return y.reshape(m, n), y.unsqueeze(1).expand(n, 2, m).reshape(2 * n, m)


@pytest.mark.parametrize("program", [pairs, fixed, swapped])
def test_views(program: Callable[..., Any]) -> None:
    checked = check(program, *[(WIDE.clone(), torch.tensor(shape)) for shape in SHAPES], compiled=True)
    assert checked.compiled.explain().callbacks == ()


def test_torch_mlir_takes_sizes_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, `reshapes` can go."""
    monkeypatch.setattr(module_at_work, "rewrite_ops", lambda module: 0)
    compiled = ssa_compiler.compile(rows_of_two, (WIDE, torch.tensor([3, 4])))
    assert compiled(WIDE, torch.tensor([3, 4])).shape != (6, 2)


def split_heads(x: Tensor) -> Tensor:
    b, t, d = x.shape
    return x.relu().view(b, t, 4, d // 4).transpose(1, 2) + 1


def test_dimensions_that_stay_are_told_apart() -> None:
    """The sizes of a view that are those of its base are read from the base."""
    program = ssa_compiler.compile(
        split_heads, (torch.ones(2, 3, 8),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}}
    )
    text = program.mlir("iree")
    (view,) = [line for line in text.splitlines() if "torch.aten.view " in line]
    base = view.partition("torch.aten.view ")[2].partition(",")[0]
    assert text.count(f"torch.aten.size.int {base},") == 2


# Windows. ------------------------------------------------------------------------------------------------------------


def one_window(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x[None, : int(k)]
    return F.max_pool1d(y, 2), F.avg_pool1d(y, 2), F.avg_pool2d(y[None].transpose(2, 3), (2, 1), stride=(2, 1))


def padded_window(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    y = x[None, : int(k)]
    return F.max_pool1d(y, 3, stride=4, padding=1), F.avg_pool1d(y, 3, stride=4, padding=1)


def test_pooling_with_one_window() -> None:
    checked = check(one_window, *sets(2, 1, 3, 4), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def test_pooling_with_one_padded_window() -> None:
    checked = check(padded_window, *sets(2, 1, 3, 4), compiled=True)
    assert {use.op for use in checked.compiled.explain().callbacks} == {"aten::max_pool1d", "aten::avg_pool1d"}


# Numbers. ------------------------------------------------------------------------------------------------------------


def rolled(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    n = int(k)
    return x.roll(4, 1), x.roll(-7, 0), x.roll(2 * n - 5, 1), x[:n].roll(5, 0), x.roll(13)


def moments(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, tuple[Tensor, Tensor]]:
    y = x[: int(k)]
    return y.var(0), y.std(0, correction=3), y.var(), y.var(1, unbiased=False), torch.var_mean(y)


def few(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.var(0, correction=7), x.std(0, correction=4), x[:0].var(0)


def attention(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    y = x[None, None, : int(k)]
    return F.scaled_dot_product_attention(y, y, y), F.scaled_dot_product_attention(x[None, None], y, y)


def enlarged(x: Tensor, k: Tensor) -> Tensor:
    return F.interpolate(x[None, None, : int(k)], scale_factor=1.7)


@pytest.mark.parametrize(("program", "first"), [(rolled, 0), (moments, 0), (attention, 0), (enlarged, 1)])
def test_native_ops(program: Callable[..., Any], first: int) -> None:
    checked = check(program, *sets(2, *(n for n in (0, 1, 3, 4) if n >= first)), compiled=True)
    assert checked.compiled.explain().callbacks == ()


def test_fewer_elements_than_the_correction() -> None:
    check(few, (X,), compiled=True)


def norms(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    return torch.linalg.vector_norm(x, float(k)), x.norm(p=float(k) - 2, dim=1)


def spaced(x: Tensor, k: Tensor) -> Tensor:
    return torch.linspace(0.0, 1.0, int(k))


def classes(x: Tensor, k: Tensor) -> Tensor:
    return F.one_hot(torch.arange(int(k) + 1))


def taken_away(x: Tensor, k: Tensor) -> Tensor:
    return F.pad(x[None, :, : int(k)], [-1, 2], mode="replicate")


@pytest.mark.parametrize(
    ("program", "op", "first"),
    [
        (norms, "aten::linalg_vector_norm", 0),
        (spaced, "aten::linspace", 0),
        (classes, "aten::one_hot", 0),
        (taken_away, "aten::pad", 2),
    ],
)
def test_ops_that_torch_mlir_compiles_for_other_numbers(program: Callable[..., Any], op: str, first: int) -> None:
    checked = check(program, *sets(2, *(n for n in (0, 1, 3, 4) if n >= first)), compiled=True)
    assert op in {use.op for use in checked.compiled.explain().callbacks}


# Ops that FakeTensors cannot follow. ---------------------------------------------------------------------------------


def distances(x: Tensor, k: Tensor) -> Tensor:
    n = int(k)
    return torch.cdist(x[:n], x, 3.0) + x[:n, :1]


def combined(x: Tensor, k: Tensor) -> Tensor:
    return torch.combinations(x[: int(k), 0]) * 2


def dimension(x: Tensor, k: Tensor) -> Tensor:
    return x.sum(int(k) - 2 if int(k) < 4 else 1).exp()


def smallest(x: Tensor, k: Tensor) -> Tensor:
    return x.flatten().kthvalue(int(k) + 1)[0]


def window(x: Tensor, k: Tensor) -> Tensor:
    return torch.hann_window(int(k))


@pytest.mark.parametrize("program", [distances, combined, dimension, smallest, window])
def test_ops_that_decide_by_numbers_run_in_pytorch(program: Callable[..., Any]) -> None:
    checked = check(program, *sets(2, 0, 1, 3, 4), compiled=True)
    assert checked.compiled.explain().callbacks != ()


def narrowed(x: Tensor, n: int) -> Tensor:
    return x.narrow(n, 0, 1)


def test_a_dimension_is_a_constant_rather() -> None:
    program = ssa_compiler.compile(narrowed, (X, 1))
    for n in (1, 0, -1):
        torch.testing.assert_close(program(X, n), narrowed(X, n))


def test_a_dimension_from_data_is_rejected() -> None:
    with pytest.raises(ssa_compiler.UnsupportedOpError, match=r"aten::narrow with a dynamic 'dim'"):
        ssa_compiler.compile(narrowed_from_data, (X, torch.tensor(1)))


def narrowed_from_data(x: Tensor, k: Tensor) -> Tensor:
    return x.narrow(int(k), 0, 1)


def averaged(x: Tensor, k: Tensor) -> Tensor:
    n = int(k)
    return F.avg_pool1d(x[None], [n + 1], [n + 1], [0], True, True) + F.adaptive_avg_pool1d(x[None], n).sum()


def test_kernels_and_sizes_from_data() -> None:
    """Sizes of which few examples are known are not taken for constants; a size of 0 divides nothing."""
    check(averaged, *sets(1, 0, 2), compiled=True)


def by_number(x: Tensor, n: int) -> Tensor:
    return torch.hann_window(n) * 2


def test_numbers_of_arguments_are_constants_rather() -> None:
    """A callback is for what has no other way: an int argument is specialised."""
    program = ssa_compiler.compile(by_number, (X, 4))
    assert program.explain().callbacks == ()
    for n in (4, 5, 0, 1):
        torch.testing.assert_close(program(X, n), by_number(X, n))


def blackman(x: Tensor) -> Tensor:
    return torch.blackman_window(x.size(0)) + x[:, 0]


def test_named_sizes_stay_open() -> None:
    program = ssa_compiler.compile(
        blackman, (X,), dynamic_shapes={"x": {0: torch.export.Dim("n")}}, max_specialisations=1
    )
    for n in (4, 2, 7):
        x = torch.randn(n, 3)
        torch.testing.assert_close(program(x), blackman(x))


# Steps. --------------------------------------------------------------------------------------------------------------


def stepped(x: Tensor, k: int, n: int) -> tuple[Tensor, Tensor]:
    y = x[:, ::n].sum(1)
    x[k::n] = 7
    return x[k::n] * 2, y


def sieve(n: int) -> Tensor:
    prime = torch.ones(n + 1, dtype=torch.bool)
    prime[:2] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return prime.nonzero().flatten()


def test_steps_known_at_run_time() -> None:
    """One that is not positive raises."""
    check(stepped, *[(X.clone(), k, n) for k, n in ((0, 1), (1, 2), (0, 5), (5, 1), (0, 0), (0, -1))], compiled=False)
    check(sieve, *[(n,) for n in (30, 0, 1, 3, 4, 50)], compiled=False)
