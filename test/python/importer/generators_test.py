"""Generators of random numbers: passed, made, held by the module or by an object, and chosen by control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.testing import check

X = torch.tensor([1.0, -2.0, 0.5])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def passed(x: Tensor, g: torch.Generator) -> tuple[Tensor, int]:
    drawn = torch.rand(3, generator=g)
    x.normal_(generator=g)
    return x + drawn + torch.randperm(3, generator=g), g.initial_seed()


def either(x: Tensor, a: torch.Generator, b: torch.Generator, n: int) -> tuple[Tensor, torch.Generator]:
    g = a
    for i in range(n):
        g = b if i % 2 == 0 else a
        x = x + torch.rand(3, generator=g)
    return x, g


def made(x: Tensor, seed: int, n: int) -> tuple[Tensor, torch.Generator, Tensor]:
    g = torch.Generator()
    h = torch.Generator(device=x.device).manual_seed(seed)
    g.manual_seed(seed)
    for i in range(n):
        x = x + torch.randn(3, generator=g) * torch.randint(0, 9, (3,), generator=h)
        if i == 1:
            g.manual_seed(3)
    return x, g, torch.multinomial(torch.ones(5), 2, generator=h)


def made_in_a_loop(x, n):  # type: ignore[no-untyped-def]
    found = []
    for seed in range(n):
        g = torch.Generator().manual_seed(seed)
        found.append(torch.empty(2).uniform_(0, seed + 1, generator=g).sum().item())
    return x, found


def states(x):  # type: ignore[no-untyped-def]
    g = seeded(2)
    kept = g.get_state()
    first = torch.rand(2, generator=g)
    g.set_state(kept)
    twin = g.clone_state()
    again = torch.rand(2, generator=g)
    return first - again + x[:2], torch.bernoulli(x.sigmoid(), generator=twin), [float(v) for v in x]


def optional(x, generator=None):  # type: ignore[no-untyped-def]
    if generator is None:
        generator = torch.Generator().manual_seed(1)
    parts = [torch.randn(2, generator=generator) for _ in range(3)]
    return torch.stack(parts).sum(0) + len(parts) * x[:2]


def in_lists_and_dicts(x, listed: list[torch.Generator], named):  # type: ignore[no-untyped-def]
    x = x + torch.rand(3, generator=listed[0]) - torch.rand(3, generator=listed[1])
    return x, torch.randn(2, generator=named["a"])


def drawn_as_long_as(x: Tensor, g: torch.Generator) -> Tensor:
    while x.sum() < 12:
        x = x + torch.rand(3, generator=g)
        if x[0] > 3:
            torch.rand(1, generator=g)  # nobody uses it, but the next one is another
    return x


def one_or_two(x: Tensor, a: torch.Generator, b: torch.Generator) -> tuple[bool, Tensor]:
    return a is b, x + torch.rand(3, generator=a) + torch.rand(3, generator=b)


class Walk:
    def __init__(self, generator, spread):  # type: ignore[no-untyped-def]
        self.generator = generator
        self.spread = spread
        self.place = torch.rand(3, generator=generator)

    def step(self, x):  # type: ignore[no-untyped-def]
        self.place = self.place + self.spread * torch.randn(3, generator=self.generator)
        return self.place * x


def held_by_an_object(x, n: int, seed: int):  # type: ignore[no-untyped-def]
    walk = Walk(torch.Generator().manual_seed(seed), 0.5)
    return [walk.step(x) for _ in range(n)], walk.place


CASES: dict[Callable[..., Any], list[tuple[Any, ...]]] = {
    passed: [(X, seeded(0)), (X, seeded(3))],
    either: [(X, seeded(4), seeded(5), n) for n in (3, 0, 1, 2)],
    made: [(X, 5, 3), (X, 5, 0), (X, 6, 1), (X, 5, 4)],
    made_in_a_loop: [(X, n) for n in (2, 0, 1, 5)],
    states: [(X,), (X * 2,)],
    optional: [(X, seeded(3)), (X, seeded(4))],
    in_lists_and_dicts: [(X, [seeded(1), seeded(2)], {"a": seeded(3)}), (X, [seeded(4)] * 2, {"a": seeded(5)})],
    drawn_as_long_as: [(X, seeded(1)), (X * 30, seeded(2)), (X + 2, seeded(3))],
    held_by_an_object: [(X, n, seed) for n, seed in ((2, 5), (0, 5), (3, 6))],
    one_or_two: [(X, seeded(1), seeded(2)), (X, *[seeded(3)] * 2)],
}


@pytest.mark.parametrize("program", CASES)
def test_generators(program: Callable[..., Any]) -> None:
    check(program, *CASES[program])


def test_none_for_a_generator() -> None:
    check(optional, (X,), (X, None))


def test_the_callers_generator_is_drawn_from_and_returned() -> None:
    compiled = ssa_compiler.compile(either, (X, seeded(1), seeded(2), 3), fullgraph=True)
    one = seeded(7)
    before = one.get_state()
    _, chosen = compiled(X, one, one, 2)  # one generator for both, which the example has not
    other = seeded(7)
    either(X, other, other, 2)
    assert chosen is one
    assert torch.equal(one.get_state(), other.get_state())
    assert not torch.equal(one.get_state(), before)
    with pytest.raises(ssa_compiler.errors.ArgumentTypeError, match="expected Generator, got int"):
        compiled(X, 3, one, 2)


class Sampler:
    def __init__(self, seed: int) -> None:
        self.gen = seeded(seed)

    def draw(self, weights: Tensor) -> Tensor:
        return torch.multinomial(weights, 2, generator=self.gen)


class Filter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sampler = Sampler(3)
        self.gen = seeded(4)

    def forward(self, x, n):  # type: ignore[no-untyped-def]
        places = (torch.arange(n) + torch.rand(1, generator=self.gen)) / max(n, 1)
        for _ in range(n):
            x = x + self.sampler.draw(x.abs()).float().mean()
        return x, places


def test_generators_of_a_module_and_of_its_objects() -> None:
    eager, model = Filter(), Filter()
    before = model.gen.get_state()
    compiled = ssa_compiler.compile(model, (X, 2), fullgraph=True)
    assert torch.equal(model.gen.get_state(), before)  # nothing is drawn when it is compiled
    for n in (2, 0, 3, 1):
        for one, other in zip(eager(X, n), compiled(X, n), strict=True):
            torch.testing.assert_close(one, other)
    assert torch.equal(model.gen.get_state(), eager.gen.get_state())
    model.gen = seeded(11)  # the program takes what the module has when it is called
    torch.testing.assert_close(compiled(X, 2)[1], (torch.arange(2) + torch.rand(1, generator=seeded(11))) / 2)


class Made(nn.Module):
    """Generators in containers, one that is there after the first call, and one that each call makes anew."""

    def __init__(self) -> None:
        super().__init__()
        self.listed, self.named = [seeded(1), seeded(2)], {"a": seeded(3)}
        self.first = None
        self.last = seeded(4)

    def forward(self, x):  # type: ignore[no-untyped-def]
        if self.first is None:
            self.first = torch.Generator().manual_seed(5)
        x = x + torch.rand(3, generator=self.first) + torch.rand(3, generator=self.last)
        self.last = torch.Generator().manual_seed(int(x.sum()))
        return x + torch.rand(3, generator=self.listed[1]) + torch.rand(3, generator=self.named["a"])


def test_generators_in_containers_and_attributes_that_change() -> None:
    eager, model = Made(), Made()
    compiled = ssa_compiler.compile(model, (X,), fullgraph=True)
    for k in range(3):
        torch.testing.assert_close(compiled(X * k), eager(X * k))
        assert torch.equal(model.last.get_state(), eager.last.get_state())


GLOBAL = seeded(7)


def with_global(x):  # type: ignore[no-untyped-def]
    def inner(y):  # type: ignore[no-untyped-def]
        return y + torch.rand(len(y), generator=GLOBAL)

    return [inner(x) for _ in range(2)]


def test_a_global_generator() -> None:
    before = GLOBAL.get_state()
    compiled = ssa_compiler.compile(with_global, (X,), fullgraph=True)
    assert torch.equal(GLOBAL.get_state(), before)
    found = compiled(X)
    GLOBAL.set_state(before)
    for one, other in zip(with_global(X), found, strict=True):
        torch.testing.assert_close(one, other)


def test_a_constant_of_a_scripted_program_is_rejected() -> None:
    """TorchScript has made all of its calls one generator."""

    def constant(x: Tensor) -> Tensor:
        return x + torch.rand(3, generator=torch.Generator())

    with pytest.raises(
        ssa_compiler.errors.UnsupportedOpError, match="a Generator that TorchScript has made a constant"
    ):
        ssa_compiler.compile(torch.jit.script(constant), (X,), fullgraph=True)
