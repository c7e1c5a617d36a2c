"""Where the functions of the C library are, for kernels that call them by address."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from collections.abc import Iterator

from ..errors import TargetError

__all__ = ["address_of"]


@functools.cache
def address_of(name: str) -> int:
    """Return the address of a function of `math.h`: of the library that the interpreter itself computes with.

    Args:
        name: the function.
    Raises:
        TargetError: there is none.
    """
    for library in _libraries():
        function = getattr(library, name, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise TargetError(f"the C library has no function {name}; compile with kernels=False")


def _libraries() -> Iterator[ctypes.CDLL]:
    yield ctypes.CDLL(None)  # what the process has loaded
    found = ctypes.util.find_library("m")
    if found is not None:
        yield ctypes.CDLL(found)
