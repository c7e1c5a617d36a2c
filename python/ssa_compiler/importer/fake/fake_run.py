"""Running an op on FakeTensors, and recording the base ops it consists of.

PyTorch's own composite kernels (`reshape`, `to`, `flatten`, `einsum`, ...) run for real above the FakeTensors, so what
they decide for these strides (a view or a copy, or nothing at all) is read off the recorded base ops.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from ...errors import SsaCompilerError, UnsupportedOpError, eager_error_name
from ..ir.purity import is_built_in
from ..ir.schemas import functional_of
from ..ir.torchscript_enums import python_argument
from ..isolation.process_state import own_numbers
from ..values.argument_sizes import MakeStatic
from ..values.diagnostics import ProgramRaises
from ..values.fake_layout import shares_storage
from ..values.plan import AnotherPlan
from ..values.state import State
from .concrete_probe import agrees_on_examples, copied_as_by_eager, outcome_on_examples, shaped_as_on_examples
from .concrete_run import Untried, has_fake_kernel, try_op
from .decompose import decomposition, is_followed
from .dim_errors import dimension_error, number_error
from .shape_rules import trace_by_rule
from .trace import Record, Trace, has_negative_size
from .trace_memo import memoised
from .unannotated_writes import replacement
from .undecided import own_kernel, without_guards

__all__ = ["ask_eager", "run"]

_CANNOT = (
    GuardOnDataDependentSymNode,
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
    NotImplementedError,
)
_EAGER_ERRORS = (IndexError, ValueError, TypeError, ZeroDivisionError, AssertionError, RuntimeError)


_LARGEST_PROBE = 1 << 22  # elements


def schema_arguments(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Return one value per schema argument, defaults filled in."""
    values = list(args)
    for argument in op._schema.arguments[len(values) :]:
        values.append(kwargs[argument.name] if argument.name in kwargs else argument.default_value)
    return values


def returns_only_written(op: Any) -> bool:
    """Whether an op writes, and every result is an argument that it writes."""
    return bool(op._schema.is_mutable) and all(
        result.alias_info is not None and result.alias_info.is_write for result in op._schema.returns
    )


def written_results(op: Any, args: Sequence[Any]) -> Any:
    """Return what such an op returns: the arguments that its schema names.

    Args:
        op: an OpOverload.
        args: one value per schema argument.
    """
    by_set = {
        name: value
        for argument, value in zip(op._schema.arguments, args)
        if argument.alias_info is not None and argument.alias_info.is_write
        for name in argument.alias_info.before_set
    }
    results = [by_set[min(result.alias_info.before_set)] for result in op._schema.returns]
    return results[0] if len(results) == 1 else tuple(results)


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records every base op that reaches the FakeTensors; those that IREE cannot compile as what they consist of.

    Attributes:
        records: the ops.
        decomposed: whether an op was decomposed.
    """

    def __init__(self, state: State, *, decompose: bool, within: frozenset[Any] = frozenset()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.records: list[Record] = []
        self.decomposed = False
        self._state, self._decompose, self._within = state, decompose, within

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as of `symbols.FakeMode`

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        announced = replacement(func, args, kwargs or {})
        if announced is not None:
            with self:
                return announced(*args, **(kwargs or {}))
        if torch.Tag.inplace_view in func.tags and isinstance(args[0], torch.Tensor):
            return self._view_in_place(func, args, kwargs or {})
        if _may_alias(func) and func._can_decompose():
            with self:  # inside a decomposition composite ops arrive whole: `to` has to be shown as what it does
                return func.decompose(*args, **(kwargs or {}))
        parts = self._parts(func, args, kwargs or {}) if self._decompose else None
        if parts is not None:
            return parts[0]
        try:
            out = (own_kernel(func, args) or func)(*args, **(kwargs or {}))
        except UnsupportedOperatorException:
            # An op without a kernel for FakeTensors; what it writes keeps its shape.
            if not returns_only_written(func):
                raise
            out = written_results(func, schema_arguments(func, args, kwargs or {}))
        except GuardOnDataDependentSymNode:
            out = without_guards(func, args, kwargs or {})
        if func.namespace != "prim":
            given = schema_arguments(func, args, kwargs or {})
            with _disable_current_modes():
                out = shaped_as_on_examples(self._state, func, given, out)
            out = copied_as_by_eager(self._state, func, given, out)
            self.records.append(Record(func, given, out))
        return out

    def _parts(self, func: Any, args: Any, kwargs: Any) -> tuple[Any] | None:
        """Record what an op consists of, if that can be compiled and the op cannot; returns its outcome in a tuple."""
        if func in self._within:
            return None  # `igamma` consists of `prims.igamma`, which consists of `igamma`
        emitter, leaves = self._state.emitter, tree_leaves((args, kwargs))
        function = decomposition(emitter, func, leaves)
        if function is None:
            return None
        inner = _Recorder(self._state, decompose=True, within=self._within | {func})
        try:
            expected = func(*args, **kwargs)
            with inner:
                out = function(*args, **kwargs)
        except Exception:  # noqa: BLE001 - whatever a decomposition does not do, the op does
            return None
        if _kinds(out) != _kinds(expected) or not is_followed(emitter, inner.records, leaves):
            return None
        with _disable_current_modes():
            if not agrees_on_examples(func, function, args, kwargs):
                return None
        self.records += inner.records
        self.decomposed = True
        return (out,)

    def _view_in_place(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Record `transpose_` and alike as views: what came before speaks of another tensor, with the shape of then."""
        tensor = args[0]
        before = tensor.detach()
        out = func(*args, **kwargs)
        pure = functional_of(func, 0)
        if pure is None:
            self.records.append(Record(func, schema_arguments(func, args, kwargs), out))
            return out
        for record in self.records:
            record.args, record.out = tree_map(
                lambda leaf: before if leaf is tensor else leaf, (record.args, record.out)
            )
        self.records.append(Record(pure, schema_arguments(pure, (before, *args[1:]), kwargs), out))
        return out


def _may_alias(op: Any) -> bool:
    """Whether a result of an op shares memory with an argument that it does not write, or is a copy."""
    return any(result.alias_info is not None and not result.alias_info.is_write for result in op._schema.returns)


def _kinds(outcome: Any) -> list[Any]:
    """What two ways to compute an outcome have to agree in."""
    return [
        (leaf.dtype, tuple(map(str, leaf.shape))) for leaf in tree_leaves(outcome) if isinstance(leaf, torch.Tensor)
    ]


@contextmanager
def _without_onednn() -> Iterator[None]:
    """Switch oneDNN off, so that composite ops consist of portable base ops."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


def run(state: State, op: Any, args: Sequence[Any]) -> Trace:
    """Run an op on FakeTensors and symbols.

    Args:
        state: the interpretation.
        op: an OpOverload.
        args: one Python value per schema argument.
    Raises:
        ProgramRaises: eager raises for these arguments.
        UnsupportedOpError: the outcome depends on run-time values in a way FakeTensors cannot follow.
        MakeStatic: a size of an argument has to be known.
    """
    guards = dict(state.sizes.guards)
    try:
        return _run(state, op, args, nullcontext())
    except MakeStatic as found:
        rejection: Exception = found
    except UnsupportedOpError as found:
        rejection = found
    decides = isinstance(rejection, MakeStatic) or isinstance(rejection.__cause__, GuardOnDataDependentSymNode)
    state.sizes.forget(guards)
    if decides:
        # Kernels in C++ may want sizes as numbers where those in Python do not.
        try:
            return _run(state, op, args, enable_python_dispatcher())
        except (MakeStatic, ProgramRaises, SsaCompilerError):
            state.sizes.forget(guards)
    if not isinstance(rejection, MakeStatic) or state.sizes.stay_open(rejection.roots):
        whole = _opaque(state, op, args)
        if whole is not None:
            return whole
    raise rejection


def _opaque(state: State, op: Any, args: Sequence[Any]) -> Trace | None:
    """Return what is known of an op that is left to PyTorch as a whole; None if it cannot be."""
    given = [python_argument(value, argument) for argument, value in zip(op._schema.arguments, args)]
    with _disable_current_modes():
        out = outcome_on_examples(state, op, given)
    return None if out is None else Trace(out, [Record(op, list(args), out)])


def _run(state: State, op: Any, args: Sequence[Any], dispatcher: AbstractContextManager[Any]) -> Trace:
    positional, keywords = [], {}
    stands_in = False
    for argument, value in zip(op._schema.arguments, args):
        value = python_argument(value, argument)
        if type(value) is int and "ScalarType" in str(argument.real_type):
            raise state.unsupported_op(f"{op.name()} with the dtype that PyTorch numbers {value}")
        if isinstance(value, torch.SymFloat) and str(argument.type) in ("float", "Optional[float]"):
            value, stands_in = 0.5, True  # these take no symbol; no FakeTensor depends on the number
        elif isinstance(value, torch.SymFloat) and op.name().startswith("aten::sub") and argument.name == "alpha":
            value, stands_in = 0.5, True  # its kernel for FakeTensors asks whether it is a bool
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    if (text := dimension_error(op, positional, keywords)) is not None:
        raise ProgramRaises(f"IndexError: {text}")
    if (text := number_error(op, positional)) is not None:
        raise ProgramRaises(text)
    if not has_fake_kernel(op):
        return _unseen(state, op, args)
    if is_built_in(op.name()) and not stands_in and isinstance(dispatcher, nullcontext):
        found = trace_by_rule(state.symbols, state.emitter, op, [*positional, *keywords.values()])
        if found is not None:
            return found
    state.sizes.place = (op.name(), state.locations.user())

    def ran() -> Trace:
        return _ran(state, op, args, positional, keywords, stands_in, dispatcher)

    if is_built_in(op.name()):
        what = (op, stands_in, isinstance(dispatcher, nullcontext))
        trace = memoised(state.symbols, state.sizes, what, (positional, keywords), ran)
    else:
        trace = ran()  # the user may give it another kernel
    if stands_in and any(record.op is not op for record in trace.records):
        # The number that stood for a float is in what the op consists of.
        whole = _opaque(state, op, args)
        if whole is not None:
            return whole
    return trace


def _ran(
    state: State,
    op: Any,
    args: Sequence[Any],
    positional: list[Any],
    keywords: dict[str, Any],
    stands_in: bool,
    dispatcher: AbstractContextManager[Any],
) -> Trace:
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    disabled, logger.disabled = logger.disabled, True  # setLevel would go through all loggers there are
    recorder = _Recorder(state, decompose=not stands_in)
    transaction = None
    try:
        with (
            _without_onednn(),
            nullcontext() if is_built_in(op.name()) else own_numbers(),
            dispatcher,
            state.symbols.transaction() as transaction,
            torch.no_grad(),
            state.symbols.mode,
            recorder,
        ):
            out = copied_as_by_eager(state, op, args, op(*positional, **keywords))
        if has_negative_size(out):
            raise RuntimeError("a size of the result is negative")
    except _CANNOT as error:
        if isinstance(error, GuardOnDataDependentSymNode):
            raise state.unsupported_op(f"{op.name()}, whose result depends on dynamic scalars") from error
        raise state.unsupported_op(f"{op.name()}: {_first_line(error)}") from error
    except _EAGER_ERRORS as error:
        if transaction is not None and transaction.guesses:
            raise state.unsupported_op(f"{op.name()} with dynamic values: {_first_line(error)}") from error
        confirmed = _confirmed(state, op, positional, keywords, error)
        # An op that will run in PyTorch raises there, should it.
        follows = returns_only_written(op) and (_is_known(positional, keywords) or functional_of(op, 0) is None)
        if isinstance(confirmed, ProgramRaises) or not follows:
            raise confirmed from error
        # Eager does not fail, and what comes of it is known.
        out = written_results(op, args)
        recorder.records[:] = [Record(op, list(args), out)]
    except (AnotherPlan, ProgramRaises, MemoryError):
        raise
    except Exception as error:
        # An op of the user's has a kernel of the user's.
        raise state.unsupported_op(
            f"{op.name()}, whose kernel for FakeTensors raised {type(error).__name__}: {_first_line(error)}; correct the kernel"
        ) from error
    finally:
        logger.disabled = disabled
        state.sizes.settle()
    for leaf in tree_leaves((out, [record.out for record in recorder.records])):
        if isinstance(leaf, torch.Tensor) and (leaf.layout != torch.strided or leaf.is_quantized):
            kind = "a quantized tensor" if leaf.is_quantized else f"a tensor of layout {leaf.layout}"
            raise state.unsupported_op(f"{op.name()}, whose result is {kind}")
    assert transaction is not None
    if not is_built_in(op.name()) and not op._schema.is_mutable and not _shares(out, args):
        recorder.records[:] = [Record(op, list(args), out)]  # whatever it consists of, it runs as a whole
    return Trace(out, recorder.records, transaction.guesses, transaction.requirements, stands_in, recorder.decomposed)


def _unseen(state: State, op: Any, args: Sequence[Any]) -> Trace:
    """Return what is known of an op that cannot be run at import: what it writes keeps its shape."""
    if not returns_only_written(op):
        raise state.unsupported_op(
            f"{op.name()}, of which nothing says what its results look like; give it a kernel for FakeTensors, with "
            "torch.library.register_fake"
        )
    out = written_results(op, args) if op._schema.returns else None
    return Trace(out, [Record(op, list(args), out)])


def _shares(out: Any, args: Sequence[Any]) -> bool:
    """Whether a result of an op shares memory with an argument, or is one."""
    given = [leaf for leaf in tree_leaves(list(args)) if isinstance(leaf, torch.Tensor)]
    made = [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]
    return any(shares_storage(one, other) for one in made for other in given)


def ask_eager(state: State, op: Any, args: Sequence[Any], error: Exception) -> Exception | None:
    """Ask eager whether an op fails, on real tensors of zeros.

    Args:
        state: the interpretation.
        op: an OpOverload.
        args: one Python value per schema argument.
        error: what it is expected to raise.
    Returns:
        What it raises, a rejection if it cannot be asked, None if it does not fail.
    """
    positional = [python_argument(v, a) for a, v in zip(op._schema.arguments, args) if not a.kwarg_only]
    keywords = {a.name: python_argument(v, a) for a, v in zip(op._schema.arguments, args) if a.kwarg_only}
    known = _is_known(positional, keywords)
    tensors = [leaf for leaf in tree_leaves(list(args)) if isinstance(leaf, torch.Tensor)]
    if known and sum(tensor.numel() for tensor in tensors) > _LARGEST_PROBE:
        return state.unsupported_op(f"{op.name()}: {error}")
    outcome = _confirmed(state, op, positional, keywords, error)
    return outcome if isinstance(outcome, ProgramRaises) or not known else None


def _is_known(positional: Sequence[Any], keywords: dict[str, Any]) -> bool:
    """Whether all numbers of a call, sizes and strides included, are known at import."""
    leaves = tree_leaves((positional, keywords))
    numbers = [n for t in leaves if isinstance(t, torch.Tensor) for n in (*t.shape, *t.stride())]
    return not any(isinstance(n, (torch.SymInt, torch.SymFloat, torch.SymBool)) for n in (*leaves, *numbers))


def _confirmed(state: State, op: Any, positional: list[Any], keywords: dict[str, Any], error: Exception) -> Exception:
    """Return eager's own error for a failure on FakeTensors, or a rejection where eager does not fail.

    The op runs on real tensors of zeros, if they are of known and moderate size.
    """
    tensors = [leaf for leaf in tree_leaves((positional, keywords)) if isinstance(leaf, torch.Tensor)]
    if not _is_known(positional, keywords):
        if constant := re.search(r"for argument '(\w+)'", _first_line(error)):
            return state.unsupported_op(f"{op.name()} with a dynamic {constant[1]!r}")
        return state.unsupported_op(f"{op.name()} with dynamic values: {_first_line(error)}")
    if sum(tensor.numel() for tensor in tensors) > _LARGEST_PROBE:
        return _raised(error)

    def real(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype).zero_()

    args, kwargs = tree_map(real, (positional, keywords))
    try:
        try_op(op, args, kwargs)
    except Untried:
        return state.unsupported_op(f"{op.name()}: {_first_line(error)}")
    except _EAGER_ERRORS as confirmed:
        return _raised(confirmed)
    return state.unsupported_op(f"{op.name()}: {_first_line(error)}")


def _raised(error: Exception) -> ProgramRaises:
    return ProgramRaises(f"{eager_error_name(error)}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__
