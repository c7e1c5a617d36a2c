"""Random programs with graph breaks at random places, and fragments under the interpreter."""

from __future__ import annotations

import ast
import random
from typing import Any

import torch

from ssa_compiler.abi import flatten_arguments
from ssa_compiler.abi.container_writeback import change_containers
from ssa_compiler.abi.object_writeback import change_objects, give_back, take_storages
from ssa_compiler.abi.results import ResultBuilder
from ssa_compiler.errors import ArgumentError, ArgumentValueError
from ssa_compiler.importer import import_program
from ssa_compiler.options import Options
from ssa_compiler.pipeline import import_and_run
from ssa_compiler.testing._calls import Call
from ssa_compiler.testing._interpreted import Interpreted
from ssa_compiler.testing._rejections import rejected_at_call

__all__ = ["InterpretedFragment", "with_graph_breaks"]

_BREAK = "import math as _break"
_MOST = 4


class _InPlace(Interpreted):
    """A stage under the interpreter that writes the caller's arguments."""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        program = self._program
        assert not program.attributes
        assert not program.rebindings
        leaves = flatten_arguments(program, args, kwargs)
        given = take_storages(program.storages, leaves)
        results = list(give_back(leaves, given, self._finish(list(given), self._run(given))))
        change_objects(program.changed, leaves, results)
        bound = program.bind(args, kwargs)
        builder = ResultBuilder(results, bound)
        result = builder.build(program.results)
        change_containers(program.containers, program.held, bound, leaves, builder)
        return result


class InterpretedFragment:
    """Stands for `CompiledProgram` in `fragments.variants`: of a function without module state."""

    def __init__(self, function: Any, options: Options, limit: int) -> None:
        self._function, self._options, self._limit = function, options, limit
        self._made: list[tuple[Any, _InPlace]] = []

    def specialise(self, *args: Any, **kwargs: Any) -> None:
        if len(self._made) >= self._limit:
            error = ArgumentValueError("there are too many")
            error.exhausted = True
            raise error
        options = self._options
        imported, pipeline = import_and_run(
            lambda unrolls: import_program(
                self._function,
                args,
                kwargs,
                unrolls=unrolls,
                exact_aliases=options.exact_aliases,
                dynamic_shapes=options.dynamic_shapes,
            )
        )
        self._made.append((imported, _InPlace(imported, pipeline.stages["iree"], "iree")))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        while True:
            for imported, interpreted in self._made:
                error = rejected_at_call(imported, Call(*args, **kwargs)) or _overlapping(imported, args, kwargs)
                if error is None:
                    return interpreted.call(args, kwargs)
                if not error.mismatch:
                    raise error
            self.specialise(*args, **kwargs)

    def explain(self) -> str:
        return "interpreted"


def _overlapping(imported: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArgumentError | None:
    """What the runtime says of a written argument whose elements share memory."""
    leaves = flatten_arguments(imported, args, kwargs)
    for number in imported.written:
        leaf = leaves[number]
        if isinstance(leaf, torch.Tensor) and any(n > 1 and not s for n, s in zip(leaf.shape, leaf.stride())):
            return ArgumentValueError("its elements share memory")
    return None


def with_graph_breaks(text: str, seed: int) -> str | None:
    """Return a random program with graph breaks at random places; None if it is a module."""
    chosen = random.Random(seed)
    tree = ast.parse(text)
    program = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "program"), None)
    if program is None:
        return None

    def changed(body: list[ast.stmt], often: float) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            if chosen.random() < often:
                found += ast.parse(_BREAK).body
            if isinstance(statement, (ast.If, ast.For, ast.While)) and chosen.random() < 0.5:
                statement.body = changed(statement.body, 0.12)
                statement.orelse = changed(statement.orelse, 0.12)
            found.append(statement)
        return found

    program.body = changed(program.body, 0.18)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
