"""Ops that change a tensor object in place: every name of the object sees it, or the program is rejected."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor, nn

from _rejections import rejection
from ssa_compiler import errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def every_name(x: Tensor) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
    y = x.clone()
    other, items, row = y, [y, x], y[1]
    y.t_()
    y += 1
    other[0] = 5
    items[0].unsqueeze_(0).transpose_(0, 1)
    y.squeeze_(1)
    y.swapaxes_(0, 1)
    row *= 2
    return y, other, row, items


def detached_copies_are_other_objects(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * 2
    z = y.detach()
    z.t_()
    z[0] = 1
    z.unsqueeze_(1)
    return y + 0, z + 0, y.squeeze_()[1:] * 2


def flags_of_objects(x: Tensor) -> Tensor:
    y = x.clone().detach()
    y.detach_()
    y.requires_grad_(False)
    y.view(-1)[0] = 3
    return y


def made_inside(x: Tensor, n: int, flag: bool) -> Tensor:
    total = torch.zeros(3, 4)
    for i in range(n):
        y = x + i
        y.t_()
        if flag:
            z = y * 2
            z.t_()
            y = z.t()
        total += y
    return total


def transposed(x: Tensor) -> None:
    x.t_()
    x += 1


def in_a_callee(x: Tensor) -> Tensor:
    y = x.clone()
    transposed(y)
    return y


def test_every_name_sees_it() -> None:
    check(every_name, (grid(),))
    check(detached_copies_are_other_objects, (grid(),))
    check(in_a_callee, (grid(),))


def test_flags() -> None:
    check(flags_of_objects, (grid(),))


def test_objects_of_the_same_block() -> None:
    check(made_inside, (grid(), 2, True), (grid(), 0, True), (grid(), 1, False), (grid(), 3, False))


def an_argument_under_a_branch(x: Tensor, flag: bool, n: int) -> Tensor:
    if n > 2:
        x.t_()
    return x


def under_a_branch(x: Tensor, flag: bool, n: int) -> Tensor:
    y = x[:3].clone()
    if n > 2:
        y.t_()
    return y


def in_a_loop(x: Tensor, flag: bool, n: int) -> Tensor:
    y = x[:3].clone()
    for _ in range(n):
        y.t_()
    return y


def carried_by_a_loop(x: Tensor, flag: bool, n: int) -> Tensor:
    y = x[:3].clone()
    for i in range(n):
        y.t_()
        y = y + i
    return y


def chosen(x: Tensor, flag: bool, n: int) -> Tensor:
    y, z = x[:3].clone(), x[1:] * 2
    v = y if n > 2 else z
    v.t_()
    return y + z


def chosen_before(x: Tensor, flag: bool, n: int) -> Tensor:
    y, z = x[:3].clone(), x[1:] * 2
    items = [y]
    if n > 2:
        items[0] = z
    y.t_()
    return items[0]


def appended_before(x: Tensor, flag: bool, n: int) -> list[Tensor]:
    y = x[:3].clone()
    items = [x[1:] * 2]
    for i in range(n):
        items.append(x[1:] + i)
    items.append(y)
    y.t_()
    return items


def resized(x: Tensor, flag: bool, n: int) -> Tensor:
    return x.clone().resize_(n, 6)


def of_a_view(x: Tensor, flag: bool, n: int) -> Tensor:
    return x.clone().view(-1).detach_()


def wants_gradients(x: Tensor, flag: bool, n: int) -> Tensor:
    return x.clone().requires_grad_(True)


@pytest.mark.parametrize(
    "function",
    [
        an_argument_under_a_branch,
        under_a_branch,
        in_a_loop,
        carried_by_a_loop,
        chosen,
        chosen_before,
        appended_before,
        resized,
        of_a_view,
        wants_gradients,
    ],
)
def test_what_somebody_else_may_see_is_rejected(function) -> None:  # type: ignore[no-untyped-def]
    assert re.search(r"metadata_mutation_test.py:\d+: unsupported: aten::\w+_", rejection(function, (grid(), True, 3)))


class Attribute(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("h", torch.zeros(1, 3))

    def forward(self, x: Tensor) -> Tensor:
        y = x[:1].clone()
        self.h = y
        y.squeeze_(0)
        return y * 2


def test_an_attribute_that_changes_its_shape_is_rejected() -> None:
    with pytest.raises(errors.UnsupportedProgramError, match="changes its shape in place while it is an attribute"):
        import_program(Attribute(), (grid(),))


def reshaped_views(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    turned = a.detach()
    turned.t_()
    deeper = b.view(2, 3)
    deeper.unsqueeze_(0)
    deeper += 1
    kept, same = c.detach(), c[:]
    kept[0] = 5
    c.t_()
    return turned, a, deeper, kept, same, c


def test_another_object_of_the_same_tensor_keeps_its_own_shape() -> None:
    check(reshaped_views, tuple(torch.arange(6.0).view(2, 3) + k for k in range(3)), compiled=True)
    check(reshaped_views, tuple(torch.arange(9.0).view(3, 3)[:2] + k for k in range(3)), compiled=False)


class ReshapedBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.arange(6.0).view(2, 3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        b = self.w.detach()
        b.t_()
        return x + 1, b


def test_another_object_of_a_buffer_keeps_its_own_shape() -> None:
    check(ReshapedBuffer(), (torch.ones(1),), compiled=False)
