"""Arguments that a kernel keeps bound: calls with other tensors at the same addresses, or the same tensors changed."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from ssa_compiler import ArgumentValueError, CompiledProgram, compile

A, B = torch.rand(6, 4), torch.rand(6, 4)


def combines(a: Tensor, b: Tensor) -> Tensor:
    return a * 2 - b


def _is_bound(compiled: CompiledProgram) -> bool:
    """Whether the first specialisation would pass the arguments of its last call again as they are."""
    (buffers,) = compiled.specialisations[0]._loaded()._free
    return buffers.bound is not None


def _bound(program: Callable[..., Any], *args: Tensor) -> CompiledProgram:
    """Compile a program, and call it until it has its arguments bound."""
    compiled = compile(program, args)
    for _ in range(2):
        compiled(*args)
    assert _is_bound(compiled)
    return compiled


def test_the_second_call_with_the_same_addresses_binds() -> None:
    compiled = compile(combines, (A, B))
    compiled(A, B)
    assert not _is_bound(compiled)
    compiled(A, B)
    assert _is_bound(compiled)
    for _ in range(3):
        assert torch.equal(compiled(A, B), combines(A, B))


def test_new_contents_are_seen() -> None:
    a = A.clone()
    compiled = _bound(combines, a, B)
    for _ in range(3):
        a += 1
        assert torch.equal(compiled(a, B), combines(a, B))


def test_other_tensors_and_then_the_bound_ones() -> None:
    compiled = _bound(combines, A, B)
    for a, b in ((B, A), (A, A), (A.clone(), B), (A, B), (B, A), (B, A), (B, A), (A, B)):
        assert torch.equal(compiled(a, b), combines(a, b))


def test_a_result_is_new_memory_each_time() -> None:
    compiled = _bound(combines, A, B)
    first, second = compiled(A, B), compiled(A, B)
    assert first.data_ptr() != second.data_ptr()
    first += 1
    assert torch.equal(compiled(A, B), second)


def test_memory_that_was_given_back_is_not_kept() -> None:
    """What is bound is an address: the tensor dies, and another one in its place is passed the same way."""
    compiled = compile(combines, (A, B))
    for step in range(8):
        a = torch.full((6, 4), float(step))
        memory = StorageWeakRef(a.untyped_storage())
        for _ in range(3):
            assert torch.equal(compiled(a, B), combines(a, B))
        assert _is_bound(compiled)
        del a
        gc.collect()
        assert memory.expired()


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
    """Its elements lie elsewhere, or are others, than those of the tensor that was bound."""
    a, compiled = A.clone(), combining
    for _ in range(2):
        compiled(a, a)
    assert _is_bound(compiled)
    other = VIEWS[view](a)
    for _ in range(3):
        assert torch.equal(compiled(other, other), combines(other, other))
        assert torch.equal(compiled(a, a), combines(a, a))


def test_a_tensor_that_came_to_require_grad_is_rejected() -> None:
    a = A.clone()
    compiled = _bound(combines, a, B)
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


def test_a_written_argument_is_bound_and_its_version_counted() -> None:
    a, expected = A.clone(), A.clone()
    compiled = compile(writes, (A.clone(), B))
    for step in range(5):
        version = a._version
        assert torch.allclose(compiled(a, B), writes(expected, B))
        assert torch.equal(a, expected)
        assert a._version > version, step
    assert _is_bound(compiled)


def test_a_written_argument_that_overlaps_is_rejected_after_others_were_bound() -> None:
    memory = torch.rand(16, 4)  # eight rows are 128 bytes, so that both halves are aligned
    compiled = _bound(writes, memory[:8], memory[8:])
    with pytest.raises(ArgumentValueError, match="shares memory"):
        compiled(memory[:8], memory[4:12])
    result = compiled(memory[:8], memory[8:])
    torch.testing.assert_close(result, memory[:8].sum())


def test_an_inference_tensor_is_written_in_inference_mode_only() -> None:
    with torch.inference_mode():
        a = A.clone()
        compiled = _bound(writes, a, B)
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


def test_a_parameter_that_is_replaced_or_updated() -> None:
    model = Scales()
    with torch.no_grad():
        compiled = _bound(model, A)
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
