"""Control flow: branches on every kind of condition, loops with every kind of bound, remedies of them, and errors."""

from __future__ import annotations

from .registry import statement
from .writer import Writer

__all__: list[str] = []


def _branch(g: Writer, condition: str) -> bool:
    """`if`, often with `else` or `elif`."""
    g.emit(f"if {condition}:")
    with g.region():
        g.body()
    if g.choice.random() < 0.15:
        g.emit(f"elif {g.condition()}:")
        with g.region():
            g.body(1, 2)
    if g.choice.random() < 0.5:
        g.emit("else:")
        with g.region():
            g.body(1, 2)
    return True


@statement("if.int", 1.5, nested=True)
def _(g: Writer) -> bool:
    """`if n > 2:`"""
    return _branch(g, g.condition())


@statement("if.bool", nested=True)
def _(g: Writer) -> bool:
    """`if flag:` with a bool argument"""
    if g.in_helper:
        return False
    g.extra["flag"] = "bool"
    return _branch(g, g.choice.choice(["flag", "not flag", f"flag and {g.condition()}"]))


@statement("if.data", 1.5, nested=True)
def _(g: Writer) -> bool:
    """`if bool(x.sum() > 1):`"""
    return _branch(g, g.data_condition())


@statement("if.none", nested=True)
def _(g: Writer) -> bool:
    """`if o is not None:` with an optional tensor argument"""
    if g.in_helper:
        return False
    g.extra["o"] = "Optional[Tensor]"
    g.emit("if o is not None:")
    with g.region():
        target = g.pick_target(lambda var: var.dtype == "float32" and var.writable)
        if target is not None:
            g.note_write(target.var)
            g.emit(f"{target.text}.add_(o)")
        g.body(1, 2)
    return True


@statement("if.string", nested=True)
def _(g: Writer) -> bool:
    """`if mode == 'a':`"""
    if g.in_helper:
        return False
    g.extra["mode"] = "str"
    return _branch(g, g.choice.choice(["mode == 'a'", "mode != 'a'", f"mode == 'b' or {g.condition()}"]))


def _for(g: Writer, bound: str) -> bool:
    """A loop with a counter; now and then with a remedy."""
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({bound}):")
    with g.region(loop=True):
        g.integers += [counter, counter]
        g.body()
    return True


@statement("for.constant", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`for i in range(3):`"""
    return _for(g, g.choice.choice(["2", "3", "1, 3", "0, 4, 2"]))


@statement("for.argument", 2.0, nested=True)
def _(g: Writer) -> bool:
    """`for i in range(n):`"""
    return _for(g, g.choice.choice(["n", "k", "n - 1", "min(n, 3)", "k % 3"]))


@statement("for.outer", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`for j in range(i, 3):` inside a loop over i"""
    if g.depth >= 2:
        return False
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({g.choice.choice(['n', '3'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        if g.choice.random() < 0.5:
            g.body(1, 1)
        _for(g, g.choice.choice([f"{counter}", f"{counter}, 3", f"{counter} + 1"]))
    return True


@statement("while.condition", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`while i < n and x.sum() < 3:`"""
    counter = g.fresh("w")
    condition = f"{counter} < {g.choice.choice(['n', '3', 'k'])}"
    if g.choice.random() < 0.5:
        condition += f" and {g.data_condition()}"
    g.emit(f"{counter} = 0")
    g.emit(f"while {condition}:")
    with g.region(loop=True):
        g.emit(f"{counter} += 1")
        g.integers.append(counter)
        g.body()
    return True


@statement("while.true", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`while True:` with a break"""
    counter = g.fresh("w")
    g.emit(f"{counter} = 0")
    g.emit("while True:")
    with g.region(loop=True):
        g.emit(f"if {counter} >= {g.choice.choice(['n', '2', 'k'])}:")
        g.emit("    break")
        g.emit(f"{counter} += 1")
        g.integers.append(counter)
        g.body()
    return True


def _leave(g: Writer, way: str) -> bool:
    """A remedy of a loop under a condition; a new loop around it where there is none."""
    condition = g.data_condition() if g.choice.random() < 0.25 else g.condition()
    if g.loops:
        g.emit(f"if {condition}:")
        g.emit(f"    {way}")
        return True
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({g.choice.choice(['n', '4', 'k'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        g.body(1, 2)
        g.emit(f"if {g.condition() if g.choice.random() < 0.7 else g.data_condition()}:")
        g.emit(f"    {way}")
        g.body(1, 2)
    return True


@statement("loop.break", nested=True)
def _(g: Writer) -> bool:
    """`if c: break`"""
    return _leave(g, "break")


@statement("loop.continue", 1.5, nested=True)
def _(g: Writer) -> bool:
    """`if c: continue`"""
    return _leave(g, "continue")


def _return(g: Writer) -> None:
    """A return whose values are written when the program's results are known."""
    mark = f"@return{len(g.returns)}@"
    g.returns.append((mark, g.depth, dict(g.names)))
    g.emit(mark)


@statement("return.branch", 0.5, nested=True)
def _(g: Writer) -> bool:
    """`if c: return ...`"""
    if g.in_helper or not g.may_return or g.loops:
        return False
    g.emit(f"if {g.data_condition() if g.choice.random() < 0.3 else g.condition()}:")
    with g.region():
        g.body(1, 2)
        _return(g)
    return True


@statement("return.loop", 0.5, nested=True)
def _(g: Writer) -> bool:
    """`for ...: if c: return ...`"""
    if g.in_helper or not g.may_return or g.depth >= 2:
        return False
    counter = g.fresh("i")
    g.emit(f"for {counter} in range({g.choice.choice(['n', '3'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        g.body(1, 2)
        g.emit(f"if {g.data_condition() if g.choice.random() < 0.4 else g.condition()}:")
        with g.region():
            _return(g)
    return True


@statement("error.assert", 0.8)
def _(g: Writer) -> bool:
    """`assert n < 4, 'message'`"""
    condition = g.choice.choice([f"{g.integer()} < 4", f"{g.integer()} != 3", "n >= 0", g.data_condition()])
    g.emit(f"assert {condition}, 'not so'")
    return True


@statement("error.raise", 0.5)
def _(g: Writer) -> bool:
    """`if n > 4: raise ValueError('message')`"""
    g.emit(f"if {g.integer()} {g.choice.choice(['> 4', '== 3', '< 0'])}:")
    g.emit(f"    raise {g.choice.choice(['ValueError', 'RuntimeError', 'IndexError'])}('not so')")
    return True


@statement("error.index", 0.4)
def _(g: Writer) -> bool:
    """`x[n] = 1` where n may be out of range"""
    var = g.pick(lambda var: var.writable and len(var.shape) >= 1 and var.dtype in ("float32", "int64", "float64"))
    if var is None:
        return False
    g.note_write(var)
    g.emit(f"{var.text}[{g.choice.choice(['n', 'k', 'n - 1', '-n - 1'])}] = {g.number(var.dtype)}")
    return True


@statement("error.expanded", 0.4)
def _(g: Writer) -> bool:
    """A write through an expanded view, which eager rejects, or allows because all get the same number"""
    var = g.pick(lambda var: var.writable and len(var.shape) <= 2 and var.dtype in ("float32", "float64"))
    if var is None:
        return False
    name = g.fresh("e")
    g.emit(f"if {g.condition()}:")
    g.emit(f"    {name} = {var.text}.expand({[2, *var.shape]})")
    g.emit(f"    {name}.{g.choice.choice(['add_(1.0)', 'mul_(0.5)', 'fill_(1.0)', 'zero_()', 'neg_()'])}")
    return True
