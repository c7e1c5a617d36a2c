"""TorchScript's registry of ops on numbers and strings, compared with Python at boundary values.

`python -m ssa_compiler.testing.scalar_registry` does so for all pairs of values.
"""

from __future__ import annotations

import random

import pytest
import torch

from ssa_compiler.testing import scalar_registry as registry


def test_every_op_is_compared_or_excepted_by_name() -> None:
    names = {schema.name for schema in torch._C._jit_get_all_schemas()}
    _, unknown = registry.cases()
    assert unknown == []
    assert registry.NOT_COMPARED.keys() <= names
    assert registry.NOT_COMPARED.keys().isdisjoint(registry.EXPRESSIONS)
    assert registry.EXPRESSIONS.keys() <= names


@pytest.mark.parametrize("kind", ["int", "float", "bool"])
def test_run_time_values(kind: str) -> None:
    assert list(registry.differences(2, [kind], compiled=20)) == []


def test_literals() -> None:
    expressions = registry.of_literals(registry.cases()[0], 1, random.Random(0))
    assert list(registry.constant_differences(expressions, raising=10)) == []


def test_strings() -> None:
    expressions = registry.of_texts(["straße ÄÖ", " x\ty \r\n", "X"])
    assert list(registry.constant_differences(expressions, raising=10)) == []


def test_the_comparison_sees_differences() -> None:
    cases = [registry.Case("", "x * y", "float"), registry.Case("", "not x > y", "bool")]
    for program, wrong in zip(
        registry.programs(cases), (lambda k, a, b, x, y, p, q: x * y + 0.0, lambda *v: v[3] <= v[4])
    ):
        found = list(registry.compare(program, wrong, None))
        assert found
        assert all("0.0" in line or "nan" in line for line in found)
