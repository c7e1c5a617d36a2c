"""What a function or fragment was compiled to."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..compiled_program import CompiledProgram
from ..errors import ArgumentError, SsaCompilerError
from ..options import Options
from .paths import Paths

__all__ = ["Variant"]

_logger = logging.getLogger("ssa_compiler.importer")


@dataclass
class Variant:
    """A function or fragment, compiled for certain objects and types.

    Sizes are static at first. Those that change from call to call are dynamic from then on, as in torch.compile.

    Attributes:
        program: what was compiled; None if that is rejected.
        bound: the objects, which have to stay alive as they are told by their ids.
        paths: attributes of objects that are arguments and results.
        misses: how many calls in a row it did not take.
        counted: the results that are the tensors that variables came with, or new ones, as further results say.
        left_out: the numbers of the arguments that it is not passed: the objects.
    """

    program: CompiledProgram | None
    bound: tuple[Any, ...] = ()
    paths: Paths = field(default_factory=Paths)
    misses: int = 0
    counted: tuple[int, ...] = ()
    left_out: frozenset[int] = frozenset()
    _made: tuple[Any, Options, int] | None = None
    _shapes: tuple[torch.Size | None, ...] = ()
    _dims: dict[str, dict[int, Any]] = field(default_factory=dict)

    def compile(
        self, function: Any, options: Options, limit: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Compile a function for arguments like these.

        Args:
            function: the function.
            options: how to compile it.
            limit: how often it may be compiled for arguments that differ otherwise than in sizes.
            args: positional arguments.
            kwargs: keyword arguments.
        Raises:
            SsaCompilerError: it is rejected.
        """
        program = CompiledProgram(function, options, 1)
        program.specialise(*args, **kwargs)
        self.program, self._made, self._shapes = program, (function, options, limit), _shapes(args)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it.

        Raises:
            SsaCompilerError: it raises, or does not take the arguments.
        """
        assert self.program is not None
        try:
            return self.program(*args, **kwargs)
        except ArgumentError as error:
            if not error.exhausted or self._made is None:
                raise
        self._widen(args, kwargs)
        return self.program(*args, **kwargs)

    def _widen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let the sizes that differ from before be dynamic; if none do, or that is rejected, compile it for these too.

        Raises:
            SsaCompilerError: it is rejected.
        """
        assert self._made is not None
        function, options, limit = self._made
        names = list(inspect.signature(function).parameters)
        new = False
        for name, before, now in zip(names, self._shapes, _shapes(args)):
            if before is not None and now is not None and len(before) == len(now):
                dims = self._dims.setdefault(name, {})
                for dim in (dim for dim in range(len(now)) if now[dim] != before[dim]):
                    new |= dim not in dims
                    dims[dim] = torch.export.Dim.AUTO
        if new and not kwargs:
            shapes = {name: self._dims.get(name) or None for name in names}
            program = CompiledProgram(function, replace(options, dynamic_shapes=shapes), 1)
            try:
                program.specialise(*args)
            except SsaCompilerError as error:
                _logger.debug("%s with dynamic sizes: %s", function.__name__, error)
            else:
                self.program = program
                return
        program = CompiledProgram(function, options, limit)
        program.specialise(*args, **kwargs)
        self.program, self._made = program, None


def _shapes(args: tuple[Any, ...]) -> tuple[torch.Size | None, ...]:
    return tuple(each.shape if isinstance(each, torch.Tensor) else None for each in args)
