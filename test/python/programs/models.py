"""Recurrent cells and attention, written imperatively."""

from __future__ import annotations

import torch
from lstm import ImperativeLSTM
from torch import Tensor, nn

from . import program
from .data import randn


def seeded(module: nn.Module) -> nn.Module:
    """Give a module parameters that do not depend on what ran before."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return module.eval()


@program(
    lambda: [(randn(5, 2, 8, seed=seed), randn(3, 1, 2, 8, seed=2), randn(3, 1, 2, 8, seed=3)) for seed in (1, 4)],
    loops=1,
    tolerance=1e-4,
)
def make_lstm() -> nn.Module:
    """Three layers, states assigned slot by slot."""
    return seeded(ImperativeLSTM(3, 8))


class NASCell(nn.Module):
    """The recurrent cell found by neural architecture search (Zoph and Le, 2017), unrolled over time by a loop."""

    def __init__(self, hidden: int) -> None:
        """Create the two projections of eight gates."""
        super().__init__()
        self.input = nn.Linear(hidden, 8 * hidden)
        self.state = nn.Linear(hidden, 8 * hidden, bias=False)

    def forward(self, x: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Return outputs [time, batch, hidden], of which the first `steps` are computed, and the last state."""
        outputs = torch.zeros_like(x)
        h = torch.zeros(x.shape[1], x.shape[2])
        c = torch.zeros(x.shape[1], x.shape[2])
        for t in range(steps):
            a = self.input(x[t]).chunk(8, dim=1)
            b = self.state(h).chunk(8, dim=1)
            first = torch.tanh(torch.sigmoid(a[0] + b[0]) * torch.relu(a[1] + b[1]))
            second = torch.tanh(torch.sigmoid(a[2] + b[2]) + torch.relu(a[3] * b[3]))
            third = torch.tanh(torch.tanh(a[4] + b[4]) * torch.sigmoid(a[5] + b[5]))
            fourth = torch.sigmoid(torch.tanh(a[6] + b[6]) + torch.sigmoid(a[7] + b[7]))
            c = torch.tanh(first + c) * second
            h = torch.tanh(c * torch.tanh(third + fourth))
            outputs[t] = h
        return outputs, h


@program(lambda: [(randn(7, 2, 8), steps) for steps in (2, 0, 1, 7)], loops=1, tolerance=1e-4)
def make_nas_rnn() -> nn.Module:
    """A NAS-RNN cell loop."""
    return seeded(NASCell(8))


class CachedAttention(nn.Module):
    """Multi-head attention, one position at a time, over a key/value cache.

    The caches are float32 [batch, heads, positions, size].
    """

    def __init__(self, width: int, heads: int, clone: bool) -> None:
        """Create projections.

        Args:
            width: size of the input and of the output.
            heads: number of heads.
            clone: whether the caches are cloned first, so that the caller's do not change.
        """
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.clone = clone
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, start: int, count: int) -> Tensor:
        """Attend from positions `start` to `start + count - 1`; x and the result are [time, batch, width]."""
        if self.clone:
            keys = keys.clone()
            values = values.clone()
        batch = x.shape[1]
        result = torch.zeros_like(x)
        places = torch.arange(keys.shape[2])
        for i in range(count):
            position = start + i
            q, k, v = self.qkv(x[i]).view(batch, self.heads, 3 * self.size).chunk(3, dim=-1)
            keys[:, :, position] = k
            values[:, :, position] = v
            scores = torch.matmul(keys, q.unsqueeze(-1)).squeeze(-1) / float(self.size) ** 0.5
            scores.masked_fill_(places > position, float("-inf"))
            mixed = torch.matmul(torch.softmax(scores, dim=-1).unsqueeze(2), values)
            result[i] = self.out(mixed.reshape(batch, self.heads * self.size))
        return result


def attention_calls() -> list[tuple[Tensor, Tensor, Tensor, int, int]]:
    """Start and count: the middle, nothing, one position, up to the last position, negative places."""
    caches = randn(2, 2, 6, 4, seed=5), randn(2, 2, 6, 4, seed=6)
    return [(randn(4, 2, 8), *caches, start, count) for start, count in ((1, 2), (3, 0), (5, 1), (2, 4), (0, 2))]


@program(attention_calls, loops=1, tolerance=1e-4)
def make_attention_with_a_cloned_cache() -> nn.Module:
    """The caches are cloned inside: the caller's stay as they are."""
    return seeded(CachedAttention(8, 2, clone=True))


@program(attention_calls, loops=1, tolerance=1e-4)
def make_attention_with_the_callers_cache() -> nn.Module:
    """The caller sees its caches changed."""
    return seeded(CachedAttention(8, 2, clone=False))


class RunningStatistics(nn.Module):
    """A module whose buffers change in each call, in a loop over rows."""

    def __init__(self) -> None:
        """Create zero buffers."""
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor, n: int) -> Tensor:
        """Return the first `n` rows minus the moving mean; x: float32 [rows, 3]."""
        y = x.clone()
        for i in range(n):
            self.mean.mul_(0.9).add_(x[i], alpha=0.1)
            y[i] -= self.mean
        self.calls += 1
        return y


@program(lambda: [(randn(5, 3), n) for n in (2, 0, 1, 5)], loops=1)
def make_running_statistics() -> nn.Module:
    """Module state written in a loop."""
    return RunningStatistics().eval()
