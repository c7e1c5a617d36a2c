"""Ops of a program that run in PyTorch: what the compiled program calls, and how the runtime rebuilds the op's
arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SourceLocation

__all__ = ["MODULE_NAME", "Argument", "CallbackSite", "Constant", "Listed", "Passed"]

MODULE_NAME = "tssa_callbacks"
"""The module whose functions the program imports, one for each site."""


@dataclass(frozen=True)
class Passed:
    """An argument that the program passes.

    Attributes:
        kind: "tensor", "int", "float" or "bool".
        dtype: name of the torch dtype of a tensor, such as "float32"; "" for scalars, and results that are not used.
    """

    kind: str
    dtype: str = ""


@dataclass(frozen=True)
class Constant:
    """An argument that is known: an int, float, bool, str or None."""

    value: object


@dataclass(frozen=True)
class Listed:
    """A list of arguments."""

    items: tuple[Argument, ...]


Argument = Passed | Constant | Listed


@dataclass(frozen=True)
class CallbackSite:
    """One op of the program that runs in PyTorch.

    Attributes:
        name: name of the imported function in the callback module.
        op: the operator as PyTorch writes it, `aten::index.Tensor`.
        arguments: how to rebuild its arguments, in schema order; `Passed` ones in the order in which they are passed.
        results: what it returns.
        convention: IREE's calling convention, such as `0rI_rI`; the last operand and result are the token
            (`effect_order`).
        location: the user's line.
        reason: why it is not compiled.
        extern: whether it could be, but a library of PyTorch's is quicker.
    """

    name: str
    op: str
    arguments: tuple[Argument, ...]
    results: tuple[Passed, ...]
    convention: str
    location: SourceLocation | None
    reason: str
    extern: bool = False
