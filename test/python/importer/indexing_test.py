"""Indexing with tensors: 0-d integer tensors, which eager takes for ints, and indices that are out of range."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from _imported import assert_equal_to_eager
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.linspace(-1.5, 2.0, 80).reshape(4, 4, 5)
W = torch.linspace(-1.5, 2.0, 12).reshape(4, 3)

# --- 0-d integer tensors ----------------------------------------------------------------------------------------------


def read_row(x: Tensor, i: Tensor) -> Tensor:
    return x[i]


def read_both(x: Tensor, i: Tensor) -> Tensor:
    return x[i, i]


def read_column(x: Tensor, i: Tensor) -> Tensor:
    return x[:, i]


def read_with_int(x: Tensor, i: Tensor) -> Tensor:
    return x[i, 2]


def read_with_list(x: Tensor, i: Tensor) -> Tensor:
    return x[i, :, torch.tensor([0, 1])]  # (4, 2); TorchScript alone makes it (2, 4)


def read_with_mask(x: Tensor, i: Tensor) -> Tensor:
    return x[i, x[:, 0, 0] > 0]


def write_number(x: Tensor, i: Tensor) -> None:
    x[i] = 5


def write_broadcast(x: Tensor, i: Tensor) -> None:
    x[:, i] = torch.ones(1, 1, 4, 5)


def write_converted(x: Tensor, i: Tensor) -> None:
    x[i, :, i] = torch.arange(4)


def write_with_list(x: Tensor, i: Tensor) -> None:
    x[i, :, torch.tensor([0, 1])] = 1.5


def augmented(x: Tensor, i: Tensor) -> None:
    x[i, 1] += 2


def write_through(x: Tensor, i: Tensor) -> Tensor:
    y = x[i]
    y += 1
    return y


def see_a_write(x: Tensor, i: Tensor) -> Tensor:
    y = x[i]
    x[0] = 3
    return y * 2


def see_a_write_in_a_loop(x: Tensor, i: Tensor) -> Tensor:
    total = x[0] * 1
    for k in range(3):
        row = x[i]
        x[k % 2] = row * 2
        total += row
    return total


ZERO_D = [
    read_row,
    read_both,
    read_column,
    read_with_int,
    read_with_list,
    read_with_mask,
    write_number,
    write_broadcast,
    write_converted,
    write_with_list,
    augmented,
    write_through,
    see_a_write,
    see_a_write_in_a_loop,
]


@pytest.mark.parametrize("function", ZERO_D, ids=lambda function: function.__name__)
def test_number_in_a_tensor(function):  # type: ignore[no-untyped-def]
    assert_equal_to_eager(function, *[(X, torch.tensor(i)) for i in (2, -1, 0, 7, -5)])


def write_to_temporary(x: Tensor, i: Tensor) -> Tensor:
    x[i].mul_(2)
    return x.sum()


def test_a_write_that_torchscript_drops() -> None:
    assert_equal_to_eager(write_to_temporary, (X, torch.tensor(1)))


def test_reading_a_row_needs_no_host() -> None:
    text = import_program(read_row, (X, torch.tensor(1)), index_checks=False).module
    assert ".Int.Tensor" not in text
    assert "runtime.assert" not in text


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order = scores.argsort(descending=True)
    n = boxes.shape[0]
    keep = torch.ones(n, dtype=torch.bool)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for i in range(n):
        a = order[i]
        if bool(keep[a]):
            for j in range(i + 1, n):
                b = order[j]
                left, top = torch.max(boxes[a, 0], boxes[b, 0]), torch.max(boxes[a, 1], boxes[b, 1])
                right, bottom = torch.min(boxes[a, 2], boxes[b, 2]), torch.min(boxes[a, 3], boxes[b, 3])
                common = (right - left).clamp(min=0) * (bottom - top).clamp(min=0)
                if bool(common / (areas[a] + areas[b] - common) > threshold):
                    keep[b] = False
    return keep


@pytest.mark.slow
def test_non_maximum_suppression_compiles_natively_and_without_checks() -> None:
    generator = torch.Generator().manual_seed(0)
    corner, size = torch.rand(6, 2, generator=generator) * 6, torch.rand(6, 2, generator=generator) * 5 + 1
    boxes, scores = torch.cat([corner, corner + size], 1), torch.rand(6, generator=generator)
    checked = check(nms, *[(boxes, scores, threshold) for threshold in (0.3, 0.05, 0.9)])
    assert checked.compiled.explain().callbacks == ()
    assert "runtime.assert" not in checked.stages["imported"]


# --- indices that are out of range ------------------------------------------------------------------------------------


def embedding(w: Tensor, i: Tensor) -> Tensor:
    return F.embedding(i, w)


def embedding_bag(w: Tensor, i: Tensor) -> Tensor:
    return F.embedding_bag(i.view(1, 1), w)


def gather(w: Tensor, i: Tensor) -> Tensor:
    return w.gather(0, i.view(-1, 1))


def scatter(w: Tensor, i: Tensor) -> Tensor:
    return w.scatter(0, i.view(-1, 1), 1.0)


def scatter_add(w: Tensor, i: Tensor) -> Tensor:
    return w.scatter_add_(0, i.view(-1, 1), torch.ones(1, 3))


def scatter_reduce(w: Tensor, i: Tensor) -> Tensor:
    return w.scatter_reduce(0, i.view(-1, 1), torch.ones(1, 3), "sum")


def index_select(w: Tensor, i: Tensor) -> Tensor:
    return w.index_select(0, i)


def index_add(w: Tensor, i: Tensor) -> Tensor:
    return w.index_add_(0, i, torch.ones(1, 3))


def index_fill(w: Tensor, i: Tensor) -> Tensor:
    return w.index_fill_(0, i, 2.0)


def index_copy(w: Tensor, i: Tensor) -> Tensor:
    return w.index_copy_(0, i, torch.ones(1, 3))


def take(w: Tensor, i: Tensor) -> Tensor:
    return w.take(i)


def put(w: Tensor, i: Tensor) -> Tensor:
    return w.put_(i, torch.ones(1))


def index(w: Tensor, i: Tensor) -> Tensor:
    return w[:, i - 1]


def index_put(w: Tensor, i: Tensor) -> None:
    w[i] = 3.0


def index_put_accumulate(w: Tensor, i: Tensor) -> Tensor:
    return w.index_put_((i,), torch.ones(3), accumulate=True)


def nll(w: Tensor, i: Tensor) -> Tensor:
    return F.nll_loss(w[:1], i, ignore_index=-5)


def cross_entropy(w: Tensor, i: Tensor) -> Tensor:
    return F.cross_entropy(w[:1], i)


def one_hot(w: Tensor, i: Tensor) -> Tensor:
    return F.one_hot(i, 4)


RANGES = [
    embedding,
    embedding_bag,
    gather,
    scatter,
    scatter_add,
    scatter_reduce,
    index_select,
    index_add,
    index_fill,
    index_copy,
    take,
    put,
    index,
    index_put,
    index_put_accumulate,
    nll,
    cross_entropy,
    one_hot,
]
NUMBERS = (1, 0, -1, -2, -4, -5, 2, 3, 4, 5, 11, 12, -12, -13)


@pytest.mark.parametrize("function", RANGES, ids=lambda function: function.__name__)
def test_assertions_hold_where_eager_does_not_raise(function):  # type: ignore[no-untyped-def]
    """The importer's assertion decides, not the op, which would raise in the interpreter as well."""
    program = import_program(function, (W, torch.tensor([1])))
    assert program.module.count("runtime.assert") >= 1  # an op that is decomposed is checked, and so are its parts
    assert_equal_to_eager(function, *[(W, torch.tensor([i])) for i in NUMBERS])
    from ssa_compiler.testing import Interpreter

    for number in NUMBERS:
        try:
            function(W.clone(), torch.tensor([number]))
        except (IndexError, RuntimeError) as expected:
            with pytest.raises(type(expected), match=r"\bindexing_test\b"):
                Interpreter(program.module).run(W.clone(), torch.tensor([number]))


def test_out_of_range_when_compiled() -> None:
    check(index_put, *[(W, torch.tensor([i])) for i in (1, -1, -4, 4, -5, 3)])
    check(embedding, *[(W, torch.tensor([i])) for i in (1, -1, 4, 3)])


# --- what is known to be in range -------------------------------------------------------------------------------------


def sorted_rows(w: Tensor, n: int) -> Tensor:
    order = w[:, 0].argsort()
    best = w.max(dim=1)[1]
    return w[order] + w[torch.tensor([0, -1])].sum() + w[torch.arange(2)].sum() + w[0, best].sum() + w[order[n]]


def test_positions_are_in_range() -> None:
    text = assert_equal_to_eager(sorted_rows, (W, 1), (W, 3), (W, 4))
    assert "runtime.assert" not in text


def moved(w: Tensor, n: int) -> Tensor:
    order = w[:, 0].argsort()
    total = w[order[:1]]
    for _ in range(3):
        total = total + w[order[:1]]
        order[0] += n
    return total


def test_positions_that_are_changed_later_are_checked() -> None:
    text = assert_equal_to_eager(moved, (W, 0), (W, 1), (W, -3), (W, 9))
    assert text.count("runtime.assert") >= 1


def rotated(w: Tensor, n: int) -> Tensor:
    a, b, c, d = torch.zeros(1).long(), torch.ones(1).long(), torch.full([1], 2), torch.full([1], 9)
    total = w[a]
    for _ in range(n):
        total = total + w[a]
        a, b, c, d = b.clone(), c.clone(), d.clone(), d
    return total


def test_what_a_loop_carries_is_known_after_all_iterations() -> None:
    assert_equal_to_eager(rotated, *[(W, n) for n in (2, 3, 4, 5)])


def counted(w: Tensor, n: int) -> Tensor:
    i = torch.zeros(1, dtype=torch.long)
    total = w[i]
    for _ in range(n):
        total = total + w[i]
        i = i + 1
    return total


def test_a_counter_is_checked() -> None:
    text = assert_equal_to_eager(counted, *[(W, n) for n in (2, 4, 5, 0)])
    assert "runtime.assert" in text


def test_checks_can_be_turned_off() -> None:
    assert "runtime.assert" not in import_program(embedding, (W, torch.tensor([1])), index_checks=False).module


def passes_until_sorted(x: Tensor) -> int:
    n = x.size(0)
    for i in range(n):
        changed = False
        for j in range(n - 1 - i):
            if bool(x[j] > x[j + 1]):
                before = x[j].clone()
                x[j] = x[j + 1]
                x[j + 1] = before
                changed = True
        if not changed:
            return i
    return n


def test_neighbours_of_one_element() -> None:
    """In a loop that does not run, `x[j + 1]` is no error, whatever it would be."""
    for numbers in ([1.0], [2.0, 1.0], [], [5.0, 4.0, 3.0, 2.0, 1.0]):
        check(passes_until_sorted, (torch.tensor(numbers),))
