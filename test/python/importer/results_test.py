"""Results that are None or a value at run time, and functions that return from inside loops."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.abi.results import build_result, output_leaves
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def none_or_not(x: Tensor, n: int) -> tuple[Tensor, Tensor | None, int | None]:
    last: Tensor | None = None
    found: int | None = None
    for i in range(n):
        x[i] += 1
        if bool(x[i, 0] > 3):
            last = x[i] * 2
            found = i
    return x, last, found


def argument_or_none(x: Tensor, wanted: bool) -> Tensor | None:
    x += 1
    return x if wanted else None


def return_from_a_nested_loop(x: Tensor, n: int):
    y = x.clone()
    while True:
        y[0] += 1
        if float(y[0, 0]) > n:
            return y
        for j in range(n):
            y[1, 0] += 1
            if j == 3:
                return y * 2


def break_and_return(x: Tensor, n: int):
    while True:
        x[0] += 1
        if n == 7:
            break
        if float(x[0, 0]) > n:
            return x * 2


def test_results_that_are_none_or_not() -> None:
    check(none_or_not, (grid(), 0), (grid(), 4), (grid(), 1), (grid(), 2), (grid() + 5, 1))


def test_a_result_that_is_an_argument_or_none() -> None:
    check(argument_or_none, (grid(), True), (grid(), False), (grid(), True))


def test_returns_inside_loops() -> None:
    check(return_from_a_nested_loop, (grid(), 5), (grid(), 0), (grid(), 2), (grid(), 1))
    check(break_and_return, (grid(), 2), (grid(), 7), (grid(), 0))


def data_is_an_alias(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    x.data.mul_(2)
    row = x[0].data
    for i in range(n):
        row += 1
        x.data[i] = x.data[i] + row
    return x.data * 2, row


def test_data_is_an_alias() -> None:
    check(data_is_an_alias, (grid(), 2), (grid(), 0), (grid(), 1))


def pair_from_a_loop(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor] | None:
    """Both elements are chosen by one number, which the loop carries for each of them."""
    for _ in range(3):
        if k == 0:
            return x, x
    v = x.data
    v.copy_(y)
    return None


def test_a_pair_returned_from_a_loop():
    check(pair_from_a_loop, (grid(), grid() * 2, 0), (grid(), grid() * 2, 1))


def shapes(x: Tensor, m: Tensor):
    """Lists to TorchScript, as what `list` makes of them is to Python."""
    return x.shape, x.size()[1:], list(x.shape), {"chosen": (x[m].shape, [x.shape])}


def chosen_shape(x: Tensor, n: int):
    """A shape that a branch chooses, another after a loop, and one put together."""
    s = x.shape
    if n > 1:
        s = x[1:].shape
    for _ in range(n):
        x = torch.cat([x, x])
    return s, x.shape, s[:1] + x.shape[1:]


def test_shapes_are_no_lists() -> None:
    check(chosen_shape, *[(grid(), n) for n in (0, 1, 2)])
    check(shapes, *[(grid(), torch.arange(grid().size(0)) < k) for k in (1, 0, 3)])


def tuples_of_ops(x: Tensor, n: int):
    largest = x.max(0)
    for i in range(n):
        largest = (x * i).max(0)
    values, indices = x.sort(0)
    x.add_(largest.values)
    return largest, [x.aminmax(), x.median(0)], {"n": x.topk(1)}, largest[:1], (values, indices)


def one_of_two(x: Tensor, smallest: bool):
    if smallest:
        return x.min(0)
    return x.max(0)


def one_of_two_for_its_values(x: Tensor):
    found = x.min(0) if bool(x[0, 0] > 0) else x.max(0)
    return found.values + 1


def test_tuples_have_the_classes_of_their_ops() -> None:
    check(tuples_of_ops, *[(grid(), n) for n in (0, 1, 2)], compiled=False)
    program = import_program(tuples_of_ops, (grid(), 2))
    expected = tuples_of_ops(grid(), 2)
    count = max(leaf.index for leaf in output_leaves(program.results)) + 1
    made = build_result(program.results, [grid()] * count)
    for part in (
        lambda r: r[0],
        lambda r: r[1][0],
        lambda r: r[1][1],
        lambda r: r[2]["n"],
        lambda r: r[3],
        lambda r: r[4],
    ):
        assert type(part(made)) is type(part(expected))
    assert made[2]["n"].values is not None
    check(one_of_two, (grid(), True), compiled=False)
    check(one_of_two_for_its_values, (grid(),), (grid() + 1,), compiled=False)


def parts_of_ops(x: Tensor):
    return x.split(1, 1), (x.unbind(0), list(x.chunk(2))), [torch.tensor_split(x, 2)], torch.where(x > 1)


def test_lists_of_an_op_are_tuples() -> None:
    """What TorchScript calls a list; one that the program makes itself is a list."""
    check(parts_of_ops, (grid(),), (grid() - 1,), compiled=False)


def found_early(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        if i > 2:
            return x
        x += 1
    return x


def returned_early(x: Tensor, y: Tensor, n: int) -> Tensor:
    for i in range(n):
        if i > 3:
            return y
        if i > 2:
            return x
        x += 1
    return x


class Stopped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, n: int) -> Tensor:
        for i in range(n):
            self.mean += i
            if i == 3:
                return self.mean
        return self.mean


def test_a_return_from_a_loop_keeps_the_object() -> None:
    check(found_early, *[(torch.zeros(2), n) for n in (0, 1, 3, 4, 6)], compiled=False)
    check(returned_early, *[(torch.zeros(2), torch.ones(2), n) for n in (0, 2, 4, 5)], compiled=False)
    module = Stopped()
    compiled, stopped = ssa_compiler.compile(found_early, (torch.zeros(2), 2)), ssa_compiler.compile(module, (2,))
    for n in (0, 1, 4, 6):
        x = torch.zeros(2)
        assert compiled(x, n) is x
        assert stopped(n) is module.mean


def strides(x: Tensor) -> tuple[list[int], list[int], int]:
    return x.stride(), list(x.t().stride()), x.stride(1)


def test_strides_are_a_tuple() -> None:
    check(strides, (torch.zeros(2, 3),), compiled=False)
