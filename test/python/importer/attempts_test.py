"""What ends an attempt at an import: exceptions that nobody anticipated are reported with the user's line."""

from __future__ import annotations

import pytest
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from ssa_compiler import InternalError
from ssa_compiler.errors import SourceLocation, UnsupportedProgramError
from ssa_compiler.importer.isolation.fake_mode import FakeMode, _Undispatched
from ssa_compiler.importer.values.attempts import unexpected_errors_located
from ssa_compiler.importer.values.plan import AnotherPlan

LINE = SourceLocation("model.py", 7)


def test_an_unexpected_exception_becomes_an_internal_error_with_the_users_line() -> None:
    with (
        pytest.raises(InternalError, match=r"model\.py:7: internal error: KeyError: 'size'; please report it"),
        unexpected_errors_located(lambda: LINE),
    ):
        raise KeyError("size")


def test_only_the_first_line_of_its_text_is_told() -> None:
    with (
        pytest.raises(InternalError, match="RuntimeError: no such dtype; please") as caught,
        unexpected_errors_located(lambda: LINE),
    ):
        raise RuntimeError("\nno such dtype\nC++ CapturedTraceback:\n#4 std::function")
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_exhausted_stack_is_the_programs() -> None:
    with (
        pytest.raises(UnsupportedProgramError, match=r"model\.py:7: .*nested too deeply"),
        unexpected_errors_located(lambda: LINE),
    ):
        raise RecursionError


def test_modes_that_an_exhausted_stack_did_not_leave_are_left() -> None:
    """Every op of a later program would be dispatched to them."""

    def enters() -> None:
        FakeMode().__enter__()
        _Undispatched().__enter__()  # type: ignore[no-untyped-call]
        raise RecursionError

    with pytest.raises(UnsupportedProgramError), unexpected_errors_located(lambda: LINE):
        enters()
    assert _get_current_dispatch_mode_stack() == []


@pytest.mark.parametrize("error", [AnotherPlan.inlining(), UnsupportedProgramError("no"), MemoryError()])
def test_requests_and_errors_of_this_package_pass_unchanged(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, unexpected_errors_located(lambda: LINE):
        raise error
    assert caught.value is error
