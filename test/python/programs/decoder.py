"""A greedy decoder: data-dependent `while`, embedding, argmax, an integer output tensor."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from . import program
from .data import randn
from .models import seeded


class GreedyDecoder(nn.Module):
    """A recurrent decoder that stops at an end token or at a limit."""

    def __init__(self, words: int, hidden: int, end: int) -> None:
        """Create the weights.

        Args:
            words: size of the vocabulary.
            hidden: size of the state.
            end: the token that stops decoding.
        """
        super().__init__()
        self.end = end
        self.embedding = nn.Embedding(words, hidden)
        self.cell = nn.Linear(2 * hidden, hidden)
        self.head = nn.Linear(hidden, words)

    def forward(self, state: Tensor, first: Tensor, limit: int) -> tuple[Tensor, int]:
        """Decode.

        Args:
            state: float32 [1, hidden], not changed.
            first: int64 [1], the first token.
            limit: number of tokens at most, 12 or less.
        Returns:
            The tokens, int64 [12], -1 where there is none, and how many there are.
        """
        tokens = torch.full((12,), -1, dtype=torch.int64)
        h = state.clone()
        token = first
        count = 0
        done = False
        while count < limit and not done:
            h.copy_(torch.tanh(self.cell(torch.cat([self.embedding(token), h], dim=1))))
            token = self.head(h).argmax(dim=1)
            tokens[count] = token[0]
            count += 1
            done = bool((token[0] == self.end).item())
        return tokens, count


@program(
    lambda: [
        (randn(1, 8, seed=seed) * scale, torch.tensor([first]), limit)
        for seed, scale in ((1, 2.0), (2, 1.0), (7, 3.0))
        for first in (0, 5)
        for limit in (12, 0, 1, 2)
    ],
    loops=1,
)
def make_greedy_decoder() -> nn.Module:
    """Ten words, of which token 3 ends the text."""
    return seeded(GreedyDecoder(10, 8, end=3))
