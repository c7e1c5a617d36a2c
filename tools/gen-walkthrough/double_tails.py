import torch


def double_tails(x: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    y = x.clone()
    for i in range(stop):
        if i >= start:
            y[i, 1:] = y[i, 1:] * 2
    return y
