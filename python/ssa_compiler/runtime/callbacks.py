"""The PyTorch side of callbacks: a VM module whose functions run one operator each.

An exception in an operator cannot pass through IREE, which turns it into an error text; it is kept here and raised
again by the caller, as eager would raise it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..abi.callback_sites import MODULE_NAME, CallbackSite, Constant, Listed
from ..errors import ProgramError
from ..semantics import autocast
from ..semantics.functionalized import on_copies, original_operator
from ..semantics.ignored_functions import NAMESPACE, is_ignored
from ..semantics.python_scalars import PYTHON_OPS, python_op

if TYPE_CHECKING:
    from ..abi.callback_sites import Argument
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
        in_place = original_operator(site.op)
        run = _runner(site)
        watched = in_place is None and not site.op.startswith(("aten::", "prims::", f"{NAMESPACE}::"))

        def call(_self: object, *passed: Any) -> Any:
            import torch

            self.counts[number] += 1
            start = time.perf_counter()
            try:
                values = iter(passed)
                arguments = [self._rebuild(argument, values) for argument in site.arguments]
                unwritten = [(a, a._version) for a in arguments if isinstance(a, torch.Tensor)] if watched else ()
                with torch.no_grad(), autocast.off_for(site.op):
                    result = run(*arguments)
                if any(argument._version != version for argument, version in unwritten):
                    raise RuntimeError(f"{site.op} writes an argument, which its schema does not say")
                results = result if isinstance(result, (tuple, list)) else (result,)
                returned = tuple(
                    self._return(value, spec.kind, spec.dtype)
                    for value, spec in zip(results, site.results, strict=True)
                )
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

    def _rebuild(self, argument: Argument, values: Any) -> Any:
        import iree.runtime as rt
        import torch

        if isinstance(argument, Constant):
            return argument.value
        if isinstance(argument, Listed):
            return [self._rebuild(item, values) for item in argument.items]
        value = next(values)
        if argument.kind == "tensor":
            return self._device.tensor(value.deref(rt.HalBufferView), getattr(torch, argument.dtype))
        return bool(value) if argument.kind == "bool" else value

    def _return(self, value: Any, kind: str, dtype: str) -> Any:
        import torch

        from .device import ALIGNMENT

        if kind != "tensor":
            return {"int": int, "float": float, "bool": int}[kind](value)
        expected = getattr(torch, dtype) if dtype else value.dtype
        if value.dtype is not expected:
            raise TypeError(f"the operator returned {value.dtype} where the program was compiled for {expected}")
        # A result may be a view of an operand, whose memory the program goes on to overwrite.
        fresh = torch.empty(value.shape, dtype=expected, device=value.device)
        fresh.copy_(value)
        assert fresh.data_ptr() % ALIGNMENT == 0
        self._device.wait_for_pytorch()
        return self._device.view(fresh).ref


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

    def run(*arguments: Any) -> Any:
        named = dict(zip(keywords, arguments[positional:], strict=False))
        return operator(*arguments[:positional], **named)

    return run if in_place is None else on_copies(operator, run)


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
