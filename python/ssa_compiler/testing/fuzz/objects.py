"""Records, which are dicts of values of several types, and objects of the program's own classes: made, changed in
branches and loops, aliased, passed on, kept by a module, returned.
"""

from __future__ import annotations

from .expressions import boolean, integer, known
from .registry import untyped
from .scalars import assign, declare
from .untyped import may_return_values, returned
from .variables import Var
from .writer import Writer

__all__: list[str] = []


def _floats(g: Writer) -> Var | None:
    return g.pick(lambda var: var.dtype == "float32" and len(var.shape) > 0)


def _held(g: Writer, text: str, shape: tuple[int, ...], is_view: bool = False) -> None:
    """Let other ingredients view and write a tensor that a record or object holds."""
    var = g.declare_fresh(text, shape, "float32")
    var.rebindable, var.uncertain, var.is_view = False, True, is_view


@untyped("record.make", nested=True)
def _(g: Writer) -> bool:
    """`r = {"loss": t, "n": 0}`, then `r["n"] += 1` and `r["loss"] = ...` in a branch or loop"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    name, counter = g.fresh("r"), g.fresh("i")
    value, exact = known(g, "float")
    g.emit(
        f"{name} = {{'loss': {g.value(var.shape, 'float32', exact=True)}, 'n': {integer(g, 1)[0]}, 'rate': {value}}}"
    )
    loop = g.choice.random() < 0.5
    head = f"for {counter} in range({g.choice.choice(['n', 'k', '3'])}):"
    g.emit(head if loop else f"if {g.choice.choice([g.condition(), boolean(g, 1)[0]])}:")
    with g.region(loop=loop):
        forms = ["['n'] += 1", "['rate'] = {0}['rate'] * 0.5", "['loss'] = {0}['loss'] * 0.5", "['loss'].add_(1.0)"]
        forms += [f"['loss'][{g.index(var.shape[0])}] = 2.0", "['n'] = {0}['n'] * 2 - 1"]
        for form in g.choice.sample(forms, 2):
            g.emit(name + form.format(name))
        if g.choice.random() < 0.4:
            g.body(1, 1)
    _held(g, f"{name}['loss']", var.shape)
    declare(g, f"{name}['n']", "int").rebindable = False
    if g.choice.random() < 0.5:
        other = g.fresh("r")
        g.emit(f"{other} = {g.choice.choice([name, f'dict({name})', f'{name}.copy()'])}")
        g.emit(f"{other}['n'] = {other}['n'] - 3")
    if g.choice.random() < 0.3:
        g.emit(f"{name}.update({g.choice.choice(['n=4', 'rate=0.25', 'extra=n'])})")
    returned(g, name, exact)
    return True


@untyped("record.list", nested=True)
def _(g: Writer) -> bool:
    """`[{"t": x[i], "n": i} for i in range(2)]`, changed by a loop"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    name, each, counter = g.fresh("rs"), g.fresh("e"), g.fresh("i")
    element = f"{var.text}[{counter} % {var.shape[0]}]"
    g.emit(f"{name} = [{{'t': {element} * 1.0, 'n': {counter} + n}} for {counter} in range({g.choice.choice('23')})]")
    g.emit(f"for {each} in {name}:")
    with g.region(loop=True):
        forms = ["['n'] += k", "['t'] = {0}['t'] + {0}['n'] % 3", "['t'].mul_(0.5)", "['n'] = -{0}['n']"]
        for form in g.choice.sample(forms, 2):
            g.emit(each + form.format(each))
    kind = g.choice.randrange(3)
    if kind == 0:
        joined = g.fresh("t")
        g.emit(f"{joined} = torch.stack([r['t'] for r in {name}])")
        returned(g, joined)
    elif kind == 1:
        assign(g, "int", f"sum(r['n'] for r in {name})")
    else:
        returned(g, name)
    return True


@untyped("record.options")
def _(g: Writer) -> bool:
    """`f(x, **options)`, `options.get("rate", 1.0)`"""
    var = _floats(g)
    if var is None or g.in_helper:
        return False
    function, name, result = g.fresh("optional"), g.fresh("o"), g.fresh("t")
    g.globals.append(
        f"def {function}(a, rate=1.0, times=1, bias=None):\n    for _ in range(times):\n        a = a * rate\n"
        "    if bias is not None:\n        a = a + bias\n    return a.clamp(-9.0, 9.0)\n"
    )
    pairs = {"'rate'": g.choice.choice(["0.5", "-1.0"]), "'times'": g.choice.choice(["2", "n % 3", "k % 2"])}
    pairs["'bias'"] = g.value(var.shape, "float32", exact=True)
    chosen = g.choice.sample(sorted(pairs), g.choice.randint(1, 3))
    g.emit(f"{name} = {{{', '.join(f'{key}: {pairs[key]}' for key in chosen)}}}")
    g.emit(f"{result} = {function}({var.text}, **{name})")
    g.declare_fresh(result, var.shape, "float32").uncertain = True
    if g.choice.random() < 0.5:
        return assign(g, "float", f"{name}.get('rate', {g.choice.choice(['2.0', '0.25'])}) * 2.0")
    return True


def _class(g: Writer, *, last: str = "None") -> str:
    """Write a class of a running sum.

    Args:
        g: the writer.
        last: the value that was added last, before there is one. Where a module keeps the object, a tensor for None
            would be another program.
    Returns:
        Its name.
    """
    name = g.fresh("Running")
    decay = g.choice.choice(["0.5", "1.0", "-1.0"])
    g.globals.append(
        f"class {name}:\n    def __init__(self, value, count=0):\n        self.value = value\n        self.count = count\n"
        f"        self.last = {last}\n\n"
        f"    def update(self, value, step=1):\n        if step > {g.choice.choice('01')}:\n"
        f"            self.value = (self.value * {decay} + value).clamp(-9.0, 9.0)\n            self.last = value\n"
        "        self.count += step\n        return self.value\n\n"
        "    def add_(self, value):\n        self.value += value\n        self.count *= 2\n        return self\n\n"
        "    @property\n    def doubled(self):\n        return self.count * 2 + 1\n"
    )
    return name


def _use(g: Writer, name: str, shape: tuple[int, ...]) -> None:
    """Call methods of an object."""
    for _ in range(g.choice.randint(1, 2)):
        value = g.value(shape, "float32", exact=True)
        forms = [
            f"{name}.update({value}, {g.choice.choice(['n % 3', '2', 'k'])})",
            f"{name}.add_({g.number('float32')})",
        ]
        forms += [f"{name}.value[{g.index(shape[0])}] = 1.5", f"{name}.count -= 1"]
        g.emit(g.choice.choice(forms))


@untyped("object.make", nested=True)
def _(g: Writer) -> bool:
    """`c = Running(x * 1.0)`, then `c.update(y, n % 3)` in a branch or loop"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    kind, name, counter = _class(g), g.fresh("o"), g.fresh("i")
    count = g.choice.choice(["", ", n", ", count=3"])
    g.emit(f"{name} = {kind}({g.value(var.shape, 'float32', exact=True)}{count})")
    _use(g, name, var.shape)
    loop = g.choice.random() < 0.5
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '2'])}):" if loop else f"if {g.condition()}:")
    with g.region(loop=loop):
        _use(g, name, var.shape)
    _held(g, f"{name}.value", var.shape)
    declare(g, f"{name}.count", "int").rebindable = False
    assign(g, "int", f"{name}.doubled")
    if g.choice.random() < 0.4:
        returned(g, f"{name}.last")
    returned(g, f"{name}.value")
    return True


@untyped("object.list", nested=True)
def _(g: Writer) -> bool:
    """A list of objects, chosen by position and changed in a loop"""
    var = _floats(g)
    if var is None or not may_return_values(g):
        return False
    kind, name, each = _class(g), g.fresh("os"), g.fresh("e")
    values = [g.value(var.shape, "float32", exact=True) for _ in range(2)]
    g.emit(f"{name} = [{', '.join(f'{kind}({value})' for value in values)}]")
    index = g.fresh("i")
    g.emit(f"for {index}, {each} in enumerate({name}):")
    g.emit(f"    {each}.update({g.value(var.shape, 'float32', exact=True)}, {index} + n)")
    if g.choice.random() < 0.5:
        g.emit(f"{name}[0], {name}[1] = {name}[1], {name}[0]")
        g.emit(f"{name}[0].count += 5")
    assign(g, "int", f"{name}[0].count - {name}[-1].count")
    returned(g, f"{name}[{g.choice.choice(['0', '1', '-1'])}].value")
    return True


@untyped("object.state", nested=True)
def _(g: Writer) -> bool:
    """`self.running.update(x, n % 2)`: an object that a module keeps"""
    if not g.method or g.in_helper:
        return False
    shape = g.names["self.state"].shape
    kept = [line.partition(" = ")[0] for line in g.python.attributes if "Running" in line]
    if not kept:
        kept = [f"self.{g.fresh('running')}"]
        g.python.attributes.append(f"{kept[0]} = {_class(g, last='value * 1')}(torch.ones({list(shape)}))")
    name = kept[0]
    if g.choice.random() < 0.5:
        g.emit(f"if {g.condition()}:")
        with g.region():
            _use(g, name, shape)
    else:
        _use(g, name, shape)
    declare(g, f"{name}.count", "int").rebindable = False
    return True


@untyped("object.dataclass")
def _(g: Writer) -> bool:
    """A dataclass or NamedTuple that the program makes and reads"""
    var = _floats(g)
    if var is None or g.in_helper:
        return False
    kind, name = g.fresh("Pair"), g.fresh("o")
    if g.choice.random() < 0.5:
        g.globals.append(f"@dataclass\nclass {kind}:\n    first: Tensor\n    number: int = 2\n")
    else:
        g.globals.append(f"class {kind}(NamedTuple):\n    first: Tensor\n    number: int = 2\n")
    number = g.choice.choice(["", f", {integer(g, 1)[0]}", ", number=n"])
    g.emit(f"{name} = {kind}({g.value(var.shape, 'float32', exact=True)}{number})")
    result = g.fresh("t")
    g.emit(f"{result} = ({name}.first + {name}.number % 5).clamp(-9.0, 9.0)")
    g.declare_fresh(result, var.shape, "float32").uncertain = True
    return assign(g, "int", f"{name}.number * 3")
