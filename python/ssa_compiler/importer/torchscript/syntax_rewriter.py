"""Rewriting the syntax tree of a function so that TorchScript keeps what eager does and the meaning of literals."""

from __future__ import annotations

import ast
import copy
import types
from functools import cache
from typing import Any

import torch

from .evaluation_order import schemas
from .kept_values import NO_VALUES, called_name, compared_with_none, has_value, is_attribute
from .keywords import as_schema, has_names_of_numpy
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
from .other_words import columns, extended, makes_generator, plus, without_flag
from .tuple_operands import as_list, as_lists

__all__ = ["IN_PLACE", "KEPT", "Rewriter", "is_python_method"]

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


class Rewriter(ast.NodeTransformer):
    """Adds what keeps values, and hides bool literals, in the statements of one function."""

    def __init__(
        self, methods: bool, names: frozenset[str], meanings: dict[str, Any], *, generated: bool = False
    ) -> None:
        """Create it.

        Args:
            methods: as of `script_all`.
            names: the function's own variables that may be lists or dicts.
            meanings: what other names mean.
            generated: whether partial evaluation wrote it.
        """
        self._locals = names
        self._meanings = {name: meaning for name, meaning in meanings.items() if name not in names}
        self._temporaries = 0
        self._methods, self._generated = methods, generated
        self.has_methods = False
        """Whether it is rewritten otherwise with `methods`."""

    def definition(self, node: Any) -> None:
        """Rewrite a function, of which the graph shows then that it was rewritten (`has_everything`)."""
        body = self.statements(node.body)
        first = body[0]
        has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        node.body = [*body[:has_docstring], _keep(first, None), *body[has_docstring:]]

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements."""
        out: list[ast.stmt] = []
        for statement in body:
            found = self.visit(statement)
            out += found if isinstance(found, list) else [found]
        return out

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; what a statement compares with None is kept, as TorchScript asks types instead."""
        found = super().visit(node)
        field = {ast.If: "test", ast.Assert: "test", ast.Assign: "value", ast.Return: "value"}.get(type(node))
        if field is None or getattr(node, field) is None:
            return found
        kept = [_keep(node, copy.deepcopy(part)) for part in compared_with_none(getattr(node, field))]  # type: ignore[arg-type]
        return [*kept, *(found if isinstance(found, list) else [found])]

    # Statements.
    # -------------------------------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        if has_value(node.value):
            return _keep(node, node.value)
        if isinstance(node.value, ast.Call) and called_name(node.value) in _changing_methods():
            return self._change(node, node.value)
        if isinstance(node.value, ast.Call) and called_name(node.value) not in NO_VALUES:
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
            node.value = columns(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        node.value = self._dtype(node.value)
        if isinstance(node.targets[0], (ast.Tuple, ast.List)):
            node.value = columns(node.value)
        if len(node.targets) != 1:
            return node
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            return self._write_part(node, target)
        if isinstance(target, ast.Name) and (is_known(node.value) or _is_bool(node.value)):
            node.value = unknown(node.value)
            return node
        if not has_value(node.value):
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
            node.value = as_list(node.value)
            return self._write_part(node, node.target)
        if not isinstance(node.target, ast.Name):
            return node
        made = extended(node, node.target) if isinstance(node.op, ast.Add) else node
        node.value = as_list(node.value)
        return [made, _keep(node, _load(node.target))]

    def _divide(self, node: ast.AugAssign) -> Any:
        """`x //= y`, which TorchScript does not know: `x = x // y`, of which the importer sees that it is in place; or
        `%=`.
        """
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
        if not isinstance(target.value, ast.Name) and not is_attribute(target.value):
            if isinstance(node, ast.Assign) and not isinstance(node.value, (ast.Constant, ast.Name, ast.UnaryOp)):
                node.value = self._named(node.value, before)  # Python computes the value first
            target.value = self._named(target.value, before)
        if not isinstance(target.value, ast.Name):
            return [*before, node]  # a part of an attribute: TorchScript drops no write of a module's state
        return [*before, node, _keep(node, _load(target.value))]

    def _update_part(self, node: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`a[i] &= v`, of which TorchScript forgets the result, in the steps that Python takes."""
        before: list[ast.stmt] = []
        if not isinstance(target.value, ast.Name) and not is_attribute(target.value):
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

    # Expressions.
    # ------------------------------------------------------------------------------------------------------

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
        as_lists(node, self._generated)
        return node

    def _meaning(self, expression: ast.expr) -> Any:
        """What `torch.linalg` means; None for anything but names of other modules and functions and their
        attributes.
        """
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
        if is_known(node.value) or _is_bool(node.value):
            node.value = unknown(node.value)
            return node
        return [node, _keep(node, _load(node.target))] if has_value(node.value) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if (number := large_literal(node)) is not None:
            return number
        self.generic_visit(node)
        if isinstance(node.op, ast.UAdd):
            return plus(node)
        is_zero = isinstance(node.operand, ast.Constant) and node.operand.value == 0
        if isinstance(node.op, ast.USub) and is_zero and isinstance(node.operand.value, float):  # type: ignore[attr-defined]
            node.operand = unknown(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if is_known(node.left) and all(map(is_known, node.comparators)):
            node.left = unknown(node.left)
        as_lists(node, self._generated)
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

    def _as_function(self, node: ast.Call) -> None:
        """`x.f(...)` as `torch.f(x, ...)`, and keywords as TorchScript knows them."""
        if isinstance(node.func, ast.Attribute):
            owner, name = node.func.value, node.func.attr
            always = is_python_method(name, always=True)
            is_method = always or is_python_method(name) or has_names_of_numpy(node)
            if is_method and isinstance(self._meaning(owner), types.ModuleType):
                is_method = always = False
            self.has_methods |= is_method and not always
            if always or (self._methods and is_method):
                node.func.value = ast.copy_location(ast.Name("torch", ast.Load()), owner)
                node.args = [owner, *node.args]
                as_schema(node, getattr(torch, name))
                return
        if node.keywords and (function := self._meaning(node.func)) is not None:
            as_schema(node, function)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        self._as_function(node)
        converts = _converts_dtype(node) and not isinstance(self._meaning(_owner(node)), types.ModuleType)
        self.has_methods |= converts
        if self._methods and converts:
            dtype = ast.copy_location(ast.Attribute(ast.Name("torch", ast.Load()), node.func.attr, ast.Load()), node)  # type: ignore[attr-defined]
            node.func.attr, node.args = "to", [dtype]  # type: ignore[attr-defined]
            return node
        if isinstance(node.func, ast.Attribute) and len(node.args) == 3 and node.func.attr in _SEARCHES:
            node.args[2] = counted_from_end(node.args[2])
        without_flag(node)
        makes_generator(node, self._meaning(node.func))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "rsplit" and not node.args + node.keywords:
            node.func.attr = "split"  # TorchScript's rsplit() separates at single spaces
        if is_of_python(node.func):
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant):
                node.func.value = unknown(node.func.value)
            if called_name(node) == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
                return node
            node.args = [unknown(argument) if is_known(argument) else _hidden(argument) for argument in node.args]
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


@cache
def is_python_method(name: str, *, always: bool = False) -> bool:
    """Whether tensors have a method of this name that is Python's, and torch a function that does the same.

    Args:
        name: the name.
        always: only if TorchScript takes the method for an op with several results, of which Python returns the first.
    """
    if not isinstance(getattr(torch.Tensor, name, None), types.FunctionType) or not hasattr(torch.functional, name):
        return False
    counts = {len(schema.returns) for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}")}
    return not always or (bool(counts) and min(counts) > 1)


def _converts_dtype(call: ast.Call) -> bool:
    """Whether a call is one of a method that is named after a dtype, as `x.bool()`, of which TorchScript lacks some."""
    named = isinstance(call.func, ast.Attribute) and isinstance(getattr(torch, call.func.attr, None), torch.dtype)
    return named and not call.args and not call.keywords


def _owner(call: ast.Call) -> ast.expr:
    return call.func.value  # type: ignore[attr-defined]


def _keep(place: ast.stmt, value: ast.expr | None, mark: str = KEPT) -> ast.Expr:
    """A statement at the place of another one that keeps a value."""
    values: list[ast.expr] = [] if value is None else [value]
    call = ast.Call(ast.Name("print", ast.Load()), [ast.Constant(mark), *values], [])
    for node in (call, call.func, call.args[0]):
        ast.copy_location(node, place)
    return ast.copy_location(ast.Expr(call), place)


def _load(target: ast.expr) -> ast.expr:
    assert isinstance(target, ast.Name)
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _is_bool(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


def _hidden(value: ast.expr) -> ast.expr:
    """A bool literal as an element of a list; any other expression as it is."""
    return unknown(value) if _is_bool(value) else value
