"""bool arguments: dynamic where the program can do with that, constants with a reason where it cannot."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ssa_compiler import errors
from ssa_compiler.abi.argument_specs import ConstantSpec, ScalarSpec
from ssa_compiler.importer import import_program
from ssa_compiler.testing import Call, check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def write_under_a_flag(a: Tensor, flag: bool) -> Tensor:
    row = a[1]
    if flag:
        row += 1
    return a.sum() + row


def flags_in_a_loop(a: Tensor, n: int, flag: bool, flags: list[bool]) -> tuple[Tensor, bool]:
    for i in range(n):
        if flags[0] and i > 1:
            a[i] *= 2
        flag = not flag
        if flag and flags[1]:
            break
        a[i] += 1
    return a.clone(), flag


def flags_of_ops(a: Tensor, down: bool, whole: bool = False) -> tuple[Tensor, Tensor, Tensor, bool]:
    order = torch.sort(a, 0, descending=down)[0]
    a.index_put_([torch.tensor([0, 0])], torch.ones(3), accumulate=down)
    return order, torch.std(a, 0, unbiased=whole), a * down + 2.5 * whole, down and not whole


def flags_in_tensors(a: Tensor, flag: bool) -> tuple[Tensor, Tensor, Tensor]:
    mask = a > 3
    mask[0] = flag
    return mask, torch.full([2], flag, dtype=torch.bool), torch.tensor([flag, not flag])


def raise_under_a_flag(a: Tensor, flag: bool) -> Tensor:
    a += 1
    if flag:
        raise ValueError("not this")
    return a * 2


def test_one_artefact_takes_both_values() -> None:
    check(write_under_a_flag, (grid(), True), (grid(), False), (grid(), True))
    check(write_under_a_flag, (grid(), False), (grid(), True))


def test_flags_decide_in_loops() -> None:
    sets = [(grid(), 3, True, [True, True]), (grid(), 0, False, [True, False]), (grid(), 1, True, [False, False])]
    sets += [(grid(), 2, False, [True, True]), (grid(), 4, False, [True, False])]
    check(flags_in_a_loop, *sets)


def test_ops_take_flags() -> None:
    check(flags_of_ops, Call(grid(), True), Call(grid(), False, True), Call(grid(), down=True, whole=True))
    check(flags_in_tensors, (grid(), False), (grid(), True))


def test_raising_depends_on_the_flag() -> None:
    checked = check(raise_under_a_flag, (grid(), False), (grid(), True))
    assert isinstance(checked.errors[1], ValueError)


def rank(a: Tensor, keep: bool, double: bool) -> Tensor:
    if double:
        a = a * 2
    return a.sum(0, keepdim=keep)


def one_key_or_two(a: Tensor, wanted: bool, unused: bool) -> dict[str, Tensor]:
    a.add_(1)
    parts = {"a": a * 2}
    if wanted:
        parts["b"] = a + 1
    return parts


def dtype(a: Tensor, flag: bool) -> Tensor:
    mask = a > 3
    return mask.to(torch.int32) if flag else mask


@pytest.mark.parametrize(
    ("function", "arguments", "constants"),
    [
        (rank, (True, True), {"keep": "a variable that is a f32 tensor of shape"}),
        (rank, (False, False), {"keep": "a variable that is a f32 tensor of shape"}),
        (one_key_or_two, (True, True), {}),
        (dtype, (True,), {"flag": "a variable that is a si32 tensor"}),
        (dtype, (False,), {"flag": "a variable that is a si32 tensor"}),
    ],
)
def test_as_few_constants_as_will_do(function, arguments: tuple[bool, ...], constants: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    program = import_program(function, (grid(), *arguments))
    found = {spec.path: spec.reason for spec in program.constant_specs()}
    assert set(found) == set(constants)
    for name, reason in constants.items():
        assert reason in found[name]
        assert "flags_test.py:" in found[name], "the reason has the user's line"
    dynamic = [spec for spec in program.leaf_specs() if isinstance(spec, ScalarSpec)]
    assert len(dynamic) + len(found) == len(arguments)
    check(function, (grid(), *arguments), compiled=False)


def test_constants_are_explained_and_checked() -> None:
    checked = check(rank, (grid(), True, False), (grid(), True, True))
    (line,) = checked.compiled.explain().specialised
    assert line.startswith("keep=True: ")
    assert "specialised on keep=True" in str(checked.compiled.explain())
    with pytest.raises(
        errors.ArgumentValueError, match=r"'keep': the program was compiled for True.*had to be a constant"
    ):
        checked.compiled(grid(), False, True)


def test_a_flag_stays_dynamic_where_the_untaken_branch_is_unused() -> None:
    program = import_program(write_under_a_flag, (grid(), False))
    assert not [spec for spec in program.leaf_specs() if isinstance(spec, ConstantSpec)]
    assert program.written == {0}


def rejected_in_one_branch(a: Tensor, flag: bool) -> Tensor:
    if flag:
        a.set_(a * 2)
    return a + 1


def test_what_a_constant_flag_does_not_reach_is_not_rejected() -> None:
    program = import_program(rejected_in_one_branch, (grid(), False))
    assert [(spec.path, spec.value) for spec in program.constant_specs()] == [("flag", False)]
    with pytest.raises(errors.UnsupportedOpError, match="set_"):
        import_program(rejected_in_one_branch, (grid(), True))


def number_from_a_flag(a: Tensor, flag: bool) -> Tensor:
    return (a > 3) + flag


def test_a_bool_that_torchscript_makes_a_number() -> None:
    check(number_from_a_flag, (grid(), True), (grid(), False))


def subtract_a_flag(z: Tensor, flags: Tensor, b: bool, n: int) -> Tensor:
    if n == 0:
        z = z - b
    elif n == 1:
        z -= True
    elif n == 2:
        z = z.sub(n > 1)
    elif n == 3:
        z = torch.rsub(z, b)
    elif n == 4:
        z = z - flags[0].item()
    elif n == 5:
        z = torch.add(z, z, alpha=b)
    elif n == 6:
        z = z - int(b) - flags.sum().item()
    elif n == 7:
        z = z * b + True
    return z


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_ops_that_take_ints_and_no_bools(dtype: torch.dtype) -> None:
    calls = [(torch.ones(2, dtype=dtype), torch.tensor([True, False]), True, n) for n in range(9)]
    checked = check(subtract_a_flag, *calls, compiled=False)
    assert [error is not None for error in checked.errors] == [True] * 6 + [False] * 3
