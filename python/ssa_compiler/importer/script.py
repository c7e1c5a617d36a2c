"""Getting TorchScript from what the user passes, and its errors into the project's family."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

from ..errors import ScriptError, SourceLocation
from .source import script_all

__all__ = ["script_model"]

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def _user_line(text: str) -> SourceLocation | None:
    """Find the user's line in TorchScript's explanation: the first frame that is not PyTorch's own."""
    frames = [SourceLocation(file, int(line)) for file, line in _FRAME.findall(text)]
    torch_root = torch.__path__[0]
    for frame in frames:
        if not frame.file.startswith(torch_root):
            return frame
    return frames[0] if frames else None


def script_model(model: Callable[..., Any] | torch.nn.Module) -> Any:
    """Return the ScriptModule or ScriptFunction of `model`; it is scripted unless it is a ScriptModule already.

    Args:
        model: function, nn.Module, ScriptModule or ScriptFunction. It is not changed; the training flag stays. A
            ScriptFunction is scripted again if its Python function is known, so that nothing of it is missing.
    Raises:
        ScriptError: TorchScript refuses the model, or it is none of the above.
    """
    if isinstance(model, torch.jit.ScriptModule):
        return model
    if isinstance(model, torch.jit.ScriptFunction):
        original = getattr(model, "_torchdynamo_inline", None)
        return (_script_all(original) if original is not None else None) or model
    if not isinstance(model, torch.nn.Module) and not callable(model):
        raise ScriptError(f"expected a function or an nn.Module, got {type(model).__name__}")
    if inspect.ismethod(model) or isinstance(model, torch.ScriptMethod):
        owner = getattr(model, "__self__", getattr(model, "owner", None))
        name, kind = getattr(model, "__name__", getattr(model, "name", "?")), type(owner).__name__
        way_out = (
            "pass the module itself"
            if name == "forward" and isinstance(owner, (torch.nn.Module, torch._C.ScriptModule))
            else "pass a function, or an nn.Module whose forward does what the method does"
        )
        raise ScriptError(
            f"expected a function or an nn.Module, got the bound method '{name}' of a {kind}, which TorchScript cannot "
            f"script: {way_out}",
            location=_definition(model),
        )
    if isinstance(model, type):
        raise ScriptError(f"expected a function or an instance of nn.Module, got the class {model.__name__}")
    if (everything := _script_all(model)) is not None:
        return everything
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scripted = torch.jit.script(model)
    except Exception as error:  # noqa: BLE001 - TorchScript raises RuntimeError, NotSupportedError, TypeError, OSError, ...
        text = str(error)
        raise ScriptError(
            f"TorchScript cannot script {getattr(model, '__name__', type(model).__name__)}: {text}",
            location=_user_line(text) or _error_location(error) or _definition(model),
        ) from error
    if not isinstance(scripted, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise ScriptError(f"expected a function or an nn.Module, got {type(model).__name__}")
    return scripted


def _script_all(model: Any) -> Any:
    """Script with all that statements compute kept; None where TorchScript refuses, perhaps only for what was added."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scripted = script_all(model)
    except Exception:  # noqa: BLE001 - as in `script_model`, which says what is wrong with the user's own text
        return None
    return scripted if isinstance(scripted, (torch.jit.ScriptModule, torch.jit.ScriptFunction)) else None


def _definition(model: Any) -> SourceLocation | None:
    """Where a function, or a module's forward, is defined."""
    function = type(model).forward if isinstance(model, torch.nn.Module) else model
    code = getattr(function, "__code__", None)
    return SourceLocation(code.co_filename, code.co_firstlineno) if code else None


def _error_location(error: Exception) -> SourceLocation | None:
    """The location of a Python SyntaxError or alike."""
    file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
    return SourceLocation(str(file), int(line)) if file and line else None
