"""What became of tensor objects of the caller's or the module's whose shape, strides or storage a program changes.

`x.t_()` changes no memory: it changes the object `x`, which the caller holds as well. In `@main` the object is a view
of the argument from there on (`metadata_mutation.py`). After the call the caller's own object is given the sizes,
strides and storage offset that the view has then, which are known at import or are results of `@main`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .results import OutputLeaf, OutputSpec, build_result

__all__ = ["ChangedObject", "OwnObject", "change_objects", "give_back", "take_storages"]


@dataclass(frozen=True)
class ChangedObject:
    """An argument or parameter that is another view of its storage after the call.

    Attributes:
        index: its number among `@main`'s arguments.
        sizes: its sizes, a tuple.
        strides: its strides (elements), a tuple.
        offset: where it begins, counted from where it began before the call (elements).
        contents: all elements of its storage, where that gets more of them; None where it does not. Such an argument is
            contiguous and begins where its storage does.
    """

    index: int
    sizes: OutputSpec
    strides: OutputSpec
    offset: OutputSpec
    contents: OutputLeaf | None = None


@dataclass(frozen=True)
class OwnObject:
    """The program changes the shape of the tensor object that is argument `index`: no other argument may be the same
    object.

    Attributes:
        index: index among `@main`'s arguments.
        grows: whether its storage gets more elements: then no other argument may share memory with it.
    """

    index: int
    grows: bool


def change_objects(changed: Sequence[ChangedObject], leaves: Sequence[Any], results: Sequence[Any]) -> None:
    """Give the caller's tensors their new shapes.

    Args:
        changed: `ImportedProgram.changed`.
        leaves: the arguments of `@main`, those that are written with their new contents.
        results: its results, in order.
    """
    with torch.no_grad():
        for change in changed:
            tensor: torch.Tensor = leaves[change.index]
            sizes, strides, offset = (
                build_result(part, results) for part in (change.sizes, change.strides, change.offset)
            )
            if change.contents is not None:
                contents = results[change.contents.index]
                tensor.resize_(contents.shape).copy_(contents)
            tensor.as_strided_(sizes, strides, tensor.storage_offset() + offset)


def take_storages(indices: frozenset[int], leaves: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments of `@main` with the storages of some tensors for them.

    Args:
        indices: `ImportedProgram.storages`.
        leaves: the user's tensors and numbers.
    """
    return [_storage(leaf) if index in indices else leaf for index, leaf in enumerate(leaves)] if indices else leaves


def _storage(tensor: torch.Tensor) -> torch.Tensor:
    """The elements of a tensor's storage, one after the other."""
    storage = tensor.untyped_storage()
    with torch.no_grad():
        flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        flat.set_(storage, 0, (storage.nbytes() // tensor.element_size(),), (1,))
    return flat.requires_grad_(tensor.requires_grad)


def give_back(leaves: Sequence[Any], given: Sequence[Any], results: Sequence[Any]) -> Sequence[Any]:
    """Return the results of `@main` with the user's tensors for the storages that it took.

    Args:
        leaves: the user's tensors and numbers.
        given: what `take_storages` returned.
        results: the results.
    """
    if given is leaves:
        return results
    own = {id(taken): leaf for leaf, taken in zip(leaves, given, strict=True) if isinstance(leaf, torch.Tensor)}
    return [own.get(id(result), result) if isinstance(result, torch.Tensor) else result for result in results]
