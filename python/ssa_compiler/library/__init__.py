"""Ops written as TorchScript programs, which the importer inlines where a program calls the op.

What IREE has no kernel for, or a bad one, is often a short imperative tensor program: sorting, selecting, non-maximum
suppression. Such a program is converted and compiled like the user's own, so nothing else has to know the op. A
function decorated with `implements` takes the arguments of the operators that it names, by name, as many of them as it
needs, and returns what they return, in new tensors. It is scripted when a program first needs it. What it asks about
dtypes, ranks, known sizes and constant arguments is answered while it is imported, so a branch on them costs nothing.

Index tensors in here are not checked at run time: the functions see to it that they are in range.
"""

from __future__ import annotations

from ._constants import constant
from ._registry import OpProgram, find_program, implements

__all__ = ["OpProgram", "constant", "find_program", "implements"]
