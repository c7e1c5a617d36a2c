"""The views of the grammar. Each says how to write the view and how to take it of a model."""

from __future__ import annotations

from .registry import view
from .variables import Sketch, Var
from .writer import Writer

__all__: list[str] = []


def _axis(g: Writer, var: Var, least: int = 1) -> int | None:
    """A dimension with at least so many elements."""
    axes = [axis for axis, size in enumerate(var.shape) if size >= least]
    return g.choice.choice(axes) if axes else None


def _signed(g: Writer, axis: int, rank: int) -> int:
    """The same dimension, sometimes counted from the end."""
    return axis - rank if g.choice.random() < 0.3 else axis


def _subscript(axis: int, text: str) -> str:
    return "{}[" + ":, " * axis + text + "]"


@view("view.select_constant")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[1]`, `x.select(1, 0)`"""
    axis = _axis(g, var)
    if axis is None:
        return None
    place = g.choice.randrange(var.shape[axis])
    if g.choice.random() < 0.5:
        return Sketch(_subscript(axis, str(place)))
    return Sketch(f"{{}}.select({_signed(g, axis, len(var.shape))}, {place})")


@view("view.select_negative")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[-1]`"""
    axis = _axis(g, var)
    if axis is None:
        return None
    return Sketch(_subscript(axis, str(-1 - g.choice.randrange(var.shape[axis]))))


@view("view.select_dynamic", 2.0)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[i]` with an int that is dynamic"""
    axis = _axis(g, var)
    if axis is None:
        return None
    place = g.dynamic_index(var.shape[axis])
    if g.choice.random() < 0.7:
        return Sketch(_subscript(axis, place), _subscript(axis, "0"))
    return Sketch(f"{{}}.select({axis}, {place})", f"{{}}.select({axis}, 0)")


@view("view.select_tensor", 0.3)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[j]` with a 0-d integer tensor"""
    if not var.shape:
        return None
    size = var.shape[0]
    other = g.pick(lambda other: other.dtype == "int64" and len(other.shape) == 1)
    if other is not None and g.choice.random() < 0.6:
        place = f"{other.text}[{g.choice.randrange(other.shape[0])}] % {size}"
    else:
        place = f"torch.tensor({g.integer()} % {size})"
    return Sketch(f"{{}}[{place}]", "{}[0]")


@view("view.slice")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[1:3]`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    size = var.shape[axis]
    start = g.choice.randrange(size)
    stop = g.choice.randint(start + 1, size + 1)
    return Sketch(_subscript(axis, g.choice.choice([f"{start}:{stop}", f"{start}:", f":{stop}"])))


@view("view.slice_step")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[::2]`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    return Sketch(_subscript(axis, f"{g.choice.choice(['', '1'])}::{g.choice.choice([2, 3])}"))


@view("view.slice_negative")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[-2:]`, `x[:-1]`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    size = var.shape[axis]
    return Sketch(_subscript(axis, g.choice.choice([f"-{g.choice.randint(1, size)}:", ":-1", f"-{size}:-1"])))


@view("view.slice_dynamic", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x[i:i + 2]` with an int that is dynamic"""
    axis = _axis(g, var, 3)
    if axis is None:
        return None
    start = f"{g.integer()} % {var.shape[axis] - 1}"
    return Sketch(_subscript(axis, f"{start}:{start} + 2"), _subscript(axis, "0:2"))


@view("view.narrow")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.narrow(0, i, 2)`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    length = g.choice.randint(1, var.shape[axis] - 1)
    start = f"{g.integer()} % {var.shape[axis] - length + 1}" if g.choice.random() < 0.6 else "0"
    return Sketch(f"{{}}.narrow({axis}, {start}, {length})", f"{{}}.narrow({axis}, 0, {length})")


def _two_axes(g: Writer, var: Var) -> tuple[int, int] | None:
    rank = len(var.shape)
    if rank < 2:
        return None
    one, other = g.choice.sample(range(rank), 2)
    return _signed(g, one, rank), _signed(g, other, rank)


@view("view.transpose")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.transpose(0, 1)`"""
    axes = _two_axes(g, var)
    return Sketch(f"{{}}.transpose({axes[0]}, {axes[1]})") if axes else None


@view("view.swapaxes", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.swapaxes(0, 1)`, `x.swapdims(0, 1)`"""
    axes = _two_axes(g, var)
    name = g.choice.choice(["swapaxes", "swapdims"])
    return Sketch(f"{{}}.{name}({axes[0]}, {axes[1]})") if axes else None


@view("view.movedim", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.movedim(0, 1)`"""
    axes = _two_axes(g, var)
    return Sketch(f"{{}}.movedim({axes[0]}, {axes[1]})") if axes else None


@view("view.permute", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.permute(2, 0, 1)`"""
    if len(var.shape) < 2:
        return None
    order = g.choice.sample(range(len(var.shape)), len(var.shape))
    return Sketch(f"{{}}.permute({', '.join(map(str, order))})")


@view("view.t", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.t()`"""
    return Sketch("{}.t()") if len(var.shape) in (1, 2) else None


@view("view.T", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.T`"""
    return Sketch("{}.T") if len(var.shape) == 2 else None


@view("view.mT", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.mT`"""
    return Sketch("{}.mT") if len(var.shape) >= 2 else None


@view("view.unsqueeze", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.unsqueeze(0)`, `x[None]`"""
    if len(var.shape) > 2:
        return None
    if g.choice.random() < 0.3:
        return Sketch("{}[None]")
    return Sketch(f"{{}}.unsqueeze({g.choice.randint(-1, len(var.shape))})")


@view("view.squeeze", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.squeeze(0)`, also of a dimension that is not 1"""
    if not var.shape:
        return None
    ones = [axis for axis, size in enumerate(var.shape) if size == 1]
    axis = g.choice.choice(ones or range(len(var.shape)))
    return Sketch(g.choice.choice(["{}.squeeze()", f"{{}}.squeeze({axis})"]))


def _factors(g: Writer, count: int) -> list[int]:
    """Sizes with so many elements in all."""
    divisors = [number for number in range(2, count) if count % number == 0]
    if not divisors:
        return [count]
    first = g.choice.choice(divisors)
    return [first, count // first]


@view("view.view")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.view(6, 2)`, `x.view(-1)`"""
    if var.uncertain:
        return None
    sizes = _factors(g, var.model.numel())
    return Sketch(
        g.choice.choice(["{}.view(-1)", f"{{}}.view({', '.join(map(str, sizes))})", f"{{}}.view({sizes[0]}, -1)"])
    )


@view("view.reshape")
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.reshape(6, 2)`: a view or a copy, as the strides allow"""
    if var.uncertain:
        return None
    return Sketch(f"{{}}.reshape({', '.join(map(str, _factors(g, var.model.numel())))})")


@view("view.flatten", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.flatten()`, `x.flatten(1)`: a view or a copy"""
    if var.uncertain:
        return None
    return Sketch(g.choice.choice(["{}.flatten()", "{}.flatten(1)"]) if len(var.shape) > 2 else "{}.flatten()")


@view("view.ravel", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.ravel()`: a view or a copy"""
    return None if var.uncertain else Sketch("{}.ravel()")


@view("view.unflatten", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.unflatten(0, [2, 2])`"""
    axis = _axis(g, var, 2)
    if axis is None or len(var.shape) > 2:
        return None
    sizes = _factors(g, var.shape[axis])
    sizes = sizes if len(sizes) == 2 else [1, *sizes]
    return Sketch(f"{{}}.unflatten({axis}, {sizes})")


@view("view.view_as", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.view_as(y)`"""
    if var.uncertain:
        return None
    other = g.pick(lambda other: other.model.numel() == var.model.numel() and other is not var)
    if other is not None and g.choice.random() < 0.5:
        return Sketch(f"{{}}.view_as({other.text})", f"{{}}.view({list(other.shape)})")
    sizes = _factors(g, var.model.numel())
    return Sketch(f"{{}}.view_as(torch.zeros({sizes}))", f"{{}}.view({sizes})")


def _larger(g: Writer, var: Var) -> list[int] | None:
    """Sizes that a tensor can be expanded to."""
    if len(var.shape) > 2:
        return None
    sizes = [g.choice.choice([2, 3]) if size == 1 else size for size in var.shape]
    return [g.choice.choice([2, 3]), *sizes] if tuple(sizes) == var.shape or g.choice.random() < 0.3 else sizes


@view("view.expand", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.expand(3, -1)`"""
    sizes = _larger(g, var)
    return Sketch(f"{{}}.expand({sizes})") if sizes else None


@view("view.expand_as", 0.4)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.expand_as(y)`"""
    sizes = _larger(g, var)
    if sizes is None:
        return None

    def fits(other: Var) -> bool:
        pairs = zip(var.shape[::-1], other.shape[::-1])
        return len(other.shape) > len(var.shape) and all(a in (1, b) for a, b in pairs)

    other = g.pick(fits)
    if other is not None:
        return Sketch(f"{{}}.expand_as({other.text})", f"{{}}.expand({list(other.shape)})")
    return Sketch(f"{{}}.expand_as(torch.zeros({sizes}))", f"{{}}.expand({sizes})")


@view("view.broadcast_to", 0.4)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.broadcast_to([3, 4])`, `torch.broadcast_to`"""
    sizes = _larger(g, var)
    if sizes is None:
        return None
    return Sketch(g.choice.choice([f"{{}}.broadcast_to({sizes})", f"torch.broadcast_to({{}}, {sizes})"]))


@view("view.diagonal", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.diagonal()`, `x.diagonal(1, 0, 1)`"""
    if len(var.shape) < 2:
        return None
    one, other = g.choice.sample(range(len(var.shape)), 2)
    return Sketch(g.choice.choice(["{}.diagonal()", f"{{}}.diagonal({g.choice.choice([0, 1, -1])}, {one}, {other})"]))


@view("view.unfold", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.unfold(0, 2, 2)`; windows that overlap are only read"""
    axis = _axis(g, var, 2)
    if axis is None or len(var.shape) > 2:
        return None
    return Sketch(f"{{}}.unfold({axis}, 2, {g.choice.choice([1, 2, 2, 3])})")


def _parts(size: int, count: int) -> int:
    """How many parts `chunk` makes."""
    each = -(-size // count)
    return -(-size // each)


@view("view.chunk", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.chunk(2, 1)[0]`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    count = g.choice.choice([2, 3])
    return Sketch(f"{{}}.chunk({count}, {axis})[{g.choice.randrange(_parts(var.shape[axis], count))}]")


@view("view.split", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.split(2)[1]`, `x.split([1, 2], 1)[0]`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    size = var.shape[axis]
    if g.choice.random() < 0.5:
        each = g.choice.randint(1, size)
        return Sketch(f"{{}}.split({each}, {axis})[{g.choice.randrange(-(-size // each))}]")
    first = g.choice.randint(1, size - 1)
    return Sketch(f"{{}}.split([{first}, {size - first}], {axis})[{g.choice.choice([0, 1, -1])}]")


@view("view.tensor_split", 0.5)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.tensor_split(2, 1)[0]`, `x.tensor_split([1], 0)[1]`"""
    axis = _axis(g, var, 2)
    if axis is None:
        return None
    how = g.choice.choice(["2", "[1]"])
    return Sketch(f"{{}}.tensor_split({how}, {axis})[{g.choice.choice([0, 1])}]")


@view("view.unbind", 0.6)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.unbind(1)[0]`"""
    axis = _axis(g, var)
    if axis is None:
        return None
    return Sketch(f"{{}}.unbind({axis})[{g.choice.randrange(var.shape[axis])}]")


@view("view.as_strided", 0.3)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.as_strided([2, 2], [2, 1], 1)`"""
    if var.uncertain or not var.model.is_contiguous() or var.model.storage_offset() or var.model.numel() < 4:
        return None
    offset = g.choice.choice([0, 1]) if var.model.numel() > 4 else 0
    return Sketch(f"{{}}.as_strided([2, 2], [{g.choice.choice([2, 2, 1])}, 1], {offset})")


@view("view.detach", 0.4)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.detach()`"""
    return Sketch("{}.detach()")


@view("view.data", 0.3)
def _(g: Writer, var: Var) -> Sketch | None:
    """`x.data`"""
    return Sketch("{}.data", "{}.detach()")


@view("view.alias", 0.3)
def _(g: Writer, var: Var) -> Sketch | None:
    """`w = x`: a second name, or a view of all of it"""
    return Sketch(g.choice.choice(["{}", "{}[:]"] if var.shape else ["{}"]), "{}.detach()")
