"""Every op of TorchScript's registry on lists and dicts does what Python does, with constants and with run-time values.

By default some of the programs run: every op for each type of elements. `SSA_COMPILER_SLOW_TESTS=1` runs all.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import ssa_compiler
from _container_ops import (
    COMPARING,
    DICT_OPS,
    ELEMENTS,
    ELSEWHERE,
    KEYS,
    LIST_OPS,
    Snippet,
    argument_snippets,
    constant_snippets,
    dict_snippets,
    dynamic_snippets,
    program,
    raising_program,
    schemas,
)
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import Call, run_stages

SLOW = bool(os.environ.get("SSA_COMPILER_SLOW_TESTS"))
NUMBERS = ("int", "float", "bool")

# What only partial evaluation takes with run-time values: which list it is depends on them.
EVALUATED = (
    "-> max(a, b)",
    "-> min(a, b)",
    "m = max(a, b); m.append(e) -> a, b",
    "m = min(b, a); m.append(e) -> a, b",
)
# What TorchScript itself rejects, by the type of the keys.
NOT_SCRIPTED = {("bool", "-> k in d.keys()"): "there is no `in` for lists of bools"}


def outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, BaseException | None]:
    """What a function returns and leaves in its arguments, or what it raises."""
    given = copy.deepcopy(list(arguments))
    try:
        return (function(*given), tuple(given)), None
    except Exception as error:  # whatever Python raises
        return None, error


def shown(result: Any) -> str:
    """A result as text in which -0.0 is not 0.0, 1 is not True, and a list that is in two places has a number."""
    lists: dict[int, int] = {}

    def text(value: Any) -> str:
        if not isinstance(value, (list, dict, tuple)):
            return repr(value)
        parts = (
            [f"{key!r}: {text(part)}" for key, part in value.items()] if isinstance(value, dict) else map(text, value)
        )
        number = "" if isinstance(value, tuple) else f"#{lists.setdefault(id(value), len(lists))}"
        return f"{type(value).__name__}{number}({', '.join(parts)})"

    return text(result)


def assert_same(function: Callable[..., Any], calls: Sequence[Sequence[Any]], snippets: Sequence[Snippet] = ()) -> None:
    """Check a program at every stage under the interpreter."""
    for stage, number, found in run_stages(function, [Call(*call) for call in calls]):
        expected, error = outcome(function, calls[number])
        assert_outcome(
            f"{stage}, {calls[number]}", expected, error, (found.result, found.arguments[0]), found.error, snippets
        )


def assert_compiled(function: Callable[..., Any], calls: Sequence[Sequence[Any]], snippets: Sequence[Snippet]) -> None:
    compiled = ssa_compiler.compile(function, tuple(copy.deepcopy(calls[0])), cache=False, max_specialisations=1)
    for call in calls:
        assert_outcome(f"compiled, {call}", *outcome(function, call), *outcome(compiled, call), snippets)


def assert_outcome(
    where: str,
    expected: Any,
    expected_error: BaseException | None,
    actual: Any,
    error: BaseException | None,
    snippets: Sequence[Snippet],
) -> None:
    if expected_error is not None:
        assert isinstance(error, type(expected_error)), f"{where}: {expected_error!r}, got {error!r}"
        return
    assert error is None, f"{where}: {error!r}"
    if snippets and shown(expected) != shown(actual):
        for snippet, one, other in zip(snippets, expected[0], actual[0], strict=True):
            assert shown(one) == shown(other), f"{where}: {snippet}"
    assert shown(expected) == shown(actual), where


def raises(function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> bool:
    return any(outcome(function, call)[1] is not None for call in calls)


def split(
    folder: Path, parameters: str, snippets: Sequence[Snippet], calls: Sequence[Sequence[Any]]
) -> tuple[list[Snippet], list[Snippet]]:
    """Those that raise for no call, and those that do, each text once."""
    fine: list[Snippet] = []
    raising: dict[str, Snippet] = {}
    for snippet in snippets:
        if not raises(program(folder, parameters, [snippet]), calls):
            fine.append(snippet)
        elif SLOW:
            raising[str(snippet)] = snippet
        else:
            raising.setdefault(snippet.text, snippet)
    return fine, list(raising.values())


def calls_for(kind: str) -> list[tuple[Any, ...]]:
    """Elements and a position; the example is a list with all of them once."""
    return [(*values, position) for values, position in zip(ELEMENTS[kind] * 2, (0, -1, 2, -3, 1, 0))]


def parameters_of(kind: str) -> str:
    return f"p: {kind}, q: {kind}, s: {kind}, e: {kind}, i: int"


def test_every_op_of_the_registry_is_here() -> None:
    found = {(schema.name, str(schema.arguments[0].type).startswith("Dict")) for schema in schemas()}
    named = {(op, False) for op in LIST_OPS} | {(op, True) for op in DICT_OPS}
    elsewhere = {op for op, _ in found - named}
    assert elsewhere <= set(ELSEWHERE), "an op that no program has: add it to _container_ops.py"
    assert named <= found


@pytest.mark.parametrize("kind", ELEMENTS)
def test_lists_of_constants(kind: str, tmp_path: Path) -> None:
    snippets = constant_snippets(kind)
    if kind != "int" and not SLOW:
        snippets = [snippet for snippet in snippets if snippet.op in COMPARING]
    fine, raising = split(tmp_path, "", snippets, [()])
    assert_same(program(tmp_path, "", fine), [()], fine)
    if kind in ("int", "str") or SLOW:
        assert_same(raising_program(tmp_path, "", raising), [(n,) for n in (len(raising), *range(len(raising)))])


@pytest.mark.parametrize("kind", KEYS)
def test_dicts(kind: str, tmp_path: Path) -> None:
    snippets = [s for s in dict_snippets(kind, "z") if (kind, s.text) not in NOT_SCRIPTED]
    calls = [(3,), (-(2**62),)]
    fine, raising = split(tmp_path, "z: int", snippets, calls)
    assert_same(program(tmp_path, "z: int", fine), calls, fine)
    if kind == "str" or SLOW:
        numbers = (len(raising), *range(len(raising)))
        assert_same(raising_program(tmp_path, "z: int", raising), [(n, 3) for n in numbers])


@pytest.mark.parametrize("place", ["local", "element", "entry"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_lists_of_run_time_values(kind: str, place: str, tmp_path: Path) -> None:
    if place == "element" and kind != "bool" and not SLOW:
        pytest.skip("slow: as the entry of a dict")
    calls, parameters = calls_for(kind), parameters_of(kind)
    snippets = [snippet for snippet in dynamic_snippets(kind, place) if not snippet.text.startswith(EVALUATED)]
    fine, raising = split(tmp_path, parameters, snippets, calls)
    made = program(tmp_path, parameters, fine)
    assert_same(made, calls, fine)
    if place == "local":
        assert_compiled(made, calls, fine)
        chosen = calls if SLOW else calls[1:3]
        cases = [(number, *call) for number in range(len(raising)) for call in chosen]
        assert_same(raising_program(tmp_path, parameters, raising), [(len(raising), *calls[0]), *cases])


@pytest.mark.parametrize("text", EVALUATED)
def test_what_is_evaluated(text: str, tmp_path: Path) -> None:
    (snippet,) = (snippet for snippet in dynamic_snippets("int", "local") if snippet.text == text)
    setup = "p = int(x[0]); q = int(x[1]); s = int(x[2]); e = p; "
    made = program(tmp_path, "x: torch.Tensor", [Snippet(snippet.op, text, setup + snippet.setup)])
    check(made, *((torch.tensor(numbers),) for numbers in ([1, 2, 3], [3, 2, 1], [2, 2, 2], [0, -1, 0])))


@pytest.mark.parametrize("kind", NUMBERS)
def test_lists_of_the_callers(kind: str, tmp_path: Path) -> None:
    snippets = argument_snippets(kind)
    parameters = f"e: {kind}, i: int"
    values = ELEMENTS[kind] if SLOW else ELEMENTS[kind][:2]

    def calls_of(one: Sequence[Snippet]) -> list[tuple[Any, ...]]:
        return [(v[3], 1, *([*v] for _ in one)) for v in values]

    fine = [s for s in snippets if not raises(caller_program(tmp_path, parameters, kind, [s]), calls_of([s]))]
    made = caller_program(tmp_path, parameters, kind, fine)
    assert_same(made, calls_of(fine), fine)
    if kind == "float" or SLOW:
        assert_compiled(made, calls_of(fine), fine)


def caller_program(folder: Path, parameters: str, kind: str, snippets: Sequence[Snippet]) -> Callable[..., Any]:
    lists = [snippet.setup.split(";")[0].removeprefix("a = ") for snippet in snippets]
    return program(folder, ", ".join([parameters, *(f"{name}: List[{kind}]" for name in lists)]), snippets)
