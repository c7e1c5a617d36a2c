"""The state of the partial evaluation of one function."""

from __future__ import annotations

import ast
import builtins
import copy
import enum
import inspect
import math
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from ...errors import SourceLocation
from ..torchscript.function_scope import Names
from . import optional_variables, unions
from .constants import is_constant
from .declared_classes import member_name
from .effects import has_effects
from .fitting_types import fits
from .interfaces import Evaluated, Result
from .order import before_in
from .rejections import NotCompiledError, OrderError
from .unification import settle
from .values import (
    NEVER,
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    OptionalValue,
    TensorValue,
    UnionValue,
    Unknown,
    Value,
    annotation,
    is_none,
    joined,
)
from .wanted_records import meet

__all__ = ["MIXED", "UNSEEN", "Scope", "literal", "placed", "type_expression"]

UNSEEN = "a global object"
"""Stands for what cannot be compared, among what a value depends on."""
_TYPED = "_ssa_compiler_as_"
_PLAIN = (bool, int, float, str, type(None))


MIXED = Result(None, UNKNOWN)
"""A variable that has several types, or is an object here and another one there: it cannot be read."""


@dataclass
class Scope:
    """One function.

    Attributes:
        program: the program that it is a part of.
        function: the Python function.
        owner: the module whose method it is; None for a function.
        self_name: the name of its parameter for that module.
        variables: what its variables are now; a variable without an expression of its own is not stored.
        before: statements that come before the one that is evaluated.
        dispatches: whether the parts of modules may be chosen by dynamic numbers.
        conditional: how many expressions that may not be evaluated enclose the present one.
        returned: what is known of the result so far.
        local: the names that assignments bind.
        parameters: those of its parameters that stay.
        captured_names: the names that functions inside of it read.
        enclosing: those of the functions around this one.
        is_dead: whether what comes next is never run.
        jumps: what the variables are where the present loop is left or goes on.
        nothing: where variables were assigned None.
        present: the expressions, as text, that were found not to be None.
        kinds: the types that variables have had.
        unbound: the variables that were read where nothing is assigned to them yet.
        reads: the lines on which variables are read.
        whole: what the statement that is evaluated computes, as it is written.
        is_step: whether that is one operation on values that are computed already.
        number: which function of the program it is.
        deleted: the variables that are deleted somewhere: one that is not among `variables` may not be set.
        unfinished: the variable with the object that is being made, None if none is; its attributes are variables.
        ends: the attributes that it has where the function returns.
        is_getter: whether it is the function of a property.
        is_root: whether it is the program itself.
        returns_object: whether that returns an object that TorchScript has no expression for.
        returned_variables: the variables that it returns instead of a function, with what is known of them.
    """

    program: Evaluated
    function: Any
    owner: torch.nn.Module | None
    self_name: str
    key: Any
    variables: dict[str, Result] = field(default_factory=dict)
    before: list[ast.stmt] = field(default_factory=list)
    dispatches: bool = False
    conditional: int = 0
    returned: Value | None = None
    local: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    captured_names: frozenset[str] = frozenset()
    enclosing: frozenset[str] = frozenset()
    is_dead: bool = False
    jumps: list[dict[str, Result]] = field(default_factory=list)
    nothing: dict[str, set[Any]] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    kinds: dict[str, list[str]] = field(default_factory=dict)
    unbound: set[str] = field(default_factory=set)
    reads: dict[str, set[int]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    number: int = 0
    whole: Any = None
    is_step: bool = False
    unfinished: str | None = None
    ends: list[frozenset[str]] = field(default_factory=list)
    is_getter: bool = False
    returns_object: bool = False
    returned_variables: list[tuple[str, Value]] = field(default_factory=list)
    is_root: bool = False

    def __post_init__(self) -> None:
        self._meanings = Names(self.function)
        plain = inspect.unwrap(self.function)
        names = getattr(getattr(plain, "__code__", None), "co_freevars", ())
        self._cells = dict(zip(names, getattr(plain, "__closure__", None) or ()))
        self._count = 0

    def lookup(self, name: str) -> Any:
        """Return the object that a name means that is no variable.

        Raises:
            KeyError: there is none.
        """
        return self._meanings[name] if name in self._meanings else vars(builtins)[name]

    def load(self, node: ast.Name) -> Result:
        """Return what a name means."""
        if node.id in self.variables:
            found = self.variables[node.id]
            if isinstance(found.value, UnionValue):
                raise unions.SplitError(node.id)
            return Result(placed(found.node, node), found.value)
        if node.id in self.deleted:
            raise NotCompiledError("a variable that may be deleted")
        if node.id in self.local:
            if unions.is_several(self, node.id):
                raise NotCompiledError("a variable of several types that may not be set")
            self.unbound.add(node.id)
            return Result(node, NEVER)
        if node.id in self.enclosing:
            raise NotCompiledError("a variable of an enclosing function that is not set")
        try:
            meant = self.lookup(node.id)
        except KeyError:
            return Result(node)
        path = self._path(node.id, meant)
        if path is not None and not is_constant(meant) and not isinstance(meant, enum.Enum):
            return Result(None, Known(meant, path))
        if path is not None:  # other functions may assign it
            self.program.depend(Known(meant, path))
        return Result(literal(meant, node) if isinstance(meant, _PLAIN) else node, Known(meant))

    def _path(self, name: str, meant: Any) -> str | None:
        """The path of what a name means; None for constants of a module, which are those at compilation."""
        if name in self._cells:
            return self.program.place_of(self._cells[name], "cell_contents", name)
        space = getattr(inspect.unwrap(self.function), "__globals__", {})
        if is_constant(meant) or name not in space:
            return None
        return self.program.place_of(space, (name,), name)

    def bind(self, name: str, value: Value, node: ast.AST, kind: Value | None = None) -> str:
        """Let a variable that is stored have a value.

        Python's variables have any type, TorchScript's have one: there is one for each type.

        Args:
            name: the variable.
            value: what is known of it.
            node: where it is stored.
            kind: what is known of its type, if that is more.
        Returns:
            The name of the variable of TorchScript.
        """
        is_empty = isinstance(value, (ListValue, DictValue)) and value.element is None
        unsettled = (is_none(value) or is_empty) and kind is None
        text = None if unsettled else annotation(value if kind is None else kind)
        known = self.kinds.setdefault(name, [])
        current = self.variables.get(name)
        stored = current.node.id if current is not None and self.is_stored(name, current) else name
        if text is not None:
            matching = [each for each in known if each in optional_variables.alike(self, name, text)]
            matching = matching or [each for each in known if fits(text, each)]
            if not matching:
                known += [text, *optional_variables.also_of(self, name, text)]
            elif current is not None and not unions.is_several(self, name):
                optional_variables.find_stored(self, name, value, text, matching[0])
            stored = self.stored_name(name, known.index(matching[0] if matching else text))
        self.variables[name] = Result(ast.copy_location(ast.Name(stored, ast.Load()), node), value)
        return stored

    def stored_name(self, name: str, number: int) -> str:
        """Return the variable of TorchScript's for a type of a variable."""
        return name if number == 0 else f"{_TYPED}{number}_{name}"

    @staticmethod
    def variable_of(stored: str) -> str:
        """Return the variable that one of TorchScript's is for."""
        found = re.fullmatch(rf"{_TYPED}\d+_(.*)", stored)
        return found[1] if found else stored

    def number_of(self, stored: str) -> int:
        """Return the number of the type that one of TorchScript's variables has."""
        found = re.fullmatch(rf"{_TYPED}(\d+)_.*", stored)
        return int(found[1]) if found else 0

    def learn(self, name: str, value: Value) -> None:
        """Note more of what is known of a variable."""
        self.variables[name] = Result(self.variables[name].node, value)

    def captured_name(self, name: str) -> str:
        """Return the name that a variable has in other functions, to which closures that read it are passed."""
        return f"_ssa_compiler_of_{self.number}_{name}"

    def captured(self, outer: Scope, name: str) -> Any:
        """Return an expression for a variable of a function, in this one or in one that its closures are passed to.

        Raises:
            NotCompiledError: it was not passed.
        """
        found = self.variables.get(name if outer is self else outer.captured_name(name))
        if found is None or found.node is None:
            raise NotCompiledError("a variable of another function")
        return copy.deepcopy(found.node)

    def delete(self, name: str) -> None:
        """Let a variable not be set."""
        self.forget(name)
        self.deleted.add(name)
        self.variables.pop(name, None)

    def is_stored(self, name: str, result: Result) -> bool:
        """Whether a variable is one of TorchScript's, too."""
        if not isinstance(result.node, ast.Name):
            return False
        return result.node.id == name or bool(re.fullmatch(rf"{_TYPED}\d+_{re.escape(name)}", result.node.id))

    def forget(self, name: str) -> None:
        """Note that a variable, or what it holds, is another one from here on."""
        self.present = frozenset(text for text in self.present if not re.search(rf"\b{re.escape(name)}\b", text))

    def forget_parts(self) -> None:
        """Note that a part of an object is another one from here on, which the object may have by several names."""
        self.present = frozenset()

    def complete(self) -> frozenset[str]:
        """Return the attributes that the object has which is being made."""
        prefix = f"{self.unfinished}."
        return frozenset(name.removeprefix(prefix) for name in self.variables if name.startswith(prefix))

    def leave(self) -> None:
        """Note that the function returns here."""
        if self.unfinished is not None:
            self.ends.append(self.complete())
        self.is_dead = True

    def location(self, node: ast.stmt) -> SourceLocation | None:
        """Return where a statement of the function stands in the user's source."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        if code is None or not hasattr(node, "lineno"):
            return None
        return SourceLocation(code.co_filename, code.co_firstlineno + node.lineno - 1)

    def place(self, node: Any) -> Any:
        """Return what stands for a place in the source of the function."""
        return self.key, node.lineno, node.col_offset, type(node).__name__

    def name(self) -> str:
        """Return a name that the function does not use."""
        self._count += 1
        return f"_ssa_compiler_value_{self._count}"

    def hoist(self, statements: Iterable[ast.stmt], where: Any) -> None:
        """Put statements in front of the one that is evaluated.

        Args:
            statements: the statements.
            where: the part of the statement that they compute.
        Raises:
            OrderError: what they compute may not be evaluated, or it would be too early.
        """
        added = list(statements)
        if self.conditional:
            raise OrderError("what may not be evaluated, and takes statements")
        if self.whole is not None and added and not self.is_step and not self._may_be_first(where):
            raise OrderError("what takes statements, behind something with effects")
        self.before += added

    def _may_be_first(self, where: Any) -> bool:
        """Whether a part of the statement may be computed before the rest of it."""
        earlier = before_in(self.whole, getattr(where, "token", None)) if hasattr(where, "token") else None
        if earlier is None:
            return False
        if not has_effects(self, where):
            return not any(has_effects(self, part) for part in earlier)
        still = (ast.Name, ast.Constant, ast.expr_context, ast.Store, ast.Load, ast.operator)
        return all(isinstance(each, still) for part in earlier for each in ast.walk(part))

    def save(self) -> Any:
        """Return the state, for `restore`."""
        kinds = {name: list(texts) for name, texts in self.kinds.items()}
        nothing = {name: set(places) for name, places in self.nothing.items()}
        simple = self.returned, self.is_dead, self.present, self.conditional, list(self.jumps), list(self.ends)
        return self.fork(), kinds, nothing, set(self.unbound), simple

    def restore(self, saved: Any) -> None:
        """Forget what was evaluated since a state was saved."""
        variables, self.kinds, self.nothing, self.unbound, simple = saved
        self.variables = dict(variables)
        self.returned, self.is_dead, self.present, self.conditional, self.jumps, self.ends = simple

    def fork(self) -> dict[str, Result]:
        """Return a copy of the variables."""
        return dict(self.variables)

    def merge(
        self, arms: list[dict[str, Result]], node: ast.AST, *, stores: bool = False, start: Container[str] | None = None
    ) -> None:
        """Let variables be what they are after one of several arms.

        Args:
            arms: the variables at the end of each.
            node: what has the arms.
            stores: whether an arm that leaves a variable known will store it where another does.
            start: the variables where the arms fork; None if the arms have no others.
        """
        if arms:
            names = set.intersection(*(set(arm) for arm in arms))
            self.variables = {
                name: self._merged(name, [arm[name] for arm in arms], node, stores, start) for name in names
            }

    def _merged(
        self, name: str, found: list[Result], node: ast.AST, stores: bool, start: Container[str] | None
    ) -> Result:
        value: Value | None = None
        for result in found:
            meet(self.program, found[0].value, result.value)
            value = result.value if value is None else joined(value, result.value, self.program.samples.of)
        for result in found:
            settle(self.program, result.value, value)
        if isinstance(value, OptionalValue) and not unions.is_several(self, name):
            for place in self.nothing.get(name, ()):
                self.program.learn(place, value)
        stored = [self.stored_as(name, result) for result in found]
        if isinstance(value, OptionalValue) and not unions.is_several(self, name):
            optional_variables.find_out(self, name, found, value, start)
        unset = next((each for each in found if hasattr(each.node, "may_be_unset")), None)
        if all(result.value is found[0].value for result in found) and len(set(stored)) == 1:
            return unset or found[0]
        for result in found if isinstance(value, Unknown) else ():
            if isinstance(result.value, ListValue) and result.value.element is None:
                for place in result.value.places:  # it has a type then, another one than the other values
                    self.program.learn(place, TensorValue())
        others = [result for result, id_ in zip(found, stored) if id_ is None]
        kept = {id_ for id_ in stored if id_ is not None}
        if (optional := optional_variables.joined_variable(self, name, found, value)) is not None:
            kept = {optional}
        if len(kept) != 1 or any(isinstance(result.value, UnionValue) for result in found):
            return unions.merged(self, name, found) or MIXED
        literals = [isinstance(each.value, Known) and literal(each.value.object, node) is not None for each in others]
        if others and not (stores and all(literals)):  # a variable that is not stored can be
            return MIXED
        if unset is not None:
            return MIXED if others else Result(unset.node, value or UNKNOWN)
        return Result(ast.copy_location(ast.Name(kept.pop(), ast.Load()), node), value or UNKNOWN)

    def stored_as(self, name: str, result: Result) -> str | None:
        """Return the variable of TorchScript's that holds a variable; None if none does."""
        for mark in ("may_be_unset", "stored_as"):
            if hasattr(result.node, mark):
                return str(getattr(result.node, mark))
        return str(result.node.id) if self.is_stored(name, result) else None

    def use(self, value: Value) -> Any:
        """Return the object that a value is known to be, on which the program depends now.

        Raises:
            NotCompiledError: a change of it would not be seen.
        """
        assert isinstance(value, Known)
        self.program.depend(value)
        return value.object


def placed(node: Any, where: ast.AST) -> Any:
    """Return a copy of an expression, at another place."""
    if node is None:
        return None
    made = copy.deepcopy(node)
    for part in ast.walk(made):
        ast.copy_location(part, where)
    return made


def literal(thing: Any, where: ast.AST) -> Any:
    """Return an expression for an object, None if TorchScript has none."""
    if isinstance(thing, slice):
        parts = [None if part is None else literal(part, where) for part in (thing.start, thing.stop, thing.step)]
        return ast.copy_location(ast.Slice(*parts), where)
    text = _text(thing)
    return None if text is None else placed(ast.parse(text, mode="eval").body, where)


def type_expression(text: str, where: ast.AST) -> ast.expr:
    """Return an expression for a type; `function_of` puts it where TorchScript reads nothing else."""
    made = placed(ast.parse(text, mode="eval").body, where)
    for part in ast.walk(made):
        part.is_type = True  # type: ignore[attr-defined]
    assert isinstance(made, ast.expr)
    return made


def _text(thing: Any) -> str | None:
    if type(thing) is float and not math.isfinite(thing):
        return f"float('{thing}')"
    if type(thing) in (bool, int, float, str, type(None)):
        return repr(thing)
    if isinstance(thing, (torch.dtype, torch.memory_format)):
        return str(thing)
    if isinstance(thing, torch.device):
        return f"torch.device('{thing}')"
    if isinstance(thing, (list, tuple)) and not hasattr(thing, "_fields"):
        parts = [_text(part) for part in thing]
        if None in parts or (not parts and isinstance(thing, list)):
            return None
        inner = ", ".join(filter(None, parts))
        return f"[{inner}]" if isinstance(thing, list) else f"({inner}{',' if len(parts) == 1 else ''})"
    if isinstance(thing, range):
        return _text(list(thing))
    if isinstance(thing, dict) and thing:
        pairs = [(_text(key), _text(part)) for key, part in thing.items()]
        return None if any(None in pair for pair in pairs) else "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    return member_name(thing) if isinstance(thing, enum.Enum) else None
