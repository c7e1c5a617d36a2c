"""Calls that differ from the example: compiled again, kept, bounded, explained; errors that stay errors."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import ArgumentTypeError, ArgumentValueError, ProgramError


def reduce_rows(x: Tensor, mode: str, w: Tensor | None = None) -> Tensor:
    """Reduce the rows of a tensor."""
    y = x.sum(0) if mode == "sum" else x.amax(0)
    if w is not None:
        y = y + w
    return y


def test_other_arguments_are_compiled_again_and_kept() -> None:
    compiled = ssa_compiler.compile(reduce_rows, (torch.randn(4, 3), "sum"))
    calls: list[tuple[object, ...]] = [
        (torch.randn(4, 3), "sum"),
        (torch.randn(5, 3), "sum"),
        (torch.randn(5, 3), "max"),
        (torch.randn(5, 3, dtype=torch.float64), "max", torch.ones(3)),
        (torch.randn(2, 2, 3), "sum"),
    ]
    for args in [*calls, *calls]:
        actual, expected = compiled(*args), reduce_rows(*args)  # type: ignore[arg-type]
        torch.testing.assert_close(actual, expected)
    assert len(compiled.specialisations) == 5
    reasons = [made.reason for made in compiled.specialisations]
    assert reasons[0] == ""
    assert "'x': expected shape (4, 3), got (5, 3)" in reasons[1]
    assert "'mode': the program was compiled for 'sum' and cannot take 'max'" in reasons[2]
    assert "'w': the program was compiled for None and cannot take a Tensor" in reasons[3]
    text = str(compiled.explain())
    assert "specialisation 4: reduce_rows(x: float64[5, 3], mode='max', w: float32[3])" in text
    assert str(compiled.specialisations[1]) == "reduce_rows(x: float32[5, 3], mode='sum', w=None)"
    assert compiled.specialisations[1].mlir("imported") != compiled.mlir("imported")


def test_the_number_of_specialisations_is_bounded() -> None:
    compiled = ssa_compiler.compile(reduce_rows, (torch.randn(4, 3), "sum"), max_specialisations=2)
    compiled(torch.randn(2, 3), "sum")
    with pytest.raises(
        ArgumentValueError, match=r"expected shape .*, got \(1, 3\).*max_specialisations.*dynamic_shapes"
    ):
        compiled(torch.randn(1, 3), "sum")
    assert len(compiled.specialisations) == 2
    compiled(torch.randn(4, 3), "sum")
    once = ssa_compiler.compile(reduce_rows, (torch.randn(4, 3), "sum"), max_specialisations=1)
    with pytest.raises(ArgumentTypeError, match=r"expected dtype.*compiled only once"):
        once(torch.ones(4, 3, dtype=torch.int64), "sum")
    with pytest.raises(ArgumentValueError, match="expected at least 1, got 0"):
        ssa_compiler.compile(reduce_rows, (torch.randn(4, 3), "sum"), max_specialisations=0)


def test_what_eager_rejects_is_not_compiled() -> None:
    compiled = ssa_compiler.compile(reduce_rows, (torch.randn(4, 3), "sum"))
    with pytest.raises(ArgumentTypeError, match="missing required argument 'mode'"):
        compiled(torch.randn(4, 3))
    with pytest.raises(ArgumentTypeError, match="'x': expected a tensor, got int"):
        compiled(3, "sum")
    with pytest.raises(ArgumentTypeError, match="'mode': expected str, got int"):
        compiled(torch.randn(4, 3), 3)
    with pytest.raises(ProgramError, match="must match"):
        compiled(torch.randn(4, 3), "sum", torch.ones(2))
    with pytest.raises(ArgumentValueError, match="expected a strided tensor"):
        compiled(torch.randn(4, 3).to_sparse(), "sum")
    assert len(compiled.specialisations) == 1


def test_gradients_are_rejected_before_anything_is_compiled() -> None:
    compiled = ssa_compiler.compile(reduce_rows, (torch.randn(4, 3), "sum"))
    x = torch.randn(5, 3, requires_grad=True)
    with pytest.raises(ArgumentValueError, match="requires grad"):
        compiled(x, "sum")
    assert len(compiled.specialisations) == 1
    with torch.no_grad():
        result = compiled(x, "sum")
    assert not result.requires_grad
    torch.testing.assert_close(result, x.detach().sum(0))


def total(items: list[Tensor], table: dict[str, Tensor]) -> Tensor:
    """Add up what a list and a dict hold."""
    y = torch.zeros(2)
    for item in items:
        y = y + item
    for key in table:
        y = y + table[key]
    return y


def test_another_nesting() -> None:
    one = torch.ones(2)
    compiled = ssa_compiler.compile(total, ([one], {"a": one}))
    for items, table in [([one] * 3, {"a": one}), ([one], {"b": one, "a": one}), ([one], {"a": one})]:
        assert torch.equal(compiled(items, table), total(items, table))
    assert len(compiled.specialisations) == 3


def flat_write(x: Tensor) -> Tensor:
    """Write through a reshape, which is a view or a copy."""
    x.reshape(-1)[0] = 7.0
    return x * 1.0


def test_other_strides_where_they_matter() -> None:
    compiled = ssa_compiler.compile(flat_write, (torch.zeros(2, 3),))
    for make in (lambda: torch.zeros(2, 3), lambda: torch.zeros(3, 2).t(), lambda: torch.zeros(2, 6)[:, ::2]):
        ours, theirs = make(), make()
        assert torch.equal(compiled(ours), flat_write(theirs))
        assert torch.equal(ours, theirs)
    assert len(compiled.specialisations) == 3


def same_object(a: Tensor, b: Tensor) -> Tensor:
    """Ask whether two arguments are one object."""
    return a + 1 if a is b else a - b


def test_identity_of_arguments() -> None:
    a, b = torch.ones(3), torch.ones(3)
    compiled = ssa_compiler.compile(same_object, (a, b))
    assert torch.equal(compiled(a, b), same_object(a, b))
    assert torch.equal(compiled(a, a), same_object(a, a))
    assert torch.equal(compiled(b, a), same_object(b, a))
    assert len(compiled.specialisations) == 2


def test_dump_dir_of_further_specialisations(tmp_path: Path) -> None:
    compiled = ssa_compiler.compile(same_object, (torch.ones(3), torch.ones(3)), dump_dir=tmp_path)
    first = (tmp_path / "0-imported.mlir").read_text()
    compiled(torch.ones(4), torch.ones(4))
    assert (tmp_path / "0-imported.mlir").read_text() == first
    assert "[4]" in (tmp_path / "specialisation-2" / "0-imported.mlir").read_text()


def test_specialise_ahead_of_calls() -> None:
    compiled = ssa_compiler.compile(same_object, (torch.ones(3), torch.ones(3)))
    made = compiled.specialise(torch.ones(4), b=torch.ones(4))
    assert str(made) == "same_object(a: float32[4], b: float32[4])"
    assert torch.equal(compiled(torch.ones(4), torch.ones(4)), torch.zeros(4))
    assert torch.equal(made(torch.ones(4), torch.ones(4)), torch.zeros(4))
    assert compiled.specialisations[1:] == (made,)
    with pytest.raises(ArgumentValueError, match="expected shape"):
        made(torch.ones(3), torch.ones(3))


def test_threads_share_specialisations() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that threads are often interrupted between a rejection and what follows from it
    try:
        for _ in range(5):
            compiled = ssa_compiler.compile(same_object, (torch.ones(3), torch.ones(3)))
            wrong: list[int] = []

            def work(compiled: ssa_compiler.CompiledProgram = compiled, wrong: list[int] = wrong) -> None:
                for size in (3, 4, 3, 4) * 8:
                    if not torch.equal(compiled(torch.ones(size), torch.ones(size)), torch.zeros(size)):
                        wrong.append(size)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not wrong
            assert len(compiled.specialisations) == 2
    finally:
        sys.setswitchinterval(interval)


class Block(nn.Module):
    """A module that reads constants of many kinds."""

    __constants__ = ("shift",)

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.other = nn.Linear(3, 3)
        self.other.weight = self.linear.weight
        self.shift = 1
        self.sizes = [2, 3]
        self.unused = 0
        self.gate: Tensor | None = None
        self.register_parameter("late", None)

    def forward(self, x: Tensor) -> Tensor:
        """Use everything."""
        y = self.norm(self.other(self.linear(x))) + self.shift + self.sizes[1]
        if self.late is not None:
            y = y * self.late
        return y


def _expect(compiled: ssa_compiler.CompiledProgram, model: nn.Module, count: int) -> None:
    """One call does what the module does, and there are `count` specialisations after it."""
    x = torch.randn(4, 3)
    with torch.no_grad():
        state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        actual = compiled(x)
        after = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        model.load_state_dict(state)
        torch.testing.assert_close(actual, model(x), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(after, model.state_dict(), rtol=1e-4, atol=1e-4)
    assert len(compiled.specialisations) == count


@pytest.mark.slow
def test_changes_of_the_module_are_noticed() -> None:
    model = Block().eval()
    compiled = ssa_compiler.compile(model, (torch.randn(4, 3),), max_specialisations=20)
    _expect(compiled, model, 1)
    model.unused = 5
    _expect(compiled, model, 1)
    model.train()
    _expect(compiled, model, 2)
    model.eval()
    _expect(compiled, model, 2)
    model.norm.eps = 1.0
    _expect(compiled, model, 3)
    model.norm.eps = 1e-5
    model.shift = 2
    _expect(compiled, model, 4)
    model.shift = 1
    model.sizes[1] = 7
    _expect(compiled, model, 5)
    model.sizes[1] = 3
    model.other.weight = nn.Parameter(torch.randn(3, 3))
    _expect(compiled, model, 6)
    model.late = nn.Parameter(torch.randn(3))
    _expect(compiled, model, 7)
    model.linear = nn.Linear(3, 3)
    model.norm = nn.BatchNorm1d(3).eval()
    _expect(compiled, model, 7)
    assert "attribute 'norm.training' of the module: expected False, got True" in str(compiled.explain())


def test_other_submodules_parameters_and_hooks() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    compiled = ssa_compiler.compile(model, (torch.randn(4, 3),))
    _expect(compiled, model, 1)
    model[1] = nn.Tanh()
    _expect(compiled, model, 2)
    model.append(nn.ReLU())
    _expect(compiled, model, 3)
    model[0] = nn.Linear(3, 5)
    _expect(compiled, model, 4)
    model[1].register_forward_hook(lambda module, args, result: result + 1)
    with pytest.raises(ssa_compiler.SsaCompilerError):  # whatever it is rejected with, it is not ignored
        compiled(torch.randn(4, 3))


def test_scripted_modules_are_watched_too() -> None:
    model = torch.jit.script(Block().eval())
    compiled = ssa_compiler.compile(model, (torch.randn(4, 3),))
    _expect(compiled, model, 1)
    model.train()
    _expect(compiled, model, 2)


def make_zeros(n: int) -> Tensor:
    """Make a tensor of the default dtype."""
    return torch.zeros(3) + n


def test_the_default_dtype() -> None:
    compiled = ssa_compiler.compile(make_zeros, (1,))
    try:
        torch.set_default_dtype(torch.float64)
        assert compiled(2).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert compiled(2).dtype == torch.float32
    assert len(compiled.specialisations) == 2


def test_specialisations_print_in_a_line() -> None:
    compiled = ssa_compiler.compile(total_of_rows, (torch.ones(2, 3),))
    assert repr(compiled.specialisations) == f"(<{compiled.specialisations[0]}>,)"
    assert "\n" not in repr(compiled.specialisations)


def total_of_rows(x: Tensor) -> Tensor:
    return x.sum(0)
