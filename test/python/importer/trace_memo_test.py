"""The work of an import grows with the program's text, not with its nesting, and memoised traces are those of fresh
runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import torch
from torch import Tensor

from _mutation_table import load
from _nightly import NIGHTLY
from programs import PROGRAMS
from ssa_compiler.importer import import_program
from ssa_compiler.importer.fake import fake_run, trace_memo
from ssa_compiler.importer.fake.trace import Trace

_IMPORTS = ("import torch", "from torch import Tensor")


def nest(depth: int, *, around: str, body: str) -> list[str]:
    """A program with a statement in so many loops or branches."""
    lines = [*_IMPORTS, "def program(x: Tensor, n: int):", "    y, z = x.clone(), x"]
    for level in range(depth):
        lines.append("    " * (level + 1) + around.format(level))
    return [*lines, "    " * (depth + 1) + body, "    return y + z"]


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], int]:
    """Counts how many ops an import evaluates, those included that are memoised or have a rule."""
    count = 0
    original = fake_run.trace_by_rule

    def counted(*args: Any) -> Trace | None:
        nonlocal count
        count += 1
        return original(*args)

    monkeypatch.setattr(fake_run, "trace_by_rule", counted)

    def count_of(function: Any) -> int:
        nonlocal count
        count = 0
        import_program(function, (torch.rand(4, 3), 2))
        return count

    return count_of


@pytest.mark.parametrize(
    "around",
    ["for i{} in range(n):", "while bool(y[0, 0] > {}):", "if n > {}:"],
)
@pytest.mark.parametrize("body", ["y, z = y * 2, y", "y, z = torch.sort(y, 0)[0], y + z"])
def test_nesting_adds_and_does_not_multiply(
    around: str, body: str, tmp_path: Path, evaluations: Callable[[Any], int]
) -> None:
    programs = ["\n".join(nest(depth, around=around, body=body)) for depth in range(1, 6)]
    counts = [evaluations(load(text, tmp_path, f"depth{depth}")) for depth, text in enumerate(programs)]
    assert counts[-1] <= 5 * counts[1], counts  # doubled at each level, they would be 8 times as many


@pytest.mark.parametrize(
    "body",
    [
        ["y = y * 2"],
        ["if i > 1:", "    y = (y * 2).view(4, 3)", "    k += 1"],
        ["z = y * 2", "if i > k:", "    y = z + x", "else:", "    y = z", "    k = k * 2"],
    ],
)
def test_what_a_body_surely_changes_needs_no_second_import(
    body: list[str], tmp_path: Path, evaluations: Callable[[Any], int]
) -> None:
    """A tensor that each iteration makes anew, an int that it adds to: forecast, by the graph of the body."""

    def program(loops: int) -> str:
        written = [line for _ in range(loops) for line in ("for i in range(n):", *(f"    {line}" for line in body))]
        lines = ["y, k = x.clone(), 1", *written, "return y, k"]
        return "\n".join([*_IMPORTS, "def program(x: Tensor, n: int):", *(f"    {line}" for line in lines)])

    counts = [evaluations(load(program(loops), tmp_path, f"loops{loops}")) for loops in (0, 1, 2)]
    ops = sum(line.count(" * 2") + line.count(" + x") + line.count(".view") for line in body if "k * 2" not in line)
    assert counts[1] - counts[0] == counts[2] - counts[1] == ops, counts


COLLECTED = """
def collected(x: Tensor, n: int, k: int) -> tuple[Tensor, Tensor, Tensor]:
    parts: list[Tensor] = []
    others: list[Tensor] = []
    places: list[Tensor] = []
    for i in range(n):
        chosen = x[:, i] > 0.5
        if bool(chosen.any()):
            parts.append(x[chosen] * k)
            others.append(x[chosen] + k)
            places.append(chosen.nonzero())
    return torch.cat(parts), torch.cat(others), torch.cat(places)
"""


def test_lists_that_need_another_form_cost_the_call_that_makes_them(
    tmp_path: Path, evaluations: Callable[[Any], int]
) -> None:
    """Not the whole program, which would be imported again for each list of each call."""

    def program(calls: int) -> str:
        results = ", ".join(f"collected(x, n, {k})" for k in range(calls))
        lines = [*_IMPORTS, COLLECTED, "def program(x: Tensor, n: int):", f"    return {results}"]
        return "\n".join(lines)

    counts = [evaluations(load(program(calls), tmp_path, f"calls{calls}")) for calls in (1, 2, 4)]
    assert counts[2] <= 2.2 * counts[1] <= 5 * counts[0], counts


WRITTEN_LATER = """
def swapped(x: Tensor, n: int):
    order = torch.arange(4)
    for i in range(n):
        y = x[order] * 2
        order[i % 4] = 3 - i % 4
    return y
"""


def test_conclusions_that_fail_cost_the_loop_that_draws_them(tmp_path: Path, evaluations: Callable[[Any], int]) -> None:
    """The indices are in range by construction, until the loop is seen to write them; what is in front of it stays."""

    def program(before: int) -> str:
        lines = [*_IMPORTS, WRITTEN_LATER, "def program(x: Tensor, n: int):", *["    x = x * 2"] * before]
        return "\n".join([*lines, "    y = x", "    if n > 1:", "        y = swapped(x, n)", "    return y"])

    counts = [evaluations(load(program(before), tmp_path, f"before{before}")) for before in (0, 10)]
    assert counts[1] == counts[0] + 10, counts


def test_a_forecast_of_many_branches_takes_no_longer(tmp_path: Path, evaluations: Callable[[Any], int]) -> None:
    """Each branch may leave what was before it: there are more paths than could be followed."""
    branches = [line for k in range(40) for line in (f"        if i > {k}:", "            y += x")]
    lines = [
        "def program(x: Tensor, n: int):",
        "    y = x.clone()",
        "    for i in range(n):",
        *branches,
        "    return y",
    ]
    assert evaluations(load("\n".join([*_IMPORTS, *lines]), tmp_path, "branches")) < 500


@pytest.mark.slow
def test_calls_add(tmp_path: Path, evaluations: Callable[[Any], int]) -> None:
    def calls(number: int) -> int:
        lines = [
            *_IMPORTS,
            "def program(x: Tensor, n: int):",
            *["    x = torch.sort(x, 0)[0]"] * number,
            "    return x",
        ]
        return evaluations(load("\n".join(lines), tmp_path, f"calls{number}"))

    one, ten, fifty = calls(1), calls(10), calls(50)
    assert fifty - ten <= 4.5 * (ten - one)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if NIGHTLY or crc32(name.encode()) % 5 == 1])
def test_memoised_traces_are_those_of_fresh_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_memo, "_traces", {})
    monkeypatch.setattr(fake_run, "trace_by_rule", lambda *_: None)
    program = PROGRAMS[name]
    arguments = next(iter(program.calls()))
    first = import_program(program.make(), tuple(arguments))
    compared = 0
    original = fake_run.memoised

    def checked(symbols: Any, sizes: Any, what: Any, args: Any, run: Callable[[], Trace]) -> Trace:
        nonlocal compared
        fresh: list[Trace] = []

        def noted() -> Trace:
            fresh.append(run())
            return fresh[0]

        found = original(symbols, sizes, what, args, noted)
        if not fresh:
            compared += 1
            expected, question = run(), trace_memo._Question(symbols, args)
            assert vars(trace_memo._Template(found, question)) == vars(trace_memo._Template(expected, question))
        return found

    monkeypatch.setattr(fake_run, "memoised", checked)
    assert import_program(program.make(), tuple(arguments)).module == first.module
    assert compared


def test_settings_that_decide_on_dtypes_are_in_the_key() -> None:
    def divided(x: Tensor) -> Tensor:
        return x / 2

    before = torch.get_default_dtype()
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        try:
            module = import_program(divided, (torch.ones(3, dtype=torch.int64),)).module
        finally:
            torch.set_default_dtype(before)
        assert f"f{torch.finfo(dtype).bits}" in module.split("aten.div")[1].split("loc(")[0]


def first_place(x: Tensor) -> Tensor:
    return (x > 4).nonzero()[0]


def test_a_trace_that_cannot_be_made_again_is_run_again() -> None:
    modules = [import_program(first_place, (torch.ones(2, 6),)).module for _ in range(2)]
    assert modules[0] == modules[1]
