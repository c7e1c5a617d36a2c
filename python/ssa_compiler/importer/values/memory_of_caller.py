"""Tensors that share memory with the caller's, or with another result, in eager, and not in what is compiled.

A compiled program returns an argument, or one result twice, as the same tensor; any other result has memory of its own.
Where the caller goes on with the results, writing them among other things, that has to be so in eager, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from ...errors import ResultAliasError, SourceLocation
from .modules import Assigned
from .state import State
from .symbols import expr_of
from .values import OptionalValue, Site, TensorValue, TupleValue, Value, made_at

__all__ = ["check_rebound", "check_result_aliases"]


def _is_callers(storage: Site) -> bool:
    """Whether a storage was there before the program."""
    return made_at(storage)[0] in ("argument", "parameter")


def _error(location: SourceLocation | None, result: int | None) -> ResultAliasError:
    return ResultAliasError(
        "unsupported: a result that is a view of an argument or of another result, or may be one of several tensors, "
        "before more of the program",
        result=result,
        location=location,
    )


def check_rebound(state: State, value: Value) -> None:
    """Reject what a variable is bound to if it shares memory with one of the caller's tensors, or has other strides.

    Raises:
        ResultAliasError: it may.
    """
    if not isinstance(value, TensorValue):
        return
    if value.maybe or any(map(_is_callers, value.storages)) or not _has_own_strides(value):
        raise _error(state.locations.user(), None)
    _need_strides(state, value)


def check_result_aliases(
    state: State,
    result: Value,
    returned: Sequence[TensorValue],
    counted: Mapping[int, frozenset[Site]],
    attributes: Sequence[Assigned],
) -> None:
    """Reject a result, or what an attribute is bound to, that may share memory with one of the caller's tensors or
    another result, and is not that tensor, or has other strides than in eager.

    Args:
        state: that of the import.
        result: what the program returns.
        returned: the tensors of all results, and of attributes.
        counted: the storages of arguments that elements of the result may be, by their number, as the caller knows
            when they are.
        attributes: the attributes that are assigned; calls know which objects they are bound to.
    Raises:
        ResultAliasError: there is one.
    """
    known = set(state.emitter.entry.arguments)
    elements = result.elements if isinstance(result, TupleValue) else (result,)
    own = {id(elements[number]): storage for number, storage in counted.items()}
    for each in attributes:
        value = each.value.value if isinstance(each.value, OptionalValue) else each.value
        if isinstance(value, TensorValue) and isinstance(each.first, TensorValue) and _is_in_place(value, each.first):
            own[id(value)] = frozenset(map(made_at, each.first.storages))
    before: dict[Site, TensorValue] = {}
    for value in returned:
        number = next((n for n, each in enumerate(elements) if each is value), None)
        storages = {made_at(storage) for storage in value.storages} - own.get(id(value), frozenset())
        shares = value.maybe or (value.ssa not in known and any(map(_is_callers, storages)))
        shares = shares or (value.renewed and value.ssa in known)
        if shares or any(before[each].ssa != value.ssa for each in storages & before.keys()):
            raise _error(None, number)
        before |= dict.fromkeys(storages, value)
        if value.ssa not in known and id(value) not in own:
            if not _has_own_strides(value):
                raise _error(None, number)
            _need_strides(state, value)


def _is_in_place(value: TensorValue, first: TensorValue) -> bool:
    """Whether a tensor is surely another one, written in place."""
    facts = [(each.fake.shape, each.fake.stride(), each.offset) for each in (value, first)]
    return value.root is first.root and facts[0] == facts[1]


def _has_own_strides(value: TensorValue) -> bool:
    """Whether a tensor has the strides of new memory: what is a view of it, and what a copy, depends on them."""
    expected = sympy.Integer(1)
    sizes = [sympy.sympify(expr_of(size)) for size in value.fake.shape]
    strides = [sympy.sympify(expr_of(stride)) for stride in value.fake.stride()]
    for size, stride in reversed(list(zip(sizes, strides))):
        if size != 1 and _at_least_one(stride) != expected and 0 not in sizes:
            return False
        expected *= _at_least_one(size)
    return True


def _need_strides(state: State, value: TensorValue) -> None:
    """Let calls check the strides of the arguments that those of a result follow."""
    if value.fake.dim() > 1:
        state.layouts.need(value.storages, "a result before more of the program")


def _at_least_one(size: sympy.Expr) -> sympy.Expr:
    """A size, or a stride that is made of sizes, without the question whether they are 0."""
    return size.replace(lambda part: isinstance(part, sympy.Max), lambda part: next(a for a in part.args if a != 1))
