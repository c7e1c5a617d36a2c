"""The PyTorch side of callbacks: a VM module whose functions run one operator each.

An exception in an operator cannot pass through IREE, which turns it into an error text; it is kept here and raised
again by the caller, as eager would raise it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..abi.callback_sites import MODULE_NAME, CallbackSite, Constant, Listed
from ..abi.generators import with_generators
from ..errors import ProgramError
from ..semantics import autocast
from ..semantics.functionalized import on_copies, original_operator
from ..semantics.ignored_functions import NAMESPACE, is_ignored
from ..semantics.python_scalars import PYTHON_OPS, python_op
from .device import ALIGNMENT

if TYPE_CHECKING:
    import torch

    from ..abi.callback_sites import Argument, Passed
    from .device import Device

__all__ = ["CallbackHost"]


class CallbackHost:
    """Runs the operators of a program's callbacks.

    Attributes:
        counts: how often each site ran, in the order of the sites.
        seconds: the time that they took in all.
        error: what the last operator that failed raised; taken by `take_error`.
    """

    def __init__(self, sites: Sequence[CallbackSite], device: Device) -> None:
        self.counts = [0] * len(sites)
        self.seconds = 0.0
        self.error: BaseException | None = None
        self._sites = tuple(sites)
        self._device = device

    def module(self) -> Any:
        """Return the VM module to link with the program."""
        import iree.runtime as rt

        interface = rt.PyModuleInterface(MODULE_NAME, lambda _interface: self)
        for number, site in enumerate(self._sites):
            interface.export(site.name, site.convention, self._function(number, site))
        self._interface = interface
        return interface.create()

    def take_error(self) -> BaseException | None:
        """Return and forget the exception of the last operator that failed."""
        error, self.error = self.error, None
        return error

    def _function(self, number: int, site: CallbackSite) -> Callable[..., Any]:
        import torch

        in_place = original_operator(site.op)
        run = _runner(site)
        is_aten = site.op.startswith(("aten::", "prims::"))
        watched = in_place is None and not is_aten and not site.op.startswith(f"{NAMESPACE}::")
        readers = [self._reader(argument) for argument in site.arguments]
        writers = [self._writer(result, keeps_none=is_aten) for result in site.results]

        def call(_self: object, *passed: Any) -> Any:
            self.counts[number] += 1
            start = time.perf_counter()
            try:
                values = iter(passed)
                arguments = [read(values) for read in readers]
                tensors = list(_tensors_in(arguments))
                versions = [tensor._version for tensor in tensors] if watched else []
                with torch.no_grad(), autocast.off_for(site.op):
                    result = run(*arguments)
                if versions != [tensor._version for tensor in tensors[: len(versions)]]:
                    raise RuntimeError(f"{site.op} writes an argument, which its schema does not say")
                results = result if isinstance(result, (tuple, list)) else (result,)
                known = {tensor.untyped_storage().data_ptr() for tensor in tensors}
                returned = [write(value, known) for write, value in zip(writers, results, strict=True)]
                self._device.wait_for_pytorch()
                return *returned, 0  # the token, which says only that this is done
            except Exception as error:
                located = ProgramError(f"{in_place or site.op}: {error}", location=site.location)
                # What the user's own Python code raises is his.
                self.error = error if is_ignored(in_place or site.op) else _like_eager(error, located)
                raise
            except BaseException as error:  # Ctrl-C, which IREE would turn into an error of its own
                self.error = error
                raise
            finally:
                self.seconds += time.perf_counter() - start

        return call

    def _reader(self, argument: Argument) -> Callable[[Iterator[Any]], Any]:
        """Return what makes an argument of the operator of those that the program passes."""
        import iree.runtime as rt
        import torch

        if isinstance(argument, Constant):
            return lambda values: argument.value
        if isinstance(argument, Listed):
            readers = [self._reader(item) for item in argument.items]
            return lambda values: [read(values) for read in readers]
        if argument.kind == "tensor":
            tensor, view, dtype = self._device.tensor, rt.HalBufferView, getattr(torch, argument.dtype)
            return lambda values: tensor(next(values).deref(view), dtype)
        return (lambda values: bool(next(values))) if argument.kind == "bool" else next

    def _writer(self, result: Passed, *, keeps_none: bool) -> Callable[[Any, set[int]], Any]:
        """Return what hands a result of the operator to the program, of the addresses of storages that are in use.

        Args:
            result: what the program expects.
            keeps_none: whether the operator keeps none of its results. One of the user's may keep some.
        """
        import torch

        if result.kind != "tensor":
            number: Callable[[Any], Any] = {"int": int, "float": float, "bool": int}[result.kind]
            return lambda value, known: number(value)
        expected = getattr(torch, result.dtype) if result.dtype else None

        def write(value: torch.Tensor, known: set[int]) -> Any:
            if expected is not None and value.dtype is not expected:
                raise TypeError(f"the operator returned {value.dtype} where the program was compiled for {expected}")
            address = value.untyped_storage().data_ptr()
            shared = not keeps_none or address in known
            if shared or not value.is_contiguous() or value.data_ptr() % ALIGNMENT or value.is_conj() or value.is_neg():
                # Compiled ops return memory of their own, and so does the program.
                value = torch.empty(value.shape, dtype=value.dtype, device=value.device).copy_(value)
            assert value.data_ptr() % ALIGNMENT == 0
            known.add(address)
            return self._device.view(value).ref

        return write


def _runner(site: CallbackSite) -> Callable[..., Any]:
    """Return what computes a site's results from the operands of its op."""
    name = site.op.partition(".")[0]
    if name in PYTHON_OPS and all(result.kind != "tensor" for result in site.results):
        return partial(python_op, name)
    in_place = original_operator(site.op)
    operator = resolve_operator(in_place or site.op)
    schema = operator._schema.arguments
    positional = sum(not argument.kwarg_only for argument in schema)
    keywords = [argument.name for argument in schema if argument.kwarg_only]

    if not keywords and in_place is None:
        return with_generators(operator._schema, operator)

    def run(*arguments: Any) -> Any:
        named = dict(zip(keywords, arguments[positional:], strict=False))
        return operator(*arguments[:positional], **named)

    called = with_generators(operator._schema, run)
    return called if in_place is None else on_copies(operator, called)


def _tensors_in(arguments: list[Any]) -> Iterator[torch.Tensor]:
    import torch

    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, list):
            yield from _tensors_in(argument)


def resolve_operator(name: str) -> Any:
    """Return the PyTorch operator `namespace::name.overload`."""
    import torch

    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")


def _like_eager(error: Exception, located: ProgramError) -> BaseException:
    """The exception to raise: of the project's family, and of the type that eager raises."""
    from ..errors import program_error, program_error_name

    named = program_error(f"{program_error_name(type(error))}: {error}")
    result = type(named)(str(error), location=located.location)
    result.__cause__ = error
    return result
