"""The exceptions of ssa-compiler: one family, each also a subclass of the fitting builtin.

`SsaCompilerError` is the base. What the user can repair (`ScriptError`, `ArgumentError`, ...) is kept apart from what
the compiler cannot do yet (`UnsupportedOpError`, `UnsupportedProgramError`), from what the compiled program itself
raises (`ProgramError` and its subclasses), from failures of the toolchain (`ToolError`) and from defects of this
compiler (`InternalError`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "InternalError",
    "ProgramAssertionError",
    "ProgramError",
    "ProgramIndexError",
    "ProgramKeyError",
    "ProgramOverflowError",
    "ProgramTypeError",
    "ProgramValueError",
    "ProgramZeroDivisionError",
    "ResultAliasError",
    "ScriptError",
    "SourceLocation",
    "SsaCompilerError",
    "TargetError",
    "ToolError",
    "UnsupportedOpError",
    "UnsupportedProgramError",
    "program_error",
]


@dataclass(frozen=True)
class SourceLocation:
    """A line of the user's program.

    Attributes:
        file: path as Python reports it.
        line: line number, counted from 1.
    """

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SsaCompilerError(Exception):
    """Base of every error this package raises.

    Attributes:
        location: the user's line the error is about, where there is one.
    """

    def __init__(self, message: str, *, location: SourceLocation | None = None) -> None:
        self.location = location
        super().__init__(f"{location}: {message}" if location else message)

    def add(self, text: str) -> None:
        """Add a line to the message."""
        self.args = (f"{self.args[0]}\n{text}",)


class InternalError(SsaCompilerError, RuntimeError):
    """A defect of this compiler: a program reached what none should reach. Nothing was compiled."""

    def __init__(self, what: str, *, location: SourceLocation | None = None) -> None:
        super().__init__(f"internal error: {what}; please report it with the program", location=location)


class ScriptError(SsaCompilerError, TypeError):
    """TorchScript cannot script the model; the message carries TorchScript's own explanation, shortened.

    Attributes:
        explanation: all of what TorchScript says; "" where it was not asked.
    """

    def __init__(self, message: str, *, explanation: str = "", location: SourceLocation | None = None) -> None:
        self.explanation = explanation
        super().__init__(message, location=location)


class ArgumentError(SsaCompilerError):
    """Base of the errors about the arguments of a call.

    Attributes:
        mismatch: whether the arguments only differ from those that the program was compiled for, so that another
            specialisation of it might take them.
        exhausted: whether that cannot be, as there are `max_specialisations` already.
    """

    mismatch = False
    exhausted = False

    def as_mismatch(self) -> Self:
        """Return this error, marked as a mismatch."""
        self.mismatch = True
        return self


class ArgumentTypeError(ArgumentError, TypeError):
    """Wrong number, Python type or dtype of arguments."""


class ArgumentValueError(ArgumentError, ValueError):
    """Wrong shape or device of an argument, or a specialised argument that differs."""


class UnsupportedOpError(SsaCompilerError, NotImplementedError):
    """An operator that cannot be compiled; the message names it and the user's line."""


class UnsupportedProgramError(SsaCompilerError, NotImplementedError):
    """A program whose meaning cannot be kept by the compiler; the message names the op and the user's line."""


class ResultAliasError(UnsupportedProgramError):
    """A result shares memory with another tensor of the caller's in eager, and would not in the compiled program.

    Attributes:
        result: its number, if it is an element of the tuple that the program returns, or 0 for the result itself.
    """

    def __init__(self, message: str, *, result: int | None, location: SourceLocation | None = None) -> None:
        self.result = result
        super().__init__(message, location=location)


class TargetError(SsaCompilerError, RuntimeError):
    """The target is unknown, or no device for it is present on this machine."""


class ToolError(SsaCompilerError, RuntimeError):
    """A child process (ssa-opt, iree-compile) failed, crashed or ran out of time.

    Attributes:
        command: the command line that repeats the failure.
        stderr: what the process printed there.
        returncode: its exit status; None if it was stopped at its time limit.
        reproducer: path of the saved input.
    """

    def __init__(
        self,
        message: str,
        *,
        command: Sequence[str] = (),
        stderr: str = "",
        returncode: int | None = None,
        reproducer: str | None = None,
        location: SourceLocation | None = None,
    ) -> None:
        self.command = tuple(command)
        self.stderr = stderr
        self.returncode = returncode
        self.reproducer = reproducer
        super().__init__(message, location=location)


class ProgramError(SsaCompilerError, RuntimeError):
    """The compiled program raised: eager PyTorch raises a RuntimeError at the same line."""


class ProgramIndexError(ProgramError, IndexError):
    """An index is out of range, as eager's IndexError."""


class ProgramKeyError(ProgramError, KeyError):
    """A key is not in a dict, as eager's KeyError."""

    __str__ = Exception.__str__  # KeyError shows what is missing, this is a message


class ProgramValueError(ProgramError, ValueError):
    """The compiled program raised eager's ValueError."""


class ProgramTypeError(ProgramError, TypeError):
    """The compiled program raised eager's TypeError."""


class ProgramZeroDivisionError(ProgramError, ZeroDivisionError):
    """An integer division or remainder by zero in the program."""


class ProgramOverflowError(ProgramError, OverflowError):
    """A number of the program does not fit, as eager's OverflowError; an int of eager's may have more than 64 bits."""


class ProgramAssertionError(ProgramError, AssertionError):
    """An `assert` of the user's program failed."""


_PROGRAM_ERRORS: dict[str, type[ProgramError]] = {
    "IndexError": ProgramIndexError,
    "KeyError": ProgramKeyError,
    "ValueError": ProgramValueError,
    "TypeError": ProgramTypeError,
    "ZeroDivisionError": ProgramZeroDivisionError,
    "OverflowError": ProgramOverflowError,
    "AssertionError": ProgramAssertionError,
    "RuntimeError": ProgramError,
}


def program_error_name(kind: type[BaseException]) -> str:
    """Return the word by which `program_error` knows an exception class: its name, with the module if it is no
    builtin.
    """
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def eager_error_name(error: Exception) -> str:
    """Return that word for what an op of PyTorch raised: the class itself, or the first base of it that is eager's."""
    kinds = type(error).__mro__
    return program_error_name(
        next(kind for kind in kinds if kind.__module__ in ("builtins", "torch._C", "torch.linalg"))
    )


def _named_class(name: str) -> type[Exception] | None:
    """The exception class of a name as TorchScript gives it: of a builtin, or with its module, without classes around
    it.
    """
    module, dot, own = name.rpartition(".")
    holder = sys.modules.get(module if dot else "builtins")
    found = getattr(holder, own, None)
    if found is None and holder is not None:
        inside = {getattr(kind, own, None) for kind in vars(holder).values() if isinstance(kind, type)} - {None}
        found = inside.pop() if len(inside) == 1 else None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


_made: dict[type[Exception], type[ProgramError]] = {}
"""The classes that are a `ProgramError` and another exception, by that."""


def _program_error_of(kind: type[Exception]) -> type[ProgramError]:
    """A class that is a `ProgramError` and another exception; an error of the compiler's itself."""
    if issubclass(kind, UnsupportedProgramError):
        return kind  # type: ignore[return-value]
    if kind not in _made:
        contents = {"__doc__": f"The program raised {kind.__name__}, as eager does.", "__module__": __name__}
        try:
            both = ProgramError if issubclass(ProgramError, kind) else None
            _made[kind] = both or type(f"Program{kind.__name__.lstrip('_')}", (ProgramError, kind), contents)
        except TypeError:  # it wants to be derived from in its own way
            _made[kind] = ProgramError
    return _made[kind]


def _program_error_class(name: str) -> type[ProgramError] | None:
    """The exception class that a program raises for eager's, None if there is no exception of that name."""
    if name in _PROGRAM_ERRORS:
        return _PROGRAM_ERRORS[name]
    kind = _named_class(name)
    return None if kind is None else _program_error_of(kind)


def program_error(text: str) -> ProgramError | UnsupportedProgramError:
    """Turn the text of a run-time assertion, `"IndexError: message [file.py:12]"`, into the exception it names.

    Args:
        text: the assertion's message. The word before the first colon is a Python exception name, with its module if it
            is no builtin (`program_error_name`); an unknown one gives a plain `ProgramError`. A trailing `[file:line]`
            becomes the error's location.
    Returns:
        The exception, not raised: of a class that is a `ProgramError` and of the class that is named. For the word
        `unsupported` it is an `UnsupportedProgramError`: only at run time it shows that the program cannot be computed.
    """
    text = text.strip()
    location = None
    if text.endswith("]") and " [" in text:
        head, _, tail = text[:-1].rpartition(" [")
        file, _, line = tail.rpartition(":")
        if file and line.isdigit():
            text, location = head, SourceLocation(file, int(line))
    name, colon, message = text.partition(":")
    if colon and name == "unsupported":
        return UnsupportedProgramError(text, location=location)
    kind = _program_error_class(name) if colon and all(part.isidentifier() for part in name.split(".")) else None
    if kind is not None:
        return kind(message.strip(), location=location)
    return ProgramError(text, location=location)
