"""Branches that cannot be joined, because a rank or a dtype differs: what follows is imported in each of them."""

from __future__ import annotations

from typing import Optional

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def grid() -> Tensor:
    return torch.arange(12.0).reshape(3, 4).sin()


SIGNS = [torch.tensor(signs) for signs in ([1.0, 2, 3, 1], [-1.0, 2, -3, 1], [-1.0, -2, -3, 1], [4.0, 2, -3, 1])]


def two_ranks(x: Tensor, y: Tensor) -> Tensor:
    if y.sum() > 0:
        x = x.unsqueeze(0)
    z = x.sum(-1)
    if z.dim() == 2:
        z = z[0]
    return z * 2


def chain_of_branches(x: Tensor, y: Tensor) -> Tensor:
    s = float(y.sum())
    if s > 5:
        z = x.unsqueeze(0)
    elif s > 0:
        z = x.double()
    elif s > -5:
        z = x[0]
    else:
        raise ValueError("too small")
    w = z + 1
    w[0] += 1
    return w.sum().float()


def view_of_either_rank(x: Tensor, y: Tensor) -> Tensor:
    z = x
    if y.sum() > 0:
        z = x.unsqueeze(0)
    z.add_(1)
    x.mul_(2)
    return x


def returns_inside(x: Tensor, y: Tensor) -> Tensor:
    z = x
    if y.sum() > 0:
        z = x.unsqueeze(0)
        if y[0] > 3:
            return x * 3
    if y[1] > 0:
        z = z + 1
    return x + z.sum(-1).flatten()[0]


@pytest.mark.parametrize(
    "program",
    [two_ranks, chain_of_branches, view_of_either_rank, returns_inside],
    ids=lambda f: f.__name__,
)
def test_each_branch(program) -> None:  # type: ignore[no-untyped-def]
    check(program, *[(grid(), y) for y in (*SIGNS, torch.full([4], -5.0))])


def in_a_loop(x: Tensor, y: Tensor, n: int) -> Tensor:
    out = torch.zeros(4)
    for i in range(n):
        z = x
        if y[i] > 0:
            z = x.unsqueeze(0)
        out[i] = z.sum(-1).max() + i
    return out


def test_in_a_loop() -> None:
    checked = check(in_a_loop, *[(grid(), y, n) for y in SIGNS for n in (4, 0, 1, 2)])
    assert checked.loops("iree") == 1


def mask_that_may_be_dropped(x: Tensor, m: Optional[Tensor], y: Tensor) -> Tensor:  # noqa: UP045 - TorchScript
    if y.sum() > 0:
        m = None
    if m is not None and m.dim() == 2:
        m = m.unsqueeze(0)
    if m is not None:
        return x + m[0]
    return x


def layer_norm(x: Tensor, w: Optional[Tensor], y: Tensor) -> Tensor:  # noqa: UP045 - TorchScript
    if y.sum() > 0:
        w = None
    return torch.nn.functional.layer_norm(x, [4], w)


def test_values_that_may_be_none() -> None:
    check(mask_that_may_be_dropped, *[(grid(), grid() + 1, y) for y in SIGNS])
    check(layer_norm, *[(grid(), torch.arange(4.0), y) for y in SIGNS])


def test_transformer_decoder_asks_whether_its_mask_is_causal() -> None:
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 2, 32, batch_first=True), 1).eval()
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    with torch.no_grad():
        check(decoder, (x, memory, causal), (x, memory, torch.zeros(5, 5)), rtol=1e-4, atol=1e-5)


def rank_and_dimension(x: Tensor, y: Tensor, dim: int) -> Tensor:
    z = torch.softmax(x, dim)  # wants a constant, and what follows wants a split
    if y.sum() > 0:
        z = z.unsqueeze(0)
    return z.sum(-1).flatten()


def test_constants_and_splits_in_one_program() -> None:
    check(rank_and_dimension, *[(grid(), y, 1) for y in SIGNS])


def result_of_either_rank(x: Tensor, y: Tensor) -> Tensor:
    if y.sum() > 0:
        x = x.unsqueeze(0)
    return x


def test_a_result_has_one_rank() -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="or a f32 tensor of shape") as rejected:
        import_program(result_of_either_rank, (grid(), SIGNS[0]))
    assert type(rejected.value) is ssa_compiler.UnsupportedProgramError


def many(x: Tensor, y: Tensor) -> Tensor:
    z = x
    if y[0] > 0:
        z = z.unsqueeze(0)
    if y[1] > 0:
        z = z.unsqueeze(0)
    if y[2] > 0:
        z = z.unsqueeze(0)
    if y[3] > 0:
        z = z.unsqueeze(0)
    if y.sum() > 0:
        z = z.unsqueeze(0)
    return z.sum()


def test_code_does_not_grow_without_bound() -> None:
    with pytest.raises(ssa_compiler.UnsupportedProgramError, match="or a f32 tensor of shape"):
        import_program(many, (grid(), SIGNS[0]))
