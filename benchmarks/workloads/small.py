"""Small programs that show one effect: a row of a big tensor, channels that change places, a pointwise network."""

# TorchScript reads the annotations of buffers, and does not know them as strings: no
# `from __future__ import annotations`.
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "FeedForward", "Normalize", "RowUpdate"]


class RowUpdate(nn.Module):
    """Updates rows of a big tensor that a loop carries: a compiler that copies it in each step shows here."""

    def forward(self, x: torch.Tensor, touched: int, steps: int) -> torch.Tensor:
        """Return a copy of x, float32 [rows, columns], with 1 added to its first `touched` rows in turn, `steps`
        times.
        """
        b = x.clone()
        for step in range(steps):
            row = step % touched
            b[row] = b[row] + 1
        return b


def _row_update_jax(model: Any) -> Callable[..., Any]:
    import jax

    def forward(x: Any, touched: Any, steps: Any) -> Any:
        return jax.lax.fori_loop(0, steps, lambda step, b: b.at[step % touched].add(1), x)

    return forward


def build_row_update(*, rows: int, columns: int, steps: int) -> Built:
    """Make the update, of many and of few rows."""
    x = torch.randn(rows, columns)
    return Built(
        RowUpdate(),
        {"many rows": (x, rows, steps), "few rows": (x, 2, steps), "half": (x, rows, steps // 2)},
        jax=_row_update_jax,
    )


class Normalize(nn.Module):
    """Image normalisation with red and blue exchanged, channel by channel."""

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor([123.675, 116.28, 103.53]))
        self.register_buffer("deviation", torch.tensor([58.395, 57.12, 57.375]))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return float32 [height, width, 3] of an image [height, width, 3] of bytes with blue first."""
        out = torch.zeros(image.shape, dtype=torch.float32, device=image.device)
        out[..., 0] = image[..., 2]
        out[..., 1] = image[..., 1]
        out[..., 2] = image[..., 0]
        out -= self.mean
        out /= self.deviation
        return out


def build_normalize(*, height: int, width: int) -> Built:
    """Make the normalisation, of a bright and a dark image."""
    image = torch.randint(0, 256, (height, width, 3), dtype=torch.uint8)
    return Built(Normalize(), {"bright": (image,), "dark": (image // 4,)})


class FeedForward(nn.Module):
    """Two linear layers with GELU written out between them.

    Args:
        width: size of input and output.
        hidden: size between them.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, width] of x, float32 [batch, width]."""
        y = self.first(x)
        y = y * 0.5 * (1.0 + torch.erf(y / 1.4142135623730951))
        return self.second(y)


def _feed_forward_jax(model: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    w1, b1, w2, b2 = (jnp.asarray(t.numpy()) for t in (*model.first.parameters(), *model.second.parameters()))

    def forward(x: Any) -> Any:
        y = x @ w1.T + b1
        return (y * 0.5 * (1.0 + jax.scipy.special.erf(y / 1.4142135623730951))) @ w2.T + b2

    return forward


def build_feed_forward(*, width: int, hidden: int, batch: int) -> Built:
    """Make the network."""
    model = FeedForward(width, hidden)
    return Built(
        model,
        {"small values": (torch.randn(batch, width),), "large values": (10 * torch.randn(batch, width),)},
        jax=_feed_forward_jax,
    )


WORKLOADS = (
    Workload(
        "row_update",
        "small",
        "rows of a big carried tensor, updated one by one",
        "the example of the FuncTs repository, b[i] = b[i] + 1, on a tensor that does not fit the cache",
        build_row_update,
        {"rows": 16384, "columns": 1024, "steps": 2000},
        {"rows": 8, "columns": 4, "steps": 12},
        quick=True,
    ),
    Workload(
        "normalize",
        "small",
        "image normalisation with channel swap, assigned channel by channel",
        "the normalisation of detection data pipelines (mean and deviation of ImageNet); a case of the FuncTs repository",
        build_normalize,
        {"height": 800, "width": 1216},
        {"height": 4, "width": 6},
        quick=True,
    ),
    Workload(
        "mlp_gelu",
        "small",
        "two linear layers with GELU written out",
        "Hendrycks and Gimpel, Gaussian Error Linear Units, 2016; the fusion example of TorchScript tutorials",
        build_feed_forward,
        {"width": 768, "hidden": 3072, "batch": 32},
        {"width": 8, "hidden": 16, "batch": 2},
    ),
)
