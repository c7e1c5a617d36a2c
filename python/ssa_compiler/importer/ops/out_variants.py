"""Which overload eager takes for `torch.add(x, 1, out=y)`.

TorchScript takes the one for numbers, which PyTorch generates and Python does not have: it wants `y` to be of the
result's dtype. Eager takes that for tensors, which converts. It is asked, on small tensors.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from ..fake.dispatched import last_called

__all__ = ["call_example", "out_variant"]


@cache
def out_variant(op: Any) -> Any:
    """Return the overload that eager takes where TorchScript takes one that writes its result into a tensor.

    Args:
        op: an OpOverload.
    Returns:
        Another overload of the op, which takes tensors, or numbers in their places, where `op` takes numbers; `op`
        itself if eager takes that, or what it takes is not known.
    """
    specs = op._schema.arguments
    if not specs or not specs[-1].is_out or not any(str(spec.type) == "number" for spec in specs):
        return op
    try:
        called = last_called(lambda: call_example(op))
    except Exception:  # the example does not suit the op
        return op
    if called is None or called._schema.name != op._schema.name:
        return op
    types = [(spec.name, str(spec.type)) for spec in specs]
    taken = [(spec.name, str(spec.type)) for spec in called._schema.arguments]
    alike = len(types) == len(taken) and all(
        one == other or (one[0] == other[0] and (one[1], other[1]) == ("number", "Tensor"))
        for one, other in zip(types, taken)
    )
    return called if alike else op


def call_example(op: Any) -> None:
    """Call the function of PyTorch's that has an operator's name, on numbers and tensors of two elements.

    Args:
        op: an OpOverload with `out=`.
    Raises:
        NotImplementedError: there is no such function, or it draws random numbers.
        Exception: what it raises.
    """
    specs = op._schema.arguments
    function = getattr(torch, op._schema.name.removeprefix("aten::"), None)
    if function is None or torch.Tag.nondeterministic_seeded in op.tags:
        raise NotImplementedError
    given = [_example(spec) for spec in specs if not spec.kwarg_only]
    with torch.no_grad():
        function(*given, **{spec.name: _example(spec) for spec in specs if spec.kwarg_only})


def _example(spec: Any) -> Any:
    kind = str(spec.type)
    if spec.is_out:
        return torch.empty(0)
    if spec.kwarg_only:
        return spec.default_value
    return torch.ones(2) if kind == "Tensor" else [0] if kind == "List[int]" else 1
