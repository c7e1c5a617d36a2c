"""Scripting a program so that TorchScript neither drops what eager does nor changes what a literal means.

While scripting, TorchScript removes what it believes to be dead code. It goes by alias annotations, and some ops return
an alias without saying so: `x[i].add_(1)` with a 0-d tensor `i` writes x in eager, and leaves nothing in the graph.
What is dead may also raise: `x.expand(2, 3).add_(1)` does in eager. And a bool literal where a schema has a number
becomes an int, so that `torch.full([2], True)` gives integers.

Nothing of this can be told from the graph, therefore the syntax tree is changed before TorchScript compiles it. A value
that a statement makes or writes is *kept*: printed with a mark that the importer knows, as TorchScript never removes a
print. A bool literal among the operands of an op that takes numbers becomes `[True][0]`, whose conversion TorchScript
cannot compute and the importer sees (`ops/bool_operands.py`). So do numbers of which TorchScript would compute
something other than Python (`5 << 70`), or that it would lose (-0.0, which it takes for 0.0). `float(x)`, which it
leaves out of what it believes to be a float (`float(n ** 2)`), is multiplied by 1.0, `int(x)` by 1. Line and column
stay, so that locations and messages are the user's.

TorchScript's caches are put aside meanwhile: what the user scripts himself has nothing of this.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.jit._recursive as recursive
import torch.jit._state as jit_state
import torch.jit.frontend as frontend
from torch import _jit_internal

from ..._wrapper import ModelWrapper
from ...errors import SourceLocation
from ..ir.purity import unfolded
from ..isolation.patching import replaced
from .as_eager import as_eager, unused_functions_run
from .boolean_operators import choose_operands
from .enum_names import enum_names
from .evaluation_order import compute_once
from .function_scope import (
    Names,
    admit_none,
    annotate_from_defaults,
    let_defaults_be,
    reject_iterators,
    reject_starred_targets,
    variables_of,
)
from .plain_dataclasses import plain_dataclasses
from .string_annotations import string_annotations
from .syntax_rewriter import KEPT, Rewriter

__all__ = ["has_everything", "script_all", "script_plainly"]

_IGNORED = re.compile(r"#\s*type:\s*ignore\b[^\n]*")
_overloads: dict[str, list[Any]] = {}
"""The declarations of overloaded functions by name: TorchScript forgets those that it has compiled."""


def script_all(
    script: Callable[[], Any],
    *,
    methods: bool = False,
    scripted: bool = False,
    repeated: list[SourceLocation] | None = None,
    has_methods: list[Any] | None = None,
) -> Any:
    """Script a function or module, keeping all that its statements compute.

    Args:
        script: scripts it.
        methods: let `x.f()` be `torch.f(x)` where tensors of Python have such a method and those of TorchScript have
            none.
        scripted: whether eager runs TorchScript, too.
        repeated: receives the places of what TorchScript would compute several times.
        has_methods: receives the functions of which `methods` makes something else.
    Returns:
        The ScriptFunction or ScriptModule, for the importer only.
    Raises:
        Exception: whatever TorchScript raises; also where only what is added here is rejected.
    """
    rewrite = partial(
        _rewritten,
        methods=methods,
        scripted=scripted,
        repeated=repeated if repeated is not None else [],
        has_methods=has_methods if has_methods is not None else [],
    )
    with (
        _private_caches(),
        _renormalising(),
        _plain_functions(),
        plain_dataclasses(),
        string_annotations(),
        enum_names(),
        unfolded(),
        nullcontext() if scripted else unused_functions_run(),
        _parsed_with(rewrite),
    ):
        return script()


def script_plainly(script: Callable[[], Any]) -> Any:
    """Script a function or module as TorchScript does it, but with eager's answers to `torch.jit.is_scripting()`.

    Args:
        script: scripts it.
    """
    with (
        _private_caches(),
        plain_dataclasses(),
        string_annotations(),
        enum_names(),
        unfolded(),
        unused_functions_run(),
        _parsed_with(_chosen),
    ):
        return script()


def has_everything(graph: Any) -> bool:
    """Whether TorchScript made a graph of a function in which values are kept."""
    return KEPT.lstrip("\0") in str(graph)


@contextmanager
def _private_caches() -> Iterator[None]:
    """Let TorchScript compile anew, and forget it afterwards."""
    names = ("_jit_caching_layer", "_jit_function_overload_caching")
    saved = {name: getattr(jit_state, name) for name in names}
    types, declared = recursive.concrete_type_store, _jit_internal._overloaded_fns
    _overloads.update({name: list(functions) for name, functions in declared.items()})
    # What was compiled before its declarations were seen here can only be taken as it is.
    compiled = weakref.WeakKeyDictionary(
        {
            function: overloads
            for function, overloads in saved[names[1]].items()
            if _jit_internal._qualified_name(function) not in _overloads
        }
    )
    try:
        setattr(jit_state, names[0], weakref.WeakKeyDictionary())
        setattr(jit_state, names[1], compiled)
        _jit_internal._overloaded_fns = dict(_overloads)
        recursive.concrete_type_store = recursive.ConcreteTypeStore()
        yield
    finally:
        _jit_internal._overloaded_fns = declared
        for name, cache in saved.items():
            setattr(jit_state, name, cache)
        recursive.concrete_type_store = types


@contextmanager
def _renormalising() -> Iterator[None]:
    """Let `embedding(..., max_norm=...)` write its weight: TorchScript's own op for it has a schema that writes
    nothing.
    """
    from torch.jit import _builtins

    key = id(torch.nn.functional._no_grad_embedding_renorm_)  # type: ignore[attr-defined]
    table = _builtins._get_builtin_table()  # type: ignore[no-untyped-call]
    before = table[key]
    try:
        table[key] = "aten::embedding_renorm_"
        yield
    finally:
        table[key] = before


@contextmanager
def _plain_functions() -> Iterator[None]:
    """Let a program call functions that `ssa_compiler.script` decorates: TorchScript sees what was decorated."""
    create = _jit_internal.createResolutionCallbackFromClosure

    def unwrapping(function: Any) -> Any:
        resolve = create(inspect.unwrap(function))  # names are those of what was decorated

        def lookup(name: str) -> Any:
            found = resolve(name)
            return found.model if isinstance(found, ModelWrapper) else found

        return lookup

    with replaced(_jit_internal, "createResolutionCallbackFromClosure", unwrapping):
        yield


@contextmanager
def _parsed_with(rewrite: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Let TorchScript see `rewrite(function, parsed)` for each function that it parses."""
    parse = getattr(frontend, "parse_def")  # noqa: B009 - a name that the module imports

    def parsed(function: Any) -> Any:
        found = parse(inspect.unwrap(function))
        # Where more follows on the line, TorchScript takes the comment for the types of the parameters.
        source = _IGNORED.sub(lambda comment: " " * len(comment[0]), found.source)
        return rewrite(function, found._replace(source=source))

    with replaced(frontend, "parse_def", parsed):
        yield


def _is_of_torch(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "torch"


def _chosen(function: Any, parsed: Any) -> Any:
    """Rewrite a parsed function only where TorchScript takes it for another one."""
    parsed = as_eager(function, parsed)
    if _is_of_torch(function):
        return parsed
    tree = copy.deepcopy(parsed.ast)
    admit_none(function, tree.body[0].args)
    reject_iterators(tree.body[0], variables_of(tree.body[0]))
    reject_starred_targets(tree.body[0])
    choose_operands(tree.body[0])
    if any(hasattr(node, "chooses") for node in ast.walk(tree)):
        raise NotImplementedError("`f() or x`, which is a bool to TorchScript; give f() a name")
    return parsed._replace(ast=ast.fix_missing_locations(tree))


def _rewritten(
    function: Any,
    parsed: Any,
    *,
    methods: bool,
    scripted: bool,
    repeated: list[SourceLocation],
    has_methods: list[Any],
) -> Any:
    """Rewrite a parsed function, unless it is one of PyTorch's own."""
    if _is_of_torch(function):
        return parsed
    tree = copy.deepcopy((parsed if scripted else as_eager(function, parsed)).ast)
    definition = tree.body[0]
    # Decorators, defaults and annotations are not statements of the program.
    names = map("_ssa_compiler_part_{}".format, itertools.count())
    lines: list[int] = []
    try:
        if not scripted:
            reject_iterators(definition, variables_of(definition))
            reject_starred_targets(definition)
            choose_operands(definition)
            compute_once(definition, lambda: next(names), lines)
    finally:
        repeated += [SourceLocation(str(parsed.filename), parsed.file_lineno - 1 + line) for line in lines]
    generated = hasattr(function, "_ssa_compiler_parsed")
    rewriter = Rewriter(methods, variables_of(definition), Names(function), generated=generated)
    try:
        rewriter.definition(definition)
    finally:  # what it rejects may have been rewritten otherwise
        has_methods += [function] * rewriter.has_methods
    if not generated:  # a copy takes what the example has
        admit_none(function, definition.args)
    if not scripted:
        annotate_from_defaults(definition.args)
    let_defaults_be(definition.args)
    return parsed._replace(ast=ast.fix_missing_locations(tree))
