"""Control flow on Python's numbers: conditions with NaN, numbers joined by branches and carried by loops."""

from __future__ import annotations

from .expressions import boolean, comparison, expression, known
from .registry import python
from .scalars import declare, variable
from .writer import Writer

__all__: list[str] = []


@python("scalar.if", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`if not u > v:`, `if a < u <= b:`, `if math.isnan(u):`"""
    g.emit(f"if {boolean(g, 2)[0]}:")
    with g.region():
        g.body(1, 2)
    if g.choice.random() < 0.5:
        g.emit("else:")
        with g.region():
            g.body(1, 2)
    return True


@python("scalar.join", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`if c: a = 1 else: a = b * 2`: a number that a branch chooses"""
    kind = g.choice.choice(["int", "float", "bool"])
    name = g.fresh("c")
    (one, first), (other, second) = expression(g, kind), expression(g, kind)
    condition = boolean(g, 1)[0]
    if g.choice.random() < 0.4:
        g.emit(f"{name} = {one}")
        g.emit(f"if {condition}:")
        g.emit(f"    {name} = {other}")
    else:
        g.emit(f"if {condition}:")
        g.emit(f"    {name} = {one}")
        g.emit("else:")
        g.emit(f"    {name} = {other}")
    declare(g, name, kind, first and second)
    return True


@python("scalar.carry", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`for i in range(n): a = a * 3 % 7`, `u = u * 0.5 + v`: numbers that a loop carries"""
    kind = g.choice.choice(["int", "float"])
    var, other = variable(g, kind), variable(g, g.choice.choice(["int", "float", "bool"]))
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '3', 'n + 1'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        value, exact = known(g, kind)
        forms = [
            "{0} = {0} - {1}",
            "{0} = {1} - {0}",
            "{0} += {1}",
            "{0} = -{0}",
            "{0} = {0} % 7",
            "{0} = {0} // 2 + {1}",
        ]
        if kind == "float":
            forms += ["{0} = {0} * 0.5 + {1}", f"{{0}} += {counter}", "{0} /= 4.0"]
        g.emit(g.choice.choice(forms).format(var.text, value))
        var.exact &= exact
        if other is not var:
            again, also = expression(g, other.kind, 1)
            g.emit(f"{other.text} = {again}")
            other.exact &= also
        if g.choice.random() < 0.4:
            g.body(1, 1)
    # What one iteration reads another one wrote: a name tainted late may have been read before it.
    if not var.exact or not other.exact:
        var.exact = other.exact = False
    return True


@python("scalar.while_not", 0.8, nested=True)
def _(g: Writer) -> bool:
    """`while not err < tol and i < 5:`, which goes on for NaN"""
    error, counter = g.fresh("c"), g.fresh("w")
    value, exact = known(g, "float", exact=True)
    limit = g.choice.choice(["0.25", "1.0", known(g, "float", exact=True)[0]])
    form = g.choice.choice(["not {0} < {1}", "not {0} <= {1}", "{0} > {1}", "not ({0} < {1} or {0} != {0})"])
    g.emit(f"{error} = {value}")
    g.emit(f"{counter} = 0")
    bound = g.choice.choice(["4", "n", "n + 2"])
    test = [form.format(error, limit), f"{counter} < {bound}"]
    g.choice.shuffle(test)
    g.emit(f"while {' and '.join(test)}:")
    with g.region(loop=True):
        g.integers.append(counter)
        g.emit(f"{counter} += 1")
        g.emit(f"{error} = {error} {g.choice.choice(['* 0.5', '- 1.0', '/ 4.0'])}")
        if g.choice.random() < 0.6:
            g.body(1, 1)
    declare(g, error, "float", exact)
    declare(g, counter, "int")
    return True


@python("scalar.while_data", 0.6, nested=True)
def _(g: Writer) -> bool:
    """`while not float(x.max()) > tol:` with a bounded counter, and a write of x"""
    var = g.pick(lambda var: var.dtype in ("float32", "float64") and var.writable and var.rebindable)
    if var is None or g.loops:
        return False
    counter = g.fresh("w")
    read = g.choice.choice(["float({0}.max())", "float({0}.min())", "{0}.abs().max().item()"]).format(var.text)
    test = g.choice.choice([f"not {read} > 3.3", f"{read} < 4.3", f"not {read} >= 2.3"])
    g.emit(f"{counter} = 0")
    g.emit(f"while {counter} < {g.choice.choice(['3', 'n'])} and {test}:")
    with g.region(loop=True):
        g.emit(f"{counter} += 1")
        g.note_write(var)
        g.emit(f"{var.text}.add_(1.0)")
        if g.choice.random() < 0.4:
            g.body(1, 1)
    declare(g, counter, "int")
    return True


@python("scalar.break", 0.6, nested=True)
def _(g: Writer) -> bool:
    """`if a < u: break` in a loop that counts"""
    counter, total = g.fresh("i"), variable(g, "int")
    g.emit(f"for {counter} in range({g.choice.choice(['n', '4', 'k'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        g.emit(f"if {comparison(g) if g.choice.random() < 0.5 else f'{counter} > {g.integer()}'}:")
        g.emit(f"    {g.choice.choice(['break', 'continue'])}")
        g.emit(f"{total.text} = {total.text} + {counter}")
        if g.choice.random() < 0.4:
            g.body(1, 1)
    return True


@python("scalar.error", 0.5)
def _(g: Writer) -> bool:
    """`if not a < u: raise ValueError(...)`, `assert u == u`"""
    test = f"{g.integer()} > 3 and {comparison(g)}"
    if g.choice.random() < 0.5:
        g.emit(f"assert not ({test}), 'not so'")
    else:
        g.emit(f"if {test}:")
        g.emit(f"    raise {g.choice.choice(['ValueError', 'RuntimeError', 'IndexError'])}('not so')")
    return True


@python("scalar.optional", 0.6, nested=True)
def _(g: Writer) -> bool:
    """`c = None`, then a number in a branch, then `if c is not None:`"""
    kind = g.choice.choice(["int", "float"])
    name, taken = g.fresh("c"), g.fresh("c")
    value, exact = known(g, kind)
    g.emit(f"{name}: Optional[{kind}] = None")
    g.emit(f"if {boolean(g, 1)[0]}:")
    g.emit(f"    {name} = {value}")
    g.emit(f"{taken} = {g.choice.choice(['0', '3']) if kind == 'int' else '-0.5'}")
    g.emit(f"if {name} is not None:")
    g.emit(f"    {taken} = {name} {g.choice.choice(['+ 1', '- 2', '* 2'])}")
    declare(g, taken, kind, exact)
    return True
