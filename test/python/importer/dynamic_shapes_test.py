"""`dynamic_shapes=`: one artefact for all sizes, against eager at every stage; what is rejected, guarded, static."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import ssa_compiler
from ssa_compiler import ArgumentTypeError, ArgumentValueError, UnsupportedProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

N, M = Dim("n"), Dim("m")
SIZES = (4, 0, 1, 2, 9)


def add_rows(x: Tensor, y: Tensor) -> Tensor:
    b = x.clone()
    for i in range(x.size(0)):
        b[i] = b[i] + y[i]
    return b


def running_sum(x: Tensor) -> tuple[Tensor, Tensor]:
    s = torch.zeros(3)
    out = torch.zeros_like(x)
    for i in range(x.size(0)):
        s += x[i]
        out[i] = s
    return out, s


def write_column(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y)
    x[:, 0] = 7.0
    return x.sum(0)


def double_rows(x: Tensor) -> Tensor:
    for i in range(x.shape[0]):
        x[i] *= 2
    return x


def by_size(x: Tensor) -> Tensor:
    if x.size(0) > 2:
        return x[:2] * 2
    return x + 1


def both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat([x, y], 0).sum(0), x.unsqueeze(1) * y.unsqueeze(0)


def pairs(x: Tensor, y: Tensor) -> Tensor:
    return y.reshape(x.size(0), 2, 3) + x.unsqueeze(1)


def matrices(x: Tensor, w: Tensor) -> Tensor:
    return torch.softmax(x @ w, -1).sum(1, keepdim=True)


@pytest.mark.parametrize(
    ("function", "shapes", "wanted"),
    [
        (add_rows, lambda n: ((n, 3), (n, 3)), {"x": {0: N}, "y": {0: N}}),
        (running_sum, lambda n: ((n, 3),), ({0: N},)),
        (write_column, lambda n: ((n, 3), (n, 3)), ((N, None), (N, 3))),
        (double_rows, lambda n: ((n, 9 - n),), {"x": {0: N, 1: M}}),
        (by_size, lambda n: ((n, 3),), {"x": {0: Dim.DYNAMIC}}),
        (both, lambda n: ((n, 3), (9 - n, 3)), {"x": (N, Dim.STATIC), "y": (M, None)}),
        (pairs, lambda n: ((n, 3), (2 * n, 3)), {"x": {0: N}, "y": {0: 2 * N}}),
        (pairs, lambda n: ((n + 1, 3), (2 * n + 2, 3)), {"x": {0: N + 1}, "y": {0: 2 * N + 2}}),
        (matrices, lambda n: ((n, 3), (3, 5)), {"x": {0: Dim.AUTO}, "w": None}),
    ],
)
def test_one_artefact_for_all_sizes(function: Any, shapes: Any, wanted: Any) -> None:
    calls = [tuple(torch.randn(shape) for shape in shapes(n)) for n in SIZES if n or function is not pairs]
    checked = check(function, *calls, options={"dynamic_shapes": wanted})
    assert "?" in checked.stages["imported"].partition("@main(")[2].partition(")")[0]


def test_a_loop_over_a_size_stays_a_loop() -> None:
    program = import_program(running_sum, (torch.randn(4, 3),), dynamic_shapes=({0: N},))
    assert "torch.prim.Loop" in program.module
    assert program.describe() == ["x: float32[n, 3]"]


def nested(items: list[Tensor], table: dict[str, Tensor], k: int) -> Tensor:
    return items[0] + items[1] + table["a"] * k


def test_nested_arguments() -> None:
    wanted = {"items": [{0: N}, (N,)], "table": {"a": {0: N}}, "k": None}
    calls = [([torch.randn(n), torch.randn(n)], {"a": torch.randn(n)}, n) for n in SIZES]
    check(nested, *calls, options={"dynamic_shapes": wanted})
    auto = import_program(nested, calls[0], dynamic_shapes=Dim.AUTO)
    assert auto.module.count("!torch.tensor<[?],f32>") > 3


def test_sizes_that_do_not_fit_are_named() -> None:
    n = Dim("n", min=2, max=8)
    compiled = ssa_compiler.compile(
        add_rows, (torch.randn(4, 3), torch.randn(4, 3)), dynamic_shapes={"x": {0: n}, "y": {0: n}}
    )
    for size in (2, 8, 5):
        x, y = torch.randn(size, 3), torch.randn(size, 3)
        assert torch.equal(compiled(x, y), add_rows(x, y))
    for size in (1, 9):
        with pytest.raises(ArgumentValueError, match=rf"'x': size 0 \(n\).*at least 2 and at most 8.*got {size}"):
            compiled(torch.randn(size, 3), torch.randn(size, 3))
    with pytest.raises(ArgumentValueError, match=r"'y': size 0: expected 4 \(n by dynamic_shapes\), got 5"):
        compiled(torch.randn(4, 3), torch.randn(5, 3))
    assert len(compiled.specialisations) == 1
    compiled(torch.randn(5, 2), torch.randn(5, 2))  # a size that is not dynamic
    assert [str(made) for made in compiled.specialisations] == [
        "add_rows(x: float32[n, 3], y: float32[n, 3])",
        "add_rows(x: float32[n, 2], y: float32[n, 2])",
    ]


def add(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def test_sizes_that_may_be_broadcast_are_guarded() -> None:
    """Of 4 + 4 nothing is known about 1 + 4."""
    compiled = ssa_compiler.compile(add, (torch.randn(4), torch.randn(4)), dynamic_shapes={"x": {0: N}, "y": {0: M}})
    assert "only where Eq(m, n): aten::add" in str(compiled.explain()).replace("Eq(n, m)", "Eq(m, n)")
    for sizes, count in [((7, 7), 1), ((1, 1), 1), ((1, 4), 2), ((1, 9), 2), ((4, 1), 3), ((0, 0), 3), ((5, 5), 3)]:
        x, y = (torch.randn(size) for size in sizes)
        assert torch.equal(compiled(x, y), add(x, y))
        assert len(compiled.specialisations) == count
    with pytest.raises(ssa_compiler.ProgramError, match="must match"):
        compiled(torch.randn(3), torch.randn(4))


def linear(x: Tensor, w: Tensor) -> Tensor:
    return x @ w


def test_a_size_that_has_to_be_constant() -> None:
    w = torch.randn(3, 2)
    example = (torch.randn(4, 3), w)
    compiled = ssa_compiler.compile(linear, example, dynamic_shapes={"x": (Dim.AUTO, Dim.AUTO), "w": None})
    text = str(compiled.explain())
    assert "x.size(0) is dynamic, 0 to any" in text
    assert "x.size(1) is static: aten::matmul needs" in text
    assert str(compiled.specialisations[0]) == "linear(x: float32[x.size(0), 3], w: float32[3, 2])"
    for wanted in (Dim.DYNAMIC, Dim("k")):
        with pytest.raises(
            UnsupportedProgramError, match=r"dynamic_shapes_test.py:\d+: .*aten::matmul needs .*dynamic"
        ):
            ssa_compiler.compile(linear, example, dynamic_shapes={"x": (None, wanted), "w": None})


def squeezed(x: Tensor) -> Tensor:
    return x.squeeze(0) + 1


def test_what_depends_on_a_size_of_one_is_guarded() -> None:
    compiled = ssa_compiler.compile(squeezed, (torch.randn(4, 3),), dynamic_shapes=({0: N},))
    for size, count in [(5, 1), (0, 1), (1, 2), (7, 2)]:
        x = torch.randn(size, 3)
        assert torch.equal(compiled(x), squeezed(x))
        assert len(compiled.specialisations) == count
    with pytest.raises(UnsupportedProgramError, match="aten::squeeze needs"):
        ssa_compiler.compile(squeezed, (torch.randn(1, 3),), dynamic_shapes=({0: N},))


def strip(x: Tensor) -> Tensor:
    return x.as_strided([2, 2], [1, 1], 0) + x.size(0)


def test_auto_sizes_that_the_importer_cannot_follow_become_static() -> None:
    compiled = ssa_compiler.compile(strip, (torch.randn(4, 3),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
    x = torch.randn(6, 3)
    assert torch.equal(compiled(x), strip(x))
    assert "x.size(0) is static: " in str(compiled.explain())


def flat_write(x: Tensor) -> Tensor:
    y = x.reshape(-1)
    y[::2] = 1.0
    return x + 0


def test_writes_through_a_reshape_of_an_open_size() -> None:
    compiled = ssa_compiler.compile(flat_write, (torch.zeros(4, 3),), dynamic_shapes=({0: N},))
    for make in (
        lambda: torch.zeros(5, 3),
        lambda: torch.zeros(1, 3),
        lambda: torch.zeros(3, 5).t(),
        lambda: torch.zeros(3, 7).t(),
        lambda: torch.zeros(4, 6)[:, ::2],
        lambda: torch.zeros(0, 3),
    ):
        ours, theirs = make(), make()
        assert torch.equal(compiled(ours), flat_write(theirs))
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        ({"z": {0: N}}, ArgumentTypeError, "no argument 'z'; the arguments are x, y"),
        ({"x": {2: N}}, ArgumentTypeError, "'x': expected dimensions of a tensor of rank 2, got 2"),
        ({"x": (N,)}, ArgumentTypeError, "one entry for each of the 2 dimensions"),
        ({"x": {0: "n"}}, ArgumentTypeError, r"x.size\(0\).*expected a torch.export.Dim"),
        ({"x": {0: 5}}, ArgumentValueError, "says 5, the example has 4"),
        ({"x": {0: Dim("k", max=3)}}, ArgumentValueError, "k has to be at least 0 and at most 3"),
        ({"x": {0: N, 1: N}}, ArgumentValueError, "n is 3; but by argument 'x': size 0 it is 4"),
        ({"x": {1: 2 * N}}, ArgumentValueError, r"has to be 2\*n by dynamic_shapes, got 3"),
        (({0: N}, {0: N}, None), ArgumentTypeError, "at most 2 entries, got 3"),
    ],
)
def test_wrong_requests(wanted: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        import_program(add_rows, (torch.randn(4, 3), torch.randn(4, 3)), dynamic_shapes=wanted)


def one_of_two(x: Tensor, y: Tensor, k: int, c: bool) -> Tensor:
    z = x[:k]
    if c:
        return z + y
    else:
        return (z + y) * 2


def test_what_an_op_requires_is_checked_wherever_it_is_used() -> None:
    """The same op in two branches: PyTorch's ShapeEnv notes a requirement once, and keeps it in caches."""
    calls = [(torch.randn(5), torch.randn(3), k, c) for k in (3, 2, 0) for c in (True, False)]
    checked = check(one_of_two, *calls)
    assert checked.count_ops("imported", "torch.runtime.assert") == 4  # in each: no size of 1, equal sizes
    assert [error is None for error in checked.errors] == [True, True, False, False, False, False]


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.LSTMCell(3, 5)

    def forward(self, x: Tensor) -> Tensor:
        h, c = torch.zeros(x.size(1), 5), torch.zeros(x.size(1), 5)
        out = torch.zeros(x.size(0), x.size(1), 5)
        for i in range(x.size(0)):
            h, c = self.cell(x[i], (h, c))
            out[i] = h
        return out


def test_a_recurrent_network() -> None:
    calls = [(torch.randn(n, m, 3),) for n, m in ((4, 2), (0, 2), (1, 1), (7, 3))]
    check(Recurrent(), *calls, options={"dynamic_shapes": ({0: N, 1: M},)})


def shapes_equal(x: Tensor, y: Tensor) -> Tensor:
    if x.size() != y.size():
        return x.sum() + y.sum()
    return x * y


def test_lists_of_sizes_are_compared() -> None:
    calls = [(torch.randn(n, 3), torch.randn(m, 3)) for n, m in ((4, 4), (4, 2), (0, 0), (1, 2))]
    wanted = ({0: Dim.AUTO}, {0: Dim.AUTO})
    compiled = ssa_compiler.compile(shapes_equal, calls[0], dynamic_shapes=wanted)
    for call in calls:
        torch.testing.assert_close(compiled(*call), shapes_equal(*call))


class Trained(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x)


def test_batch_norm_in_training_divides_by_a_size() -> None:
    calls = [(torch.randn(n, 3, 4, 4),) for n in (4, 2, 7)]
    check(Trained().train(), *calls, options={"dynamic_shapes": ({0: N},)})


def first_row(x: Tensor) -> Tensor:
    return torch.unbind(x)[0] * 2


def test_a_size_that_decides_how_many_results_there_are_is_no_dynamic_one() -> None:
    example = (torch.randn(4, 2, 3),)
    with pytest.raises(UnsupportedProgramError, match=r"aten::unbind.int needs Eq\(n, 4\)"):
        import_program(first_row, example, dynamic_shapes=({0: N},))
    program = import_program(first_row, example, dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
    assert program.describe()[0] == "x: float32[4, x.size(1), 3]"


def scaled(x: Tensor):
    return torch.nn.functional.interpolate(x, scale_factor=1.7, mode="linear", align_corners=True)


def test_guards_compute_with_floats() -> None:
    wanted = ({2: Dim.AUTO},)
    program = import_program(scaled, (torch.arange(12.0).reshape(1, 2, 6),), dynamic_shapes=wanted)
    assert program.sizes is not None
    assert "torch" not in "".join(guard.code for guard in program.sizes.guards)
    calls = [(torch.arange(float(2 * n)).reshape(1, 2, n),) for n in (6, 9, 2)]
    check(scaled, *calls, options={"dynamic_shapes": wanted}, compiled=False)
