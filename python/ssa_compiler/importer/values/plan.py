"""Decisions under which a program is imported, and how an import asks for others.

What a later part of a program shows about an earlier one cannot be undone in the IR that is there already: the import
ends with `AnotherPlan`, and starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = [
    "ARENA",
    "REFERENCES",
    "SHARED",
    "UNROLLED",
    "AnotherPlan",
    "Form",
    "ImportPlan",
    "form_key",
    "forms_inside",
    "inner_place",
    "with_forms",
]

UNROLLED = "unrolled"
"""`(UNROLLED, n)` stands in the path of a place for iteration n of a loop that is written out."""

ARENA = "arena"
"""`(ARENA, name)` stands for where all objects of a class are kept, in place of a list."""

SHARED = "shared containers"
"""The decision that a container which is passed in two places is one."""


@dataclass(frozen=True)
class Form:
    """The decision that a list or dict is made in another form, as its length or its keys are dynamic.

    Attributes:
        cell: the list or dict, for all iterations of a loop that is written out.
        columns: how many lists a list of tuples or objects is; 0 for a dict, which is a list of keys and one of
            elements.
        fields: the names in the tuples, if these are named ones; the attributes of objects.
        type_name: their class.
        objects: whether the elements are objects.
        parts: whether a list of tensors is one of their rows, with the place and the number of those of each.
        numbers: what the elements are lists of, if they are no tensors: int, float or bool; the enum that they are
            members of.
        written: whether these lists are changed, so that it has to be known which they are.
    """

    cell: Any
    columns: int = 0
    fields: tuple[str, ...] = ()
    type_name: str = ""
    parts: bool = False
    numbers: type | None = None
    written: bool = False
    objects: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", form_key(self.cell))


def form_key(cell: Any) -> Any:
    """Return what stands for a list or dict in all iterations of a loop that is written out."""
    unrolled = lambda step: step[0] if isinstance(step, tuple) and step[0] == UNROLLED else step  # noqa: E731
    return tuple(map(unrolled, cell)) if isinstance(cell, tuple) else cell


def inner_place(cell: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the place at which the lists are made that a list in another form is made of."""
    return (*cell[:-1], ("form", cell[-1]))


def forms_inside(forms: Iterable[Form], cell: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Form, ...]:
    """Return the forms of the lists that a list is made of, and of those in these, for those of another list.

    Args:
        forms: the decisions.
        cell: the list.
        other: the other list.
    """
    place = form_key(inner_place(cell))
    inside = [each for each in forms if isinstance(each.cell, tuple) and each.cell[: len(place)] == place]
    return tuple(replace(each, cell=(*inner_place(other), *each.cell[len(place) :])) for each in inside)


REFERENCES = Form(("references",))
"""The decision that what control flow chooses of several lists, dicts or objects is that one itself; otherwise it is a
copy, which cannot be changed.
"""


@dataclass
class Budget:
    """How many nodes all imports of a program together may still go over; a node of a loop that is written out counts
    each time.
    """

    left: int


@dataclass(frozen=True)
class ImportPlan:
    """What one import takes for decided.

    Attributes:
        retries: keys of places where an earlier import assumed too much: a sure alias instead of a possible one, a
            larger storage, an argument taken with its whole storage.
        forms: the lists and dicts that are made in another form.
        constants: the bool, int and float arguments, by path, that are constants, with the reason.
        assigned: attributes of the module that the program binds in branches or loops.
        held: attributes of the module that are passed like arguments: lists, dicts, tuples and strings.
        inlined: whether calls of methods are inlined by TorchScript.
        static: why a size that could be dynamic is static, by its name.
        splits: whether what follows branches that cannot be joined is imported in each of them.
        opaque: whether ops that decide by dynamic scalars are left to PyTorch.
        index_checks: whether indices are checked at run time.
        kernels: whether programs of the library may use ops that only native kernels have.
        unrolls: whether loops of few iterations that build lists are written out, however large they are.
        exact_aliases: as in `ImportOptions`.
        budget: how many nodes may still be imported; None for any number.
    """

    retries: frozenset[Any] = frozenset()
    forms: frozenset[Form] = frozenset()
    constants: Mapping[str, str] = field(default_factory=dict)
    assigned: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    inlined: bool = False
    static: Mapping[str, str] = field(default_factory=dict)
    splits: bool = False
    opaque: bool = False
    index_checks: bool = True
    kernels: bool = False
    unrolls: bool = False
    exact_aliases: tuple[tuple[int, str], ...] | None = None
    budget: Budget | None = field(default=None, compare=False)


def with_forms(forms: frozenset[Form], others: Iterable[Form]) -> frozenset[Form]:
    """Return the decisions with other ones, which may say more of a list than earlier ones."""
    for form in others:
        if form.cell[0] == ARENA:  # an object of the class is an int in any list
            forms = frozenset(each for each in forms if not (each.objects and each.type_name == form.type_name))
        vague = (replace(form, written=False), replace(form, numbers=type(None)))
        forms = (forms - set(vague)) | {form}
    return forms


class AnotherPlan(Exception):
    """The import has to start again under another plan.

    Attributes:
        change: makes the other plan of the one at hand.
    """

    def __init__(self, reason: str, change: Callable[[ImportPlan], ImportPlan]) -> None:
        super().__init__(reason)
        self.change = change

    @classmethod
    def without(cls, keys: Iterable[Any]) -> AnotherPlan:
        """Ask for an import that does not assume what this one did at these places."""
        found = frozenset(keys)
        return cls(str(found), lambda plan: replace(plan, retries=plan.retries | found))

    @classmethod
    def assigning(cls, path: str) -> AnotherPlan:
        """Ask for an import that knows from the start that an attribute of the module is assigned."""
        return cls(f"{path} is assigned", lambda plan: replace(plan, assigned=(*plan.assigned, path)))

    @classmethod
    def holding(cls, path: str) -> AnotherPlan:
        """Ask for an import that has a list, dict, tuple or string of the module for an argument."""
        return cls(f"{path} is state", lambda plan: replace(plan, held=(*plan.held, path)))

    @classmethod
    def inlining(cls) -> AnotherPlan:
        """Ask for an import of graphs with their calls inlined."""
        return cls("calls are inlined", lambda plan: replace(plan, inlined=True))
