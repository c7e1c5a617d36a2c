"""Writes at indices and masks. Indices without accumulation are distinct: eager leaves the order of others
undefined.
"""

from __future__ import annotations

from .registry import write
from .variables import Target
from .writer import Writer

__all__: list[str] = []

FLOATS = ("float32", "float64")


def _indices(g: Writer, size: int, *, distinct: bool) -> list[int]:
    """Positions in a dimension, some negative."""
    count = g.choice.randint(1, size)
    if distinct:
        return g.choice.sample(range(size), count)
    return [g.choice.randrange(size) for _ in range(count + 1)]


def _value(g: Writer, target: Target, shape: tuple[int, ...]) -> str:
    """A tensor of exactly that shape."""
    return g.value(shape, target.dtype, exact=True)


def _mask(g: Writer, target: Target) -> str:
    """A boolean mask of the target's shape."""
    if target.dtype != "bool" and g.choice.random() < 0.6:
        return f"{target.text} {g.choice.choice(['>', '<='])} {g.threshold(target.dtype)}"
    return g.value(target.shape, "bool", exact=True)


@write("index.mask_number")
def _(g: Writer, target: Target) -> str | None:
    """`x[x > 1] = 0.0`"""
    if not target.shape:
        return None
    return f"{target.text}[{_mask(g, target)}] = {g.number(target.dtype)}"


@write("index.mask_tensor")
def _(g: Writer, target: Target) -> str | None:
    """`x[m] = y[m]`, `x[m] = torch.tensor(2.0)`, `x[m] += 1`"""
    if not target.shape:
        return None
    mask = g.fresh("m")
    head = f"{mask} = {_mask(g, target)}\n"
    kind = g.choice.randrange(3)
    if kind == 0 and target.dtype != "bool":
        return head + f"{target.text}[{mask}] += {g.number(target.dtype)}"
    if kind == 1:
        return head + f"{target.text}[{mask}] = {g.full((), target.dtype)}"
    return head + f"{target.text}[{mask}] = {_value(g, target, target.shape)}[{mask}]"


@write("index.index_put")
def _(g: Writer, target: Target) -> str | None:
    """`x[torch.tensor([0, 2])] = y`, `x.index_put_([i], y)`, `x[i, j] = 1`"""
    if not target.shape:
        return None
    places = _indices(g, target.shape[0], distinct=True)
    shape = (len(places), *target.shape[1:])
    value = g.number(target.dtype) if g.choice.random() < 0.4 else _value(g, target, shape)
    index = f"torch.tensor({places})"
    if len(target.shape) > 1 and g.choice.random() < 0.3:
        columns = [g.choice.randrange(target.shape[1]) for _ in places]
        return f"{target.text}[{index}, torch.tensor({columns})] = {g.number(target.dtype)}"
    if g.choice.random() < 0.5:
        return f"{target.text}[{index}] = {value}"
    return f"{target.text}.index_put_([{index}], {_value(g, target, shape)})"


@write("index.index_put_accumulate")
def _(g: Writer, target: Target) -> str | None:
    """`x.index_put_([i], y, accumulate=True)`, with repeated indices"""
    if not target.shape or target.dtype == "bool":
        return None
    places = _indices(g, target.shape[0], distinct=False)
    shape = (len(places), *target.shape[1:])
    return f"{target.text}.index_put_([torch.tensor({places})], {g.full(shape, target.dtype)}, accumulate=True)"


def _scatter(g: Writer, target: Target, *, distinct: bool) -> tuple[int, str, tuple[int, ...]] | None:
    """Dimension, index and shape of the source of a scatter."""
    rank = len(target.shape)
    if rank not in (1, 2):
        return None
    axis = g.choice.randrange(rank)
    count = g.choice.randint(1, target.shape[axis])
    others = 1 if rank == 1 else target.shape[1 - axis]
    lines = [
        g.choice.sample(range(target.shape[axis]), count)
        if distinct
        else [g.choice.randrange(target.shape[axis]) for _ in range(count)]
        for _ in range(others)
    ]
    if rank == 1:
        return axis, f"torch.tensor({lines[0]})", (count,)
    table = lines if axis == 1 else [list(row) for row in zip(*lines)]
    return axis, f"torch.tensor({table})", (len(table), len(table[0]))


@write("index.scatter")
def _(g: Writer, target: Target) -> str | None:
    """`x.scatter_(0, i, y)`, `x.scatter_(1, i, 2.0)`"""
    found = _scatter(g, target, distinct=True)
    if found is None:
        return None
    axis, index, shape = found
    value = g.number(target.dtype) if g.choice.random() < 0.4 else _value(g, target, shape)
    return f"{target.text}.scatter_({axis}, {index}, {value})"


@write("index.scatter_reduce")
def _(g: Writer, target: Target) -> str | None:
    """`x.scatter_reduce_(0, i, y, 'amax')`, `x.scatter_(0, i, y, reduce='add')`"""
    found = _scatter(g, target, distinct=False)
    if found is None or target.dtype == "bool":
        return None
    axis, index, shape = found
    value = _value(g, target, shape)
    if target.dtype in FLOATS and g.choice.random() < 0.3:
        return f"{target.text}.scatter_({axis}, {index}, {value}, reduce='add')"
    reduce = g.choice.choice(["sum", "amax", "amin"])
    whole = g.choice.choice(["", ", include_self=False"])
    return f"{target.text}.scatter_reduce_({axis}, {index}, {value}, '{reduce}'{whole})"


@write("index.scatter_add")
def _(g: Writer, target: Target) -> str | None:
    """`x.scatter_add_(0, i, y)`"""
    found = _scatter(g, target, distinct=False)
    if found is None or target.dtype == "bool":
        return None
    axis, index, shape = found
    return f"{target.text}.scatter_add_({axis}, {index}, {_value(g, target, shape)})"


def _along(g: Writer, target: Target, *, distinct: bool) -> tuple[int, str, tuple[int, ...]] | None:
    """Dimension, index and shape of the source of an `index_...` write."""
    if not target.shape:
        return None
    axis = g.choice.randrange(len(target.shape))
    places = _indices(g, target.shape[axis], distinct=distinct)
    return axis, f"torch.tensor({places})", (*target.shape[:axis], len(places), *target.shape[axis + 1 :])


@write("index.index_add")
def _(g: Writer, target: Target) -> str | None:
    """`x.index_add_(0, i, y)`, `alpha=2`"""
    found = _along(g, target, distinct=False)
    if found is None or target.dtype == "bool":
        return None
    axis, index, shape = found
    alpha = g.choice.choice(["", ", alpha=2"])
    return f"{target.text}.index_add_({axis}, {index}, {_value(g, target, shape)}{alpha})"


@write("index.index_copy")
def _(g: Writer, target: Target) -> str | None:
    """`x.index_copy_(0, i, y)`"""
    found = _along(g, target, distinct=True)
    if found is None:
        return None
    axis, index, shape = found
    return f"{target.text}.index_copy_({axis}, {index}, {_value(g, target, shape)})"


@write("index.index_fill")
def _(g: Writer, target: Target) -> str | None:
    """`x.index_fill_(0, i, 2.0)`"""
    found = _along(g, target, distinct=True)
    if found is None:
        return None
    axis, index, _ = found
    return f"{target.text}.index_fill_({axis}, {index}, {g.number(target.dtype)})"


@write("index.masked_scatter")
def _(g: Writer, target: Target) -> str | None:
    """`x.masked_scatter_(m, y)`"""
    if not target.shape:
        return None
    return f"{target.text}.masked_scatter_({_mask(g, target)}, {_value(g, target, target.shape)})"
