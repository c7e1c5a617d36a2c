"""Scripting a program so that TorchScript neither drops what eager does nor changes what a literal means.

While scripting, TorchScript removes what it believes to be dead code. It goes by alias annotations, and some ops return an
alias without saying so: `x[i].add_(1)` with a 0-d tensor `i` writes x in eager, and leaves nothing in the graph. What is dead
may also raise: `x.expand(2, 3).add_(1)` does in eager. And a bool literal where a schema has a number becomes an int, so that
`torch.full([2], True)` gives integers.

Nothing of this can be told from the graph, therefore the syntax tree is changed before TorchScript compiles it. A value that
a statement makes or writes is *kept*: printed with a mark that the importer knows, as TorchScript never removes a print. A
bool literal among the operands of an op that takes numbers becomes `[True][0]`, whose conversion TorchScript cannot compute
and the importer sees (`Interpreter._numbers`). So do numbers of which TorchScript would compute something other than Python (`5 << 70`),
or that it would lose (-0.0, which it takes for 0.0). `float(x)`, which it leaves out of what it believes to be a float
(`float(n ** 2)`), is multiplied by 1.0, `int(x)` by 1. Line and column stay, so that locations and messages are the user's.

TorchScript's caches are put aside meanwhile: what the user scripts himself has nothing of this.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from typing import Any

import torch
import torch.jit._recursive as recursive
import torch.jit._state as jit_state
import torch.jit.frontend as frontend
from torch import _jit_internal

from ..._wrapper import ModelWrapper
from ...errors import SourceLocation
from ..ir.purity import unfolded
from ..isolation.patching import replaced
from .as_eager import as_eager, unused_functions_run
from .evaluation_order import compute_once, schemas
from .literals import (
    converted,
    counted_from_end,
    is_known,
    is_large,
    is_of_python,
    large_literal,
    named_dtype,
    unknown,
)
from .plain_dataclasses import plain_dataclasses

__all__ = ["IN_PLACE", "KEPT", "has_everything", "script_all", "script_plainly"]

# The first operand of a print that keeps a value; no program of a user prints this.
KEPT = "\0ssa_compiler.kept"
# The first operand of a print in front of a floor division that is in place, if it is one of tensors.
IN_PLACE = "\0ssa_compiler.in_place"
# Operators that TorchScript does not know as augmented assignments, or takes for others: `%=` for fmod.
_DIVISIONS = (ast.FloorDiv, ast.Mod)
# Operators of augmented assignments that TorchScript takes for pure ones.
_FORGOTTEN = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Pow)
# Methods of strings that search up to an end.
_SEARCHES = frozenset({"count", "endswith", "find", "index", "rfind", "rindex", "startswith"})
# Calls whose result is no value to TorchScript, so that it cannot be printed.
_NO_VALUES = frozenset({"range", "zip", "enumerate", "reversed", "getattr", "super", "annotate", "isinstance", "print"})


@cache
def _changing_methods() -> frozenset[str]:
    """Methods without a result that change a list or dict, by the schemas of TorchScript's ops."""
    return frozenset(
        schema.name.removeprefix("aten::")
        for schema in torch._C._jit_get_all_schemas()
        if schema.arguments
        and not schema.returns
        and schema.arguments[0].type.kind() in ("ListType", "DictType")
        and schema.arguments[0].alias_info is not None
        and schema.arguments[0].alias_info.is_write
        and not schema.name.startswith("aten::_")
    )


def script_all(
    script: Callable[[], Any],
    *,
    methods: bool = False,
    scripted: bool = False,
    repeated: list[SourceLocation] | None = None,
) -> Any:
    """Script a function or module, keeping all that its statements compute.

    Args:
        script: scripts it.
        methods: let `x.f()` be `torch.f(x)` where tensors of Python have such a method and those of TorchScript have none.
        scripted: whether eager runs TorchScript, too.
        repeated: receives the places of what TorchScript would compute several times.
    Returns:
        The ScriptFunction or ScriptModule, for the importer only.
    Raises:
        Exception: whatever TorchScript raises; also where only what is added here is rejected.
    """
    rewrite = partial(_rewritten, methods=methods, scripted=scripted, repeated=repeated if repeated is not None else [])
    with (
        _private_caches(),
        _renormalising(),
        _plain_functions(),
        plain_dataclasses(),
        unfolded(),
        nullcontext() if scripted else unused_functions_run(),
        _parsed_with(rewrite),
    ):
        return script()


def script_plainly(script: Callable[[], Any]) -> Any:
    """Script a function or module as TorchScript does it, but with eager's answers to `torch.jit.is_scripting()`.

    Args:
        script: scripts it.
    """
    with _private_caches(), plain_dataclasses(), unfolded(), unused_functions_run(), _parsed_with(as_eager):
        return script()


def has_everything(graph: Any) -> bool:
    """Whether TorchScript made a graph of a function in which values are kept."""
    return KEPT.lstrip("\0") in str(graph)


_overloads: dict[str, list[Any]] = {}
"""The declarations of overloaded functions by name: TorchScript forgets those that it has compiled."""


@contextmanager
def _private_caches() -> Iterator[None]:
    """Let TorchScript compile anew, and forget it afterwards."""
    names = ("_jit_caching_layer", "_jit_function_overload_caching")
    saved = {name: getattr(jit_state, name) for name in names}
    types, declared = recursive.concrete_type_store, _jit_internal._overloaded_fns
    _overloads.update({name: list(functions) for name, functions in declared.items()})
    # What was compiled before its declarations were seen here can only be taken as it is.
    compiled = weakref.WeakKeyDictionary(
        {
            function: overloads
            for function, overloads in saved[names[1]].items()
            if _jit_internal._qualified_name(function) not in _overloads
        }
    )
    try:
        setattr(jit_state, names[0], weakref.WeakKeyDictionary())
        setattr(jit_state, names[1], compiled)
        _jit_internal._overloaded_fns = dict(_overloads)
        recursive.concrete_type_store = recursive.ConcreteTypeStore()
        yield
    finally:
        _jit_internal._overloaded_fns = declared
        for name, cache in saved.items():
            setattr(jit_state, name, cache)
        recursive.concrete_type_store = types


@contextmanager
def _renormalising() -> Iterator[None]:
    """Let `embedding(..., max_norm=...)` write its weight: TorchScript's own op for it has a schema that writes nothing."""
    from torch.jit import _builtins

    key = id(torch.nn.functional._no_grad_embedding_renorm_)  # type: ignore[attr-defined]
    table = _builtins._get_builtin_table()  # type: ignore[no-untyped-call]
    before = table[key]
    try:
        table[key] = "aten::embedding_renorm_"
        yield
    finally:
        table[key] = before


@contextmanager
def _plain_functions() -> Iterator[None]:
    """Let a program call functions that `ssa_compiler.script` decorates: TorchScript sees what was decorated."""
    create = _jit_internal.createResolutionCallbackFromClosure

    def unwrapping(function: Any) -> Any:
        resolve = create(inspect.unwrap(function))  # names are those of what was decorated

        def lookup(name: str) -> Any:
            found = resolve(name)
            return found.model if isinstance(found, ModelWrapper) else found

        return lookup

    with replaced(_jit_internal, "createResolutionCallbackFromClosure", unwrapping):
        yield


@contextmanager
def _parsed_with(rewrite: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Let TorchScript see `rewrite(function, parsed)` for each function that it parses."""
    parse = getattr(frontend, "parse_def")  # noqa: B009 - a name that the module imports
    with replaced(frontend, "parse_def", lambda function: rewrite(function, parse(inspect.unwrap(function)))):
        yield


def _rewritten(function: Any, parsed: Any, *, methods: bool, scripted: bool, repeated: list[SourceLocation]) -> Any:
    """Rewrite a parsed function, unless it is one of PyTorch's own."""
    if str(getattr(function, "__module__", "")).partition(".")[0] == "torch":
        return parsed
    tree = copy.deepcopy((parsed if scripted else as_eager(function, parsed)).ast)
    definition = tree.body[0]
    # Decorators, defaults and annotations are not statements of the program.
    names = map("_ssa_compiler_part_{}".format, itertools.count())
    lines: list[int] = []
    try:
        if not scripted:
            compute_once(definition, lambda: next(names), lines)
    finally:
        repeated += [SourceLocation(str(parsed.filename), parsed.file_lineno - 1 + line) for line in lines]
    rewriter = _Rewriter(methods, _variables(definition), _Names(function))
    definition.body = rewriter.statements(definition.body)
    _let_defaults_be(definition.args)
    return parsed._replace(ast=ast.fix_missing_locations(tree))


def _variables(definition: Any) -> frozenset[str]:
    """The parameters and variables of a function, without those of loops over the parts of a module."""
    arguments = definition.args
    names = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    bound = [node for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names |= {node.id for node in bound}
    for node in ast.walk(definition):
        if isinstance(node, ast.For) and any(isinstance(part, ast.Attribute) for part in ast.walk(node.iter)):
            names -= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    return frozenset(names - {"self"})


def _let_defaults_be(arguments: ast.arguments) -> None:
    """Turn keyword-only parameters with defaults, which TorchScript rejects, into ones that may be passed by position too.

    The calling convention knows what they are (`OpenedModel.keyword_only`).
    """
    pairs = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    arguments.args += [argument for argument, default in pairs if default is not None]
    arguments.defaults += [default for _, default in pairs if default is not None]
    arguments.kwonlyargs = [argument for argument, default in pairs if default is None]
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)


class _Names(dict[str, Any]):
    """What names mean in a function that are none of its own variables."""

    def __init__(self, function: Any) -> None:
        function = inspect.unwrap(function)
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
        super().__init__(getattr(function, "__globals__", {}))
        for name, cell in zip(code.co_freevars if code is not None else (), cells):
            with suppress(ValueError):  # it has no contents yet
                self[name] = cell.cell_contents


class _Rewriter(ast.NodeTransformer):
    """Adds what keeps values, and hides bool literals, in the statements of one function."""

    def __init__(self, methods: bool, names: frozenset[str], meanings: dict[str, Any]) -> None:
        """Create it.

        Args:
            methods: as of `script_all`.
            names: the function's own variables that may be lists or dicts.
            meanings: what other names mean.
        """
        self._locals = names
        self._meanings = {name: meaning for name, meaning in meanings.items() if name not in names}
        self._temporaries = 0
        self._methods = methods

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements."""
        out: list[ast.stmt] = []
        for statement in body:
            found = self.visit(statement)
            out += found if isinstance(found, list) else [found]
        return out

    # Statements. -------------------------------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        if _has_value(node.value):
            return _keep(node, node.value)
        if isinstance(node.value, ast.Call) and _called_name(node.value) in _changing_methods():
            return self._change(node, node.value)
        if isinstance(node.value, ast.Call) and _called_name(node.value) not in _NO_VALUES:
            # An op without results writes its operands, perhaps the tensors of a list that is made for it.
            before: list[ast.stmt] = []
            node.value.args = [
                self._named(value, before) if isinstance(value, (ast.List, ast.Call)) else value
                for value in node.value.args
            ]
            names = [value for value in node.value.args if isinstance(value, ast.Name)]
            return [*before, node, *(_keep(node, _load(name)) for name in names)]
        return node

    def _change(self, node: ast.Expr, call: ast.Call) -> list[ast.stmt]:
        """`a.remove(v)`, which changes a list or dict or raises: that is kept, whether somebody reads it or not."""
        function = call.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, (ast.Name, ast.Subscript)):
            return [node]
        before: list[ast.stmt] = []
        if isinstance(function.value, ast.Subscript):
            function.value = self._named(function.value, before)
        elif function.value.id not in self._locals:
            return [node]  # torch.sort
        return [*before, node, _keep(node, _load(function.value))]

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.generic_visit(node)
        owners = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
        return [node, *(_keep(node, _load(owner)) for owner in owners if isinstance(owner, ast.Name))]

    def visit_Raise(self, node: ast.Raise) -> Any:
        """`raise KeyError` as `raise KeyError()`: TorchScript forgets the class of the former."""
        self.generic_visit(node)
        exception = node.exc
        if (isinstance(exception, ast.Name) and exception.id not in self._locals) or isinstance(
            exception, ast.Attribute
        ):
            node.exc = ast.copy_location(ast.Call(exception, [], []), exception)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.value, ast.Constant):
            node.value = unknown(node.value)
        if isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load):
            node.value = _columns(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        node.value = self._dtype(node.value)
        if isinstance(node.targets[0], (ast.Tuple, ast.List)):
            node.value = _columns(node.value)
        if len(node.targets) != 1:
            return node
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            return self._write_part(node, target)
        if isinstance(target, ast.Name) and is_known(node.value):
            node.value = unknown(node.value)
            return node
        if not _has_value(node.value):
            return node
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        return [node, *(_keep(node, _load(name)) for name in names if isinstance(name, ast.Name))]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        node.value = _hidden(node.value)
        if isinstance(node.op, _DIVISIONS):
            return self._divide(node)
        if isinstance(node.target, ast.Subscript):
            if isinstance(node.op, _FORGOTTEN):
                return self._update_part(node, node.target)
            return self._write_part(node, node.target)
        return [node, _keep(node, _load(node.target))] if isinstance(node.target, ast.Name) else node

    def _divide(self, node: ast.AugAssign) -> Any:
        """`x //= y`, which TorchScript does not know: `x = x // y`, of which the importer sees that it is in place; or `%=`."""
        if isinstance(node.target, ast.Subscript):
            return self._update_part(node, node.target)
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        before: list[ast.stmt] = []
        node.value = self._named(node.value, before)
        mark = _keep(node, read, IN_PLACE)
        made = ast.copy_location(ast.Assign([node.target], _quotient(node, copy.deepcopy(read))), node)
        kept = [_keep(node, _load(node.target))] if isinstance(node.target, ast.Name) else []
        return [*before, mark, made, *kept]

    def _write_part(self, node: ast.Assign | ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`a.b[i] = v`, where what is written has to be kept: it gets a name if it has none."""
        before: list[ast.stmt] = []
        if not isinstance(target.value, ast.Name) and not _is_attribute(target.value):
            if isinstance(node, ast.Assign) and not isinstance(node.value, (ast.Constant, ast.Name, ast.UnaryOp)):
                node.value = self._named(node.value, before)  # Python computes the value first
            target.value = self._named(target.value, before)
        if not isinstance(target.value, ast.Name):
            return [*before, node]  # a part of an attribute: TorchScript drops no write of a module's state
        return [*before, node, _keep(node, _load(target.value))]

    def _update_part(self, node: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`a[i] &= v`, of which TorchScript forgets the result, in the steps that Python takes."""
        before: list[ast.stmt] = []
        if not isinstance(target.value, ast.Name) and not _is_attribute(target.value):
            target.value = self._named(target.value, before)
        owner = copy.deepcopy(target.value)
        part = self._named(ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target), before)
        store = ast.copy_location(ast.Name(part.id, ast.Store()), target)
        update: ast.stmt = ast.copy_location(ast.AugAssign(store, node.op, node.value), node)
        if isinstance(node.op, _DIVISIONS):
            node.value = self._named(node.value, before)
            before.append(_keep(node, part, IN_PLACE))
            update = ast.copy_location(ast.Assign([store], _quotient(node, part)), node)
        back = ast.copy_location(ast.Subscript(owner, copy.deepcopy(target.slice), ast.Store()), target)
        return [*before, update, ast.copy_location(ast.Assign([back], part), node), _keep(node, part)]

    def _named(self, value: ast.expr, before: list[ast.stmt]) -> ast.Name:
        """Give a value a name, by an assignment in `before`."""
        self._temporaries += 1
        name = f"_ssa_compiler_{self._temporaries}"
        store = ast.copy_location(ast.Name(name, ast.Store()), value)
        before.append(ast.copy_location(ast.Assign([store], value), value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    # Expressions. ------------------------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if (number := large_literal(node)) is not None:
            return number
        self.generic_visit(node)
        base, exponent = (getattr(side, "value", None) for side in (node.left, node.right))
        if isinstance(node.op, ast.Pow) and type(base) is int and type(exponent) is int and exponent < 64:
            power = base**exponent  # a float to TorchScript
            return ast.copy_location(ast.Constant(power), node) if power < 2**63 else node
        if is_known(node.left) and is_known(node.right):
            node.left = unknown(node.left)
        node.left, node.right = _hidden(node.left), _hidden(node.right)
        return node

    def _meaning(self, expression: ast.expr) -> Any:
        """What `torch.linalg` means; None for anything but names of other modules and functions and their attributes."""
        if isinstance(expression, ast.Attribute):
            return getattr(self._meaning(expression.value), expression.attr, None)
        return self._meanings.get(expression.id) if isinstance(expression, ast.Name) else None

    def _dtype(self, value: ast.expr) -> ast.expr:
        return named_dtype(value, self._meanings)

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        node.value = node.value and self._dtype(node.value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        node.body, node.orelse = self._dtype(node.body), self._dtype(node.orelse)
        return node

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.elts = [self._dtype(element) for element in node.elts]
        return node

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.elts = [self._dtype(element) for element in node.elts]
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        node.keys = [key and self._dtype(key) for key in node.keys]
        node.values = [self._dtype(value) for value in node.values]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        if node.value is not None:
            node.value = self._dtype(node.value)
        if node.value is None or not isinstance(node.target, ast.Name):
            return node
        if is_known(node.value):
            node.value = unknown(node.value)
            return node
        return [node, _keep(node, _load(node.target))] if _has_value(node.value) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if (number := large_literal(node)) is not None:
            return number
        self.generic_visit(node)
        is_zero = isinstance(node.operand, ast.Constant) and node.operand.value == 0
        if isinstance(node.op, ast.USub) and is_zero and isinstance(node.operand.value, float):  # type: ignore[attr-defined]
            node.operand = unknown(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if is_known(node.left) and all(map(is_known, node.comparators)):
            node.left = unknown(node.left)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """An f-string as a call of `format`: TorchScript rejects formats, and takes `{{` for the start of one."""
        template, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                template += str(part.value).replace("{", "{{").replace("}", "}}")
                continue
            assert isinstance(part, ast.FormattedValue)
            spec = part.format_spec
            if spec is not None and not all(isinstance(piece, ast.Constant) for piece in spec.values):  # type: ignore[attr-defined]
                return self.generic_visit(node)
            template += "{" + (f"!{chr(part.conversion)}" if part.conversion != -1 else "")
            template += (":" + "".join(piece.value for piece in spec.values) if spec is not None else "") + "}"  # type: ignore[attr-defined]
            values.append(self.visit(part.value))
        if not values:
            return ast.copy_location(ast.Constant("".join(part.value for part in node.values)), node)  # type: ignore[attr-defined]
        text = ast.copy_location(ast.Constant(template), node)
        function = ast.copy_location(ast.Attribute(text, "format", ast.Load()), node)
        return ast.copy_location(ast.Call(function, values, []), node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if self._methods and isinstance(node.func, ast.Attribute) and _is_python_method(node.func.attr):
            owner = node.func.value
            if not isinstance(self._meaning(owner), types.ModuleType):
                node.func.value = ast.copy_location(ast.Name("torch", ast.Load()), owner)
                node.args = [owner, *node.args]
        if isinstance(node.func, ast.Attribute) and len(node.args) == 3 and node.func.attr in _SEARCHES:
            node.args[2] = counted_from_end(node.args[2])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "rsplit" and not node.args + node.keywords:
            node.func.attr = "split"  # TorchScript's rsplit() separates at single spaces
        if is_of_python(node.func):
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant):
                node.func.value = unknown(node.func.value)
            if _called_name(node) == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
                return node
            node.args = [unknown(argument) if is_known(argument) else argument for argument in node.args]
            return converted(node)
        if isinstance(node.func, ast.Name) and node.func.id == "bool":
            return converted(node)
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            node.args = [unknown(argument) if is_large(argument) else argument for argument in node.args]
        if not (called := schemas(node)):
            node.args = [self._dtype(argument) for argument in node.args]
            for keyword in node.keywords:
                keyword.value = self._dtype(keyword.value)
        if any("number" in str(argument.type) for schema in called for argument in schema.arguments):
            node.args = [_hidden(argument) for argument in node.args]
            for keyword in node.keywords:
                keyword.value = _hidden(keyword.value)
        return node


def _quotient(node: ast.AugAssign, value: ast.expr) -> ast.BinOp:
    return ast.copy_location(ast.BinOp(value, node.op, node.value), node)


def _columns(value: ast.expr) -> ast.expr:
    """`x.nonzero(as_tuple=True)`, of which the parts are used, as the op that gives a list of them."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "nonzero":
        return value
    flags = [k for k in value.keywords if k.arg == "as_tuple" and getattr(k.value, "value", None) is True]
    owner = value.func.value
    if not flags or len(value.keywords) != 1:
        return value
    if isinstance(owner, ast.Name) and owner.id == "torch" and len(value.args) == 1:
        owner = value.args[0]
    elif value.args:
        return value
    function = ast.copy_location(ast.Attribute(owner, "nonzero_numpy", ast.Load()), value.func)
    return ast.copy_location(ast.Call(function, [], []), value)


def _is_python_method(name: str) -> bool:
    """Whether tensors have a method of this name that is Python's, and torch a function that does the same."""
    return isinstance(getattr(torch.Tensor, name, None), types.FunctionType) and hasattr(torch.functional, name)


def _keep(place: ast.stmt, value: ast.expr, mark: str = KEPT) -> ast.Expr:
    """A statement at the place of another one that keeps a value."""
    call = ast.Call(ast.Name("print", ast.Load()), [ast.Constant(mark), value], [])
    for node in (call, call.func, call.args[0]):
        ast.copy_location(node, place)
    return ast.copy_location(ast.Expr(call), place)


def _load(target: ast.expr) -> ast.expr:
    assert isinstance(target, ast.Name)
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _hidden(value: ast.expr) -> ast.expr:
    """A bool literal as an element of a list; any other expression as it is."""
    if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
        return value
    return unknown(value)


def _called_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _has_value(expression: ast.expr) -> bool:
    """Whether an expression computes a value for TorchScript: ops without results and iterators do not, modules are none."""
    if isinstance(expression, ast.Subscript):
        return not (_is_attribute(expression.value) and isinstance(expression.value, ast.Attribute))
    if not isinstance(expression, ast.Call):
        computes = isinstance(expression, (ast.BinOp, ast.UnaryOp, ast.Compare))
        return computes or any(map(_has_value, _parts(expression)))
    return _called_name(expression) not in _NO_VALUES and all(schema.returns for schema in schemas(expression))


def _parts(expression: ast.expr) -> list[ast.expr]:
    """The expressions whose values are, or are in, the value of a display or of a choice."""
    if isinstance(expression, (ast.List, ast.Tuple)):
        return expression.elts
    if isinstance(expression, ast.Dict):
        return [part for part in (*expression.keys, *expression.values) if part is not None]
    if isinstance(expression, ast.IfExp):
        return [expression.body, expression.orelse]
    if isinstance(expression, ast.BoolOp):
        return expression.values
    return [expression.elt] if isinstance(expression, ast.ListComp) else []


def _is_attribute(expression: ast.expr) -> bool:
    """Whether an expression is `self.a.b`: a name with attributes."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name)
