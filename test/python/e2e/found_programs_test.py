"""Programs that the fuzzer found to be wrong, or that lie next to one, as small as they get."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.testing import check

ROWS = torch.arange(12, dtype=torch.float32).reshape(4, 3) + 1


# --- names that are one of several tensors, some of them made in the region -------------------------------------------


def swap_in_branch(x: Tensor, flag: bool, n: int) -> Tensor:
    v = x.T
    if flag:
        t = torch.full([3, 4], 1.5)
        for i in range(n):
            v, t = t, v
            v.sub_(i + 1)
    return v


def swap_in_nested_loop(x: Tensor, n: int) -> Tensor:
    v = x
    for _ in range(n):
        t = -v
        for _ in range(n):
            x, t = t, x
            x *= -0.5
    return x


def swap_in_while(x: Tensor, n: int) -> Tensor:
    a = x
    k = 0
    while k < n:
        t = a * 2
        j = 0
        while j < k:
            a, t = t, a
            a += 1
            j += 1
        k += 1
    a[0] = 5
    return a


def swap_in_both_branches(x: Tensor, flag: bool, n: int) -> Tensor:
    a = x
    if flag:
        t = x + 1
        for _ in range(n):
            a, t = t, a
            a *= 2
    else:
        t = x - 1
        for _ in range(n):
            t, a = a, t
            t *= 3
    a += 1
    return a


def rotate_three(x: Tensor, n: int) -> Tensor:
    a = x[0]
    for _ in range(2):
        b = x[1] * 2
        c = x[2]
        for _ in range(n):
            a, b, c = b, c, a
            a += 1
    return a


def branch_in_branch(x: Tensor, flag: bool, n: int) -> Tensor:
    a = x
    if flag:
        t = x + 1
        u = t if n > 1 else x
        u += 1
        a = u
    a *= 2
    return a


def branch_in_loop(x: Tensor, n: int) -> Tensor:
    a = x[0]
    for i in range(n):
        t = torch.zeros_like(x)
        u = a if i % 2 == 0 else t[i]
        u += 1
        a = u
    a += 1
    return a


def swap_or_not(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    a = x
    b = x * 2
    for i in range(n):
        if i % 2 == 0:
            a, b = b, a
        a = a + b
        b[i % 4] += 1
    return a, b


FLAGS = [(ROWS, True, 3), (ROWS, True, 2), (ROWS, False, 1), (ROWS, True, 0), (ROWS, False, 2)]
COUNTS = [(ROWS, 1), (ROWS, 2), (ROWS, 3), (ROWS, 0)]


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (swap_in_branch, FLAGS),
        (swap_in_nested_loop, COUNTS),
        (swap_in_while, COUNTS),
        (swap_in_both_branches, FLAGS),
        (rotate_three, COUNTS),
        (branch_in_branch, FLAGS),
        (branch_in_loop, COUNTS),
        (swap_or_not, COUNTS),
    ],
)
def test_what_a_region_made_leaves_as_a_choice(program, calls):
    check(program, *calls, compiled=program in (swap_in_branch, swap_in_nested_loop))


def leaves_under_two_names(x: Tensor, flag: bool, n: int) -> tuple[Tensor, Tensor]:
    a = x
    b = x
    if flag:
        t = x + 1
        u = t if n > 1 else x
        a = u
        b = t
    a *= 2
    return a, b


def test_a_tensor_that_leaves_under_two_names_is_rejected():
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="one of several tensors"):
        check(leaves_under_two_names, *FLAGS, compiled=False)


def other_branch_is_read(x: Tensor, flag: bool) -> tuple[Tensor, Tensor, Tensor]:
    y = x * 2
    z = x * 3
    a, b = (y, z) if flag else (z, y)
    a += 1
    w = b * 2
    b += 1
    return w, y, z


def flows_on(x: Tensor, n: int, flag: bool) -> Tensor:
    a = x
    b = x * 2
    for _ in range(n):
        a, b = b, a
        a += 1
    q = a if flag else x * 2
    return q * 1


def test_choices_draw_in_other_names():
    check(other_branch_is_read, (ROWS, True), (ROWS, False), compiled=False)
    check(flows_on, (ROWS, 1, True), (ROWS, 2, True), (ROWS, 3, False), (ROWS, 0, True), compiled=False)


# --- results that are one tensor --------------------------------------------------------------------------------------


def view_twice(x: Tensor) -> tuple[Tensor, Tensor]:
    v = x[:, 1]
    return v, v


def test_a_view_that_is_returned_twice_is_one_tensor():
    compiled = check(view_twice, (ROWS,)).compiled
    first, second = compiled(ROWS.clone())
    assert first is second


def one_of_two(x: Tensor, flag: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    y = x * 2
    z = x * 3
    a, b = (y, z) if flag else (z, y)
    a[0] = 1
    return a, b, y, z


def test_a_result_that_is_another_one_in_some_runs_is_a_copy():
    checked = check(one_of_two, (ROWS, True), (ROWS, False), compiled=False)
    assert "tssa.may_same_as = [0, 1]" in checked.stages["tensorssa"]


def one_of_two_under_another_name(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """`w` is another tensor object of the memory of `y`; both results may be one copy."""
    y = x.clone()
    w = y.squeeze()
    if n == 1:
        return w, w
    return x * 2, w


def test_a_copy_under_another_name_carries_the_mark_of_the_copy():
    checked = check(one_of_two_under_another_name, (ROWS, 1), (ROWS, 0))
    assert "tssa.may_same_as = [0]" in checked.stages["tensorssa"]


def detached(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    y = x.detach()
    y += 1
    return y, x, y, x.data


def test_a_detached_argument_is_another_object_of_the_same_memory():
    compiled = check(detached, (ROWS,)).compiled
    x = ROWS.clone()
    y, same, again, data = compiled(x)
    assert same is x
    assert y is again
    assert len({id(x), id(y), id(data)}) == 3
    assert x.data_ptr() == y.data_ptr() == data.data_ptr()


class Swapped(torch.nn.Module):
    """Returns its buffer, and a tensor that is the buffer in some runs."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", ROWS.clone())

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
        a = x.clone()
        b = self.state
        for _ in range(n):
            a, b = b, a
            a += 1
        return a, b, self.state


def test_a_result_that_is_a_buffer_in_some_runs_is_a_copy():
    check(Swapped(), (ROWS, 1), (ROWS, 2), (ROWS, 0), compiled=False)


class Weight(torch.nn.Module):
    """Returns its parameter without gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(ROWS.clone())

    def forward(self, x: Tensor) -> Tensor:
        x += 1
        return self.weight.detach()


def test_a_detached_parameter_requires_no_gradient():
    module = Weight()
    result = ssa_compiler.compile(module, (ROWS.clone(),))(ROWS.clone())
    assert not result.requires_grad
    assert result.data_ptr() == module.weight.data_ptr()


class Assigned(torch.nn.Module):
    """Assigns its buffer, and returns what that held before, or an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", ROWS.clone())

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor]:
        before = self.state
        for _ in range(n):
            self.state = x * 2
        if n > 1:
            return before, before
        return x, x


def test_what_an_attribute_held_before_is_returned_as_a_copy():
    check(Assigned(), (ROWS, 1), (ROWS, 2), (ROWS, 0), (ROWS, 3))


# --- a number is all that an op needs ---------------------------------------------------------------------------------


def scaled_in_a_loop(x: Tensor, a: float, k: int, n: int) -> Tensor:
    for _ in range(n):
        x = x * a
    return x


def divided_in_place(x: Tensor, a: float, k: int, n: int) -> Tensor:
    while n > 0:
        x.div_(k)
        n -= 1
    return x


@pytest.mark.parametrize("program", [scaled_in_a_loop, divided_in_place])
def test_ops_with_a_number_only(program: Callable[..., Tensor]) -> None:
    check(program, *[(ROWS, 1.5, 2, n) for n in (2, 0, 1, 5)])


# --- a loop's path out makes a list that no other path has ------------------------------------------------------------


def list_returned_in_a_loop(n: int, a: int) -> tuple[list[int], int]:
    for i in range(n):
        if i >= 2:
            return [a, i], i
    return [5, n], n


def tensors_returned_in_a_loop(n: int, a: int) -> tuple[dict[str, list[Tensor]], tuple[list[float], int]]:
    ones = torch.ones(2)
    i = 0
    while i < 4:
        if i > n:
            return {"a": [ones * i]}, ([float(a), 1.0], i)
        i += 1
        if i == 3 and n == 3:
            return {"a": [ones - a]}, ([0.5, float(i)], a)
    return {"a": [ones]}, ([1.0, float(n)], n)


@pytest.mark.parametrize("program", [list_returned_in_a_loop, tensors_returned_in_a_loop])
def test_containers_made_on_the_way_out_of_a_loop(program: Callable[..., object]) -> None:
    check(program, *[(n, a) for n in (3, 0, 1, 2, 5) for a in (7, -1)])


def zero_that_changes_its_sign(n: int, flag: bool) -> tuple[float, float]:
    a = 0.0
    for _ in range(n):
        a = a / -0.5
    b = 0.0
    if flag:
        b = -0.0
    return a, b


def test_zeros_of_two_signs_are_two_constants() -> None:
    """What a loop or branch makes of 0.0 was taken for the same constant."""
    check(zero_that_changes_its_sign, *((n, flag) for n in (1, 0, 2, 3) for flag in (True, False)), exact=True)


def another_object_of_the_same_tensor(z: Tensor, n: int) -> Tensor:
    v = z.view_as(z)
    for _ in range(n):
        for _ in range(n):
            v = z.reshape(3, 3)
    return v + 1


def test_loops_that_make_other_objects_of_a_tensor() -> None:
    z = torch.arange(9.0).reshape(3, 3)
    checked = check(another_object_of_the_same_tensor, (z, 2), (z, 0), (z, 1))
    assert checked.errors == [None] * 3
