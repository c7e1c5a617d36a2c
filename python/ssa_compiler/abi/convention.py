"""The calling convention of an imported program: how Python arguments become `@main`'s arguments, and results come
back.

The importer returns an `ImportedProgram`: the module's text and everything that the text has no place for (tuples,
lists, dicts, None, specialised values, defaults, parameters and the assumptions under which the text is right).

`@main`'s arguments are the leaves of `ImportedProgram.arguments`, and of `ImportedProgram.held` behind them, that are a
`TensorSpec` or a `ScalarSpec`, numbered by their `index`, then one argument for each entry of
`ImportedProgram.attributes`, then one for each of `ImportedProgram.parameters`. A runtime does, in this order:

1. bind `args`/`kwargs` to the `ArgumentSpec`s by name, filling in defaults (`ImportedProgram.bind`);
2. walk each value along its spec (`flatten_arguments` does 1 and 2 and checks Python types and specialised constants);
3. check dtype and shape of each tensor leaf, then the `assumptions`;
4. call, with the storages of the tensors in `ImportedProgram.storages` for them (`take_storages`), give the tensors in
   `ImportedProgram.changed` their new shapes (`change_objects`), and the containers in `ImportedProgram.containers`
   their new contents (`change_containers`), rebuild the user's result from `ImportedProgram.results`
   (`build_result`), and give the module its new `attributes` (`store_attributes`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import torch

from ..errors import ArgumentTypeError, ArgumentValueError
from .argument_specs import (
    ArgumentSpec,
    ConstantSpec,
    DictSpec,
    InputSpec,
    ListSpec,
    ObjectSpec,
    ScalarSpec,
    SequenceSpec,
    SharedSpec,
    TensorSpec,
    checked_number,
    checked_scalar,
    mismatch,
)
from .assumptions import DistinctStorage, FlagOff, NotInferred, SameObject, StorageAsExample, StridesAsExample
from .container_writeback import ChangedContainer
from .default_device import callers_default_device
from .module_guards import ModuleFacts
from .module_state import AttributeSpec, ContainerSpec, ParameterSpec, RebindingSpec
from .object_guards import ObjectFacts
from .object_writeback import ChangedObject, OwnObject
from .results import OutputSpec, build_result, find_argument
from .same_values import same_value
from .size_guards import SizeChecks

__all__ = ["Assumption", "ImportedProgram", "autocast_dtypes", "bound_tensors", "flatten_arguments", "store_attributes"]


def autocast_dtypes() -> tuple[torch.dtype | None, ...]:
    """Return the dtypes to which `torch.autocast` converts on CPU and CUDA, None where it does not."""
    return tuple(
        torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None for device in ("cpu", "cuda")
    )


Assumption = NotInferred | StridesAsExample | StorageAsExample | DistinctStorage | FlagOff | SameObject | OwnObject


@dataclass(frozen=True)
class ImportedProgram:
    """What the importer passes to the pipeline and the runtime.

    Attributes:
        module: text of the imported module with locations.
        name: the user's name of the function or module.
        arguments: one entry per parameter of the user's signature.
        parameters: module state in `@main`'s argument order, after the attributes.
        results: how the user's result is rebuilt from `@main`'s results.
        result_count: number of results of `@main` as imported.
        assumptions: what a call has to check; see the classes.
        written: indices of `@main`'s arguments that the program may write.
        training: the module's training flag at import; None for functions.
        attributes: numbers of the module that the program assigns, in `@main`'s argument order, after the arguments.
        rebindings: tensor attributes of the module that the program assigns other tensors.
        facts: what is taken for granted of the module; None for functions.
        objects: what is taken for granted of other objects; None if that is nothing.
        default_dtype: PyTorch's default dtype at import.
        default_device: the type of its default device.
        autocast: the dtypes to which `torch.autocast` converts at import, by device (`autocast_dtypes`).
        grad_mode: whether gradients were recorded at import; None if the program does not ask.
        recorded: the tensors among `@main`'s arguments that ops use outside of `torch.no_grad()`.
        sizes: what has to be checked of sizes that are not fixed; None if `dynamic_shapes` asked for none.
        changed: the arguments and parameters that get another shape or other strides (`x.t_()`).
        containers: the lists, dicts and objects among the arguments that get other contents.
        storages: numbers of the arguments of `@main` that are the whole storage of the user's tensor, flattened
            (`take_storages`).
        held: lists, dicts, tuples and strings of the module that are passed like arguments.
        signature: that of the user's function, if the program is made for the arguments that its `*args` or `**kwargs`
            have in the example; without defaults.
        can_be_kept: whether what TorchScript makes of the user's text tells which program it is, so that it is found on
            disk by that.
        keeps_loops: whether a loop that builds a list could have been written out, and was not, as it is large.
        makes_generators: whether it makes generators of random numbers.
    """

    module: str
    name: str
    arguments: tuple[ArgumentSpec, ...]
    parameters: tuple[ParameterSpec, ...]
    results: OutputSpec
    result_count: int
    assumptions: tuple[Assumption, ...]
    written: frozenset[int]
    training: bool | None = None
    attributes: tuple[AttributeSpec, ...] = ()
    rebindings: tuple[RebindingSpec, ...] = ()
    facts: ModuleFacts | None = None
    objects: ObjectFacts | None = None
    default_dtype: torch.dtype = field(default_factory=torch.get_default_dtype)
    default_device: str = field(default_factory=lambda: callers_default_device().type)
    autocast: tuple[torch.dtype | None, ...] = field(default_factory=lambda: autocast_dtypes())
    grad_mode: bool | None = None
    recorded: frozenset[int] = frozenset()
    sizes: SizeChecks | None = None
    changed: tuple[ChangedObject, ...] = ()
    containers: tuple[ChangedContainer, ...] = ()
    storages: frozenset[int] = frozenset()
    held: tuple[ContainerSpec, ...] = ()
    signature: inspect.Signature | None = None
    can_be_kept: bool = True
    keeps_loops: bool = False
    makes_generators: bool = False

    @cached_property
    def specs(self) -> tuple[InputSpec, ...]:
        """How each of the values is flattened that `bind` returns."""
        return (*(argument.spec for argument in self.arguments), *(container.spec for container in self.held))

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> list[Any]:
        """Return one value per entry of `arguments`, in order, and then what the module has for each entry of `held`.

        Raises:
            ArgumentTypeError: too many, missing, unknown or repeated arguments.
        """
        kwargs = dict(kwargs or {})
        if self.signature is not None:
            self._check_extra(args, kwargs)
        positional = [a for a in self.arguments if not a.keyword_only]
        if len(args) > len(positional):
            raise ArgumentTypeError(
                f"{self.name}() takes {len(positional)} positional arguments but {len(args)} were given"
            )
        values = []
        for position, argument in enumerate(self.arguments):
            if position < len(args):
                if argument.name in kwargs:
                    raise ArgumentTypeError(f"{self.name}() got multiple values for argument '{argument.name}'")
                values.append(args[position])
            elif argument.name in kwargs:
                values.append(kwargs.pop(argument.name))
            elif argument.has_default:
                values.append(argument.default)
            else:
                raise ArgumentTypeError(f"{self.name}() missing required argument '{argument.name}'")
        if kwargs:
            raise ArgumentTypeError(f"{self.name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        return values + [container.current() for container in self.held] if self.held else values

    def _check_extra(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Compare the arguments of a call that takes any number of them to those of the program."""
        assert self.signature is not None
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentTypeError(f"{self.name}() {error}") from None
        own, kinds = self.signature.parameters, inspect.Parameter
        extra = [argument.name for argument in self.arguments if argument.name not in own]
        given = []
        for name, value in bound.arguments.items():
            if own[name].kind is kinds.VAR_POSITIONAL:
                given += [f"{name}[{number}]" for number in range(len(value))]
            elif own[name].kind is kinds.VAR_KEYWORD:
                given += list(value)
        if given != extra:
            raise ArgumentTypeError(
                f"{self.name}(): expected the further arguments {extra} of the example, in this order, got {given}"
            ).as_mismatch()

    def without_owner(self) -> ImportedProgram:
        """Return the program without the user's module, and what is taken for granted of it."""
        parameters = tuple(replace(parameter, owner=None) for parameter in self.parameters)
        attributes = tuple(replace(attribute, owner=None) for attribute in self.attributes)
        rebindings = tuple(replace(rebinding, owner=None) for rebinding in self.rebindings)
        held = tuple(replace(container, owner=None) for container in self.held)
        state: dict[str, Any] = {"attributes": attributes, "rebindings": rebindings, "held": held}
        return replace(self, parameters=parameters, **state, facts=None, objects=None)

    def owned_by(self, owner: Any, read: Iterable[str] | None, objects: ObjectFacts | None) -> ImportedProgram:
        """Return the program with a module of the user's, as it is now, in the place of that which `without_owner` has
        left out.

        Args:
            owner: the module, or a function.
            read: `ModuleFacts.read` of the program's facts, None if it had none.
            objects: what is taken for granted of other objects.
        """
        parameters = tuple(replace(parameter, owner=owner) for parameter in self.parameters)
        attributes = tuple(replace(attribute, owner=owner) for attribute in self.attributes)
        rebindings = tuple(replace(rebinding, owner=owner) for rebinding in self.rebindings)
        held = tuple(replace(container, owner=owner) for container in self.held)
        facts = ModuleFacts(owner, read, [each.name for each in held]) if read is not None else None
        state: dict[str, Any] = {"attributes": attributes, "rebindings": rebindings, "held": held}
        return replace(self, parameters=parameters, **state, facts=facts, objects=objects)

    def leaf_specs(self) -> Iterator[TensorSpec | ScalarSpec | ConstantSpec]:
        """Yield the leaves of `arguments` and `held` in order."""
        pending: list[InputSpec] = [*reversed(self.specs)]
        while pending:
            spec = pending.pop()
            if isinstance(spec, (SequenceSpec, ListSpec)):
                pending += reversed(spec.elements)
            elif isinstance(spec, DictSpec):
                pending += [element for _, element in reversed(spec.items)]
            elif not isinstance(spec, SharedSpec):
                yield spec

    def describe(self) -> list[str]:
        """Return what each leaf of the arguments has to be, `x: float32[4, 3]`, `mode='sum'`."""
        return [_described(spec, self.sizes) for spec in self.leaf_specs()]

    def tensor_specs(self) -> list[TensorSpec]:
        """Return the tensor arguments in `@main`'s argument order (parameters excluded)."""
        return [spec for spec in self.leaf_specs() if isinstance(spec, TensorSpec)]

    def constant_specs(self) -> list[ConstantSpec]:
        """Return the arguments that the program is specialised on."""
        return [spec for spec in self.leaf_specs() if isinstance(spec, ConstantSpec)]


_CONSTANT_TYPES = (bool, int, float, str, type(None))


def _described(spec: TensorSpec | ScalarSpec | ConstantSpec, open_: SizeChecks | None) -> str:
    if isinstance(spec, TensorSpec):
        sizes = [(open_.text(spec.index, dim) if open_ else None) or str(size) for dim, size in enumerate(spec.shape)]
        return f"{spec.path}: {str(spec.dtype).removeprefix('torch.')}[{', '.join(sizes)}]"
    return f"{spec.path}={spec.value!r}" if isinstance(spec, ConstantSpec) else f"{spec.path}: {spec.kind.__name__}"


def _flatten(spec: InputSpec, value: Any, leaves: list[Any], values: Sequence[Any]) -> None:
    """Append the leaves of one of the `values`, or of a part of one."""
    if isinstance(spec, SharedSpec):
        if value is not find_argument(spec.route, values):
            raise ArgumentValueError(
                f"arguments '{spec.other}' and '{spec.path}': expected one list, dict or object, as in the example"
            ).as_mismatch()
    elif isinstance(spec, TensorSpec):
        if not isinstance(value, torch.Tensor):
            raise mismatch(spec.path, "a tensor", value)
        leaves.append(value)
    elif isinstance(spec, ScalarSpec):
        if spec.converts and type(value) is int:
            value = checked_number(spec.path, float, value)
        leaves.append(checked_scalar(spec.path, spec.kind, value))
    elif isinstance(spec, ConstantSpec):
        if isinstance(spec.value, (bool, int, float)) and not isinstance(spec.value, Enum):
            value = checked_scalar(spec.path, type(spec.value), value)
        if not same_value(value, spec.value):
            got = (
                repr(value) if isinstance(value, (*_CONSTANT_TYPES, type(spec.value))) else f"a {type(value).__name__}"
            )
            raise ArgumentValueError(
                f"argument '{spec.path}': the program was compiled for {spec.value!r} and cannot take {got}"
                f"{f' (it had to be a constant: {spec.reason})' if spec.reason else ''}"
            ).as_mismatch()
    elif isinstance(spec, ObjectSpec):
        if type(value) is not spec.kind:
            raise mismatch(spec.path, f"a {spec.kind.__name__}", value)
        for key, element in spec.items:
            _flatten(element, getattr(value, key), leaves, values)
    elif isinstance(spec, DictSpec):
        if not isinstance(value, dict) or hasattr(type(value), "__missing__"):
            raise mismatch(spec.path, "a dict", value)
        if not same_value(list(value), [key for key, _ in spec.items]):
            raise ArgumentValueError(
                f"argument '{spec.path}': expected the keys {[key for key, _ in spec.items]} in this order, got {list(value)}"
            ).as_mismatch()
        for key, element in spec.items:
            _flatten(element, value[key], leaves, values)
    else:
        expected = tuple if isinstance(spec, SequenceSpec) else list
        if not isinstance(value, expected):
            raise mismatch(spec.path, f"a {expected.__name__}", value)
        if len(value) != len(spec.elements):
            raise ArgumentValueError(
                f"argument '{spec.path}': expected {len(spec.elements)} elements, got {len(value)}"
            ).as_mismatch()
        for element_spec, element in zip(spec.elements, value):
            _flatten(element_spec, element, leaves, values)


def flatten_arguments(
    program: ImportedProgram, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None
) -> list[torch.Tensor | bool | int | float]:
    """Turn a call's arguments into `@main`'s, parameters included.

    Args:
        program: the imported program.
        args: positional arguments of the call.
        kwargs: keyword arguments of the call.
    Returns:
        One tensor, bool, int or float per argument of `@main`. Tensors are the caller's own (no copies); their dtypes
        and shapes are not checked here.
    Raises:
        ArgumentTypeError: wrong number or Python type of arguments.
        ArgumentValueError: a specialised value, length or key differs.
    """
    leaves: list[Any] = []
    values = program.bind(args, kwargs)
    for spec, value in zip(program.specs, values, strict=True):
        _flatten(spec, value, leaves, values)
    leaves.extend(attribute.current() for attribute in program.attributes)
    leaves.extend(parameter.current() for parameter in program.parameters)
    return leaves


def store_attributes(program: ImportedProgram, leaves: Sequence[Any], results: Sequence[Any]) -> None:
    """Give the user's module the numbers and tensors that the program assigned.

    Args:
        program: the imported program.
        leaves: the arguments of `@main`, as the user's module and the caller hold them.
        results: the results of `@main`, in order.
    """
    for attribute in program.attributes:
        attribute.store(build_result(attribute.result, results))
    for rebinding, value in bound_tensors(program, leaves, results):
        rebinding.store(value)


def bound_tensors(
    program: ImportedProgram, leaves: Sequence[Any], results: Sequence[Any]
) -> list[tuple[RebindingSpec, torch.Tensor | None]]:
    """Return what attributes are bound to after a call; see `store_attributes`."""
    made: dict[int, Any] = {}
    found = []
    for rebinding in program.rebindings:
        source = build_result(rebinding.source, results)
        if source == -1:
            continue
        if source >= 0:
            made[source] = leaves[source]
        elif source not in made:
            made[source] = build_result(rebinding.returned.get(source, rebinding.result), results)
        found.append((rebinding, made[source]))
    return found
