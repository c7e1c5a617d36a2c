"""Lists that loops make longer: by how much is dynamic."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from . import program
from .data import ramp, randn
from .models import seeded

TRIPS = (2, 0, 1, 17)


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def append_then_stack(x: Tensor, n: int) -> tuple[Tensor, int]:
    """Rows appended to a list that has one element, stacked."""
    rows = [x[0]]
    for i in range(n):
        rows.append(x[i] * 2.0)
    return torch.stack(rows), len(rows)


@program(lambda: [(ramp(20, 3), n) for n in (2, 1, 17)], loops=1)
def append_then_cat(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """An empty list, of which nothing could be made if the loop did not run."""
    rows: list[Tensor] = []
    for i in range(n):
        rows.append(x[i].unsqueeze(0) + 1.0)
    return torch.cat(rows), torch.cat(rows, 1)


@program(lambda: [(randn(20, 1, 3), n) for n in (2, 1, 9)], loops=1, tolerance=1e-4)
def make_recurrent_outputs() -> nn.Module:
    """A GRU cell, whose states are collected."""

    class Outputs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.GRUCell(3, 4)

        def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor]:
            h = torch.zeros(1, 4)
            outputs: list[Tensor] = []
            for i in range(n):
                h = self.cell(x[i], h)
                outputs.append(h)
            return torch.stack(outputs, 1), h

    return seeded(Outputs())


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def list_result(x: Tensor, n: int) -> tuple[list[Tensor], list[int]]:
    """Lists of tensors and of numbers as results."""
    rows: list[Tensor] = []
    numbers = [7]
    for i in range(n):
        rows.append(x[i] - 1.0)
        numbers.append(i * i)
    return rows, numbers


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def fibonacci(x: Tensor, n: int) -> Tensor:
    """The last elements are read where the next one is made."""
    rows = [x[0], x[1]]
    for _ in range(n):
        rows.append(rows[-1] + rows[-2] * 0.5)
    return torch.stack(rows, -1)


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=2)
def list_comprehension(x: Tensor, n: int) -> Tensor:
    """A list made from a list, which is read element by element."""
    rows = [x[i] * 2.0 for i in range(n)]
    shifted = [row + 1.0 for row in rows]
    total = torch.zeros(3)
    for i, row in enumerate(shifted):
        total = total + row * i
    return total


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def conditional_appends(x: Tensor, n: int) -> Tensor:
    """Each iteration appends one, two or no element, and one leaves the loop."""
    rows = [x[0]]
    for i in range(n):
        if i == 11:
            break
        if i % 3 == 1:
            continue
        if i % 3 == 2:
            rows.append(x[i])
        else:
            rows.append(x[i] * 2.0)
            rows.append(x[i] * 3.0)
    return torch.stack(rows)


@program(lambda: [(ramp(3), limit) for limit in (50.0, 0.0, 4.0, 7.0)], loops=1)
def append_until(x: Tensor, limit: float) -> tuple[list[Tensor], int]:
    """A `while` loop on data: the buffer grows."""
    rows: list[Tensor] = []
    h = x
    while bool(h.sum() < limit):
        h = h + 1.0
        rows.append(h)
    return rows, len(rows)


@program(lambda: [(ramp(20, 3), n) for n in (3, 0, 1, 2, 6)], loops=2)
def nested_appends(x: Tensor, n: int) -> Tensor:
    """An inner loop appends as often as the outer one has run."""
    rows = [x[0]]
    for i in range(n):
        for j in range(i):
            rows.append(x[i] + x[j])
        rows.append(x[i])
    return torch.stack(rows)


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def integers_and_flags(x: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """int64 and bool elements, and elements without dimensions, of an expanded tensor."""
    integers = [x[0].to(torch.int64)]
    flags = [x[0] > 1.0]
    wide = [x[0, :1].expand(4)]
    for i in range(n):
        integers.append(x[i].to(torch.int64))
        flags.append(x[i] > 20.0)
        wide.append(x[i, 1:2].expand(4))
    return torch.stack(integers), torch.stack(flags), torch.cat(wide)


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def stack_machine(x: Tensor, n: int) -> tuple[Tensor, int]:
    """Appended, removed, replaced."""
    rows = [x[0], x[1]]
    for i in range(n):
        rows.append(x[i])
        rows[i // 2] = x[i] * 2.0
        if i % 3 == 2:
            top = rows.pop()
            rows[-1] = top * 2.0
        if i == 7:
            rows.clear()
            rows.extend([x[0], x[1], x[2], x[3]])
    return torch.stack(rows), len(rows)


@program(lambda: [(ramp(20, 3), n) for n in TRIPS], loops=1)
def written_elements(x: Tensor, n: int) -> Tensor:
    """Elements written through the list, before they are read."""
    rows = [x[0] * 2.0]
    for i in range(n):
        y = x[i].clone()
        y[0] = 7.0
        rows.append(y)
    for row in rows:
        row.add_(1.0)
    return torch.stack(rows)


@program(lambda: [(ramp(20, 3), n) for n in (2, 0, 17)], loops=1)
def many_constant_appends(x: Tensor, n: int) -> Tensor:
    """A constant number of iterations that is too large to write them out."""
    rows: list[Tensor] = []
    for i in range(300):
        rows.append(x[i % 20] + n)
    return torch.stack(rows)
