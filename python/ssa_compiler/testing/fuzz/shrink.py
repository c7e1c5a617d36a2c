"""Makes a failing program smaller while it fails in the same way.

Works on Python's own syntax tree, so that any program file can be shrunk: statements are dropped, regions replaced by
their bodies, expressions by their parts, and results, arguments, input sets and functions left out. Every candidate
that still fails alike is kept, until none of the steps helps.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

__all__ = ["shrink"]

Blocks = list[list[ast.stmt]]


def shrink(text: str, fails: Callable[[str], bool], *, most: int = 1500) -> str:
    """Reduce a program.

    Args:
        text: a program that fails.
        fails: whether a program fails in the same way.
        most: number of candidates to try.
    Returns:
        The smallest program found; `text` in the layout of `ast.unparse` if nothing could be left out.
    """
    state = _State(ast.parse(text), fails, most)
    steps = (_sets, _statements, _unwrap, _results, _parameters, _expressions)
    while state.left > 0:
        before = state.text
        for step in steps:
            step(state)
        if state.text == before:
            break
    return state.text


class _State:
    """The smallest failing program so far."""

    def __init__(self, tree: ast.Module, fails: Callable[[str], bool], most: int) -> None:
        self.tree = tree
        self.text = ast.unparse(tree) + "\n"
        self.left = most
        self._fails = fails
        self._tried: set[str] = {self.text}

    def attempt(self, change: Callable[[ast.Module], bool]) -> bool:
        """Change a copy of the program; keep it if it still fails.

        Args:
            change: changes the tree; returns whether it found something to change.
        """
        if self.left <= 0:
            return False
        tree = copy.deepcopy(self.tree)
        if not change(tree):
            return False
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        if text in self._tried:
            return False
        self._tried.add(text)
        self.left -= 1
        if not self._fails(text):
            return False
        self.tree, self.text = ast.parse(text), text
        return True


# --- where things are -------------------------------------------------------------------------------------------------


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (each for each in node.body if isinstance(each, ast.FunctionDef))


def _main(tree: ast.Module) -> ast.FunctionDef | None:
    return next((each for each in _functions(tree) if each.name in ("program", "forward")), None)


def _blocks(tree: ast.Module) -> Blocks:
    """Every list of statements inside functions, and those of the file and its classes, outer ones first."""
    found: Blocks = [tree.body]
    for node in ast.walk(tree):
        if node is tree:
            continue
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                found.append(block)
    return found


def _keeps_going(node: ast.stmt) -> bool:
    """Whether a loop may never end without a statement: the counter's step and the check of `while True`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id.startswith("w")
    if isinstance(node, ast.If) and any(isinstance(each, ast.Break) for each in node.body):
        return any(isinstance(each, ast.Name) and each.id.startswith("w") for each in ast.walk(node.test))
    return False


def _removable(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Name) and each.id == "INPUTS" for each in node.targets
    ):
        return False
    if isinstance(node, ast.FunctionDef) and node.name in ("program", "forward", "__init__"):
        return False
    return not _keeps_going(node) and not isinstance(node, ast.Pass)


# --- steps ------------------------------------------------------------------------------------------------------------


def _sets(state: _State) -> None:
    """Keep one input set, two, or all but one."""

    def rows(tree: ast.Module) -> list[ast.expr] | None:
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
                return node.value.elts
        return None

    count = len(rows(state.tree) or ())

    def keep(numbers: tuple[int, ...]) -> Callable[[ast.Module], bool]:
        def change(tree: ast.Module) -> bool:
            found = rows(tree)
            if found is None or len(found) <= len(numbers):
                return False
            found[:] = [found[number] for number in numbers]
            return True

        return change

    for numbers in [(each,) for each in range(count)] + [(0, each) for each in range(1, count)]:
        if len(numbers) < count and state.attempt(keep(numbers)):
            return
    for number in reversed(range(count)):
        state.attempt(keep(tuple(each for each in range(count) if each != number)))


def _statements(state: _State) -> None:
    """Drop runs of statements, long ones first."""
    block = 0
    while block < len(_blocks(state.tree)):
        size = len(_blocks(state.tree)[block])
        while size:
            start = len(_blocks(state.tree)[block]) - size
            while start >= 0:
                state.attempt(_drop(block, start, size))
                if block >= len(_blocks(state.tree)):
                    return
                start = min(start - 1, len(_blocks(state.tree)[block]) - size)
            size //= 2
            size = min(size, len(_blocks(state.tree)[block]))
        block += 1


def _drop(block: int, start: int, size: int) -> Callable[[ast.Module], bool]:
    def change(tree: ast.Module) -> bool:
        statements = _blocks(tree)[block]
        doomed = statements[start : start + size]
        if not doomed or not all(_removable(each) for each in doomed):
            return False
        del statements[start : start + size]
        if not statements:
            statements.append(ast.Pass())
        return True

    return change


def _unwrap(state: _State) -> None:
    """Replace branches and loops by what is in them."""
    block = 0
    while block < len(_blocks(state.tree)):
        place = 0
        while block < len(_blocks(state.tree)) and place < len(_blocks(state.tree)[block]):
            if not any(state.attempt(_inline(block, place, part)) for part in ("body", "orelse", "no else")):
                place += 1
        block += 1


def _inline(block: int, place: int, part: str) -> Callable[[ast.Module], bool]:
    def change(tree: ast.Module) -> bool:
        statements = _blocks(tree)[block]
        node = statements[place]
        if not isinstance(node, (ast.If, ast.For, ast.While)) or _keeps_going(node):
            return False
        if part == "no else":
            found = bool(node.orelse)
            node.orelse = []
            return found
        body: list[ast.stmt] = list(getattr(node, part))
        if not body:
            return False
        if isinstance(node, ast.For):
            first = ast.Assign([node.target], _first(node.iter))
            body = [first, *body]
        if any(isinstance(each, (ast.Break, ast.Continue)) for each in _own(body)) and not isinstance(node, ast.If):
            return False
        statements[place : place + 1] = body
        return True

    return change


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What belongs to a loop's body itself, not to a loop in it."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _own(statement.body)
            yield from _own(statement.orelse)


def _first(iterable: ast.expr) -> ast.expr:
    """The first thing that a loop sees."""
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range":
        return iterable.args[0] if len(iterable.args) > 1 else ast.Constant(0)
    return ast.Subscript(iterable, ast.Constant(0), ast.Load())


def _results(state: _State) -> None:
    """Leave out results, in every return at once."""
    main = _main(state.tree)
    returns = [node for node in ast.walk(main) if isinstance(node, ast.Return)] if main else []
    counts = {len(node.value.elts) for node in returns if isinstance(node.value, ast.Tuple)}
    if len(counts) != 1:
        return
    for number in reversed(range(counts.pop())):

        def change(tree: ast.Module, number: int = number) -> bool:
            found = _main(tree)
            if found is None:
                return False
            tuples = [node for node in ast.walk(found) if isinstance(node, ast.Return)]
            for node in tuples:
                if not isinstance(node.value, ast.Tuple) or len(node.value.elts) < 2:
                    return False
                del node.value.elts[number]
            return True

        state.attempt(change)


def _parameters(state: _State) -> None:
    """Leave out arguments of the program, with their values."""
    main = _main(state.tree)
    if main is None:
        return
    offset = 1 if main.args.args and main.args.args[0].arg == "self" else 0
    for number in reversed(range(len(main.args.args) - offset)):

        def change(tree: ast.Module, number: int = number) -> bool:
            found = _main(tree)
            if found is None:
                return False
            del found.args.args[number + offset]
            for node in tree.body:
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
                    for row in node.value.elts:
                        if not isinstance(row, ast.Tuple) or number >= len(row.elts):
                            return False
                        del row.elts[number]
            return True

        state.attempt(change)


def _expressions(state: _State) -> None:
    """Replace expressions inside functions by one of their parts."""
    position = 0
    while True:
        spots = list(_spots(state.tree))
        if position >= len(spots) or state.left <= 0:
            return
        count = len(_simpler(spots[position][3]))
        changed = False
        for option in range(count):

            def change(tree: ast.Module, option: int = option, position: int = position) -> bool:
                parent, name, place, node = list(_spots(tree))[position]
                simpler = _simpler(node)[option]
                if place is None:
                    setattr(parent, name, simpler)
                else:
                    getattr(parent, name)[place] = simpler
                return True

            if state.attempt(change):
                changed = True
                break
        if not changed:
            position += 1


def _spots(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """Every expression inside a function that is read, with where it hangs."""
    for function in _functions(tree):
        if function.name == "__init__":
            continue
        for statement in function.body:
            for parent in ast.walk(statement):
                for name, value in ast.iter_fields(parent):
                    if name in ("target", "targets", "annotation", "func"):
                        continue
                    if isinstance(value, ast.expr):
                        yield parent, name, None, value
                    elif isinstance(value, list):
                        for place, each in enumerate(value):
                            if isinstance(each, ast.expr):
                                yield parent, name, place, each


def _simpler(node: ast.expr) -> list[ast.expr]:
    """What may stand in an expression's place."""
    if isinstance(node, ast.Call):
        found = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        found = [each for each in found if not (isinstance(each, ast.Name) and each.id == "torch")]
        return [*found, *(each for each in node.args if not isinstance(each, ast.Constant))]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.List) and len(node.elts) > 1:
        return [ast.List([each for each in node.elts if each is not left], node.ctx) for left in node.elts]
    return []
