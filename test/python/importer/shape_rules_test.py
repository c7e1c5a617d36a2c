"""What the shape rules say of an op is what eager does: sizes, strides, dtypes, aliasing, for each value of a size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch

from _nightly import NIGHTLY
from ssa_compiler.importer.fake import shape_rules, view_rules
from ssa_compiler.importer.fake.trace import Trace
from ssa_compiler.importer.values.fake_layout import is_plain, made, viewed
from ssa_compiler.importer.values.symbols import Symbols, expr_of

aten = torch.ops.aten
_VALUES = (0, 1, 2, 5)
# How a tensor lies in memory: what makes it from a whole one, whose sizes are those of the tensor or larger.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: aten.transpose.int(x, 0, 1),
    "column": lambda x: aten.slice.Tensor(x, 1, 0, 1, 1),
    "row": lambda x: aten.select.int(x, 1, 1),
    "expanded": lambda x: aten.expand.default(aten.slice.Tensor(x, 1, 0, 1, 1), [-1, 3]),
}
_FEW_LAYOUTS = ("contiguous", "transposed", "row")


class Pair:
    """Tensors with symbolic sizes, and real ones for values of these."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self.size = self.symbols.integer("size", low=0)

    def fake(self, layout: str, dtype: torch.dtype, *, static: bool = False) -> Any:
        whole = made(self.symbols, [4 if static else self.size, 3], dtype, torch.device("cpu"))
        if layout == "contiguous":
            return whole
        with self.symbols.mode, self.symbols.transaction():
            laid_out = LAYOUTS[layout](whole)
        return viewed(self.symbols, whole, laid_out.shape, laid_out.stride(), laid_out.storage_offset())

    def at(self, number: Any, value: int) -> int:
        """Return a symbolic number where the size has a value."""
        expr = expr_of(number)
        return int(expr.subs({expr_of(self.size): value})) if hasattr(expr, "subs") else int(expr)


def real(layout: str, dtype: torch.dtype, rows: int) -> torch.Tensor:
    found: torch.Tensor = LAYOUTS[layout](torch.ones(rows, 3, dtype=dtype))
    return found


def overloads(rule: Any) -> Iterator[Any]:
    for name in sorted(dir(aten)):
        packet = getattr(aten, name)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            for overload in packet.overloads():
                op = getattr(packet, overload)
                # Of gradients, oneDNN raises for some layouts (`gelu_backward`); no program calls them.
                if "out" not in overload and "backward" not in name and shape_rules._rule(op) is rule:
                    yield op


def operands(op: Any, tensors: Iterator[Any]) -> list[Any] | None:
    """Return arguments for an op: tensors, and numbers that most ops take; None where it wants others."""
    given: list[Any] = []
    for argument in op._schema.arguments:
        kind = str(argument.real_type)
        if kind == "Tensor":
            given.append(next(tensors))
        elif argument.has_default_value():
            given.append(argument.default_value)
        elif kind in ("number", "Scalar", "float"):
            given.append(1.0)
        elif kind in ("int", "SymInt"):
            given.append(1)
        elif kind.startswith(("List[int]", "List[SymInt]")):
            given.append([1])
        else:
            return None
    return given


def call(op: Any, args: list[Any]) -> Any:
    positional = [value for spec, value in zip(op._schema.arguments, args) if not spec.kwarg_only]
    return op(*positional, **{spec.name: value for spec, value in zip(op._schema.arguments, args) if spec.kwarg_only})


def compare(pair: Pair, trace: Trace, op: Any, args: list[Any], value: int) -> None:
    """Compare what a rule says with what eager does to real tensors."""
    expected, out = call(op, args), trace.out
    assert out.dtype == expected.dtype
    assert tuple(pair.at(size, value) for size in out.shape) == tuple(expected.shape)
    strides = [(pair.at(own, value), other) for own, other in zip(out.stride(), expected.stride())]
    if expected.numel():
        assert all(own == other for (own, other), size in zip(strides, expected.shape) if size > 1), (args, value)
    ours, theirs = (
        [
            isinstance(arg, torch.Tensor) and arg.untyped_storage()._cdata == made.untyped_storage()._cdata
            for arg in given
        ]
        for given, made in ((trace.records[-1].args, out), (args, expected))
    )
    assert ours == theirs


def cases(op: Any, *, static: bool) -> Iterator[tuple[Pair, list[Any], Callable[[int], list[Any]]]]:
    """Yield arguments for an op in several layouts and dtypes: with symbolic sizes, and for a value of the size."""
    tensors = sum(str(argument.real_type) == "Tensor" for argument in op._schema.arguments)
    dtypes = (torch.float32, torch.int64, torch.bool) if NIGHTLY else (torch.float32, torch.int64)
    layouts = itertools.product(LAYOUTS if NIGHTLY else _FEW_LAYOUTS, repeat=min(tensors, 2))
    for names, dtype in itertools.product(layouts, dtypes):
        pair = Pair()
        chosen = [*names, *["contiguous"] * tensors]
        args = operands(op, map(partial(pair.fake, dtype=dtype, static=static), chosen))
        if args is None or not all(is_plain(arg, pair.symbols.mode) for arg in args if isinstance(arg, torch.Tensor)):
            continue

        def at(value: int, chosen: list[str] = chosen, dtype: torch.dtype = dtype) -> list[Any]:
            return operands(op, map(partial(real, dtype=dtype, rows=value), chosen)) or []

        yield pair, args, at


@pytest.mark.parametrize("rule", ["_pointwise", "_pointwise_in_place", "_reduction"])
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.slow
def test_rules_say_what_eager_does(rule: str, static: bool) -> None:
    ops = list(overloads(getattr(shape_rules, rule)))
    compared = 0
    for op in ops:
        for pair, args, at in cases(op, static=static):
            trace = shape_rules._rule(op)(pair.symbols, op, args)  # type: ignore[misc]
            if trace is None:
                continue
            for value in (4,) if static else _VALUES:
                compare(pair, trace, op, at(value), value)
                compared += 1
    assert len(ops) > 20
    assert compared > 2 * len(ops), compared


_VIEWS: list[tuple[Any, list[Any]]] = [
    (aten.select.int, [0, 0]),
    (aten.select.int, [1, -1]),
    (aten.slice.Tensor, [1, 1, None, 1]),
    (aten.slice.Tensor, [1, None, -1, 2]),
    (aten.slice.Tensor, [0, None, None, 1]),
    (aten.slice.Tensor, [1, -7, 9, 1]),
    (aten.slice.Tensor, [1, 2, 1, 1]),
    (aten.unsqueeze.default, [0]),
    (aten.unsqueeze.default, [-1]),
    (aten.permute.default, [[1, 0]]),
    (aten.transpose.int, [0, -1]),
    (aten.expand.default, [[2, -1, -1], False]),
    (aten.view.default, [[-1]]),
    (aten.view.default, [[-1, 3, 1]]),
    (aten.reshape.default, [[-1]]),
    (aten.reshape.default, [[3, -1]]),
    (aten.reshape.default, [[-1, 1, 3]]),
    (aten.flatten.using_ints, [0, -1]),
    (aten.flatten.using_ints, [1, 1]),
    (aten.movedim.int, [0, 1]),
    (aten.movedim.int, [1, 1]),
    (aten.contiguous.default, [torch.contiguous_format]),
    (aten.to.dtype, [torch.float64, False, False, None]),
    (aten.to.dtype, [torch.float32, False, False, None]),
    (aten.to.dtype, [torch.float32, False, True, None]),
]


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "column", "expanded"])
@pytest.mark.parametrize(("op", "numbers"), _VIEWS, ids=lambda value: str(value).removeprefix("aten."))
def test_views_and_copies_are_those_of_eager(op: Any, numbers: list[Any], layout: str) -> None:
    for static in (False, True):
        pair = Pair()
        fake = pair.fake(layout, torch.float32, static=static)
        rule = {**view_rules.VIEWS, **view_rules.COMPOSITES}[op]
        trace = rule(pair.symbols, op, [fake, *numbers])
        if trace is None:
            continue
        for value in (4,) if static else (2, 5):
            source = real(layout, torch.float32, value)
            expected = call(op, [source, *numbers])
            assert tuple(pair.at(size, value) for size in trace.out.shape) == tuple(expected.shape)
            assert tuple(pair.at(stride, value) for stride in trace.out.stride()) == expected.stride()
            aliases = trace.out.untyped_storage()._cdata == fake.untyped_storage()._cdata
            assert aliases == (expected.untyped_storage()._cdata == source.untyped_storage()._cdata)
            assert not aliases or pair.at(trace.out.storage_offset(), value) == expected.storage_offset()
            assert (trace.out is fake) == (expected is source)
            assert trace.out.dtype == expected.dtype


_BOUNDS: list[Any] = [None, 0, 1, 3, 9, -1, -3, "n", "-n", "n + 1", "any"]


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("static", [False, True])
def test_slices_with_dynamic_bounds_are_those_of_eager(static: bool, step: int) -> None:
    """Of a bound of which it is not known whether it counts from the end, sizes and offsets are new symbols."""
    known = 0
    for start, end in itertools.product(_BOUNDS, _BOUNDS):
        pair = Pair()
        n = pair.symbols.integer("n", low=0)
        bounds = {"n": n, "-n": pair.symbols.to_symint(-expr_of(n) - 1), "any": pair.symbols.integer("any")}
        bounds["n + 1"] = pair.symbols.to_symint(expr_of(n) + 1)
        fake = pair.fake("transposed" if static else "contiguous", torch.float32, static=static)
        dim = 1 if static else 0
        args = [fake, dim, bounds.get(start, start), bounds.get(end, end), step]
        trace = view_rules.VIEWS[aten.slice.Tensor](pair.symbols, aten.slice.Tensor, args)
        assert trace is not None
        numbers = expr_of(trace.out.shape[dim]), expr_of(trace.out.storage_offset()), expr_of(trace.out.stride(dim))
        vague = "any" in (start, end)
        assert vague == any(number.free_symbols - {expr_of(pair.size), expr_of(n)} for number in numbers)
        for rows, value in itertools.product((4,) if static else _VALUES, () if vague else _VALUES):
            given = {"n": value, "-n": -value - 1, "n + 1": value + 1}
            expected = real("transposed" if static else "contiguous", torch.float32, rows)
            expected = aten.slice.Tensor(expected, dim, given.get(start, start), given.get(end, end), step)
            found = [int(number.subs({expr_of(pair.size): rows, expr_of(n): value})) for number in numbers]
            assert found[0] == expected.shape[dim]
            assert not expected.numel() or found[1:] == [expected.storage_offset(), expected.stride(dim)]
            known += 1
    assert known >= 400


def test_what_is_not_known_is_left_to_fake_tensors() -> None:
    pair = Pair()
    other = pair.symbols.integer("other", low=0)
    x, y = pair.fake("contiguous", torch.float32), made(pair.symbols, [other, 3], torch.float32, torch.device("cpu"))
    add, view = shape_rules._rule(aten.add.Tensor), view_rules.VIEWS[aten.view.default]
    assert add is not None
    assert add(pair.symbols, aten.add.Tensor, [x, y, 1]) is None  # they may not fit
    assert add(pair.symbols, aten.add.Tensor, [x, x, 1]) is not None
    assert view(pair.symbols, aten.view.default, [x, [-1, 2]]) is None  # it may not be even
    assert view(pair.symbols, aten.view.default, [x, [other, -1]]) is None
    smallest = shape_rules._rule(aten.amin.default)
    assert smallest is not None
    assert smallest(pair.symbols, aten.amin.default, [x, [0], False]) is None  # of nothing, it raises
    assert smallest(pair.symbols, aten.amin.default, [x, [1], False]) is not None
    index = shape_rules._rule(aten.index.Tensor)
    assert index is not None
    assert index(pair.symbols, aten.index.Tensor, [x, [None]]) is None  # eager raises
