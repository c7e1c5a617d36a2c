"""What TorchScript calls and Python does not have: methods of tensors, and `out=` of functions.

To TorchScript each operator is a method of its first operand (`x.gelu()`), and takes `out=` if PyTorch generates such a
form of it (`torch.celu(x, out=y)`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import torch

from ..ir.locations import highlighted
from ..values.diagnostics import ProgramRaises
from .out_variants import call_example

__all__ = ["check_exists"]

_OF_ATTRIBUTES = frozenset({"numpy_T", "matrix_H"})
"""What TorchScript calls the ops of `x.T` and `x.H`, in the text of inlined functions, too."""
_ON_EXPRESSION = re.compile(r".*[)\]]\.(\w*)", re.DOTALL)
"""A method of what an expression gives; TorchScript's text of it may end early."""


def check_exists(node: Any, kind: str, op: Any) -> None:
    """Raise what eager raises for a method that tensors do not have, or for an `out=` that a function does not take.

    Args:
        node: a node that is made of Python's text.
        kind: what it does, `aten::gelu`.
        op: the OpOverload.
    Raises:
        ProgramRaises: eager does raise.
    """
    namespace, _, name = kind.partition("::")
    if namespace != "aten":
        return
    text = highlighted(node)
    lacks = not hasattr(torch.Tensor, name) and name not in _OF_ATTRIBUTES
    if lacks and _is_method(node, name, text):
        raise ProgramRaises(f"AttributeError: 'Tensor' object has no attribute '{name}'")
    if text == f"torch.{name}" and (message := _without_out(op)):
        raise ProgramRaises(f"TypeError: {message}")


def _is_method(node: Any, name: str, text: str) -> bool:
    """Whether the text of an op is a method of its first operand, and no function of a module or an attribute."""
    receiver = next(node.inputs())
    found = _ON_EXPRESSION.fullmatch(text)
    if found is not None:
        # Where none of the name is left in the text, it is not known which it was.
        return bool(found[1]) and name.startswith(found[1]) and ("(" in text or not text.startswith("self."))
    path, _, called = text.rpartition(".")
    if called != name:
        return False
    if receiver.node().kind() == "prim::GetAttr":
        return path.rpartition(".")[2] == receiver.node().s("name")
    return path == re.sub(r"\.\d+$", "", receiver.debugName())


@cache
def _without_out(op: Any) -> str:
    """What Python says of `out=`, if no form of a function takes it; "" if one does, or the op writes no such."""
    specs = op._schema.arguments
    if not specs or not specs[-1].is_out:
        return ""
    try:
        call_example(op)
    except TypeError as error:
        first, *forms = str(error).splitlines()
        if "unexpected keyword argument 'out'" in first:
            return first
        forms = [form for form in forms if form.startswith(" * (")]
        return first if forms and not any(re.search(r"\bout\b", form) for form in forms) else ""
    except Exception:  # the example does not suit the op
        return ""
    return ""
