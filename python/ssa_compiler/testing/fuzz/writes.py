"""Writes of whole tensors: copies, arithmetic in place, fills, `out=`, random numbers, and writes that convert."""

from __future__ import annotations

from .registry import statement, write
from .variables import Target
from .writer import Writer

__all__: list[str] = []

FLOATS = ("float32", "float64")


def _numeric(target: Target) -> bool:
    return target.dtype != "bool"


@write("write.copy", 1.5)
def _(g: Writer, target: Target) -> str | None:
    """`x.copy_(y)`"""
    value = g.value(target.shape, target.dtype)
    other = g.pick(
        lambda var: var.dtype == target.dtype and var.shape == target.shape and not var.roots & target.var.roots
    )
    if other is not None and g.choice.random() < 0.4:
        g.sharp = g.sharp or bool(g.loops)
        value = other.text
    return f"{target.text}.copy_({value})"


@write("write.add", 2.0)
def _(g: Writer, target: Target) -> str | None:
    """`x.add_(y)`, `x.sub_(y, alpha=2)`, with a number, a tensor, a smaller tensor"""
    if target.dtype == "bool":
        return None
    source = g.source(target)
    name = g.choice.choice(["add_", "sub_"])
    alpha = ", alpha=2" if g.choice.random() < 0.2 else ""
    return f"{target.text}.{name}({source}{alpha})"


@write("write.multiply")
def _(g: Writer, target: Target) -> str | None:
    """`x.mul_(0.5)`, `x.div_(2)`, `x.mul_(mask)`"""
    if target.dtype == "int64":
        return f"{target.text}.mul_({g.choice.choice([-1, 0, 1])})"
    if target.dtype == "bool":
        return f"{target.text}.mul_({g.value(target.shape, 'bool')})"
    unit = f"{g.value(target.shape, target.dtype)}.clamp(-1.0, 1.0)"
    return f"{target.text}.{g.choice.choice(['mul_(0.5)', 'mul_(-0.5)', 'div_(2.0)', f'mul_({unit})'])}"


@write("write.unary")
def _(g: Writer, target: Target) -> str | None:
    """`x.neg_()`, `x.clamp_(-3, 3)`, `x.relu_()`, `torch.relu_(x)`, `x.abs_()`"""
    if target.dtype == "bool":
        return f"{target.text}.logical_not_()"
    number = g.choice.randrange(1, 9)
    forms = [
        "{0}.neg_()",
        "{0}.clamp_(-{1}, {1})",
        "{0}.abs_()",
        "{0}.clamp_(min=-{1})",
        "{0}.sign_()",
    ]
    if target.dtype in FLOATS:
        forms += ["{0}.relu_()", "torch.relu_({0})", "{0}.round_()", "torch.nn.functional.relu({0}, inplace=True)"]
    return g.choice.choice(forms).format(target.text, number)


@write("write.logical", 1.3)
def _(g: Writer, target: Target) -> str | None:
    """`m.logical_or_(n)`, `m &= n`, `x.bitwise_xor_(y)`"""
    if target.dtype in FLOATS:
        return None
    value = g.value(target.shape, target.dtype)
    if target.dtype == "bool" and target.var.rebindable and g.choice.random() < 0.5:
        return f"{target.text} {g.choice.choice(['&=', '|='])} {value}"
    names = ["logical_or_", "logical_and_"] if target.dtype == "bool" else ["bitwise_and_", "bitwise_xor_"]
    return f"{target.text}.{g.choice.choice(names)}({value})"


@write("write.augmented", 1.5)
def _(g: Writer, target: Target) -> str | None:
    """`x += y`, `x *= 0.5`"""
    if not target.var.rebindable or target.dtype == "bool":
        return None
    if target.dtype in FLOATS and g.choice.random() < 0.3:
        return f"{target.text} {g.choice.choice(['*= -0.5', '*= 0.5', '/= 2.0'])}"
    return f"{target.text} {g.choice.choice(['+=', '-='])} {g.source(target)}"


def _slot(g: Writer, target: Target) -> tuple[str, Target] | None:
    """A subscript of the target and what it shows: `x[i]`, `x[1:]`, `x[:, 0]`, `x[..., -1]`."""
    shape = target.shape
    if not shape:
        return None
    model = target.var.model
    kind = g.choice.randrange(5)
    if kind == 0 and len(shape) > 1:
        text, shown = f":, {g.index(shape[1])}", model[:, 0]
    elif kind == 1:
        text, shown = f"..., {g.index(shape[-1])}", model[..., 0]
    elif kind == 2 and shape[0] > 1:
        start = g.choice.randrange(shape[0] - 1)
        text, shown = f"{start}:", model[start:]
    elif kind == 3 and len(shape) > 1:
        text, shown = f"{g.index(shape[0])}, {g.index(shape[1])}", model[0, 0]
    else:
        text, shown = g.index(shape[0]), model[0]
    var = type(target.var)(f"{target.text}[{text}]", shown, target.var.roots, rebindable=False)
    return text, Target(var.text, var)


@write("write.setitem", 2.0)
def _(g: Writer, target: Target) -> str | None:
    """`x[i] = y`, `x[1:] = 2.0`, `x[:, 0] = y`"""
    slot = _slot(g, target)
    return f"{slot[1].text} = {g.source(slot[1])}" if slot else None


@write("write.augmented_setitem", 1.5)
def _(g: Writer, target: Target) -> str | None:
    """`x[i] += y`"""
    slot = _slot(g, target)
    if slot is None or target.dtype == "bool":
        return None
    if target.dtype in FLOATS and g.choice.random() < 0.3:
        return f"{slot[1].text} *= {g.choice.choice(['0.5', '-0.5'])}"
    return f"{slot[1].text} {g.choice.choice(['+=', '-='])} {g.source(slot[1])}"


@write("write.shift", 1.2)
def _(g: Writer, target: Target) -> str | None:
    """`x[:, 1:] = x[:, :-1].clone()`, `x[:-1] += x[1:] * 0.5`: from the elements beside the written ones"""
    axes = [axis for axis, size in enumerate(target.shape) if size > 1]
    if not axes or target.dtype == "bool":
        return None
    axis = g.choice.choice(axes)
    leading = ":, " * axis
    places = [f"{target.text}[{leading}{part}]" for part in ("1:", ":-1")]
    g.choice.shuffle(places)
    written, beside = places
    if g.choice.random() < 0.5:
        return f"{written} = {beside}.clone()"
    moved = f"{beside}.clamp(-4, 4)" if target.dtype == "int64" else f"{beside} * 0.5"
    return g.choice.choice([f"{written} = {moved}", f"{written}.copy_({moved})", f"{written} += {moved}"])


@write("write.fill")
def _(g: Writer, target: Target) -> str | None:
    """`x.fill_(2)`, `x.fill_(t)` with a 0-d tensor"""
    if g.choice.random() < 0.3:
        return f"{target.text}.fill_({g.full((), target.dtype)})"
    if target.dtype in FLOATS and g.choice.random() < 0.4:
        return f"{target.text}.fill_(float({g.integer()} % 7))"
    return f"{target.text}.fill_({g.number(target.dtype)})"


@write("write.zero", 0.7)
def _(g: Writer, target: Target) -> str | None:
    """`x.zero_()`"""
    return f"{target.text}.zero_()"


@write("write.masked_fill")
def _(g: Writer, target: Target) -> str | None:
    """`x.masked_fill_(x > 1, 0)`"""
    mask = f"{target.text} > {g.threshold(target.dtype)}" if _numeric(target) else g.value(target.shape, "bool")
    value = g.number(target.dtype) if g.choice.random() < 0.7 else g.full((), target.dtype)
    return f"{target.text}.masked_fill_({mask}, {value})"


@write("write.triangle")
def _(g: Writer, target: Target) -> str | None:
    """`x.triu_()`, `x.tril_(1)`"""
    if len(target.shape) < 2:
        return None
    return f"{target.text}.{g.choice.choice(['triu_', 'tril_'])}({g.choice.choice(['', '1', '-1'])})"


@write("write.lerp")
def _(g: Writer, target: Target) -> str | None:
    """`x.lerp_(y, 0.5)`"""
    if target.dtype not in FLOATS:
        return None
    return f"{target.text}.lerp_({g.tensor_source(target)}, {g.choice.choice(['0.5', '0.25'])})"


@write("write.addcmul")
def _(g: Writer, target: Target) -> str | None:
    """`x.addcmul_(y, z, value=0.5)`"""
    if target.dtype not in FLOATS:
        return None
    one, other = g.tensor_source(target), g.value(target.shape, target.dtype)
    return f"{target.text}.addcmul_({one}, {other}{g.choice.choice(['', ', value=0.5'])})"


@write("write.out")
def _(g: Writer, target: Target) -> str | None:
    """`torch.add(x, y, out=z)`"""
    if target.dtype == "bool":
        return None
    one, other = g.tensor_source(target), g.tensor_source(target)
    forms = ["torch.add({1}, {2}, out={0})", "torch.sub({1}, {2}, out={0})", "torch.clamp({1}, -2, 2, out={0})"]
    if target.shape:
        forms.append("torch.cat([{1}], out={0})")
    return g.choice.choice(forms).format(target.text, one, other)


@write("write.random", 0.6)
def _(g: Writer, target: Target) -> str | None:
    """`x.normal_()`, `x.uniform_()`, `x.bernoulli_(0.5)`, `x.random_(5)`: equal to eager under the same seed"""
    if target.dtype not in FLOATS:
        return f"{target.text}.random_(0, 2)"
    # Rounded down to eighths, so that no threshold is near.
    name = g.choice.choice(["uniform_(-2.0, 2.0)", "bernoulli_(0.5)", "random_(0, 5)", "normal_()"])
    rest = f"\n{target.text}.mul_(8.0).round_().div_(8.0)" if name[0] in "un" else ""
    return f"{target.text}.{name}{rest}"


@write("write.convert", 1.2)
def _(g: Writer, target: Target) -> str | None:
    """`ints.copy_(floats)`, `bools[0] = 3`, `doubles += floats`: the dtype of the target stays"""
    others = [dtype for dtype in ("float32", "float64", "int64", "bool") if dtype != target.dtype]
    other = g.choice.choice(others)
    value = g.value(target.shape, other)
    slot = _slot(g, target)
    if slot is not None and g.choice.random() < 0.4:
        number = "2.7" if target.dtype == "int64" else "3" if target.dtype == "bool" else "True"
        return f"{slot[1].text} = {g.choice.choice([number, g.value(slot[1].shape, other)])}"
    widens = {"float32": ("int64", "bool", "float64"), "float64": ("float32", "int64", "bool"), "int64": ("bool",)}
    if other in widens.get(target.dtype, ()) and g.choice.random() < 0.5:
        return f"{target.text}.add_({value})"
    return f"{target.text}.copy_({value})"


@write("write.data", 0.3)
def _(g: Writer, target: Target) -> str | None:
    """`x.data[0] = y`, `x.data.add_(y)`"""
    if target.dtype == "bool":
        return None
    slot = _slot(g, target)
    if slot is not None and g.choice.random() < 0.5:
        return f"{target.text}.data{slot[1].text[len(target.text) :]} = {g.source(slot[1])}"
    return f"{target.text}.data.add_({g.source(target)})"


@write("write.chained")
def _(g: Writer, target: Target) -> str | None:
    """`v = x.add_(1).mul_(0.5)`: the result of a write is the tensor"""
    if target.dtype not in FLOATS:
        return None
    name = g.fresh("v")
    text = f"{name} = {target.text}.add_({g.source(target)}).mul_(0.5)"
    g.declare(name, target.var.model, target.var.roots, is_view=True, uncertain=target.var.uncertain)
    return text


@statement("make.repeated_slice", 0.6)
def _(g: Writer) -> bool:
    """`t = x * x[:, i:i + 1]`: a slice of one element at a position that is dynamic, which is broadcast"""
    var = g.pick(lambda var: var.dtype != "bool" and len(var.shape) > 0 and 0 not in var.shape)
    if var is None:
        return False
    axis = g.choice.randrange(len(var.shape))
    start = f"{g.integer()} % {var.shape[axis]}"
    part = f"{var.text}[{':, ' * axis}{start}:{start} + 1]"
    name = g.fresh("t")
    text = g.choice.choice([f"{var.text} - {part}", f"torch.maximum({var.text}, {part})", f"{part} * 2 + {var.text}"])
    g.emit(f"{name} = {text}")
    g.declare_fresh(name, var.shape, var.dtype).uncertain = True
    return True


@statement("make.tensor", 3.0)
def _(g: Writer) -> bool:
    """`t = x + 1`: a new tensor"""
    var = g.pick()
    if var is None:
        return False
    name = g.fresh("t")
    g.emit(f"{name} = {g.value(var.shape, var.dtype, exact=True)}")
    g.declare_fresh(name, var.shape, var.dtype).uncertain = True
    return True


@statement("make.clone")
def _(g: Writer) -> bool:
    """`t = x.clone()`"""
    var = g.pick()
    if var is None:
        return False
    name = g.fresh("t")
    g.emit(f"{name} = {var.text}.clone()")
    g.declare_fresh(name, var.shape, var.dtype).uncertain = True
    return True


@statement("make.dtype", 1.0)
def _(g: Writer) -> bool:
    """`t = x > 1`, `x.long()`, `x.double()`: tensors of other dtypes"""
    var = g.pick()
    if var is None:
        return False
    name = g.fresh("t")
    if var.dtype == "bool":
        kind = g.choice.choice(["float32", "int64", "float64"])
        text = f"{var.text}.to(torch.{kind})"
        if g.choice.random() < 0.1:
            kind, text = "bool", f"{var.text} ^ True"
    else:
        kind = g.choice.choice([each for each in ("bool", "int64", "float64", "float32") if each != var.dtype])
        text = f"{var.text} > {g.threshold(var.dtype)}" if kind == "bool" else f"{var.text}.to(torch.{kind})"
    g.emit(f"{name} = {text}")
    g.declare_fresh(name, var.shape, kind).uncertain = True
    return True


@statement("make.integer")
def _(g: Writer) -> bool:
    """`m = n * 2 + 1`, `int(t[0])`: ints that later statements use"""
    name = g.fresh("m")
    var = g.pick(lambda var: var.dtype == "int64" and len(var.shape) == 1)
    if var is not None and g.choice.random() < 0.5:
        text = g.choice.choice([f"int({var.text}[{g.index(var.shape[0])}])", f"int({var.text}.sum().item())"])
    else:
        text = f"({g.integer()} * {g.choice.randrange(1, 4)} + {g.integer()}) % {g.choice.randrange(2, 6)}"
    g.emit(f"{name} = {text}")
    g.integers.append(name)
    return True
