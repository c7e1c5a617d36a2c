"""Ints and floats among the arguments that the program needs as constants, and loops that are written out for one."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import ssa_compiler
from ssa_compiler import ProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.importer.boundary.single_import import ProgramImport
from ssa_compiler.testing import check


def scheduled(x: Tensor, steps: int, scale: float, shift: float) -> Tensor:
    times = torch.linspace(1.0, 0.0, steps)
    for k in range(times.size(0)):
        x = x * scale + times[k] * shift
    return x


def grid() -> Tensor:
    return torch.arange(12.0).reshape(3, 4).sin()


def along(x: Tensor, dim: int = -1) -> Tensor:
    return torch.softmax(x, dim)


def pooled(x: Tensor, size: int, stride: int) -> Tensor:
    return F.max_pool2d(x, size, stride)


def permuted(x: Tensor, dims: list[int]) -> Tensor:
    return x.permute(dims) + 1


def clipped(x: Tensor, p: float, low: float) -> Tensor:
    return x.norm(p, 0) + low


def mantissa(x: Tensor, s: float) -> Tensor:
    m, e = math.frexp(s)  # compiled programs have no frexp
    return x * m + e


def rows(x: Tensor, n: int, by: int, dim: int, scale: float) -> Tensor:
    y = x * scale
    for i in range(n):
        y[i % 3] += by
    return y.sum(dim)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (along, [(-1,), (), (0,), (1,), (-2,)]),
        (pooled, [(2, 2), (3, 1)]),
        (permuted, [([2, 1, 0],), ([0, 2, 1],)]),
        (clipped, [(2.0, 1.0), (2, 5), (math.inf, 2.5)]),
        (mantissa, [(0.0,), (-5.0,), (1e300,)]),
        (scheduled, [(4, 0.5, 1.0), (4, 2.0, -1.0), (2, 0.25, 3.0)]),
        (rows, [(2, 5, 0, 1.5), (0, 2**40, 0, 2.0), (1, 1, 1, -1.0), (7, -3, -1, 0.0)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_value_is_a_specialisation(function, calls: list[tuple[object, ...]]) -> None:  # type: ignore[no-untyped-def]
    x = torch.stack([grid(), grid() * 2]) if function in (pooled, permuted) else grid()
    compiled = ssa_compiler.compile(function, (x, *calls[0]))
    for call in calls:
        torch.testing.assert_close(compiled(x, *call), function(x, *call))


def test_only_the_constant_that_is_needed() -> None:
    (spec,) = import_program(rows, (grid(), 2, 5, 0, 1.5)).constant_specs()
    assert (spec.path, spec.value) == ("dim", 0)
    assert "aten::sum.dim_IntList with a dynamic 'dim'" in spec.reason
    assert "importer_constants_test.py:" in spec.reason, "the reason has the user's line"


def test_what_decides_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other numbers are not tried as constants: an attempt imports the whole program."""
    runs: list[list[str]] = []
    run = ProgramImport.run
    monkeypatch.setattr(
        ProgramImport, "run", lambda self, *args: runs.append(sorted(self.state.plan.constants)) or run(self, *args)
    )
    import_program(scheduled, (grid(), 4, 0.5, 1.0))
    assert runs == [[], ["steps"]]


def test_a_call_with_the_same_constant_compiles_nothing() -> None:
    compiled = ssa_compiler.compile(clipped, (grid(), 2.0, 1.0), max_specialisations=2)
    torch.testing.assert_close(compiled(grid(), 2.0, 3.0), clipped(grid(), 2.0, 3.0))
    assert len(compiled.specialisations) == 1
    assert torch.isnan(compiled(grid(), math.nan, 0.0)).all()
    assert torch.isnan(compiled(grid(), math.nan, 1.0)).all()  # NaN is a constant like others
    assert len(compiled.specialisations) == 2
    with pytest.raises(
        ssa_compiler.ArgumentValueError, match=r"'p': the program was compiled for .* cannot take 3\.0.*a constant"
    ):
        compiled(grid(), 3.0, 0.0)


def signed_zero(x: Tensor, p: float) -> Tensor:
    return torch.full([2], p).copysign(x[0, :2]) * x.norm(p) + 1 / torch.tensor(p)


def test_zero_has_a_sign() -> None:
    compiled = ssa_compiler.compile(signed_zero, (grid(), 0.0))
    for p in (0.0, -0.0):
        torch.testing.assert_close(compiled(grid(), p), signed_zero(grid(), p))


def test_a_constant_out_of_range_raises_as_eager_does() -> None:
    compiled = ssa_compiler.compile(along, (grid(), 0))
    for dim in (2, -3, 2**62):
        with pytest.raises(IndexError) as eager:
            along(grid(), dim)
        with pytest.raises(IndexError) as ours:
            compiled(grid(), dim)
        assert isinstance(ours.value, ProgramError)
        assert str(eager.value).splitlines()[0] in str(ours.value)


def reshaped(x: Tensor, sizes: list[int], n: int) -> Tensor:
    return x.reshape(sizes) + x.view(n, -1).sum() + torch.zeros(sizes[1]).expand(sizes[0], -1).sum()


def shown(x: Tensor, sizes: list[int]) -> Tensor:
    return x.view(sizes).expand(sizes).contiguous()


@pytest.mark.slow
def test_sizes_that_are_inferred() -> None:
    compiled = ssa_compiler.compile(reshaped, (grid(), [2, 6], 3))
    for sizes, n in (([3, 4], 2), ([12, 1], 1), ([1, 12], 12), ([4, 3], 4)):
        torch.testing.assert_close(compiled(grid(), sizes, n), reshaped(grid(), sizes, n))
    assert len(compiled.specialisations) == 1
    torch.testing.assert_close(compiled(grid().flatten(), [2, 6], 3), reshaped(grid().flatten(), [2, 6], 3))
    for first in ([2, -1], [2, 6]):
        compiled = ssa_compiler.compile(shown, (grid(), first))
        for sizes in ([2, 6], [-1, 3], [4, -1], [12, 1], [2, -1]):
            torch.testing.assert_close(compiled(grid(), sizes), shown(grid(), sizes))
        assert len(compiled.specialisations) <= 5


def parts_of_a_row(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    return x.view(n, -1).sum(), x.view(-1, n).amax(0)


def test_an_inferred_size_beside_one_of_the_run() -> None:
    """torch-mlir took -1 for the size: the sum of no elements."""
    check(parts_of_a_row, *[(grid().flatten(), n) for n in (2, 1, 3, 4, 12)])


def norms(x: Tensor) -> Tensor:
    out = torch.zeros(2)
    for dim in range(2):
        out[dim] = x.norm(dim=dim).sum()
    return out


def norms_of_some(x: Tensor, n: int, scale: float) -> Tensor:
    out = torch.zeros(3)
    for dim in range(n):
        out[dim] = x.sum(dim).max() * scale
    return out


def halved(x: Tensor) -> Tensor:
    for _ in range(2):
        x = F.avg_pool2d(x, 2)
    return x


def wrapped(x: Tensor) -> Tensor:
    for dim in range(3):
        x = x.unsqueeze(dim)
        if x.sum() > 100:
            break
    return x * 2


def test_loops_whose_iterations_differ_are_written_out() -> None:
    check(norms, (grid(),))
    check(halved, (torch.randn(1, 2, 8, 12),))
    compiled = ssa_compiler.compile(norms_of_some, (grid(), 2, 1.0))
    for n in (2, 0, 1):
        torch.testing.assert_close(compiled(grid(), n, 0.5), norms_of_some(grid(), n, 0.5))
    assert len(compiled.specialisations) == 3
    with pytest.raises(IndexError, match="Dimension out of range"):
        compiled(grid(), 3, 1.0)


def test_a_rank_that_depends_on_data_is_rejected() -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="a variable that is a f32 tensor of shape"):
        import_program(wrapped, (grid(),))


def from_data(x: Tensor) -> Tensor:
    return x.softmax(int(x.argmax()))


def test_a_dimension_from_data_is_for_pytorch() -> None:
    program = import_program(from_data, (grid(),))
    assert program.constant_specs() == []
    assert "torch.aten.softmax.int" in program.module
