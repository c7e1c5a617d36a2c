"""What is known of the functions that a program calls."""

from __future__ import annotations

import ast
import math
import types
from typing import Any

import torch
from torch import _jit_internal

from .rejections import NotCompiledError

__all__ = [
    "forward_of",
    "is_left_to_python",
    "is_of_torch",
    "is_op",
    "is_pure",
    "is_super",
    "only_keywords",
    "takes_list",
]

_BUILTINS = (types.BuiltinFunctionType, types.MethodDescriptorType)


def is_of_torch(function: Any) -> bool:
    """Whether a function is PyTorch's."""
    return str(getattr(function, "__module__", "")).partition(".")[0] in ("torch", "torchvision", "torchaudio")


def forward_of(module: torch.nn.Module) -> Any:
    """Return the function that calls of a module run: its class's, or one that was set on the module itself.

    Raises:
        NotCompiledError: it is no function whose first parameter is the module.
    """
    own = vars(module).get("forward")
    if own is None or isinstance(module, torch.jit.ScriptModule):
        return type(module).forward
    if not isinstance(own, types.MethodType) or own.__self__ is not module:
        raise NotCompiledError("a forward that was set on a module")
    return own.__func__


def is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def is_left_to_python(function: Any) -> bool:
    """Whether TorchScript leaves a function to Python."""
    modifier: Any = getattr(_jit_internal, "get_torchscript_modifier")  # noqa: B009 - it has no types
    return modifier(function) in (
        _jit_internal.FunctionModifiers.IGNORE,
        _jit_internal.FunctionModifiers.UNUSED,
        _jit_internal.FunctionModifiers.COPY_TO_SCRIPT_WRAPPER,
    )


_COMPUTING = (
    "torch.nn.functional", "torch.nn.utils.rnn", "torch.functional", "torch.linalg", "torchvision.ops", "torch.fft",
)  # fmt: skip


def is_op(thing: Any) -> bool:
    """Whether a function of PyTorch's computes tensors, and does nothing else."""
    module = str(getattr(thing, "__module__", "") or "")
    if module.startswith(_COMPUTING):
        return True
    name = str(getattr(thing, "__name__", ""))
    return (
        isinstance(thing, _BUILTINS)
        and bool(
            name.isidentifier()
            and is_of_torch(thing) | (module == "")
            and torch._C._jit_get_schemas_for_operator(f"aten::{name}")
        )
    ) or _is_library_op(thing)


def _is_library_op(thing: Any) -> bool:
    """Whether `torch.ops.aten.relu` or the like is called, an operator of PyTorch's own."""
    if not isinstance(thing, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return False
    name = str(getattr(thing, "_qualified_op_name", "") or thing)
    return name.startswith(("aten::", "aten.", "torchvision::", "torchvision."))


def is_pure(thing: Any) -> bool:
    module = str(getattr(thing, "__module__", "") or "").partition(".")[0]
    return (
        module == "math"
        or (isinstance(thing, types.BuiltinFunctionType) and thing in vars(math).values())
        or (module == "numpy" or type(thing).__module__ == "numpy")
    )


def takes_list(name: str, position: int) -> bool:
    """Whether an operator takes a list at a place."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}") if name.isidentifier() else ()
    found = [schema.arguments[position] for schema in schemas if len(schema.arguments) > position]
    python_lists = name in ("meshgrid", "broadcast_tensors", "block_diag", "cartesian_prod")
    return python_lists or any(argument.type.kind() == "ListType" for argument in found)


def only_keywords(node: ast.Call) -> ast.Call:
    return ast.copy_location(ast.Call(node.func, [], node.keywords), node)
