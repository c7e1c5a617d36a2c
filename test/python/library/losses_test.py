"""Cross entropy and negative log likelihood: compiled, and raising for a class that there is not."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

import ssa_compiler
from ssa_compiler.testing import check

generator = torch.Generator().manual_seed(0)
ROWS = torch.randn(4, 3, generator=generator)


def losses(x: Tensor, classes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return (
        F.cross_entropy(x, classes),
        F.cross_entropy(x, classes, reduction="none"),
        F.cross_entropy(x, classes, reduction="sum", ignore_index=1, label_smoothing=0.1),
    )


@pytest.mark.parametrize("sizes", [(), (2, 2), (4,), (4, 1, 2)], ids=str)
def test_of_rows_and_images(sizes: tuple[int, ...]) -> None:
    x, classes = torch.randn(2, 3, *sizes, generator=generator), torch.randint(0, 3, (2, *sizes), generator=generator)
    checked = check(losses, (x, classes), (x, torch.zeros_like(classes)), (x, torch.full_like(classes, -100)))
    assert checked.compiled.explain().callbacks == ()


def test_of_no_rows() -> None:
    check(losses, (ROWS[:0].clone(), torch.zeros(0, dtype=torch.int64)))


@pytest.mark.parametrize("wrong", [[0, 3, 7, 1], [2, -1, 0, 0], [0, -100, 1, 2**62]])
def test_classes_that_there_are_not(wrong: list[int]) -> None:
    check(losses, (ROWS, torch.tensor([0, 1, 2, 0])), (ROWS, torch.tensor(wrong)))
    compiled = ssa_compiler.compile(losses, (ROWS, torch.tensor([0, 1, 2, 0])))
    with pytest.raises(IndexError, match="Target is out of bounds"):
        compiled(ROWS, torch.tensor(wrong))


def ignoring(x: Tensor, classes: Tensor, ignored: int) -> tuple[Tensor, Tensor, Tensor]:
    return (
        F.cross_entropy(x, classes, ignore_index=ignored),
        F.nll_loss(x, classes, reduction="none", ignore_index=ignored),
        F.cross_entropy(x.half(), classes, ignore_index=ignored, label_smoothing=0.1),
    )


def test_the_ignored_class_is_an_argument() -> None:
    given = [([0, 1, 2, 0], -100), ([0, 1, 2, 0], 0), ([0, 1, 7, 0], 7), ([0, 1, 7, 0], 2)]
    checked = check(ignoring, *[(ROWS, torch.tensor(classes), n) for classes, n in given], compiled=False)
    assert [type(error) for error in checked.errors] == [type(None)] * 3 + [IndexError]
    check(of_itself, (ROWS, torch.tensor([2, 0, 1, 2])), (ROWS, torch.tensor([1, 2, 1, 1])), compiled=False)


def of_itself(x: Tensor, classes: Tensor) -> Tensor:
    return F.cross_entropy(x, classes, ignore_index=int(classes[0]))


def weighted(x: Tensor, classes: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return F.cross_entropy(x, classes, weight), F.nll_loss(x, classes, weight, reduction="none", ignore_index=2)


def test_weights() -> None:
    weight = torch.tensor([0.1, 0.2, 0.3])
    check(weighted, *[(ROWS, torch.tensor(classes), weight) for classes in ([0, 1, 2, 0], [2, 2, 2, 2])])


def of_one(x: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return F.cross_entropy(x, at), F.nll_loss(x, at, reduction="none"), F.nll_loss(x, at, reduction="sum")


def test_one_row() -> None:
    check(of_one, *[(ROWS[0].clone(), torch.tensor(at)) for at in (1, -100, 5)])


def of_signs(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return F.soft_margin_loss(x, y), F.soft_margin_loss(x * 100, y, reduction="none"), F.soft_margin_loss(x.half(), y)


def test_targets_that_do_not_fit() -> None:
    for y in (ROWS.sign(), ROWS[0].sign(), ROWS[:, :1].sign().long()):
        check(of_signs, (ROWS, y), compiled=False)
    for y in (ROWS[None], ROWS):
        with pytest.raises(RuntimeError, match=r"output with shape \[(4, )?1\] doesn't match the broadcast shape"):
            ssa_compiler.compile(of_signs, (ROWS[:, :1] if y is ROWS else ROWS[0, :1], y))
    options = {"dynamic_shapes": Dim.AUTO}
    check(of_signs, (ROWS, ROWS.sign()), (ROWS[:2], ROWS[:2]), compiled=False, options=options)


def of_probabilities(x: Tensor, p: Tensor) -> Tensor:
    return F.cross_entropy(x, p, label_smoothing=0.2)


def test_probabilities() -> None:
    check(of_probabilities, (ROWS, ROWS.softmax(1)))


def margin_of_one_class(x: Tensor, target: Tensor) -> Tensor:
    return F.multi_margin_loss(x, target)


def test_margin_loss_of_a_tensor_without_dimensions() -> None:
    check(margin_of_one_class, (torch.tensor(0.5), torch.tensor(0)), compiled=False)


def multilabel_margin(x: Tensor, target: Tensor) -> Tensor:
    return F.multilabel_margin_loss(x, target, reduction="none")


def test_multilabel_margin_loss_of_rows_without_elements() -> None:
    sizes = [(4, 3), (0, 3), (4, 0), (0, 0)]
    inputs = [(torch.rand(size), torch.zeros(size, dtype=torch.int64)) for size in sizes]
    errors = check(multilabel_margin, *inputs, compiled=False, options={"dynamic_shapes": Dim.AUTO}).errors
    assert [error is not None for error in errors] == [False, False, True, True]
