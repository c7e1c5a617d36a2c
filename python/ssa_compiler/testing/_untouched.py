"""Compiling a program leaves everything as it is: what `check` watches while it compiles."""

from __future__ import annotations

import gc
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import torch

from ._compare import StageMismatch

__all__ = ["untouched"]


@contextmanager
def untouched(model: Any, *arguments: Any) -> Iterator[None]:
    """Check that what runs meanwhile changes nothing that a program may change or ask for.

    Args:
        model: function or nn.Module that is compiled.
        arguments: the examples.
    Raises:
        StageMismatch: random numbers were drawn or seeded, a warning was given, or a setting of PyTorch's, the module's
            state or an argument changed.
    """
    before = _facts(model, arguments)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        yield
        before["the filters of warnings"] = filters
        after = _facts(model, arguments) | {"the filters of warnings": list(warnings.filters)}
    changed = [what for what, fact in before.items() if not _same(fact, after[what])]
    changed += [f"gave the warning {str(warning.message)!r}" for warning in given]
    if changed:
        raise StageMismatch("imported", 0, f"compiling changed: {'; '.join(changed)}")


def _same(one: Any, other: Any) -> bool:
    if one is None:
        return True  # NumPy was not loaded
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return bool(one == other)


def _facts(model: Any, arguments: Any) -> dict[str, Any]:
    numpy = sys.modules.get("numpy.random")
    facts: dict[str, Any] = {
        "PyTorch's random numbers": torch.get_rng_state(),
        "Python's random numbers": random.getstate(),
        "NumPy's random numbers": repr(numpy.get_state()) if numpy is not None else None,
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "the default dtype": torch.get_default_dtype(),
        "the default device": torch.get_default_device(),
        "whether PyTorch always warns": torch.is_warn_always_enabled(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "the number of threads": torch.get_num_threads(),
        "oneDNN": torch._C._get_mkldnn_enabled(),
        "garbage collection": gc.isenabled(),
    }
    for number, leaf in enumerate(_leaves(arguments)):
        facts[f"argument {number}"] = _fact(leaf)
    if isinstance(model, torch.nn.Module):
        for path, module in model.named_modules():
            for space in (vars(module), module._parameters, module._buffers):
                for name, value in space.items():
                    facts[f"the module's {path}.{name}".replace("module's .", "module's ")] = _fact(value)
    return facts


def _leaves(value: Any) -> list[Any]:
    """The leaves of nested containers and objects, whether the classes of these have been scripted yet or not."""
    found = list(torch.utils._pytree.tree_leaves(value))
    single = (torch.Tensor, torch.nn.Module, Enum, type)
    return [
        leaf
        for part in found
        for leaf in (_leaves(vars(part)) if hasattr(part, "__dict__") and not isinstance(part, single) else [part])
    ]


def _fact(value: Any) -> Any:
    """What shows whether a value was written or replaced."""
    if isinstance(value, torch.Tensor):
        version = None if value.is_inference() else value._version
        return id(value), version, tuple(value.shape), value.stride(), value.requires_grad
    return repr(value) if isinstance(value, (bool, int, float, str)) else id(value)  # NaN equals nothing
