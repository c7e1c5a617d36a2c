"""What a prim::Loop goes through, and how often it runs at most, where its condition says so: TorchScript gives a for
loop with a `break`, or a `while`, no number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..containers.later_keys import Visit
from ..values.values import Value

__all__ = ["Iteration", "Trips", "counted_up_to", "most_iterations"]


@dataclass(frozen=True)
class Trips:
    """How often a loop runs.

    Attributes:
        limit: after how many iterations it ends, whatever its condition says.
        most: the largest number of iterations that there can be, as the condition counts them, too.
        condition: whether there is a first one.
    """

    limit: Value
    most: Value
    condition: Value


@dataclass(frozen=True)
class Iteration:
    """How a for loop goes through lists, of which Python looks at each iteration how long they are.

    Attributes:
        check: called at the end of an iteration with whether there may be another one, None at the end of the loop.
        length: how often the loop runs at most, if that is the length of a list known at import.
        visits: the keys of the dict that it goes through, if run-time values decide which of them there are.
        counters: the places of what it carries that counts the iterations.
        numbers: whether all these lists hold numbers, which a loop reads as well as what is written out.
    """

    check: Callable[[Value | None], None]
    length: int | None = None
    visits: Sequence[Visit] | None = None
    counters: Sequence[int] = ()
    numbers: bool = False


def counted_up_to(node: Any) -> tuple[Any, list[int]]:
    """The number that a prim::Loop with a condition counts up to from 0, as a for loop with a break does, if it is one,
    and the places of what it carries that counts.

    `while items:` asks the list itself, each time.
    """
    _, condition, *initial = node.inputs()
    (body,) = node.blocks()
    going_on = next(body.outputs()).node()
    below = next(going_on.inputs(), None) if going_on.kind() == "aten::__and__" else None
    if below is None or below.node().kind() != "aten::lt":
        return None, []
    following, bound = below.node().inputs()
    first = condition.node()
    if first.kind() == "aten::gt":
        asked = next(first.inputs()) == bound
    else:
        asked = condition.toIValue() is True and bound.node().kind() == "prim::Constant"
    if not asked or following.node().kind() != "aten::add":
        return None, []
    counter, step = following.node().inputs()
    places = [place for place, value in enumerate(list(body.inputs())[1:]) if value == counter]
    numbers = [value.toIValue() for value in (step, *(initial[place] for place in places))]
    ends = [list(body.outputs())[place + 1] for place in places]
    return (bound, places) if numbers == [1, 0] and ends == [following] else (None, [])


def most_iterations(node: Any) -> Any:
    """The number that bounds the iterations of a prim::Loop, if its condition compares a counter with one.

    The counter begins at a constant that is not negative, grows by at least 1 in each iteration, and has to be less
    than a number from outside the loop, also for the first iteration: `while i < n and ...`. A `while True` asks
    nothing before that.
    """
    _, condition, *initial = node.inputs()
    (body,) = node.blocks()
    going_on, *final = body.outputs()
    asked = [(_constant(small), large) for small, large in _comparisons(condition)]
    for following, bound in _comparisons(going_on):
        if str(bound.type()) != "int" or following not in final:
            continue
        place = final.index(following)
        begin, counter = _constant(initial[place]), list(body.inputs())[1 + place]
        if begin is None or begin < 0 or not _is_larger(following, counter):
            continue
        # TorchScript has found that one constant is less than another where it asks nothing.
        known = bound.toIValue() if condition.toIValue() is True else None
        if (begin, bound) in asked or (isinstance(known, int) and begin < known):
            return bound
    return None


def _comparisons(condition: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of numbers of which the first has to be less than the second for a condition to hold."""
    made = condition.node()
    if made.kind() in ("aten::lt", "aten::gt"):
        pair = tuple(made.inputs())
        yield pair if made.kind() == "aten::lt" else pair[::-1]
    elif made.kind() == "aten::__and__":
        for each in made.inputs():
            yield from _comparisons(each)
    elif made.kind() == "prim::If":
        chosen, other = (list(block.outputs()) for block in made.blocks())
        place = list(made.outputs()).index(condition)
        if other[place].toIValue() is False:  # `a and b`
            yield from _comparisons(made.input())
            yield from _comparisons(chosen[place])


def _is_larger(value: Any, than: Any) -> bool:
    """Whether an int is another one and a positive constant, or one of several on each way through branches."""
    made = value.node()
    if made.kind() == "prim::If":
        place = list(made.outputs()).index(value)
        return all(_is_larger(list(block.outputs())[place], than) for block in made.blocks())
    if made.kind() != "aten::add":
        return False
    first, second = made.inputs()
    return any(
        one == than and step is not None and step > 0
        for one, step in ((first, _constant(second)), (second, _constant(first)))
    )


def _constant(value: Any) -> int | None:
    """The int that is known of a value, also where TorchScript is kept from seeing it: `[0][0]`."""
    made = value.node()
    if made.kind() == "aten::__getitem__":
        sequence = next(made.inputs())
        elements = list(sequence.node().inputs()) if sequence.node().kind() == "prim::ListConstruct" else []
        if len(elements) != 1 or len(sequence.uses()) != 1:
            return None
        value = elements[0]
    known = value.toIValue()
    return known if isinstance(known, int) and not isinstance(known, bool) else None
