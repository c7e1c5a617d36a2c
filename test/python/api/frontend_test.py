"""The interface of front ends: a second one, which takes Torch-dialect text, runs through everything behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler import ArgumentError, ProgramIndexError, frontend
from ssa_compiler.abi.argument_specs import ArgumentSpec, ScalarSpec, TensorSpec
from ssa_compiler.abi.assumptions import DistinctStorage
from ssa_compiler.abi.convention import ImportedProgram
from ssa_compiler.abi.module_state import ParameterSpec
from ssa_compiler.abi.results import OutputLeaf, OutputTuple
from ssa_compiler.frontend import FrontEnd, ImportOptions, Source

SCALES_ROWS = """
module {
  func.func @main(
      %x: !torch.tensor<[4,3],f32> {tssa.name = "x"}, %n: !torch.int {tssa.name = "n"},
      %w: !torch.tensor<[3],f32> {tssa.name = "weight", tssa.parameter = "weight"})
      -> (!torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>) {
    %zero = torch.constant.int 0
    %four = torch.constant.int 4
    %true = torch.constant.bool true
    %none = torch.constant.none
    %fits = torch.aten.le.int %n, %four : !torch.int, !torch.int -> !torch.bool
    torch.runtime.assert %fits, "IndexError: there are four rows" loc("rows.toy":3:1)
    %y = torch.aten.clone %x, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32>
    torch.prim.Loop %n, %true, init() {
    ^bb0(%i: !torch.int):
      %row = torch.aten.select.int %x, %zero, %i : !torch.tensor<[4,3],f32>, !torch.int, !torch.int
        -> !torch.tensor<[3],f32> loc("rows.toy":5:1)
      %done = torch.aten.mul_.Tensor %row, %w : !torch.tensor<[3],f32>, !torch.tensor<[3],f32>
        -> !torch.tensor<[3],f32> loc("rows.toy":6:1)
      torch.prim.Loop.condition %true, iter()
    } : (!torch.int, !torch.bool) -> ()
    return %y, %x : !torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>
  }
}
"""


@dataclass
class Toy:
    """A program of the toy front end: text, and the one parameter that it uses."""

    text: str
    weight: Tensor
    asked: list[ImportOptions] = field(default_factory=list)


class ToySource:
    def __init__(self, toy: Toy) -> None:
        self.toy = toy

    def tensors(self) -> Iterable[Tensor]:
        return [self.toy.weight]

    def deliver(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: ImportOptions) -> ImportedProgram:
        self.toy.asked.append(options)
        x = args[0]
        tensor = TensorSpec("x", 0, x.dtype, tuple(x.shape), tuple(x.stride()))
        return ImportedProgram(
            module=self.toy.text,
            name="scales_rows",
            arguments=(ArgumentSpec("x", tensor), ArgumentSpec("n", ScalarSpec("n", 1, int), True, 1)),
            parameters=(ParameterSpec("weight", 2, torch.float32, (3,), (1,), self.toy),),
            results=OutputTuple((OutputLeaf(0, torch.Tensor), OutputLeaf(1, torch.Tensor))),
            result_count=2,
            assumptions=(DistinctStorage(0, "the program writes it"),),
            written=frozenset({0}),
        )


class ToyFrontEnd:
    def open(self, model: Any) -> Source | None:
        return ToySource(model) if isinstance(model, Toy) else None


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "_front_ends", list(frontend._front_ends))
    assert isinstance(ToyFrontEnd(), FrontEnd)
    assert isinstance(ToySource(Toy("", torch.ones(1))), Source)
    frontend.register_front_end(ToyFrontEnd())


def eager(x: Tensor, n: int, weight: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    for i in range(n):
        x[i] *= weight
    return y, x


def test_a_second_front_end() -> None:
    toy = Toy(SCALES_ROWS, torch.tensor([1.0, 2.0, 3.0]))
    compiled = ssa_compiler.compile(toy, (torch.ones(4, 3), 2), index_checks=False)  # type: ignore[arg-type]
    assert [options.index_checks for options in toy.asked] == [False]
    for n in (0, 2, 4):
        x, twin = torch.arange(12.0).reshape(4, 3), torch.arange(12.0).reshape(4, 3)
        y, written = compiled(x, n)
        expected = eager(twin, n, toy.weight)
        assert torch.equal(y, expected[0])
        assert torch.equal(x, twin)
        assert written is x
    toy.weight = toy.weight * 10
    x = torch.ones(4, 3)
    compiled(x)
    assert x[0].tolist() == [10.0, 20.0, 30.0]
    with pytest.raises(ProgramIndexError, match="there are four rows") as raised:
        compiled(torch.ones(4, 3), 5)
    assert str(raised.value.location) == "rows.toy:3"
    with pytest.raises(ArgumentError, match="'n': expected an int"):
        compiled(torch.ones(4, 3), "a")
    assert "rows.toy" in str(compiled.report())


def test_other_models_go_to_torchscript() -> None:
    compiled = ssa_compiler.compile(eager, (torch.ones(4, 3), 2, torch.ones(3)))
    assert compiled(torch.ones(4, 3), 1, torch.zeros(3))[1][0].tolist() == [0.0, 0.0, 0.0]


def test_examples_that_are_no_tuple() -> None:
    for examples in (torch.ones(3), "x", {"x": 1}):
        with pytest.raises(TypeError, match=r"example_inputs: expected a tuple.*write compile\(model, \(x,\)\)"):
            ssa_compiler.compile(eager, examples)  # type: ignore[arg-type]
