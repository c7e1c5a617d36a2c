"""Questions about TorchScript and about types, which have eager's answers; functions that are unused only by
TorchScript.
"""

from typing import Dict, List, Optional, Tuple, Union  # noqa: UP035 - as TorchScript reads them

import pytest
import torch
import torch.jit as jit
from torch import Tensor, nn
from torch.jit import is_scripting  # type: ignore[attr-defined]

from ssa_compiler import ProgramError, ScriptError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.ones(2)


def asks(x: Tensor, n: int) -> Tuple[Tensor, int, bool]:  # noqa: UP006
    if torch.jit.is_scripting():
        x = x + 100
    if not torch.jit.is_scripting() and x.dim() == 1:
        x = x * 2
    if is_scripting() or n > 2:
        x = x + 3
    flag = torch.jit.is_scripting()
    return x, 1 if jit.is_scripting() else 2, flag


def test_eager_is_not_scripting() -> None:
    check(asks, (X, 1), (X, 3), compiled=False)


@torch.jit.script
def scripted(x: Tensor) -> Tensor:
    if torch.jit.is_scripting():
        return x + 1
    return x


def calls_scripted(x: Tensor) -> Tensor:
    return scripted(x) * 2


def test_what_is_scripted_in_eager_is_scripting() -> None:
    check(scripted, (X,), compiled=False)
    check(calls_scripted, (X,), compiled=False)


def of_eager_only(x: Tensor) -> Tensor:
    if not torch.jit.is_scripting():
        x = x + len(frozenset([1, 2]))
    return x


def test_what_torchscript_is_not_to_see_is_rejected() -> None:
    with pytest.raises(ScriptError, match=r"as_eager_test\.py"):
        import_program(of_eager_only, (X,))


@torch.jit.unused
def unused_function(x: Tensor, n: int) -> Tensor:
    return x.clone() + n


class Unused(nn.Module):
    @torch.jit.unused
    def never(self, x: Tensor) -> Tensor:
        return x * 100

    @torch.jit.unused
    def both(self, x: Tensor, k: int) -> Tuple[Tensor, int]:  # noqa: UP006
        return x + k, k + 1

    def forward(self, x: Tensor, n: int) -> Tensor:
        if n == 5:
            return self.never(x)
        y, k = self.both(x, n)
        return unused_function(y, n) * k


def test_unused_functions_run_as_in_eager() -> None:
    check(Unused(), (X, 1), (X, 5), compiled=False)


def is_list(x: Union[int, List[int]]) -> int:  # noqa: UP006,UP007
    if isinstance(x, list):
        return 2
    return 7


def is_tuple(x: Union[Tensor, Tuple[int, int], Dict[str, int]]) -> int:  # noqa: UP006,UP007
    if isinstance(x, tuple):
        return 3
    return 7


def kinds(x: List[int], y: Tuple[int, int], z: Optional[List[int]]) -> Tuple[bool, bool, bool, bool]:  # noqa: UP006,UP045
    return isinstance(x, list), isinstance(y, (list, float)), isinstance(x, (list, tuple)), isinstance(z, list)


def test_any_list_is_a_list() -> None:
    for listed in (1, [1], []):
        check(is_list, (listed,), compiled=False)
    for several in (X, (1, 2), {"a": 1}):
        check(is_tuple, (several,), compiled=False)
    for optional in ([1], None):
        check(kinds, ([1], (1, 2), optional), compiled=False)


def bools(x: int, y: bool, z: float, v: Union[bool, Tensor], w: Union[int, float]) -> float:  # noqa: UP007
    found = 1000.5
    if isinstance(x, int) and not isinstance(z, int):
        found += 1
    if isinstance(y, int) and isinstance(y, (float, int)) and isinstance(y, bool) and not isinstance(x, bool):
        found += 10
    if isinstance(v, int):
        found += 100
    if isinstance(w, int):
        return found + w // 2
    return found + w


def test_a_bool_is_an_int() -> None:
    check(bools, (1, True, 2.0, True, 3), compiled=False)
    check(bools, (1, True, 2.0, X, 2.5), compiled=False)


class Scaled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class Asking(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sub = Scaled()
        self.there = 1

    def forward(self, x: Tensor) -> Tensor:
        if hasattr(self, "extra"):
            x = x + self.extra
        if hasattr(self.sub, "scale"):
            x = x * self.sub.scale
        return x * getattr(self, "eps", 2) + (1 if hasattr(self, "there") else 0)


def test_the_answer_of_hasattr_is_checked_at_each_call() -> None:
    model = Asking()
    facts = import_program(model, (X,)).facts
    assert facts is not None
    assert facts.difference() is None
    for owner, name in ((model, "extra"), (model.sub, "scale"), (model, "eps")):
        for value in (3, torch.ones(1), nn.Parameter(torch.ones(1)), nn.ReLU()):
            setattr(owner, name, value)
            assert facts.difference() is not None
            delattr(owner, name)
            assert facts.difference() is None
    del model.there
    assert "there" in str(facts.difference())
    model.there = 1
    assert facts.difference() is None


def as_tensors(
    x: Tensor,
    xs: List[int],  # noqa: UP006
    ys: List[float],  # noqa: UP006
    n: int,
    z: float,
    b: bool,
) -> Tuple[List[Tensor], Tensor, List[int]]:  # noqa: UP006
    grown = [1]
    for i in range(n):
        grown.append(i)
    own = torch.as_tensor(xs)
    own += 1
    shared = torch.as_tensor(x)
    shared.add_(1)
    made = [torch.as_tensor(ys), torch.as_tensor(ys, dtype=torch.float64), torch.as_tensor(n), torch.as_tensor(z)]
    made += [torch.as_tensor(b), torch.as_tensor([[n, 1]], dtype=torch.int32), torch.as_tensor([b, True])]
    made += [torch.as_tensor(x, dtype=torch.int32), own, torch.as_tensor(grown)]
    return made, shared, xs


def test_numbers_and_lists_as_tensors() -> None:
    rest = (1.5, True), (0.5, False)
    check(
        as_tensors,
        *((X.clone(), [1, 2], [1.0, 2.0], n, *r) for n, r in zip((0, 1, 3), (*rest, rest[0]))),
        compiled=False,
    )
    check(as_tensors, (X.clone(), [], [], 2, 1.5, True), compiled=False)


def of_argument(x: Tensor) -> Tensor:
    return x.gelu()


def of_sum(x: Tensor) -> Tensor:
    return (x + 1).leaky_relu(0.1)


def of_call(x: Tensor) -> Tensor:
    return torch.ones_like(x).zeros_like()


def in_place(x: Tensor) -> Tensor:
    y = x * 2
    y = y.leaky_relu_(0.1)
    return y


class OfBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.kept.gelu()


@pytest.mark.parametrize("program", [of_argument, of_sum, of_call, in_place, OfBuffer()])
def test_methods_that_tensors_do_not_have(program) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AttributeError) as expected:
        program(X.clone())
    with pytest.raises(ProgramError) as raised:
        import_program(program, (X,))
    assert isinstance(raised.value, AttributeError)
    assert str(expected.value) in str(raised.value)


class Functions(nn.Module):
    """Attributes that are functions, or modules, of such names."""

    def __init__(self) -> None:
        super().__init__()
        self.zeros_like, self.gelu = torch.zeros_like, nn.GELU()
        self.parts = nn.ModuleList([nn.ModuleDict({"gelu": nn.GELU()})])
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part["gelu"](x) + nn.functional.gelu(x)
        return self.gelu(self.weight) * self.zeros_like(x) + torch._C._nn.gelu(x)


def test_functions_of_such_names() -> None:
    check(Functions(), (X,), compiled=False)


def into_given(x: Tensor, y: Tensor) -> Tensor:
    return torch.celu(x, out=y)


def flipped_into_given(x: Tensor, y: Tensor) -> Tensor:
    return torch.flip(x, [0], out=y)


def filled_into_given(x: Tensor, y: Tensor) -> Tensor:
    return torch.masked_fill(x, x > 0, 1.0, out=y)


@pytest.mark.parametrize("program", [into_given, flipped_into_given, filled_into_given])
def test_functions_without_out(program) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError):
        program(X, X.clone())
    with pytest.raises(ProgramError) as raised:
        import_program(program, (X, X.clone()))
    assert isinstance(raised.value, TypeError)


class Transposed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def inner(self, a: Tensor):  # type: ignore[no-untyped-def]
        a.zero_()
        self.steps = self.steps * 2 + 1
        return a.T

    def forward(self, x: Tensor, n: int):  # type: ignore[no-untyped-def]
        y = x.clone()
        return self.inner(y[n : n + 2].diagonal(-1, 0, 1)), torch.ones(2, 3).H


def test_attributes_that_torchscript_calls_otherwise() -> None:
    check(Transposed(), (torch.ones(4, 4), 1), compiled=False)
