"""Python functions that TorchScript ignores, called from inside compiled programs."""

# Annotations are evaluated: TorchScript reads those of ignored functions as they are.
import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ProgramError, UnsupportedOpError, UnsupportedProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.arange(12.0).reshape(3, 4)
LOG: list[Any] = []


@torch.jit.ignore
def through_numpy(x: Tensor, n: int) -> Tensor:
    LOG.append(n)
    return torch.from_numpy(x.numpy() * 2)


@torch.jit.ignore
def note(x: Tensor, what: str) -> None:
    LOG.append((what, float(x.sum()), x * 1))


@torch.jit.ignore
def keep(x: Tensor) -> None:
    LOG.append((float(x.sum()), x))


@torch.jit.ignore
def count(n: int) -> int:
    LOG.append(n)
    return len(LOG)


@torch.jit.ignore
def raises(x: Tensor, n: int) -> Tensor:
    if n > 1:
        raise KeyError("no such key")
    return x * 2


def in_a_loop(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = through_numpy(x, i) + 1
    return x


def notes(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        note(y, "before")
        y[0] += 1
        note(y, "after")
        if i == 1:
            note(y[1], "one row")
    return y


def counts(x: Tensor, n: int) -> tuple[Tensor, int]:
    m = 0
    for _ in range(n):
        m += count(n)
    return x + m, m


def raising(x: Tensor, n: int) -> Tensor:
    return raises(x + 1, n)


def test_a_result_from_numpy_in_a_loop() -> None:
    check(in_a_loop, (X, 2), (X, 0), (X, 3), compiled=True)


def test_side_effects_come_in_order_and_keep_what_they_are_given() -> None:
    compiled = ssa_compiler.compile(notes, (X, 3))
    LOG.clear()
    expected = notes(X.clone(), 3)
    eager = [entry[:2] for entry in LOG]
    LOG.clear()
    assert torch.equal(compiled(X, 3), expected)
    compiled(X + 100, 3)
    assert [entry[:2] for entry in LOG[: len(eager)]] == eager
    assert sum(use.count for use in compiled.explain().callbacks if "note" in use.op) == 2 * len(eager)


def keeps(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y = y * 0.5 + i
        keep(y)
        keep(y[1])
    return y


def test_nothing_reuses_the_memory_that_python_keeps() -> None:
    compiled = ssa_compiler.compile(keeps, (X, 2), cache=False)
    LOG.clear()
    assert torch.equal(compiled(X, 3), keeps(X, 3))
    compiled(X + 100, 3)
    assert len(LOG) == 18
    assert all(float(kept.sum()) == total for total, kept in LOG)


def test_numbers_come_back() -> None:
    compiled = ssa_compiler.compile(counts, (X, 2))
    LOG.clear()
    y, m = compiled(X, 2)
    assert (m, LOG) == (3, [2, 2])
    assert torch.equal(y, X + 3)


def test_exceptions_pass_through() -> None:
    compiled = ssa_compiler.compile(raising, (X, 0))
    torch.testing.assert_close(compiled(X, 1), raising(X, 1))
    with pytest.raises(KeyError, match="no such key"):
        compiled(X, 2)
    torch.testing.assert_close(compiled(X, 1), raising(X, 1))


class Pair(NamedTuple):
    one: Tensor
    two: int


@torch.jit.ignore
def takes_all(
    p: Pair, s: str, many: list[Tensor], named: dict[str, Tensor], o: Tensor | None, t: tuple[int, float]
) -> tuple[Tensor, list[int], str, dict[str, Tensor]]:
    assert o is None
    assert (s, type(p).__name__) == ("q", "Pair")
    return p.one + many[0] + named["a"] + t[1] + p.two, [1, t[0]], s + "!", {"x": many[0] * 2}


def gives_all(x: Tensor, n: int) -> tuple[Tensor, int]:
    y, numbers, text, named = takes_all(Pair(x, n), "q", [x + 1, x], {"a": x}, None, (n, 2.0))
    if text == "q!":
        y = y + 1 + named["x"]
    return y, numbers[1]


def test_containers_strings_and_none() -> None:
    check(gives_all, (X, 2), (X, 5), compiled=True)


@torch.jit.ignore
def adds_in_place(x: Tensor) -> None:
    x.add_(1)


@torch.jit.ignore
def first_row(x: Tensor) -> Tensor:
    return x[0]


@torch.jit.ignore
def writes_in_secret(x: Tensor) -> Tensor:
    torch._foreach_add_.__call__([x], 1)
    return x.sum()


def written(x: Tensor) -> Tensor:
    y = x.clone()
    adds_in_place(y)
    adds_in_place(y[0])
    adds_in_place(x)
    return y


def view_read(x: Tensor) -> Tensor:
    return first_row(x) + 1


def view_written(x: Tensor) -> Tensor:
    y = x.clone()
    row = first_row(y)
    row += 1
    return y


def test_arguments_are_written() -> None:
    check(written, (X,), (X + 1,), compiled=True)


def test_a_view_of_an_argument_comes_back() -> None:
    check(view_read, (X,), compiled=True)
    compiled = ssa_compiler.compile(view_written, (X,))
    with pytest.raises(ProgramError, match=r"'first_row' returned memory of an argument.*return a clone\(\)") as raised:
        compiled(X)
    assert raised.value.location is not None
    assert raised.value.location.line == view_written.__code__.co_firstlineno + 2


def secret(x: Tensor) -> Tensor:
    return writes_in_secret(x + 1)


class Varies:
    def __init__(self) -> None:
        self.result: Any = torch.zeros(2)


VARIES = Varies()


@torch.jit.ignore
def varies(x: Tensor) -> Tensor:
    return VARIES.result


@torch.jit.ignore
def varies_in_length(x: Tensor) -> list[int]:
    return VARIES.result


@torch.jit.ignore
def grows_its_list(x: list[Tensor]) -> int:
    x.append(x[0])
    return 1


def varying(x: Tensor) -> Tensor:
    return varies(x) + 1


def varying_length(x: Tensor) -> Tensor:
    return x + len(varies_in_length(x))


def growing(x: Tensor) -> Tensor:
    return x + grows_its_list([x])


def test_secret_writes_are_found() -> None:
    with pytest.raises(ProgramError, match=r"'writes_in_secret' wrote an argument.*return the new tensor"):
        ssa_compiler.compile(secret, (X,))(X)


def test_lists_that_python_changes() -> None:
    with pytest.raises(ProgramError, match="'grows_its_list' changed a list or dict among its arguments: return a new"):
        ssa_compiler.compile(growing, (X,))(X)


@pytest.mark.parametrize(
    ("function", "first", "second", "message"),
    [
        (
            varying,
            torch.zeros(2),
            torch.zeros(3),
            r"returned torch.float32 \[3\] as its result, and torch.float32 \[2\]",
        ),
        (varying, torch.zeros(2), torch.zeros(2).int(), r"returned torch.int32 \[2\] as its result"),
        (
            varying_length,
            [1, 2],
            [1],
            "returned a list of 1 as its result, and a list of 2 when the program was compiled",
        ),
    ],
)
def test_results_that_are_of_another_kind(function: Callable[..., Any], first: Any, second: Any, message: str) -> None:
    VARIES.result = first
    compiled = ssa_compiler.compile(function, (X,))
    compiled(X)
    VARIES.result = second
    with pytest.raises(ProgramError, match=message):
        compiled(X)


# Methods. ------------------------------------------------------------------------------------------------------------


class Helped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = 0
        self.scale = 2.0
        self.layer = nn.Linear(4, 4)

    @torch.jit.ignore
    def helper(self, x: Tensor) -> Tensor:
        self.seen += 1
        return torch.from_numpy((x + self.layer.bias).numpy() * self.scale)

    @torch.jit.unused
    def never(self, x: Tensor) -> Tensor:
        return x * 3

    def forward(self, x: Tensor, n: int) -> Tensor:
        if n > 3:
            return self.never(x)
        return self.helper(self.layer(x)) * n


class Holds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = Helped()

    def forward(self, x: Tensor, n: int) -> Tensor:
        return self.part(x, n) + 1


class WritesToo(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    @torch.jit.ignore
    def helper(self, x: Tensor) -> Tensor:
        return x + self.total

    def forward(self, x: Tensor) -> Tensor:
        self.total += 1
        return self.helper(x)


class ChangesItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0
        self.register_buffer("total", torch.zeros(4))

    @torch.jit.ignore
    def helper(self, x: Tensor) -> None:
        self.total.add_(1)

    def forward(self, x: Tensor) -> Tensor:
        self.helper(x)
        return x + self.total


def test_methods_run_on_the_users_module() -> None:
    check(Helped(), (X, 1), (X, 2), compiled=True)
    check(Holds(), (X, 1), (X, 2), compiled=True)


def test_unused_methods_run_in_python() -> None:
    """Eager runs them as any other; only TorchScript raises."""
    check(Helped(), (X, 1), (X, 4), compiled=False)


def test_module_state_that_both_sides_have() -> None:
    with pytest.raises(
        UnsupportedProgramError, match=r"'total' the program writes.*a function that takes what it needs"
    ):
        import_program(WritesToo(), (X,))
    with pytest.raises(ProgramError, match="'helper' changed 'total' of the module, which the compiled program reads"):
        ssa_compiler.compile(ChangesItself(), (X,))(X)


# What is rejected. ----------------------------------------------------------------------------------------------------


@torch.jit.ignore
def needs_numbers(x: Tensor) -> Tensor:
    return torch.ones(int(1 / float(x[0, 0])))


@torch.jit.ignore
def adds_to_both(x: Tensor, y: Tensor) -> None:
    x.add_(y)


def needing(x: Tensor) -> Tensor:
    return needs_numbers(x)


def overlapping(x: Tensor) -> Tensor:
    y = x.clone()
    adds_to_both(y, y[0])
    return y


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (needing, r"'needs_numbers', whose result has to be known.*ZeroDivisionError.*torch.library.custom_op"),
        (overlapping, "'adds_to_both', which may write arguments that share memory; pass one of them"),
    ],
)
def test_what_is_rejected(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(UnsupportedOpError, match=message) as raised:
        import_program(function, (X,))
    assert raised.value.location is not None


@torch.jit.ignore
def outside(x: Tensor) -> Tensor:
    seen.append(gc.isenabled())
    return x * 2


def sees_collections(x: Tensor) -> Tensor:
    return x + outside(x)


seen: list[bool] = []


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_again_behind_a_compilation(enabled: bool) -> None:
    """An ignored function of unknown dtype runs while the program is imported."""
    seen.clear()
    (gc.enable if enabled else gc.disable)()
    try:
        compiled = ssa_compiler.compile(sees_collections, (X,), cache=False)
        assert gc.isenabled() == enabled
        compiled(X)
        with pytest.raises(ssa_compiler.SsaCompilerError):
            ssa_compiler.compile(sees_collections, (), cache=False)
        assert gc.isenabled() == enabled
    finally:
        gc.enable()
    assert seen == [False, enabled]
