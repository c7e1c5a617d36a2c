"""Decoders that run until the data says stop, and attention over a cache that is written at a moving position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "CachedAttention", "GreedyDecoder"]


class GreedyDecoder(nn.Module):
    """A greedy decoder with an LSTM cell; the output tensor is assigned per step, and decoding stops at the end token.

    Args:
        hidden: size of the states and embeddings.
        vocabulary: number of tokens; token 0 starts a sequence.
        limit: the most steps.
    """

    def __init__(self, hidden: int, vocabulary: int, limit: int) -> None:
        super().__init__()
        bound = hidden**-0.5
        self.limit = limit
        self.end = -1
        self.embedding = nn.Parameter(torch.randn(vocabulary, hidden))
        self.weight = nn.Parameter(torch.empty(4 * hidden, 2 * hidden).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(4 * hidden).uniform_(-bound, bound))
        self.output = nn.Parameter(torch.randn(vocabulary, hidden))

    def forward(self, h0: torch.Tensor, c0: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Decode.

        Args:
            h0: float32 [batch, hidden], the encoder's last hidden state.
            c0: float32 [batch, hidden], its last cell state.
        Returns:
            Tokens, int64 [limit, batch], the end token after the end of a sequence and of the decoding; the number of
            steps that ran.
        """
        h = h0
        c = c0
        batch = h0.shape[0]
        tokens = torch.full((self.limit, batch), self.end, dtype=torch.int64, device=h0.device)
        token = torch.zeros(batch, dtype=torch.int64, device=h0.device)
        finished = torch.zeros(batch, dtype=torch.bool, device=h0.device)
        step = 0
        while step < self.limit and not bool(finished.all()):
            gates = torch.cat([self.embedding[token], h], dim=1) @ self.weight.t() + self.bias
            i, f, g, o = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            token = (h @ self.output.t()).argmax(dim=1)
            token = torch.where(finished, torch.full_like(token, self.end), token)
            tokens[step] = token
            finished = finished | (token == self.end)
            step += 1
        return tokens, step


def _greedy_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    embedding, weight, bias, output = (
        jnp.asarray(tensor.numpy()) for tensor in (model.embedding, model.weight, model.bias, model.output)
    )
    limit, end = model.limit, model.end

    def forward(h0: Any, c0: Any) -> Any:
        batch = h0.shape[0]

        def running(carried: Any) -> Any:
            return (carried[0] < limit) & ~carried[5].all()

        def body(carried: Any) -> Any:
            step, tokens, token, h, c, finished = carried
            gates = jnp.concatenate([embedding[token], h], axis=1) @ weight.T + bias
            i, f, g, o = jnp.split(gates, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            token = jnp.argmax(h @ output.T, axis=1).astype(tokens.dtype)
            token = jnp.where(finished, end, token)
            return step + 1, tokens.at[step].set(token), token, h, c, finished | (token == end)

        start = (
            jnp.zeros((), jnp.int32),
            jnp.full((limit, batch), end, jnp.int32),
            jnp.zeros((batch,), jnp.int32),
            h0,
            c0,
            jnp.zeros((batch,), bool),
        )
        step, tokens, *_ = jax.lax.while_loop(running, body, start)
        return tokens, step

    return forward


def build_greedy(*, hidden: int, vocabulary: int, limit: int, batch: int) -> Built:
    """Make the decoder and input sets of several decoding lengths.

    The weights are random, so that any token may be the end token: the one taken is the one that many of 96 trial
    sequences come to at different steps.
    """
    model = GreedyDecoder(hidden, vocabulary, limit)
    trials = 96
    h, c = torch.randn(trials, hidden), torch.randn(trials, hidden)
    tokens, _ = model(h, c)  # [limit, trials]; the end token is -1, so that nothing ends
    first = torch.full((vocabulary, trials), limit, dtype=torch.int64)
    for step in range(limit - 1, -1, -1):
        first[tokens[step], torch.arange(trials)] = step
    inside = (first < limit) & (first >= min(3, limit - 1))
    variety = torch.tensor([row[mask].unique().numel() for row, mask in zip(first, inside)])
    model.end = int(variety.argmax())
    order = first[model.end].argsort(stable=True)
    ends = int((first[model.end][order] < limit).sum())
    starts = {"full": order[-batch:], "middle": order[max(ends - batch, 0) :][:batch]}
    starts["short"] = order[int((first[model.end][order] < 1).sum()) :][:batch]
    return Built(
        model,
        {name: (h[rows].contiguous(), c[rows].contiguous()) for name, rows in starts.items()},
        facts=lambda result: {"decoded steps": int(result[1])},
        jax=_greedy_jax,
    )


class CachedAttention(nn.Module):
    """One attention layer that decodes several positions, with a key/value cache written at a moving position.

    Args:
        heads: number of heads.
        size: size of a head.
    """

    def __init__(self, heads: int, size: int) -> None:
        super().__init__()
        width = heads * size
        self.heads = heads
        self.size = size
        self.project = nn.Parameter(torch.randn(3 * width, width) * width**-0.5)
        self.out = nn.Parameter(torch.randn(width, width) * width**-0.5)
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(
        self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: int, end: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Decode positions `start` to `end`; each one's output is the next one's input.

        Args:
            x: float32 [batch, width], the input at `start`.
            keys: float32 [batch, heads, length, size], filled up to `start`.
            values: float32 [batch, heads, length, size], likewise.
            start: the first position.
            end: the position after the last, at most `length`.
        Returns:
            Outputs, float32 [length, batch, width], zero where nothing was decoded; the caches.
        """
        batch, width = x.shape
        keys = keys.clone()
        values = values.clone()
        outputs = torch.zeros(keys.shape[2], batch, width, dtype=x.dtype, device=x.device)
        for position in range(start, end):
            normal = F.layer_norm(x, [width], self.scale, self.shift)
            query, key, value = (normal @ self.project.t()).view(batch, 3, self.heads, self.size).unbind(1)
            keys[:, :, position] = key
            values[:, :, position] = value
            scores = keys[:, :, : position + 1] @ query.unsqueeze(3) * self.size**-0.5
            weights = torch.softmax(scores, dim=2)
            mixed = (weights * values[:, :, : position + 1]).sum(dim=2)
            x = x + mixed.reshape(batch, width) @ self.out.t()
            outputs[position] = x
        return outputs, keys, values


def _attention_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    project, out, scale, shift = (
        jnp.asarray(tensor.numpy()) for tensor in (model.project, model.out, model.scale, model.shift)
    )
    heads, size = model.heads, model.size

    def forward(x: Any, keys: Any, values: Any, start: Any, end: Any) -> Any:
        batch, width = x.shape
        length = keys.shape[2]

        def body(position: Any, carried: Any) -> Any:  # sizes are static in JAX: masked instead of sliced
            x, keys, values, outputs = carried
            mean = x.mean(axis=1, keepdims=True)
            variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
            normal = (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift
            query, key, value = jnp.moveaxis((normal @ project.T).reshape(batch, 3, heads, size), 1, 0)
            keys = keys.at[:, :, position].set(key)
            values = values.at[:, :, position].set(value)
            scores = (keys @ query[..., None])[..., 0] * size**-0.5
            scores = jnp.where(jnp.arange(length) <= position, scores, -jnp.inf)
            mixed = (jax.nn.softmax(scores, axis=2)[..., None] * values).sum(axis=2)
            x = x + mixed.reshape(batch, width) @ out.T
            return x, keys, values, outputs.at[position].set(x)

        outputs = jnp.zeros((length, batch, width), x.dtype)
        _, keys, values, outputs = jax.lax.fori_loop(start, end, body, (x, keys, values, outputs))
        return outputs, keys, values

    return forward


def build_attention(*, heads: int, size: int, start: int, length: int, batch: int) -> Built:
    """Make the attention layer; the further input sets start later and end earlier."""
    model = CachedAttention(heads, size)

    def inputs(begin: int, end: int) -> tuple[Any, ...]:
        keys, values = (torch.randn(batch, heads, length, size) for _ in range(2))
        keys[:, :, begin:] = 0
        values[:, :, begin:] = 0
        return torch.randn(batch, heads * size), keys, values, begin, end

    middle = (start + length) // 2
    return Built(
        model,
        {
            f"{start} to {length}": inputs(start, length),
            f"{middle} to {length}": inputs(middle, length),
            f"{start} to {middle}": inputs(start, middle),
        },
        facts=lambda result: {"positions": int((result[0].abs().sum(dim=(1, 2)) > 0).sum())},
        jax=_attention_jax,
    )


WORKLOADS = (
    Workload(
        "seq2seq",
        "decoding",
        "greedy decoder with an LSTM cell that stops at the end token",
        "Sutskever, Vinyals and Le, Sequence to Sequence Learning with Neural Networks, 2014; sizes of the FuncTs paper",
        build_greedy,
        {"hidden": 256, "vocabulary": 500, "limit": 50, "batch": 1},
        {"hidden": 16, "vocabulary": 20, "limit": 6, "batch": 2},
        sweeps={"batch": (1, 2, 4, 8, 16), "limit": (50, 100, 200, 500)},
        quick=True,
    ),
    Workload(
        "attention",
        "decoding",
        "attention decoding with a key/value cache written at a moving position",
        "Vaswani et al., Attention Is All You Need, 2017; 12 heads of 64 as in BERT base, positions 32 to 50",
        build_attention,
        {"heads": 12, "size": 64, "start": 32, "length": 50, "batch": 1},
        {"heads": 2, "size": 8, "start": 3, "length": 7, "batch": 2},
        sweeps={"batch": (1, 2, 4, 8, 16), "length": (50, 100, 200, 500)},
        quick=True,
    ),
)
