"""Ops that write an argument which their schema does not announce: batch norm and whatever consists of it."""

from __future__ import annotations

import sys
import types
import unittest
from itertools import islice
from typing import Any
from zlib import crc32

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from _imported import assert_equal_to_eager
from _nightly import NIGHTLY
from ssa_compiler.errors import UnsupportedProgramError
from ssa_compiler.importer import import_program
from ssa_compiler.importer.fake.unannotated_writes import UNANNOTATED_WRITES, writes_unannotated
from ssa_compiler.testing import InterpreterError, check, interpret


class Normalised(nn.Module):
    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return self.norm(x)


def inputs(*sizes: int) -> list[tuple[Tensor]]:
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(*sizes, generator=generator),) for _ in range(3)]


@pytest.mark.parametrize(
    ("norm", "sizes"),
    [
        (nn.BatchNorm1d(4), (5, 4)),
        (nn.BatchNorm1d(4, affine=False), (5, 4, 3)),
        (nn.BatchNorm1d(4, track_running_stats=False), (5, 4)),
        (nn.BatchNorm2d(3, momentum=0.4), (2, 3, 4, 2)),
        (nn.BatchNorm1d(4).double(), (5, 4)),
        (nn.BatchNorm1d(4).eval(), (5, 4)),
        (nn.InstanceNorm1d(3, affine=True, track_running_stats=True), (2, 3, 4)),
        (nn.Sequential(nn.Conv2d(3, 4, 2), nn.BatchNorm2d(4), nn.ReLU()), (2, 3, 4, 4)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "x".join(map(str, value)),
)
def test_statistics_are_updated(norm: nn.Module, sizes: tuple[int, ...]) -> None:
    calls = inputs(*sizes)
    if any(p.dtype == torch.float64 for p in norm.parameters()):
        calls = [(x.double(),) for (x,) in calls]
    model = Normalised(norm).train(norm.training)
    assert_equal_to_eager(model, *calls)


def norm_in_loop(x: Tensor, mean: Tensor, var: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = F.batch_norm(x, mean, var, training=True, momentum=0.3) + mean.sum()
    return x


def test_statistics_round_as_in_eager() -> None:
    norm = nn.BatchNorm1d(5, momentum=0.9).to(torch.bfloat16)
    check(norm, (torch.randn(5, 5, 5).to(torch.bfloat16),), compiled=False, rtol=0, atol=0)


def test_statistics_in_a_loop() -> None:
    (x,) = inputs(2, 3, 4)[0]
    assert_equal_to_eager(norm_in_loop, *[(x, torch.zeros(3), torch.ones(3), n) for n in (2, 0, 1)])


BATCH_NORM = """
func.func @main(%x: !torch.vtensor<[5,4],f32>, %m: !torch.vtensor<[4],f32>) -> !torch.vtensor<[5,4],f32> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %f = torch.constant.float 1.000000e-01
  %r = torch.aten.batch_norm %x, %none, %none, %m, %m, %true, %f, %f, %true : !torch.vtensor<[5,4],f32>, !torch.none,
    !torch.none, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool
    -> !torch.vtensor<[5,4],f32>
  return %r : !torch.vtensor<[5,4],f32>
}
"""


def test_interpreter_sees_writes_that_do_not_move_the_version() -> None:
    (x,) = inputs(5, 4)[0]
    mean = torch.zeros(4)
    F.batch_norm(x, mean, torch.ones(4), training=True)
    assert mean._version == 0  # should PyTorch count this write one day, the comparison of contents can go
    with pytest.raises(InterpreterError, match="batch_norm' writes an operand"):
        interpret(BATCH_NORM, x, torch.zeros(4))


def test_an_op_that_is_not_in_the_table_is_found_by_trying_it() -> None:
    base = torch.ops.aten.native_batch_norm.default
    args: list[Any] = [torch.rand(5, 4), None, None, torch.zeros(4), torch.ones(4), True, 0.1, 1e-5]
    assert writes_unannotated(base, args)
    assert not writes_unannotated(base, [*args[:5], False, *args[6:]])
    assert not writes_unannotated(torch.ops.aten.cumsum.default, [torch.rand(5), 0])
    assert torch.equal(args[3], torch.zeros(4))


SAMPLES = 5 if NIGHTLY else 2
"""Of each operator."""


class _Watch(TorchDispatchMode):
    """Notes base ops that change an argument which they do not announce."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = {**dict(zip((a.name for a in func._schema.arguments), args, strict=False)), **(kwargs or {})}
        tensors = {name: [t for t in tree_leaves(v) if isinstance(t, Tensor)] for name, v in named.items()}
        written = [t for a in func._schema.arguments if a.is_write for t in tensors.get(a.name, [])]
        storages = {t.untyped_storage()._cdata for t in written}
        watched = [t for ts in tensors.values() for t in ts if t.layout == torch.strided]
        # Below the dispatcher's conjugation, lazily conjugated tensors do not compare equal to their own clones.
        watched = [t for t in watched if t.untyped_storage()._cdata not in storages and not t.is_conj()]
        before = [t.clone() for t in watched]
        out = func(*args, **(kwargs or {}))
        if not all(bool(((a == b) | ((a != a) & (b != b))).all()) for a, b in zip(watched, before, strict=True)):
            self.found.add(func._schema.name)
        return out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_table_has_every_op_of_pytorchs_operator_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them, and those that normalise, but for the nightly run."""
    stub = types.ModuleType("expecttest")  # PyTorch's test helpers import it, for their own tests
    stub.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    if "expecttest" not in sys.modules:
        monkeypatch.setitem(sys.modules, "expecttest", stub)
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db

    # It looks for a unittest in the stack at each sample, which takes longer than the op.
    monkeypatch.setattr(common_utils, "extract_test_fn", lambda: None)
    watch, ran = _Watch(), 0
    for info in op_db:
        if torch.float32 not in info.dtypes or info.name.startswith(("empty", "new_empty")):
            continue
        if not NIGHTLY and crc32(info.name.encode()) % 4 and "norm" not in info.name:
            continue
        try:
            samples = list(islice(info.sample_inputs("cpu", torch.float32), SAMPLES))
        except Exception:  # some of PyTorch's generators need packages that are not here
            continue
        for sample in samples:
            try:
                with watch:
                    info(sample.input, *sample.args, **sample.kwargs)
                ran += 1
            except Exception:  # samples that eager rejects
                continue
    assert ran > (1500 if NIGHTLY else 170)
    assert watch.found == {"aten::native_batch_norm"}
    assert watch.found <= set(UNANNOTATED_WRITES)


class Renormalised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 4, max_norm=1.0)

    def forward(self, indices: Tensor) -> Tensor:
        return self.embedding(indices)


def test_embedding_renormalises_its_weight() -> None:
    torch.manual_seed(0)
    assert_equal_to_eager(Renormalised(), (torch.tensor([1, 2]),), (torch.tensor([0, 2]),))


def test_scripted_embedding_without_its_write_is_rejected() -> None:
    with pytest.raises(UnsupportedProgramError, match="TorchScript drops the write of max_norm"):
        import_program(torch.jit.script(Renormalised()), (torch.tensor([1]),), {})
