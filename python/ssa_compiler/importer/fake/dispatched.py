"""Which of PyTorch's operators eager runs for what Python calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["last_called"]


class _Last(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the last op that is called."""

    called: Any = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as of `symbols.FakeMode`

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.called = func
        return func(*args, **(kwargs or {}))


def last_called(function: Callable[[], Any]) -> Any:
    """Run a function on real tensors, and return the last OpOverload that it calls; None if it calls none.

    Raises:
        Exception: what the function raises.
    """
    with torch.no_grad(), _Last() as mode:  # type: ignore[no-untyped-call]
        function()
    return mode.called
