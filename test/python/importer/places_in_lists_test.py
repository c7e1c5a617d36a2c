# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Elements that are put, inserted and removed at dynamic places, in lists of dynamic length and lists of modules."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import check_other

X = torch.tensor([1.0, 0.5, -2.0])


def numbers(x, n: int, k: int):
    squares = [i * i for i in range(n)]
    popped = squares.pop(k)
    rest = list(range(n))
    for i in range(n - 1, -1, -1):
        if i % 3 == 1:
            rest.pop(i)
    rest.insert(k, 100)
    rest.insert(-1, 101)
    rest.insert(50, 102)
    del rest[-2]
    return squares, popped, rest


def tensors(x, n: int, k: int):
    found = [x + i for i in range(n)]
    popped = found.pop(k)
    found.insert(1, x)
    for i in range(len(found) - 1, -1, -1):
        if found[i].sum() > 5:
            del found[i]
    return torch.stack(found), popped


@pytest.mark.parametrize("program", [numbers, tensors])
def test_elements_come_and_go_anywhere(program):
    places = ((5, 2), (3, 0), (4, -2), (7, 6), (1, 0), (2, -3), (6, 6))
    checked = check(program, *((X, n, k) for n, k in places))
    assert [type(error) for error in checked.errors] == [type(None)] * 5 + [IndexError] * 2


def written(x, n: int, k: int):
    t = x * 2
    found = [x + 1]
    for _ in range(n):
        found.append(t)
    popped = found.pop(k)
    popped.add_(1)
    return t, popped


def test_what_is_removed_is_the_object_that_was_put_there():
    with pytest.raises(errors.UnsupportedProgramError, match="written, through one of its names"):
        check(written, (X, 2, 1))


def sizes(x, k):
    shape, counts = [1, 1, 1], [0.5] * 3
    shape[int(k)] = 3
    for i in range(k.numel() + 100):
        counts[(int(k) + i) % 3] += 1.5
    return x.view(shape) * 2, torch.tensor(counts) + sum(counts)


def test_a_list_of_known_length_is_an_operand():
    check(sizes, *((X, torch.tensor(k)) for k in (0, 1, 2)))


def of_any_rank(points, idx):
    view, repeated = list(idx.shape), list(idx.shape)
    view[1:] = [1] * (len(view) - 1)
    repeated[:1] = [1]
    batch = torch.arange(points.shape[0]).view(view).repeat(repeated)
    return points[batch, idx, :]


def test_slices_of_shapes_are_assigned():
    calls = [(torch.randn(2, 5, 3), torch.randint(0, 5, shape)) for shape in ((2,), (2, 4), (2, 4, 3))]
    check_other(of_any_rank, lambda program: ssa_compiler.compile(program, calls[0], cache=False), calls, "compiled")


class Tracks(nn.Module):
    """Lists and dicts of tensors, whose elements are replaced at places that the run decides."""

    def __init__(self) -> None:
        super().__init__()
        self.boxes: list[Tensor] = [torch.zeros(3), torch.ones(3), torch.full((3,), 2.0)]
        self.by_id: dict[int, Tensor] = {4: torch.zeros(2), 7: torch.ones(2)}

    def forward(self, x: Tensor) -> Tensor:
        k = int(x.argmax())
        self.boxes[k] = x * 2
        self.boxes[-1 - k] = self.boxes[k - 1]
        self.by_id[4 if k > 1 else 7] = x[:2] + k
        if k == 1:
            self.boxes[2] = self.boxes[0] + 1
        return self.boxes[0] + self.boxes[2] + self.by_id[7].sum()


def test_elements_of_a_module_are_replaced():
    calls = [(X,), (-X,), (X.flip(0),), (X.roll(1),), (X,)]
    check_other(Tracks(), lambda model: ssa_compiler.compile(model, calls[0], cache=False), calls, "compiled")


def put_there(found: list[Tensor], x: Tensor, k: int) -> Tensor:
    found[k] = x
    found[0] = found[1]
    return found[2] + 1


def test_the_callers_list_has_the_callers_objects():
    found, x = [torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)], torch.full((2,), 5.0)
    compiled = ssa_compiler.compile(put_there, (list(found), x, 0))
    for k in (0, 1, 2, -1, -2):
        ours, theirs = list(found), list(found)
        assert torch.equal(compiled(ours, x, k), put_there(theirs, x, k))
        assert all(one is other for one, other in zip(ours, theirs, strict=True))
    with pytest.raises(IndexError, match="list assignment index out of range"):
        compiled(list(found), x, 3)


class Views(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        for row in x.unbind():
            self.rows.append(row)
        return torch.stack(self.rows).sum(0)


def test_a_module_keeps_rows_that_lie_apart():
    calls = [(torch.arange(6.0).reshape(2, 3),), (torch.ones(2, 3),)]
    check_other(Views(), lambda model: ssa_compiler.compile(model, calls[0], cache=False), calls, "compiled")


def negative_places(x, n: int, k: int):
    """Places that are known to be negative, and elements of a list of known length that go and come at any."""
    rows = [x * 1, x + 1, x + 2, x + 3]
    for i in range(n):
        rows[-1 - i % 2] = rows[-1 - i % 3] * 2
    rows.insert(k, x * 5)
    gone = rows.pop(k - 1)
    del rows[k]
    return rows, gone


def test_places_in_a_list_of_known_length():
    inputs = [(X, torch.tensor(n), torch.tensor(k)) for n in (3, 0, 1, 7) for k in (1, 0, 3, -1, 4, 5, -9)]

    def program(x, n, k):
        return negative_places(x, int(n), int(k))

    check(program, *inputs)
