"""Whether a call fits what a program was compiled for, by the assumptions that the importer lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..errors import ArgumentError, ArgumentValueError
from ..runtime.assumptions import assumption_checker
from ._calls import Call
from ._compare import memory_span, spans_overlap

if TYPE_CHECKING:
    from ..abi import ImportedProgram

__all__ = ["rejected_at_call"]


def rejected_at_call(program: ImportedProgram, call: Call) -> ArgumentError | None:
    """Say why the compiled program rejects a call.

    Args:
        program: the imported program.
        call: the arguments; neither read nor written.
    Returns:
        The error that a call raises before the program runs; None if it takes the arguments.
    """
    from ..abi import flatten_arguments
    from ..abi.object_writeback import take_storages

    try:
        leaves = flatten_arguments(program, call.args, call.kwargs)
        if (check := assumption_checker(program)) is not None:
            check(leaves)
        taken = take_storages(program.storages, leaves)
        _check_sizes(program, taken)
        _check_memory(program, taken)
    except ArgumentError as error:
        return error
    return None


_ARGUMENT = re.compile(r"%arg(\d+): !torch\.tensor<\[([\d,?]*)\]")


def _check_sizes(program: ImportedProgram, leaves: Sequence[Any]) -> None:
    """Reject a tensor whose sizes are not those of the program, as the runtime does."""
    head = next(line for line in program.module.splitlines() if "func.func @main(" in line)
    for number, sizes in _ARGUMENT.findall(head):
        leaf = leaves[int(number)] if int(number) < len(leaves) else None
        expected = [size for size in sizes.split(",") if size]
        if isinstance(leaf, torch.Tensor) and (
            len(expected) != leaf.dim() or any(e not in ("?", str(size)) for e, size in zip(expected, leaf.shape))
        ):
            text = f"argument {number}: expected shape ({sizes}), got {tuple(leaf.shape)}"
            raise ArgumentValueError(text).as_mismatch()


def _check_memory(program: ImportedProgram, leaves: Sequence[Any]) -> None:
    """Reject a written argument that shares memory with another one, as the runtime does."""
    from ..abi.assumptions import DistinctStorage

    tensors = {
        number: memory_span(leaf)
        for number, leaf in enumerate(leaves)
        if isinstance(leaf, torch.Tensor) and leaf.numel()
    }
    for assumption in program.assumptions:
        if isinstance(assumption, DistinctStorage) and assumption.index in tensors:
            for other, span in tensors.items():
                if other != assumption.index and spans_overlap(span, tensors[assumption.index]):
                    raise ArgumentValueError(
                        f"argument {assumption.index} shares memory with argument {other}: {assumption.reason}"
                    )
