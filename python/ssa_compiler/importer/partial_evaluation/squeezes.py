"""`x.squeeze()` of sizes that decide, when the program runs, how many dimensions the result has: a branch on each."""

from __future__ import annotations

import ast

from .interfaces import Arguments, CallEvaluator, Result
from .values import Known, TensorValue, Value

__all__ = ["squeezed"]


def squeezed(calls: CallEvaluator, node: ast.Call, operand: ast.expr, value: Value) -> Result | None:
    """Evaluate `x.squeeze()` or `torch.squeeze(x)`, with dimensions that are known; None if it is left as it is.

    Args:
        calls: evaluates calls.
        node: the call.
        operand: the tensor; the arguments of the call are others.
        value: what is known of it.
    """
    program = calls.scope.program
    if not isinstance(value, TensorValue) or not value.rank:
        return None
    program.has_squeezes = True
    if not program.squeezes:
        return None
    dims = _dims(calls.arguments(node), value.rank)
    if dims is None:
        return None
    name, whole = calls.scope.name(), calls.scope.name()
    text = f"{whole} = _\n{name} = {whole}.view({whole}.size())"  # another tensor object, whatever the sizes are
    for dim in sorted(dims, reverse=True):
        text += f"\nif {whole}.size({dim}) == 1:\n    {name} = {name}.select({dim}, 0)"
    first, *rest = ast.parse(text).body
    assert isinstance(first, ast.Assign)
    first.value = operand
    return calls.written([first, *rest], name, node)


def _dims(arguments: Arguments, rank: int) -> set[int] | None:
    """The dimensions that are left out where their size is 1; None if they are not known."""
    given = [*arguments.positional, *arguments.named.values()]
    if not given:
        return set(range(rank))
    if len(given) > 1 or arguments.named.keys() - {"dim"}:
        return None
    value = given[0].value
    thing = value.object if isinstance(value, Known) else None
    dims = thing if isinstance(thing, (list, tuple)) else [thing]
    if not all(type(dim) is int and -rank <= dim < rank for dim in dims):
        return None
    made = {dim % rank for dim in dims if dim is not None}
    return made if len(made) == len(dims) else None
