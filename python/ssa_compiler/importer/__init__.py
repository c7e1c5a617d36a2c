"""TorchScript to the torch dialect: see `program.import_program` and docs/Architecture.md, "The imported module".

A program that comes from the cache needs a few of these modules only: nothing is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .boundary.program import import_program

__all__ = ["import_program"]


def __getattr__(name: str) -> Any:
    if name != "import_program":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .boundary.program import import_program

    return import_program
