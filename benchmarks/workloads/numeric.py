"""Numeric loops: stencil sweeps, recurrences, a Kalman and an adaptive filter, and steps of differential equations."""

# TorchScript reads the annotations of buffers, and does not know them as strings: no
# `from __future__ import annotations`.
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "AdaptiveFilter", "GaussSeidel", "Jacobi", "KalmanFilter", "LinearRecurrence", "OrdinarySteps"]


class Jacobi(nn.Module):
    """Jacobi sweeps of Laplace's equation: the inside of the grid is assigned through slices."""

    def forward(self, grid: torch.Tensor, sweeps: int) -> torch.Tensor:
        """Return the grid, float32 [n, m], after some sweeps; its edge does not change."""
        grid = grid.clone()
        for _ in range(sweeps):
            inside = 0.25 * (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:])
            grid[1:-1, 1:-1] = inside
        return grid


class GaussSeidel(nn.Module):
    """Red-black Gauss-Seidel sweeps of Laplace's equation: every other point is written, then the others."""

    def forward(self, grid: torch.Tensor, sweeps: int) -> torch.Tensor:
        """Return the grid, float32 [n, m] with even n and m, after some sweeps; its edge does not change."""
        grid = grid.clone()
        for _ in range(sweeps):
            for colour in range(2):
                for row in range(2):
                    first = 1 + row
                    column = 1 + (row + colour) % 2
                    middle = grid[first:-1:2]
                    above = grid[first - 1 : -2 : 2]
                    below = grid[first + 1 :: 2]
                    new = 0.25 * (
                        above[:, column:-1:2]
                        + below[:, column:-1:2]
                        + middle[:, column - 1 : -2 : 2]
                        + middle[:, column + 1 :: 2]
                    )
                    middle[:, column:-1:2] = new
        return grid


def _jacobi_jax(model: Any) -> Callable[..., Any]:
    import jax

    def forward(grid: Any, sweeps: Any) -> Any:
        def body(_: Any, grid: Any) -> Any:
            inside = 0.25 * (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:])
            return grid.at[1:-1, 1:-1].set(inside)

        return jax.lax.fori_loop(0, sweeps, body, grid)

    return forward


def _gauss_seidel_jax(model: Any) -> Callable[..., Any]:
    import jax

    def forward(grid: Any, sweeps: Any) -> Any:
        def body(_: Any, grid: Any) -> Any:
            for colour in range(2):
                for row in range(2):
                    r, c = 1 + row, 1 + (row + colour) % 2
                    new = 0.25 * (
                        grid[r - 1 : -2 : 2, c:-1:2]
                        + grid[r + 1 :: 2, c:-1:2]
                        + grid[r:-1:2, c - 1 : -2 : 2]
                        + grid[r:-1:2, c + 1 :: 2]
                    )
                    grid = grid.at[r:-1:2, c:-1:2].set(new)
            return grid

        return jax.lax.fori_loop(0, sweeps, body, grid)

    return forward


def _build_stencil(model: nn.Module, jax: Callable[[Any], Callable[..., Any]], size: int, sweeps: int) -> Built:
    grid = torch.randn(size, size)
    return Built(model, {"all": (grid, sweeps), "half": (grid, sweeps // 2)}, jax=jax)


def build_jacobi(*, size: int, sweeps: int) -> Built:
    """Make the sweeps; the second input set has half of them."""
    return _build_stencil(Jacobi(), _jacobi_jax, size, sweeps)


def build_gauss_seidel(*, size: int, sweeps: int) -> Built:
    """Make the sweeps; the second input set has half of them."""
    return _build_stencil(GaussSeidel(), _gauss_seidel_jax, size, sweeps)


class LinearRecurrence(nn.Module):
    """A gated linear recurrence, assigned row by row."""

    def forward(self, decay: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return h with h[t] = decay[t] * h[t - 1] + x[t], float32 [time, width]."""
        h = x.clone()
        for t in range(1, x.shape[0]):
            h[t] += decay[t] * h[t - 1]
        return h


def _recurrence_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def forward(decay: Any, x: Any) -> Any:
        def body(h: Any, now: Any) -> Any:
            h = now[0] * h + now[1]
            return h, h

        return jax.lax.scan(body, jnp.zeros_like(x[0]), (decay, x))[1]

    return forward


def build_recurrence(*, steps: int, width: int) -> Built:
    """Make the recurrence, with slow and fast decay."""
    x = torch.randn(steps, width)
    decay = torch.rand(steps, width)
    return Built(LinearRecurrence(), {"fast": (decay, x), "slow": (decay.sqrt(), x)}, jax=_recurrence_jax)


class KalmanFilter(nn.Module):
    """A Kalman filter of a point that moves in a plane: state of four, observations of two.

    The gain's 2 x 2 inverse is written out; a missing observation is predicted only.
    """

    motion: torch.Tensor
    seen: torch.Tensor
    drift: torch.Tensor
    error: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("motion", torch.eye(4) + 0.1 * torch.diag(torch.ones(2), 2))
        self.register_buffer("seen", torch.eye(2, 4))
        self.register_buffer("drift", 0.01 * torch.eye(4))
        self.register_buffer("error", 0.2 * torch.eye(2))

    def forward(self, observed: torch.Tensor, present: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states, float32 [time, 4], and the last covariance, float32 [4, 4].

        Args:
            observed: float32 [time, 2].
            present: bool [time], which observations there are.
        """
        states = torch.zeros(observed.shape[0], 4, device=observed.device)
        state = torch.zeros(4, device=observed.device)
        spread = torch.eye(4, device=observed.device)
        inverse = torch.zeros(2, 2, device=observed.device)
        for t in range(observed.shape[0]):
            state = self.motion @ state
            spread = self.motion @ spread @ self.motion.t() + self.drift
            if bool(present[t]):
                s = self.seen @ spread @ self.seen.t() + self.error
                inverse[0, 0] = s[1, 1]
                inverse[1, 1] = s[0, 0]
                inverse[0, 1] = -s[0, 1]
                inverse[1, 0] = -s[1, 0]
                gain = spread @ self.seen.t() @ (inverse / (s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]))
                state = state + gain @ (observed[t] - self.seen @ state)
                spread = spread - gain @ self.seen @ spread
            states[t] = state
        return states, spread


def _kalman_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    motion, seen, drift, error = (jnp.asarray(t.numpy()) for t in (model.motion, model.seen, model.drift, model.error))

    def forward(observed: Any, present: Any) -> Any:
        def correct(state: Any, spread: Any, observation: Any) -> Any:
            s = seen @ spread @ seen.T + error
            inverse = jnp.array([[s[1, 1], -s[0, 1]], [-s[1, 0], s[0, 0]]])
            gain = spread @ seen.T @ (inverse / (s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]))
            return state + gain @ (observation - seen @ state), spread - gain @ seen @ spread

        def body(carried: Any, now: Any) -> Any:
            state, spread = motion @ carried[0], motion @ carried[1] @ motion.T + drift
            state, spread = jax.lax.cond(now[1], correct, lambda a, b, _: (a, b), state, spread, now[0])
            return (state, spread), state

        (_, spread), states = jax.lax.scan(body, (jnp.zeros(4), jnp.eye(4)), (observed, present))
        return states, spread

    return forward


def build_kalman(*, steps: int) -> Built:
    """Make the filter, with all, with half and with none of the observations."""
    observed = torch.randn(steps, 2).cumsum(0) * 0.1
    sets = {"all seen": torch.ones(steps), "half seen": torch.rand(steps) - 0.5, "none seen": torch.zeros(steps)}
    return Built(
        KalmanFilter(),
        {name: (observed, present > 0) for name, present in sets.items()},
        facts=lambda result: {},
        jax=_kalman_jax,
    )


class OrdinarySteps(nn.Module):
    """Steps of the Lorenz system for many starting points; the path is assigned per step.

    Args:
        fourth_order: Runge-Kutta of fourth order rather than Euler's method.
    """

    def __init__(self, fourth_order: bool) -> None:
        super().__init__()
        self.fourth_order = fourth_order

    def slope(self, y: torch.Tensor) -> torch.Tensor:
        """Return the derivative, float32 [3, n], at y."""
        d = torch.zeros_like(y)
        d[0] = 10.0 * (y[1] - y[0])
        d[1] = y[0] * (28.0 - y[2]) - y[1]
        d[2] = y[0] * y[1] - 8.0 / 3.0 * y[2]
        return d

    def forward(self, start: torch.Tensor, length: float, steps: int) -> torch.Tensor:
        """Return the path, float32 [steps + 1, 3, n], in `steps` steps of `length`.

        Args:
            start: float32 [3, n].
            length: of a step.
            steps: at most 200; the path has 201 places, zero after the last step.
        """
        path = torch.zeros(201, start.shape[0], start.shape[1], device=start.device)
        path[0] = start
        y = start
        for step in range(steps):
            k1 = self.slope(y)
            if self.fourth_order:
                k2 = self.slope(y + 0.5 * length * k1)
                k3 = self.slope(y + 0.5 * length * k2)
                k4 = self.slope(y + length * k3)
                y = y + length / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            else:
                y = y + length * k1
            path[step + 1] = y
        return path


def _steps_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    fourth_order = model.fourth_order

    def slope(y: Any) -> Any:
        return jnp.stack([10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])

    def forward(start: Any, length: Any, steps: Any) -> Any:
        def body(step: Any, carried: Any) -> Any:
            y, path = carried
            k1 = slope(y)
            if fourth_order:
                k2 = slope(y + 0.5 * length * k1)
                k3 = slope(y + 0.5 * length * k2)
                k4 = slope(y + length * k3)
                y = y + length / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            else:
                y = y + length * k1
            return y, path.at[step + 1].set(y)

        path = jnp.zeros((201, *start.shape), start.dtype).at[0].set(start)
        return jax.lax.fori_loop(0, steps, body, (start, path))[1]

    return forward


def _build_steps(fourth_order: bool, points: int, steps: int) -> Built:
    start = torch.randn(3, points)
    return Built(
        OrdinarySteps(fourth_order),
        {"all": (start, 1e-3, steps), "half, longer steps": (start, 2e-3, steps // 2)},
        jax=_steps_jax,
    )


def build_euler(*, points: int, steps: int) -> Built:
    """Make Euler's method; the second input set has half of the steps, twice as long."""
    return _build_steps(False, points, steps)


def build_rk4(*, points: int, steps: int) -> Built:
    """Make the Runge-Kutta method; the second input set has half of the steps, twice as long."""
    return _build_steps(True, points, steps)


class AdaptiveFilter(nn.Module):
    """An adaptive filter (normalised least mean squares): after each sample its weights change in place.

    Args:
        taps: number of weights.
    """

    def __init__(self, taps: int) -> None:
        super().__init__()
        self.taps = taps

    def forward(self, signal: torch.Tensor, wanted: torch.Tensor, rate: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the error at each sample, float32 [time], and the weights at the end, float32 [taps].

        Args:
            signal: float32 [time].
            wanted: float32 [time], what the filtered signal should be.
            rate: of learning.
        """
        weights = torch.zeros(self.taps, device=signal.device)
        window = torch.zeros(self.taps, device=signal.device)
        errors = torch.zeros_like(wanted)
        for t in range(signal.shape[0]):
            window[1:] = window[:-1].clone()
            window[0] = signal[t]
            error = wanted[t] - window @ weights
            weights += rate * error / (window @ window + 1e-3) * window
            errors[t] = error
        return errors, weights


def _adaptive_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    taps = model.taps

    def forward(signal: Any, wanted: Any, rate: Any) -> Any:
        def body(carried: Any, now: Any) -> Any:
            weights, window = carried
            sample, target = now
            window = jnp.concatenate([sample[None], window[:-1]])
            error = target - window @ weights
            weights = weights + rate * error / (window @ window + 1e-3) * window
            return (weights, window), error

        (weights, _), errors = jax.lax.scan(body, (jnp.zeros(taps), jnp.zeros(taps)), (signal, wanted))
        return errors, weights

    return forward


def build_adaptive(*, steps: int, taps: int) -> Built:
    """Make the filter, which finds an echo of white noise and of a signal whose samples are alike, slowly and
    quickly.
    """
    echo = torch.randn(taps) * torch.exp(-4.0 * torch.arange(taps) / taps)

    def inputs(signal: torch.Tensor, rate: float) -> tuple[Any, ...]:
        padded = torch.nn.functional.pad(signal, (taps - 1, 0))
        return signal, padded.unfold(0, taps, 1).flip(1) @ echo + 0.01 * torch.randn(steps), rate

    white = torch.randn(steps)
    alike = torch.nn.functional.avg_pool1d(torch.randn(1, steps + 3), 4, 1)[0]
    return Built(
        AdaptiveFilter(taps),
        {"noise": inputs(white, 0.5), "alike samples": inputs(alike, 0.5), "slow": inputs(white, 0.1)},
        jax=_adaptive_jax,
    )


WORKLOADS = (
    Workload(
        "jacobi",
        "numeric",
        "Jacobi sweeps over a grid whose inside is assigned through slices",
        "Saad, Iterative Methods for Sparse Linear Systems, section 4.1",
        build_jacobi,
        {"size": 256, "sweeps": 100},
        {"size": 8, "sweeps": 4},
        sweeps={"sweeps": (50, 100, 200, 500)},
    ),
    Workload(
        "gauss_seidel",
        "numeric",
        "red-black Gauss-Seidel sweeps: strided slices are written that the next ones read",
        "Saad, Iterative Methods for Sparse Linear Systems, section 12.4 (red-black ordering)",
        build_gauss_seidel,
        {"size": 256, "sweeps": 50},
        {"size": 8, "sweeps": 4},
    ),
    Workload(
        "recurrence",
        "numeric",
        "gated linear recurrence (a scan), assigned row by row",
        "Blelloch, Prefix Sums and Their Applications, 1990; the recurrence of linear state-space layers",
        build_recurrence,
        {"steps": 200, "width": 256},
        {"steps": 5, "width": 8},
        sweeps={"steps": (50, 100, 200, 500)},
    ),
    Workload(
        "kalman",
        "numeric",
        "Kalman filter with missing observations: small matrices, a branch on the data in each step",
        "Kalman 1960; Welch and Bishop, An Introduction to the Kalman Filter",
        build_kalman,
        {"steps": 100},
        {"steps": 5},
    ),
    Workload(
        "euler",
        "numeric",
        "Euler steps of the Lorenz system, slope and path assigned row by row",
        "Lorenz, Deterministic Nonperiodic Flow, 1963",
        build_euler,
        {"points": 1024, "steps": 100},
        {"points": 4, "steps": 4},
    ),
    Workload(
        "rk4",
        "numeric",
        "Runge-Kutta steps of the Lorenz system, slope and path assigned row by row",
        "Lorenz 1963; Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.1",
        build_rk4,
        {"points": 1024, "steps": 100},
        {"points": 4, "steps": 4},
    ),
    Workload(
        "adaptive_filter",
        "numeric",
        "adaptive filter (normalised least mean squares): a delay line and weights that change in place at each sample",
        "Haykin, Adaptive Filter Theory, chapter on the normalised LMS algorithm; Widrow and Hoff 1960",
        build_adaptive,
        {"steps": 1000, "taps": 32},
        {"steps": 6, "taps": 4},
        sweeps={"steps": (500, 1000, 2000)},
    ),
)
