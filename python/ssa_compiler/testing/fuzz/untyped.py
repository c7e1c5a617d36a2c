"""What TorchScript rejects of names, functions and control flow: names of several types, names that may be unset, loops
with `else`, functions without annotations, closures, `*args`, constants of the file.

An early return would have to have these values too, so that none follows.
"""

from __future__ import annotations

from .expressions import boolean, expression, integer, known
from .python_scope import literal
from .registry import untyped
from .scalars import assign, declare
from .writer import Writer

__all__ = ["may_return_values", "returned"]


def may_return_values(g: Writer) -> bool:
    """Whether the program can return a value of any type: here all names are still in scope at its end."""
    return not (g.depth or g.in_helper or g.returns)


def returned(g: Writer, text: str, exact: bool = True) -> None:
    """Return a value that no early return has."""
    g.python.results.append((text, "", exact))
    g.may_return = False


@untyped("untyped.number_or_tensor", nested=True)
def _(g: Writer) -> bool:
    """`best = 0`, then `best = x[0]` in a branch or loop: a number or a tensor"""
    var = g.pick(lambda var: var.dtype in ("float32", "int64") and len(var.shape) > 0)
    if var is None or not may_return_values(g):
        return False
    name, counter = g.fresh("b"), g.fresh("i")
    g.emit(f"{name} = {g.choice.choice(['0', '-1', '1.5', 'n', 'None'])}")
    if g.choice.random() < 0.5:
        g.emit(f"if {g.choice.choice([g.condition(), g.data_condition(), boolean(g, 1)[0]])}:")
        g.emit(f"    {name} = {g.unit(var.text, var.dtype)}.sum()")
    else:
        g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '3'])}):")
        g.emit(f"    if {counter} % 2 == {g.choice.randrange(2)}:")
        element = f"{var.text}[{counter} % {var.shape[0]}]"
        g.emit(f"        {name} = {element}{'.item()' if len(var.shape) == 1 else '.clone()'}")
    returned(g, name)
    return True


@untyped("untyped.number_kinds", nested=True)
def _(g: Writer) -> bool:
    """`c = 0`, then `c = u * 0.5`: an int or a float, and arithmetic with what it is"""
    if not may_return_values(g):
        return False
    name, counter = g.fresh("b"), g.fresh("i")
    (first, one), (second, two) = expression(g, "int"), expression(g, "float")
    g.emit(f"{name} = {first}")
    if g.choice.random() < 0.5:
        g.emit(f"if {boolean(g, 1)[0]}:")
    else:
        g.emit(f"for {counter} in range({g.choice.choice(['n % 4', 'k', '2'])}):")
    g.emit(f"    {name} = {second}")
    form = g.choice.choice(["{0} * 2", "{0} + 1", "-{0}", "{0}", "{0} * 0.5", "max({0}, 1.0)"])
    returned(g, form.format(name), one and two)
    return True


@untyped("untyped.best_or_none", nested=True)
def _(g: Writer) -> bool:
    """`if best is None or float(v.sum()) > t: best = v`"""
    var = g.pick(lambda var: var.dtype == "float32" and len(var.shape) > 0)
    if var is None or not may_return_values(g):
        return False
    name, counter, value = g.fresh("b"), g.fresh("i"), g.fresh("t")
    limit = f"{g.choice.randrange(-6, 9)}.3137"
    g.emit(f"{name} = None")
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k % 4', '3'])}):")
    g.emit(f"    {value} = {var.text}[{counter} % {var.shape[0]}] * {counter}")
    g.emit(f"    if {name} is None or float({value}.sum()) > {limit}:")
    g.emit(f"        {name} = {value}")
    kind = g.choice.randrange(3)
    if kind == 0:
        g.emit(f"if {name} is not None:")
        g.emit(f"    {name} = {name} + 1.0")
    elif kind == 1:
        g.emit(f"if {name} is None:")
        g.emit(f"    {name} = torch.zeros({list(var.shape[1:])})")
    returned(g, name)
    return True


@untyped("untyped.maybe_unset", nested=True)
def _(g: Writer) -> bool:
    """`if c: v = a`, then `if d: u = v`: a name that may be unset"""
    if g.in_helper:
        return False
    kind = g.choice.choice(["int", "float", "bool"])
    name = g.fresh("c")
    value, exact = expression(g, kind, 1)
    condition = g.choice.choice([g.condition(), boolean(g, 1)[0]])
    g.emit(f"if {condition}:")
    g.emit(f"    {name} = {value}")
    again = condition if g.choice.random() < 0.7 else g.condition()
    taken, (default, also) = g.fresh("c"), known(g, kind)
    g.emit(f"{taken} = {default}")
    g.emit(f"if {again}:")
    g.emit(f"    {taken} = {name}")
    declare(g, taken, kind, exact and also)
    return True


@untyped("untyped.loop_else", nested=True)
def _(g: Writer) -> bool:
    """`for i in range(n): if c: break` and `else: ...`, also of while"""
    if g.in_helper:
        return False
    counter, found = g.fresh("i"), g.fresh("c")
    bound = g.choice.choice(["n", "k % 5", "3"])
    g.emit(f"{found} = -1")
    if g.choice.random() < 0.6:
        g.emit(f"for {counter} in range({bound}):")
        step = None
    else:
        g.emit(f"{counter} = 0")
        g.emit(f"while {counter} < {bound}:")
        step = f"{counter} += 1"
    with g.region(loop=True):
        g.integers.append(counter)
        if step is not None:
            g.emit(step)
        test = g.choice.choice(
            [f"{counter} * 2 > {g.choice.choice(['k', 'n'])}", f"{counter} == 2", g.data_condition()]
        )
        g.emit(f"if {test}:")
        g.emit(f"    {found} = {counter}")
        g.emit("    break")
        if g.choice.random() < 0.5:
            g.body(1, 1)
    g.emit("else:")
    with g.region():
        g.emit(f"{found} = {g.choice.choice(['99', 'n + 1', '-7'])}")
        if g.choice.random() < 0.5:
            g.body(1, 1)
    declare(g, found, "int")
    return True


@untyped("untyped.function")
def _(g: Writer) -> bool:
    """A function without annotations, called with tensors and with numbers"""
    if g.in_helper:
        return False
    name, taken = g.fresh("untyped"), g.fresh("c")
    kind = g.choice.choice(["int", "float"])
    (one, first), (other, second) = known(g, kind), known(g, kind)
    body = g.choice.choice(["a * 2 + b", "a - b", "a + b * scale", "b - a * scale"])
    g.globals.append(f"def {name}(a, b=1, *, scale=2):\n    return {body}\n")
    scale = g.choice.choice(["", f", scale={g.choice.choice(['3', '-1'])}"])
    g.emit(f"{taken} = {name}({one}, {other}{scale})")
    declare(g, taken, kind, first and second)
    var = g.pick(lambda var: var.dtype in ("float32", "float64", "int64"))
    if var is not None:
        result = g.fresh("t")
        bounds = "-9, 9" if var.dtype == "int64" else "-9.0, 9.0"
        g.emit(f"{result} = {name}({var.text}{g.choice.choice(['', f', b={var.text}'])}).clamp({bounds})")
        g.declare_fresh(result, var.shape, var.dtype).uncertain = True
    return True


@untyped("untyped.closure")
def _(g: Writer) -> bool:
    """`def inner(a): return a * scale`, `lambda a: a + n`: functions that read names around them"""
    if g.in_helper:
        return False
    name, scale = g.fresh("inner"), g.fresh("c")
    kind = g.choice.choice(["int", "float"])
    (value, exact), (argument, also), (other, third) = known(g, kind), known(g, kind), known(g, kind)
    g.emit(f"{scale} = {value}")
    declare(g, scale, kind, exact)
    body = g.choice.choice([f"a * 2 + {scale}", f"{scale} - a", f"a if a > {scale} else {scale}"])
    if g.choice.random() < 0.5:
        g.emit(f"{name} = lambda a: {body}")
    else:
        g.emit(f"def {name}(a):")
        g.emit(f"    return {body}")
    if g.choice.random() < 0.5:
        g.emit(f"{scale} = {other}")  # the function reads it when it is called
        exact = exact and third
    return assign(g, kind, f"{name}({argument})", exact and also)


@untyped("untyped.star")
def _(g: Writer) -> bool:
    """`f(*pair)`, `def f(*args, **kwargs)`, `a, *rest = l`"""
    if g.in_helper:
        return False
    kind = g.choice.choice(["int", "float"])
    found = [known(g, kind) for _ in range(3)]
    exact = all(each for _, each in found)
    texts = ", ".join(text for text, _ in found)
    which = g.choice.randrange(3)
    if which == 0:
        first, rest = g.fresh("c"), g.fresh("r")
        g.emit(f"{first}, *{rest} = [{texts}]")
        return assign(g, kind, f"{first} - {rest}[{g.choice.choice(['0', '-1', '1'])}]", exact)
    name = g.fresh("star")
    body = "    total = args[0]\n    for each in args[1:]:\n        total = total - each\n"
    g.globals.append(f"def {name}(*args, **kwargs):\n{body}    return total + kwargs.get('more', 0) * len(kwargs)\n")
    more = g.choice.choice(["", ", more=2", ", less=1", ", more=3, less=1"])
    pair = g.fresh("p")
    g.emit(f"{pair} = ({texts})")
    return assign(g, kind, f"{name}({f'*{pair}' if which == 1 else texts}{more})", exact)


@untyped("untyped.constants")
def _(g: Writer) -> bool:
    """`EPS = 0.5`, `SIZES = (2, 3)`, `TABLE = {'a': 1}`: constants of the file"""
    if g.in_helper:
        return False
    kind = g.choice.randrange(3)
    name = g.fresh("CONSTANT")
    if kind == 0:
        g.globals.append(f"{name} = {literal(g.choice, 'float', boundary=0.0)}\n")
        value, exact = known(g, "float")
        return assign(g, "float", f"{value} * {name} + {name}", exact)
    if kind == 1:
        g.globals.append(f"{name} = ({literal(g.choice, 'int')}, {literal(g.choice, 'int')}, 4)\n")
        total, each = g.fresh("c"), g.fresh("e")
        g.emit(f"{total} = 0")
        g.emit(f"for {each} in {name}:")
        g.emit(f"    {total} = {total} * 2 + {each}")
        declare(g, total, "int")
        return True
    g.globals.append(f"{name} = {{'a': {literal(g.choice, 'int')}, 'b': [1, {literal(g.choice, 'int')}]}}\n")
    return assign(g, "int", f"{name}['a'] + {name}['b'][{g.choice.choice(['-1', '0', 'n % 2'])}]")


@untyped("untyped.numbers")
def _(g: Writer) -> bool:
    """`~n`, `round(u, 2)`, `a %= 3`, `divmod`, `sum(... for ...)`, `any(...)`, `reversed(range(n))`"""
    if g.in_helper:
        return False
    a, b = integer(g, 1)[0], integer(g, 0)[0]
    u, exact = known(g, "float")
    forms: list[tuple[str, str, bool]] = [
        ("int", f"~{a}", True),
        ("int", f"sum(i * i for i in range({g.choice.choice(['4', 'n % 5'])}))", True),
        ("bool", f"any({b} > each for each in (1, 2, {g.integer()}))", True),
        ("bool", f"all([{b} != 3, not {a} == 1])", True),
        ("float", f"round(0.5 + {g.integer()} * 0.375, {g.choice.choice(['1', '2'])})", True),
        ("float", f"math.log2(abs({g.integer()}) + 1.0)", False),
        ("float", f"float(min({u}, 2.0)) + {g.integer()}", exact),
    ]
    if g.choice.random() < 0.3:
        quotient, rest = g.fresh("c"), g.fresh("c")
        g.emit(f"{quotient}, {rest} = divmod({a}, {g.choice.choice(['3', '-2', '7'])})")
        declare(g, quotient, "int")
        declare(g, rest, "int")
        return True
    if g.choice.random() < 0.3:
        total, counter = g.fresh("c"), g.fresh("i")
        g.emit(f"{total} = 0")
        g.emit(f"for {counter} in reversed(range({g.choice.choice(['n', '4', 'k % 6'])})):")
        g.emit(f"    {total} = {total} * 2 - {counter}")
        g.emit(f"    {total} %= {g.choice.choice(['97', '-13'])}")
        declare(g, total, "int")
        return True
    return assign(g, *g.choice.choice(forms))


@untyped("untyped.comprehension")
def _(g: Writer) -> bool:
    """`[a + b for a, b in zip(l, m) if a > 0]` of constants, `{k: v * 2 for k, v in d.items()}`"""
    if not may_return_values(g):
        return False
    name = g.fresh("m")
    value, exact = known(g, "int")
    forms = [
        f"[a * {value} + b for a, b in zip((1, 2, 3), (n, k, 5))]",
        f"[i * {value} for i in range(5) if i % 2 == {g.choice.randrange(2)}]",
        f"{{key: each * {value} for key, each in {{'a': 1, 'b': n}}.items()}}",
        f"[(i, {value} - i) for i in range(3)]",
        f"[[i + j * {value} for j in range(2)] for i in range(2)]",
        f"{{i: {value} + i for i in (3, 1, 2)}}",
        f"tuple(each - {value} for each in (n, k))",
        f"list(enumerate([{value}, n], start=1))",
    ]
    g.emit(f"{name} = {g.choice.choice(forms)}")
    returned(g, name, exact)
    return True
