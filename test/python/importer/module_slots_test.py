"""Lists of a module: of tensors, of which a dynamic index chooses one, and of numbers, which become empty."""

import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.testing import check


def row() -> Tensor:
    return torch.arange(3.0)


class Slots(nn.Module):
    """Sums in a ring, and a cache that is written in place."""

    def __init__(self) -> None:
        super().__init__()
        self.ring = [torch.zeros(3) for _ in range(3)]
        self.rows = [torch.zeros(4, 3), torch.ones(4, 3)]
        self.position = 0

    def forward(self, x: Tensor) -> Tensor:
        self.ring[self.position] += x
        for i in range(2):
            self.rows[i][self.position] = x * i
        self.position = (self.position + 1) % 3
        return torch.stack(self.ring).sum(0) + self.rows[0] + self.rows[1]


def test_tensors_in_lists() -> None:
    module = Slots()
    check(module, *[(row() + i,) for i in range(5)])
    ring = list(module.ring)
    with torch.no_grad():
        compiled = ssa_compiler.compile(module, (row(),), cache=False)
        for _ in range(4):
            compiled(row())
    assert all(one is other for one, other in zip(ring, module.ring))
    assert torch.equal(ring[0], row() * 2)


class Ring(Slots):
    def forward(self, x: Tensor) -> Tensor:
        self.ring[self.position] = x
        self.position = (self.position + 1) % 3
        return torch.stack(self.ring).sum(0)


def test_a_dynamic_index_replaces_a_tensor_in_a_list() -> None:
    """The others stay what they are: whoever has them sees them written."""
    module, eager = Ring(), Ring()
    before = list(module.ring)
    with torch.no_grad():
        compiled = ssa_compiler.compile(module, (row(),), cache=False)
        for number in range(5):
            given = row() + number
            assert torch.equal(compiled(given), eager(row() + number))
            assert module.position == eager.position
            assert module.ring[number % 3] is given
            assert all(module.ring[k] is before[k] for k in range(number + 1, 3))
            given += 1
            eager.ring[number % 3] += 1
    assert len(compiled.specialisations) == 1


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.queue = [1.0]
        self.seen = {"a": 1}

    def forward(self, x: Tensor, push: bool) -> Tensor:
        if push:
            self.queue.append(2.0)
            self.seen["b"] = 2
        else:
            self.queue.pop()
            del self.seen["a"]
        return x * len(self.queue)


def test_a_list_of_numbers_may_become_empty() -> None:
    module, oracle = Stack(), Stack()
    compiled = ssa_compiler.compile(module, (row(), False), cache=False)
    with torch.no_grad():
        for push in (False, True, True):
            assert torch.equal(compiled(row(), push), oracle(row(), push))
            assert (module.queue, module.seen) == (oracle.queue, oracle.seen)
