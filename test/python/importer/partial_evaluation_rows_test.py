# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Loops over the rows of a tensor as lists, and what is known of the tensors of the program."""

import pytest
import torch
from torch import nn

from ssa_compiler.testing import check


def pairs(x):
    out = []
    for i, j in (x > 0).nonzero().tolist():
        if i == j:
            continue
        out.append(i * 10 + j)
    return out


def weighted(x, w):
    total = 0.0
    for n, ((u, v), k) in enumerate(zip((x > 0).nonzero().tolist(), w)):
        total += u * v * k.item() + n
    return total


def as_it_was(x):
    y = x.clone()
    out = []
    for k, (a, b) in enumerate(y.tolist()):
        y[0] = 7.0
        y[-1] = 8.0
        out.append(a + b + k)
    return out, y


def comprehended(x):
    return [a - b for a, b in x.tolist()], [a for a, b in x.tolist() if a > b]


def matrix(rows, columns):
    return torch.arange(rows * columns, dtype=torch.float32).reshape(rows, columns) % 5 - 1


@pytest.mark.slow
def test_rows_are_unpacked():
    check(pairs, (matrix(3, 3),), (torch.zeros(3, 3),), (torch.ones(3, 3),), (torch.eye(3),))
    for n in (20, 0):
        check(pairs, (matrix(n, 3),), compiled=False)
    for n in (3, 9, 0):
        for count in (4, 1, 90):
            check(weighted, (matrix(n, 3), torch.rand(count)), (torch.zeros(n, 3), torch.rand(count)), compiled=False)
    for n in (3, 1, 40):
        check(as_it_was, (matrix(n, 2),), compiled=False)
    for n in (3, 0, 1, 2, 40):
        check(comprehended, (matrix(n, 2),), compiled=False)


def test_rows_of_another_length():
    check(comprehended, (matrix(2, 3),), compiled=False)  # an error, in eager, too


def changed_in_place(x):
    y, z = torch.zeros(3, dtype=torch.int32), (x > 0).to(torch.int32)
    for i in range(x.shape[0]):
        y += z[i].squeeze(0)
    return [k + 1 for k in y.tolist()]


def joined(x, n):
    parts = []
    for i in range(n):
        parts.append(x[i] > 0)
    flags = torch.cat(parts) if n > 1 else torch.stack(parts).flatten()
    return [k for k in flags.tolist() if k]


def found(x):
    places = torch.stack(torch.where(x > 0), 1)
    return [i + j for i, j in places.tolist()]


def counted(samples):
    out = []
    for sample in samples:
        for k in sample["labels"].tolist():
            out.append(k + 1)
        out += [len(sample["scores"].tolist())]
    return out


def relabelled(sample):
    """A dict that is changed: what it is passed with says nothing."""
    sample["labels"] = sample["scores"][None] + 1
    parts = [sample["labels"] for _ in range(2)]
    return parts[0].dim(), sample["labels"].dtype == torch.int64


def sample(n):
    return {"labels": torch.arange(n), "scores": torch.arange(n) / 2}


def test_dtypes_are_known():
    for n in (4, 0):
        check(changed_in_place, (matrix(n, 3),), compiled=False)
    check(joined, *[(matrix(4, 3), n) for n in (2, 1, 4)], compiled=False)
    for n in (4, 0, 20):
        check(found, (matrix(n, 9),), (torch.zeros(n, 9),), compiled=False)
    for n in (2, 1):
        check(counted, ([sample(2)] * n,), compiled=False)
    for n in (2, 0):
        check(relabelled, (sample(n),), compiled=False)


class Greedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 4)
        self.lstm = nn.LSTM(4, 4, batch_first=True)

    def step(self, y, state=None):
        return self.lstm(self.emb(y), state)

    def forward(self, y, n: int, batched: bool):
        out, state = self.step(y)
        ids = []
        for _ in range(n):
            if batched:
                out, state = self.step(y, (state[0] + 1, state[1]))
            else:
                k = out[0, 0].argmax().item()
                ids.append(k)
                out, state = self.step(torch.tensor([[k]]), state)
        return ids, state


@pytest.mark.parametrize("batched", [False, True])
def test_state_of_a_recurrent_module(batched):
    torch.manual_seed(0)
    y = torch.tensor([[2]])
    check(Greedy().eval(), *[(y, n, batched) for n in (2, 0, 1, 5)], compiled=False)


def unpacked(x, n: int):
    """Rows that are unpacked, views of the tensor that is written meanwhile."""
    y, total = x.clone(), torch.zeros(())
    for a, b in y:
        y[1] += 1
        total = total + a * b
    for k, (a, b) in enumerate(y * n):
        total = total + k * a - b
    places = [(int(i), int(j)) for i, j in (y > 2).nonzero()]
    return total, places, [float(a) - float(b) for (a, b), c in zip(x, x[:, 0]) if c > 1]


def grown(x, n: int):
    """A tensor whose sizes, and no more, are other ones in each iteration."""
    counts: list[int] = []
    for _ in range(n):
        row = x[0].tolist()
        counts.append(len([v for v in row if v > 1]))
        x = torch.cat([x, x[:, :1] + 1], dim=-1)
    return x, counts


def test_rows_of_tensors():
    inputs = [(torch.tensor([[1.0, 3.0], [2.0, 4.0], [0.0, -1.0]]), n) for n in (2, 0, 3)]
    check(unpacked, *inputs, (torch.zeros(3, 2), 1), compiled=False)
    check(grown, inputs[0], compiled=False)


class Steps(torch.nn.Module):
    """Tensors of several sizes, in one list."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.both = torch.nn.Linear(5, 2)

    def step(self, state, n):
        other = torch.nn.functional.one_hot(torch.tensor(n), 3).float()
        return self.both(torch.cat([state, other])).tolist()

    def forward(self, x, n: int):
        found = []
        for k in range(3):
            found += [v for v in self.step(x[k], n) if v > 0]
        return found


def test_lists_of_tensors_of_several_sizes():
    check(Steps(), *((torch.arange(6.0).view(3, 2) - 3, n) for n in (2, 0, 1)), compiled=False)


class Sums(torch.nn.Module):
    """A forward with a decorator and a write by a variable, and a part whose method has the same name."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(2, 2)

    @torch.no_grad()
    def forward(self, x, n: int):
        sums, table = [0.0] * 3, [[0, 0], [0, 0]]
        kept = [v for v in x if v.sum() > 0]
        for k in range(3):
            j = k % 2
            sums[j] += float(self.linear(x[k]).sum()) * n
            table[j][n % 2] = k
        return sums, table, len(kept)


def test_methods_of_one_name():
    check(Sums(), *((torch.arange(6.0).view(3, 2) - 3, n) for n in (2, 0)), compiled=False)


def among_elements(found, n: int):
    """Tensors that are unpacked beside keys, numbers and others."""
    made = {k: torch.arange(2.0) * k for k in range(n)}
    out = torch.zeros(2)
    for k, (a, b) in found.items():
        out = out + torch.stack([a, b]) * k
    for i, (k, (a, b)) in enumerate(made.items()):
        out[0] += a * k + i
        out[1] -= b
    for (a, b), c in zip(made.values(), range(2)):
        out[1] += a * b - c
    for a, b in found.values():
        out = out * (a - b)
    return out, [a - b + k for k, (a, b) in made.items()]


def test_tensors_among_the_elements():
    x = torch.tensor([1.0, -2.0])
    for found in ({3: x, 1: -x}, {}, {2: x}):
        check(among_elements, *((found, n) for n in (3, 0, 1, 2)), compiled=False)
