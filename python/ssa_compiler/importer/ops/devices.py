"""Devices that the program names: all tensors of a compiled program are on the device of its arguments and parameters.

What eager makes on another device would silently be made there. Eager raises for a device that PyTorch does not have;
so does the program. Anything else is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ...abi.default_device import callers_default_device
from ..torchscript.models import state_tensors
from ..values.diagnostics import ProgramRaises
from ..values.state import State
from ..values.values import ConstValue, Value

__all__ = ["check_default_device", "check_devices", "on_default_device"]

_ERRORS = (AssertionError, NotImplementedError, ImportError, RuntimeError)
"""What PyTorch raises for a device that it does not have."""


def check_devices(state: State, root: Any, node: Any, arguments: Sequence[Value]) -> None:
    """Check that an op makes its tensors on a device of the program.

    Args:
        state: the interpretation.
        root: the user's module or function.
        node: the op.
        arguments: its operands.
    Raises:
        ProgramRaises: eager raises, as there is no such device or no pinned memory.
        UnsupportedOpError: it makes them elsewhere.
    """
    named = [a.value for a in arguments if isinstance(a, ConstValue) and isinstance(a.value, torch.device)]
    kind = node.kind()
    if kind == "aten::cuda":
        named.append(torch.device("cuda"))
    foreign = [device for device in named if device.type != "cpu"]
    if foreign and any(output.type().isSubtypeOf(torch._C.TensorType.get()) for output in node.outputs()):
        own = _own_types(state, root)
        for device in foreign:
            if device.type not in own:
                _ask(state, {"device": device})
                raise state.unsupported_op(
                    f"{kind} on {device}; the arguments of the program are on {', '.join(sorted(own))}"
                )
    specs = torch._C.parse_schema(node.schema()).arguments if _may_pin(arguments, node) else ()
    for spec, value in zip(specs, arguments):
        if spec.name == "pin_memory" and isinstance(value, ConstValue) and value.value is True:
            _ask(state, {"pin_memory": True})
            raise state.unsupported_op(f"{kind} in pinned memory; pin the result")


def on_default_device(node: Any, arguments: list[Value]) -> list[Value]:
    """Name the default device where an op makes a tensor from no other and names none.

    `torch.set_default_device` and `with torch.device(...)` change what PyTorch's Python functions are given, not what
    its operators do.
    """
    default = callers_default_device()
    if default.type == "cpu" or "Device? device" not in (text := node.schema()):
        return arguments
    specs = torch._C.parse_schema(text).arguments
    if any("Tensor" in str(spec.type) for spec in specs):
        return arguments
    return [
        ConstValue(default)
        if spec.name == "device" and isinstance(value, ConstValue) and value.value is None
        else value
        for spec, value in zip(specs, arguments, strict=True)
    ]


def _may_pin(arguments: Sequence[Value], node: Any) -> bool:
    pins = any(isinstance(argument, ConstValue) and argument.value is True for argument in arguments)
    return pins and "pin_memory" in node.schema()


def _ask(state: State, wanted: dict[str, Any]) -> None:
    """Raise what eager raises for a device, or for pinned memory, that there is not."""
    if torch.cuda.is_available():
        return  # asking would start what the caller has not started
    try:
        torch.empty(0, **wanted)
    except _ERRORS as error:
        name = next(known.__name__ for known in _ERRORS if isinstance(error, known))
        raise ProgramRaises(f"{name}: {str(error).partition(chr(10))[0]}") from error


def _own_types(state: State, root: Any) -> set[str]:
    """The types of the devices that the program's arguments and parameters are on."""
    tensors = [value.fake for value in state.storages.owners.values()] + list(state_tensors(root))
    own = {tensor.device.type for tensor in tensors if tensor.dim() or tensor.device.type != "cpu"}
    return own or {"cuda" if callers_default_device().type == "cuda" else "cpu"}


def check_default_device(state: State, root: Any) -> None:
    """Check that tensors for which no device is named are made on a device of the program.

    Raises:
        UnsupportedProgramError: they are made elsewhere.
    """
    default, own = callers_default_device().type, _own_types(state, root)
    if default not in (*own, "cpu"):
        raise state.unsupported(f"the default device {default}; make it {' or '.join(sorted(own))}")
