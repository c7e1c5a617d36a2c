"""Functions calling functions, methods calling methods, and the state of modules."""

from __future__ import annotations

from .registry import INGREDIENTS, statement
from .variables import Var
from .writer import Writer

__all__: list[str] = []


def _argument(g: Writer) -> tuple[str, Var] | None:
    """Something to pass: a name or a view."""
    if g.choice.random() < 0.4:
        return g.make_view(lambda view: view.writable)
    var = g.pick(lambda var: var.writable)
    return (var.text, var) if var is not None else None


def _function(g: Writer, kind: str) -> bool:
    """Write a function and a call of it.

    Args:
        g: the caller.
        kind: what the function does: "fresh" returns a new tensor, "view" a view of its argument, "write" writes it,
            "nested" calls another function.
    Returns:
        Whether that was possible.
    """
    depth = g.in_helper
    if depth:
        return False
    first, second = _argument(g), _argument(g)
    if first is None or second is None:
        return False
    name = g.fresh("method" if g.method else "helper")
    text, result = _define(g, name, kind, [first[1], second[1]])
    g.helpers.append(text)
    head = "self." if g.method else ""
    taken = g.fresh("v")
    g.emit(f"{taken} = {head}{name}({first[0]}, {second[0]}, {g.integer()}, {g.integer()})")
    g.declare(taken, result.model, result.roots, is_view=result.is_view, uncertain=True)
    if g.method:
        g.mark("module.method")
    return True


def _define(g: Writer, name: str, kind: str, arguments: list[Var]) -> tuple[str, Var]:
    """Write a function; returns its text and what it returns."""
    inner = Writer(g.choice, features=g.features, counter=g.counter, root_counter=g.root_counter, budget=3)
    inner.in_helper, inner.may_return, inner.method = True, False, g.method
    inner.argument_roots, inner.kinds = g.argument_roots, g.kinds
    inner.regions, inner.integers, inner.helpers = list(g.regions[:1]), ["n", "k"], g.helpers
    for parameter, var in zip("ab", arguments):
        inner.declare(parameter, var.model, var.roots, uncertain=var.uncertain)
    if g.method:
        inner.names.update({text: var for text, var in g.names.items() if text.startswith("self.")})
    if kind == "nested":
        leaf = g.fresh("method" if g.method else "helper")
        text, result = _define(g, leaf, g.choice.choice(["view", "write"]), [inner.names["a"], inner.names["b"]])
        g.helpers.append(text)
        taken = g.fresh("v")
        inner.emit(f"{taken} = {'self.' if g.method else ''}{leaf}(a, b, n, k)")
        inner.declare(taken, result.model, result.roots, is_view=result.is_view, uncertain=True)
    if kind in ("write", "nested"):
        writes = [each for each in INGREDIENTS.values() if each.kind == "write"]
        for _ in range(6):
            if inner.apply(g.choice.choice(writes)):
                break
    inner.body(1, 2)
    returned: Var | None = None
    if kind in ("view", "nested"):
        view = inner.make_view(lambda view: view.is_view)
        if view is not None:
            inner.emit(f"return {view[0]}")
            returned = view[1]
    if returned is None:
        var = inner.names["a"]
        inner.emit(f"return {inner.value(var.shape, var.dtype, exact=True)}")
        returned = Var("", arguments[0].model, inner.root())
    g.features = inner.features
    head = f"def {name}({'self, ' if g.method else ''}a: Tensor, b: Tensor, n: int, k: int):"
    return "\n".join([head, *inner.lines]) + "\n", returned


@statement("call.function", 0.7)
def _(g: Writer) -> bool:
    """`t = helper(x, y, n, k)`"""
    return _function(g, "fresh")


@statement("call.writes", 0.7)
def _(g: Writer) -> bool:
    """A function that writes its argument"""
    return _function(g, "write")


@statement("call.returns_view", 0.7)
def _(g: Writer) -> bool:
    """A function that returns a view of its argument"""
    return _function(g, "view")


@statement("call.nested", 1.5)
def _(g: Writer) -> bool:
    """A function that calls another one"""
    return _function(g, "nested")


@statement("module.buffer_write", 2.0)
def _(g: Writer) -> bool:
    """`self.state[i] += 1`: the module sees it after the call"""
    if not g.method:
        return False
    var = g.names["self.state"]
    forms = ["{0}.add_({1})", "{0}[{2}] += 1.0", "{0} += {1}", "{0}.mul_(0.5)", "{0}[{2}] = {3}"]
    value, row = g.value(var.shape, var.dtype), g.value(var.shape[1:], var.dtype)
    g.note_write(var)
    g.emit(g.choice.choice(forms).format("self.state", value, g.index(var.shape[0]), row))
    return True


@statement("module.buffer_assign", 1.0)
def _(g: Writer) -> bool:
    """`self.other = self.other + 1`: another tensor takes the buffer's place"""
    if not g.method or g.in_helper:
        return False
    var = g.names["self.other"]
    g.emit(f"self.other = {g.value(var.shape, var.dtype, exact=True)}")
    return True


@statement("module.counter", 2.2)
def _(g: Writer) -> bool:
    """`self.count += 1`"""
    if not g.method:
        return False
    g.emit(g.choice.choice(["self.count += 1", "self.count.add_(1)", "self.count.copy_(self.count + 2)"]))
    return True
