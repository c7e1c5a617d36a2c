"""Python functions that TorchScript ignores, as operators: `ssa_ignored::log.call3`.

`@torch.jit.ignore` leaves a function to Python. Each call of one becomes an operator of its own, which takes the
tensors and numbers among the arguments and returns those among the results; everything else about the call is fixed at
import and checked when it runs. What Python does unseen (writing an argument that the source does not show to be
written, returning an argument where that matters, changing the module) is found when the operator runs, and raises.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from ..abi.generators import keep_generator
from ..errors import ProgramError, SourceLocation
from ..process.interrupts import uninterrupted
from .functionalized import original_operator
from .shared_results import KeptArguments, is_held, is_held_elsewhere

if TYPE_CHECKING:
    from ..abi.results import OutputSpec

__all__ = [
    "NAMESPACE",
    "RAISING",
    "WARNING",
    "IgnoredCall",
    "TensorFacts",
    "find_call",
    "is_ignored",
    "is_message",
    "keep_library",
    "operator_name",
    "register",
    "shown_name",
    "with_shown_names",
]

NAMESPACE = "ssa_ignored"
"""The operators' namespace."""
RAISING = "ssa_compiler_raises"
"""The name of what is no function of the user's: it raises the program's own exception with the numbers of the run."""
WARNING = "ssa_compiler_warns"
"""Likewise: it gives the program's own warning."""

_library = torch.library.Library(NAMESPACE, "DEF")  # type: ignore[no-untyped-call]
_numbers = itertools.count()
_WRITTEN_NAME = re.compile(rf"\b{NAMESPACE}\.\w+\.call\d+")
"""An operator's name as MLIR has it."""
_kept_arguments = KeptArguments()
_calls: dict[str, IgnoredCall] = {}
"""What the operators run, by their names."""


def keep_library(library: torch.library.Library) -> None:
    """Let operators live until the process ends: PyTorch looks at some when others are gone, and aborts.

    Args:
        library: has defined them.
    """
    for finalizer, found in list(weakref.finalize._registry.items()):  # type: ignore[attr-defined]
        if found.weakref() is library:
            finalizer.atexit = False
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


keep_library(_library)


@dataclass(frozen=True)
class TensorFacts:
    """What is known of a tensor that Python returns; dynamic sizes are None."""

    dtype: torch.dtype
    sizes: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"{self.dtype} {['?' if size is None else size for size in self.sizes]}".replace("'?'", "?")


@dataclass
class IgnoredCall:
    """A call of a Python function.

    Attributes:
        name: the user's name of the function.
        function: the function, if it is no method.
        owner: the module whose method it is.
        arguments: how its arguments are made of the operator's; a tuple.
        results: what it returns, leaves numbered as the operator's results.
        tensors: what is known of the tensors among them, by number.
        written: the operator's arguments that it may write.
        checked_new: whether a result that shares memory with an argument or another result is an error; if not, it is
            copied.
        reads: names of the tensors that the program reads from the owner's root, with how to find them.
        changed: whether the program changes what the function returns, so that nobody else may hold it.
        overwritten: the operator's arguments that the program writes, at some time: it must not keep them.
        handed_on: the results that the program returns as they are.
        callers: the operator's arguments that are the caller's tensors themselves.
        location: the user's line.
        title: what reports call it: the function's name with that of its class.
        reason: why it stays Python.
        message: that of the exception which it raises, if it does nothing else: as of an assertion.
    """

    name: str
    function: Callable[..., Any] | None
    owner: weakref.ref[Any] | None
    arguments: OutputSpec
    results: OutputSpec
    tensors: dict[int, TensorFacts]
    written: frozenset[int]
    checked_new: bool
    reads: Callable[[], dict[str, Any]] | None
    location: SourceLocation | None
    title: str = ""
    reason: str = ""
    message: str = ""
    changed: bool = False
    overwritten: tuple[int, ...] = ()
    handed_on: frozenset[int] = frozenset()
    callers: tuple[int, ...] = ()

    def __call__(self, *values: Any) -> Any:
        """Run the function.

        Args:
            *values: the operator's arguments.
        Returns:
            Its results; 0 where there are none.
        Raises:
            ProgramError: Python did what the program does not allow for.
            Exception: whatever the function raises.
        """
        # Python may keep what it is given.
        given = [
            value.clone() if isinstance(value, torch.Tensor) and number not in self.written else value
            for number, value in enumerate(values)
        ]
        _kept_arguments.begin()
        results = self._called(values, given)
        if (keeper := _kept_arguments.written()) is not None:
            raise self._error(
                f"wrote a tensor that '{keeper}' was given and kept, a copy of the program's: keep a clone(), or write what "
                "is an argument"
            )
        for number in self.overwritten:
            if is_held(given, number):
                raise self._error(
                    "kept an argument that the program writes, and would not see it written: keep a clone()"
                )
        _kept_arguments.keep(given, self.name)
        return results

    def _called(self, values: Sequence[Any], given: list[Any]) -> Any:
        """Run the function on `given`, which are `values` or copies of them; it leaves no reference to them."""
        from ..abi.results import build_result

        arguments = build_result(self.arguments, given)
        before = _noted(self.reads() if self.reads else {})
        box = [self._function()(*arguments)]
        held = self.changed and is_held_elsewhere(box)
        (result,) = box
        for number, (value, now) in enumerate(zip(values, given, strict=True)):
            if isinstance(value, torch.Tensor) and number not in self.written and not _same_contents(value, now):
                raise self._error(
                    f"wrote an argument of dtype {value.dtype} and shape {list(value.shape)}, which its source does not "
                    "show: write it by an in-place op on the parameter itself, or return the new tensor"
                )
        if arguments != build_result(self.arguments, given) if _has_lists(arguments) else False:
            raise self._error("changed a list or dict among its arguments: return a new one")
        for name, value in _noted(self.reads() if self.reads else {}).items():
            if value != before[name]:
                raise self._error(
                    f"changed '{name}' of the module, which the compiled program reads: return it instead"
                )
        found: dict[int, Any] = {}
        self._flatten(self.results, result, "its result", found)
        fresh = self._fresh(found, given)
        if held:
            raise self._error(
                "returned a view, or something that is held elsewhere, too, and the program changes it: return a copy, such "
                "as a clone() of a tensor"
            )
        return fresh

    def _function(self) -> Callable[..., Any]:
        if self.owner is None:
            assert self.function is not None
            return self.function
        owner = self.owner()
        if owner is None:
            raise self._error("is a method of a module that does not exist any more: keep the module")
        method: Callable[..., Any] = getattr(owner, self.name)
        return method

    def _error(self, message: str) -> ProgramError:
        return ProgramError(f"the ignored function '{self.name}' {message}", location=self.location)

    def _flatten(self, spec: OutputSpec, value: Any, what: str, found: dict[int, Any]) -> None:
        """Collect the leaves of the function's result, and check everything else of it."""
        from ..abi.results import OutputConstant, OutputDict, OutputLeaf, OutputList, OutputTuple

        def wrong(expected: str) -> ProgramError:
            return self._error(
                f"returned {_shown(value)} as {what}, and {expected} when the program was compiled: return the same kind "
                "each time, or compile again"
            )

        if isinstance(spec, OutputLeaf):
            kind = type(value) if not isinstance(value, torch.Tensor) else torch.Tensor
            if kind is not spec.kind and not (spec.kind is float and kind is int):
                raise wrong(f"a {spec.kind.__name__}")
            if isinstance(value, torch.Tensor) and not _fits(value, self.tensors[spec.index]):
                raise wrong(str(self.tensors[spec.index]))
            if spec.kind is torch.Generator:
                value = keep_generator(value)
            found[spec.index] = float(value) if spec.kind is float else value
        elif isinstance(spec, OutputConstant):
            if type(value) is not type(spec.value) or value != spec.value:
                raise wrong(repr(spec.value))
        elif isinstance(spec, OutputDict):
            keys = [key for key, _ in spec.items]
            if not isinstance(value, dict) or list(value) != keys:
                raise wrong(f"a dict with the keys {keys}")
            for key, element in spec.items:
                self._flatten(element, value[key], f"{what}[{key!r}]", found)
        else:
            assert isinstance(spec, (OutputTuple, OutputList))
            kind = tuple if isinstance(spec, OutputTuple) else list
            if not isinstance(value, kind) or len(value) != len(spec.elements):
                raise wrong(f"a {kind.__name__} of {len(spec.elements)}")
            for number, (element, item) in enumerate(zip(spec.elements, value, strict=True)):
                self._flatten(element, item, f"{what}[{number}]", found)

    def _fresh(self, found: dict[int, Any], given: Sequence[Any]) -> Any:
        """Return the results, none of which shares memory with another or with an argument."""
        taken = {value.untyped_storage()._cdata for value in given if isinstance(value, torch.Tensor)}
        results = []
        for number in range(len(found)):
            value = found[number]
            if isinstance(value, torch.Tensor):
                if number in self.handed_on and any(value is given[caller] for caller in self.callers):
                    raise self._error(
                        "returned its argument, the caller's tensor, and the program returns the result, which would be a copy: "
                        "return the argument itself"
                    )
                value = value.detach()
                if value.untyped_storage()._cdata in taken:
                    if self.checked_new:
                        raise self._error(
                            "returned memory of an argument or of another result, and one of them is written later: "
                            "return a clone()"
                        )
                    value = value.clone()
                taken.add(value.untyped_storage()._cdata)
            results.append(value)
        if not results:
            return 0
        return results[0] if len(results) == 1 else tuple(results)


def operator_name(function: str) -> str:
    """Return a new name for an operator that calls a function: `ssa_ignored::log.call3`."""
    return f"{NAMESPACE}::{re.sub(r'[^0-9A-Za-z_]', '_', function)}.call{next(_numbers)}"


def is_ignored(operator: str) -> bool:
    """Whether an operator, or the operator that one runs on copies, calls a Python function."""
    return operator.startswith(f"{NAMESPACE}::")


def find_call(operator: str) -> IgnoredCall | None:
    """Return what an operator runs, None if it calls no Python function that this process knows."""
    return _calls.get(operator)


def shown_name(operator: str) -> str:
    """What reports call an operator: `Model.log` for a Python function, `aten::add_` for one that runs on copies.

    Args:
        operator: the operator of a callback.
    """
    original = original_operator(operator) or operator
    call = find_call(original)
    return original if call is None else call.title


def with_shown_names(text: str) -> str:
    """Return a report of ssa-opt's with Python functions named as `shown_name` names them."""
    return _WRITTEN_NAME.sub(lambda match: shown_name("::".join(match[0].split(".", 1))), text)


def is_message(operator: str) -> bool:
    """Whether an operator only raises the program's own exception, or gives its own warning."""
    return operator.startswith((f"{NAMESPACE}::{RAISING}.", f"{NAMESPACE}::{WARNING}."))


@uninterrupted
def register(schema: str, call: IgnoredCall) -> None:
    """Make an operator known to PyTorch.

    Args:
        schema: its schema.
        call: what it runs.
    """
    _calls[schema.partition("(")[0]] = call
    plain = schema.removeprefix(f"{NAMESPACE}::")
    _library.define(plain)  # type: ignore[no-untyped-call]
    _library.impl(plain.partition("(")[0], call, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]


def _noted(values: dict[str, Any]) -> dict[str, Any]:
    """Values in a form that shows whether they were changed or replaced since."""
    return {name: _note(value) for name, value in values.items()}


def _note(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and not value.is_inference():
        return id(value), value._version
    if isinstance(value, dict):
        return id(value), tuple((key, _note(element)) for key, element in value.items())
    if isinstance(value, (list, tuple)):
        return id(value), tuple(map(_note, value))
    return repr(value)


def _same_contents(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same bits."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    bits = [tensor.detach().resolve_conj().contiguous().reshape(-1).view(torch.uint8) for tensor in (one, other)]
    return torch.equal(*bits)


def _has_lists(value: Any) -> bool:
    if isinstance(value, (list, dict)):
        return True
    return isinstance(value, tuple) and any(map(_has_lists, value))


def _fits(value: torch.Tensor, facts: TensorFacts) -> bool:
    return (
        value.dtype is facts.dtype
        and value.layout is torch.strided
        and value.dim() == len(facts.sizes)
        and all(expected in (None, size) for expected, size in zip(facts.sizes, value.shape, strict=True))
    )


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return str(TensorFacts(value.dtype, tuple(value.shape)))
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value) if isinstance(value, (str, int, float, type(None))) else f"a {type(value).__name__}"
