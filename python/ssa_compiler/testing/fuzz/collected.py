"""What programs collect: sets, default dicts, deques, dicts with keys of tuples and with lists, lists that start as
None, generators, sorted pairs, and tensors that grow by concatenation.
"""

from __future__ import annotations

from .expressions import boolean, integer, known
from .registry import untyped
from .scalars import assign, declare
from .untyped import may_return_values, returned
from .variables import Var
from .writer import Writer

__all__: list[str] = []


def _floats(g: Writer, rank: int = 1) -> Var | None:
    return g.pick(lambda var: var.dtype == "float32" and len(var.shape) >= rank)


def _trips(g: Writer) -> str:
    """How often a loop runs: also not at all, and as often as an argument says."""
    return g.choice.choice(["n", "k", "n % 4", "k % 6", "3", "5"])


@untyped("collected.set", nested=True)
def _(g: Writer) -> bool:
    """`seen = set()`, then `if i % 3 in seen: continue` and `seen.add(i % 3)` in a loop"""
    if not may_return_values(g):
        return False
    name, counter, total = g.fresh("seen"), g.fresh("i"), g.fresh("c")
    start = g.choice.choice(["set()", "set()", f"{{{integer(g, 0)[0]}}}", "{1, 2}"])
    key = g.choice.choice([f"{counter} % 3", f"{counter} * {counter} % 5", f"({counter} + {integer(g, 0)[0]}) % 4"])
    g.emit(f"{name} = {start}")
    g.emit(f"{total} = 0")
    g.emit(f"for {counter} in range({_trips(g)}):")
    g.emit(f"    if {key} in {name}:")
    g.emit(f"        {total} = {total} + {counter}")
    g.emit("        continue")
    g.emit(f"    {name}.add({key})")
    if g.choice.random() < 0.4:
        g.emit(f"    {name}.discard({counter} - 2)")
    declare(g, total, "int")
    assign(g, "int", f"len({name})")
    return assign(g, "bool", f"{integer(g, 0)[0]} {g.choice.choice(['in', 'not in'])} {name}")


@untyped("collected.default_dict", nested=True)
def _(g: Writer) -> bool:
    """`counts = defaultdict(int)`, then `counts[i % 3] += 1` in a loop, and what it holds by keys in order"""
    if not may_return_values(g):
        return False
    name, counter, total = g.fresh("counts"), g.fresh("i"), g.fresh("c")
    kind, change = g.choice.choice([("int", "+= 1"), ("int", "-= {0}"), ("float", "+= {0} * 0.5")])
    key = g.choice.choice([f"{counter} % 3", f"{counter} // 2", f"({counter} * {integer(g, 0)[0]}) % 4"])
    g.emit(f"{name} = defaultdict({kind})")
    g.emit(f"for {counter} in range({_trips(g)}):")
    g.emit(f"    {name}[{key}] {change.format(counter)}")
    which = g.choice.randrange(4)
    if which == 0:
        return assign(g, kind, f"{name}[{g.choice.choice(['0', '2', 'k'])}]")
    if which == 1:
        returned(g, f"sorted({name}.items())")
    elif which == 2:
        key, value = g.fresh("k"), g.fresh("v")
        g.emit(f"{total} = 0")
        g.emit(f"for {key}, {value} in {name}.items():")
        g.emit(f"    {total} = {total} * 3 + {key}{'' if kind == 'float' else f' + {value}'}")
        declare(g, total, "int")
    else:
        assign(g, "int", f"len({name})")
    returned(g, f"sorted({name}.values())")
    return True


@untyped("collected.groups", nested=True)
def _(g: Writer) -> bool:
    """`groups = {}`, then `groups.setdefault(i % 2, []).append(i)`, or `defaultdict(list)`"""
    if not may_return_values(g):
        return False
    name, counter, key = g.fresh("groups"), g.fresh("i"), f"{integer(g, 0)[0]} % 2"
    default = g.choice.random() < 0.5
    element, exact = known(g, g.choice.choice(["int", "float"]))
    g.emit(f"{name} = {'defaultdict(list)' if default else '{}'}")
    g.emit(f"for {counter} in range({_trips(g)}):")
    key = g.choice.choice([f"{counter} % 2", f"({counter} + {key}) % 3", f"{counter} // 3"])
    place = f"{name}[{key}]" if default else f"{name}.setdefault({key}, [])"
    g.emit(f"    {place}.append({element if g.choice.random() < 0.3 else counter})")
    form = g.choice.choice(["sum(len(each) for each in {0}.values())", "len({0})", "max([0] + list({0}.keys()))"])
    assign(g, "int", form.format(name))
    key, total = g.fresh("k"), g.fresh("u")
    g.emit(f"{total} = 0.0")
    g.emit(f"for {key} in sorted({name}):")
    g.emit(f"    {total} = {total} * 0.5 + {key} + len({name}[{key}]) + {name}[{key}][{g.choice.choice(['0', '-1'])}]")
    declare(g, total, "float", exact)
    return True


@untyped("collected.deque", nested=True)
def _(g: Writer) -> bool:
    """`window = deque([1], maxlen=3)`, then `append`, `popleft` and `window[-1]` in a loop"""
    if not may_return_values(g):
        return False
    name, counter, total = g.fresh("window"), g.fresh("i"), g.fresh("c")
    first = integer(g, 1)[0]
    limit = g.choice.choice(["", ", maxlen=3", ", maxlen=2"])
    g.emit(f"{name} = deque([{first}]{limit})")
    g.emit(f"{total} = 0")
    g.emit(f"for {counter} in range({_trips(g)}):")
    g.emit(f"    {name}.{g.choice.choice(['append', 'append', 'appendleft'])}({counter} * 2 - {g.integer()} % 3)")
    if g.choice.random() < 0.5:
        g.emit(f"    if len({name}) > {g.choice.choice('12')}:")
        g.emit(f"        {total} = {total} * 2 - {name}.{g.choice.choice(['popleft', 'pop'])}()")
    g.emit(f"    {total} += {name}[{g.choice.choice(['-1', '0'])}]" if g.choice.random() < 0.5 else "    pass")
    declare(g, total, "int")
    assign(g, "int", g.choice.choice([f"sum({name})", f"len({name})", f"max(list({name}) + [0])"]))
    returned(g, f"list({name})")
    return True


@untyped("collected.tuple_keys", nested=True)
def _(g: Writer) -> bool:
    """`table = {(0, 0): 1}`, then `table[i, j] = table.get((i - 1, j), 0) + 1` in loops"""
    if not may_return_values(g):
        return False
    name, row, column = g.fresh("table"), g.fresh("i"), g.fresh("j")
    missing = g.choice.choice(["0", "1", "-2"])
    g.emit(f"{name} = {{({g.choice.choice(['0, 0', '1, 0', 'n % 2, 0'])}): {integer(g, 1)[0]} % 100}}")
    g.emit(f"for {row} in range({g.choice.choice(['n % 4', 'k % 3', '2'])}):")
    g.emit(f"    for {column} in range({g.choice.choice(['2', 'n % 3', '3'])}):")
    before = f"{name}.get(({row} - 1, {column}), {missing})"
    if g.choice.random() < 0.5:
        g.emit(f"        if ({row}, {column}) not in {name}:")
        g.emit(f"            {name}[{row}, {column}] = {before} * 2 + {column}")
    else:
        g.emit(f"        {name}[({row}, {column})] = {before} - {row} + {name}.get(({row}, {column} - 1), {missing})")
    assign(g, "int", f"len({name})")
    return assign(g, "int", f"{name}.get(({g.choice.choice(['0', '1', 'k'])}, 1), -7)")


@untyped("collected.optional_rows", nested=True)
def _(g: Writer) -> bool:
    """`rows = [None] * 3`, then `rows[i % 3] = x[i] * 2` in a loop, and those that are there"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    name, counter, each = g.fresh("rows"), g.fresh("i"), g.fresh("e")
    element = f"{var.text}[{counter} % {var.shape[0]}] * {g.choice.choice(['2.0', f'{counter}'])}"
    g.emit(f"{name} = [None] * 3")
    g.emit(f"for {counter} in range({_trips(g)}):")
    place = g.choice.choice([f"{counter} % 3", f"-1 - {counter} % 2", f"{counter} % 2 + 1"])
    if g.choice.random() < 0.5:
        g.emit(f"    if {name}[{place}] is None:")
        g.emit(f"        {name}[{place}] = {element}")
        g.emit("    else:")
        g.emit(f"        {name}[{place}] = {name}[{place}] + 1.0")
    else:
        g.emit(f"    {name}[{place}] = {element}")
    which = g.choice.randrange(3)
    if which == 0:
        returned(g, f"sum(1 for {each} in {name} if {each} is not None)")
    elif which == 1:
        returned(g, f"[{each} is None for {each} in {name}]")
    returned(g, f"{name}[{g.choice.choice(['0', '1', '-1'])}]")
    return True


@untyped("collected.generator")
def _(g: Writer) -> bool:
    """`def pairs(m): for i in range(m): if i % 2: yield i, i * i`, which a loop reads"""
    if g.in_helper:
        return False
    name, total, first, second = g.fresh("pairs"), g.fresh("c"), g.fresh("p"), g.fresh("q")
    test = g.choice.choice(["i % 2 == 0", "i * 2 != m", "i < 3", "True"])
    stop = "            return\n" if g.choice.random() < 0.5 else "            continue\n"
    g.globals.append(
        f"def {name}(m, step=2):\n    for i in range(m):\n        if not ({test}):\n{stop}"
        "        yield i, i * step - m\n"
    )
    bound = g.choice.choice(["n", "k", "4", f"{integer(g, 0)[0]} % 5"])
    step = g.choice.choice(["", ", step=3", ", -1"])
    g.emit(f"{total} = {integer(g, 0)[0]} % 50")
    g.emit(f"for {first}, {second} in {name}({bound}{step}):")
    g.emit(f"    {total} = {total} * 2 + {first} - {second}")
    if g.choice.random() < 0.4:
        g.emit(f"    if {total} > {g.choice.choice(['40', '9'])}:")
        g.emit("        break")
    declare(g, total, "int")
    return True


@untyped("collected.sorted_pairs", nested=True)
def _(g: Writer) -> bool:
    """`sorted(pairs, key=lambda p: (p[1], -p[0]))`, `max(pairs)`, `pairs.sort(reverse=True)` of pairs made by a loop"""
    if not may_return_values(g):
        return False
    name, counter = g.fresh("ps"), g.fresh("i")
    start = g.choice.choice(["[]", f"[({integer(g, 0)[0]} % 9, 1)]", "[(3, 2), (3, 1)]"])
    element = g.choice.choice([f"{counter} * 7 % 5", f"({counter} * {counter} - {integer(g, 0)[0]}) % 3"])
    g.emit(f"{name} = {start}")
    g.emit(f"for {counter} in range({_trips(g)}):")
    g.emit(f"    {name}.append(({element}, {counter}))")
    which = g.choice.randrange(4)
    key = g.choice.choice(["p[0]", "(p[1], -p[0])", "-p[0]", "(p[0], -p[1])"])
    backwards = g.choice.choice(["", ", reverse=True"])
    if which == 0:
        g.emit(f"{name}.sort(key=lambda p: {key}{backwards})")
    elif which == 1:
        g.emit(f"{name} = sorted({name}{backwards})[:3]")
    elif which == 2:
        g.emit(f"if len({name}) > 0:")
        g.emit(f"    {name}.append({g.choice.choice(['max', 'min'])}({name}, key=lambda p: {key}))")
    else:
        return assign(g, "int", f"sum(p[0] * p[1] for p in sorted({name}, key=lambda p: {key}{backwards})[:2])")
    returned(g, name)
    return True


@untyped("collected.grown_tensor", nested=True)
def _(g: Writer) -> bool:
    """`y = x[:1]`, then `y = torch.cat([y, x[i:i + 1] * 2])` in a loop that may end early"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    name, counter, size = g.fresh("y"), g.fresh("i"), var.shape[0]
    g.emit(f"{name} = {var.text}[:{g.choice.choice(['1', '0', '2'])}]{g.choice.choice(['', '.clone()', ' * 1.0'])}")
    g.emit(f"for {counter} in range({_trips(g)}):")
    piece = g.choice.choice(
        [f"{var.text}[{counter} % {size}].unsqueeze(0) * 2.0", f"{name}[-1:] + {counter}", f"{var.text} * {counter}"]
    )
    dim = g.choice.choice(["", ", dim=0", ", 0"])
    ahead = g.choice.random() < 0.2
    with g.region(loop=True):
        if g.choice.random() < 0.3:
            g.emit(f"if {g.choice.choice([boolean(g, 0)[0], f'{counter} == 2', f'{name}.shape[0] > 3'])}:")
            g.emit(f"    {g.choice.choice(['break', 'continue'])}")
        g.emit(
            f"{name} = torch.cat([{piece}, {name}]{dim})" if ahead else f"{name} = torch.cat([{name}, {piece}]{dim})"
        )
        if g.choice.random() < 0.3:
            g.emit(f"{name}[{g.choice.choice(['0', '-1'])}] = {g.number('float32')}")
    if g.choice.random() < 0.5:
        assign(g, "int", f"{name}.shape[0]")
    returned(g, f"{name} + 0" if g.choice.random() < 0.5 else name)
    return True


@untyped("collected.rows", nested=True)
def _(g: Writer) -> bool:
    """`rows = []`, then `rows.append(x[i] * 2)` in a loop, `rows.pop()`, `rows[-1]`, and `torch.stack(rows)`"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    name, counter, size = g.fresh("rows"), g.fresh("i"), var.shape[0]
    g.emit(f"{name} = {g.choice.choice(['[]', f'[{var.text}[0] * 1.0]'])}")
    g.emit(f"for {counter} in range({_trips(g)}):")
    with g.region(loop=True):
        value = f"{var.text}[{counter} % {size}] * {g.choice.choice(['2.0', counter])}"
        test = g.choice.choice([f"{counter} % 2 == {g.choice.randrange(2)}", boolean(g, 0)[0], g.data_condition()])
        kind = g.choice.randrange(4)
        if kind == 0:
            g.emit(f"if {test}:")
            g.emit(f"    {name}.append({value})")
        elif kind == 1:
            g.emit(f"{name}.append({value})")
            g.emit(f"if len({name}) > 2:")
            g.emit(f"    {name}.pop({g.choice.choice(['', '0', '-1'])})")
        elif kind == 2:
            g.emit(f"{name}.append({value} + {name}[-1] if len({name}) > 0 else {value})")
        else:
            g.emit(f"{name} += [{value}, {value} - 1.0]")
    forms = [
        f"torch.stack({name}) if {name} else None",
        f"sum({name}) if len({name}) > 1 else torch.zeros(2)",
        f"torch.cat([each.reshape(-1) for each in {name}] + [torch.zeros(1)])",
        f"[each + 1.0 for each in {name}[::-1]]",
        name,
    ]
    returned(g, g.choice.choice(forms))
    return True


@untyped("collected.nonlocal")
def _(g: Writer) -> bool:
    """`def visit(a): nonlocal total; total += a`, called in a loop"""
    if g.in_helper or not may_return_values(g):
        return False
    name, total, counter, order = g.fresh("visit"), g.fresh("c"), g.fresh("i"), g.fresh("order")
    g.emit(f"{total} = {integer(g, 0)[0]} % 100")
    g.emit(f"{order} = []")
    g.emit(f"def {name}(a, depth=0):")
    g.emit(f"    nonlocal {total}")
    g.emit(f"    if a {g.choice.choice(['> 1', '% 2 == 0', '!= 3'])}:")
    g.emit(f"        {total} {g.choice.choice(['+= a', '-= a * 2', '= a - 1'])}")
    g.emit(f"    {order}.append({g.choice.choice(['a', total, f'a - {total}'])})")
    g.emit(f"    return {g.choice.choice(['a', total])}")
    g.emit(f"for {counter} in range({_trips(g)}):")
    g.emit(f"    {name}({counter})")
    declare(g, total, "int")
    assign(g, "int", f"{name}({integer(g, 0)[0]} % 5) - 1")
    returned(g, order)
    return True
