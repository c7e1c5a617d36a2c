"""Which variables of a function are read later, and which are surely assigned, at each of its statements.

The textbook analyses (Aho et al., Compilers, 9.2) on the syntax tree: Python's control flow is structured, so that no
graph is needed; loops are gone over until nothing changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Flow", "bindings_of", "captured_in", "is_torch_mode", "loads_of", "names_in", "stores_of"]

Names = frozenset[str]
_NONE: Names = frozenset()
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_MODES = ("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_in(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """Iterate over the names under a node in a context, those of inner scopes included."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, context):
            yield part.id


def loads_of(node: ast.AST) -> Names:
    """The variables of the enclosing function that a node may read, also by way of an inner function."""
    if isinstance(node, _COMPREHENSIONS):
        bound = {name for each in node.generators for name in names_in(each.target, ast.Store)}
        inner = frozenset().union(*map(loads_of, ast.iter_child_nodes(node))) - bound
        return inner | loads_of(node.generators[0].iter)  # which is computed outside
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return frozenset(names_in(node, ast.Load))
    found: set[str] = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, ast.AugAssign):
        found |= set(names_in(node.target, ast.Store))
    return frozenset(found.union(*map(loads_of, ast.iter_child_nodes(node))))


def stores_of(node: ast.AST) -> Names:
    """The variables of the enclosing function that a node may assign or delete."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return frozenset({node.name})
    if isinstance(node, ast.Lambda):
        return _NONE
    if isinstance(node, _COMPREHENSIONS):  # a walrus in it assigns a variable around it
        return frozenset(each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
    found: set[str] = set()
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        found.add(node.id)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        found |= {(each.asname or each.name).partition(".")[0] for each in node.names}
    if isinstance(node, ast.ExceptHandler) and node.name:
        found.add(node.name)
    if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        found.add(node.name)
    if isinstance(node, ast.MatchMapping) and node.rest:
        found.add(node.rest)
    return frozenset(found.union(*map(stores_of, ast.iter_child_nodes(node))))


def is_torch_mode(context: ast.expr) -> bool:
    """Whether a context of a `with` is one of PyTorch's that only says whether gradients are recorded."""
    called = context.func if isinstance(context, ast.Call) else context
    return ast.unparse(called) in _MODES


def captured_in(node: ast.AST) -> Names:
    """The names that inner functions and lambdas read or assign, and generators that are not read where they are made:
    they may do so at any time.
    """
    found: set[str] = set()
    passed = {id(each) for part in ast.walk(node) if isinstance(part, ast.Call) for each in part.args}
    for part in ast.walk(node):
        if part is not node and (
            isinstance(part, _SCOPES) or (isinstance(part, ast.GeneratorExp) and id(part) not in passed)
        ):
            found |= {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
    return frozenset(found)


def bindings_of(group: Sequence[ast.stmt], target: str) -> list[tuple[int, int, int]] | None:
    """The ends of the statements that bind a variable or attribute to another object, where an augmented assignment
    does not: line, and twice the column. None if it is bound otherwise than by assignments.

    Args:
        group: the statements.
        target: the variable or attribute, `self.mean`.
    """

    def binds(node: ast.AST | None) -> bool:
        parts = ast.walk(node) if node is not None else ()
        return any(
            isinstance(part, (ast.Name, ast.Attribute))
            and isinstance(part.ctx, ast.Store)
            and ast.unparse(part) == target
            for part in parts
        )

    found = []
    for node in (node for statement in group for node in ast.walk(statement)):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            if any(map(binds, node.targets if isinstance(node, ast.Assign) else [node.target])):
                found.append((node.end_lineno or 0, node.end_col_offset or 0, node.end_col_offset or 0))
        elif isinstance(node, (ast.For, ast.withitem, ast.NamedExpr)):
            if binds(node.optional_vars if isinstance(node, ast.withitem) else node.target):
                return None
    return found


@dataclass
class _Exits:
    """What holds where a loop is left, and where it goes on."""

    after: Names = _NONE
    again: Names = _NONE
    assigned: list[Names] = field(default_factory=list)


class Flow:
    """The analyses of one function.

    Args:
        body: its statements.
        assigned: the variables that have values where it begins.
        always: the variables that are taken to be read later everywhere.
    """

    def __init__(self, body: Sequence[ast.stmt], assigned: Iterable[str], always: Names) -> None:
        self._always = always
        self._after: dict[int, Names] = {}
        self._assigned: dict[int, Names] = {}
        self._live(body, _NONE, _Exits())
        self._definite(body, frozenset(assigned), _Exits())

    def read_after(self, statement: ast.stmt) -> Names:
        """The variables that may be read after a statement."""
        return self._after.get(id(statement), _NONE) | self._always

    def assigned_before(self, statement: ast.stmt) -> Names:
        """The variables that surely have values before a statement; none if it is not reached."""
        return self._assigned.get(id(statement), _NONE)

    def read_in(self, group: Sequence[ast.stmt], after: Names) -> Names:
        """The variables whose values before a run of statements may be read in it, or after it.

        Args:
            group: the statements, none of which leaves the run other than by its end or a return.
            after: what is read after it.
        """
        kept = dict(self._after)
        found = self._live(group, after, _Exits())
        self._after = kept
        return found

    def assigned_after(self, group: Sequence[ast.stmt], before: Names) -> Names | None:
        """The variables that surely have values after a run of statements; None if its end is not reached."""
        kept = dict(self._assigned)
        found = self._definite(group, before, _Exits())
        self._assigned = kept
        return found

    # -- what is read later ------------------------------------------------------------------------------------------

    def _live(self, body: Sequence[ast.stmt], after: Names, exits: _Exits) -> Names:
        for statement in reversed(body):
            self._after[id(statement)] = self._after.get(id(statement), _NONE) | after
            after = self._before(statement, after, exits)
        return after

    def _before(self, statement: ast.stmt, after: Names, exits: _Exits) -> Names:
        """What may be read from a statement on."""
        if isinstance(statement, ast.If):
            arms = (self._live(arm, after, exits) for arm in (statement.body, statement.orelse))
            return frozenset().union(*arms) | loads_of(statement.test)
        if isinstance(statement, (ast.For, ast.While)):
            return self._before_loop(statement, after, exits)
        if isinstance(statement, ast.With):
            return self._before_with(statement, after, exits)
        if isinstance(statement, ast.Return):
            return loads_of(statement)
        if isinstance(statement, ast.Raise):
            return loads_of(statement)
        if isinstance(statement, ast.Break):
            return exits.after
        if isinstance(statement, ast.Continue):
            return exits.again
        if isinstance(statement, ast.Try):
            return self._before_try(statement, after, exits)
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and not any(
            isinstance(part, ast.NamedExpr) for part in ast.walk(statement)
        ):
            valued = statement.value is not None
            return after - (stores_of(statement) if valued else _NONE) | loads_of(statement)
        if isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
            return after - stores_of(statement) | loads_of(statement)
        if any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in ast.walk(statement)):
            after = after | exits.after | exits.again  # match
        return after | loads_of(statement) | stores_of(statement)  # it may assign, or not

    def _before_loop(self, loop: ast.For | ast.While, after: Names, exits: _Exits) -> Names:
        done = self._live(loop.orelse, after, exits)
        target = stores_of(loop.target) if isinstance(loop, ast.For) else _NONE
        asked = loads_of(loop.target) if isinstance(loop, ast.For) else loads_of(loop.test)
        again = done | asked
        while True:
            # A loop that ends leaves its target as it was.
            found = again | self._live(loop.body, again, _Exits(after, again)) - target
            if found == again:
                break
            again = found
        return again | (loads_of(loop.iter) if isinstance(loop, ast.For) else _NONE) | target & done

    def _before_with(self, statement: ast.With, after: Names, exits: _Exits) -> Names:
        inner = self._live(statement.body, after, exits)
        if not all(is_torch_mode(item.context_expr) for item in statement.items):
            self._read_everywhere(statement, after)  # it may swallow what is raised in it
            inner |= after
        for item in reversed(statement.items):
            inner = inner - (stores_of(item) - captured_in(item)) | loads_of(item)
        return inner if all(is_torch_mode(item.context_expr) for item in statement.items) else inner | after

    def _read_everywhere(self, statement: ast.stmt, names: Names) -> None:
        """Note that names may be read after any statement in one, as what it raises is caught."""
        for part in ast.walk(statement):
            if isinstance(part, ast.stmt):
                self._after[id(part)] = self._after.get(id(part), _NONE) | names

    def _before_try(self, statement: ast.Try, after: Names, exits: _Exits) -> Names:
        last = self._live(statement.finalbody, after, exits)
        around = last | frozenset().union(
            *(loads_of(handler) | self._live(handler.body, last, exits) for handler in statement.handlers)
        )
        if any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in ast.walk(statement)):
            around |= exits.after | exits.again
        inner = self._live(statement.body, self._live(statement.orelse, last, exits) | around, exits)
        self._read_everywhere(statement, around)
        return inner | around

    # -- what is surely assigned -------------------------------------------------------------------------------------

    def _definite(self, body: Sequence[ast.stmt], before: Names | None, exits: _Exits) -> Names | None:
        for statement in body:
            if before is None:
                return None
            known = self._assigned.get(id(statement))
            self._assigned[id(statement)] = before if known is None else known & before
            before = self._assigned_by(statement, before, exits)
        return before

    def _assigned_by(self, statement: ast.stmt, before: Names, exits: _Exits) -> Names | None:
        return self._assigned_in(statement, before - _deleted_in(statement), exits)

    def _assigned_in(self, statement: ast.stmt, before: Names, exits: _Exits) -> Names | None:
        if isinstance(statement, ast.If):
            return _both(self._definite(arm, before, exits) for arm in (statement.body, statement.orelse))
        if isinstance(statement, (ast.For, ast.While)):
            inner = _Exits()
            target = stores_of(statement.target) if isinstance(statement, ast.For) else _NONE
            self._definite(statement.body, before | target, inner)
            endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant)
            ends = None if endless and statement.test.value else self._definite(statement.orelse, before, exits)  # type: ignore[union-attr]
            return _both([ends, *inner.assigned])
        if isinstance(statement, ast.With):
            named = before.union(*map(stores_of, statement.items))
            inner_end = self._definite(statement.body, named, exits)
            if inner_end is None or not all(is_torch_mode(item.context_expr) for item in statement.items):
                return named  # a context may swallow what is raised in it
            return inner_end
        if isinstance(statement, ast.Break):
            exits.assigned.append(before)
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return None
        if isinstance(statement, ast.Try):
            for arm in (statement.body, *(handler.body for handler in statement.handlers), statement.orelse):
                self._definite(arm, before, exits)
            return self._definite(statement.finalbody, before, exits)
        if isinstance(statement, ast.Delete):
            return before - stores_of(statement)
        if isinstance(statement, ast.AnnAssign) and statement.value is None:
            return before
        if isinstance(
            statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)
        ):
            return before | {name for name in stores_of(statement) if not _only_walrus(statement, name)}
        return before


def _deleted_in(statement: ast.stmt) -> Names:
    """The variables that may have no value any more after a part of a statement."""
    handlers = {each.name for each in ast.walk(statement) if isinstance(each, ast.ExceptHandler) and each.name}
    return frozenset(names_in(statement, ast.Del)) | handlers


def _only_walrus(statement: ast.stmt, name: str) -> bool:
    """Whether a name is assigned in the middle of an expression only, which may not be computed."""
    return not any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        for target in getattr(statement, "targets", [getattr(statement, "target", None)])
        if target is not None
        for part in ast.walk(target)
    ) and not isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom))


def _both(ends: Iterable[Names | None]) -> Names | None:
    """What holds where paths meet; None of one that is never taken."""
    reached = [names for names in ends if names is not None]
    return frozenset.intersection(*reached) if reached else None
