"""A solver of differential equations whose step sizes follow the error: the data decide how many steps there are, and
which of them are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "AdaptiveSolver"]


class AdaptiveSolver(nn.Module):
    """The method of Dormand and Prince for Van der Pol oscillators, with lists of the accepted times and states.

    Args:
        limit: the most steps, accepted or not.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit, self.rtol, self.atol = limit, 1e-3, 1e-4

    def slope(self, y: torch.Tensor, mu: torch.Tensor) -> torch.Tensor:
        """Return the derivative of states, float32 [points, 2], of oscillators with damping `mu`, float32 [points]."""
        x, v = y[:, 0], y[:, 1]
        return torch.stack([v, mu * (1 - x * x) * v - x], dim=1)

    def step(self, y: torch.Tensor, mu: torch.Tensor, h: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the next states and an estimate of the error, float32 [points, 2] both."""
        k1 = self.slope(y, mu)
        k2 = self.slope(y + h * (k1 / 5), mu)
        k3 = self.slope(y + h * (3 * k1 / 40 + 9 * k2 / 40), mu)
        k4 = self.slope(y + h * (44 * k1 / 45 - 56 * k2 / 15 + 32 * k3 / 9), mu)
        k5 = self.slope(
            y + h * (19372 * k1 / 6561 - 25360 * k2 / 2187 + 64448 * k3 / 6561 - 212 * k4 / 729),
            mu,
        )
        k6 = self.slope(
            y + h * (9017 * k1 / 3168 - 355 * k2 / 33 + 46732 * k3 / 5247 + 49 * k4 / 176 - 5103 * k5 / 18656),
            mu,
        )
        new = y + h * (35 * k1 / 384 + 500 * k3 / 1113 + 125 * k4 / 192 - 2187 * k5 / 6784 + 11 * k6 / 84)
        k7 = self.slope(new, mu)
        error = 71 * k1 / 57600 - 71 * k3 / 16695 + 71 * k4 / 1920 - 17253 * k5 / 339200 + 22 * k6 / 525 - k7 / 40
        return new, h * error

    def forward(self, y: torch.Tensor, mu: torch.Tensor, end: float) -> tuple[torch.Tensor, torch.Tensor, int, int]:
        """Solve from time 0 to `end`.

        Args:
            y: float32 [points, 2], positions and velocities at the start.
            mu: float32 [points], the damping.
            end: the time at the end.
        Returns:
            The times and states of the accepted steps, float32 [limit + 1] and [limit + 1, points, 2], filled up with
            zeros; how many steps were accepted, and rejected.
        """
        t, h = 0.0, 0.1
        times = [0.0]
        states = [y]
        accepted = rejected = 0
        while t < end and accepted + rejected < self.limit:
            h = min(h, end - t)
            new, error = self.step(y, mu, h)
            scale = self.atol + self.rtol * torch.maximum(y.abs(), new.abs())
            ratio = float((error / scale).square().mean().sqrt())
            if ratio <= 1.0:
                t += h
                y = new
                times.append(t)
                states.append(y)
                accepted += 1
            else:
                rejected += 1
            h *= min(5.0, max(0.2, 0.9 * max(ratio, 1e-10) ** -0.2))
        rest = self.limit - accepted
        return (
            F.pad(torch.tensor(times), (0, rest)),
            F.pad(torch.stack(states), (0, 0, 0, 0, 0, rest)),
            accepted,
            rejected,
        )


def _jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    limit, rtol, atol = model.limit, model.rtol, model.atol
    step: Any = AdaptiveSolver.step

    class _Slope:
        """The same arithmetic on arrays of JAX."""

        @staticmethod
        def slope(y: Any, mu: Any) -> Any:
            x, v = y[:, 0], y[:, 1]
            return jnp.stack([v, mu * (1 - x * x) * v - x], axis=1)

    def forward(y: Any, mu: Any, end: Any) -> Any:
        def running(carried: Any) -> Any:
            t, _, _, _, _, accepted, rejected = carried
            return (t < end) & (accepted + rejected < limit)

        def body(carried: Any) -> Any:  # sizes are static in JAX: rows of buffers
            t, h, y, times, states, accepted, rejected = carried
            h = jnp.minimum(h, end - t)
            new, error = step(_Slope(), y, mu, h)
            scale = atol + rtol * jnp.maximum(jnp.abs(y), jnp.abs(new))
            ratio = jnp.sqrt(jnp.mean(jnp.square(error / scale)))
            taken = ratio <= 1.0
            t = jnp.where(taken, t + h, t)
            y = jnp.where(taken, new, y)
            place = accepted + taken
            times, states = times.at[place].set(t), states.at[place].set(y)
            h = h * jnp.clip(0.9 * jnp.maximum(ratio, 1e-10) ** -0.2, 0.2, 5.0)
            return t, h, y, times, states, place, rejected + ~taken

        end = jnp.asarray(end, y.dtype)
        empty = jnp.zeros(limit + 1, y.dtype), jnp.zeros((limit + 1, *y.shape), y.dtype).at[0].set(y)
        first = jnp.asarray(0.0, y.dtype), jnp.asarray(0.1, y.dtype), y, *empty, jnp.asarray(0), jnp.asarray(0)
        _, _, _, times, states, accepted, rejected = jax.lax.while_loop(running, body, first)
        return times, states, accepted, rejected

    return forward


def build(*, points: int, limit: int) -> Built:
    """Make the solver; the second input set is stiffer, the third ends at once."""
    start = torch.randn(points, 2)
    return Built(
        AdaptiveSolver(limit),
        {
            "gentle": (start, torch.rand(points) + 0.5, 10.0),
            "stiff": (start, torch.rand(points) * 4 + 4, 10.0),
            "no time": (start, torch.rand(points), 0.0),
        },
        facts=lambda result: {"steps": int(result[2]), "rejected": int(result[3])},
        jax=_jax,
    )


WORKLOADS = (
    Workload(
        "adaptive_solver",
        "numeric",
        "Dormand-Prince steps of Van der Pol oscillators whose size follows the error, in lists",
        "Dormand and Prince 1980; Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.4",
        build,
        {"points": 32, "limit": 1000},
        {"points": 3, "limit": 40},
        sweeps={"points": (1, 32, 256, 1024)},
        rtol=2e-3,
        atol=2e-3,
    ),
)
