"""Lists of scalars that a random program has: making one, and changing its length."""

from __future__ import annotations

from .expressions import boolean, expression
from .python_scope import Cell, Items, literal
from .writer import Writer

__all__ = ["in_this_region", "make_list", "resize"]


_TYPES = ("int", "float", "bool", "str")


def element_text(g: Writer, kind: str) -> tuple[str, bool]:
    """An expression of an element."""
    if kind == "str":
        return literal(g.choice, "str"), True
    return expression(g, kind, g.choice.choice([0, 0, 1])) if kind != "bool" else boolean(g, 0)


def make_list(g: Writer, *kinds: str, least: int = 0) -> Items:
    """A list in scope of one of some kinds, or a new one, or an argument."""
    kinds = kinds or (_TYPES if not (g.depth or g.in_helper) else _TYPES[:3])  # run-time strings are rejected
    scope = g.python
    found = scope.find(g.choice, scope.lists, lambda each: each.kind in kinds and each.least >= least)
    if found is not None and g.choice.random() < 0.6:
        return found
    kind = g.choice.choice(kinds)
    if not g.in_helper and g.choice.random() < 0.35:
        return _argument(g, kind, max(least, 2))
    name, number = g.fresh("q"), max(least, g.choice.choice([0, 2, 3, 4]))
    elements = [element_text(g, kind) for _ in range(number)]
    g.emit(f"{name}: List[{kind}] = [{', '.join(text for text, _ in elements)}]")
    items = Items(name, kind, [Cell(number, g.regions[-1], all(exact for _, exact in elements))])
    scope.lists.append(items)
    return items


def _argument(g: Writer, kind: str, least: int) -> Items:
    scope = g.python
    name = f"arg_l{sum(annotation.startswith('List') for annotation, _ in scope.arguments.values())}"
    number = max(least, g.choice.choice([2, 3, 4]))
    values = []
    for each in range(scope.sets):
        texts = [literal(g.choice, kind, boundary=0.05 if each < 2 else 0.4) for _ in range(number)]
        values.append(f"[{', '.join(texts)}]")
    if kind == "str":
        values = [values[0]] * scope.sets
    scope.arguments[name] = (f"List[{kind}]", values)
    items = Items(name, kind, [Cell(number, 0, caller_owned=True)])
    scope.lists.append(items)
    return items


def in_this_region(g: Writer, items: Items) -> bool:
    """Whether the list surely is the one object, made in this region: then its length is known."""
    return len(items.cells) == 1 and items.cells[0].region == g.regions[-1]


def resize(g: Writer, items: Items, change: int) -> bool:
    """Note that a list gets longer or shorter; False where the compiler is known to reject that."""
    if items.caller_owned and g.returns:
        return False  # the remedy before leaves it as it was
    if not in_this_region(g, items):
        if items.caller_owned or change <= 0:
            return False
        for cell in items.cells:
            cell.growing = True
        return True
    if change < 0 and items.least + change < 0:
        return False
    if change < 0 and items.growing:
        return False
    items.cells[0].least += change
    return True
