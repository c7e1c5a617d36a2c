"""What a program is about: tensors, Python's own values, or what TorchScript rejects; and what it returns of numbers,
lists and dicts.
"""

from __future__ import annotations

from random import Random

from .registry import INGREDIENTS
from .scalar_dicts import add_dict_results
from .scalar_lists import add_list_results
from .scalar_values import add_results
from .writer import Writer

__all__ = ["add_python_results", "plan"]

_PYTHON = 0.45  # the share of the programs that are about Python's own values
_UNTYPED = 0.15  # of all programs, those about what TorchScript rejects
_WANTED = {"tensors": 7, "python": 7, "untyped": 9}  # ingredients that a program is asked for
_OTHERS = 1  # ingredients of the other kind


def plan(g: Writer, seed: int) -> None:
    """Choose what the program is about and which ingredients it is asked for."""
    python = sorted(name for name, each in INGREDIENTS.items() if each.kind == "python")
    untyped = sorted(name for name, each in INGREDIENTS.items() if each.kind == "untyped")
    tensors = sorted(INGREDIENTS.keys() - {*python, *untyped})
    about = "python" if g.choice.random() < _PYTHON else "tensors"
    if Random(f"untyped {seed}").random() < _UNTYPED:
        g.mark("about.untyped")
        g.kinds |= {"untyped": 3.0, "python": 2.0}
        g.wanted = g.choice.sample(untyped, _WANTED["untyped"]) + g.choice.sample([*tensors, *python], _OTHERS)
        return
    g.mark(f"about.{about}")
    if about == "python":
        g.kinds = {"write": 1.0, "view": 0.5, "statement": 1.0, "python": 6.0}
        g.wanted = g.choice.sample(python, _WANTED["python"]) + g.choice.sample(tensors, _OTHERS)
    else:
        g.wanted = g.choice.sample(tensors, _WANTED["tensors"]) + g.choice.sample(python, _OTHERS)


def add_python_results(g: Writer) -> list[tuple[str, str]]:
    """Choose what the program returns of its Python values.

    Returns:
        Texts, each with that of the value that an early return has there.
    """
    add_results(g)
    add_list_results(g)
    add_dict_results(g)
    # An early return has a 0-d tensor in the place of a tensor of any shape.
    sums = [f"{text}.sum()" if g.returns and text.endswith(".double()") else text for text, _, _ in g.python.results]
    return [(text, early) for text, (_, early, _) in zip(sums, g.python.results)]
