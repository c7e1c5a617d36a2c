"""Rewrites that must not change what a program does: the program and its rewritten form are compared with each other.

Neither is compared with eager here, so that a mistake which eager and the compiler would share is seen as well, and the
rewritten programs reach code that the generator does not write: unrolled loops, opaque branches, needless copies.
"""

from __future__ import annotations

import ast
import copy
import random
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from ...errors import SsaCompilerError, UnsupportedOpError, UnsupportedProgramError
from ..harness import Call, Outcome, StageMismatch, compare_outcomes, run_stages
from .program import Program, load
from .record import Record, fail, generator_version

__all__ = ["REWRITES", "rewrite", "run_metamorphic"]

REWRITES: dict[str, Callable[[ast.FunctionDef, random.Random], bool]] = {}


def _rewrite(
    function: Callable[[ast.FunctionDef, random.Random], bool],
) -> Callable[[ast.FunctionDef, random.Random], bool]:
    REWRITES[function.__name__.strip("_")] = function
    return function


def _blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _places(
    function: ast.FunctionDef, choice: random.Random, fits: Callable[[ast.stmt], bool]
) -> tuple[list[ast.stmt], int] | None:
    """A statement that fits, taken at random."""
    found = [(block, place) for block in _blocks(function) for place, each in enumerate(block) if fits(each)]
    return choice.choice(found) if found else None


def _defines(node: ast.AST) -> bool:
    """Whether a statement binds a name, or leaves the block: a region around it would change what is seen after it."""
    leaves = (ast.Return, ast.Break, ast.Continue, ast.Assert, ast.Raise)
    for each in ast.walk(node):
        if isinstance(each, leaves) or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)):
            return True
    return False


@_rewrite
def _unroll(function: ast.FunctionDef, choice: random.Random) -> bool:
    """A loop with a constant trip count, written out."""

    def fits(node: ast.stmt) -> bool:
        return (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and isinstance(node.iter.func, ast.Name)
            and node.iter.func.id == "range"
            and all(isinstance(each, ast.Constant) for each in node.iter.args)
            and not any(isinstance(each, (ast.Break, ast.Continue)) for each in ast.walk(node))
        )

    found = _places(function, choice, fits)
    if found is None:
        return False
    block, place = found
    loop = block[place]
    assert isinstance(loop, ast.For)
    assert isinstance(loop.iter, ast.Call)
    trips = range(*(ast.literal_eval(each) for each in loop.iter.args))
    block[place : place + 1] = [
        statement
        for trip in trips
        for statement in (ast.Assign([copy.deepcopy(loop.target)], ast.Constant(trip)), *copy.deepcopy(loop.body))
    ] or [ast.Pass()]
    return True


def _opaque(body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
    """A branch on what is dynamic."""
    test = ast.parse("n > k", mode="eval").body
    return ast.If(test, body, orelse)


@_rewrite
def _duplicate(function: ast.FunctionDef, choice: random.Random) -> bool:
    """A statement in both arms of an opaque `if`."""
    found = _places(function, choice, lambda node: not isinstance(node, ast.Pass) and not _leaves(node))
    if found is None:
        return False
    block, place = found
    block[place] = _opaque([block[place]], [copy.deepcopy(block[place])])
    return True


def _leaves(node: ast.AST) -> bool:
    """Whether a statement leaves its block, or declares the type of a list, which TorchScript wants once."""
    kinds = (ast.Return, ast.Break, ast.Continue, ast.AnnAssign)
    return any(isinstance(each, kinds) for each in ast.walk(node))


@_rewrite
def _if_true(function: ast.FunctionDef, choice: random.Random) -> bool:
    """`if True:` around a statement."""
    found = _places(function, choice, lambda node: not _leaves(node))
    if found is None:
        return False
    block, place = found
    block[place] = ast.If(ast.Constant(True), [block[place]], [])
    return True


@_rewrite
def _once(function: ast.FunctionDef, choice: random.Random) -> bool:
    """`for _ in range(1)` around a statement that binds no name."""
    found = _places(function, choice, lambda node: not _defines(node) and not isinstance(node, ast.Pass))
    if found is None:
        return False
    block, place = found
    loop = ast.parse("for once in range(1):\n    pass").body[0]
    assert isinstance(loop, ast.For)
    loop.body = [block[place]]
    block[place] = loop
    return True


@_rewrite
def _clone(function: ast.FunctionDef, choice: random.Random) -> bool:
    """A clone of a new tensor, which nothing else names: the source of a `copy_` or an `add_`."""

    def fits(node: ast.stmt) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("copy_", "add_", "sub_")
            and bool(call.args)
            and isinstance(call.args[0], ast.Call)
        )

    found = _places(function, choice, fits)
    if found is None:
        return False
    block, place = found
    statement = block[place]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    source = statement.value.args[0]
    if "float(" in ast.unparse(source)[:6]:
        return False
    statement.value.args[0] = ast.Call(ast.Attribute(source, "clone", ast.Load()), [], [])
    return True


def rewrite(text: str, seed: int, times: int = 3) -> tuple[str, list[str]]:
    """Rewrite a program without changing its meaning.

    Args:
        text: the program.
        seed: which rewrites are made, and where.
        times: how many.
    Returns:
        The rewritten program, and the names of the rewrites made.
    """
    choice = random.Random(f"rewrite {seed}")
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    main = next(node for node in functions if node.name in ("program", "forward"))
    done = []
    for _ in range(times):
        name = choice.choice(sorted(REWRITES))
        if REWRITES[name](main, choice):
            done.append(name)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", done


def run_metamorphic(program: Program) -> Record:
    """Compare a program with a rewritten form of it, at every stage under the interpreter.

    Args:
        program: the program.
    Returns:
        A record; "rejected" if either form is.
    """
    start = time.perf_counter()
    record = Record("metamorphic", program.seed, "ok", features=sorted(program.features), version=generator_version())
    changed, record.rewrites = rewrite(program.text, program.seed or 0)
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sides = [
                load(text, Path(folder), f"fuzz_{name}")
                for name, text in (("original", program.text), ("rewritten", changed))
            ]
            calls = [Call(*call) for call in sides[0].calls]
            record.calls = len(calls)
            first, second = (list(run_stages(side.model, calls)) for side in sides)
            for (stage, number, one), (_, _, other) in zip(first, second, strict=True):
                _same(stage, number, one, other)
        except StageMismatch as error:
            record.stage = error.stage
            fail(record, "wrong", f"after {', '.join(record.rewrites)}: {error}", folder)
        except (UnsupportedOpError, UnsupportedProgramError) as error:
            fail(record, "rejected", str(error), folder)
        except SsaCompilerError as error:
            fail(record, "rejected", f"{type(error).__name__}: {error}", folder)
        except Exception as error:  # a crash of the compiler is a result
            fail(record, "error", f"{type(error).__name__}: {error}", folder)
    record.seconds = round(time.perf_counter() - start, 4)
    return record


def _same(stage: str, number: int, one: Outcome, other: Outcome) -> None:
    """Compare two outcomes; an error of the first has to be one of the second."""
    one.copies = [*one.copies, *other.copies]
    compare_outcomes(stage, number, one, other, None, None)
