"""What a call costs where the program itself takes microseconds.

`python -m benchmarks.call_cost`. Each program computes next to nothing: its time is that of checking and passing
arguments, and of making results. It is called with the same tensors each time, and, as `moved`, with copies that lie
elsewhere; the time of making these is taken off.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

import ssa_compiler

from .settings import describe_machine

__all__ = ["PROGRAMS", "measure_calls"]

_BATCH_S = 0.002
"""How long a run of calls takes at least."""


class Step(nn.Module):
    """A step of a recurrent decoder: ordinary parameters, which require grad."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(24, 16), nn.GRUCell(16, 16), nn.Linear(16, 24)

    def forward(self, tokens: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits and the next state."""
        hidden = self.cell(self.embed(tokens), hidden)
        return self.out(hidden), hidden


class Steps(Step):
    """The same with numbers among the arguments."""

    def forward(self, tokens: Tensor, hidden: Tensor, temperature: float, n: int) -> tuple[Tensor, int]:  # type: ignore[override]
        """Return the logits after some steps, and a number."""
        for _ in range(n):
            hidden = self.cell(self.embed(tokens), hidden)
        return self.out(hidden) * temperature, n + 1


def add(x: Tensor) -> Tensor:
    """One tensor in, one out."""
    return x + 1


def write(x: Tensor) -> Tensor:
    """An argument is written, and returned."""
    x.add_(1)
    return x


def several(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Four tensors in, four out."""
    return a + 1, b + 1, c + 1, d + 1


def listed(x: Tensor, xs: list[Tensor], state: dict[str, Tensor]) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Lists and dicts in and out."""
    return [x + each for each in xs], {"h": state["h"] + x}


def _programs() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    torch.manual_seed(0)
    x, tokens, hidden = torch.rand(16), torch.randint(0, 24, (3,)), torch.rand(3, 16)
    return {
        "add": (add, (x,)),
        "write": (write, (x,)),
        "several": (several, tuple(torch.rand(16) for _ in range(4))),
        "listed": (listed, (x, [torch.rand(16) for _ in range(3)], {"h": torch.rand(16)})),
        "step": (Step().eval(), (tokens, hidden)),
        "steps": (Steps().eval(), (tokens, hidden, 0.5, 1)),
    }


PROGRAMS = tuple(_programs())


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return type(value)(map(_copied, value)) if isinstance(value, (list, tuple)) else value


def _seconds(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start


def _least(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least time of each call in microseconds; they are run in turns."""
    counts = []
    for call in calls:
        call()
        counts.append(max(1, int(_BATCH_S / max(_seconds(call, 3) / 3, 1e-9))))
    times = [[_seconds(call, count) / count for call, count in zip(calls, counts)] for _ in range(rounds)]
    return [min(column) * 1e6 for column in zip(*times)]


def measure_calls(name: str, *, rounds: int, torch_compile: bool) -> dict[str, float]:
    """Measure the calls of one program in microseconds.

    Args:
        name: one of `PROGRAMS`.
        rounds: how often each way to run it has its turn.
        torch_compile: whether to measure torch.compile, too.
    Returns:
        The least time by way to run it, and by `<way>, moved`.
    """
    program, args = _programs()[name]
    ways: dict[str, Callable[..., Any]] = {"eager": program, "ours": ssa_compiler.compile(program, _copied(args))}
    if torch_compile:
        ways["torch.compile"] = torch.compile(program)
    for way in ways.values():
        for _ in range(5):
            way(*_copied(args))
    calls: list[Callable[[], object]] = [lambda: _copied(args)]
    for way in ways.values():
        given = _copied(args)
        calls.append(lambda way=way, given=given: way(*given))  # type: ignore[misc]
        calls.append(lambda way=way: way(*_copied(args)))  # type: ignore[misc]
    copying, *times = _least(calls, rounds)
    found: dict[str, float] = {}
    for number, kind in enumerate(ways):
        found[kind] = times[2 * number]
        found[f"{kind}, moved"] = times[2 * number + 1] - copying
    return found


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.call_cost", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="turns of each way to run a program (40)")
    parser.add_argument("--without-torch-compile", action="store_true", help="leave torch.compile out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"microseconds per call; {describe_machine('cpu')['processor']}")
    with torch.no_grad():
        for number, name in enumerate(PROGRAMS):
            row = measure_calls(name, rounds=options.rounds, torch_compile=not options.without_torch_compile)
            if not number:
                print(f"| program | {' | '.join(row)} |\n|{'---|' * (len(row) + 1)}")
            print(f"| {name} | {' | '.join(f'{time_:.1f}' for time_ in row.values())} |", flush=True)


if __name__ == "__main__":
    main()
