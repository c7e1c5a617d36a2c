"""Inputs at the edges of an operator's domain, made of those of a sample; eager decides what comes of them.

NaN, infinities, zeros of either sign, denormals, huge and tiny numbers, equal ones, numbers outside of what most
functions are defined for, integers that are no indices, and sizes of 0. Each is given to all tensors together, and what
decides most (NaN, infinity, zero) also to one tensor after the other, since NaN everywhere says nothing about which of
them counts.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["DENORMALS", "Inputs", "edge_values", "empty_sizes", "known_difference"]

DENORMALS = "denormals"
"""The name of the inputs that IREE's own kernels for the CPU take for zeros (docs/Backend.md)."""


@dataclass(frozen=True)
class Inputs:
    """Arguments of a program, and what is special about them."""

    name: str
    arguments: list[Any]


_NAN, _INF = float("nan"), float("inf")
_FLOATS: dict[str, tuple[float, ...]] = {
    "zeros": (0.0, -0.0),
    "nan": (_NAN, 1.5, -0.5),
    "only nan": (_NAN,),
    "infinities": (_INF, -_INF, 2.0, -1.0),
    "only infinity": (_INF,),
    "only -infinity": (-_INF,),
    "equal": (0.5,),
    "ties": (1.0, 2.0, 1.0, -0.0, 0.0),
    "halves": (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -3.0, 2.0),
    "outside": (-3.5, 2.5, -1.0, 1.0001, 300.7, -1e10, 0.0, 1.0),
    "mixed": (0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 1e17, -1e17, 88.0, -104.0, 0.5, -2.5, 3.0, 2e9, -7e11),
    "thousands": (1e4, -2.5e4, 3e3, 1e4),
}
_ALONE = ("nan", "infinities", "zeros")
"""Inputs that are also given to one tensor only."""
_INTEGERS: dict[str, tuple[int, ...]] = {
    "integer zeros": (0,),
    "negative integers": (-1, -3, 0, 2),
    "equal integers": (2,),
    "integers beyond": (0, 1, 100, 63, 64, 31, 32),
}


def _by_dtype(dtype: torch.dtype) -> dict[str, tuple[float, ...]]:
    """Numbers at the ends of what a dtype has."""
    ends = torch.finfo(dtype)
    large, small = ends.max**0.45, ends.tiny**0.8
    return _FLOATS | {
        DENORMALS: (ends.smallest_normal / 4, -ends.smallest_normal / 8, 1.0, 0.0),
        # Products of the former do not overflow, whose sums would depend on the order; those of the latter do.
        "huge": (large, -2 * large, large**0.6, -1.0),
        "enormous": (ends.max**0.65, 2 * ends.max**0.65, 1.0),
        "largest": (ends.max,),
        "tiny": (small, -2 * small, small**0.6, small),
    }


def _filled(tensor: torch.Tensor, numbers: Sequence[Any], order: random.Random) -> torch.Tensor:
    """A tensor of the same shape and strides that has each of the numbers, if it is large enough, in some order."""
    made = copy.deepcopy(tensor)
    try:
        return made.copy_(_drawn(tensor, numbers, order))
    except RuntimeError:  # it shows elements more than once
        return _drawn(tensor, numbers, order)


def _drawn(tensor: torch.Tensor, numbers: Sequence[Any], order: random.Random) -> torch.Tensor:
    count = tensor.numel() * (2 if tensor.is_complex() else 1)
    drawn = [numbers[i % len(numbers)] for i in range(count)]
    order.shuffle(drawn)
    if tensor.is_complex():
        pairs = torch.tensor(drawn, dtype=torch.float64).reshape(*tensor.shape, 2)
        return torch.view_as_complex(pairs).to(tensor.dtype)
    return (
        torch.tensor(drawn, dtype=torch.float64 if tensor.is_floating_point() else torch.int64)
        .reshape(tensor.shape)
        .to(tensor.dtype)
    )


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _tensors(element)


def _replaced(value: Any, found: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(element, found) for element in value)
    return found.get(id(value), value) if isinstance(value, torch.Tensor) else value


def edge_values(arguments: list[Any]) -> list[Inputs]:
    """Return arguments of the same shapes and dtypes with other numbers.

    Args:
        arguments: tensors and lists of tensors.
    """
    order = random.Random(0)
    tensors = [tensor for tensor in _tensors(arguments) if tensor.numel()]
    floats = [tensor for tensor in tensors if _is_float(tensor)]
    integers = [tensor for tensor in tensors if not _is_float(tensor) and tensor.dtype != torch.bool]
    bools = [tensor for tensor in tensors if tensor.dtype == torch.bool]
    made: list[Inputs] = []

    def add(name: str, chosen: Sequence[torch.Tensor], numbers: dict[torch.dtype, tuple[Any, ...]]) -> None:
        found = {id(tensor): _filled(tensor, numbers[tensor.dtype], order) for tensor in chosen}
        if found:
            made.append(Inputs(name, [_replaced(argument, found) for argument in arguments]))

    tables = {tensor.dtype: _by_dtype(_real(tensor.dtype)) for tensor in floats}
    for name in next(iter(tables.values()), {}):
        numbers = {dtype: table[name] for dtype, table in tables.items()}
        add(name, floats, numbers)
        for position, tensor in enumerate(floats if name in _ALONE and len(floats) > 1 else ()):
            add(f"{name} in tensor {position}", [tensor], numbers)
    for name, whole in _INTEGERS.items():
        add(name, integers, {tensor.dtype: whole for tensor in integers})
    if not floats:
        add("largest integers", integers, {t.dtype: _ends(t.dtype) for t in integers})
    add("all false", bools, {torch.bool: (0,)})
    add("all true", bools, {torch.bool: (1,)})
    return made


def _real(dtype: torch.dtype) -> torch.dtype:
    return {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}.get(
        dtype, dtype
    )


def _ends(dtype: torch.dtype) -> tuple[int, ...]:
    ends = torch.iinfo(dtype)
    return ends.max, ends.min, 1, 0, ends.max - 1, ends.min + 1


def empty_sizes(arguments: list[Any], most: int = 3) -> list[Inputs]:
    """Return arguments of which some sizes are 0: for each size that there is, all dimensions that have it.

    Args:
        arguments: tensors and lists of tensors.
        most: how many sizes to try.
    """
    tensors = list(_tensors(arguments))
    sizes = list(dict.fromkeys(size for tensor in tensors for size in tensor.shape if size > 1))
    made = []
    for size in sizes[:most]:
        found = {}
        for tensor in tensors:
            if size in tensor.shape:
                shape = [0 if each == size else each for each in tensor.shape]
                found[id(tensor)] = torch.zeros(shape, dtype=tensor.dtype)
        made.append(Inputs(f"no elements for {size}", [_replaced(argument, found) for argument in arguments]))
    return made


_FACTORED = (
    r"(linalg\.)?(cholesky|lu|inv|solve|det|slogdet|logdet|inverse|tensorinv|tensorsolve|matrix_inverse|lstsq)(_\w+)?"
)
_KNOWN = (
    (r"sin|cos|tan|polar|special\.spherical_bessel_j0|sinc", r"mixed|huge|enormous|largest.*", "numbers beyond 4e8"),
    (
        r"(special\.)?polygamma(\.\w+)?|special\.airy_ai",
        r"largest integers",
        "the sine of a number of which float32 has no digit behind the point",
    ),
    (
        r"nn\.functional\.gelu",
        r".*infinit.*|largest",
        "oneDNN's kernel, which eager uses where it is built with it, gives NaN",
    ),
    (r"addmv", r"no elements.*", "eager does not broadcast what it adds to nothing"),
    (r"nn\.functional\.conv.*|conv.*", r".*(nan|infinit).*", "whether padding is multiplied by NaN in weights"),
    (r"nn\.functional\.poisson_nll_loss", r".*infinit.*", "exp(x) - x of infinity is one multiplication and addition"),
    (r"special\.\w+_polynomial_\w", r".*nan.*", "eager returns memory that it has not written"),
    (_FACTORED, r".*", "pivots and roundings of LAPACK, and what it leaves behind where it fails"),
    (
        r"fft\..*|i?stft",
        r".*infinit.*|enormous|largest",
        "which sums overflow, and where infinities meet a factor of 0, depends on the algorithm",
    ),
    (
        r"(linalg\.)?qr|geqrf|ormqr|linalg\.householder_product",
        r".*infinit.*|enormous|largest",
        "what LAPACK makes of infinities and of overflows on the way",
    ),
    (
        r"linalg\.(cond|matrix_rank|svdvals|eigvalsh|pinv)(\.\w+)?|norm\.nuc|pinverse",
        r"denormals|mixed|tiny|.*infinit.*|largest|enormous",
        "what is 0 but for rounding, and whether LAPACK converges",
    ),
    (r"mode", r".*nan.*", "eager sorts NaN as if it were equal to all numbers"),
    (
        r"gradient|(linalg\.)?cross|trapz|(cumulative_)?trapezoid",
        r"huge|largest|enormous",
        "products overflow, or are rounded, before they are added, unless multiplied and added at once",
    ),
    (
        r"nn\.functional\.(layer|group|instance|batch)_norm|_?native_\w+_norm\w*",
        r".*infinit.*|enormous|largest",
        "mean and scale",
    ),
)
"""Operators and inputs, as regular expressions, where a result differs from eager's, and why."""


def known_difference(op: str, inputs: str) -> str | None:
    """Return why an operator differs from eager on certain inputs, None if it must not.

    Args:
        op: its name in the database.
        inputs: the name of the inputs.
    """
    found = (why for ops, names, why in _KNOWN if re.fullmatch(ops, op) and re.fullmatch(names, inputs))
    return next(found, None)
