"""`dynamic_shapes=Dim.AUTO`: programs whose sizes are odd, even, 0, 1 and larger than the example's, on one artefact or
several.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim
from torch.utils._sympy.functions import Mod

import ssa_compiler
from ssa_compiler import ArgumentValueError
from ssa_compiler.abi.size_guards import SizeChecks, SizeGuard, SizeUse
from ssa_compiler.importer.values.argument_sizes import python_code
from ssa_compiler.testing import check, check_auto_sizes
from ssa_compiler.testing.fuzz import load
from ssa_compiler.testing.fuzz.arguments import resized
from ssa_compiler.testing.fuzz.sizes import size_program
from ssa_compiler.testing.harness import run_eager

AUTO = {"dynamic_shapes": Dim.AUTO}
HALVES = (6, 5, 1, 0, 2, 9, 3)


def put_together(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    h = x.size(1) // 2
    y = x.relu() - 2
    written = torch.ones_like(x)
    written[:, :h] = -x[:, h : 2 * h]
    written[:, h : 2 * h] = x[:, :h]
    return (
        torch.cat([-x[:, h:], x[:, :h]], 1),
        torch.cat([-y[:, h:], y[:, :h]], -1),
        torch.cat([-0.0 - x[:, h:], x[:, :h]], 1),
        torch.cat([-x[:, : x.size(1) - h], x[:, x.size(1) - h :]], 1),
        written,
    )


def of_known_sizes(x: Tensor) -> list[Tensor]:
    written = torch.ones_like(x)
    written[:, :2] = -x[:, 2:4]
    written[:, 2:4] = x[:, :2]
    y = x[:, :4]
    return [
        torch.cat([-y[:, 2:], y[:, :2]], 1),
        torch.cat([-y[:, :2], y[:, 2:]], 1),
        torch.cat([-y[:, 1::2], y[:, ::2]], 1),
        torch.cat([-y[:, 1:3], y[:, 1:3]], 1),
        torch.cat([-x[:, :1], x[:, 1:]], 1),
        written,
    ]


def rows(*sizes: int, columns: int = 3) -> list[tuple[Tensor, ...]]:
    """Input sets, one for each number of rows; the first is the example."""
    return [(torch.arange(float(size * columns)).reshape(size, columns) - 2,) for size in sizes]


def test_parts_of_dynamic_sizes() -> None:
    sets = [(torch.arange(2.0 * size).reshape(2, size) - 3,) for size in HALVES]
    checked = check(put_together, *sets, options=AUTO)
    assert not any(checked.rejections)


def test_parts_of_known_sizes() -> None:
    check(of_known_sizes, *rows(2, columns=5))


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.chunk(2)
    return a + 1, torch.cat([-b, a])


def pieces(x: Tensor) -> Tensor:
    total = torch.zeros(3)
    for part in x.split(2):
        total = total * 2 + part.sum(0)
    return total


def named_pieces(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a, b = x.split([2, x.size(0) - 2])
    first, second = x.tensor_split(2)
    b = b.clone()
    b += 1
    return a * 2, b, first.sum(0) - second.sum(0)


@pytest.mark.parametrize("program", [halves, pieces, named_pieces])
def test_splits(program: Callable[..., Any]) -> None:
    """How many pieces there are is a guard; which elements are in them is computed."""
    checked = check(program, *rows(4, 5, 6, 3, 9, 2), options=AUTO, rejections=True, compiled=program is halves)
    assert checked.rejections[0] is None
    assert (checked.rejections[1:] == [None] * 5) is (program is halves)


def beside_its_first(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    h = (y.size(0) + 1) // 2
    turned = torch.cat([-y.narrow(0, h, y.size(0) - h), y.narrow(0, 0, h)])
    return x - x[:, :1], torch.where(x[:1] > 0, x, x[:, :1]), turned - turned[:1]


def test_what_is_broadcast_for_the_example_is_a_guard() -> None:
    """`x[:1]` has one row where there is any; the other sizes stay dynamic."""
    sets = [(torch.arange(float(n * m)).reshape(n, m) - 4, torch.arange(float(m))) for n, m in ((4, 6), (3, 1), (5, 3))]
    checked = check(beside_its_first, *sets, options=AUTO)
    assert not any(checked.rejections)
    check_auto_sizes(beside_its_first, *sets, (torch.ones(0, 2), torch.ones(1)), (torch.ones(2, 0), torch.ones(0)))


def taken_away(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return F.pad(x, [-1, 1]), F.pad(x, [1, -1, -1, 2]), F.pad(x, [-1, -1]), F.pad(x, [-2, 2], value=3.0)


def windows_beside_the_whole(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x + x[:, :1]
    return y, y.unfold(0, 1, 2)


@pytest.mark.parametrize("program", [taken_away, windows_beside_the_whole])
def test_iree_takes_one_for_the_other(program: Callable[..., Any]) -> None:
    check(program, *rows(4, columns=5))
    check(program, *rows(4, 5, 2, columns=5), options=AUTO)


def normalised(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    wide = x[None, :, :1].expand(1, x.size(0), x.size(0))
    return F.group_norm(x[None], 1), F.group_norm(wide, 1), torch.einsum("ij,kj->ik", x[:2], x[:0])


def test_groups_of_dynamic_sizes() -> None:
    sets = [(torch.randn(*shape),) for shape in ((4, 6), (5, 3), (2, 9))]
    checked = check(normalised, *sets, options=AUTO)
    assert not any(checked.rejections)
    assert checked.compiled.explain().callbacks == ()


def of_nothing(x: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(x.size(0)) % x.size(1)
    seen = F.scaled_dot_product_attention(x[None], x[None], x[None])
    return x[:, places], seen


def convolved(x: Tensor) -> Tensor:
    return F.conv1d(x[:, None], torch.ones(1, 1, 1), padding=1)


def convolved_with_padding(x: Tensor) -> Tensor:
    return F.conv1d(x[:, None], torch.ones(1, 1, 3), padding=3)


def into_three(x: Tensor, i: int) -> Tensor:
    first = x[i]
    a, b, c = x.unbind(0)
    return first + a + b + c


def numbered_rows(*sizes: int, number: int) -> list[tuple[Tensor, int]]:
    return [(torch.ones(size, 3), number) for size in sizes]


@pytest.mark.parametrize(
    ("program", "sets"),
    [
        (of_nothing, [(torch.ones(*shape),) for shape in ((3, 4), (0, 0), (0, 2), (2, 0), (1, 1))]),
        (convolved, [(torch.ones(*shape),) for shape in ((3, 4), (0, 0), (0, 2), (2, 0), (1, 1))]),
        (convolved_with_padding, [(torch.ones(*shape),) for shape in ((3, 0), (0, 0), (3, 4), (0, 2))]),
        (into_three, [*numbered_rows(3, 4, 2, 0, number=-1), *numbered_rows(3, 4, 2, number=3)]),
    ],
)
def test_errors_are_those_of_eager(program: Callable[..., Any], sets: list[tuple[Any, ...]]) -> None:
    """Of which type they are, and for which sizes; a further specialisation raises them when it is called."""
    found = check_auto_sizes(program, *sets)
    assert found.raised == sum(run_eager(program, each) is not None for each in sets)


def unpacked(x: Tensor, i: int) -> Tensor:
    first = x[i]
    a, b = x.chunk(2)
    return a + b + first


def test_a_call_raises_the_first_error() -> None:
    compiled = ssa_compiler.compile(unpacked, (torch.ones(4, 3), 0), dynamic_shapes={"x": Dim.AUTO})
    with pytest.raises(IndexError):
        compiled(torch.ones(1, 3), 5)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        compiled(torch.ones(1, 3), 0)


def test_a_guard_that_divides_by_zero_does_not_hold() -> None:
    guard = sympy.Eq(Mod(12, sympy.Symbol("n", integer=True)), 0)
    use = SizeUse(0, 0, 1, 0, "argument 'x': size 0", "n")
    guards = (SizeGuard(python_code(guard), str(guard), "an op"),)
    checks = SizeChecks((("n", "n", 0, None, (use,)),), guards, ())
    checks.check([torch.ones(4)])
    for size in (0, 5):
        with pytest.raises(ArgumentValueError, match="an op"):
            checks.check([torch.ones(size)])


@pytest.mark.slow
def test_every_size_program_runs_in_eager_for_its_example(tmp_path: Path) -> None:
    """The grammar's own statements are right: what raises does so for some sizes only."""
    raised = [seed for seed in range(150) if run_eager(*_example(seed, tmp_path)) is not None]
    assert len(raised) <= 15, raised


def _example(seed: int, folder: Path) -> tuple[Any, Any]:
    loaded = load(size_program(seed).text, folder, f"sizes_{seed}")
    return loaded.model, loaded.calls[0]


def test_sizes_of_a_program_change_together() -> None:
    sets = [(torch.ones(4, 3), torch.ones(3), torch.ones(1), 2)] * 6
    shapes = [[tuple(v.shape) for v in each if isinstance(v, Tensor)] for each in resized(sets)]
    assert shapes[:3] == [[(4, 3), (3,), (1,)], [(5, 4), (4,), (1,)], [(3, 2), (2,), (1,)]]
    assert shapes[5] == [(0, 0), (0,), (1,)]


def rows_of_the_rest(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x[(x.size(0) + 1) // 2 :].unbind(0)
    y = x.clone()
    y[torch.arange(x.size(1) // 3)] = x[:1]
    return a + b, y


def test_how_many_rows_there_are_is_a_guard() -> None:
    """Their shape is that of a row, though PyTorch keeps a dimension that it does not know to be 1."""
    sets = [(torch.arange(6.0 * size).reshape(size, 6),) for size in (4, 5, 6, 2)]
    checked = check(rows_of_the_rest, *sets, options=AUTO, rejections=True, compiled=False)
    assert [rejection is None for rejection in checked.rejections] == [True, True, False, False]


def squeezed_half(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.chunk(2, 0)[0].squeeze(0), x[: x.size(0) // 2].squeeze()


def test_a_computed_size_of_one_is_squeezed() -> None:
    check_auto_sizes(squeezed_half, (torch.arange(2.0),), (torch.arange(3.0),), (torch.arange(5.0),))
    check_auto_sizes(squeezed_half, (torch.arange(6.0),), (torch.arange(2.0),), (torch.arange(3.0),))


def turned_round(x: Tensor) -> Tensor:
    return x.index_select(0, torch.arange(x.size(0) - 1, -1, -1))


def test_arange_down_from_a_size() -> None:
    """PyTorch's kernel ends the process for the largest int, which is not tried."""
    check_auto_sizes(turned_round, (torch.arange(4.0),), (torch.arange(3.0),), (torch.arange(1.0),), (torch.ones(0),))


def add_at(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    x.index_add_(0, index, source)
    return x


def test_index_add_raises_as_eager_does_for_its_rank() -> None:
    for sizes in ((4,), (4, 2)):
        inputs = [
            (torch.zeros(sizes), torch.tensor(index), torch.ones((3, *sizes[1:]))) for index in ([1, 0, 3], [4, 0, 0])
        ]
        check_auto_sizes(add_at, *inputs)


def third_last_and_five(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    v = x[-3]
    return v + 0, y.view(5) + 1


def test_the_first_of_two_errors_is_raised() -> None:
    sizes = ((5, 5), (1, 1), (1, 5), (5, 1), (2, 3))
    check_auto_sizes(third_last_and_five, *((torch.ones(a, 3), torch.ones(b)) for a, b in sizes))
