"""Lists of tuples whose length is dynamic."""

from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.tensor([0.0, 1, 2, 3, 4])
COUNTS = (3, 0, 1, 2, 5, 6)


class Found(NamedTuple):
    place: int
    value: Tensor


def found(x: Tensor, n: int) -> list[tuple[int, float]]:
    out: list[tuple[int, float]] = []
    for i in range(n):
        if bool(x[i] > 1):
            out.append((i, float(x[i])))
    return out


def gone_through(x: Tensor, n: int) -> tuple[Tensor, int]:
    out: list[tuple[int, Tensor]] = []
    for i in range(n):
        out.append((i, x[i] * 2))
    total = torch.zeros(())
    for i, t in out:
        total = total + i * t
    if len(out) > 2:
        out[1] = (7, x[0] - 1)
        total = total + out[1][0] * out[-1][1] + out[n - 2][1]
    return total, len(out)


def stack_of_pairs(x: Tensor, n: int) -> tuple[Tensor, int]:
    q: list[tuple[int, int]] = [(0, 0)]
    s, most = 0, 0
    while len(q) > 0:
        a, b = q.pop()
        s += a * b
        most = max(most, len(q))
        if a < n:
            q.append((a + 1, b + 2))
            if a % 2 == 0:
                q.append((a + 2, b))
    return x * s, most


def breadth_first(x: Tensor, n: int) -> Tensor:
    grid = (x[:, None] * 3 + x[None] * 5) % 7 > 4
    h, w = grid.shape
    distances = torch.full((h, w), -1)
    q: list[tuple[int, int]] = [(n, 0)]
    distances[n, 0] = 0
    while len(q) > 0:
        i, j = q.pop(0)
        for di, dj in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            a, b = i + di, j + dj
            if 0 <= a < h and 0 <= b < w:
                if not bool(grid[a, b]) and int(distances[a, b]) < 0:
                    distances[a, b] = distances[i, j] + 1
                    q.append((a, b))
    return distances


def named(x: Tensor, n: int) -> tuple[list[Found], Tensor]:
    out: list[Found] = []
    for i in range(n):
        out.append(Found(i, x[i : i + 1].sum() * 2))
        if bool(x[i] > 3):
            return out, x
    last = out[-1]
    return out, x + last.place + last.value


def nested(x: Tensor, n: int) -> tuple[list[tuple[int, tuple[float, bool]]], float]:
    out: list[tuple[int, tuple[float, bool]]] = []
    for i in range(n):
        out.append((i, (float(x[i]), i % 2 == 0)))
    total = 0.0
    for i, (value, even) in out:
        if even:
            total += value * i
    return out, total


def parts(x: Tensor, n: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    out: list[tuple[int, int]] = []
    for i in range(n):
        out.append((i, -i))
    copy = list(out)
    first = out[:2]
    copy.append((9, 9))
    out.reverse()
    if n == 5:
        copy.clear()
    return out, copy, first


def in_a_branch(x: Tensor, n: int) -> list[tuple[int, int]]:
    out = [(1, 2)]
    if n > 2:
        out.append((n, 3))
    return out


def joined(x: Tensor, n: int) -> tuple[list[tuple[int, float]], int]:
    out: list[tuple[int, float]] = []
    more = [(7, 0.5)]
    for i in range(n):
        out.append((i, float(x[i % 5])))
        more.append((-i, 1.5))
    out.extend(more)
    out += [(8, 2.5)]
    return more + out, len(out)


def as_tensors(x: Tensor, n: int) -> tuple[Tensor, ...]:
    ints = [(0, 1)]
    mixed = [(0, 1.5)]
    nested = [((0, True), (False, 1))]
    tensors = [(x[0], x[1])]
    for i in range(n):
        ints.append((i, i * i))
        mixed.append((i, i * 0.5))
        nested.append(((i, i > 1), (i > 2, -i)))
        tensors.append((x[i % 5], x[0]))
    doubles = torch.tensor(mixed, dtype=torch.float64)
    return torch.tensor(ints), torch.tensor(mixed), doubles, torch.tensor(nested), torch.tensor(tensors)


def as_tensors_of_their_dtype(x: Tensor, n: int) -> Tensor:
    out = [x[0].half()]
    for i in range(n):
        out.append(x[i % 5].half())
    return torch.tensor(out)


@pytest.mark.parametrize(
    "program",
    [
        joined,
        as_tensors,
        as_tensors_of_their_dtype,
        found,
        gone_through,
        stack_of_pairs,
        breadth_first,
        named,
        nested,
        parts,
        in_a_branch,
    ],
)
def test_lists_of_tuples(program: Any) -> None:
    check(program, *[(X, n) for n in COUNTS])


def sorted_list(x: Tensor, n: int) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for i in range(int(x[n])):
        out.append((-i, 1))
    out.sort()
    return out


def of_none(x: Tensor, n: int) -> Tensor:
    out: list[tuple[int, int]] = []
    for i in range(n):
        out.append((i, 1))
    return torch.tensor(out, dtype=torch.long)


def of_tensors(x: Tensor, n: int) -> Tensor:
    out: list[Tensor] = []
    for i in range(int(x[n])):
        out.append(x[:1] * i)
    return torch.tensor(out)


def test_what_is_rejected() -> None:
    compiled = ssa_compiler.compile(of_none, (X, 2))
    assert compiled(X, 1).tolist() == [[0, 1]]
    with pytest.raises(ssa_compiler.SsaCompilerError, match=r"torch\.tensor of an empty list"):
        compiled(X, 0)
    with pytest.raises(ssa_compiler.UnsupportedOpError, match=r"torch\.tensor of a list .* stack it first"):
        import_program(of_tensors, (X, 2))


@pytest.mark.slow
def test_sorted() -> None:
    check(sorted_list, *[(X, n) for n in COUNTS])


def shared_and_constant(x: Tensor, a: list[int], b: list[int], dim: int) -> Tensor:
    a.append(1)
    return x.sum(dim) * len(b)


def test_constants_and_one_list_in_two_places() -> None:
    given = [3]
    compiled = ssa_compiler.compile(shared_and_constant, (X, given, given, 0), cache=False)
    assert compiled(X, given, given, 0) == 20
    assert given == [3, 1]
