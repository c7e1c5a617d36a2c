"""What a program takes for granted of its arguments: found at import, checked by each call."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from _rejections import rejection
from ssa_compiler import ArgumentValueError, UnsupportedOpError
from ssa_compiler.abi.assumptions import SameObject, StorageAsExample, StridesAsExample
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check


def _write_at_offset(x: Tensor, n: int):
    if n > 1:
        x.as_strided([2, 2], [2, 1], 1).add_(1)
    return x + 0


def _of_a_slice(x: Tensor, n: int):
    rows = x[n : n + 2]
    return rows.as_strided([2, 2], [1, 1]) + 0, rows.as_strided([2], [1], 3) + 1


def _at_dynamic_offset(x: Tensor, n: int):
    return x.as_strided([2], [1], n) + 0


def _as_it_lies(x: Tensor):
    return x.as_strided([3, 4], [4, 1]) * 1


def _is_same(x: Tensor, y: Tensor):
    if x is y:
        return x + 1
    return x - y


def _views_that_are_not_one_object(x: Tensor):
    a, b = x.unsqueeze(0), x.unsqueeze(0)
    c = x.add_(1)
    return a is b, a is a, c is x, x.contiguous() is x, x.detach() is x, a + b


def test_each_op_that_makes_a_view_makes_an_object() -> None:
    check(_views_that_are_not_one_object, (torch.arange(3.0),))
    check(nn.TransformerEncoderLayer(8, 2, 16).eval(), (torch.randn(5, 8),))  # without a batch it asks `query is key`


def test_as_strided_counts_from_the_storage_of_an_argument() -> None:
    x = torch.arange(12.0).view(3, 4)
    check(_write_at_offset, (x, 2), (x, 0))
    check(_of_a_slice, (x, 0), (x, 1))
    check(_at_dynamic_offset, (x, 0), (x, 10), (x, 11), (x, -1))  # the last two raise


def test_as_strided_of_an_argument_has_its_assumptions() -> None:
    x = torch.arange(12.0).view(3, 4)
    found = {type(item): item for item in import_program(_write_at_offset, (x, 2)).assumptions}
    assert (found[StorageAsExample].offset, found[StorageAsExample].size) == (0, None)
    assert StridesAsExample in found
    found = {type(item): item for item in import_program(_at_dynamic_offset, (x, 2)).assumptions}
    assert found[StorageAsExample].size == 12
    assert StridesAsExample in {type(item) for item in import_program(_as_it_lies, (x,)).assumptions}


class _HoldsAPart(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("part", torch.arange(24.0).view(6, 4)[1:4])

    def forward(self, n: int):
        return self.part.as_strided([2, 2], [2, 1], 1)


def test_as_strided_beyond_a_tensor_of_a_module_is_rejected() -> None:
    with pytest.raises(UnsupportedOpError, match="beyond the elements of its tensor"):
        import_program(_HoldsAPart(), (2,))


def test_as_strided_beyond_an_argument_takes_its_storage() -> None:
    part = torch.arange(24.0).view(6, 4)[1:4]  # offset 1 is before its first element
    checked = check(_write_at_offset, (part, 2), (part, 0), compiled=False)
    assert checked.program.storages == {0}


def test_calls_check_where_an_argument_lies_in_its_storage() -> None:
    x, larger = torch.arange(12.0).view(3, 4), torch.arange(24.0).view(6, 4)
    program = ssa_compiler.compile(_write_at_offset, (x, 2), max_specialisations=1)
    torch.testing.assert_close(program(larger[:3].clone(), 2), _write_at_offset(larger[:3].clone(), 2))
    with pytest.raises(ArgumentValueError, match="'x': expected a storage offset of 0, got 12"):
        program(larger[3:], 2)
    with pytest.raises(ArgumentValueError, match="'x': expected strides"):
        program(x.t().contiguous().t(), 2)
    program = ssa_compiler.compile(_at_dynamic_offset, (x, 2), max_specialisations=1)
    with pytest.raises(ArgumentValueError, match="'x': expected a storage of size 12, got 24"):
        program(larger[:3], 2)


@pytest.mark.parametrize("same", [True, False])
def test_calls_check_whether_two_arguments_are_one(same: bool) -> None:
    x, y = torch.ones(3), torch.ones(3)
    example = (x, x) if same else (x, y)
    program = ssa_compiler.compile(_is_same, example, max_specialisations=1)
    assert SameObject(0, 1, same) in program.imported.assumptions
    torch.testing.assert_close(program(*example), _is_same(*example))
    with pytest.raises(ArgumentValueError, match=r"'x' and 'y': expected (one|two) tensor"):
        program(*((x, y) if same else (x, x)))


def _of_a_choice(x: Tensor, n: int):
    rows = x[n % 2 : n % 2 + 2]
    if n > 1:
        rows = (x + 1).as_strided([2, 4], [4, 1], 4)
    return rows.as_strided([2, 4], [4, 1], 0) + 0


def test_as_strided_at_a_place_in_an_unknown_storage_is_rejected() -> None:
    """Its FakeTensor begins at 0, so that the view looks like the tensor itself."""
    assert "storage is not known" in rejection(_of_a_choice, (torch.arange(12.0).view(3, 4), 1))
