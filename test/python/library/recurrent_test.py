"""Recurrent layers are loops over the steps, whatever the length; packed sequences too."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import ssa_compiler
from _nightly import with_nightly
from ssa_compiler.errors import ProgramError
from ssa_compiler.testing import check

LAYERS = [
    nn.LSTM(3, 4),
    nn.LSTM(3, 4, 2, batch_first=True),
    nn.LSTM(3, 4, bias=False, bidirectional=True),
    nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True, batch_first=True),
    nn.GRU(3, 4, 2, bidirectional=True),
    nn.GRU(3, 4, bias=False, batch_first=True),
    nn.RNN(3, 4, 2, bidirectional=True, batch_first=True),
    nn.RNN(3, 4, nonlinearity="relu"),
    nn.LSTM(3, 4, dtype=torch.float64),
]


def _name(layer: nn.Module) -> str:
    return repr(layer).replace(" ", "")


def _sequence(layer: nn.RNNBase, steps: int, batch: int) -> Tensor:
    sizes = (batch, steps, 3) if layer.batch_first else (steps, batch, 3)
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(steps)).to(layer.weight_hh_l0.dtype)


def _states(layer: nn.RNNBase, batch: int) -> Any:
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    generator = torch.Generator().manual_seed(0)
    sizes = [layer.proj_size or 4, 4] if isinstance(layer, nn.LSTM) else [4]
    states = [torch.randn(count, batch, size, generator=generator).to(layer.weight_hh_l0.dtype) for size in sizes]
    return tuple(states) if len(states) == 2 else states[0]


@pytest.mark.parametrize("layer", with_nightly(LAYERS[::2], LAYERS[1::2]), ids=_name)
def test_any_number_of_steps(layer: nn.RNNBase) -> None:
    dim = 1 if layer.batch_first else 0
    shapes: dict[str, Any] = {"input": {dim: Dim("T", min=1)}, "hx": None}
    sets = [(_sequence(layer, steps, 2), None) for steps in (3, 1, 2, 7)]
    checked = check(layer, *sets, options={"dynamic_shapes": shapes})
    if layer.weight_hh_l0.dtype == torch.float32:  # IREE has no tanh of float64
        assert checked.compiled.explain().callbacks == ()
    assert len(checked.compiled.explain().others) == 0


@pytest.mark.parametrize("layer", LAYERS[3:6], ids=_name)
@pytest.mark.slow
def test_initial_states(layer: nn.RNNBase) -> None:
    check(layer, (_sequence(layer, 3, 2), _states(layer, 2)))


def test_one_sequence_without_a_batch() -> None:
    check(nn.LSTM(3, 4), (torch.randn(5, 3),))


@pytest.mark.slow
def test_the_program_does_not_grow_with_the_steps() -> None:
    layer = nn.LSTM(3, 4, 2)
    lines = [
        len(ssa_compiler.compile(layer, (torch.randn(steps, 2, 3),)).mlir("iree").splitlines()) for steps in (4, 40)
    ]
    assert abs(lines[0] - lines[1]) < 4  # constants that are alike are one


def test_no_steps_raise_as_in_eager() -> None:
    layer = nn.GRU(3, 4)
    compiled = ssa_compiler.compile(layer, (torch.randn(2, 1, 3),), dynamic_shapes={"input": {0: Dim("T")}, "hx": None})
    with pytest.raises(RuntimeError, match="larger than 0") as expected:
        layer(torch.randn(0, 1, 3))
    with torch.no_grad(), pytest.raises(ProgramError, match=str(expected.value)):
        compiled(torch.randn(0, 1, 3))


def test_dropout_between_the_layers_draws_as_eager_does() -> None:
    layer = nn.LSTM(3, 4, 2, dropout=0.5)
    check(layer, (torch.randn(5, 2, 3),))
    x = torch.randn(5, 3, 3)
    check(PackedLstm(layer, True), *[(x, torch.tensor(lengths)) for lengths in ([5, 3, 1], [1, 1, 1])])


class Packed(nn.Module):
    def __init__(self, layer: nn.RNNBase, sorted_: bool) -> None:
        super().__init__()
        self.layer, self.batch_first, self.sorted_ = layer, layer.batch_first, sorted_


class PackedLstm(Packed):
    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        packed = pack_padded_sequence(x, lengths, batch_first=self.batch_first, enforce_sorted=self.sorted_)
        y, states = self.layer(packed)
        padded, counts = pad_packed_sequence(y, batch_first=self.batch_first)
        return padded, counts, states


class PackedOther(Packed):
    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=self.batch_first, enforce_sorted=self.sorted_)
        y, states = self.layer(packed)
        padded, counts = pad_packed_sequence(y, batch_first=self.batch_first)
        return padded, counts, states


@pytest.mark.parametrize(
    ("layer", "sorted_"),
    with_nightly([(LAYERS[2], True), (LAYERS[1], False)], [(layer, True) for layer in LAYERS[4:8:2]]),
    ids=repr,
)
def test_packed_sequences(layer: nn.RNNBase, sorted_: bool) -> None:
    model = (PackedLstm if isinstance(layer, nn.LSTM) else PackedOther)(layer, sorted_)
    x = _sequence(layer, 6, 4)
    lengths = [[6, 4, 4, 1], [6, 6, 6, 6], [3, 2, 1, 1], [1, 1, 1, 1]]
    if not sorted_:
        lengths += [[2, 6, 1, 3]]
    check(model, *[(x, torch.tensor(numbers)) for numbers in lengths])


def packs(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    return torch._pack_padded_sequence(x, lengths, False)


def test_lengths_that_eager_rejects() -> None:
    x = torch.randn(5, 2, 3)
    check(packs, *[(x, torch.tensor(lengths)) for lengths in ([5, 2], [2, 3], [3, 0], [6, 2], [1, 1])])
    with pytest.raises(RuntimeError, match="equal to batch_size") as expected:
        packs(x, torch.tensor([3, 2, 1]))
    with pytest.raises(ProgramError, match=re.escape(str(expected.value))):
        ssa_compiler.compile(packs, (x, torch.tensor([3, 2, 1])))


def pads(data: Tensor, batch_sizes: Tensor, total: int) -> tuple[Tensor, Tensor]:
    return torch._pad_packed_sequence(data, batch_sizes, True, -1.5, total)


def test_padding_to_a_length() -> None:
    data, sizes = torch.randn(6, 2), torch.tensor([3, 2, 1])
    check(pads, *[(data, sizes, total) for total in (5, 3, 2, 0, -1)])
