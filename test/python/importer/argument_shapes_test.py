"""Programs that change the shape of tensor objects of the caller's or the module's: the caller sees what eager shows
it.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ArgumentValueError, errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid(rows: int = 4, columns: int = 3) -> Tensor:
    return torch.arange(float(rows * columns)).reshape(rows, columns)


def transposed(x: Tensor) -> Tensor:
    return x.t_()


def written_before_and_after(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    row = x[1]
    x[0] += y[0]
    x.t_()
    x[0] = 5
    x.unsqueeze_(1)
    row *= 2
    x.add_(1)
    return x, x * 2, row + 0


def turned_back(x: Tensor) -> Tensor:
    x.t_()
    x[0] += 1
    x.t_()
    return x


def of_a_list(xs: list[Tensor]) -> Tensor:
    for x in xs:
        x.transpose_(0, 1)
    return xs[0]


def squeezed(x: Tensor) -> Tensor:
    x.squeeze_(0).squeeze_([1])
    return x.sum(0)


def another_view(x: Tensor, n: int) -> Tensor:
    x.as_strided_([2, 3], [4, 1], 2)
    x[0] *= n
    return x


def fewer_elements(x: Tensor, like: Tensor) -> Tensor:
    x.resize_as_(like)
    x[0] += 1
    return x


def as_many_elements(x: Tensor) -> Tensor:
    return x.resize_(2, 6)


def more_elements(x: Tensor) -> tuple[Tensor, Tensor]:
    row = x[0]
    x.resize_(6, 3)
    x[3:] = 7
    row += 1
    x[2] = row.sum()
    return x, row * 2


def from_nothing(x: Tensor) -> Tensor:
    x.resize_(2, 2)
    return x.fill_(3.0)


def local_with_more_elements(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = torch.empty(0)
    y.resize_(x.size(0), 2)
    for i in range(n):
        y[i] = x[i, 0] * 2
    y[n:] = 0
    z = x.clone()
    row = z[0]
    z.resize_(2, 8)
    z[1, 4:] = -1
    row += 5
    return y, z


def of_another_storage(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x + 1
    z = torch.empty(0)
    z.set_(y)
    z.mul_(3)
    return y, z


def two_in_a_loop(x: Tensor, y: Tensor, n: int) -> Tensor:
    x.t_()
    for i in range(n):
        x[i] += y[0, i]
    y.t_()
    return x @ y


@pytest.mark.parametrize("compiled", [False, True])
def test_the_caller_sees_the_shape(compiled: bool) -> None:
    check(transposed, (grid(),), (grid() + 1,), compiled=compiled)
    check(written_before_and_after, (grid(), grid(1, 3)), (grid() + 2, grid(1, 3)), compiled=compiled)
    check(another_view, (grid(), 2), (grid() * 2, 5), compiled=compiled)
    check(more_elements, (grid(),), (grid() - 5,), compiled=compiled)
    check(fewer_elements, (grid(), grid(2, 4)), (grid() * 3, grid(2, 4)), compiled=compiled)


def test_shapes_of_arguments() -> None:
    for function, sets in (
        (turned_back, [(grid(),), (grid() + 1,)]),
        (of_a_list, [([grid(), grid(2, 2)],)]),
        (squeezed, [(torch.randn(1, 3, 1, 2),)]),
        (as_many_elements, [(grid(),)]),
        (from_nothing, [(torch.empty(0),)]),
        (local_with_more_elements, [(grid(), 3), (grid(), 0), (grid(), 2)]),
        (of_another_storage, [(grid(),)]),
        (two_in_a_loop, [(grid(), grid(2, 4), 2), (grid(), grid(2, 4), 0)]),
    ):
        check(function, *sets, compiled=False)


def test_the_changed_argument_is_the_result_and_still_a_view() -> None:
    base = torch.zeros(2, 4, 3)
    x = base[1]
    compiled = ssa_compiler.compile(transposed, (grid(),))
    result = compiled(x)
    assert result is x
    assert (x.shape, x.stride(), x.storage_offset()) == ((3, 4), (1, 3), 12)
    x[0, 1] = 5
    assert base[1, 1, 0] == 5


def test_the_next_call_is_for_the_new_shape() -> None:
    compiled = ssa_compiler.compile(transposed, (grid(),))
    x = grid()
    compiled(compiled(x))
    assert x.shape == (4, 3)
    assert x.is_contiguous()
    assert [str(made) for made in compiled.specialisations] == [
        "transposed(x: float32[4, 3])",
        "transposed(x: float32[3, 4])",
    ]
    square = ssa_compiler.compile(transposed, (grid(3, 3),))
    y = grid(3, 3)
    for count in range(1, 4):
        assert square(y).stride() == ((1, 3) if count % 2 else (3, 1))
    assert len(square.specialisations) == 2


class Turning(nn.Module):
    """Turns one buffer at each call, and reads another one, which the test turns."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("turning", grid(2, 3))
        self.register_buffer("still", grid(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.turning.t_()
        self.turning[0] += 1
        return self.turning.sum(0).sum() * x + self.still


def test_shapes_of_buffers() -> None:
    check(Turning(), (torch.ones(3),), compiled=False)
    model, eager = Turning(), Turning()
    compiled = ssa_compiler.compile(model, (torch.ones(3),))
    for number in range(4):
        assert torch.equal(compiled(torch.ones(3)), eager(torch.ones(3)))
        assert torch.equal(model.turning, eager.turning)
        assert model.turning.stride() == eager.turning.stride()
        if number == 1:
            model.still.t_()
            eager.still.t_()


class OfOneMemory(nn.Module):
    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.register_buffer("one", grid(2, 3))
        self.register_buffer("other", self.one if tied else self.one.detach())

    def forward(self, x: Tensor) -> Tensor:
        self.one.t_()
        return self.other @ x


def test_objects_of_one_memory() -> None:
    check(OfOneMemory(True), (torch.ones(2, 1),), compiled=False)
    with pytest.raises(errors.UnsupportedProgramError, match="one and other, two tensors of one memory"):
        import_program(OfOneMemory(False), (torch.ones(3, 1),))


def test_dynamic_sizes() -> None:
    rows = torch.export.Dim("rows")
    options = {"dynamic_shapes": {"x": {0: rows}}}
    check(transposed, (grid(),), (grid(7),), (grid(0),), options=options)


def test_one_object_twice_is_rejected() -> None:
    x = grid(2, 2)
    only_shapes = ssa_compiler.compile(of_a_list, ([grid(2, 2), grid(2, 2)],))
    with pytest.raises(ArgumentValueError, match=r"'xs\[0\]' gets another shape .* argument 'xs\[1\]' as well"):
        only_shapes([x, x])
    larger = ssa_compiler.compile(_larger_beside, (grid(), grid()))
    y = grid()
    with pytest.raises(ArgumentValueError, match=r"'x' gets another shape .* is part of argument 'y' as well"):
        larger(y, y[:])


def _larger_beside(x: Tensor, y: Tensor) -> Tensor:
    x.resize_(5, 3)
    return y + 1


def of_the_storage(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    x.as_strided([2, 2], [1, 2], 3).mul_(n)
    x += 1
    x.as_strided_([2, 3], [1, 2])
    return x, x * 2


def in_memory_order(x: Tensor) -> Tensor:
    x.as_strided([6], [1]).add_(1)
    x.resize_(2, 2)
    x[0] *= 2
    return x


def test_a_storage_that_is_larger_than_the_tensor() -> None:
    check(of_the_storage, (torch.randn(20)[5:15], 3), (torch.randn(20)[5:15], 0))
    check(more_elements, (grid(8)[1:5],), compiled=False)
    check(in_memory_order, (grid().t(),), (grid().t() + 1,), compiled=False)
    check(in_memory_order, (grid(9)[3:5],), compiled=False)
    compiled = ssa_compiler.compile(of_the_storage, (grid(1, 20)[0, 5:15], 3))
    storage = grid(1, 20)[0]
    x, other = storage[5:15], storage[1:3]
    result = compiled(x, 2)
    assert result[0] is x
    assert x.shape == (2, 3)
    assert other.tolist() == [1.0, 2.0]
    assert storage[3:7].tolist() == [6.0, 8.0, 11.0, 13.0]
    with pytest.raises(ArgumentValueError, match=r"expected torch.float32 of shape \(10,\), got .* of shape \(9,\)"):
        compiled.specialisations[0](torch.zeros(20)[5:14], 2)


def test_more_elements_than_a_larger_storage_has() -> None:
    with pytest.raises(errors.UnsupportedOpError, match="aten::resize_ of a part of a larger tensor"):
        import_program(more_elements, (grid(5)[:4],))
