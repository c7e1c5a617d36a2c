"""Tests of the harness: it must find differences of every kind and name the first stage that has one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler import pipeline
from ssa_compiler.testing import Call, StageMismatch, check, compare_values, harness

# --- comparing values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (torch.ones(2), torch.ones(2, dtype=torch.float64), "expected torch.float32"),
        (torch.ones(2), torch.ones(2, 1), r"expected torch.float32 \[2\], got torch.float32 \[2, 1\]"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), r"the first at \[1\]: expected 2, got 3"),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001]), "1 of 2 elements differ"),
        (torch.tensor(True), torch.tensor(False), "expected True, got False"),
        (torch.ones(2), 1.0, "expected a tensor, got float"),
        (1, True, "expected 1, got True"),
        (1, 1.0, "expected 1, got 1.0"),
        (1.5, 1.6, "differ"),
        ("a", "b", "expected 'a', got 'b'"),
        (None, 0, "expected None, got 0"),
        ((1, 2), (1, 2, 3), "expected 2 elements, got 3"),
        ((1, 2), [1, 2], "expected a tuple, got list"),
        ([1], (1,), "expected a list, got tuple"),
        ({"a": 1}, {"b": 1}, "expected keys"),
        ({"a": (1, torch.zeros(1))}, {"a": (1, torch.ones(1))}, r"result\['a'\]\[1\]"),
    ],
)
def test_differences_are_found(expected: Any, actual: Any, message: str) -> None:
    detail = compare_values(expected, actual)
    assert detail is not None
    assert re.search(message, detail)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0 + 1e-7, float("nan")])),
        (torch.empty(0, 3), torch.empty(0, 3)),
        ([(1, None)], [(1, None)]),
        (float("inf"), float("inf")),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_equal_values_pass(expected: Any, actual: Any) -> None:
    assert compare_values(expected, actual) is None


def noisy(x: Tensor, n: int) -> Tensor:
    y = nn.functional.dropout(x, 0.5, True)
    for _ in range(n):
        y = y + torch.rand_like(x)
    return y


def test_every_side_draws_the_same_random_numbers() -> None:
    before = torch.get_rng_state()
    check(noisy, (torch.ones(3, 4), 2), (torch.ones(3, 4), 0), compiled=False)
    assert torch.equal(torch.get_rng_state(), before)


def test_tolerances_are_the_callers() -> None:
    assert compare_values(torch.tensor(1.0), torch.tensor(1.01)) is not None
    assert compare_values(torch.tensor(1.0), torch.tensor(1.01), rtol=0.1) is None
    assert compare_values(torch.tensor(1), torch.tensor(2), rtol=10.0) is not None


def test_a_number_read_from_a_tensor_is_as_exact_as_the_tensor() -> None:
    assert compare_values(88.87457275390625, 88.87458038330078) is None  # neighbours among float32
    assert compare_values(0.1, 0.10000001) is not None  # not float32
    assert compare_values(1e300, float("inf")) is not None


# --- the whole check, with stages made wrong on purpose ---------------------------------------------------------------


def add_in_place(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i] += 1.0
    return y


def write_argument(x: Tensor) -> Tensor:
    x[0] = 7.0
    return x


def two_results(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x + 1.0
    return y, y


def optional_keyword(x: Tensor, scale: float = 2.0) -> Tensor:
    return x * scale


X = torch.arange(6.0).reshape(3, 2)


def test_block_counts_follow_the_trip_count_in_every_stage() -> None:
    checked = check(add_in_place, (X, 2), (X, 0), (X, 3), compiled=False)
    for counts, trips in zip(checked.block_counts, (2, 0, 3), strict=True):
        for stage in ("imported", "scf", "tensorssa", "iree"):
            loops = [count for label, count in counts[stage].items() if label.startswith("main/loop@harness_test.py")]
            assert sum(loops) == trips, stage
    assert [checked.loops(stage) for stage in checked.stages] == [1, 1, 1, 1]


def test_written_argument_and_identity_of_results() -> None:
    check(write_argument, (X,), (X + 1,), compiled=False)
    check(two_results, (X,), compiled=False)
    assert X[0, 0] == 0.0, "check must copy the arguments"


def test_keyword_arguments() -> None:
    check(optional_keyword, Call(X, scale=3.0), Call(X, scale=-1.0), Call(X), compiled=False)


def test_aliasing_arguments_stay_aliased_in_the_copies() -> None:
    base = torch.zeros(4)
    first, second = harness._copy((base[:3], base[1:]))
    first[1] = 5.0
    assert second[0] == 5.0
    assert base[1] == 0.0


def corrupt(monkeypatch: pytest.MonkeyPatch, stage: str, change: Callable[[str], str]) -> None:
    """Make the pipeline return a changed text for one stage and all later ones."""
    original = pipeline.run_pipeline

    def changed(text: str, **options: Any) -> Any:
        result = original(text, **options)
        names = list(result.stages)
        for name in names[names.index(stage) :]:
            before = result.stages[name]
            result.stages[name] = change(before)
            assert name != stage or result.stages[name] != before, "nothing was changed"
        return result

    monkeypatch.setattr(pipeline, "run_pipeline", changed)


@pytest.mark.parametrize("stage", ["imported", "scf", "tensorssa", "iree"])
def test_the_first_stage_that_differs_is_named(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    corrupt(monkeypatch, stage, lambda text: text.replace("constant.float 1.0", "constant.float 3.0"))
    with pytest.raises(StageMismatch, match=f"stage '{stage}', input set 1: result") as raised:
        check(add_in_place, (X, 0), (X, 1), compiled=False)
    assert (raised.value.stage, raised.value.call) == (stage, 1)


def test_a_lost_write_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt(monkeypatch, "tensorssa", lambda text: text.replace("tssa.writeback = 0", "tssa.ignored = 0"))
    with pytest.raises(StageMismatch, match="stage 'tensorssa', input set 0"):
        check(write_argument, (X,), compiled=False)


def test_lost_identity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt(monkeypatch, "iree", lambda text: text.replace("tssa.same_as", "tssa.ignored"))
    with pytest.raises(
        StageMismatch, match="result 1 is the same tensor as result 0 in eager, but another tensor here"
    ):
        check(two_results, (X,), compiled=False)


def test_a_missing_assertion_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def weaken(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if "cf.assert" not in line)

    corrupt(monkeypatch, "scf", weaken)
    # The mutable stage still raises from the operator itself, so what is compared is the error's type.
    check(add_in_place, (X, 0), (X, 4), compiled=False)


def test_errors_of_the_ir_are_no_errors_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt(monkeypatch, "scf", lambda text: text.replace("torch.aten.clone", "torch.aten.no_such_op"))
    with pytest.raises(StageMismatch, match=r"stage 'scf', input set 0: the IR is wrong: .*no_such_op"):
        check(add_in_place, (X, 1), compiled=False)


class Counter(nn.Module):
    """A module with state."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        """Count a call."""
        self.calls += 1.0
        return x + self.calls


def test_module_state_is_carried_from_call_to_call() -> None:
    module = Counter()
    check(module, (X,), (X,), (X,), compiled=False)
    assert torch.equal(module.calls, torch.zeros(2))


def test_lost_module_state_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt(monkeypatch, "tensorssa", lambda text: text.replace("tssa.writeback", "tssa.ignored"))
    with pytest.raises(StageMismatch, match="module state"):
        check(Counter(), (X,), compiled=False)


def test_no_input_sets() -> None:
    with pytest.raises(ValueError, match="at least one input set"):
        check(two_results)
