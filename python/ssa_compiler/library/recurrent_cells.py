"""Recurrent cells (`nn.LSTMCell`, `nn.GRUCell`, `nn.RNNCell`) of rows of which only the program knows the number.

PyTorch's kernels ask whether the input has as many rows as the state, which FakeTensors cannot answer there. Cells of
known sizes stay what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _has_dynamic_rows(arguments: Mapping[str, Any]) -> bool:
    """Whether a cell fits its operands but for their numbers of rows, which are dynamic."""
    given = arguments["hx"]
    states = list(given) if isinstance(given, (list, tuple)) else [given]
    operands = [arguments["input"], *states, arguments["w_ih"], arguments["w_hh"]]
    if any(each.dim() != 2 or each.dtype != operands[0].dtype for each in operands):
        return False
    x, *hidden, w_ih, w_hh = operands
    rows = [each.size(0) for each in (x, *hidden)]
    if all(isinstance(each, int) for each in rows) or len({str(each) for each in rows}) == 1:
        return False
    sizes = [x.size(1), w_ih.size(1), w_hh.size(1), *(each.size(1) for each in hidden)]
    is_known = all(isinstance(each, int) for each in sizes)
    return is_known and sizes[0] == sizes[1] and all(each == sizes[2] for each in sizes[3:])


def _rows(input: Tensor, hidden: Tensor, number: int) -> Tensor:
    """A state, which has to have as many rows as the input."""
    count = input.size(0)
    if count != hidden.size(0):
        raise RuntimeError(f"Input batch size {count} doesn't match hidden{number} batch size {hidden.size(0)}")
    return hidden.narrow(0, 0, count)


@implements("aten::lstm_cell", where=_has_dynamic_rows)
def lstm_cell(
    input: Tensor, hx: list[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> tuple[Tensor, Tensor]:
    """A step of a long short-term memory: the states (rows, size) after it."""
    h, c = _rows(input, hx[0], 0), _rows(input, hx[1], 0)
    gates = torch.nn.functional.linear(h, w_hh, b_hh) + torch.nn.functional.linear(input, w_ih, b_ih)
    parts = gates.chunk(4, 1)
    new_c = torch.sigmoid(parts[1]) * c + torch.sigmoid(parts[0]) * torch.tanh(parts[2])
    return torch.sigmoid(parts[3]) * torch.tanh(new_c), new_c


@implements("aten::gru_cell", where=_has_dynamic_rows)
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> Tensor:
    """A step of gated recurrent units: the state (rows, size) after it."""
    h = _rows(input, hx, 0)
    ours = torch.nn.functional.linear(input, w_ih, b_ih).chunk(3, 1)
    theirs = torch.nn.functional.linear(h, w_hh, b_hh).chunk(3, 1)
    reset = torch.sigmoid(theirs[0] + ours[0])
    update = torch.sigmoid(theirs[1] + ours[1])
    new = torch.tanh(ours[2] + theirs[2] * reset)
    return (h - new) * update + new


def _summed(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> Tensor:
    own = torch.nn.functional.linear(_rows(input, hx, 0), w_hh, b_hh)
    return own + torch.nn.functional.linear(input, w_ih, b_ih)


@implements("aten::rnn_tanh_cell", where=_has_dynamic_rows)
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """A step of an Elman network: the state (rows, size) after it."""
    return _summed(input, hx, w_ih, w_hh, b_ih, b_hh).tanh()


@implements("aten::rnn_relu_cell", where=_has_dynamic_rows)
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """A step of an Elman network with rectified states: the state (rows, size) after it."""
    return _summed(input, hx, w_ih, w_hh, b_ih, b_hh).relu()
