"""The path of one call: from the user's arguments to `@main`'s, and from its results to the user's.

`make_call` looks once at the calling convention and makes a function that does no more than the convention needs: most
programs take a few tensors by position. The code for nested arguments and results is written for each (`call_code.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..abi.argument_specs import TensorSpec
from ..abi.container_writeback import change_containers, check_own_containers
from ..abi.convention import flatten_arguments, store_attributes
from ..abi.generators import kept_generators
from ..abi.object_writeback import change_objects, give_back, take_storages
from ..abi.results import ResultBuilder, returns_arguments
from .assumptions import assumption_checker, facts_checker, gradient_checker
from .call_code import argument_reader, result_builder
from .parameters import CurrentParameters
from .tracing import tracing_checker

if TYPE_CHECKING:
    from ..abi import ImportedProgram
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
    containers, specs, held, facts = imported.containers, imported.specs, imported.held, imported.facts
    changed, storages = imported.changed, imported.storages
    attributes, assigns = imported.attributes, bool(imported.attributes or imported.rebindings)
    plain = not attributes and not held and all(isinstance(spec, TensorSpec) for spec in specs)
    plain = plain and not any(argument.keyword_only for argument in imported.arguments)
    count = len(imported.arguments)
    state, has_state = CurrentParameters(imported.parameters), bool(imported.parameters)
    results = imported.results
    stores = bool(containers) or any(container.result is not None for container in held)
    binds = stores or returns_arguments(results)
    build = result_builder(results) if not stores else None
    read = argument_reader(imported)
    check = assumption_checker(imported)
    check_facts = facts_checker(imported)
    check_untraced = tracing_checker()
    check_gradients = None if detach else gradient_checker(imported, program)

    def call(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        check_facts()
        bound: Sequence[Any] = ()
        if plain and not kwargs and len(args) == count:
            leaves = [*args, *state.current()] if has_state else args
            bound = args
        else:
            found = read(imported.bind(args, kwargs)[:count] if kwargs else args) if read is not None else None
            if found is not None:
                leaves, bound = found
                leaves += [attribute.current() for attribute in attributes]
                leaves += state.current()
            else:
                leaves = list(flatten_arguments(imported, args, kwargs))
                bound = imported.bind(args, kwargs) if binds else ()
        check_untraced(leaves)
        if check is not None:
            check(leaves)
        if check_gradients is not None:
            check_gradients(leaves)
        if containers:
            check_own_containers(containers, specs, bound, facts.containers() if facts is not None else ())
        if storages:
            given = take_storages(storages, leaves)
            values = give_back(leaves, given, program(given))
        else:
            values = program(leaves)
        if changed:
            change_objects(changed, leaves, values)
        if build is not None:
            result = build(values, bound)
        else:
            builder = ResultBuilder(values, bound)
            result = builder.build(results)
            change_containers(containers, held, bound, leaves, builder)
        if assigns:
            store_attributes(imported, leaves, values)
        return result

    return _keeping_generators(call) if imported.makes_generators else call


def _keeping_generators(call: _Call) -> _Call:
    """A call of a program that makes generators."""

    def keeping(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        with kept_generators():
            return call(args, kwargs)

    return keeping
