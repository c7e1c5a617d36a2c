"""Cases that only the nightly run takes: further dtypes and layers of what the other cases test already."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

__all__ = ["NIGHTLY", "with_nightly"]

NIGHTLY = bool(os.environ.get("SSA_COMPILER_NIGHTLY"))


def with_nightly(always: Sequence[Any], further: Sequence[Any]) -> list[Any]:
    """Return the cases of a parametrised test.

    Args:
        always: those that every run takes.
        further: those of the nightly run.
    """
    return [*always, *(further if NIGHTLY else ())]
