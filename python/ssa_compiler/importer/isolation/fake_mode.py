"""FakeTensorMode without what it does for torch.compile and torch.distributed at each op."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from .partial_dynamo import defer_dynamo

__all__ = ["FakeMode"]


defer_dynamo()


class FakeMode(FakeTensorMode):  # type: ignore[no-untyped-call]
    """FakeTensorMode without the wrapper by which torch.compile leaves each of its calls out of what it compiles.

    It takes a part of the time of each op, and no import is part of what torch.compile compiles.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if _DISTRIBUTED in sys.modules:
            return self.dispatch(func, types, args, kwargs or {})
        with _WITHOUT_DISTRIBUTED:
            return self.dispatch(func, types, args, kwargs or {})


class _Undispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Does what FakeTensors do by themselves while no mode is active.

    Where a tensor of a class of its own is given to an op, and no mode takes the op, PyTorch loads torch.distributed to
    see whether it is a DTensor, which takes a tenth of a second.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # FakeTensorMode, whose turn is after all others, takes it; or it makes a tensor, as of device "meta".
        if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None or not types:
            return func(*args, **(kwargs or {}))
        return FakeTensor.__torch_dispatch__(func, types, args, kwargs or {})


_DISTRIBUTED = "torch.distributed.tensor"
_WITHOUT_DISTRIBUTED = _Undispatched()  # type: ignore[no-untyped-call]
