"""Errors reach the user with his own frames."""

# Annotations are evaluated: TorchScript reads those of ignored functions as they are.
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler.errors import InternalError
from ssa_compiler.process import tracebacks

X = torch.arange(12.0).reshape(4, 3)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tracebacks.VARIABLE)


def rejected(x: Tensor) -> Tensor:
    y = x.clone()
    y /= y[:, :1]
    return y


def not_scripted(x: Tensor) -> Tensor:
    return torch.add(x, "a")


def row(x: Tensor, n: int) -> Tensor:
    return x[n] + 1


@torch.jit.ignore
def forbid(x: Tensor) -> Tensor:
    if float(x.sum()):
        raise ValueError("not mine")
    return x


def raising(x: Tensor) -> Tensor:
    return forbid(x) + 1


def frames(call: Callable[[], Any], kind: type[BaseException]) -> list[tuple[str, str]]:
    """File and function of the frames of what a call raises."""
    with pytest.raises(kind) as raised:
        call()
    return [
        (Path(entry.filename).name, entry.name)
        for entry in traceback.extract_tb(raised.value.__traceback__)
        if entry.name != "frames"
    ]


def test_compile_and_the_users_line() -> None:
    found = frames(lambda: ssa_compiler.compile(rejected, (X,)), ssa_compiler.UnsupportedProgramError)
    assert found == [("tracebacks_test.py", "<lambda>"), ("api.py", "compile")]


def test_a_call_and_the_users_line() -> None:
    compiled = ssa_compiler.compile(row, (X, 0))
    expected = [("tracebacks_test.py", "<lambda>"), ("compiled_program.py", "__call__")]
    assert frames(lambda: compiled(X, 9), IndexError) == expected
    assert frames(lambda: compiled(X, "a"), TypeError) == expected
    assert frames(lambda: ssa_compiler.script(rejected)(X), NotImplementedError) == expected


def test_frames_of_the_users_functions_are_kept() -> None:
    compiled = ssa_compiler.compile(raising, (X,))
    assert frames(lambda: compiled(X), ValueError) == [
        ("tracebacks_test.py", "<lambda>"),
        ("compiled_program.py", "__call__"),
        ("tracebacks_test.py", "forbid"),
    ]


def test_a_rejection_by_torchscript_is_printed_once() -> None:
    with pytest.raises(ssa_compiler.ScriptError) as raised:
        ssa_compiler.compile(not_scripted, (X,))
    printed = "".join(traceback.format_exception(raised.value))
    assert printed.count("Traceback") == 1
    assert printed.count(".py") <= 5


def test_what_the_user_was_handling_is_kept() -> None:
    def handle() -> None:
        try:
            raise KeyError("the user's")
        except KeyError:
            ssa_compiler.compile(rejected, (X,))

    with pytest.raises(ssa_compiler.UnsupportedProgramError) as raised:
        handle()
    assert "the user's" in "".join(traceback.format_exception(raised.value))


def test_all_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tracebacks.VARIABLE, "full")
    assert len(frames(lambda: ssa_compiler.compile(rejected, (X,)), ssa_compiler.UnsupportedProgramError)) > 10


@pytest.mark.parametrize("defect", [InternalError("it is broken"), KeyError("a slip")])
def test_defects_keep_all_frames(defect: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise defect

    monkeypatch.setattr("ssa_compiler.compiled_program.compile_one", fail)
    found = frames(lambda: ssa_compiler.compile(row, (X, 0)), type(defect))
    assert found[-1] == ("tracebacks_test.py", "fail")
    assert ("compiled_program.py", "_specialise") in found
