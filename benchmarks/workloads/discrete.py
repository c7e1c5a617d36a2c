"""Loops over integers and tables: connected components, a sorting network, edit distance, the Viterbi algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "BitonicSort", "EditDistance", "UnionFind", "Viterbi"]


class UnionFind(nn.Module):
    """Connected components of a graph by union-find with path halving; each root is the least node of its component.

    Args:
        nodes: number of nodes.
    """

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.nodes = nodes

    def forward(self, edges: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Return the component of each node, int64 [nodes], and how many components there are.

        Args:
            edges: int64 [edges, 2].
        """
        parent = torch.arange(self.nodes, device=edges.device)
        components = self.nodes
        for edge in range(edges.shape[0]):
            a = int(edges[edge, 0])
            b = int(edges[edge, 1])
            while int(parent[a]) != a:
                parent[a] = parent[parent[a]]
                a = int(parent[a])
            while int(parent[b]) != b:
                parent[b] = parent[parent[b]]
                b = int(parent[b])
            if a != b:
                parent[max(a, b)] = min(a, b)
                components -= 1
        for node in range(self.nodes):  # a parent is less than its child, so that it has its root already
            parent[node] = parent[parent[node]]
        return parent, components


def _union_find_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    nodes = model.nodes

    def forward(edges: Any) -> Any:
        def find(parent: Any, node: Any) -> Any:
            def halve(carried: Any) -> Any:
                parent, node = carried
                parent = parent.at[node].set(parent[parent[node]])
                return parent, parent[node]

            return jax.lax.while_loop(lambda carried: carried[0][carried[1]] != carried[1], halve, (parent, node))

        def join(edge: Any, carried: Any) -> Any:
            parent, components = carried
            parent, a = find(parent, edges[edge, 0])
            parent, b = find(parent, edges[edge, 1])
            parent = parent.at[jnp.maximum(a, b)].set(jnp.minimum(a, b))
            return parent, components - (a != b)

        def shorten(node: Any, parent: Any) -> Any:
            return parent.at[node].set(parent[parent[node]])

        parent, components = jax.lax.fori_loop(0, edges.shape[0], join, (jnp.arange(nodes), nodes))
        return jax.lax.fori_loop(0, nodes, shorten, parent), components

    return forward


def build_union_find(*, nodes: int, edges: int) -> Built:
    """Make the search: of random edges, of a path whose edges come in random order, and of few nodes with most
    edges.
    """
    path = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)], dim=1)
    path = path[torch.arange(edges) % (nodes - 1)][torch.randperm(edges)]
    sets = {
        "random": torch.randint(nodes, (edges, 2)),
        "path": path,
        "few nodes": torch.randint(max(nodes // 10, 2), (edges, 2)),
    }
    return Built(
        UnionFind(nodes),
        {name: (given,) for name, given in sets.items()},
        facts=lambda result: {"components": int(result[1])},
        jax=_union_find_jax,
    )


class BitonicSort(nn.Module):
    """Batcher's bitonic sorting network: the halves of all pairs at a distance are assigned at once."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rows of x, float32 [rows, n], n a power of two, in ascending order."""
        x = x.clone()
        rows, n = x.shape
        size = 2
        while size <= n:
            distance = size // 2
            while distance > 0:
                pairs = x.view(rows, n // (2 * distance), 2, distance)
                first = torch.minimum(pairs[:, :, 0], pairs[:, :, 1])
                second = torch.maximum(pairs[:, :, 0], pairs[:, :, 1])
                start = torch.arange(0, n, 2 * distance, device=x.device)
                up = ((start & size) == 0)[:, None]
                pairs[:, :, 0] = torch.where(up, first, second)
                pairs[:, :, 1] = torch.where(up, second, first)
                distance = distance // 2
            size = 2 * size
        return x


def _bitonic_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def forward(x: Any) -> Any:
        n = x.shape[1]
        place = jnp.arange(n)

        def merge(stage: Any, x: Any) -> Any:  # sizes are static in JAX: each place looks for its partner instead
            size = 2 << stage

            def exchange(step: Any, x: Any) -> Any:
                distance = size >> (step + 1)
                other = x[:, place ^ distance]
                smaller = ((place & distance) == 0) == ((place & size) == 0)
                return jnp.where(smaller, jnp.minimum(x, other), jnp.maximum(x, other))

            return jax.lax.fori_loop(0, stage + 1, exchange, x)

        return jax.lax.fori_loop(0, n.bit_length() - 1, merge, x)

    return forward


def build_bitonic(*, rows: int, length: int) -> Built:
    """Make the network; the rows are random, and sorted the other way round."""
    x = torch.randn(rows, length)
    return Built(
        BitonicSort(), {"random": (x,), "descending": (x.sort(dim=1, descending=True).values,)}, jax=_bitonic_jax
    )


class EditDistance(nn.Module):
    """Levenshtein's distance of pairs of strings: each cell of the table is assigned from three that were before."""

    def forward(self, a: torch.Tensor, b: torch.Tensor, length_a: int, length_b: int) -> torch.Tensor:
        """Return the distances of the first characters of pairs of strings, int64 [pairs].

        Args:
            a: int64 [n, pairs].
            b: int64 [m, pairs].
            length_a: how many characters of a, at most n.
            length_b: how many characters of b, at most m.
        """
        n, pairs = a.shape
        m = b.shape[0]
        table = torch.zeros(n + 1, m + 1, pairs, dtype=torch.int64, device=a.device)
        table[:, 0] = torch.arange(n + 1, device=a.device)[:, None]
        table[0] = torch.arange(m + 1, device=a.device)[:, None]
        for i in range(1, length_a + 1):
            for j in range(1, length_b + 1):
                change = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
                table[i, j] = torch.minimum(torch.minimum(table[i - 1, j], table[i, j - 1]) + 1, change)
        return table[length_a, length_b]


def _edit_distance_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def forward(a: Any, b: Any, length_a: Any, length_b: Any) -> Any:
        pairs = a.shape[1]
        first = jnp.broadcast_to(jnp.arange(b.shape[0] + 1)[:, None], (b.shape[0] + 1, pairs))

        def row(i: Any, above: Any) -> Any:
            def cell(left: Any, now: Any) -> Any:
                over, diagonal, differs = now
                left = jnp.minimum(jnp.minimum(over, left) + 1, diagonal + differs)
                return left, left

            start = jnp.full((pairs,), i + 1)
            _, cells = jax.lax.scan(cell, start, (above[1:], above[:-1], a[i] != b))
            return jnp.concatenate([start[None], cells])

        return jax.lax.fori_loop(0, length_a, row, first)[length_b]

    return forward


def build_edit_distance(*, length: int, pairs: int) -> Built:
    """Make the table for strings that are alike, for others, and for a part of them."""
    a = torch.randint(26, (length, pairs))
    alike = torch.where(torch.rand(length, pairs) < 0.1, torch.randint(26, (length, pairs)), a).roll(1, 0)
    other = torch.randint(26, (length, pairs))
    part = length // 2
    return Built(
        EditDistance(),
        {
            "alike": (a, alike, length, length),
            "different": (a, other, length, length),
            "part": (a, alike, length, part),
        },
        facts=lambda result: {"distance": int(result.sum())},
        jax=_edit_distance_jax,
    )


class Viterbi(nn.Module):
    """The Viterbi algorithm: the best states of a hidden Markov model, found backwards through a table of choices."""

    def forward(
        self, start: torch.Tensor, change: torch.Tensor, seen: torch.Tensor, steps: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the best states, int64 [time], 0 after `steps`, and their logarithmic probability, float32 [].

        Args:
            start: float32 [states], logarithmic probabilities of the first state.
            change: float32 [states, states], of a state after another.
            seen: float32 [time, states], of what was observed.
            steps: how many observations count, at most `time`.
        """
        time, states = seen.shape
        choice = torch.zeros(time, states, dtype=torch.int64, device=seen.device)
        score = start + seen[0]
        for t in range(1, steps):
            best, before = (score[:, None] + change).max(dim=0)
            choice[t] = before
            score = best + seen[t]
        path = torch.zeros(time, dtype=torch.int64, device=seen.device)
        path[steps - 1] = score.argmax()
        for t in range(steps - 1, 0, -1):
            path[t - 1] = choice[t, path[t]]
        return path, score.max()


def _viterbi_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def forward(start: Any, change: Any, seen: Any, steps: Any) -> Any:
        def forwards(t: Any, carried: Any) -> Any:
            score, choice = carried
            candidates = score[:, None] + change
            choice = choice.at[t].set(candidates.argmax(axis=0))
            return candidates.max(axis=0) + seen[t], choice

        def backwards(back: Any, path: Any) -> Any:
            t = steps - 1 - back
            return path.at[t - 1].set(choice[t, path[t]])

        score, choice = jax.lax.fori_loop(1, steps, forwards, (start + seen[0], jnp.zeros(seen.shape, jnp.int32)))
        path = jnp.zeros(seen.shape[0], jnp.int32).at[steps - 1].set(score.argmax())
        return jax.lax.fori_loop(0, steps - 1, backwards, path), score.max()

    return forward


def build_viterbi(*, steps: int, states: int) -> Built:
    """Make the algorithm, for observations that say little and much of the state, and for half of them."""
    start = torch.log_softmax(torch.randn(states), dim=0)
    change = torch.log_softmax(2 * torch.randn(states, states), dim=1)
    seen = torch.randn(steps, states)
    return Built(
        Viterbi(),
        {
            "unclear": (start, change, seen, steps),
            "clear": (start, change, 5 * seen, steps),
            "half": (start, change, seen, steps // 2),
        },
        jax=_viterbi_jax,
    )


WORKLOADS = (
    Workload(
        "union_find",
        "discrete",
        "connected components by union-find with path halving: loops that run as long as the data says",
        "Tarjan and van Leeuwen, Worst-case Analysis of Set Union Algorithms, 1984",
        build_union_find,
        {"nodes": 1000, "edges": 1000},
        {"nodes": 8, "edges": 6},
    ),
    Workload(
        "bitonic_sort",
        "discrete",
        "bitonic sorting network: both halves of all pairs at a distance are assigned, views of changing shapes",
        "Batcher, Sorting Networks and Their Applications, 1968",
        build_bitonic,
        {"rows": 1, "length": 4096},
        {"rows": 2, "length": 8},
        variants=({"rows": 16},),
    ),
    Workload(
        "edit_distance",
        "discrete",
        "edit distance: two nested loops that assign the cells of a table",
        "Wagner and Fischer, The String-to-String Correction Problem, 1974",
        build_edit_distance,
        {"length": 64, "pairs": 1},
        {"length": 4, "pairs": 2},
        variants=({"pairs": 64},),
    ),
    Workload(
        "viterbi",
        "discrete",
        "Viterbi algorithm: a row of choices assigned in each step, and a path read backwards from them",
        "Forney, The Viterbi Algorithm, 1973",
        build_viterbi,
        {"steps": 200, "states": 64},
        {"steps": 5, "states": 4},
        sweeps={"steps": (50, 100, 200, 500)},
    ),
)
