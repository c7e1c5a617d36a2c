"""The size of a converted program grows linearly with its writes: nothing is unrolled or carried twice."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "benchmarks")]
from conversion_time import Size, convert, count_ops, write_program  # noqa: E402 (found by the line above)


def ops(size: Size) -> int:
    return count_ops(convert(write_program(size))[1])


def test_ops_grow_linearly_with_writes() -> None:
    counts = [ops(Size(writes=writes, regions=10, tensors=5)) for writes in (100, 200, 400)]
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    assert 0 < second <= 2.2 * first


def test_ops_grow_linearly_with_regions() -> None:
    counts = [ops(Size(writes=160, regions=regions, tensors=5)) for regions in (8, 16, 32)]
    assert counts[2] - counts[1] <= 2.2 * max(counts[1] - counts[0], 1)


def test_tensors_add_no_more_than_their_own_ops() -> None:
    few, many = (ops(Size(writes=160, regions=8, tensors=tensors)) for tensors in (2, 16))
    assert many <= 2 * few


def test_programs_are_reproducible() -> None:
    assert write_program(Size(20, 4, 3), seed=1) == write_program(Size(20, 4, 3), seed=1)
    assert count_ops(write_program(Size(20, 4, 3))) == 3 + 2 * 20 + 4 + 2 + 4
