"""Calls that PyTorch traces or transforms: compiled code neither shows what it does nor takes tensors that stand for
others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ArgumentValueError

__all__ = ["tracing_checker"]

_REMEDY = "a compiled program cannot be part of it; call the model itself there"


def tracing_checker() -> Callable[[Sequence[Any]], None]:
    """Make the check that a call is made for its results, and on tensors that have numbers.

    It costs a fifth of a microsecond: the results would be constants of what is traced, and gradients be missing,
    without a word.

    Returns:
        A function of the leaves of the arguments. It raises ArgumentValueError.
    """
    import torch
    from torch.autograd import forward_ad
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    is_tracing, count_modes = torch._C._is_tracing, torch._C._len_torch_dispatch_stack
    transform = torch._C._functorch.maybe_current_level

    def check(leaves: Sequence[Any]) -> None:
        if is_tracing():
            raise ArgumentValueError(f"called while torch.jit.trace records: {_REMEDY}")
        if transform() is not None:
            raise ArgumentValueError(f"called within a transform of torch.func (vmap, jvp, grad, ...): {_REMEDY}")
        if count_modes():
            for mode in _get_current_dispatch_mode_stack():
                # PyTorch's own name for modes that trace: make_fx, FakeTensors, functionalization.
                if mode.is_infra_mode():
                    raise ArgumentValueError(f"called under {type(mode).__name__}, which traces: {_REMEDY}")
        if forward_ad._current_level >= 0:
            for leaf in leaves:
                tangent = forward_ad.unpack_dual(leaf).tangent if isinstance(leaf, torch.Tensor) else None  # type: ignore[no-untyped-call]
                if tangent is not None:
                    raise ArgumentValueError(
                        "an argument has a forward-mode gradient, and compiled programs record none: pass its primal"
                    )

    return check
