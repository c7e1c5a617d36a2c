"""Changes a piece of MLIR text in one place or several, at random but reproducibly.

Each mutation takes the lines and returns the new ones, or None where it finds nothing to change. Most results are
rejected by the parser; the rest are programs that nobody has thought of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from ir_text import brackets, read_line, types_of_values

__all__ = ["MUTATIONS", "mutate"]

Lines = list[str]
Mutation = Callable[[Lines, Random, "list[str]"], "Lines | None"]

_INTEGERS = (
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-2",
    "7",
    "64",
    "-5",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
)
_FLOATS = ("0.0", "-0.0", "1.0e+00", "1.0e+308", "0x7FF0000000000000", "-1.5")
_TYPES = (
    "!torch.int", "!torch.float", "!torch.bool", "!torch.none", "!torch.str", "i64", "f64", "i1", "index", "i32",
    "!torch.list<int>", "!torch.list<tensor>", "!torch.list<vtensor>", "!torch.optional<int>", "!torch.vtensor",
    "!torch.tensor", "!torch.number", "!torch.Device", "tensor<4x3xf32>", "tensor<?x3xf32>",
    *(f"!torch.{kind}<{shape},{dtype}>" for kind in ("tensor", "vtensor")
      for shape in ("[]", "[4]", "[3]", "[4,3]", "[3,4]", "[?,3]", "[4,?]", "[2,3,4]", "[1]", "[0]", "[?]", "*")
      for dtype in ("f32", "f64", "si64", "i1", "unk")),
)  # fmt: skip
_TYPE = re.compile(r"!torch\.\w+(?:<(?:[^<>]|<[^<>]*>)*>)?|tensor<[^<>]*>|\b(?:i64|f64|i1|i32|index)\b")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")


def _ops(lines: Lines) -> list[int]:
    """Lines that hold a whole op: everything they open they close."""
    return [
        index
        for index, line in enumerate(lines)
        if brackets(line) == 0 and ("=" in line or "(" in line or "torch." in line) and not line.startswith(("}", "^"))
        and line.strip() and "func.func" not in line
    ]  # fmt: skip


def _pick(lines: Lines, random: Random) -> int | None:
    ops = _ops(lines)
    return random.choice(ops) if ops else None


def _substitute(lines: Lines, random: Random, pattern: re.Pattern[str], new: Callable[[str], str]) -> Lines | None:
    """Replace one match of `pattern`, anywhere."""
    places = [(index, match) for index, line in enumerate(lines) for match in pattern.finditer(line)]
    if not places:
        return None
    index, match = random.choice(places)
    line = lines[index]
    changed = line[: match.start()] + new(match.group()) + line[match.end() :]
    return [*lines[:index], changed, *lines[index + 1 :]]


def delete_line(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    index = _pick(lines, random)
    return None if index is None else lines[:index] + lines[index + 1 :]


def _rename_results(line: str, random: Random) -> str:
    for name, _ in read_line(line).results:
        line = re.sub(re.escape(name) + r"(?![\w$.-])", f"%dup{random.randrange(10**6)}", line, count=1)
    return line


def duplicate_line(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    index = _pick(lines, random)
    if index is None:
        return None
    return [*lines[: index + 1], _rename_results(lines[index], random), *lines[index + 1 :]]


def move_line(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Move an op up or down, in or out of regions."""
    index = _pick(lines, random)
    if index is None:
        return None
    rest = lines[:index] + lines[index + 1 :]
    to = max(1, min(len(rest) - 1, index + random.choice((-6, -3, -2, -1, 1, 2, 3, 6))))
    return [*rest[:to], lines[index], *rest[to:]]


def replace_operand(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Use another value, mostly an earlier one of the same type: an alias where there was none."""
    ops = [index for index in _ops(lines) if read_line(lines[index]).operands]
    ops += [index for index, line in enumerate(lines) if line.rstrip().endswith("({") and read_line(line).operands]
    if not ops:
        return _substitute(lines, random, _VALUE, lambda old: random.choice(_VALUE.findall("\n".join(lines))))
    index = random.choice(ops)
    types = types_of_values(lines[:index])
    # One with another value of its type, if there is any.
    operands = read_line(lines[index]).operands
    random.shuffle(operands)
    old, candidates = operands[0], list(types)
    for operand in operands:
        same = [value for value, type_ in types.items() if type_ == types.get(operand) and value != operand]
        if same and random.random() < 0.9:
            old, candidates = operand, same
            break
    if not candidates:
        return None
    start = lines[index].find("(")
    head, tail = lines[index][:start], lines[index][start:]
    changed = head + re.sub(re.escape(old) + r"(?![\w$.#-])", lambda _: random.choice(candidates), tail, count=1)
    return [*lines[:index], changed, *lines[index + 1 :]]


def change_type(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    return _substitute(lines, random, _TYPE, lambda old: random.choice(_TYPES))


def change_type_everywhere(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Give all values of one type another type of the same kind, so that the verifier has less to say."""
    found = sorted(set(_TYPE.findall("\n".join(lines))))
    if not found:
        return None
    old = random.choice(found)
    same_kind = [type_ for type_ in _TYPES if type_.split("<")[0] == old.split("<")[0]]
    new = random.choice(same_kind or list(_TYPES))
    return [re.sub(re.escape(old) + r"(?![\w<])", lambda _: new, line) for line in lines]


def change_dimension(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Another size, everywhere or in one place."""
    pattern = re.compile(r"(?<=[\[,])(?:\d+|\?)(?=[\],])")
    new = random.choice(("0", "1", "2", "3", "5", "?"))
    if random.random() < 0.5:
        return _substitute(lines, random, pattern, lambda old: new)
    sizes = sorted(set(pattern.findall("\n".join(lines))))
    if not sizes:
        return None
    old = random.choice(sizes)
    return [pattern.sub(lambda match: new if match.group() == old else match.group(), line) for line in lines]


def change_integer(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    return _substitute(
        lines, random, re.compile(r"(?<![\w.#%\[<x])-?\d+(?= :|$|\s*[},>])"), lambda old: random.choice(_INTEGERS)
    )


def change_float(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    return _substitute(lines, random, re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?"), lambda old: random.choice(_FLOATS))


def change_bool(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    return _substitute(
        lines, random, re.compile(r"\b(?:true|false)\b"), lambda old: "false" if old == "true" else "true"
    )


def change_string(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Another string attribute: a view's name, a schema, a message."""
    pattern = re.compile(r'(?<== )(?<!sym_name = )"[^"]*"|(?<=torch\.operator )"[^"]*"')
    strings = [*sorted(set(pattern.findall("\n".join([*lines, *pool[:200]])))), '""', '"torch.aten.nothing"', '"x"']
    return _substitute(lines, random, pattern, lambda old: random.choice(strings))


def drop_attributes(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    return _substitute(lines, random, re.compile(r" <\{[^{}]*\}>| \{[^{}(]*\}|\b\w+ = [^,{}<>()]+, "), lambda old: "")


def change_op(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Another op with as many operands and results."""
    index = _pick(lines, random)
    if index is None or not read_line(lines[index]).name:
        return _substitute(
            lines, random, re.compile(r"\btorch\.(?:aten|prim)\.[\w.]+"),
            lambda old: random.choice(re.findall(r"\btorch\.(?:aten|prim)\.[\w.]+", "\n".join(pool)) or [old]),
        )  # fmt: skip
    own = read_line(lines[index])
    candidates = [
        other.name
        for other in map(read_line, random.sample(pool, min(len(pool), 300)))
        if other.name and len(other.operands) == len(own.operands) and len(other.results) == len(own.results)
    ]
    if not candidates:
        return None
    new = lines[index].replace(f'"{own.name}"', f'"{random.choice(candidates)}"', 1)
    return [*lines[:index], new, *lines[index + 1 :]]


def make_in_place(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """`add` becomes `add_` and the reverse: writes where there were none."""
    return _substitute(
        lines, random, re.compile(r"torch\.aten\.[a-z]\w*?_?(?=[.\"\s(])"),
        lambda old: old[:-1] if old.endswith("_") else old + "_",
    )  # fmt: skip


def splice(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Insert a line of another file, its operands replaced by values of the types that it wants."""
    index = _pick(lines, random)
    if index is None or not pool:
        return None
    types = types_of_values(lines[:index])
    line = _rename_results(random.choice(pool), random)
    read = read_line(line)
    for operand, wanted in zip(read.operands, read.operand_types):
        fitting = [value for value, type_ in types.items() if type_ == wanted]
        if fitting:
            chosen = random.choice(fitting)
            line = re.sub(re.escape(operand) + r"(?![\w$.#-])", lambda _, chosen=chosen: chosen, line, count=1)  # type: ignore[misc]
    return [*lines[:index], line, *lines[index:]]


def _regions(lines: Lines) -> list[tuple[int, int]]:
    """First and last line of what each multi-line bracket encloses."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for index, line in enumerate(lines):
        text = line.strip()
        if text.startswith("}") and opened:
            found.append((opened.pop() + 1, index))
        if text.endswith("{"):
            opened.append(index)
    return found


def drop_region(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Empty a region, or leave only its last line."""
    regions = [region for region in _regions(lines) if region[1] > region[0]]
    if not regions:
        return None
    begin, end = random.choice(regions)
    keep = lines[end - 1 : end] if random.random() < 0.6 else []
    header = [line for line in lines[begin : begin + 1] if line.strip().startswith("^")]
    return [*lines[:begin], *header, *keep, *lines[end:]]


def swap_regions(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Exchange the contents of two regions."""
    regions = _regions(lines)
    pairs = [(a, b) for a in regions for b in regions if a[1] < b[0]]
    if not pairs:
        return None
    (a, b), (c, d) = random.choice(pairs)
    return lines[:a] + lines[c:d] + lines[b:c] + lines[a:b] + lines[d:]


def wrap_in_region(lines: Lines, random: Random, pool: list[str]) -> Lines | None:
    """Put an op without used results, such as a write, into a branch or a loop."""
    text = "\n".join(lines)
    unused = [
        index
        for index in _ops(lines)
        if all(
            len(re.findall(re.escape(name) + r"(?![\w$.-])", text)) < 2 for name, _ in read_line(lines[index]).results
        )
        and not re.search(r"(?:return|yield|condition)\b", lines[index])
    ]
    if not unused:
        return None
    index = random.choice(unused)
    types = types_of_values(lines[:index])
    conditions = [value for value, type_ in types.items() if type_ == "i1"]
    torch_conditions = [value for value, type_ in types.items() if type_ == "!torch.bool"]
    ints = [value for value, type_ in types.items() if type_ == "!torch.int"]
    indices = [value for value, type_ in types.items() if type_ == "index"]
    end = '"scf.yield"() : () -> ()'
    wraps = [['"scf.execute_region"() ({', end, "}) : () -> ()"]]
    if conditions:
        wraps.append([f'"scf.if"({random.choice(conditions)}) ({{', end, "}, {", "}) : (i1) -> ()"])
    if torch_conditions:
        wraps.append([
            f'"torch.prim.If"({random.choice(torch_conditions)}) ({{', '"torch.prim.If.yield"() : () -> ()',
            "}, {", '"torch.prim.If.yield"() : () -> ()', "}) : (!torch.bool) -> ()",
        ])  # fmt: skip
    if torch_conditions and ints:
        condition = random.choice(torch_conditions)
        wraps.append([
            f'"torch.prim.Loop"({random.choice(ints)}, {condition}) ({{\n^bb0(%w{random.randrange(10**6)}: !torch.int):',
            f'"torch.prim.Loop.condition"({condition}) : (!torch.bool) -> ()', "}) : (!torch.int, !torch.bool) -> ()",
        ])  # fmt: skip
    if indices:
        bounds = ", ".join(random.choice(indices) for _ in range(3))
        wraps.append([
            f'"scf.for"({bounds}) ({{\n^bb0(%w{random.randrange(10**6)}: index):', end, "}) : (index, index, index) -> ()"
        ])  # fmt: skip
    head, *tail = random.choice(wraps)
    return [*lines[:index], *head.split("\n"), lines[index], *tail, *lines[index + 1 :]]


MUTATIONS: tuple[Mutation, ...] = (
    delete_line, duplicate_line, move_line, replace_operand, replace_operand, replace_operand, change_type,
    change_type_everywhere, change_dimension, change_integer, change_integer, change_float, change_bool, change_string,
    drop_attributes, change_op, make_in_place, make_in_place, splice, splice, drop_region, swap_regions,
    wrap_in_region, wrap_in_region,
)  # fmt: skip


def mutate(text: str, random: Random, pool: list[str]) -> tuple[str, list[str]]:
    """Apply one to three mutations.

    Args:
        text: a piece of MLIR.
        random: where the choices come from.
        pool: lines of ops, from all files, to take parts from.
    Returns:
        The new text and the names of the mutations.
    """
    lines = text.split("\n")
    names = []
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        mutation = random.choice(MUTATIONS)
        changed = mutation(lines, random, pool)
        if changed is not None and changed != lines:
            lines = changed
            names.append(mutation.__name__)
    return "\n".join(lines), names
