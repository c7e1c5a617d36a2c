"""What TorchScript drops or changes while scripting, and eager does: the importer sees all of it
(importer/torchscript/source_rewrite.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.errors import ArgumentTypeError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


def bits() -> Tensor:
    return torch.arange(1, 13).reshape(4, 3)


def through_a_tensor_index(x: Tensor, k: int) -> None:
    x[torch.tensor(k)].add_(1)


def in_a_helper(x: Tensor, k: int) -> int:
    through_a_tensor_index(x, k)
    return k + 1


def to_parts_of_a_temporary(x: Tensor, k: int) -> int:
    i = torch.tensor(k)
    x[i][1] = 7.0
    x[i][0] += 3.0
    x[i][1:].mul_(2.0)
    return k


def as_an_output(x: Tensor, k: int) -> int:
    torch.add(torch.full([3], 1.5), 2.0, out=x[torch.tensor(k)])
    return k


def through_type_as(x: Tensor, k: int) -> int:
    y = x.type_as(x)
    y[k] += 1.0
    return k


def logic(x: Tensor, k: int) -> int:
    y = x[1:]
    y ^= 5
    x[k] &= 6
    x[k, 1:] |= 1
    x[0] **= 2
    return k


def logic_of_a_list(x: Tensor, k: int) -> tuple[list[int], Tensor]:
    numbers = [6, k]
    numbers[0] &= 3
    parts = [x[0], x[k]]
    parts[1] ^= 3
    return numbers, x


@pytest.mark.parametrize(
    ("program", "example"),
    [
        (in_a_helper, grid()),
        (to_parts_of_a_temporary, grid()),
        (as_an_output, grid()),
        (through_type_as, grid()),
        (logic, bits()),
        (logic_of_a_list, bits()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_writes_that_torchscript_drops(program: Callable[..., Any], example: Tensor) -> None:
    """In each of them the graph that TorchScript makes of the program lacks a write."""
    check(program, *((example.clone(), k) for k in (2, 0, 1, 3, -1)))


class Layers(nn.Module):
    """A module with values that can have a name and cannot be printed: modules, lists of modules, None."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3)])
        self.register_buffer("seen", torch.zeros(2))

    def note(self, x: Tensor) -> None:
        self.seen[0] += x.sum()

    def forward(self, x: Tensor) -> Tensor:
        first = self.layers[0]
        y = first(x)
        for layer in self.layers:
            y = layer(y)
        self.note(y)
        x.type_as(y)[1] = 2.0
        return y


def test_a_module_with_dropped_writes() -> None:
    check(Layers(), (grid(),), (grid() + 1,))


def dead_write(x: Tensor, n: int) -> int:
    y = x.clone()
    if n > 3:
        y.expand([2, 4, 3]).mul_(0.5)
    return n


def dead_read(x: Tensor, n: int) -> Tensor:
    row = x[n]  # noqa: F841 - what the test is about
    return x * 2


def dead_value(x: Tensor, n: int) -> int:
    for _ in range(n):
        total = x + torch.zeros(5)  # noqa: F841
    return n


def dead_displays(x: Tensor, n: int) -> int:
    numbers: list[int] = [6 // (n - 5), 1]  # noqa: F841
    if n > 2:
        pair = (2, 6 // (n - 3))  # noqa: F841
    table = {"a": x.size(0) // (n + 1)}  # noqa: F841
    chosen = 6 // (n - 2) if n > 1 else 3  # noqa: F841
    return n


@pytest.mark.parametrize(
    "program", [dead_write, dead_read, dead_value, dead_displays], ids=lambda program: program.__name__
)
def test_dead_code_raises(program: Callable[..., Any]) -> None:
    checked = check(program, *((grid(), n) for n in (0, 5, 3, 2, 1, -1)))
    assert any(checked.errors)


def literals(m: Tensor) -> list[Tensor]:
    z = m.clone()
    z |= True
    w = m.clone()
    w.fill_(False)
    return [m ^ True, m + True, m & False, torch.where(m, True, False), torch.full([2], True), z, w, torch.full([2], 1)]


def flags(m: Tensor, flag: bool) -> list[Tensor]:
    z = m.clone()
    z &= flag
    return [m ^ flag, m * flag, torch.where(m, flag, False), torch.full([2], flag), z]


def numbers(x: Tensor, flag: bool) -> tuple[Tensor, Tensor, float]:
    return x + True, x * flag, 2.5 + int(flag) + True


def test_bools_stay_bools() -> None:
    mask = torch.tensor([True, False, True])
    check(literals, (mask,), (~mask,))
    check(flags, (mask, True), (mask, False))
    check(numbers, (grid(), True), (grid(), False))


def bool_minus(m: Tensor) -> Tensor:
    return m - True


def test_what_eager_rejects_for_bools_raises() -> None:
    checked = check(dead_bool_minus, (torch.tensor([True]), 1), (torch.tensor([True]), 0))
    assert [error is not None for error in checked.errors] == [True, False]


def dead_bool_minus(m: Tensor, n: int) -> int:
    if n > 0:
        bool_minus(m)
    return n


def test_the_users_own_scripting_is_not_touched() -> None:
    import_program(in_a_helper, (grid(), 1))
    assert "prim::Print" not in str(torch.jit.script(in_a_helper).graph)
    before = torch.jit.script(through_type_as)
    import_program(through_type_as, (grid(), 1))
    assert torch.jit.script(through_type_as).graph is not None
    assert str(before.graph) == str(torch.jit.script(through_type_as).graph)


@torch.jit.script
def scripted_by_the_user(x: Tensor, k: int) -> int:
    x[torch.tensor(k)].add_(1)
    return k


def test_a_script_function_is_imported_from_its_source() -> None:
    """TorchScript's graph of it is empty; what its source says is what eager does."""
    assert "add_" not in str(scripted_by_the_user.graph)
    assert "add_" in import_program(scripted_by_the_user, (grid(), 1)).module


def test_overloaded_functions_of_torch_compile_again_and_again() -> None:
    """TorchScript forgets the declarations of `interpolate` once it has compiled them."""
    for scale in (2, 3):
        model = torch.nn.Upsample(scale_factor=scale, mode="nearest")
        x = torch.randn(1, 1, 3, 3)
        assert torch.equal(ssa_compiler.compile(model, (x,))(x), model(x))
        assert torch.equal(torch.jit.script(model)(x), model(x))


def norms_of_modules_and_tensors(x: Tensor) -> list[Tensor]:
    return [torch.linalg.norm(x, None, 1), x.norm(dim=1), torch.norm(x, dim=0)]


def test_functions_of_modules_are_no_methods() -> None:
    """`x.norm(dim=1)`, which TorchScript does not know, is written as a function; `torch.linalg.norm` is one."""
    check(norms_of_modules_and_tensors, (grid(),), compiled=False)


def names_of_dtypes(x: Tensor) -> list[Tensor]:
    chosen = (x > 1).bool()
    same = chosen.bool()
    same[0] = True  # the tensor itself, as it has that dtype
    return [chosen, x.bfloat16() + 1, x.half(), x.int().short(), x.cfloat().real]


def scaled(x, k=2, eps=1e-5, flag=True, mode="times", mask=None):  # type: ignore[no-untyped-def]
    if mask is not None:
        x = x * mask
    return x * k + eps if mode == "times" and flag else x - k


def with_defaults(x: Tensor, k: int) -> list[Tensor]:
    return [scaled(x), scaled(x, k, flag=False), scaled(x, eps=-0.5, mask=x), scaled(x, mode="minus")]


def test_methods_named_after_dtypes_convert() -> None:
    check(names_of_dtypes, (torch.tensor([0.0, 1.5, -2.5]),), compiled=False)


def test_parameters_have_the_types_of_their_defaults() -> None:
    check(with_defaults, *((torch.tensor([1.0, -2.0]), k) for k in (0, 3)), compiled=False)
    check(scaled, (torch.ones(2), 3), (torch.ones(2), -1), compiled=False)
    with pytest.raises(ArgumentTypeError, match="argument 'k': expected int, got float"):
        ssa_compiler.compile(scaled, (torch.ones(2), 2.5))
