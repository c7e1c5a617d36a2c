"""Functions of `itertools`, where what they give is read at once, and `functools.reduce`: comprehensions and loops."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import torch

from .callees import is_op
from .effects import has_effects
from .interfaces import CallEvaluator, Result
from .new_nodes import parsed_at, put_in, with_places
from .operator_calls import IS_PURE
from .rejections import NeedsKnownError, NotCompiledError
from .values import Known

__all__ = ["call"]

_MOST_ELEMENTS = 4096
_CONTAINERS = (list, tuple, range, str, dict, int, type(None), torch.nn.ModuleList, torch.nn.Sequential)


def call(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Evaluate a call of such a function; None if it is none.

    Args:
        calls: evaluates calls.
        node: the call.
        function: what is called.
    Raises:
        NotCompiledError: an iterator is a value, which can be read once, or it takes other arguments.
    """
    if function is functools.reduce:
        return _reduced(calls, node)
    if not any(function is each or function == each for each in _FUNCTIONS):
        return None
    if not hasattr(node, "is_consumed"):
        raise NotCompiledError("an iterator that is a value")
    if (known := _known(calls, node, function)) is not None:
        return known
    if any(isinstance(part, ast.Starred) for part in node.args) or any(each.arg is None for each in node.keywords):
        raise NotCompiledError("itertools with *args or **kwargs")
    return _FUNCTIONS[function](calls, node)


def _known(calls: CallEvaluator, node: ast.Call, function: Any) -> Result | None:
    """Compute what is made of nothing but what is known; None if it is made of anything else."""
    scope = calls.scope
    saved, hoisted = scope.save(), len(scope.before)
    result: Known | None = None
    with suppress(NotCompiledError, NeedsKnownError):
        arguments = calls.arguments(copy.deepcopy(node))
        given = [*arguments.positional, *arguments.named.values()]
        values = [each.value for each in given]
        if all(isinstance(value, Known) and isinstance(value.object, _CONTAINERS) for value in values):
            if not any(has_effects(scope, each.node) for each in given if each.node is not None):
                result = _computed(calls, function, arguments)
    scope.restore(saved)
    del scope.before[hoisted:]
    return None if result is None else Result(None, result)


def _computed(calls: CallEvaluator, function: Any, arguments: Any) -> Known | None:
    things = [each.value.object for each in arguments.positional]
    named = {name: each.value.object for name, each in arguments.named.items()}
    try:
        found = list(itertools.islice(function(*things, **named), _MOST_ELEMENTS + 1))
    except Exception:  # noqa: BLE001 - the program raises it, where it is evaluated
        return None
    if len(found) > _MOST_ELEMENTS:
        return None
    given = [each.value for each in (*arguments.positional, *arguments.named.values())]
    return Known(found, None, frozenset().union(*map(calls.scope.program.guards_of, given)))


# What they are in other words. ---------------------------------------------------------------------------------------


def _listed(calls: CallEvaluator, part: ast.expr, node: ast.AST) -> str:
    """Return a variable with the elements of an operand, in a list."""
    name = calls.scope.name()
    made = ast.Assign([ast.Name(name, ast.Store())], ast.Call(ast.Name("list", ast.Load()), [part], []))
    calls.scope.hoist(calls.expressions.statements.statement(with_places(made, node)), node)
    return str(name)


def _evaluated(calls: CallEvaluator, text: str, node: ast.AST) -> Result:
    (statement,) = parsed_at(text, node)
    assert isinstance(statement, ast.Expr)
    return _in_place(calls, statement.value, node)


def _in_place(calls: CallEvaluator, made: Any, node: ast.AST) -> Result:
    """Evaluate an expression where the call is."""
    if hasattr(node, "token"):
        made.token = node.token
    return calls.expressions.evaluate(made)


def _number(calls: CallEvaluator, part: ast.expr) -> int:
    """Return a number that is known.

    Raises:
        NeedsKnownError: it is dynamic.
    """
    value = calls.expressions.evaluate(copy.deepcopy(part)).value
    if not isinstance(value, Known) or not isinstance(value.object, int):
        raise NeedsKnownError("a dynamic number of elements of a tuple")
    return int(calls.scope.use(value))


def _operands(node: ast.Call, least: int, most: int, *names: str) -> dict[str, ast.expr]:
    """The keyword arguments of a call, of which the positional ones are so many.

    Raises:
        NotCompiledError: it has others.
    """
    given = {str(each.arg): each.value for each in node.keywords}
    if not least <= len(node.args) <= most or given.keys() - {*names}:
        raise NotCompiledError("itertools with other arguments")
    return given


def _product(calls: CallEvaluator, node: ast.Call) -> Result:
    given = _operands(node, 0, 16, "repeat")
    count = _number(calls, given["repeat"]) if "repeat" in given else 1
    lists = [_listed(calls, part, node) for part in node.args] * count
    names = [calls.scope.name() for _ in lists]
    if not names:
        raise NotCompiledError("a product of nothing")
    loops = " ".join(f"for {name} in {items}" for name, items in zip(names, lists))
    return _evaluated(calls, f"[({', '.join(names)},) {loops}]", node)


def _chosen(ranges: Callable[[str, Sequence[str]], str]) -> Callable[[CallEvaluator, ast.Call], Result]:
    """What evaluates a function that chooses so many elements, by their places.

    Args:
        ranges: the loop that goes through the places of an element, for those of the ones before it.
    """

    def evaluate(calls: CallEvaluator, node: ast.Call) -> Result:
        given = _operands(node, 1, 2, "r")
        part = given.get("r", node.args[1] if len(node.args) == 2 else None)
        if part is None or (count := _number(calls, part)) < 1:
            raise NotCompiledError("all permutations of a list of dynamic length")
        items = _listed(calls, node.args[0], node)
        names: list[str] = []
        loops = ""
        for _ in range(count):
            name = calls.scope.name()
            loops += f" for {name} in {ranges(items, names).replace('{}', name)}"
            names.append(name)
        parts = "".join(f"{items}[{name}], " for name in names)
        return _evaluated(calls, f"[({parts}){loops}]", node)

    return evaluate


def _after(items: str, names: Sequence[str]) -> str:
    return f"range({f'{names[-1]} + 1' if names else '0'}, len({items}))"


def _from(items: str, names: Sequence[str]) -> str:
    return f"range({names[-1] if names else '0'}, len({items}))"


def _others(items: str, names: Sequence[str]) -> str:
    test = " and ".join(f"{{}} != {name}" for name in names)
    return f"range(len({items}))" + (f" if {test}" if names else "")


def _chain(calls: CallEvaluator, node: ast.Call) -> Result:
    _operands(node, 1, 64)
    name = calls.scope.name()
    parts = [f"[{name} for {name} in {_listed(calls, part, node)}]" for part in node.args]
    return _evaluated(calls, " + ".join(parts), node)


def _flat(calls: CallEvaluator, node: ast.Call) -> Result:
    _operands(node, 1, 1)
    name, other = calls.scope.name(), calls.scope.name()
    items = _listed(calls, node.args[0], node)
    return _evaluated(calls, f"[{name} for {other} in {items} for {name} in {other}]", node)


def _pairwise(calls: CallEvaluator, node: ast.Call) -> Result:
    _operands(node, 1, 1)
    items, name = _listed(calls, node.args[0], node), calls.scope.name()
    return _evaluated(calls, f"[({items}[{name}], {items}[{name} + 1]) for {name} in range(len({items}) - 1)]", node)


def _repeat(calls: CallEvaluator, node: ast.Call) -> Result:
    given = _operands(node, 1, 2, "times")
    times = given.get("times", node.args[1] if len(node.args) == 2 else None)
    if times is None:
        raise NotCompiledError("an iterator without an end")
    name, held = calls.scope.name(), calls.expressions.named(calls.expressions.evaluate(node.args[0]), node)
    made = ast.parse(f"[{held.id} for {name} in range(_)]").body[0]
    expression = put_in(made, "_", times).value  # type: ignore[attr-defined]
    return _in_place(calls, with_places(expression, node), node)


def _islice(calls: CallEvaluator, node: ast.Call) -> Result:
    _operands(node, 2, 4)
    bounds = [_number(calls, part) for part in node.args[1:]]
    if any(bound < 0 for bound in bounds):
        raise NotCompiledError("islice() with negative numbers")
    items = _listed(calls, node.args[0], node)
    return _evaluated(calls, f"{items}[{':'.join(map(str, bounds)) if len(bounds) > 1 else f':{bounds[0]}'}]", node)


def _accumulate(calls: CallEvaluator, node: ast.Call) -> Result:
    given = _operands(node, 1, 2, "func", "initial")
    function = given.get("func", node.args[1] if len(node.args) == 2 else None)
    made, place = calls.scope.name(), calls.scope.name()
    operands: list[ast.expr] = [ast.Name("_a", ast.Load()), ast.Name("_b", ast.Load())]
    step: ast.expr = ast.BinOp(operands[0], ast.Add(), operands[1])
    if function is not None:
        if not _is_pure(calls, function):
            raise NotCompiledError("accumulate() with a function that has effects")
        step = ast.Call(function, operands, [])
    first = ast.List([given["initial"]], ast.Load()) if "initial" in given else None
    items = _listed(calls, node.args[0], node)
    text = (
        f"{made} = {'_' if first is not None else f'{items}[:1]'}\n"
        f"for {place} in range({0 if first is not None else 1}, len({items})):\n"
        f"    {made}.append(_step({made}[len({made}) - 1], {items}[{place}]))"
    )
    statements = [_with_step(each, step) for each in ast.parse(text).body]
    if first is not None:
        statements[0] = put_in(statements[0], "_", first)
    return calls.written(statements, made, node)


def _is_pure(calls: CallEvaluator, function: ast.expr) -> bool:
    """Whether a function of two operands has no effects, which would come where its results are read."""
    if isinstance(function, ast.Lambda):
        return not has_effects(calls.scope, function.body)
    value = calls.expressions.evaluate(copy.deepcopy(function)).value
    return isinstance(value, Known) and (
        value.object in (min, max) or any(value.object is each for each in IS_PURE) or is_op(value.object)
    )


def _with_step(statement: ast.stmt, step: ast.expr) -> ast.stmt:
    """A statement with an operation in the place of a call of `_step`."""

    class Put(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            self.generic_visit(node)
            if not isinstance(node.func, ast.Name) or node.func.id != "_step":
                return node
            made = put_in(put_in(ast.Expr(copy.deepcopy(step)), "_a", node.args[0]), "_b", node.args[1])
            return made.value

    made: ast.stmt = Put().visit(statement)
    return made


def _reduced(calls: CallEvaluator, node: ast.Call) -> Result:
    """`functools.reduce(f, items, first)`."""
    if node.keywords or len(node.args) not in (2, 3) or any(isinstance(each, ast.Starred) for each in node.args):
        raise NotCompiledError("reduce() with other arguments")
    function, *operands = node.args
    if any(has_effects(calls.scope, each) for each in operands):
        raise NotCompiledError("reduce() of what has effects")
    items, made, place = _listed(calls, operands[0], node), calls.scope.name(), calls.scope.name()
    empty = f"if len({items}) == 0:\n    raise TypeError('reduce() of empty iterable with no initial value')\n"
    has_first = len(operands) == 2
    text = (
        f"{'' if has_first else empty}{made} = {'_' if has_first else f'{items}[0]'}\n"
        f"for {place} in range({0 if has_first else 1}, len({items})):\n"
        f"    {made} = _step({made}, {items}[{place}])"
    )
    names: list[ast.expr] = [ast.Name("_a", ast.Load()), ast.Name("_b", ast.Load())]
    statements = [_with_step(each, ast.Call(function, names, [])) for each in ast.parse(text).body]
    if has_first:
        statements = [put_in(each, "_", operands[1]) for each in statements]
    return calls.written(statements, made, node)


def _pairs() -> Iterator[tuple[Any, Callable[[CallEvaluator, ast.Call], Result]]]:
    yield itertools.product, _product
    yield itertools.combinations, _chosen(_after)
    yield itertools.combinations_with_replacement, _chosen(_from)
    yield itertools.permutations, _chosen(_others)
    yield itertools.chain, _chain
    yield itertools.chain.from_iterable, _flat
    yield itertools.pairwise, _pairwise
    yield itertools.repeat, _repeat
    yield itertools.islice, _islice
    yield itertools.accumulate, _accumulate


_FUNCTIONS = dict(_pairs())
