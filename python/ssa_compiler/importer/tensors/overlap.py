"""Writes through views that overlap themselves, and from sources that overlap the target.

Eager raises for some of them. Where sizes, strides and offsets are known, eager itself is asked: the op runs on real
tensors laid out the same way. Where an offset is dynamic, the rule of ATen/MemoryOverlap.cpp is emitted as
an assertion. Others eager computes in an order that it does not promise: unless target and source surely lie apart, or
meet only in the same elements (`disjointness.may_interfere`), the program is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
import torch

from ...errors import UnsupportedProgramError
from ..fake.concrete_run import try_op
from ..ir.torchscript_enums import python_argument
from ..values.diagnostics import ProgramRaises
from ..values.plan import AnotherPlan
from ..values.state import State
from ..values.symbols import expr_of
from ..values.values import TensorValue
from .disjointness import may_interfere, provably_disjoint

__all__ = ["check_write", "meets_itself", "repeated_dims"]

PARTIAL = (
    "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)
INTERNAL = (
    "RuntimeError: unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
_LARGEST_PROBE = 1 << 26
_LARGEST_LAYOUT = 1 << 16


_ELEMENTWISE = frozenset(
    f"aten::{name}_"
    for name in (
        "arctan2 copy copysign divide eq floor_divide gcd ge greater greater_equal gt heaviside lcm le less less_equal lt "
        "multiply ne not_equal subtract true_divide xlogy __iand_ __ior_ __ixor_ __irshift_"
    ).split()
)
_ELEMENTWISE_OUT = frozenset(
    f"aten::{name}.out" for name in ("arctan2", "divide", "floor_divide", "multiply", "subtract", "true_divide")
)
"""Elementwise ops that PyTorch does not tag as pointwise."""


def _integers(tensor: torch.Tensor) -> bool:
    return all(isinstance(n, int) for n in (*tensor.shape, *tensor.stride()))


def _dense(tensor: torch.Tensor) -> bool | None:
    """Whether a tensor fills its memory range without gaps or overlap; None if that is not known."""
    strides = [expr_of(stride) for stride in tensor.stride()]
    if not all(stride.is_Integer for stride in strides):
        return None
    expected: Any = sympy.Integer(1)
    unknown = False
    for stride, size in sorted(zip(strides, map(expr_of, tensor.shape)), key=lambda pair: int(pair[0])):
        if size == 1:
            continue
        if stride != expected:
            if unknown or not size.is_Integer:
                return None
            return False
        expected *= size
        unknown = unknown or not size.is_Integer
    return True


def _overlaps_itself(tensor: torch.Tensor) -> bool:
    """Whether eager may find that two elements of the tensor are one memory location."""
    return any(
        expr_of(stride) == 0 and not (isinstance(size, int) and size <= 1)
        for size, stride in zip(tensor.shape, tensor.stride())
    )


def repeated_dims(tensor: torch.Tensor) -> list[int]:
    """Return the dimensions along which all elements are one memory location, several times."""
    pairs = enumerate(zip(tensor.shape, tensor.stride()))
    return [dim for dim, (size, stride) in pairs if isinstance(size, int) and size > 1 and expr_of(stride) == 0]


def meets_itself(tensor: torch.Tensor) -> bool | None:
    """Return whether two elements of a tensor are one memory location; None if that is not known."""
    if not _integers(tensor):
        return None
    reach = 0
    pairs = sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride()) if size != 1)
    if any(size == 0 for _, size in pairs):
        return False
    for stride, size in pairs:
        if stride <= reach:
            break
        reach += stride * (size - 1)
    else:
        return False
    if tensor.numel() > _LARGEST_LAYOUT:
        return None
    places = torch.zeros((), dtype=torch.int64)
    for size, stride in zip(tensor.shape, tensor.stride()):
        places = places.unsqueeze(-1) + torch.arange(size) * stride
    return len(set(places.flatten().tolist())) != tensor.numel()


def check_write(state: State, op: Any, target: TensorValue, values: Sequence[Any], args: Sequence[Any]) -> None:
    """Check an in-place op as eager does.

    Args:
        state: the interpretation.
        op: the in-place OpOverload.
        target: the tensor that it writes.
        values: its arguments as abstract values.
        args: its arguments as Python values, FakeTensors for tensors.
    Raises:
        ProgramRaises: eager raises.
        UnsupportedProgramError: whether eager raises cannot be told, not even at run time, or eager's result depends on
            the order in which it visits the elements.
    """
    for value in values:
        for maybe in value.maybe if isinstance(value, TensorValue) else ():
            if maybe.interferes is not None and maybe.storages & target.storages and maybe.interferes(target, value):
                raise AnotherPlan.without({maybe.retry})
    elementwise = _is_elementwise(op)
    sources = [
        value
        for value in values
        if isinstance(value, TensorValue)
        and (value is not target or not elementwise)
        and (value.root is target.root or value.storages & target.storages)
    ]
    if not elementwise:
        sources.remove(target)  # it is among the arguments once as the one that is written
    suspicious = [source for source in sources if not elementwise or not _same_layout(source, target)]
    internal = _overlaps_itself(target.fake)
    if not internal and not suspicious:
        return
    related = [target, *suspicious]
    if all(t.root is target.root and t.offset.is_Integer and _integers(t.fake) for t in related):
        if any(not provably_disjoint(state.symbols, target, source) for source in suspicious) or internal:
            try:
                agrees = _ask_eager(state, op, related, args)
            except ProgramRaises:
                _need_layouts(state, op, related)
                raise
            _reject_crossing(state, op, target, suspicious, elementwise, agrees)
        return
    if internal:
        if elementwise:
            if _integers(target.fake) or all(isinstance(s, int) for s in target.fake.shape):
                raise ProgramRaises(INTERNAL)
            raise state.unsupported(f"{op.name()} writes an expanded view of a dynamic size; clone() it")
    for source in suspicious:
        _assert_no_partial_overlap(state, op, target, source)


def _is_elementwise(op: Any) -> bool:
    """Whether eager looks for partial overlaps before an op, and then computes element by element."""
    name = op._schema.name
    if torch.Tag.pointwise in op.tags:
        return bool(name != "aten::ldexp_")  # of which it reads a part first
    return name in _ELEMENTWISE or op.name() in _ELEMENTWISE_OUT


def _same_layout(a: TensorValue, b: TensorValue) -> bool:
    return _comparable(a, b) and a.offset == b.offset and a.fake.dtype == b.fake.dtype and _facts(a) == _facts(b)


def _copies(op: Any, target: TensorValue, source: TensorValue) -> bool:
    """Whether the op stores the source's elements as they are."""
    a, b = target.fake, source.fake
    same = a.dtype == b.dtype and a.is_conj() == b.is_conj() and a.is_neg() == b.is_neg()
    return same and bool(op._schema.name == "aten::copy_")


def _comparable(a: TensorValue, b: TensorValue) -> bool:
    """Whether the offsets count from the same place if the two share a storage."""
    return a.root is b.root or (a.absolute and b.absolute)


def _reject_crossing(
    state: State, op: Any, target: TensorValue, sources: Sequence[TensorValue], elementwise: bool, agrees: bool
) -> None:
    """Reject a write that eager does not raise for, but whose result depends on the order of its elements.

    An op that is not elementwise may read its source at any time, unless it is a number that it reads first: then the
    outcome is that with a copy of the source (`agrees`).
    """
    for source in sources:
        if elementwise:
            interferes = may_interfere(state.symbols, target, source, _copies(op, target, source))
        else:
            interferes = not (provably_disjoint(state.symbols, target, source) or (agrees and source.fake.dim() == 0))
        if interferes:
            raise _order_matters(state, op)


def _order_matters(state: State, op: Any) -> UnsupportedProgramError:
    return state.unsupported(
        f"{op.name()} reads a tensor that overlaps the one it writes, or may, in other elements than it writes at the "
        "time: its result depends on the order in which eager visits them; clone() the source"
    )


def _facts(value: TensorValue) -> tuple[Any, ...]:
    return tuple(expr_of(n) for n in (*value.fake.shape, *value.fake.stride()))


def _extent(value: TensorValue) -> int:
    """The number of elements from the storage offset to the last element of the tensor."""
    return 1 + sum(stride * (size - 1) for stride, size in zip(value.fake.stride(), value.fake.shape) if size > 0)


def _ask_eager(state: State, op: Any, related: Sequence[TensorValue], args: Sequence[Any]) -> bool:
    """Run the op on real tensors that overlap as the program's do, and raise what eager raises about overlap.

    Returns:
        Whether the outcome is the same with copies of the sources, for distinct numbers.
    """
    low = min(int(value.offset) for value in related)
    size = max(int(value.offset) - low + _extent(value) for value in related)
    others = [a for a in args if isinstance(a, torch.Tensor) and all(a is not r.fake for r in related)]
    if size > _LARGEST_PROBE or not all(_integers(other) for other in others):
        raise state.unsupported(
            f"{op.name()} on overlapping views of a storage of {size} elements; clone() one of them"
        )

    def outcome(copied: bool) -> torch.Tensor:
        storage = torch.arange(size).to(related[0].fake.dtype)

        def real(value: Any) -> Any:
            for view in related:
                if value is view.fake:
                    if view.fake.dtype != storage.dtype:
                        return torch.zeros(view.fake.shape, dtype=view.fake.dtype)
                    made = storage.as_strided(view.fake.shape, view.fake.stride(), int(view.offset) - low)
                    return made.clone() if copied and view is not related[0] else made
            if isinstance(value, torch.Tensor):
                return torch.full(value.shape, value.dtype == torch.bool, dtype=value.dtype)
            if isinstance(value, (list, tuple)):
                return [real(element) for element in value]
            return 1 if isinstance(value, (torch.SymInt, torch.SymFloat)) else value

        positional, keywords = [], {}
        for argument, value in zip(op._schema.arguments, args):
            converted = python_argument(real(value), argument)
            if argument.kwarg_only:
                keywords[argument.name] = converted
            else:
                positional.append(converted)
        try_op(op, positional, keywords)
        return storage

    try:
        shared = outcome(False)
        scalars = all(source.fake.dim() == 0 for source in related[1:])
        return scalars and torch.equal(shared, outcome(True))
    except RuntimeError as error:
        if str(error).startswith("unsupported operation"):
            raise ProgramRaises(f"RuntimeError: {str(error).splitlines()[0]}") from error
        return False


def _assert_no_partial_overlap(state: State, op: Any, target: TensorValue, source: TensorValue) -> None:
    """Emit ATen's rule: dense tensors of overlapping, different memory ranges, or of one range with other strides."""
    if not _is_elementwise(op):
        raise state.unsupported(f"{op.name()} reads a tensor that may overlap the one it writes; clone() it")
    if all(expr_of(value.fake.numel()) == 1 for value in (target, source)):
        if target.fake.element_size() == source.fake.element_size():
            return  # they are one element, or apart
    comparable = _comparable(target, source)
    dense = (_dense(target.fake), _dense(source.fake))
    if dense != (True, True) or source.root is not target.root:
        # Where one is not dense, ATen calls this too hard to tell, and does not raise.
        if comparable and not may_interfere(state.symbols, target, source, _copies(op, target, source)):
            return
        if False in dense:
            raise _order_matters(state, op)
        raise state.unsupported(
            f"{op.name()} reads a tensor that may partly overlap the one it writes, depending on run-time values; "
            "clone() it"
        )
    sizes = [expr_of(value.fake.numel()) for value in (target, source)]
    if 0 in sizes:
        return
    distance = sympy.expand(target.offset - source.offset)
    step = _common_factor(distance)
    same_layout = sizes[0] == sizes[1] and _strides(target) == _strides(source)
    if step is not None and all(size.is_Integer and step >= size for size in sizes):
        if same_layout or _never_zero(state, distance):
            return
    # Apart: target starts at or after the end of source, or ends at or before its start; or there is nothing to write.
    choices = [sympy.Ge(distance, sizes[1]), sympy.Le(distance, -sizes[0])]
    choices += [sympy.Eq(size, 0) for size in sizes if not size.is_Integer]
    if same_layout:
        choices.append(sympy.Eq(distance, 0))
    elif _strides(target) == _strides(source):
        choices.append(sympy.And(sympy.Eq(distance, 0), sympy.Eq(*sizes)))
    _need_layouts(state, op, [target, source])
    state.check(sympy.Or(*choices), PARTIAL)


def _need_layouts(state: State, op: Any, related: Sequence[TensorValue]) -> None:
    """Take what eager raises for the layouts that arguments have: where one has gaps, it does not look."""
    state.layouts.need(frozenset().union(*(value.storages for value in related)), op.name())


def _never_zero(state: State, distance: sympy.Expr) -> bool:
    low, high = state.symbols.bounds(distance)
    return bool(low > 0 or high < 0)


def _strides(value: TensorValue) -> tuple[Any, ...]:
    return tuple(expr_of(stride) for stride in value.fake.stride())


def _common_factor(distance: sympy.Expr) -> int | None:
    """The largest number known to divide an integer expression; None for zero."""
    factor = 0
    for term in sympy.Add.make_args(distance):
        coefficient, _ = term.as_coeff_Mul()
        if not coefficient.is_Integer:
            return 1
        factor = int(sympy.gcd(factor, int(coefficient)))
    return factor or None
