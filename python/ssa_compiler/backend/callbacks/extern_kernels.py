"""Extern kernels: large matrix products and convolutions, which PyTorch's libraries (oneDNN, MKL) compute on the CPU.

They use all of PyTorch's threads, and fit sizes that are no multiples of tiles, with which IREE's loops are up to
twenty times slower. torch.compile leaves the same ops to the same libraries. How many products an op takes is asked of
PyTorch's own formulas (`torch.utils.flop_counter`), for whatever it is decomposed into; only products of matrices,
which have limits of their own, are named here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

from iree.compiler import ir

from ...abi.callback_sites import Argument, Constant, Listed, Passed
from ..ir.bindings import walk
from ..ir.types import element_of, holds_tensor, is_torch_tensor, sizes
from .callbacks import describe_arguments, overload_of, torch_operator

__all__ = ["find_extern_kernels"]

# With fewer products, a call of PyTorch takes longer than it saves (`python -m benchmarks.products`): of one thread; of
# many. Native kernels are as quick as one thread of the libraries where matrices fit the cache.
_LEAST_OF_CONVOLUTIONS = 1 << 24, 1 << 21
_LEAST_OF_NARROW_CONVOLUTIONS = 1 << 22, 1 << 20
_NARROW = 16
"""A convolution whose result has shorter rows does not fill vectors."""

_LEAST_OF_MATRICES = 1 << 25, 1 << 22
_FITS_CACHE = 1 << 18
"""How many elements a matrix has at most that does; the same as in `--form-kernels`."""

_LEAST_REUSE, _LEAST_REUSE_OF_MATRICES = 8, 64
"""How often an element of the largest tensor is used. With less, as in the product of a row and a matrix, memory
decides. For products of matrices IREE has good kernels, and fuses what comes before and after: for at most two threads,
their elements are used more often."""

_ASSUMED_SIZE = 16
"""Of a dynamic dimension: low, since the ops are slower only where there is little to do."""

_FLOATS = ("f32", "f64", "f16", "bf16")


@dataclass
class _Count:
    """How many products ops add up, and how many elements the largest of their factors and results has.

    Attributes:
        matrices: whether all are products of matrices.
        narrow: whether a result has short rows.
    """

    products: int = 0
    largest: int = 0
    matrices: bool = True
    narrow: bool = False


def find_extern_kernels(module: ir.Module, threads: int) -> list[tuple[ir.Operation, str]]:
    """Return the ops that PyTorch's libraries compute sooner, and what `explain()` says of each.

    Args:
        module: of the `iree` stage.
        threads: how many threads the libraries have.
    """
    model = _CostModel(threads)
    return [(op, reason) for op in walk(module.operation) if (reason := model.reason(op)) is not None]


class _CostModel:
    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._known: dict[object, _Count] = {}

    def reason(self, op: ir.Operation) -> str | None:
        """Return why an op is left to the libraries, None if it is not."""
        tensors = list(_tensors(op.operands))
        if any(element_of(tensor.type) not in _FLOATS for tensor in tensors):
            return None
        shapes = [_assumed(sizes(tensor)) for tensor in tensors]
        factors = sorted(map(prod, shapes))
        # Each element of one factor meets each of the other once at most.
        if len(factors) < 2 or factors[-1] * factors[-2] < _LEAST_OF_NARROW_CONVOLUTIONS[1]:
            return None
        operator = torch_operator(op)
        if operator is None or not operator.startswith("aten::"):
            return None
        arguments = describe_arguments(op)
        key = (operator, tuple(arguments), tuple(shapes))
        if key not in self._known:
            self._known[key] = _count_products(operator, arguments, shapes)
        count = self._known[key]
        if count.products < self._least_products(count):
            return None
        return f"PyTorch's libraries are quicker: {count.products:,} products"

    def _least_products(self, count: _Count) -> int:
        """How many products an op must add up to be left to the libraries."""
        if not count.matrices:
            of_one, of_many = _LEAST_OF_NARROW_CONVOLUTIONS if count.narrow else _LEAST_OF_CONVOLUTIONS
            return max(of_one // self._threads, of_many, _LEAST_REUSE * count.largest)
        of_one, of_many = _LEAST_OF_MATRICES
        reuse = max(2 * _LEAST_REUSE_OF_MATRICES // max(self._threads, 2), _LEAST_REUSE)
        fits = count.largest <= _FITS_CACHE
        return max(of_one // self._threads if fits else of_many, of_many, reuse * count.largest)


def _tensors(operands: Iterable[ir.Value]) -> Iterator[ir.Value]:
    """Return the tensors among operands, those in lists too."""
    for operand in operands:
        if is_torch_tensor(operand):
            yield operand
        elif holds_tensor(operand) and not isinstance(operand.owner, ir.Block):
            yield from _tensors(operand.owner.operation.operands)


def _assumed(shape: Sequence[str]) -> tuple[int, ...]:
    return tuple(_ASSUMED_SIZE if size == "?" else int(size) for size in shape)


def _count_products(operator: str, arguments: Sequence[Argument | None], shapes: Sequence[tuple[int, ...]]) -> _Count:
    """Count the products of an op.

    The operator runs on tensors without memory. Nothing is counted where it has no such kernel.

    Args:
        operator: as PyTorch writes it.
        arguments: in the order of its schema.
        shapes: of the tensors among them.
    """
    import torch

    called = overload_of(operator)
    remaining = iter(shapes)
    try:
        values = [_meta(argument, remaining) for argument in arguments]
        schema = called._schema.arguments
        positional = [value for value, spec in zip(values, schema, strict=True) if not spec.kwarg_only]
        named = {spec.name: value for value, spec in zip(values, schema, strict=True) if spec.kwarg_only}
        with torch.no_grad(), _counted() as count:
            called(*positional, **named)
    except Exception:  # noqa: BLE001 - whatever the op's meta kernel raises for sizes that were assumed
        return _Count()
    return count


def _meta(argument: Argument | None, shapes: Any) -> Any:
    import torch

    if isinstance(argument, Constant):
        return argument.value
    if isinstance(argument, Listed):
        return [_meta(item, shapes) for item in argument.items]
    if not isinstance(argument, Passed):
        raise TypeError("an argument that cannot be described")
    if argument.kind == "tensor":
        return torch.empty(next(shapes), dtype=getattr(torch, argument.dtype), device="meta")
    return {"int": 1, "float": 1.0, "bool": False}[argument.kind]


@contextmanager
def _counted() -> Iterator[_Count]:
    """Count the products of the ops that run in the block."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    count = _Count()
    products_of_matrices = {getattr(torch.ops.aten, name) for name in ("mm", "addmm", "bmm", "baddbmm")}

    class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            formula = flop_registry.get(func._overloadpacket)
            if formula is not None:
                # A product and its addition are two operations.
                count.products += formula(*args, **(kwargs or {}), out_val=result) // 2
                tensors = [value for value in (*args, result) if isinstance(value, torch.Tensor)]
                count.largest = max(count.largest, *(tensor.numel() for tensor in tensors))
                count.narrow |= result.size(-1) < _NARROW
                count.matrices &= func._overloadpacket in products_of_matrices
            return result

    with Counter():  # type: ignore[no-untyped-call]
        yield count
