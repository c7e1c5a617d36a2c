"""Which tests one run takes of those that would take too long together: others in each commit.

A parametrised test runs with its first case and one of `CASES` of the others, a test that is marked slow in one of
`SLOW` runs. Everything else always runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

__all__ = ["CASES", "SLOW", "Case", "chosen"]

CASES = 9
SLOW = 9


@dataclass(frozen=True)
class Case:
    """A test with its parameters.

    Attributes:
        name: all of its name.
        function: the name without the parameters.
        slow: whether it is marked so.
    """

    name: str
    function: str
    slow: bool = False


def chosen(cases: Iterable[Case], seed: str) -> list[bool]:
    """Return for each case whether a run takes it.

    Args:
        cases: all there are, in the order in which they are defined.
        seed: of `CASES` or `SLOW` seeds in a row, each case is in about one.
    """
    found: list[bool] = []
    functions: set[str] = set()
    for case in cases:
        is_first = case.function not in functions
        functions.add(case.function)
        share = SLOW if case.slow else CASES
        drawn = (crc32(case.name.encode()) + crc32(seed.encode())) % share == 0
        found.append(drawn or (is_first and not case.slow))
    return found
