"""Puts programs together: arguments, body, results, input sets.

Besides the ingredients that turn up at random, a program is asked for a few in particular; which ones changes from
program to program, so that rare ingredients occur often enough, and in many combinations.
"""

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass

from . import (
    collected,
    control,
    functions,
    indexed,
    lists,
    names,
    objects,
    scalar_control,
    scalar_dicts,
    scalar_lists,
    scalar_values,
    scalars,
    untyped,
    views,
    writes,
)
from .arguments import NUMBERS
from .program import Program
from .python_programs import add_python_results, plan
from .registry import FACTS, INGREDIENTS, describe_fact
from .variables import DTYPES, Shape, Var
from .writer import Writer

__all__ = ["GRAMMAR", "all_features", "generate"]

# Importing them registers their ingredients.
GRAMMAR = (
    *(views, writes, indexed, control, names, lists, functions),
    *(scalars, scalar_values, scalar_control, scalar_lists, scalar_dicts),
    *(untyped, objects, collected),
)

_FACTS = {
    "about.tensors": "a program that is about tensors, with few of Python's own values",
    "about.python": "a program that is about Python's own values, with few tensors",
    "about.untyped": "a program that TorchScript rejects: records, objects, names of several types, closures, sets",
    "write.in_region": "a write inside a branch or a loop",
    "write.outer_view": "a write inside a region through a view made outside of it",
    "argument.write": "a write of an argument",
    "argument.write_branch": "a write of an argument in a region",
    "argument.write_view": "a write of an argument through a view",
    "argument.alias": "two arguments that share memory",
    "argument.extreme": "arguments that hold NaN, infinities and zeros of both signs in some input sets",
    "result.argument": "a result that is an argument",
    "result.argument_view": "a result that is a view of an argument",
    "result.shared": "two results that share memory",
    "result.same": "the same tensor twice among the results",
    "result.number": "an int, a float or a bool among the results",
    "result.container": "a list or a dict of tensors among the results",
    "source.other": "a source that is another tensor itself",
    "dtype.float64": "a write of a float64 tensor",
    "dtype.int64": "a write of an int64 tensor",
    "dtype.bool": "a write of a bool tensor",
    "list.stack": "a list that is stacked",
    "list.cat": "a list that is concatenated",
    "list.returned": "a list that is returned",
    "module.method": "a method that calls a method",
}
for _fact, _meaning in _FACTS.items():
    describe_fact(_fact, _meaning)


# What NaN and infinities are as integers is undefined.
_TO_INTEGERS = {"make.dtype", "write.convert"}


@dataclass(frozen=True)
class _Argument:
    """An argument of the program: annotation, and the text of its value in each input set."""

    name: str
    kind: str
    values: list[str]


def generate(seed: int) -> Program:
    """Write a program.

    Args:
        seed: which one; the same seed always gives the same program.
    Returns:
        The program, with its features.
    """
    choice = random.Random(f"program {seed}")
    g = Writer(choice)
    plan(g, seed)
    wanted_method = any(name.startswith(("module.", "object.state")) for name in g.wanted)
    g.method = wanted_method or choice.random() < 0.1
    g.budget = choice.randint(5, 12)
    arguments = _arguments(g, seed)
    roots = {argument.name: set(g.names[argument.name].roots) for argument in arguments if argument.name in g.names}
    for name in list(roots):
        if choice.random() < 0.4:
            g.emit(f"{name} = {name}.clone()")
            var = g.names[name]
            g.declare_fresh(name, var.shape, var.dtype)
            del roots[name]
    g.argument_roots = set().union(*roots.values()) if roots else set()
    if g.method:
        _state(g)
    while g.budget > 0:
        g.statement()
    for name in list(g.wanted):  # what did not fit before
        if choice.random() < 0.8 and not g.loops:
            g.apply(INGREDIENTS[name])
    _results(g, set(roots))
    if choice.random() < 0.4 and not g.features.keys() & _TO_INTEGERS:
        _make_extreme(g, arguments)
    arguments += _extra(g, seed)
    arguments += [_Argument(name, kind, values) for name, (kind, values) in g.python.arguments.items()]
    return Program(_text(g, seed, arguments), seed, g.features)


def _arguments(g: Writer, seed: int) -> list[_Argument]:
    """The tensor arguments, then the ints."""
    choice = g.choice
    shape: Shape = (choice.randint(3, 5), choice.randint(2, 4))
    second = choice.choice([shape[1:], shape[:1], shape, (shape[1], shape[0])])
    sets = len(NUMBERS)
    found = []

    def add(name: str, dtype: str, shape: Shape, number: int) -> None:
        var = g.declare_fresh(name, shape, dtype)
        var.region = 0
        values = [f"tensor('{dtype}', {list(shape)}, {seed * 100 + 10 * number + each})" for each in range(sets)]
        found.append(_Argument(name, "Tensor", values))

    add("x", "float32", shape, 0)
    if choice.random() < 0.08:
        g.mark("argument.alias")
        row = choice.choice([None, 0, 1])
        var = g.declare_fresh("y", shape if row is None else shape[1:], "float32")
        var.roots = set(g.names["x"].roots)
        some = choice.random() < 0.5  # only later calls share memory, or all do
        other = f"tensor('float32', {list(var.shape)}, 7)"
        values = [other if some and each < 3 else f"alias(0, {row})" for each in range(sets)]
        found.append(_Argument("y", "Tensor", values))
    else:
        add("y", "float32", second, 1)
    if choice.random() < 0.7:
        add("z", choice.choice(["int64", "int64", "float64", "bool"]), choice.choice([shape[:1], shape]), 2)
    found.append(_Argument("n", "int", [str(n) for n, _ in NUMBERS]))
    found.append(_Argument("k", "int", [str(k) for _, k in NUMBERS]))
    return found


def _make_extreme(g: Writer, arguments: list[_Argument]) -> None:
    """Let the floating-point arguments hold NaN, infinities and signed zeros in the last input sets."""
    g.mark("argument.extreme")
    for argument in arguments:
        for number in range(4, len(argument.values)):
            argument.values[number] = argument.values[number].replace("tensor('float", "extreme('float")


def _state(g: Writer) -> None:
    """Buffers of the module, as names."""
    shape = g.names["x"].shape
    for name in ("self.state", "self.other"):
        g.declare_fresh(name, shape, "float32").rebindable = False
    g.declare_fresh("self.count", (), "int64").rebindable = False


def _extra(g: Writer, seed: int) -> list[_Argument]:
    """Arguments that some ingredients asked for; those that a program is compiled for are the same in each set."""
    sets = len(NUMBERS)
    found = []
    for name, kind in g.extra.items():
        if name == "flag":
            found.append(_Argument(name, kind, [str(g.choice.random() < 0.5)] * sets))
        elif name == "mode":
            found.append(_Argument(name, kind, [repr(g.choice.choice("abc"))] * sets))
        elif name == "o":
            value = "None" if g.choice.random() < 0.4 else f"tensor('float32', [1], {seed})"
            found.append(_Argument(name, kind, [value] * sets))
    return found


# --- results ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Result:
    """What the program returns at one place: the text at its end, and what an early return has to have there."""

    text: str
    shape: Shape
    dtype: str
    fresh: bool


def _fresh(var: Var) -> str:
    return f"{var.text}.clone()" if var.dtype == "bool" else f"{var.text} + 0"


def _results(g: Writer, arguments: set[str]) -> None:
    """Choose the results, note how they alias, and write every return."""
    choice = g.choice
    pool = g.tensors()
    taken = choice.sample(pool, min(len(pool), choice.randint(3, 6)))
    results: list[_Result] = []
    raw: list[Var] = []
    for var in taken:
        fresh = choice.random() < 0.45
        results.append(_Result(_fresh(var) if fresh else var.text, var.shape, var.dtype, fresh))
        if fresh:
            continue
        if var.text in arguments and not var.is_view:
            g.mark("result.argument")
        elif var.is_view and var.roots & g.argument_roots:
            g.mark("result.argument_view")
        if any(var.roots & other.roots for other in raw):
            g.mark("result.shared")
        raw.append(var)
    if raw and choice.random() < 0.08:
        var = choice.choice(raw)
        results.append(_Result(var.text, var.shape, var.dtype, False))
        g.mark("result.same")
    texts = [result.text for result in results]
    early = [_early(g, results, names) for _, _, names in g.returns]
    if choice.random() < 0.15:
        g.mark("result.number")
        kind = choice.choice([("n * 2 + 1", "0"), ("float(x.sum())", "0.0"), ("n > k", "False")])
        if kind[1] == "0.0" and not g.python.tensors_exact:  # a sum in another order is another number
            kind = ("n * 2 + 1", "0")
        texts.append(kind[0])
        early = [[*each, kind[1]] for each in early]
    for key, name in g.extra.items():
        if key.startswith("@result "):
            texts.append(name if not early else f"{name}.to(torch.float32).sum()")
            early = [[*each, "torch.zeros([])"] for each in early]
        elif key.startswith("@list ") and not early:
            texts.append(name)
            g.mark("result.container")
    for text, value in add_python_results(g):
        texts.append(text)
        early = [[*each, value] for each in early]
    g.emit(f"return {', '.join(texts)}" + ("," if len(texts) == 1 else ""))
    marks = {mark: each for (mark, _, _), each in zip(g.returns, early)}
    g.lines = [_fill(line, marks) for line in g.lines]


def _early(g: Writer, results: list[_Result], names: dict[str, Var]) -> list[str]:
    """The values of an early return: of the shapes and dtypes of the results, from what is in scope there."""
    found = []
    for result in results:
        fitting = [
            var
            for var in names.values()
            if var.shape == result.shape and var.model.dtype == DTYPES[result.dtype] and not var.uncertain
        ]
        if fitting:
            var = g.choice.choice(fitting)
            found.append(_fresh(var) if result.fresh else var.text)
        else:
            found.append(g.full(result.shape, result.dtype))
    return found


def _fill(line: str, marks: dict[str, list[str]]) -> str:
    values = marks.get(line.strip())
    if values is None:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}return {', '.join(values)}" + ("," if len(values) == 1 else "")


# --- text -------------------------------------------------------------------------------------------------------------


def _text(g: Writer, seed: int, arguments: list[_Argument]) -> str:
    """The file."""
    head = (
        f'"""Random program {seed} of ssa_compiler.testing.fuzz."""\n\n'
        "import math\nfrom collections import defaultdict, deque\nfrom dataclasses import dataclass\nfrom typing import Dict, List, NamedTuple, Optional\n\nimport torch\nfrom torch import Tensor, nn\n\n"
        "from ssa_compiler.testing.fuzz.arguments import alias, extreme, tensor\n\n\n"
    ) + "".join(f"{text}\n\n" for text in g.globals)
    signature = ", ".join(f"{argument.name}: {argument.kind}" for argument in arguments)
    if g.method:
        shape = list(g.names["self.state"].shape)
        parts = [
            "class Program(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            f"        self.register_buffer('state', tensor('float32', {shape}, {seed}))\n"
            f"        self.register_buffer('other', tensor('float32', {shape}, {seed + 1}))\n"
            "        self.register_buffer('count', torch.tensor(0))\n"
            + "".join(f"        {line}\n" for line in g.python.attributes),
            *(textwrap.indent(helper, "    ") for helper in g.helpers),
            textwrap.indent(f"def forward(self, {signature}):\n" + "\n".join(g.lines) + "\n", "    "),
        ]
        body = "\n".join(parts)
    else:
        parts = [*g.helpers, f"def program({signature}):\n" + "\n".join(g.lines) + "\n"]
        body = "\n\n".join(parts)
    rows = zip(*(argument.values for argument in arguments))
    inputs = "\n\nINPUTS = [\n" + "".join(f"    ({', '.join(row)}),\n" for row in rows) + "]\n"
    exact = f"\n\nEXACT = {all(exact for _, _, exact in g.python.results)}\n"
    return head + body + exact + inputs


def all_features() -> dict[str, str]:
    """Every feature with its description, ingredients and facts."""
    return {name: each.summary for name, each in INGREDIENTS.items()} | FACTS
