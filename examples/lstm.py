"""A stack of LSTM cells written imperatively: each step assigns the slots of the state tensors, layer by layer."""

from __future__ import annotations

import torch
from torch import nn


class ImperativeLSTM(nn.Module):
    """An LSTM whose states live in two tensors with one slot for each layer.

    Attributes:
        layers: number of layers.
        weights: for each layer, float32 [4 * hidden, hidden + hidden]: input, forget, cell and output gate, applied to
            the layer's input and its hidden state side by side.
        biases: for each layer, float32 [4 * hidden].
    """

    def __init__(self, layers: int, hidden: int) -> None:
        """Create weights of the size PyTorch gives an LSTM.

        Args:
            layers: number of layers.
            hidden: size of the input and of the hidden state.
        """
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
        self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Run over all steps.

        Args:
            x: float32 [steps, batch, hidden].
            h0: float32 [layers, 1, batch, hidden], hidden states at the start; not changed.
            c0: float32 [layers, 1, batch, hidden], cell states at the start; not changed.
        Returns:
            Outputs of the last layer, float32 [steps, batch, hidden], and the last hidden and cell states.
        """
        h = h0.clone()
        c = c0.clone()
        outputs = torch.zeros_like(x)
        for step in range(x.shape[0]):
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
