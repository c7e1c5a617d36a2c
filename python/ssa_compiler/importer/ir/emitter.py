"""Building torch-dialect IR: types, constants, ops, regions, and scalar expressions.

Constants and pure scalar ops are made once per region: `Scope` remembers them, inner regions see those of outer ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sympy
import torch
from torch.utils._sympy import functions as sympy_functions
from torch_mlir import ir
from torch_mlir._mlir_libs import _mlir, _torchMlir

from ...errors import InternalError, UnsupportedProgramError
from ...process.forks import new_context
from ...process.generic_ops import leave_out_op_classes
from ...semantics.dtypes import element_types
from .locations import Locations
from .schemas import find_op, registered_name

__all__ = ["DTYPE_NAMES", "DTYPE_NUMBERS", "Emitter", "Scope"]

DTYPE_NAMES = {entry.dtype: entry.torch for entry in element_types()}
DTYPE_NUMBERS = {entry.dtype: entry.number for entry in element_types()}
"""PyTorch's ScalarType numbers, which TorchScript passes for dtypes."""

leave_out_op_classes(_mlir)

_SCALAR_TYPES = {
    int: "!torch.int",
    float: "!torch.float",
    bool: "!torch.bool",
    torch.Generator: "!torch.int",
    str: "!torch.str",
}


# What makes a float of sizes.
_QUOTIENTS = (sympy_functions.IntTrueDiv, sympy_functions.FloatTrueDiv, sympy_functions.ToFloat)


_ROUNDINGS = (sympy_functions.TruncToInt, sympy_functions.FloorToInt, sympy_functions.CeilToInt)


@dataclass
class Scope:
    """What is visible in a region: its block, memoised pure values, and where symbols are defined."""

    block: Any
    parent: Scope | None = None
    memo: dict[Any, Any] = field(default_factory=dict)
    symbols: dict[sympy.Symbol, Callable[[], Any]] = field(default_factory=dict)

    def lookup(self, key: Any) -> Any:
        """Return the value memoised under `key` here or further out, or None."""
        scope: Scope | None = self
        while scope is not None:
            if key in scope.memo:
                return scope.memo[key]
            scope = scope.parent
        return None

    def definition(self, symbol: sympy.Symbol) -> Callable[[], Any] | None:
        """Return what makes the SSA value of `symbol`, if it is visible here."""
        scope: Scope | None = self
        while scope is not None:
            if symbol in scope.symbols:
                return scope.symbols[symbol]
            scope = scope.parent
        return None


class Emitter:
    """Appends ops to the block of the current scope. Use inside its MLIR context (`with emitter.context:`)."""

    def __init__(self, locations: Locations) -> None:
        self.locations = locations
        self.context = new_context(ir, "func")
        _torchMlir.register_dialect(self.context)
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            self.asserts = False  # whether an op may raise what is found out at run time
            self.function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get("main"),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
                },
                regions=1,
                ip=ir.InsertionPoint(self.module.body),
            )
            self.entry = ir.Block.create_at_start(self.function.regions[0])
        self.scope = Scope(self.entry)
        self._types: dict[str, ir.Type] = {}

    # Types.

    def parse_type(self, text: str) -> ir.Type:
        """Return the type written as `text`."""
        if text not in self._types:
            self._types[text] = ir.Type.parse(text, self.context)
        return self._types[text]

    def scalar_type(self, kind: type) -> ir.Type:
        """Return `!torch.int`, `!torch.float`, `!torch.bool` or `!torch.str`."""
        return self.parse_type(_SCALAR_TYPES[kind])

    def tensor_type(self, dtype: torch.dtype, sizes: Sequence[Any]) -> ir.Type:
        """Return the type of a tensor; every size that is not an int is `?`."""
        if dtype not in DTYPE_NAMES:
            raise UnsupportedProgramError(
                f"unsupported: dtype {dtype}; convert the tensor with to()", location=self.locations.user()
            )
        dims = ",".join(str(int(size)) if _is_static(size) else "?" for size in sizes)
        return self.parse_type(f"!torch.tensor<[{dims}],{DTYPE_NAMES[dtype]}>")

    # Scopes and ops.

    @contextmanager
    def region(self, block: Any) -> Iterator[Scope]:
        """Append to `block`, which is in a region nested in the current one."""
        self.scope = Scope(block, self.scope)
        try:
            yield self.scope
        finally:
            assert self.scope.parent is not None
            self.scope = self.scope.parent

    def op(
        self,
        name: str,
        results: Sequence[ir.Type] = (),
        operands: Sequence[Any] = (),
        attributes: dict[str, ir.Attribute] | None = None,
        *,
        regions: int = 0,
    ) -> ir.Operation:
        """Append an op at the current location."""
        self.asserts |= name == "torch.operator"  # it may run in Python
        return ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes=attributes or {},
            regions=regions,
            loc=self.locations.mlir(),
            ip=ir.InsertionPoint(self.scope.block),
        )

    def draft(self, name: str, regions: int) -> ir.Operation:
        """Append an op to hold regions until its operands and results are known; `discard` it then.

        It is in the module, so that an import that is given up leaves nothing behind that outlives the module.
        """
        return self.op(name, regions=regions)

    def discard(self, operation: ir.Operation) -> None:
        """Erase a draft and what is left in its regions."""
        operation.erase()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Take back what is appended to the current block if that ends in an error."""
        scope = self.scope
        count, memo, symbols = len(scope.block.operations), dict(scope.memo), dict(scope.symbols)
        try:
            yield
        except Exception:
            for operation in reversed(list(scope.block.operations)[count:]):
                operation.operation.erase()
            scope.memo, scope.symbols = memo, symbols
            raise

    def registered(self, name: str) -> bool:
        """Whether torch-mlir knows the op."""
        return self.context.is_registered_operation(name)

    def torch_op(
        self, schema: Any, results: Sequence[ir.Type], operands: Sequence[Any], *, raises: bool = False
    ) -> ir.Operation:
        """Append the op of a PyTorch schema: the registered op of its name, or `torch.operator` with the schema.

        Args:
            schema: a torch._C.FunctionSchema.
            results: result types.
            operands: one SSA value per schema argument.
            raises: whether it has to run even if nobody needs its results.
        """
        name = registered_name(schema)
        if self.registered(f"torch.{name}"):
            created = self.op(f"torch.{name}", results, operands)
            try:
                created.verify()
                return created
            except ir.MLIRError:
                # torch-mlir knows another version of the schema, or has narrower types.
                created.erase()
        attributes = {"name": ir.StringAttr.get(f"torch.{name}"), "tssa.schema": ir.StringAttr.get(str(schema))}
        if raises or self.is_random(schema):
            attributes["tssa.random"] = ir.UnitAttr.get()
        return self.op("torch.operator", results, operands, attributes)

    def is_random(self, schema: Any) -> bool:
        """Whether two calls of an op may differ. An op of the user's may, for all we know."""
        if not schema.name.startswith(("aten::", "prim::", "prims::")):
            return True
        op = find_op(schema)
        return op is not None and torch.Tag.nondeterministic_seeded in op.tags

    def memoised(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value made earlier for `key` in a visible scope, or make it here."""
        found = self.scope.lookup(key)
        if found is None:
            found = self.scope.memo[key] = make()
        return found

    def constant(self, value: Any) -> Any:
        """Return the SSA value of a Python constant: None, bool, int, float, str; dtypes and formats are ints."""

        def make() -> Any:
            if value is None:
                return self.op("torch.constant.none", [self.parse_type("!torch.none")]).result
            if isinstance(value, bool):
                attribute: Any = ir.BoolAttr.get(value)
                return self.op("torch.constant.bool", [self.parse_type("!torch.bool")], (), {"value": attribute}).result
            if isinstance(value, int):
                attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
                return self.op("torch.constant.int", [self.parse_type("!torch.int")], (), {"value": attribute}).result
            if isinstance(value, float):
                attribute = ir.FloatAttr.get(ir.F64Type.get(), value)
                return self.op(
                    "torch.constant.float", [self.parse_type("!torch.float")], (), {"value": attribute}
                ).result
            if isinstance(value, str):
                attribute = ir.StringAttr.get(value)
                return self.op("torch.constant.str", [self.parse_type("!torch.str")], (), {"value": attribute}).result
            raise InternalError(f"a constant of type {type(value).__name__}", location=self.locations.user())

        return self.memoised(("constant", type(value), repr(value)), make)

    def list_of(self, element_type: str, operands: Sequence[Any]) -> Any:
        """Return a `!torch.list<element_type>` of the operands."""
        return self.op("torch.prim.ListConstruct", [self.parse_type(f"!torch.list<{element_type}>")], operands).result

    def cast(self, value: Any, to: ir.Type) -> Any:
        """Change a tensor's static sizes to those of the type `to`."""
        if value.type == to:
            return value
        return self.op("torch.tensor_static_info_cast", [to], [value]).result

    def scalar_op(self, name: str, kind: type, operands: Sequence[Any]) -> Any:
        """Return the result of a pure scalar op such as `aten.add.int`, made once per scope."""
        key = (name, *operands)
        return self.memoised(key, lambda: self.op(f"torch.{name}", [self.scalar_type(kind)], operands).result)

    def assertion(self, condition: Any, message: str) -> None:
        """Append `torch.runtime.assert condition, message`; `message` is "ExceptionName: text"."""
        self.asserts = True
        self.op("torch.runtime.assert", (), [condition], {"message": ir.StringAttr.get(message)})

    # Expressions over symbols.

    def define(self, symbol: sympy.Symbol, make: Callable[[], Any]) -> None:
        """Say how the SSA value of `symbol` is made; it is made when it is first needed, in the scope that needs it."""
        self.scope.symbols[symbol] = make

    def define_size(self, symbol: sympy.Symbol, expr: sympy.Expr) -> None:
        """Say that a size that is checked not to be negative is the value of an expression.

        It is defined wherever the expression is, also in front of a loop that makes tensors of that size. It was not
        checked there, so it is taken for 0 if it is negative.
        """
        scope = self.scope
        while scope.parent is not None and all(scope.parent.definition(each) for each in expr.free_symbols):
            scope = scope.parent
        scope.symbols[symbol] = partial(self.expression, expr if scope is self.scope else sympy.Max(0, expr))

    def visible(self, expr: Any) -> bool:
        """Whether every symbol of the expression can be computed in the current scope."""
        symbols = getattr(expr, "free_symbols", ())
        return all(self.scope.definition(symbol) is not None for symbol in symbols)

    def reaches(self, value: Any) -> bool:
        """Whether an SSA value is defined in the block that is being written, or around it."""
        defined = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        block = self.scope.block
        while block != defined:
            owner = block.owner.operation
            if owner.name == "func.func":
                return False
            block = owner.block
        return True

    def expression(self, expr: Any) -> Any:
        """Return the SSA value of an integer, float or boolean sympy expression."""
        if isinstance(expr, (bool, int, float)):
            return self.constant(expr)
        return self.memoised(("expr", expr), lambda: self._expression(expr))

    def _fold(self, name: str, operands: Sequence[Any]) -> Any:
        result = self.expression(operands[0])
        for operand in operands[1:]:
            result = self.scalar_op(name, bool if "bool" in name else int, [result, self.expression(operand)])
        return result

    def _float_expression(self, expr: Any) -> Any:
        """A number computed from floats, or from quotients of sizes, as ops that average over elements do."""
        if expr.is_number:
            return self.constant(float(expr))
        if isinstance(expr, sympy.Symbol) and not expr.is_integer:
            return self.expression(expr)
        if isinstance(expr, sympy_functions.ToFloat):
            return self._float_expression(expr.args[0])
        if isinstance(expr, _QUOTIENTS):
            return self.scalar_op("aten.div.float", float, [self._float_expression(part) for part in expr.args])
        if not _is_float(expr):
            return self.scalar_op("aten.Float.Scalar", float, [self.expression(expr)])
        if not isinstance(expr, (sympy.Add, sympy.Mul)):
            raise UnsupportedProgramError(
                f"unsupported: a number computed from sizes as {expr}; compute it with +, -, *, // of ints",
                location=self.locations.user(),
            )
        first, *others = [self._float_expression(part) for part in expr.args]
        for other in others:
            if isinstance(expr, sympy.Add):  # there is no addition of floats, but one can subtract
                other = self.scalar_op("aten.mul.float", float, [other, self.constant(-1.0)])
            name = "aten.sub.float" if isinstance(expr, sympy.Add) else "aten.mul.float"
            first = self.scalar_op(name, float, [first, other])
        return first

    def _float_relation(self, name: str, left: Any, right: Any) -> Any:
        """A comparison of two floats, by the ops that torch-mlir knows."""
        if name == "ne":
            return self.scalar_op("aten.__not__", bool, [self._float_relation("eq", left, right)])
        if name == "le":
            name, left, right = "ge", right, left
        return self.scalar_op(f"aten.{name}.float", bool, [left, right])

    def _rounded(self, expr: Any) -> Any:
        """An int made of a float, as sizes are of a size and a factor."""
        number = self._float_expression(expr.args[0])
        if isinstance(expr, sympy_functions.TruncToInt):
            return self.scalar_op("aten.Int.float", int, [number])
        if isinstance(expr, sympy_functions.CeilToInt):
            return self.scalar_op("aten.ceil.float", int, [number])
        opposite = self.scalar_op("aten.ceil.float", int, [self.scalar_op("aten.neg.float", float, [number])])
        return self.scalar_op("aten.neg.int", int, [opposite])

    def _expression(self, expr: Any) -> Any:
        if expr is sympy.true or expr is sympy.false:
            return self.constant(bool(expr))
        if isinstance(expr, sympy.Integer):
            return self.constant(int(expr))
        if isinstance(expr, sympy.Float):
            return self.constant(float(expr))
        if isinstance(expr, sympy.Symbol):
            definition = self.scope.definition(expr)
            if definition is not None:
                return definition()
        if isinstance(expr, _QUOTIENTS) or (isinstance(expr, (sympy.Add, sympy.Mul)) and _is_float(expr)):
            return self._float_expression(expr)
        if isinstance(expr, sympy.Add):
            return self._fold("aten.add.int", expr.args)
        if isinstance(expr, sympy.Mul):
            return self._fold("aten.mul.int", expr.args)
        if isinstance(expr, (sympy.Pow, sympy_functions.PowByNatural)) and isinstance(expr.args[1], sympy.Integer):
            if 0 < int(expr.args[1]) <= 8:
                return self._fold("aten.mul.int", [expr.args[0]] * int(expr.args[1]))
        if isinstance(expr, _ROUNDINGS):
            return self._rounded(expr)
        if isinstance(expr, (sympy.Max, sympy_functions.Max)):
            return self._fold("prim.max.int", expr.args)
        if isinstance(expr, (sympy.Min, sympy_functions.Min)):
            return self._fold("prim.min.int", expr.args)
        if isinstance(expr, (sympy_functions.FloorDiv, sympy_functions.CleanDiv)):
            return self._fold("aten.floordiv.int", expr.args)
        if isinstance(expr, (sympy_functions.PythonMod, sympy_functions.Mod, sympy.Mod)):
            return self._fold("aten.remainder.int", expr.args)
        if isinstance(expr, sympy.And):
            return self._fold("aten.__and__.bool", expr.args)
        if isinstance(expr, sympy.Or):
            return self._fold("aten.__or__.bool", expr.args)
        if isinstance(expr, sympy.Not):
            return self.scalar_op("aten.__not__", bool, [self.expression(expr.args[0])])
        relations = {sympy.Eq: "eq", sympy.Ne: "ne", sympy.Lt: "lt", sympy.Le: "le", sympy.Gt: "gt", sympy.Ge: "ge"}
        for relation, name in relations.items():
            if isinstance(expr, relation) and any(map(_is_float, expr.args)):
                return self._float_relation(name, *map(self._float_expression, expr.args))
            if isinstance(expr, relation):
                operands = [self.expression(operand) for operand in expr.args]
                return self.scalar_op(f"aten.{name}.int", bool, operands)
        raise UnsupportedProgramError(
            f"unsupported: a size that depends on the run-time value {expr}; compute it with +, -, *, //, % of ints",
            location=self.locations.user(),
        )


def _is_float(expr: Any) -> bool:
    """Whether an expression is computed from floats or quotients."""
    if expr.is_integer:  # a rounded float, for example
        return False
    return expr.has(*_QUOTIENTS, sympy.Float) or not all(symbol.is_integer for symbol in expr.free_symbols)


def _is_static(size: Any) -> bool:
    return isinstance(size, int) or (isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Integer))
