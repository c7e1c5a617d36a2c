"""What the importer writes: ops, types, constants, control flow, locations and the calling convention."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from _imported import imported, ops
from ssa_compiler import errors
from ssa_compiler.abi import build_result, flatten_arguments
from ssa_compiler.abi.argument_specs import ConstantSpec, ScalarSpec, TensorSpec
from ssa_compiler.abi.assumptions import SameObject
from ssa_compiler.abi.results import OutputConstant, OutputDict, OutputLeaf, OutputList, OutputTuple
from ssa_compiler.importer import import_program


def line_of(function: Callable[..., Any], marker: str) -> int:
    """Line number of the line of `function` that ends in a comment."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return next(first + number for number, line in enumerate(lines) if line.rstrip().endswith(f"# {marker}"))


# --- straight-line code -----------------------------------------------------------------------------------------------


def add_one_to_a_slot(a: Tensor, i: int) -> Tensor:
    b = a.clone()
    b[i] = b[i] + 1
    return b


def test_slot_assignment_is_select_and_copy() -> None:
    text = imported(add_one_to_a_slot, torch.zeros(4, 3), 1)
    assert ops(text) == ["aten.clone", "aten.select.int", "aten.add.Scalar", "aten.select.int", "aten.copy_"]
    assert "-> !torch.tensor<[4,3],f32>" in text
    assert "!torch.vtensor" not in text


def promote(a: Tensor, b: Tensor) -> Tensor:
    a += b
    return a


def test_in_place_op_is_kept_if_its_functional_form_has_the_dtype_of_self() -> None:
    assert ops(imported(promote, torch.zeros(3), torch.zeros(3))) == ["aten.add_.Tensor"]
    text = imported(promote, torch.zeros(3, dtype=torch.float16), torch.zeros(3))
    assert ops(text) == ["aten.add.Tensor", "aten.copy_"]
    text = imported(promote, torch.zeros(3, dtype=torch.float64), torch.zeros(3))
    assert ops(text) == ["aten.add.Tensor", "aten.copy_"], "operands of one dtype are all that in-place ops mix"


def test_in_place_op_with_an_impossible_dtype_raises_as_eager() -> None:
    with pytest.raises(errors.ProgramError, match="result type Float can't be cast"):
        imported(promote, torch.zeros(3, dtype=torch.int64), torch.zeros(3))


def into_out(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    torch.add(x, x, out=y)
    return y


def test_out_variant_is_functional_and_copied() -> None:
    assert ops(imported(into_out, torch.zeros(3)))[-2:] == ["aten.add.Tensor", "aten.copy_"]


def unregistered(x: Tensor) -> Tensor:
    return torch.igamma(x, x)


def test_op_that_torch_mlir_does_not_know_carries_its_schema() -> None:
    text = imported(unregistered, torch.zeros(3))
    assert 'torch.operator "torch.aten.igamma"' in text
    assert 'tssa.schema = "aten::igamma(Tensor self, Tensor other) -> Tensor"' in text


def literals(x: Tensor) -> tuple[Tensor, Tensor]:
    return x + torch.tensor([1.5, -2.0]), torch.tensor([[1, 2], [3, 4]])


def test_tensor_literals_are_exact() -> None:
    text = imported(literals, torch.zeros(2))
    assert "torch.tensor.literal(dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32>)" in text
    assert re.search(r"dense<\[\[1, 2\], \[3, 4\]\]> : tensor<2x2xsi64>", text)


# --- constants --------------------------------------------------------------------------------------------------------


def branch_on_name(x: Tensor, name: str = "add") -> Tensor:
    if name == "add":
        return x + x.size(0) * 2
    return x.mul(3)


def test_branch_on_a_known_condition_is_imported_alone() -> None:
    taken = imported(branch_on_name, torch.zeros(5))
    assert ops(taken) == ["aten.add.Scalar"]
    assert "torch.constant.int 10" in taken
    assert ops(imported(branch_on_name, torch.zeros(5), "mul")) == ["aten.mul.Scalar"]


def never(x: Tensor) -> Tensor:
    for _ in range(0):
        x = x + 1
    while False:
        x = x + 2
    return x


def test_loop_that_never_runs_vanishes() -> None:
    assert ops(imported(never, torch.zeros(2))) == []


# --- control flow -----------------------------------------------------------------------------------------------------


def count(x: Tensor, n: int) -> tuple[Tensor, int]:
    total = 0
    for i in range(n):
        x = x + 1
        total += i
    return x, total


def test_loop_carries_what_it_changes() -> None:
    text = imported(count, torch.zeros(2), 3)
    assert ops(text).count("prim.Loop") == 1
    assert re.search(r"\(!torch.int, !torch.bool, !torch.tensor<\[2\],f32>, !torch.int\) ->", text)
    assert "torch.prim.Loop.condition %true" in text, "a `for` must continue on a constant"


@pytest.mark.parametrize("trips", [3, 1000])
def test_loop_with_a_known_trip_count_is_not_unrolled(trips: int) -> None:
    def run(x: Tensor, n: int) -> Tensor:
        for _ in range(1000):
            x = x + n
        return x

    text = imported(run, torch.zeros(2), trips)
    assert ops(text) == ["prim.Loop", "aten.add.Scalar", "prim.Loop.condition"]


def grow(x: Tensor, n: int) -> Tensor:
    y = x[:1]
    for i in range(n):
        y = torch.cat([y, x[i : i + 1]])
    return y


def test_size_that_changes_in_a_loop_becomes_unknown() -> None:
    text = imported(grow, torch.zeros(4, 3), 2)
    assert "torch.tensor_static_info_cast" in text
    assert re.search(r"-> !torch.tensor<\[\?,3\],f32>\s+loc", text.split("func.func")[1].split("return")[0])


def guarded(x: Tensor, n: int) -> Tensor:
    if n > 3:
        raise ValueError("too big")
    assert n != 1, "one"
    return x + n


def test_branch_that_raises_is_an_assertion() -> None:
    text = imported(guarded, torch.zeros(2), 2)
    assert "torch.prim.If" not in text
    assert re.findall(r'torch.runtime.assert %\d+, "([^"]+)"', text) == ["ValueError: too big", "AssertionError: one"]


def divide(a: int, b: int) -> tuple[int, int, float]:
    return a // b, a % b, a / b


def test_division_asserts_that_the_divisor_is_not_zero() -> None:
    text = imported(divide, 7, 2)
    messages = re.findall(r'torch.runtime.assert %\d+, "(\w+): [^"]+"', text)
    assert messages == ["ZeroDivisionError"] * 3


def constant_index(x: Tensor, n: int) -> Tensor:
    if n > 0:
        return x[7]
    return x[0]


def test_constant_index_out_of_range_in_a_branch_is_a_run_time_error() -> None:
    text = imported(constant_index, torch.zeros(3), 1)
    assert re.search(r'torch.runtime.assert %\d+, "IndexError: [^"]*index 7', text)


# --- calls, modules, locations ----------------------------------------------------------------------------------------


def helper(x: Tensor, i: int) -> Tensor:
    return x[i]  # inner


def caller(x: Tensor, i: int) -> Tensor:
    y = x + 1
    return helper(y, i)  # outer


def test_locations_are_call_sites_that_end_in_the_users_line() -> None:
    text = imported(caller, torch.zeros(3), 1)
    inner, outer = line_of(helper, "inner"), line_of(caller, "outer")
    site = re.search(r"torch.aten.select.int .* loc\((#loc\d+)\)", text)
    assert site
    definition = re.search(rf"^{site.group(1)} = loc\(callsite\((#loc\d*) at (#loc\d*)\)\)", text, re.MULTILINE)
    assert definition
    for name, line in zip(definition.groups(), (inner, outer), strict=True):
        assert re.search(rf'^{name} = loc\("[^"]*program_test.py":{line}:', text, re.MULTILINE)


def recursive(x: Tensor, n: int) -> Tensor:
    if n <= 0:
        return x
    return recursive(x + 1, n - 1)


def test_recursion_ends_with_a_constant() -> None:
    program = import_program(recursive, (torch.zeros(2), 3))
    assert [spec.path for spec in program.constant_specs()] == ["n"]
    assert ops(program.module).count("aten.add.Scalar") == 3


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3, bias=False), nn.Linear(3, 3)])
        self.again = self.layers[0].weight
        self.unused = nn.Parameter(torch.zeros(7))
        self.register_buffer("steps", torch.zeros(3))
        self.scale = 3

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        self.steps += 1
        return x @ self.again * self.scale + self.steps


def test_parameters_are_arguments_in_order_of_use_and_shared_ones_are_one() -> None:
    model = Tied()
    program = import_program(model, (torch.zeros(2, 3),))
    assert [p.name for p in program.parameters] == ["layers.0.weight", "layers.1.weight", "layers.1.bias", "steps"]
    assert program.parameters[0].aliases == ("again",)
    assert [p.index for p in program.parameters] == [1, 2, 3, 4]
    assert program.written == {4}
    assert '{tssa.name = "layers.1.bias", tssa.parameter = "layers.1.bias"}' in program.module
    replaced = nn.Parameter(torch.ones(3))
    model.layers[1].bias = replaced
    assert program.parameters[2].current() is replaced
    assert program.training is True


def test_training_flag_is_taken_as_it_is() -> None:
    model = nn.Sequential(nn.Dropout(0.5))
    assert ops(imported(model.eval(), torch.zeros(3))) == []
    program = import_program(model.train(), (torch.zeros(3),))
    assert program.training is True
    assert len(ops(program.module)) > 0


def test_scripted_models_are_taken_as_they_are() -> None:
    scripted = torch.jit.script(add_one_to_a_slot)
    assert ops(imported(scripted, torch.zeros(2, 2), 0)) == ops(imported(add_one_to_a_slot, torch.zeros(2, 2), 0))
    module = torch.jit.script(Tied())
    assert [p.name for p in import_program(module, (torch.zeros(2, 3),)).parameters][:1] == ["layers.0.weight"]


# --- the calling convention -------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    left: Tensor
    right: int


def nested(
    x: Tensor, pair: tuple[int, float], items: list[Tensor], table: dict[str, Tensor], y: Tensor | None = None
) -> tuple[Pair, dict[str, Tensor], list[int], None, str]:
    z = x + pair[0] if y is None else x + y
    return Pair(z, pair[0] + 1), {"t": table["a"] * pair[1]}, [3, pair[0]], None, "done"


def test_arguments_and_results_are_flattened() -> None:
    x, a, b = torch.zeros(2), torch.zeros(3), torch.ones(4)
    program = import_program(nested, (x, (3, 2.5), [a, a], {"a": b}))
    names = re.findall(r'tssa.name = "([^"]+)"', program.module)
    assert names == ["x", "pair[0]", "pair[1]", "items[0]", "items[1]", "table['a']"]
    assert program.arguments[0].spec == TensorSpec("x", 0, torch.float32, (2,), (1,))
    assert program.arguments[1].spec.elements[1] == ScalarSpec("pair[1]", 2, float)  # type: ignore[union-attr]
    assert program.arguments[4].spec == ConstantSpec("y", None)
    assert program.results == OutputTuple(
        (
            OutputTuple((OutputLeaf(0, torch.Tensor), OutputLeaf(1, int)), ("left", "right"), "program_test.Pair"),
            OutputDict((("t", OutputLeaf(2, torch.Tensor)),)),
            OutputList((OutputConstant(3), OutputLeaf(3, int))),
            OutputConstant(None),
            OutputConstant("done"),
        )
    )
    leaves = flatten_arguments(program, (x, (3, 2.0)), {"items": [a, b], "table": {"a": b}})
    assert [type(leaf) for leaf in leaves] == [Tensor, int, float, Tensor, Tensor, Tensor]
    result = build_result(program.results, [x, 4, b, 3])
    assert result[0] == Pair(x, 4)
    assert type(result[0]) is Pair
    assert result[1]["t"] is b
    assert result[2:] == ([3, 3], None, "done")


def flag_and_name(x: Tensor, flag: bool, name: str = "add") -> Tensor:
    return x + 1 if flag and name == "add" else x


def test_arguments_that_do_not_fit_are_rejected() -> None:
    program = import_program(flag_and_name, (torch.zeros(2), True))
    x = torch.zeros(2)
    with pytest.raises(errors.ArgumentTypeError, match="missing required argument 'flag'"):
        flatten_arguments(program, (x,))
    with pytest.raises(errors.ArgumentTypeError, match="unexpected keyword argument 'flags'"):
        flatten_arguments(program, (x, True), {"flags": 1})
    with pytest.raises(errors.ArgumentTypeError, match="multiple values"):
        flatten_arguments(program, (x, True), {"x": x})
    with pytest.raises(errors.ArgumentTypeError, match="takes 3 positional"):
        flatten_arguments(program, (x, True, "add", 1))
    with pytest.raises(errors.ArgumentValueError, match="compiled for 'add' and cannot take 'mul'"):
        flatten_arguments(program, (x, False, "mul"))
    with pytest.raises(errors.ArgumentTypeError, match="argument 'flag': expected a bool, got int"):
        flatten_arguments(program, (x, 1))
    with pytest.raises(errors.ArgumentTypeError, match="argument 'x': expected a tensor, got int"):
        flatten_arguments(program, (1, True))


class AsksForIdentity(nn.Module):
    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        if query is key:
            return query * 2
        return query + key


@pytest.mark.parametrize("same", [True, False])
def test_identity_of_arguments_is_an_assumption(same: bool) -> None:
    x = torch.zeros(2)
    program = import_program(AsksForIdentity(), (x, x if same else x.clone()))
    assert program.assumptions == (SameObject(0, 1, same),)
    assert ops(program.module) == (["aten.mul.Scalar"] if same else ["aten.add.Tensor"])
