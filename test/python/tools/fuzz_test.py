"""The fuzzer: programs are reproducible and varied, faults are found and made small, lost workers are results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from ssa_compiler import pipeline
from ssa_compiler.testing import StageMismatch, check
from ssa_compiler.testing._compare import compare_values
from ssa_compiler.testing.fuzz import generate, load
from ssa_compiler.testing.fuzz.arguments import extreme, tensor
from ssa_compiler.testing.fuzz.bounds import within_64_bits
from ssa_compiler.testing.fuzz.cli import main
from ssa_compiler.testing.fuzz.generate import all_features
from ssa_compiler.testing.fuzz.metamorphic import REWRITES, rewrite
from ssa_compiler.testing.fuzz.peers import run_peer
from ssa_compiler.testing.fuzz.pool import Runner, Task, run_tasks
from ssa_compiler.testing.fuzz.program import Loaded, Program
from ssa_compiler.testing.fuzz.record import Record, normalize
from ssa_compiler.testing.fuzz.run import run_program
from ssa_compiler.testing.fuzz.score import format_score
from ssa_compiler.testing.fuzz.shrink import shrink

SMALL = """
import torch
from torch import Tensor
from ssa_compiler.testing.fuzz.arguments import alias, tensor

def program(x: Tensor, y: Tensor, n: int):
    y = y.clone()
    for i in range(n):
        if i > 0:
            x[i] += 1.0
            y.mul_(0.5)
    z = torch.relu(x) + y
    return z, y

INPUTS = [(tensor('float32', [4, 3], 1), tensor('float32', [3], 2), 3), (tensor('float32', [4, 3], 3), tensor('float32', [3], 4), 0)]
"""


def test_a_seed_always_gives_the_same_program() -> None:
    assert [generate(seed).text for seed in range(20)] == [generate(seed).text for seed in range(20)]
    assert len({generate(seed).text for seed in range(20)}) == 20


def test_every_ingredient_occurs_often_enough() -> None:
    number = 1000
    counts = dict.fromkeys(all_features(), 0)
    for seed in range(number):
        for feature in generate(seed).features:
            counts[feature] += 1
    assert {name: count for name, count in counts.items() if count < 0.03 * number} == {}
    assert counts["about.python"] + counts["about.tensors"] + counts["about.untyped"] == number
    assert counts["write.outer_view"] >= counts["about.tensors"] / 3


def test_most_programs_run_in_eager(tmp_path: Path) -> None:
    runs = raised = 0
    for seed in range(60):
        program = generate(seed)
        loaded = load(program.text, tmp_path, f"eager_{seed}")
        # Python's own numbers may be large, or NaN.
        numbers = ("about.python", "argument.extreme", "scalar", "slist", "sdict")
        grows = any(name.startswith(numbers) for name in program.features)
        for call in loaded.calls:
            runs += 1
            try:
                results = loaded.model(*call)
            except (RuntimeError, IndexError, AssertionError, ValueError, ArithmeticError, UnboundLocalError):
                raised += 1
                continue
            for leaf in torch.utils._pytree.tree_leaves(results):
                if isinstance(leaf, torch.Tensor) and not grows:
                    assert bool((leaf.double().abs() < 1e6).all()), f"seed {seed}: numbers grow"
    assert 0 < raised < 0.2 * runs


def test_a_fault_of_the_compiler_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    run = pipeline.run_pipeline

    def changed(imported: str, **options: object) -> pipeline.PipelineResult:
        result = run(imported, **options)  # type: ignore[arg-type]
        text = result.stages["tensorssa"].replace("constant.float 5.000000e-01", "constant.float 2.500000e-01")
        assert text != result.stages["tensorssa"]
        return pipeline.PipelineResult({**result.stages, "tensorssa": text})

    monkeypatch.setattr(pipeline, "run_pipeline", changed)
    record = run_program(Program(SMALL))
    assert (record.status, record.stage) == ("wrong", "tensorssa")
    assert record.reason == normalize(record.message)


def test_the_three_other_outcomes() -> None:
    assert run_program(Program(SMALL)).status == "ok"
    rejected = run_program(Program(SMALL.replace("y = y.clone()", "y = torch.eig(y)")))
    assert (rejected.status, "TorchScript" in rejected.reason) == ("rejected", True)
    assert run_program(Program("syntax error")).status == "error"


def test_input_sets_whose_ints_leave_64_bits_do_not_run() -> None:
    text = """
def half(a):
    return a // 2
def program(a, q):
    for i in range(a % 3):
        q[0] += q[0]
    return half(a * 2), q
"""
    largest, halves = 2**63 - 1, 2**62
    sets = [
        (3, [1]),
        (largest, [1]),
        (-halves, [1]),
        (halves - 1, [0]),
        (2, [halves]),
        (6, [-(2**63)]),
        (-3, [largest]),
    ]
    assert within_64_bits(text, sets) == [sets[0], sets[2], sets[3], sets[5], sets[6]]
    assert sets[0][1] == [1]
    forever = "def program(a):\n    while a != 0:\n        a -= 1\n"
    assert within_64_bits(forever, [(5,), (-1,), (0,)]) == [(5,), (0,)]
    state = """
import torch
class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 1
    def forward(self, a):
        self.steps *= a
        return self.steps
"""
    assert within_64_bits(state, [(2**40,), (2**22,), (2**23,), (2,)]) == [(2**40,), (2**22,)]


def test_a_program_without_input_sets_is_rejected() -> None:
    text = "def program(n: int) -> int:\n    return n * 2**62\n\n\nINPUTS = [(5,), (7,)]\n"
    record = run_program(Program(text))
    assert (record.status, record.calls) == ("rejected", 0)


def test_python_floats_are_compared_bit_for_bit_if_they_are_exact() -> None:
    nan, inf = float("nan"), float("inf")
    same = [(nan, nan), (inf, inf), (-0.0, -0.0), (0.1, 0.1), ([nan, -0.0], [nan, -0.0]), ({"a": (1, 2.0)},) * 2]
    other = [(nan, inf), (0.0, -0.0), (1e-17, 0.0), (1.0, 1.0 + 2**-52), (1, 1.0), (1, True), ([-0.0], [0.0])]
    other += [({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}), ((1.0,), [1.0])]
    for expected, actual in same:
        assert compare_values(expected, actual, exact=True) is None
    for expected, actual in other:
        assert compare_values(expected, actual, exact=True) is not None, (expected, actual)
        assert compare_values(actual, expected, exact=True) is not None, (actual, expected)
    assert compare_values(1.0, 1.0 + 2**-52) is None  # a reduction in another order
    assert compare_values(0.0, -0.0) is not None


def test_a_rounding_error_that_is_folded_away_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
from ssa_compiler.testing.fuzz.arguments import tensor
def program(u: float, v: float):
    return (u + v) - u
EXACT = True
INPUTS = [(1.0, 2.0), (1.0, 1e-17)]
"""
    run = pipeline.run_pipeline

    def folded(imported: str, **options: object) -> pipeline.PipelineResult:
        result = run(imported, **options)  # type: ignore[arg-type]
        text = result.stages["scf"].replace("return %1", "return %arg1")
        assert text != result.stages["scf"]
        return pipeline.PipelineResult({**result.stages, "scf": text})

    monkeypatch.setattr(pipeline, "run_pipeline", folded)
    assert run_program(Program(program)).status == "wrong"


def test_extreme_arguments_hold_what_they_say() -> None:
    made = torch.cat([extreme("float32", [4, 3], seed).flatten() for seed in range(20)])
    assert all(bool(found.any()) for found in (made.isnan(), made == float("inf"), made == -float("inf")))
    assert bool(((made == 0) & made.signbit()).any())
    assert int((made.isfinite() & (made != 0)).sum()) > made.numel() // 2
    assert extreme("float64", [2, 3], 4).shape == tensor("float64", [2, 3], 4).shape


def test_a_failure_is_made_small() -> None:
    small = shrink(SMALL, lambda text: "+= 1.0" in text and "return" in text)
    assert "for" not in small
    assert "mul_" not in small
    assert len(small.splitlines()) < len(SMALL.splitlines()) - 5
    assert "x[i] += 1.0" in small or "x += 1.0" in small


@pytest.mark.slow
def test_lost_workers_are_results() -> None:
    dies = SMALL.replace("import torch\n", "import torch, os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", 1)
    hangs = SMALL.replace("import torch\n", "import torch, time\ntime.sleep(60)\n", 1)
    tasks = [Task("interpreted", number, text) for number, text in enumerate((dies, SMALL, hangs, SMALL))]
    records = {task.seed: record for task, record in run_tasks(tasks, timeout_s=12.0)}
    assert [records[number].status for number in range(4)] == ["error", "ok", "error", "ok"]
    assert "SIGKILL" in records[0].message
    assert "12 seconds" in records[2].message


@pytest.mark.slow
def test_a_run_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run.jsonl"
    program = tmp_path / "small.py"
    program.write_text(SMALL)
    assert main(["--program", str(program), "--quiet"]) == 0
    main(["--seeds", "0:2", "--output", str(output), "--quiet"])
    output.write_text(output.read_text() + '{"system": "interpr')  # cut short
    main(["--seeds", "0:3", "--output", str(output), "--quiet"])
    lines = [line for line in output.read_text().splitlines() if line != '{"system": "interpr']
    assert sorted(json.loads(line)["seed"] for line in lines) == [0, 1, 2]
    assert "3 " in capsys.readouterr().out


def test_the_score_counts_and_names_reasons() -> None:
    records = [
        Record("interpreted", 1, "ok", features=["view.slice"]),
        Record("interpreted", 2, "rejected", reason="because", features=["view.slice"]),
        Record("torch-mlir", 1, "ok", executed=False),
    ]
    text = format_score(records)
    assert "50.0 %" in text
    assert "because" in text
    assert "converted only" in text


def test_a_call_that_does_not_fit_is_told_from_a_wrong_result() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        y.add_(1)
        return x * 2

    x = torch.ones(4, 3)
    sets = ((torch.ones(4, 3), torch.ones(3)), (x, x[0]))
    with pytest.raises(StageMismatch, match="shares memory"):
        check(program, *sets, compiled=False)
    rejections = check(program, *sets, compiled=False, rejections=True).rejections
    assert rejections[0] is None
    assert "shares memory" in str(rejections[1])


@pytest.mark.parametrize("seed", range(12))
def test_a_rewritten_program_does_the_same(seed: int, tmp_path: Path) -> None:
    program = generate(1000 + seed)
    changed, done = rewrite(program.text, seed)
    original, rewritten = load(program.text, tmp_path, "original"), load(changed, tmp_path, "rewritten")
    assert set(done) <= set(REWRITES)
    for one, other in zip(original.calls, rewritten.calls):
        try:
            torch.manual_seed(0)
            expected = original.model(*one)
        except (RuntimeError, IndexError, AssertionError, ValueError, ArithmeticError) as error:
            with pytest.raises(type(error)):  # what it has done to a module before that stays
                rewritten.model(*other)
            continue
        torch.manual_seed(0)
        actual = rewritten.model(*other)
        assert compare_values(expected, actual, rtol=0.0, atol=0.0, exact=True) is None
    record = run_program(program, "metamorphic")
    assert record.status in ("ok", "rejected"), record.message


def test_every_rewrite_is_made() -> None:
    made = {name for seed in range(80) for name in rewrite(generate(seed).text, seed)[1]}
    assert made == set(REWRITES)


@pytest.mark.parametrize("system", ["torchscript", "torch.compile", "torch-mlir"])
def test_peers_run_a_small_program(system: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSA_COMPILER_FUZZ_BACKEND", "aot_eager")
    text = SMALL if system != "torch-mlir" else SMALL.replace("x[i] += 1.0", "pass").replace("y.mul_(0.5)", "pass")
    loaded = load(text, tmp_path, "peer")
    record = Record(system, None, "ok")
    run_peer(loaded, record, 60.0)
    assert record.executed


def test_a_wrong_peer_is_found(tmp_path: Path) -> None:
    loaded = load(SMALL, tmp_path, "wrong_peer")
    wrong = Loaded(torch.jit.script(loaded.model), loaded.calls)
    with Path(tmp_path / "changed.py").open("w") as file:
        file.write(SMALL.replace("0.5", "0.25"))
    other = load(SMALL.replace("0.5", "0.25"), tmp_path, "changed")
    from ssa_compiler.testing.harness import check_other

    with pytest.raises(StageMismatch, match="elements differ"):
        check_other(wrong.model, lambda _: other.model, wrong.calls, "peer")


@pytest.mark.slow
def test_a_runner_survives_its_process() -> None:
    runner = Runner(timeout_s=12.0)
    try:
        dies = SMALL.replace("import torch\n", "import torch, os\nos._exit(3)\n", 1)
        assert runner.run(Task("interpreted", None, dies)).message == "the process died: exit status 3"
        assert runner.run(Task("interpreted", None, SMALL)).status == "ok"
    finally:
        runner.close()
