"""Recurrent networks whose states are slots of tensors, assigned step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload

__all__ = ["NASRNN", "WORKLOADS", "StackedLSTM"]


class StackedLSTM(nn.Module):
    """An LSTM of several layers whose states live in two tensors with one slot for each layer.

    Args:
        layers: number of layers.
        hidden: size of the input and of the states.
    """

    def __init__(self, layers: int, hidden: int) -> None:
        super().__init__()
        bound = hidden**-0.5
        self.layers = layers
        self.weights = nn.ParameterList(
            nn.Parameter(torch.empty(4 * hidden, 2 * hidden).uniform_(-bound, bound)) for _ in range(layers)
        )
        self.biases = nn.ParameterList(
            nn.Parameter(torch.empty(4 * hidden).uniform_(-bound, bound)) for _ in range(layers)
        )

    def forward(
        self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, steps: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Run over the first steps.

        Args:
            x: float32 [time, batch, hidden].
            h0: float32 [layers, 1, batch, hidden], hidden states at the start.
            c0: float32 [layers, 1, batch, hidden], cell states at the start.
            steps: how many steps, at most `time`.
        Returns:
            Outputs of the last layer, float32 [time, batch, hidden], zero after `steps`; the last hidden and cell
            states.
        """
        h = h0.clone()
        c = c0.clone()
        outputs = torch.zeros_like(x)
        for step in range(steps):
            inputs = x[step]
            layer = 0
            for weight, bias in zip(self.weights, self.biases):
                gates = torch.cat([inputs, h[layer, 0]], dim=1) @ weight.t() + bias
                i, f, g, o = gates.chunk(4, dim=1)
                c[layer, 0] = torch.sigmoid(f) * c[layer, 0] + torch.sigmoid(i) * torch.tanh(g)
                h[layer, 0] = torch.sigmoid(o) * torch.tanh(c[layer, 0])
                inputs = h[layer, 0]
                layer += 1  # noqa: SIM113 - TorchScript unrolls the loop over the lists and cannot enumerate
            outputs[step] = inputs
        return outputs, h, c


def _lstm_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    weights = [jnp.asarray(weight.numpy()) for weight in model.weights]
    biases = [jnp.asarray(bias.numpy()) for bias in model.biases]

    def forward(x: Any, h0: Any, c0: Any, steps: Any) -> Any:
        def body(step: Any, carried: Any) -> Any:
            outputs, h, c = carried
            inputs = x[step]
            for layer, (weight, bias) in enumerate(zip(weights, biases)):
                gates = jnp.concatenate([inputs, h[layer, 0]], axis=1) @ weight.T + bias
                i, f, g, o = jnp.split(gates, 4, axis=1)
                cell = jax.nn.sigmoid(f) * c[layer, 0] + jax.nn.sigmoid(i) * jnp.tanh(g)
                inputs = jax.nn.sigmoid(o) * jnp.tanh(cell)
                c, h = c.at[layer, 0].set(cell), h.at[layer, 0].set(inputs)
            return outputs.at[step].set(inputs), h, c

        return jax.lax.fori_loop(0, steps, body, (jnp.zeros_like(x), h0, c0))

    return forward


def build_lstm(*, layers: int, hidden: int, batch: int, steps: int) -> Built:
    """Make the LSTM; the second input set starts from other states, the third stops halfway."""
    model = StackedLSTM(layers, hidden)
    x = torch.randn(steps, batch, hidden)
    zeros = torch.zeros(layers, 1, batch, hidden)
    return Built(
        model,
        {
            "from zero": (x, zeros, zeros.clone(), steps),
            "from states": (x, torch.randn_like(zeros), torch.randn_like(zeros), steps),
            "half": (x, zeros, zeros.clone(), steps // 2),
        },
        jax=_lstm_jax,
    )


class NASRNN(nn.Module):
    """A recurrent network with the NAS cell: eight gates in a tree of sigmoids, tanhs and rectifiers.

    Args:
        hidden: size of the input and of the states.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        bound = hidden**-0.5
        self.input_weight = nn.Parameter(torch.empty(hidden, 8 * hidden).uniform_(-bound, bound))
        self.state_weight = nn.Parameter(torch.empty(hidden, 8 * hidden).uniform_(-bound, bound))

    def forward(
        self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, steps: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Run over the first steps.

        Args:
            x: float32 [time, batch, hidden].
            h0: float32 [batch, hidden].
            c0: float32 [batch, hidden].
            steps: how many steps, at most `time`.
        Returns:
            Outputs, float32 [time, batch, hidden], zero after `steps`; the last hidden and cell state.
        """
        h = h0.clone()
        c = c0.clone()
        outputs = torch.zeros_like(x)
        for step in range(steps):
            a = (x[step] @ self.input_weight).chunk(8, dim=1)
            b = (h @ self.state_weight).chunk(8, dim=1)
            first = torch.tanh(torch.sigmoid(a[0] + b[0]) * torch.relu(a[1] + b[1]))
            second = torch.tanh(torch.sigmoid(a[2] + b[2]) + torch.relu(a[3] * b[3]))
            third = torch.tanh(torch.tanh(a[4] + b[4]) * torch.sigmoid(a[5] + b[5]))
            fourth = torch.sigmoid(torch.tanh(a[6] + b[6]) + torch.sigmoid(a[7] + b[7]))
            c = torch.tanh(first + c) * second
            h = torch.tanh(c * torch.tanh(third + fourth))
            outputs[step] = h
        return outputs, h, c


def _nasrnn_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    input_weight, state_weight = jnp.asarray(model.input_weight.numpy()), jnp.asarray(model.state_weight.numpy())
    sigmoid, tanh, relu = jax.nn.sigmoid, jnp.tanh, jax.nn.relu

    def forward(x: Any, h0: Any, c0: Any, steps: Any) -> Any:
        def body(step: Any, carried: Any) -> Any:
            outputs, h, c = carried
            a = jnp.split(x[step] @ input_weight, 8, axis=1)
            b = jnp.split(h @ state_weight, 8, axis=1)
            first = tanh(sigmoid(a[0] + b[0]) * relu(a[1] + b[1]))
            second = tanh(sigmoid(a[2] + b[2]) + relu(a[3] * b[3]))
            third = tanh(tanh(a[4] + b[4]) * sigmoid(a[5] + b[5]))
            fourth = sigmoid(tanh(a[6] + b[6]) + sigmoid(a[7] + b[7]))
            c = tanh(first + c) * second
            h = tanh(c * tanh(third + fourth))
            return outputs.at[step].set(h), h, c

        return jax.lax.fori_loop(0, steps, body, (jnp.zeros_like(x), h0, c0))

    return forward


def build_nasrnn(*, hidden: int, batch: int, steps: int) -> Built:
    """Make the NAS network; the second input set starts from other states, the third stops halfway."""
    model = NASRNN(hidden)
    x = torch.randn(steps, batch, hidden)
    zeros = torch.zeros(batch, hidden)
    return Built(
        model,
        {
            "from zero": (x, zeros, zeros.clone(), steps),
            "from states": (x, torch.randn_like(zeros), torch.randn_like(zeros), steps),
            "half": (x, zeros, zeros.clone(), steps // 2),
        },
        jax=_nasrnn_jax,
    )


_SWEEPS = {"batch": (1, 2, 4, 8, 16), "steps": (50, 100, 200, 500)}

WORKLOADS = (
    Workload(
        "lstm",
        "recurrent",
        "LSTM of several layers, states assigned slot by slot, steps as a run-time argument",
        "Hochreiter and Schmidhuber 1997; sizes of the FuncTs paper (10 layers, 256, 50 steps)",
        build_lstm,
        {"layers": 10, "hidden": 256, "batch": 1, "steps": 50},
        {"layers": 2, "hidden": 16, "batch": 1, "steps": 4},
        sweeps=_SWEEPS,
        quick=True,
    ),
    Workload(
        "nasrnn",
        "recurrent",
        "recurrent network with the cell found by architecture search, many pointwise ops a step",
        "Zoph and Le, Neural Architecture Search with Reinforcement Learning, 2017, appendix A (NASCell)",
        build_nasrnn,
        {"hidden": 256, "batch": 1, "steps": 50},
        {"hidden": 16, "batch": 1, "steps": 4},
        sweeps=_SWEEPS,
    ),
)
