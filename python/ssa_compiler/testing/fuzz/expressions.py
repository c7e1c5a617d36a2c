"""Expressions of Python's numbers, bools and strings: what the ingredients of `scalars` and the containers are made of.

Each function returns a text and whether its value is exact (see `python_scope`). Where the text is used again, names
stand for what was computed before, so that expressions stay small. An int may leave 64 bits for some input set; such a
set does not run (see `bounds`), since the compiler's ints wrap around there.
"""

from __future__ import annotations

from .python_scope import Items, Scalar, argument, literal
from .writer import Writer

__all__ = ["Expression", "boolean", "expression", "floating", "index_of", "integer", "known", "scalar", "text_value"]

Expression = tuple[str, bool]


def scalar(g: Writer, kind: str, *, exact: bool = False) -> Scalar | None:
    """A name of a kind in scope, or an argument."""
    found = g.python.find(g.choice, g.python.scalars, lambda each: each.kind == kind and (each.exact or not exact))
    if found is None or g.choice.random() < 0.35:
        return argument(g, kind) or found
    return found


def known(g: Writer, kind: str, *, exact: bool = False) -> Expression:
    """A name of a kind, or a literal where there is none."""
    found = scalar(g, kind, exact=exact)
    if found is None or g.choice.random() < 0.12:
        return (g.integer(), True) if kind == "int" else (literal(g.choice, kind), True)
    return found.text, found.exact


def expression(g: Writer, kind: str, depth: int = 1, *, exact: bool = False) -> Expression:
    """An expression of a kind.

    Args:
        g: the writer.
        kind: "int", "float", "bool" or "str".
        depth: how deep operators nest.
        exact: whether its value must not depend on rounding.
    Returns:
        Its text, and whether its value is exact.
    """
    if kind == "int":
        return integer(g, depth, exact=exact)
    if kind == "float":
        return floating(g, depth, exact=exact)
    return boolean(g, depth) if kind == "bool" else text_value(g)


def _nonzero(g: Writer, text: str) -> str:
    """A divisor: rarely one that may be 0."""
    return text if g.choice.random() < 0.1 else f"({text} | 1)"


def integer(g: Writer, depth: int = 1, *, exact: bool = False) -> Expression:
    """An int."""
    choice = g.choice
    if depth <= 0:
        return known(g, "int", exact=exact) if choice.random() < 0.75 else (literal(choice, "int"), True)
    one, first = integer(g, depth - 1, exact=exact)
    other, second = integer(g, depth - 1, exact=exact)
    small = choice.choice(["2", "3", "5", "-2", "-3", "7"])
    kind = choice.randrange(11)
    if kind == 0:
        return f"({one} + {other})", first and second
    if kind == 1:
        return f"({one} - {other})", first and second
    if kind == 2:
        return f"({one} * {small})", first
    if kind == 3:
        return f"({one} // {choice.choice([small, _nonzero(g, other)])})", first and second
    if kind == 4:
        return f"({one} % {choice.choice([small, _nonzero(g, other)])})", first and second
    if kind == 5:
        return f"({one} {choice.choice(['&', '|', '^'])} {other})", first and second
    if kind == 6:
        return f"{choice.choice(['min', 'max'])}({one}, {other})", first and second
    if kind == 7:
        condition, third = boolean(g, 0)
        return f"({one} if {condition} else {other})", first and second and third
    if kind == 8:
        return f"abs({one})" if choice.random() < 0.5 else f"(-{one})", first
    if kind == 9:
        return f"int({boolean(g, 0)[0]})", True
    return f"({one} >> {choice.choice(['1', '3', '31'])})", first


def floating(g: Writer, depth: int = 1, *, exact: bool = False) -> Expression:
    """A float."""
    choice = g.choice
    if depth <= 0:
        return known(g, "float", exact=exact) if choice.random() < 0.75 else (literal(choice, "float"), True)
    one, first = floating(g, depth - 1, exact=exact)
    other, second = floating(g, depth - 1, exact=exact)
    kind = choice.randrange(11)
    if kind <= 2:
        return f"({one} {choice.choice('+-*')} {other})", first and second
    if kind == 3:
        number, second = integer(g, depth - 1, exact=exact)
        return f"({one} {choice.choice('+-*')} {number})", first and second
    if kind == 4:
        return f"({one} / {choice.choice(['2.0', '3.0', '-0.5'])})", first
    if kind == 5:
        divisor = choice.choice(["2.0", "-1.5", "3", "0.25"])
        return f"({one} {choice.choice(['//', '%'])} {divisor})", first
    if kind == 6:
        return f"{choice.choice(['min', 'max'])}({one}, {other})", first and second
    if kind == 7:
        condition, third = boolean(g, 0)
        return f"({one} if {condition} else {other})", first and second and third
    if kind == 8:
        return f"abs({one})" if choice.random() < 0.5 else f"(-{one})", first
    if kind == 9:
        number, first = integer(g, 0, exact=exact)
        return f"float({number})", first
    return f"math.{choice.choice(['fabs', 'radians'])}({one})" if choice.random() < 0.5 else f"float({one})", first


def comparison(g: Writer) -> str:
    """`a < b` of exact numbers."""
    choice = g.choice
    operator = choice.choice(["<", "<=", ">", ">=", "==", "!="])
    kinds = choice.choice([("int", "int"), ("int", "int"), ("float", "float"), ("int", "float"), ("float", "int")])
    left, right = (known(g, kind, exact=True)[0] for kind in kinds)
    return f"{left} {operator} {right}"


def boolean(g: Writer, depth: int = 1) -> Expression:
    """A bool; what it compares is exact."""
    choice = g.choice
    if depth <= 0:
        found = g.python.find(choice, g.python.scalars, lambda each: each.kind == "bool")
        if found is not None and choice.random() < 0.3:
            return found.text, True
        return f"({comparison(g)})", True
    one, other = boolean(g, depth - 1)[0], boolean(g, depth - 1)[0]
    kind = choice.randrange(6)
    if kind == 0:
        return f"(not {one})", True
    if kind == 1:
        return f"({one} and {other})", True
    if kind == 2:
        return f"({one} or not {other})", True
    if kind == 3:
        a, b, c = (known(g, each, exact=True)[0] for each in choice.choice([("int",) * 3, ("float", "int", "float")]))
        return f"({a} <= {b} < {c})", True
    if kind == 4:
        return f"math.{choice.choice(['isnan', 'isinf', 'isfinite'])}({known(g, 'float', exact=True)[0]})", True
    return f"bool({known(g, choice.choice(['int', 'float']), exact=True)[0]})", True


def text_value(g: Writer) -> Expression:
    """A string."""
    one, other = known(g, "str")[0], literal(g.choice, "str")
    forms = [f"({one} + {other})", one, f"{one}[1:]", f"{one}[:1]", f"{one}[::-1]", f"{one}.upper()", other]
    return g.choice.choice(forms), True


def index_of(g: Writer, items: Items) -> str:
    """An index into a list that surely has elements, in range; now and then one that may not be."""
    least = items.least
    if g.choice.random() < 0.03:
        return g.choice.choice([str(least + 1), g.integer()])
    kind = g.choice.randrange(4)
    if kind == 0 or (items.growing and kind == 1):
        return str(g.choice.randrange(least))
    if kind == 1:
        return str(-1 - g.choice.randrange(least))
    if kind == 2:
        return f"{g.integer()} % {least}"
    return f"{g.integer()} % len({items.text})"
