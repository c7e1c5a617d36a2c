"""What PyTorch's functions return, found out by calling them with samples of their arguments."""

from __future__ import annotations

import copy
import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import torch

from ..isolation.fake_mode import FakeMode
from . import packed_sequences
from .annotated_results import annotated, as_declared, declared
from .enum_classes import is_enum
from .hints import count_of
from .other_samples import other_samples
from .sample_memo import key_of
from .sample_ranks import lacks_ranks, made_of, ranked, shapes_of, tensors_in
from .schema_values import schema_results
from .values import (
    NEVER,
    UNKNOWN,
    DictValue,
    Known,
    ListValue,
    Never,
    OptionalValue,
    Scalar,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    joined,
    value_of,
)

__all__ = ["Samples"]

_REAL_ELEMENTS = 1 << 16
"""How large the arguments of an op may be that is computed, as the shape of its result depends on values."""
_LARGE = 64
"""A size that is large enough for what a size of 2 is not, such as a `topk(50)`."""
_SOME = 2
"""The length of a list of which none is known."""
_OF_ANY_LENGTH = frozenset("cat concat concatenate hstack stack vstack".split())
"""Functions of lists of tensors whose result has the same rank and dtype however many there are."""
_PARTING = frozenset("split split_with_sizes tensor_split unsafe_split chunk unsafe_chunk".split())
"""Operators that return parts of a tensor, of its rank and dtype."""
_OF_RANKS = frozenset("where meshgrid nonzero_numpy broadcast_tensors".split())
"""Functions that return so many tensors as ranks and numbers of arguments say, whatever the sizes are."""
_VIEWS = frozenset(
    "view reshape expand expand_as view_as reshape_as permute unflatten flatten squeeze unsqueeze".split()
)
"""Operators whose results have the dtype of their operand, where they are passed no dtype."""
_SIZED = ("view", "reshape", "expand")
"""Those of which the other operands are sizes."""
_HINTS: dict[type, Any] = {
    bool: True,
    int: 1,
    float: 1.0,
    complex: 1j,
    slice: slice(None),
    torch.device: torch.device("cpu"),
    torch.Generator: torch.Generator(),
}


class _NoSampleError(Exception):
    """There is no sample of a value."""


class Samples:
    """Samples of tensors, and what functions make of them."""

    def __init__(self) -> None:
        self._mode = FakeMode(allow_non_fake_inputs=True)
        self._made: dict[int, tuple[torch.Tensor, Any]] = {}
        self._results: dict[Any, tuple[Any, Value]] = {}

    def of(self, tensor: torch.Tensor) -> Any:
        """Return a sample of a tensor; it has no storage."""
        if id(tensor) not in self._made:
            with torch._C.DisableTorchFunction():
                self._made[id(tensor)] = tensor, self._mode.from_tensor(tensor.detach(), static_shapes=True)
        return self._made[id(tensor)][1]

    def value(self, thing: Any) -> Value:
        """Return the type of an example."""
        return value_of(thing, self.of)

    def result(
        self, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value], name: str = ""
    ) -> Value:
        """Return what a function of PyTorch's returns.

        Args:
            function: called with samples; it has no effects but on them.
            args: positional arguments.
            kwargs: keyword arguments.
            name: the name of the operator, whose schema tells where there are no samples.
        """
        key = key_of(self, function, args, kwargs, name)
        known = None if key is None else self._results.get(key)
        if known is None:
            known = (function, args, kwargs), self._result(function, args, kwargs, name)
            if key is not None:
                self._results[key] = known  # with the objects whose addresses are in the key
        return known[1]

    def _result(
        self, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value], name: str
    ) -> Value:
        if any(isinstance(value, Never) for value in (*args, *kwargs.values())):
            return NEVER
        packed = packed_sequences.result_of(function, args, kwargs, lambda part, value: self.result(part, [value], {}))
        if packed is not None:
            return packed
        if name in _OF_ANY_LENGTH and args and _are_tensors(args[0]):
            args = [dataclasses.replace(args[0], length=args[0].length or 1), *args[1:]]  # type: ignore[type-var, attr-defined]
        if any(map(_has_unknown_length, (*args, *kwargs.values()))):
            # What a function makes of three sizes has another rank than what it makes of two.
            found = schema_results(name)
            if name in _PARTING and isinstance(args[0], TensorValue):
                return ListValue(args[0], is_tuple=True)
            if function in (torch.tensor, torch.as_tensor) and (made := self._of_numbers(args[0], kwargs)) is not None:
                return made
            known = _listed(self._vague(function, args, kwargs), name) if isinstance(found, Unknown) else found
            lists = [value for value in (*args, *kwargs.values()) if isinstance(value, ListValue)]
            return self._ranked(known, function, args, kwargs) if all(value.length for value in lists) else known
        for given in (args, *other_samples(function, args, kwargs)):
            for make in (self._fake, self._real):
                try:
                    with torch.no_grad(), _without_logs():
                        return _listed(make(function, given, kwargs), name)
                except Exception:  # noqa: BLE001 - whatever a function raises for samples, which are no arguments of the user's
                    continue
        found, vague = schema_results(name), _listed(self._vague(function, args, kwargs), name)
        if isinstance(vague, ListValue) and any(value.rank is None for value in tensors_in(args)):
            vague = dataclasses.replace(vague, length=None)
        knows_more = isinstance(vague, (TensorValue, TupleValue, ListValue)) and type(vague) is type(found)
        known = vague if isinstance(found, Unknown) or knows_more else found
        known = annotated(function) if isinstance(known, Unknown) else known
        known = self._ranked(known, function, args, kwargs)
        given = (*args[1:], *kwargs.values())
        is_part = known == TensorValue() and name in _VIEWS and not any(map(_is_dtype, given))
        if not is_part or not isinstance(args[0], TensorValue):
            return known
        rank = count_of(args[1:]) if name in _SIZED and not kwargs else None
        if rank is None or args[0].dtype is None:
            return TensorValue(args[0].dtype, rank)
        with self._mode:
            return self._described(torch.empty((_SOME,) * rank, dtype=args[0].dtype))

    def _of_numbers(self, data: Value, kwargs: Mapping[str, Value]) -> TensorValue | None:
        """The tensor that torch.tensor makes of a list of numbers, or of lists or tuples of them; None of others."""
        kinds, shape = _kinds_in(data)
        dtype = kwargs.get("dtype", Known(None))
        if shape is None or not isinstance(dtype, Known):
            return None
        made = torch.tensor([kind() for kind in kinds], dtype=dtype.object)
        with self._mode:
            return TensorValue(made.dtype, len(shape), torch.empty(shape, dtype=made.dtype))

    def _ranked(
        self,
        known: Value,
        function: Callable[..., Any],
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        module: torch.nn.Module | None = None,
    ) -> Value:
        """What is known of a result, with its ranks and dtypes where these follow from the ranks of the arguments."""
        tensors = tensors_in((*args, *kwargs.values()))
        if not tensors or any(value.rank is None for value in tensors) or not lacks_ranks(known):
            return known
        dtypes = (
            [torch.float32] if all(value.dtype is not None for value in tensors) else [torch.float32, torch.float64]
        )

        def trial(shape: Callable[[int], tuple[int, ...]], dtype: torch.dtype) -> Value:
            def tensor(value: TensorValue) -> Any:
                return torch.empty(shape(value.rank or 0), dtype=value.dtype or dtype)

            with self._mode, torch.no_grad(), _without_logs():
                given, *named = (
                    made_of(each, tensor, self._sample) for each in (TupleValue(tuple(args)), *kwargs.values())
                )
                return self._described(function(*given, **dict(zip(kwargs, named))))

        def trials() -> Iterator[tuple[Value, Value]]:
            for shape in shapes_of(module):
                try:
                    made = [trial(shape, dtype) for dtype in dtypes]
                except Exception:  # noqa: BLE001 - whatever a function raises for sizes that do not fit
                    continue
                yield made[0], made[-1]
                if module is not None:
                    return

        return ranked(known, trials())

    def _vague(self, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """What kind of result a function has for tensors of which nothing, or only the dtype, is known."""
        tensors = tensors_in((*args, *kwargs.values()))
        typed = all(value.dtype is not None for value in tensors)
        ranked_all = all(value.rank is not None or value.sample is not None for value in tensors)
        dtypes = (torch.float32,) if typed else (torch.float32, torch.float64)
        for size, is_real in ((2, False), (_LARGE, False), (2, True)):
            for rank in (0,) if ranked_all else (2, 3, 4, 1, 0):
                try:
                    made = [self._of_rank(function, args, kwargs, rank, size, dtype, is_real) for dtype in dtypes]
                except Exception:  # noqa: BLE001 - as above
                    continue
                return _without_samples(made[0], made[0] == made[-1])
        given = (*args, *kwargs.values())
        if given and all(isinstance(value, TensorValue) and value.sample is not None for value in given):
            # whose sizes may be others
            plain = [_without_sample(value) for value in args]
            return self._vague(function, plain, {key: _without_sample(value) for key, value in kwargs.items()})
        return UNKNOWN

    def _of_rank(
        self,
        function: Callable[..., Any],
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        rank: int,
        size: int,
        dtype: torch.dtype,
        is_real: bool,
    ) -> Value:
        """What a function returns for tensors of a rank, size and dtype, where these are not known.

        It is computed, of real ones, if `is_real`: the shape of its result may depend on values.
        """

        def sample(value: Value) -> Any:
            return _real(self._sample(value)) if is_real else self._sample(value)

        def tensor(value: TensorValue) -> Any:
            if value.sample is not None:
                return sample(value)
            return torch.ones((size,) * (rank if value.rank is None else value.rank), dtype=value.dtype or dtype)

        def any_(value: Value) -> Any:
            return made_of(value, tensor, sample)

        with torch.no_grad(), _real_numbers() if is_real else self._mode, _without_logs():
            return self._described(function(*map(any_, args), **{key: any_(value) for key, value in kwargs.items()}))

    def module_result(self, module: torch.nn.Module, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Return what a module of PyTorch's returns; it is not changed."""
        if isinstance(module, torch.nn.RNNBase) and args and packed_sequences.is_packed(args[0]):
            return self._of_packed(module, args[0])
        found = self.result(lambda *values, **named: self._twin(module)(*values, **named), args, kwargs)
        if isinstance(module, (torch.nn.RNNBase, torch.nn.RNNCellBase)) and not _has_dtypes(found):
            # What is known of the state may not fit the input; the types are the same whatever state there is.
            stateless = self.result(lambda value: self._twin(module)(value), args[:1], {})
            found = stateless if _has_dtypes(stateless) else found
        found = declared(module) if isinstance(found, Unknown) else found
        called = lambda *values, **named: self._twin(module)(*values, **named)  # noqa: E731
        return as_declared(self._ranked(found, called, args, kwargs, module), module)

    def _of_packed(self, module: torch.nn.RNNBase, packed: Value) -> Value:
        """What a recurrent module returns for a PackedSequence, of whatever length."""
        weight = next(module.parameters())
        data = self.value(torch.empty((1, 1, module.input_size), dtype=weight.dtype))
        found = self.result(lambda value: self._twin(module)(value), [data], {})
        if not isinstance(found, TupleValue):
            return UNKNOWN
        output = self.result(lambda value: value[0], [found.elements[0]], {})
        return TupleValue((packed_sequences.packed_like(packed, output), *found.elements[1:]))

    def _twin(self, module: torch.nn.Module) -> torch.nn.Module:
        """A copy of a module, with samples for parameters and buffers."""
        made = copy.copy(module)
        space = vars(made)
        for name in ("_parameters", "_buffers"):
            tensors = space[name].items()
            space[name] = {key: None if tensor is None else self._copied(self.of(tensor)) for key, tensor in tensors}
        space["_modules"] = {key: part and self._twin(part) for key, part in space["_modules"].items()}
        if isinstance(made, torch.nn.RNNBase):
            space["_flat_weights"] = [space["_parameters"][name] for name in space["_flat_weights_names"]]
        return made

    def _fake(self, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        with self._mode:
            values = [self._sample(value) for value in args]
            named = {key: self._sample(value) for key, value in kwargs.items()}
            return self._described(function(*values, **named))

    def _real(self, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        values = [_real(self._sample(value)) for value in args]
        named = {key: _real(self._sample(value)) for key, value in kwargs.items()}
        with _real_numbers():
            return self._described(function(*values, **named))

    def _described(self, result: Any) -> Value:
        if isinstance(result, torch.Tensor):
            return TensorValue(result.dtype, result.dim(), self.of(result) if type(result) is torch.Tensor else result)
        if isinstance(result, tuple) and not isinstance(result, torch.Size):
            names = [name for name in dir(result) if not name.startswith("_") and not callable(getattr(result, name))]
            fields = [next((name for name in names if getattr(result, name) is part), "") for part in result]
            return TupleValue(tuple(map(self._described, result)), tuple(fields))
        if isinstance(result, list):
            return ListValue(self._described(result[0]) if result else TensorValue())
        return Known(None) if result is None else self.value(result)

    def _copied(self, sample: Any) -> Any:
        """Return another tensor like a sample, which an op may change."""
        with self._mode:
            if sample.layout is not torch.strided or getattr(sample, "constant", None) is not None:
                return sample.clone()
            # `clone` of a FakeTensor loads torch.distributed.
            return torch.empty_strided(sample.shape, sample.stride(), dtype=sample.dtype, device=sample.device)

    def _sample(self, value: Value) -> Any:
        """Return an object that a value may be.

        Raises:
            _NoSampleError: there is none.
        """
        if isinstance(value, Known):
            return self.of(value.object) if isinstance(value.object, torch.Tensor) else value.object
        if isinstance(value, TensorValue) and value.sample is not None:
            return self._copied(value.sample)
        if isinstance(value, Scalar):
            hint = value.hint if value.hint is not None else _HINTS.get(value.kind)
            hint = next(iter(value.kind)) if hint is None and is_enum(value.kind) else hint
            if hint is not None:
                return hint
        if isinstance(value, ListValue) and value.sample is not None:
            return list(value.sample)
        if isinstance(value, ListValue):
            return [self._sample(value.element)] * (value.length or 1) if value.element is not None else []
        if isinstance(value, TupleValue):
            return tuple(map(self._sample, value.elements))
        if isinstance(value, DictValue) and value.key is not None and value.element is not None:
            return {self._sample(value.key): self._sample(value.element)}
        if isinstance(value, OptionalValue):
            return self._sample(value.element)
        raise _NoSampleError


def _has_dtypes(value: Value) -> bool:
    """Whether the dtypes of tensors, and of those in tuples, are known."""
    if isinstance(value, TupleValue):
        return all(map(_has_dtypes, value.elements))
    return isinstance(value, TensorValue) and value.dtype is not None


def _are_tensors(value: Value) -> bool:
    """Whether a value is a list of tensors."""
    return isinstance(value, ListValue) and isinstance(value.element, TensorValue)


def _is_dtype(value: Value) -> bool:
    return isinstance(value.object if isinstance(value, Known) else value, (torch.dtype, Unknown)) or (
        isinstance(value, Scalar) and value.kind is torch.dtype
    )


def _has_unknown_length(value: Value) -> bool:
    """Whether a value is a list of whose numbers, or number of tensors, nothing is known."""
    return (
        isinstance(value, ListValue)
        and value.sample is None
        and (isinstance(value.element, (Scalar, Unknown)) or value.length is None)
    )


def _kinds_in(value: Value) -> tuple[set[type], tuple[int, ...] | None]:
    """The types of the numbers in nested lists and tuples, and a shape that they may have, None if they have none."""
    kind = type(value.object) if isinstance(value, Known) else value.kind if isinstance(value, Scalar) else None
    if kind in (bool, int, float, complex):
        return {kind}, ()
    if isinstance(value, ListValue) and value.element is not None:
        parts = [_kinds_in(value.element)] * (_SOME if value.length is None else value.length)
    elif isinstance(value, TupleValue):
        parts = list(map(_kinds_in, value.elements))
    else:
        return set(), None
    shapes = {shape for _, shape in parts}
    (shape,) = shapes if len(shapes) == 1 else (None,)
    return set().union(*(kinds for kinds, _ in parts)), None if shape is None else (len(parts), *shape)


def _listed(value: Value, name: str) -> Value:
    """Take what an operator returns for a list if its schema says so: how many tensors `split` gives is up to sizes."""
    if not isinstance(value, TupleValue) or not name.isidentifier() or any(value.names):
        return value
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    if not any(result.type.kind() == "ListType" for schema in schemas for result in schema.returns):
        return value
    element: Value | None = None
    for each in value.elements:
        element = joined(element, each, lambda tensor: None)
    return ListValue(element, is_tuple=True, length=len(value.elements) if name in _OF_RANKS else None)


@contextmanager
def _without_logs() -> Iterator[None]:
    """Silence what PyTorch logs about samples that fit no function."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _real_numbers() -> AbstractContextManager[None]:
    """Draw random numbers that nobody sees."""
    return torch.random.fork_rng(devices=[])


def _without_samples(value: Value, typed: bool) -> Value:
    """What is known of a result whatever the ranks of the arguments are; of its dtype, if theirs are known."""
    if isinstance(value, TensorValue):
        return TensorValue(value.dtype if typed else None)
    if isinstance(value, TupleValue):
        return TupleValue(tuple(_without_samples(each, typed) for each in value.elements), value.names)
    if isinstance(value, ListValue):
        return ListValue(None if value.element is None else _without_samples(value.element, typed))
    return Scalar(value.kind) if isinstance(value, Scalar) else UNKNOWN


def _real(sample: Any) -> Any:
    """A real tensor like a sample, of ones, if it is small."""
    if isinstance(sample, (list, tuple)):
        return type(sample)(map(_real, sample))
    if not isinstance(sample, torch.Tensor):
        if isinstance(sample, torch.nn.Module):
            raise _NoSampleError
        return sample
    if sample.numel() > _REAL_ELEMENTS:
        raise _NoSampleError
    return torch.ones(tuple(sample.shape), dtype=sample.dtype)


def _without_sample(value: Value) -> Value:
    return replace(value, sample=None) if hasattr(value, "sample") else value  # type: ignore[type-var]
