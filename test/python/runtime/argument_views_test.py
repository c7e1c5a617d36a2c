"""Calls with tensors like those of earlier calls, which are not checked one by one: elsewhere, or the same changed."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.multiprocessing.reductions import StorageWeakRef

from ssa_compiler import ArgumentError, ArgumentValueError, CompiledProgram, compile
from ssa_compiler.runtime import Program

A, B = torch.rand(6, 4), torch.rand(6, 4)


def combines(a: Tensor, b: Tensor) -> Tensor:
    return a * 2 - b


class Checked:
    """How often arguments were checked one by one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        push = Program._push

        def counting(*args: Any) -> Any:
            self.count += 1
            return push(*args)

        monkeypatch.setattr(Program, "_push", counting)

    def in_call(self, compiled: Callable[..., Any], *args: Any) -> bool:
        """Whether the arguments of a call are."""
        before = self.count
        compiled(*args)
        return self.count != before


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Checked:
    return Checked(monkeypatch)


def _known(program: Callable[..., Any], *args: Any, **options: Any) -> CompiledProgram:
    """Compile a program, and call it until arguments like these are known."""
    compiled = compile(program, args, **options)
    for _ in range(2):
        compiled(*args)
    return compiled


@pytest.mark.parametrize("kernels", [False, True])
def test_arguments_are_checked_twice(checked: Checked, kernels: bool) -> None:
    compiled = compile(combines, (A, B), kernels=kernels)
    assert [checked.in_call(compiled, A, B) for _ in range(4)] == [True, True, False, False]
    assert not checked.in_call(compiled, A.clone(), A)
    for a, b in ((A, B), (B, A), (A.clone(), A), (A, A)):
        assert torch.equal(compiled(a, b), combines(a, b))


def test_new_contents_are_seen() -> None:
    a = A.clone()
    compiled = _known(combines, a, B)
    for _ in range(3):
        a += 1
        assert torch.equal(compiled(a, B), combines(a, B))


@pytest.mark.parametrize("kernels", [False, True])
def test_other_tensors(kernels: bool) -> None:
    compiled = _known(combines, A, B, kernels=kernels)
    others = [torch.rand(6, 4) for _ in range(100)]  # more than views are kept of
    for a, b in ((B, A), (A, A), *itertools.pairwise(others), (A, B), (B, A), (B, A), (A, B)):
        assert torch.equal(compiled(a, b), combines(a, b))


def repeats(x: Tensor, n: int, scale: float, add: bool) -> tuple[Tensor, int]:
    for i in range(n):
        x = x * scale
        if add:
            x = x + i
    return x, n + 1


@pytest.mark.parametrize("kernels", [False, True])
def test_numbers_beside_tensors(checked: Checked, kernels: bool) -> None:
    compiled = _known(repeats, A, 3, 0.5, True, kernels=kernels)
    for n, scale, add in ((0, 0.5, True), (1, -2.0, False), (5, 1.5, True), (2, 0.0, True)):
        assert not checked.in_call(compiled, A, n, scale, add)
        result, expected = compiled(A, n, scale, add), repeats(A, n, scale, add)
        torch.testing.assert_close(result, expected)
        assert type(result[1]) is int


@pytest.mark.parametrize("value", [1 << 63, "2", None])
def test_a_number_that_is_none_beside_tensors_that_fit(value: Any) -> None:
    compiled = _known(repeats, A, 3, 0.5, True)
    for _ in range(2):
        with pytest.raises(ArgumentError):
            compiled(A, value, 0.5, True)
        torch.testing.assert_close(compiled(A, 2, 0.5, True), repeats(A, 2, 0.5, True))


def test_sizes_that_alternate(checked: Checked) -> None:
    compiled = compile(combines, (A, B), dynamic_shapes={"a": {0: Dim("n")}, "b": {0: Dim("n")}})
    for count in (6, 6, 3, 3, 1, 1, 2, 2):  # as many as are kept
        compiled(A[:count].clone(), B[:count].clone())
    for count in (6, 3, 2, 1, 3, 6):
        a, b = A[:count].clone(), B[:count].clone()
        assert not checked.in_call(compiled, a, b)
        assert torch.equal(compiled(a, b), combines(a, b))
    for count, is_checked in ((5, True), (5, True), (0, True), (0, True), (5, False)):
        a, b = A[:count].clone(), B[:count].clone()
        assert checked.in_call(compiled, a, b) == is_checked, count
    assert torch.equal(compiled(a, b), combines(a, b))


@pytest.mark.parametrize("kernels", [False, True])
def test_what_is_not_aligned_is_copied(checked: Checked, kernels: bool) -> None:
    compiled, memory = _known(combines, A, B, kernels=kernels), torch.rand(25)
    for offset in (0, 1, 0, 1):
        a = memory[offset : offset + 24].view(6, 4)
        assert checked.in_call(compiled, a, B) == (offset == 1)
        assert torch.equal(compiled(a, B), combines(a, B))


def test_a_result_is_new_memory_each_time() -> None:
    compiled = _known(combines, A, B)
    first, second = compiled(A, B), compiled(A, B)
    assert first.data_ptr() != second.data_ptr()
    first += 1
    assert torch.equal(compiled(A, B), second)


@pytest.mark.parametrize("kernels", [False, True])
def test_memory_that_was_given_back_is_not_kept(kernels: bool) -> None:
    """What is kept is an address: the tensor dies, and another one in its place is passed the same way."""
    compiled = _known(combines, A, B, kernels=kernels)
    for step in range(8):
        a = torch.full((6, 4), float(step))
        memory = StorageWeakRef(a.untyped_storage())
        for _ in range(3):
            assert torch.equal(compiled(a, B), combines(a, B))
        del a
        gc.collect()
        assert memory.expired()


KEPT: list[Tensor] = []


@torch.jit.ignore
def keep(x: Tensor) -> int:
    KEPT.append(x)
    return len(KEPT)


def is_kept(x: Tensor) -> int:
    return keep(x)


def test_memory_that_python_keeps_within_a_call() -> None:
    KEPT.clear()
    compiled = compile(is_kept, (A.clone(),))
    for step in range(1, 20):
        assert compiled(torch.full((6, 4), float(step))) == len(KEPT)
    for step, kept in enumerate(KEPT[-19:], 1):
        assert torch.equal(kept, torch.full((6, 4), float(step)))


VIEWS = {
    "transposed": lambda a: a.view(4, 6).t(),
    "negated": lambda a: torch._neg_view(a),
    "expanded": lambda a: a[:1].expand(6, 4),
    "of a larger one": lambda a: torch.cat([a, a], dim=1)[:, :4],
    "a parameter": lambda a: torch.nn.Parameter(a, requires_grad=False),
    "of one column less": lambda a: a.view(-1)[: 6 * 3].view(6, 3),
    "of another dtype": lambda a: a.view(torch.int32),
    "of no rows": lambda a: a[:0],
}


@pytest.fixture(scope="module")
def combining() -> CompiledProgram:
    return compile(combines, (A, A), max_specialisations=16)


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_a_view_at_the_same_address(view: str, combining: CompiledProgram) -> None:
    """Its elements lie elsewhere, or are others, than those of the tensor that is known."""
    a, compiled = A.clone(), combining
    for _ in range(2):
        compiled(a, a)
    other = VIEWS[view](a)
    for _ in range(3):
        assert torch.equal(compiled(other, other), combines(other, other))
        assert torch.equal(compiled(a, a), combines(a, a))


def test_a_tensor_that_came_to_require_grad_is_rejected() -> None:
    a = A.clone()
    compiled = _known(combines, a, B)
    a.requires_grad_()
    for _ in range(3):
        with torch.enable_grad(), pytest.raises(ArgumentValueError, match="requires grad"):
            compiled(a, B)
        with torch.no_grad():
            assert torch.equal(compiled(a, B), combines(a, B))
            assert torch.equal(compiled(a, B), combines(a, B))


def writes(a: Tensor, b: Tensor) -> Tensor:
    for i in range(a.shape[0]):
        a[i] += b[i]
    return a.sum()


@pytest.mark.parametrize("kernels", [False, True])
def test_the_version_of_a_written_argument_is_counted(checked: Checked, kernels: bool) -> None:
    a, expected = A.clone(), A.clone()
    compiled = compile(writes, (A.clone(), B), kernels=kernels)
    for step in range(5):
        version = a._version
        assert torch.allclose(compiled(a, B), writes(expected, B))
        assert torch.equal(a, expected)
        assert a._version > version, step
    assert not checked.in_call(compiled, a, B)


@pytest.mark.parametrize("kernels", [False, True])
def test_a_written_argument_that_overlaps_is_rejected_after_others_fitted(kernels: bool) -> None:
    memory = torch.rand(16, 4)  # eight rows are 128 bytes, so that both halves are aligned
    compiled = _known(writes, memory[:8], memory[8:], kernels=kernels)
    with pytest.raises(ArgumentValueError, match="shares memory"):
        compiled(memory[:8], memory[4:12])
    for one, two in ((memory[:8], memory[8:]), (memory[8:], memory[:8]), (memory[4:12], memory[:8].clone())):
        result = compiled(one, two)
        torch.testing.assert_close(result, one.sum())
    with pytest.raises(ArgumentValueError, match="shares memory"):
        compiled(memory[:8], memory[:8])


def test_an_inference_tensor_is_written_in_inference_mode_only() -> None:
    with torch.inference_mode():
        a = A.clone()
        compiled = _known(writes, a, B)
        compiled(a, B)
    with pytest.raises(RuntimeError, match="inference"):
        compiled(a, B)


class Scales(torch.nn.Module):
    """A product by a parameter, which requires grad as most do."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


@pytest.mark.parametrize("kernels", [False, True])
def test_a_parameter_that_is_replaced_or_updated(checked: Checked, kernels: bool) -> None:
    model = Scales()
    with torch.no_grad():
        compiled = _known(model, A, kernels=kernels)
        assert not checked.in_call(compiled, A)
        model.scale += 1
        assert torch.equal(compiled(A), model(A))
        model.scale = torch.nn.Parameter(torch.rand(4))
        for _ in range(3):
            assert torch.equal(compiled(A), model(A))
        model.scale.data = torch.rand(4)
        for _ in range(3):
            assert torch.equal(compiled(A), model(A))
    with torch.enable_grad(), pytest.raises(ArgumentValueError, match="requires grad"):
        compiled(A)


def test_the_grad_mode_decides_about_parameters(checked: Checked) -> None:
    model = Scales()
    with torch.no_grad():
        compiled = _known(model, A)
    with torch.enable_grad(), pytest.raises(ArgumentValueError, match="requires grad"):
        compiled(A)
    detached = compile(model, (A,), gradients="detach")
    with torch.no_grad():
        assert [checked.in_call(detached, A) for _ in range(3)] == [True, True, False]
    with torch.enable_grad():
        assert [checked.in_call(detached, A) for _ in range(3)] == [True, False, False]
        assert not detached(A).requires_grad
