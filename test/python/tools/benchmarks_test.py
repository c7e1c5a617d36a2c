"""The benchmarks run at their smallest sizes: the harness on two workloads, every program, the counts, the
comparison.
"""

from __future__ import annotations

import copy
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import ssa_compiler
from ssa_compiler.testing import check

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks import call_cost, cli, launches, library_ops, measure, results, row_slope
from benchmarks.compare import find_changes
from benchmarks.index import published_runs, with_index
from benchmarks.peers import PEERS
from benchmarks.report import markdown
from benchmarks.run import make_plan
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.discrete import BitonicSort, EditDistance, UnionFind, Viterbi
from benchmarks.workloads.numeric import AdaptiveFilter
from benchmarks.workloads.sampling import TopPSampler

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "benchmarks"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command line measures of two small workloads, eager and ours, whose loops launch kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSA_COMPILER_KERNELS", "off")
        return _measured(tmp_path_factory)


def _measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    output = tmp_path_factory.mktemp("benchmarks") / "run.json"
    arguments = ["run", "--set", "small", "--only", "row_update,seq2seq", "--peer", "ours", "--seconds", "0.05"]
    assert cli.main([*arguments, "--rounds", "3", "--output", str(output)]) == 0
    assert output.with_suffix(".md").exists()
    return dict(json.loads(output.read_text(encoding="utf-8")))


def _result(report: dict[str, Any], workload: str) -> dict[str, Any]:
    return next(result for result in report["results"] if result["workload"] == workload)


@pytest.mark.slow
def test_harness_measures_both_peers_on_every_input_set(report: dict[str, Any]) -> None:
    for name in ("row_update", "seq2seq"):
        result = _result(report, name)
        assert set(result["peers"]) == {"eager", "ours"}
        for peer in result["peers"].values():
            assert peer["status"] == "ok", peer
            assert set(peer["latency"]) == set(result["inputs"])
            assert all(latency["median_ms"] > 0 for latency in peer["latency"].values())
            assert peer["first_call_s"] > 0
            assert peer["warm_start_s"] > 0
        assert not result["peers"]["ours"]["details"]["from_cache"]
        assert result["peers"]["ours"]["warm_from_cache"]


def test_launches_are_those_of_the_loops_that_ran(report: dict[str, Any]) -> None:
    sizes = WORKLOADS["row_update"].small
    counted = _result(report, "row_update")["peers"]["ours"]["launches"]
    assert counted["kernels"] == sizes["steps"] + 1  # one for each step, and the clone
    assert _result(report, "row_update")["peers"]["eager"]["launches"]["kernels"] == sizes["steps"]  # the additions


def test_a_program_that_is_one_kernel_is_one_launch() -> None:
    built = WORKLOADS["row_update"].at(WORKLOADS["row_update"].small)
    inputs = next(iter(built.inputs.values()))
    counted = launches.count_launches(ssa_compiler.compile(built.model, inputs, cache=False), inputs)
    assert counted is not None
    assert counted.kernels == 1


def test_nothing_of_ours_is_compiled_again_or_called_back(report: dict[str, Any]) -> None:
    for name in ("row_update", "seq2seq"):
        ours = _result(report, name)["peers"]["ours"]
        assert ours["recompiles"] == 0
        assert ours["details"]["callbacks"] == []
        assert ours["artefact_bytes"] > 1000


def test_report_has_versions_settings_and_what_is_known_of_inputs(report: dict[str, Any]) -> None:
    assert {"torch", "iree-base-compiler", "ssa-compiler"} <= set(report["versions"])
    assert report["settings"]["allocator"]["MALLOC_MMAP_MAX_"] == "0"
    lengths = {facts["decoded steps"] for facts in _result(report, "seq2seq")["inputs"].values()}
    assert len(lengths) > 1  # the data decides when to stop
    text = markdown(report)
    assert "| seq2seq" in text
    assert "callbacks of ssa-compiler" in text
    assert "as published" in text


def test_losses_are_found_and_explained_where_known(report: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    changed = copy.deepcopy(report)
    for result in changed["results"]:
        for name, factor in (("eager", 1.0), ("ours", 3.0)):
            next(iter(result["peers"][name]["latency"].values()))["median_ms"] = factor
    known = {"loss": [{"workload": "seq2seq", "why": "It waits.", "remedy": "Not waiting."}]}
    monkeypatch.setattr(results, "read_toml", lambda name: known)
    losses = {loss.workload.split()[0]: loss for loss in results.find_losses(changed)}
    assert losses["seq2seq"].ratio == pytest.approx(3.0)
    assert "Not waiting." in losses["seq2seq"].explanation
    assert losses["row_update"].explanation == ""


def test_report_shows_losses_by_workload(report: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    changed = copy.deepcopy(report)
    for result in changed["results"]:
        for name, factor in (("eager", 1.0), ("ours", 3.0)):
            next(iter(result["peers"][name]["latency"].values()))["median_ms"] = factor
    known = {"loss": [{"workload": "seq2seq", "why": "It waits.", "remedy": "Not waiting."}]}
    monkeypatch.setattr(results, "read_toml", lambda name: known)
    text = markdown(changed)
    assert "- row_update: quicker by eager 3x (rows 8, columns 4, steps 12). **No explanation yet.**" in text
    assert "It waits. What would change it: Not waiting." in text


def test_losses_of_published_runs_are_explained() -> None:
    missing = {
        (stem, loss.workload.partition(" ")[0], loss.peer)
        for stem, run in published_runs(PUBLISHED).items()
        for loss in results.find_losses(run)
        if not loss.explanation
    }
    assert not missing, "write a line into benchmarks/losses.toml, then `python -m benchmarks report` each file again"


def test_published_runs_are_listed_with_their_commands(report: dict[str, Any]) -> None:
    readme = (PUBLISHED / "README.md").read_text(encoding="utf-8")
    runs = published_runs(PUBLISHED)
    assert with_index(readme, runs) == readme, "`python -m benchmarks report FILE.json` lists it"
    assert all((PUBLISHED / f"{stem}.md").exists() for stem in runs)
    listed = with_index(readme, {"2026-01-01-cpu-quick": report})
    assert (
        f"| [2026-01-01-cpu-quick](2026-01-01-cpu-quick.md) ([JSON](2026-01-01-cpu-quick.json)) | {report['date']}"
        in listed
    )
    assert f"`{report['command']}`" in listed
    with pytest.raises(ValueError, match="no lines"):
        with_index("nothing", {})


def test_comparison_finds_what_got_worse(report: dict[str, Any]) -> None:
    assert find_changes(report, report, "ours", 0.05) == []
    worse = copy.deepcopy(report)
    ours = _result(worse, "row_update")["peers"]["ours"]
    ours["launches"]["kernels"] += 5
    ours["details"]["callbacks"] = ["an op"]
    for latency in ours["latency"].values():
        latency["median_ms"] *= 100
    found = find_changes(report, worse, "ours", 0.05)
    assert {change.what for change in found} == {"time, of eager", "kernels", "callbacks"}
    assert all(change.worse for change in found)
    assert not any(change.worse for change in find_changes(worse, report, "ours", 0.05))


def test_resumed_run_measures_nothing_again(
    report: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "run.json"
    output.write_text(json.dumps(report), encoding="utf-8")
    monkeypatch.setattr("benchmarks.run._results_as_known", lambda *_: pytest.fail("measured again"))
    arguments = ["run", "--set", "small", "--only", "row_update,seq2seq", "--peer", "ours", "--resume"]
    arguments += ["--seconds", "0.05", "--rounds", "3"]
    assert cli.main([*arguments, "--output", str(output)]) == 0


def test_resumed_run_does_not_mix_settings_or_versions(
    report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run.json"
    arguments = ["run", "--set", "small", "--only", "row_update,seq2seq,jacobi", "--peer", "ours", "--resume"]
    output.write_text(json.dumps(report), encoding="utf-8")
    assert cli.main([*arguments, "--seconds", "0.1", "--rounds", "3", "--output", str(output)]) == 2
    assert "settings: effort was" in capsys.readouterr().err
    other = {**report, "versions": {**report["versions"], "torch": "2.1.0"}}
    output.write_text(json.dumps(other), encoding="utf-8")
    assert cli.main([*arguments, "--seconds", "0.05", "--rounds", "3", "--output", str(output)]) == 2
    assert "versions: torch was 2.1.0, is " in capsys.readouterr().err
    assert json.loads(output.read_text(encoding="utf-8")) == other


@pytest.mark.slow
def test_interrupted_run_keeps_what_it_has(tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "run",
        "--set",
        "small",
        "--only",
        "row_update,jacobi",
        "--peer",
        "eager",
    ]
    process = subprocess.Popen(
        [*command, "--rounds", "100000", "--seconds", "600", "--output", str(output)],
        cwd=PUBLISHED.parents[1],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert process.stderr is not None
    assert "1/2" in process.stderr.readline()
    time.sleep(0.5)
    process.terminate()
    assert "--resume goes on" in process.communicate(timeout=120)[1]
    assert process.returncode == 130
    (result,) = json.loads(output.read_text(encoding="utf-8"))["results"]
    assert result["failure"] == "interrupted"
    assert "interrupted" in output.with_suffix(".md").read_text(encoding="utf-8")


def test_unknown_names_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--only", "nonsense"]) == 2
    assert "no workload 'nonsense'" in capsys.readouterr().err
    with pytest.raises(KeyError, match="no peer 'nobody'"):
        make_plan("quick", peers=["nobody"])


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload_can_be_scripted_and_leaves_its_inputs_alone(name: str) -> None:
    workload = WORKLOADS[name]
    built = workload.at(workload.small)
    scripted = torch.jit.script(built.model)
    assert len(built.inputs) > 1
    for args in built.inputs.values():
        before = copy.deepcopy(args)
        expected = built.model(*args)
        measure.check_result(scripted(*args), expected, workload.rtol, workload.atol)
        measure.check_result(args, before, 0.0, 0.0)
        assert all(isinstance(value, int) for value in built.facts(expected).values())


def test_union_find_finds_connected_components() -> None:
    edges = torch.tensor([[7, 5], [1, 2], [2, 1], [5, 3], [3, 7], [6, 6]])
    components, count = UnionFind(8)(edges)
    assert components.tolist() == [0, 1, 1, 3, 4, 3, 6, 3]
    assert count == 5


def test_bitonic_network_sorts() -> None:
    x = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))
    assert torch.equal(BitonicSort()(x), x.sort(dim=1).values)


def test_edit_distance_is_levenshteins() -> None:
    kitten, sitting = (torch.tensor([[ord(c)] for c in word]) for word in ("kitten", "sitting"))
    assert EditDistance()(kitten, sitting, 6, 7).tolist() == [3]
    assert EditDistance()(kitten, sitting, 0, 4).tolist() == [4]


def test_viterbi_finds_the_best_of_all_paths() -> None:
    start, change, seen = torch.randn(3), torch.randn(3, 3), torch.randn(4, 3)
    best, score = Viterbi()(start, change, seen, 4)
    paths = torch.cartesian_prod(*[torch.arange(3)] * 4)
    scores = (
        start[paths[:, 0]] + seen[torch.arange(4), paths].sum(dim=1) + change[paths[:, :-1], paths[:, 1:]].sum(dim=1)
    )
    assert best.tolist() == paths[scores.argmax()].tolist()
    torch.testing.assert_close(score, scores.max())


def test_adaptive_filter_finds_the_echo() -> None:
    signal = torch.randn(400, generator=torch.Generator().manual_seed(0))
    _, weights = AdaptiveFilter(3)(signal, 0.5 * signal + 0.25 * signal.roll(2), 0.5)
    torch.testing.assert_close(weights, torch.tensor([0.5, 0.0, 0.25]), atol=1e-3, rtol=0)


def test_top_p_takes_the_fewest_tokens_that_make_up_p() -> None:
    logits = torch.tensor([[0.1, 0.5, 0.05, 0.35]]).log().repeat(3, 1)
    tokens, choices = TopPSampler()(logits, torch.tensor([[0.1], [0.6], [0.999]]), 1.0, 0.7)
    assert choices.tolist() == [2, 2, 2]
    assert tokens.tolist() == [1, 3, 3]


def test_detectors_let_tens_to_hundreds_of_boxes_reach_nms() -> None:
    workload = WORKLOADS["yolov3"]
    built = workload.at()
    counts = [built.facts(built.model(*args))["boxes in NMS"] for args in built.inputs.values()]
    assert counts == [100, 20, 300]


def test_ssd300_has_the_priors_of_the_paper() -> None:
    workload = WORKLOADS["ssd300"]
    built = workload.at()
    scores, deltas = next(iter(built.inputs.values()))
    assert sum(level.shape[1] * level.shape[2] * level.shape[3] for level in deltas) == 4 * 8732
    assert scores[0].shape == (1, 4 * 21, 38, 38)


@pytest.mark.parametrize("name", ["yolov3", "ssd", "fcos", "yolact"])
def test_number_of_boxes_depends_on_the_scores(name: str) -> None:
    workload = WORKLOADS[f"{name}_filtered"]
    built = workload.at({**workload.small, "size": 64})
    found = [built.facts(built.model(*args)) for args in built.inputs.values()]
    assert len({facts["boxes in NMS"] for facts in found}) > 1
    assert all(0 < facts["kept"] <= workload.small["limit"] for facts in found)


def test_workloads_are_listed_by_group() -> None:
    text = (PUBLISHED.parents[1] / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for workload in WORKLOADS.values():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {workload.group} |")]
        assert f"`{workload.name}`" in row, f"{workload.name} is missing from benchmarks/README.md"


def test_sweeps_and_variants_name_sizes_that_there_are() -> None:
    for workload in WORKLOADS.values():
        for changes in (*workload.variants, *({name: 1} for name in workload.sweeps), workload.small):
            assert set(changes) <= set(workload.sizes)


def test_sets_measure_nothing_twice_and_sweeps_have_all_their_points() -> None:
    runs = make_plan("full").runs
    sizes = [(run.workload, str(sorted({**WORKLOADS[run.workload].sizes, **run.changes}.items()))) for run in runs]
    assert len(set(sizes)) == len(sizes)
    assert {run.workload for run in runs} == set(WORKLOADS)
    plots = pytest.importorskip("benchmarks.plots")  # it needs matplotlib, which only the benchmarks do
    made = [
        {
            "workload": run.workload,
            "changes": run.changes,
            "kind": run.kind,
            "sizes": {**WORKLOADS[run.workload].sizes, **run.changes},
        }
        for run in make_plan("scaling").runs
    ]
    sweeps = plots.find_sweeps({"results": made})
    for workload in WORKLOADS.values():
        for size, values in workload.sweeps.items():
            assert [point["sizes"][size] for point in sweeps[workload.name, size]] == list(values)


def test_rounding_errors_are_measured_by_eagers_own() -> None:
    exact = (torch.full([2], 1.0, dtype=torch.float64), 3)
    measure.check_rounding((torch.tensor([1.003, 1.0]), 3), (torch.tensor([1.0, 0.999]), 3), exact)
    with pytest.raises(AssertionError, match="result 0: off by"):
        measure.check_rounding((torch.tensor([1.005, 1.0]), 3), (torch.tensor([1.0, 0.999]), 3), exact)
    with pytest.raises(AssertionError, match="result 1"):
        measure.check_rounding((torch.ones(2), 4), (torch.ones(2), 3), exact)
    with pytest.raises(AssertionError, match="result 0"):
        measure.check_rounding((torch.tensor([1.0, float("nan")]), 3), (torch.tensor([1.0, 0.999]), 3), exact)


def test_results_that_differ_are_rejected() -> None:
    with pytest.raises(AssertionError, match="result 1"):
        measure.check_result((torch.ones(2), 3), (torch.ones(2), 4), 1e-5, 1e-5)
    with pytest.raises(AssertionError, match="expected 2 results"):
        measure.check_result((torch.ones(2),), (torch.ones(2), 4), 1e-5, 1e-5)


def test_time_limit_stops_what_takes_too_long() -> None:
    def endless() -> None:
        with measure.time_limit(0.05):
            while True:
                pass

    with pytest.raises(measure.TimeLimit, match=r"> 0.05 s"):
        endless()


def test_flow_of_a_loop_with_a_branch() -> None:
    # 0 -> 1; 1 -> 2 or 5; 2 -> 3 or 4; 3 -> 4; 4 -> 1
    graph = [(1,), (2, 5), (3, 4), (4,), (1,), ()]
    loop = launches.Loop(7, 1, 1, inside=(launches.Condition(3, 4),))
    assert launches.flow_of_blocks(graph, [loop]) == [1, 8, 7, 3, 7, 1]


def test_flow_leaves_out_a_branch_that_became_a_selection() -> None:
    loop = launches.Loop(7, 1, 1, inside=(launches.Condition(3, 4),))
    assert launches.flow_of_blocks([(1,), (2, 3), (1,), ()], [loop]) == [1, 8, 7, 1]


def test_flow_of_nested_loops_that_are_tested_at_their_end() -> None:
    # The inner loop is reached 4 times, 3 of them run it, 9 turns in all; block 4 is its body, 1 and 5 belong to the
    # outer.
    graph = [(1, 6), (2,), (3, 5), (4,), (4, 5), (2, 6), ()]
    inner = launches.Loop(9, 4, 3)
    assert launches.flow_of_blocks(graph, [launches.Loop(4, 1, 1, inside=(inner,))]) == [1, 1, 4, 3, 9, 4, 1]


def test_flow_that_does_not_fit_is_rejected() -> None:
    with pytest.raises(launches.UnlikeFlow):
        launches.flow_of_blocks([(1,), (2, 3), (1,), ()], [launches.Loop(7, 2, 1)])
    with pytest.raises(launches.UnlikeFlow):
        launches.flow_of_blocks([(1,), (2, 3), (1,), ()], [])


def test_row_slope_copies_nothing() -> None:
    result = row_slope.measure_slopes(row_slope.SMALL)
    assert set(result["loop_copies"].values()) == {0}
    assert len(result["slopes_us"]) == len(result["eager_us"]) == 2


def test_every_peer_says_how_it_is_used() -> None:
    assert all(peer.name == name and peer.title and peer.settings for name, peer in PEERS.items())


def test_call_cost_measures_each_way_to_call() -> None:
    assert {"add", "steps"} <= set(call_cost.PROGRAMS)
    with torch.no_grad():
        for name in ("add", "steps"):
            row = call_cost.measure_calls(name, rounds=1, torch_compile=False)
            assert list(row) == ["eager", "eager, moved", "ours", "ours, moved"]
            assert min(row["eager"], row["ours"]) > 0


@pytest.mark.parametrize("name", ["topk_half", "kthvalue", "cumsum", "cummax", "scatter_add"])
def test_ops_of_the_kernel_library_are_part_of_one_kernel(name: str) -> None:
    torch.manual_seed(0)
    x, places = torch.rand(60), torch.randint(0, 60, (60,))
    compiled = check(library_ops.PROGRAMS[name], *[(x, places, trips) for trips in (3, 0, 1, 2, 20)]).compiled
    assert compiled.explain().kernel, compiled.explain().kernel_reason


def test_library_ops_measures_a_trip() -> None:
    """Differences of times, which may be below zero where one is disturbed."""
    times = library_ops.measure_trips("softmax", 10, rounds=1)
    assert len(times) == 2
    assert all(map(math.isfinite, times))
