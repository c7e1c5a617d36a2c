"""Dynamic numbers that eager rejects, or that are NaN: bounds, dimensions of 0-d tensors, overflowing floats."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

NAN, INF = math.nan, math.inf


def bounded(x: Tensor, low: float, high: float):
    written = x.clone()
    written.clamp_(low, high)
    one = x.clamp_min(low), x.clamp_max(high), F.hardtanh(x, low, high)
    return x.clamp(low, high), written, one, F.threshold(x, low, high), x.half().clamp(low, high)


def test_bounds_that_are_nan() -> None:
    x = torch.tensor([NAN, -1.0, 0.0, 3.0, INF])
    check(bounded, (x, 0.0, 1.0), (x, NAN, 1.0), (x, 0.0, NAN), (x, NAN, NAN), (x, -INF, INF), (x, 2.0, 1.0))


def along_one(x: Tensor, d: int, e: int):
    return x.softmax(d), x.log_softmax(d), x.logcumsumexp(d), x.amax(e)


def along_list(x: Tensor, d: int):
    return x.logsumexp([d])


def test_dimensions_of_a_tensor_without_any() -> None:
    x = torch.tensor(2.0)
    numbers = [(0, -1), (-1, 0), (1, 0), (-2, 0), (2**40, 0), (0, 1)]
    checked = check(along_one, *[(x, *pair) for pair in numbers], compiled=False)
    assert [type(error) for error in checked.errors] == [type(None)] * 2 + [IndexError] * 4
    check(along_list, (x, 0), (x, 1), (x, -2), compiled=False)


def chosen(c: Tensor, s: float):
    return torch.where(c, s, 1.0), torch.where(c, c.long(), s), torch.where(c, 1, s)


def filled(c: Tensor, s: float):
    return c.long().masked_fill(c, s)


def made(c: Tensor, s: float):
    return torch.full([2], s), torch.scalar_tensor(s)


def multiplied(c: Tensor, s: float):
    return c * s, c.long() + s, c.byte() == s, c.long() < s


def test_floats_that_overflow() -> None:
    c = torch.tensor([True, False, True])
    numbers = [2.5, -3.0, 9e18, 9.3e18, -1e39, 1e300, INF, -INF, NAN]
    for program in (chosen, filled, made, multiplied):
        check(program, *[(c, number) for number in numbers], compiled=False)
    check(chosen, *[(c, number) for number in numbers])


def powers(x: Tensor, e: float):
    return x**e, x.float_power(e), x**0.5, x**-0.5


def powers_of_number(b: float, n: Tensor):
    return b**n


def test_powers_that_are_roots() -> None:
    x = torch.tensor([-INF, -0.0, 0.0, 4.0, -2.0, NAN])
    for dtype in (torch.float32, torch.float16):
        check(powers, *[(x.to(dtype), e) for e in (0.5, -0.5, 1.5, -3.0, NAN)])


def test_powers_of_negative_numbers() -> None:
    check(powers_of_number, *[(b, torch.tensor([1, 0, 3, 2])) for b in (2.0, -3.0, 0.0, -INF, NAN)])


def likelihood(x: Tensor, y: Tensor, ignored: int):
    return F.nll_loss(x, y, ignore_index=ignored), F.cross_entropy(x, y, ignore_index=ignored, label_smoothing=0.1)


def test_an_ignored_class_that_is_an_argument() -> None:
    x, y = torch.randn(4, 3).log_softmax(1), torch.tensor([0, 1, 2, 0])
    beyond = torch.tensor([0, 1, 7, 0])
    check(likelihood, (x, y, -100), (x, y, 0), (x, y, 1), (x, beyond, 7), (x, beyond, 0), compiled=False)


def equal_itself(x: Tensor, y: Tensor):
    z = torch.complex(x, y)
    return z == z, z != z, x == x


def test_complex_nan_is_not_itself() -> None:
    check(equal_itself, (torch.tensor([NAN, 0.0, INF]), torch.tensor([1.0, -0.0, NAN])))


def appended(x: Tensor):
    found: list[int] = []
    for i in range(x.size(0)):
        if x[i] != 0:
            found.append(i)
    return torch.tensor(found)


def test_an_empty_list_of_no_dtype_is_rejected_at_the_call() -> None:
    compiled = ssa_compiler.compile(appended, (torch.tensor([1, 0, 2]),))
    assert compiled(torch.tensor([1, 0, 2])).tolist() == [0, 2]
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match=r"test.py:\d+: unsupported: .* give the dtype"):
        compiled(torch.tensor([0, 0, 0]))


def solved(a: Tensor, b: Tensor):
    return torch.linalg.solve(a, b)


def test_systems_without_columns() -> None:
    check(solved, (torch.eye(3) * 2, torch.ones(3, 0)), (torch.zeros(3, 3), torch.ones(3, 0)), compiled=False)


def repeated(x: Tensor, r: Tensor):
    return torch.repeat_interleave(x, r, dim=0)


def test_repeats_of_no_rows() -> None:
    none = torch.zeros(0, dtype=torch.int64)
    dynamic_sizes = {"dynamic_shapes": {"x": {0: torch.export.Dim.AUTO}, "r": {0: torch.export.Dim.AUTO}}}
    calls = [
        (torch.ones(3, 2), torch.tensor([1, 0, 2])),
        (torch.ones(0, 2), none),
        (torch.ones(1, 2), torch.tensor([0])),
    ]
    check(repeated, *calls, compiled=False, options=dynamic_sizes)


def counted(a: int, b: int, s: int) -> list[int]:
    found: list[int] = [0, 0, 0, 0, 0, 0]
    for i in range(a, b, s):
        found[0] += i % 1000 + 1
        if found[0] > 5000:
            break
    for i in range(a, b):
        found[1] += i % 1000 + 1
        if found[1] > 5000:
            break
    for i in range(b, a, -1):
        found[2] += i % 1000 + 1
        if found[2] > 5000:
            break
    for i in range(1, b, 2**62 + 1):
        found[3] += i % 1000 + 1
    for i in range(a, b, -(2**62)):
        found[4] += i % 1000 + 1
    for i in range(-(2**63), 2**63 - 1):
        found[5] += i % 1000 + 1
        if found[5] > 5000:
            break
    return found


def test_ranges_longer_than_an_int() -> None:
    low, high = -(2**63), 2**63 - 1
    calls = [
        (0, 5, 2),
        (-2, high, 2**62),
        (0, low, low),
        (low, 0, 1),
        (high, low, 1),
        (low, high, high),
        (high, low, -1),
    ]
    check(counted, *calls, (low + 1, low, -1), (low, low + 1, -1), (high, low, low), (low, high, 2**62 + 1))


def triangles(a: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return a.tril(k), a.triu(k), a.clone().tril_(k), a.tril(9223372036854775807), a.triu(-9223372036854775807)


def test_diagonals_beyond_all_rows() -> None:
    """The number of a row and that of the diagonal are added up, which wraps around."""
    a = torch.arange(18.0).reshape(2, 3, 3) + 1
    check(triangles, *[(a, k) for k in (0, 1, -1, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1)])


def numbers_counted(x: Tensor, n: int) -> Tensor:
    return torch.bincount(x, minlength=n)


def test_a_negative_count_raises() -> None:
    check(numbers_counted, *[(torch.tensor([0, 1]), n) for n in (3, -1, 0)])


def histogram(x: Tensor, low: float, high: float) -> Tensor:
    return torch.histc(x, 5, low, high)


def renormalised(x: Tensor, most: float) -> Tensor:
    return torch.renorm(x, 2.0, 0, most)


def test_floats_that_ops_compare() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    check(histogram, (x, 0.0, 4.0), (x, 1.5, 1.75), (x, 3.0, 2.0), (x, NAN, 2.0), (x, 1.0, 1.0))
    check(renormalised, (x, 2.0), (x, 0.0), (x, -1.0), (x, NAN), (x, INF))


def windows(x: Tensor, size: int, step: int):
    """Sizes that are constants: FakeTensors have negative ones."""
    shown = x.unfold(-1, size, step)
    means = shown.mean(-1)
    for i in range(shown.size(1)):
        means[:, i] -= shown[:, i, 0]
    return means


@pytest.mark.parametrize("numbers", [(-1, 1), (-3, 2), (2, 0), (2, -1), (4, 1)])
def test_windows_of_negative_sizes(numbers: tuple[int, int]) -> None:
    with pytest.raises(RuntimeError) as expected:
        windows(torch.arange(6.0).reshape(2, 3), *numbers)
    with pytest.raises(ssa_compiler.errors.ProgramError) as raised:
        import_program(windows, (torch.arange(6.0).reshape(2, 3), *numbers))
    assert str(expected.value).splitlines()[0] in str(raised.value)


def strided(x: Tensor, n: int):
    return x.as_strided([n, 2], [2, 1])


def test_negative_sizes() -> None:
    checked = check(strided, *[(torch.arange(6.0), n) for n in (2, 0, 1, -1, -2, 3)], compiled=False)
    assert [type(error) for error in checked.errors].count(RuntimeError) == 2


def spaced(n: int):
    return torch.linspace(0.0, 1.0, n)


def spaced_by_logarithms(n: int):
    return torch.logspace(0.0, 1.0, n)


@pytest.mark.parametrize("program", [spaced, spaced_by_logarithms])
def test_negative_numbers_of_steps(program) -> None:
    with pytest.raises(ssa_compiler.errors.ProgramError, match="number of steps must be non-negative"):
        import_program(program, (-1,))
