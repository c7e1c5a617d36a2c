"""Dicts of numbers and tensors with string and int keys: their methods, iteration, arguments in another order."""

from __future__ import annotations

from .expressions import expression
from .python_scope import Table, literal
from .registry import python
from .scalars import assign, declare
from .writer import Writer

__all__ = ["add_dict_results"]


def _value(g: Writer, kind: str) -> tuple[str, bool]:
    return expression(g, kind, g.choice.choice([0, 1]))


def _key(g: Writer, table: Table, *, new: bool = False) -> str:
    """A key that it has, or one that it has not."""
    if new:
        return g.choice.choice(["'x'", "'y'", "'zz'"] if table.key == "str" else ["7", "-1", "0"])
    return g.choice.choice(table.keys)


def make(g: Writer, *kinds: str, here: bool = False) -> Table:
    """A dict in scope, a new one, or an argument."""
    kinds = kinds or ("int", "float", "bool")
    scope = g.python
    region = g.regions[-1]
    found = scope.find(
        g.choice,
        scope.tables,
        lambda each: each.value in kinds and bool(each.keys) and (not here or each.region == region),
    )
    if found is not None and g.choice.random() < 0.6:
        return found
    kind, key = g.choice.choice(kinds), g.choice.choice(["str", "str", "int"])
    keys = ["'a'", "'b'", "'c'"] if key == "str" else ["1", "2", "5"]
    keys = keys[: g.choice.choice([2, 3])]
    if not g.in_helper and g.choice.random() < 0.4 and not (here and len(g.regions) > 1):
        return _argument(g, key, kind, keys)
    values = [_value(g, kind) for _ in keys]
    name = g.fresh("d")
    pairs = ", ".join(f"{one}: {value}" for one, (value, _) in zip(keys, values))
    g.emit(f"{name}: Dict[{key}, {kind}] = {{{pairs}}}")
    table = Table(name, key, kind, keys, region, all(exact for _, exact in values))
    scope.tables.append(table)
    return table


def _argument(g: Writer, key: str, kind: str, keys: list[str]) -> Table:
    """A dict argument, whose keys have another order in one input set: the call may reject that."""
    scope = g.python
    name = f"arg_d{sum(annotation.startswith('Dict') for annotation, _ in scope.arguments.values())}"
    rows = []
    for each in range(scope.sets):
        order = list(keys)
        if each % 2:
            g.choice.shuffle(order)
        boundary = 0.05 if each < 2 else 0.4
        values = {one: literal(g.choice, kind, boundary=boundary) for one in order}
        rows.append("{" + ", ".join(f"{one}: {values[one]}" for one in (order if each == 3 else keys)) + "}")
    scope.arguments[name] = (f"Dict[{key}, {kind}]", rows)
    table = Table(name, key, kind, keys, 0, caller_owned=True)
    scope.tables.append(table)
    return table


@python("sdict.get", 0.7)
def _(g: Writer) -> bool:
    """`d['a']`, `d.get('z', 3)`"""
    table = make(g)
    default = literal(g.choice, table.value)
    forms = [
        f"[{_key(g, table)}]",
        f".get({_key(g, table)}, {default})",
        f".get({_key(g, table, new=True)}, {default})",
    ]
    return assign(g, table.value, table.text + g.choice.choice(forms), table.exact)


@python("sdict.set", 0.7)
def _(g: Writer) -> bool:
    """`d['a'] = b`, `d['a'] += 1`"""
    table = make(g)
    value, exact = _value(g, table.value)
    form = "{0}[{1}] = {2}"
    if table.value != "bool" and g.choice.random() < 0.4:
        form = g.choice.choice(["{0}[{1}] += {2}", "{0}[{1}] -= {2}"])
    g.emit(form.format(table.text, _key(g, table), value))
    table.exact &= exact
    return True


@python("sdict.add", 0.6)
def _(g: Writer) -> bool:
    """`d['new'] = a`, `d.setdefault('new', a)`, `d.update({...})`"""
    table = make(g, here=True)
    if table.caller_owned and g.returns:
        return False  # the remedy before leaves it as it was
    key = _key(g, table, new=g.choice.random() < 0.7)
    value, exact = _value(g, table.value)
    form = g.choice.choice(["{0}[{1}] = {2}", "{0}.update({{{1}: {2}}})", "{3} = {0}.setdefault({1}, {2})"])
    name = g.fresh("c")
    g.emit(form.format(table.text, key, value, name))
    table.exact &= exact
    if "setdefault" in form:
        declare(g, name, table.value, table.exact)
    return True


@python("sdict.pop", 0.5)
def _(g: Writer) -> bool:
    """`d.pop('a')`, `d.pop('z', 1)`, `del d['a']`"""
    table = make(g, here=True)
    if table.caller_owned and g.returns:
        return False  # the remedy before leaves it as it was
    if table.region != g.regions[-1] or len(table.keys) < 2:
        return False
    key = _key(g, table)
    kind = g.choice.randrange(3)
    if kind == 2:
        g.emit(f"del {table.text}[{key}]")
    name = g.fresh("c")
    if kind == 0:
        g.emit(f"{name} = {table.text}.pop({key})")
    elif kind == 1:
        key = _key(g, table, new=True)
        g.emit(f"{name} = {table.text}.pop({key}, {literal(g.choice, table.value)})")
    if kind < 2:
        declare(g, name, table.value, table.exact)
    table.keys = [each for each in table.keys if each != key]
    return True


@python("sdict.contains", 0.5)
def _(g: Writer) -> bool:
    """`'a' in d`, `len(d)`"""
    table = make(g)
    if g.choice.random() < 0.3:
        return assign(g, "int", f"len({table.text})")
    key = _key(g, table, new=g.choice.random() < 0.5)
    return assign(g, "bool", f"{key} {g.choice.choice(['in', 'not in'])} {table.text}")


@python("sdict.iterate", 0.7, nested=True)
def _(g: Writer) -> bool:
    """`for k, v in d.items():`, `for k in d:`, `for v in d.values():` in the caller's order"""
    table = make(g, "int", "float")
    total, key, value = g.fresh("c"), g.fresh("k"), g.fresh("v")
    g.emit(f"{total} = {'0' if table.value == 'int' else '0.0'}")
    kind = g.choice.randrange(3)
    heads = [
        f"for {key}, {value} in {table.text}.items():",
        f"for {key} in {table.text}:",
        f"for {value} in {table.text}.values():",
    ]
    element = [value, f"{table.text}[{key}]", value][kind]
    g.emit(heads[kind])
    g.emit(f"    {total} = {g.choice.choice([f'{element} - {total}', f'{total} + {element}'])}")
    declare(g, total, table.value, table.exact)
    return True


@python("sdict.keys", 0.5)
def _(g: Writer) -> bool:
    """`list(d.keys())`, `list(d.values())`"""
    if g.depth or g.in_helper:
        return False
    table = make(g)
    name = g.fresh("q")
    g.emit(f"{name} = list({table.text}.{g.choice.choice(['keys', 'values', 'items'])}())")
    g.extra[f"@list {name}"] = name
    return True


@python("sdict.alias", 0.5)
def _(g: Writer) -> bool:
    """`e = d`, then a change through e"""
    table = make(g)
    name = g.fresh("d")
    value, exact = _value(g, table.value)
    g.emit(f"{name} = {table.text}")
    g.emit(f"{name}[{_key(g, table)}] = {value}")
    table.exact &= exact
    return True


@python("sdict.in_branch", 0.7, nested=True)
def _(g: Writer) -> bool:
    """`if c: d['a'] = a`, `for i in range(n): d['a'] += i`"""
    table = make(g, "int", "float")
    value, exact = _value(g, table.value)
    if g.choice.random() < 0.5:
        g.emit(f"if {g.condition()}:")
        g.emit(f"    {table.text}[{_key(g, table)}] = {value}")
        table.exact &= exact
        return True
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '3'])}):")
    g.emit(f"    {table.text}[{_key(g, table)}] += {counter}")
    return True


@python("sdict.tensors", 0.7)
def _(g: Writer) -> bool:
    """A dict argument of tensors, read and written"""
    if g.in_helper:
        return False
    scope = g.python
    name = "arg_dt"
    if name not in scope.arguments:
        rows = []
        for each in range(scope.sets):
            keys = ["'a'", "'b'"] if each != 3 else ["'b'", "'a'"]
            rows.append(
                "{" + ", ".join(f"{key}: tensor('float32', [3], {90 + 7 * each + len(key)})" for key in keys) + "}"
            )
        scope.arguments[name] = ("Dict[str, Tensor]", rows)
    key, taken = g.choice.choice(["'a'", "'b'"]), g.fresh("t")
    forms = ["{0}[{1}].add_(1.0)", "{0}[{1}] = {0}[{1}] * 0.5", "{0}['c'] = {0}[{1}] + 1.0", "{0}[{1}][0] = {2}"]
    form = g.choice.choice(forms)
    if g.depth and "'c'" in form:
        return False
    g.emit(form.format(name, key, g.number("float32")))
    g.emit(f"{taken} = {name}['a'] - {name}['b']")
    g.declare_fresh(taken, (3,), "float32").uncertain = True
    return True


def add_dict_results(g: Writer) -> None:
    """Choose what the program returns of its dicts."""
    if g.returns:
        return
    names = g.python.tables
    for each in g.choice.sample(names, min(len(names), 1)):
        g.python.results.append((each.text, "", each.exact))
