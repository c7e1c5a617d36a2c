"""Reporting exceptions that no code anticipated with the user's line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

from ...errors import InternalError, SourceLocation, SsaCompilerError, UnsupportedProgramError
from .plan import AnotherPlan

__all__ = ["unexpected_errors_located"]


@contextmanager
def unexpected_errors_located(location: Callable[[], SourceLocation | None]) -> Iterator[None]:
    """Report exceptions that no code anticipated with the user's line, instead of as they are.

    What PyTorch's shape functions and the MLIR bindings raise names neither the user's op nor the line.

    Args:
        location: returns the user's line that is being imported.
    Raises:
        UnsupportedProgramError: Python's stack is exhausted.
        InternalError: any other exception that is neither this package's own nor an `AnotherPlan`.
    """
    modes = _get_current_dispatch_mode_stack()
    try:
        yield
    except (SsaCompilerError, AnotherPlan, MemoryError):
        raise
    except RecursionError as error:
        _leave_modes(modes)
        raise UnsupportedProgramError(
            "unsupported: a program nested too deeply; split it into several", location=location()
        ) from error
    except Exception as error:
        first_line = (str(error).strip().splitlines() or [""])[0]
        raise InternalError(f"{type(error).__name__}: {first_line}", location=location()) from error


def _leave_modes(modes: list[Any]) -> None:
    """Leave the modes that `__exit__` did not leave, as there was no stack to run it.

    Args:
        modes: those that were active before.
    """
    while len(active := _get_current_dispatch_mode_stack()) > len(modes):
        # The one of FakeTensors has a place of its own, below all others.
        _pop_mode(getattr(active[-1], "_mode_key", None))
