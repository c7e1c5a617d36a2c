"""The statements of a function as fragments and graph breaks.

What stands before the line that cannot be compiled is one fragment, what stands after it another; where the line is in
a loop or a branch, its blocks are split likewise. A fragment has to be worth it, its variables have to be known, and
control has to leave it by its end, or by returning from the function.
"""

from __future__ import annotations

import ast
import copy
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .liveness import Flow, captured_in, is_torch_mode, loads_of, stores_of
from .sources import Source

__all__ = ["CALLEE", "FRAGMENTS", "Group", "Split", "declared_in_file"]

FRAGMENTS, CALLEE = "_ssa_compiler_fragments", "_ssa_compiler_callee"
FEWEST_OPS = 8
"""A fragment without a loop has at least so many operations: a call of it costs as much as two of PyTorch's."""
_OPS = (ast.BinOp, ast.Compare, ast.Call, ast.Subscript, ast.UnaryOp, ast.AugAssign)
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OF_ITS_FUNCTION = {"globals", "super"}
"""What means something else in another function; `source_of` takes no function that looks at its variables."""
_NOT_IN_FRAGMENTS = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.FunctionDef),
    *(ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith, ast.Delete),
)


@dataclass
class Group:
    """A run of statements that becomes a fragment.

    Attributes:
        statements: the statements.
        inputs: the variables that it takes.
        outputs: those that it returns.
        tail: whether the function ends with it, so that it returns what the function does.
    """

    statements: list[ast.stmt]
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    tail: bool = False


class Split:
    """Splits a function.

    Args:
        source: the function.
        is_bad: whether a statement has the line that cannot be compiled, or leads there.
        calls_users: whether a call may be one of the user's functions.
        make: makes the number of a fragment; None if it cannot be one.
        group: the statements that the function is made of if it is a fragment; None if it is the user's.
    """

    def __init__(
        self,
        source: Source,
        is_bad: Callable[[ast.stmt], bool],
        calls_users: Callable[[ast.Call], bool],
        make: Callable[[Group], int | None],
        group: Group | None = None,
    ) -> None:
        self._is_fragment = group is not None
        self._results = len(source.definition.body) - len(group.statements) if group is not None else 0
        self._source, self._calls_users, self._make = source, calls_users, make
        definition = source.definition
        self._is_bad, self._apart = is_bad, False
        if not any(map(is_bad, definition.body)):
            self._look_for_it()
        parameters = _parameters(definition.args)
        declared = {
            name for node in ast.walk(definition) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names
        }
        self._changing = declared_in_file(source.file)
        stored = frozenset().union(*map(stores_of, definition.body))
        self._locals = (parameters | stored) - declared
        captured = captured_in(definition)
        self._shared = captured | declared | self._changing
        """The names that others may read and assign at any time: a fragment would have values of its own."""
        self._flow = Flow(definition.body, parameters, captured | declared)
        self.breaks: list[ast.stmt] = []
        """The statements that Python runs, without those around them."""

    def _look_for_it(self) -> None:
        """Decide how to go on where nothing says which line it is: by compiling loops and branches for themselves, and
        then what is in them.
        """
        body = self._source.definition.body
        own = body[: len(body) - self._results]
        nested = [each for each in own if any(True for _ in _blocks(each))]
        if nested and (len(own) > 1 or not self._is_fragment):
            self._apart = True
        else:
            self._is_bad = lambda statement: any(statement is each for each in own)

    def run(self) -> ast.FunctionDef:
        """Return the function with calls of fragments in the place of what they do."""
        changed = copy.copy(self._source.definition)
        changed.body = self._rewritten(changed.body, tail=True)
        return changed

    def _rewritten(self, body: Sequence[ast.stmt], *, tail: bool) -> list[ast.stmt]:
        """Split the statements of a block; `tail` if the function ends with it."""
        found: list[ast.stmt] = []
        group: list[ast.stmt] = []
        top = body is self._source.definition.body
        alone = {id(each) for each in body if top and self._apart and any(True for _ in _blocks(each))}
        bad = {
            number
            for number, each in enumerate(body)
            if self._is_bad(each) or not self._may_be_in_one(each) or (id(each) in alone and _returns(each))
        }
        last = max(bad, default=-1)
        for number, statement in enumerate(body):
            # What follows the last that is bad may return: the function ends with it.
            broken = number in bad or (_returns(statement) and not (tail and number > last))
            if broken or id(statement) in alone:
                found += self._grouped(group, tail=False)
                group = []
            if broken:
                found += self._broken(statement, tail=tail and statement is body[-1])
            elif id(statement) in alone:
                found += self._grouped([statement], tail=False)
            else:
                group.append(statement)
        return found + self._grouped(group, tail=tail)

    def _may_be_in_one(self, statement: ast.stmt) -> bool:
        for node in ast.walk(statement):
            if isinstance(node, _NOT_IN_FRAGMENTS) or (isinstance(node, ast.Name) and node.id in _OF_ITS_FUNCTION):
                return False
            if isinstance(node, ast.Lambda) and loads_of(node) & self._locals - _parameters(node.args):
                return False
            if isinstance(node, ast.Name) and node.id in self._shared:
                return False
        return not _leaves_loop(statement)

    # -- fragments ---------------------------------------------------------------------------------------------------

    def _grouped(self, group: list[ast.stmt], *, tail: bool) -> list[ast.stmt]:
        """A run of statements as a call of a fragment, if it is worth one."""
        if group and isinstance(group[-1], ast.Return) and _is_plain(group[-1]) and not any(map(_returns, group[:-1])):
            return [*self._grouped(group[:-1], tail=False), group[-1]]
        if not group or not self._is_worth_it(group):
            if self._apart:  # one of these it may be
                self.breaks += [each for each in group if any(isinstance(node, ast.Call) for node in ast.walk(each))]
            return [self._with_callees(each) for each in group]
        tail = tail and any(map(_returns, group))
        last = group[-1]
        made = Group(group, tail=tail)
        before = self._flow.assigned_before(group[0])
        after = frozenset() if tail else self._flow.read_after(last) & self._locals
        stored = frozenset().union(*map(stores_of, group))
        made.outputs = sorted(stored & after & self._locals)
        ends = self._flow.assigned_after(group, before)
        made.inputs = sorted(self._flow.read_in(group, after & stored) & self._locals)
        if not tail and (ends is None or not set(made.outputs) <= ends):
            return self._each(group)
        number = self._make(made)
        if number is None:
            return self._each(group)
        return self._called(made, number, before)

    def _each(self, group: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a run that is no fragment, each for itself."""
        if len(group) == 1:
            return self._broken(group[0], tail=False)
        found: list[ast.stmt] = []
        for each in group:
            compound = isinstance(each, (ast.For, ast.While, ast.If, ast.With))
            found += (
                self._grouped([each], tail=False) if compound and not _returns(each) else self._broken(each, tail=False)
            )
        return found

    def _is_worth_it(self, group: Sequence[ast.stmt]) -> bool:
        ops = 0
        for statement in group:
            for node in ast.walk(statement):
                if isinstance(node, _LOOPS) or (isinstance(node, ast.Call) and self._calls_users(node)):
                    return True
                ops += isinstance(node, _OPS)
        return ops >= FEWEST_OPS

    def _called(self, group: Group, number: int, before: frozenset[str]) -> list[ast.stmt]:
        """The call of a fragment, and what is done with what it returns."""
        first = group.statements[0]
        values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in group.inputs]
        function = ast.Subscript(ast.Name(FRAGMENTS, ast.Load()), ast.Constant(number), ast.Load())
        call = ast.Call(function, values, [])
        statement: ast.stmt
        if group.tail:
            statement = ast.Return(call)
        elif group.outputs:
            names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in group.outputs]
            statement = ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())], call)
        else:
            statement = ast.Expr(call)
        unsure = [name for name in group.inputs if name in self._locals and name not in before]
        found: list[ast.stmt] = [statement]
        if unsure:  # a variable that has no value is an error only where it is read
            reads: list[ast.stmt] = [ast.Expr(ast.Name(name, ast.Load())) for name in unsure]
            kind = ast.Name("NameError", ast.Load())
            plain = [copy.deepcopy(each) for each in group.statements]
            found = [ast.Try(reads, [ast.ExceptHandler(kind, None, plain)], [statement], [])]
        for each in found:
            _place(each, first)
        return found

    # -- graph breaks ------------------------------------------------------------------------------------------------

    def _broken(self, statement: ast.stmt, *, tail: bool) -> list[ast.stmt]:
        """A statement that Python runs, with fragments in its blocks."""
        changed = copy.copy(statement)
        if isinstance(changed, ast.If):
            changed.test = self._expression(changed.test)
            changed.body = self._rewritten(changed.body, tail=tail)
            changed.orelse = self._rewritten(changed.orelse, tail=tail)
        elif isinstance(changed, (ast.For, ast.While)):
            if isinstance(changed, ast.For):
                changed.iter = self._expression(changed.iter)
            else:
                changed.test = self._expression(changed.test)
            changed.body = self._rewritten(changed.body, tail=False)
            changed.orelse = self._rewritten(changed.orelse, tail=False)
        elif isinstance(changed, ast.With) and all(is_torch_mode(item.context_expr) for item in changed.items):
            changed.body = self._rewritten(changed.body, tail=False)
        else:
            self.breaks.append(statement)
            return [self._with_callees(statement)]
        if self._is_bad(statement) and not any(self._is_bad(each) for each in _blocks(statement)):
            self.breaks.append(statement)
        return [changed]

    def _with_callees(self, statement: ast.stmt) -> ast.stmt:
        """A statement with the user's functions called through the table of all."""
        opaque = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.Match, ast.With, ast.AsyncWith)
        if any(isinstance(node, opaque) for node in ast.walk(statement)):
            return statement  # a fragment that raises may have done less than eager
        changed: ast.stmt = _Callees(self._calls_users).visit(copy.deepcopy(statement))
        return ast.fix_missing_locations(changed)

    def _expression(self, node: ast.expr) -> ast.expr:
        changed: ast.expr = _Callees(self._calls_users).visit(copy.deepcopy(node))
        return ast.fix_missing_locations(changed)


class _Callees(ast.NodeTransformer):
    """Calls the user's functions through the table of all."""

    def __init__(self, calls_users: Callable[[ast.Call], bool]) -> None:
        self._calls_users = calls_users

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = self._calls_users(node)
        self.generic_visit(node)
        if called:
            node.func = ast.copy_location(ast.Call(ast.Name(CALLEE, ast.Load()), [node.func], []), node.func)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return frozenset(each.arg for each in every if each is not None)


def _place(made: ast.stmt, at: ast.stmt) -> None:
    """Give what is new in a statement the line of another."""
    for node in ast.walk(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, at)


def _blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly in the blocks of one."""
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, [])


def _returns(statement: ast.stmt) -> bool:
    """Whether the function may return in a statement."""
    return any(isinstance(node, ast.Return) for node in _in_scope(statement))


def _is_plain(statement: ast.Return) -> bool:
    """Whether a return computes nothing."""
    kinds = (ast.Return, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.expr_context)
    return all(isinstance(node, kinds) for node in ast.walk(statement))


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _in_scope(child)


def _leaves_loop(statement: ast.AST) -> bool:
    """Whether a statement has a `break` or `continue` of a loop around it."""
    if isinstance(statement, (ast.Break, ast.Continue)):
        return True
    if isinstance(statement, (ast.For, ast.While)):
        return any(map(_leaves_loop, statement.orelse))
    return any(
        _leaves_loop(child)
        for child in ast.iter_child_nodes(statement)
        if isinstance(child, (ast.stmt, ast.ExceptHandler))
    )


_declared: dict[str, tuple[list[str], frozenset[str]]] = {}


def declared_in_file(file: str) -> frozenset[str]:
    """The names that functions of a file declare `global` or `nonlocal`: they may change while a function runs."""
    lines = linecache.getlines(file)
    if file in _declared and _declared[file][0] is lines:
        return _declared[file][1]
    try:
        tree: ast.AST = ast.parse("".join(lines))
    except SyntaxError:
        tree = ast.Module([], [])
    found = (node.names for node in ast.walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal)))
    _declared[file] = lines, frozenset(name for names in found for name in names)
    return _declared[file][1]
