# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Recurrent states in programs without annotations: tuples, None at first, kept by a module between chunks."""

import pytest
import torch
from torch import nn

import ssa_compiler
from _nightly import with_nightly
from ssa_compiler.testing import check

T = torch.tensor


X = torch.tensor([1.0, 3.0, 2.0])


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(4, 4), nn.Linear(4, 2)

    def forward(self, x, state):
        h, c = self.cell(x, state)
        return self.head(h), (h, c)


class Beams(nn.Module):
    """A state of which a list that grows says which rows are kept."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.step = Step()

    def forward(self, x, n):
        h = x * 0.5
        c = torch.zeros_like(h)
        for _ in range(n):
            y, (h, c) = self.step(x, (h, c))
            kept = []
            for row in range(x.size(0)):
                if y[row, 0] > -0.2:
                    kept.append(torch.tensor(row))
            if len(kept) == 0:
                break
            rows = torch.stack(kept)
            x, h, c = x[rows], h[rows], c[rows]
        return x, h, c


def test_a_tuple_of_states():
    torch.manual_seed(0)
    model = Beams()
    x = torch.randn(5, 4)
    check(model, (x, 3), (x, 0), (x * 3, 1), (-x, 2), compiled=False)


class Predictor(nn.Module):
    """A state and a label that are None at first."""

    def __init__(self, kind):
        super().__init__()
        torch.manual_seed(1)
        self.embed, self.rnn = nn.Embedding(5, 4), getattr(nn, kind)(4, 4, batch_first=True)
        self.head = nn.Linear(4, 5)

    def predict(self, label, state):
        x = torch.zeros(1, 1, 4) if label is None else self.embed(label.view(1, 1))
        return self.rnn(x, state)

    def forward(self, x, lengths):
        found = []
        for b in range(x.size(0)):
            mine = []
            state = None
            last = None
            y, new = self.predict(last, state)
            for t in range(lengths[b]):
                k = self.head(y[0, 0] + x[b, t]).argmax()
                if k != 0:
                    mine.append(k.item())
                    state = new
                    last = k
                    y, new = self.predict(last, state)
            found.append(mine)
        return found


@pytest.mark.parametrize("kind", with_nightly(["LSTM"], ["GRU"]))
@pytest.mark.slow
def test_a_state_that_is_none_at_first(kind):
    torch.manual_seed(2)
    x = torch.randn(2, 4, 4) * 3
    check(Predictor(kind), (x, T([4, 2])), (-x, T([0, 1])), (x * 2, T([3, 3])), compiled=False)


class Chunked(nn.Module):
    """What is left of the chunk before, None at first and after `reset`."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(channels, 2, 3)
        self.left = None

    def reset(self):
        self.left = None

    def forward(self, x):
        if self.left is None:
            self.left = torch.zeros(x.shape[0], x.shape[1], 2)
        x = torch.cat([self.left, x], dim=2)
        self.left = x[:, :, -2:]
        return self.conv(x)


class Stream(nn.Module):
    def __init__(self, resets):
        super().__init__()
        torch.manual_seed(3)
        self.layers = nn.ModuleList([Chunked(1), Chunked(2)])
        self.resets = resets

    def forward(self, x, n):
        if self.resets:
            for layer in self.layers:
                layer.reset()
        out = []
        for k in range(0, n, 4):
            part = x[:, :, k : k + 4]
            if part.abs().sum() < 1.0:
                continue
            for layer in self.layers:
                part = layer(part)
            out.append(part.sum())
        return out


def _agree(kind, calls, changes=()):
    """Call a compiled model and another one, and compare what they keep; `changes` are calls of methods between."""
    model, expected = kind(), kind()
    program = ssa_compiler.compile(model, calls[0])
    for number, call in enumerate(calls):
        for each in (model, expected):
            if number in changes:
                each.layers[0].reset()
        torch.testing.assert_close(program(*call), expected(*call))
        for mine, theirs in zip(model.layers, expected.layers):
            assert (mine.left is None) is (theirs.left is None)
            assert mine.left is None or torch.equal(mine.left.round(decimals=4), theirs.left.round(decimals=4))


@pytest.mark.slow
@pytest.mark.parametrize("resets", [True, False])
def test_a_state_that_is_none_between_chunks(resets):
    x = torch.randn(1, 1, 12)
    x[:, :, 4:8] = 0
    calls = [(x, 12), (x, 0), (x * 0, 12), (x, 8), (x.flip(2), 4), (x, 12)]
    with torch.no_grad():
        _agree(lambda: Stream(resets), calls, changes=(0, 3))
    check(Stream(True), *calls, compiled=False)


@pytest.mark.slow
def test_a_state_of_another_shape():
    x = torch.randn(1, 1, 8)
    with torch.no_grad():
        _agree(lambda: Stream(True), [(x, 8), (x.repeat(2, 1, 1), 8), (x, 4), (x.repeat(3, 1, 1) * 0, 8)])


class StateInATuple(nn.Module):
    """What a step begins with is None, in a tuple, and a tuple afterwards."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4)
        self.functions = [torch.relu, torch.tanh]

    def step(self, x, state):
        _, hidden, count = state
        out, hidden = self.lstm(x[None], hidden)
        return out[0], ([f(out[0]) for f in self.functions], hidden, count + 1)

    def forward(self, x, n):
        state = ([x.new_zeros(2, 4), x.new_zeros(2, 4)], None, 0)
        total = x.sum()
        for i in range(n):
            out, state = self.step(x + i, state)
            total = total + out.sum()
        if state[1] is None:
            return total, state[0][0], state[2]
        return total, state[1][0][0], state[2]


def best_so_far(x, n):
    best = (None, float(n))
    for i in range(n):
        score = (x * (i - 1)).sum().item()
        if best[0] is None or score > best[1]:
            best = (x * i, score)
    return best[0] is None, x if best[0] is None else best[0], best[1]


@pytest.mark.slow
def test_none_in_a_tuple_is_something_else_later():
    torch.manual_seed(0)
    x = torch.ones(2, 3)
    with torch.no_grad():
        check(StateInATuple().eval(), (x, 3), (x, 0), (x, 1), (x, 2))
        check(StateInATuple().eval(), (x, 0), (x, 2), (x, 1))


def test_none_in_a_tuple_is_found_in_a_loop():
    check(best_so_far, (X, 3), (X, 0), (X, 1), (X, 2))
