"""What TorchScript says about a program comes in short, behind the user's line and the remedy."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.errors import ScriptError
from ssa_compiler.importer.torchscript import script
from ssa_compiler.importer.torchscript.explanations import explain
from ssa_compiler.importer.torchscript.models import open_model
from ssa_compiler.importer.torchscript.source_rewrite import script_all

X = torch.ones(3, 3)
ANY = "write it in the part of Python that torch.jit.script takes"


def adds_text(x: Tensor) -> Tensor:
    return x + "a"


def clamps_by_lists(x: Tensor) -> Tensor:
    return torch.clamp(x, [1], 2)


def too_many_numbers(x: Tensor) -> Tensor:
    return x.sum(5, 6, 7)


def unknown_keyword(x: Tensor) -> Tensor:
    return x.sum(foo=1)


def another_element(x: Tensor) -> Tensor:
    names = ["a"]
    names.append(1)
    return x


def no_such_method(x: Tensor) -> Tensor:
    return x.foo()


@pytest.mark.parametrize(
    ("program", "line", "summary", "overloads"),
    [
        (adds_text, 1, "argument 'other' of aten::add: expected Tensor or number, got str", 3),
        (
            clamps_by_lists,
            1,
            "argument 'min' of aten::clamp: expected Optional[number] or Optional[Tensor], got List[int]",
            3,
        ),
        (too_many_numbers, 1, "argument 'keepdim' of aten::sum: expected bool, got int", 2),
        (unknown_keyword, 1, "aten::sum: keyword argument foo unknown", 2),
        (another_element, 2, "aten::append: could not match type int to t in argument 'el': .*", 1),
        (no_such_method, 1, "'Tensor' object has no attribute or method 'foo'", 0),
    ],
)
def test_the_line_the_summary_and_the_remedy_come_first(
    program: Callable[..., Any], line: int, summary: str, overloads: int
) -> None:
    with pytest.raises(ScriptError) as raised:
        ssa_compiler.compile(program, (X,))
    first, *rest = str(raised.value).splitlines()
    place = f"{__file__}:{program.__code__.co_firstlineno + line}: TorchScript cannot script {program.__name__}: "
    assert first.startswith(place)
    said, _, remedy = first.removeprefix(place).partition("; ")
    assert re.fullmatch(summary if summary.endswith(".*") else re.escape(summary), said)
    assert remedy.startswith(ANY)
    assert rest[overloads].startswith("  File ")
    assert sum("<--- HERE" in text for text in rest) == 1
    assert len(rest) <= 10


def test_all_that_torchscript_says_can_be_had() -> None:
    with pytest.raises(ScriptError) as raised:
        ssa_compiler.compile(adds_text, (X,))
    assert "(17 more overloads in the exception's `explanation`)" in str(raised.value)
    assert raised.value.explanation.count("Expected a value of type") > 10
    assert "The following variants" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("text", ["", "\n", "Arguments for call are not valid."])
def test_what_says_little(text: str) -> None:
    assert explain(text).summary == (text.strip(". \n") or "it does not say why")


def test_a_long_text_is_cut() -> None:
    told = explain("\n".join(["first", *(f"line {number}" for number in range(30))]))
    assert told.summary == "first"
    assert told.details.splitlines()[-1] == "(18 more lines in the exception's `explanation`)"


def unknown_method(x: Tensor) -> Tensor:
    return x.bool().foo()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(("program", "attempts"), [(no_such_method, [False]), (unknown_method, [False, True])])
def test_a_second_attempt_is_made_where_a_method_may_be_a_function(
    program: Callable[..., Any], attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []

    def counted(*args: Any, methods: bool, **options: Any) -> Any:
        made.append(methods)
        return script_all(*args, methods=methods, **options)

    monkeypatch.setattr(script, "script_all", counted)
    with pytest.raises(ScriptError):
        script.script_model(program)
    assert made == attempts


class Taught:
    def __init__(self, x: Tensor) -> None:
        self.x = x.foo()


def makes_an_object(x: Tensor) -> Tensor:
    return Taught(x).x


def test_the_calls_of_one_rejected_program_are_not_told_of_the_next() -> None:
    with pytest.raises(ScriptError) as kept:
        ssa_compiler.compile(makes_an_object, (X,))
    with pytest.raises(ScriptError) as raised:
        ssa_compiler.compile(adds_text, (X,))
    assert str(kept.value).count("is being compiled since") == 2  # of Taught, and of its __init__
    assert "is being compiled since" not in str(raised.value)


class Base(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1


class CallsBase(Base):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * 2


class NamesBase(Base):
    def forward(self, x: Tensor) -> Tensor:
        return Base.forward(self, x) * 2


def list_of_nones(x: Tensor):  # type: ignore[no-untyped-def]
    rows = [None]
    rows.append(x)
    return rows


def dict_of_nones(x: Tensor):  # type: ignore[no-untyped-def]
    rows = {"a": None}
    rows["a"] = x
    return rows


@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        (CallsBase(), "give the method of the base class a name of its own"),
        (NamesBase(), "give the method of the base class a name of its own"),
        (list_of_nones, "annotate a list or dict of Nones"),
        (dict_of_nones, "annotate a list or dict of Nones"),
    ],
)
def test_remedies(program: Any, remedy: str) -> None:
    with pytest.raises(ScriptError, match=remedy):
        open_model(program)  # partial evaluation takes some of them
