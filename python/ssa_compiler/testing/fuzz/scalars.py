"""Python's numbers, bools and strings: arithmetic with Python's rules, floats at the edges."""

from __future__ import annotations

from .expressions import boolean, expression, floating, integer, known
from .python_scope import Scalar, literal
from .registry import python
from .writer import Writer

__all__ = ["assign", "declare", "variable"]


def declare(g: Writer, text: str, kind: str, exact: bool = True) -> Scalar:
    """Bring the name of a scalar into scope."""
    found = Scalar(text, kind, exact)
    g.python.scalars.append(found)
    return found


def assign(g: Writer, kind: str, text: str, exact: bool = True) -> bool:
    """Give an expression a name: a new one, or one in scope."""
    old = g.python.find(g.choice, g.python.scalars, lambda each: each.kind == kind and each.rebindable)
    if old is not None and g.choice.random() < 0.35:
        g.emit(f"{old.text} = {text}")
        old.exact &= exact  # it may be either afterwards, if this is in a branch
        return True
    name = g.fresh("c")
    g.emit(f"{name} = {text}")
    declare(g, name, kind, exact)
    return True


def variable(g: Writer, kind: str) -> Scalar:
    """A name that can be bound anew."""
    old = g.python.find(g.choice, g.python.scalars, lambda each: each.kind == kind and each.rebindable)
    if old is not None and g.choice.random() < 0.6:
        return old
    name = g.fresh("c")
    value, exact = known(g, kind)
    g.emit(f"{name} = {value}")
    return declare(g, name, kind, exact)


def _typed_as_float(g: Writer, text: str, exact: bool) -> bool:
    """Return what is an int in Python, and a float to TorchScript, which therefore has no other use for it here."""
    name = g.fresh("r")
    g.emit(f"{name} = {text}")
    g.python.results.append((name, "", exact))
    g.may_return = False  # an early return would have to be of both types
    return True


def _augment(g: Writer, kind: str, forms: list[str]) -> bool:
    """`c %= e`: forms hold `{0}` for the name."""
    var = variable(g, kind)
    g.emit(g.choice.choice(forms).format(var.text))
    return True


@python("scalar.int", 1.0)
def _(g: Writer) -> bool:
    """`c = (a + n * 2) // 3`"""
    return assign(g, "int", *integer(g, 2))


@python("scalar.float", 1.0)
def _(g: Writer) -> bool:
    """`c = u * 0.5 - v`"""
    return assign(g, "float", *floating(g, 2))


@python("scalar.bool", 0.7)
def _(g: Writer) -> bool:
    """`c = a < b or not u > v`"""
    return assign(g, "bool", *boolean(g, 2))


@python("scalar.floordiv", 0.7)
def _(g: Writer) -> bool:
    """`a // b` of ints and floats, also negative, also by zero"""
    kind = g.choice.choice(["int", "float"])
    one, other = known(g, kind), known(g, g.choice.choice([kind, "int"]))
    return assign(g, kind, f"{one[0]} // {other[0]}", one[1] and other[1])


@python("scalar.modulo", 0.7)
def _(g: Writer) -> bool:
    """`a % b` of ints and floats, also negative, also by zero"""
    kind = g.choice.choice(["int", "float"])
    one, other = known(g, kind), known(g, g.choice.choice([kind, "int"]))
    return assign(g, kind, f"{one[0]} % {other[0]}", one[1] and other[1])


@python("scalar.divide", 0.7)
def _(g: Writer) -> bool:
    """`a / b` of ints and floats, also by zero"""
    one, other = known(g, g.choice.choice(["int", "float"])), known(g, g.choice.choice(["int", "float"]))
    return assign(g, "float", f"{one[0]} / {other[0]}", one[1] and other[1])


@python("scalar.power", 0.6)
def _(g: Writer) -> bool:
    """`a ** 2`, `u ** n`, `2.0 ** a`"""
    a, u = known(g, "int"), known(g, "float")
    if g.choice.random() < 0.4 and not (g.depth or g.in_helper or g.returns):
        return _typed_as_float(g, f"({a[0]}) ** {g.choice.choice('0123')}", a[1])
    forms = [f"{u[0]} ** 2", f"2.0 ** ({a[0]})", f"abs({u[0]}) ** 0.5", f"1.0 ** {u[0]}"]
    return assign(g, "float", g.choice.choice(forms), False)


@python("scalar.shift", 0.6)
def _(g: Writer) -> bool:
    """`a << 3`, `a >> n`"""
    a, b = known(g, "int")[0], known(g, "int")[0]
    forms = [f"{a} << {g.choice.randrange(6)}", f"{a} >> {g.choice.choice(['0', '1', '62', '63', '70'])}"]
    forms += [f"{a} << ({b} & 7)", f"{a} >> ({b} & 63)", f"{a} >> {b}"]
    return assign(g, "int", g.choice.choice(forms))


@python("scalar.bits", 0.6)
def _(g: Writer) -> bool:
    """`a & b | c ^ 5`"""
    a, b, c = known(g, "int")[0], known(g, "int")[0], literal(g.choice, "int")
    return assign(g, "int", g.choice.choice([f"{a} & {b}", f"{a} | {b} ^ {c}", f"{a} ^ {b}", f"({a} & {c}) | {b}"]))


@python("scalar.augmented_int", 0.8)
def _(g: Writer) -> bool:
    """`c += a`, `c //= 3`, `c <<= 2`, `c &= a`"""
    a = known(g, "int")[0]
    forms = [f"{{0}} += {a}", f"{{0}} -= {a}", "{0} *= 3", "{0} //= 3", "{0} //= -2"]
    forms += ["{0} <<= 2", "{0} >>= 1", f"{{0}} &= {a}", f"{{0}} |= {a}", f"{{0}} ^= {a}"]
    return _augment(g, "int", forms)


@python("scalar.augmented_modulo", 0.6)
def _(g: Writer) -> bool:
    """`c %= 5`, `c **= 2` of an int, which TorchScript types as a float"""
    if g.depth or g.in_helper or g.returns:
        return False
    value, exact = known(g, "int")
    name = g.fresh("r")
    g.emit(f"{name} = {value}")
    g.emit(f"{name} {g.choice.choice(['%= 5', '%= -3', '%= (' + known(g, 'int')[0] + ' | 1)', '**= 2', '**= 3'])}")
    return _typed_as_float(g, name, exact)


@python("scalar.augmented_float", 0.8)
def _(g: Writer) -> bool:
    """`c += u`, `c *= v`, `c %= v`, `c //= 2.0`"""
    u, exact = known(g, "float")
    var = variable(g, "float")
    forms = [
        f"{{0}} += {u}",
        f"{{0}} -= {u}",
        f"{{0}} *= {u}",
        "{0} /= 3.0",
        "{0} //= 2.0",
        "{0} %= 1.5",
        "{0} %= -2.0",
    ]
    g.emit(g.choice.choice([*forms, f"{{0}} %= {u}"]).format(var.text))
    var.exact &= exact
    return True


@python("scalar.mixed_compare", 0.6)
def _(g: Writer) -> bool:
    """`a == u`, `2**53 + 1 == 2.0**53`: an int with a float"""
    a, u = known(g, "int", exact=True)[0], known(g, "float", exact=True)[0]
    operator = g.choice.choice(["==", "!=", "<", "<=", ">", ">="])
    forms = [
        f"{a} {operator} {u}",
        f"{u} {operator} {a}",
        f"{a} {operator} float({a})",
        f"{a} + 1 {operator} {float(2**53)}",
    ]
    return assign(g, "bool", g.choice.choice(forms))


@python("scalar.chain", 0.6)
def _(g: Writer) -> bool:
    """`0 < a <= b < c`"""
    kind = g.choice.choice(["int", "float"])
    a, b, c = (known(g, each, exact=True)[0] for each in (kind, g.choice.choice(["int", "float"]), kind))
    return assign(g, "bool", g.choice.choice([f"{a} < {b} <= {c}", f"{c} > {a} == {b}", f"not {a} <= {b} < {c} != 5"]))


@python("scalar.not_compare", 0.6)
def _(g: Writer) -> bool:
    """`not u > v`, which is not `u <= v` for NaN"""
    u, v = known(g, "float", exact=True)[0], known(g, g.choice.choice(["float", "int"]), exact=True)[0]
    operator = g.choice.choice(["<", "<=", ">", ">=", "==", "!="])
    forms = [f"not {u} {operator} {v}", f"not (not {u} {operator} {v})", f"not ({u} {operator} {v} or {v} > 1)"]
    return assign(g, "bool", g.choice.choice(forms))


@python("scalar.minmax", 0.6)
def _(g: Writer) -> bool:
    """`min(a, b)`, `max(u, v)` with NaN and signed zeros"""
    kind = g.choice.choice(["int", "float", "float"])
    one, other, third = known(g, kind), known(g, kind), literal(g.choice, kind)
    forms = [f"{{0}}({one[0]}, {other[0]})", f"max({third}, {{0}}({one[0]}, {other[0]}))", f"{{0}}({third}, {one[0]})"]
    return assign(g, kind, g.choice.choice(forms).format(g.choice.choice(["min", "max"])), one[1] and other[1])


@python("scalar.round", 0.5)
def _(g: Writer) -> bool:
    """`round(u)`, `math.floor(u)`, `math.ceil(u)`, `int(u)`: an int, or an error for NaN"""
    u, exact = known(g, "float", exact=True)
    if g.choice.random() < 0.5:
        name = g.fresh("c")
        g.emit(f"{name} = {u}")  # what has no int, now and then
        g.emit(f"if not abs({name}) < 1e6:")
        g.emit(f"    {name} = -2.5")
        u = name
    if g.choice.random() < 0.3 and not (g.depth or g.in_helper or g.returns):
        return _typed_as_float(g, f"round({u})", exact)
    return assign(g, "int", f"{g.choice.choice(['math.floor', 'math.ceil', 'int'])}({u})", exact)


@python("scalar.cast", 0.5)
def _(g: Writer) -> bool:
    """`int(flag)`, `float(a)`, `bool(u)`"""
    kind, other = g.choice.choice(
        [("int", "bool"), ("float", "int"), ("float", "bool"), ("bool", "int"), ("bool", "float")]
    )
    value, exact = expression(g, other, 1, exact=True)
    return assign(g, kind, f"{kind}({value})", exact)


@python("scalar.math", 0.7)
def _(g: Writer) -> bool:
    """`math.exp(u)`, `math.log(u)`, `math.sin(u)`: also where Python raises"""
    u, exact = known(g, "float")
    v = known(g, "float")[0]
    name = g.choice.choice(["exp", "log", "sin", "cos", "tanh", "atan", "log1p", "expm1", "sqrt", "acos", "degrees"])
    forms = [f"math.{name}({u})", f"math.{name}(abs({u}))", f"math.atan2({u}, {v})", f"math.pow({u}, 2.0)"]
    forms += [f"math.{name}(min(max({u}, 0.5), 4.0))"] * 3
    return assign(g, "float", g.choice.choice(forms), name == "sqrt" and exact and False)


@python("scalar.exact_math", 0.7)
def _(g: Writer) -> bool:
    """`math.sqrt(u)`, `math.copysign(u, v)`, `math.fmod(u, v)`, `math.gcd(a, b)`"""
    u, v, a, b = known(g, "float"), known(g, "float"), known(g, "int"), known(g, "int")
    exact = u[1] and v[1]
    if g.choice.random() < 0.2:
        return assign(g, "int", f"math.gcd({a[0]}, {b[0]})")
    forms = [
        f"math.sqrt({u[0]})",
        f"math.sqrt(abs({u[0]}))",
        f"math.copysign({u[0]}, {v[0]})",
        f"math.fmod({u[0]}, {v[0]})",
    ]
    return assign(g, "float", g.choice.choice([*forms, f"math.fabs({u[0]})", f"math.copysign(1.0, {u[0]})"]), exact)


@python("scalar.two_sum", 0.6)
def _(g: Writer) -> bool:
    """`s = u + v; e = (u - (s - (s - u))) + (v - (s - u))`: the rounding error of a sum"""
    (u, first), (v, second) = known(g, "float"), known(g, "float")
    total, part, error = g.fresh("c"), g.fresh("c"), g.fresh("c")
    kind = g.choice.randrange(4)
    if kind == 0:
        return assign(g, "float", f"({u} + {v}) - {u}", first and second)
    if kind == 1:
        return assign(g, "float", f"({u} - {v}) + {v}", first and second)
    if kind == 2:
        return assign(g, "float", f"{u} * 0.0 + ({v} - {v})", first and second)
    g.emit(f"{total} = {u} + {v}")
    g.emit(f"{part} = {total} - {u}")
    g.emit(f"{error} = ({u} - ({total} - {part})) + ({v} - {part})")
    for name in (total, error):
        declare(g, name, "float", first and second)
    return True


@python("scalar.kahan", 0.5, nested=True)
def _(g: Writer) -> bool:
    """A compensated sum in a loop"""
    u, exact = known(g, "float")
    total, rest, y, t = (g.fresh("c") for _ in range(4))
    for line in (f"{total}, {rest} = 0.0, 0.0", f"for {g.fresh('i')} in range({g.choice.choice(['n', '4', 'k'])}):"):
        g.emit(line)
    for line in (f"{y} = {u} - {rest}", f"{t} = {total} + {y}", f"{rest} = ({t} - {total}) - {y}", f"{total} = {t}"):
        g.emit("    " + line)
    for name in (total, rest):
        declare(g, name, "float", exact)
    return True


@python("scalar.special", 0.5)
def _(g: Writer) -> bool:
    """`float('nan')`, `math.inf`, `-0.0` in arithmetic"""
    value = g.choice.choice(
        ["float('nan')", "float('inf')", "-float('inf')", "math.inf", "-0.0", "math.nan", "math.pi"]
    )
    u, exact = known(g, "float")
    return assign(g, "float", g.choice.choice(["{0}", "{0} + {1}", "{1} * {0}", "{1} - {0}"]).format(value, u), exact)
