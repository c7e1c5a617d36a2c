"""What stands between the user's model and the passes: the interface of a front end.

A front end turns a program in some form into a module of the Torch dialect, as docs/Architecture.md describes the stage
`imported`, and says how Python calls it. Everything after it (passes, backend, runtime) knows no more than that.
TorchScript is the front end of this package; others are added with `register_front_end`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .options import ImportOptions

if TYPE_CHECKING:
    import torch

    from .abi import ImportedProgram
    from .abi.object_guards import ObjectFacts
    from .importer.torchscript.models import OpenedModel

__all__ = [
    "FrontEnd",
    "ImportOptions",
    "KeyedSource",
    "Source",
    "TorchScript",
    "open_source",
    "register_front_end",
]


@runtime_checkable
class Source(Protocol):
    """A model that a front end has opened, for as long as a compiled program of it exists."""

    def tensors(self) -> Iterable[torch.Tensor]:
        """Return the parameters and buffers; they decide, with the arguments, which device is compiled for."""

    def deliver(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: ImportOptions) -> ImportedProgram:
        """Import the model as it is now, for arguments like these; called once for each specialisation.

        Args:
            args: positional arguments; neither run nor changed.
            kwargs: keyword arguments.
            options: what was asked for.
        Returns:
            `module`: the text of the imported module, whose locations are the source map (user's file and line of each
            op); `parameters` and `attributes`: the state that its `@main` takes after the arguments, and where it is
            held; `arguments` and `results`: the calling convention; `assumptions`: what each call has to check.
        Raises:
            SsaCompilerError: it cannot be imported; the message has the user's line and the remedy.
        """


@runtime_checkable
class KeyedSource(Source, Protocol):
    """A source that can tell what its imports depend on, so that a compiled program is found in the cache without an
    import.
    """

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: ImportOptions) -> str | None:
        """Return a digest of all that an import of the model as it is now depends on.

        Args:
            args: positional arguments; neither run nor changed.
            kwargs: keyword arguments.
            options: what was asked for.
        Returns:
            None if that cannot be told.
        Raises:
            SsaCompilerError: as `deliver`, which is called next if the program is not in the cache.
        """

    def objects(self) -> ObjectFacts | None:
        """Return what is taken for granted of other objects than the model, for the key that was asked for last:
        `ImportedProgram.objects`.
        """

    def owner(self) -> Any:
        """Return what holds the parameters: `ParameterSpec.owner` of the programs that it delivers."""


@runtime_checkable
class FrontEnd(Protocol):
    """Recognises models of one kind."""

    def open(self, model: Any) -> Source | None:
        """Return what holds a model, None if it is not of this kind; called once for each `compile`.

        Args:
            model: what the user passes to `compile`.
        """


class TorchScript:
    """The front end for functions, modules and everything else that TorchScript takes."""

    def open(self, model: Any) -> Source | None:
        """Return what holds a model; it takes whatever comes, and says later what is wrong with it."""
        from .importer.torchscript.models import loaded

        return _TorchScriptSource(loaded(model))


class _TorchScriptSource:
    def __init__(self, model: Any) -> None:
        self._model = model
        self._opened: OpenedModel | None = None  # of the key that was asked for last

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: ImportOptions) -> str | None:
        from .importer.boundary.import_key import import_key
        from .importer.partial_evaluation.opening import open_for_example

        self._opened = open_for_example(self._model, args, kwargs)
        return import_key(self._opened, args, kwargs, options)

    def objects(self) -> ObjectFacts | None:
        from .abi.object_guards import ObjectFacts

        found = self._opened.objects if self._opened is not None else None
        return ObjectFacts(found) if found else None

    def owner(self) -> Any:
        from .importer.torchscript.models import open_model

        opened, self._opened = self._opened or open_model(self._model), None
        return opened.owner

    def tensors(self) -> Iterable[torch.Tensor]:
        from .importer.torchscript.models import state_tensors

        return state_tensors(self._model)

    def deliver(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: ImportOptions) -> ImportedProgram:
        from .importer import import_program

        opened, self._opened = self._opened, None
        return import_program(
            opened or self._model,
            args,
            kwargs,
            index_checks=options.index_checks,
            dynamic_shapes=options.dynamic_shapes,
            lenient=options.lenient,
            kernels=options.kernels,
            unrolls=options.unrolls,
            exact_aliases=options.exact_aliases,
            most_nodes=options.most_nodes,
        )


_front_ends: list[FrontEnd] = [TorchScript()]


def register_front_end(front_end: FrontEnd) -> None:
    """Let `compile` take the models that a front end recognises.

    Args:
        front_end: asked before those that were registered earlier.
    """
    _front_ends.insert(0, front_end)


def open_source(model: Any) -> Source:
    """Return what holds a model, opened by the first front end that recognises it.

    Raises:
        ScriptError: none can take it; the message has the remedy.
    """
    found = (front_end.open(model) for front_end in _front_ends)
    return next(source for source in found if source is not None)
