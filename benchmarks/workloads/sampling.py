"""Decoding with choices: beam search, and sampling among the most likely tokens, of a few or of a whole vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "BeamSearch", "Sampler", "TopPSampler"]


class BeamSearch(nn.Module):
    """Beam search with a recurrent decoder; histories are reordered in place at each step.

    Args:
        hidden: size of the states.
        vocabulary: number of tokens; the last one ends a sequence.
        width: number of beams.
    """

    def __init__(self, hidden: int, vocabulary: int, width: int) -> None:
        super().__init__()
        bound = hidden**-0.5
        self.width = width
        self.vocabulary = vocabulary
        self.embedding = nn.Parameter(torch.randn(vocabulary, hidden))
        self.weight = nn.Parameter(torch.empty(hidden, 2 * hidden).uniform_(-bound, bound) * 2)
        self.output = nn.Parameter(torch.randn(vocabulary, hidden))

    def forward(self, state: torch.Tensor, steps: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Search.

        Args:
            state: float32 [1, hidden], where the decoder starts.
            steps: the most tokens, at most 64.
        Returns:
            Tokens, int64 [width, 64], 0 after the end; the beams' logarithmic probabilities, float32 [width]; the steps
            that ran: the search stops when the best beam has ended.
        """
        states = state.expand(self.width, state.shape[1]).clone()
        tokens = torch.zeros(self.width, 64, dtype=torch.int64, device=state.device)
        total = torch.full((self.width,), -1e9, device=state.device)
        total[0] = 0.0
        token = torch.zeros(self.width, dtype=torch.int64, device=state.device)
        ended = torch.zeros(self.width, dtype=torch.bool, device=state.device)
        step = 0
        while step < steps and not bool(ended[0]):
            states = torch.tanh(torch.cat([self.embedding[token], states], dim=1) @ self.weight.t())
            chances = torch.log_softmax(states @ self.output.t(), dim=1)
            chances[ended] = -1e9
            chances[ended, self.vocabulary - 1] = 0.0
            total, best = (total[:, None] + chances).reshape(-1).topk(self.width)
            beam = best // self.vocabulary
            token = best % self.vocabulary
            states = states[beam]
            tokens = tokens[beam]
            tokens[:, step] = token
            ended = ended[beam] | (token == self.vocabulary - 1)
            step += 1
        return tokens, total, step


def _beam_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    embedding, weight, output = (jnp.asarray(t.numpy()) for t in (model.embedding, model.weight, model.output))
    width, vocabulary = model.width, model.vocabulary

    def forward(state: Any, steps: Any) -> Any:
        def running(carried: Any) -> Any:
            return (carried[0] < steps) & ~carried[5][0]

        def body(carried: Any) -> Any:
            step, tokens, total, token, states, ended = carried
            states = jnp.tanh(jnp.concatenate([embedding[token], states], axis=1) @ weight.T)
            chances = jax.nn.log_softmax(states @ output.T, axis=1)
            only_end = jnp.full((vocabulary,), -1e9).at[vocabulary - 1].set(0.0)
            chances = jnp.where(ended[:, None], only_end, chances)
            total, best = jax.lax.top_k((total[:, None] + chances).reshape(-1), width)
            beam, token = best // vocabulary, best % vocabulary
            tokens = tokens[beam].at[:, step].set(token)
            return step + 1, tokens, total, token, states[beam], ended[beam] | (token == vocabulary - 1)

        start = (
            jnp.zeros((), jnp.int32),
            jnp.zeros((width, 64), jnp.int32),
            jnp.full((width,), -1e9).at[0].set(0.0),
            jnp.zeros((width,), jnp.int32),
            jnp.broadcast_to(state, (width, state.shape[1])),
            jnp.zeros((width,), bool),
        )
        step, tokens, total, *_ = jax.lax.while_loop(running, body, start)
        return tokens, total, step

    return forward


def build_beam(*, hidden: int, vocabulary: int, width: int, steps: int) -> Built:
    """Make the search, from two states and for half of the steps."""
    model = BeamSearch(hidden, vocabulary, width)
    states = torch.randn(2, 1, hidden)
    return Built(
        model,
        {
            "all steps": (states[0].clone(), steps),
            "another state": (states[1].clone(), steps),
            "half": (states[0].clone(), steps // 2),
        },
        facts=lambda result: {"decoded steps": int(result[2])},
        jax=_beam_jax,
    )


class Sampler(nn.Module):
    """Samples tokens among the most likely ones: top-k, of these the fewest that make up a probability (top-p).

    Args:
        hidden: size of the states.
        vocabulary: number of tokens.
        choices: k of top-k.
    """

    def __init__(self, hidden: int, vocabulary: int, choices: int) -> None:
        super().__init__()
        bound = hidden**-0.5
        self.choices = choices
        self.embedding = nn.Parameter(torch.randn(vocabulary, hidden))
        self.weight = nn.Parameter(torch.empty(hidden, 2 * hidden).uniform_(-bound, bound) * 2)
        self.output = nn.Parameter(0.5 * torch.randn(vocabulary, hidden))

    def forward(self, state: torch.Tensor, noise: torch.Tensor, probability: float, steps: int) -> torch.Tensor:
        """Sample.

        Args:
            state: float32 [batch, hidden], where the decoder starts.
            noise: float32 [time, batch, choices], drawn from Gumbel's distribution: the largest sum of it and a
                logarithmic probability is a sample.
            probability: p of top-p.
            steps: how many tokens, at most `time`.
        Returns:
            Tokens, int64 [time, batch], 0 after `steps`.
        """
        tokens = torch.zeros(noise.shape[0], noise.shape[1], dtype=torch.int64, device=state.device)
        token = torch.zeros(noise.shape[1], dtype=torch.int64, device=state.device)
        for step in range(steps):
            state = torch.tanh(torch.cat([self.embedding[token], state], dim=1) @ self.weight.t())
            likely, names = (state @ self.output.t()).topk(self.choices, dim=1)
            chances = torch.softmax(likely, dim=1)
            before = chances.cumsum(dim=1) - chances
            likely = likely.masked_fill(before >= probability, -1e9)
            pick = (likely + noise[step]).argmax(dim=1, keepdim=True)
            token = names.gather(1, pick).squeeze(1)
            tokens[step] = token
        return tokens


def _sampler_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    embedding, weight, output = (jnp.asarray(t.numpy()) for t in (model.embedding, model.weight, model.output))
    choices = model.choices

    def forward(state: Any, noise: Any, probability: Any, steps: Any) -> Any:
        def body(step: Any, carried: Any) -> Any:
            state, tokens, token = carried
            state = jnp.tanh(jnp.concatenate([embedding[token], state], axis=1) @ weight.T)
            likely, names = jax.lax.top_k(state @ output.T, choices)
            chances = jax.nn.softmax(likely, axis=1)
            before = jnp.cumsum(chances, axis=1) - chances
            likely = jnp.where(before >= probability, -1e9, likely)
            pick = jnp.argmax(likely + noise[step], axis=1)
            token = jnp.take_along_axis(names, pick[:, None], axis=1)[:, 0]
            return state, tokens.at[step].set(token), token

        tokens = jnp.zeros(noise.shape[:2], jnp.int32)
        return jax.lax.fori_loop(0, steps, body, (state, tokens, jnp.zeros(noise.shape[1], jnp.int32)))[1]

    return forward


def build_sampler(*, hidden: int, vocabulary: int, choices: int, batch: int, steps: int) -> Built:
    """Make the sampler, with narrow and wide choices and for half of the steps."""
    model = Sampler(hidden, vocabulary, choices)
    state = torch.randn(batch, hidden)
    noise = -torch.log(-torch.log(torch.rand(steps, batch, choices).clamp(1e-6, 1 - 1e-6)))
    return Built(
        model,
        {
            "p 0.9": (state, noise, 0.9, steps),
            "p 0.5": (state, noise, 0.5, steps),
            "half": (state, noise, 0.9, steps // 2),
        },
        jax=_sampler_jax,
    )


class TopPSampler(nn.Module):
    """Samples tokens of a whole vocabulary among the fewest that make up a probability (top-p)."""

    def forward(
        self, logits: torch.Tensor, uniform: torch.Tensor, temperature: float, probability: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens, int64 [batch], and how many there were to choose from, int64 [batch].

        Args:
            logits: float32 [batch, vocabulary].
            uniform: float32 [batch, 1], between 0 and 1: decides which token it is.
            temperature: what the logits are divided by.
            probability: p of top-p.
        """
        likely, names = (logits / temperature).sort(dim=1, descending=True)
        chances = torch.softmax(likely, dim=1)
        removed = chances.cumsum(dim=1) > probability
        removed[:, 1:] = removed[:, :-1].clone()  # the token that goes beyond p stays
        removed[:, 0] = False
        chances[removed] = 0.0
        chances /= chances.sum(dim=1, keepdim=True)
        pick = (chances.cumsum(dim=1) < uniform).sum(dim=1, keepdim=True)
        pick.clamp_(max=logits.shape[1] - 1)
        return names.gather(1, pick).squeeze(1), (~removed).sum(dim=1)


def _top_p_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def forward(logits: Any, uniform: Any, temperature: Any, probability: Any) -> Any:
        scaled = logits / temperature
        names = jnp.argsort(scaled, axis=1, descending=True)
        likely = jnp.take_along_axis(scaled, names, axis=1)
        chances = jax.nn.softmax(likely, axis=1)
        kept = jnp.cumsum(chances, axis=1) - chances <= probability
        chances = jnp.where(kept, chances, 0.0)
        chances = chances / chances.sum(axis=1, keepdims=True)
        pick = jnp.minimum((jnp.cumsum(chances, axis=1) < uniform).sum(axis=1), logits.shape[1] - 1)
        return jnp.take_along_axis(names, pick[:, None], axis=1)[:, 0], kept.sum(axis=1)

    return forward


def _undisputed(sums: torch.Tensor, wanted: float) -> float:
    """A number near `wanted` that is far from all cumulative sums, so that rounding errors do not decide what is
    taken.
    """
    numbers = wanted + torch.linspace(-0.01, 0.01, 101, dtype=torch.float64)
    distance = torch.stack([(row[:, None] - numbers).abs().amin(dim=0) for row in sums]).amin(dim=0)
    return float(numbers[distance.argmax()])


def build_top_p(*, vocabulary: int, batch: int) -> Built:
    """Make the sampler, with tens of tokens to choose from, fewer and more."""
    logits = 5.0 * torch.randn(batch, vocabulary)
    wanted = 0.02 + 0.96 * torch.rand(batch)

    def inputs(temperature: float, probability: float) -> tuple[Any, ...]:
        chances = torch.softmax(logits.double() / temperature, dim=1).sort(dim=1, descending=True).values
        probability = _undisputed(chances.cumsum(dim=1), probability)
        chances *= chances.cumsum(dim=1) - chances <= probability
        sums = (chances / chances.sum(dim=1, keepdim=True)).cumsum(dim=1)
        uniform = torch.tensor([[_undisputed(row[None], float(number))] for row, number in zip(sums, wanted)])
        return logits, uniform, temperature, probability

    return Built(
        TopPSampler(),
        {"p 0.9": inputs(1.0, 0.9), "cold": inputs(0.7, 0.9), "hot": inputs(1.1, 0.9)},
        facts=lambda result: {"tokens to choose from": int(result[1].sum())},
        jax=_top_p_jax,
    )


WORKLOADS = (
    Workload(
        "beam_search",
        "decoding",
        "beam search with a recurrent decoder, histories reordered at each step, until the best beam ends",
        "Sutskever, Vinyals and Le, 2014, section 3.2",
        build_beam,
        {"hidden": 256, "vocabulary": 500, "width": 4, "steps": 30},
        {"hidden": 16, "vocabulary": 20, "width": 2, "steps": 4},
    ),
    Workload(
        "sampling",
        "decoding",
        "top-k and top-p sampling loop, noise as an input",
        "Fan et al., Hierarchical Neural Story Generation, 2018; Holtzman et al., Neural Text Degeneration, 2020",
        build_sampler,
        {"hidden": 256, "vocabulary": 500, "choices": 50, "batch": 1, "steps": 30},
        {"hidden": 16, "vocabulary": 20, "choices": 5, "batch": 2, "steps": 4},
    ),
    Workload(
        "top_p",
        "decoding",
        "top-p sampling from a whole vocabulary: sort, cumulative sum, a mask moved by one and written through",
        "Holtzman et al., The Curious Case of Neural Text Degeneration, 2020, section 3.1; a vocabulary as that of Llama 2",
        build_top_p,
        {"vocabulary": 32000, "batch": 1},
        {"vocabulary": 20, "batch": 2},
        sweeps={"batch": (1, 4, 16)},
    ),
)
