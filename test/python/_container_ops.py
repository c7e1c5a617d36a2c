"""Small programs with every op of TorchScript's registry on lists and dicts, for comparison with Python itself."""

from __future__ import annotations

import functools
import importlib.util
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

# What is done with the list `a`, the list `b` of as many elements, an element `e` and an index `i`, by the op's name.
# After the arrow is what is returned.
LIST_OPS: dict[str, list[str]] = {
    "aten::append": ["a.append(e) -> a"],
    "aten::extend": ["a.extend(b) -> a", "a.extend(a) -> a"],
    "aten::add": ["-> a + b", "-> a + a[:1]"],
    "aten::add_": ["m = a; a += b -> m, a", "m = a; m += m -> a"],
    "aten::mul": ["-> a * 2", "-> a * 0", "-> a * -1", "-> 3 * a"],
    "aten::mul_": ["m = a; a *= 2 -> m, a", "m = a; m *= 0 -> a", "a *= -1 -> a", "a *= 1 -> a"],
    "aten::insert": [f"a.insert({i}, e) -> a" for i in (0, 1, -1, 99, -99)],
    "aten::pop": [*(f"p = a.pop({i}) -> p, a" for i in ("", 0, -1, 1, 7, -7)), "p = a.pop() -> a"],
    "aten::Delete": [f"del a[{i}] -> a" for i in (0, -1, 1, 7, -7)],
    "aten::reverse": ["m = a; a.reverse() -> m, a"],
    "aten::clear": ["m = a; a.clear() -> m, a"],
    "aten::copy": ["c = a.copy(); c.append(e) -> a, c"],
    "aten::list": ["c = list(a); a.append(e) -> a, c"],
    "aten::len": ["-> len(a)"],
    "aten::slice": [
        f"-> a[{s}]" for s in ("1:", ":-1", "::2", "::-1", "5:1", "-100:100", "::0", "2:0:-1", "-1:-9:-2", "1:1")
    ],
    "aten::__getitem__": ["-> a[0]", "-> a[-1]", "-> a[7]", "-> a[-7]", "-> a[i]"],
    "aten::_set_item": ["a[0] = e -> a", "a[-1] = e -> a", "a[7] = e -> a", "a[-7] = e -> a", "a[i] = e -> a"],
    "aten::sort": ["m = a; a.sort() -> m, a", "a.sort(reverse=True) -> a", "a.sort(); a.sort(reverse=True) -> a"],
    "aten::sorted": ["c = sorted(a); a.append(e) -> c, a"],
    "aten::remove": ["a.remove(e) -> a", "a.append(e); a.remove(e) -> a"],
    "aten::index": ["-> a.index(e)", "a.append(e) -> a.index(e)"],
    "aten::count": ["-> a.count(e)", "a.append(e) -> a.count(e)"],
    "aten::__contains__": ["-> e in a", "-> e not in b"],
    "aten::eq": ["-> a == b", "-> a == a", "c = list(a) -> a == c", "-> a == a[1:]"],
    "aten::ne": ["-> a != b", "c = list(a) -> a != c"],
    "aten::sum": ["-> sum(a)"],
    "aten::any": ["-> any(a)"],
    "aten::all": ["-> all(a)"],
    "prim::max": ["-> max(a)", "-> max(a, b)", "m = max(a, b); m.append(e) -> a, b"],
    "prim::min": ["-> min(a)", "-> min(a, b)", "m = min(b, a); m.append(e) -> a, b"],
}

# What is done with the dict `d`, its first key `k`, a key `n` that it has not, and a value `v`.
DICT_OPS: dict[str, list[str]] = {
    "aten::__getitem__": ["-> d[k]", "-> d[n]"],
    "aten::get": ["-> d.get(k)", "-> d.get(n)", "-> d.get(k, v)", "-> d.get(n, v)"],
    "aten::__contains__": ["-> k in d", "-> n in d", "-> n not in d"],
    "aten::_set_item": ["d[k] = v -> d", "d[n] = v -> d", "m = d; m[k] = v -> d"],
    "aten::pop": ["p = d.pop(k) -> p, d", "p = d.pop(n) -> p, d", "p = d.pop(n, v) -> p, d", "p = d.pop(k, v) -> p, d"],
    "aten::Delete": ["del d[k] -> d", "del d[n] -> d", "del d[k]; d[k] = v -> d"],
    "aten::popitem": ["p = d.popitem() -> p, d"],
    "aten::setdefault": ["p = d.setdefault(k, v) -> p, d", "p = d.setdefault(n, v) -> p, d"],
    "aten::update": ["d.update({n: v, k: v}) -> d", "d.update(d) -> d", "c = d.copy(); c[n] = v; d.update(c) -> d"],
    "aten::clear": ["m = d; d.clear() -> m, d"],
    "aten::copy": ["c = d.copy(); c[n] = v -> c, d"],
    "aten::dict": ["c = dict(d); c[n] = v -> c, d", "-> dict([(k, v), (n, v), (k, v)])"],
    "aten::len": ["-> len(d)"],
    "aten::keys": ["-> list(d.keys())", "c = list(d.keys()); d[n] = v -> c, d", "-> k in d.keys()"],
    "aten::values": ["-> list(d.values())", "-> sum(d.values())", "w = d.values(); d[k] = v -> list(w)"],
    "aten::items": ["-> list(d.items())", "w = list(d.items()); d[k] = v -> w, d"],
}

# Ops that no program reaches, or that are no list's or dict's.
ELSEWHERE: dict[str, str] = {
    "aten::Size": "torch.Size(list): see test_sizes",
    "aten::select": "TorchScript's old name of getitem, which nothing emits",
    "aten::_infer_size": "not part of Python's torch",
    "aten::_size_if_not_equal": "made by autodiff only",
    "aten::broadcast_shapes": "takes tuples in eager",
    "prim::ReductionSizes": "made by fusion only",
    "prim::rangelist": "made by fusion only",
    "_test::get_first": "PyTorch's own test",
}

ELEMENTS: dict[str, list[list[Any]]] = {
    "int": [[3, 1, 2, 1], [0, -5, 2**62, -(2**62)], [7, 7, 7, 7]],
    "float": [[2.5, -1.0, 2.5, 0.0], [float("inf"), -0.0, -2.5, float("-inf")], [0.1, 0.2, 0.3, 1e300]],
    "bool": [[True, False, True, False], [False, False, False, False], [True, True, True, True]],
    "str": [["b", "a", "", "a"], ["a", "B", "aa", "~"], ["x", "x", "x", "x"]],
}
"""Four elements of each type, the last of which is `e`."""

KEYS: dict[str, list[Any]] = {
    "str": ["b", "a", "new"],
    "int": [3, -1, 0],
    "float": [2.5, -0.0, 1.0],
    "bool": [True, False],
}
"""Two keys and one that is missing, by type."""


def schemas() -> Iterator[Any]:
    """Iterate over the ops of the registry on lists and dicts of numbers and strings, or of anything."""
    elements = ("t", "int", "float", "bool", "str", "Any")
    lists = {f"List[{element}]" for element in elements}
    for schema in torch._C._jit_get_all_schemas():
        types = [str(argument.type) for argument in (*schema.arguments, *schema.returns)]
        first = str(schema.arguments[0].type) if schema.arguments else ""
        if any("Tensor" in text or "SymInt" in text or "complex" in text for text in types):
            continue
        if schema.name.partition("::")[0] not in ("aten", "prim"):  # others are not TorchScript's own
            continue
        if not (first in lists or first.startswith("Dict")):
            continue
        yield schema


@dataclass(frozen=True)
class Snippet:
    """One use of an op.

    Attributes:
        op: the op.
        text: statements and result.
        setup: what is bound before, as source.
    """

    op: str
    text: str
    setup: str

    def lines(self, number: int) -> list[str]:
        """Return the statements; the result is `r<number>`."""
        statements, _, result = self.text.rpartition("->")
        return [self.setup, *filter(None, map(str.strip, statements.split(";"))), f"r{number} = {result.strip()}"]

    def __str__(self) -> str:
        return f"{self.setup}; {self.text}"


_count = itertools.count()
_HEADER = "from typing import Dict, List, Tuple\nimport math\n\nimport torch\n\n\n"


def program(folder: Path, parameters: str, snippets: Sequence[Snippet]) -> Callable[..., Any]:
    """Make a program of some snippets that returns all their results.

    Args:
        folder: where its source goes.
        parameters: those of the function.
        snippets: what it does.
    """
    lines = [line for number, snippet in enumerate(snippets) for line in snippet.lines(number)]
    results = ", ".join(f"r{number}" for number in range(len(snippets)))
    lines.append(f"return {results}")
    return _function(folder, parameters, "".join(f"    {part}\n" for line in lines for part in line.split("; ")))


def _function(folder: Path, parameters: str, body: str) -> Callable[..., Any]:
    path = folder / f"container_program_{next(_count)}.py"
    path.write_text(f"{_HEADER}def program({parameters}):\n{body}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[..., Any] = module.program
    return made


def raising_program(folder: Path, parameters: str, snippets: Sequence[Snippet]) -> Callable[..., Any]:
    """Make a program of some snippets that runs the one whose number it is given first.

    Args:
        folder: where its source goes.
        parameters: those of the function behind the number.
        snippets: what it does.
    """
    body = ""
    for number, snippet in enumerate(snippets):
        lines = [part for line in snippet.lines(number) for part in line.split("; ")]
        body += f"    if which == {number}:\n" + "".join(f"        {line}\n" for line in [*lines, f"print(r{number})"])
    return _function(folder, f"which: int{', ' * bool(parameters)}{parameters}", f"{body}    return which\n")


def literal(value: Any) -> str:
    """Return the source of a value."""
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value)


def constant_snippets(kind: str) -> list[Snippet]:
    """Every op on lists whose elements are in the source, of no, one and several elements."""
    found = []
    for number, given in enumerate(ELEMENTS[kind]):
        values = [-1e-300 if kind == "float" and value == 0 else value for value in given]  # -0.0 is 0.0 to TorchScript
        for count in (0, 1, 3):
            a, b = values[:count], ELEMENTS[kind][0][:count]
            setup = f"a: List[{kind}] = {literal(a)}; b: List[{kind}] = {literal(b)}; e = {literal(values[-1])}; i = {count - 2}"
            for op, texts in LIST_OPS.items():
                if number == 0 or op in COMPARING:
                    found += [Snippet(op, text, setup) for text in texts if has_op(op, kind)]
    return found


COMPARING = (
    *("aten::sort", "aten::sorted", "aten::remove", "aten::index", "aten::count", "aten::__contains__", "aten::eq"),
    *("aten::ne", "aten::sum", "aten::any", "aten::all", "prim::max", "prim::min"),
)
"""The ops whose outcome depends on the values of the elements."""


@functools.cache
def _list_ops() -> frozenset[tuple[str, str]]:
    return frozenset((schema.name, str(schema.arguments[0].type)) for schema in schemas())


def has_op(op: str, kind: str) -> bool:
    """Whether there is an op for lists of a type."""
    return any((op, text) in _list_ops() for text in (f"List[{kind}]", "List[t]"))


MUTATING = tuple(
    {schema.name: None for schema in schemas() if any(a.alias_info and a.alias_info.is_write for a in schema.arguments)}
)
"""The ops that change a list or dict."""


def argument_snippets(kind: str) -> list[Snippet]:
    """Every op that changes a list, on a list of the caller's of its own."""
    texts = [(op, text) for op in MUTATING if op in LIST_OPS for text in LIST_OPS[op] if has_op(op, kind)]
    return [Snippet(op, text, f"a = l{number}; b = [e, e]") for number, (op, text) in enumerate(texts)]


def dynamic_snippets(kind: str, place: str) -> list[Snippet]:
    """Every op on lists of three dynamic elements.

    Args:
        kind: the type of the elements.
        place: where the list is: "local", "element" of another list, or "entry" of a dict.
    """
    made = "[p, q, s]"
    setup = {
        "local": f"a = {made}",
        "element": f"o = [{made}, [p]]; a = o[0]",
        "entry": f"o = {{'x': {made}}}; a = o['x']",
    }[place]
    found = []
    for op, texts in LIST_OPS.items():
        for text in texts if has_op(op, kind) else []:
            result = "" if place == "local" else ", o[0]" if place == "element" else ", o['x']"
            found.append(Snippet(op, text + result, f"{setup}; b = [q, p, q]"))
    return found


def dict_snippets(kind: str, value: str) -> list[Snippet]:
    """Every op on dicts with keys in the source.

    Args:
        kind: the type of the keys.
        value: the source of a value.
    """
    keys = KEYS[kind]
    n = keys[2] if len(keys) > 2 else keys[1]
    full = f"{{{keys[0]!r}: {value}, {keys[1]!r}: 5}}" if len(keys) > 2 else f"{{{keys[0]!r}: {value}}}"
    found = []
    for d in (full, f"torch.jit.annotate(Dict[{kind}, int], {{}})"):
        setup = f"d = {d}; k = {keys[0]!r}; n = {n!r}; v = {value} + 1"
        found += [Snippet(op, text, setup) for op, texts in DICT_OPS.items() for text in texts]
    return found
