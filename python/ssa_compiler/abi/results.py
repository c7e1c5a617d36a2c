"""How the user's result is built from the results of `@main`: tensors and numbers in tuples, lists, dicts, or None.

A list, dict or object that is in several places of the result, or of what the caller's containers get, is one spec, and
is built once.
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from .generators import generator_of

__all__ = [
    "TORCH_SIZE",
    "OutputArgument",
    "OutputChoice",
    "OutputColumns",
    "OutputConstant",
    "OutputDict",
    "OutputElements",
    "OutputLeaf",
    "OutputList",
    "OutputObject",
    "OutputOptional",
    "OutputPairs",
    "OutputParts",
    "OutputRows",
    "OutputSpec",
    "OutputText",
    "OutputTuple",
    "ResultBuilder",
    "Step",
    "build_result",
    "find_argument",
    "output_leaves",
    "returns_arguments",
    "shown",
]


Step = tuple[str, Any]
"""`("item", key)` or `("attribute", name)`."""


@dataclass(frozen=True)
class OutputLeaf:
    """A result of `@main`.

    Attributes:
        index: its number.
        kind: torch.Tensor, int, float or bool; torch.Generator, of which it is the number.
        renewed: the user gets another tensor object that shows the same memory (`return x.detach()`), one for all
            leaves of this number.
        device: where eager has it, "cpu", if the program computes it elsewhere; "" otherwise.
    """

    index: int
    kind: type
    renewed: bool = False
    device: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the user gets the result of `@main` itself."""
        return not self.renewed and not self.device and self.kind is not torch.Generator


@dataclass(frozen=True)
class OutputConstant:
    """A part of the result that is known at import: None, a str, an int that does not depend on the arguments, ..."""

    value: Any


@dataclass(frozen=True)
class OutputText:
    """A string with values of the run in it.

    Attributes:
        which: what tells the strings that it may be apart.
        texts: each with its number: literal texts, and formats with what is put there.
    """

    which: OutputLeaf | OutputConstant
    texts: tuple[tuple[int, tuple[str | tuple[str, OutputSpec], ...]], ...]


@dataclass(frozen=True)
class OutputOptional:
    """None unless the bool `present` is true; then `value`, of which the results hold placeholders otherwise."""

    present: OutputLeaf
    value: OutputSpec


@dataclass(frozen=True)
class OutputTuple:
    """A tuple; `fields` are the names and `type_name` the class's qualified name if it is a named tuple or
    `TORCH_SIZE`.
    """

    elements: tuple[OutputSpec, ...]
    fields: tuple[str, ...] = ()
    type_name: str = ""


@dataclass(frozen=True)
class OutputList:
    """A list, built anew by each call."""

    elements: tuple[OutputSpec, ...]


@dataclass(frozen=True)
class OutputRows:
    """A list whose length is dynamic: the first `length` rows of a tensor, numbers unless `of_tensors`."""

    buffer: OutputLeaf
    length: OutputSpec
    of_tensors: bool


@dataclass(frozen=True)
class OutputDict:
    """A dict, built anew by each call, in this order.

    Attributes:
        items: its keys and what describes its elements.
        later: keys that are left out if their elements are None.
        ordered: whether it is an OrderedDict.
        like: where the argument is of whose class it is, as of `OutputArgument`; None for none.
    """

    items: tuple[tuple[Any, OutputSpec], ...]
    later: frozenset[str] = field(default=frozenset(), kw_only=True)
    ordered: bool = field(default=False, kw_only=True)
    like: tuple[Step, ...] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class OutputColumns:
    """A list of tuples or objects whose length is dynamic.

    Attributes:
        columns: a list for each place in the tuples, or for each attribute.
        fields, type_name: names as of `OutputTuple`.
        element: what each of the objects is, whose results are what the columns have in its place; None for tuples.
    """

    columns: tuple[OutputSpec, ...]
    fields: tuple[str, ...] = ()
    type_name: str = ""
    element: OutputSpec | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class OutputParts(OutputColumns):
    """A list of tensors of different lengths: a tensor of the rows of all, and lists of where those of each begin, and
    of how many there are.

    Attributes:
        of_tensors: whether its elements are tensors; lists of numbers otherwise.
    """

    of_tensors: bool = field(default=True, kw_only=True)


@dataclass(frozen=True)
class OutputElements:
    """One of a list of objects, or a list of several of them: the same object for the same index.

    Attributes:
        objects: the list.
        indices: an index, or a list of them.
    """

    objects: OutputColumns
    indices: OutputSpec


@dataclass(frozen=True)
class OutputPairs:
    """A dict whose keys are dynamic: a list of these, and a list of its elements; `ordered` and `like` as of
    `OutputDict`.
    """

    keys: OutputSpec
    elements: OutputSpec
    ordered: bool = False
    like: tuple[Step, ...] | None = None


@dataclass(frozen=True)
class OutputObject(OutputDict):
    """An object of the class `kind`, built anew by each call; the items are its attributes."""

    kind: type = object


@dataclass(frozen=True)
class OutputChoice(OutputDict):
    """One of several values, by the number that the first item is; `numbers` are those of the others."""

    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class OutputArgument:
    """A list, dict or object of the caller's: the position of the argument that it is, or is in, and the steps to
    it.
    """

    route: tuple[Step, ...]


OutputSpec = (
    OutputArgument
    | OutputLeaf
    | OutputConstant
    | OutputOptional
    | OutputText
    | OutputTuple
    | OutputList
    | OutputRows
    | OutputPairs
    | OutputColumns
    | OutputElements
    | OutputDict
)


TORCH_SIZE = "torch.Size"
"""The class of shapes, which are lists to TorchScript."""

_named_tuples: dict[tuple[str, tuple[str, ...]], Callable[..., Any]] = {}


def build_result(spec: OutputSpec, results: Sequence[Any]) -> Any:
    """Rebuild the user's result, which holds no container of the caller's.

    Args:
        spec: `ImportedProgram.results`.
        results: the results of `@main`, in order.
    Returns:
        Tensors, scalars, tuples, lists and dicts nested as the user's function nests them.
    """
    return ResultBuilder(results).build(spec)


def find_argument(route: Sequence[Step], values: Sequence[Any]) -> Any:
    """Return an argument, or what is in it.

    Args:
        route: the position of the argument, and the steps that lead from it: `("item", key)` or `("attribute", name)`.
        values: the values of the user's parameters.
    """
    found: Any = values
    for kind, name in route:
        found = found[name] if kind == "item" else getattr(found, name)
    return found


class ResultBuilder:
    """Builds what one call returns and what the caller's containers get.

    Args:
        results: the results of `@main`, in order.
        values: the values of the user's parameters; what is built may hold containers of theirs.
    """

    def __init__(self, results: Sequence[Any], values: Sequence[Any] = ()) -> None:
        self._results, self._values = results, values
        self._renewed: dict[OutputLeaf, torch.Tensor] = {}
        self._made: dict[int, Any] = {}

    def build(self, spec: OutputSpec) -> Any:
        """Build a result, or a part of one."""
        if isinstance(spec, OutputLeaf):
            return self._leaf(spec)
        if isinstance(spec, OutputConstant):
            return spec.value
        if isinstance(spec, OutputArgument):
            return find_argument(spec.route, self._values)
        if isinstance(spec, OutputOptional):
            return self.build(spec.value) if self._results[spec.present.index] else None
        if isinstance(spec, OutputText):
            pieces = dict(spec.texts)[self.build(spec.which)]
            return "".join(
                piece if isinstance(piece, str) else shown(piece[0], self.build(piece[1])) for piece in pieces
            )
        if isinstance(spec, OutputTuple):
            return _tuple(spec, tuple(map(self.build, spec.elements)))
        if isinstance(spec, OutputChoice):
            (_, number), *values = spec.items
            return self.build(values[spec.numbers.index(self.build(number))][1])
        if id(spec) not in self._made:
            self._made[id(spec)] = self._container(spec)
        return self._made[id(spec)]

    def _leaf(self, spec: OutputLeaf) -> Any:
        if spec.is_plain:
            return self._results[spec.index]
        if spec.kind is torch.Generator:
            return generator_of(self._results[spec.index])
        if spec not in self._renewed:
            result = self._results[spec.index]
            self._renewed[spec] = result.to(spec.device) if spec.device else result.detach()
        return self._renewed[spec]

    def _container(
        self, spec: OutputList | OutputRows | OutputPairs | OutputColumns | OutputElements | OutputDict
    ) -> Any:
        if isinstance(spec, OutputElements):
            objects, indices = self.build(spec.objects), self.build(spec.indices)
            return [objects[index] for index in indices] if isinstance(indices, list) else objects[indices]
        if isinstance(spec, OutputParts):
            rows, *bounds = map(self.build, spec.columns)
            parts = [rows[start : start + count] for start, count in zip(*bounds, strict=True)]
            return [part.clone() if spec.of_tensors else part.tolist() for part in parts]
        if isinstance(spec, OutputColumns):
            rows = zip(*map(self.build, spec.columns), strict=True)
            if spec.element is not None:
                return [ResultBuilder(row).build(spec.element) for row in rows]
            return [_tuple(OutputTuple((), spec.fields, spec.type_name), row) for row in rows]
        if isinstance(spec, OutputPairs):
            return self._dict(spec, dict(zip(self.build(spec.keys), self.build(spec.elements), strict=True)))
        if isinstance(spec, OutputList):
            return [self.build(element) for element in spec.elements]
        if isinstance(spec, OutputObject):
            made: Any = object.__new__(spec.kind)
            for key, element in spec.items:
                object.__setattr__(made, key, self.build(element))  # the class may be frozen
            return made
        if isinstance(spec, OutputDict):
            made = {key: self.build(element) for key, element in spec.items}
            there = {key: value for key, value in made.items() if value is not None or key not in spec.later}
            return self._dict(spec, there)
        rows = self._results[spec.buffer.index][: self.build(spec.length)]
        return [row.clone() for row in rows] if spec.of_tensors else rows.tolist()

    def _dict(self, spec: OutputDict | OutputPairs, items: dict[Any, Any]) -> dict[Any, Any]:
        """Give a dict its class."""
        if spec.like is None:
            return collections.OrderedDict(items) if spec.ordered else items
        argument = find_argument(spec.like, self._values)
        if type(argument) is dict:
            return items
        made = argument.copy()  # a subclass may need more than the items
        made.clear()
        made.update(items)
        return made


def _tuple(spec: OutputTuple, elements: tuple[Any, ...]) -> Any:
    if not spec.fields:
        return torch.Size(elements) if spec.type_name == TORCH_SIZE else elements
    key = (spec.type_name, spec.fields)
    if key not in _named_tuples:
        _named_tuples[key] = _named_tuple_class(*key)
    return _named_tuples[key](*elements)


def shown(form: str, value: Any) -> str:
    """Return the text of a value, by a format as of `%` or of `str.format`."""
    return str(form % (value,)) if form.startswith("%") else form.format(value)


def returns_arguments(spec: OutputSpec) -> bool:
    """Whether a result is, or holds, a container of the caller's.

    Args:
        spec: `ImportedProgram.results`.
    """
    if isinstance(spec, OutputOptional):
        return returns_arguments(spec.value)
    if isinstance(spec, OutputDict):
        return spec.like is not None or any(returns_arguments(element) for _, element in spec.items)
    if isinstance(spec, (OutputList, OutputTuple)):
        return any(map(returns_arguments, spec.elements))
    if isinstance(spec, OutputColumns):
        return any(map(returns_arguments, spec.columns))
    if isinstance(spec, OutputPairs):
        return spec.like is not None or returns_arguments(spec.elements)
    if isinstance(spec, OutputElements):
        return returns_arguments(spec.objects)
    return isinstance(spec, OutputArgument)


def output_leaves(spec: OutputSpec) -> Iterator[OutputLeaf]:
    """Iterate over the leaves of a result.

    Args:
        spec: `ImportedProgram.results`.
    """
    if isinstance(spec, OutputLeaf):
        yield spec
    elif isinstance(spec, OutputOptional):
        yield from (spec.present, *output_leaves(spec.value))
    elif isinstance(spec, OutputText):
        yield from output_leaves(spec.which)
        for piece in (piece for _, text in spec.texts for piece in text if not isinstance(piece, str)):
            yield from output_leaves(piece[1])
    elif isinstance(spec, OutputRows):
        yield from (spec.buffer, *output_leaves(spec.length))
    elif isinstance(spec, OutputColumns):
        for column in spec.columns:
            yield from output_leaves(column)
    elif isinstance(spec, OutputPairs):
        yield from (*output_leaves(spec.keys), *output_leaves(spec.elements))
    elif isinstance(spec, OutputElements):
        yield from (*output_leaves(spec.objects), *output_leaves(spec.indices))
    elif isinstance(spec, OutputDict):
        for _, element in spec.items:
            yield from output_leaves(element)
    elif not isinstance(spec, (OutputArgument, OutputConstant)):
        for element in spec.elements:
            yield from output_leaves(element)


def _named_tuple_class(qualified: str, fields: tuple[str, ...]) -> Callable[..., Any]:
    """Return the user's class where it is found under its name, or PyTorch's for an op, otherwise one like it."""
    module, _, name = qualified.rpartition(".")
    found = getattr(sys.modules.get(module or "__main__"), name, None)
    if module == torch.return_types.__name__ and isinstance(found, type):
        made = found  # it takes its elements as one sequence
        return lambda *elements: made(elements)
    if isinstance(found, type) and issubclass(found, tuple) and getattr(found, "_fields", None) == fields:
        return found
    return collections.namedtuple(name or "Result", fields)
