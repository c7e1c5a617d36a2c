"""What ends the import of a program: that it is unsupported, that it surely raises, or a defect of this package."""

from __future__ import annotations

from ...errors import InternalError, SourceLocation, UnsupportedOpError, UnsupportedProgramError
from ..ir.locations import Locations
from .plan import Form

__all__ = ["Diagnostics", "OtherForm", "ProgramRaises", "Unjoinable"]

_IN_PYTHON = "call it in a function that is marked @torch.jit.ignore, which stays Python"


class ProgramRaises(Exception):
    """The code being imported surely raises, if it is reached.

    Attributes:
        text: "ExceptionName: message".
        emitted: whether the code that was emitted raises it, with run-time values in the message.
    """

    def __init__(self, text: str, *, emitted: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.emitted = emitted


class OtherForm(UnsupportedProgramError):
    """A program needs a list or dict in another form: it has dynamic keys, or tuples and a dynamic length.

    Attributes:
        form: that form.
        forms: all that are known to be needed, that one first.
    """

    def __init__(self, text: str, location: SourceLocation | None, form: Form) -> None:
        super().__init__(text, location=location)
        self.form = form
        self.forms: tuple[Form, ...] = (form,)


class Unjoinable(UnsupportedProgramError):
    """Two branches make values that have no common type, tensors of two ranks, or texts of which the program asks
    something.
    """

    def __init__(self, rejection: UnsupportedOpError | UnsupportedProgramError) -> None:
        super().__init__(str(rejection))
        self.location = rejection.location
        self._rejection = rejection

    def plain(self) -> UnsupportedOpError | UnsupportedProgramError:
        """Return the rejection as it is told."""
        return self._rejection


class Diagnostics:
    """Makes errors that name the user's line.

    Attributes:
        locations: the user's line that is being imported.
    """

    def __init__(self, locations: Locations) -> None:
        self.locations = locations

    def unsupported(self, message: str) -> UnsupportedProgramError:
        """Return the error for a program whose meaning cannot be kept.

        Args:
            message: what is rejected, and after a semicolon the remedy.
        """
        return UnsupportedProgramError(f"unsupported: {message}", location=self.locations.user())

    def unsupported_op(self, message: str) -> UnsupportedOpError:
        """Return the error for an op that cannot be imported.

        Args:
            message: what is rejected, and after a semicolon the remedy; the op's own is to be called by Python.
        """
        remedy = "" if "; " in message else f"; {_IN_PYTHON}"
        return UnsupportedOpError(f"unsupported: {message}{remedy}", location=self.locations.user())

    def defect(self, what: str) -> InternalError:
        """Return the error for what no program should reach."""
        return InternalError(what, location=self.locations.user())
