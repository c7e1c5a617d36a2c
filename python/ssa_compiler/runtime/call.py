"""The path of one call: from the user's arguments to `@main`'s, and from its results to the user's.

`make_call` looks once at the calling convention and makes a function that does no more than the convention needs: most
programs take a few tensors by position and return a tensor or a tuple of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentTypeError, ArgumentValueError
from .tracing import tracing_checker

if TYPE_CHECKING:
    from ..abi import ImportedProgram
    from ..abi.convention import ParameterSpec, TensorSpec
    from . import Program

__all__ = ["make_call"]

_Call = Callable[[Sequence[Any], Mapping[str, Any]], Any]


def make_call(imported: ImportedProgram, program: Program, *, detach: bool = False) -> _Call:
    """Make the function that runs one call.

    Args:
        imported: the calling convention.
        program: the loaded program.
        detach: let results be detached where eager records gradients.
    Returns:
        A function of the positional and the keyword arguments.
    """
    from ..abi.container_writeback import change_containers, check_own_containers
    from ..abi.convention import TensorSpec, flatten_arguments, store_attributes
    from ..abi.object_writeback import change_objects, give_back, take_storages
    from ..abi.results import OutputLeaf, ResultBuilder, returns_arguments

    containers, specs = imported.containers, [argument.spec for argument in imported.arguments]
    changed, storages = imported.changed, imported.storages
    assigns = bool(imported.attributes or imported.rebindings)
    plain = not imported.attributes and all(isinstance(argument.spec, TensorSpec) for argument in imported.arguments)
    count = len(imported.arguments)
    state, has_state = _State(imported.parameters), bool(imported.parameters)
    results = imported.results
    binds = bool(containers) or returns_arguments(results)
    single = isinstance(results, OutputLeaf) and results.index == 0 and not results.renewed
    check = _assumption_checker(imported)
    check_facts = _facts_checker(imported)
    check_untraced = tracing_checker()
    check_gradients = None if detach else _gradient_checker(imported, program)

    def call(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        check_facts()
        if plain and not kwargs and len(args) == count:
            leaves = [*args, *state.current()] if has_state else args
        else:
            leaves = list(flatten_arguments(imported, args, kwargs))
        check_untraced(leaves)
        if check is not None:
            check(leaves)
        if check_gradients is not None:
            check_gradients(leaves)
        bound: Sequence[Any] = imported.bind(args, kwargs) if binds else ()
        if containers:
            check_own_containers(containers, specs, bound)
        if storages:
            given = take_storages(storages, leaves)
            values = give_back(leaves, given, program(given))
        else:
            values = program(leaves)
        if changed:
            change_objects(changed, leaves, values)
        if single and not containers:
            result = values[0]
        else:
            builder = ResultBuilder(values, bound)
            result = builder.build(results)
            change_containers(containers, bound, builder)
        if assigns:
            store_attributes(imported, leaves, values)
        return result

    return call


class _State:
    """Reads the parameters that the user's module holds now, without walking its attributes at every call.

    A parameter may be replaced (`model.weight = ...`), and so may a submodule: the dictionaries that hold them are kept, and
    that they still are the module's is checked at each call.
    """

    def __init__(self, parameters: Sequence[ParameterSpec]) -> None:
        self._parameters = parameters
        self._find()

    def _find(self) -> None:
        self._links: list[tuple[dict[str, Any], str, Any]] = []
        self._slots: list[tuple[dict[str, Any], str]] = []
        self._direct = True
        seen: set[tuple[int, str]] = set()
        for parameter in self._parameters:
            owner = parameter.owner
            *path, name = parameter.name.split(".")
            for part in path:
                modules = getattr(owner, "__dict__", {}).get("_modules")
                if not isinstance(modules, dict) or part not in modules:
                    self._direct = False
                    return
                if (id(modules), part) not in seen:
                    seen.add((id(modules), part))
                    self._links.append((modules, part, modules[part]))
                owner = modules[part]
            state = getattr(owner, "__dict__", {})
            holders = [state.get("_parameters"), state.get("_buffers")]
            fitting = [holder for holder in holders if isinstance(holder, dict) and holder.get(name) is not None]
            if not fitting:
                self._direct = False
                return
            self._slots.append((fitting[0], name))

    def current(self) -> list[Any]:
        """Return the tensor of each parameter.

        Raises:
            ArgumentTypeError: the module has no tensor of that name any more.
        """
        if self._direct:
            for modules, part, module in self._links:
                if modules.get(part) is not module:
                    self._find()
                    break
        if self._direct:
            found = [holder.get(name) for holder, name in self._slots]
            if all(tensor is not None for tensor in found):
                return found
        return [parameter.current() for parameter in self._parameters]


def _facts_checker(imported: ImportedProgram) -> Callable[[], None]:
    """Make the check of what the program takes for granted of the module and of PyTorch's settings."""
    import torch

    from ..abi.convention import autocast_dtypes
    from ..abi.same_values import same_tensor

    facts, default, autocast = imported.facts, imported.default_dtype, imported.autocast
    get_default, grad_mode, is_grad_enabled = torch.get_default_dtype, imported.grad_mode, torch.is_grad_enabled
    device, count_modes = imported.default_device, torch._C._len_torch_function_stack
    is_autocast, any_autocast = any(dtype is not None for dtype in autocast), torch._C._is_any_autocast_enabled
    tied = [(parameter, parameter.renamed(alias)) for parameter in imported.parameters for alias in parameter.aliases]

    def check() -> None:
        text = None
        if get_default() is not default:
            text = f"PyTorch's default dtype: expected {default}, got {get_default()}"
        elif (count_modes() or device != "cpu") and torch.get_default_device().type != device:  # a mode says which
            text = f"PyTorch's default device: expected {device}, got {torch.get_default_device().type}"
        elif (is_autocast or any_autocast()) and autocast_dtypes() != autocast:
            text = f"torch.autocast, dtypes on CPU and CUDA: expected {autocast}, got {autocast_dtypes()}"
        elif grad_mode is not None and is_grad_enabled() is not grad_mode:
            text = f"torch.is_grad_enabled(), for which the program asks: expected {grad_mode}, got {not grad_mode}"
        elif facts is not None:
            text = facts.difference()
        if text is None:
            for parameter, other in tied:
                one, two = parameter.current(), other.current()
                if not same_tensor(one, two):
                    text = f"parameters '{parameter.name}' and '{other.name}': expected one tensor, got two"
                    break
        if text is not None:
            raise ArgumentValueError(text).as_mismatch()

    return check


def _gradient_checker(imported: ImportedProgram, program: Program) -> Callable[[Sequence[Any]], None] | None:
    """Make the check that eager would record no gradients of parameters, None where no result could have any.

    Arguments of the user's are checked by the runtime, whatever becomes of them.
    """
    import torch

    made = [info.dtype for info in program.signature.results if info.dtype is not None and info.alias_of is None]
    if not any(dtype.is_floating_point or dtype.is_complex for dtype in made):
        return None
    recorded = [(spec.index, spec.name) for spec in imported.parameters if spec.index in imported.recorded]
    if not recorded:
        return None
    is_grad_enabled = torch.is_grad_enabled

    def check(leaves: Sequence[Any]) -> None:
        if not is_grad_enabled():
            return
        for index, name in recorded:
            if leaves[index].requires_grad:
                raise ArgumentValueError(
                    f"parameter '{name}' requires grad, and compiled programs do not record gradients: call the program under "
                    'torch.no_grad(), or compile it with gradients="detach" for results without gradients'
                )

    return check


def _assumption_checker(imported: ImportedProgram) -> Callable[[Sequence[Any]], None] | None:
    """Make the check of what the program takes for granted of its arguments, None where that is nothing.

    That written arguments share no memory with others is checked by the runtime for every written argument.
    """
    from ..abi.convention import DistinctStorage, FlagOff, NotInferred, SameObject, StorageAsExample, StridesAsExample
    from ..abi.object_writeback import OwnObject

    specs: dict[int, Any] = {spec.index: spec for spec in imported.tensor_specs()}
    specs.update({spec.index: spec for spec in imported.parameters})

    def name_of(index: int) -> str:
        return str(getattr(specs[index], "path", None) or specs[index].name)

    def tensor(leaves: Sequence[Any], index: int) -> Any:
        leaf = leaves[index]
        if not hasattr(leaf, "stride"):
            text = f"argument '{name_of(index)}': expected a tensor, got {type(leaf).__name__}"
            raise ArgumentTypeError(text).as_mismatch()
        return leaf

    # Strides that follow from sizes which are not fixed.
    open_strides = {
        item.index: [imported.sizes.number(stride) for stride in specs[item.index].strides]
        for item in imported.assumptions
        if isinstance(item, StridesAsExample) and imported.sizes is not None
        if not all(isinstance(stride, int) for stride in specs[item.index].strides)
    }

    def check_strides(item: StridesAsExample, leaves: Sequence[Any]) -> None:
        leaf, expected = tensor(leaves, item.index), specs[item.index].strides
        if item.index in open_strides:
            if leaf.dim() != len(expected):
                return  # the check of its shape says so
            expected = tuple(compute(leaves) for compute in open_strides[item.index])
        for size, stride, wanted in zip(leaf.shape, leaf.stride(), expected):
            if stride != wanted and (item.exact or (size != 1 and leaf.numel())):
                raise ArgumentValueError(
                    f"argument '{name_of(item.index)}': expected strides {tuple(expected)}, got {tuple(leaf.stride())}: "
                    f"{item.reason}"
                ).as_mismatch()

    def check_storage(item: StorageAsExample, leaves: Sequence[Any]) -> None:
        leaf = tensor(leaves, item.index)
        found: list[tuple[str, int | None, int]] = [("a storage offset of", item.offset, leaf.storage_offset())]
        found.append(("a storage of size", item.size, leaf.untyped_storage().nbytes() // leaf.element_size()))
        for what, wanted, got in found:
            if wanted is not None and got != wanted:
                raise ArgumentValueError(
                    f"argument '{name_of(item.index)}': expected {what} {wanted}, got {got}: {item.reason}"
                ).as_mismatch()

    def check_identity(item: SameObject, leaves: Sequence[Any]) -> None:
        if (leaves[item.first] is leaves[item.second]) != item.same:
            raise ArgumentValueError(
                f"arguments '{name_of(item.first)}' and '{name_of(item.second)}': expected "
                f"{'one tensor' if item.same else 'two tensors'}, as in the example: the program asks whether one is the other"
            ).as_mismatch()

    def check_flag(item: FlagOff, leaves: Sequence[Any]) -> None:
        leaf = tensor(leaves, item.index)
        if item.flag == "requires_grad":
            if leaf.requires_grad != item.expected:
                raise ArgumentValueError(
                    f"argument '{name_of(item.index)}': expected requires_grad {item.expected}, got {leaf.requires_grad}: "
                    f"{item.reason}"
                ).as_mismatch()
        elif getattr(leaf, item.flag)():
            remedy = item.flag.replace("is_", "resolve_") + "()"
            raise ArgumentValueError(
                f"argument '{name_of(item.index)}': {item.flag} is true, and compiled programs take it for false "
                f"({item.reason}): pass its .{remedy}"
            )

    def check_own(item: OwnObject, leaves: Sequence[Any]) -> None:
        leaf = tensor(leaves, item.index)
        memory = leaf.untyped_storage().data_ptr()
        for number, other in enumerate(leaves):
            if number == item.index or not hasattr(other, "untyped_storage"):
                continue
            if other is leaf or (item.grows and memory and other.untyped_storage().data_ptr() == memory):
                raise ArgumentValueError(
                    f"argument '{name_of(item.index)}' gets another shape from the program and is "
                    f"{'' if other is leaf else 'part of '}argument '{name_of(number)}' as well: pass a clone"
                )

    def check_size(item: NotInferred, leaves: Sequence[Any]) -> None:
        if leaves[item.index] == -1:
            raise ArgumentValueError(
                f"an argument that is a size for {item.op}: the program was not compiled for -1"
            ).as_mismatch()

    states = [spec.index for spec in imported.parameters]

    def check_distinct(item: DistinctStorage, leaves: Sequence[Any]) -> None:
        # One tensor under two names of the module is another program; other memory that is shared the runtime rejects.
        same = [index for index in states if leaves[index] is leaves[item.index]]
        if len(same) > 1:
            names = [*map(name_of, same)]
            raise ArgumentValueError(f"parameters {names}: expected {len(names)} tensors, got one").as_mismatch()

    kinds: dict[type, Any] = {
        FlagOff: check_flag,
        NotInferred: check_size,
        OwnObject: check_own,
        DistinctStorage: check_distinct,
        StridesAsExample: check_strides,
        StorageAsExample: check_storage,
        SameObject: check_identity,
    }

    def check_looks(item: TensorSpec, leaves: Sequence[Any]) -> None:
        leaf = tensor(leaves, item.index)
        if leaf.dtype is not item.dtype or tuple(leaf.shape) != item.shape:
            raise ArgumentValueError(
                f"argument '{item.path}': expected {item.dtype} of shape {item.shape}, got {leaf.dtype} of shape "
                f"{tuple(leaf.shape)}"
            ).as_mismatch()

    # The runtime checks the others; of these it sees the storage only.
    checks: list[tuple[Any, Any]] = [(check_looks, specs[index]) for index in sorted(imported.storages)]
    shared = states if len(states) > 1 else []
    assumed = [item for item in imported.assumptions if not isinstance(item, DistinctStorage) or item.index in shared]
    checks += [(kinds[type(item)], item) for item in assumed]
    sizes = imported.sizes
    if not checks:
        return sizes.check if sizes is not None else None

    def check(leaves: Sequence[Any]) -> None:
        if sizes is not None:
            sizes.check(leaves)
        for function, item in checks:
            function(item, leaves)

    return check
