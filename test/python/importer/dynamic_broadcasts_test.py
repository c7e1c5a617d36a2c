"""Dynamic sizes that meet other ones: a size of 1, which eager broadcasts, is rejected as such."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from ssa_compiler import UnsupportedOpError, compile
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check
from ssa_compiler.testing.harness import Call, run_stages

X = torch.arange(3.0)


def added(x: Tensor, k: int, n: int) -> Tensor:
    return x[k:n] + x


def added_in_place(x: Tensor, k: int, n: int) -> Tensor:
    y = x.clone()
    y += x[k:n]
    return y


def stored(x: Tensor, k: int, n: int) -> Tensor:
    y = x.clone()
    y[:] = x[k:n]
    return y


def both(x: Tensor, k: int, n: int) -> Tensor:
    return x[k:n] * x[n:]


def broadcast(x: Tensor, k: int, n: int) -> list[Tensor]:
    return torch.broadcast_tensors(x[k:n], x)


def summed_by_name(x: Tensor, k: int, n: int) -> Tensor:
    return torch.einsum("i,i->i", x[k:n], x)


def completed(x: Tensor, k: int, n: int) -> Tensor:
    return torch.complex(x[k:n], x)


def indexed(x: Tensor, k: int, n: int) -> Tensor:
    return torch.outer(x, x)[torch.arange(k, n), torch.tensor([0, 1, 2])]


def stored_at(x: Tensor, k: int, n: int) -> Tensor:
    y = x.clone()
    y[torch.tensor([0, 1, 2])] = x[k:n]
    return y


def expanded(x: Tensor, k: int, n: int) -> Tensor:
    return x[k:n].expand(2, 3) + x[k:n].expand_as(x)


@pytest.mark.parametrize(
    "program", [added, added_in_place, stored, broadcast, summed_by_name, completed, indexed, stored_at, expanded]
)
def test_a_size_of_one_is_rejected(program: object) -> None:
    check(program, (X, 0, 3), (X, 0, 2), (X, 1, 1), compiled=False)  # type: ignore[arg-type]
    for _, _, outcome in run_stages(program, [Call(X, 0, 1)]):  # type: ignore[arg-type]
        assert isinstance(outcome.error, UnsupportedOpError)
        assert "broadcasts a dynamic size of 1" in str(outcome.error)


def test_two_such_sizes() -> None:
    x = torch.arange(4.0)
    check(both, (x, 0, 2), (x, 0, 4), compiled=False)
    for _, _, outcome in run_stages(both, [Call(x, 0, 1), Call(x, 0, 3)]):
        assert isinstance(outcome.error, UnsupportedOpError)


def viewed(x: Tensor, n: int) -> Tensor:
    return x[:n].view(3)


def test_other_ops_raise() -> None:
    assert "the sizes do not fit" in str(import_program(viewed, (X, 3)).module)
    check(viewed, (X, 3), (X, 1), compiled=False)


def eliminated(a: Tensor, m: int) -> Tensor:
    for k in range(m):
        factors = a[k + 1 :, k : k + 1] / a[k, k]
        a[k + 1 :] -= factors * a[k : k + 1]
    return a


def column_and_row(x: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    column, row = x[:, k : k + 1], x[k : k + 1]
    return (
        x * column,
        torch.where(x > 0, column, x),
        column.expand(3, 4) + 0,
        x - (row * 2).exp(),
        torch.lerp(x, row, 0.5),
    )


def columns_of_a_cache(cache: Tensor, x: Tensor, position: int) -> Tensor:
    cache[:, position : position + 1] = x
    return cache * cache[:, position : position + 1]


def rows_put(x: Tensor, k: int) -> Tensor:
    y = torch.zeros(4, 4)
    y[torch.tensor([0, 2])] = x[k : k + 1]
    y[:2] += x[k : k + 1]
    y.addcmul_(x[k : k + 1].clone(), x[:1, k : k + 1].clone())
    return y


def until_found(x: Tensor, n: int) -> Tensor:
    for k in range(n):
        if bool(x[0, k] > 90):
            continue
        if bool(x[1, k] > 100):
            break
        x = x + x[:, k : k + 1]
    return x


def above_the_last(x: Tensor, k: int) -> Tensor:
    if k:
        last = x.topk(k).values[..., -1:]
        x = x.masked_fill(x < last, -1.0)
    return x * 2


SQUARE = torch.arange(16.0).reshape(4, 4) % 5 + 2 * torch.eye(4)
ROWS = torch.arange(12.0).reshape(3, 4)
POSITIONS = (0, 2, 3, -2, -4)


@pytest.mark.slow
def test_a_slice_of_one_element_is_broadcast() -> None:
    """`x[k : k + 1]` has one element or none, and of no elements eager raises where they meet several."""
    check(eliminated, *((SQUARE.clone(), m) for m in (3, 0, 1, 2, 4)))
    check(column_and_row, *((ROWS, k) for k in (1, 0, 2, -2, -3, 3, 4, -1, -5, 2**63 - 1, -(2**63))))
    check(columns_of_a_cache, *((ROWS.clone(), torch.ones(3, 1), k) for k in (1, *POSITIONS, 4, -1, 2**63 - 1)))
    check(rows_put, *((ROWS, k) for k in (1, 0, 2, -2, -3)))
    check(above_the_last, *((ROWS, k) for k in (2, 0, 1, 4, 5, -1)))
    check(until_found, *((ROWS.clone(), n) for n in (3, 0, 1, 2, 4)))


def carried(x: Tensor, n: int) -> Tensor:
    s = torch.zeros(1)
    for i in range(n):
        s = s + x[i : i + 1]
    return s * x


def chosen(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    s = x[k : k + 1] if k > 2 else x[:1] * 2
    return x / s, s.expand(4)


def softmax_by_columns(x: Tensor, n: int) -> Tensor:
    most, total = torch.full((x.shape[0], 1), -1e30), torch.zeros(x.shape[0], 1)
    for i in range(n):
        column = x[:, i : i + 1]
        more = torch.maximum(most, column)
        total = total * torch.exp(most - more) + torch.exp(column - more)
        most = more
    return torch.exp(x - most) / total


def sometimes_wider(x: Tensor, n: int, k: int) -> Tensor:
    """What is known in the first passes over the loop does not hold in later ones."""
    a = b = x[:1]
    result = x
    for i in range(n):
        b = a
        a = x[k : k + 2] if i > 0 else x[k : k + 1]
        result = result + b * x
    return result


@pytest.mark.slow
def test_a_loop_or_branch_keeps_that_there_is_one_element() -> None:
    check(carried, *((X, n) for n in (2, 0, 1, 3, 4)))
    check(chosen, *((ROWS[0], k) for k in (3, 0, 2)))
    check(softmax_by_columns, *((ROWS, n) for n in (4, 0, 1, 2)))
    for _, _, outcome in run_stages(sometimes_wider, [Call(X, 3, 1), Call(X, 4, 0)]):
        assert isinstance(outcome.error, UnsupportedOpError)


def joined_halves(x: Tensor, y: Tensor, k: int) -> Tensor:
    return x[k : k + 1] * y


def test_an_empty_slice_that_may_meet_nothing_is_rejected() -> None:
    """Of a dynamic size beside it eager may return no elements, or raise."""
    dynamic = {"y": {0: Dim.AUTO}}
    compiled = compile(joined_halves, (X, torch.ones(5), 1), dynamic_shapes=dynamic, cache=False)
    for size, k in ((5, 0), (5, 2), (2, 1), (9, -2)):
        y = torch.rand(size)
        torch.testing.assert_close(compiled(X, y, k), joined_halves(X, y, k))
    with pytest.raises(UnsupportedOpError, match=r"of a slice of one element, `x\[k : k \+ 1\]`, that is empty"):
        compiled(X, torch.ones(5), 3)


def last_columns(x: Tensor, n: int) -> tuple[Tensor, list[Tensor]]:
    found = []
    for _ in range(n):
        last = x[:, -1:]
        found.append(last + 1.0)
        x = torch.cat([x, x + last], dim=1)
    return x, found


def test_the_last_column_of_a_tensor_that_grows() -> None:
    """What loops only make longer is not empty: `x[:, -1:]` has one column."""
    x = torch.arange(2.0).reshape(2, 1)
    check(last_columns, (x, 0), (x, 1), (x, 4))


def last_of_fewer(x: Tensor, n: int) -> Tensor:
    total = torch.zeros(())
    for _ in range(n):
        total = total + x[-1:].sum() * 2 + x[-1:].numel()
        x = x[:-1]
    return total


def test_the_last_element_of_a_tensor_that_shrinks() -> None:
    check(last_of_fewer, (X, 0), (X, 2), (X, 3), (X, 5))


def weighted_by_mask(mask: Tensor, keys: Tensor, queries: Tensor, n: int) -> Tensor:
    return torch.baddbmm(mask, queries[:, :n], keys)


def test_a_summand_is_expanded_to_a_dynamic_size() -> None:
    mask, keys, queries = torch.ones(2, 1, 3), torch.arange(12.0).reshape(2, 2, 3), torch.arange(16.0).reshape(2, 4, 2)
    check(weighted_by_mask, *[(mask, keys, queries, n) for n in (0, 1, 3, 4)])
