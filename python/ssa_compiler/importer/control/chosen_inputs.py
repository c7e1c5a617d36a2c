"""Nodes with an input that is one of several values, which control flow chose: imported once for each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..containers.classes import compare_enums
from ..values.chosen_members import alternatives, numbered
from ..values.chosen_strings import ChosenStr, literals
from ..values.values import ChosenRef, ConstValue, ListRef, MemberValue, OptionalValue, Value
from .operators import Operators

__all__ = ["ChosenInputs"]

_PASSING_ON = frozenset(
    f"prim::{kind}"
    for kind in (
        *("If", "Loop", "CallFunction", "TupleConstruct", "ListConstruct", "DictConstruct"),
        *("unchecked_cast", "unchecked_unwrap_optional"),
    )
)
_OF_THE_FIRST = frozenset({"prim::CallMethod", "prim::SetAttr", "aten::append", "aten::_set_item", "aten::insert"})
"""What takes one of several containers for what it is, and what does so but for its first input."""
_MAKES_A_LIST = frozenset({"aten::add", "aten::copy", "aten::list", "aten::mul", "aten::slice"})
_KEEPING = {"aten::append": (), "aten::insert": (), "aten::_set_item": (1,)}
"""The inputs that are read as strings, of what keeps the others."""
_COMPARING = frozenset({"aten::eq", "aten::ne", "aten::__is__", "aten::__isnot__"})
_MOST_TEXTS = 16
"""So many strings are told apart, where several inputs are one of several."""


class ChosenInputs(Operators):
    """Imports a node in one branch for each of the values that an input may be."""

    def _one_node(self, node: Any, kind: str) -> list[Value]:
        inputs = list(node.inputs())
        if kind in _PASSING_ON:
            return super()._node(node)
        environment = self._environments[-1]
        for name in (value.debugName() for value in inputs[: 1 if kind in _OF_THE_FIRST else None]):
            found = environment.get(name)
            if isinstance(found, ChosenRef):
                number = self.state.heap.number
                results = self._for_each(
                    node, name, found.number, [(number(each.cell), each) for each in found.choices]
                )
                for result in results if kind in _MAKES_A_LIST else ():
                    self.state.heap.frozen.discard(getattr(result, "cell", ()))  # each branch has made one of its own
                return results
        if (found_members := self._of_member(node, kind, inputs)) is not None:
            return found_members
        if kind.startswith("aten::"):
            read = [inputs[place] for place in _KEEPING.get(kind, range(len(inputs)))]
            texts = {value.debugName(): self._literals(environment.get(value.debugName())) for value in read}
            texts = {name: found for name, found in texts.items() if found}
            if texts and math.prod(map(len, texts.values())) <= _MOST_TEXTS:
                name, choices = next(iter(texts.items()))
                chosen = environment[name]
                assert isinstance(chosen, ChosenStr)
                return self._for_each(node, name, chosen.parts[0], choices)
        return super()._node(node)

    def _of_member(self, node: Any, kind: str, inputs: list[Any]) -> list[Value] | None:
        """Import a node that reads a member of an enum which control flow chose; None if it reads none."""
        environment = self._environments[-1]
        values = [environment.get(each.debugName()) for each in inputs]
        if kind in _KEEPING or not any(isinstance(value, MemberValue) for value in values):
            return None
        if kind in _COMPARING:
            if any(isinstance(each, OptionalValue) or each is None for each in values):
                return None
            compared = compare_enums(kind, [each for each in values if each is not None], self.scalars)
            if compared is not None:
                return [compared]
        elif not kind.startswith(("aten::", "prim::Enum", "prim::Print")) or isinstance(values[0], ListRef):
            return None
        place = next(place for place, value in enumerate(values) if isinstance(value, MemberValue))
        chosen = values[place]
        assert isinstance(chosen, MemberValue)
        if kind == "prim::EnumValue" and (number := numbered(self.scalars, chosen)) is not None:
            return [number]
        return self._for_each(node, inputs[place].debugName(), chosen.number, alternatives(chosen.kind))

    def _literals(self, value: Value | None) -> list[tuple[int, ConstValue]]:
        """The strings that one that control flow chose may be, if none depends on values."""
        return literals(self.state, value) if isinstance(value, ChosenStr) else []

    def _for_each(self, node: Any, name: str, which: Value, choices: Sequence[tuple[int, Value]]) -> list[Value]:
        """Import a node once for each of several values that one of its inputs may be.

        Args:
            node: the node.
            name: the name of the input.
            which: a dynamic int that says which it is.
            choices: the values, each with its number.
        """
        environment, ((number, first), *others) = self._environments[-1], choices
        known = {name: first}
        if isinstance(first, ConstValue):  # `part in text` is `text.find(part, 0, len(text))`
            known |= {length: ConstValue(len(first.value)) for length in _lengths_of(node, name)}
        before = {each: environment[each] for each in known}

        def run() -> list[Value]:
            environment.update(known)
            try:
                return self._node(node)
            finally:
                environment.update(before)

        if not others:
            return run()
        rest: Callable[[], list[Value]] = lambda: self._for_each(node, name, which, others)  # noqa: E731
        matches = self.scalars.emit("eq", [which, ConstValue(number)])
        if isinstance(matches, ConstValue):
            return run() if matches.value else rest()
        return self.control.choose(matches, run, rest)


def _lengths_of(node: Any, name: str) -> list[str]:
    """The inputs of a node that are the length of another one."""
    makers = [(value.debugName(), value.node()) for value in node.inputs()]
    return [
        each
        for each, maker in makers
        if maker.kind() == "aten::len" and [of.debugName() for of in maker.inputs()] == [name]
    ]
