"""Getting TorchScript from Python functions and modules, and its errors into the project's family."""

from __future__ import annotations

import functools
import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
import torch.jit._recursive as recursive
from torch.jit.frontend import NotSupportedError

from ...errors import ScriptError, SourceLocation
from ..isolation.patching import replaced
from ..isolation.process_state import quiet
from .attribute_types import scripted_with_types
from .explanations import explain
from .source_rewrite import script_all, script_plainly

__all__ = ["script_as", "script_method", "script_model"]

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def script_model(model: Callable[..., Any] | torch.nn.Module) -> Any:
    """Return the ScriptModule or ScriptFunction of `model`; it is scripted unless it is a ScriptModule already.

    Args:
        model: function, nn.Module, ScriptModule or ScriptFunction. It is not changed; the training flag stays. A
            ScriptFunction is scripted again if its Python function is known, so that nothing of it is missing.
    Raises:
        ScriptError: TorchScript rejects the model.
    """
    if isinstance(model, torch.jit.ScriptModule):
        return model
    if isinstance(model, torch.jit.ScriptFunction):
        # A trace knows its function, too, but is what it has recorded.
        is_scripted = getattr(model, "__name__", None) == "ScriptFunction"
        original = getattr(model, "_torchdynamo_inline", None) if is_scripted else None
        return (
            _attempt(lambda: script_all(lambda: torch.jit.script(original), scripted=True)) if original else None
        ) or model
    definition = type(model).forward if isinstance(model, torch.nn.Module) else model

    def script() -> Any:
        return _scripted(lambda: torch.jit.script(model), _name(model), definition)

    return scripted_with_types(model, script) if isinstance(model, torch.nn.Module) else script()


def script_method(method: Any) -> Any:
    """Return a ScriptModule that has a method of an nn.Module, whether it is marked `@torch.jit.export` or not.

    Args:
        method: a bound method, perhaps of a function that its class does not have. The module is not scripted, and not
            changed.
    Raises:
        ScriptError: TorchScript rejects the method.
    """

    module, name = method.__self__, method.__name__

    def stubs(part: torch.nn.Module) -> Any:
        if part is module:
            return [recursive.make_stub(method, name)]  # type: ignore[no-untyped-call]
        return recursive.infer_methods_to_compile(part)  # type: ignore[no-untyped-call]

    def script() -> Any:
        return recursive.create_script_module(module, stubs, share_types=False)  # type: ignore[no-untyped-call]

    return scripted_with_types(module, lambda: _scripted(script, f"{_name(module)}.{name}", method.__func__))


def script_as(
    owner: torch.nn.Module | None,
    script: Callable[[], Any],
    model: Any,
    decided: Callable[[Any], dict[str, Any]] | None = None,
) -> Any:
    """Return what `script` gives, with all that statements compute kept and the types of attributes that have none.

    Args:
        owner: the module that is scripted, None for a function.
        script: scripts it.
        model: the user's model, for messages.
        decided: the types of attributes of a module that are known otherwise; None if there are none.
    Raises:
        ScriptError: TorchScript rejects it.
    """
    definition = getattr(model, "forward", model)
    if owner is None:
        return _scripted(script, _name(model), definition)
    return scripted_with_types(owner, lambda: _scripted(script, _name(model), definition), decided)


def _name(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))


def _scripted(script: Callable[[], Any], name: str, definition: Any) -> Any:
    """Script with all that statements compute kept, or else as TorchScript does it.

    Raises:
        ScriptError: TorchScript rejects, with the remedy and its own explanation of the user's text, shortened.
    """
    with _properties_unread():
        return _scripted_somehow(script, name, definition)


def _scripted_somehow(script: Callable[[], Any], name: str, definition: Any) -> Any:
    """`_scripted`, where TorchScript reads no properties."""
    repeated: list[SourceLocation] = []
    rejections: list[Exception] = []
    has_methods: list[Any] = []
    for methods in (False, True):
        attempt = functools.partial(script_all, script, methods=methods, repeated=repeated, has_methods=has_methods)
        if (everything := _attempt(attempt, rejections)) is not None:
            return everything
        if not has_methods:  # up to where it was rejected, `methods` changes nothing
            break
    try:
        with quiet():
            plain = script_plainly(script)
    except Exception as found:  # noqa: BLE001 - TorchScript raises RuntimeError, NotSupportedError, TypeError, OSError, ...
        _end_calls(found)
        error = functools.reduce(_further, rejections, found)
        text = f"{type(error).__name__}: {error}" if isinstance(error, OSError) else str(error)
        told = explain(text)
        raise ScriptError(
            f"TorchScript cannot script {name}: {told.summary}; {told.remedy}{told.details}",
            location=_user_line(text) or _error_location(error) or _definition(definition),
            explanation=text.strip(),
        ) from None  # it would be printed in front of the message, whole
    if repeated:
        raise ScriptError(
            f"TorchScript computes a part of {name} several times, which has effects, and of which Python computes each once: "
            "give it a name, by an assignment in front of the statement",
            location=repeated[0],
        )
    return plain


@contextmanager
def _properties_unread() -> Iterator[None]:
    """Let TorchScript, which goes through the attributes of a module, leave out the properties: it runs them for no
    use.
    """
    ignored: Any = getattr(recursive, "jit_ignored_properties")  # noqa: B009 - it has no types
    computed = (property, functools.cached_property)

    def unread(module: torch.nn.Module) -> set[str]:
        kind = type(module)
        names = {name for each in kind.__mro__ for name in vars(each)}
        return {*ignored(module), *(n for n in names if isinstance(inspect.getattr_static(kind, n), computed))}

    with replaced(recursive, "jit_ignored_properties", unread):
        yield


def _attempt(script: Callable[[], Any], rejections: list[Exception] | None = None) -> Any:
    """Script with all that statements compute kept; None where TorchScript rejects, perhaps only for what was added.

    Args:
        script: does it.
        rejections: receives why it is rejected.
    """
    try:
        with quiet():
            scripted = script()
    except Exception as error:  # noqa: BLE001 - as in `_scripted`, which says what is wrong with the user's own text
        _end_calls(error)
        if rejections is not None:
            rejections.append(error)
        return None
    return scripted if isinstance(scripted, (torch.jit.ScriptModule, torch.jit.ScriptFunction)) else None


def _end_calls(error: BaseException | None) -> None:
    """Take the calls that led to an error off TorchScript's stack of what is being compiled.

    It is part of each error's text. A call is taken off when a local variable of a frame of `torch.jit` dies, which
    whoever keeps the error with its traceback delays.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if str(frame.f_globals.get("__name__")).startswith("torch.jit."):
                with suppress(RuntimeError):  # it still runs
                    frame.clear()
        error = error.__cause__ or error.__context__


def _further(plain: Exception, rewritten: Exception) -> Exception:
    """Return why TorchScript rejects a program: of two rejections, of the text as it is and rewritten, the one that it
    gets to later.

    What it rejects first in the text as it is (`x //= y`) is in other words in the rewritten one, unless that is
    rejected before: then it is for what was added.
    """
    parses = [isinstance(error, NotSupportedError) for error in (plain, rewritten)]
    if parses[0] != parses[1]:  # a function is compiled when all of it is parsed
        return rewritten if parses[0] else plain
    places = [_user_line(str(error)) for error in (plain, rewritten)]
    if None in places or places[0].file != places[1].file:  # type: ignore[union-attr]
        return plain
    return rewritten if places[1].line > places[0].line else plain  # type: ignore[union-attr]


def _user_line(text: str) -> SourceLocation | None:
    """Find the user's line in TorchScript's explanation: the first frame that is not PyTorch's own."""
    frames = [SourceLocation(file, int(line)) for file, line in _FRAME.findall(text)]
    torch_root = torch.__path__[0]
    for frame in frames:
        if not frame.file.startswith(torch_root):
            return frame
    return frames[0] if frames else None


def _definition(function: Any) -> SourceLocation | None:
    """Where a function is defined."""
    code = getattr(function, "__code__", None)
    return SourceLocation(code.co_filename, code.co_firstlineno) if code else None


def _error_location(error: Exception) -> SourceLocation | None:
    """The location of a Python SyntaxError or alike."""
    file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
    return SourceLocation(str(file), int(line)) if file and line else None
