"""What the parts of a partial evaluator need of each other, which evaluate each other's operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from ...abi.object_guards import Place
from .samples import Samples
from .values import UNKNOWN, DictValue, Known, ListValue, ObjectValue, Value

__all__ = [
    "Arguments",
    "CallEvaluator",
    "ClassEvaluator",
    "Evaluated",
    "ExpressionEvaluator",
    "FunctionEvaluator",
    "Iteration",
    "LoopEvaluator",
    "Result",
    "StateEvaluator",
    "StatementEvaluator",
    "Written",
]


@dataclass(frozen=True)
class Result:
    """An expression, evaluated as far as that can be done.

    Attributes:
        node: the expression that is left; None for objects that TorchScript has no expression for.
        value: what is known of its value.
    """

    node: Any
    value: Value = UNKNOWN


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call."""

    positional: Sequence[Result]
    named: Mapping[str, Result]


@dataclass(frozen=True)
class Iteration:
    """What a loop iterates over.

    Attributes:
        node: the expression that is left, None if the loop has to be written out.
        element: what an element is, for a loop that is none of those.
        elements: each element, if they are known, else None.
        is_unrolled: whether the loop is written out whatever it does.
        length: how many elements there are, None if that is dynamic.
        tests: for each of `elements` whether it is there, which is asked before it is read and if those before it are;
            none if all are there.
    """

    node: Any
    element: Value
    elements: Sequence[Result] | None = None
    is_unrolled: bool = False
    length: int | None = None
    tests: Sequence[ast.expr] = ()


class Written(ast.stmt):
    """Statements that a function evaluates, where they stand."""

    evaluate: Callable[[], list[ast.stmt]]


class ClassEvaluator(Protocol):
    """The classes of a program; see `Classes`."""

    def value(self, kind: type) -> ObjectValue: ...

    def attribute(self, kind: type, name: str) -> Value | None: ...

    def learn(self, kind: type, name: str, value: Value) -> None: ...

    def await_(self, kind: type, name: str) -> None: ...

    def is_stored(self, kind: type, name: str) -> bool: ...

    def finish(self, kind: type, complete: frozenset[str]) -> None: ...

    def may_be_unset(self, kind: type, name: str) -> bool: ...

    def has_unset(self, value: Value | None) -> bool: ...

    def has_set(self, value: Value | None) -> bool: ...

    def add_key(self, kind: type, key: str) -> None: ...

    def later_keys(self, kind: type) -> list[str]: ...


class StateEvaluator(Protocol):
    """The state of a program in objects that are no modules; see `States`."""

    def attribute(self, scope: Any, owner: Known, name: str, where: Any) -> Result: ...

    def elements(self, value: Known) -> list[Result] | None: ...

    def container(self, module: torch.nn.Module, name: str, value: Known) -> Value: ...

    def see(self, owner: Known) -> None: ...

    def declare(self, module: torch.nn.Module, name: str, value: Value) -> None: ...

    def add(self, scope: Any, owner: Known, name: str, where: Any) -> Any: ...

    def may_be_added(self, owner: Known, name: str) -> bool: ...

    def added(self, scope: Any, owner: Known, name: str, where: Any) -> Result | None: ...


class FunctionEvaluator(Protocol):
    """Makes copies of functions; see `Functions`."""

    def call(self, scope: Any, function: Any, arguments: Arguments, node: ast.Call) -> Result: ...

    def call_method(
        self, scope: Any, owner: torch.nn.Module, function: Any, name: str, arguments: Arguments, node: ast.Call
    ) -> Result: ...

    def get_of_object(self, scope: Any, function: Any, owner: Result, node: ast.Attribute) -> Result: ...

    def construct(self, scope: Any, kind: type, arguments: Arguments, node: ast.Call) -> Result: ...

    def call_unfinished(
        self, scope: Any, function: Any, arguments: Arguments, complete: frozenset[str], node: ast.Call
    ) -> tuple[Result, frozenset[str]]: ...

    def get(self, scope: Any, function: Any, owner: Known, node: ast.Attribute) -> Result: ...

    def call_closure(self, scope: Any, closure: Any, arguments: Arguments, node: ast.Call) -> Result: ...


class Evaluated(Protocol):
    """A program; see `Program`."""

    samples: Samples
    elements: dict[Any, Value]
    factories: dict[Any, Any]
    passed: frozenset[type]
    root: torch.nn.Module | None
    squeezes: bool
    has_squeezes: bool
    places: dict[str, Place]
    compared: dict[str, Place]

    @property
    def classes(self) -> ClassEvaluator: ...

    @property
    def functions(self) -> FunctionEvaluator: ...

    @property
    def states(self) -> StateEvaluator: ...

    def path_of(self, value: Known) -> str | None: ...

    def is_assigned(self, name: str, held: Any, kind: type | None = None) -> bool: ...

    def assign(self, name: str, value: Value | None = None) -> None: ...

    def change(self, value: Value) -> bool: ...

    def guards_of(self, value: Any) -> frozenset[str]: ...

    def depend(self, value: Known) -> None: ...

    def depend_on_presence(self, path: str | None) -> None: ...

    def identity_guards(self, value: Known) -> frozenset[str]: ...

    def depend_on_length(self, path: str) -> None: ...

    def depend_on_module(self, path: str) -> None: ...

    def depend_on_several(self, paths: tuple[str, ...]) -> None: ...

    def class_guards(self, value: Known) -> frozenset[str]: ...

    def is_shared(self, value: Value) -> bool: ...

    def is_held(self, result: Result) -> bool: ...

    def place_of(self, holder: Any, step: str | tuple[Any] | None = None, text: str = "") -> str: ...

    def part_of(self, path: str, step: str | tuple[Any]) -> str: ...

    def is_elsewhere(self, path: str) -> bool: ...

    def tensor_value(self, tensor: torch.Tensor, path: str | None) -> Value: ...

    def widened(self, value: Value) -> Value: ...

    def learn(self, place: Any, value: Value) -> None: ...

    def resize(self, scope: Any, owner: Any, container: ListValue) -> None: ...

    def forget_lengths(self) -> None: ...

    def length(self, places: frozenset[Any], length: int | None) -> int | None: ...

    def ask(self, container: DictValue, key: Value) -> None: ...

    def put(self, scope: Any, owner: Any, container: ListValue | DictValue, key: Value | None, value: Any) -> None: ...

    def module_expression(self, scope: Any, module: torch.nn.Module, where: ast.AST) -> Any: ...

    def tensor_expression(self, scope: Any, tensor: torch.Tensor, where: ast.AST, path: str | None = None) -> Any: ...

    def hold(self, owner: Any, name: str, value: Any) -> None: ...

    def held_expression(self, scope: Any, path: str, value: Any, where: ast.AST) -> Any: ...

    def annotated(self, node: Any, value: Value) -> Any: ...

    def annotated_as(self, node: Any, text: str) -> Any: ...

    def unwrapped(self, node: Any) -> Any: ...

    def constant_name(self, thing: Any) -> str: ...

    def unused_name(self, name: str) -> str: ...

    def has_own_parts(self, module: torch.nn.Module) -> bool: ...

    def add(self, owner: torch.nn.Module | None, made: Any) -> None: ...


class LoopEvaluator(Protocol):
    """Evaluates loops; see `Loops`."""

    def iteration(self, node: ast.expr) -> Iteration: ...

    def part(self, thing: Any, where: ast.AST) -> Result: ...


class StatementEvaluator(Protocol):
    """Evaluates statements; see `Statements`."""

    @property
    def scope(self) -> Any: ...

    @property
    def expressions(self) -> ExpressionEvaluator: ...

    @property
    def loops(self) -> LoopEvaluator: ...

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]: ...

    def statement(self, node: ast.stmt) -> list[ast.stmt]: ...

    def assign(self, target: ast.expr, result: Result, node: Any = None) -> list[ast.stmt]: ...

    def bind_target(self, target: Any, value: Value) -> None: ...


class ExpressionEvaluator(Protocol):
    """Evaluates expressions; see `Expressions`."""

    @property
    def scope(self) -> Any: ...

    @property
    def samples(self) -> Samples: ...

    @property
    def statements(self) -> StatementEvaluator: ...

    @property
    def calls(self) -> CallEvaluator: ...

    def evaluate(self, node: ast.expr) -> Result: ...

    def left(self, node: ast.expr) -> ast.expr: ...

    def expression(self, result: Result, where: ast.AST, *, copied: bool = False) -> Any: ...

    def named(self, result: Result, where: ast.AST, *, fresh: bool = False) -> ast.Name: ...

    def known(self, node: Any, value: Known) -> Result: ...

    def spread(self, result: Result, where: ast.AST) -> list[Result] | None: ...

    def present(self, result: Result, error: type[Exception] = ..., message: str = ...) -> Result: ...

    def attribute_of(self, owner: Result, value: Known, node: ast.Attribute) -> Result: ...

    def truth(self, result: Result, where: ast.AST) -> bool | None: ...

    def shortened(self, node: ast.expr) -> ast.expr: ...

    def discard(self, result: Result, where: ast.AST) -> None: ...


class CallEvaluator(Protocol):
    """Evaluates calls; see `Calls`."""

    @property
    def scope(self) -> Any: ...

    @property
    def expressions(self) -> ExpressionEvaluator: ...

    def call(self, node: ast.Call) -> Result: ...

    def called(self, node: ast.Call, callee: Result) -> Result: ...

    def arguments(self, node: ast.Call) -> Arguments: ...

    def place(self, node: ast.Call, arguments: Arguments, *, copied: bool = False) -> None: ...

    def written(self, statements: Sequence[ast.stmt], name: str, node: ast.AST) -> Result: ...

    def present(self, arguments: Arguments, name: str, skip: int) -> Arguments: ...

    def module_with(self, node: ast.Call, module: torch.nn.Module, arguments: Arguments) -> Result: ...

    def with_list(self, node: ast.Call, name: str, position: int) -> bool: ...
