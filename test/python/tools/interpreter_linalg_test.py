"""Tests of the interpreter on hand-written modules of the linalg stage."""

from __future__ import annotations

import pytest
import torch

from ssa_compiler.testing import InterpreterError, interpret


def _generic(maps: str, iterators: str, types: str, body: str) -> str:
    """A function of the operands of one `linalg.generic`, the last of which the result starts from."""
    operands = types.split(", ")
    names = [f"%a{number}" for number in range(len(operands))]
    declared = ", ".join(f"{name}: {kind}" for name, kind in zip(names, operands))
    return f"""
    func.func @main({declared}) -> {operands[-1]} {{
      %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
          ins({", ".join(names[:-1])} : {", ".join(operands[:-1])}) outs({names[-1]} : {operands[-1]}) {{
      {body}
      }} -> {operands[-1]}
      return %r : {operands[-1]}
    }}
    """


PRODUCT = _generic(
    "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>",
    '"parallel", "parallel", "reduction"',
    "tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>",
    """^bb0(%p: f32, %q: f32, %sum: f32):
        %t = arith.mulf %p, %q : f32
        %r = arith.addf %sum, %t : f32
        linalg.yield %r : f32""",
)


@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 3, 0)])
def test_a_product_is_added_to_what_the_result_starts_from(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    a, b, c = torch.rand(m, k), torch.rand(k, n), torch.rand(m, n)
    before = c.clone()
    (result,) = interpret(PRODUCT, a, b, c)
    torch.testing.assert_close(result, c + a @ b)
    assert torch.equal(c, before)


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(InterpreterError, match="expected 4 trips of loop 2, got an operand of size 3"):
        interpret(PRODUCT, torch.rand(2, 4), torch.rand(3, 5), torch.rand(2, 5))


def test_sums_and_divisions_in_maps() -> None:
    """Each element of the result is the one of every second place, counted from 1 on, and the half of its index."""
    module = _generic(
        "affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i floordiv 2, i mod 2)>, affine_map<(i) -> (i)>",
        '"parallel"',
        "tensor<9xi64>, tensor<2x2xi64>, tensor<4xi64>",
        """^bb0(%p: i64, %q: i64, %out: i64):
        %i = linalg.index 0 : index
        %n = arith.index_cast %i : index to i64
        %s = arith.addi %p, %q : i64
        %r = arith.muli %s, %n : i64
        linalg.yield %r : i64""",
    )
    x, y = torch.arange(9) * 10, torch.arange(4).view(2, 2)
    (result,) = interpret(module, x, y, torch.zeros(4, dtype=torch.int64))
    index = torch.arange(4)
    assert torch.equal(result, (x[1:9:2] + index) * index)


def test_numbers_keep_their_digits() -> None:
    module = _generic(
        "affine_map<(i) -> ()>, affine_map<(i) -> (i)>",
        '"parallel"',
        "f64, tensor<2xf64>",
        """^bb0(%p: f64, %out: f64):
        %r = arith.addf %p, %out : f64
        linalg.yield %r : f64""",
    )
    (result,) = interpret(module, 0.1, torch.zeros(2, dtype=torch.float64))
    assert result.tolist() == [0.1, 0.1]


def test_elements_wrap_at_their_width() -> None:
    module = _generic(
        "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>",
        '"parallel"',
        "tensor<3xi8>, tensor<3xi8>",
        """^bb0(%p: i8, %out: i8):
        %r = arith.addi %p, %p : i8
        linalg.yield %r : i8""",
    )
    x = torch.tensor([100, -100, 3], dtype=torch.int8)
    (result,) = interpret(module, x, x)
    assert torch.equal(result, x + x)


@pytest.mark.parametrize(("name", "expected"), [("min", 5), ("max", 9)])
def test_affine_numbers(name: str, expected: int) -> None:
    module = f"""
    func.func @main(%n: index, %s: index) -> (index, index) {{
      %a = affine.apply affine_map<(d)[s] -> (d ceildiv 2 + s)>(%n)[%s]
      %b = affine.{name} affine_map<(d)[s] -> (d, s + 7)>(%n)[%s]
      return %a, %b : index, index
    }}
    """
    assert interpret(module, 5, 2) == [5, expected]
