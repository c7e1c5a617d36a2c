"""Writes: operators of the user's own, operators on lists, dtypes that do not fit, and all in-place operators of
PyTorch.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from _mutation_table import _call, _name, fate, in_place_schemas, list_schemas, listed, load, source_of
from ssa_compiler import compile
from ssa_compiler.errors import ProgramError, SsaCompilerError, UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.testing import check


def _numbers() -> Tensor:
    return torch.arange(12.0).reshape(4, 3)


# Operators of the user's own

_LIBRARY = torch.library.Library("writes_coverage", "DEF")
_LIBRARY.define("scale(Tensor(a!) x, float by) -> ()")
_LIBRARY.define("both(Tensor(a!) x, Tensor y, *, Tensor(b!) z) -> Tensor")
_LIBRARY.define("bump_(Tensor(a!) x, int n=3) -> Tensor(a!)")
_LIBRARY.define("each(Tensor(a!)[] xs, Tensor y) -> ()")


def _scale(x: Tensor, by: float) -> None:
    x.mul_(by).add_(1)


def _both(x: Tensor, y: Tensor, *, z: Tensor) -> Tensor:
    x.add_(y)
    z.copy_(x * 2)
    return x.sum()


def _bump(x: Tensor, n: int = 3) -> Tensor:
    x += n
    return x


def _each(xs: list[Tensor], y: Tensor) -> None:
    for number, x in enumerate(xs):
        x.add_(y * number)


_LIBRARY.impl("scale", _scale, "CompositeExplicitAutograd")
_LIBRARY.impl("both", _both, "CPU")
_LIBRARY.impl("both", lambda x, y, *, z: x.new_empty([]), "Meta")
_LIBRARY.impl("bump_", _bump, "CPU")  # no kernel for FakeTensors: what it writes keeps its shape
_LIBRARY.impl("each", _each, "CPU")


@torch.library.custom_op("writes_coverage::noise", mutates_args=("x",))
def _noise(x: Tensor, k: int) -> None:
    """Draws random numbers, which nothing says."""
    x[0] = torch.rand(x.shape[1:]) * k


def custom_view(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    torch.ops.writes_coverage.scale(y[1], 2.0)
    return y, y * 2


def custom_two(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x.clone()
    z = torch.zeros(3)
    s = torch.ops.writes_coverage.both(y[1], x[0], z=z)
    return y, z, s


def custom_result(x: Tensor) -> Tensor:
    y = x.clone()
    r = torch.ops.writes_coverage.bump_(y, 2)
    r += 1
    torch.ops.writes_coverage.bump_(y[0])
    return y


def custom_list(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    parts = [y[0], y[2]]
    torch.ops.writes_coverage.each(parts, x[1])
    return y, parts[1] * 2


def custom_random(x: Tensor) -> tuple[Tensor, Tensor]:
    y, z = x.clone(), x.clone()
    torch.ops.writes_coverage.noise(y, 4)
    torch.ops.writes_coverage.noise(z, 4)
    return y, z


def custom_argument(x: Tensor, c: bool, n: int) -> Tensor:
    torch.ops.writes_coverage.scale(x[1], 2.0)
    for i in range(n):
        if c:
            torch.ops.writes_coverage.both(x[1], x[0].clone(), z=x[2])
        torch.ops.writes_coverage.bump_(x[i], i)
    return x.sum()


def diagonals(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[:, i:].fill_diagonal_(float(i))
    y.t()[1:].fill_diagonal_(7.0)
    y.fill_diagonal_(2.0, wrap=True)
    return y


@pytest.mark.parametrize("program", [custom_view, custom_two, custom_result, custom_list, custom_random])
def test_operators_of_the_user(program: Callable[..., Any]) -> None:
    check(program, (_numbers(),))


def test_operators_of_the_user_in_loops_and_branches() -> None:
    check(custom_argument, (_numbers(), True, 3), (_numbers(), False, 2), (_numbers(), True, 0))


def test_in_place_without_functional_form() -> None:
    checked = check(diagonals, (_numbers(), 3), (_numbers(), 0))
    assert checked.count_ops("imported", "torch.aten.fill_diagonal_") == 3
    assert checked.stages["tensorssa"].count('"torch.functionalized.aten.fill_diagonal_"') == 3


def test_the_callback_is_explained() -> None:
    explained = str(compile(custom_view, (_numbers(),)).explain())
    assert "writes_coverage" in explained
    assert "writes in place" in explained


def custom_overlap(x: Tensor) -> Tensor:
    y = x.clone()
    parts = [y, y[2]]
    torch.ops.writes_coverage.each(parts, x[1])
    return parts[0]


def custom_dropped(x: Tensor) -> Tensor:
    y = x.clone()
    torch.ops.writes_coverage.each([y[0], y[1]], x[1])
    return y


def foreach_dropped(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x[0].clone(), x[1].clone()
    torch._foreach_add_([a, b], 1.0)
    return a, b


def other_storage(x: Tensor) -> Tensor:
    y = x.clone()
    torch.ops.aten.set_data(y, x)
    y.add_(1)
    return y


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (custom_overlap, "overlaps the one it writes"),
        (other_storage, "storage"),
    ],
)
def test_rejected(program: Callable[..., Any], reason: str) -> None:
    with pytest.raises((UnsupportedOpError, UnsupportedProgramError), match=reason) as caught:
        check(program, (_numbers(),), compiled=False)
    assert f"{Path(__file__).name}:" in str(caught.value)


def foreach_kept(x: Tensor) -> list[Tensor]:
    parts = [x[0].clone(), x[1]]
    torch._foreach_add_(parts, 1.0)
    torch._foreach_mul_(parts, [x[2], x[3]])
    torch._foreach_maximum_(parts, 4.0)
    return parts


def test_operators_on_lists_compile() -> None:
    check(foreach_kept, (_numbers(),))
    check(foreach_dropped, (_numbers(),))
    check(custom_dropped, (_numbers(),))


# Dtypes that do not fit


def _is_sampled(schema: Any, part: int) -> bool:
    """Whether an operator is in the part of 1/`part` that is tried here; docs/Mutation.md was made of all."""
    return zlib.crc32(_name(schema).encode()) % part == 0


def _converted(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.to(dtype)
    return value + 0.5 if type(value) is int and dtype.is_floating_point else value


@pytest.mark.parametrize("schema", [s for s in in_place_schemas() if _is_sampled(s, 4)], ids=_name)
@pytest.mark.parametrize("dtypes", [(torch.int64, torch.float32), (torch.float32, torch.float64)], ids=str)
def test_dtypes_of_operands(schema: Any, dtypes: tuple[torch.dtype, torch.dtype], tmp_path: Path) -> None:
    """What eager converts is converted; what it cannot store into the written tensor raises, or is rejected."""
    torch.set_num_threads(1)
    found = _call(schema)
    if found is None or not isinstance(found[0][0], Tensor):
        return
    own, others = dtypes
    positional = [_converted(found[0][0].float(), own), *(_converted(value, others) for value in found[0][1:])]
    text, arguments = source_of(schema, positional, found[1])
    program = load(text, tmp_path, _name(schema))
    raises = _raises(program, arguments)
    try:
        checked = check(program, tuple(arguments), compiled=False)
    except ProgramError:
        assert raises, text
    except SsaCompilerError:
        pass
    else:
        assert (checked.errors[0] is not None) == raises


def _raises(program: Callable[..., Any], arguments: list[Tensor]) -> bool:
    with torch.random.fork_rng(devices=[]):
        try:
            program(*(argument.clone() for argument in arguments))
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
            return True
    return False


def int_plus_float(x: Tensor) -> Tensor:
    z = x.clone()
    z += 1.5
    return z


def bool_plus_int(x: Tensor) -> Tensor:
    z = x > 4
    z.add_(2)
    return z


def int_lerp(x: Tensor, y: Tensor) -> Tensor:
    z = x.clone()
    z.addcmul_(x, y)
    return z


def scatter_other(x: Tensor, y: Tensor) -> Tensor:
    z = x.clone()
    return z.scatter_add_(0, torch.zeros(1, 3, dtype=torch.long), y)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (int_plus_float, (_numbers().long(),)),
        (bool_plus_int, (_numbers(),)),
        (int_lerp, (_numbers().long(), _numbers())),
        (scatter_other, (_numbers().long(), _numbers())),
    ],
)
def test_results_that_do_not_fit_raise(program: Callable[..., Any], arguments: tuple[Tensor, ...]) -> None:
    with pytest.raises(RuntimeError) as eager:
        program(*arguments)
    with pytest.raises(ProgramError) as ours:
        check(program, arguments, compiled=False)
    assert str(eager.value).splitlines()[0] in str(ours.value)


# All in-place operators of PyTorch


_SAMPLED = [s for s in (*in_place_schemas(), *list_schemas()) if _is_sampled(s, 5) and _name(s) in listed()]


@pytest.mark.parametrize("schema", _SAMPLED, ids=_name)
def test_what_becomes_of_a_write(schema: Any, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    assert fate(schema, tmp_path) == listed()[_name(schema)]
