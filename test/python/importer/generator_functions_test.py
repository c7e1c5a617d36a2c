# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Generator functions of the program's own, whose bodies run in turn with the loops that read them."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.arange(28.0).reshape(7, 4) * 0.25 - 3


def tiles(h, w, size=3):
    for y in range(0, h, size):
        for x in range(0, w, size):
            yield y, x


def tiled(x, n: int):
    out = torch.zeros_like(x)
    count = 0
    for y, c in tiles(x.shape[0], x.shape[1]):
        out[y : y + 3, c : c + 3] = x[y : y + 3, c : c + 3].mean() * n
        count += 1
    return out, count


def pairs(m, step=2):
    i = 0
    while i < m:
        if i == 5:
            return
        yield i, i * step - m
        i += 1


def stops_early(x, n: int):
    t = 0
    for a, b in pairs(n, step=3):
        if b > 4:
            break
        t = t * 2 + a - b
    return t, x * t


def steps(x, n):
    if n < 0:
        return
    yield x
    for _ in range(n):
        x = x * 0.5
        yield x


def enumerated(x, n: int):
    s = torch.zeros_like(x)
    ys = []
    for i, y in enumerate(steps(x, n)):
        s += y * i
        ys.append(y)
    return s, len(ys)


def evens(m):
    for i in range(m):
        if i % 2 == 0:
            yield i


def skips_and_returns(x, n: int):
    t = 0
    for i in evens(n):
        if i == 2:
            continue
        t += i
        if t > 10:
            return t, x
    return -t, x


def chain(m):
    yield from evens(m)


def nested(x, n: int):
    def shifted(k):
        for i in range(k):
            yield x + i * n

    t = torch.zeros_like(x)
    for v in shifted(n):
        t = t + v
    for i in chain(n):
        t = t - i
    return t


def filled(rows):
    for row in rows:
        row += 1
        yield row
        row *= 3


def in_turn(x, n: int):
    """The generator and the loop write the same rows."""
    x = x.clone()
    for row in filled([x[0], x[n % 3], x[1]]):
        row -= x[1] * 0.5
    return x


class Windows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ls = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(3)])
        self.w = 2

    def windows(self, x):
        for i in range(x.shape[0] - self.w + 1):
            yield x[i : i + self.w]

    def parts(self, x):
        for layer in self.ls:
            x = layer(x)
            yield x

    def forward(self, x, n: int):
        t = torch.zeros(())
        for v in self.windows(x):
            t = t + v.sum() * n
        fs = []
        for f in self.parts(x):
            fs.append(f)
        return t, fs


def listed(x, n: int):
    return list(evens(n)), sum(evens(n)), [i * 2 for i in evens(n)]


INPUTS = [(X, n) for n in (4, 0, 1, 2, 9, -1)]


@pytest.mark.parametrize("program", [tiled, stops_early, enumerated, skips_and_returns, nested, listed, in_turn])
def test_generators(program):
    check(program, *INPUTS)


def test_methods_of_modules():
    check(Windows().eval(), *INPUTS)


def in_the_middle(x, n: int):
    for i in range(n):
        yield i
        x += 1


def breaks_it(x, n: int):
    for i in in_the_middle(x, n):
        if i == 2:
            break
        x *= 2
    return x


def continues_it(x, n: int):
    for i in in_the_middle(x, n):
        if i == 2:
            continue
        x *= 2
    return x


def twice(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def leaves_two(x, n: int):
    for i, j in twice(n):
        if i * j > 3:
            break
        x = x + j
    return x


def counts_down(n):
    yield n
    if n > 0:
        yield from counts_down(n - 1)


def goes_into_itself(x, n: int):
    for m in counts_down(n):
        x = x + m
    return x


def test_a_generator_that_reads_itself():
    with pytest.raises(errors.ScriptError, match="a generator function that reads itself"):
        ssa_compiler.compile(goes_into_itself, (X, 3), fullgraph=True, cache=False)


def test_what_runs_behind_the_yield():
    check(breaks_it, *INPUTS)
    for program, says in ((continues_it, "goes on behind its yield"), (leaves_two, "ends a generator in the middle")):
        with pytest.raises(errors.ScriptError, match=says):
            ssa_compiler.compile(program, (X, 3), fullgraph=True, cache=False)
        compiled = ssa_compiler.compile(program, (X.clone(), 3), cache=False, fullgraph=False)
        assert torch.equal(compiled(X.clone(), 4), program(X.clone(), 4))
