"""`linalg.generic` and affine maps for the interpreter: loops over single elements, in the order of the op's loops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._ir import InterpreterError, Operation

__all__ = ["Generic", "affine_op"]

_Map = Callable[[Sequence[int]], tuple[int, ...]]
"""From dimensions, and symbols behind them, to the results of an affine map."""


def _expression(expr: Any, dimensions: int) -> Callable[[Sequence[int]], int]:
    from torch_mlir import ir

    if isinstance(expr, ir.AffineConstantExpr):
        number = expr.value
        return lambda values: number
    if isinstance(expr, (ir.AffineDimExpr, ir.AffineSymbolExpr)):
        place = expr.position + (dimensions if isinstance(expr, ir.AffineSymbolExpr) else 0)
        return lambda values: values[place]
    left, right = _expression(expr.lhs, dimensions), _expression(expr.rhs, dimensions)
    if isinstance(expr, ir.AffineAddExpr):
        return lambda values: left(values) + right(values)
    if isinstance(expr, ir.AffineMulExpr):
        return lambda values: left(values) * right(values)
    if isinstance(expr, ir.AffineModExpr):
        return lambda values: left(values) % right(values)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return lambda values: left(values) // right(values)
    assert isinstance(expr, ir.AffineCeilDivExpr)
    return lambda values: -(-left(values) // right(values))


def _map(attribute: Any) -> _Map:
    """Read an `affine_map<...>` attribute."""
    map_ = attribute.value
    results = [_expression(expr, map_.n_dims) for expr in map_.results]
    return lambda values: tuple(result(values) for result in results)


def affine_op(op: Operation) -> Callable[..., Sequence[Any]] | None:
    """Prepare `affine.apply`, `affine.min` or `affine.max`; None for any other op."""
    choose = {"affine.apply": None, "affine.min": min, "affine.max": max}
    if op.name not in choose:
        return None
    computed, chosen = _map(op.attributes["map"]), choose[op.name]
    return lambda *operands: (chosen(computed(operands)) if chosen else computed(operands)[0],)


class Generic:
    """One `linalg.generic`.

    Attributes:
        point: the indices of the loops, while its region runs.
    """

    def __init__(self, op: Operation) -> None:
        self._op = op
        self._inputs = int(op.attributes["operandSegmentSizes"][0])
        self._maps = [_map(attribute) for attribute in op.attributes["indexing_maps"]]
        self._loops = len(op.attributes["iterator_types"])
        self._plain = [_dimensions(attribute) for attribute in op.attributes["indexing_maps"]]
        self.point: tuple[int, ...] = ()

    def run(self, values: Sequence[Any], body: Callable[[Sequence[Any]], Sequence[Any]]) -> list[torch.Tensor]:
        """Run it.

        Args:
            values: its operands: inputs, which may be numbers, and the tensors that the results start from.
            body: runs the region for the elements of one step.
        Returns:
            The results.
        """
        ranges = [range(size) for size in self._sizes(values)]
        # A number stays what it is: a tensor would round it.
        elements = [value.reshape(-1).tolist() if isinstance(value, torch.Tensor) else [value] for value in values]
        strides = [_strides(getattr(value, "shape", ())) for value in values]
        outer = self.point
        for self.point in itertools.product(*ranges):
            places = [_place(map_(self.point), stride) for map_, stride in zip(self._maps, strides, strict=True)]
            yielded = body([column[place] for column, place in zip(elements, places, strict=True)])
            for number, element in enumerate(yielded, self._inputs):
                elements[number][places[number]] = element
        self.point = outer
        made = zip(values[self._inputs :], elements[self._inputs :], strict=True)
        return [torch.tensor(column, dtype=tensor.dtype).reshape(tensor.shape) for tensor, column in made]

    def _sizes(self, values: Sequence[Any]) -> list[int]:
        """The trips of each loop, of which all operands must say the same."""
        sizes: list[int | None] = [None] * self._loops
        for value, plain in zip(values, self._plain, strict=True):
            for size, loop in zip(getattr(value, "shape", ()), plain, strict=False):
                if loop is not None and sizes[loop] not in (None, size):
                    raise InterpreterError(
                        f"'{self._op.name}': expected {sizes[loop]} trips of loop {loop}, got an operand of size {size}",
                        location=self._op.location,
                    )
                if loop is not None:
                    sizes[loop] = size
        known = [size for size in sizes if size is not None]
        if len(known) < self._loops:
            raise InterpreterError(f"'{self._op.name}': a loop has no size", location=self._op.location)
        return known


def _dimensions(attribute: Any) -> list[int | None]:
    """The loop that each dimension of an operand is, None where it is a sum or a constant."""
    from torch_mlir import ir

    return [expr.position if isinstance(expr, ir.AffineDimExpr) else None for expr in attribute.value.results]


def _place(indices: Sequence[int], strides: Sequence[int]) -> int:
    return sum(index * stride for index, stride in zip(indices, strides, strict=True))


def _strides(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for dim in range(len(shape) - 1, 0, -1):
        strides[dim - 1] = strides[dim] * shape[dim]
    return strides
