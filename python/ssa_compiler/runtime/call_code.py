"""Python code for both ends of a call, written for one calling convention.

To walk the specs of arguments and results costs more than a small program. The code does what the walk does for
arguments as the program takes them; for all others the walk says what is wrong with them.
"""

from __future__ import annotations

import enum
import keyword
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import torch

from ..abi.argument_specs import ConstantSpec, DictSpec, ListSpec, ObjectSpec, ScalarSpec, SequenceSpec, TensorSpec
from ..abi.enum_members import member_number
from ..abi.generators import number_of
from ..abi.results import (
    OutputConstant,
    OutputDict,
    OutputLeaf,
    OutputList,
    OutputOptional,
    OutputSpec,
    OutputTuple,
    ResultBuilder,
)

if TYPE_CHECKING:
    from ..abi import ImportedProgram
    from ..abi.argument_specs import InputSpec

__all__ = ["argument_reader", "result_builder"]

_MOST_LEAVES = 256
"""Python compiles code for more for longer than it saves."""


class _Code:
    """A function that is being written.

    Attributes:
        lines: its body.
        names: the values that it refers to by name.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}

    def name_of(self, value: Any) -> str:
        """Return a name for a value."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def function(self, parameters: str) -> Callable[..., Any]:
        """Return the function."""
        text = f"def made({parameters}):\n" + "".join(f"    {line}\n" for line in self.lines)
        exec(compile(text, "<call>", "exec"), self.names)
        made: Callable[..., Any] = self.names["made"]
        return made


# -- arguments -------------------------------------------------------------------------------------------------------


def argument_reader(
    imported: ImportedProgram,
) -> Callable[[Sequence[Any]], tuple[list[Any], Sequence[Any]] | None] | None:
    """Write what `flatten_arguments` does for arguments by position.

    Args:
        imported: the calling convention.
    Returns:
        A function of the positional arguments, of which those with defaults may be left out at the end. It returns the
        arguments of `@main` but for attributes and parameters, and what `ImportedProgram.bind` returns; None if the
        arguments may not be as the program takes them. There is no function where the convention needs the walk.
    """
    count = len(imported.arguments)
    if imported.signature is not None or any(argument.keyword_only for argument in imported.arguments):
        return None
    code = _Code()
    code.names["Tensor"] = torch.Tensor
    reader = _Reader(code)
    first = next((n for n in range(count, 0, -1) if not imported.arguments[n - 1].has_default), 0)
    defaults = code.name_of(tuple(argument.default for argument in imported.arguments[first:]))
    code.lines += [
        f"if len(args) != {count}:",
        f"    if not {first} <= len(args) < {count}: return None",
        f"    args = (*args, *{defaults}[len(args) - {first}:])",
    ]
    values = [reader.new() for _ in imported.specs]
    if count:
        code.lines.append(f"{', '.join(values[:count])}, = args")
    for value, container in zip(values[count:], imported.held):
        code.lines.append(f"{value} = {code.name_of(container.current)}()")
    if not all(reader.read(spec, value) for spec, value in zip(imported.specs, values, strict=True)):
        return None
    if len(reader.leaves) > _MOST_LEAVES:
        return None
    code.lines.append(f"return [{', '.join(reader.leaves)}], ({''.join(f'{value}, ' for value in values)})")
    return code.function("args")


class _Reader:
    """Writes the code that reads the arguments.

    Args:
        code: the function.
    Attributes:
        leaves: the variables that hold what becomes arguments of `@main`, in order.
    """

    def __init__(self, code: _Code) -> None:
        self.leaves: list[str] = []
        self._code, self._count = code, 0

    def new(self) -> str:
        """Return a new variable."""
        self._count += 1
        return f"v{self._count}"

    def read(self, spec: InputSpec, value: str) -> bool:
        """Write the code for an argument, or a part of one, in a variable; returns whether there is such."""
        if isinstance(spec, TensorSpec):
            self._unless(f"isinstance({value}, Tensor)")
            self.leaves.append(value)
        elif isinstance(spec, ScalarSpec):
            self._unless(f"type({value}) is {self._code.name_of(spec.kind)}")
            if spec.kind is int:
                self._unless(f"{-(2**63)} <= {value} < {2**63}")
            is_member, is_generator = issubclass(spec.kind, enum.Enum), spec.kind is torch.Generator
            number: Any = member_number if is_member else number_of if is_generator else None
            self.leaves.append(value if number is None else f"{self._code.name_of(number)}({value})")
        elif isinstance(spec, ConstantSpec):
            self._constant(spec.value, value)
        elif isinstance(spec, DictSpec):
            return self._named(spec, value)
        elif isinstance(spec, (SequenceSpec, ListSpec)):
            kind = "tuple" if isinstance(spec, SequenceSpec) else "list"
            self._unless(f"isinstance({value}, {kind}) and len({value}) == {len(spec.elements)}")
            parts = [self.new() for _ in spec.elements]
            if parts:
                self._code.lines.append(f"{', '.join(parts)}, = {value}")
            return all(map(self.read, spec.elements, parts))
        else:
            return False
        return True

    def _named(self, spec: DictSpec, value: str) -> bool:
        names, parts = [name for name, _ in spec.items], [self.new() for _ in spec.items]
        if not all(type(name) is str for name in names):
            return False
        if isinstance(spec, ObjectSpec):
            if not all(name.isidentifier() and not keyword.iskeyword(name) for name in names):
                return False
            self._unless(f"type({value}) is {self._code.name_of(spec.kind)}")
            self._code.lines += [f"{part} = {value}.{name}" for name, part in zip(names, parts)]
        else:
            self._unless(f"type({value}) is dict and [*{value}] == {self._code.name_of(names)}")
            # Enumerators may be equal to the names.
            self._unless(f"[*map(type, {value})] == {self._code.name_of([str] * len(names))}")
            if parts:
                self._code.lines.append(f"{', '.join(parts)}, = {value}.values()")
        return all(self.read(element, part) for (_, element), part in zip(spec.items, parts))

    def _constant(self, expected: Any, value: str) -> None:
        name = self._code.name_of(expected)
        if type(expected) in (int, str):
            self._unless(f"type({value}) is {type(expected).__name__} and {value} == {name}")
        else:  # another object may be equal, too
            self._unless(f"{value} is {name}")

    def _unless(self, condition: str) -> None:
        self._code.lines.append(f"if not ({condition}): return None")


# -- results ---------------------------------------------------------------------------------------------------------


def result_builder(spec: OutputSpec) -> Callable[[Sequence[Any], Sequence[Any]], Any]:
    """Write what `ResultBuilder.build` does for one spec.

    Args:
        spec: `ImportedProgram.results`.
    Returns:
        A function of the results of `@main` and of the values of the user's parameters, which builds the user's result.
    """
    counts = Counter(map(id, _parts(spec)))
    if sum(counts.values()) > _MOST_LEAVES:
        return lambda results, values: ResultBuilder(results, values).build(spec)
    code = _Code()
    code.names["Builder"] = ResultBuilder
    writer = _Writer(code, counts)
    text = writer.built(spec)
    if writer.walks:
        code.lines.append("b = Builder(r, values)")
    code.lines.append(f"return {text}")
    return code.function("r, values")


class _Writer:
    """Writes the expression that builds a result.

    Args:
        code: the function.
        counts: how often each spec is there, by its id: a container that is in several places is built once.
    Attributes:
        walks: whether a part of it is left to the builder.
    """

    def __init__(self, code: _Code, counts: Counter[int]) -> None:
        self.walks = False
        self._code, self._counts = code, counts

    def built(self, spec: OutputSpec) -> str:
        """Return the expression for a result, or a part of one."""
        if isinstance(spec, OutputLeaf) and spec.is_plain:
            return f"r[{spec.index}]"
        if isinstance(spec, OutputConstant):
            return self._code.name_of(spec.value)
        if isinstance(spec, OutputOptional) and spec.present.is_plain:
            return f"({self.built(spec.value)} if r[{spec.present.index}] else None)"
        if isinstance(spec, OutputTuple) and not spec.fields and not spec.type_name:
            return f"({''.join(f'{self.built(element)}, ' for element in spec.elements)})"
        if self._counts[id(spec)] == 1:
            if isinstance(spec, OutputList):
                return f"[{', '.join(map(self.built, spec.elements))}]"
            if type(spec) is OutputDict and not (spec.later or spec.ordered or spec.like):
                items = (f"{self._code.name_of(key)}: {self.built(element)}" for key, element in spec.items)
                return f"{{{', '.join(items)}}}"
        self.walks = True
        return f"b.build({self._code.name_of(spec)})"


def _parts(spec: Any) -> list[Any]:
    """Return a spec and all in it, each as often as it is there."""
    found, pending = [], [spec]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending += part
        elif is_dataclass(part) and not isinstance(part, (OutputConstant, type)):
            found.append(part)
            pending += [getattr(part, each.name) for each in fields(part)]
    return found
