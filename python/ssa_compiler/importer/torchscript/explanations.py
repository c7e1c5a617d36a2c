"""What TorchScript says about a program that it rejects, in short: a summary, a remedy, and what else matters.

A call whose arguments fit none of an op's overloads is explained by TorchScript with all of them, and what is wrong for
each. Only those matter that fit best.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Explanation", "explain"]

_KEYWORD_ONLY = r"arg_types\.size\(\) == param_names\.size\(\)"
_IN_OTHER_WORDS = ((_KEYWORD_ONLY, "an ignored function with keyword-only parameters"),)
"""What TorchScript says of what it did not think of, as a pattern, and what it means."""
_WAYS_OUT = (
    (r"<function [\w.]+\.__(?:set|del)attr__", "leave out frozen=True of the dataclass"),
    (r"Could not get qualified name|[Ff]ailed to get source|could not get source|OSError", "define it in a file"),
    (r"take variable number of arguments", "write out the parameters"),
    (r"Could not infer type of list element: Cannot infer concrete type of torch\.nn\.Module", "use nn.ModuleList"),
    (
        r"Unknown type annotation: '",
        "annotate a type that TorchScript has, with its parts: list[Tensor] instead of list",
    ),
    (_KEYWORD_ONLY, "let it be called with positional arguments: leave out the * among its parameters"),
    (
        r"\bsuper\(.*<--- HERE|attribute lookup is not defined on python value of type 'type'",
        "give the method of the base class a name of its own, and call that of self",
    ),
    (
        r"Expected a value of type 't' for argument '(?:el|v)'|List\[NoneType\]|Dict\[\w+, NoneType\]",
        "annotate a list or dict of Nones, and write out each: x: list[Tensor | None] = [None, None]",
    ),
    (r"Keyword argument as_tuple unknown", "write nonzero().unbind(1)"),
    (r"aten::bitwise_not.*instead found type 'int'", "write -n - 1 for ~n of an int"),
    (r"has no attribute or method 'unique'", "write torch.unique(x)"),
    (r"is missing a return annotation", "annotate it"),
    (
        r"if-expression's true branch has type",
        "give both one type; of `a and b` or `a or b`, which is one of the two, write bool(a) and bool(b) for the truth",
    ),
)
"""What TorchScript says, as a pattern, and what to do about it."""
_ANY_REMEDY = (
    "write it in the part of Python that torch.jit.script takes, mark what has to stay Python @torch.jit.ignore, or pass "
    "torch.jit.trace(model, example_inputs), which fixes branches and numbers of iterations as in the example"
)

_OVERLOADS = re.compile(
    r"Arguments for call are not valid\.\nThe following variants are available:\n(.*?)\n\s*\nThe original call is:\n?",
    re.DOTALL,
)
_OVERLOAD = re.compile(r"^ *(?P<name>[\w:]+)(?P<overload>\.\w+)?\((?P<parameters>.*)\) -> .*:$")
_WRONG = re.compile(
    r"(?:Expected a value of type|Could not match type) '?(?P<type>.+?)'? (?:for|to .+ in) argument '(?P<name>[^']+)'"
)
_FOUND = re.compile(r"but instead found type '(?P<type>.+)'\.?$")
_TOO_MANY = re.compile(r"Expected at most (\d+) arguments? but found (\d+)")
_PARAMETER = re.compile(r"(\w+)(?:=[^,\[]+|=\[[^\]]*\])?(?:,|$)")
_EXCERPT = re.compile(r"^ *File \"", re.MULTILINE)
_SHOWN_OVERLOADS, _SHOWN_LINES = 3, 12


@dataclass(frozen=True)
class Explanation:
    """Why TorchScript rejects a program.

    Attributes:
        summary: what is wrong, in one line.
        remedy: what to do about it.
        details: what else matters, on lines of their own; "" if nothing does.
    """

    summary: str
    remedy: str
    details: str


@dataclass(frozen=True)
class _Overload:
    """An overload that a call does not fit.

    Attributes:
        op: the name of the op.
        text: its schema, and what is wrong, as TorchScript says it.
        fits: how many arguments fit before one does not; -1 where one is missing.
        argument: the one that does not fit.
        expected: its type, "" if it is not about a type.
        found: the type of what is passed.
        wrong: what is wrong, in TorchScript's words.
    """

    op: str
    text: str
    fits: int
    argument: str
    expected: str
    found: str
    wrong: str


def explain(text: str) -> Explanation:
    """Shorten what TorchScript says.

    Args:
        text: the message of its exception.
    Returns:
        What matters of it, and a remedy.
    """
    remedy = next((out for pattern, out in _WAYS_OUT if re.search(pattern, text, re.DOTALL)), _ANY_REMEDY)
    text = text.strip()
    listed = _OVERLOADS.search(text)
    if listed is not None:
        summary, lines = _about_overloads(listed[1])
        excerpts = text[listed.end() :]
    else:
        start = _EXCERPT.search(text)
        head, excerpts = (text[: start.start()], text[start.start() :]) if start is not None else (text, "")
        summary, lines = _about_overloads(head) if _OVERLOAD.match(head.partition("\n")[0]) else _first_line(head)
    summary = next((words for pattern, words in _IN_OTHER_WORDS if re.search(pattern, summary)), summary)
    shown = [*lines, *excerpts.strip("\n").splitlines()]
    return Explanation(summary, remedy, "".join(f"\n{line.rstrip()}" for line in shown))


def _first_line(text: str) -> tuple[str, list[str]]:
    """The first line for a summary, and some of those that follow."""
    first, *others = text.strip().splitlines() or ["it does not say why"]
    lines = [line for line in others if line.strip() not in ("", ":")]
    if len(lines) > _SHOWN_LINES:
        lines[_SHOWN_LINES:] = [f"({len(lines) - _SHOWN_LINES} more lines in the exception's `explanation`)"]
    return first.rstrip().rstrip(".:"), lines


def _about_overloads(text: str) -> tuple[str, list[str]]:
    """Summarise what is wrong with the overload that fits best, and show those that fit as well or lack a keyword.

    Args:
        text: all of them, each followed by what is wrong.
    """
    overloads = [_read(part) for part in re.split(r"\n\s*\n", text.strip("\n"))]
    best = max(overloads, key=lambda overload: overload.fits)  # the first of several
    near = [
        overload
        for overload in overloads
        if (overload.op, overload.fits, overload.argument) == (best.op, best.fits, best.argument)
    ]
    if best.expected:
        expected = " or ".join(dict.fromkeys(overload.expected for overload in near if overload.expected))
        summary = f"argument '{best.argument}' of {best.op}: expected {expected}, got {best.found}"
    else:
        summary = f"{best.op}: {best.wrong[:1].lower()}{best.wrong[1:].rstrip('.')}"
    # Of an overload without the keyword all else may fit.
    near += [other for other in overloads if other.wrong.startswith("Keyword argument") and other not in near]
    lines = [overload.text for overload in near[:_SHOWN_OVERLOADS]]
    others = len(overloads) - len(lines)
    if others:
        lines.append(f"({others} more {'overload' if others == 1 else 'overloads'} in the exception's `explanation`)")
    return summary, lines


def _read(part: str) -> _Overload:
    """Read an overload: a line with its schema, then what is wrong."""
    schema, _, wrong = (line.strip() for line in part.strip().partition("\n"))
    wrong = " ".join(wrong.split()).removesuffix(" :")
    matched = _OVERLOAD.match(schema)
    op, parameters = (matched["name"], matched["parameters"]) if matched is not None else (schema, "")
    names = [name[1] for name in _PARAMETER.finditer(parameters)]
    told, found, many = _WRONG.match(wrong), _FOUND.search(wrong), _TOO_MANY.match(wrong)
    argument = told["name"] if told is not None else ""
    if "!) out" in parameters or wrong.endswith("not provided."):
        fits = -1
    elif many is not None:
        fits = int(many[1])
    else:
        fits = names.index(argument) if argument in names else 0
    expected = told["type"] if told is not None and found is not None else ""
    return _Overload(op, f"{schema} {wrong}", fits, argument, expected, found["type"] if found else "", wrong)
