"""Lists of a class of the user's that adds methods, which a module holds: transformers' `LogitsProcessorList`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.testing import check

# mypy: disable-error-code="no-untyped-def"


class Temperature:
    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, ids, scores):
        return scores / self.value


class TopK:
    def __init__(self, k: int) -> None:
        self.k = k

    def __call__(self, ids, scores):
        smallest = torch.topk(scores, self.k)[0][..., -1, None]
        return scores.masked_fill(scores < smallest, -1e9)


class Processors(list):  # type: ignore[type-arg]
    def __call__(self, ids, scores):
        for each in self:
            scores = each(ids, scores)
        return scores

    def count(self):  # type: ignore[override]
        return len(self)


class Plus(Processors):
    def __call__(self, ids, scores):
        return scores + 1


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.head = nn.Linear(4, 4)
        self.processors = Processors([Temperature(0.5), TopK(2)])

    def forward(self, x: Tensor, n: int):
        for _ in range(n):
            x = self.processors(x, self.head(x))
        return x, self.processors.count(), len(self.processors)


X = torch.ones(2, 4)


def test_a_list_that_is_called() -> None:
    with torch.no_grad():
        check(Generator(), (X, 2), (X, 0), (X, 1), (X, 3))


def test_what_becomes_of_the_list_is_seen() -> None:
    model = Generator()
    with torch.no_grad():
        compiled = ssa_compiler.compile(model, (X, 2), fullgraph=True)

        def compare() -> None:
            for one, other in zip(model(X, 2), compiled(X, 2), strict=True):
                torch.testing.assert_close(one, other)

        compare()
        model.processors.append(TopK(1))
        compare()
        model.processors[0].value = 2.0
        compare()
        model.processors = Plus(model.processors)
        compare()
        model.processors = Processors(model.processors[:1])
        compare()
