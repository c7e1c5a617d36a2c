"""Statements that TorchScript reads in another way than Python, and other programs that were imported wrongly."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from _imported import assert_equal_to_eager
from ssa_compiler.importer.ir.locations import is_augmented_assignment
from ssa_compiler.testing import check, interpret

A = torch.tensor([True, True, False, False])
B = torch.tensor([True, False, True, False])
X = torch.tensor([-3.5, -2.0, 0.5, 7.0])


def and_(x: Tensor, y: Tensor) -> Tensor:
    x &= y
    return x


def or_(x: Tensor, y: Tensor) -> Tensor:
    x |= ~y
    return x


def xor(x: Tensor, y: Tensor) -> Tensor:
    z = x[1:]
    z ^= y[1:] & y[:-1]
    return x.any() ^ z


def and_not_in_place(x: Tensor, y: Tensor) -> Tensor:
    z = x & y
    z &= torch.bitwise_and(x, y)
    return z


@pytest.mark.parametrize("function", [and_, or_, xor, and_not_in_place], ids=lambda function: function.__name__)
def test_augmented_logic_writes(function):  # type: ignore[no-untyped-def]
    assert_equal_to_eager(function, (A, B), (B, A))


def logic_in_place(x: Tensor, y: Tensor) -> Tensor:
    x.logical_and_(y)
    y.logical_not_()
    x[1:].logical_or_(y[1:])
    x.logical_xor_(y)
    return x


def test_logic_in_place_on_bools() -> None:
    check(logic_in_place, (A, B), (B, A))


def power(x: Tensor) -> Tensor:
    x **= 2
    return x


def modulo(x: Tensor) -> Tensor:
    x %= 2
    x[1:] %= 3
    return x % -2


def test_augmented_arithmetic_is_pythons() -> None:
    assert_equal_to_eager(power, (X,))
    assert_equal_to_eager(modulo, (X,))


def elements_of_dicts(x: Tensor, y: Tensor, key: str) -> dict[str, Tensor]:
    d = {"a": x, "b": y}
    d[key] += 10
    d["a"] -= y
    d["a"] *= (2 *
       d["b"])  # fmt: skip
    d["a"] %= 7
    d["b"][1:] **= 2
    d["b"] **= 2
    return d


def integers_in_dicts(x: Tensor, y: Tensor) -> dict[int, Tensor]:
    d = {1: x, 2: y}
    d[1] &= y
    d[1] |= 8
    d[2] ^= 5
    d[2] <<= 1
    d[1] >>= 1
    d[2] //= 3
    return d


def integers_in_lists(x: Tensor, y: Tensor) -> tuple[Tensor, list[Tensor]]:
    pair = [x, y]
    pair[0] &= y
    pair[0] |= 8
    pair[1] ^= 5
    pair[1] <<= 1
    pair[0] **= 2
    pair[0] %= 100
    return x, pair


def sum_in_an_index(x: Tensor, y: Tensor) -> tuple[Tensor, list[Tensor]]:
    pair = [y, y * 2]
    pair[len([x + x]) - 1] += x  # x + x is none, though what follows it is
    return x, pair


def test_elements_of_containers_are_written_in_place() -> None:
    """TorchScript puts a new tensor into the container; in eager it is the tensor that is written."""
    for key in ("a", "b"):
        check(elements_of_dicts, (X, X.flip(0).clone(), key))
    integers = torch.tensor([5, 6, 7])
    for program in (integers_in_dicts, integers_in_lists, sum_in_an_index):
        check(program, (torch.ones_like(integers), integers))


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("x += 1", True),
        ("d[a == b] //= (c *", True),  # a closing parenthesis is missing
        ("x[0] &= y\nr", True),  # the next statement begins
        ("x + 1", False),
        ("x <= y", False),
        ("x = y", False),
        ("f(x, y=2)", False),
        ("f(x, y *", False),
    ],
)
def test_text_of_augmented_assignments(text: str, is_one: bool) -> None:
    assert is_augmented_assignment(text) is is_one


def element(x: Tensor, y: Tensor) -> Tensor:
    x[0] &= y[0]
    return x


def forgotten(x: Tensor, y: Tensor) -> Tensor:
    z = x[1:]
    z ^= y[1:] & y[:-1]
    return x


@pytest.mark.parametrize("function", [element, forgotten], ids=lambda function: function.__name__)
def test_logic_that_torchscript_forgets(function):  # type: ignore[no-untyped-def]
    assert_equal_to_eager(function, (A, B))


def change_list(xs: list[Tensor]) -> Tensor:
    xs[0] = xs[1] * 2
    return xs[0]


def change_copy(xs: list[Tensor]) -> Tensor:
    ys = list(xs)
    ys[0] = xs[1] * 2
    ys.append(ys[0])
    return ys[2]


def test_lists_of_the_caller() -> None:
    check(change_list, ([X, X + 1],))
    assert_equal_to_eager(change_copy, ([X, X],))


def dynamic_float(x: Tensor, eps: float) -> Tensor:
    return F.layer_norm(x, [4], eps=eps)


def test_float_arguments_of_ops_may_be_run_time_values() -> None:
    assert_equal_to_eager(dynamic_float, (X, 0.1), (X, 3.0))


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4, 2, batch_first=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y, h = self.rnn(x)
        return y[:, -1], h


def test_ops_that_transpose_a_temporary_in_place() -> None:
    torch.manual_seed(0)
    assert_equal_to_eager(Gru(), (torch.randn(2, 5, 3),))


def chase(follow: Tensor) -> tuple[Tensor, Tensor]:
    current = torch.tensor(0)
    out = torch.zeros(5, dtype=torch.long)
    for i in range(5):
        out[i] = current
        current = follow[current]
    return out, current


def test_an_index_that_a_loop_carries() -> None:
    assert_equal_to_eager(chase, (torch.tensor([3, 1, 2, 0]),), (torch.tensor([1, 2, 3, 9]),))


def integers(a: int) -> int:
    return abs(a)


def floats(a: float, b: float) -> tuple[float, float]:
    return a // b, a % b


def test_scalars_beyond_torchscripts_own() -> None:
    assert_equal_to_eager(integers, (3,), (-(2**40),))
    assert_equal_to_eager(floats, (7.5, 2.0), (math.inf, 2.0), (-7.5, 2.0))


def test_interpreter_reads_bits() -> None:
    module = """func.func @main(%a: f64) -> (i64, f64) {
      %i = arith.bitcast %a : f64 to i64
      %f = arith.bitcast %i : i64 to f64
      return %i, %f : i64, f64
    }"""
    assert interpret(module, -0.0) == [-(2**63), -0.0]


def tuples_extended(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    pair = (1, n)
    pair += (n,)
    before = pair
    pair += before
    mixed = (x, n)
    mixed += (x, 1.0)
    numbers = [n]
    numbers += (2, 3)
    return pair, before, mixed, numbers


def test_tuples_stay_tuples() -> None:
    check(tuples_extended, (X, 1), (X, 2), compiled=False)


class HeldLists(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.items: list[list[int]] = [[1], [2]]

    def forward(self, x: Tensor, d: dict[str, list[Tensor]], n: int):  # type: ignore[no-untyped-def]
        kept, held, rows = d["q"], self.items[0], [[n], [0]]
        first, own = rows[0], {"a": [n], "b": [1]}
        other = own["a"]
        d["q"] += [x + 1]
        self.items[0] += [n]
        rows[0] *= 2
        for _ in range(2):
            own["a"] += [5]
            own["b"] *= 2
        self.items[0] += (n, 3)
        return len(kept), held, first, other, rows, own, kept is d["q"]


def test_lists_in_containers_are_changed_in_place() -> None:
    check(HeldLists(), (X, {"q": [X]}, 3), compiled=False)
