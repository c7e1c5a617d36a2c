"""Scalars that are read from tensors and written into them, strings, and scalars of functions and modules."""

from __future__ import annotations

from .expressions import floating, integer, known, text_value
from .python_scope import Scalar, literal
from .registry import python
from .scalars import assign, declare, variable
from .writer import Writer

__all__ = ["add_results", "bounded"]


@python("scalar.float_read", 0.9)
def _(g: Writer) -> bool:
    """`float(x.max())`, `x[0, 1].item()`: a float read from a tensor"""
    var = g.pick(lambda var: var.dtype in ("float32", "float64") and var.model.numel() > 0)
    if var is None:
        return False
    element = var.text + "".join(f"[{g.index(size)}]" for size in var.shape)
    exact = g.python.tensors_exact
    forms = [(f"float({var.text}.{g.choice.choice(['max', 'min'])}())", exact), (f"float({element})", exact)]
    forms += [
        (f"float({element}.item())", exact),
        (f"float({var.text}.sum())", False),
        (f"float({element} * 0.5)", exact),
    ]
    return assign(g, "float", *g.choice.choice(forms))


@python("scalar.int_read", 0.7)
def _(g: Writer) -> bool:
    """`int(z[0])`, `int(z.sum())`, `int((x > 0).sum())`, `bool(z[0])`"""
    var = g.pick(lambda var: var.model.numel() > 0)
    if var is None:
        return False
    element = var.text + "".join(f"[{g.index(size)}]" for size in var.shape)
    if var.dtype == "bool" or g.choice.random() < 0.3:
        return assign(g, "bool", f"bool({element})")
    if var.dtype == "int64":
        return assign(
            g, "int", g.choice.choice([f"int({element})", f"int({var.text}.sum())", f"int({var.text}.max().item())"])
        )
    return assign(g, "int", f"int(({var.text} > {g.threshold(var.dtype)}).sum())")


def bounded(g: Writer) -> str:
    """A float small enough to be written to a tensor of the grammar; it may be NaN."""
    name = g.fresh("c")
    value = floating(g, 1)[0]
    g.emit(f"{name} = {value}")
    g.emit(f"if abs({name}) > 8.0:")
    g.emit(f"    {name} = 0.5")
    g.python.tensors_exact = False
    return name


@python("scalar.to_tensor", 0.8)
def _(g: Writer) -> bool:
    """`x.add_(u)`, `x[0] = u`, `x.mul_(float(a % 3))`: a Python number goes into a tensor"""
    target = g.pick_target(lambda var: var.dtype in ("float32", "float64"))
    if target is None:
        return False
    number = bounded(g) if g.choice.random() < 0.6 else f"({integer(g, 1)[0]} % {g.choice.randrange(2, 5)})"
    g.note_write(target.var)
    forms = ["{0}.add_({1})", "{0}.fill_({1})", "{0}.sub_({1}, alpha=2)"]
    if target.shape:
        forms.append("{0}[0] = {1}")
    if target.var.rebindable:
        forms.append("{0} += {1}")
    g.emit(g.choice.choice(forms).format(target.text, number))
    return True


@python("scalar.item", 0.5)
def _(g: Writer) -> bool:
    """`x[0] = z[1].item()`, `x.fill_(flags[0].item())`: a number of whatever type the tensor's elements are"""
    target = g.pick_target(lambda var: var.dtype != "bool")
    if target is None:
        return False
    floats = target.dtype in ("float32", "float64")
    read = g.pick(lambda var: var.model.numel() > 0 and (floats or var.dtype in ("int64", "bool")))
    if read is None:
        return False
    clamped = read.text if read.dtype == "bool" else f"{read.text}.clamp(-8, 8)"
    item = clamped + "".join(f"[{g.index(size)}]" for size in read.shape) + ".item()"
    g.note_write(target.var)
    forms = ["{0}.fill_({1})", "{0}.copy_(torch.tensor({1}))"]
    if target.shape:
        forms += ["{0}[0] = {1}", "{0}[-1] = {1} * 1"]
    g.emit(g.choice.choice(forms).format(target.text, item))
    return True


@python("scalar.bool_to_tensor", 0.5)
def _(g: Writer) -> bool:
    """`z[0] = a > 2`, `x[1:] = flag`: a bool goes into a tensor of any dtype"""
    target = g.pick_target(lambda var: len(var.shape) > 0)
    if target is None:
        return False
    g.note_write(target.var)
    flag = g.choice.choice([known(g, "bool")[0], f"{known(g, 'int')[0]} > 0", f"not {known(g, 'int')[0]}"])
    place = g.choice.choice(["0", "-1", "1:"])
    g.emit(f"{target.text}[{place}] = {flag}")
    return True


@python("scalar.new_tensor", 0.7)
def _(g: Writer) -> bool:
    """`torch.tensor(a)`, `torch.full([2], u)`, `x * u`: results of any value"""
    if g.depth or g.in_helper:
        return False
    u, a, name = known(g, "float")[0], known(g, "int")[0], g.fresh("t")
    x = g.pick(lambda var: var.dtype in ("float32", "float64") and var.is_view is False)
    forms = [f"torch.tensor({a})", f"torch.full([2], {u}, dtype=torch.float64)", f"torch.tensor([{a}, 1])"]
    forms += [f"torch.tensor({u}, dtype=torch.float64)", f"torch.full([3], {a})", f"torch.tensor({u})"]
    if x is not None:
        forms += [
            f"{x.text}.double() * {u}",
            f"{x.text}.double().clamp(max={u})",
            f"torch.where({x.text} > {u}, 1.0, 2.0)",
        ]
    g.emit(f"{name} = {g.choice.choice(forms)}")
    g.python.results.append((f"{name}.double()", "torch.zeros([], dtype=torch.float64)", True))
    return True


@python("scalar.swap", 0.5)
def _(g: Writer) -> bool:
    """`a, b = b, a + b`"""
    kind = g.choice.choice(["int", "float"])
    one, other = variable(g, kind), variable(g, kind)
    if one is other:
        return False
    value, exact = known(g, kind)
    g.emit(f"{one.text}, {other.text} = {other.text}, {one.text} - {value}")
    one.exact = other.exact = one.exact and other.exact and exact
    return True


@python("scalar.function", 0.5)
def _(g: Writer) -> bool:
    """A function of numbers that returns a tuple, with a return in a branch"""
    if g.in_helper:
        return False
    name, first, second = g.fresh("number"), g.fresh("c"), g.fresh("c")
    a, u = known(g, "int"), known(g, "float", exact=True)
    head = "self, " if g.method else ""
    body = g.choice.choice(["a % 7", "a // 3", "a - 1", "abs(a)"])
    g.helpers.append(
        f"def {name}({head}a: int, u: float):\n    if u > {g.choice.choice(['0.0', '1.5', 'a'])}:\n"
        f"        return a, u * 0.5\n    return {body}, u {g.choice.choice(['+ 1.0', '% 2.0', '- a'])}\n"
    )
    g.emit(f"{first}, {second} = {'self.' if g.method else ''}{name}({a[0]}, {u[0]})")
    declare(g, first, "int", a[1])
    declare(g, second, "float", a[1] and u[1])
    return True


@python("module.number", 1.2)
def _(g: Writer) -> bool:
    """`self.steps += 1`, `self.rate *= 0.5`: numbers that a module keeps"""
    if not g.method:
        return False
    scope = g.python
    if not scope.attributes:
        scope.attributes += ["self.steps = 0", "self.rate = 0.5"]
    forms = ["self.steps += 1", "self.steps = self.steps * 2 + 1", "self.rate *= 0.5", "self.rate = 1.0 - self.rate"]
    g.emit(g.choice.choice(forms))
    if g.choice.random() < 0.5:
        return assign(g, *g.choice.choice([("int", "self.steps + 1"), ("float", "self.rate * 2.0")]))
    return True


@python("string.value", 0.5)
def _(g: Writer) -> bool:
    """`s + 'b'`, `s[1:]`, `s[::-1]`, `s.upper()`"""
    if g.depth or g.loops:
        return False  # a string that depends on control flow is rejected
    return (
        assign(g, "str", *text_value(g)) if g.choice.random() < 0.8 else assign(g, "int", f"len({known(g, 'str')[0]})")
    )


@python("string.compare", 0.5)
def _(g: Writer) -> bool:
    """`s == 'a'`, `s < t`, `'a' in s`, `s.startswith('h')`"""
    one, other = known(g, "str")[0], literal(g.choice, "str")
    operator = g.choice.choice(["==", "!=", "<", ">=", ">", "<="])
    forms = [
        f"{one} {operator} {other}",
        f"{other} {operator} {one}",
        f"{other} in {one}",
        f"{one}.startswith({other})",
    ]
    return assign(g, "bool", g.choice.choice(forms))


@python("string.message", 0.5)
def _(g: Writer) -> bool:
    """`raise ValueError(f'{a} and {u}')`"""
    value = known(g, g.choice.choice(["int", "str", "float"]))[0]
    kind = g.choice.choice(["ValueError", "RuntimeError", "IndexError"])
    g.emit(f"if {g.integer()} {g.choice.choice(['> 4', '== 3', '< 0'])}:")
    quoted = value if "'" not in value and "+" not in value else "n"
    g.emit(f"    raise {kind}(f'not {{{quoted}}} so')")
    return True


def _result_names(g: Writer) -> list[Scalar]:
    return [each for each in g.python.scalars if each.rebindable]


def add_results(g: Writer) -> None:
    """Choose what the program returns of its scalars."""
    from .python_scope import zero

    found = _result_names(g)
    for each in g.choice.sample(found, min(len(found), 4)):
        if each.kind != "str":
            g.python.results.append((each.text, zero(each.kind), each.exact))
