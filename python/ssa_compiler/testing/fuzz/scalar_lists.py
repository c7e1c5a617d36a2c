"""Lists of numbers, bools and strings: every method that changes them, aliases, arguments that are changed, results."""

from __future__ import annotations

from .expressions import boolean, index_of, known
from .list_variables import element_text, in_this_region, make_list, resize
from .python_scope import Cell, Items, literal
from .registry import python
from .scalars import assign, declare
from .writer import Writer

__all__ = ["add_list_results"]


@python("slist.append", 0.8)
def _(g: Writer) -> bool:
    """`l.append(a)`"""
    items = make_list(g)
    if not resize(g, items, 1):
        return False
    value, exact = element_text(g, items.kind)
    g.emit(f"{items.text}.append({value})")
    items.taint(exact)
    return True


@python("slist.extend", 0.6)
def _(g: Writer) -> bool:
    """`l.extend([a, b])`, `l += [a]`, `l.extend(l)`"""
    items = make_list(g)
    form = g.choice.choice(["{0}.extend([{1}, {2}])", "{0} += [{1}, {2}]", "{0} += {0}", "{0}.extend({0})"])
    own = "1" not in form
    if (own and not in_this_region(g, items)) or not resize(g, items, items.least if own else 2):
        return False
    (one, first), (other, second) = element_text(g, items.kind), element_text(g, items.kind)
    g.emit(form.format(items.text, one, other))
    items.taint(own or (first and second))
    return True


@python("slist.insert", 0.6)
def _(g: Writer) -> bool:
    """`l.insert(1, a)`, also beyond its ends"""
    items = make_list(g)
    if not in_this_region(g, items) or items.growing or not resize(g, items, 1):
        return False
    value, exact = element_text(g, items.kind)
    place = g.choice.choice(["0", "1", "-1", "9", "-9", str(items.least - 1)])
    g.emit(f"{items.text}.insert({place}, {value})")
    items.taint(exact)
    return True


@python("slist.pop", 0.7)
def _(g: Writer) -> bool:
    """`a = l.pop()`, `l.pop(0)`, `l.pop(-2)`"""
    items = make_list(g, least=2)
    if not resize(g, items, -1):
        return False
    name = g.fresh("c")
    g.emit(f"{name} = {items.text}.pop({g.choice.choice(['', '0', '-1', '-2'])})")
    declare(g, name, items.kind, items.exact)
    return True


@python("slist.remove", 0.6)
def _(g: Writer) -> bool:
    """`l.remove(2)`, also what is not there"""
    items = make_list(g, "int", "str", "float", least=1)
    if not items.exact or not in_this_region(g, items) or items.growing:
        return False
    value = literal(g.choice, items.kind, boundary=0.0)
    if g.choice.random() < 0.8:
        g.emit(f"{items.text}.append({value})")
    else:
        items.cells[0].least -= 1
    g.emit(f"{items.text}.remove({value})")
    return True


@python("slist.sort", 0.8)
def _(g: Writer) -> bool:
    """`l.sort()`, `l.sort(reverse=True)`, `sorted(l)`"""
    items = make_list(g, least=2)
    if not items.exact or items.growing:
        return False
    if items.kind == "float" and g.choice.random() < 0.9:  # where NaN goes is rejected when the program runs
        name, each = g.fresh("q"), g.fresh("e")
        g.emit(f"{name} = [0.0 if {each} != {each} else {each} for {each} in {items.text}]")
        items = Items(name, "float", [Cell(items.least, g.regions[-1])])
        g.python.lists.append(items)
    form = g.choice.choice(["{0}.sort()", "{0}.sort()", "{0}.sort(reverse=True)", "{1} = sorted({0})"])
    name = g.fresh("q")
    g.emit(form.format(items.text, name))
    if "sorted" in form:
        g.python.lists.append(Items(name, items.kind, [Cell(items.least, g.regions[-1])]))
    return True


@python("slist.reverse", 0.5)
def _(g: Writer) -> bool:
    """`l.reverse()`"""
    items = make_list(g, least=2)
    g.emit(f"{items.text}.reverse()")
    return True


@python("slist.clear", 0.4)
def _(g: Writer) -> bool:
    """`l.clear()`"""
    items = make_list(g)
    if not in_this_region(g, items) or not resize(g, items, -items.least):
        return False
    g.emit(f"{items.text}.clear()")
    if g.choice.random() < 0.6:
        value, exact = element_text(g, items.kind)
        g.emit(f"{items.text}.append({value})")
        items.cells[0].least = 1
        items.taint(exact)
    return True


@python("slist.repeat", 0.6)
def _(g: Writer) -> bool:
    """`l *= 2`, `m = l * 2`, `m = l + l`"""
    items = make_list(g, least=1)
    if g.choice.random() < 0.6:
        if items.growing or not in_this_region(g, items) or items.least > 4 or not resize(g, items, items.least):
            return False
        g.emit(f"{items.text} *= 2")
        return True
    name = g.fresh("q")
    g.emit(f"{name} = {items.text} {g.choice.choice(['* 2', f'+ {items.text}', '* 1'])}")
    g.python.lists.append(Items(name, items.kind, [Cell(items.least, g.regions[-1], items.exact, items.growing)]))
    return True


@python("slist.read", 0.8)
def _(g: Writer) -> bool:
    """`a = l[0]`, `l[n % 3]`, `l[-1]`"""
    items = make_list(g, "int", "float", "bool", least=1)
    return assign(g, items.kind, f"{items.text}[{index_of(g, items)}]", items.exact)


@python("slist.write", 0.8)
def _(g: Writer) -> bool:
    """`l[0] = a`, `l[n % 3] += 1`"""
    items = make_list(g, least=1)
    index = index_of(g, items) if items.kind != "str" else g.choice.choice(["0", "-1"])
    value, exact = element_text(g, items.kind)
    form = "{0}[{1}] = {2}"
    if items.kind in ("int", "float") and g.choice.random() < 0.4:
        form = g.choice.choice(["{0}[{1}] += {2}", "{0}[{1}] *= 2", "{0}[{1}] -= {2}"])
    g.emit(form.format(items.text, index, value))
    items.taint(exact)
    return True


@python("slist.slice", 0.6)
def _(g: Writer) -> bool:
    """`l[1:]`, `l[::-1]`, `l[:n]`: a new list"""
    items = make_list(g, least=2)
    name = g.fresh("q")
    form, least = g.choice.choice(
        [("1:", items.least - 1), ("::-1", items.least), (":2", 2), ("-2:", 2), ("::2", 1), (":", 2)]
    )
    if items.growing and form != ":":
        return False
    g.emit(f"{name} = {items.text}[{form}]")
    g.python.lists.append(Items(name, items.kind, [Cell(least, g.regions[-1], items.exact, items.growing)]))
    return True


@python("slist.delete", 0.5)
def _(g: Writer) -> bool:
    """`del l[0]`, `del l[-1]`"""
    items = make_list(g, least=2)
    if not resize(g, items, -1):
        return False
    g.emit(f"del {items.text}[{g.choice.choice(['0', '-1', '1'])}]")
    return True


@python("slist.search", 0.7)
def _(g: Writer) -> bool:
    """`a in l`, `l.index(2)`, `l.count(a)`"""
    items = make_list(g)
    value = element_text(g, items.kind)
    if not items.exact or not value[1] or items.growing or items.kind == "bool":
        return False
    kind = g.choice.randrange(4)
    if kind == 0 and items.least:
        return assign(g, "int", f"{items.text}.index({items.text}[{g.choice.choice(['0', '-1'])}])")
    if kind == 1:
        return assign(g, "int", f"{items.text}.count({value[0]})")
    return assign(g, "bool", f"{value[0]} {g.choice.choice(['in', 'not in'])} {items.text}")


@python("slist.fold", 0.7)
def _(g: Writer) -> bool:
    """`sum(l)`, `min(l)`, `max(l)`, `len(l)`, `any(l)`"""
    items = make_list(g, "int", "float", "bool", least=1)
    if items.kind == "bool":
        return assign(g, "bool", f"{g.choice.choice(['any', 'all'])}({items.text})")
    if g.choice.random() < 0.3:
        return assign(g, "int", f"len({items.text})")
    if items.growing and items.kind == "float":
        return False
    return assign(g, items.kind, f"{g.choice.choice(['sum', 'min', 'max'])}({items.text})", items.exact)


@python("slist.equal", 0.4)
def _(g: Writer) -> bool:
    """`l == m`, `l != [1, 2]`"""
    items = make_list(g)
    other = g.python.find(g.choice, g.python.lists, lambda each: each.kind == items.kind and each.exact)
    if not items.exact or items.growing or (other is not None and other.growing):
        return False
    text = other.text if other is not None else f"[{literal(g.choice, items.kind)}]"
    return assign(g, "bool", f"{items.text} {g.choice.choice(['==', '!='])} {text}")


@python("slist.alias", 0.8)
def _(g: Writer) -> bool:
    """`m = l`, then a change through m"""
    items = make_list(g, least=1)
    name = g.fresh("q")
    g.emit(f"{name} = {items.text}")
    alias = Items(name, items.kind, items.cells)
    g.python.lists.append(alias)
    value, exact = element_text(g, items.kind)
    forms = ["{0}[0] = {1}", "{0}.reverse()"]
    if items.exact and not items.growing and items.kind != "float":
        forms.append("{0}.sort()")
    if in_this_region(g, items):
        forms += ["{0}.append({1})", "{0} += [{1}]"]
    form = g.choice.choice(forms)
    if ("append" in form or "+=" in form) and not resize(g, alias, 1):
        return False
    g.emit(form.format(name, value))
    alias.taint(exact)
    return True


@python("slist.alias_branch", 0.4, nested=True)
def _(g: Writer) -> bool:
    """`m = l if c else o`: one of two lists, changed under that name"""
    items = make_list(g, "int", "float", least=2)
    if items.growing:
        return False
    name, other_name = g.fresh("q"), g.fresh("q")
    other = Items(other_name, items.kind, [Cell(items.least, g.regions[-1])])
    g.python.lists.append(other)
    g.emit(f"{other_name} = [{', '.join([literal(g.choice, items.kind)] * items.least)}]")
    g.emit(f"{name} = {items.text}")
    g.emit(f"if {boolean(g, 1)[0]}:")
    g.emit(f"    {name} = {other.text}")
    alias = Items(name, items.kind, [*items.cells, *other.cells])
    for cell in alias.cells:  # a list that is one of several does not change its length
        cell.region, cell.caller_owned = -1, True
    if g.choice.random() < 0.8:
        return assign(g, items.kind, f"{name}[{g.choice.choice(['0', '-1'])}]", alias.exact)
    value, exact = element_text(g, items.kind)  # rejected, honestly
    g.emit(f"{name}[{g.choice.choice(['0', '-1'])}] = {value}")
    alias.taint(exact)
    return True


@python("slist.iterate", 0.7, nested=True)
def _(g: Writer) -> bool:
    """`for a in l:`, `for i, a in enumerate(l):`, `for a, b in zip(l, m):`"""
    items = make_list(g, "int", "float", least=1)
    total, each = g.fresh("c"), g.fresh("e")
    g.emit(f"{total} = {'0' if items.kind == 'int' else '0.0'}")
    form = g.choice.choice(
        ["for {1} in {0}:", "for i{1}, {1} in enumerate({0}):", "for {1}, z{1} in zip({0}, {0}[::-1]):"]
    )
    if items.growing:
        form = "for {1} in {0}:"
    g.emit(form.format(items.text, each))
    g.emit(f"    {total} = {g.choice.choice([f'{total} - {each}', f'{each} - {total}', f'{total} + {each} * 2'])}")
    declare(g, total, items.kind, items.exact)
    return True


@python("slist.comprehension", 0.5)
def _(g: Writer) -> bool:
    """`[a * 2 for a in l]`"""
    items = make_list(g, "int", "float", least=1)
    if items.growing:
        return False
    name, each = g.fresh("q"), g.fresh("e")
    g.emit(f"{name} = [{each} {g.choice.choice(['* 2', '- 1', '% 3'])} for {each} in {items.text}]")
    g.python.lists.append(Items(name, items.kind, [Cell(items.least, g.regions[-1], items.exact)]))
    return True


@python("slist.in_loop", 0.8, nested=True)
def _(g: Writer) -> bool:
    """`for i in range(n): l[i % 2] += i` or `l.append(i)`: a list that a loop changes"""
    items = make_list(g, "int", "float", least=2)
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '3'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        value = counter if items.kind == "int" else f"float({counter})"
        forms = ["{0}[{1} % 2] += {2}", "{0}[0] = {0}[1] - {2}", "{0}[{1} % len({0})] = {2}", "{0}.reverse()"]
        if items.exact and not items.growing and items.kind != "float":
            forms.append("{0}.sort()")
        if not items.caller_owned:
            forms += ["{0}.append({2})"] * 2
        form = g.choice.choice(forms)
        if "append" in form:
            for cell in items.cells:
                cell.growing = True
        g.emit(form.format(items.text, counter, value))
    return True


@python("slist.in_branch", 0.8, nested=True)
def _(g: Writer) -> bool:
    """`if c: l[0] = a; l.sort()`: a list that a branch changes"""
    items = make_list(g, least=2)
    (one, first), (other, second) = element_text(g, items.kind), element_text(g, items.kind)
    forms = ["{0}[0] = {1}", "{0}[-1] = {1}", "{0}.reverse()", "{0}[0], {0}[1] = {0}[1], {0}[0]"]
    if items.exact and not items.growing and items.kind != "float":
        forms.append("{0}.sort()")
    g.emit(f"if {boolean(g, 1)[0]}:")
    g.emit("    " + g.choice.choice(forms).format(items.text, one))
    if g.choice.random() < 0.5:
        g.emit("else:")
        g.emit("    " + g.choice.choice(forms).format(items.text, other))
    items.taint(first and second)
    return True


@python("slist.to_tensor", 0.5)
def _(g: Writer) -> bool:
    """`torch.tensor(l)`"""
    items = make_list(g, "int", "float", "bool", least=1)
    if g.depth or g.in_helper or items.growing:
        return False
    name = g.fresh("t")
    g.emit(f"{name} = torch.tensor({items.text}{', dtype=torch.float64' if items.kind == 'float' else ''})")
    g.python.results.append((f"{name}.double()", "torch.zeros([], dtype=torch.float64)", True))
    return True


@python("slist.in_container", 0.5)
def _(g: Writer) -> bool:
    """`p = (l, a)`, `d = {'a': l}`, `o = [l, m]`: a change through the container"""
    items = make_list(g, "int", "float", least=1)
    name = g.fresh("p")
    form, place = g.choice.choice([("({0}, 1)", "[0]"), ("{{'a': {0}}}", "['a']"), ("[{0}, {0}]", "[1]")])
    g.emit(f"{name} = {form.format(items.text)}")
    value, exact = element_text(g, items.kind)
    g.emit(f"{name}{place}[0] = {value}")
    items.taint(exact)
    if in_this_region(g, items) and resize(g, items, 1):
        g.emit(f"{name}{place}.append({value})")
    return True


@python("slist.function", 0.5)
def _(g: Writer) -> bool:
    """A function that changes a list, or returns its argument"""
    items = make_list(g, "int", "float", least=2)
    if g.in_helper:
        return False
    name, taken = g.fresh("change"), g.fresh("q")
    head = "self, " if g.method else ""
    lines = ["l[0] = a", "l.reverse()"]
    if in_this_region(g, items) and not items.growing and resize(g, items, 1):
        lines = ["l.append(a)", "l.insert(0, a)"]
    result = g.choice.choice(["l", "l + [a]"])
    g.helpers.append(
        f"def {name}({head}l: List[{items.kind}], a: {items.kind}):\n    {g.choice.choice(lines)}\n    return {result}\n"
    )
    value, exact = known(g, items.kind)
    g.emit(f"{taken} = {'self.' if g.method else ''}{name}({items.text}, {value})")
    items.taint(exact)
    cells = items.cells if result == "l" else [Cell(items.least + 1, g.regions[-1], items.exact, items.growing)]
    g.python.lists.append(Items(taken, items.kind, cells))
    return True


def add_list_results(g: Writer) -> None:
    """Choose what the program returns of its lists; several names of one list stay one list."""
    names = [each for each in g.python.lists if not each.growing and not (each.kind == "str" and g.returns)]
    for each in g.choice.sample(names, min(len(names), 2)):
        early = f"[{', '.join({'int': '0', 'float': '0.0', 'bool': 'False'}.get(each.kind, chr(39) * 2) for _ in range(2))}]"
        text = g.choice.choice([each.text, each.text, f"({each.text}, 1)", f"{{'q': {each.text}}}"])
        early = {"(": f"({early}, 1)", "{": f"{{'q': {early}}}"}.get(text[0], early)
        g.python.results.append((text, early, each.exact))
