"""Names that are one of several tensors: chosen by branches, replaced by loops, swapped."""

from __future__ import annotations

from .registry import INGREDIENTS, statement
from .variables import Var
from .writer import Writer

__all__: list[str] = []


def _pair(g: Writer) -> tuple[tuple[str, Var], tuple[str, Var]] | None:
    """Two views of one shape and dtype, of different tensors if possible."""
    for _ in range(6):
        first = g.make_view(lambda view: view.is_view and view.writable)
        if first is None:
            return None
        for _ in range(3):
            second = g.make_view(lambda view: view.is_view and view.writable, first[1].shape, first[1].dtype)
            if second is not None and second[0] != first[0]:
                return first, second
    return None


def _chosen(g: Writer, name: str, one: Var, other: Var) -> Var:
    """The name of one of two views."""
    uncertain = one.uncertain or other.uncertain or one.model.stride() != other.model.stride()
    return g.declare(name, one.model, one.roots | other.roots, is_view=True, uncertain=uncertain)


def _write_through(g: Writer, var: Var) -> None:
    """A write to a given tensor."""
    writes = [each for each in INGREDIENTS.values() if each.kind == "write"]
    from .variables import Target

    for _ in range(8):
        text = g.choice.choice(writes).build(g, Target(var.text, var))
        if text is not None:
            g.note_write(var)
            for line in text.split("\n"):
                g.emit(line)
            return


@statement("name.branch_view", 1.0)
def _(g: Writer) -> bool:
    """`v = x[0] if c else y[1]`, then a write through v"""
    pair = _pair(g)
    if pair is None:
        return False
    (one, view), (other, second) = pair
    name = g.fresh("v")
    condition = g.data_condition() if g.choice.random() < 0.25 else g.condition()
    if g.choice.random() < 0.4:
        g.emit(f"{name} = {one} if {condition} else {other}")
    else:
        g.emit(f"if {condition}:")
        g.emit(f"    {name} = {one}")
        g.emit("else:")
        g.emit(f"    {name} = {other}")
    _write_through(g, _chosen(g, name, view, second))
    return True


@statement("name.nested_branch_view", 0.6)
def _(g: Writer) -> bool:
    """The same with three views and two conditions"""
    pair = _pair(g)
    if pair is None:
        return False
    (one, view), (other, second) = pair
    third = g.make_view(lambda each: each.is_view and each.writable, view.shape, view.dtype) or pair[0]
    name = g.fresh("v")
    g.emit(f"if {g.condition()}:")
    g.emit(f"    {name} = {one}")
    g.emit("else:")
    g.emit(f"    {name} = {other}")
    g.emit(f"    if {g.condition()}:")
    g.emit(f"        {name} = {third[0]}")
    chosen = _chosen(g, name, view, second)
    chosen.roots |= third[1].roots
    chosen.uncertain = chosen.uncertain or third[1].uncertain or third[1].model.stride() != chosen.model.stride()
    _write_through(g, chosen)
    return True


@statement("name.loop_view", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`row = x[0]`, and at the end of an iteration `row = x[i + 1]`"""
    base = g.pick(lambda var: var.writable and len(var.shape) >= 1 and var.shape[0] > 1)
    if base is None:
        return False
    size = base.shape[0]
    row, counter = g.fresh("v"), g.fresh("i")
    g.emit(f"{row} = {base.text}[{g.choice.choice(['0', '-1', g.dynamic_index(size)])}]")
    var = g.declare(row, base.model[0], base.roots, is_view=True, uncertain=base.uncertain)
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '3'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        if g.choice.random() < 0.8:
            _write_through(g, var)
        if g.choice.random() < 0.6:
            g.body(1, 2)
        g.emit(f"{row} = {base.text}[({counter} + 1) % {size}]")
    if g.choice.random() < 0.7:
        _write_through(g, var)
    return True


@statement("name.rebind", 1.0)
def _(g: Writer) -> bool:
    """`v = x[1]` where v is a name already, often of an outer region"""
    old = g.pick(lambda var: var.rebindable and var.writable)
    if old is None:
        return False
    made = g.make_view(lambda view: view.writable and view.text != old.text, old.shape, old.dtype)
    # In a loop an earlier statement may have read a source that the new meaning of the name overlaps.
    if made is None or (g.loops and g.sharp and not made[1].roots <= old.roots) or old.text in made[0].split("."):
        return False
    g.emit(f"{old.text} = {made[0]}")
    old.roots |= made[1].roots
    old.uncertain = old.uncertain or made[1].uncertain or old.model.stride() != made[1].model.stride()
    old.is_view = True
    return True


@statement("name.swap", 1.0, nested=True)
def _(g: Writer) -> bool:
    """`x, y = y, x` in a loop, then `x[i] = ...`"""
    one = g.pick(lambda var: var.rebindable and var.writable)
    if one is None:
        return False
    other = g.pick(
        lambda var: (
            var.rebindable
            and var.writable
            and var is not one
            and var.shape == one.shape
            and var.dtype == one.dtype
            and not var.roots & one.roots
        )
    )
    if other is None:
        name = g.fresh("t")
        g.emit(f"{name} = {g.value(one.shape, one.dtype, exact=True)}")
        other = g.declare_fresh(name, one.shape, one.dtype)
    if g.sharp:
        return False
    counter = g.fresh("i")
    roots = one.roots | other.roots
    one.roots, other.roots = set(roots), set(roots)
    one.uncertain = other.uncertain = True
    g.emit(f"for {counter} in range({g.choice.choice(['n', 'k', '3'])}):")
    with g.region(loop=True):
        g.integers.append(counter)
        g.emit(f"{one.text}, {other.text} = {other.text}, {one.text}")
        _write_through(g, g.choice.choice([one, other]))
        if g.choice.random() < 0.5:
            g.body(1, 2)
    return True
