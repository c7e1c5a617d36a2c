"""Operators of other packages that programs may use though the package is not installed.

A `.pt` file that calls `torchvision::nms` loads where the operator is known. `define_missing` makes it known, with a
plain implementation in PyTorch; where torchvision is installed, its own operators are used.
"""

from __future__ import annotations

from .torchvision import define_missing

__all__ = ["define_missing"]
