"""Lists, tuples and dicts of tensors."""

from __future__ import annotations

from .registry import statement
from .variables import Target, Var
from .writer import Writer

__all__: list[str] = []


def _elements(g: Writer, *, views: bool) -> tuple[list[str], Var, set[int]] | None:
    """Expressions of two or three tensors of one shape, a model of them, and where they may live."""
    if views:
        first = g.make_view(lambda view: view.is_view and view.writable)
        if first is None:
            return None
        found = [first]
        for _ in range(2):
            other = g.make_view(lambda view: view.is_view and view.writable, first[1].shape, first[1].dtype)
            if other is not None:
                found.append(other)
        roots = set().union(*(view.roots for _, view in found))
        return [text for text, _ in found], first[1], roots
    var = g.pick(lambda var: len(var.shape) <= 2)
    if var is None:
        return None
    texts = [g.value(var.shape, var.dtype, exact=True) for _ in range(g.choice.randint(2, 3))]
    return texts, var, g.root()


def _write_to(g: Writer, text: str, like: Var, roots: set[int]) -> None:
    """A write to an element."""
    var = Var(text, like.model, roots, uncertain=True, rebindable=False)
    if like.dtype == "bool":
        g.emit(f"{text}.logical_not_()")
        return
    number = g.number(like.dtype)
    choices = [f"{text}.add_({g.source(Target(text, var))})", f"{text}.neg_()", f"{text}.fill_({number})"]
    if like.shape:
        choices.append(f"{text}[0] = {number}")
    g.emit(g.choice.choice(choices))


def _finish(g: Writer, name: str, like: Var, roots: set[int], length: int) -> None:
    """Use a list: stack, concatenate, iterate, or return it."""
    kinds = ["stack", "sum", "element"]
    if like.shape:
        kinds.append("cat")
    if g.depth == 0 and not g.in_helper:
        kinds.append("return")
    kind = g.choice.choice(kinds)
    if kind == "return":
        g.extra[f"@list {name}"] = name
        g.mark("list.returned")
    elif kind == "element":
        element = g.fresh("v")
        g.emit(f"{element} = {name}[{g.choice.choice(['0', '-1', str(length - 1)])}]")
        g.declare(element, like.model, roots, is_view=True, uncertain=True)
    elif kind == "sum":
        total, each = g.fresh("t"), g.fresh("e")
        g.emit(
            f"{total} = torch.zeros({list(like.shape)}, dtype=torch.{'int64' if like.dtype == 'bool' else like.dtype})"
        )
        g.emit(f"for {each} in {name}:")
        g.emit(f"    {total} = {total} + {each}")
        g.declare_fresh(total, like.shape, "int64" if like.dtype == "bool" else like.dtype).uncertain = True
        g.mark("list.iterate")
    else:
        joined = g.fresh("t")
        g.emit(f"{joined} = torch.{kind}({name})")
        g.mark(f"list.{kind}")
        first = like.shape[0] * length if kind == "cat" else length
        shape = (first, *like.shape[1:]) if kind == "cat" else (length, *like.shape)
        if len(shape) <= 3:
            g.declare_fresh(joined, shape, like.dtype)


def _make(g: Writer, *, views: bool) -> tuple[str, Var, set[int], int] | None:
    made = _elements(g, views=views)
    if made is None:
        return None
    texts, like, roots = made
    name = g.fresh("l")
    g.emit(f"{name} = [{', '.join(texts)}]")
    return name, like, roots, len(texts)


@statement("list.write_element", 0.7)
def _(g: Writer) -> bool:
    """`l = [a, b]`, then `l[0].add_(1)`"""
    made = _make(g, views=False)
    if made is None:
        return False
    name, like, roots, length = made
    _write_to(g, f"{name}[{g.choice.randrange(-length, length)}]", like, roots)
    _finish(g, name, like, roots, length)
    return True


@statement("list.views", 0.7)
def _(g: Writer) -> bool:
    """`l = [x[0], x[1]]`, `x.unbind()`: writes to elements change x"""
    made = _make(g, views=True)
    if made is None:
        return False
    name, like, roots, length = made
    _write_to(g, f"{name}[{g.choice.randrange(length)}]", like, roots)
    if g.choice.random() < 0.5:
        g.body(1, 1)
    _finish(g, name, like, roots, length)
    return True


@statement("list.append", 0.7)
def _(g: Writer) -> bool:
    """`l.append(t)`"""
    made = _make(g, views=g.choice.random() < 0.3)
    if made is None:
        return False
    name, like, roots, length = made
    g.emit(f"{name}.append({g.value(like.shape, like.dtype, exact=True)})")
    if g.choice.random() < 0.4:
        _write_to(g, f"{name}[-1]", like, roots | g.root())
    _finish(g, name, like, roots, length + 1)
    return True


@statement("list.insert", 0.5)
def _(g: Writer) -> bool:
    """`l.insert(0, t)`"""
    made = _make(g, views=g.choice.random() < 0.3)
    if made is None:
        return False
    name, like, roots, length = made
    g.emit(f"{name}.insert({g.choice.randint(0, length)}, {g.value(like.shape, like.dtype, exact=True)})")
    _finish(g, name, like, roots, length + 1)
    return True


@statement("list.pop", 0.9)
def _(g: Writer) -> bool:
    """`t = l.pop()`, `l.pop(0)`"""
    made = _make(g, views=g.choice.random() < 0.5)
    if made is None:
        return False
    name, like, roots, length = made
    if length < 2:
        g.emit(f"{name}.append({g.value(like.shape, like.dtype, exact=True)})")
        length += 1
    taken = g.fresh("v")
    g.emit(f"{taken} = {name}.pop({g.choice.choice(['', '0', '-1'])})")
    g.declare(taken, like.model, roots, is_view=True, uncertain=True)
    if g.choice.random() < 0.5:
        _write_to(g, taken, like, roots)
    _finish(g, name, like, roots, length - 1)
    return True


@statement("list.setitem", 0.6)
def _(g: Writer) -> bool:
    """`l[0] = t`"""
    made = _make(g, views=g.choice.random() < 0.5)
    if made is None:
        return False
    name, like, roots, length = made
    g.emit(f"{name}[{g.choice.randrange(-length, length)}] = {g.value(like.shape, like.dtype, exact=True)}")
    _finish(g, name, like, roots, length)
    return True


@statement("list.iterate", 0.6, nested=True)
def _(g: Writer) -> bool:
    """`for t in l: t.mul_(2)`"""
    made = _make(g, views=g.choice.random() < 0.6)
    if made is None:
        return False
    name, like, roots, length = made
    each = g.fresh("e")
    g.emit(f"for {each} in {name}:")
    with g.region(loop=True):
        _write_to(g, each, like, roots)
    _finish(g, name, like, roots, length)
    return True


@statement("list.loop_constant", 0.7, nested=True)
def _(g: Writer) -> bool:
    """A list built by a loop with a constant trip count"""
    if g.loops:
        return False
    var = g.pick(lambda var: len(var.shape) <= 2)
    if var is None:
        return False
    name, counter = g.fresh("l"), g.fresh("i")
    trips = g.choice.randint(2, 3)
    g.emit(f"{name}: List[Tensor] = []")
    g.emit(f"for {counter} in range({trips}):")
    with g.region(loop=True):
        g.integers.append(counter)
        if g.choice.random() < 0.4:
            g.body(1, 1)
        g.emit(f"{name}.append({g.value(var.shape, var.dtype, exact=True)})")
    _finish(g, name, var, g.root(), trips)
    return True


@statement("list.loop_dynamic", 0.7, nested=True)
def _(g: Writer) -> bool:
    """A list built by a loop with a dynamic trip count, then stacked or concatenated"""
    if g.loops:
        return False
    var = g.pick(lambda var: 1 <= len(var.shape) <= 2)
    if var is None:
        return False
    name, counter, joined = g.fresh("l"), g.fresh("i"), g.fresh("t")
    first = f"[{g.value(var.shape, var.dtype, exact=True)}]" if g.choice.random() < 0.6 else ""
    g.emit(f"{name} = {first}" if first else f"{name}: List[Tensor] = []")
    bound = g.choice.choice(["n", "abs(k)", "n % 3"])
    g.emit(f"for {counter} in range({bound if first else f'max({bound}, 0) + 1'}):")
    with g.region(loop=True):
        g.integers.append(counter)
        if g.choice.random() < 0.4:
            g.body(1, 1)
        g.emit(f"{name}.append({g.value(var.shape, var.dtype, exact=True)})")
    g.emit(f"{joined} = torch.{g.choice.choice(['stack', 'cat'])}({name})")
    if not g.in_helper and g.depth == 0:
        g.extra[f"@result {joined}"] = joined
        return True
    total = g.fresh("t")
    g.emit(f"{total} = {joined}.sum()")
    g.declare_fresh(total, (), "int64" if var.dtype == "bool" else var.dtype)
    return True


@statement("list.tuple", 0.6)
def _(g: Writer) -> bool:
    """`p = (x, y)`, `p[0].add_(1)`, `a, b = p`"""
    one, other = g.pick(lambda var: var.writable), g.pick(lambda var: var.writable)
    if one is None or other is None:
        return False
    name, first, second = g.fresh("p"), g.fresh("v"), g.fresh("v")
    g.emit(f"{name} = ({one.text}, {other.text})")
    _write_to(g, f"{name}[0]", one, one.roots)
    g.emit(f"{first}, {second} = {name}")
    g.declare(first, one.model, one.roots, is_view=True, uncertain=one.uncertain)
    g.declare(second, other.model, other.roots, is_view=True, uncertain=other.uncertain)
    return True


@statement("list.dict", 0.6)
def _(g: Writer) -> bool:
    """`d = {'a': x, 'b': y}`, `d['a'].add_(1)`, `d['c'] = d['a'] * 2`"""
    one, other = g.pick(lambda var: var.writable), g.pick(lambda var: var.writable)
    if one is None or other is None:
        return False
    name, key, taken = g.fresh("d"), g.choice.choice(["a", "b"]), g.fresh("v")
    g.emit(f"{name} = {{'a': {one.text}, 'b': {other.text}}}")
    var = one if key == "a" else other
    _write_to(g, f"{name}['{key}']", var, var.roots)
    if g.choice.random() < 0.5:
        g.emit(f"{name}['c'] = {g.unit(name + chr(91) + repr(key) + chr(93), var.dtype)}")
        g.emit(f"{taken} = {name}['c']")
        g.declare_fresh(taken, var.shape, var.dtype).uncertain = True
    else:
        g.emit(f"{taken} = {name}['{key}']")
        g.declare(taken, var.model, var.roots, is_view=True, uncertain=var.uncertain)
    if g.choice.random() < 0.3 and g.depth == 0 and not g.in_helper:
        g.extra[f"@list {name}"] = name
    return True
