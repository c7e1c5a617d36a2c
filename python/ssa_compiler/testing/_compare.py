"""Compares what two sides of a call did: results, arguments afterwards, module state, errors, and what shares
memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass
from typing import Any

import torch

from .interpreter import InterpreterError

__all__ = [
    "Outcome",
    "StageMismatch",
    "compare_outcomes",
    "compare_values",
    "fitting_error",
    "leaves",
    "memory_span",
    "spans_overlap",
]

# Relative and absolute tolerance of floating-point values. Operators are the same in every stage, but the compiler
# reorders reductions and approximates transcendental functions, to a few units in the last place of each dtype.
_TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-9, 1e-11),
    torch.float32: (2e-5, 2e-6),
    torch.float16: (2e-3, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
    torch.complex64: (2e-5, 2e-6),
    torch.complex128: (1e-9, 1e-11),
}
# An exception of eager is matched by one that is an instance of the same of these; the first that fits counts.
_ERRORS = (IndexError, ZeroDivisionError, AssertionError, ValueError, TypeError, NotImplementedError, RuntimeError)


class StageMismatch(AssertionError):
    """A stage does not do what eager does.

    Attributes:
        stage: the first stage that differs: "imported", "scf", "tensorssa", "iree" or "compiled".
        call: index of the input set.
        sides: what eager and the stage did, where both ran.
    """

    def __init__(self, stage: str, call: int, detail: str, sides: tuple[Outcome, Outcome] | None = None) -> None:
        self.stage = stage
        self.call = call
        self.sides = sides
        super().__init__(f"stage '{stage}', input set {call}: {detail}")


@dataclass
class Outcome:
    """What one side did: a result or an error, and the arguments and module state afterwards.

    `copies` are the tensors of the result that the conversion documents as copies of what may be an argument, `random`
    the state of PyTorch's random numbers. `converted` says that TorchScript ran, which makes the containers of
    the result anew wherever they are.
    """

    result: Any = None
    error: BaseException | None = None
    arguments: tuple[Any, Any] = ((), {})
    state: dict[str, Any] = field(default_factory=dict)
    copies: list[Any] = field(default_factory=list)
    random: torch.Tensor | None = None
    converted: bool = False

    def is_copy(self, value: Any) -> bool:
        """Whether a value is one of the copies, or another tensor object that shows the memory of one."""
        return any(
            copied is value
            or (isinstance(copied, torch.Tensor) and isinstance(value, torch.Tensor) and _shows_all_of(copied, value))
            for copied in self.copies
        )


def compare_values(
    expected: Any,
    actual: Any,
    name: str = "result",
    *,
    rtol: float | None = None,
    atol: float | None = None,
    exact: bool = False,
) -> str | None:
    """Compare two results.

    Args:
        expected: what eager returned: tensors, scalars, None, str, nested in tuples, lists and dicts.
        actual: what the other side returned.
        name: how to call the value in the message.
        rtol: relative tolerance of floating-point values, by default that of the dtype.
        atol: absolute tolerance.
        exact: whether Python floats have to be equal bit for bit.
    Returns:
        What differs, in words; None if nothing does. Integers and bools must be equal, NaN equals NaN.
    """
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, torch.Tensor):
            return f"{name}: expected a tensor, got {type(actual).__name__}"
        return _compare_tensors(expected, actual, name, rtol, atol)
    if isinstance(expected, torch.Generator):
        same = isinstance(actual, torch.Generator) and torch.equal(expected.get_state(), actual.get_state())
        return None if same else f"{name}: expected a generator in the same state, got {actual!r}"
    if isinstance(expected, list | tuple):
        if isinstance(actual, list) != isinstance(expected, list) or not isinstance(actual, list | tuple):
            return f"{name}: expected a {type(expected).__name__}, got {type(actual).__name__}"
        if len(expected) != len(actual):
            return f"{name}: expected {len(expected)} elements, got {len(actual)}"
        pairs = [(f"{name}[{i}]", a, b) for i, (a, b) in enumerate(zip(expected, actual, strict=True))]
    elif isinstance(expected, dict):
        if isinstance(actual, dict) and type(actual) is not type(expected):
            return f"{name}: expected a {type(expected).__name__}, got a {type(actual).__name__}"
        if not isinstance(actual, dict) or list(expected) != list(actual):
            return f"{name}: expected keys {list(expected)}, got {list(actual) if isinstance(actual, dict) else actual}"
        pairs = [(f"{name}[{key!r}]", expected[key], actual[key]) for key in expected]
    elif _is_object(expected) and type(actual) is type(expected):
        return compare_values(vars(expected), vars(actual), name, rtol=rtol, atol=atol, exact=exact)
    else:
        return _compare_scalars(expected, actual, name, rtol, atol, exact)
    found = (compare_values(a, b, label, rtol=rtol, atol=atol, exact=exact) for label, a, b in pairs)
    return next(filter(None, found), None)


def _compare_scalars(
    expected: Any, actual: Any, name: str, rtol: float | None, atol: float | None, exact: bool
) -> str | None:
    if type(expected) is not type(actual):
        return f"{name}: expected {expected!r}, got {actual!r}"
    if isinstance(expected, float):
        if exact or expected == actual == 0.0:  # repr tells zeros of different signs apart, and no NaN from another
            return None if repr(expected) == repr(actual) else f"{name}: expected {expected!r}, got {actual!r}"
        double = [torch.tensor(value, dtype=torch.float64) for value in (expected, actual)]
        single = [value.to(torch.float32) for value in double]
        # Numbers that fit into float32 may have been read from such tensors, `float(x.sum())`, which are no more exact.
        fit = all(
            bool(torch.isclose(a, b.double(), rtol=0.0, atol=0.0, equal_nan=True)) for a, b in zip(double, single)
        )
        left, right = single if fit else double
        return _compare_tensors(left, right, name, rtol, atol)
    return None if expected == actual else f"{name}: expected {expected!r}, got {actual!r}"


def _compare_tensors(
    expected: torch.Tensor, actual: torch.Tensor, name: str, rtol: float | None, atol: float | None
) -> str | None:
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{name}: expected {expected.dtype} {list(expected.shape)}, got {actual.dtype} {list(actual.shape)}"
    relative, absolute = _TOLERANCES.get(expected.dtype, (0.0, 0.0))
    if expected.dtype in _TOLERANCES:
        relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    close = torch.isclose(actual.detach().cpu(), expected.detach().cpu(), rtol=relative, atol=absolute, equal_nan=True)
    if bool(close.all()):
        return None
    where = tuple(int(i) for i in (~close).nonzero()[0])
    return (
        f"{name}: {int((~close).sum())} of {close.numel()} elements differ, the first at {list(where)}: "
        f"expected {expected[where].item()!r}, got {actual[where].item()!r}"
    )


def fitting_error(error: BaseException) -> type[BaseException]:
    """Return the class of exceptions that match one of eager's."""
    return next((kind for kind in _ERRORS if isinstance(error, kind)), type(error))


def compare_outcomes(
    stage: str,
    call: int,
    expected: Outcome,
    actual: Outcome,
    rtol: float | None,
    atol: float | None,
    *,
    identity: bool = True,
    exact: bool = False,
) -> None:
    """Compare what a stage did with what eager did.

    Args:
        stage: the stage, for the message.
        call: number of the input set, for the message.
        expected: eager's outcome.
        actual: the stage's.
        rtol: relative tolerance of floating-point values, by default that of the dtype.
        atol: absolute tolerance.
        identity: also compare which results are arguments or share memory.
        exact: whether Python floats have to be equal bit for bit.
    Raises:
        StageMismatch: they differ.
    """

    def fail(detail: str) -> None:
        raise StageMismatch(stage, call, detail, (expected, actual)) from actual.error

    if isinstance(actual.error, InterpreterError):
        fail(f"the IR is wrong: {actual.error}")
    if expected.error is not None:
        if not isinstance(actual.error, fitting_error(expected.error)):
            got = f"{type(actual.error).__name__}: {actual.error}" if actual.error else "no error"
            fail(f"expected {type(expected.error).__name__} ({expected.error}), got {got}")
        return  # what a program had written when it raised is not promised
    if actual.error is not None:
        fail(f"raised {type(actual.error).__name__}: {actual.error}")
    for name, left, right in (
        ("result", expected.result, actual.result),
        ("arguments afterwards", expected.arguments, actual.arguments),
        ("module state", {k: expected.state[k] for k in actual.state if k in expected.state}, actual.state),
    ):
        if detail := compare_values(left, right, name, rtol=rtol, atol=atol, exact=exact):
            fail(detail)
    if expected.random is not None and actual.random is not None and not torch.equal(expected.random, actual.random):
        fail("the next random number is another than in eager")
    if detail := _compare_layouts(expected, actual):
        fail(detail)
    if identity:
        detail = _compare_identity(expected, actual) or _compare_sharing(expected, actual)
        if detail := detail or (None if expected.converted else _compare_containers(expected, actual)):
            fail(detail)


def _compare_layouts(expected: Outcome, actual: Outcome) -> str | None:
    """An argument has the strides and the storage offset afterwards that it has in eager."""
    pairs = zip(leaves(expected.arguments), leaves(actual.arguments), strict=True)
    for number, (left, right) in enumerate(pairs):
        if isinstance(left, torch.Tensor):
            facts = [(t.stride(), t.storage_offset()) for t in (left, right)]
            if facts[0] != facts[1]:
                what = "argument {} afterwards: expected strides {} and storage offset {}, got {} and {}"
                return what.format(number, *facts[0], *facts[1])
    return None


def leaves(value: Any) -> list[Any]:
    """The leaves of nested tuples, lists, dicts and objects of scripted classes."""
    found = list(torch.utils._pytree.tree_leaves(value))
    return [leaf for part in found for leaf in (leaves(vars(part)) if _is_object(part) else [part])]


def _is_object(value: Any) -> bool:
    """Whether a value is a dataclass's, or an object of a class that was scripted."""
    if is_dataclass(value) and not isinstance(value, type):
        return True
    return torch.jit._state._get_script_class(type(value)) is not None  # type: ignore[no-untyped-call]


def _compare_identity(expected: Outcome, actual: Outcome) -> str | None:
    """A result that is an argument, or an earlier result, in eager must be so everywhere.

    Except those that the conversion documents as copies: an argument, or an earlier result, in some runs and not in
    others. A second object for the same memory will do.
    """
    left = leaves(expected.arguments) + leaves(expected.result)
    right = leaves(actual.arguments) + leaves(actual.result)
    arguments = len(leaves(expected.arguments))
    for position in range(arguments, len(left)):
        if not isinstance(left[position], torch.Tensor):
            continue
        first = next(number for number, other in enumerate(left) if other is left[position])
        either = right[first], right[position]
        if either[0] is either[1] or any(actual.is_copy(one) for one in either):
            continue
        if _shows_all_of(*either):
            continue  # two objects of one memory (`v = x.detach()`, where control flow chooses between x and v)
        what = f"argument {first}" if first < arguments else f"the same tensor as result {first - arguments}"
        return f"result {position - arguments} is {what} in eager, but another tensor here"
    return None


def _compare_containers(expected: Outcome, actual: Outcome) -> str | None:
    """A list, dict or object among the results is one of the caller's, or that of an earlier place, where it is so in
    eager, and nowhere else. As with tensors, one of the caller's that is a result in some runs only may be a copy.
    """
    arguments = len(_containers(expected.arguments))
    sides = [_containers((each.arguments, each.result)) for each in (expected, actual)]
    firsts = [[next(n for n, other in enumerate(side) if other is each) for each in side] for side in sides]
    for number, (left, right) in enumerate(zip(*firsts)):
        is_copy = left < arguments <= number == right
        if left != right and not is_copy:
            kind = type(sides[0][number]).__name__
            return f"container {number}, a {kind}, is that of place {left} in eager, and that of place {right} here"
    return None


def _containers(value: Any) -> list[Any]:
    """The containers that can change in a value, in order: those of equal values are alike."""
    if isinstance(value, (list, tuple)):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    elif _is_object(value):
        parts = list(vars(value).values())
    else:
        return []
    own = [] if isinstance(value, tuple) else [value]
    return [*own, *(each for part in parts for each in _containers(part))]


def _shows_all_of(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors show the same elements of the same memory in the same way."""
    facts = [(t.data_ptr(), t.dtype, t.shape, t.stride()) for t in (one, other)]
    return facts[0] == facts[1] and one.numel() > 0


def _compare_sharing(expected: Outcome, actual: Outcome) -> str | None:
    """A result shares memory with an argument, or an earlier result, only if it does so in eager, and in the same way.

    The other direction does not hold: which results are copies is documented (docs/Rationale/TensorSSA.md).
    """
    left = leaves(expected.arguments) + leaves(expected.result)
    right = leaves(actual.arguments) + leaves(actual.result)
    arguments = len(leaves(expected.arguments))
    tensors = [number for number, value in enumerate(right) if isinstance(value, torch.Tensor) and value.numel()]
    spans = {number: memory_span(right[number]) for number in tensors}
    for position in tensors:
        for number in tensors:
            if number >= position or position < arguments or not spans_overlap(spans[number], spans[position]):
                continue
            if left[number] is left[position] and right[number] is right[position]:
                continue  # one tensor; a result's strides are not promised
            if _relation(left[number], left[position]) == _relation(right[number], right[position]):
                continue
            other = f"argument {number}" if number < arguments else f"result {number - arguments}"
            return f"result {position - arguments} shares memory with {other}, in eager it does not, or elsewhere"
    return None


def memory_span(tensor: torch.Tensor) -> tuple[int, int]:
    """First address of a tensor's elements and the one after the last, in bytes."""
    extent = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return tensor.data_ptr(), tensor.data_ptr() + extent * tensor.element_size()


def spans_overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two memory ranges have a byte in common."""
    return one[0] < other[1] and other[0] < one[1]


def _relation(one: torch.Tensor, other: torch.Tensor) -> tuple[Any, ...] | None:
    """How two tensors lie in one storage; None if they share none, () if they show the same elements alike."""
    if one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr():
        return None
    strides = [
        tuple(stride for size, stride in zip(tensor.shape, tensor.stride()) if size != 1)  # between elements
        for tensor in (one, other)
    ]
    if one.data_ptr() == other.data_ptr() and one.shape == other.shape and strides[0] == strides[1]:
        return ()  # the strides themselves are not promised
    return other.data_ptr() - one.data_ptr(), *strides
