"""Ranks and dtypes follow through modules and functions of tensors whose sizes are dynamic: `tolist` needs them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from ssa_compiler.importer.partial_evaluation.samples import Samples
from ssa_compiler.importer.partial_evaluation.values import Known, TensorValue, TupleValue, Value
from ssa_compiler.testing import check


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (torch.transpose, [TensorValue(None, 4), Known(1), Known(2)], TensorValue(None, 4)),
        (torch.topk, [TensorValue(None, 1), Known(1)], (TensorValue(None, 1), TensorValue(torch.int64, 1))),
        (torch.argmax, [TensorValue(None, 3), Known(-1)], TensorValue(torch.int64, 2)),
        (torch.squeeze, [TensorValue(torch.float32, 2), Known(0)], TensorValue(torch.float32, None)),
        (torch.gt, [TensorValue(None, 2), Known(0)], TensorValue(torch.bool, 2)),
        (torch.add, [TensorValue(torch.float32, 2), TensorValue(torch.float32, 1)], TensorValue(torch.float32, 2)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_functions(function: Any, args: list[Value], expected: Any) -> None:
    found = Samples().result(function, args, {}, function.__name__)
    assert (found.elements if isinstance(found, TupleValue) else found) == expected


@pytest.mark.parametrize(
    ("module", "rank", "expected"),
    [
        (nn.Linear(5, 7), 3, 3),
        (nn.LayerNorm(5), 2, 2),
        (nn.Conv2d(3, 5, 3), 4, 4),
        (nn.BatchNorm1d(6).eval(), 2, 2),
        (nn.GRUCell(5, 4), 2, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_modules(module: nn.Module, rank: int, expected: int) -> None:
    found = Samples().module_result(module, [TensorValue(torch.float32, rank)], {})
    assert found == TensorValue(torch.float32, expected)


class Searched(nn.Module):
    """What is chosen decides what goes into the layers next."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(6, 4)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 6)

    def forward(self, x: torch.Tensor, n: int) -> Any:
        seqs, done = x.unsqueeze(1), []
        for _ in range(n):
            scores = self.head(self.norm(self.embedding(seqs))[:, -1]).view(-1)
            values, places = scores.topk(3)
            beams, words = torch.div(places, 6, rounding_mode="floor"), places % 6
            keep = []
            for value, beam, word in zip(values, beams.tolist(), words.tolist()):
                if word == 0:
                    done.append((value.item(), torch.cat([seqs[beam], torch.tensor([word])])))
                keep.append(beam)
            seqs = torch.cat([seqs[torch.tensor(keep)], words.unsqueeze(1)], dim=1)
        if not done:
            return seqs[0], 0.0
        done.sort(key=lambda pair: pair[0], reverse=True)
        return done[0][1], done[0][0]


@pytest.mark.slow
def test_a_beam_search() -> None:
    torch.manual_seed(0)
    model = Searched()
    for n in (2, 0, 1, 5):
        check(model, (torch.tensor([1, 2, 3]), n))


class Counted(nn.Module):
    """The dtype of the state is that of the first input, which its attribute does not say."""

    def __init__(self) -> None:
        super().__init__()
        self.v = None
        self.total = 0.0

    def forward(self, x: torch.Tensor, n: int) -> Any:
        if self.v is None:
            self.v = torch.zeros_like(x)
        for _ in range(n):
            self.v = self.v + x
            self.total += self.v.sum().item()
        return self.v, self.total, 1.5 - self.v.max().item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_numbers_out_of_tensors_of_no_known_dtype(dtype: torch.dtype) -> None:
    for n in (0, 1, 3):
        check(Counted(), (torch.tensor([1, 2, 5], dtype=dtype), n))


class Scaled(torch.nn.Module):
    """Of parts, and of what has sizes that are no constants, the rank is known: `tolist` needs it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.conv = torch.nn.Linear(4, 4), torch.nn.Conv2d(1, 2, 1)

    def forward(self, x, n: int):  # type: ignore[no-untyped-def]
        found = []
        for _ in range(n):
            x = torch.cat([x, x[:1]])
            scale, shift = self.linear(x).chunk(2, dim=1)
            grid = torch.nn.functional.interpolate(self.conv((scale + shift)[None, None]), size=x.shape[-2:])
            found += grid[0, 0].sum(0).tolist()
        return found


def test_parts_and_dynamic_sizes() -> None:
    with torch.no_grad():
        check(Scaled(), (torch.ones(2, 4), 2), (torch.zeros(2, 4), 1), (torch.ones(2, 4), 0))
