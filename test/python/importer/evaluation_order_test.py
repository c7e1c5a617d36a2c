"""Parts of expressions that TorchScript computes several times: they have their effects once, in Python's order."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.errors import ScriptError
from ssa_compiler.importer.torchscript.source_rewrite import script_all
from ssa_compiler.testing import check

X = torch.arange(4.0)


def tick(xs: list[int]) -> int:
    xs.append(len(xs))
    return len(xs)


def tock(count: Tensor) -> int:
    count += 1
    return int(count)


def read(x: Tensor, xs: list[int], count: Tensor):  # type: ignore[no-untyped-def]
    return x[tick(xs)], x[[tick(xs) % 2, tick(xs) % 2]], x[tick(xs) - 3 :, None], len(xs)


def write(x: Tensor, xs: list[int], count: Tensor):  # type: ignore[no-untyped-def]
    x[tick(xs)] = tick(xs)
    x[tick(xs) % 4] += tick(xs)
    xs[tick(xs) % 2] %= tick(xs)
    a, x[xs.pop() % 3] = tick(xs), xs.pop()
    return x, a, xs


def compare(x: Tensor, xs: list[int], count: Tensor):  # type: ignore[no-untyped-def]
    trips = 0
    while 0 < tock(count) < 5:
        trips += 1
    if 0 < x.add_(1).sum() < 100:
        trips += 10
    return trips, 3 > tick(xs) > 7, len(xs), x * 2


def choose(x: Tensor, xs: list[int], count: Tensor):  # type: ignore[no-untyped-def]
    sign = 1 if tick(xs) % 2 == 0 else -1
    sign *= 3 if int(x[tock(count) % 4]) == 1 else 2
    return (x if xs.pop() > 0 else x + 1) * sign, len(xs)


def connect(x: Tensor, xs: list[int], count: Tensor, y: Tensor | None = None):  # type: ignore[no-untyped-def]
    found = y is not None and bool(y[tick(xs)] > 0)
    other = count > 5 or x[tock(count) % 4] > 2
    return found, bool(other), xs[0] + tick(xs) * x[tick(xs) % 4], len(xs)


@pytest.mark.parametrize("function", [read, write, compare, choose, connect])
def test_effects_happen_once(function) -> None:  # type: ignore[no-untyped-def]
    count = torch.tensor(0)
    check(function, (X, [0], count), (X + 1, [1], count + 2), (-X, [3], count + 8), compiled=False)


# Forms of expressions and statements, with calls of ignored functions: f and g give ints and bools, t tensors, l lists,
# s strings.
_FORMS = """f(k) + n;f(k) % n;n % f(k);f(k) // n;n ** f(k);-f(k);not g(k);g(k) and g(k);f(k) < n < f(k);n < f(k) < n;f(k) in y;
n in l(k);y[f(k)];l(k)[0];l(k)[n:f(k)];t(k)[f(k)];t(k)[n:f(k):n];t(k)[t(k)];t(k)[..., f(k)];t(k)[[f(k)]];x[f(k), f(k)];[f(k)][0];
(f(k), f(k))[1];{1: f(k)}[1];str(f(k));float(f(k));min(f(k), n);len(l(k));[f(i) for i in y];[i for i in l(k)];
f'{f(k)}';'%d' % f(k);s(k) % n;'{}'.format(f(k));isinstance(f(k), int);x.add(f(k));t(k) % n;t(k) < t(k);torch.zeros([f(k), n]);
torch.tensor([f(k)]);f(f(k));f(k) if b else n;n if g(k) else n;x if n > f(k) else x;sorted(l(k));l(k) == y;divmod(f(k), n);
dict([(f(k), n)]);{f(k): f(k)};t(k)[:, f(k)];x[l(k)];x[y[f(k)]];x.view(f(k), -1);s(k)[f(k)]"""
_STATEMENTS = """x[f(k)] = n;x[f(k)] += f(k);y[f(k)] += f(k);y[f(k)] %= f(k);x[f(k) % 4, n] = f(k);x[t(k)] = n;t(k)[0] += n;a, x[f(k)] = f(k), f(k);
assert g(k), s(k);n += f(k);l(k).append(f(k));t(k).add_(f(k));x[0] = x[f(k)];x[y[f(k)]] = n;x, y = t(k), l(k);raise ValueError(s(k))"""
_BLOCKS = """g(k);f(k) < n;n < f(k) < n;f(k) % n == 0"""
_HEAD = """import torch
from torch import Tensor
from typing import Dict, List
{functions}
def program(x: Tensor, k: int, n: int, b: bool, y: List[int]):
"""
_IGNORED = """@torch.jit.ignore
def {name}(k: int) -> {kind}: ...
"""


def test_every_form_is_computed_once(tmp_path: Path) -> None:
    kinds = {"f": "int", "g": "bool", "t": "Tensor", "l": "List[int]", "s": "str"}
    head = _HEAD.format(functions="".join(_IGNORED.format(name=name, kind=kind) for name, kind in kinds.items()))
    bodies = [f"    z = {form.strip()}\n    return z\n" for form in _FORMS.split(";")]
    bodies += [f"    {form.strip()}\n    return x, n, y\n" for form in _STATEMENTS.split(";")]
    bodies += [f"    if {form}: n = 1\n    return n\n" for form in _BLOCKS.split(";")]
    for number, body in enumerate(bodies):
        path = tmp_path / f"form_{number}.py"
        path.write_text(head + body)
        spec = importlib.util.spec_from_file_location(f"evaluation_order_form_{number}", path)
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        spec.loader.exec_module(module)  # type: ignore[union-attr]
        graph = str(script_all(lambda: torch.jit.script(module.program)).graph)  # noqa: B023
        assert graph.count("= ^") == len(re.findall(r"\b[fgtls]\(", body)), body


def test_random_indices_are_drawn_once() -> None:
    def shuffled(x: Tensor) -> Tensor:
        return x[torch.randperm(4)] + torch.rand(4)

    check(shuffled, (X,), (X + 1,), compiled=False)


def test_what_cannot_be_taken_apart_is_rejected() -> None:
    def rejected(x: Tensor, xs: list[int]) -> list[Tensor]:
        return [x[tick(xs)] for i in range(2)]

    with pytest.raises(ScriptError, match="give it a name"):
        ssa_compiler.compile(rejected, (X, [0]))


def raised(numbers: dict[str, int]) -> int:
    numbers["a"] += 10
    return numbers["a"]


def incremented(x: Tensor) -> Tensor:
    x += 1
    return x.sum()


def replaced(xs: list[Tensor]) -> Tensor:
    xs[0] = xs[0] * 2
    return xs[0]


def numbers_updated(numbers: dict[str, int], n: int) -> dict[str, int]:
    for i in range(n):
        numbers["a"] += raised(numbers)
        numbers["a" if i % 2 == 0 else "b"] //= raised(numbers)
    return numbers


def tensors_updated(x: Tensor, m: Tensor, i: int) -> tuple[Tensor, list[Tensor]]:
    x[m] += incremented(x)
    x[i] -= incremented(x)
    x[[0, i]] *= incremented(x)
    x[i:] += incremented(x)
    y = x * 2
    xs = [y, x]
    xs[0] += replaced(xs)
    return y, xs


@pytest.mark.slow
def test_an_element_is_read_before_the_right_side() -> None:
    for n in (0, 1, 2, 3):
        check(numbers_updated, ({"a": 3, "b": 100}, n), compiled=n == 3)
    check(tensors_updated, (X, X > 1, 2))


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.counts = [1, 2]

    def tick(self) -> int:
        self.counts[0] += 5
        return self.counts[0]

    def forward(self, x: Tensor) -> Tensor:
        out = torch.zeros(3, 4)
        for i in range(3):
            out[i] += self.layer(x)
        self.counts[0] += self.tick()
        return out


def test_a_part_of_a_tensor_is_not_copied_onto_itself() -> None:
    torch.manual_seed(0)
    assert check(Layers(), (X,), (X + 1,), compiled=False).count_ops("imported", "torch.aten.copy_") == 0


def with_signs(x: Tensor, n: int, flag: bool, u: float, xs: list[int]):  # type: ignore[no-untyped-def]
    same = +x
    same += 1
    return x, +n, +flag, +u, +True, +tick(xs), -+n, +x.sum(), +1.5, same is x, x[slice(0, n)], x[slice(n)]


def test_plus_and_slices() -> None:
    check(with_signs, (X, 3, True, -0.0, [0]), (X, 1, False, 2.5, [0]), compiled=False)


def compared(d: dict[str, Tensor], xs: list[Tensor], i: int, x: Tensor):  # type: ignore[no-untyped-def]
    if d["q"] is not None and i < 5:
        x = x + 1
    there = xs[i] is not None
    return x, there


def test_what_is_compared_with_none_is_read() -> None:
    check(compared, ({"q": X}, [X], 0, X), ({"q": X}, [X], 1, X), ({"q": X}, [X], -2, X), compiled=False)
    with pytest.raises(KeyError):
        ssa_compiler.compile(compared, ({"q": X}, [X], 0, X))({"p": X}, [X], 0, X)
