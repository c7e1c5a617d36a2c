"""What a benchmark program is: a model with seeded weights, several input sets, and sizes that can be varied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

__all__ = ["Built", "Sizes", "Workload", "no_facts"]

Sizes = dict[str, int]
"""Sizes by name: "batch", "steps" and so on."""


def no_facts(result: Any) -> dict[str, int]:
    """What is known of a result where there is nothing to know."""
    return {}


@dataclass(frozen=True)
class Built:
    """A workload at certain sizes.

    Attributes:
        model: the program, in inference mode (`eval`), on the CPU.
        inputs: input sets by name. All peers compile for the first; the others differ in what the program's control
            flow depends on. No program writes its arguments, so that calls can be repeated.
        facts: what a result says of its input: how many boxes reached NMS, how long a decoded sequence is.
        jax: makes the same program for JAX from the model: a function of the same arguments as arrays. None if there is
            none.
    """

    model: torch.nn.Module
    inputs: dict[str, tuple[Any, ...]]
    facts: Callable[[Any], dict[str, int]] = no_facts
    jax: Callable[[Any], Callable[..., Any]] | None = None


@dataclass(frozen=True)
class Workload:
    """A benchmark program.

    Attributes:
        name: how it is called on the command line.
        group: the kind of program: "recurrent", "decoding", "detection", "networks", "boxes", "numeric", "discrete" or
            "small".
        description: one line.
        source: what was published about the program that this one is written from.
        build: makes it; takes the sizes as keyword arguments.
        sizes: its sizes.
        small: sizes that run as a test.
        variants: further sizes of the full set, each with what differs from `sizes`.
        sweeps: for the scaling set, the values of one size at a time.
        quick: whether it is in the quick set.
        rtol: relative tolerance of a peer's floating-point results against eager.
        atol: absolute tolerance.
    """

    name: str
    group: str
    description: str
    source: str
    build: Callable[..., Built]
    sizes: Sizes
    small: Sizes
    variants: tuple[Sizes, ...] = ()
    sweeps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    quick: bool = False
    rtol: float = 1e-4
    atol: float = 1e-5

    def at(self, changes: Mapping[str, int] | None = None) -> Built:
        """Make the workload.

        Args:
            changes: sizes that differ from `sizes`.
        Raises:
            KeyError: there is no such size.
        """
        unknown = set(changes or {}) - set(self.sizes)
        if unknown:
            raise KeyError(f"{self.name} has no size {sorted(unknown)}: it has {sorted(self.sizes)}")
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            built = self.build(**{**self.sizes, **(changes or {})})
        built.model.eval().requires_grad_(False)
        return built
