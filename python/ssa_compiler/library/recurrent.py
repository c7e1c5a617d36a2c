"""Recurrent layers (`nn.LSTM`, `nn.GRU`, `nn.RNN`) as loops over the steps of a sequence.

Decomposed by PyTorch they are as many copies of a step as the example is long. A packed sequence
(`pack_padded_sequence`) has a row for each step of each sequence that is not over yet; here it is padded, and a state
stays as it is where a sequence is over, or has not begun yet when it is read backwards.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []


def _linear(x: Tensor, params: list[Tensor], weight: int, has_biases: bool) -> Tensor:
    """The product with the weights of the input (0) or of the state (1)."""
    if has_biases:
        return torch.nn.functional.linear(x, params[weight], params[weight + 2])
    return torch.nn.functional.linear(x, params[weight])


def _kept(state: Tensor, new: Tensor, running: Tensor | None, t: int) -> Tensor:
    """The new state where a sequence has a step t."""
    if running is None:
        return new
    return torch.where(running[t], new, state)


def _lstm(
    x: Tensor, h: Tensor, c: Tensor, params: list[Tensor], has_biases: bool, backwards: bool, running: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    steps = x.size(0)
    inputs = _linear(x, params, 0, has_biases)
    outputs = torch.zeros([steps, h.size(0), h.size(1)], dtype=h.dtype, device=h.device)
    projects = len(params) % 2 == 1
    for i in range(steps):
        t = i
        if backwards:
            t = steps - 1 - i
        gates = inputs[t] + _linear(h, params, 1, has_biases)
        parts = gates.chunk(4, 1)
        new_c = torch.sigmoid(parts[1]) * c + torch.sigmoid(parts[0]) * torch.tanh(parts[2])
        new_h = torch.sigmoid(parts[3]) * torch.tanh(new_c)
        if projects:
            new_h = torch.nn.functional.linear(new_h, params[-1])
        h = _kept(h, new_h, running, t)
        c = _kept(c, new_c, running, t)
        outputs[t] = h
    return outputs, h, c


def _gru(
    x: Tensor, h: Tensor, params: list[Tensor], has_biases: bool, backwards: bool, running: Tensor | None
) -> tuple[Tensor, Tensor]:
    steps = x.size(0)
    inputs = _linear(x, params, 0, has_biases)
    outputs = torch.zeros([steps, h.size(0), h.size(1)], dtype=h.dtype, device=h.device)
    for i in range(steps):
        t = i
        if backwards:
            t = steps - 1 - i
        ours, theirs = inputs[t].chunk(3, 1), _linear(h, params, 1, has_biases).chunk(3, 1)
        reset = torch.sigmoid(theirs[0] + ours[0])
        update = torch.sigmoid(theirs[1] + ours[1])
        new = torch.tanh(ours[2] + theirs[2] * reset)
        h = _kept(h, (h - new) * update + new, running, t)
        outputs[t] = h
    return outputs, h


def _elman(
    x: Tensor, h: Tensor, params: list[Tensor], has_biases: bool, backwards: bool, running: Tensor | None, relu: bool
) -> tuple[Tensor, Tensor]:
    steps = x.size(0)
    inputs = _linear(x, params, 0, has_biases)
    outputs = torch.zeros([steps, h.size(0), h.size(1)], dtype=h.dtype, device=h.device)
    for i in range(steps):
        t = i
        if backwards:
            t = steps - 1 - i
        summed = inputs[t] + _linear(h, params, 1, has_biases)
        new = summed.relu() if relu else summed.tanh()
        h = _kept(h, new, running, t)
        outputs[t] = h
    return outputs, h


def _layers(
    cell: str,
    x: Tensor,
    hidden: Tensor,
    cells: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    running: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """All layers on (steps, batch, size): what the last one gives, and the last states of all."""
    if x.size(0) == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    last_h: list[Tensor] = []
    last_c: list[Tensor] = []
    for layer in range(num_layers):
        outputs: list[Tensor] = []
        for direction in range(directions):
            place = layer * directions + direction
            own = params[place * each : (place + 1) * each]
            h, c = hidden[place], cells[place]
            if cell == "lstm":
                y, h, c = _lstm(x, h, c, own, has_biases, direction == 1, running)
                last_c.append(c)
            elif cell == "gru":
                y, h = _gru(x, h, own, has_biases, direction == 1, running)
            else:
                y, h = _elman(x, h, own, has_biases, direction == 1, running, cell == "relu")
            outputs.append(y)
            last_h.append(h)
        x = torch.cat(outputs, 2) if bidirectional else outputs[0]
        if dropout != 0.0 and train and layer < num_layers - 1:
            if running is None:
                x = torch.dropout(x, dropout, train)
            else:  # eager draws for the rows of the packed sequence
                step, sequence = running.squeeze(2).nonzero().unbind(1)
                rows = x[step, sequence]
                if dropout < 1.0:  # `dropout` itself asks whether there are rows at all
                    x[step, sequence] = rows * torch.empty_like(rows).bernoulli_(1 - dropout).div_(1 - dropout)
                else:
                    x[step, sequence] = rows * 0.0
    states = torch.stack(last_h)
    return x, states, torch.stack(last_c) if cell == "lstm" else states


def _padded(
    cell: str,
    input: Tensor,
    hidden: Tensor,
    cells: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    x = input.transpose(0, 1) if batch_first else input
    y, h, c = _layers(cell, x, hidden, cells, params, has_biases, num_layers, dropout, train, bidirectional, None)
    return y.transpose(0, 1) if batch_first else y, h, c


def _runs(batch_sizes: Tensor, batch: int) -> Tensor:
    """Which of the sequences have which steps (steps, batch): the longer ones come first."""
    return torch.arange(batch, device=batch_sizes.device) < batch_sizes.unsqueeze(1)


def _rows(batch_sizes: Tensor, running: Tensor) -> Tensor:
    """The row of a packed sequence for each step of each sequence (steps, batch), 0 where there is none."""
    starts = batch_sizes.cumsum(0) - batch_sizes
    return torch.where(running, starts.unsqueeze(1) + torch.arange(running.size(1), device=running.device), 0)


@implements("aten::_pack_padded_sequence", laid_out=True)
def pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """The rows of all steps of sequences (steps, batch, ...), or (batch, steps, ...), and how many each step has."""
    x = input.transpose(0, 1) if batch_first else input
    if lengths.size(0) != x.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.size(0)} (batch_size={x.size(1)})"
        )
    if bool((lengths <= 0).any()):
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if bool((lengths[1:] > lengths[:-1]).any()):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
            "need ONNX exportability."
        )
    running = torch.arange(int(lengths[0]), device=lengths.device).unsqueeze(1) < lengths
    # A length may be larger than the sequences are; eager packs what there is.
    step, sequence = running[: x.size(0)].nonzero().unbind(1)
    return x[step, sequence], running.sum(1)


@implements("aten::_pad_packed_sequence", laid_out=True)
def pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: float, total_length: int
) -> tuple[Tensor, Tensor]:
    """Sequences (steps, batch, ...), or (batch, steps, ...), of a packed one, and their lengths."""
    sizes = batch_sizes
    if total_length > 0:
        steps = batch_sizes.size(0)
        if total_length < steps:
            raise RuntimeError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        sizes = torch.cat([sizes, torch.zeros([total_length - steps], dtype=sizes.dtype, device=sizes.device)])
    running = _runs(sizes, int(batch_sizes[0]))
    rows = data[_rows(sizes, running)]
    known = running.reshape(list(running.shape) + [1] * (data.dim() - 1))
    padded = torch.where(known, rows, torch.full([1], padding_value, dtype=data.dtype, device=data.device))
    return padded.transpose(0, 1) if batch_first else padded, running.sum(0)


def _packed(
    cell: str,
    data: Tensor,
    batch_sizes: Tensor,
    hidden: Tensor,
    cells: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    running = _runs(batch_sizes, hidden.size(1))
    y, h, c = _layers(
        cell,
        data[_rows(batch_sizes, running)],
        hidden,
        cells,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        running.unsqueeze(2),
    )
    # The step of a row is how many steps end before it.
    number, ends = torch.arange(data.size(0), device=data.device), batch_sizes.cumsum(0)
    step = (number.unsqueeze(1) >= ends).sum(1)
    return y[step, number - (ends - batch_sizes)[step]], h, c


@implements("aten::lstm.input", laid_out=True)
def lstm(
    input: Tensor,
    hx: list[Tensor],
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """A long short-term memory of (steps, batch, size), or (batch, steps, size), and its last states."""
    return _padded(
        "lstm", input, hx[0], hx[1], params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    )


@implements("aten::lstm.data", laid_out=True)
def packed_lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: list[Tensor],
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same of a packed sequence (rows, size)."""
    return _packed(
        "lstm", data, batch_sizes, hx[0], hx[1], params, has_biases, num_layers, dropout, train, bidirectional
    )


@implements("aten::gru.input", laid_out=True)
def gru(
    input: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor]:
    """Gated recurrent units of (steps, batch, size), or (batch, steps, size), and the last states."""
    y, h, _ = _padded("gru", input, hx, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    return y, h


@implements("aten::gru.data", laid_out=True)
def packed_gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor]:
    """The same of a packed sequence (rows, size)."""
    y, h, _ = _packed("gru", data, batch_sizes, hx, hx, params, has_biases, num_layers, dropout, train, bidirectional)
    return y, h


@implements("aten::rnn_tanh.input", laid_out=True)
def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor]:
    """An Elman network of (steps, batch, size), or (batch, steps, size), and the last states."""
    y, h, _ = _padded("tanh", input, hx, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    return y, h


@implements("aten::rnn_tanh.data", laid_out=True)
def packed_rnn_tanh(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor]:
    """The same of a packed sequence (rows, size)."""
    y, h, _ = _packed("tanh", data, batch_sizes, hx, hx, params, has_biases, num_layers, dropout, train, bidirectional)
    return y, h


@implements("aten::rnn_relu.input", laid_out=True)
def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor]:
    """An Elman network of (steps, batch, size), or (batch, steps, size), and the last states."""
    y, h, _ = _padded("relu", input, hx, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    return y, h


@implements("aten::rnn_relu.data", laid_out=True)
def packed_rnn_relu(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor]:
    """The same of a packed sequence (rows, size)."""
    y, h, _ = _packed("relu", data, batch_sizes, hx, hx, params, has_biases, num_layers, dropout, train, bidirectional)
    return y, h
