"""A fixed sample of PyTorch's operator database, and the machinery that runs it (docs/Coverage.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from _nightly import with_nightly
from ssa_compiler.testing._compare import Outcome
from ssa_compiler.testing.coverage.edge_runs import is_rounding
from ssa_compiler.testing.coverage.edges import DENORMALS, edge_values, empty_sizes, known_difference
from ssa_compiler.testing.coverage.run import merged, read, run
from ssa_compiler.testing.coverage.samples import Unit, cases, tolerance, units
from ssa_compiler.testing.coverage.source import NotWritable, write_call
from ssa_compiler.testing.coverage.table import page

INTERPRETED = [
    Unit("add", "bfloat16"),
    Unit("cumsum", "int32"),
    Unit("index_put", "float32"),
    Unit("linalg.solve", "float64"),
    Unit("masked_fill", "complex64"),
    Unit("nn.functional.embedding", "float32"),
    Unit("special.log_ndtr", "float32"),
    Unit("unbind_copy", "bool"),
]
COMPILED = [Unit("diagonal_copy", "float32"), Unit("mul", "float16"), Unit("igamma", "float32")]


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "interpreted"), [(INTERPRETED, True), (COMPILED, False)])
def test_fixed_sample(chosen: list[Unit], interpreted: bool, tmp_path: Path) -> None:
    records = list(run(chosen, tmp_path / "records.jsonl", interpreted=interpreted))
    assert {record["op"] for record in records} == {unit.op for unit in chosen}
    failed = [r for r in records if r["status"] not in ("native", "callback", "imported", "unscriptable")]
    assert not failed
    if not interpreted:
        statuses = {record["op"]: record["status"] for record in records}
        assert statuses == {"diagonal_copy": "native", "mul": "native", "igamma": "callback"}
    assert len(read(tmp_path / "records.jsonl")) == len(records)
    assert list(run(chosen, tmp_path / "records.jsonl", interpreted=interpreted)) == []  # all are done
    text = page(records)
    assert all(f"| `{unit.op}` |" in text for unit in chosen)


EDGES = [
    Unit("addmm", "float32", extremes=True),
    Unit("amax", "float32", extremes=True),
    Unit("div.floor_rounding", "int64", extremes=True),
    Unit("nn.functional.binary_cross_entropy", "float32", extremes=True),
]
COMPILED_EDGES = [Unit("nn.functional.kl_div", "float32", extremes=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "interpreted"), with_nightly([(EDGES[:2], True)], [(EDGES[2:], True), (COMPILED_EDGES, False)])
)
def test_fixed_sample_at_the_edges(chosen: list[Unit], interpreted: bool, tmp_path: Path) -> None:
    records = list(run(chosen, tmp_path / "records.jsonl", interpreted=interpreted))
    assert {record["op"] for record in records} == {unit.op for unit in chosen}
    assert [r for r in records if r["status"] not in ("native", "imported")] == []
    assert "function-beta-0" in {record["case"] for record in records} or not interpreted


def test_inputs_at_the_edges_keep_shapes_dtypes_and_strides() -> None:
    x, at = torch.randn(6, 4).t(), torch.tensor([3, 1])
    sets = edge_values([x, [x[0].clone(), at]])
    names = [inputs.name for inputs in sets]
    assert len(set(names)) == len(names)
    assert {"nan", "nan in tensor 1", "infinities", "zeros", DENORMALS, "tiny", "equal", "negative integers"} <= set(
        names
    )
    for inputs in sets:
        first, (second, third) = inputs.arguments
        assert (first.shape, first.dtype, first.stride()) == (x.shape, x.dtype, x.stride())
        assert (second.dtype, third.dtype) == (x.dtype, at.dtype)
        assert third is at or "integer" in inputs.name
    assert any(inputs.arguments[0].isnan().all() for inputs in sets)
    assert [inputs.arguments[0].shape for inputs in empty_sizes([x])] == [(0, 6), (4, 0)]


def double_sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(0)


def float_sum(x: torch.Tensor) -> torch.Tensor:
    return (x * 1.0).sum(0)


def test_what_cancels_may_differ_by_rounding_errors_and_no_more() -> None:
    x = torch.tensor([1e8, 1.0, -1e8])
    for ours, accepted in ((1.0, True), (8.0, True), (-60.0, True), (1e5, False), (float("nan"), False)):
        sides = Outcome(result=torch.tensor(0.0)), Outcome(result=torch.tensor(ours))
        assert is_rounding(double_sum, [x], *sides) == accepted
    y = torch.tensor([3e38, 3e38, -3e38])
    sides = Outcome(result=torch.tensor(3e38)), Outcome(result=torch.tensor(float("inf")))
    assert is_rounding(double_sum, [y], *sides)  # it depends on the order
    z = torch.tensor([2**63 - 1, 1, -(2**63)])  # 1 is no more than a rounding error beside the others in float32
    for value, accepted in ((0.0, True), (3e12, True), (1e16, False)):
        sides = Outcome(result=torch.tensor(1.0)), Outcome(result=torch.tensor(value))
        assert is_rounding(float_sum, [z], *sides) == accepted


def test_known_differences_are_named() -> None:
    assert known_difference("nn.functional.gelu", "infinities") is not None
    assert known_difference("nn.functional.gelu", "nan") is None
    assert known_difference("add", "infinities") is None


def test_a_hanging_case_is_a_timeout(tmp_path: Path) -> None:
    (record,) = run([Unit("add", "float32")], tmp_path / "records.jsonl", interpreted=True, timeout_s=0.01)
    assert record["status"] == "timeout"
    assert json.loads((tmp_path / "records.jsonl").read_text(encoding="utf-8")) == record


def test_records_of_several_files_are_merged(tmp_path: Path) -> None:
    def record(case: str, status: str) -> dict[str, str]:
        return {"op": "add", "dtype": "float32", "case": case, "status": status}

    files = {
        "first": [record("(samples)", "timeout"), record("function", "native"), record("inplace", "native")],
        "second": [
            record("function", "imported"),
            record("inplace", "rejected"),
            record("function-arguments", "imported"),
        ],
    }
    for name, records in files.items():
        (tmp_path / name).write_text("".join(f"{json.dumps(entry)}\n" for entry in records), encoding="utf-8")
    found = {
        entry["case"]: entry["status"] for entry in merged([tmp_path / "first", tmp_path / "second", tmp_path / "none"])
    }
    assert found == {"function": "native", "inplace": "rejected", "function-arguments": "imported"}


def test_units_are_operators_with_the_dtypes_that_they_take() -> None:
    found = units(("float32", "bool"))
    assert Unit("sin", "float32") in found
    assert Unit("linalg.svd", "bool") not in found


def test_cases_have_two_samples_and_the_in_place_form() -> None:
    names = [case.name for case in cases(Unit("clamp", "float32"))]
    assert names == ["function", "inplace", "function-arguments", "inplace-arguments"]


def test_tolerances_are_those_of_the_operator_if_wider() -> None:
    assert tolerance(Unit("add", "float32")) == (1.3e-6, 1e-5)
    assert tolerance(Unit("nn.functional.conv_transpose2d", "float32"))[0] > 1.3e-6


def test_calls_become_source() -> None:
    x, y = torch.ones(2), torch.ones(2)
    source = write_call(torch.add, (x, y), {"alpha": float("inf")})
    assert source.lines == ["return torch.add(a0, a1, alpha=float('inf'))"]
    assert source.parameters == ["a0: torch.Tensor", "a1: torch.Tensor"]
    assert write_call(torch.Tensor.__rsub__, (x, 2), {}).lines == ["return 2 - a0"]
    assert write_call(lambda x: torch.mul(x, 2).sum(), (x,), {}).lines[-1] == "return v1"
    with pytest.raises(NotWritable):
        write_call(torch.Tensor.__getitem__, (x, ()), {})


def test_what_a_call_writes_is_given_as_it_was() -> None:
    source = write_call(lambda x: x.add_(1), (torch.zeros(2),), {})
    assert torch.equal(source.arguments[0], torch.zeros(2))
