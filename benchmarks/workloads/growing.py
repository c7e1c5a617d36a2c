"""A decoder whose tokens, keys and values grow by concatenation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "GrowingDecoder"]


class GrowingDecoder(nn.Module):
    """A greedy decoder with one attention layer; `torch.cat` appends each token, key and value.

    Args:
        heads: number of heads.
        size: size of a head.
        vocabulary: number of tokens.
        limit: the most steps.
    """

    def __init__(self, heads: int, size: int, vocabulary: int, limit: int) -> None:
        super().__init__()
        width = heads * size
        self.heads, self.size, self.limit, self.end = heads, size, limit, -1
        self.embedding = nn.Parameter(torch.randn(vocabulary, width))
        self.project = nn.Parameter(torch.randn(3 * width, width) * width**-0.5)
        self.out = nn.Parameter(torch.randn(width, width) * width**-0.5)
        self.head = nn.Parameter(torch.randn(vocabulary, width))

    def heads_of(self, x: torch.Tensor) -> torch.Tensor:
        """Return queries, keys and values, [3, batch, heads, positions, size], of float32 [batch, positions, width]."""
        batch, positions, _ = x.shape
        return (x @ self.project.t()).view(batch, positions, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Decode until all sequences of the batch have just got the end token.

        Args:
            tokens: int64 [batch, positions], the prompt.
        Returns:
            The prompt and the tokens behind it, int64 [batch, positions + limit], filled up with the end token; how
            many positions were decoded by then.
        """
        most = tokens.shape[1] + self.limit
        cache = self.heads_of(self.embedding[tokens[:, :-1]])
        keys, values = cache[1], cache[2]
        last = tokens[:, -1:]
        for _ in range(self.limit):
            x = self.embedding[last]
            query, key, value = self.heads_of(x).unbind(0)
            keys = torch.cat([keys, key], dim=2)
            values = torch.cat([values, value], dim=2)
            weights = torch.softmax(query @ keys.transpose(2, 3) * self.size**-0.5, dim=-1)
            x = x + (weights @ values).transpose(1, 2).flatten(2) @ self.out.t()
            last = (x @ self.head.t()).argmax(dim=-1)
            tokens = torch.cat([tokens, last], dim=1)
            if bool((last == self.end).all()):
                break
        length = tokens.shape[1]
        return F.pad(tokens, (0, most - length), value=float(self.end)), length


def _jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    tensors = model.embedding, model.project, model.out, model.head
    embedding, project, out, head = (jnp.asarray(each.numpy()) for each in tensors)
    heads, size, limit, end = model.heads, model.size, model.limit, model.end

    def heads_of(x: Any) -> Any:
        batch, positions, _ = x.shape
        return (x @ project.T).reshape(batch, positions, 3, heads, size).transpose(2, 0, 3, 1, 4)

    def forward(prompt: Any) -> Any:
        batch, start = prompt.shape
        length = start + limit
        _, keys, values = heads_of(embedding[prompt[:, :-1]])
        room = [(0, 0), (0, 0), (0, length - start + 1), (0, 0)]
        tokens = jnp.pad(prompt, [(0, 0), (0, limit)], constant_values=end)

        def running(carried: Any) -> Any:
            position, tokens, *_ = carried
            ended = (tokens[:, position - 1] == end).all() & (position > start)
            return (position < length) & ~ended

        def body(carried: Any) -> Any:  # sizes are static in JAX: masked instead of grown
            position, tokens, keys, values = carried
            x = embedding[jax.lax.dynamic_slice_in_dim(tokens, position - 1, 1, axis=1)]
            query, key, value = heads_of(x)
            keys = jax.lax.dynamic_update_slice_in_dim(keys, key, position - 1, axis=2)
            values = jax.lax.dynamic_update_slice_in_dim(values, value, position - 1, axis=2)
            scores = query @ keys.swapaxes(2, 3) * size**-0.5
            scores = jnp.where(jnp.arange(keys.shape[2]) < position, scores, -jnp.inf)
            mixed = (jax.nn.softmax(scores, axis=-1) @ values).swapaxes(1, 2).reshape(batch, 1, -1)
            last = jnp.argmax((x + mixed @ out.T) @ head.T, axis=-1).astype(tokens.dtype)
            tokens = jax.lax.dynamic_update_slice_in_dim(tokens, last, position, axis=1)
            return position + 1, tokens, keys, values

        first = jnp.asarray(start), tokens, jnp.pad(keys, room), jnp.pad(values, room)
        position, tokens, *_ = jax.lax.while_loop(running, body, first)
        return tokens, position

    return forward


def build(*, heads: int, size: int, vocabulary: int, start: int, limit: int, batch: int) -> Built:
    """Make the decoder, and a prompt for each of three lengths of decoding; the end token is one that comes early."""
    model = GrowingDecoder(heads, size, vocabulary, limit)
    prompts = torch.randint(vocabulary, (24, batch, start))
    decoded = [model(prompt)[0][:, start:] for prompt in prompts]  # nothing ends: the end token is -1

    def steps(end: int) -> list[int]:
        ended = [(tokens == end).all(dim=0).nonzero() for tokens in decoded]
        return [int(places[0]) + 1 if len(places) else limit for places in ended]

    model.end = max(range(vocabulary), key=lambda token: len(set(steps(token))))
    order = sorted(range(len(prompts)), key=steps(model.end).__getitem__)
    ending = [number for number in order if steps(model.end)[number] < limit] or order
    chosen = {"long": order[-1], "middle": ending[-1], "short": ending[0]}
    return Built(
        model,
        {name: (prompts[number],) for name, number in chosen.items()},
        facts=lambda result: {"decoded steps": int(result[1]) - start},
        jax=_jax,
    )


WORKLOADS = (
    Workload(
        "growing_cache",
        "decoding",
        "greedy decoder whose tokens, keys and values grow by torch.cat",
        "the `past_key_values` of the transformers library: `key = torch.cat((past_key, key), dim=-2)`",
        build,
        {"heads": 4, "size": 32, "vocabulary": 500, "start": 16, "limit": 50, "batch": 1},
        {"heads": 2, "size": 8, "vocabulary": 20, "start": 3, "limit": 6, "batch": 2},
        sweeps={"batch": (1, 2, 4, 8, 16), "limit": (50, 100, 200, 500)},
    ),
)
