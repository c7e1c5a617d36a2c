"""Opening a model for the arguments of an example: as TorchScript takes it, else partially evaluated."""

from __future__ import annotations

import inspect
import logging
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
import torch.jit._recursive as recursive

from ...abi.surroundings import Surroundings
from ...errors import ScriptError
from ..isolation.one_import import importing
from ..isolation.process_state import quiet
from ..torchscript.models import OpenedModel, declared, loaded, open_model, reject_module
from ..torchscript.object_programs import is_object_program
from ..torchscript.script import script_as
from .callees import forward_of, is_of_torch
from .classes import is_plain_class
from .rejections import NotCompiledError, RejectionError

if TYPE_CHECKING:
    from .program import Program

__all__ = ["open_for_example", "prefer_partial_evaluation"]

_logger = logging.getLogger("ssa_compiler")
_preferred = False


def prefer_partial_evaluation(preferred: bool) -> None:
    """Evaluate programs partially even where TorchScript takes them as they are: tests of the importer become tests of
    partial evaluation.

    Args:
        preferred: whether to do that from here on.
    """
    global _preferred
    _preferred = preferred


@importing()
def open_for_example(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpenedModel:
    """Return what the importer needs of a model.

    Args:
        model: as of `open_model`.
        args: positional arguments of an example; neither run nor changed.
        kwargs: keyword arguments.
    Raises:
        ScriptError: TorchScript takes it neither as it is nor partially evaluated; the message says what to do.
    """
    if isinstance(model, OpenedModel):
        return model
    model = loaded(model)
    try:
        found = _function(model)
    except NotCompiledError:  # TorchScript may take it
        found = None
    if _preferred and found is not None:
        with suppress(NotCompiledError, ScriptError):
            return _opened(*found, args, kwargs)
    if found is not None and is_object_program(model):  # of objects TorchScript takes nothing
        try:
            return _opened(*found, args, kwargs)
        except RejectionError as rejection:
            text = f"{type(model).__name__} cannot be compiled: {rejection or 'a statement of another kind'}"
            raise ScriptError(text, location=rejection.location) from None
    try:
        opened = open_model(model)
    except ScriptError as rejection:
        if found is None or not rejection.explanation:
            raise
        try:
            return _opened(*found, args, kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is, the program is rejected as it is
            _logger.debug("partial evaluation does not help: %r", error)
            if reason := _reason(error, str(rejection)):
                rejection.add(reason)
            raise rejection from None
    if found is not None and (
        _is_mistyped(opened, *found[:2], args, kwargs) or _holds_objects(found[1]) or _applies_functions(opened)
    ):
        try:
            return _opened(*found, args, kwargs)
        except Exception as error:  # noqa: BLE001 - as above
            _logger.debug("partial evaluation does not help: %r", error)
            opened = replace(opened, reason=_reason(error))
    if found is None:
        return opened
    return replace(opened, partially=lambda: _opened(*found, args, kwargs))


def _reason(error: Exception, rejection: str = "") -> str:
    """Return what stops partial evaluation; "" if that tells nothing more.

    Args:
        error: what it raised.
        rejection: what TorchScript says of the program as it is.
    """
    if isinstance(error, RejectionError) and error.args:
        where = f"{error.location}: " if error.location is not None else ""
        return f"Partial evaluation, which takes more of Python, stops at {where}{error}"
    text = str(error).partition("; ")[0].partition("\n")[0]
    if isinstance(error, ScriptError) and text != rejection.partition("; ")[0].partition("\n")[0]:
        return f"Of what partial evaluation, which takes more of Python, makes of it: {text}"
    if not isinstance(error, (RejectionError, ScriptError)):
        return f"Partial evaluation, which takes more of Python, fails: {type(error).__name__}: {text}"
    return ""


def _holds_objects(owner: torch.nn.Module | None) -> bool:
    """Whether modules have attributes that are objects of the user's classes, which the importer takes only partially
    evaluated.
    """
    parts = owner.modules() if owner is not None else ()
    return any(is_plain_class(type(value)) for part in parts for value in vars(part).values())


def _applies_functions(opened: OpenedModel) -> bool:
    """Whether a program has torch.autograd.Functions, which are Python to TorchScript."""
    kinds = torch.autograd.Function.__subclasses__()
    if all(kind.__module__.partition(".")[0] == "torch" for kind in kinds):
        return False
    scripted = opened.scripted
    graph = scripted._c._get_method(opened.method).graph.copy() if opened.method else scripted.graph.copy()
    torch._C._jit_pass_inline(graph)
    called = [getattr(node.pyobj(), "__self__", None) for node in graph.findAllNodes("prim::PythonOp")]
    return any(isinstance(kind, type) and issubclass(kind, torch.autograd.Function) for kind in called)


def _is_mistyped(
    opened: OpenedModel, function: Any, owner: torch.nn.Module | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether TorchScript takes an argument without an annotation, which is none, for a tensor."""
    plain = inspect.unwrap(function)
    try:
        bound = inspect.signature(plain).bind(*(() if owner is None else (owner,)), *args, **kwargs)
    except TypeError:
        return False
    notes = inspect.signature(plain).parameters
    others = {
        name: "Tensor" if value is None else "Optional[Tensor]"  # as one whose default is None is
        for name, value in bound.arguments.items()
        if notes[name].annotation is inspect.Parameter.empty and not isinstance(value, (torch.Tensor, torch.nn.Module))
    }
    if not others:
        return False
    scripted, method = opened.scripted, opened.method
    schema = scripted._c._get_method(method).schema if method else scripted.schema
    return any(str(each.type) in ("Tensor", others[each.name]) for each in schema.arguments if each.name in others)


def _function(model: Any) -> tuple[Any, torch.nn.Module | None, str, Any] | None:
    """The Python function of a model, its module, the name of the method, and the model.

    Raises:
        NotCompiledError: a part of it has a forward of its own that is no method.
    """
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction, torch.ScriptMethod)):
        return None
    if inspect.ismethod(model) and isinstance(model.__self__, torch.nn.Module):
        return model.__func__, model.__self__, model.__name__, model
    if isinstance(model, torch.nn.Module):
        return None if _is_of_torch(model) else (forward_of(model), model, "forward", model)
    return (model, None, getattr(model, "__name__", "program"), model) if inspect.isfunction(model) else None


def _is_of_torch(module: torch.nn.Module) -> bool:
    """Whether a module and all its parts are PyTorch's own."""
    parts = (part for part in module.modules() if not isinstance(part, torch.jit.ScriptModule))
    return all(is_of_torch(forward_of(part)) for part in parts)


def _opened(
    function: Any, owner: torch.nn.Module | None, name: str, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> OpenedModel:
    """Open a model partially evaluated; a function as a method of its surroundings, if that is needed."""
    given = function, name, model, args, kwargs
    try:
        return _opened_as(owner, owner, *given)
    except (NotCompiledError, ScriptError):
        around = Surroundings()
        if owner is not None:
            raise
        try:
            return _opened_as(None, around, *given)
        except (NotCompiledError, ScriptError):
            if any(True for _ in around.found()) or any(True for _ in around.children()):
                raise
        raise


def _opened_as(
    first: torch.nn.Module | None,
    owner: torch.nn.Module | None,
    function: Any,
    name: str,
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    way: int = 0,
) -> OpenedModel:
    """Open a model partially evaluated.

    Args:
        first: what is passed in front of the arguments; None if nothing is.
        owner: the module that has the function as a method; None if it stays a function.
        function: the function.
        name: its name.
        model: the model.
        args: positional arguments.
        kwargs: keyword arguments.
        way: the first way to evaluate it that is tried, see `evaluated`.
    """
    from .evaluation import evaluated, next_way  # few programs need these modules, and they take time to load
    from .extra_arguments import extra_arguments

    extra = extra_arguments(inspect.unwrap(function), first, args, kwargs)
    with quiet():  # PyTorch warns of samples that do not fit
        program, made, fixed, way = evaluated(function, owner, name, extra, way)
    if owner is not None:
        reject_module(owner)  # the modules that it found around the program are among its parts now
    another = next_way(program, extra.arguments, way)

    def otherwise() -> OpenedModel:
        assert another is not None
        return _opened_as(first, owner, function, name, model, args, kwargs, another)

    try:
        scripted = _scripted(program, made.function, owner, model)
    except ScriptError:
        if another is not None:
            with suppress(NotCompiledError, ScriptError):
                return otherwise()
        raise
    title = name if first is None else type(owner).__name__ + ("" if name == "forward" else f".{name}")
    method = "" if owner is None else made.name
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    kept = inspect.signature(made.function).parameters
    untyped = {
        key: value.default
        for key, value in parameters.items()
        if value.default is not inspect.Parameter.empty and kept[key].default is inspect.Parameter.empty
    }
    only, defaults = declared(inspect.unwrap(function))
    return OpenedModel(
        model if owner is None else owner,
        scripted,
        method,
        title,
        only | extra.named.keys(),
        defaults,
        read=frozenset(program.read),
        untyped_defaults=untyped,
        fixed=fixed,
        sources=program.sources,
        objects=program.compared,
        names=extra.names,
        signature=extra.signature,
        partially=None if another is None else otherwise,
    )


def _scripted(program: Program, function: Any, owner: torch.nn.Module | None, model: Any) -> Any:
    """Script the copies of a program's functions."""

    def stubs(part: torch.nn.Module) -> Any:
        methods = program.methods.get(id(part))
        if methods is not None:
            return [recursive.make_stub(each, name) for name, each in methods.items()]  # type: ignore[no-untyped-call]
        if type(part).forward is torch.nn.Module.forward or program.is_dead(part):
            return []
        return recursive.infer_methods_to_compile(part)  # type: ignore[no-untyped-call]

    def script() -> Any:
        if owner is None:
            return torch.jit.script(function)
        return recursive.create_script_module(owner, stubs, share_types=False)  # type: ignore[no-untyped-call]

    with program.parsed():
        return script_as(owner, script, model, program.states.types_of)
