"""Tensor arguments whose sizes are dynamic: their FakeTensors, and how `@main` reads the sizes."""

from __future__ import annotations

from typing import Any

import torch

from ...abi.size_guards import SizeUse
from ..values.dynamic_shapes import SizeRequest
from ..values.state import State

__all__ = ["define_sizes", "fake_argument"]


def fake_argument(state: State, path: str, example: torch.Tensor) -> torch.Tensor | None:
    """Return the FakeTensor of an argument that has dynamic sizes, None if it has none.

    Args:
        state: the interpretation.
        path: the argument.
        example: its example value.
    """
    asked = [state.sizes.request(path, dim) for dim in range(example.dim())]
    if not any(asked):
        return None
    sizes = [_size(state, request) if request is not None else size for request, size in zip(asked, example.shape)]
    with state.symbols.mode, state.symbols.transaction(), torch.no_grad():
        if example.is_contiguous():
            return torch.empty(sizes, dtype=example.dtype, device=example.device)
        strides = _strides(example, sizes)
        return torch.empty_strided(sizes, strides, dtype=example.dtype, device=example.device)


def _size(state: State, request: SizeRequest) -> Any:
    number = state.symbols.integer(("size", request.root), low=request.low, high=request.high)
    state.sizes.stand_for(request, number.node.expr)
    return number if (request.scale, request.offset) == (1, 0) else number * request.scale + request.offset


def define_sizes(state: State, path: str, index: int, ssa: Any, rank: int) -> None:
    """Say how the sizes of an argument are read in the program.

    Args:
        state: the interpretation.
        path: the argument.
        index: its number among `@main`'s.
        ssa: its value.
        rank: how many dimensions it has.
    """
    emitter = state.emitter
    for dim in range(rank):
        request = state.sizes.request(path, dim)
        if request is None:
            continue
        use = SizeUse(index, dim, request.scale, request.offset, f"argument '{path}': size {dim}", str(request))
        symbol = state.sizes.read(use, request)
        if emitter.scope.definition(symbol) is not None:
            continue

        def make(use: SizeUse = use) -> Any:
            size = emitter.scalar_op("aten.size.int", int, [ssa, emitter.constant(use.dim)])
            if use.offset:
                size = emitter.scalar_op("aten.sub.int", int, [size, emitter.constant(use.offset)])
            if use.scale != 1:
                size = emitter.scalar_op("aten.floordiv.int", int, [size, emitter.constant(use.scale)])
            return size

        emitter.define(symbol, make)


def _strides(example: torch.Tensor, sizes: list[Any]) -> list[Any]:
    """Strides for dynamic sizes: where the example's elements lie densely, they do so for all sizes."""
    found: list[Any] = list(example.stride())
    order = sorted(range(example.dim()), key=lambda dim: (example.stride(dim), example.shape[dim]))
    dense, product = 1, 1
    for dim in order:
        if example.stride(dim) == dense:
            found[dim] = product
            dense *= max(example.shape[dim], 1)
            product = product * sizes[dim]
    return found
