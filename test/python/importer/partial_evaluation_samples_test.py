"""Functions are called with samples once for alike arguments, which are told apart by all that decides."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
import torch

from ssa_compiler.importer.partial_evaluation.samples import Samples
from ssa_compiler.importer.partial_evaluation.values import UNKNOWN, Known, Scalar, TensorValue, TupleValue, Value


def _counted() -> tuple[Callable[..., torch.Tensor], list[None]]:
    calls: list[None] = []

    def add(x: torch.Tensor, y: object) -> torch.Tensor:
        calls.append(None)
        return x + y  # type: ignore[operator]

    return add, calls


def _tensor(samples: Samples, *sizes: int, dtype: torch.dtype = torch.float32) -> Value:
    return samples.value(torch.zeros(sizes, dtype=dtype))


def test_alike_arguments_are_tried_once() -> None:
    samples = Samples()

    def named(kind: str) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda x: (torch.add if kind == "add" else torch.lt)(x, 1)

    def result(value: Value) -> Value:
        def function(x: torch.Tensor) -> torch.Tensor:
            return torch.neg(x)

        return samples.result(function, [value], {})

    first, second = result(_tensor(samples, 3)), result(_tensor(samples, 3))
    assert first is second
    assert result(_tensor(samples, 3, 4)) is not first
    assert result(_tensor(samples, 3, dtype=torch.int64)) != first
    kinds = [samples.result(named(kind), [_tensor(samples, 3)], {}) for kind in ("add", "less")]
    assert [value.dtype for value in kinds if isinstance(value, TensorValue)] == [torch.float32, torch.bool]


@pytest.mark.parametrize(
    "operands",
    [[Known(1), Known(1.0)], [Known(True), Known(1)], [Scalar(int), Scalar(float)], [Known(2), Scalar(float)]],
    ids=str,
)
def test_numbers_that_are_equal_may_have_other_types(operands: list[Value]) -> None:
    samples = Samples()
    found = [samples.result(torch.add, [_tensor(samples, 3, dtype=torch.uint8), each], {}) for each in operands]
    alone = [Samples().result(torch.add, [_tensor(samples, 3, dtype=torch.uint8), each], {}) for each in operands]
    assert found == alone


def test_examples_that_are_smaller_than_a_sample() -> None:
    """Where a function raises for the sizes of the example, its result has a sample all the same."""
    samples = Samples()
    index = TupleValue((Known(slice(None)), Scalar(int)))
    for steps in (0, 1, 5):
        part = samples.result(operator.getitem, [_tensor(samples, 2, steps, 3), index], {}, "select")
        assert isinstance(part, TensorValue)
        assert (part.dtype, part.rank) == (torch.float32, 2)
        assert part.sample is not None
        assert part.sample.shape == (2, 3)
    for length in (3, 9):  # the kernel has 4
        x, weight = _tensor(samples, 1, 8, length), _tensor(samples, 16, 8, 4)
        found = samples.result(torch.conv1d, [x, weight], {}, "conv1d")
        assert isinstance(found, TensorValue)
        assert (found.dtype, found.rank) == (torch.float32, 3)
        assert found.sample is not None


def test_what_captures_objects_that_may_change_is_tried_again() -> None:
    samples = Samples()
    add, calls = _counted()
    for _ in range(2):
        samples.result(add, [_tensor(samples, 3), Known(2)], {})
    assert len(calls) == 2  # it captures a list


def test_the_dtypes_are_known_of_what_needs_a_size_where_the_rank_is_not() -> None:
    """`topk(50)` is of no tensor of two elements."""
    given = {"k": Known(50), "dim": Known(-1)}
    found = Samples().result(torch.topk, [TensorValue(torch.float32)], given, "topk")
    assert isinstance(found, TupleValue)
    assert [getattr(each, "dtype", None) for each in found.elements] == [torch.float32, torch.int64]


def test_what_fails_for_all_samples_in_a_container_is_not_known() -> None:
    samples = Samples()

    def fails(tensors: object) -> torch.Tensor:
        raise ValueError

    assert samples.result(fails, [TupleValue((_tensor(samples, 2),))], {}) == UNKNOWN
