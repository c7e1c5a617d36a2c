"""Goes through TorchScript's registry of ops on numbers and strings and compares each with Python at boundary values.

    python -m ssa_compiler.testing.scalar_registry

Every op of the registry is a Python expression (`EXPRESSIONS`), or named with the reason why it is none
(`NOT_COMPARED`); one that is neither is an error, so that a new PyTorch cannot add one unseen. Ops on numbers run on
arguments, many in one program that an argument chooses from, on the interpreter at every stage and compiled; and on
literals. Strings are always constants.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import math
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .scalar_cases import (
    ARGUMENTS,
    EXPRESSIONS,
    FLOATS,
    FURTHER,
    INTS,
    NOT_COMPARED,
    SMALL,
    STRINGS,
    TEXT_EXPRESSIONS,
    TEXTS,
    VARIABLES,
)

__all__ = [
    "Case",
    "Program",
    "cases",
    "compare",
    "constant_differences",
    "differences",
    "of_literals",
    "of_texts",
    "programs",
]


@dataclass(frozen=True)
class Case:
    """An expression on numbers.

    Attributes:
        op: the op that it is, with its overload.
        text: the expression, over `a`, `b` (ints), `x`, `y` (floats), `p` and `q` (bools).
        result: "int", "float" or "bool".
    """

    op: str
    text: str
    result: str

    @property
    def names(self) -> str:
        """The arguments that it reads."""
        code = compile(self.text, "<case>", "eval")
        return "".join(name for name in code.co_names if name in ("a", "b", "x", "y", "p", "q"))


def cases() -> tuple[list[Case], list[str]]:
    """Return the expressions for the registry, and the ops that are neither compared nor excepted by name."""
    import torch

    found, unknown = [], []
    for schema in torch._C._jit_get_all_schemas():
        kinds = [str(spec.type) for spec in schema.arguments]
        results = [str(spec.type) for spec in schema.returns]
        if schema.name.partition("::")[0] not in ("aten", "prim", "prims") or not kinds:
            continue
        if "number" in results or not {*kinds, *results} <= {"int", "float", "bool", "number", "str", "Optional[int]"}:
            continue
        if "str" in kinds + results:
            if schema.name not in STRINGS and schema.name not in NOT_COMPARED:
                unknown.append(str(schema))
            continue
        if "number" in kinds or schema.name in NOT_COMPARED:
            continue
        if schema.name not in EXPRESSIONS:
            unknown.append(str(schema))
            continue
        variables = [VARIABLES[kind][position] for position, kind in enumerate(kinds)]
        template, result = EXPRESSIONS[schema.name]
        widest = "float" if "float" in kinds else kinds[0]
        if schema.name == "aten::log" and len(kinds) == 2:
            template = "math.log({0}, {1})"
        if schema.name in ("prim::max", "prim::min") and len(set(kinds)) == 2:
            template = f"float({template})"
        if schema.name == "aten::pow" and widest == "int":
            template = "int({0} ** {1})"
        found.append(Case(f"{schema.name}.{schema.overload_name}", template.format(*variables), result or widest))
    found += [Case("", text, result) for _, text, result in FURTHER]
    return list({case.text: case for case in found}.values()), unknown


@dataclass
class Program:
    """Many cases in one function, the first argument of which chooses."""

    cases: list[Case]
    function: Callable[..., Any]


def _load(source: str, name: str) -> Any:
    folder = tempfile.mkdtemp(prefix="ssa-scalars-")
    path = Path(folder) / f"{name}.py"
    path.write_text("import math\n\n\n" + source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def programs(chosen: Sequence[Case], size: int = 40) -> Iterator[Program]:
    """Make programs of the cases, those of one type of result in one, at most `size` in each."""
    for kind, zero in (("int", "0"), ("float", "0.0"), ("bool", "False")):
        alike = [case for case in chosen if case.result == kind]
        for start in range(0, len(alike), size):
            part = alike[start : start + size]
            body = "".join(f"    if k == {n}:\n        r = {case.text}\n" for n, case in enumerate(part))
            source = f"def program(k: int, {ARGUMENTS}) -> {kind}:\n    r = {zero}\n{body}    return r\n"
            yield Program(part, _load(source, f"scalar_{kind}_{start}").program)


def values_of(case: Case, count: int | None, draw: random.Random) -> list[tuple[Any, ...]]:
    """Return arguments for a case: all pairs of boundary values, or `count` of them."""
    ints = SMALL if any(part in case.text for part in ("factorial", "<<", "a ** b")) else INTS
    pools: dict[str, tuple[Any, ...]] = {
        "a": INTS,
        "b": ints,
        "x": FLOATS,
        "y": FLOATS,
        "p": (False, True),
        "q": (False, True),
    }
    if "factorial" in case.text:
        pools["a"] = ints
    rest = {"a": 1, "b": 1, "x": 1.0, "y": 1.0, "p": True, "q": True}
    every = list(itertools.product(*(pools[name] if name in case.names else (rest[name],) for name in "abxypq")))
    return every if count is None or len(every) <= count else draw.sample(every, count)


def outcome(run: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a call returns, as text that tells types, signs of zero and NaN apart, or the type of what it
    raises.
    """
    try:
        return shown(run(*arguments))
    except Exception as error:  # noqa: BLE001 - whatever is raised is compared
        kinds = (OverflowError, ZeroDivisionError, ValueError, TypeError, IndexError)
        return next((kind.__name__ for kind in kinds if isinstance(error, kind)), type(error).__name__)


def shown(value: Any) -> str:
    """A value as text; an int as its low 64 bits."""
    from ..semantics.python_scalars import wrapped

    return repr(wrapped(value))


def compare(program: Program, run: Callable[..., Any], count: int | None, seed: int = 0) -> Iterator[str]:
    """Yield each difference between Python and another way to run a program."""
    draw = random.Random(seed)
    for number, case in enumerate(program.cases):
        for values in values_of(case, count, draw):
            expected, actual = outcome(program.function, number, *values), outcome(run, number, *values)
            if expected != actual and not _is_limit(program, number, values, actual):
                given = {name: value for name, value in zip("abxypq", values) if name in case.names}
                yield f"{case.text} with {given}: {actual}, Python {expected}"


def _is_limit(program: Program, number: int, values: Sequence[Any], actual: str) -> bool:
    """Whether what is raised is one of the errors that README and docs/Importer.md name where Python returns."""
    text = program.cases[number].text
    try:
        raw = program.function(number, *values)
    except Exception:  # noqa: BLE001 - Python raises, and so must the program, the same
        return text == "int(a ** b)" and actual == "ValueError" and values[1] < 0
    if isinstance(raw, complex):
        return actual == "ValueError"
    if text == "int(a ** b)" and actual == "ValueError":
        return bool(values[1] < 0)
    fits = not isinstance(raw, int) or -(2**63) <= raw < 2**63
    return actual == "OverflowError" and not fits and ("**" in text or "x" in text)


def literal(value: Any) -> str:
    """A value as a program writes it."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value == -(2**63) and isinstance(value, int):
        return "(-9223372036854775807 - 1)"
    return f"({value!r})" if isinstance(value, (int, float)) and not isinstance(value, bool) else repr(value)


def of_literals(chosen: Sequence[Case], count: int, draw: random.Random) -> list[str]:
    """Return cases as expressions over literals, each with `count` pairs of boundary values."""
    found = []
    for case in chosen:
        for values in values_of(case, count, draw):
            text = case.text
            for name, value in zip("abxypq", values):
                text = re.sub(rf"\b{name}\b", lambda _: literal(value), text)  # noqa: B023
            found.append(text)
    return found


def of_texts(texts: Sequence[str] = TEXTS) -> list[str]:
    """Return the expressions on strings, over pairs of strings."""
    pairs = itertools.product(texts, texts)
    return list(dict.fromkeys(template.format(s=repr(s), t=repr(t)) for s, t in pairs for template in TEXT_EXPRESSIONS))


def constant_differences(expressions: Sequence[str], size: int = 60, raising: int | None = None) -> Iterator[str]:
    """Yield each constant expression that the importer computes otherwise than Python.

    Args:
        expressions: expressions over literals.
        size: how many to compute in one program.
        raising: how many of those that raise, each of which takes a program of its own; None for all.
    """
    from ..abi import build_result
    from ..errors import SsaCompilerError
    from ..importer import import_program

    def evaluated(text: str) -> Any:
        return eval(text, {"math": math})

    values = {text: outcome(evaluated, text) for text in expressions}
    errors = [text for text in expressions if values[text].endswith("Error")]
    large = {text for text in expressions if text not in errors and _is_large(evaluated(text))}
    plain = [text for text in expressions if text not in errors and text not in large]
    for start in range(0, len(plain), size):
        part = plain[start : start + size]
        body = "".join(f"    r{n} = {text}\n" for n, text in enumerate(part))
        results = "".join(f"r{n}, " for n in range(len(part)))
        program = _load(f"def program():\n{body}    return ({results})\n", f"constants_{start}").program
        try:
            found = build_result(import_program(program, (), {}).results, [])
        except SsaCompilerError as error:
            if size == 1:
                yield f"{part[0]}: {error}"
            else:
                yield from constant_differences(part, 1, 0)
            continue
        for text, value in zip(part, found):
            if shown(value) != values[text]:
                yield f"{text}: {shown(value)}, Python {values[text]}"
    for number, text in enumerate(errors[:raising]):
        program = _load(f"def program():\n    return {text}\n", f"raising_{number}").program
        actual = outcome(import_program, program, (), {})
        if actual != values[text]:
            yield f"{text}: {actual}, Python {values[text]}"


def _is_large(value: Any) -> bool:
    """Whether no program has this value: complex, or an int of more than 64 bits."""
    return isinstance(value, complex) or (isinstance(value, int) and not -(2**63) <= value < 2**63)


def differences(
    count: int | None, kinds: Sequence[str] = ("int", "float", "bool"), *, compiled: int | None = None
) -> Iterator[str]:
    """Yield where a stage, or the compiled program, differs from Python.

    Args:
        count: how many pairs of boundary values the interpreter is given of each case at each stage, None for all.
        kinds: the types of the results of the cases.
        compiled: the same for the compiled program; 0 compiles nothing.
    """
    import ssa_compiler

    from ..importer import import_program
    from ..pipeline import STAGES, run_pipeline
    from .interpreter import Interpreter

    example = (0, 1, 1, 1.0, 1.0, True, True)
    for program in programs([case for case in cases()[0] if case.result in kinds]):
        if compiled == 0:
            texts = dict(run_pipeline(import_program(program.function, example, {}).module).stages)
        else:
            made = ssa_compiler.compile(program.function, example)
            texts = {stage: made.mlir(stage) for stage in STAGES}
            for difference in compare(program, made, compiled):
                yield f"compiled: {difference}"
        for stage, text in texts.items():
            interpreter = Interpreter(text)
            for difference in compare(program, lambda *values: interpreter.run(*values)[0], count):  # noqa: B023
                yield f"{stage}: {difference}"


def main() -> int:
    """Run the check as a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, help="how many pairs of values to interpret for each op; by default all")
    parser.add_argument("--constants", type=int, default=10, help="how many pairs of literals to compute for each op")
    parser.add_argument("--interpreted", action="store_true", help="do not compile")
    options = parser.parse_args()
    unknown = cases()[1]
    found = [f"not in any table: {text}" for text in unknown]
    for line in differences(options.pairs, compiled=0 if options.interpreted else None):
        print(line, flush=True)
        found.append(line)
    draw = random.Random(0)
    constants = [*of_literals(cases()[0], options.constants, draw), *of_texts()]
    for line in constant_differences(constants):
        print(line, flush=True)
        found.append(line)
    print(f"{len(found)} differences")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
