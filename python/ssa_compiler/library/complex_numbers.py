"""Complex numbers made of others, part by part: what IREE has no kernels for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._registry import implements

__all__: list[str] = []

_COMPLEX = {torch.complex64: 9, torch.complex128: 10}
"""The dtypes that IREE has, and what TorchScript has for them."""


def _becomes_complex(arguments: Mapping[str, Any]) -> bool:
    tensor, dtype, device = arguments["self"], arguments["dtype"], arguments["device"]
    known = dtype in (*_COMPLEX, *_COMPLEX.values()) and (device is None or device == tensor.device)
    return known and (not tensor.dtype.is_complex or tensor.dtype in _COMPLEX)


@implements("aten::_to_copy", where=_becomes_complex)
def to_complex(self: Tensor, dtype: Optional[int]) -> Tensor:  # noqa: UP045 - TorchScript
    """A tensor as complex numbers."""
    double = dtype is not None and dtype == torch.complex128  # type: ignore[comparison-overlap]
    part = torch.float64 if double else torch.float32
    if self.is_complex():
        return torch.complex(torch.real(self).to(part), torch.imag(self).to(part))
    real = self.to(part)
    return torch.complex(real, torch.zeros_like(real))
