"""Imported programs, run by the interpreter, against eager: operators, containers, scalars and control flow.

The end-to-end tests compare the later stages on other programs; here the importer alone is under test, so that it can
be tried on more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from _imported import assert_equal_to_eager

X = torch.linspace(-1.5, 2.0, 12).reshape(4, 3)


# --- scalars ----------------------------------------------------------------------------------------------------------


def integers(a: int, b: int):  # type: ignore[no-untyped-def]
    # No result type: to TorchScript a power of ints is a float, in Python it is an int.
    return a + b, a - b, a * b, a // 3, a % 3, -a, min(a, b), max(a, b), a**2


def floats(a: int, b: float):  # type: ignore[no-untyped-def]
    # No result type: to TorchScript round() is a float.
    return a + b, b - a, a * b, a / 2, b / 2.0, int(b), math.floor(b), round(b), float(a)


def comparisons(a: int, b: float) -> tuple[bool, bool, bool, bool, bool, bool]:
    return a > 2, a == b, not a > 2, a > 2 and b > 1.0, a > 2 or b > 3.0, b <= a


def elementary(a: float) -> tuple[float, float, int, float]:
    return math.sqrt(a), math.exp(a), math.ceil(a), abs(-a)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (integers, [(7, 2), (-7, 3), (0, 0)]),
        (floats, [(4, 2.5), (-5, -3.25), (0, 0.5)]),
        (comparisons, [(4, 2.5), (3, 3.0), (0, 9.0)]),
        (elementary, [(2.25,), (0.0,)]),
    ],
)
def test_scalars(function: Callable[..., Any], calls: list[Any]) -> None:
    assert_equal_to_eager(function, *calls)


# --- containers -------------------------------------------------------------------------------------------------------


def lists(x: Tensor, items: list[Tensor], table: dict[str, Tensor]) -> tuple[Tensor, list[Tensor], int]:
    out: list[Tensor] = []
    for item in items:
        out.append(item + 1)
    out.insert(0, table["a"])
    out[1] = out[1] * 2
    last = out.pop()
    out.extend([last, last * 3])
    for number, item in enumerate(out):
        out[number] = item + number
    return torch.stack(out[1:]), out[:2], len(out)


def test_lists_and_dicts() -> None:
    text = assert_equal_to_eager(lists, (X, [X[0], X[1]], {"a": X[2]}), (X, [X[3], X[1]], {"a": X[0]}))
    assert "torch.prim.Loop" not in text


def rows_by_index(x: Tensor, i: int) -> Tensor:
    y = x.clone()
    rows = [y[0], y[1], y[2]]
    rows[i].add_(1)
    return y


def test_list_element_chosen_at_run_time_aliases() -> None:
    assert_equal_to_eager(rows_by_index, *[(X, i) for i in (0, 1, 2, -1, -3, 3, -4)])


def list_state(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    state = [x.clone(), x * 2]
    for i in range(n):
        state[0] = state[0] + state[1]
        state[1][i] = state[0][i]
        if i > 1:
            state[1] = state[0].clone()
    return state[0], state[1]


def list_replaced(x: Tensor, n: int) -> list[Tensor]:
    state = [x.clone(), x * 2]
    for _ in range(n):
        state = [state[1] + 1, state[0]]
    return state


def loop_left_early(items: list[Tensor], n: int) -> Tensor:
    total = items[0] * 0
    for item in items:
        total = total + item
        if n > 3:
            break
    return total


@pytest.mark.parametrize("function", [list_state, list_replaced])
def test_lists_carried_by_loops(function: Callable[..., Any]) -> None:
    assert_equal_to_eager(function, *[(X, n) for n in (2, 0, 1, 4)])


def test_loop_over_a_list_left_early() -> None:
    assert_equal_to_eager(loop_left_early, *[([X[0], X[1], X[2]], n) for n in (1, 4)])


# --- control flow -----------------------------------------------------------------------------------------------------


def nested(x: Tensor, n: int) -> tuple[Tensor, int]:
    y, total = x.clone(), 0
    for i in range(n):
        for j in range(i, n):
            if j % 2 == 0:
                continue
            y[i, j] = y[j, i] + 1
            if j > i + 2:
                break
        total += i
    return y, total


def returns_early(x: Tensor, n: int) -> tuple[Tensor, int]:
    for i in range(n):
        x = x * 2
        if bool(x.sum() > 10.0):
            return x, i
    return x, -1


def halved(x: Tensor) -> tuple[Tensor, int]:
    steps = 0
    while bool(x.abs().max() > 1):
        x = x / 2
        steps += 1
    return x, steps


def stepped(x: Tensor, low: int, high: int, step: int) -> Tensor:
    y = x.clone()
    for i in range(low, high, step):
        y[i] += i
    return y


def row_replaced(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x.clone()
    row = y[0]
    for i in range(n):
        row += 1
        row.copy_(y[i])
        row = y[i]
    return y, row


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (nested, [(torch.arange(25.0).reshape(5, 5), n) for n in (3, 0, 1, 5)]),
        (returns_early, [(torch.ones(3), n) for n in (2, 0, 10)]),
        (halved, [(X * 100,), (X * 0,)]),
        (stepped, [(X, 0, 4, 1), (X, 3, -1, -2), (X, 0, 4, 3), (X, 2, 2, 1), (X, 0, 4, 0)]),
        (row_replaced, [(X, n) for n in (2, 0, 1, 4)]),
    ],
)
def test_control_flow(function: Callable[..., Any], calls: list[Any]) -> None:
    assert_equal_to_eager(function, *calls)


def previous(x: Tensor, n: int) -> tuple[Tensor, int]:
    last: Tensor | None = None
    best: int | None = None
    for i in range(n):
        if last is not None:
            x = x + last
        last = x * i
        if best is None or i % 2 == 0:
            best = i
    if best is None:
        best = -1
    return x, best


def test_variables_that_are_none_at_first() -> None:
    assert_equal_to_eager(previous, *[(X, n) for n in (2, 0, 1, 5)])


def two_names(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    a = x.clone()
    b = a
    for _ in range(n):
        b = a
        a = a * 2
        b += 1
        a += b
    return a, b


def test_tensors_of_one_iteration_and_the_one_before() -> None:
    assert_equal_to_eager(two_names, *[(X, n) for n in (2, 0, 1, 5)])


def reduced(items: list[int], factors: list[float]) -> tuple[int, int, float]:
    return max(items), sum(items), min(factors)


def test_reductions_of_lists_of_scalars() -> None:
    assert_equal_to_eager(reduced, ([1, 3, 2], [0.5, 1.5]), ([5, 3, -2], [2.5, -1.5]))


def without_gradients(x: Tensor) -> Tensor:
    with torch.no_grad():
        y = x * 2
        y[0] = 1
    return y


def test_no_grad_means_nothing() -> None:
    assert_equal_to_eager(without_gradients, (X,))


def squares(x: Tensor, n: int) -> Tensor:
    return torch.stack([x * (n + i) for i in range(3)])


def test_list_of_known_length_built_in_a_loop() -> None:
    text = assert_equal_to_eager(squares, (X, 1), (X, 5))
    assert "torch.prim.Loop" not in text


# --- tensors ----------------------------------------------------------------------------------------------------------


def factories(n: int, f: float) -> list[Tensor]:
    return [
        torch.tensor([n, 2, n + 1]),
        torch.tensor(f),
        torch.tensor([[f, 1.0], [2.0, f]]),
        torch.zeros(n, 2),
        torch.arange(n),
        torch.full((n,), f),
        torch.ones(2, n).sum(),
        torch.eye(3),
        torch.linspace(0, 1, 5),
    ]


def indexed(x: Tensor, i: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x.clone()
    y[i] = v
    y[i, 1:] += 1
    y[y > 1.5] = 0.0
    picked = y[i]
    y[:, i] = 3.0
    y.index_fill_(0, i, 2.0)
    y.masked_fill_(y > 2.5, 4.0)
    y[1:3] = y[0:2].clone()
    y[..., 0] = 7
    y.clamp_(0, 5)
    return y, picked, y[y > 3.5]


def converted(x: Tensor) -> list[Tensor]:
    y = torch.arange(5)
    y += 2
    y[1] = 3.7  # type: ignore[index]
    z = x.to(torch.float64)
    z += x
    z[0] = 1
    return [y, z, x.to(torch.int64), x.type_as(z), x.new_zeros(2, 3), torch.ones_like(x, dtype=torch.int32), x > 0]


def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.sub_(x * 2).div_(2).sigmoid_().neg_().exp_().pow_(2).add_(x, alpha=2)
    y.lerp_(x, 0.5)
    y.addcmul_(x, x, value=0.5)
    y.scatter_(0, torch.zeros(1, 3, dtype=torch.int64), 1.0)
    y.index_add_(0, torch.tensor([0, 1]), x[:2])
    y.index_copy_(0, torch.tensor([2]), x[:1])
    y.addmm_(x @ x.t(), x)
    return y


def functions(x: Tensor) -> list[Tensor]:
    values, places = x.max(dim=1)
    return [
        torch.softmax(x, -1),
        x.log_softmax(0),
        F.layer_norm(x, [3]),
        values,
        places,
        x.std(),
        x.var(0),
        x.cumsum(0),
        torch.bmm(x[None], x.t()[None]),
        torch.einsum("ij,kj->ik", x, x),
        F.gelu(x),
        torch.outer(x[0], x[0]),
        x.argmax(1),
        x.nonzero(),
        F.pad(x, [1, 1]),
        x.flip(0),
        torch.where(x > 0, x, x * 2),
        x.mean(dim=0, keepdim=True),
    ]


def dynamic_slices(x: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    y = x.clone()
    y[:k] = 0
    y[k : k + 2] += 1
    return x[:k].sum(0), x[:, :k] @ x[:, :k].t(), x[:k].reshape(-1), x[k:].shape[0], y


def divided_sizes(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    y = x.view(n, -1)
    return y * 2 + y, x.reshape(-1, n).sum(0)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (divided_sizes, [(X, 3), (X, 12), (X, 1)]),
        (factories, [(3, 2.5), (1, 0.25), (0, 1.0)]),
        (indexed, [(torch.arange(16.0).reshape(4, 4), torch.tensor([0, 2]), torch.ones(2, 4))]),
        (converted, [(X,)]),
        (in_place, [(X,)]),
        (functions, [(X,)]),
        (dynamic_slices, [(X, k) for k in (2, 1, 0, 3, 5, -1, -5)]),
    ],
)
def test_tensors(function: Callable[..., Any], calls: list[Any]) -> None:
    assert_equal_to_eager(function, *calls)


# --- modules ----------------------------------------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.LayerNorm(3)) for _ in range(2)])
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.0)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x) + x
        return self.drop(self.norm(x))


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
def test_module_tree_in_either_mode(training: bool) -> None:
    torch.manual_seed(0)
    assert_equal_to_eager(Block().train(training), (X,), (X * 2,))


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (lambda: nn.LSTM(3, 4, 2), [(5, 2, 3)]),
        (lambda: nn.GRUCell(3, 4), [(2, 3), (2, 4)]),
        (lambda: nn.MultiheadAttention(8, 2), [(5, 2, 8)] * 3),
        (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), [(5, 2, 8)]),
        (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten()), [(2, 2, 5, 5)]),
        (lambda: nn.Sequential(nn.Upsample(scale_factor=2.0), nn.InstanceNorm2d(2), nn.Softmax2d()), [(1, 2, 3, 3)]),
    ],
    ids=["LSTM", "GRUCell", "MultiheadAttention", "TransformerEncoderLayer", "Conv2d", "Upsample"],
)
def test_modules_of_torch_nn(make: Callable[[], nn.Module], shapes: list[tuple[int, ...]]) -> None:
    torch.manual_seed(0)
    assert_equal_to_eager(make(), [torch.randn(shape) for shape in shapes])


class Attention(nn.Module):
    """Writes its cache at a moving position and reads a growing part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, n: int) -> Tensor:
        out = torch.zeros_like(x)
        for position in range(n):
            token = x[:, position]
            keys[:, position] = self.key(token).view(2, 2, 4)
            values[:, position] = self.value(token).view(2, 2, 4)
            query = self.query(token).view(2, 2, 4)
            weights = torch.softmax(torch.einsum("bhd,bthd->bht", query, keys[:, : position + 1]) / 2.0, -1)
            out[:, position] = torch.einsum("bht,bthd->bhd", weights, values[:, : position + 1]).reshape(2, 8)
        return out


def test_attention_with_the_callers_cache() -> None:
    torch.manual_seed(0)
    x, cache = torch.randn(2, 6, 8), torch.zeros(2, 6, 2, 4)
    text = assert_equal_to_eager(Attention(), *[(x, cache, cache.clone(), n) for n in (3, 0, 1, 6)])
    assert text.count("torch.prim.Loop ") == 1


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.cell, self.out = nn.Embedding(10, 8), nn.Linear(16, 8), nn.Linear(8, 10)

    def forward(self, h: Tensor, longest: int, end: int) -> tuple[Tensor, int]:
        tokens = torch.zeros(longest, dtype=torch.int64)
        token, i = torch.tensor(1), 0
        while i < longest and int(token) != end:
            h = torch.tanh(self.cell(torch.cat([self.embedding(token), h])))
            token = self.out(h).argmax()
            tokens[i] = token
            i += 1
        return tokens, i


def test_greedy_decoder() -> None:
    torch.manual_seed(0)
    assert_equal_to_eager(Decoder(), *[(torch.ones(8), n, end) for n, end in ((5, 3), (1, 1), (0, 2), (9, 7))])
