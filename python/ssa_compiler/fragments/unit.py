"""A function or fragment when it is called: compiled, or else split, in which case Python runs it."""

from __future__ import annotations

import ast
import logging
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_leaves

from ..compiled_program import CompiledProgram
from ..errors import InternalError, ProgramError, ResultAliasError, SourceLocation, SsaCompilerError
from ..options import Options
from ..process.forks import new_lock
from ..semantics.rebinding import REBOUND_CALL
from .liveness import bindings_of, stores_of
from .paths import Paths, is_bound, is_plain, read, write
from .sources import Source, fragment_source, in_users_file, instantiate, located
from .splitting import CALLEE, FRAGMENTS, Group, Split
from .variants import Variant

__all__ = ["Break", "Unit"]

_logger = logging.getLogger("ssa_compiler.importer")
_MOST_VARIANTS = 8
_MOST_MISSES = 3
"""After so many calls in a row that it does not take, a fragment is left to Python."""
_COUNT = "__rebound"


@dataclass(frozen=True)
class Break:
    """Lines that Python runs.

    Attributes:
        location: the first of them.
        reason: why they are not compiled.
    """

    location: SourceLocation
    reason: str

    def __str__(self) -> str:
        return f"{self.location}: runs in Python: {self.reason}"


class Table(Protocol):
    """The functions of a program; see `functions.Functions`."""

    options: Options
    limit: int

    def callee(self, value: Any) -> Any: ...

    def uses_torch(self, source: Source) -> bool: ...

    def differs(self, source: Source) -> bool: ...

    def may_be_users(self, call: ast.Call, source: Source, values: Mapping[str, Any]) -> bool: ...

    def leads_to(
        self, statement: ast.stmt, location: SourceLocation | None, source: Source, values: Mapping[str, Any]
    ) -> bool: ...


class Unit:
    """A function or fragment.

    Args:
        source: how it is written.
        functions: the table of all.
        group: the statements of a fragment and its variables; None of a function.
        owner: the source that a fragment is a part of.
        rejected: why a function cannot be compiled as a whole, where that is known.
    Attributes:
        parts: the fragments that it was split into.
        breaks: the lines of it that Python runs.
    """

    def __init__(
        self,
        source: Source,
        functions: Table,
        *,
        group: Group | None = None,
        owner: Source | None = None,
        rejected: SsaCompilerError | None = None,
    ) -> None:
        self.source, self.group, self._functions, self._owner = source, group, functions, owner
        self.parts: list[Unit] = []
        self.breaks: list[Break] = []
        self.reason = ""
        self._variants: dict[Any, Variant] = {}
        self._special: tuple[int, ...] = ()
        self._lock = new_lock()
        self._python: Callable[..., Any] | None = None
        self._known = rejected
        arguments = source.definition.args
        self._names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]

    # -- calls -------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._python is None:
            variant = self._variants.get(self._key(args))
            if variant is None:
                variant = self._new_variant(args, kwargs)
            if variant.program is not None and variant.misses < _MOST_MISSES:
                done, result = self._compiled(variant, args, kwargs)
                if done:
                    return result
        return self._in_python(args, kwargs)(*args, **kwargs)

    def _compiled(self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
        """Call what was compiled; returns whether it took the arguments, and the result."""
        given, paths = args, variant.paths
        if self._special or paths.reads:
            objects = self._objects(args)
            try:
                if not paths.fit(objects):
                    return False, None
                values = [read(path, objects) for path in paths.reads]
            except (KeyError, TypeError):  # an object has other attributes than before
                return False, None
            given = (*(each for number, each in enumerate(args) if number not in variant.left_out), *values)
        given += (0,) * len(variant.counted)
        try:
            result = variant.call(given, kwargs)
        except ProgramError as error:
            error.args = tuple(in_users_file(each) if isinstance(each, str) else each for each in error.args)
            error.location = located(error.location)
            raise
        except SsaCompilerError as error:  # before it ran: compiled programs check their arguments first
            if not torch.is_grad_enabled():  # else it may be that: compiled programs record no gradients
                variant.misses += 1
            _logger.debug("%s runs in Python: %s", self.source.definition.name, error)
            return False, None
        variant.misses = 0
        if not paths.writes and not variant.counted:
            return True, result
        assert self.group is not None
        names, counts = self.group.outputs, len(variant.counted)
        results = [result] if len(names) + len(paths.writes) + counts == 1 else list(result)
        before = [*(args[self._names.index(name)] if name in self._names else None for name in names)]
        before += [read(path, objects) for path in paths.writes]
        for number, count in zip(variant.counted, results[len(results) - counts :]):
            if not count:
                results[number] = before[number]
        for path, value in zip(paths.writes, results[len(names) :]):
            write(path, objects, value)
        return True, None if not names else results[0] if len(names) == 1 else tuple(results[: len(names)])

    def _objects(self, args: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self._names, args))

    def _key(self, args: Sequence[Any]) -> Any:
        """What tells variants apart: the types of the arguments, and which objects some are."""
        types_ = tuple(map(type, args))
        return (types_, *(id(args[number]) for number in self._special)) if self._special else types_

    # -- compilation -------------------------------------------------------------------------------------------------

    def _new_variant(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant:
        """Compile it for arguments like these, if that can be."""
        with self._lock:
            special = tuple(number for number, value in enumerate(args) if is_bound(value))
            if self._variants and special != self._special:
                return Variant(None)
            self._special = special
            key = self._key(args)
            if key in self._variants:
                return self._variants[key]
            if len(self._variants) >= _MOST_VARIANTS:
                return Variant(None)
            try:
                if not self._has_tensors(args, kwargs):
                    raise SsaCompilerError("there are no tensors in it")
                if self._functions.differs(self.source):
                    raise SsaCompilerError(
                        "variables that functions declare global or nonlocal, or an int as the default of a float"
                    )
                variant = self._compile(args, kwargs)
            except SsaCompilerError as error:
                self._reject(error, args, kwargs)
                variant = Variant(None)
            variant.bound = tuple(args[number] for number in special)
            self._variants[key] = variant
            return variant

    def _has_tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it may have to do with tensors: Python is right for what has not."""
        if any(isinstance(leaf, (torch.Tensor, torch.nn.Module)) for leaf in tree_leaves((args, kwargs))):
            return True
        objects = [value for value in args if not is_plain(value)]
        if any(isinstance(value, torch.Tensor) for each in objects for value in getattr(each, "__dict__", {}).values()):
            return True
        return self._functions.uses_torch(self.source)

    def _compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant:
        """Compile it for arguments like these.

        Raises:
            SsaCompilerError: it is rejected.
        """
        if self._known is not None:
            raise self._known
        names = self._names
        objects = {
            names[number]: value
            for number, value in enumerate(args[: len(names)])
            if not is_plain(value) and number not in self._special
        }
        paths = self._with_paths(objects) if objects else Paths()
        left_out = {*self._special, *map(names.index, objects)}
        place = names.index("self") if "self" in names[: len(args)] else None
        owner = args[place] if place is not None and isinstance(args[place], torch.nn.Module) else None
        bound = {names[number]: args[number] for number in self._special if number < len(names)}
        if self.group is None and any(name != "self" or owner is None for name in bound):
            raise SsaCompilerError("a module, class or function is an argument")
        function: Any = self.source.template
        counted: tuple[int, ...] = ()
        options = self._functions.options
        if self.group is not None:
            values = dict(zip(names, args))
            kept = [_annotated(name, values[name]) for name in names if name not in objects and name not in bound]
            values |= {name: read(path, objects) for path, name in paths.reads.items()}
            exact, texts = self._counted(values, paths)
            counted = tuple(number for number, _ in exact)
            options = replace(options, exact_aliases=exact)
            numbers = [f"{name}{_COUNT}" for _, name in exact]
            parts = [_annotated(name, values[name]) for name in paths.reads.values()]
            inputs = [*(["self"] if owner is not None else []), *kept, *parts, *(f"{name}: int" for name in numbers)]
            source = self._outlined(inputs, [*paths.writes.values(), *numbers], {**paths.replaced, **texts})
            if owner is not None:
                del bound["self"]
            function = instantiate(source, bound)
        if owner is not None:
            function = types.MethodType(function, owner)
        if self.group is None:
            given = args[1:] if owner is not None else args
        else:
            given = tuple(value for number, value in enumerate(args) if number not in left_out)
        read_now = tuple(read(path, objects) for path in paths.reads)
        variant = Variant(None, paths=paths, counted=counted, left_out=frozenset(left_out))
        variant.compile(function, options, self._functions.limit, (*given, *read_now, *(0 for _ in counted)), kwargs)
        return variant

    def _with_paths(self, objects: Mapping[str, Any]) -> Paths:
        """Find the attributes of objects that a fragment uses.

        Raises:
            SsaCompilerError: it uses an object otherwise.
        """
        group = self.group
        statements = self.source.definition.body if group is None else group.statements
        stored = {name for name in objects if any(name in stores_of(each) for each in statements)}
        paths = Paths.of(statements, objects)
        line = paths.bad_line or (statements[0].lineno if stored or group is None else None)
        if line is not None or (group is not None and group.tail and paths.writes):
            name = next(iter(objects))
            raise SsaCompilerError(
                f"'{name}' is a {type(objects[name]).__name__}, of which a compiled program takes attributes only",
                location=SourceLocation(self.source.file, line) if line is not None else None,
            )
        return paths

    def _counted(
        self, values: Mapping[str, Any], paths: Paths
    ) -> tuple[tuple[tuple[int, str], ...], dict[tuple[int, int, int], str]]:
        """Find the results that may be the tensors that variables came with, or new ones.

        Returns:
            Their numbers and variables, and the texts that count whether a variable is bound to another tensor.
        """
        group = self.group
        assert group is not None
        found: list[tuple[int, str]] = []
        texts: dict[tuple[int, int, int], str] = {}
        if group.tail or self.source.globals.get("torch") is not torch:
            return (), texts
        targets = [(name, name) for name in group.outputs]
        targets += [(".".join(path), name) for path, name in paths.writes.items()]
        for number, (target, name) in enumerate(targets):
            if isinstance(values.get(name), torch.Tensor) and (places := bindings_of(group.statements, target)):
                found.append((number, name))
                for place in places:
                    more = f"; {name} = {REBOUND_CALL}({name}); {name}{_COUNT} = 1"
                    texts[place] = texts.get(place, "") + more
        return tuple(found), texts

    def _outlined(
        self, inputs: Sequence[str], further: Sequence[str], texts: Mapping[tuple[int, int, int], str]
    ) -> Source:
        assert self.group is not None
        assert self._owner is not None
        outputs = [*self.group.outputs, *further]
        made = fragment_source(self._owner, self.group.statements, inputs, outputs, texts)
        if made is None:
            raise SsaCompilerError("it shares a line with other statements")
        return made

    def compiled(self) -> Iterator[tuple[str, CompiledProgram]]:
        """Iterate over what it was compiled to, with the lines."""
        source = self.source
        name = source.definition.name if self.group is None else "lines"
        lines = f"{source.file}:{source.first + (self.group is not None)}"
        for variant in self._variants.values():
            if variant.program is not None:
                yield f"{name} from {lines}" if self.group is not None else f"{name} at {lines}", variant.program

    # -- rejection ---------------------------------------------------------------------------------------------------

    def _reject(self, error: SsaCompilerError, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Split it, as it cannot be compiled for arguments like these."""
        if self._python is None:
            self.reason = in_users_file(str(error)).partition("\n")[0]
            location = located(error.location)
            if isinstance(error, ResultAliasError) and (line := self._line_of(error.result)) is not None:
                location = SourceLocation(self.source.file, line)
            first, last = self.source.first, self.source.last
            level = logging.WARNING if isinstance(error, InternalError) else logging.INFO
            _logger.log(level, "lines %d to %d of %s: %s", first, last, self.source.file, self.reason)
            self._split(location, self._objects(args))

    def _line_of(self, result: int | None) -> int | None:
        """The line that assigns a variable last; None if a result is none, or is changed otherwise."""
        if self.group is None or result is None or result >= len(self.group.outputs):
            return None
        simple = (ast.Assign, ast.AugAssign, ast.AnnAssign)
        stores = (
            node.lineno
            for statement in self.group.statements
            for node in ast.walk(statement)
            if isinstance(node, simple) and self.group.outputs[result] in stores_of(node)
        )
        return max(stores, default=None)

    def _in_python(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[..., Any]:
        """The function that Python runs."""
        if self._python is None:
            with self._lock:
                if self._python is None and not self._variants:
                    self._split(None, self._objects(args))
            if self._python is None:
                return self._plain
        return self._python

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        """The function as the user wrote it."""
        if self.group is None:
            return self.source.template
        return instantiate(self.source, {}, self.source.file)

    def _split(self, location: SourceLocation | None, values: Mapping[str, Any]) -> None:
        functions, source = self._functions, self.source
        parts: list[Unit] = []

        def make(group: Group) -> int | None:
            made = fragment_source(source, group.statements, group.inputs, group.outputs)
            if made is None:
                return None
            inner = replace(group, statements=_own(made, group))
            parts.append(Unit(made, functions, group=inner, owner=made))
            return len(parts) - 1

        split = Split(
            source,
            lambda statement: functions.leads_to(statement, location, source, values),
            lambda call: functions.may_be_users(call, source, values),
            make,
            self.group,
        )
        definition = split.run()
        bound = {FRAGMENTS: parts, CALLEE: functions.callee}
        self.parts = parts
        lines = [each.lineno for each in split.breaks] or [source.definition.body[0].lineno]
        self.breaks = [Break(SourceLocation(source.file, line), self.reason) for line in lines]
        self._python = instantiate(replace(source, definition=definition), bound, source.file)


def _annotated(name: str, value: Any) -> str:
    """A parameter that takes a value; TorchScript takes one without an annotation for a tensor."""
    return f"{name}: {type(value).__name__}" if type(value) in (bool, int, float, str) else name


def _own(made: Source, group: Group) -> list[Any]:
    """The statements of a fragment in its own tree."""
    return made.definition.body[: len(group.statements)]
