# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lambdas that are not written in the program itself: of modules, in dicts of them, attributes, default factories."""

import subprocess
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ssa_compiler.testing import check

X = torch.arange(8.0).reshape(2, 4) / 3 - 1

swish = lambda x: x * torch.sigmoid(x)  # noqa: E731 - what is tested
above, below = lambda t: t + 1, lambda t: t - 1
nested = lambda x: (lambda y: y * 3)(x)  # noqa: E731
ACTIVATIONS = {"relu": F.relu, "swish": swish, "twice": lambda v, k=2: v * k}
clamped = lambda x, least: (  # noqa: E731
    x.clamp(min=least)
    + 1
)  # fmt: skip


def scaled(factor: float):
    return lambda x: x * factor


triple = scaled(3.0)


class Block(nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.act = ACTIVATIONS[name]
        self.norm = lambda t: F.layer_norm(t, [4])
        self.half = scaled(0.5)
        self.steps = [lambda t: t + 1, lambda t: t * 2]

    def forward(self, x, n: int, kind: str = "swish"):
        y = x
        for _ in range(n):
            y = self.norm(above(below(swish(self.act(self.linear(y))))))
        for step in self.steps:
            y = step(y)
        return ACTIVATIONS[kind](clamped(triple(nested(y)), 0.1)) + self.half(y)


@pytest.mark.slow
def test_lambdas_are_functions_as_any() -> None:
    torch.manual_seed(0)
    for name, kind in (("relu", "swish"), ("swish", "twice"), ("twice", "relu")):
        compiled = check(Block(name).eval(), *((X, n, kind) for n in (2, 0, 1, 3))).compiled
        assert not compiled.explain().callbacks


def zeros():
    return torch.zeros(4)


@dataclass
class Scale:
    step: int = 2
    factor: float = 0.5


@dataclass
class State:
    x: Tensor
    recent: deque = field(default_factory=lambda: deque(maxlen=2))
    total: Tensor = field(default_factory=zeros)
    scale: Scale = field(default_factory=Scale)
    n: int = 0
    sizes: tuple = field(default_factory=lambda: (1, 2))


def with_states(x, n: int):
    state, other = State(x.clone()), State(x * 2, total=x[0] + 1, scale=Scale(1))
    for i in range(n):
        state.recent.append(state.x * i)
        state.total += state.x.sum(0) * state.scale.factor
        state.n += state.scale.step
        other.total += state.total
    return state.total, state.n, other.total, other.scale.step, list(state.recent), state.sizes


def test_default_factories_are_functions_as_any() -> None:
    compiled = check(with_states, *((X, n) for n in (2, 0, 1, 5))).compiled
    assert not compiled.explain().callbacks


@pytest.mark.slow
def test_lambdas_on_one_line_are_told_apart_or_left_to_python(tmp_path: Path) -> None:
    """Without columns in code objects there is no telling which one it is."""
    program = tmp_path / "one_line.py"
    program.write_text(
        "from ssa_compiler.importer.partial_evaluation.definitions import definition_of\n"
        "from ssa_compiler.importer.partial_evaluation.rejections import NotCompiledError\n"
        "one, two = lambda x: x + 1, lambda x: x + 2\n"
        "for each in one, two:\n"
        "    try:\n"
        "        print(definition_of(each).node.body[0].value.right.value)\n"
        "    except NotCompiledError:\n"
        "        print('none')\n"
    )
    flags = [[], ["-X", "no_debug_ranges"]] if sys.version_info >= (3, 11) else [["-B"]]
    runs = [
        subprocess.run([sys.executable, *more, program], capture_output=True, text=True, check=True) for more in flags
    ]
    assert [run.stdout.split() for run in runs] == [["1", "2"], ["none", "none"]][-len(runs) :]
