"""The examples and defaults of a program's declared arguments."""

from __future__ import annotations

from typing import Any

from ...abi.argument_specs import ArgumentSpec
from ...abi.convention import ImportedProgram
from ...abi.results import OutputConstant
from ..torchscript.models import OpenedModel

__all__ = ["bind_examples", "default_of", "has_default"]


def default_of(opened: OpenedModel, argument: Any) -> Any:
    """The default of a declared argument, None if it has none."""
    if argument.name in opened.untyped_defaults:
        return opened.untyped_defaults[argument.name]
    default = argument.default_value if argument.has_default_value() else None
    own = opened.defaults.get(argument.name)
    return own if type(default) is float and own == default else default


def has_default(opened: OpenedModel, argument: Any) -> bool:
    """Whether a call may leave a declared argument out."""
    return argument.name in opened.untyped_defaults or bool(argument.has_default_value())


def bind_examples(opened: OpenedModel, declared: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return one example per declared argument."""
    empty = ImportedProgram(
        module="",
        name=opened.name,
        arguments=tuple(
            ArgumentSpec(
                opened.names.get(a.name, a.name),
                spec=None,  # type: ignore[arg-type]
                has_default=has_default(opened, a),
                default=default_of(opened, a),
                keyword_only=a.kwarg_only or a.name in opened.keyword_only,
            )
            for a in declared
        ),
        parameters=(),
        results=OutputConstant(None),
        result_count=0,
        assumptions=(),
        written=frozenset(),
    )
    return empty.bind(args, kwargs)
