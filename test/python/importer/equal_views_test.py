"""Loops over `unbind`, `split` and `chunk` stay loops: a dynamic index into such a list is a dynamic view."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from _imported import imported, ops
from ssa_compiler.testing import check


def halve_pieces(x: Tensor) -> Tensor:
    for piece in x.split(2):
        piece *= 0.5
    return x.sum(0)


def scan_columns(x: Tensor) -> Tensor:
    total = torch.zeros(x.size(0))
    columns = x.unbind(1)
    for i in range(len(columns)):
        total = total * 0.5 + columns[i]
        columns[len(columns) - 1 - i].add_(total)
    return total


def add_chunks(x: Tensor, y: Tensor) -> Tensor:
    total = torch.zeros(2, 3)
    for number, (a, b) in enumerate(zip(x.t().chunk(10, 1), y.unbind(0))):
        b.copy_(a.t() * number)
        total += b + x[:2]
    return total


@pytest.mark.parametrize("pieces", [1, 2, 9, 24])
def test_a_loop_over_pieces_writes_the_whole(pieces: int) -> None:
    check(halve_pieces, (torch.randn(2 * pieces, 3),))
    check(halve_pieces, (torch.randn(2 * pieces, 6)[:, ::2],))


def test_pieces_are_indexed_and_written() -> None:
    check(scan_columns, (torch.randn(3, 11),))
    check(add_chunks, (torch.randn(20, 3), torch.randn(10, 2, 3)))


def test_the_last_piece_may_be_smaller() -> None:
    def sums(x: Tensor) -> Tensor:
        total = torch.zeros(())
        for piece in x.split(2):
            piece.add_(total)
            total = total + piece.sum()
        return total

    check(sums, (torch.randn(21),))


def pick(x: Tensor, i: int) -> Tensor:
    pieces = x.split(2, 1)
    pieces[i].mul_(2)
    return pieces[i] + x.unbind(1)[i]


def test_an_index_is_checked_and_counts_from_the_end() -> None:
    x = torch.randn(2, 18)
    check(pick, *((x.clone(), i) for i in (0, 8, -1, -9)))
    check(pick, (x.clone(), 0), (x.clone(), 9), (x.clone(), -10), (x.clone(), 2**63 - 1), (x.clone(), -(2**63)))


def test_a_list_of_pieces_that_changes_has_other_elements() -> None:
    def program(x: Tensor, n: int) -> Tensor:
        pieces = list(x.unbind(0))
        pieces[3] = pieces[0] * 10
        pieces.append(x[1] - 1)
        total = torch.zeros(2)
        for piece in pieces:
            total = total * 0.5 + piece
        return total + pieces[n]

    check(program, *((torch.randn(10, 2), n) for n in (0, 3, 10, -1)))


@pytest.mark.parametrize("program", [halve_pieces, scan_columns])
def test_a_program_does_not_grow_with_the_pieces(program: Callable[..., Tensor]) -> None:
    few, many = (ops(imported(program, torch.randn(2 * count, 2 * count))) for count in (10, 50))
    assert few[few.index("prim.Loop") :] == many[many.index("prim.Loop") :]
